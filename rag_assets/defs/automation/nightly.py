"""Every label once a night, whatever the commit sensor has seen: also what it missed, and what failed at noon."""

from dagster import (
    RunRequest,
    ScheduleDefinition,
    ScheduleEvaluationContext,
    SkipReason,
    schedule,
)

from rag_assets.defs.automation.git_heads import HeadsPoll, remember, survey_heads
from rag_assets.defs.automation.sensors import run_request
from rag_assets.defs.observed_heads import new_observations
from rag_assets.defs.partitions import partition_name
from rag_assets.defs.resources import Workspace
from rag_assets.defs.scope import AssetScope

TRIGGER = "nightly"


def nightly_schedule(cron: str, timezone: str, scope: AssetScope) -> ScheduleDefinition:
    """The schedule `nightly`, stopped until somebody starts it."""

    @schedule(
        name="nightly",
        job_name="index",
        cron_schedule=cron,
        execution_timezone=timezone,
        description="Indexes every label of the configured repositories, one run each.",
    )
    def nightly(context: ScheduleEvaluationContext, workspace: Workspace) -> list[RunRequest] | SkipReason:
        settings, home = workspace.settings(), workspace.index_home()
        survey = survey_heads(settings, home)
        for problem in survey.problems():
            context.log.warning(problem)
        remember(home, survey.heads)
        requests = requests_of_a_night(scope, survey, context.scheduled_execution_time.isoformat())
        if not requests:
            return SkipReason("; ".join(survey.problems()) or "no repository is configured in rag_assets.yaml")
        context.instance.add_dynamic_partitions(
            partition_name(), [request.partition_key for request in requests if request.partition_key]
        )
        for seen in new_observations(context.instance, scope, survey.heads):
            context.instance.report_runless_asset_event(seen)
        return requests

    return nightly


def requests_of_a_night(scope: AssetScope, survey: HeadsPoll, night: str) -> list[RunRequest]:
    """One per label. A repository that does not answer now gets its runs too: their retries may reach it, and if not
    they fail, which somebody hears of."""
    commits = {label: "" for silent in survey.unanswered for label in silent.labels}
    commits |= {head.label: head.commit for head in survey.heads}
    return [
        run_request(scope, label, commit, run_key=f"{night}:{label}", trigger=TRIGGER)
        for label, commit in sorted(commits.items())
    ]
