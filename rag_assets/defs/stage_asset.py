"""What every stage asset shares: labels, locks, data versions and metadata a person can read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from dagster import (
    AssetCheckResult,
    AssetCheckSeverity,
    AssetCheckSpec,
    AssetExecutionContext,
    DataVersion,
    Failure,
    MaterializeResult,
    MetadataValue,
)

from rag_assets.contracts.errors import ExpectedError
from rag_assets.defs.resources import Workspace
from rag_assets.stages.build import IndexBuild, StageReport, candidate_build, label_lock
from rag_assets.stages.checks import CHECKS, CheckResult
from rag_assets.stores.cache import cache_key

Work = Callable[[str], tuple[IndexBuild, StageReport]]

LOCK_WAIT_SECONDS = 10.0  # steps of one run follow each other at once; longer means another run has the label
_SHOWN_ROWS = 50  # rows of a table in the metadata; the Parquet tables have them all
_DISCOVERY = "discovered_files"


def check_specs(asset: str) -> list[AssetCheckSpec]:
    """The checks that run with the materialization of `asset`."""
    return [
        AssetCheckSpec(name=name, asset=asset, blocking=blocking, description=(check.__doc__ or "").strip())
        for name, (owner, blocking, check) in CHECKS.items()
        if owner == asset
    ]


def materialize_labels(
    context: AssetExecutionContext, workspace: Workspace, work: Work
) -> Iterator[MaterializeResult[None]]:
    """Runs `work` for every label of the run and reports them as one materialization.

    A label that fails does not keep the others from this stage; the step then fails and names all that did, so the
    next run takes up the others where they are. None of the expected errors is healed by a retry.
    """
    home = workspace.index_home()
    reports: dict[str, StageReport] = {}
    builds: dict[str, IndexBuild] = {}
    failures: dict[str, Exception] = {}
    for label in context.partition_keys:
        try:
            with label_lock(home, label, wait_seconds=LOCK_WAIT_SECONDS):
                builds[label], reports[label] = work(label)
        except ExpectedError as error:
            failures[label] = error
    if failures:
        text = "\n".join(f"{label}: {error}" for label, error in failures.items())
        raise Failure(description=text, allow_retries=False) from next(iter(failures.values()))
    stage = next(iter(reports.values())).stage
    yield MaterializeResult(
        metadata=_metadata(builds, reports),
        data_version=DataVersion(_data_version(reports)),
        check_results=list(_checks(stage, builds)),
    )


def candidate(context: AssetExecutionContext, workspace: Workspace, label: str) -> IndexBuild:
    """The build that this run works on; one that another run started only if this run did not start its own."""
    selected = {key.path[-1] for key in context.job_def.asset_layer.executable_asset_keys}
    own = context.run.run_id if _DISCOVERY in selected and _is_selected(context) else None
    return candidate_build(workspace.index_home(), workspace.settings(), label, of_run=own)


def _is_selected(context: AssetExecutionContext) -> bool:
    chosen = context.run.asset_selection
    return chosen is None or any(key.path[-1] == _DISCOVERY for key in chosen)


def _data_version(reports: dict[str, StageReport]) -> str:
    if len(reports) == 1:
        return next(iter(reports.values())).output
    return cache_key(*(f"{label}={report.output}" for label, report in sorted(reports.items()))).hex()


def _metadata(builds: dict[str, IndexBuild], reports: dict[str, StageReport]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for label, report in reports.items():
        prefix = f"{label}/" if len(reports) > 1 else ""
        spec = builds[label].spec
        found[f"{prefix}generation"] = spec.generation_id
        found[f"{prefix}commit"] = spec.git.commit_sha
        found[f"{prefix}unchanged"] = report.unchanged
        for name, count in (report.counts | report.work).items():
            found[f"{prefix}{name}"] = count
        for name, rows in report.tables.items():
            if rows:
                found[f"{prefix}{name}"] = MetadataValue.md(markdown_table(rows))
        if report.problems:
            listed = "\n".join(f"- {problem}" for problem in report.problems[:_SHOWN_ROWS])
            found[f"{prefix}problems"] = MetadataValue.md(listed)
    return found


def markdown_table(rows: list[dict[str, Any]]) -> str:
    """A markdown table of the first rows, and how many more there are."""
    names = list(rows[0])
    lines = ["| " + " | ".join(names) + " |", "|" + " --- |" * len(names)]
    for row in rows[:_SHOWN_ROWS]:
        cells = [str(row.get(name, "")).replace("|", "\\|").replace("\n", " ") for name in names]
        lines.append("| " + " | ".join(cells) + " |")
    if len(rows) > _SHOWN_ROWS:
        lines.append(f"\n… and {len(rows) - _SHOWN_ROWS} more")
    return "\n".join(lines)


def _checks(stage: str, builds: dict[str, IndexBuild]) -> Iterator[AssetCheckResult]:
    for name, (owner, blocking, check) in CHECKS.items():
        if owner != stage:
            continue
        results: dict[str, CheckResult] = {label: check(build) for label, build in builds.items()}
        metadata: dict[str, Any] = {}
        for label, result in results.items():
            prefix = f"{label}/" if len(results) > 1 else ""
            metadata |= {f"{prefix}{key}": value for key, value in result.numbers.items()}
            if result.examples:
                metadata[f"{prefix}examples"] = MetadataValue.md("\n".join(f"- {text}" for text in result.examples))
        yield AssetCheckResult(
            check_name=name,
            passed=all(result.passed for result in results.values()),
            severity=AssetCheckSeverity.ERROR if blocking else AssetCheckSeverity.WARN,
            metadata=metadata,
        )
