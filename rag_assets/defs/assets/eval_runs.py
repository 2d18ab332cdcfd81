"""Asset `eval_runs`."""

from collections.abc import Iterator

from dagster import AssetExecutionContext, MaterializeResult, ResourceParam, asset

from rag_assets.defs.partitions import index_labels, one_run_for_all_labels
from rag_assets.defs.resources import Workspace
from rag_assets.defs.stage_asset import candidate, check_specs, materialize_labels
from rag_assets.stages.build import IndexBuild, StageReport
from rag_assets.stages.eval_runs import evaluate
from rag_assets.stages.progress import Progress
from rag_assets.stages.versions import stage_version


@asset(
    partitions_def=index_labels,
    backfill_policy=one_run_for_all_labels,
    deps=["qdrant_points", "code_graph"],  # a build that is refused is finished here, so it must be whole
    group_name="index",
    kinds={"python"},
    code_version=stage_version("eval_runs"),
    check_specs=check_specs("eval_runs"),
    description="The questions of the repository, asked of the new build and of the served one; the promotion gate.",
)
def eval_runs(
    context: AssetExecutionContext, workspace: Workspace, progress: ResourceParam[Progress]
) -> Iterator[MaterializeResult[None]]:
    def work(label: str) -> tuple[IndexBuild, StageReport]:
        build = candidate(context, workspace, label)
        return build, evaluate(build, progress, context.run.run_id)

    yield from materialize_labels(context, workspace, work)
