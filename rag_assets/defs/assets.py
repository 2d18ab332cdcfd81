"""The assets, in the order of the flow. Each is thin: it calls its stage in `rag_assets.pipeline`."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from dagster import (
    AssetExecutionContext,
    AssetsDefinition,
    AssetSpec,
    Config,
    Failure,
    ObserveResult,
    multi_asset,
    multi_observable_source_asset,
)
from pydantic import Field

from rag_assets.defs.observed_heads import heads_of, input_tags, observation_of
from rag_assets.defs.scope import REPOSITORY, AssetScope, accepted_warnings
from rag_assets.defs.stage_asset import (
    OWN_EVENTS,
    Extra,
    Results,
    candidate,
    check_specs,
    materialize_labels,
    nothing_else,
    observed_labels,
)
from rag_assets.evaluation.metrics import CUT, NDCG, metric_name
from rag_assets.evaluation.summary import latency, metric_estimates, summarise, summarise_answers
from rag_assets.index.eval_records import JudgeSummary, RankChange, read_decision, read_run
from rag_assets.index.labels import repository_of
from rag_assets.models import open_embedder
from rag_assets.pipeline.active_index import activate
from rag_assets.pipeline.bm25_artifacts import build_keyword_weights
from rag_assets.pipeline.build import IndexBuild, StageReport
from rag_assets.pipeline.code_graph import build_graph
from rag_assets.pipeline.discovered_files import discover_files
from rag_assets.pipeline.embeddings import embed_sections
from rag_assets.pipeline.eval_runs import evaluate
from rag_assets.pipeline.progress import Progress
from rag_assets.pipeline.publish import begin_from_remote
from rag_assets.pipeline.qdrant_points import build_points
from rag_assets.pipeline.refinement import refine_and_describe
from rag_assets.pipeline.segments import segment_files
from rag_assets.pipeline.summary_sections import build_sections
from rag_assets.pipeline.versions import stage_version

Stage = Callable[[IndexBuild, Progress, str], StageReport]
"""Works on a build and says what it did; the text is the id of the run."""


class DiscoveryConfig(Config):
    """Which commit to index."""

    commit: str = Field(
        default="", description="full id of the commit; empty: the head of the label's ref, which a backfill wants"
    )
    is_head: bool = Field(
        default=False, description="the commit is the head of the label's ref, which is observed then"
    )
    force: bool = Field(default=False, description="build it anew from the sources, taking nothing from earlier builds")


def repository(scope: AssetScope) -> AssetsDefinition:
    """The asset before the first stage, which is observed: the lineage of an index begins in git."""

    def observe(context: AssetExecutionContext) -> Iterator[ObserveResult]:
        workspace, _ = scope.given(context)
        heads, problems = heads_of(workspace.settings(), workspace.index_home(), observed_labels(context, workspace))
        for head in heads:
            context.log_event(observation_of(scope, head))
        if problems:
            raise Failure(description="\n".join(problems), allow_retries=False)
        yield ObserveResult(metadata=OWN_EVENTS)

    spec = AssetSpec(
        scope.key(REPOSITORY),
        description="What the ref of a label names now. The data version is the commit; of a folder or an archive, the "
        "hash of its content.",
        group_name="corpus",
        kinds={"git"},
    )
    with accepted_warnings():
        made: AssetsDefinition = multi_observable_source_asset(
            specs=[spec],
            name=scope.op(REPOSITORY),
            partitions_def=scope.partitions,
            required_resource_keys=scope.resource_keys,
        )(observe)
    return made


def discovered_files(scope: AssetScope) -> AssetsDefinition:
    """The asset that reads a commit."""

    def discover(context: AssetExecutionContext, config: DiscoveryConfig) -> Results:
        workspace, progress = scope.given(context)

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

        # A run at a chosen commit says nothing of the ref.
        inputs = partial(input_tags, context, is_head=config.is_head or not config.commit)
        yield from materialize_labels(context, workspace, progress, work, inputs=inputs)

    spec = AssetSpec(
        scope.key("discovered_files"),
        deps=[scope.key(REPOSITORY)],
        group_name="corpus",
        kinds={"git", "parquet"},
        code_version=stage_version("discovered_files"),
        description="The files of one commit, decoded and with secrets masked; every file that is not indexed with its "
        "reason.",
    )
    return _materialized(scope, spec, discover)


def _materialized(
    scope: AssetScope,
    spec: AssetSpec,
    materialize: Callable[..., Results],
    pool: str | None = None,
) -> AssetsDefinition:
    """The asset of a stage. `multi_asset`, because an `asset` takes the name of its step from its key."""
    name = spec.key.path[-1]
    with accepted_warnings():
        return multi_asset(
            name=scope.op(name),
            specs=[spec],
            partitions_def=scope.partitions,
            backfill_policy=scope.backfill_policy,
            required_resource_keys=scope.resource_keys,
            pool=pool,
            check_specs=check_specs(name, scope),
        )(materialize)


@dataclass(frozen=True, slots=True)
class StageAsset:
    """A stage that works on the build of its run. Its asset has the name and the description of the function."""

    stage: Stage
    deps: tuple[str, ...]
    group: str
    kinds: frozenset[str]
    pool: str | None
    extra: Extra

    def asset(self, scope: AssetScope) -> AssetsDefinition:
        def materialize(context: AssetExecutionContext) -> Results:
            workspace, progress = scope.given(context)

            def work(label: str) -> tuple[IndexBuild, StageReport]:
                build = candidate(context, workspace, label)
                return build, self.stage(build, progress, context.run.run_id)

            yield from materialize_labels(context, workspace, progress, work, self.extra)

        name = self.stage.__name__
        spec = AssetSpec(
            scope.key(name),
            deps=[scope.key(dep) for dep in self.deps],
            description=" ".join((self.stage.__doc__ or "").split()),
            group_name=self.group,
            kinds=set(self.kinds),
            code_version=stage_version(name),
        )
        return _materialized(scope, spec, materialize, self.pool)


def stage_asset(
    *, deps: list[str], group: str, kinds: set[str], pool: str | None = None, extra: Extra = nothing_else
) -> Callable[[Stage], StageAsset]:
    return lambda stage: StageAsset(stage, tuple(deps), group, frozenset(kinds), pool, extra)


@stage_asset(deps=["discovered_files"], group="corpus", kinds={"treesitter", "parquet"})
def segments(build: IndexBuild, progress: Progress, run_id: str) -> StageReport:
    """One segment per top-level symbol of a code file, one per text document, with exact ranges, members and
    documentation; and the parse health of every file."""
    return segment_files(build, progress)


@stage_asset(deps=["segments"], group="corpus", kinds={"python", "parquet"}, pool="llm")
def descriptions(build: IndexBuild, progress: Progress, run_id: str) -> StageReport:
    """The kind of every segment with its evidence, and the facts that its description builder read from it."""
    return refine_and_describe(build, progress)


@stage_asset(deps=["descriptions"], group="corpus", kinds={"python", "parquet"})
def summary_sections(build: IndexBuild, progress: Progress, run_id: str) -> StageReport:
    """The atomic indexing units: finder snippets that fit the embedding window, with the source range and the markdown
    behind each."""
    return build_sections(build, progress)


@stage_asset(deps=["summary_sections"], group="index", kinds={"python", "parquet"})
def bm25_artifacts(build: IndexBuild, progress: Progress, run_id: str) -> StageReport:
    """BM25F statistics of the label and one sparse weight vector per section."""
    return build_keyword_weights(build, progress)


# Needs the sections for its check: points lead into the graph.
@stage_asset(deps=["segments", "summary_sections"], group="index", kinds={"treesitter", "parquet"})
def code_graph(build: IndexBuild, progress: Progress, run_id: str) -> StageReport:
    """The dependency graph of the label: declarations, database objects, endpoints and documents, and what calls, uses,
    reads, writes, handles and tests what; in the key space of the points."""
    return build_graph(build, progress)


@stage_asset(deps=["summary_sections"], group="index", kinds={"parquet"}, pool="embedding_api")
def embeddings(build: IndexBuild, progress: Progress, run_id: str) -> StageReport:
    """One vector per section, computed once per model and text for all labels."""
    return embed_sections(build, open_embedder(build.settings.embedder, build.home.cache), progress)


@stage_asset(deps=["summary_sections", "embeddings", "bm25_artifacts"], group="index", kinds=set(), pool="qdrant")
def qdrant_points(build: IndexBuild, progress: Progress, run_id: str) -> StageReport:
    """Validated points with deterministic ids, and the vector shard that holds exactly these."""
    return build_points(build, progress)


_MOST_CATEGORIES = 8  # with a plot of their own; the table has them all
_DIGITS = 4


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


# A build that is refused is finished here, so it must be whole.
@stage_asset(deps=["qdrant_points", "code_graph"], group="index", kinds={"python"}, extra=_plotted)
def eval_runs(build: IndexBuild, progress: Progress, run_id: str) -> StageReport:
    """The questions of the repository, asked of the new build and of the served one; the promotion gate."""
    return evaluate(build, progress, run_id)


@stage_asset(deps=["eval_runs"], group="index", kinds={"python"})
def active_index(build: IndexBuild, progress: Progress, run_id: str) -> StageReport:
    """The pointer to the generation that is served; moves only when all blocking checks and the gate hold."""
    return activate(build, run_id)


_LATER = (
    segments,
    descriptions,
    summary_sections,
    bm25_artifacts,
    code_graph,
    embeddings,
    qdrant_points,
    eval_runs,
    active_index,
)


def assets_of(scope: AssetScope) -> list[AssetsDefinition]:
    """All of them, in the order of the flow."""
    return [repository(scope), discovered_files(scope), *(stage.asset(scope) for stage in _LATER)]


def line_of(name: str) -> int:
    """The line of this file where an asset is defined."""
    functions = [repository, discovered_files, *(one.stage for one in _LATER)]
    return next(one.__code__.co_firstlineno for one in functions if one.__name__ == name)
