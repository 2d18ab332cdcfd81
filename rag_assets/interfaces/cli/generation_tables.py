"""Generations and their differences as tables for people and objects for programs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from rag_assets.interfaces.cli.output import Output, Style, short, size

if TYPE_CHECKING:
    from rag_assets.stages.comparison import Comparison, SymbolChange
    from rag_assets.stores.generations import Manifest
    from rag_assets.stores.inventory import Entry

_STATE_STYLES: dict[str, Style] = {
    "active": "good",
    "set-aside": "warn",
    "candidate": "warn",
    "damaged": "bad",
    "refused": "bad",
}
_TITLES = ("STATE", "COMMIT", "DATE", "POINTS", "QUALITY", "SIZE", "GENERATION", "MODEL", "RUN", "TAGS")


def show_inventory(output: Output, found: Mapping[str, Sequence[Entry]]) -> None:
    """One table per label."""
    for label, entries in found.items():
        output.line((label, "path"))
        rows = [_TITLES, *(_cells(entry) for entry in entries)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(_TITLES))]
        for number, row in enumerate(rows):
            padded = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
            plain: Style = "plain" if number else "dim"
            rest = "  ".join(padded[1:]).rstrip()
            output.line("  ", (padded[0], _STATE_STYLES.get(row[0], plain)), "  ", (rest, plain))
        for entry in entries:
            if entry.problem:
                output.line(
                    (f"  {entry.generation_id}: {entry.problem}" if entry.metrics else f"  {entry.problem}", "warn")
                )


def show_comparison(output: Output, found: Comparison, quality: Sequence[str] = ()) -> None:
    """The counts, lines about the `quality` of both, then the symbols under their files, as many as were asked for."""
    output.line(_side(found.old), (" → ", "dim"), _side(found.new))
    output.line(
        f"  {found.added:,} points added, {found.changed:,} changed, {found.removed:,} removed, {found.moved:,} moved, "
        f"{found.unchanged:,} unchanged; {found.paths:,} files"
    )
    for note in found.notes:
        output.line((f"  note: {note}", "warn"))
    for line in quality:
        output.line(f"  {line}")
    for path, changes in groupby(found.changes, key=lambda change: change.path):
        output.line((path, "path"))
        for change in changes:
            output.line(f"  {_counts(change)}  {change.symbol}", (_origin(change), "dim"))
    left = found.groups - len(found.changes)
    if left:
        output.note(f"{left:,} more symbols; list them with --limit 0")


def quality_lines(old: Sequence[dict[str, Any]], new: Sequence[dict[str, Any]]) -> list[str]:
    """Old → new metrics of every question set that both were asked; of others that they cannot be compared."""
    before = {run["set"]: run for run in old}
    lines = []
    for run in new:
        was = before.get(run["set"])
        if was is None:
            continue
        if was["fingerprint"] != run["fingerprint"] or was["metrics"].keys() != run["metrics"].keys():
            lines.append(f"{run['set']}: asked different questions; ask both with: rag-assets eval --generation ID")
            continue
        if was["conditions"] != run["conditions"]:
            lines.append(f"{run['set']}: searched in different ways; ask both with: rag-assets eval --generation ID")
            continue
        changes = (f"{name} {was['metrics'][name]:.3f} → {value:.3f}" for name, value in run["metrics"].items())
        lines.append(f"{run['set']}: {', '.join(changes)}")
    return lines


def comparison_object(found: Comparison) -> dict[str, Any]:
    """The object of `compare --json`."""
    counts = {name: getattr(found, name) for name in ("added", "changed", "removed", "moved", "unchanged")}
    return {
        "old": _object(found.old),
        "new": _object(found.new),
        "equal": found.equal,
        "points": counts,
        "files": found.paths,
        "symbols": found.groups,
        "changes": [dataclasses.asdict(change) for change in found.changes],
        "not_listed": found.groups - len(found.changes),
        "notes": list(found.notes),
    }


def _cells(entry: Entry) -> tuple[str, ...]:
    return (
        entry.state.value,
        short(entry.commit_sha),
        entry.commit_date,
        "" if entry.points is None else f"{entry.points:,}",
        _quality(entry),
        size(entry.bytes),
        entry.generation_id,
        entry.embedding_model,
        entry.run_id,
        ", ".join(entry.tags),
    )


def _quality(entry: Entry) -> str:
    """`recall@10 0.812`: the first metric of each question set; `compare` and `status` have all."""
    return ", ".join(f"{name} {value:.3f}" for found in entry.metrics.values() for name, value in [*found.items()][:1])


def _side(manifest: Manifest) -> str:
    return f"{manifest.index_label} {manifest.generation_id} (commit {short(manifest.commit_sha)})"


def _object(manifest: Manifest) -> dict[str, Any]:
    return {
        "label": manifest.index_label,
        "generation": manifest.generation_id,
        "commit": manifest.commit_sha,
        "commit_date": manifest.commit_date,
        "embedding_model": manifest.embedding_model,
        "dimension": manifest.dimension,
        "points": manifest.counts.get("points", 0),
    }


def _counts(change: SymbolChange) -> str:
    """`+2 ~1 -3`, what is zero left out."""
    signs = (("+", change.added), ("~", change.changed), ("-", change.removed), (">", change.moved))
    return " ".join(f"{sign}{count}" for sign, count in signs if count)


def _origin(change: SymbolChange) -> str:
    return f"  was in {change.moved_from}" if change.moved_from else ""
