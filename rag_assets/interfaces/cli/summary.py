"""What a finished generation contains, as one object for programs and as tables for people."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, Literal

from rag_assets.interfaces.cli.output import Output, named_counts, said_graph, seconds, short
from rag_assets.interfaces.cli.quality import gate_object, said_gate, show_gate
from rag_assets.interfaces.cli.remarks import check_remark, rule_remarks
from rag_assets.stages.build import StageReport, read_report
from rag_assets.stages.versions import STAGES
from rag_assets.stores.generations import generation_directory, read_generation
from rag_assets.stores.home import Home

Result = dict[str, Any]
Status = Literal["indexed", "up-to-date", "set-aside"]  # the last: a person chose another generation to be served
_SHOWN_PROBLEMS = 10
_SHOWN_EXAMPLES = 3
_WARNS = "WARN"  # what Dagster calls a check that blocks nothing
_WARNINGS = "warnings by rule"  # the table of every stage that warns: a rule and how often


def stage_reports(directory: Path) -> dict[str, StageReport]:
    """What the stages of a generation recorded, as far as it was built. Raises BuildError for a damaged record."""
    records = {stage: read_report(directory, stage) for stage in STAGES}
    return {stage: record for stage, record in records.items() if record is not None}


def counted(reports: dict[str, StageReport], stage: str, table: str, key: str, value: str) -> dict[str, int]:
    """A two-column table of a report as a mapping, in its order."""
    report = reports.get(stage)
    return {row[key]: row[value] for row in report.tables.get(table, [])} if report else {}


def summarize(
    home: Home,
    label: str,
    generation_id: str,
    status: Status,
    *,
    seconds_by_stage: dict[str, float] | None = None,
    numbers_by_stage: dict[str, dict[str, int]] | None = None,
    failed_checks: list[dict[str, Any]] | None = None,
) -> Result:
    """The summary object of `index --json`; `work` is what this run computed and what it found in the caches.

    `checks` are those that failed and stopped nothing, None where this run had nothing to check.

    Raises GenerationError where the generation is not finished.
    """
    manifest = read_generation(home, label, generation_id).manifest
    reports = stage_reports(generation_directory(home, label, generation_id))
    counts = {stage: report.counts for stage, report in reports.items()}
    return {
        "label": label,
        "status": status,
        "generation": generation_id,
        "ref": manifest.ref,
        "commit": manifest.commit_sha,
        "run_id": manifest.run_id,
        "embedding_model": manifest.embedding_model,
        "lexical_only": manifest.lexical_only,
        "files": {
            "indexed": manifest.counts["files"],
            "skipped": manifest.counts["skipped_files"],
            "skipped_by_reason": counted(reports, "discovered_files", "skipped by reason", "reason", "files"),
            "redacted_secrets": counts["discovered_files"]["redacted_secrets"],
        },
        "parse_health": manifest.parse_health,
        "segments": manifest.counts["segments"],
        "sections": manifest.counts["sections"],
        "points": manifest.counts["points"],
        "graph": {name: manifest.counts.get(f"graph_{name}", 0) for name in ("nodes", "edges")},
        "blocked_points": manifest.counts["blocked_points"],
        "problems": _problems(reports, status),
        "warnings_by_rule": _warnings_by_rule(reports),
        "checks": failed_checks,
        "quality": gate_object(generation_directory(home, label, generation_id)),
        "work": {
            stage: {name: numbers_by_stage[stage].get(name, 0) for name in report.work}
            for stage, report in reports.items()
            if report.work and numbers_by_stage and stage in numbers_by_stage
        },
        "seconds_by_stage": {stage: round(spent, 3) for stage, spent in (seconds_by_stage or {}).items()},
    }


def show_summary(output: Output, result: Result) -> None:
    """A short table on stdout. A run that did not finish has said so on stderr already."""
    if result["status"] == "refused" and result["quality"]:
        output.line((result["label"], "path"), (" refused by the promotion gate: ", "bad"), result["generation"])
        show_gate(output, result["quality"])
    if result["status"] not in ("indexed", "up-to-date"):
        return
    files = result["files"]
    blocked = f", {result['blocked_points']:,} blocked" if result["blocked_points"] else ""
    rows = [
        ("files", f"{files['indexed']:,} indexed, {files['skipped']:,} skipped{_listed(files['skipped_by_reason'])}"),
        ("parse health", named_counts(result["parse_health"])),
        ("segments", f"{result['segments']:,}"),
        ("sections", f"{result['sections']:,}"),
        ("points", f"{result['points']:,}{blocked}"),
        ("graph", said_graph(**result["graph"])),
        ("quality", said_gate(result["quality"])),
        ("secrets masked", str(files["redacted_secrets"] or "")),
        ("model", "none: keyword search only" if result["lexical_only"] else result["embedding_model"]),
        ("seconds", named_counts({stage: f"{spent:.2f}" for stage, spent in result["seconds_by_stage"].items()})),
        ("generation", result["generation"]),
        ("run", result["run_id"]),
    ]
    verb = "indexed" if result["status"] == "indexed" else "up to date"
    output.line((result["label"], "path"), f" {verb} at {short(result['commit'])} in {seconds(result['seconds'])}")
    for name, value in rows:
        if value:
            output.line((f"  {name:<15}", "dim"), value)
    for problem in result["problems"][:_SHOWN_PROBLEMS]:
        output.line(("  problem: ", "warn"), problem)
    if len(result["problems"]) > _SHOWN_PROBLEMS:
        output.line(("  problem: ", "warn"), f"and {len(result['problems']) - _SHOWN_PROBLEMS} more; --json lists them")
    noted = [check for check in result["checks"] or () if check["severity"] == _WARNS]
    for check in result["checks"] or ():
        if check not in noted:
            output.line(("  check failed: ", "bad"), _said(check))
    for remark in [*map(check_remark, noted), *rule_remarks(result["warnings_by_rule"], result["points"])]:
        output.line(("  note: ", "dim"), remark)


def _problems(reports: dict[str, StageReport], status: Status) -> list[str]:
    """What the stages listed, in their order; what activation met concerns only the run that activated."""
    return [
        problem
        for stage, report in reports.items()
        if stage != "active_index" or status == "indexed"
        for problem in report.problems
    ]


def _warnings_by_rule(reports: dict[str, StageReport]) -> dict[str, int]:
    """How often each rule warned, over all stages, in the order of the rules."""
    found: Counter[str] = Counter()
    for report in reports.values():
        for row in report.tables.get(_WARNINGS, []):
            found[row["rule"]] += sum(count for name, count in row.items() if name != "rule")
    return dict(sorted(found.items()))


def _said(check: dict[str, Any]) -> str:
    """One line: which check, its numbers, its first examples."""
    examples = [" ".join(text.split()) for text in check["examples"]]
    more = [f"and {len(examples) - _SHOWN_EXAMPLES} more"] if len(examples) > _SHOWN_EXAMPLES else []
    details = [named_counts(check["numbers"]), *examples[:_SHOWN_EXAMPLES], *more]
    return f"{check['name']} of {check['asset']}: {'; '.join(filter(None, details))}"


def _listed(counts: dict[str, int]) -> str:
    return f" ({named_counts(counts)})" if counts else ""
