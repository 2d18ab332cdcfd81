"""Runs and their differences as rows of tables for people: of the command line, of Dagster and of reports. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rag_assets.evaluation.comparison import CategoryDelta
from rag_assets.index.eval_records import CategorySummary, Estimate, RankChange, RunDifference

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
        {
            "category": found.name,
            "questions": str(found.questions),
            "metric": metric,
            "before": f"{delta.before:.3f}",
            "now": f"{delta.now:.3f}",
            "change": f"{delta.change.value:+.3f}",
            "interval": f"{delta.change.low:+.3f} to {delta.change.high:+.3f}",
            "clear": "yes" if delta.change.is_clear else "no",
        }
        for found in categories
        for metric, delta in found.metrics.items()
    ]


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
