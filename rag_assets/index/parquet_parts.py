"""The tables of a generation: Parquet, one file per bucket of paths, byte-identical for equal rows.

A bucket is the unit of reading, writing and resuming, so memory stays bounded by the largest bucket
whatever the size of the repository.

Arrow columns from Python values and to numpy, without `pyarrow.array` and `to_numpy`: where pandas is installed,
these import it, and every process that touches a table would pay half a second for a library that it does not use.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from rag_assets.errors import RagAssetsError
from rag_assets.index.disk_files import sha256_of
from rag_assets.index.generation_files import check_file
from rag_assets.index.layout import label_of

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


def arrow_table(columns: Mapping[str, Values], schema: pa.Schema) -> pa.Table:
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


FILES_PER_BUCKET = 64
"""~0.5 MB of source, a third of a second for all stages: what a commit of one file has to make again, and still large
beside the 15 ms that the Parquet files of a bucket cost."""
MAX_BUCKETS = 512
_COMPRESSION = "zstd"


class TableDamaged(RagAssetsError):
    """A part of a table that is not what was written."""


def bucket_count(files: int) -> int:
    """How many buckets a snapshot of that many files gets; recorded in the generation.

    A power of two, so that a file more or less hardly ever changes it: another number means other parts throughout.
    """
    if files <= FILES_PER_BUCKET:
        return 1
    return int(min(MAX_BUCKETS, 2 ** round(math.log2(files / FILES_PER_BUCKET))))


def bucket_of(path: str, buckets: int) -> int:
    """The bucket of a repository path; the same on every machine and in every process."""
    digest = hashlib.blake2b(path.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % buckets


def by_bucket(paths: Iterable[str], buckets: int) -> dict[int, set[str]]:
    """Repository paths by their bucket, in the order of the buckets."""
    found: dict[int, set[str]] = {}
    for path in paths:
        found.setdefault(bucket_of(path, buckets), set()).add(path)
    return dict(sorted(found.items()))


def part_path(directory: Path, table: str, bucket: int) -> Path:
    return directory / table / f"part-{bucket:03d}.parquet"


def write_part(
    directory: Path,
    table: str,
    bucket: int,
    schema: pa.Schema,
    columns: Mapping[str, Values],
    *,
    vectors: Sequence[str] = (),
) -> Path:
    """Writes one bucket of one table atomically and returns its path.

    `vectors` names columns of float vectors, which dictionary and plain encodings only blow up: they get
    BYTE_STREAM_SPLIT.
    """
    leaves = [f"{name}.list.element" for name in vectors]
    options = {"use_dictionary": False, "use_byte_stream_split": leaves} if leaves else {}
    return write_file(part_path(directory, table, bucket), arrow_table(columns, schema), **options)


def write_file(path: Path, made: pa.Table, **options: Any) -> Path:
    """Writes a table atomically and returns its path. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        pq.write_table(made, temporary, compression=_COMPRESSION, **options)
        temporary.replace(path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
    return path


def read_part(
    directory: Path,
    table: str,
    bucket: int,
    columns: Sequence[str] | None = None,
    *,
    dictionaries: Sequence[str] = (),
) -> pa.Table:
    """One bucket of one table."""
    return read_file(part_path(directory, table, bucket), columns, dictionaries=dictionaries)


def read_file(path: Path, columns: Sequence[str] | None = None, *, dictionaries: Sequence[str] = ()) -> pa.Table:
    """One part by its path. Columns of texts that are named in `dictionaries`, as `words.list.element` where it is one
    of lists, are given as they are stored: each different text once, and numbers. Raises TableDamaged."""
    check_file(path, TableDamaged)
    # `read_table` would load pyarrow.dataset; reading ahead and threads cost half of a small part
    try:
        with pq.ParquetFile(path, read_dictionary=list(dictionaries) or None, pre_buffer=False) as file:
            return file.read(columns=list(columns) if columns is not None else None, use_threads=False)
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, FileNotFoundError) or getattr(error, "errno", None) is not None:
            raise  # what the system says of a file is no damage
        label = label_of(path)
        again = " ".join(filter(None, ("rag-assets index", label, "--force")))
        raise TableDamaged(f"{label + ': ' if label else ''}{path} cannot be read: {error}; run: {again}") from error


def read_rows(directory: Path, table: str, bucket: int, columns: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """One bucket as dictionaries. Not for vector columns: `to_pylist` on those costs gigabytes."""
    rows: list[dict[str, Any]] = read_part(directory, table, bucket, columns).to_pylist()
    return rows


def rows_with(table: pa.Table, column: str, value: str) -> list[dict[str, Any]]:
    """The rows of a table in memory whose `column` has this value."""
    found = [row for row, has in enumerate(table.column(column).to_pylist()) if has == value]
    return [table.slice(row, 1).to_pylist()[0] for row in found]  # a filter would load pyarrow.compute and pandas


def read_all(directory: Path, table: str, buckets: int, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
    """Every bucket in turn."""
    for bucket in range(buckets):
        yield read_part(directory, table, bucket, columns)


def digest_files(paths: Iterable[Path], base: Path) -> str:
    """sha256 over names and bytes of files: the data version of a stage's output."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(path.relative_to(base).as_posix().encode())
        digest.update(bytes.fromhex(sha256_of(path)))
    return digest.hexdigest()
