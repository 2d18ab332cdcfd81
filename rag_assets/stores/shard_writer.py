"""The embedded vector store: one Qdrant Edge shard per generation, written once, then only read.

Without a write-ahead log there is no lock: any number of processes can open a finished shard, while another
generation is being built beside it. The engine touches some files when it opens a shard (with equal content), so
readers need write permission in the folder.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import qdrant_edge as edge

from rag_assets.closing import Closing
from rag_assets.contracts.payload import payload_indexes
from rag_assets.stores.conditions import (
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
from rag_assets.stores.disk import size_on_disk
from rag_assets.stores.filters import SearchFilter
from rag_assets.stores.points import DENSE, SPARSE, Scored, StoredPoint, VectorStoreError, best_with_ties
from rag_assets.stores.shard_schema import copied_shard, create_empty_shard

if TYPE_CHECKING:
    from rag_assets.stores.points import Dense

__all__ = ["HNSW_FROM_POINTS", "Scored", "ShardReader", "ShardWriter", "StoredPoint", "VectorStoreError"]

HNSW_FROM_POINTS = 20_000
"""Below this the flat scan is kept: exact, 5 ms at 20,000 points (29 ms at 100,000), and the graph would take
22 s to build. From here on the graph answers in 2 ms."""

_log = logging.getLogger(__name__)

_UPSERT_BATCH = 500  # points in one engine call; larger ones are no faster and only cost memory
_SCROLL_BATCH = 5_000
_WHOLE = "Payload"
_DIGEST = "Digest"
_ABOUT = "rag_assets.json"  # beside the engine's own files, which it leaves alone
_MOST_CHANGES = 0.1  # of the points: the engine frees what was replaced, but its bytes stay in the file
_FEW_CHANGES = 100  # not worth a new shard, however small it is
_FREE_BYTES = 64 << 20
"""The engine maps its files, and a mapped write into a full disk kills the process: there has to be room before."""
_FILTERED = (*payload_indexes(), "ContentHash")
_REPAIR = "run: rag-assets index --force"


class _About(msgspec.Struct):
    """What a finished shard says of itself. `digests`: id → digest of its points, which the engine takes a quarter of a
    second to read out of 10,000."""

    changes: int
    digests: dict[str, str]


class ShardWriter:
    """Writes one shard: a copy of that of an earlier generation, brought to what is declared, or a new one.

    Whatever a killed build left in `directory` is removed first, never appended to. `dimension` 0 makes a lexical shard
    without dense vectors. Points are readable once `finish` has returned.
    """

    def __init__(
        self, directory: Path, dimension: int, *, hnsw_from_points: int = HNSW_FROM_POINTS, base: Path | None = None
    ) -> None:
        """`base` is the folder of a finished shard with the same vectors and payload indexes; a damaged one, or one
        that has been changed so often that a new one is better, is not used. Raises VectorStoreError."""
        self._directory = directory
        self._dimension = dimension
        self._hnsw_from_points = hnsw_from_points
        self._stored: dict[str, str] = {}
        self._changes = 0  # points replaced in, or deleted from, the shards that this one is a copy of
        self._is_new = True
        try:
            if directory.exists():
                shutil.rmtree(directory)
            directory.parent.mkdir(parents=True, exist_ok=True)
            self._require_room(size_on_disk(base) if base is not None else 0)
            self._shard = self._copied(base) or create_empty_shard(directory, dimension)
        except OSError as error:
            raise VectorStoreError(f"vector shard {directory} cannot be made: {error}") from error

    def stored(self) -> dict[str, str]:
        """id → digest of what the shard begins with."""
        return dict(self._stored)

    def upsert(self, batch: Sequence[StoredPoint]) -> None:
        """Writes points; one that has the id of an earlier one replaces it. Raises VectorStoreError."""
        for start in range(0, len(batch), _UPSERT_BATCH):
            self._require_room()
            points = [self._point(point) for point in batch[start : start + _UPSERT_BATCH]]
            self._update(edge.UpdateOperation.upsert_points(points))
            self._stored.update((point.id, point.digest) for point in batch[start : start + _UPSERT_BATCH])
            self._changes += len(points)

    def delete(self, ids: Sequence[str]) -> None:
        """Takes points out. Raises VectorStoreError."""
        for start in range(0, len(ids), _SCROLL_BATCH):
            self._update(edge.UpdateOperation.delete_points(list(ids[start : start + _SCROLL_BATCH])))
        for known in ids:
            self._stored.pop(known, None)
        self._changes += len(ids)

    def finish(self) -> None:
        """Builds the HNSW graph when there are enough points, makes everything durable and closes the shard."""
        self._require_room()
        try:
            points = int(self._shard.count(edge.CountRequest()))
            if self._dimension and points >= self._hnsw_from_points:
                self._shard.optimize()
            self._shard.flush()
            self._shard.close()
            about = msgspec.json.encode(_About(0 if self._is_new else self._changes, self._stored))
            (self._directory / _ABOUT).write_bytes(about)
        except Exception as error:  # the engine raises plain Exception
            raise VectorStoreError(f"vector shard {self._directory} could not be finished: {error}") from error

    def _require_room(self, more: int = 0) -> None:
        free = shutil.disk_usage(self._directory.parent).free
        if free < _FREE_BYTES + more:
            raise VectorStoreError(
                f"vector shard {self._directory}: the disk has {free >> 20} MB left and "
                f"{(_FREE_BYTES + more) >> 20} MB are needed; free some (rag-assets gc, rag-assets generations prune), "
                "then run it again"
            )

    def _copied(self, base: Path | None) -> edge.EdgeShard | None:
        """A copy of `base`, ready to be changed; None where it cannot, or should not, be used."""
        if base is None:
            return None
        try:
            about = msgspec.json.decode((base / _ABOUT).read_bytes(), type=_About)
            shard = copied_shard(base, self._directory)
            if int(shard.count(edge.CountRequest())) != len(about.digests):
                raise VectorStoreError("it does not hold what it says")
        except Exception as error:  # the engine raises plain Exception; whatever it is, a new shard needs no base
            _log.warning("vector shard %s cannot be built upon (%s); making a new one", base, error)
            shutil.rmtree(self._directory, ignore_errors=True)
            return None
        if about.changes > max(len(about.digests) * _MOST_CHANGES, _FEW_CHANGES):
            shard.close()
            shutil.rmtree(self._directory)
            return None
        self._stored, self._changes, self._is_new = about.digests, about.changes, False
        return shard

    def _point(self, point: StoredPoint) -> edge.Point:
        vectors: dict[str, Any] = {}
        if self._dimension and point.dense is not None:
            if point.dense.shape != (self._dimension,):
                raise VectorStoreError(
                    f"point {point.id}: vector of shape {point.dense.shape}, the shard holds ({self._dimension},)"
                )
            vectors[DENSE] = point.dense.tolist()  # the engine takes lists faster than arrays
        indices, values = point.sparse
        if len(indices):
            vectors[SPARSE] = edge.SparseVector(indices.tolist(), values.tolist())
        try:
            return edge.Point(point.id, vectors, _packed(point))
        except (TypeError, ValueError) as error:  # not a UUID, or a payload that is not JSON
            raise VectorStoreError(f"point {point.id} of {point.payload.get('Path', '?')}: {error}") from error

    def _update(self, operation: edge.UpdateOperation) -> None:
        try:
            self._shard.update(operation)
        except Exception as error:  # the engine raises plain Exception
            raise VectorStoreError(f"vector shard {self._directory} cannot be written: {error}") from error


class ShardReader(Closing):
    """Reads one finished shard. Every search takes a SearchFilter, which the engine applies before its top k."""

    def __init__(self, directory: Path) -> None:
        """Raises VectorStoreError where there is no readable shard."""
        self._directory = directory
        if not (directory / "edge_config.json").is_file():
            raise VectorStoreError(f"no vector shard in {directory}; {_REPAIR}")
        try:
            self._shard = edge.EdgeShard.load(str(directory))
        except Exception as error:  # the engine raises plain Exception
            raise VectorStoreError(f"vector shard {directory} cannot be opened: {error}; {_remedy(error)}") from error
        self._known = KnownValues(self.values)  # a finished shard never changes

    def count(self, scope: SearchFilter | None = None) -> int:
        return int(self._shard.count(edge.CountRequest(filter=None if scope is None else self._compile(scope))))

    def dense(self, vector: Dense, scope: SearchFilter, limit: int) -> list[Scored]:
        """The nearest points by dot product, best first."""
        return self._search(vector, DENSE, scope, limit)

    def sparse(self, indices: Sequence[int], values: Sequence[float], scope: SearchFilter, limit: int) -> list[Scored]:
        """The points with the highest keyword score, best first; only points that share a term."""
        if not len(indices):
            return []
        return self._search(_sparse_vector(indices, values), SPARSE, scope, limit)

    def retrieve(self, ids: Sequence[str], scope: SearchFilter) -> dict[str, dict[str, Any]]:
        """id → payload of the points of `ids` that exist within the scope."""
        if not ids:
            return {}
        return self._payloads(edge.HasIdCondition(set(ids)), scope, len(ids))

    def digests(self) -> dict[str, str]:
        """id → digest of every point, of every tenant: for checks, not for answers."""
        found: dict[str, str] = self._call(digests_of, self._shard)
        return found

    def ids(self, scope: SearchFilter | None = None) -> dict[str, str]:
        """id → ContentHash of every point of the scope. Without one, of every tenant: for checks, not for answers."""
        found: dict[str, str] = {}
        condition = None if scope is None else self._compile(scope)
        offset: Any = None
        while True:
            request = edge.ScrollRequest(offset, _SCROLL_BATCH, filter=condition, with_payload=["ContentHash"])
            records, offset = self._call(self._shard.scroll, request)
            found.update((str(record.id), (record.payload or {}).get("ContentHash", "")) for record in records)
            if offset is None:
                return found

    def values(self, key: str, scope: SearchFilter) -> dict[str, int]:
        """Distinct values of an indexed payload field within the scope, and how many points have each; sorted."""
        # No limit but the number of points: a value that is left out would be a hit that is left out.
        request = edge.FacetRequest(key, limit=max(1, self.count()), exact=True, filter=self._compile(scope))
        return dict(sorted((str(hit.value), hit.count) for hit in self._call(self._shard.facet, request)))

    def close(self) -> None:
        self._shard.close()

    def _search(self, vector: Any, using: str, scope: SearchFilter, limit: int) -> list[Scored]:
        query = edge.Query.Nearest(vector, using=using)
        condition = self._compile(scope)

        def search(asked: int) -> list[Scored]:
            request = edge.QueryRequest(asked, query=query, filter=condition, with_payload=False)
            return [Scored(str(point.id), point.score) for point in self._call(self._shard.query, request)]

        return best_with_ties(search, limit)

    def _payloads(self, condition: Any, scope: SearchFilter, limit: int) -> dict[str, dict[str, Any]]:
        wanted = edge.Filter(must=[condition, self._compile(scope)])
        request = edge.ScrollRequest(limit=limit, filter=wanted, with_payload=[_WHOLE])
        records = self._call(self._shard.scroll, request)[0]
        return {str(record.id): msgspec.json.decode((record.payload or {}).get(_WHOLE, "{}")) for record in records}

    def _call(self, method: Any, request: Any) -> Any:
        try:
            return method(request)
        except Exception as error:  # the engine raises plain Exception
            raise VectorStoreError(f"vector shard {self._directory} cannot be searched: {error}; {_REPAIR}") from error

    def _compile(self, scope: SearchFilter) -> edge.Filter:
        """The engine's filter for a scope; all of it is applied before the top k (R17)."""
        return edge.Filter(must=[_compiled(found) for found in conditions_of(scope, self._known.within(scope))])


def _sparse_vector(indices: Any, values: Any) -> edge.SparseVector:
    return edge.SparseVector(indices, values)  # takes arrays as they are, though its stub says lists


def _remedy(error: Exception) -> str:
    """What to do about a shard that cannot be opened. The engine touches its files when it opens them, so what it says
    of the system is no damage."""
    for words, remedy in (
        ("Permission denied", "whoever searches needs write permission in that folder"),
        ("os error 28", "the disk is full, and opening needs some space: free some"),
        ("os error 30", "it is on a read-only file system: copy the home to where it may be written"),
    ):
        if words in str(error):
            return remedy
    return _REPAIR


def digests_of(shard: edge.EdgeShard) -> dict[str, str]:
    """id → digest of every point of an open shard."""
    found: dict[str, str] = {}
    offset: Any = None
    while True:
        records, offset = shard.scroll(edge.ScrollRequest(offset, _SCROLL_BATCH, with_payload=[_DIGEST]))
        found.update((str(record.id), (record.payload or {}).get(_DIGEST, "")) for record in records)
        if offset is None:
            return found


def _packed(point: StoredPoint) -> dict[str, Any]:
    """What the engine keeps of a payload: the fields it filters on, the digest, and the whole as one JSON text.

    It takes 5 µs to convert a text field and there are about forty; one text of all of them takes 15.
    """
    kept = {key: point.payload[key] for key in _FILTERED if key in point.payload}
    return {**kept, _DIGEST: point.digest, _WHOLE: msgspec.json.encode(point.payload).decode()}


def _compiled(condition: Condition) -> Any:
    match condition:
        case AnyOf():
            return edge.Filter(should=[_compiled(found) for found in condition.conditions])
        case AllOf():
            return edge.Filter(must=[_compiled(found) for found in condition.conditions])
        case Not():
            return edge.Filter(must_not=[_compiled(condition.condition)])
        case HasId():
            return edge.HasIdCondition(set(condition.ids))
        case Absent():
            return edge.IsEmptyCondition(condition.key)
        case Equal():
            return _match(condition.key, edge.MatchValue(condition.value))
        case OneOf():
            return _match(condition.key, edge.MatchAny(list(condition.values)))
        case Between():
            return edge.FieldCondition(
                condition.key, range=edge.RangeDateTime(gte=condition.since, lt=condition.before)
            )
        case BeginsWith():
            return _match(condition.key, edge.MatchPrefix(condition.prefix))


def _match(key: str, match: Any) -> edge.FieldCondition:
    return edge.FieldCondition(key, match=match)
