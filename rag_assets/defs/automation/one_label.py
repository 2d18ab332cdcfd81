"""The schedule and the sensor of a component, which have one label and no partitions."""

from __future__ import annotations

from dagster import (
    DefaultSensorStatus,
    ScheduleDefinition,
    SensorDefinition,
    SensorEvaluationContext,
    SensorResult,
    SkipReason,
    sensor,
)

from rag_assets.defs.automation.git_heads import survey_heads
from rag_assets.defs.automation.nightly import TRIGGER as NIGHTLY
from rag_assets.defs.automation.sensors import TRIGGER, Cursor, newest_run, react, read_cursor, run_request
from rag_assets.defs.observed_heads import new_observations
from rag_assets.defs.partitions import TRIGGER_TAG
from rag_assets.defs.resources import SettingsSource
from rag_assets.defs.scope import AssetScope
from rag_assets.settings import AutomationSettings


def nightly_of(scope: AssetScope, times: AutomationSettings) -> ScheduleDefinition:
    """The schedule `nightly`, stopped until somebody starts it."""
    return ScheduleDefinition(
        name=scope.named("nightly"),
        job_name=scope.named("index"),
        cron_schedule=times.cron,
        execution_timezone=times.timezone,
        tags={TRIGGER_TAG: NIGHTLY},
        description=f"Indexes the repository of {scope.component}.",
    )


def commits_of(scope: AssetScope, source: SettingsSource, times: AutomationSettings) -> SensorDefinition:
    """The sensor `commits`, stopped until somebody starts it."""

    @sensor(
        name=scope.named("commits"),
        job_name=scope.named("index"),
        minimum_interval_seconds=times.poll_seconds,
        default_status=DefaultSensorStatus.STOPPED,
        description=f"Asks the repository of {scope.component} for its head and indexes it where it is new.",
    )
    def commits(context: SensorEvaluationContext) -> SensorResult:
        survey = survey_heads(source.settings())
        heads = tuple(head for head in survey.heads if head.commit)
        before = read_cursor(context.cursor).heads
        due, verified = react(heads, before, lambda label: newest_run(context.instance, label))
        for problem in survey.problems():
            context.log.warning(problem)
        said = survey.problems() or [f"no new commit of {head.label}" for head in heads] or [_NO_COMMITS]
        return SensorResult(
            run_requests=[
                run_request(scope, run.label, run.commit, run_key=run.run_key, trigger=TRIGGER, is_head=True)
                for run in due
            ],
            skip_reason=None if due else SkipReason("; ".join(said)),
            cursor=Cursor(before if survey.unanswered else verified).text(),
            asset_events=new_observations(context.instance, scope, heads, before),
        )

    return commits


_NO_COMMITS = "a folder or an archive has no commits; the schedule indexes it"
