"""A run in a few numbers: means with intervals of all questions and each category, latencies, answers. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeVar

import numpy as np

from rag_assets.evaluation.metrics import estimate
from rag_assets.index.answer_results import AnswerResult, Grade, Judging, Outcome
from rag_assets.index.eval_records import (
    AnswerSummary,
    CategorySummary,
    Estimate,
    EvalRecord,
    EvalRun,
    JudgeSummary,
    QuestionResult,
)
from rag_assets.index.generations import Manifest

_MS = 1000

RIGHT, PARTLY, UNSURE = "right", "partly", "not sure"
ANSWERED, REFUSED, DECLINED, WRONG = "answered", "refused", "refused or not sure", "wrong"
PRECISION, RECALL = "citation precision", "citation recall"
JUDGE = "judge"
ANSWER_METRICS = (RIGHT, PARTLY, UNSURE, ANSWERED, REFUSED, DECLINED, WRONG, PRECISION, RECALL, JUDGE)


def summarise_answers(results: Sequence[AnswerResult], judging: Judging | None = None) -> AnswerSummary | None:
    """None where nothing was asked for answers. A question that failed is neither answered nor refused, and counts in
    the shares all the same."""
    if not results:
        return None
    values = values_of(results)
    of = {name: _estimate([value for value in by_id.values() if value is not None]) for name, by_id in values.items()}
    checks: Counter[str] = Counter()
    for result in results:
        checks.update(result.checks)
    p50, p95 = np.quantile([result.seconds * _MS for result in results], [0.5, 0.95])
    costs = [result.cost for result in results if result.cost is not None]
    return AnswerSummary(
        answerable=sum(result.answerable for result in results),
        unanswerable=sum(not result.answerable for result in results),
        failed=sum(result.outcome is Outcome.FAILED for result in results),
        errors=sum(bool(result.error) for result in results),
        answered=of[ANSWERED],
        refused=of[REFUSED],
        wrong=of[WRONG],
        precision=of[PRECISION],
        recall=of[RECALL],
        checks=dict(sorted(checks.items())),
        unknown_citations=sum(result.unknown_citations for result in results),
        p50_ms=round(float(p50), 3),
        p95_ms=round(float(p95), 3),
        prompt_tokens=sum(result.prompt_tokens for result in results),
        completion_tokens=sum(result.completion_tokens for result in results),
        cost=sum(costs) if costs else None,
        judge=None if judging is None else _judged(results, judging, of[JUDGE]),
        right=of[RIGHT],
        partly=of[PARTLY],
        unsure=of[UNSURE],
        declined=of[DECLINED],
    )


def _judged(results: Sequence[AnswerResult], judging: Judging, score: Estimate | None) -> JudgeSummary:
    asked = [result.judged for result in results if result.judged is not None]
    known = [judged.marks for judged in asked if judged.marks]
    costs = [judged.cost for judged in asked if judged.cost is not None]
    return JudgeSummary(
        by=str(judging),
        score=score,
        marks={name: round(fmean(marks[name] for marks in known), 3) for name in (known[0] if known else ())},
        judged=len(known),
        not_judged=len(asked) - len(known),
        prompt_tokens=sum(judged.prompt_tokens for judged in asked),
        completion_tokens=sum(judged.completion_tokens for judged in asked),
        cost=sum(costs) if costs else None,
    )


def metric_estimates(summary: AnswerSummary) -> dict[str, Estimate | None]:
    """Metric → its mean over the questions, None where it says nothing about any. The opinion of a judge is not one."""
    return {
        RIGHT: summary.right,
        PARTLY: summary.partly,
        UNSURE: summary.unsure,
        ANSWERED: summary.answered,
        REFUSED: summary.refused,
        DECLINED: summary.declined,
        WRONG: summary.wrong,
        PRECISION: summary.precision,
        RECALL: summary.recall,
    }


def values_of(results: Sequence[AnswerResult]) -> dict[str, dict[str, float | None]]:
    """Metric → question → its value between 0 and 1; None where it says nothing about the question."""
    answerable = [one for one in results if one.answerable]
    others = [one for one in results if not one.answerable]
    graded = {RIGHT: Grade.RIGHT, PARTLY: Grade.PARTLY, UNSURE: Grade.UNSURE}
    return {
        **{name: _of(results, answerable, grade) for name, grade in graded.items()},
        ANSWERED: {one.id: float(one.is_answered) if one.answerable else None for one in results},
        REFUSED: _of(results, others, Grade.REFUSED),
        DECLINED: _of(results, others, Grade.REFUSED, Grade.UNSURE),
        WRONG: {one.id: float(one.is_wrong) if one.is_answered else None for one in results},
        PRECISION: {one.id: one.precision for one in results},
        RECALL: {one.id: one.recall for one in results},
        JUDGE: {one.id: one.judged.score if one.judged is not None else None for one in results},
    }


def _of(results: Sequence[AnswerResult], asked: Sequence[AnswerResult], *grades: Grade) -> dict[str, float | None]:
    """Question → 1 where its answer has one of the grades, else 0; None for those that are not among `asked`."""
    found: dict[str, float | None] = {one.id: None for one in results}
    return found | {one.id: float(one.grade in grades) for one in asked}


def _estimate(values: Sequence[float]) -> Estimate | None:
    return estimate(values) if values else None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeCounts:
    """What became of the questions of a category: of the answerable, and from `unanswerable` on of the others. What is
    not sure shows an expected place or does not. Those that failed are in the totals alone."""

    category: str
    answerable: int
    right: int
    partly: int
    wrong: int
    unsure_with_place: int
    unsure_without: int
    refused: int
    unanswerable: int
    rightly_refused: int
    rightly_unsure: int
    wrongly_answered: int


def outcome_counts(results: Sequence[AnswerResult]) -> tuple[OutcomeCounts, ...]:
    """Of all questions, then of each category; none where nothing was asked for answers."""
    if not results:
        return ()
    found: list[tuple[str, list[AnswerResult]]] = by_category(results)
    return tuple(_counted(name, chosen) for name, chosen in found)


def _counted(name: str, results: Sequence[AnswerResult]) -> OutcomeCounts:
    yes = Counter((one.grade, one.cites_expected) for one in results if one.answerable)
    grades = Counter(one.grade for one in results if one.answerable)
    no = Counter(one.grade for one in results if not one.answerable)
    return OutcomeCounts(
        category=name,
        answerable=grades.total(),
        right=grades[Grade.RIGHT],
        partly=grades[Grade.PARTLY],
        wrong=grades[Grade.WRONG],
        unsure_with_place=yes[Grade.UNSURE, True],
        unsure_without=yes[Grade.UNSURE, False],
        refused=grades[Grade.REFUSED],
        unanswerable=no.total(),
        rightly_refused=no[Grade.REFUSED],
        rightly_unsure=no[Grade.UNSURE],
        wrongly_answered=no[Grade.WRONG],
    )


ALL = "all"
"""The name of the category that every question is in."""


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


_Result = TypeVar("_Result", bound=QuestionResult | AnswerResult)


def by_category(results: Sequence[_Result]) -> list[tuple[str, list[_Result]]]:
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
