"""Asset `code_graph`."""

import base64
from collections.abc import Iterator
from typing import Any

from dagster import AssetExecutionContext, MaterializeResult, MetadataValue, ResourceParam, asset

from rag_assets.defs.partitions import index_labels, one_run_for_all_labels
from rag_assets.defs.resources import Workspace
from rag_assets.defs.stage_asset import candidate, check_specs, materialize_labels
from rag_assets.graph.area_picture import area_svg
from rag_assets.graph.areas import area_map
from rag_assets.graph.artifact import GRAPH_FOLDER, open_graph
from rag_assets.stages.build import IndexBuild, StageReport
from rag_assets.stages.code_graph import build_graph
from rag_assets.stages.progress import Progress
from rag_assets.stages.versions import stage_version


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

    yield from materialize_labels(context, workspace, work, _picture)


def _picture(build: IndexBuild) -> dict[str, Any]:
    """Which folders use which, as an image in the metadata: the UI has no other way to show a file of an index."""
    drawn = area_svg(area_map(open_graph(build.directory / GRAPH_FOLDER)))
    data = base64.b64encode(drawn.encode()).decode()
    return {"areas": MetadataValue.md(f"![which folders use which](data:image/svg+xml;base64,{data})")}
