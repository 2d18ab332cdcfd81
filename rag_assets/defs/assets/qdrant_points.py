"""Asset `qdrant_points`."""

from collections.abc import Iterator

from dagster import AssetExecutionContext, MaterializeResult, ResourceParam, asset

from rag_assets.defs.partitions import index_labels, one_run_for_all_labels
from rag_assets.defs.resources import Workspace
from rag_assets.defs.stage_asset import candidate, check_specs, materialize_labels
from rag_assets.pipeline.build import IndexBuild, StageReport
from rag_assets.pipeline.progress import Progress
from rag_assets.pipeline.qdrant_points import build_points
from rag_assets.pipeline.versions import stage_version


@asset(
    partitions_def=index_labels,
    backfill_policy=one_run_for_all_labels,
    pool="qdrant",
    deps=["summary_sections", "embeddings", "bm25_artifacts"],
    group_name="index",
    kinds={"qdrant"},
    code_version=stage_version("qdrant_points"),
    check_specs=check_specs("qdrant_points"),
    description="Validated points with deterministic ids, and the vector shard that holds exactly these.",
)
def qdrant_points(
    context: AssetExecutionContext, workspace: Workspace, progress: ResourceParam[Progress]
) -> Iterator[MaterializeResult[None]]:
    def work(label: str) -> tuple[IndexBuild, StageReport]:
        build = candidate(context, workspace, label)
        return build, build_points(build, progress)

    yield from materialize_labels(context, workspace, work)
