"""Asset `descriptions`."""

from collections.abc import Iterator

from dagster import AssetExecutionContext, MaterializeResult, ResourceParam, asset

from rag_assets.defs.partitions import index_labels, one_run_for_all_labels
from rag_assets.defs.resources import Workspace
from rag_assets.defs.stage_asset import candidate, check_specs, materialize_labels
from rag_assets.pipeline.build import IndexBuild, StageReport
from rag_assets.pipeline.progress import Progress
from rag_assets.pipeline.refinement import refine_and_describe
from rag_assets.pipeline.versions import stage_version


@asset(
    partitions_def=index_labels,
    backfill_policy=one_run_for_all_labels,
    pool="llm",
    deps=["segments"],
    group_name="corpus",
    kinds={"python", "parquet"},
    code_version=stage_version("descriptions"),
    check_specs=check_specs("descriptions"),
    description="The kind of every segment with its evidence, and the facts that its description builder read from it.",
)
def descriptions(
    context: AssetExecutionContext, workspace: Workspace, progress: ResourceParam[Progress]
) -> Iterator[MaterializeResult[None]]:
    def work(label: str) -> tuple[IndexBuild, StageReport]:
        build = candidate(context, workspace, label)
        return build, refine_and_describe(build, progress)

    yield from materialize_labels(context, workspace, work)
