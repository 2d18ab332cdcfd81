"""From the candidates of both sides to one scale. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple, Protocol

RRF_K = 60
"""Of reciprocal rank fusion, as its authors (Cormack, Clarke and Büttcher 2009) and R9 have it."""

UNRANKED = 1 << 31
_NOT_FOUND = (None, 0.0, UNRANKED)


class Candidate(Protocol):
    @property
    def id(self) -> str: ...

    @property
    def score(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate of the final order; `scores` as in `Hit`."""

    id: str
    score: float
    scores: Mapping[str, float]


class FusedCandidate(NamedTuple):  # hundreds are made in a search, in a third of the time that a frozen dataclass takes
    """A candidate of either side. `dense` and `bm25` are raw scores, None where that side did not find it; the
    `_scaled` ones lie between 0 and 1 and are 0 then. `ranks` break ties: dense, then keyword (R9)."""

    id: str
    dense: float | None
    bm25: float | None
    dense_scaled: float
    bm25_scaled: float
    ranks: tuple[int, int]


def merged(
    dense: Sequence[Candidate], keyword: Sequence[Candidate], unembedded: Set[str] = frozenset()
) -> list[FusedCandidate]:
    """The candidates of both lists, each best first, without repeats (E10).

    Keyword scores are shares of the best one: their zero means that no term is shared. Cosines have no such zero, so
    they are spread from the last candidate (0) to the first (1). Sections that have no vector at all (`unembedded`, of
    a work tree) are taken to be as near in meaning as in words: one that was not found by the other side would be far.
    """
    high, low = (dense[0].score, dense[-1].score) if dense else (0.0, 0.0)
    best = keyword[0].score if keyword else 0.0
    spread = high - low
    cosines = {
        item.id: (item.score, (item.score - low) / spread if spread > 0 else 1.0, rank)
        for rank, item in enumerate(dense, 1)
    }
    words = {
        item.id: (item.score, item.score / best if best > 0 else 1.0, rank) for rank, item in enumerate(keyword, 1)
    }
    made = []
    for identifier, (cosine, spread_cosine, dense_rank) in cosines.items():
        score, share, keyword_rank = words.pop(identifier, _NOT_FOUND)
        made.append(FusedCandidate(identifier, cosine, score, spread_cosine, share, (dense_rank, keyword_rank)))
    for identifier, (score, share, rank) in words.items():
        if identifier in unembedded:
            made.append(FusedCandidate(identifier, None, score, share, share, (rank, rank)))
        else:
            made.append(FusedCandidate(identifier, None, score, 0.0, share, (UNRANKED, rank)))
    return made


def as_found(items: Sequence[Candidate]) -> list[Ranked]:
    """The order and the raw scores of the embeddings alone."""
    return [Ranked(item.id, item.score, {"dense": item.score}) for item in items]


def reciprocal_ranks(
    dense: Sequence[Candidate], keyword: Sequence[Candidate], limit: int, unembedded: Set[str] = frozenset()
) -> list[Ranked]:
    """The best `limit` of both lists by reciprocal rank fusion: Σ 1 / (60 + rank). Ties: dense rank, keyword rank, id
    (D16, R9)."""
    found = merged(dense, keyword, unembedded)
    ranked = {one.id: _by_ranks(one) for one in found}
    order = sorted(found, key=lambda one: (-ranked[one.id].score, *one.ranks, one.id))
    return [ranked[one.id] for one in order[:limit]]


def _by_ranks(found: FusedCandidate) -> Ranked:
    shares = {
        name: 1.0 / (RRF_K + rank)
        for name, rank in zip(("dense_weighted", "sparse_weighted"), found.ranks, strict=True)
        if rank != UNRANKED
    }
    return Ranked(found.id, sum(shares.values()), raw_scores(found) | shares)


def raw_scores(found: FusedCandidate) -> dict[str, float]:
    """The scores of both searches as they were: abstention needs them."""
    made: dict[str, float] = {}
    if found.dense is not None:
        made |= {"dense": found.dense, "dense_normalised": found.dense_scaled}
    if found.bm25 is not None:
        made |= {"bm25": found.bm25, "bm25_normalised": found.bm25_scaled}
    return made
