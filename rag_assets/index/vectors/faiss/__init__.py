"""The points of a generation in FAISS: the same contract as the embedded shard (`index.vectors.vector_api`), with
exact search.

    shard/dense.faiss       IndexFlatIP: exact inner products; absent without an embedding model
    shard/points.msgpack    ids, digests, filtered fields, keyword weights by term
    shard/payloads.json     the payloads one after the other, found by their offsets
    shard/faiss.json        version and counts; written last

Rows are in the order of ids, so equal scores are too. A filter becomes the rows that the search may look at, so it
holds before the top k (R17); payload fields are columns, asked all at once. All points are in memory while a generation
is written: a payload, a vector and the weights take 5 KB.
"""

from __future__ import annotations

import logging
import shutil
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import msgspec
import numpy as np

from rag_assets.closeable import Closeable
from rag_assets.contracts.payload import payload_indexes
from rag_assets.errors import REBUILD
from rag_assets.index.layout import require_format, write_atomically
from rag_assets.index.vectors.conditions import (
    Absent,
    AllOf,
    AnyOf,
    BeginsWith,
    Between,
    Condition,
    Equal,
    HasId,
    KnownValues,
    Not,
    OneOf,
    conditions_of,
)
from rag_assets.index.vectors.filters import SearchScope
from rag_assets.index.vectors.vector_api import FileRef, ScoredPoint, StoredPoint, VectorStoreError, best_with_ties
from rag_assets.serialization import from_json, from_msgpack

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]
    from rag_assets.index.vectors.vector_api import Dense, Sparse


class FieldColumn(msgspec.Struct, frozen=True):
    """The values of one payload field: entry i says that point `rows[i]` (int32) has `values[codes[i]]` (int32). A
    field that is a list has several entries of one point, one that is absent none."""

    values: list[str]
    rows: bytes
    codes: bytes

    @classmethod
    def of(cls, found: Iterable[Any]) -> Self:
        """The column of a field that has these contents, point by point; None and '' are absent."""
        numbers: dict[str, int] = {}
        rows, codes = [], []
        for row, content in enumerate(found):
            for value in dict.fromkeys(content if isinstance(content, list) else (content,)):
                if value not in (None, ""):
                    rows.append(row)
                    codes.append(numbers.setdefault(value, len(numbers)))
        return cls(list(numbers), np.array(rows, np.int32).tobytes(), np.array(codes, np.int32).tobytes())

    def having(self, points: int, matches: Callable[[str], bool] | None = None) -> Mask:
        """Which points have a value, or one that matches."""
        rows = np.frombuffer(self.rows, np.int32)
        mask = np.zeros(points, np.bool_)
        if matches is None:
            mask[rows] = True
        else:
            wanted = np.fromiter((matches(value) for value in self.values), np.bool_, len(self.values))
            mask[rows[wanted[np.frombuffer(self.codes, np.int32)]]] = True
        return mask

    def counts(self, mask: Mask) -> dict[str, int]:
        """Value → how many of the points of the mask have it; those that none has are left out."""
        codes = np.frombuffer(self.codes, np.int32)[mask[np.frombuffer(self.rows, np.int32)]]
        found = np.bincount(codes, minlength=len(self.values)).tolist()
        return {value: count for value, count in zip(self.values, found, strict=True) if count}


class FieldMasks:
    """Conditions over the columns of all points. Safe to use from several threads."""

    def __init__(self, columns: Mapping[str, FieldColumn], row_of: Mapping[str, int]) -> None:
        """`row_of` has every point by its id."""
        self._columns = columns
        self._row_of = row_of

    def all_of(self, conditions: Sequence[Condition]) -> Mask:
        mask = np.ones(len(self._row_of), np.bool_)
        for condition in conditions:
            mask &= self._mask(condition)
        return mask

    def counts(self, key: str, mask: Mask) -> dict[str, int]:
        return self._columns[key].counts(mask)

    def _mask(self, condition: Condition) -> Mask:
        match condition:
            case AllOf():
                return self.all_of(condition.conditions)
            case AnyOf():
                mask = np.zeros(len(self._row_of), np.bool_)
                for one in condition.conditions:
                    mask |= self._mask(one)
                return mask
            case Not():
                return ~self._mask(condition.condition)
            case HasId():
                mask = np.zeros(len(self._row_of), np.bool_)
                mask[[self._row_of[known] for known in condition.ids if known in self._row_of]] = True
                return mask
            case Absent():
                return ~self._having(condition.key)
            case Equal():
                return self._having(condition.key, condition.value.__eq__)
            case OneOf():
                return self._having(condition.key, frozenset(condition.values).__contains__)
            case BeginsWith():
                prefix = condition.prefix
                return self._having(condition.key, lambda value: value.startswith(prefix))
            case Between():
                return self._having(condition.key, condition.holds)

    def _having(self, key: str, matches: Callable[[str], bool] | None = None) -> Mask:
        return self._columns[key].having(len(self._row_of), matches)


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
        require_format(str(directory), about.version, VERSION, error=VectorStoreError)
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


class FaissReader(Closeable):
    """A `VectorReader` of one finished generation. Safe to use from several threads."""

    def __init__(self, directory: Path) -> None:
        """Raises VectorStoreError where there is no readable one, or no FAISS."""
        self._directory = directory
        self._files = read_files(directory)
        points = self._files.points
        self._ids = points.ids
        self._row_of = {known: row for row, known in enumerate(points.ids)}
        self._masks = FieldMasks(points.fields, self._row_of)
        self._dense_rows = np.frombuffer(points.dense_rows, np.int32)
        self._terms = np.frombuffer(points.postings.terms, np.uint32)
        self._offsets = np.frombuffer(points.postings.offsets, np.int64)
        self._rows = np.frombuffer(points.postings.rows, np.int32)
        self._weights = np.frombuffer(points.postings.weights, np.float32)
        self._known = KnownValues(self.values)  # a finished generation never changes

    def count(self, scope: SearchScope | None = None) -> int:
        return len(self._ids) if scope is None else int(self._mask(scope).sum())

    def dense(self, vector: Dense, scope: SearchScope, limit: int) -> list[ScoredPoint]:
        """Every point of the scope is compared."""
        index = self._files.index
        if index is None or vector.shape != (index.d,):
            held = "no vectors" if index is None else f"vectors of {index.d} dimensions"
            raise VectorStoreError(
                f"FAISS store {self._directory} cannot be searched with a vector of shape {vector.shape}: it has {held}"
            )
        faiss = faiss_module()
        allowed = self._mask(scope)[self._dense_rows]
        within = int(allowed.sum())
        if not within:
            return []
        bits = np.packbits(allowed, bitorder="little")
        selected = faiss.SearchParameters(sel=faiss.IDSelectorBitmap(bits))
        question = np.ascontiguousarray(vector, np.float32)[None]

        def search(asked: int) -> list[ScoredPoint]:
            scores, found = index.search(question, min(asked, within), params=selected)
            rows = self._dense_rows[found[0]].tolist()
            return [ScoredPoint(self._ids[row], score) for row, score in zip(rows, scores[0].tolist(), strict=True)]

        return best_with_ties(search, limit, lambda hit: hit.id)

    def sparse(
        self, indices: Sequence[int], values: Sequence[float], scope: SearchScope, limit: int
    ) -> list[ScoredPoint]:
        scores = np.zeros(len(self._ids))
        touched = np.zeros(len(self._ids), np.bool_)
        for index, value in zip(indices, values, strict=True):
            at = int(np.searchsorted(self._terms, index))
            if at < len(self._terms) and self._terms[at] == index:
                part = slice(self._offsets[at], self._offsets[at + 1])
                scores[self._rows[part]] += float(value) * self._weights[part]
                touched[self._rows[part]] = True
        if not touched.any():
            return []
        rows = np.flatnonzero(touched & self._mask(scope))
        best = rows[np.lexsort((rows, -scores[rows]))][:limit].tolist()
        return [ScoredPoint(self._ids[row], float(scores[row])) for row in best]

    def retrieve(self, ids: Sequence[str], scope: SearchScope) -> dict[str, dict[str, Any]]:
        rows = [self._row_of[known] for known in dict.fromkeys(ids) if known in self._row_of]
        if not rows:
            return {}
        mask = self._mask(scope)
        return {self._ids[row]: msgspec.json.decode(self._files.payload(row)) for row in rows if mask[row]}

    def places(self, ids: Sequence[str], scope: SearchScope) -> dict[str, FileRef]:
        return {known: FileRef.of(payload) for known, payload in self.retrieve(ids, scope).items()}

    def vector(self, identifier: str) -> Dense | None:
        row, index = self._row_of.get(identifier), self._files.index
        if row is None or index is None:
            return None
        at = np.flatnonzero(self._dense_rows == row)
        found: Dense | None = index.reconstruct(int(at[0])) if len(at) else None
        return found

    def digests(self) -> dict[str, str]:
        return dict(zip(self._ids, self._files.points.digests, strict=True))

    def ids(self, scope: SearchScope | None = None) -> dict[str, str]:
        mask: Mask = np.ones(len(self._ids), np.bool_) if scope is None else self._mask(scope)
        return {self._ids[row]: self._files.points.hashes[row] for row in np.flatnonzero(mask).tolist()}

    def values(self, key: str, scope: SearchScope) -> dict[str, int]:
        return dict(sorted(self._masks.counts(key, self._mask(scope)).items()))

    def close(self) -> None:
        """Nothing is held but memory."""

    def _mask(self, scope: SearchScope) -> Mask:
        return self._masks.all_of(conditions_of(scope, self._known.within(scope)))


_log = logging.getLogger(__name__)


class FaissWriter:
    """A `PointTarget` of one generation, which begins with the points of an earlier one. Whatever a killed build
    left in `directory` is removed first. `dimension` 0: without vectors."""

    def __init__(self, directory: Path, dimension: int, *, base: Path | None = None) -> None:
        """`base` is the folder of a finished generation with the same vectors; a damaged one is not used. Raises
        VectorStoreError."""
        if dimension:
            faiss_module()  # said now, not when everything is computed
        self._directory = directory
        self._dimension = dimension
        self._kept = self._of(base)
        try:
            if directory.exists():
                shutil.rmtree(directory)
            directory.mkdir(parents=True)
        except OSError as error:
            raise VectorStoreError(f"FAISS store {directory} cannot be made: {error}") from error

    def stored(self) -> dict[str, str]:
        return {known: point.digest for known, point in self._kept.items()}

    def upsert(self, batch: Sequence[StoredPoint]) -> None:
        self._kept.update((point.id, self._checked(point)) for point in batch)

    def delete(self, ids: Sequence[str]) -> None:
        for known in ids:
            self._kept.pop(known, None)

    def finish(self) -> None:
        try:
            write_files(self._directory, self._dimension, self._kept)
        except OSError as error:
            raise VectorStoreError(f"FAISS store {self._directory} could not be finished: {error}") from error

    def _of(self, base: Path | None) -> dict[str, KeptPoint]:
        if base is None:
            return {}
        try:
            files = read_files(base)
        except VectorStoreError as error:
            _log.warning("%s cannot be built upon (%s); making a new store", base, error)
            return {}
        return kept_points(files) if files.dimension == self._dimension else {}

    def _checked(self, point: StoredPoint) -> KeptPoint:
        dense = point.dense_in(self._dimension, "store")
        try:
            uuid.UUID(point.id)
            payload = msgspec.json.encode(point.payload)
        except (TypeError, ValueError) as error:  # not a UUID, or a payload that is not JSON
            raise VectorStoreError(f"point {point.id} of {point.payload.get('Path', '?')}: {error}") from error
        return KeptPoint(dense, point.sparse, payload, point.digest)
