"""The sensors: a partition for every configured repository, and a run for every new head of every label.

The cursor holds, per label, the head that the newest run of the label is for: it is evidence, not a promise. A head
is asked for again at each tick until a run for it exists (the run key keeps that from becoming two runs). So a tick
that dies half way, a launch that fails and a cursor that somebody resets lose nothing. While a run of a label is
under way the next head waits for it: ten commits in an hour are one or two runs, not ten.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from dagster import (
    DagsterInstance,
    DagsterRunStatus,
    DefaultSensorStatus,
    RunRequest,
    RunsFilter,
    SensorDefinition,
    SensorEvaluationContext,
    SensorResult,
    SkipReason,
    sensor,
)

from rag_assets.defs.automation.git_heads import HeadsPoll, LabelHead, remember, survey_heads
from rag_assets.defs.observed_heads import new_observations
from rag_assets.defs.partitions import COMMIT_TAG, LABEL_TAG, TRIGGER_TAG, index_labels, partition_name
from rag_assets.defs.resources import Workspace
from rag_assets.defs.scope import AssetScope
from rag_assets.index.layout import index_label, path_slug
from rag_assets.pipeline.build import label_holder
from rag_assets.settings import RepositorySettings

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


def run_request(
    scope: AssetScope, label: str, commit: str, *, run_key: str, trigger: str, is_head: bool = False
) -> RunRequest:
    """One run of the job `index` for a label, at exactly `commit`, or at the head where that is not known; `is_head` as
    in `DiscoveryConfig`."""
    discovery = {"commit": commit} | ({"is_head": True} if is_head else {})
    config: dict[str, Any] = {"ops": {scope.op("discovered_files"): {"config": discovery}}} if commit else {}
    tags = {LABEL_TAG: label, TRIGGER_TAG: trigger} | ({COMMIT_TAG: commit} if commit else {})
    partition = label if scope.partitions is not None else None
    return RunRequest(run_key=run_key, partition_key=partition, run_config=config, tags=tags)


def in_flight(instance: DagsterInstance) -> Callable[[str], bool]:
    """Says of a label whether a run works on it, or is going to. A backfill counts for every label: its runs may not
    exist yet, and a run of several labels names only the first and the last."""
    runs = instance.get_runs(RunsFilter(statuses=list(IN_FLIGHT)))
    everything = any(_RANGE_TAG in run.tags for run in runs) or any(
        backfill.status.name in _UNFINISHED_BACKFILLS for backfill in instance.get_backfills(limit=_NEWEST)
    )
    labels = {run.tags.get(tag) for run in runs for tag in (LABEL_TAG, _PARTITION_TAG)}
    return lambda label: everything or label in labels


NOTHING_CONFIGURED = "no repository is configured; run `rag-assets init`, then name one in rag_assets.yaml"


def label_sensor(poll_seconds: int) -> SensorDefinition:
    """The sensor `labels`. It runs from the start, because it starts nothing itself, and asks only those repositories
    that have no label yet."""

    @sensor(
        name="labels",
        minimum_interval_seconds=poll_seconds,
        default_status=DefaultSensorStatus.RUNNING,
        description="Adds the label of every configured repository to the partitions; indexes nothing.",
    )
    def labels(context: SensorEvaluationContext, workspace: Workspace) -> SensorResult | SkipReason:
        settings, home = workspace.settings(), workspace.index_home()
        if not settings.repositories:
            return SkipReason(NOTHING_CONFIGURED)
        partitions = set(context.instance.get_dynamic_partitions(partition_name()))
        without = tuple(entry for entry in settings.repositories if not _has_label(entry, partitions))
        if not without:
            return SkipReason("every configured repository has its label")
        survey = survey_heads(settings.model_copy(update={"repositories": without}), home)
        remember(home, survey.heads)
        # A repository that does not answer now is offered too where its label is known: its run says what is wrong.
        found = {head.label for head in survey.heads} | {name for s in survey.unanswered for name in s.labels}
        new = sorted(found - partitions)
        for problem in survey.problems():
            context.log.warning(problem)
        said = "; ".join([*(f"{label} can be materialized now" for label in new), *survey.problems()])
        return SensorResult(
            skip_reason=SkipReason(said),
            dynamic_partitions_requests=[index_labels.build_add_request(new)] if new else [],
        )

    return labels


def _has_label(repository: RepositorySettings, partitions: set[str]) -> bool:
    if repository.ref is not None:
        return index_label(repository.id, repository.ref) in partitions
    return any(label.rpartition("@")[0] == path_slug(repository.id) for label in partitions)


TRIGGER = "commit"
_SHOWN_DIGITS = 8  # of a run id in a run key: enough to tell the runs of one label apart


@dataclass(frozen=True, slots=True)
class NewestRun:
    """The last run of a label that says which commit it is for."""

    run_id: str
    commit: str
    under_way: bool


@dataclass(frozen=True, slots=True)
class Cursor:
    """What a tick leaves for the next: verified heads, and the repositories that did not answer."""

    heads: dict[str, str]
    silent: tuple[str, ...] = ()

    def after(self, survey: HeadsPoll, heads: Mapping[str, str]) -> Self:
        """That of the next tick, with what was known of those that did not answer."""
        kept = {label: self.heads[label] for s in survey.unanswered for label in s.labels if label in self.heads}
        return type(self)(kept | {**heads}, tuple(sorted({entry.repository_id for entry in survey.unanswered})))

    def text(self) -> str:
        return json.dumps({"heads": self.heads, "silent": self.silent}, sort_keys=True)


@dataclass(frozen=True, slots=True)
class WantedRun:
    """A run that is due."""

    label: str
    commit: str
    run_key: str


def commit_sensor(poll_seconds: int, scope: AssetScope) -> SensorDefinition:
    """The sensor `commits`, stopped until somebody starts it."""

    @sensor(
        name="commits",
        job_name="index",
        minimum_interval_seconds=poll_seconds,
        default_status=DefaultSensorStatus.STOPPED,
        description="Asks the configured repositories for their heads and indexes what is new.",
    )
    def commits(context: SensorEvaluationContext, workspace: Workspace) -> SensorResult:
        settings, home = workspace.settings(), workspace.index_home()
        before = read_cursor(context.cursor)
        survey = survey_heads(settings, home, ask_last=frozenset(before.silent))
        heads = tuple(head for head in survey.heads if head.commit)  # directories and archives are for the night
        remember(home, heads)
        wanted, verified = react(heads, before.heads, lambda label: newest_run(context.instance, label))
        partitions = set(context.instance.get_dynamic_partitions(partition_name()))
        new = sorted({run.label for run in wanted} - partitions)
        busy = in_flight(context.instance)
        gone = [
            entry.label
            for entry in survey.gone
            if entry.label in partitions and not busy(entry.label) and label_holder(home, entry.label) is None
        ]
        said = survey.problems() + [_removed(label) for label in gone]
        for line in said:
            context.log.warning(line)
        return SensorResult(
            run_requests=[
                run_request(scope, run.label, run.commit, run_key=run.run_key, trigger=TRIGGER) for run in wanted
            ],
            skip_reason=None if wanted else SkipReason("; ".join(said) or f"no new commit in {len(heads)} labels"),
            cursor=before.after(survey, verified).text(),
            asset_events=new_observations(context.instance, scope, heads, before.heads),
            dynamic_partitions_requests=[
                *([index_labels.build_add_request(new)] if new else []),
                *([index_labels.build_delete_request(gone)] if gone else []),
            ],
        )

    return commits


def head_sensor(poll_seconds: int, scope: AssetScope) -> SensorDefinition:
    """The sensor `heads`, stopped until somebody starts it: it starts no run."""

    @sensor(
        name="heads",
        minimum_interval_seconds=poll_seconds,
        default_status=DefaultSensorStatus.STOPPED,
        description="Observes the heads of the configured repositories, for changed_inputs to react to; starts no run.",
    )
    def heads(context: SensorEvaluationContext, workspace: Workspace) -> SensorResult:
        settings, home = workspace.settings(), workspace.index_home()
        before = read_cursor(context.cursor)
        survey = survey_heads(settings, home, ask_last=frozenset(before.silent))
        partitions = set(context.instance.get_dynamic_partitions(partition_name()))
        found = [head for head in survey.heads if head.commit and head.label in partitions]
        seen = new_observations(context.instance, scope, found, before.heads)
        for problem in survey.problems():
            context.log.warning(problem)
        said = [f"{event.partition} is at {event.metadata['commit'].value}" for event in seen] + survey.problems()
        return SensorResult(
            skip_reason=SkipReason("; ".join(said) or f"no new commit in {len(found)} labels"),
            cursor=before.after(survey, {head.label: head.commit for head in found}).text(),
            asset_events=seen,
        )

    return heads


def react(
    heads: tuple[LabelHead, ...], verified: Mapping[str, str], newest: Callable[[str], NewestRun | None]
) -> tuple[list[WantedRun], dict[str, str]]:
    """The runs that are due, and the heads that have theirs.

    A label that is due leaves the second, so that nothing but a run brings its head in there, not even the branch
    going back to where it was. The run key names the run before: a head that comes back after another one is due again.
    """
    due: list[WantedRun] = []
    seen: dict[str, str] = {}
    for head in heads:
        if verified.get(head.label) == head.commit:
            seen[head.label] = head.commit
            continue
        last = newest(head.label)
        if last is not None and last.commit == head.commit:
            seen[head.label] = head.commit
        elif last is None or not last.under_way:
            after = last.run_id[:_SHOWN_DIGITS] if last else "none"
            due.append(WantedRun(head.label, head.commit, f"{head.label}:{head.commit}:after-{after}"))
    return due, seen


def newest_run(instance: DagsterInstance, label: str) -> NewestRun | None:
    """The newest run of a label, whoever started it."""
    runs = instance.get_runs(RunsFilter(tags={LABEL_TAG: label}), limit=1)
    if not runs:
        return None
    return NewestRun(runs[0].run_id, runs[0].tags.get(COMMIT_TAG, ""), runs[0].status in IN_FLIGHT)


def read_cursor(text: str | None) -> Cursor:
    """What a former tick left; a cursor that somebody damaged or reset is an empty one, and costs one look at the runs
    of each label."""
    try:
        found = json.loads(text or "{}")
        heads = {str(label): str(commit) for label, commit in found.get("heads", {}).items()}
        return Cursor(heads, tuple(str(name) for name in found.get("silent", ())))
    except (json.JSONDecodeError, AttributeError, TypeError):
        return Cursor({})


def _removed(label: str) -> str:
    return f"{label} is not indexed any more; what it served stays searchable until: rag-assets reset {label}"
