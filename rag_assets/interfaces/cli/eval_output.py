"""Runs of question sets and their comparisons, as tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rag_assets.interfaces.cli.output import Output, Style
from rag_assets.interfaces.cli.quality import show_table

if TYPE_CHECKING:
    from rag_assets.evaluation.comparison import AnswersDelta, Comparison
    from rag_assets.evaluation.siblings import SiblingRow, Siblings
    from rag_assets.stores.eval_records import Difference, EvalRun

_SHOWN_QUESTIONS = 10
_SHOWN_JUDGED = 3  # the worst of the answers that were judged
_NAME_WIDTH = 20  # of what is said of answers: `citation precision`
_STYLES: dict[str, Style] = {"lost": "bad", "down": "warn", "gained": "good", "up": "good"}


def show_run(output: Output, run: EvalRun, other: EvalRun | None) -> None:
    """A run beside that of the served generation on the same questions, if there is one, and what was not found."""
    from rag_assets.evaluation.shown import category_rows
    from rag_assets.evaluation.summary import latency, summarise

    total, *categories = summarise(run)
    rows = []
    for metric, known in total.metrics.items():
        before = other.metrics[metric] if other is not None else None
        beside = ("", "") if before is None else (f"{before:.3f}", f"{known.value - before:+.3f}")
        rows.append((metric, f"{known.value:.3f}", f"{known.low:.3f} to {known.high:.3f}", *beside))
    titles = ("METRIC", "VALUE", "95 % BETWEEN")
    show_table(output, (*titles, "ACTIVE", "DELTA") if other else titles, rows, set())
    if categories:
        named = category_rows(categories)
        show_table(output, tuple(map(str.upper, named[0])), [tuple(row.values()) for row in named], set())
    took = latency(run)
    output.line(("  answered  ", "dim"), f"{run.mode} search, p50 {took.p50:.1f} ms, p95 {took.p95:.1f} ms")
    if run.against is not None:
        show_moves(output, run.against)
    show_answers(output, run)
    missed = [result for result in run.results if not result.first_rank]
    for result in missed[:_SHOWN_QUESTIONS]:
        gone = f" (not in this commit: {', '.join(result.absent)})" if result.absent else ""
        output.line(("  not found: ", "warn"), f"{result.id}: {result.question}{gone}")
    if len(missed) > _SHOWN_QUESTIONS:
        output.line(("  not found: ", "warn"), f"and {len(missed) - _SHOWN_QUESTIONS} more; --json lists them")


def show_answers(output: Output, run: EvalRun) -> None:
    """What became of the answers of a run, and which are wrong or missing; nothing where none were asked for."""
    from rag_assets.evaluation.answer_shown import answer_rows, judged_rows, wrong_rows

    rows = answer_rows(run)
    if not rows:
        return
    for row in rows:
        output.line((f"  {row['answers']:<{_NAME_WIDTH}}", "dim"), " ".join(filter(None, (row["value"], row["of"]))))
    mistakes = wrong_rows(run)
    for row in mistakes[:_SHOWN_QUESTIONS]:
        cited = f", cites {row['cited']}" if row["cited"] else ""
        error = f": {row['error']}" if row["error"] else ""
        output.line(
            (f"  {row['answer']}: ", "warn"), f"{row['question']} (confidence {row['confidence']}{cited}){error}"
        )
    if len(mistakes) > _SHOWN_QUESTIONS:
        output.line(("  ", "dim"), f"and {len(mistakes) - _SHOWN_QUESTIONS} more; --json lists them")
    for row in judged_rows(run)[:_SHOWN_JUDGED]:
        output.line((f"  judge {row['judge']}: ", "dim"), f"{row['question']}: {row['reason']}")


def show_comparison(output: Output, compared: Comparison) -> None:
    """The change of each metric by category, then the questions that moved; first, that it says nothing of the indexes
    where they were searched differently."""
    from rag_assets.evaluation.shown import delta_rows

    if compared.conditions:
        unlike = ", ".join(f"{name} {before} → {now}" for name, (before, now) in compared.conditions.items())
        output.warning(
            f"more than the commit differs ({unlike}): what changed may come from that. "
            "To compare the indexes alone, ask both in one way with: rag-assets eval compare … --set FILE"
        )
    rows = delta_rows(compared.categories)
    titles = ("CATEGORY", "QUESTIONS", "METRIC", "BEFORE", "NOW", "CHANGE", "95 % BETWEEN", "")
    marks = {"yes": "clear", "no": ""}
    show_table(output, titles, [(*list(row.values())[:-1], marks[row["clear"]]) for row in rows], set())
    show_moves(output, compared.difference, most=None)
    if compared.answers is not None:
        _show_answers_delta(output, compared.answers)


def _show_answers_delta(output: Output, delta: AnswersDelta) -> None:
    from rag_assets.evaluation.answer_shown import answer_delta_rows

    if delta.conditions:
        unlike = ", ".join(f"{name} {before} → {now}" for name, (before, now) in delta.conditions.items())
        output.warning(f"the answers were made or judged differently ({unlike}): what changed may come from that")
    titles = ("ANSWERS", "QUESTIONS", "BEFORE", "NOW", "CHANGE", "95 % BETWEEN", "")
    marks = {"yes": "clear", "no": ""}
    rows = answer_delta_rows(delta)
    show_table(output, titles, [(*list(row.values())[:-1], marks[row["clear"]]) for row in rows], set())
    for changed in delta.changed:
        unanswerable = "" if changed.answerable else " (unanswerable)"
        moved = f"  {changed.before.value} → {changed.now.value}  "
        output.line((moved, "dim"), f"{changed.id}: {changed.question}{unanswerable}")


def show_siblings(output: Output, found: Siblings) -> None:
    """The numbers of two siblings, and what the rule of promotion makes of them."""
    rows = [
        (row.name, _shown(row.before), _shown(row.now), "" if row.change is None else f"{row.change:+.1%}", _rule(row))
        for row in found.rows
    ]
    show_table(output, ("SIBLINGS", "BEFORE", "NOW", "CHANGE", ""), rows, set())
    said = "may take the place of" if found.may_replace else "may not take the place of"
    output.line(("  promotion: ", "dim"), f"NOW {said} BEFORE: {found.reason}")
    if not found.is_enough:
        output.warning(
            f"{found.questions} questions are few for the rule of promotion: one of them is {1 / found.questions:.0%} "
            "of a metric; ask 10 to 20 at least"
        )


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _rule(row: SiblingRow) -> str:
    if not row.decides:
        return ""
    return "holds" if row.holds else "falls too far"


def show_moves(output: Output, difference: Difference, most: int | None = _SHOWN_QUESTIONS) -> None:
    """How many questions moved, and the first `most` of them, losses first."""
    from rag_assets.evaluation.shown import said_moves, shown_rank

    output.line((f"  against {difference.generation_id}: ", "dim"), said_moves(difference))
    shown: Sequence[object] = difference.moved[:most]
    for found in difference.moved[:most]:
        ranks = f"rank {shown_rank(found.before)} → {shown_rank(found.now)}"
        output.line((f"  {found.move.value}: {ranks}  ", _STYLES[found.move.value]), f"{found.id}: {found.question}")
    if len(difference.moved) > len(shown):
        output.line(("  ", "dim"), f"and {len(difference.moved) - len(shown)} more; --json lists them")
