"""The points of generations in a Qdrant server: the same contract as the embedded shard (`stores.points`).

A generation has points of its own, found by the field `Generation` in every filter. So a build changes nothing for
those who read another generation, moving the label's pointer changes what they read at once, and what no generation
needs is deleted afterwards: upsert, move the pointer, delete stale.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import msgspec

from rag_assets.stores.conditions import AnyOf, Condition, Equal, OneOf, conditions_of
from rag_assets.stores.filters import SearchFilter
from rag_assets.stores.home import write_atomically
from rag_assets.stores.points import DENSE, SPARSE, Scored, StoredPoint, VectorStoreError, best_with_ties
from rag_assets.stores.qdrant_client_calls import QdrantServer
from rag_assets.stores.qdrant_schema import (
    COLLECTION_PREFIX,
    FINGERPRINT,
    GENERATION,
    OWN_FIELDS,
    POINT_ID,
    ServerPlace,
    ensure_collection,
    generation_key,
    stored_id,
)

if TYPE_CHECKING:
    from rag_assets.stores.points import Dense

PLACE_FILE = "server.json"
BEGUN_FILE = "server.begun.json"  # until the points are complete; says whose they are when nobody completes them

_UPSERT_BATCH = 200  # points of one request: 3 MB at 384 dimensions, 17 MB at 3,072; a server takes 32
_SCROLL_BATCH = 5_000
_DELETE_BATCH = 5_000

DeclaredHashes = Callable[[], Mapping[str, str] | None]
"""id → ContentHash of the points of a generation as its tables declare them; None where there are no tables."""


class ServerWriter:
    """Makes the points of one generation in a server what is upserted between opening and `finish`.

    What a killed build has already written, equal in every byte, is not sent again. `directory` gets the file that
    says where the points are, at the end.
    """

    def __init__(self, server: QdrantServer, place: ServerPlace, dimension: int, directory: Path) -> None:
        """Raises VectorStoreError where the server cannot be used, or its collection is of another shape."""
        self._server = server
        self._place = place
        self._dimension = dimension
        self._directory = directory
        self._written: set[str] = set()
        server.require_version()
        ensure_collection(server, place.collection, dimension)
        directory.mkdir(parents=True, exist_ok=True)
        (directory / PLACE_FILE).unlink(missing_ok=True)
        write_atomically(directory / BEGUN_FILE, msgspec.json.format(msgspec.json.encode(asdict(place))))
        records = scroll(server, place.collection, _of_generation(place.generation), [POINT_ID, FINGERPRINT])
        self._present = {str(payload[POINT_ID]): str(payload.get(FINGERPRINT, "")) for payload in records}

    def upsert(self, batch: Sequence[StoredPoint]) -> None:
        """Writes points; one that has the id of an earlier one replaces it. Raises VectorStoreError."""
        waiting: list[Any] = []
        for point in batch:
            made, fingerprint = self._point(point)
            self._written.add(point.id)
            if self._present.get(point.id) == fingerprint:
                continue
            self._present[point.id] = fingerprint
            waiting.append(made)
            if len(waiting) == _UPSERT_BATCH:
                self._send(waiting)
                waiting = []
        self._send(waiting)

    def finish(self) -> None:
        """Deletes what an earlier attempt left and this one did not upsert, and says where the points are."""
        place = self._place
        ghosts = sorted(self._present.keys() - self._written)
        for start in range(0, len(ghosts), _DELETE_BATCH):
            ids = [stored_id(place.generation, ghost) for ghost in ghosts[start : start + _DELETE_BATCH]]
            self._server.call("written", "delete", collection_name=place.collection, points_selector=ids)
        (self._directory / BEGUN_FILE).replace(self._directory / PLACE_FILE)

    def _send(self, points: list[Any]) -> None:
        if points:
            # Waits until they are searchable: what is acknowledged is there after a crash.
            self._server.call("written", "upsert", collection_name=self._place.collection, points=points, wait=True)

    def _point(self, point: StoredPoint) -> tuple[Any, str]:
        """The point as the server takes it, and the fingerprint of all that makes it."""
        from qdrant_client import models

        vectors: dict[str, Any] = {}
        digest = hashlib.blake2b(digest_size=16)
        if self._dimension and point.dense is not None:
            if point.dense.shape != (self._dimension,):
                raise VectorStoreError(
                    f"point {point.id}: vector of shape {point.dense.shape}, the collection holds ({self._dimension},)"
                )
            vectors[DENSE] = point.dense.tolist()
            digest.update(point.dense.tobytes())
        indices, values = point.sparse
        if len(indices):
            vectors[SPARSE] = models.SparseVector(indices=indices.tolist(), values=values.tolist())
        digest.update(len(indices).to_bytes(8, "big") + indices.tobytes() + values.tobytes())
        try:
            identifier = stored_id(self._place.generation, point.id)
            digest.update(msgspec.json.encode(point.payload, order="sorted"))
        except (TypeError, ValueError) as error:  # not a UUID, or a payload that is not JSON
            raise VectorStoreError(f"point {point.id} of {point.payload.get('Path', '?')}: {error}") from error
        fingerprint = digest.hexdigest()
        own = {POINT_ID: point.id, GENERATION: self._place.generation, FINGERPRINT: fingerprint}
        return models.PointStruct(id=identifier, vector=vectors, payload=point.payload | own), fingerprint


class ServerReader:
    """Reads the points of one generation in a server. Safe to use from several threads."""

    def __init__(self, server: QdrantServer, place: ServerPlace, declared: DeclaredHashes = lambda: None) -> None:
        """Sends nothing yet."""
        self._server = server
        self._place = place
        self._declared = declared
        self._hashes: tuple[Mapping[str, str] | None] | None = None
        self._paths: dict[tuple[str, str], tuple[str, ...]] = {}  # a finished generation never changes

    def count(self, scope: SearchFilter | None = None) -> int:
        found = self._call("count", count_filter=self._compile(scope), exact=True)
        return int(found.count)

    def dense(self, vector: Dense, scope: SearchFilter, limit: int) -> list[Scored]:
        """The nearest points by dot product, best first."""
        return self._search(vector.tolist(), DENSE, scope, limit)

    def sparse(self, indices: Sequence[int], values: Sequence[float], scope: SearchFilter, limit: int) -> list[Scored]:
        """The points with the highest keyword score, best first; only points that share a term."""
        from qdrant_client import models

        if not len(indices):
            return []
        query = models.SparseVector(indices=[int(index) for index in indices], values=[float(v) for v in values])
        return self._search(query, SPARSE, scope, limit)

    def retrieve(self, ids: Sequence[str], scope: SearchFilter) -> dict[str, dict[str, Any]]:
        """id → payload of the points of `ids` that exist within the scope and are what the generation declares."""
        from qdrant_client import models

        if not ids:
            return {}
        wanted = models.HasIdCondition(has_id=[stored_id(self._place.generation, known) for known in set(ids)])
        return self._payloads(wanted, scope, len(ids))

    def ids(self, scope: SearchFilter | None = None) -> dict[str, str]:
        """id → ContentHash of every point of the scope. Without one, of every tenant: for checks, not for answers."""
        records = scroll(self._server, self._place.collection, self._compile(scope), [POINT_ID, "ContentHash"])
        return {str(payload[POINT_ID]): str(payload.get("ContentHash", "")) for payload in records}

    def values(self, key: str, scope: SearchFilter) -> dict[str, int]:
        """Distinct values of an indexed payload field within the scope, and how many points have each; sorted."""
        # No limit but the number of points: a value that is left out would be a hit that is left out.
        most = max(1, self.count())
        found = self._call("facet", key=key, facet_filter=self._compile(scope), limit=most, exact=True)
        return dict(sorted((str(hit.value), int(hit.count)) for hit in found.hits))

    def close(self) -> None:
        self._server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _search(self, query: Any, using: str, scope: SearchFilter, limit: int) -> list[Scored]:
        condition = self._compile(scope)

        def search(asked: int) -> list[Scored]:
            found = self._call(
                "query_points",
                query=query,
                using=using,
                query_filter=condition,
                limit=asked,
                with_payload=[POINT_ID],
            )
            return [Scored(str(point.payload[POINT_ID]), float(point.score)) for point in found.points]

        return best_with_ties(search, limit)

    def _payloads(self, condition: Any, scope: SearchFilter, limit: int) -> dict[str, dict[str, Any]]:
        """What the server holds but the generation does not declare, or with another text, is left out."""
        from qdrant_client import models

        wanted = models.Filter(must=[condition, self._compile(scope)])
        records, _ = self._call("scroll", scroll_filter=wanted, limit=limit, with_payload=True, with_vectors=False)
        declared = self._declared_hashes()
        found = {}
        for record in records:
            payload = record.payload
            identifier = str(payload[POINT_ID])
            if declared is None or declared.get(identifier) == payload.get("ContentHash", ""):
                found[identifier] = {key: value for key, value in payload.items() if key not in OWN_FIELDS}
        return found

    def _declared_hashes(self) -> Mapping[str, str] | None:
        if self._hashes is None:
            self._hashes = (self._declared(),)
        return self._hashes[0]

    def _compile(self, scope: SearchFilter | None) -> Any:
        """The server's filter: the generation always, which is of one label and tenant, and then the scope."""
        from qdrant_client import models

        found = [] if scope is None else conditions_of(scope, lambda: self._all_paths(scope))
        return models.Filter(must=[_compiled(condition) for condition in (self._generation, *found)])

    @property
    def _generation(self) -> Condition:
        return Equal(GENERATION, self._place.generation)

    def _all_paths(self, scope: SearchFilter) -> tuple[str, ...]:
        tenant = (scope.org_id, scope.project_id)
        if tenant not in self._paths:
            everything = SearchFilter(org_id=scope.org_id, project_id=scope.project_id)
            self._paths[tenant] = tuple(self.values("Path", everything))
        return self._paths[tenant]

    def _call(self, method: str, **arguments: Any) -> Any:
        return self._server.call("searched", method, collection_name=self._place.collection, **arguments)


def delete_stale(
    server: QdrantServer, *, org_id: str, project_id: str, index_label: str, keep: Collection[str]
) -> list[str]:
    """Deletes the points of the generations of a label that are not in `keep` (generation ids), in every embedding
    space. Returns the ids of those that are gone now. Raises VectorStoreError."""
    tenant = SearchFilter(org_id=org_id, project_id=project_id, label=index_label)
    kept = {generation_key(org_id, project_id, index_label, known) for known in keep}
    gone: set[str] = set()
    for collection in server.call("read", "get_collections").collections:
        if not collection.name.startswith(COLLECTION_PREFIX):
            continue
        for generation in _generations(server, collection.name, tenant) - kept:
            server.call(
                "written",
                "delete",
                collection_name=collection.name,
                points_selector=_of_generation(generation),
                wait=True,
            )
            gone.add(generation.rpartition("\n")[2])
    return sorted(gone)


def delete_generation(server: QdrantServer, place: ServerPlace) -> None:
    """Deletes the points of one generation, if there are any. Raises VectorStoreError."""
    if server.call("read", "collection_exists", collection_name=place.collection):
        server.call(
            "written",
            "delete",
            collection_name=place.collection,
            points_selector=_of_generation(place.generation),
            wait=True,
        )


def _generations(server: QdrantServer, collection: str, tenant: SearchFilter) -> set[str]:
    from qdrant_client import models

    condition = models.Filter(must=[_compiled(found) for found in conditions_of(tenant, tuple)])
    points = int(server.call("read", "count", collection_name=collection, count_filter=condition, exact=True).count)
    if not points:
        return set()
    found = server.call(
        "read", "facet", collection_name=collection, key=GENERATION, facet_filter=condition, limit=points, exact=True
    )
    return {str(hit.value) for hit in found.hits}


def scroll(server: QdrantServer, collection: str, condition: Any, fields: list[str]) -> Iterator[dict[str, Any]]:
    """These payload fields of every point that meets the condition."""
    offset: Any = None
    while True:
        records, offset = server.call(
            "read",
            "scroll",
            collection_name=collection,
            scroll_filter=condition,
            limit=_SCROLL_BATCH,
            offset=offset,
            with_payload=fields,
            with_vectors=False,
        )
        yield from (record.payload for record in records)
        if offset is None:
            return


def _of_generation(generation: str) -> Any:
    from qdrant_client import models

    return models.Filter(must=[_compiled(Equal(GENERATION, generation))])


def _compiled(condition: Condition | AnyOf) -> Any:
    from qdrant_client import models

    if isinstance(condition, AnyOf):
        return models.Filter(should=[_compiled(found) for found in condition.conditions])
    if isinstance(condition, Equal):
        return models.FieldCondition(key=condition.key, match=models.MatchValue(value=condition.value))
    if isinstance(condition, OneOf):
        return models.FieldCondition(key=condition.key, match=models.MatchAny(any=list(condition.values)))
    return models.FieldCondition(key=condition.key, match=models.MatchPrefix(prefix=condition.prefix))
