"""Intervals, categories and latencies of a run, and what two runs differ in."""

from __future__ import annotations

import random
from dataclasses import replace
from statistics import fmean

import pytest

from rag_assets.evaluation.comparison import NotComparable, compare_runs, difference
from rag_assets.evaluation.metrics import estimate
from rag_assets.evaluation.summary import latency, summarise
from rag_assets.evaluation.tables import format_moves
from rag_assets.index.eval_records import RankChange
from rag_assets_tests.evaluation.made_runs import CONDITIONS, result, run

pytestmark = pytest.mark.rule("E24")


def test_an_interval_is_that_of_a_naive_bootstrap() -> None:
    """By definition: the middle 95 % of the means of samples drawn with replacement."""
    draw = random.Random(7)
    values = [draw.random() ** 2 for _ in range(60)]
    means = sorted(fmean(draw.choices(values, k=len(values))) for _ in range(4_000))
    found = estimate(values)
    assert found.value == pytest.approx(fmean(values), abs=1e-6)
    assert found.low == pytest.approx(means[100], abs=0.015) and found.high == pytest.approx(means[3_899], abs=0.015)


def test_the_same_values_have_the_same_bounds() -> None:
    values = [0.0, 1.0, 0.5, 1.0, 0.25] * 5
    assert estimate(values) == estimate(values)
    narrow = estimate(values * 16)
    assert narrow.high - narrow.low < (estimate(values).high - estimate(values).low) / 3, "more questions, less doubt"


def test_bounds_of_what_does_not_vary() -> None:
    assert (estimate([0.5]).low, estimate([0.5]).high) == (0.5, 0.5)
    assert not estimate([0.0, 0.0]).is_clear
    assert estimate([0.2] * 9).is_clear
    with pytest.raises(ValueError, match="no values"):
        estimate([])


def test_more_questions_than_are_drawn_at_once() -> None:
    values = [float(number % 2) for number in range(3_000)]
    found = estimate(values)
    assert found.low < 0.5 < found.high and found.high - found.low == pytest.approx(0.036, abs=0.004)


def test_categories_by_tag_after_the_total() -> None:
    made = run([result("a", 1, tags=("x", "y")), result("b", 0, tags=("y",)), result("c", 2, tags=("x",))])
    found = summarise(made)
    assert [(one.name, one.questions) for one in found] == [("all", 3), ("x", 2), ("y", 2)]
    assert found[0].metrics["hit@3"].value == pytest.approx(2 / 3, abs=1e-6)
    assert found[2].metrics["mrr@10"].value == 0.5
    assert list(found[0].metrics) == list(made.metrics)


def test_a_tag_of_every_question_divides_nothing() -> None:
    assert [one.name for one in summarise(run([result("a", 1, tags=("x",)), result("b", 1, tags=("x",))]))] == ["all"]


def test_latencies_are_milliseconds() -> None:
    made = run([result(str(number), 1, seconds=number / 1000) for number in range(1, 102)])
    assert (latency(made).p50, latency(made).p95) == (51.0, 96.0)


MOVES = [  # before, now → move; k is 3, what is measured ends at 10
    pytest.param(1, 0, RankChange.LOST, id="gone"),
    pytest.param(3, 4, RankChange.LOST, id="out of the first k"),
    pytest.param(0, 3, RankChange.GAINED, id="found"),
    pytest.param(1, 3, RankChange.DOWN, id="sank"),
    pytest.param(3, 1, RankChange.UP, id="rose"),
    pytest.param(5, 4, RankChange.UP, id="rose beyond k"),
    pytest.param(11, 12, RankChange.DOWN, id="sank beyond what is measured"),
    pytest.param(12, 0, RankChange.DOWN, id="vanished beyond what is measured"),
    pytest.param(0, 12, RankChange.UP, id="came beyond what is measured"),
    pytest.param(2, 2, None, id="same"),
    pytest.param(0, 0, None, id="never found"),
]


@pytest.mark.parametrize(("before", "now", "move"), MOVES)
def test_what_became_of_a_question(before: int, now: int, move: RankChange | None) -> None:
    found = difference(run({"a": before}, "old"), run({"a": now}))
    assert [(one.move, one.before, one.now) for one in found.moved] == ([(move, before, now)] if move else [])
    assert found.same == (0 if move else 1) and found.generation_id == "old"


def test_a_second_answer_that_is_lost_moves_a_question_of_the_same_rank() -> None:
    before, now = result("a", 1), result("a", 1)
    worse = {name: value / 2 for name, value in now.scores.items()}
    (found,) = difference(run([before]), run([result("a", 1, scores=worse)])).moved
    assert (found.move, found.before, found.now) == (RankChange.DOWN, 1, 1)


def test_losses_come_first_then_the_largest_change() -> None:
    before = run({"a": 1, "b": 1, "c": 0, "d": 1, "e": 2, "f": 1}, "old")
    found = difference(before, run({"a": 2, "b": 0, "c": 1, "d": 3, "e": 2, "f": 0}))
    assert [one.id for one in found.moved] == ["b", "f", "d", "a", "c"]
    assert format_moves(found) == "2 lost, 2 down, 1 gained, 1 the same"


def test_deltas_by_category_are_paired() -> None:
    before = run([result(str(n), 2, tags=("x",) if n % 2 else ()) for n in range(20)], "old")
    now = run([result(str(n), 1 if n % 2 else 2, tags=("x",) if n % 2 else ()) for n in range(20)])
    found = compare_runs(before, now)
    total, own = (category.metrics["mrr@10"] for category in found.categories)
    assert (total.before, total.now, total.change.value) == (0.5, 0.75, 0.25) and total.change.is_clear
    assert (own.change.value, own.change.low, own.change.high) == (0.5, 0.5, 0.5), "all of them rose alike"
    assert found.categories[1].name == "x" and found.categories[1].questions == 10


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"fingerprint": "g"}, "asked different questions"),
        ({"k": 5}, "looked at 3 and 5 files"),
        ({"version": 2}, "different versions"),
    ],
)
def test_runs_that_say_nothing_about_each_other(change: dict[str, object], said: str) -> None:
    with pytest.raises(NotComparable, match=said):
        compare_runs(run({"a": 1}, "old"), run({"a": 1}, **change))


def test_readers_who_see_different_files_are_not_compared() -> None:
    other = replace(CONDITIONS, clearance="restricted")
    with pytest.raises(NotComparable, match="saw files up to internal and up to restricted; ask both again"):
        compare_runs(run({"a": 1}, "old"), run({"a": 1}, conditions=other))


def test_what_else_than_the_commit_differs_is_told() -> None:
    assert compare_runs(run({"a": 1}, "old"), run({"a": 2})).conditions == {}
    other = replace(CONDITIONS, ranking=2, mode="bm25")
    found = compare_runs(run({"a": 1}, "old"), run({"a": 2}, conditions=other, embedding_model="m"))
    assert found.conditions == {
        "ranking": ("1", "2"),
        "mode": ("hybrid", "bm25"),
        "embedding_model": ("lexical-only", "m"),
    }
