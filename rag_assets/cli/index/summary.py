"""What a finished generation contains, as one object for programs and as tables for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from rag_assets.cli.console import Output, counted, named_counts, said_graph, seconds, short
from rag_assets.cli.quality import format_gate, gate_object, show_gate
from rag_assets.contracts.payload import NO_DOMAIN
from rag_assets.index.freshness import freshness_of, uncommitted
from rag_assets.index.generations import generation_directory, read_generation
from rag_assets.index.layout import IndexHome
from rag_assets.pipeline.build import StageReport, read_report
from rag_assets.pipeline.versions import STAGES

Result = dict[str, Any]
Status = Literal["indexed", "up-to-date", "set-aside"]  # the last: a person chose another generation to be served
_SHOWN_PROBLEMS = 10
_SHOWN_EXAMPLES = 3
_WARNS = "WARN"  # what Dagster calls a check that blocks nothing
_WARNINGS = "warnings by rule"  # the table of every stage that warns: a rule and how often
_REFINED = "REFINE."
_UNANSWERED = "LLM."
_CHECKS: Mapping[str, Callable[[Mapping[str, int]], str]] = {
    "kinds_are_recognised": lambda n: (
        f"{n.get('percent', 0)} % of {counted(n.get('csharp_segments', 0), 'C# type')} have no known role and are of "
        "the kind Other"
    ),
    "builders_succeeded": lambda n: f"{counted(n.get('failed', 0), 'description')} could not be made",
    "entities_have_repositories": lambda n: (
        f"{counted(n.get('gaps', 0), 'persisted entity', 'persisted entities')} without a repository, so the index "
        "does not tell how they are read and written"
    ),
    "sizes_are_as_before": lambda n: "the index has another size than the one that was served before",
    "every_file_has_an_outcome": lambda n: f"{counted(n.get('without_sections', 0), 'file')} without a section",
}
"""The checks that warn on sound repositories; others are shown by name."""

_RULES: Mapping[str, tuple[str, str, str]] = {
    # rule: (one of what, several of what, what follows or what to do)
    "DOMAIN.collision": ("domain key is declared twice", "domain keys are declared twice", "the first is used"),
    "DOMAIN.unknown": ("entity names a domain", "entities name a domain", "that is not declared in this repository"),
    "DOMAIN.unknown-key": ("domain has a key", "domains have a key", "that cannot be read from the source"),
    "RESX.ambiguous": ("text differs", "texts differ", "between resource files of one class; the first is used"),
    "RESX.missing-culture": ("text is not there", "texts are not there", "in a language; another language is used"),
    "RESX.missing-key": ("text is used", "texts are used", "that the resource file does not have; its key is shown"),
    "RESX.not-text": ("resource is used as a text", "resources are used as texts", "but no text; its key is shown"),
    "RESX.repeated-key": ("key is more than once", "keys are more than once", "in a resource file; the first is used"),
    "RESX.unknown-class": ("text is used", "texts are used", "of a class without a resource file; its key is shown"),
    "RESX.wrong-class": ("text names one class", "texts name one class", "of resources and a key of another"),
    "endpoints.unparsed": ("controller", "controllers", "whose endpoints could not be read: they are not described"),
}
"""What the warnings of a build mean that anybody can act on."""


def stage_reports(directory: Path) -> dict[str, StageReport]:
    """What the stages of a generation recorded, as far as it was built. Raises BuildError for a damaged record."""
    records = {stage: read_report(directory, stage) for stage in STAGES}
    return {stage: record for stage, record in records.items() if record is not None}


def skipped_by_reason(reports: dict[str, StageReport]) -> dict[str, int]:
    """Reason → files that were left out, those that could not be parsed too."""
    found: Counter[str] = Counter()
    if "discovered_files" in reports:
        rows = reports["discovered_files"].tables.get("skipped by reason", [])
        found.update({row["reason"]: row["files"] for row in rows})
    if "segments" in reports:
        found.update(file.reason.value for file in reports["segments"].refused)
    return dict(found)


def summarize(
    home: IndexHome,
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
        "changed_files": freshness_of(home, manifest).changed_files,
        "generation": generation_id,
        "ref": manifest.ref,
        "commit": manifest.commit_sha,
        "run_id": manifest.run_id,
        "embedding_model": manifest.embedding_model,
        "lexical_only": manifest.lexical_only,
        "without_known_words": counts.get("embeddings", {}).get("without_known_words", 0),  # not of a rebuilt one
        "files": {
            "indexed": manifest.counts["files"],
            "skipped": manifest.counts["skipped_files"],
            "skipped_by_reason": skipped_by_reason(reports),
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
    """Shows a short table. A run that did not finish has reported that on stderr."""
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
        ("quality", format_gate(result["quality"])),
        ("secrets masked", str(files["redacted_secrets"] or "")),
        ("model", _said_model(result)),
        ("seconds", named_counts({stage: f"{spent:.2f}" for stage, spent in result["seconds_by_stage"].items()})),
        ("generation", result["generation"]),
        ("run", result["run_id"]),
    ]
    verb = "indexed" if result["status"] == "indexed" else "up to date"
    left = uncommitted(result["changed_files"])
    output.line(
        (result["label"], "path"),
        f" {verb} at {short(result['commit'])} in {seconds(result['seconds'])}",
        (left, "warn"),
    )
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


def _said_model(result: Result) -> str:
    if result["lexical_only"]:
        return "none: keyword search only"
    unknown = result["without_known_words"]
    said = f"; knows no word of {counted(unknown, 'section')}, found by keywords only" if unknown else ""
    return f"{result['embedding_model']}{said}"


def check_remark(check: Mapping[str, Any]) -> str:
    """One line for a check that warns: what it found, and its first examples."""
    words = _CHECKS.get(check["name"])
    said = f"{check['name']}: {named_counts(check['numbers'])}" if words is None else words(check["numbers"])
    return "; ".join([said.removesuffix(": "), *_examples(check)])


def rule_remarks(warnings: Mapping[str, int], points: int) -> Iterator[str]:
    """A line for each rule that warned."""
    for rule, count in warnings.items():
        if rule == NO_DOMAIN:
            yield f"{count:,} of {points:,} sections are of no domain; widen the paths or namespaces of domains"
        elif rule in _RULES:
            one, several, rest = _RULES[rule]
            yield f"{counted(count, one, several)} {rest} ({rule})"
        elif rule.startswith(_REFINED):
            yield f"{counted(count, 'summary', 'summaries')} of the model not used, the derived one is kept ({rule})"
        elif rule.startswith(_UNANSWERED):
            yield f"{counted(count, 'summary', 'summaries')} not written by the model ({rule})"
        else:
            yield f"{counted(count, 'warning')} of {rule}"


def _problems(reports: dict[str, StageReport], status: Status) -> list[str]:
    """The problems of the stages in their order; those of activation only for the run that activated."""
    return [
        problem
        for stage, report in reports.items()
        if stage != "active_index" or status == "indexed"
        for problem in report.all_problems
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
    details = [named_counts(check["numbers"]), *_examples(check)]
    return f"{check['name']} of {check['asset']}: {'; '.join(filter(None, details))}"


def _examples(check: Mapping[str, Any]) -> list[str]:
    """The first examples of a check, each on one line, and how many more there are."""
    examples = [" ".join(text.split()) for text in check["examples"]]
    more = [f"and {len(examples) - _SHOWN_EXAMPLES} more"] if len(examples) > _SHOWN_EXAMPLES else []
    return [*examples[:_SHOWN_EXAMPLES], *more]


def _listed(counts: dict[str, int]) -> str:
    return f" ({named_counts(counts)})" if counts else ""
