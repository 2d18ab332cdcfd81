"""Asset `bm25_artifacts`."""

from collections.abc import Iterator

from dagster import AssetExecutionContext, MaterializeResult, ResourceParam, asset

from rag_assets.defs.partitions import index_labels, one_run_for_all_labels
from rag_assets.defs.resources import Workspace
from rag_assets.defs.stage_asset import candidate, check_specs, materialize_labels
from rag_assets.pipeline.bm25_artifacts import build_keyword_weights
from rag_assets.pipeline.build import IndexBuild, StageReport
from rag_assets.pipeline.progress import Progress
from rag_assets.pipeline.versions import stage_version


@asset(
    partitions_def=index_labels,
    backfill_policy=one_run_for_all_labels,
    deps=["summary_sections"],
    group_name="index",
    kinds={"python", "parquet"},
    code_version=stage_version("bm25_artifacts"),
    check_specs=check_specs("bm25_artifacts"),
    description="BM25F statistics of the label and one sparse weight vector per section.",
)
def bm25_artifacts(
    context: AssetExecutionContext, workspace: Workspace, progress: ResourceParam[Progress]
) -> Iterator[MaterializeResult[None]]:
    def work(label: str) -> tuple[IndexBuild, StageReport]:
        build = candidate(context, workspace, label)
        return build, build_keyword_weights(build, progress)

    yield from materialize_labels(context, workspace, work)
