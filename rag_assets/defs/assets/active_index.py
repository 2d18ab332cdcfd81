"""Asset `active_index`."""

from collections.abc import Iterator

from dagster import AssetExecutionContext, MaterializeResult, ResourceParam, asset

from rag_assets.defs.partitions import index_labels, one_run_for_all_labels
from rag_assets.defs.resources import Workspace
from rag_assets.defs.stage_asset import candidate, check_specs, materialize_labels
from rag_assets.pipeline.active_index import activate
from rag_assets.pipeline.build import IndexBuild, StageReport
from rag_assets.pipeline.progress import Progress
from rag_assets.pipeline.versions import stage_version


@asset(
    partitions_def=index_labels,
    backfill_policy=one_run_for_all_labels,
    deps=["eval_runs"],
    group_name="index",
    kinds={"python"},
    code_version=stage_version("active_index"),
    check_specs=check_specs("active_index"),
    description="The pointer to the generation that is served; moves only when all blocking checks and the gate hold.",
)
def active_index(
    context: AssetExecutionContext, workspace: Workspace, progress: ResourceParam[Progress]
) -> Iterator[MaterializeResult[None]]:
    def work(label: str) -> tuple[IndexBuild, StageReport]:
        build = candidate(context, workspace, label)
        return build, activate(build, context.run.run_id)

    yield from materialize_labels(context, workspace, work)
