"""The decision of the promotion gate, as a pure function of two runs and its rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from rag_assets.evaluation.gate import GateRules, decide
from rag_assets.evaluation.metrics import mean
from rag_assets.index.eval_records import EvalRun, QuestionResult, Verdict
from rag_assets_tests.evaluation.made_runs import CONDITIONS

pytestmark = pytest.mark.rule("E25")


def run(recalls: Sequence[float], generation: str = "new", **changes: Any) -> EvalRun:
    """One question per value of recall@10; MRR is half of it."""
    results = tuple(
        QuestionResult(
            id=f"q{number}",
            question=f"question {number}",
            scores={"recall@10": value, "mrr@10": value / 2},
            first_rank=1 if value else 0,
            files=(),
            seconds=0.01,
        )
        for number, value in enumerate(recalls)
    )
    values: dict[str, Any] = {
        "set": "questions",
        "fingerprint": "f",
        "generation_id": generation,
        "k": 10,
        "version": 1,
        "mode": "bm25",
        "embedding_model": "lexical-only",
        "conditions": CONDITIONS,
        "metrics": mean(result.scores for result in results),
        "results": results,
    }
    return EvalRun(**(values | changes))


def twenty(found: int) -> list[float]:
    return [1.0] * found + [0.0] * (20 - found)


CASES = [
    # active, candidate (questions of 20 that are answered), rules → passes
    pytest.param(20, 20, GateRules(), True, id="equal"),
    pytest.param(20, 19, GateRules(), True, id="exactly the tolerance"),
    pytest.param(20, 18, GateRules(), False, id="twice the tolerance"),
    pytest.param(20, 18, GateRules(tolerance=0.1), True, id="a higher tolerance"),
    pytest.param(20, 19, GateRules(tolerance=0.0), False, id="no tolerance"),
    pytest.param(10, 9, GateRules(), False, id="relative to what is served"),
    pytest.param(18, 20, GateRules(), True, id="better"),
    pytest.param(0, 0, GateRules(), True, id="nothing to lose"),
    pytest.param(20, 18, GateRules(enabled=False), True, id="gate off"),
    pytest.param(20, 20, GateRules(minimum={"recall": 1.0}), True, id="minimum reached"),
    pytest.param(10, 10, GateRules(minimum={"recall": 0.6}), False, id="below the minimum though equal"),
    pytest.param(20, 20, GateRules(minimum={"mrr": 0.6}), False, id="minimum of a metric that is not compared"),
    pytest.param(None, 10, GateRules(), True, id="first build"),
    pytest.param(None, 10, GateRules(minimum={"recall": 0.6}), False, id="first build below the minimum"),
]


@pytest.mark.parametrize(("active", "candidate", "rules", "passes"), CASES)
def test_verdicts(active: int | None, candidate: int, rules: GateRules, passes: bool) -> None:
    before = None if active is None else run(twenty(active), "old")
    found = decide(run(twenty(candidate)), before, rules, alone="nothing is served yet")
    assert found.verdict is (Verdict.PASSED if passes else Verdict.REFUSED)


def test_a_refusal_has_every_number() -> None:
    found = decide(run([1.0, 0.0, 0.5, 1.0]), run([1.0, 1.0, 1.0, 0.0], "old"), GateRules())
    assert found.reason == "recall@10 is 0.625, 16.7% below the 0.750 of old (tolerance 5%)"
    assert [(question.id, question.active_rank, question.candidate_rank) for question in found.worse] == [
        ("q1", 1, 0),
        ("q2", 1, 1),
    ], "the largest loss first"
    assert found.better == 1
    recall, mrr = found.changes
    assert (recall.candidate, recall.active, recall.holds) == (0.625, 0.75, False)
    assert recall.floor == pytest.approx(0.7125)
    assert recall.delta == pytest.approx(-0.125)
    assert (mrr.floor, mrr.holds) == (None, True), "measured and shown, not compared"
    assert (found.active_generation_id, found.generation_id, found.tolerance) == ("old", "new", 0.05)


def test_the_compared_metrics_are_a_choice() -> None:
    candidate = run([1.0, 0.0], metrics={"recall@10": 1.0, "mrr@10": 0.1})
    active = run([1.0, 0.0], "old", metrics={"recall@10": 1.0, "mrr@10": 0.5})
    assert not decide(candidate, active, GateRules()).refused
    assert decide(candidate, active, GateRules(metrics=("recall", "mrr"))).refused


def test_the_gate_that_is_off_says_what_it_would_say() -> None:
    found = decide(run(twenty(10)), run(twenty(20), "old"), GateRules(enabled=False))
    assert found.reason.startswith("the gate is off; it would say: recall@10 is 0.500, 50.0% below")


def test_why_there_was_nothing_to_compare_with_is_kept() -> None:
    assert decide(run(twenty(1)), None, GateRules(), alone="shop@main serves nothing yet").reason == (
        "shop@main serves nothing yet"
    )


@pytest.mark.parametrize(
    "change",
    [{"fingerprint": "g"}, {"k": 5}, {"version": 2}, {"conditions": replace(CONDITIONS, ranking=2)}],
    ids=lambda change: next(iter(change)),
)
def test_runs_of_different_questions_are_never_compared(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="different questions"):
        decide(run(twenty(1)), run(twenty(20), "old", **change), GateRules())
