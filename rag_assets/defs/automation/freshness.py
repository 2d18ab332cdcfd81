"""Has every label had a successful run lately? Dagster's own freshness is per asset: one fresh label hides nine stale.

"Lately" is `automation.stale_after_hours` since the last materialization of `active_index` for the label: a run that
finds nothing new counts, for it has looked.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from dagster import (
    AssetCheckExecutionContext,
    AssetCheckResult,
    AssetCheckSeverity,
    AssetKey,
    AssetRecordsFilter,
    AssetSelection,
    DagsterInstance,
    Definitions,
    ScheduleDefinition,
    asset_check,
    define_asset_job,
)

from rag_assets.defs.partitions import partition_name
from rag_assets.defs.resources import Workspace
from rag_assets.defs.scope import AssetScope
from rag_assets.defs.stage_metadata import table
from rag_assets.index.layout import path_slug
from rag_assets.settings import Settings

_ASSET = "active_index"
_SECONDS_PER_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class LabelAge:
    """Hours since the last successful run of a label; None: there was none yet."""

    label: str
    hours: float | None

    def is_stale(self, limit: float) -> bool:
        """A label that was never indexed serves nothing that could be old."""
        return self.hours is not None and self.hours > limit


def freshness_definitions(scope: AssetScope) -> Definitions:
    """The check `index_is_fresh`, its job and its schedule."""
    key = scope.key(_ASSET)

    @asset_check(
        asset=key,
        description="Every indexed label was indexed anew, or found up to date, within automation.stale_after_hours.",
    )
    def index_is_fresh(context: AssetCheckExecutionContext, workspace: Workspace) -> AssetCheckResult:
        return freshness_of(workspace.settings(), last_successes(context.instance, key))

    job = define_asset_job(
        "check_freshness",
        selection=AssetSelection.checks(index_is_fresh),
        description="Says which labels had no successful run for too long.",
    )
    hourly = ScheduleDefinition(
        name="hourly_freshness",
        job=job,
        cron_schedule="15 * * * *",  # not at the full hour, when nightly runs start
        description="Evaluates the check index_is_fresh.",
    )
    return Definitions(asset_checks=[index_is_fresh], jobs=[job], schedules=[hourly])


def freshness_of(settings: Settings, last: Mapping[str, float | None]) -> AssetCheckResult:
    """The verdict on labels of which `last` has the time of the newest success."""
    limit = settings.automation.stale_after_hours
    found = ages(last, (repository.id for repository in settings.repositories), datetime.now(UTC).timestamp())
    stale = [age.label for age in found if age.is_stale(limit)]
    never = [age.label for age in found if age.hours is None]
    fresh = len(found) - len(stale) - len(never)
    metadata: dict[str, Any] = {
        "labels": len(found),
        "stale": len(stale),
        "never indexed": len(never),
        "limit in hours": limit,
    }
    said = [f"stale: {', '.join(stale)}" if stale else f"{fresh} {'label is' if fresh == 1 else 'labels are'} fresh"]
    if never:
        said.append(f"never indexed: {', '.join(never)}")
    if found:
        metadata["age"] = table([_row(age, limit) for age in found])
    return AssetCheckResult(
        passed=not stale,
        severity=AssetCheckSeverity.WARN,
        description="; ".join(said),
        metadata=metadata,
    )


def last_successes(instance: DagsterInstance, key: AssetKey) -> dict[str, float | None]:
    """Label → when its index was last confirmed, as seconds since 1970."""
    found: dict[str, float | None] = {}
    for label in sorted(instance.get_dynamic_partitions(partition_name())):
        of_label = AssetRecordsFilter(asset_key=key, asset_partitions=[label])
        records = instance.fetch_materializations(of_label, limit=1).records
        found[label] = records[0].timestamp if records else None
    return found


def ages(last: Mapping[str, float | None], repository_ids: Iterable[str], now: float) -> list[LabelAge]:
    """The oldest first; a configured repository without any label counts as one that was never indexed."""
    found = [LabelAge(label, None if at is None else (now - at) / _SECONDS_PER_HOUR) for label, at in last.items()]
    served = {label.rpartition("@")[0] for label in last}
    found += [LabelAge(name, None) for name in repository_ids if path_slug(name) not in served]
    return sorted(found, key=lambda age: (age.hours is not None, -(age.hours or 0.0), age.label))


def _row(age: LabelAge, limit: float) -> dict[str, Any]:
    if age.hours is None:
        return {"label": age.label, "hours": None, "state": "never indexed"}
    return {"label": age.label, "hours": round(age.hours, 1), "state": "stale" if age.is_stale(limit) else "fresh"}
