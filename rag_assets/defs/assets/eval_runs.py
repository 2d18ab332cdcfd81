"""Asset `eval_runs`."""

from collections.abc import Iterator
from typing import Any

from dagster import AssetExecutionContext, MaterializeResult, ResourceParam, asset

from rag_assets.defs.partitions import index_labels, one_run_for_all_labels
from rag_assets.defs.resources import Workspace
from rag_assets.defs.stage_asset import candidate, check_specs, materialize_labels
from rag_assets.evaluation.answer_summary import metric_estimates, summarise_answers
from rag_assets.evaluation.metrics import CUT, NDCG, metric_name
from rag_assets.evaluation.summary import latency, summarise
from rag_assets.index.eval_records import RankChange, read_decision, read_run
from rag_assets.index.metrics_history import JudgeSummary
from rag_assets.pipeline.build import IndexBuild, StageReport
from rag_assets.pipeline.eval_runs import evaluate
from rag_assets.pipeline.progress import Progress
from rag_assets.pipeline.versions import stage_version

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
