"""Orders the best candidates once more: by a reranking model (E11, off by default), or by shared words
(SEMANTIC_RERANK).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rag_assets.contracts.retrieval import Reranker, RerankError
from rag_assets.index.keyword.terms import FUNCTION_WORDS, name_terms, query_terms, runs, word_terms
from rag_assets.search.fusion import Candidate, Ranked


def rescored(
    query: str,
    dense: Sequence[Candidate],
    payloads: Mapping[str, Mapping[str, Any]],
    limit: int,
    *,
    alpha: float,
    beta: float,
) -> list[Ranked]:
    """The best `limit` of the nearest embeddings `dense`, best first: alpha · cosine + beta · keyword score as a share
    of the best one. Ties: dense rank, keyword rank, id (R9). Without a payload a candidate has no words."""
    words = _keyword_scores(query, [payloads.get(one.id, {}) for one in dense])
    best = max(words, default=0.0)
    ranked = []
    for one, score in zip(dense, words, strict=True):
        share = score / best if best > 0 else 0.0
        parts = {"dense_weighted": alpha * one.score, "sparse_weighted": beta * share}
        raw = {"dense": one.score, "keyword": score, "keyword_normalised": share}
        ranked.append(Ranked(one.id, sum(parts.values()), raw | parts))
    dense_ranks = {one.id: rank for rank, one in enumerate(dense)}
    ranked.sort(key=lambda one: (-one.score, dense_ranks[one.id], -one.scores["keyword"], one.id))
    return ranked[:limit]


def _keyword_scores(query: str, payloads: Sequence[Mapping[str, Any]]) -> list[float]:
    """BM25 of each payload among these; 0 where it shares no term with the question."""
    from rank_bm25 import BM25Plus

    asked = list(query_terms(query))
    telling = [term for term in asked if term not in FUNCTION_WORDS] or asked
    corpus = [_terms(payload) for payload in payloads]
    if not any(corpus):
        return [0.0] * len(corpus)
    # With delta 0 it is BM25 whose idf is positive. That of Okapi is negative for what half of the candidates say,
    # which is what the question is about.
    scores: list[float] = BM25Plus(corpus, delta=0).get_scores(telling).tolist()
    return scores


def _terms(payload: Mapping[str, Any]) -> list[str]:
    """Names as the index of words has them: as a whole and in words; the snippet in words."""
    names = f"{payload.get('Symbol', '')} {' '.join(payload.get('DeclaredNames', ()))}"
    named = [term for run in runs(names) for term in name_terms(run)]
    said = f"{payload.get('Path', '')} {payload.get('FinderSnippet', '')}"
    return named + [term for run in runs(said) for term in word_terms(run)]


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
