"""Two runs of the same questions: what became of each question, and of each category. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.contracts.errors import ExpectedError
from rag_assets.evaluation.answer_summary import JUDGE, values_of
from rag_assets.evaluation.intervals import estimate
from rag_assets.evaluation.summary import by_category
from rag_assets.stores.eval_answers import AnswerResult, Outcome
from rag_assets.stores.eval_history import Estimate
from rag_assets.stores.eval_records import Difference, EvalRun, Move, MovedQuestion, QuestionResult

_ROUNDING = 1e-9  # of sums of floats
_ORDER = list(Move)


class NotComparable(ExpectedError):
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
    """A question whose answer came to something else."""

    id: str
    question: str
    answerable: bool
    before: Outcome
    now: Outcome


@dataclass(frozen=True, slots=True)
class AnswersDelta:
    """The answers to the questions that both runs were asked: metric → (the questions it is of, what changed), the
    questions that are answered in one of them only, and how they were asked differently, name → (before, now)."""

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
    difference: Difference
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
    was = {result.id: result for result in before.results}
    categories = []
    for name, chosen in by_category(now.results):
        deltas = {}
        for metric in now.metrics:
            pairs = [(was[result.id].scores[metric], result.scores[metric]) for result in chosen]
            old, new = (sum(side) / len(pairs) for side in zip(*pairs, strict=True))
            deltas[metric] = MetricDelta(old, new, estimate([after - first for first, after in pairs]))
        categories.append(CategoryDelta(name, len(chosen), deltas))
    if before.embedding_model != now.embedding_model:
        unlike["embedding_model"] = (before.embedding_model, now.embedding_model)
    return Comparison(before, now, tuple(categories), difference(before, now), unlike, _answers(before, now))


def difference(before: EvalRun, now: EvalRun) -> Difference:
    """What became of each question of two runs of the same questions: losses first, then those that sank, each by how
    much it changes the metrics, then by id."""
    was = {result.id: result for result in before.results}
    found = [(_change(was[result.id], result), _moved(was[result.id], result, now.k)) for result in now.results]
    moved = [(change, question) for change, question in found if question is not None]
    moved.sort(key=lambda pair: (_ORDER.index(pair[1].move), -abs(pair[0]), pair[1].id))
    return Difference(before.generation_id, tuple(question for _, question in moved), len(now.results) - len(moved))


def _answers(before: EvalRun, now: EvalRun) -> AnswersDelta | None:
    if before.answering is None or now.answering is None:
        return None
    was = {result.id: result for result in before.answers}
    pairs = [(was[result.id], result) for result in now.answers if result.id in was]
    if not pairs:
        return None
    then, here = (values_of(side) for side in zip(*pairs, strict=True))
    unlike = before.answering.differences(now.answering)
    if before.judging is not None and now.judging is not None and before.judging != now.judging:
        del here[JUDGE]  # marks of two judges say nothing about each other
        unlike["judge"] = (str(before.judging), str(now.judging))
    metrics = {}
    for name, values in here.items():
        both = [
            (old, new) for id_, new in values.items() if new is not None and (old := then[name].get(id_)) is not None
        ]
        if both:
            old, new = (sum(side) / len(both) for side in zip(*both, strict=True))
            metrics[name] = (len(both), MetricDelta(old, new, estimate([after - first for first, after in both])))
    return AnswersDelta(metrics, _changed(pairs), unlike)


def _changed(pairs: Sequence[tuple[AnswerResult, AnswerResult]]) -> tuple[ChangedAnswer, ...]:
    return tuple(
        ChangedAnswer(new.id, new.question, new.answerable, old.outcome, new.outcome)
        for old, new in pairs
        if old.outcome is not new.outcome
    )


def _moved(before: QuestionResult, now: QuestionResult, k: int) -> MovedQuestion | None:
    had, has = (0 < result.first_rank <= k for result in (before, now))
    change = _change(before, now)
    if had != has:
        move = Move.GAINED if has else Move.LOST
    elif abs(change) > _ROUNDING:
        move = Move.UP if change > 0 else Move.DOWN
    elif before.first_rank != now.first_rank:  # beyond what is measured
        rose = now.first_rank and (now.first_rank < before.first_rank or not before.first_rank)
        move = Move.UP if rose else Move.DOWN
    else:
        return None
    return MovedQuestion(now.id, now.question, move, before.first_rank, now.first_rank)


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
