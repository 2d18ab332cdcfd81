"""First pass of the keyword index: how often each term occurs in each field of each section, in columns."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.index.keyword import FIELDS, Field
from rag_assets.index.keyword.terms import name_terms, runs, word_terms

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class TermFrequencies:
    """The terms of n sections. Section i owns the entries `offsets[i]:offsets[i + 1]`, ordered by term.

    `terms` (uint32, one per entry) are positions in the sorted `vocabulary`; `frequencies` (uint32, entries x
    fields) and `lengths` (uint32, n x fields) follow the order of `fields`.
    """

    fields: tuple[str, ...]
    vocabulary: tuple[str, ...]
    offsets: NDArray[np.int64]
    terms: NDArray[np.uint32]
    frequencies: NDArray[np.uint32]
    lengths: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.offsets) - 1


def count_terms(sections: Iterable[Mapping[str, str]], fields: Sequence[Field] = FIELDS) -> TermFrequencies:
    """Counts the terms of `sections`, each a mapping from field name to text; an absent field is empty.

    Raises KeyError for a field that is not in `fields`. Pure: the same texts give the same bytes.
    """
    names = tuple(field.name for field in fields)
    numbers: dict[str, int] = {}
    mentioned, declared = _Expansion(word_terms, numbers), _Expansion(name_terms, numbers)
    expansions = [declared if field.declares else mentioned for field in fields]
    found = array("I")
    ends = array("Q")
    for section in sections:
        unknown = section.keys() - set(names)
        if unknown:
            raise KeyError(f"unknown keyword fields: {', '.join(sorted(unknown))}; known: {', '.join(names)}")
        for name, expansion in zip(names, expansions, strict=True):
            text = section.get(name)
            if text:
                found.extend(chain.from_iterable(map(expansion.__getitem__, runs(text))))
            ends.append(len(found))
    return _columns(names, numbers, found, ends)


class _Expansion(dict[str, tuple[int, ...]]):
    """run → numbers of its terms, filled on first use; numbering is shared by all fields."""

    def __init__(self, terms_of: Callable[[str], tuple[str, ...]], numbers: dict[str, int]) -> None:
        super().__init__()
        self._terms_of = terms_of
        self._numbers = numbers

    def __missing__(self, run: str) -> tuple[int, ...]:
        numbers = self._numbers
        made = tuple([numbers.setdefault(term, len(numbers)) for term in self._terms_of(run)])
        self[run] = made
        return made


def _columns(
    names: tuple[str, ...], numbers: Mapping[str, int], found: array[int], ends: array[int]
) -> TermFrequencies:
    vocabulary = sorted(numbers)
    rank = np.empty(len(vocabulary), dtype=np.int64)
    rank[[numbers[term] for term in vocabulary]] = np.arange(len(vocabulary), dtype=np.int64)
    width = len(names)
    bounds = np.concatenate(([0], np.frombuffer(ends, dtype=np.uint64))).astype(np.int64)
    lengths = bounds[1:] - bounds[:-1]
    cell = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)  # section * width + field, per occurrence
    sections, fields = np.divmod(cell, width)
    span = max(1, len(vocabulary))
    occurrences = sections * span + rank[np.frombuffer(found, dtype=np.uint32)]
    entries, entry_of = np.unique(occurrences, return_inverse=True)
    frequencies = np.bincount(entry_of * width + fields, minlength=len(entries) * width).reshape(-1, width)
    owners, terms = np.divmod(entries, span)
    count = len(lengths) // width
    return TermFrequencies(
        fields=names,
        vocabulary=tuple(vocabulary),
        offsets=np.searchsorted(owners, np.arange(count + 1)).astype(np.int64),
        terms=terms.astype(np.uint32),
        frequencies=frequencies.astype(np.uint32),
        lengths=lengths.reshape(count, width).astype(np.uint32),
    )
