"""Asset `embeddings`."""

from collections.abc import Iterator

from dagster import AssetExecutionContext, MaterializeResult, ResourceParam, asset

from rag_assets.defs.partitions import index_labels, one_run_for_all_labels
from rag_assets.defs.resources import Workspace
from rag_assets.defs.stage_asset import candidate, check_specs, materialize_labels
from rag_assets.models import open_embedder
from rag_assets.pipeline.build import IndexBuild, StageReport
from rag_assets.pipeline.embeddings import embed_sections
from rag_assets.pipeline.progress import Progress
from rag_assets.pipeline.versions import stage_version


@asset(
    partitions_def=index_labels,
    backfill_policy=one_run_for_all_labels,
    pool="embedding_api",
    deps=["summary_sections"],
    group_name="index",
    kinds={"onnx", "parquet"},
    code_version=stage_version("embeddings"),
    check_specs=check_specs("embeddings"),
    description="One vector per section, computed once per model and text for all labels.",
)
def embeddings(
    context: AssetExecutionContext, workspace: Workspace, progress: ResourceParam[Progress]
) -> Iterator[MaterializeResult[None]]:
    def work(label: str) -> tuple[IndexBuild, StageReport]:
        build = candidate(context, workspace, label)
        embedder = open_embedder(workspace.settings().embedder, build.home.cache)
        return build, embed_sections(build, embedder, progress)

    yield from materialize_labels(context, workspace, work)
