"""What every vector store takes and gives, and what its errors are.

Declared target state: the points a generation consists of, and what a store must do to hold exactly these.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, TypeVar

from rag_assets.contracts.retrieval import DEFAULT_PRIORITY
from rag_assets.errors import RagAssetsError
from rag_assets.index.vectors.filters import SearchScope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Dense = NDArray[np.float32]
    Sparse = tuple[NDArray[np.uint32], NDArray[np.float32]]


DENSE = "dense"
SPARSE = "bm25"
PLACE_FILE = "server.json"
SERVERS_FILE = "servers.json"
"""The file of a generation that says which server has its points."""

PREFIX_FIELDS = frozenset({"Path", "Symbol", "DeclaredNames"})  # filtered by folder, namespace and beginning of a name

_TIE_SLACK = 16  # equal texts are common (copied files), more than this many of one score seldom
_TIE_GROWTH = 8
"""Where there are more, they are often hundreds: sections that share one common word. Of a third of the questions to a
repository of 4,000 sections: keyword search of them took 12 ms when each step only doubled, 4 with 32 (and 0.5 more
where there are few), 5 with 8."""


class VectorStoreError(RagAssetsError):
    """A store that cannot be written or read; the text names it, the cause and what to do."""


class StoreNotWritable(VectorStoreError):
    """A store that is whole, and cannot be read where nothing can be written."""


@dataclass(frozen=True, slots=True)
class StoredPoint:
    """A point as it is written. `dense` is L2-normalised, shape (dimension,), or None without an embedding model;
    `sparse` is (indices uint32, values float32) with the keyword weights, idf included.

    `digest` is 32 hex digits over vector, weights and payload: equal digests, equal points.
    """

    id: str
    dense: Dense | None
    sparse: Sparse
    payload: dict[str, Any]
    digest: str = ""

    def dense_in(self, dimension: int, store: str) -> Dense | None:
        """The embedding, where a store of that dimension keeps one (0: it keeps none). Raises VectorStoreError for one
        of another shape."""
        if not dimension or self.dense is None:
            return None
        if self.dense.shape != (dimension,):
            raise VectorStoreError(
                f"point {self.id}: vector of shape {self.dense.shape}, the {store} holds ({dimension},)"
            )
        return self.dense


class ScoredPoint(NamedTuple):  # a hundred are made in a search, each in half the time that a frozen dataclass takes
    id: str
    score: float


class FileRef(NamedTuple):
    """The file that a point is of, and its priority in a ranking."""

    label: str
    path: str
    priority: int = DEFAULT_PRIORITY

    @classmethod
    def of(cls, payload: Mapping[str, Any]) -> FileRef:
        priority = payload.get("Priority", DEFAULT_PRIORITY)
        return cls(payload.get("IndexLabel", ""), payload.get("Path", ""), priority)


class HasScore(Protocol):
    @property
    def score(self) -> float: ...


_Found = TypeVar("_Found", bound=HasScore)


class PointTarget(Protocol):
    """A place that holds the points of a label's generations. It is told the difference between what it has and what
    the new generation declares (`index.vectors.vector_api`). Readers of earlier generations notice nothing. Raises
    VectorStoreError."""

    def stored(self) -> dict[str, str]:
        """id → digest of the points that the new generation begins with: those of an earlier one, or none."""

    def upsert(self, batch: Sequence[StoredPoint]) -> None:
        """Writes points; one that has the id of an earlier one replaces it."""

    def delete(self, ids: Sequence[str]) -> None:
        """Takes points out of the new generation."""

    def finish(self) -> None:
        """Makes everything durable and the new generation readable."""


class PointReader(Protocol):
    """What is asked of points. Every search takes a SearchScope, which the store applies before its top k (B02, R17).
    Raises VectorStoreError."""

    def count(self, scope: SearchScope | None = None) -> int: ...

    def dense(self, vector: Dense, scope: SearchScope, limit: int) -> list[ScoredPoint]:
        """The nearest points by dot product, best first, equal scores by id."""

    def sparse(
        self, indices: Sequence[int], values: Sequence[float], scope: SearchScope, limit: int
    ) -> list[ScoredPoint]:
        """The points with the highest keyword score, best first, equal scores by id; only points that share a term."""

    def retrieve(self, ids: Sequence[str], scope: SearchScope) -> dict[str, dict[str, Any]]:
        """id → payload of the points of `ids` that exist within the scope and belong to the generation."""

    def places(self, ids: Sequence[str], scope: SearchScope) -> dict[str, FileRef]:
        """id → file of the points of `ids`, which a search within the scope has found: a store that knows the files of
        its points need not ask the scope again. What `retrieve` would not give out for another reason is left out."""

    def vector(self, identifier: str) -> Dense | None:
        """The embedding of a point that a search within a scope has found; None where it has none."""

    def ids(self, scope: SearchScope | None = None) -> dict[str, str]:
        """id → ContentHash of every point of the scope. Without one, of every tenant: for checks, not for answers."""

    def values(self, key: str, scope: SearchScope) -> dict[str, int]:
        """Distinct values of an indexed payload field within the scope, and how many points have each; sorted."""


class VectorReader(PointReader, Protocol):
    """The open store of one generation."""

    def digests(self) -> dict[str, str]:
        """id → digest of every point of the generation, of every tenant: for checks, not for answers."""

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def named_vectors(vector: Any) -> Mapping[str, Any]:
    """The vectors of a point as the engines give them out: by name, or alone where there is no other, which is `''`
    then."""
    return vector if isinstance(vector, Mapping) else {} if vector is None else {"": vector}


def dense_of(vector: Any) -> Dense | None:
    """The embedding among the vectors of a point as an engine gives them out."""
    import numpy as np  # start-up budget: a search by keywords needs none

    named = named_vectors(vector)
    dense = named.get("", named.get(DENSE))
    return None if dense is None else np.array(dense, np.float32)


def all_values(facet: Callable[[int], list[Any]], points: int) -> list[Any]:
    """All hits of a facet, which an engine gives as many of as it is asked for: one that is left out would be a hit of
    a search that is left out. A field of one value has no more than there are `points`; of lists nobody knows."""
    limit = points + 1
    while len(found := facet(limit)) >= limit:
        limit *= 4
    return found


def best_with_ties(
    search: Callable[[int], Sequence[_Found]], limit: int, identifier: Callable[[_Found], str]
) -> list[ScoredPoint]:
    """The best `limit` of `search(how many)`, equal scores by id. Engines order ties as they like and cut through
    them, so one is asked for more until the group of ties at the cut is whole. Ids are asked for only where they are
    needed: each costs up to 3 µs."""
    more = _TIE_SLACK
    while True:
        found = search(limit + more)
        if len(found) < limit + more or found[limit - 1].score > found[-1].score:
            break
        more *= _TIE_GROWTH
    cut = found[:limit][-1].score if found else 0.0
    best = sorted([(-score, identifier(hit)) for hit in found if (score := hit.score) >= cut])
    return [ScoredPoint(known, -score) for score, known in best[:limit]]


@dataclass(frozen=True, slots=True)
class DeclaredPoints:
    """Some of the points of a generation: id → digest, and how to load those that are asked for, in batches."""

    digests: Mapping[str, str]
    load: Callable[[Collection[str]], Iterable[Sequence[StoredPoint]]]


@dataclass(frozen=True, slots=True)
class StateDiff:
    """The ids that the last of the stores had to write and to delete; everything else was there."""

    upserts: frozenset[str]
    deletes: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        return not self.upserts and not self.deletes


def bring_to(targets: Sequence[PointTarget], declared: Iterable[DeclaredPoints]) -> StateDiff:
    """Makes every target hold exactly the declared points, in the order of the targets.

    What is declared comes in portions, while later ones are still being made. Upserts go before deletes, so that a
    store that cannot hide a half-made generation has too much, never too little. Raises VectorStoreError.
    """
    stored = [target.stored() for target in targets]
    known: set[str] = set()
    upserts: set[str] = set()
    deletes: list[str] = []
    for portion in declared:
        known.update(portion.digests)
        for target, before in zip(targets, stored, strict=True):
            changed = {key for key, digest in portion.digests.items() if before.get(key) != digest}
            if target is targets[-1]:
                upserts |= changed
            if changed:
                for batch in portion.load(changed):
                    target.upsert(batch)
    for target, before in zip(targets, stored, strict=True):
        deletes = sorted(before.keys() - known)
        if deletes:
            target.delete(deletes)
        target.finish()
    return StateDiff(frozenset(upserts), tuple(deletes))
