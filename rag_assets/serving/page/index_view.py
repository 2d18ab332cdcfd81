"""Index: which labels there are, how old and how sound they are, and how well they answer."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rag_assets.evaluation.report import subtitle, title
from rag_assets.index.eval_records import format_metrics
from rag_assets.serving.operations.history import GenerationRow, sees_all
from rag_assets.serving.operations.status import LabelStatus
from rag_assets.serving.page.eval_report import sections
from rag_assets.serving.page.viewing import View
from rag_assets.serving.requests import StatusRequest, parsed

_MOST_FILES = 500


def index_page(view: View) -> str:
    reply = view.operations.indexes(parsed(StatusRequest, {"label": view.label}), view.caller)
    if view.label is None:
        rows = [_about(view, one) for one in reply.found]
        return view.rendered("index.html", title="Index", rows=rows, about=None)
    (one,) = reply.found
    about = _about(view, one)
    generations = view.operations.generations(about["label"], view.caller)
    skipped = list(one.skipped)
    return view.rendered(
        "index.html",
        title=about["label"],
        rows=[],
        about=about,
        generations=[_generation(view, row) for row in generations],
        skipped=skipped[:_MOST_FILES],
        reasons=Counter(str(row["reason"]) for row in skipped).most_common(),
        left=len(skipped) - _MOST_FILES,
    )


def eval_page(view: View) -> str:
    name = view.said("generation") or "active"
    report = view.operations.evaluation(view.label or "", name, view.caller)
    return view.rendered(
        "eval.html", title=title(report), subtitle=subtitle(report), sections=sections(report), report=report
    )


def _about(view: View, one: LabelStatus) -> dict[str, Any]:
    known = one.manifest
    return {
        "label": known.index_label,
        "age": one.age,
        "age_line": one.age.line(known.index_label).partition(" (")[2].rstrip(")"),
        "manifest": known,
        "counts": one.counts,
        "modes": one.modes,
        "problem": one.problem,
        "skipped": len(one.skipped),
        "health": known.parse_health if sees_all(known, view.caller.clearance) else {},
    }


def _generation(view: View, row: GenerationRow) -> dict[str, Any]:
    is_open = sees_all(row.manifest, view.caller.clearance)
    metrics = [f"{format_metrics(found)} ({name})" for name, found in row.entry.metrics.items()] if is_open else []
    found = {"entry": row.entry, "manifest": row.manifest, "decision": row.decision}
    return found | {"metrics": metrics, "is_open": is_open}
