"""What a FAISS generation is on the disk: a flat index of exact inner products, and beside it all that FAISS does not
keep.

    shard/dense.faiss       IndexFlatIP; absent without an embedding model
    shard/points.msgpack    ids, digests, filtered fields, keyword weights by term
    shard/payloads.json     the payloads one after the other, found by their offsets
    shard/faiss.json        version and counts; written last

Rows are in the order of ids, so that equal scores in the order of rows are in the order of ids.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from rag_assets.contracts.payload import payload_indexes
from rag_assets.errors import REBUILD
from rag_assets.index.layout import write_atomically
from rag_assets.index.vectors.faiss.column_filter import FieldColumn
from rag_assets.index.vectors.vector_api import VectorStoreError
from rag_assets.serialization import from_json, from_msgpack

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rag_assets.index.vectors.vector_api import Dense, Sparse

ABOUT = "faiss.json"
VERSION = 1

_DENSE = "dense.faiss"
_POINTS = "points.msgpack"
_PAYLOADS = "payloads.json"


def faiss_module() -> Any:
    """Raises VectorStoreError with the line that installs it."""
    try:
        import faiss
    except ImportError as error:
        raise VectorStoreError(
            f"stores.vectors faiss needs {error.name}; run: pip install 'rag-assets[faiss]'"
        ) from error
    return faiss


@dataclass(frozen=True, slots=True)
class KeptPoint:
    """A point as it is kept between two generations; `payload` is JSON."""

    dense: Dense | None
    sparse: Sparse
    payload: bytes
    digest: str


class _About(msgspec.Struct, frozen=True):
    version: int
    dimension: int
    points: int


class Postings(msgspec.Struct, frozen=True):
    """Keyword weights by term: those of `terms[i]` (uint32, ascending) are `offsets[i]:offsets[i + 1]` (int64) of
    `rows` (int32, ascending within a term) and `weights` (float32)."""

    terms: bytes
    offsets: bytes
    rows: bytes
    weights: bytes


class _Points(msgspec.Struct, frozen=True):
    """`dense_rows` (int32) are the points that have a vector, in the order of the index; `starts` (int64) where each
    payload begins, and where the last one ends."""

    ids: list[str]
    digests: list[str]
    hashes: list[str]
    fields: dict[str, FieldColumn]
    postings: Postings
    dense_rows: bytes
    starts: bytes


@dataclass(frozen=True, slots=True)
class FaissFiles:
    """A generation that was read; `index` is None where there are no vectors."""

    dimension: int
    points: _Points
    index: Any
    payloads: bytes

    def payload(self, row: int) -> bytes:
        start, end = np.frombuffer(self.points.starts, np.int64)[row : row + 2]
        return self.payloads[start:end]


def write_files(directory: Path, dimension: int, kept: Mapping[str, KeptPoint]) -> None:
    """Writes a generation; equal points give equal bytes. Raises OSError, or VectorStoreError without FAISS."""
    ids = sorted(kept)
    ordered = [kept[known] for known in ids]
    payloads = [msgspec.json.decode(point.payload) for point in ordered]
    vectors = {row: point.dense for row, point in enumerate(ordered) if point.dense is not None} if dimension else {}
    if dimension:
        faiss = faiss_module()
        index = faiss.IndexFlatIP(dimension)
        if vectors:
            index.add(np.stack(list(vectors.values())))
        write_atomically(directory / _DENSE, faiss.serialize_index(index).tobytes())
    points = _Points(
        ids=ids,
        digests=[point.digest for point in ordered],
        hashes=[payload.get("ContentHash", "") for payload in payloads],
        fields={key: FieldColumn.of([payload.get(key) for payload in payloads]) for key in payload_indexes()},
        postings=_postings([point.sparse for point in ordered]),
        dense_rows=np.array(list(vectors), np.int32).tobytes(),
        starts=np.cumsum([0, *(len(point.payload) for point in ordered)], dtype=np.int64).tobytes(),
    )
    write_atomically(directory / _PAYLOADS, b"".join(point.payload for point in ordered))
    write_atomically(directory / _POINTS, msgspec.msgpack.encode(points))
    write_atomically(directory / ABOUT, msgspec.json.encode(_About(VERSION, dimension, len(ids))))


def read_files(directory: Path) -> FaissFiles:
    """Raises VectorStoreError where there is no whole generation of this version."""
    try:
        about = from_json((directory / ABOUT).read_bytes(), _About)
        if about.version != VERSION:
            raise VectorStoreError(f"{directory} has format {about.version}, this version reads {VERSION}; {REBUILD}")
        points = from_msgpack((directory / _POINTS).read_bytes(), _Points)
        payloads = (directory / _PAYLOADS).read_bytes()
        index = _read_index(directory / _DENSE) if about.dimension else None
    except (OSError, msgspec.DecodeError) as error:
        raise VectorStoreError(f"FAISS store {directory} cannot be opened: {error}; {REBUILD}") from error
    starts = np.frombuffer(points.starts, np.int64)
    whole = len(points.ids) == about.points == len(starts) - 1 and len(payloads) == starts[-1]
    if not whole or (index is not None and index.ntotal * 4 != len(points.dense_rows)):
        raise VectorStoreError(f"FAISS store {directory} does not hold what it says; {REBUILD}")
    return FaissFiles(about.dimension, points, index, payloads)


def kept_points(files: FaissFiles) -> dict[str, KeptPoint]:
    """The points of a generation, to begin the next one with."""
    vectors: dict[int, Dense] = {}
    if files.index is not None and files.index.ntotal:
        rows = np.frombuffer(files.points.dense_rows, np.int32).tolist()
        vectors = dict(zip(rows, files.index.reconstruct_n(0, files.index.ntotal), strict=True))
    sparse = _by_row(files.points.postings, len(files.points.ids))
    return {
        known: KeptPoint(vectors.get(row), sparse[row], files.payload(row), files.points.digests[row])
        for row, known in enumerate(files.points.ids)
    }


def _read_index(path: Path) -> Any:
    try:
        return faiss_module().deserialize_index(np.frombuffer(path.read_bytes(), np.uint8))
    except RuntimeError as error:  # what FAISS raises for bytes that are no index
        raise VectorStoreError(
            f"FAISS index {path} cannot be opened: {str(error).splitlines()[-1]}; {REBUILD}"
        ) from error


def _postings(sparse: list[Sparse]) -> Postings:
    """From terms by point to points by term."""
    sizes = [len(indices) for indices, _ in sparse]
    rows = np.repeat(np.arange(len(sparse), dtype=np.int32), sizes)
    terms = np.concatenate([indices for indices, _ in sparse]) if sparse else np.zeros(0, np.uint32)
    weights = np.concatenate([values for _, values in sparse]) if sparse else np.zeros(0, np.float32)
    order = np.lexsort((rows, terms))
    distinct, firsts = np.unique(terms[order], return_index=True)
    offsets = np.append(firsts, len(order)).astype(np.int64)
    return Postings(
        distinct.astype(np.uint32).tobytes(),
        offsets.tobytes(),
        rows[order].tobytes(),
        weights[order].astype(np.float32).tobytes(),
    )


def _by_row(postings: Postings, points: int) -> list[Sparse]:
    """The inverse of `_postings`."""
    offsets = np.frombuffer(postings.offsets, np.int64)
    terms: NDArray[np.uint32] = np.repeat(np.frombuffer(postings.terms, np.uint32), np.diff(offsets))
    rows, weights = np.frombuffer(postings.rows, np.int32), np.frombuffer(postings.weights, np.float32)
    order = np.lexsort((terms, rows))
    ends = np.cumsum(np.bincount(rows, minlength=points))[:-1] if points else np.zeros(0, np.int64)
    if not points:
        return []
    return list(zip(np.split(terms[order], ends), np.split(weights[order], ends), strict=True))
