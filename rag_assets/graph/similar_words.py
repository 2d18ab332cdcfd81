"""Which of many words share most pairs of letters with one: what is compared in full afterwards."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from rag_assets.graph.csr_graph import Graph, Numbers

COMPARED = 200
"""Words that difflib compares in full: each costs about 30 µs."""

_LETTER_BITS = 21
"""Of a code point: two of them and the number of a word are one number of 64 bits."""


def most_alike(graph: Graph, wanted: Iterable[str], count: int = COMPARED) -> dict[str, list[str]]:
    """The `count` words of a graph most like each of the wanted ones: those that share the largest part of their pairs
    of letters (Dice's coefficient), of equal ones the last by name.

    O(letters) in arrays, and sets only for the words that may be among the best: 40 ms for 33,000 words of 35 letters,
    where sets for all of them take 270.
    """
    pairs = _Pairs(graph)
    return {word: [graph.words[number] for number in pairs.nearest(word, count)] for word in wanted if word}


class _Pairs:
    """The pairs of neighbouring letters of all words. A word of one letter has that letter instead."""

    def __init__(self, graph: Graph) -> None:
        self._words = graph.words
        content, ends = graph.arrays["word_bytes"], graph.arrays["word_ends"].astype(np.int64)
        self._letters = np.frombuffer(content.tobytes().decode("utf-8", "replace").encode("utf-32-le"), np.uint32)
        begins = np.concatenate(([0], np.cumsum((content & 0xC0) != 0x80)))  # the other bytes go on with a letter
        self._starts, stops = begins[ends[:-1]], begins[ends[1:]]
        self._sizes = stops - self._starts
        pair, word = _codes(self._letters), np.repeat(np.arange(len(self._sizes)), self._sizes)
        is_inside = np.ones(len(pair), bool)
        is_inside[stops[self._sizes > 0] - 1] = False
        self._pair, self._word = pair[is_inside], word[is_inside]

    def nearest(self, wanted: str, count: int) -> list[int]:
        """The numbers of the words, the most alike first."""
        asked = max(1, len(np.unique(_codes(_letters_of(wanted))[:-1])))
        shared = self._shared(wanted)
        known = np.flatnonzero(shared)
        if len(known) > count:  # a word has as many different pairs as it shares, or more, and one less than letters
            both, most = shared[known], np.maximum(self._sizes[known] - 1, 1)
            least = np.partition(2 * both / (asked + most), len(known) - count)[len(known) - count]
            known = known[2 * both / (asked + both) >= least]
        score = 2 * shared[known] / (asked + self._distinct(known))
        best = known[np.lexsort((-known, -score))][:count].tolist()
        return [*best, *np.flatnonzero(shared == 0)[::-1][: count - len(best)].tolist()]

    def _shared(self, wanted: str) -> Numbers:
        """How many different pairs of a word each of the words has."""
        letters = _letters_of(wanted)
        shared = np.zeros(len(self._sizes), np.int64)
        if len(letters) == 1:
            alone = self._sizes == 1
            shared[alone] = self._letters[self._starts[alone]] == letters[0]
        for pair in np.unique(_codes(letters)[:-1]):
            shared[self._word[self._pair == pair]] += 1  # once for a word, however often it has the pair
        return shared

    def _distinct(self, words: Numbers) -> Numbers:
        """How many different pairs some words have; 1 of a word of one letter."""
        row = np.full(len(self._sizes), -1)
        row[words] = np.arange(len(words))
        rows = row[self._word]
        inside = rows >= 0
        # Sorting is what sets are without hashing, which takes NumPy fifty times as long.
        pairs = np.sort((rows[inside] << 2 * _LETTER_BITS) | self._pair[inside])
        is_new = np.ones(len(pairs), bool)
        is_new[1:] = pairs[1:] != pairs[:-1]
        counts = np.bincount(pairs[is_new] >> 2 * _LETTER_BITS, minlength=len(words))
        at_least_one: Numbers = np.maximum(counts, 1)
        return at_least_one


def _letters_of(word: str) -> NDArray[np.uint32]:
    return np.frombuffer(word.encode("utf-32-le", "replace"), np.uint32)


def _codes(letters: NDArray[np.uint32]) -> Numbers:
    """One number for each letter and the one behind it."""
    wide = letters.astype(np.int64)
    codes: Numbers = (wide << _LETTER_BITS) | np.append(wide[1:], 0)
    return codes
