"""What a query needs of the keyword index: the indices of known terms, read from two small files.

    keyword/statistics.json   version, N, average lengths: for people and for the version check
    keyword/vocabulary.tsv    term <tab> index <tab> sections it occurs in, sorted by the bytes of the term

A text file, because a query must start without a Parquet reader; it is read whole (2 MB at 100,000 terms) and
searched by bisection.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.contracts.errors import REBUILD, ExpectedError
from rag_assets.stores.home import write_atomically
from rag_assets.stores.keyword import KEYWORD_VERSION
from rag_assets.stores.keyword.idf import inverse_document_frequency
from rag_assets.stores.keyword.question_terms import Terms, question_terms
from rag_assets.stores.keyword.sorted_lines import SortedLines

if TYPE_CHECKING:
    from rag_assets.stores.keyword.bm25f import KeywordStatistics

_STATISTICS = "statistics.json"
_VOCABULARY = "vocabulary.tsv"


_MOST_KNOWN = 1 << 14
"""Terms that are kept, 3 MB: names of files are made of the same words in every search, 50 look-ups of 8 µs each."""


class KeywordIndexError(ExpectedError):
    """The keyword files of a generation are absent, damaged or of another version; the text says what to do."""


@dataclass(frozen=True, slots=True)
class KnownTerm:
    index: int
    sections: int  # how many sections hold it


@dataclass(frozen=True, slots=True)
class QueryVector:
    """A question as a sparse vector: `indices` ascending, one weight each, idf included.

    `unknown` are the terms no section has; `weights` (of all terms, without idf), `forms` and `is_name` as in
    `QuestionTerms`.
    """

    indices: tuple[int, ...]
    values: tuple[float, ...]
    unknown: tuple[str, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    forms: Mapping[str, str] = field(default_factory=dict)
    is_name: bool = False


def write_vocabulary(directory: Path, statistics: KeywordStatistics, indices: Mapping[str, int]) -> None:
    """Writes the query side of the index; equal input gives equal bytes. The statistics are written last."""
    frequencies = statistics.document_frequencies
    lines = [f"{term}\t{indices[term]}\t{frequencies[term]}\n" for term in sorted(frequencies)]
    write_atomically(directory / _VOCABULARY, "".join(lines).encode())
    about = {
        "version": KEYWORD_VERSION,
        "sections": statistics.sections,
        "terms": len(lines),
        "average_lengths": {
            name: statistics.average_length(name) for name, total in sorted(statistics.total_lengths.items()) if total
        },
    }
    write_atomically(directory / _STATISTICS, json.dumps(about, indent=2).encode())


class Vocabulary:
    """The terms of one generation."""

    __slots__ = ("_known", "_lines", "sections", "size")

    def __init__(self, directory: Path) -> None:
        """Raises KeywordIndexError."""
        self._known: dict[str, KnownTerm | None] = {}
        try:
            about = json.loads((directory / _STATISTICS).read_bytes())
            lines = (directory / _VOCABULARY).read_bytes()
            version, self.sections, self.size = about["version"], int(about["sections"]), int(about["terms"])
        except FileNotFoundError as error:
            raise KeywordIndexError(f"keyword index {directory}: {error.filename} is missing; {REBUILD}") from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise KeywordIndexError(f"keyword index {directory} cannot be read ({error}); {REBUILD}") from error
        if version != KEYWORD_VERSION:
            raise KeywordIndexError(
                f"keyword index {directory} was made by version {version}, this one reads {KEYWORD_VERSION}; {REBUILD}"
            )
        if lines.count(b"\n") != self.size:
            raise KeywordIndexError(f"keyword index {directory}: {_VOCABULARY} is cut short; {REBUILD}")
        try:
            self._lines = SortedLines(lines)
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

    def query_vector(self, text: str) -> QueryVector:
        """The sparse vector of a question. Its dot product with the vector of a section is the BM25F score."""
        return weighted_query(text, self, self.sections)


def rarity_of(term: str, terms: Terms, sections: int) -> float:
    """The idf of a term in `sections` sections; of one that none of them has, the highest there is."""
    entry = terms.find(term)
    return inverse_document_frequency(sections, 0 if entry is None else entry.sections)


def weighted_query(text: str, terms: Terms, sections: int) -> QueryVector:
    """The sparse vector of a question; `terms` are those of `sections` sections, of one label or of several."""
    known: dict[int, float] = {}
    unknown: list[str] = []
    asked = question_terms(text, terms)
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
        is_name=asked.is_name,
    )
