"""Columns of texts as numbers: what repeats in a million rows is looked up once, and order is that of numbers.

Neither pyarrow.compute nor pandas is imported: a build of one commit spends less on its whole graph than they take.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, repeat
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rag_assets.stores.columns import distinct_texts, texts, to_numpy

Numbers = NDArray[np.int64]

_KEY_BITS = 63
"""Of one sort key: an int64 without its sign."""


@dataclass(frozen=True, slots=True)
class Coded:
    """A column of texts: `texts` has each that occurs at least once, `codes` of each row the place of its text."""

    texts: list[bytes]
    codes: Numbers

    @classmethod
    def of(cls, chunks: Iterable[pa.Array], shared: dict[bytes, bytes] | None = None) -> Coded:
        """The column in these parts, as texts or as dictionaries of texts. Texts that are `shared` already, by an
        earlier part or another column, are in memory once: a key stands in every part that refers to it."""
        found: list[bytes] = []
        codes = [np.zeros(0, np.int64)]
        for chunk in chunks:
            distinct, numbers = distinct_texts(chunk)
            codes.append(numbers.astype(np.int64) + len(found))
            found += distinct if shared is None else map(shared.setdefault, distinct, distinct)
        return cls(found, np.concatenate(codes))

    def __add__(self, other: Coded) -> Coded:
        return Coded(self.texts + other.texts, np.concatenate((self.codes, other.codes + len(self.texts))))

    def __getitem__(self, row: int) -> bytes:
        found: bytes = self.texts[self.codes[row]]
        return found

    def rows(self, rows: Numbers) -> Coded:
        """Some rows of it."""
        return Coded(self.texts, self.codes[rows])

    def occurring(self) -> Iterator[bytes]:
        """The texts of the rows, each at least once."""
        used = np.zeros(len(self.texts), bool)
        used[self.codes] = True
        return compress(self.texts, used.tolist())

    def numbers(self, known: Mapping[bytes, int]) -> Numbers:
        """Of each row the number that its text is known by, -1 for none."""
        found = np.fromiter(map(known.get, self.texts, repeat(-1)), np.int64, len(self.texts))
        return found[self.codes]

    def within(self, names: Sequence[str], what: str) -> Numbers:
        """Of each row the place of its text among `names`. Raises ValueError for another text."""
        found = self.numbers(numbered(name.encode() for name in names))
        if (found < 0).any():
            raise ValueError(f"unknown {what} in the graph: {self[int(np.argmin(found))].decode()!r}")
        return found


def numbered(values: Iterable[bytes]) -> dict[bytes, int]:
    """Each of some different texts with its place."""
    return {text: number for number, text in enumerate(values)}


def rows_of_texts(chunks: Iterable[pa.Array]) -> list[bytes]:
    """The texts of a column, row by row."""
    found: list[bytes] = []
    for chunk in chunks:
        if pa.types.is_dictionary(chunk.type):
            distinct, numbers = distinct_texts(chunk)
            found += [distinct[number] for number in numbers.tolist()]
        else:
            found += texts(chunk)
    return found


def rows_of_numbers(chunks: Iterable[pa.Array]) -> Numbers:
    """The numbers of a column."""
    return np.concatenate([np.zeros(0, np.int64), *map(to_numpy, chunks)])


def flattened(chunks: Sequence[pa.ListArray]) -> tuple[Numbers, list[pa.Array]]:
    """How many values each row of a column of lists has, and all values."""
    ends = [to_numpy(chunk.offsets) for chunk in chunks]
    sizes = np.concatenate([np.zeros(0, np.int64), *map(np.diff, ends)])
    return sizes, [chunk.values[at[0] : at[-1]] for chunk, at in zip(chunks, ends, strict=True)]


def ascending(*columns: NDArray[Any]) -> Numbers:
    """The order of rows by columns of numbers ≥ 0, the first column first. Rows that are equal in all of them may come
    in any order among themselves.

    Columns are put together into as few sort keys as hold their bits: one sort of one key is several times as fast as
    one of five.
    """
    keys: list[Numbers] = []
    room = 0
    for column in columns:
        bits = int(column.max(initial=0)).bit_length()
        if bits <= room and keys:
            keys[-1] = keys[-1] << bits | column
            room -= bits
        else:
            keys.append(column.astype(np.int64))
            room = _KEY_BITS - bits
    return np.argsort(keys[0]) if len(keys) == 1 else np.lexsort(keys[::-1])
