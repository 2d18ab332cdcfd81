"""Two siblings, runs of the same questions with different configurations, packs or models, and whether one may take the
place of the other by the rule of promotion (E25). Pure.

The rule is that of the gate: none of the compared metrics falls by more than a share, 5 to 10 %. It is said and
nothing more: no pointer moves. Citations and the marks of a judge stand beside it and decide nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from rag_assets.evaluation.answer_summary import JUDGE
from rag_assets.evaluation.comparison import Comparison
from rag_assets.evaluation.gate import GateRules, changes_of
from rag_assets.evaluation.metrics import CUT
from rag_assets.stores.eval_answers import AnswerResult
from rag_assets.stores.eval_records import EvalRun, MetricChange

FEWEST = 10
"""Questions that the rule means something for (E25 wants 10 to 20): of nine, one is more than the 10 % that are the
most a metric may lose."""

_EARLY = 5


@dataclass(frozen=True, slots=True)
class SiblingRow:
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
class Siblings:
    """`may_replace`: by the rule the second run may take the place of the first; `reason` says why or why not.
    `questions` is how many they were asked."""

    rows: tuple[SiblingRow, ...]
    questions: int
    may_replace: bool
    reason: str

    @property
    def is_enough(self) -> bool:
        return self.questions >= FEWEST


def siblings(compared: Comparison, rules: GateRules) -> Siblings:
    """The numbers of E25 for the two runs of a comparison: ret@5 and ret@10, the compared metrics, how many answers
    cite something and how much of that is right, and the judge."""
    before, now = compared.before, compared.now
    changes = changes_of(now, before, rules)
    decided = [_row(change) for change in changes if change.floor is not None]
    found = [
        *(SiblingRow(f"ret@{k}", _found(before, k), _found(now, k)) for k in (_EARLY, CUT)),
        *decided,
        *(SiblingRow(name, of(before.answers), of(now.answers)) for name, of in _OF_ANSWERS.items()),
    ]
    if compared.answers is not None and JUDGE in compared.answers.metrics:
        _, marks = compared.answers.metrics[JUDGE]
        found.append(SiblingRow(JUDGE, marks.before, marks.now))
    broken = [row for row in decided if not row.holds]
    return Siblings(
        rows=tuple(row for row in found if (row.before, row.now) != (None, None)),
        questions=len(now.results),
        may_replace=not broken,
        reason="; ".join(map(_said, broken)) or f"nothing fell by more than {rules.tolerance:.0%}",
    )


def _row(change: MetricChange) -> SiblingRow:
    return SiblingRow(change.metric, change.active, change.candidate, decides=True, holds=change.holds)


def _said(row: SiblingRow) -> str:
    fall = "" if row.change is None else f", {row.change:+.1%}"
    return f"{row.name} is {row.now:.3f}{fall}"


def _found(run: EvalRun, k: int) -> float:
    """ret@k: the share of the questions with an answer among the first k files."""
    return fmean(float(0 < result.first_rank <= k) for result in run.results)


def _cite_something(answers: Sequence[AnswerResult]) -> float | None:
    said = [result for result in answers if result.is_answered]
    return fmean(bool(result.cited) for result in said) if said else None


def _cite_the_right(answers: Sequence[AnswerResult]) -> float | None:
    known = [result.precision for result in answers if result.precision is not None]
    return fmean(known) if known else None


_OF_ANSWERS: dict[str, Callable[[Sequence[AnswerResult]], float | None]] = {
    "citation rate": _cite_something,
    "citation correctness": _cite_the_right,
}
