"""What past commits said of each file, for searching: BM25 over the subjects of the commits that changed it.

    keyword/past_files.tsv    path <tab> number, sorted by the bytes of the path
    keyword/past_terms.tsv    term <tab> files it occurs in <tab> number:weight …, sorted by the bytes of the term

A file is the unit, not a section, so this is an index of its own: as a field of every section it gained half as much
(commit .515 instead of .530). A generation without history has neither file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path

from rag_assets.errors import REBUILD
from rag_assets.index.keyword.terms import runs, word_terms
from rag_assets.index.keyword.vocabulary import KeywordIndexError, SortedStringTable, inverse_document_frequency
from rag_assets.index.layout import write_atomically

_K1, _B = 1.2, 0.75
"""The usual ones; k1 2 and b from .2 to .75 are alike within .002 of the mean."""
_STEPS = 1_000  # a weight is a whole number of thousandths
_MOST_FILES = 2_000
"""A word in the past of more files tells nothing and takes a millisecond to read."""
_FILES, _TERMS = "past_files.tsv", "past_terms.tsv"


def write_past(directory: Path, subjects: Mapping[str, Sequence[str]]) -> None:
    """Writes what the subjects of each path say; nothing where there are none. Equal input gives equal bytes."""
    for name in (_FILES, _TERMS):
        (directory / name).unlink(missing_ok=True)
    of_subject: dict[str, tuple[str, ...]] = {}  # most are those of several files
    counted: dict[str, Counter[str]] = {}
    for path in sorted(filter(subjects.get, subjects), key=str.encode):
        said = (of_subject.get(text) or of_subject.setdefault(text, _terms(text)) for text in subjects[path])
        counted[path] = Counter(chain.from_iterable(said))
    if not counted:
        return
    lengths = [terms.total() for terms in counted.values()]
    average = max(1.0, sum(lengths) / len(lengths))
    postings: dict[str, list[str]] = {}
    for number, (terms, length) in enumerate(zip(counted.values(), lengths, strict=True)):
        scale = _K1 * (1.0 - _B + _B * length / average)
        for term, count in terms.items():
            postings.setdefault(term, []).append(f"{number}:{round(_STEPS * count / (count + scale))}")
    files = [f"{path}\t{number}\n" for number, path in enumerate(counted)]
    found = sorted(postings.items(), key=lambda item: item[0].encode())
    lines = [f"{term}\t{len(files_of)}\t{' '.join(files_of)}\n" for term, files_of in found]
    write_atomically(directory / _TERMS, "".join(lines).encode())
    write_atomically(directory / _FILES, "".join(files).encode())


def _terms(subject: str) -> tuple[str, ...]:
    return tuple(term for run in runs(subject) for term in word_terms(run))


_MOST_KNOWN = 1 << 14  # files whose numbers are kept; 2 MB


class CommitSubjects:
    """The past of the files of one generation."""

    __slots__ = ("_directory", "_files", "_known", "_size", "_terms")

    def __init__(self, directory: Path | None) -> None:
        """Without history, or for a reader who may see nothing (None), one that knows nothing of any file. Raises
        KeywordIndexError."""
        self._directory = directory = directory or Path()
        self._known: dict[str, bytes | None] = {}
        files, terms = (directory / name for name in (_FILES, _TERMS))
        if not files.exists() and not terms.exists():
            self._files, self._terms, self._size = SortedStringTable(b""), SortedStringTable(b""), 0
            return
        try:
            content = files.read_bytes()
            self._files, self._terms = SortedStringTable(content), SortedStringTable(terms.read_bytes())
        except FileNotFoundError as error:
            raise KeywordIndexError(f"{error.filename} is missing; {REBUILD}") from error
        except ValueError as error:
            raise self._damaged() from error
        self._size = content.count(b"\n")

    def _damaged(self) -> KeywordIndexError:
        return KeywordIndexError(f"{self._directory / _FILES} or {_TERMS} beside it is damaged; {REBUILD}")

    def scores(self, weights: Mapping[str, float], paths: Iterable[str]) -> dict[str, float]:
        """Path → BM25 score of a question, its terms with their weights, of those of `paths` that have any. Raises
        KeywordIndexError."""
        if not self._size:
            return {}
        try:
            return self._scores(weights, paths)
        except (ValueError, IndexError) as error:
            raise self._damaged() from error

    def _scores(self, weights: Mapping[str, float], paths: Iterable[str]) -> dict[str, float]:
        numbers: dict[bytes, str] = {}
        for path in paths:
            number = self._number(path)
            if number is not None:
                numbers[number] = path
        scores: dict[str, float] = {}
        for term, weight in weights.items():
            entry = self._terms.find(term) if numbers else None
            if entry is None or int(entry[0]) > _MOST_FILES:
                continue
            rarity = weight * inverse_document_frequency(self._size, int(entry[0])) / _STEPS
            pairs = entry[1].replace(b":", b" ").split(b" ")
            values = dict(zip(pairs[::2], pairs[1::2], strict=True))
            for number, path in numbers.items():
                if number in values:
                    scores[path] = scores.get(path, 0.0) + rarity * int(values[number])
        return scores

    def _number(self, path: str) -> bytes | None:
        """Of a file, which searches of a repository meet again and again."""
        known = self._known
        if path not in known:
            if len(known) >= _MOST_KNOWN:
                self._known = known = {}
            found = self._files.find(path)
            known[path] = None if found is None else found[0]
        return known[path]
