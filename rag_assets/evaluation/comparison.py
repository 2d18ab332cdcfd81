"""Two runs of the same questions: what became of each question and category, and whether one run may replace the other
(E25). Pure.

The rule is that of the gate: none of the compared metrics falls by more than a share, 5 to 10 %. It is said and
nothing more: no pointer moves. Citations and the marks of a judge stand beside it and decide nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from rag_assets.errors import RagAssetsError
from rag_assets.evaluation.gate import GateRules, changes_of
from rag_assets.evaluation.metrics import CUT, estimate
from rag_assets.evaluation.summary import ANSWER_METRICS, JUDGE, PRECISION, by_category
from rag_assets.index.answer_results import Grade, Outcome
from rag_assets.index.eval_records import (
    Estimate,
    EvalRun,
    MetricChange,
    QuestionChange,
    QuestionResult,
    RankChange,
    RunDifference,
)

if TYPE_CHECKING:
    from pandas import Series


_ROUNDING = 1e-9  # of sums of floats
_ORDER = list(RankChange)


class NotComparable(RagAssetsError):
    """Two runs whose numbers say nothing about each other; the text says why."""


@dataclass(frozen=True, slots=True)
class MetricDelta:
    """A metric before and now; the interval of `change` is paired by question."""

    before: float
    now: float
    change: Estimate


@dataclass(frozen=True, slots=True)
class CategoryDelta:
    name: str
    questions: int
    metrics: dict[str, MetricDelta]


@dataclass(frozen=True, slots=True)
class ChangedAnswer:
    """A question whose answer is worth something else."""

    id: str
    question: str
    answerable: bool
    before: Grade
    now: Grade


@dataclass(frozen=True, slots=True)
class AnswersDelta:
    """The answers to the questions that both runs were asked: metric → (the questions it is of, what changed), the
    questions whose answers are worth something else, and how they were asked differently, name → (before, now)."""

    metrics: dict[str, tuple[int, MetricDelta]]
    changed: tuple[ChangedAnswer, ...]
    conditions: dict[str, tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Comparison:
    """From `before` to `now`: all questions and each category, and the questions that moved. `conditions` is how they
    were searched differently, name → (before, now), the embedding model among it: where there is something, a change
    may come from that, and the runs do not say which commit answers better. `answers` is None where one of them has
    none."""

    before: EvalRun
    now: EvalRun
    categories: tuple[CategoryDelta, ...]
    difference: RunDifference
    conditions: dict[str, tuple[str, str]]
    answers: AnswersDelta | None = None


def compare_runs(before: EvalRun, now: EvalRun) -> Comparison:
    """Everything that two runs differ in. Raises NotComparable for runs of different questions, k or metrics, and for
    those of readers who may not see the same."""
    if not now.measures(before.fingerprint, before.k, before.version):
        raise NotComparable(_why_not(before, now))
    unlike = before.conditions.differences(now.conditions)
    if "clearance" in unlike:
        old, new = unlike["clearance"]
        raise NotComparable(
            f"{_both(before, now)} saw files up to {old} and up to {new}; ask both again as one role, "
            "with: rag-assets --role ROLE eval run"
        )
    from rag_assets.evaluation.frames import runs  # pandas takes 0.2 s and 76 MB, which only a comparison needs

    then, here = (runs([run]).set_index("question_id") for run in (before, now))
    categories = []
    for name, chosen in by_category(now.results):
        ids = [result.id for result in chosen]
        deltas = {metric: _delta(then.loc[ids, metric], here.loc[ids, metric]) for metric in now.metrics}
        categories.append(CategoryDelta(name, len(ids), deltas))
    if before.embedding_model != now.embedding_model:
        unlike["embedding_model"] = (before.embedding_model, now.embedding_model)
    return Comparison(before, now, tuple(categories), difference(before, now), unlike, _answers(before, now))


def difference(before: EvalRun, now: EvalRun) -> RunDifference:
    """What became of each question of two runs of the same questions: losses first, then those that sank, each by how
    much it changes the metrics, then by id."""
    was = {result.id: result for result in before.results}
    found = [(_change(was[result.id], result), _moved(was[result.id], result, now.k)) for result in now.results]
    moved = [(change, question) for change, question in found if question is not None]
    moved.sort(key=lambda pair: (_ORDER.index(pair[1].move), -abs(pair[0]), pair[1].id))
    return RunDifference(before.generation_id, tuple(question for _, question in moved), len(now.results) - len(moved))


def _answers(before: EvalRun, now: EvalRun) -> AnswersDelta | None:
    if before.answering is None or now.answering is None:
        return None
    from rag_assets.evaluation.frames import answers  # pandas, as above

    then, here = (answers([run]).set_index("question_id") for run in (before, now))
    here = here[here.index.isin(then.index)]
    then = then.loc[here.index]
    if here.empty:
        return None
    unlike = before.answering.differences(now.answering)
    compared = list(ANSWER_METRICS)
    if before.judging is not None and now.judging is not None and before.judging != now.judging:
        compared.remove(JUDGE)  # marks of two judges say nothing about each other
        unlike["judge"] = (str(before.judging), str(now.judging))
    metrics = {}
    for name in compared:
        ids = here.index[here[name].notna() & then[name].notna()]
        if len(ids):
            metrics[name] = (len(ids), _delta(then.loc[ids, name], here.loc[ids, name]))
    was = {result.id: result.grade for result in before.answers}
    changed = tuple(
        ChangedAnswer(new.id, new.question, new.answerable, was[new.id], new.grade)
        for new in now.answers
        if was.get(new.id, new.grade) is not new.grade
    )
    return AnswersDelta(metrics, changed, unlike)


def _delta(before: Series[float], now: Series[float]) -> MetricDelta:
    """Both sides have the same questions in the same order. Python adds in their order; numpy does not, which changes
    the last digits."""
    old, new = (sum(side.tolist()) / len(side) for side in (before, now))
    return MetricDelta(old, new, estimate((now - before).tolist()))


def _moved(before: QuestionResult, now: QuestionResult, k: int) -> QuestionChange | None:
    had, has = (0 < result.first_rank <= k for result in (before, now))
    change = _change(before, now)
    if had != has:
        move = RankChange.GAINED if has else RankChange.LOST
    elif abs(change) > _ROUNDING:
        move = RankChange.UP if change > 0 else RankChange.DOWN
    elif before.first_rank != now.first_rank:  # beyond what is measured
        rose = now.first_rank and (now.first_rank < before.first_rank or not before.first_rank)
        move = RankChange.UP if rose else RankChange.DOWN
    else:
        return None
    return QuestionChange(now.id, now.question, move, before.first_rank, now.first_rank)


def _change(before: QuestionResult, now: QuestionResult) -> float:
    """Of all metrics together: nDCG alone misses a second answer between rank 10 and k."""
    return sum(now.scores.values()) - sum(before.scores.values())


def _both(before: EvalRun, now: EvalRun) -> str:
    return f"the run of {before.set} on {before.generation_id} and that of {now.set} on {now.generation_id}"


def _why_not(before: EvalRun, now: EvalRun) -> str:
    said = _both(before, now)
    if before.fingerprint != now.fingerprint:
        return f"{said} asked different questions; ask both the same with: rag-assets eval compare … --set FILE"
    if before.k != now.k:
        return f"{said} looked at {before.k} and {now.k} files; ask both again with the same evaluation.k"
    return f"{said} were measured by different versions of this program; ask both again with: rag-assets eval run"


FEWEST = 10
"""Questions that the rule means something for (E25 wants 10 to 20): of nine, one is more than the 10 % that are the
most a metric may lose."""

_EARLY = 5


@dataclass(frozen=True, slots=True)
class MetricPair:
    """One number of both; None where a side has none. `decides`: the rule looks at it."""

    name: str
    before: float | None
    now: float | None
    decides: bool = False
    holds: bool = True

    @property
    def change(self) -> float | None:
        """As a share of `before`; None where there is nothing to be a share of."""
        return None if self.now is None or not self.before else self.now / self.before - 1


@dataclass(frozen=True, slots=True)
class AbComparison:
    """`may_replace`: by the rule the second run may take the place of the first; `reason` says why or why not.
    `questions` is how many they were asked."""

    rows: tuple[MetricPair, ...]
    questions: int
    may_replace: bool
    reason: str

    @property
    def is_enough(self) -> bool:
        return self.questions >= FEWEST


def compare_ab(compared: Comparison, rules: GateRules) -> AbComparison:
    """The numbers of E25 for the two runs of a comparison: ret@5 and ret@10, the compared metrics, how many answers
    cite something and how much of that is right, and the judge."""
    before, now = compared.before, compared.now
    changes = changes_of(now, before, rules)
    decided = [_row(change) for change in changes if change.floor is not None]
    then, here = _shares(before), _shares(now)
    shares = [MetricPair(name, then[name], here[name]) for name in here]
    found = [*shares[:2], *decided, *shares[2:]]
    if compared.answers is not None and JUDGE in compared.answers.metrics:
        _, marks = compared.answers.metrics[JUDGE]
        found.append(MetricPair(JUDGE, marks.before, marks.now))
    broken = [row for row in decided if not row.holds]
    return AbComparison(
        rows=tuple(row for row in found if (row.before, row.now) != (None, None)),
        questions=len(now.results),
        may_replace=not broken,
        reason="; ".join(map(_said, broken)) or f"nothing fell by more than {rules.tolerance:.0%}",
    )


def _row(change: MetricChange) -> MetricPair:
    return MetricPair(change.metric, change.active, change.candidate, decides=True, holds=change.holds)


def _said(row: MetricPair) -> str:
    fall = "" if row.change is None else f", {row.change:+.1%}"
    return f"{row.name} is {row.now:.3f}{fall}"


def _shares(run: EvalRun) -> dict[str, float | None]:
    """ret@k, the share of the questions with an answer among the first k files; how many answers cite something, and
    how much of what they cite is right. None where there was no such question or answer."""
    from rag_assets.evaluation.frames import answers, runs  # pandas, as above

    ranks, known = runs([run])["first_rank"], answers([run])
    said = known[known["outcome"] == Outcome.ANSWERED]
    found = {f"ret@{k}": ranks.between(1, k) for k in (_EARLY, CUT)}
    found |= {"citation rate": said["cited"].map(bool), "citation correctness": known[PRECISION].dropna()}
    return {name: fmean(values.tolist()) if len(values) else None for name, values in found.items()}
