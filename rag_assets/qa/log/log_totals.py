"""Sums over records of the query log. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.history.query_log import ERROR, Figures
from rag_assets.qa.state import Status

REFUSED = frozenset({Status.ABSTAINED.value, Status.GAVE_UP.value})
FAILED = frozenset({Status.FAILED.value, ERROR})


@dataclass(frozen=True, slots=True)
class Spread:
    """Seconds that half and 95 % of the questions took at most; None where none took any."""

    p50: float | None
    p95: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """`cost` is None where no price is known. `generation` is of the questions that asked a model."""

    questions: int
    refused: int
    failed: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    retrieval: Spread
    generation: Spread


def totals_of(figures: Sequence[Figures]) -> Totals:
    costs = [one.cost for one in figures if one.cost is not None]
    return Totals(
        questions=len(figures),
        refused=sum(one.status in REFUSED for one in figures),
        failed=sum(one.status in FAILED for one in figures),
        prompt_tokens=sum(one.prompt_tokens for one in figures),
        completion_tokens=sum(one.completion_tokens for one in figures),
        cost=sum(costs) if costs else None,
        retrieval=spread([one.retrieval_seconds for one in figures]),
        generation=spread([one.generation_seconds for one in figures if one.calls]),
    )


def spread(seconds: Sequence[float]) -> Spread:
    """By the nearest rank: a time that was really taken."""
    ordered = sorted(seconds)

    def rank(share: float) -> float | None:
        return ordered[math.ceil(share * len(ordered)) - 1] if ordered else None

    return Spread(rank(0.5), rank(0.95))
