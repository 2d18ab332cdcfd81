"""Asset `segments`."""

from collections.abc import Iterator

from dagster import AssetExecutionContext, MaterializeResult, ResourceParam, asset

from rag_assets.defs.partitions import index_labels, one_run_for_all_labels
from rag_assets.defs.resources import Workspace
from rag_assets.defs.stage_asset import candidate, check_specs, materialize_labels
from rag_assets.pipeline.build import IndexBuild, StageReport
from rag_assets.pipeline.progress import Progress
from rag_assets.pipeline.segments import segment_files
from rag_assets.pipeline.versions import stage_version


@asset(
    partitions_def=index_labels,
    backfill_policy=one_run_for_all_labels,
    deps=["discovered_files"],
    group_name="corpus",
    kinds={"treesitter", "parquet"},
    code_version=stage_version("segments"),
    check_specs=check_specs("segments"),
    description=(
        "One segment per top-level symbol of a code file, one per text document, with exact ranges, members and "
        "documentation; and the parse health of every file."
    ),
)
def segments(
    context: AssetExecutionContext, workspace: Workspace, progress: ResourceParam[Progress]
) -> Iterator[MaterializeResult[None]]:
    def work(label: str) -> tuple[IndexBuild, StageReport]:
        build = candidate(context, workspace, label)
        return build, segment_files(build, progress)

    yield from materialize_labels(context, workspace, work)
