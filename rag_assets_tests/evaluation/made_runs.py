"""Runs made by hand: a rank per question, and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rag_assets.evaluation.metrics import mean, measure
from rag_assets.index.eval_records import Conditions, EvalRun, QuestionResult
from rag_assets.index.generations import Manifest

K = 3
TARGET = "a"
CONDITIONS = Conditions(
    ranking=1,
    mode="hybrid",
    fusion="blend",
    dense_candidates=100,
    keyword_candidates=200,
    alpha=1.0,
    beta=0.3,
    reranker="",
    clearance="internal",
)


def result(identifier: str, rank: int, **changes: Any) -> QuestionResult:
    """A question whose one answer is at `rank`, 0 for nowhere."""
    ranking = [frozenset({TARGET} if at == rank else ()) for at in range(1, 13)]
    values: dict[str, Any] = {
        "id": identifier,
        "question": f"where is {identifier}?",
        "scores": measure(ranking, frozenset({TARGET}), K),
        "first_rank": rank,
        "files": (),
        "seconds": 0.01,
    }
    return QuestionResult(**(values | changes))


def run(results: Mapping[str, int] | Sequence[QuestionResult], generation: str = "new", **changes: Any) -> EvalRun:
    """A run of questions by their ranks, or of whole results."""
    made = tuple(result(name, rank) for name, rank in results.items()) if isinstance(results, Mapping) else results
    values: dict[str, Any] = {
        "set": "questions",
        "fingerprint": "f",
        "generation_id": generation,
        "k": K,
        "version": 1,
        "mode": "bm25",
        "embedding_model": "lexical-only",
        "conditions": CONDITIONS,
        "metrics": mean(one.scores for one in made),
        "results": tuple(made),
    }
    return EvalRun(**(values | changes))


def manifest(generation: str = "new", **changes: Any) -> Manifest:
    values: dict[str, Any] = {
        "generation_id": generation,
        "index_label": "shop@main",
        "repository_id": "shop",
        "org_id": "acme",
        "project_id": "web",
        "remote_url": "",
        "ref": "main",
        "commit_sha": "c" * 40,
        "commit_date": "2026-01-01T00:00:00Z",
        "is_git": True,
        "config_hash": "123456",
        "embedding_model": "m",
        "dimension": 4,
        "lexical_only": False,
        "stage_versions": {},
        "counts": {},
        "capabilities": ("dense", "keyword"),
    }
    return Manifest(**(values | changes))
