"""The best candidates once more, in the order of a reranking model (E11). Off by default."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rag_assets.contracts.retrieval import Reranker, RerankError
from rag_assets.search.fusion import Ranked


def reranked(
    query: str, ranked: Sequence[Ranked], payloads: Mapping[str, Mapping[str, Any]], reranker: Reranker
) -> tuple[list[Ranked], tuple[str, ...]]:
    """The candidates by falling relevance, ties as they were, and warnings. Those without a payload stay at the end.
    Where the model fails the order stays, and a warning says why.

    Scores of a model that gives any number are put through the logistic function, which keeps their order: a score is
    between 0 and 1. What the model said is in `rerank`.
    """
    with_text = [one for one in ranked if one.id in payloads]
    if not with_text:
        return list(ranked), ()
    try:
        scores = reranker.rerank(query, [_text(payloads[one.id]) for one in with_text])
    except RerankError as error:
        return list(ranked), (f"not reranked: {error}",)
    are_shares = all(0.0 <= score <= 1.0 for score in scores)
    made = [
        Ranked(one.id, score if are_shares else _logistic(score), {**one.scores, "rerank": score})
        for one, score in zip(with_text, scores, strict=True)
    ]
    made.sort(key=lambda one: -one.scores["rerank"])
    return [*made, *(Ranked(one.id, 0.0, one.scores) for one in ranked if one.id not in payloads)], ()


def _text(payload: Mapping[str, Any]) -> str:
    """What a section says of itself: where it is, and the text that was embedded."""
    return f"{payload.get('Path', '')}\n{payload.get('FinderSnippet', '')}"


def _logistic(score: float) -> float:
    """1 / (1 + e^-score) without overflow."""
    if score >= 0:
        return 1.0 / (1.0 + math.exp(-score))
    grown = math.exp(score)
    return grown / (1.0 + grown)
