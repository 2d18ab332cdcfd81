"""The assets, in the order of the flow. Each is thin: it calls its stage in `rag_assets.pipeline`."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from dagster import AssetExecutionContext, Config, MaterializeResult, ResourceParam, asset
from pydantic import Field

from rag_assets.defs.partitions import index_labels, one_run_for_all_labels
from rag_assets.defs.resources import Workspace
from rag_assets.defs.stage_asset import candidate, check_specs, materialize_labels
from rag_assets.evaluation.metrics import CUT, NDCG, metric_name
from rag_assets.evaluation.summary import latency, metric_estimates, summarise, summarise_answers
from rag_assets.index.eval_records import JudgeSummary, RankChange, read_decision, read_run
from rag_assets.models import open_embedder
from rag_assets.pipeline.active_index import activate
from rag_assets.pipeline.bm25_artifacts import build_keyword_weights
from rag_assets.pipeline.build import IndexBuild, StageReport
from rag_assets.pipeline.code_graph import build_graph
from rag_assets.pipeline.discovered_files import discover_files
from rag_assets.pipeline.embeddings import embed_sections
from rag_assets.pipeline.eval_runs import evaluate
from rag_assets.pipeline.labels import repository_of
from rag_assets.pipeline.progress import Progress
from rag_assets.pipeline.publish import begin_from_remote
from rag_assets.pipeline.qdrant_points import build_points
from rag_assets.pipeline.refinement import refine_and_describe
from rag_assets.pipeline.segments import segment_files
from rag_assets.pipeline.summary_sections import build_sections
from rag_assets.pipeline.versions import stage_version


class DiscoveryConfig(Config):
    """Which commit to index."""

    commit: str = Field(
        default="", description="full id of the commit; empty: the head of the label's ref, which a backfill wants"
    )
    force: bool = Field(default=False, description="build it anew from the sources, taking nothing from earlier builds")


@asset(
    partitions_def=index_labels,
    backfill_policy=one_run_for_all_labels,
    group_name="corpus",
    kinds={"git", "parquet"},
    code_version=stage_version("discovered_files"),
    check_specs=check_specs("discovered_files"),
    description=(
        "The files of one commit, decoded and with secrets masked; every file that is not indexed with its reason."
    ),
)
def discovered_files(
    context: AssetExecutionContext, config: DiscoveryConfig, workspace: Workspace, progress: ResourceParam[Progress]
) -> Iterator[MaterializeResult[None]]:
    def work(label: str) -> tuple[IndexBuild, StageReport]:
        settings, home = workspace.settings(), workspace.index_home()
        problems = begin_from_remote(home, settings, label)
        build, report = discover_files(
            home,
            settings,
            label,
            repository_of(home, settings, label),
            progress,
            commit=config.commit or None,
            run_id=context.run.run_id,
            force=config.force,
        )
        return build, replace(report, problems=[*problems, *report.problems])

    yield from materialize_labels(context, workspace, work)


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


_MOST_CATEGORIES = 8  # with a plot of their own; the table has them all
_DIGITS = 4


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

    yield from materialize_labels(context, workspace, work, _plotted)


def _plotted(build: IndexBuild) -> dict[str, Any]:
    """Numbers that the UI plots over time beside the metrics. The report of the stage has none of them: it is the same
    for two builds of one commit, and latencies are not."""
    decision = read_decision(build.directory)
    run = read_run(build.directory, decision.set) if decision is not None else None
    if run is None:
        return {}
    took, metric = latency(run), metric_name(NDCG, CUT)
    found: dict[str, Any] = {"latency_p50_ms": took.p50, "latency_p95_ms": took.p95}
    for category in summarise(run)[1:][:_MOST_CATEGORIES]:
        found[f"{metric} {category.name}"] = round(category.metrics[metric].value, _DIGITS)
    answers = summarise_answers(run.answers, run.judging)
    if answers is not None:
        shares = metric_estimates(answers)
        found |= {f"answers {name}": round(known.value, _DIGITS) for name, known in shares.items() if known}
        found |= {"answers p50_ms": answers.p50_ms, "answers errors": answers.errors}
        found |= {} if answers.cost is None else {"answers cost": round(answers.cost, _DIGITS)}
        found |= {} if answers.judge is None else _judged(answers.judge)
    if run.against is not None:
        found |= {f"questions_{move.value}": run.against.count(move) for move in RankChange}
    return found


def _judged(known: JudgeSummary) -> dict[str, Any]:
    """The marks of the judge: an opinion, which is plotted and decides nothing."""
    score = {} if known.score is None else {"judge score": round(known.score.value, _DIGITS)}
    cost = {} if known.cost is None else {"judge cost": round(known.cost, _DIGITS)}
    marks = {f"judge {name}": mark for name, mark in known.marks.items()}
    return score | marks | {"judge judged": known.judged, "judge not judged": known.not_judged} | cost


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
