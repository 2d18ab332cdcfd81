"""The points of a generation in a Qdrant server: the same contract as the embedded shard
(`index.vectors.vector_api`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from qdrant_client import models

from rag_assets.closeable import Closeable
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
from rag_assets.index.vectors.qdrant_server.client_calls import QdrantServer
from rag_assets.index.vectors.qdrant_server.schema import DIGEST, OWN_FIELDS, POINT_ID, scroll, visible
from rag_assets.index.vectors.qdrant_server.server_registry import ServerPlace
from rag_assets.index.vectors.vector_api import (
    DENSE,
    SPARSE,
    FileRef,
    ScoredPoint,
    all_values,
    best_with_ties,
    dense_of,
)

if TYPE_CHECKING:
    from rag_assets.index.vectors.vector_api import Dense

DeclaredDigests = Callable[[], Mapping[str, str] | None]
"""id → digest of the points of a generation as its tables declare them; None where there are no tables."""


class ServerReader(Closeable):
    """A `VectorReader` of one generation in a server. Safe to use from several threads."""

    def __init__(self, server: QdrantServer, place: ServerPlace, declared: DeclaredDigests = lambda: None) -> None:
        """Sends nothing yet."""
        self._server = server
        self._place = place
        self._declared = declared
        self._digests: tuple[Mapping[str, str] | None] | None = None
        self._known = KnownValues(self.values)  # a finished generation never changes

    def count(self, scope: SearchScope | None = None) -> int:
        found = self._call("count", count_filter=self._compile(scope), exact=True)
        return int(found.count)

    def dense(self, vector: Dense, scope: SearchScope, limit: int) -> list[ScoredPoint]:
        return self._search(vector.tolist(), DENSE, scope, limit)

    def sparse(
        self, indices: Sequence[int], values: Sequence[float], scope: SearchScope, limit: int
    ) -> list[ScoredPoint]:
        if not len(indices):
            return []
        query = models.SparseVector(indices=[int(index) for index in indices], values=[float(v) for v in values])
        return self._search(query, SPARSE, scope, limit)

    def retrieve(self, ids: Sequence[str], scope: SearchScope) -> dict[str, dict[str, Any]]:
        """What the server holds but the generation does not declare, or with another content, is left out."""
        if not ids:
            return {}
        asked = sorted(set(ids))
        wanted = models.FieldCondition(key=POINT_ID, match=models.MatchAny(any=asked))
        condition = self._compile(scope, wanted)
        # A generation sees one version of a point, so there are no more than these.
        records, _ = self._call(
            "scroll", scroll_filter=condition, limit=len(asked), with_payload=True, with_vectors=False
        )
        declared = self._declared_digests()
        found = {}
        for record in records:
            payload = record.payload
            identifier = str(payload[POINT_ID])
            if declared is None or declared.get(identifier) == payload.get(DIGEST, ""):
                found[identifier] = {key: value for key, value in payload.items() if key not in OWN_FIELDS}
        return found

    def places(self, ids: Sequence[str], scope: SearchScope) -> dict[str, FileRef]:
        return {known: FileRef.of(payload) for known, payload in self.retrieve(ids, scope).items()}

    def vector(self, identifier: str) -> Dense | None:
        wanted = models.FieldCondition(key=POINT_ID, match=models.MatchValue(value=identifier))
        records, _ = self._call(
            "scroll",
            scroll_filter=self._compile(None, wanted),
            limit=1,
            with_payload=False,
            with_vectors=True,  # a collection without a model refuses to be asked for an embedding
        )
        return dense_of(records[0].vector) if records else None

    def digests(self) -> dict[str, str]:
        records = scroll(self._server, self._place.collection, self._compile(None), [POINT_ID, DIGEST])
        return {str(record.payload[POINT_ID]): str(record.payload.get(DIGEST, "")) for record in records}

    def ids(self, scope: SearchScope | None = None) -> dict[str, str]:
        records = scroll(self._server, self._place.collection, self._compile(scope), [POINT_ID, "ContentHash"])
        return {str(record.payload[POINT_ID]): str(record.payload.get("ContentHash", "")) for record in records}

    def values(self, key: str, scope: SearchScope) -> dict[str, int]:
        condition = self._compile(scope)

        def facet(limit: int) -> list[Any]:
            return list(self._call("facet", key=key, facet_filter=condition, limit=limit, exact=True).hits)

        return dict(sorted((str(hit.value), int(hit.count)) for hit in all_values(facet, self.count())))

    def close(self) -> None:
        self._server.close()

    def _search(self, query: Any, using: str, scope: SearchScope, limit: int) -> list[ScoredPoint]:
        condition = self._compile(scope)

        def search(asked: int) -> Sequence[Any]:
            found = self._call(
                "query_points",
                query=query,
                using=using,
                query_filter=condition,
                limit=asked,
                with_payload=[POINT_ID],
            )
            points: Sequence[Any] = found.points
            return points

        return best_with_ties(search, limit, lambda point: str(point.payload[POINT_ID]))

    def _declared_digests(self) -> Mapping[str, str] | None:
        if self._digests is None:
            self._digests = (self._declared(),)
        return self._digests[0]

    def _compile(self, scope: SearchScope | None, *conditions: Any) -> Any:
        """The server's filter: what the generation sees, which is of one label and tenant, and then the scope."""
        found = [] if scope is None else conditions_of(scope, self._known.within(scope))
        compiled = [_compiled(condition) for condition in found]
        return visible(self._place.key, self._place.sequence, *conditions, *compiled)

    def _call(self, method: str, **arguments: Any) -> Any:
        return self._server.call("searched", method, collection_name=self._place.collection, **arguments)


def _compiled(condition: Condition) -> Any:
    match condition:
        case AnyOf():
            return models.Filter(should=[_compiled(found) for found in condition.conditions])
        case AllOf():
            return models.Filter(must=[_compiled(found) for found in condition.conditions])
        case Not():
            return models.Filter(must_not=[_compiled(condition.condition)])
        case HasId():
            return models.FieldCondition(key=POINT_ID, match=models.MatchAny(any=sorted(condition.ids)))
        case Absent():
            return models.IsEmptyCondition(is_empty=models.PayloadField(key=condition.key))
        case Equal():
            return models.FieldCondition(key=condition.key, match=models.MatchValue(value=condition.value))
        case OneOf():
            return models.FieldCondition(key=condition.key, match=models.MatchAny(any=list(condition.values)))
        case Between():
            between = models.DatetimeRange(gte=condition.period.since, lt=condition.period.before)
            return models.FieldCondition(key=condition.key, range=between)
        case BeginsWith():
            return models.FieldCondition(key=condition.key, match=models.MatchPrefix(prefix=condition.prefix))
