"""Configured repositories appear among the partitions by themselves, so that the first index of one can be started in
the UI. Nothing is indexed: that is for people, the schedule and the commit sensor."""

from dagster import (
    DefaultSensorStatus,
    SensorDefinition,
    SensorEvaluationContext,
    SensorResult,
    SkipReason,
    sensor,
)

from rag_assets.defs.automation.git_heads import remember, survey_heads
from rag_assets.defs.automation.run_requests import partition_name
from rag_assets.defs.partitions import index_labels
from rag_assets.defs.resources import Workspace
from rag_assets.index.layout import index_label, path_slug
from rag_assets.settings import RepositorySettings

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
