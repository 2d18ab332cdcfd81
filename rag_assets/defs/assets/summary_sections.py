"""Asset `summary_sections`."""

from collections.abc import Iterator

from dagster import AssetExecutionContext, MaterializeResult, ResourceParam, asset

from rag_assets.defs.partitions import index_labels, one_run_for_all_labels
from rag_assets.defs.resources import Workspace
from rag_assets.defs.stage_asset import candidate, check_specs, materialize_labels
from rag_assets.pipeline.build import IndexBuild, StageReport
from rag_assets.pipeline.progress import Progress
from rag_assets.pipeline.summary_sections import build_sections
from rag_assets.pipeline.versions import stage_version


@asset(
    partitions_def=index_labels,
    backfill_policy=one_run_for_all_labels,
    deps=["descriptions"],
    group_name="corpus",
    kinds={"python", "parquet"},
    code_version=stage_version("summary_sections"),
    check_specs=check_specs("summary_sections"),
    description=(
        "The atomic indexing units: finder snippets that fit the embedding window, with the source range and the "
        "markdown behind each."
    ),
)
def summary_sections(
    context: AssetExecutionContext, workspace: Workspace, progress: ResourceParam[Progress]
) -> Iterator[MaterializeResult[None]]:
    def work(label: str) -> tuple[IndexBuild, StageReport]:
        build = candidate(context, workspace, label)
        return build, build_sections(build, progress)

    yield from materialize_labels(context, workspace, work)
