"""Runs, their differences and their answers as rows of tables: for the command line, Dagster and reports. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from rag_assets.answer.citations import Support
from rag_assets.evaluation.comparison import AnswersDelta, CategoryDelta, MetricDelta
from rag_assets.evaluation.risk_coverage import risk_curve, row_at, three_outcomes
from rag_assets.evaluation.summary import (
    ANSWERED,
    DECLINED,
    PARTLY,
    PRECISION,
    RECALL,
    REFUSED,
    RIGHT,
    UNSURE,
    WRONG,
    OutcomeCounts,
    metric_estimates,
    summarise_answers,
)
from rag_assets.index.answer_results import BEST_MARK, AnswerResult, Calibration, Grade
from rag_assets.index.eval_records import (
    AnswerSummary,
    CategorySummary,
    Estimate,
    EvalRun,
    JudgeSummary,
    RankChange,
    RunDifference,
)

Row = dict[str, str]

_MARKS = re.compile(r"[\\`*\[\]<>|#~&]|(?<![^\W_])_|_(?![^\W_])")


def category_rows(categories: Iterable[CategorySummary]) -> list[Row]:
    """A row per category: how many questions, and each metric with its interval."""
    return [
        {"category": found.name, "questions": str(found.questions)}
        | {metric: format_estimate(known) for metric, known in found.metrics.items()}
        for found in categories
    ]


def delta_rows(categories: Iterable[CategoryDelta]) -> list[Row]:
    """A row per category and metric: before, now, and the change with its paired interval, marked where it is clear."""
    return [
        {"category": found.name, "questions": str(found.questions), "metric": metric} | _delta_cells(delta)
        for found in categories
        for metric, delta in found.metrics.items()
    ]


def _delta_cells(delta: MetricDelta) -> Row:
    return {
        "before": f"{delta.before:.3f}",
        "now": f"{delta.now:.3f}",
        "change": f"{delta.change.value:+.3f}",
        "interval": f"{delta.change.low:+.3f} to {delta.change.high:+.3f}",
        "clear": "yes" if delta.change.is_clear else "no",
    }


def move_rows(difference: RunDifference | None) -> list[Row]:
    """A row per question that moved, losses first; none where there is nothing to compare with."""
    if difference is None:
        return []
    return [
        {
            "move": found.move.value,
            "question": f"{found.id}: {found.question}",
            "rank before": format_rank(found.before),
            "rank now": format_rank(found.now),
        }
        for found in difference.moved
    ]


def format_moves(difference: RunDifference) -> str:
    """`2 lost, 1 up, 7 the same`."""
    counts = [f"{difference.count(move)} {move.value}" for move in RankChange if difference.count(move)]
    return ", ".join([*counts, f"{difference.same} the same"])


def format_estimate(known: Estimate) -> str:
    """`0.812 (0.741–0.877)`."""
    return f"{known.value:.3f} ({known.low:.3f}–{known.high:.3f})"


def format_rank(rank: int) -> str:
    return str(rank) if rank else "none"


def markdown_rows(rows: Sequence[Row]) -> str:
    """Rows as a markdown table. What would be markup in a cell is shown as it is: questions are written by anybody."""
    if not rows:
        return ""
    names = list(rows[0])
    lines = [f"| {' | '.join(names)} |", "|" + " --- |" * len(names)]
    lines += [f"| {' | '.join(markdown_text(row[name]) for name in names)} |" for row in rows]
    return "\n".join(lines) + "\n"


def markdown_text(text: str) -> str:
    """Text that markdown shows as it is, on one line. `_` within a word is none of its marks."""
    return _MARKS.sub(r"\\\g<0>", " ".join(text.split()))


COVERAGES = (1.0, 0.95, 0.90, 0.85, 0.80, 0.70)
"""Shares of the answerable questions that a table of risk has a row for, and the threshold that is used besides."""

METRIC_MEANINGS = {
    RIGHT: "of the answerable questions: a line or fact that answers is quoted",
    PARTLY: "of the answerable questions: what was expected is cited, and no more",
    UNSURE: "of the answerable questions: only what is closest is shown",
    ANSWERED: "of the answerable questions",
    REFUSED: "of the unanswerable questions",
    DECLINED: "of the unanswerable questions",
    WRONG: "of the answers: to unanswerable questions, or without anything expected among what they cite",
    PRECISION: "of the cited files were expected",
    RECALL: "of what was expected is cited",
}
"""What the metrics of answers are shares of."""


def estimate_rows(summary: AnswerSummary) -> list[Row]:
    """A row per metric that there is."""
    return [
        {"answers": name, "value": format_estimate(value), "of": METRIC_MEANINGS[name]}
        for name, value in metric_estimates(summary).items()
        if value is not None
    ]


def format_checks(summary: AnswerSummary) -> str:
    """`12 supported, 1 fabricated`, and ids that were cited and never retrieved."""
    counts = [f"{summary.checks[kind.value]} {kind.value}" for kind in Support if summary.checks.get(kind.value)]
    unknown = [f"{summary.unknown_citations} citations of nothing"] if summary.unknown_citations else []
    return ", ".join([*counts, *unknown]) or "none"


def format_effort(summary: AnswerSummary) -> str:
    """Latency, tokens and cost: `p50 12.0 ms, p95 31.5 ms, 1,200 + 300 tokens, cost 0.0042`."""
    parts = [f"p50 {summary.p50_ms:.1f} ms, p95 {summary.p95_ms:.1f} ms"]
    if summary.prompt_tokens or summary.completion_tokens:
        parts.append(f"{summary.prompt_tokens:,} + {summary.completion_tokens:,} tokens")
    if summary.cost is not None:
        parts.append(f"cost {summary.cost:.4f}")
    return ", ".join(parts)


def format_questions(summary: AnswerSummary) -> str:
    failed = f", {summary.failed} failed" if summary.failed else ""
    errors = f", {summary.errors} with errors" if summary.errors else ""
    return f"{summary.answerable} answerable and {summary.unanswerable} unanswerable questions{failed}{errors}"


def format_calibration(known: Calibration) -> str:
    return (
        f"refuses below {known.threshold:.3f} and is sure from {known.sure:.3f}: of the answerable answers "
        f"{known.answered:.1%} and refuses {1 - known.shown:.1%}, of the unanswerable answers {known.admitted:.1%} and "
        f"refuses {known.refused:.1%}"
    )


def answerable_rows(counts: Sequence[OutcomeCounts]) -> list[Row]:
    """A row per category with answerable questions: what became of them. `with the place` are those of the unsure that
    cite what was expected."""
    return [
        {
            "category": one.category,
            "questions": str(one.answerable),
            "right": _share_of(one.right, one.answerable),
            "partly": _share_of(one.partly, one.answerable),
            "wrong": _share_of(one.wrong, one.answerable),
            "not sure": _share_of(one.unsure_with_place + one.unsure_without, one.answerable),
            "with the place": _share_of(one.unsure_with_place, one.answerable),
            "refused": _share_of(one.refused, one.answerable),
        }
        for one in counts
        if one.answerable
    ]


def unanswerable_rows(counts: Sequence[OutcomeCounts]) -> list[Row]:
    """A row per category with unanswerable questions: what became of them."""
    return [
        {
            "category": one.category,
            "questions": str(one.unanswerable),
            "refused": _share_of(one.rightly_refused, one.unanswerable),
            "not sure": _share_of(one.rightly_unsure, one.unanswerable),
            "answered": _share_of(one.wrongly_answered, one.unanswerable),
        }
        for one in counts
        if one.unanswerable
    ]


def threshold_rows(run: EvalRun) -> list[Row]:
    """The three outcomes with the thresholds that were used, and with those that were calibrated."""
    return [
        {"thresholds": one.name, "refused below": f"{one.threshold:.3f}", "sure from": f"{one.sure:.3f}"}
        | {
            f"{sort}: {outcome}": _percent(share)
            for sort, shares in (("answerable", one.answerable), ("unanswerable", one.unanswerable))
            for outcome, share in zip(("answered", "not sure", "refused"), shares, strict=True)
        }
        for one in three_outcomes(run)
    ]


def answer_rows(run: EvalRun) -> list[Row]:
    """What is known of the answers of a run, as names and values; none where nothing was asked for answers."""
    summary = summarise_answers(run.answers, run.judging)
    if summary is None or run.answering is None:
        return []
    how = run.answering
    rows = [
        {"answers": "asked", "value": format_questions(summary), "of": ""},
        {"answers": "by", "value": f"{how.model}, {how.pipeline}", "of": ""},
        *estimate_rows(summary),
        {"answers": "sentences", "value": format_checks(summary), "of": ""},
        {"answers": "took", "value": format_effort(summary), "of": ""},
        {"answers": "thresholds", "value": f"{how.threshold:.3f}, sure from {how.sure:.3f}", "of": ""},
    ]
    if run.calibration is not None:
        said = format_calibration(run.calibration)
        rows.append({"answers": "calibrated", "value": said, "of": ""})
    if summary.judge is not None:
        rows.append(_judge_row(summary.judge, run))
    return rows


def _judge_row(known: JudgeSummary, run: EvalRun) -> Row:
    """`0.792 (0.688–0.875)`, and of how many answers, by whom and by which marks."""
    marks = ", ".join(f"{name} {mark:.1f}" for name, mark in known.marks.items())
    parts = [f"of {known.judged} answers by {known.by}"]
    parts += [f"marks of {BEST_MARK}: {marks}"] if marks else []
    parts += [f"{known.not_judged} not judged"] if known.not_judged else []
    parts += [f"{known.prompt_tokens:,} + {known.completion_tokens:,} tokens"]
    parts += [f"cost {known.cost:.4f}"] if known.cost is not None else []
    if run.answering is not None and run.judging is not None and run.judging.model in run.answering.model.split(", "):
        parts.append("it judges what it wrote itself")
    return {"answers": "judge", "value": format_estimate(known.score) if known.score else "-", "of": "; ".join(parts)}


def judged_rows(run: EvalRun) -> list[Row]:
    """The answers that a judge was asked about: those without a verdict, then the worst first, then as asked."""
    known = [(result, result.judged) for result in run.answers if result.judged is not None]
    return [
        {
            "judge": "not judged" if judged.score is None else f"{judged.score:.2f}",
            "question": f"{result.id}: {result.question}",
            "marks": ", ".join(f"{name} {mark}" for name, mark in judged.marks.items()),
            "reason": judged.reason or judged.error,
        }
        for result, judged in sorted(known, key=lambda pair: -1.0 if pair[1].score is None else pair[1].score)
    ]


def risk_rows(run: EvalRun) -> list[Row]:
    """The risk where so many of the answerable pass, and at the thresholds that were used and calibrated."""
    curve = risk_curve(run)
    if run.answering is None or curve.empty:
        return []
    marked: dict[int, str] = {}
    for name, threshold in threshold_marks(run):
        at = row_at(curve, threshold)
        marked[at] = f"{marked[at]}, {name}" if at in marked else name
    chosen = {*marked, *((curve["coverage"] >= share).sum() - 1 for share in COVERAGES)}  # coverage only falls
    return [
        {
            "threshold": f"{point.threshold:.3f}",
            "of the answerable at or above": _percent(point.coverage),
            "of the unanswerable below": _percent(1 - point.admitted),
            "wrong at or above": _percent(point.risk),
            "": marked.get(at, ""),
        }
        for at, point in curve.iterrows()
        if at in chosen
    ]


def threshold_marks(run: EvalRun) -> list[tuple[str, float]]:
    """The thresholds to show in a curve, by name."""
    if run.answering is None:
        return []
    marks = [("refused below", run.answering.threshold), ("sure from", run.answering.sure)]
    if run.calibration is not None:
        marks.append(("calibrated", run.calibration.threshold))
        marks.append(("calibrated sure", run.calibration.sure))
    return marks


def wrong_rows(run: EvalRun) -> list[Row]:
    """The questions that failed, were answered wrongly, or were not answered and have an answer; in this order, then as
    they were asked."""
    order = ("failed", "answered without an answer", "cites nothing expected", "refused", "not sure")
    found = [(kind, result) for result in run.answers if (kind := _mistake(result))]
    return [
        {
            "answer": kind,
            "question": f"{result.id}: {result.question}",
            "confidence": f"{result.confidence:.3f}",
            "cited": ", ".join(result.cited),
            "error": result.error,
        }
        for kind, result in sorted(found, key=lambda pair: order.index(pair[0]))
    ]


def answer_delta_rows(delta: AnswersDelta | None) -> list[Row]:
    """A row per metric of answers: before, now, and the change with its paired interval."""
    if delta is None:
        return []
    return [
        {"answers": name, "questions": str(count)} | _delta_cells(known)
        for name, (count, known) in delta.metrics.items()
    ]


def _mistake(result: AnswerResult) -> str:
    if result.is_wrong:
        return "cites nothing expected" if result.answerable else "answered without an answer"
    if result.grade is Grade.FAILED:
        return "failed"
    return result.grade.value if result.answerable and not result.is_answered else ""


def _share_of(count: int, total: int) -> str:
    return f"{count / total:.1%}"


def _percent(share: float) -> str:
    """Nothing for NaN."""
    return "" if math.isnan(share) else f"{share:.1%}"
