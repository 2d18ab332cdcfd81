"""Arrow columns from Python values and to numpy, without `pyarrow.array` and `to_numpy`: where pandas is installed,
these import it, and every process that touches a table would pay half a second for a library that it does not use.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Values: TypeAlias = "Sequence[Any] | npt.NDArray[Any] | pa.Array"


def column(values: Values, kind: pa.DataType) -> pa.Array:
    """The values, none of them missing, as an array: texts, bytes, numbers, truth values, or lists of these.

    Raises TypeError for another kind, and what numpy raises for values that are not of it.
    """
    if isinstance(values, pa.Array):
        return values
    if pa.types.is_list(kind):
        return lists(_offsets(map(len, values)), list(chain.from_iterable(values)), kind.value_type)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _bytes([value.encode() for value in values], kind)
    if pa.types.is_binary(kind):
        return _bytes(list(values), kind)
    if pa.types.is_boolean(kind):
        bits = np.packbits(np.asarray(values, dtype=np.bool_), bitorder="little")
        return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(bits)])
    return numbers(values, kind)


def numbers(values: Sequence[Any] | npt.NDArray[Any], kind: pa.DataType) -> pa.Array:
    """A flat column of numbers."""
    if kind not in _NUMBERS:
        raise TypeError(f"no column of type {kind} is written here")
    made = np.ascontiguousarray(values, dtype=_NUMBERS[kind])
    return pa.Array.from_buffers(kind, len(made), [None, pa.py_buffer(made)])


def lists(offsets: Sequence[int] | npt.NDArray[Any], values: Values, kind: pa.DataType) -> pa.Array:
    """A column of lists: row n has the `values`, which are of `kind`, from `offsets[n]` to `offsets[n + 1]`."""
    return pa.ListArray.from_arrays(numbers(offsets, pa.int32()), column(values, kind))


def table(columns: Mapping[str, Values], schema: pa.Schema) -> pa.Table:
    """The columns of a schema, in its order. Raises ValueError where they differ in length."""
    made = [column(columns[field.name], field.type) for field in schema]
    found = pa.Table.from_arrays(made, schema=schema)
    found.validate()
    return found


def empty_batch(schema: pa.Schema) -> pa.RecordBatch:
    """No rows of a schema."""
    return pa.RecordBatch.from_arrays([column([], field.type) for field in schema], schema=schema)


def to_numpy(values: pa.Array) -> npt.NDArray[Any]:
    """The numbers of a flat column without missing values, read-only and not copied."""
    kind, (_, data) = _NUMBERS[values.type], values.buffers()
    if data is None:
        return np.empty(0, dtype=kind)
    return np.frombuffer(data, dtype=kind)[values.offset : values.offset + len(values)]


def texts(values: pa.Array) -> list[bytes]:
    """The UTF-8 of a flat column of texts without missing values."""
    _, ends, data = values.buffers()
    if not len(values) or data is None:
        return [b""] * len(values)
    limits = _limits(values, ends).tolist()
    content = bytes(memoryview(data)[: limits[-1]])
    return [content[start:end] for start, end in pairwise(limits)]


def distinct_texts(values: pa.Array) -> tuple[list[bytes], npt.NDArray[Any]]:
    """The different texts of a flat column without missing values, and of each row the number of its text.

    A column that was read as a dictionary has them ready; texts of it that no row has may be among them.
    """
    if pa.types.is_dictionary(values.type):
        return texts(values.dictionary), to_numpy(values.indices)
    known: dict[bytes, int] = {}
    codes = [known.setdefault(text, len(known)) for text in texts(values)]
    return list(known), np.array(codes, dtype=np.int32)


def packed_texts(values: pa.Array) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32]]:
    """The UTF-8 of a flat column of texts without missing values: all of it, and how many bytes each row has."""
    if pa.types.is_dictionary(values.type):
        distinct, rows = distinct_texts(values)
        found = [distinct[row] for row in rows.tolist()]
        return np.frombuffer(b"".join(found), np.uint8), np.array([len(text) for text in found], np.int32)
    _, ends, data = values.buffers()
    if not len(values) or data is None:
        return np.zeros(0, np.uint8), np.zeros(len(values), np.int32)
    limits = _limits(values, ends)
    content = np.frombuffer(data, np.uint8)[limits[0] : limits[-1]].copy()  # nothing of the table is held on to
    return content, np.diff(limits).astype(np.int32)


def matrix(values: pa.FixedSizeListArray) -> npt.NDArray[Any]:
    """The numbers of a column of lists of one length, (rows, length), read-only and not copied."""
    rows = to_numpy(values.values).reshape(-1, values.type.list_size)
    return rows[values.offset : values.offset + len(values)]


def _limits(values: pa.Array, ends: pa.Buffer) -> npt.NDArray[Any]:
    """Where the text of each row begins in the bytes of all, and where the last one ends."""
    kind = np.int64 if pa.types.is_large_string(values.type) else np.int32
    return np.frombuffer(ends, dtype=kind)[values.offset : values.offset + len(values) + 1]


def _bytes(values: Sequence[bytes], kind: pa.DataType) -> pa.Array:
    width = np.int64 if pa.types.is_large_string(kind) else np.int32
    offsets = pa.py_buffer(np.array(_offsets(map(len, values)), dtype=width))
    return pa.Array.from_buffers(kind, len(values), [None, offsets, pa.py_buffer(b"".join(values))])


def _offsets(lengths: Iterable[int]) -> list[int]:
    return list(accumulate(lengths, initial=0))


_NUMBERS: dict[pa.DataType, type[np.generic]] = {
    pa.int32(): np.int32,
    pa.int64(): np.int64,
    pa.uint32(): np.uint32,
    pa.float32(): np.float32,
}
