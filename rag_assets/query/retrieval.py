"""One search: which sides answer, and their candidates as one ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING

from rag_assets.contracts.retrieval import Mode
from rag_assets.query.answerable import begin
from rag_assets.query.fusion import Candidate, Ranked, as_found, merged, reciprocal_ranks
from rag_assets.query.ranking.asking import asking
from rag_assets.query.ranking.evidence import Asked, evidence_of
from rag_assets.query.ranking.files import PLACED, most_promising, rank
from rag_assets.query.ranking.side_code import asked_for
from rag_assets.query.rescoring import rescored, widened

if TYPE_CHECKING:
    from rag_assets.query.parts import SearchParts
    from rag_assets.stores.filters import SearchFilter


@dataclass(frozen=True, slots=True)
class Retrieved:
    """`mode` is the one really used; it differs from the wanted one only with a warning."""

    ranked: list[Ranked]
    mode: Mode
    warnings: tuple[str, ...]
    candidates: dict[str, int]


def retrieve(parts: SearchParts, query: str, mode: Mode, scope: SearchFilter, limit: int, clock: Clock) -> Retrieved:
    """The best `limit` sections of the scope. SEMANTIC is the order of the vector search (D13), SEMANTIC_RERANK that of
    its candidates with keyword scores (D14); BM25 and a blended HYBRID rank (`query.ranking`), one by `rrf` goes by
    ranks (D16). A mode that the index cannot serve is answered by another one or refused, as the policy says: raises
    QueryError then (D15, D17)."""
    begun = begin(parts, query, mode, clock)
    mode, policy, shard = begun.mode, parts.policy, parts.shard()
    dense: Sequence[Candidate] = ()
    keyword: Sequence[Candidate] = ()
    if begun.vector is not None:
        wide = widened(limit) if mode is Mode.SEMANTIC_RERANK else max(limit, policy.dense_candidates)
        with clock.step("dense"):
            dense = shard.dense(begun.vector, scope, wide)
    if mode is Mode.SEMANTIC:
        ranked = as_found(dense[:limit], "dense")
    elif mode is Mode.SEMANTIC_RERANK:
        with clock.step("rescore"):
            payloads = shard.retrieve([one.id for one in dense], scope)
            ranked = rescored(query, dense, payloads, limit, alpha=policy.alpha, beta=policy.beta)
    else:
        wide = policy.keyword_candidates
        if begun.vector is None:  # more of them than are placed could not get ahead of these
            wide = min(wide, PLACED)
        with clock.step("bm25"):
            terms = parts.vocabulary().query_vector(query)
            keyword = shard.sparse(terms.indices, terms.values, scope, max(limit, wide))
        with clock.step("rank"):
            if mode is Mode.HYBRID and policy.fusion == "rrf":
                ranked = reciprocal_ranks(dense, keyword, limit)
            else:
                kind = asking(query, is_name=terms.is_name)
                asked = Asked(kind, terms.weights, bool(dense), asked_for(query), terms.forms)
                found = most_promising(merged(dense, keyword), asked, limit)
                places = parts.placing().of([one.id for one in found], shard, scope)
                evidence = evidence_of(places.values(), asked, parts.past, parts.vocabulary().rarity)
                ranked = rank(found, places, evidence, asked, limit)
    return Retrieved(ranked, mode, begun.warnings, {"dense": len(dense), "bm25": len(keyword)})


class Clock:
    """Seconds per step of one search, and in total."""

    def __init__(self) -> None:
        self._started = perf_counter()
        self._steps: dict[str, float] = {}

    def step(self, name: str) -> _Step:
        """Measures what is done within it."""
        return _Step(self, name)

    def add(self, name: str, seconds: float) -> None:
        """A step that was measured elsewhere."""
        self._steps[name] = self._steps.get(name, 0.0) + seconds

    def seconds(self) -> dict[str, float]:
        return {**self._steps, "total": perf_counter() - self._started}


class _Step:  # a generator as a context manager takes five times as long, and a search has six steps
    __slots__ = ("_begun", "_clock", "_name")

    def __init__(self, clock: Clock, name: str) -> None:
        self._clock = clock
        self._name = name

    def __enter__(self) -> None:
        self._begun = perf_counter()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._clock.add(self._name, perf_counter() - self._begun)
