"""A run in a few numbers: means with their intervals, of all questions and of each category, and latencies. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rag_assets.evaluation.answer_summary import summarise_answers
from rag_assets.evaluation.intervals import estimate
from rag_assets.index.eval_records import CategorySummary, EvalRecord, EvalRun, QuestionResult
from rag_assets.index.generations import Manifest

ALL = "all"
"""The name of the category that every question is in."""
_MS = 1000


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds of one question, the embedding of its words included."""

    p50: float
    p95: float


def summarise(run: EvalRun) -> tuple[CategorySummary, ...]:
    """All questions first, then each category by name. A tag is a category, so a question may count in several; where
    every question has the same tags, they would only repeat the total and are left out."""
    return tuple(
        CategorySummary(
            name, len(chosen), {metric: estimate([r.scores[metric] for r in chosen]) for metric in run.metrics}
        )
        for name, chosen in by_category(run.results)
    )


def by_category(results: Sequence[QuestionResult]) -> list[tuple[str, list[QuestionResult]]]:
    """(name, its results in their order), `ALL` first; a category that holds every question is left out."""
    names = sorted({tag for result in results for tag in result.tags})
    chosen = [(name, [result for result in results if name in result.tags]) for name in names]
    return [(ALL, list(results)), *((name, own) for name, own in chosen if len(own) < len(results))]


def latency(run: EvalRun) -> Latency:
    """Of the questions of a run. The first one may have loaded the index: with few questions p95 says so."""
    p50, p95 = np.quantile([result.seconds * _MS for result in run.results], [0.5, 0.95])
    return Latency(round(float(p50), 3), round(float(p95), 3))


def record_of(run: EvalRun, manifest: Manifest) -> EvalRecord:
    """What the history of a label keeps of a run."""
    took = latency(run)
    return EvalRecord(
        generation_id=run.generation_id,
        commit_sha=manifest.commit_sha,
        commit_date=manifest.commit_date,
        set=run.set,
        fingerprint=run.fingerprint,
        k=run.k,
        version=run.version,
        mode=run.mode,
        embedding_model=run.embedding_model,
        categories=summarise(run),
        p50_ms=took.p50,
        p95_ms=took.p95,
        conditions=run.conditions,
        answers=summarise_answers(run.answers, run.judging),
    )
