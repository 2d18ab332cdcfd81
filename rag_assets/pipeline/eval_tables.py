"""What the gate decided and what the questions found, as tables of the report of stage `eval_runs`. Pure."""

from __future__ import annotations

from typing import Any

from rag_assets.evaluation.summary import summarise
from rag_assets.evaluation.tables import category_rows, format_rank, move_rows
from rag_assets.index.eval_records import Decision, EvalRun

_SHOWN_WORST = 20


def eval_tables(decision: Decision, candidate: EvalRun) -> dict[str, list[dict[str, Any]]]:
    """Name of a table → its rows; one without rows is not shown."""
    metrics = [
        {
            "metric": change.metric,
            "candidate": f"{change.candidate:.3f}",
            "active": "" if change.active is None else f"{change.active:.3f}",
            "delta": "" if change.delta is None else f"{change.delta:+.3f}",
            "at least": "" if change.floor is None else f"{change.floor:.3f}",
            "holds": "yes" if change.holds else "no",
        }
        for change in decision.changes
    ]
    worse = [
        {
            "question": f"{question.id}: {question.question}",
            "rank before": format_rank(question.active_rank),
            "rank now": format_rank(question.candidate_rank),
        }
        for question in decision.worse
    ]
    lost = sorted(candidate.results, key=lambda result: (result.first_rank or 1 << 31, result.id), reverse=True)
    worst = [
        {"question": f"{result.id}: {result.question}", "rank": format_rank(result.first_rank)}
        for result in lost[:_SHOWN_WORST]
        if result.first_rank != 1
    ]
    gate = {
        "verdict": decision.verdict.value,
        "reason": decision.reason,
        "active": decision.active_generation_id,
        "set": decision.set,
        "fingerprint": decision.fingerprint[:12],
    }
    categories = category_rows(summarise(candidate))
    return {
        "gate": [gate],
        "metrics": metrics,
        "categories": categories if len(categories) > 1 else [],
        "got worse": worse,
        "against the active generation": move_rows(candidate.against),
        "worst questions": worst,
    }
