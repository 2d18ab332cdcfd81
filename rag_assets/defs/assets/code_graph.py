"""Asset `code_graph`."""

from collections.abc import Iterator

from dagster import AssetExecutionContext, MaterializeResult, ResourceParam, asset

from rag_assets.defs.partitions import index_labels, one_run_for_all_labels
from rag_assets.defs.resources import Workspace
from rag_assets.defs.stage_asset import candidate, check_specs, materialize_labels
from rag_assets.pipeline.build import IndexBuild, StageReport
from rag_assets.pipeline.code_graph import build_graph
from rag_assets.pipeline.progress import Progress
from rag_assets.pipeline.versions import stage_version


@asset(
    partitions_def=index_labels,
    backfill_policy=one_run_for_all_labels,
    deps=["segments", "summary_sections"],  # the latter for its check: points lead into the graph
    group_name="index",
    kinds={"treesitter", "parquet"},
    code_version=stage_version("code_graph"),
    check_specs=check_specs("code_graph"),
    description=(
        "The dependency graph of the label: declarations, database objects, endpoints and documents, and what calls, "
        "uses, reads, writes, handles and tests what; in the key space of the points."
    ),
)
def code_graph(
    context: AssetExecutionContext, workspace: Workspace, progress: ResourceParam[Progress]
) -> Iterator[MaterializeResult[None]]:
    def work(label: str) -> tuple[IndexBuild, StageReport]:
        build = candidate(context, workspace, label)
        return build, build_graph(build, progress)

    yield from materialize_labels(context, workspace, work)
