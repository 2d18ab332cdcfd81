"""What schedules and sensors ask Dagster for, and what is under way already."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dagster import DagsterInstance, DagsterRunStatus, RunRequest, RunsFilter

from rag_assets.defs.partitions import COMMIT_TAG, LABEL_TAG, TRIGGER_TAG, index_labels

IN_FLIGHT = (
    DagsterRunStatus.QUEUED,
    DagsterRunStatus.NOT_STARTED,
    DagsterRunStatus.STARTING,
    DagsterRunStatus.STARTED,
    DagsterRunStatus.CANCELING,
)
_PARTITION_TAG = "dagster/partition"
_RANGE_TAG = "dagster/asset_partition_range_start"
_UNFINISHED_BACKFILLS = {"REQUESTED", "CANCELING", "FAILING"}
_NEWEST = 100  # backfills: an older one that has not ended never will


def run_request(label: str, commit: str, *, run_key: str, trigger: str) -> RunRequest:
    """One run of the job `index` for a label, at exactly `commit`, or at the head where that is not known."""
    config: dict[str, Any] = {"ops": {"discovered_files": {"config": {"commit": commit}}}} if commit else {}
    tags = {LABEL_TAG: label, TRIGGER_TAG: trigger} | ({COMMIT_TAG: commit} if commit else {})
    return RunRequest(run_key=run_key, partition_key=label, run_config=config, tags=tags)


def partition_name() -> str:
    assert index_labels.name is not None
    return index_labels.name


def in_flight(instance: DagsterInstance) -> Callable[[str], bool]:
    """Says of a label whether a run works on it, or is going to. A backfill counts for every label: its runs may not
    exist yet, and a run of several labels names only the first and the last."""
    runs = instance.get_runs(RunsFilter(statuses=list(IN_FLIGHT)))
    everything = any(_RANGE_TAG in run.tags for run in runs) or any(
        backfill.status.name in _UNFINISHED_BACKFILLS for backfill in instance.get_backfills(limit=_NEWEST)
    )
    labels = {run.tags.get(tag) for run in runs for tag in (LABEL_TAG, _PARTITION_TAG)}
    return lambda label: everything or label in labels
