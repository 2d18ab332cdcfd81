"""The promotion gate: whether a candidate answers well enough to be served (E25). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rag_assets.evaluation.metrics import metric_name
from rag_assets.index.eval_records import Decision, EvalRun, MetricChange, Verdict, WorseQuestion

_ROUNDING = 1e-9  # of sums of floats: a fall by exactly the tolerance is allowed
_KEPT_QUESTIONS = 20


@dataclass(frozen=True, slots=True)
class GateRules:
    """What must hold. `tolerance` is the share of the active generation's metric that a candidate may lose; `minimum`
    are absolute values by metric; `metrics` are the names of those that are compared (`recall`, `mrr` …). With
    `enabled` False everything passes, and the decision says what would have happened."""

    metrics: tuple[str, ...] = ("recall",)
    tolerance: float = 0.05
    minimum: Mapping[str, float] = field(default_factory=dict)
    enabled: bool = True


def decide(candidate: EvalRun, active: EvalRun | None, rules: GateRules, *, alone: str = "") -> Decision:
    """Promote or refuse `candidate`, with every number and the questions that got worse.

    `alone` says why there is nothing to compare with. Raises ValueError for runs of different questions or metrics:
    their numbers say nothing about each other. Both see all files, so their walls are no difference.
    """
    if active is not None and not active.is_like(candidate, but=("clearance",)):
        raise ValueError("the two runs asked different questions, or searched or measured differently")
    changes = changes_of(candidate, active, rules)
    broken = [_said(change, active, rules) for change in changes if not change.holds]
    worse = _worse(candidate, active, rules) if active is not None else []
    verdict = Verdict.REFUSED if broken and rules.enabled else Verdict.PASSED
    if broken:
        reason = "; ".join(broken) if rules.enabled else f"the gate is off; it would say: {'; '.join(broken)}"
    elif active is not None:
        reason = f"as good as {active.generation_id}, within {rules.tolerance:.0%}"
    else:
        reason = alone
    return Decision(
        verdict=verdict,
        reason=reason,
        generation_id=candidate.generation_id,
        active_generation_id=active.generation_id if active is not None else "",
        set=candidate.set,
        fingerprint=candidate.fingerprint,
        questions=len(candidate.results),
        tolerance=rules.tolerance,
        changes=changes,
        worse=tuple(worse[:_KEPT_QUESTIONS]),
        better=len(_worse(active, candidate, rules)) if active is not None else 0,
        absent=tuple(sorted({path for result in candidate.results for path in result.absent})),
    )


def changes_of(candidate: EvalRun, active: EvalRun | None, rules: GateRules) -> tuple[MetricChange, ...]:
    """Every metric of both, with what it must reach where the rules look at it."""
    compared = {metric_name(metric, candidate.k) for metric in rules.metrics}
    minima = {metric_name(metric, candidate.k): value for metric, value in rules.minimum.items()}
    made = []
    for metric, value in candidate.metrics.items():
        before = active.metrics[metric] if active is not None else None
        floors = [minima[metric]] if metric in minima else []
        if before is not None and metric in compared:
            floors.append(before * (1 - rules.tolerance))
        floor = max(floors, default=None)
        made.append(MetricChange(metric, value, before, floor, floor is None or value >= floor - _ROUNDING))
    return tuple(made)


def _said(change: MetricChange, active: EvalRun | None, rules: GateRules) -> str:
    said = f"{change.metric} is {change.candidate:.3f}"
    if active is not None and change.active and change.candidate < change.active * (1 - rules.tolerance) - _ROUNDING:
        lost = 1 - change.candidate / change.active
        return (
            f"{said}, {lost:.1%} below the {change.active:.3f} of {active.generation_id} "
            f"(tolerance {rules.tolerance:.0%})"
        )
    return f"{said}, below the minimum of {change.floor:.3f}"


def _worse(candidate: EvalRun, active: EvalRun, rules: GateRules) -> list[WorseQuestion]:
    """The questions that lost most in the compared metrics, then by id."""
    names = [metric_name(metric, candidate.k) for metric in rules.metrics]
    before = {result.id: result for result in active.results}
    found = []
    for now in candidate.results:
        was = before[now.id]
        drop = sum(was.scores[name] - now.scores[name] for name in names)
        if drop > _ROUNDING:
            found.append(WorseQuestion(now.id, now.question, was.first_rank, now.first_rank, round(drop, 6)))
    return sorted(found, key=lambda question: (-question.drop, question.id))
