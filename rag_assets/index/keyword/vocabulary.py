"""What a query needs of the keyword index: the indices of known terms, read from two small files, and the terms of a
question with their weights.

    keyword/statistics.json   version, N, average lengths: for people and for the version check
    keyword/vocabulary.tsv    term <tab> index <tab> sections it occurs in, sorted by the bytes of the term

Each level of confidentiality below the highest has its own in a folder, of the sections that its readers may see: no
weight, form or unknown word of a question depends on others.

A text file, because a query must start without a Parquet reader; it is read whole (2 MB at 100,000 terms) and
searched by bisection.

People ask for `order repository` where the code says `IOrderRepository` or `OrderRepository`. Names are in the index as
wholes, so words that make a known whole are looked up as that name too.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from rag_assets.errors import REBUILD, RagAssetsError
from rag_assets.identifiers import identifier_words
from rag_assets.index.generation_files import check_opened
from rag_assets.index.keyword import FIELDS, KEYWORD_VERSION
from rag_assets.index.keyword.terms import FORM_WEIGHT, FUNCTION_WORDS, query_terms, runs, stem, word_forms
from rag_assets.index.layout import require_format, write_atomically

if TYPE_CHECKING:
    from rag_assets.index.keyword.bm25f import KeywordStatistics
    from rag_assets.index.keyword.expressions import Expression


_BLOCK = 1 << 12
"""Bytes between two lines whose keys are kept: a millisecond to note them for 4 MB, one to find a line in between."""
_KEY = re.compile(rb"^[^\t]+", re.MULTILINE)
_AFTER_ANY_TEXT = b"\xff"  # no byte of UTF-8


class SortedStringTable:
    """A file of lines `key <tab> …`, sorted by the bytes of the key: read whole, searched without being parsed."""

    __slots__ = ("_content", "_keys", "_starts")

    def __init__(self, content: bytes) -> None:
        """Every line ends with a line feed and has a tab."""
        self._content = content
        self._starts: list[int] = []  # of blocks, and where the last one ends
        self._keys: list[bytes] = []  # of their first lines
        at = 0
        while at < len(content):
            self._starts.append(at)
            self._keys.append(content[at : content.index(b"\t", at)])
            at = content.find(b"\n", at + _BLOCK) + 1 or len(content)
        self._starts.append(len(content))

    def find(self, key: str) -> list[bytes] | None:
        """The fields after an exact key."""
        wanted = key.encode(errors="replace")
        block = bisect_right(self._keys, wanted) - 1
        if block < 0:
            return None
        start = self._starts[block]
        if self._keys[block] != wanted:
            start = self._content.find(b"\n%b\t" % wanted, start, self._starts[block + 1]) + 1
            if not start:
                return None
        return self._content[start + len(wanted) + 1 : self._content.index(b"\n", start)].split(b"\t")

    def starting(self, beginning: str) -> list[str]:
        """The keys that begin with a text, in order."""
        wanted = beginning.encode(errors="replace")
        block = bisect_left(self._keys, wanted)
        start = self._content.find(b"\n" + wanted, self._starts[max(0, block - 1)], self._starts[block]) + 1
        if not start:  # the first of them is the first of a block, or there is none
            if block == len(self._keys) or not self._keys[block].startswith(wanted):
                return []
            start = self._starts[block]
        end = self._starts[bisect_left(self._keys, wanted + _AFTER_ANY_TEXT, block)]
        last = self._content.rfind(b"\n" + wanted, start, end - 1) + 1 or start
        found = _KEY.findall(self._content, start, self._content.index(b"\n", last))
        return b"\t".join(found).decode().split("\t")


_STATISTICS = "statistics.json"
_VOCABULARY = "vocabulary.tsv"
_FORMS = ("code", "text")

_MOST_KNOWN = 1 << 14
"""Terms that are kept, 3 MB: names of files are made of the same words in every search, 50 look-ups of 8 µs each."""

JOINED_WEIGHT = 0.3
"""Of a name made of some of the words. With 0, .3, .5 and 1 the doc summaries of `index.keyword` reach .694
.690 .689 .672, identifiers .940 .981 .982 .976: prose has such neighbours by chance."""
RELATED_WEIGHT = 0.4
"""Of a term that means about the same as a word of the question, times how near it is: `coupon` for `voucher`."""
_MOST_RELATED = 5  # terms for a word
_OF_EXPRESSION = 0.5
"""Of a word that is part of an expression: `call again` says nothing of calls."""
_LONGEST_JOINED = 4  # words; longer names are asked for as a whole, if at all
_LONGEST_NAME = 8  # words of a question that may be one name: method names of tests have more, but nobody splits them
_MOST_WORDS = 24  # with other forms, or joined: four look-ups a word; what a pasted text says after that, words find


class KeywordIndexError(RagAssetsError):
    """The keyword files of a generation are absent, damaged or of another version; the text says what to do."""


@dataclass(frozen=True, slots=True)
class KnownTerm:
    index: int
    sections: int  # how many sections hold it


Related = Callable[[str], Sequence[tuple[str, float]]]
"""The words that mean about the same as a word, with how near they are (0 to 1), the nearest first."""


class Terms(Protocol):
    """The terms of an index, of one label or of several."""

    def find(self, term: str) -> KnownTerm | None: ...

    def starting(self, beginning: str) -> Iterable[str]:
        """Those that begin with a text, in order."""


@dataclass(frozen=True, slots=True)
class QuestionTerms:
    """`weights` are those of the distinct terms, in order of first use; `forms` are those of them that only share a
    stem with a word of the question, `related` those that only mean about the same: term → word. `is_name`: the
    question is one identifier, as it is written or split into words, and nothing else."""

    weights: Mapping[str, float]
    forms: Mapping[str, str]
    is_name: bool
    related: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class QueryVector:
    """A question as a sparse vector: `indices` ascending, one weight each, idf included.

    `unknown` are the terms no section has; `weights` (of all terms, without idf), `forms`, `related` and `is_name` as
    in `QuestionTerms`.
    """

    indices: tuple[int, ...]
    values: tuple[float, ...]
    unknown: tuple[str, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    forms: Mapping[str, str] = field(default_factory=dict)
    related: Mapping[str, str] = field(default_factory=dict)
    is_name: bool = False

    @property
    def said(self) -> list[str]:
        """The terms of the index that the question says, in some form."""
        return [term for term in self.weights if term not in self.related and term not in self.unknown]


def write_vocabulary(
    directory: Path, statistics: KeywordStatistics, indices: Mapping[str, int], around: Sequence[Sequence[float]] = ()
) -> None:
    """Writes the query side of the index; equal input gives equal bytes. The statistics are written last. `around` are
    the average lengths of the fields that code is weighed with, and those of texts."""
    frequencies = statistics.document_frequencies
    lines = [f"{term}\t{indices[term]}\t{frequencies[term]}\n" for term in sorted(frequencies)]
    write_atomically(directory / _VOCABULARY, "".join(lines).encode())
    about: dict[str, Any] = {
        "version": KEYWORD_VERSION,
        "sections": statistics.sections,
        "terms": len(lines),
        "average_lengths": {
            name: statistics.average_length(name) for name, total in sorted(statistics.total_lengths.items()) if total
        },
    }
    if around:
        about["weighed_with"] = {name: list(lengths) for name, lengths in zip(_FORMS, around, strict=True)}
    write_atomically(directory / _STATISTICS, json.dumps(about, indent=2).encode())


def weighed_with(directory: Path) -> list[list[float]]:
    """The average lengths of the fields that code was weighed with, and those of texts; of a generation that did not
    keep them those of all sections. Raises KeywordIndexError."""
    path = directory / _STATISTICS
    try:
        about = json.loads(path.read_bytes())
        if "weighed_with" in about:
            return [[float(length) for length in about["weighed_with"][form]] for form in _FORMS]
        known = about["average_lengths"]
        return [[float(known.get(field.name, 1.0)) for field in FIELDS]] * len(_FORMS)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise KeywordIndexError(f"{path} cannot be read ({error}); {REBUILD}") from error


class Vocabulary:
    """The terms of one generation, as far as one level of confidentiality reaches."""

    __slots__ = ("_known", "_lines", "sections", "size")

    def __init__(self, directory: Path | None) -> None:
        """None: of a reader who may see nothing. Raises KeywordIndexError."""
        self._known: dict[str, KnownTerm | None] = {}
        if directory is None:
            self._lines, self.sections, self.size = SortedStringTable(b""), 0, 0
            return
        check_opened(directory, KeywordIndexError)
        try:
            about = json.loads((directory / _STATISTICS).read_bytes())
            lines = (directory / _VOCABULARY).read_bytes()
            version, self.sections, self.size = about["version"], int(about["sections"]), int(about["terms"])
        except FileNotFoundError as error:
            raise KeywordIndexError(f"keyword index {directory}: {error.filename} is missing; {REBUILD}") from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise KeywordIndexError(f"keyword index {directory} cannot be read ({error}); {REBUILD}") from error
        require_format(f"keyword index {directory}", version, KEYWORD_VERSION, error=KeywordIndexError)
        if lines.count(b"\n") != self.size:
            raise KeywordIndexError(f"keyword index {directory}: {_VOCABULARY} is cut short; {REBUILD}")
        try:
            self._lines = SortedStringTable(lines)
        except ValueError as error:
            raise KeywordIndexError(
                f"keyword index {directory}: {_VOCABULARY} cannot be read ({error}); {REBUILD}"
            ) from error

    def find(self, term: str) -> KnownTerm | None:
        """The entry of an exact term."""
        known = self._known
        if term not in known:
            if len(known) >= _MOST_KNOWN:
                self._known = known = {}
            found = self._lines.find(term)
            known[term] = None if found is None else KnownTerm(int(found[0]), int(found[1]))
        return known[term]

    def starting(self, beginning: str) -> list[str]:
        """The terms that begin with a text, in order."""
        return self._lines.starting(beginning)

    def rarity(self, term: str) -> float:
        """The idf of a term."""
        return rarity_of(term, self, self.sections)

    def __contains__(self, term: str) -> bool:
        return self.find(term) is not None

    def query_vector(
        self, text: str, related: Related | None = None, expressions: Sequence[Expression] = ()
    ) -> QueryVector:
        """The sparse vector of a question. Its dot product with the vector of a section is the BM25F score."""
        return weighted_query(text, self, self.sections, related, expressions)


def rarity_of(term: str, terms: Terms, sections: int) -> float:
    """The idf of a term in `sections` sections; of one that none of them has, the highest there is."""
    entry = terms.find(term)
    return inverse_document_frequency(sections, 0 if entry is None else entry.sections)


def weighted_query(
    text: str, terms: Terms, sections: int, related: Related | None = None, expressions: Sequence[Expression] = ()
) -> QueryVector:
    """The sparse vector of a question; `terms` are those of `sections` sections, of one label or of several."""
    known: dict[int, float] = {}
    unknown: list[str] = []
    asked = question_terms(text, terms, related, expressions)
    for term, weight in asked.weights.items():
        entry = terms.find(term)
        if entry is None:
            unknown.append(term)
        else:
            known[entry.index] = weight * inverse_document_frequency(sections, entry.sections)
    ordered = sorted(known)
    return QueryVector(
        indices=tuple(ordered),
        values=tuple(known[index] for index in ordered),
        unknown=tuple(unknown),
        weights=asked.weights,
        forms=asked.forms,
        related=asked.related,
        is_name=asked.is_name,
    )


_HYPHENATED = re.compile(r"\w+(?:-\w+)+")
"""A name of PowerShell, Lisp, CSS: `Get-GitStatus`."""


def question_terms(
    text: str, terms: Terms, related: Related | None = None, expressions: Sequence[Expression] = ()
) -> QuestionTerms:
    """The terms of a question, given those of the index. A term that is not known there is one of its words. A name is
    asked for as it is, without other forms of its words and without those that mean about the same, which `related`
    knows or its `expressions` stand for."""
    weights = query_terms(text)
    written = runs(text)
    words = [word.lower() for run in written for word in identifier_words(run)]
    whole = "".join(words)
    is_split_name = 1 < len(words) <= _LONGEST_NAME and len(written) > 1 and terms.find(whole) is not None
    for joined in _neighbours(words[:_MOST_WORDS]):
        if joined not in weights and terms.find(joined) is not None:
            weights[joined] = JOINED_WEIGHT
    if is_split_name:
        weights[whole] = 1.0
    is_name = is_split_name or len(written) == 1 or _HYPHENATED.fullmatch(text.strip()) is not None
    telling = [] if is_name else list(islice((term for term, weight in weights.items() if weight == 1.0), _MOST_WORDS))
    forms = {form: word for form, word in word_forms(telling, terms.starting).items() if form not in weights}
    weights |= dict.fromkeys(forms, FORM_WEIGHT)
    meant: _Meant = []
    if not is_name:
        meant += _related_terms(telling, weights, terms, related) if related is not None else ()
        meant += _terms_instead(expressions, weights, terms)
        for term in {stem(word) for one in expressions for word in one.words} & weights.keys():
            weights[term] = min(weights[term], _OF_EXPRESSION)
    meant.sort(key=lambda one: one[2])
    weights |= {term: weight for term, _, weight in meant}
    near = {term: said for term, said, _ in meant}
    return QuestionTerms(weights, forms, is_name, near)


_Meant = list[tuple[str, str, float]]
"""Terms of the index, what of the question they mean about the same as, and their weights."""


def _related_terms(words: Iterable[str], asked: Container[str], terms: Terms, related: Related) -> _Meant:
    found: dict[str, tuple[str, float]] = {}
    for word in words:
        most = len(found) + _MOST_RELATED
        for other, nearness in related(word):
            term = stem(other)
            if not (other in FUNCTION_WORDS or term in asked or term in found or terms.find(term) is None):
                found[term] = (word, nearness)
            if len(found) == most:
                break
    return [(term, word, RELATED_WEIGHT * nearness) for term, (word, nearness) in found.items()]


def _terms_instead(expressions: Iterable[Expression], asked: Container[str], terms: Terms) -> _Meant:
    return [
        (term, " ".join(one.words), nearness)
        for one in expressions
        for word, nearness in one.instead
        if (term := stem(word)) not in asked and terms.find(term) is not None
    ]


def _neighbours(words: list[str]) -> list[str]:
    """Two to `_LONGEST_JOINED` neighbouring words as one."""
    made = [
        "".join(words[start : start + size])
        for size in range(2, _LONGEST_JOINED + 1)
        for start in range(len(words) - size + 1)
    ]
    return list(dict.fromkeys(made))


def inverse_document_frequency(sections: int, containing: int) -> float:
    """Lucene's idf, positive for every term: `containing` of `sections` hold it."""
    return math.log(1.0 + (sections - containing + 0.5) / (containing + 0.5))
