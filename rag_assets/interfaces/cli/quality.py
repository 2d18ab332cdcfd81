"""What was measured and what the promotion gate decided, as tables for people and objects for programs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rag_assets.interfaces.cli.output import Output, Style, seconds

if TYPE_CHECKING:
    from pathlib import Path

    from rag_assets.stores.eval_records import EvalRun

_SHOWN_QUESTIONS = 10


def gate_object(directory: Path) -> dict[str, Any] | None:
    """The decision about the generation in `directory` with all its numbers, or None."""
    from rag_assets.stores.eval_records import read_decision

    decision = read_decision(directory)
    return dataclasses.asdict(decision) if decision is not None else None


def measured(directory: Path) -> list[dict[str, Any]]:
    """Every question set that the generation in `directory` was asked, with its metrics."""
    from rag_assets.stores.eval_records import read_runs

    return [
        {"set": run.set, "fingerprint": run.fingerprint, "questions": len(run.results), "metrics": run.metrics}
        for run in read_runs(directory)
    ]


def said_metrics(runs: list[dict[str, Any]]) -> str:
    """`recall@10 0.812, mrr@10 0.640 (questions)`, one set after the other."""
    from rag_assets.stores.eval_records import shown_metrics

    return "; ".join(f"{shown_metrics(run['metrics'])} ({run['questions']} of {run['set']})" for run in runs)


def said_gate(gate: Mapping[str, Any] | None) -> str:
    """`recall@10 0.812, …; as good as …, within 5%`, or nothing without a question set."""
    if gate is None:
        return ""
    from rag_assets.stores.eval_records import shown_metrics

    return f"{shown_metrics({change['metric']: change['candidate'] for change in gate['changes']})}; {gate['reason']}"


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
    _table(output, ("METRIC", "CANDIDATE", "ACTIVE", "DELTA", "AT LEAST"), rows, broken)
    for question in gate["worse"][:_SHOWN_QUESTIONS]:
        before, now = question["active_rank"] or "none", question["candidate_rank"] or "none"
        output.line((f"  worse: rank {before} → {now}  ", "warn"), f"{question['id']}: {question['question']}")


def show_run(output: Output, run: EvalRun, other: EvalRun | None) -> None:
    """A run beside that of the served generation on the same questions, if there is one, and what was not found."""
    rows = []
    for metric, value in run.metrics.items():
        before = other.metrics[metric] if other is not None else None
        beside = ("", "") if before is None else (f"{before:.3f}", f"{value - before:+.3f}")
        rows.append((metric, f"{value:.3f}", *beside))
    _table(output, ("METRIC", "VALUE", "ACTIVE", "DELTA") if other else ("METRIC", "VALUE"), rows, set())
    middle = sorted(result.seconds for result in run.results)[len(run.results) // 2]
    output.line(("  answered  ", "dim"), f"{seconds(middle)} for the question in the middle, {run.mode} search")
    missed = [result for result in run.results if not result.first_rank]
    for result in missed[:_SHOWN_QUESTIONS]:
        gone = f" (not in this commit: {', '.join(result.absent)})" if result.absent else ""
        output.line(("  not found: ", "warn"), f"{result.id}: {result.question}{gone}")
    if len(missed) > _SHOWN_QUESTIONS:
        output.line(("  not found: ", "warn"), f"and {len(missed) - _SHOWN_QUESTIONS} more; --json lists them")


def _table(output: Output, titles: tuple[str, ...], rows: Sequence[tuple[str, ...]], marked: set[str]) -> None:
    cut = [row[: len(titles)] for row in rows]
    widths = [max(len(row[column]) for row in [titles, *cut]) for column in range(len(titles))]
    for number, row in enumerate([titles, *cut]):
        style: Style = "dim" if not number else "bad" if row[0] in marked else "plain"
        cells = [
            cell.ljust(width) if not at else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        output.line((f"  {'  '.join(cells)}".rstrip(), style))
