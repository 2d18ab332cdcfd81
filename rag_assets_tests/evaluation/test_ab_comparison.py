"""Two runs of the same questions, made in two ways: their numbers, and the rule of promotion (E25)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rag_assets.evaluation.comparison import FEWEST, AbComparison, MetricPair, compare_ab, compare_runs
from rag_assets.evaluation.gate import GateRules
from rag_assets.index.answer_results import AnswerResult, Judged, Judging
from rag_assets.index.eval_records import EvalRun
from rag_assets_tests.evaluation.made_answers import HOW, answer
from rag_assets_tests.evaluation.made_runs import CONDITIONS, run

pytestmark = pytest.mark.rule("E25")
JUDGE = Judging(profile="premium", model="wise", rubric="r")


def ranked(*ranks: int, **changes: Any) -> EvalRun:
    return run({f"q{number}": rank for number, rank in enumerate(ranks)}, **changes)


def found(before: EvalRun, now: EvalRun, tolerance: float = 0.05) -> AbComparison:
    return compare_ab(compare_runs(before, now), GateRules(tolerance=tolerance))


def row(of: AbComparison, name: str) -> MetricPair:
    return next(known for known in of.rows if known.name == name)


@pytest.mark.parametrize(
    ("lost", "tolerance", "may"),
    [(0, 0.05, True), (1, 0.05, True), (2, 0.05, False), (2, 0.10, True), (3, 0.10, False)],
)
def test_a_sibling_may_lose_no_more_than_the_tolerance(lost: int, tolerance: float, may: bool) -> None:
    made = found(ranked(*[1] * 20), ranked(*[0] * lost, *[1] * (20 - lost)), tolerance)
    assert made.may_replace is may
    assert row(made, "recall@3").holds is may and row(made, "recall@3").decides
    assert made.reason == (
        f"nothing fell by more than {tolerance:.0%}" if may else f"recall@3 is {1 - lost / 20:.3f}, {-lost / 20:+.1%}"
    )


def test_a_better_one_may_replace_a_worse_one() -> None:
    made = found(ranked(*[0] * 5, *[1] * 5), ranked(*[1] * 10))
    assert made.may_replace and row(made, "recall@3").change == 1.0
    assert found(ranked(*[0] * 10), ranked(*[1] * 10)).rows[0].change is None, "no share of nothing"


def test_ret_at_five_and_ten_whatever_k_is() -> None:
    made = found(ranked(1, 4, 6, 11), ranked(1, 6, 6, 0))
    assert (row(made, "ret@5").before, row(made, "ret@5").now) == (0.5, 0.25)
    assert (row(made, "ret@10").before, row(made, "ret@10").now) == (0.75, 0.75)
    assert not row(made, "ret@5").decides


def test_other_settings_are_what_siblings_are_for() -> None:
    other = replace(CONDITIONS, fusion="rrf")
    assert found(ranked(1, 1), ranked(1, 1, conditions=other)).may_replace


@pytest.mark.parametrize(("count", "enough"), [(FEWEST - 1, False), (FEWEST, True)])
def test_few_questions_are_too_few_for_the_rule(count: int, enough: bool) -> None:
    assert found(ranked(*[1] * count), ranked(*[1] * count)).is_enough is enough


def answered(*results: AnswerResult) -> EvalRun:
    return replace(ranked(1, 1), answers=results, answering=HOW, judging=JUDGE)


def marked(identifier: str, mark: int, **changes: Any) -> AnswerResult:
    return answer(identifier, 0.9, cited=("a",), judged=Judged(marks={"faithful": mark}), **changes)


def test_citations_and_the_judge_stand_beside_and_decide_nothing() -> None:
    good = answered(marked("one", 5), marked("two", 5))
    bad = answered(marked("one", 1, precision=0.0), answer("two", 0.9, precision=None))
    made = found(good, bad)
    assert made.may_replace
    assert (row(made, "citation rate").before, row(made, "citation rate").now) == (1.0, 0.5)
    assert (row(made, "citation correctness").before, row(made, "citation correctness").now) == (1.0, 0.0)
    assert (row(made, "judge").before, row(made, "judge").now) == (1.0, 0.0)
    assert not any(known.decides for known in made.rows if "citation" in known.name or known.name == "judge")


def test_without_answers_there_are_no_rows_of_them() -> None:
    assert {known.name for known in found(ranked(1), ranked(1)).rows} == {"ret@5", "ret@10", "recall@3"}
