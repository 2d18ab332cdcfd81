"""Runs of several labels (backfills): a label that fails drops out, the others go on, the run fails at its end.

Dagster knows one outcome per step. So a step of such a run succeeds for the labels that got through, and notes the
others as observations of their asset ("failed: …", to be seen in the UI at that asset and label). The steps after
it leave those out, and the last ones fail, naming every label, the stage it failed at, and why.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dagster import AssetExecutionContext, AssetKey, AssetMaterialization, AssetObservation, DagsterEventType, Failure

OWN_EVENTS = {"__source_asset_observation__": True}
"""Metadata of a result whose materializations were logged one by one. Dagster logs none for an output that has it; else
it would report the labels that failed as materialized too, as it has one event for all of a step."""

_FAILED = "failed"
_MOST_TEXT = 2_000  # characters of an error kept in the event log


@dataclass(frozen=True, slots=True)
class LabelFailure:
    """A label that dropped out of a run."""

    label: str
    stage: str
    reason: str

    def __str__(self) -> str:
        reason = self.reason if self.label in self.reason else f"{self.label}: {self.reason}"
        return f"{reason} (stage {self.stage})"


def failed_so_far(context: AssetExecutionContext) -> list[LabelFailure]:
    """The labels that dropped out at earlier steps of this run."""
    found = []
    noted_here = context.instance.get_records_for_run(context.run.run_id, of_type=DagsterEventType.ASSET_OBSERVATION)
    for record in noted_here.records:
        event = record.event_log_entry.dagster_event
        if event is None:
            continue
        noted = event.asset_observation_data.asset_observation
        if _FAILED in noted.metadata and noted.partition is not None:
            found.append(LabelFailure(noted.partition, noted.asset_key.path[-1], str(noted.metadata[_FAILED].value)))
    return found


def note_failures(context: AssetExecutionContext, failures: list[LabelFailure]) -> None:
    """For the steps after this one, and for whoever looks at the asset."""
    for failure in failures:
        text = failure.reason[:_MOST_TEXT]
        context.log_event(
            AssetObservation(asset_key=AssetKey(failure.stage), partition=failure.label, metadata={_FAILED: text})
        )


def note_materialization(
    context: AssetExecutionContext, stage: str, label: str, version: str, metadata: dict[str, Any]
) -> None:
    """One label is done with a stage: its own event, with its own data version."""
    code_version = context.assets_def.code_versions_by_key.get(AssetKey(stage))
    tags = {"dagster/data_version": version, "dagster/data_version_is_user_provided": "true"}
    if code_version is not None:
        tags["dagster/code_version"] = code_version
    context.log_event(AssetMaterialization(asset_key=AssetKey(stage), partition=label, metadata=metadata, tags=tags))


def is_last_step(context: AssetExecutionContext) -> bool:
    """True where no step of this run comes after this one."""
    layer = context.job_def.asset_layer
    in_this_run = context.run.asset_selection or layer.executable_asset_keys
    return not (layer.asset_graph.get(context.asset_key).child_keys & in_this_run)


def failure_of(failures: list[LabelFailure]) -> Failure:
    """How the run ends: every label that failed, and why. A retry of this step would not bring them back."""
    return Failure(description="\n".join(map(str, failures)), allow_retries=False)
