"""Two siblings, runs of the same questions with different configurations, packs or models, and whether one may take the
place of the other by the rule of promotion (E25). Pure.

The rule is that of the gate: none of the compared metrics falls by more than a share, 5 to 10 %. It is said and
nothing more: no pointer moves. Citations and the marks of a judge stand beside it and decide nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean

from rag_assets.evaluation.answer_summary import JUDGE, PRECISION
from rag_assets.evaluation.comparison import Comparison
from rag_assets.evaluation.gate import GateRules, changes_of
from rag_assets.evaluation.metrics import CUT
from rag_assets.index.answer_results import Outcome
from rag_assets.index.eval_records import EvalRun, MetricChange

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
    from rag_assets.evaluation.frames import (
        answers,
        runs,
    )  # pandas takes 0.2 s and 76 MB, which only a comparison needs

    ranks, known = runs([run])["first_rank"], answers([run])
    said = known[known["outcome"] == Outcome.ANSWERED]
    found = {f"ret@{k}": ranks.between(1, k) for k in (_EARLY, CUT)}
    found |= {"citation rate": said["cited"].map(bool), "citation correctness": known[PRECISION].dropna()}
    return {name: fmean(values.tolist()) if len(values) else None for name, values in found.items()}
