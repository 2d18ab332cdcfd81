"""One search: which sides answer, and their candidates as one ranking."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from rag_assets.query.embedding import NoEmbedderError
from rag_assets.query.fusion import DENSE_CANDIDATES, KEYWORD_CANDIDATES, Candidate, Ranked, as_found, merged
from rag_assets.query.ranking.asking import asking
from rag_assets.query.ranking.files import Asked, most_promising, rank
from rag_assets.query.ranking.past import past_shares
from rag_assets.query.ranking.side_code import asked_for
from rag_assets.query.results import Mode

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
    """The best `limit` sections of the scope. SEMANTIC is the order of the vector search (D13), the others rank
    (`query.ranking`). Without the model that made the vectors, keywords answer alone."""
    warnings: list[str] = []
    loading = None if mode is Mode.BM25 else parts.embedder()
    with clock.step("open"):
        shard, vocabulary = parts.shard(), parts.vocabulary()
    vector = None
    if loading is not None:
        with clock.step("embed"):
            try:
                vector = loading.result().embed([query])[0]
            except NoEmbedderError as error:
                warnings.append(f"keyword search only: {error}")
                mode = Mode.BM25
    dense: Sequence[Candidate] = ()
    if vector is not None:
        with clock.step("dense"):
            dense = shard.dense(vector, scope, max(limit, DENSE_CANDIDATES))
    if mode is Mode.SEMANTIC:
        return Retrieved(as_found(dense[:limit], "dense"), mode, tuple(warnings), {"dense": len(dense), "bm25": 0})
    with clock.step("bm25"):
        terms = vocabulary.query_vector(query)
        keyword = shard.sparse(terms.indices, terms.values, scope, max(limit, KEYWORD_CANDIDATES))
    with clock.step("rank"):
        asked = Asked(asking(query, is_name=terms.is_name), terms.weights, bool(dense), asked_for(query))
        found = most_promising(merged(dense, keyword), asked, limit)
        places = parts.placing().of([one.id for one in found], shard, scope)
        past = past_shares(parts.past, places.values(), asked.terms) if asked.weights.past else {}
        ranked = rank(found, places, past, asked, limit)
    return Retrieved(ranked, mode, tuple(warnings), {"dense": len(dense), "bm25": len(keyword)})


class Clock:
    """Seconds per step of one search, and in total."""

    def __init__(self) -> None:
        self._started = perf_counter()
        self._steps: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        begun = perf_counter()
        try:
            yield
        finally:
            self._steps[name] = perf_counter() - begun

    def seconds(self) -> dict[str, float]:
        return {**self._steps, "total": perf_counter() - self._started}
