"""The tables of a generation: Parquet, one file per bucket of paths, byte-identical for equal rows.

A bucket is the unit of reading, writing and resuming, so memory stays bounded by the largest bucket
whatever the size of the repository.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from rag_assets.errors import RagAssetsError
from rag_assets.index.columns import Values
from rag_assets.index.columns import table as made_table
from rag_assets.index.file_digests import sha256_of
from rag_assets.index.layout import label_of

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
    made = made_table(columns, schema)
    path = part_path(directory, table, bucket)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
    leaves = [f"{name}.list.element" for name in vectors]
    options: dict[str, Any] = {"compression": _COMPRESSION}
    if leaves:
        options |= {"use_dictionary": False, "use_byte_stream_split": leaves}
    try:
        pq.write_table(made, temporary, **options)
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
    # `read_table` would load pyarrow.dataset; reading ahead helps over a network and costs a third of a small part
    try:
        with pq.ParquetFile(path, read_dictionary=list(dictionaries) or None, pre_buffer=False) as file:
            return file.read(columns=list(columns) if columns is not None else None)
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


def read_all(
    directory: Path,
    table: str,
    buckets: int,
    columns: Sequence[str] | None = None,
    *,
    dictionaries: Sequence[str] = (),
) -> Iterator[pa.Table]:
    """Every bucket in turn; `dictionaries` as in `read_file`."""
    for bucket in range(buckets):
        yield read_part(directory, table, bucket, columns, dictionaries=dictionaries)


def digest_files(paths: Iterable[Path], base: Path) -> str:
    """sha256 over names and bytes of files: the data version of a stage's output."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(path.relative_to(base).as_posix().encode())
        digest.update(bytes.fromhex(sha256_of(path)))
    return digest.hexdigest()
