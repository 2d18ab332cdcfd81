"""What was measured and what the promotion gate decided, as tables for people and objects for programs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

from rag_assets.cli.console import Output, Style, aligned
from rag_assets.index.eval_records import RunDifference, format_metrics, read_decision, read_runs

if TYPE_CHECKING:
    from pathlib import Path


_SHOWN_QUESTIONS = 10
_STYLES: dict[str, Style] = {"lost": "bad", "down": "warn", "gained": "good", "up": "good"}


def gate_object(directory: Path) -> dict[str, Any] | None:
    """The decision about the generation in `directory` with all its numbers, or None."""
    decision = read_decision(directory)
    return dataclasses.asdict(decision) if decision is not None else None


def measured(directory: Path) -> list[dict[str, Any]]:
    """Every question set that the generation in `directory` was asked, with its metrics."""
    return [
        {
            "set": run.set,
            "fingerprint": run.fingerprint,
            "conditions": dataclasses.asdict(run.conditions),
            "questions": len(run.results),
            "metrics": run.metrics,
        }
        for run in read_runs(directory)
    ]


def format_runs(runs: list[dict[str, Any]]) -> str:
    """`recall@10 0.812, mrr@10 0.640 (questions)`, one set after the other."""
    return "; ".join(f"{format_metrics(run['metrics'])} ({run['questions']} of {run['set']})" for run in runs)


def format_gate(gate: Mapping[str, Any] | None) -> str:
    """`recall@10 0.812, …; as good as …, within 5%`, or nothing without a question set."""
    if gate is None:
        return ""
    return f"{format_metrics({change['metric']: change['candidate'] for change in gate['changes']})}; {gate['reason']}"


def show_gate(output: Output, gate: Mapping[str, Any]) -> None:
    """The metrics of a decision beside those of the served generation, and the questions that got worse."""
    rows = [
        (
            change["metric"],
            f"{change['candidate']:.3f}",
            "" if change["active"] is None else f"{change['active']:.3f}",
            "" if change["active"] is None else f"{change['candidate'] - change['active']:+.3f}",
            "" if change["floor"] is None else f"{change['floor']:.3f}",
        )
        for change in gate["changes"]
    ]
    broken = {change["metric"] for change in gate["changes"] if not change["holds"]}
    show_table(output, ("METRIC", "CANDIDATE", "ACTIVE", "DELTA", "AT LEAST"), rows, broken)
    for question in gate["worse"][:_SHOWN_QUESTIONS]:
        before, now = question["active_rank"] or "none", question["candidate_rank"] or "none"
        output.line((f"  worse: rank {before} → {now}  ", "warn"), f"{question['id']}: {question['question']}")


def show_table(output: Output, titles: tuple[str, ...], rows: Sequence[tuple[str, ...]], marked: Set[str]) -> None:
    """Rows below titles, the first column to the left; those whose first cell is in `marked` stand out."""
    cut = [row[: len(titles)] for row in rows]
    for number, cells in enumerate(aligned([titles, *cut], right=titles[1:])):
        style: Style = "dim" if not number else "bad" if cells[0].rstrip() in marked else "plain"
        output.line((f"  {'  '.join(cells)}".rstrip(), style))


def show_moves(output: Output, difference: RunDifference, most: int | None = _SHOWN_QUESTIONS) -> None:
    """How many questions moved, and the first `most` of them, losses first."""
    from rag_assets.evaluation.tables import format_moves, format_rank  # start-up budget: loaded when it runs

    output.line((f"  against {difference.generation_id}: ", "dim"), format_moves(difference))
    shown: Sequence[object] = difference.moved[:most]
    for found in difference.moved[:most]:
        ranks = f"rank {format_rank(found.before)} → {format_rank(found.now)}"
        output.line((f"  {found.move.value}: {ranks}  ", _STYLES[found.move.value]), f"{found.id}: {found.question}")
    if len(difference.moved) > len(shown):
        output.line(("  ", "dim"), f"and {len(difference.moved) - len(shown)} more; --json lists them")
