"""Asset `discovered_files`."""

from collections.abc import Iterator
from dataclasses import replace

from dagster import AssetExecutionContext, Config, MaterializeResult, ResourceParam, asset
from pydantic import Field

from rag_assets.defs.partitions import index_labels, one_run_for_all_labels
from rag_assets.defs.resources import Workspace
from rag_assets.defs.stage_asset import check_specs, materialize_labels
from rag_assets.pipeline.build import IndexBuild, StageReport
from rag_assets.pipeline.discovered_files import discover_files
from rag_assets.pipeline.labels import repository_of
from rag_assets.pipeline.progress import Progress
from rag_assets.pipeline.publish import begin_from_remote
from rag_assets.pipeline.versions import stage_version


class DiscoveryConfig(Config):
    """Which commit to index."""

    commit: str = Field(
        default="", description="full id of the commit; empty: the head of the label's ref, which a backfill wants"
    )
    force: bool = Field(default=False, description="build it anew from the sources, taking nothing from earlier builds")


@asset(
    partitions_def=index_labels,
    backfill_policy=one_run_for_all_labels,
    group_name="corpus",
    kinds={"git", "parquet"},
    code_version=stage_version("discovered_files"),
    check_specs=check_specs("discovered_files"),
    description=(
        "The files of one commit, decoded and with secrets masked; every file that is not indexed with its reason."
    ),
)
def discovered_files(
    context: AssetExecutionContext, config: DiscoveryConfig, workspace: Workspace, progress: ResourceParam[Progress]
) -> Iterator[MaterializeResult[None]]:
    def work(label: str) -> tuple[IndexBuild, StageReport]:
        settings, home = workspace.settings(), workspace.index_home()
        problems = begin_from_remote(home, settings, label)
        build, report = discover_files(
            home,
            settings,
            label,
            repository_of(home, settings, label),
            progress,
            commit=config.commit or None,
            run_id=context.run.run_id,
            force=config.force,
        )
        return build, replace(report, problems=[*problems, *report.problems])

    yield from materialize_labels(context, workspace, work)
