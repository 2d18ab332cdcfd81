"""Columns of a graph table in numpy: texts that repeat as integer codes, other texts as bytes with offsets.

Neither pyarrow.compute nor pandas is imported: a build of one commit spends less on its whole graph than they take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rag_assets.index.parquet_parts import distinct_texts, packed_texts, to_numpy

Numbers = NDArray[np.int64]
Codes = NDArray[np.int32]
Rows = dict[str, NDArray[Any]]
"""Columns by name."""

_KEY_BITS = 63
"""Of one sort key: an int64 without its sign."""
_TAKEN_AT_A_TIME = 10_000  # rows: each byte of theirs has two indexes of eight meanwhile


class StringDictionary:
    """Different texts, numbered as they come. A key stands in each file that refers to it, and is here once."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._numbers)

    def coded(self, column: pa.Array) -> Codes:
        """The number of the text of each row."""
        distinct, rows = distinct_texts(column)
        used = np.zeros(len(distinct), bool)
        used[rows] = True
        known = self._numbers
        codes = np.full(len(distinct), -1, np.int32)
        codes[used] = [known.setdefault(text, len(known)) for text in compress(distinct, used.tolist())]
        found: Codes = codes[rows]
        return found

    def ascending(self, rows: Codes) -> tuple[list[bytes], Codes]:
        """The texts of some rows, each once, in the order of their bytes, and of each number the place of its text
        among them, -1 for the others."""
        texts = list(self._numbers)
        numbers = np.flatnonzero(self.among(rows)).tolist()
        numbers.sort(key=texts.__getitem__)
        places = np.full(len(texts), -1, np.int32)
        places[numbers] = np.arange(len(numbers), dtype=np.int32)
        return [texts[number] for number in numbers], places

    def among(self, *columns: Codes) -> NDArray[np.bool_]:
        """Of each number, whether a row has it."""
        found = np.zeros(len(self), bool)
        for column in columns:
            found[column] = True
        return found


@dataclass(frozen=True, slots=True)
class StringColumn:
    """A column of texts that hardly repeat: their bytes, and where each of them begins and the last one ends."""

    content: NDArray[np.uint8]
    ends: Numbers

    @classmethod
    def of(cls, content: NDArray[np.uint8], sizes: Codes) -> StringColumn:
        return cls(content, np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))))

    def __getitem__(self, row: int) -> bytes:
        return self.content[self.ends[row] : self.ends[row + 1]].tobytes()

    def rows(self, rows: Numbers) -> StringColumn:
        """Some rows of it."""
        starts, sizes = self.ends[rows], (self.ends[rows + 1] - self.ends[rows]).astype(np.int32)
        parts = [np.zeros(0, np.uint8)]
        for first in range(0, len(rows), _TAKEN_AT_A_TIME):
            some = slice(first, first + _TAKEN_AT_A_TIME)
            parts.append(self.content[_ranges(starts[some], sizes[some])])
        return StringColumn.of(np.concatenate(parts), sizes)


def _ranges(starts: Numbers, sizes: Codes) -> Numbers:
    """start, start + 1 … of each range, one range after the other."""
    ends = np.cumsum(sizes, dtype=np.int64)
    before = np.repeat(starts - ends + sizes, sizes)
    found: Numbers = before + np.arange(len(before))
    return found


def text_rows(name: str, column: pa.Array) -> Rows:
    """A column of texts as what `stacked` puts together and `StringColumn.of` takes."""
    content, sizes = packed_texts(column)
    return {name: content, f"{name}_sizes": sizes}


def within(column: pa.Array, names: Sequence[str], what: str) -> NDArray[np.uint8]:
    """Of each row the place of its text among `names`. Raises ValueError for another text."""
    distinct, rows = distinct_texts(column)
    known = {name.encode(): place for place, name in enumerate(names)}
    found: NDArray[np.int16] = np.array([known.get(text, -1) for text in distinct], np.int16)[rows]
    if (found < 0).any():
        raise ValueError(f"unknown {what} in the graph: {distinct[rows[int(np.argmin(found))]].decode()!r}")
    return found.astype(np.uint8)


def list_rows(name: str, column: pa.ListArray, coded: Callable[[pa.Array], Codes]) -> Rows:
    """A column of lists of texts: how many each row has, and the numbers of all of them."""
    ends = to_numpy(column.offsets)
    sizes = np.diff(ends)
    return {name: coded(column.values[ends[0] : ends[-1]]), f"{name}_sizes": sizes}


def stacked(parts: list[Rows]) -> Rows:
    """The rows of all parts, one part after the other; the parts are empty afterwards."""
    return {name: np.concatenate([part.pop(name) for part in parts]) for name in list(parts[0])}


def sorted_rows(*columns: NDArray[Any]) -> Numbers:
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
