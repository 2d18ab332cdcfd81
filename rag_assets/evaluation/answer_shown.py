"""Answers of runs as rows of tables for people: of the command line, of Dagster and of reports. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from rag_assets.evaluation.answer_summary import ANSWERED, PRECISION, RECALL, REFUSED, WRONG, summarise_answers
from rag_assets.evaluation.comparison import AnswersDelta
from rag_assets.evaluation.risk import RiskPoint, risk_curve
from rag_assets.evaluation.shown import Row, shown_estimate
from rag_assets.query.answer.checking import Support
from rag_assets.stores.eval_answers import BEST_MARK, AnswerResult, Calibration, Outcome
from rag_assets.stores.eval_history import AnswerSummary, JudgeSummary
from rag_assets.stores.eval_records import EvalRun

COVERAGES = (1.0, 0.95, 0.90, 0.85, 0.80, 0.70)
"""Shares of the answerable questions that a table of risk has a row for, and the threshold that is used besides."""

SAID = {
    ANSWERED: "of the answerable questions",
    REFUSED: "of the unanswerable questions",
    WRONG: "of the answers: to unanswerable questions, or without anything expected among what they cite",
    PRECISION: "of the cited files were expected",
    RECALL: "of what was expected is cited",
}
"""What the metrics of answers are shares of."""


def estimates_of(summary: AnswerSummary) -> list[Row]:
    """A row per metric that there is."""
    known = (summary.answered, summary.refused, summary.wrong, summary.precision, summary.recall)
    return [
        {"answers": name, "value": shown_estimate(value), "of": SAID[name]}
        for name, value in zip(SAID, known, strict=True)
        if value is not None
    ]


def said_sentences(summary: AnswerSummary) -> str:
    """`12 supported, 1 fabricated`, and ids that were cited and never retrieved."""
    counts = [f"{summary.checks[kind.value]} {kind.value}" for kind in Support if summary.checks.get(kind.value)]
    unknown = [f"{summary.unknown_citations} citations of nothing"] if summary.unknown_citations else []
    return ", ".join([*counts, *unknown]) or "none"


def said_effort(summary: AnswerSummary) -> str:
    """Latency, tokens and cost: `p50 12.0 ms, p95 31.5 ms, 1,200 + 300 tokens, cost 0.0042`."""
    parts = [f"p50 {summary.p50_ms:.1f} ms, p95 {summary.p95_ms:.1f} ms"]
    if summary.prompt_tokens or summary.completion_tokens:
        parts.append(f"{summary.prompt_tokens:,} + {summary.completion_tokens:,} tokens")
    if summary.cost is not None:
        parts.append(f"cost {summary.cost:.4f}")
    return ", ".join(parts)


def said_questions(summary: AnswerSummary) -> str:
    failed = f", {summary.failed} failed" if summary.failed else ""
    errors = f", {summary.errors} with errors" if summary.errors else ""
    return f"{summary.answerable} answerable and {summary.unanswerable} unanswerable questions{failed}{errors}"


def said_calibration(known: Calibration) -> str:
    return (
        f"threshold {known.threshold:.3f}: answers {known.answered:.1%} of the answerable and refuses "
        f"{known.refused:.1%} of the unanswerable"
    )


def answer_rows(run: EvalRun) -> list[Row]:
    """What is known of the answers of a run, as names and values; none where nothing was asked for answers."""
    summary = summarise_answers(run.answers, run.judging)
    if summary is None or run.answering is None:
        return []
    how = run.answering
    rows = [
        {"answers": "asked", "value": said_questions(summary), "of": ""},
        {"answers": "by", "value": f"{how.model}, {how.pipeline}", "of": ""},
        *estimates_of(summary),
        {"answers": "sentences", "value": said_sentences(summary), "of": ""},
        {"answers": "took", "value": said_effort(summary), "of": ""},
        {"answers": "threshold", "value": f"{how.threshold:.3f}", "of": ""},
    ]
    if run.calibration is not None:
        said = said_calibration(run.calibration)
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
    return {"answers": "judge", "value": shown_estimate(known.score) if known.score else "-", "of": "; ".join(parts)}


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
    """The risk where so many of the answerable are answered, and at the threshold that was used."""
    if run.answering is None:
        return []
    curve, used = risk_curve(run.answers, run.answering), run.answering.threshold
    marked = {id(point): "used" for point in curve if point.threshold == used}
    if run.calibration is not None:
        marked[id(_at(curve, run.calibration.threshold))] = "calibrated"
    chosen: dict[int, RiskPoint] = {id(point): point for point in curve if id(point) in marked}
    for share in COVERAGES:
        enough = [point for point in curve if point.coverage >= share]
        if enough:
            chosen[id(enough[-1])] = enough[-1]
    return [
        {
            "threshold": f"{point.threshold:.3f}",
            "answered of the answerable": f"{point.coverage:.1%}",
            "refused of the unanswerable": "" if point.admitted is None else f"{1 - point.admitted:.1%}",
            "wrong of the answers": "" if point.risk is None else f"{point.risk:.1%}",
            "": marked.get(id(point), ""),
        }
        for point in sorted(chosen.values(), key=lambda point: point.threshold)
    ]


def wrong_rows(run: EvalRun) -> list[Row]:
    """The questions that were answered wrongly, refused wrongly, or failed; in this order, then as they were asked."""
    order = ("failed", "answered without an answer", "cites nothing expected", "refused")
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
        {
            "answers": name,
            "questions": str(count),
            "before": f"{known.before:.3f}",
            "now": f"{known.now:.3f}",
            "change": f"{known.change.value:+.3f}",
            "interval": f"{known.change.low:+.3f} to {known.change.high:+.3f}",
            "clear": "yes" if known.change.is_clear else "no",
        }
        for name, (count, known) in delta.metrics.items()
    ]


def _mistake(result: AnswerResult) -> str:
    if result.outcome is Outcome.FAILED:
        return "failed"
    if result.is_wrong:
        return "cites nothing expected" if result.answerable else "answered without an answer"
    return "refused" if result.answerable and not result.is_answered else ""


def _at(curve: Sequence[RiskPoint], threshold: float) -> RiskPoint:
    """The point that does what a threshold between two confidences does."""
    return next((point for point in curve if point.threshold >= threshold), curve[-1])
