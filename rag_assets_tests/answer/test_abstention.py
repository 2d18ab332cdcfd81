"""The signals of a search, and what they add up to (E20, E22)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rag_assets.answer.abstention import THRESHOLD, Signals, confidence, signals_of
from rag_assets.answer.question_analysis import QueryTerm
from rag_assets_tests.answer.pieces import piece

STRONG = Signals(
    dense=0.7, best=1.0, together=1.0, unknown=0.0, names=0, unknown_names=(), margin=0.5, words=4
)  # fmt: skip
WEAK = replace(STRONG, dense=0.2, best=0.2, together=0.3, unknown=0.5, margin=0.1)


@pytest.mark.rule("E22")
@pytest.mark.parametrize("dense", [True, False], ids=["with a model", "without"])
def test_a_fitting_search_is_answered_and_another_is_not(dense: bool) -> None:
    def known(signals: Signals) -> float:
        return confidence(signals if dense else replace(signals, dense=None))

    assert known(STRONG) > THRESHOLD > known(WEAK)


@pytest.mark.parametrize("better", [{"dense": 0.9}, {"best": 0.8}, {"together": 0.9}, {"unknown": 0.0}], ids=str)
def test_every_signal_counts(better: dict[str, float]) -> None:
    middle = replace(STRONG, dense=0.5, best=0.5, together=0.6, unknown=0.3)
    assert confidence(replace(middle, **better)) > confidence(middle)  # type: ignore[arg-type]


def test_an_unknown_name_is_no_matter_of_degree() -> None:
    assert confidence(replace(STRONG, unknown_names=("OrderDispatcher",))) == 0.0


def test_a_fact_about_a_known_name_is_an_answer() -> None:
    assert confidence(replace(WEAK, names=1, facts=1)) == 1.0
    assert confidence(replace(WEAK, facts=1)) < THRESHOLD


def test_signals_of_evidence() -> None:
    words = (QueryTerm("refund", "refund", 3.0, True), QueryTerm("fax", "fax", 5.0, False))
    found = signals_of(
        words, ("RefundOrder",), (), [piece(score=1.0, dense=0.4), piece(score=0.5, dense=0.6, path="b")]
    )
    assert (found.dense, found.best, found.unknown) == (0.6, 3 / 8, 5 / 8)
    assert (found.names, found.margin) == (1, 0.0)


def test_no_evidence_has_no_confidence() -> None:
    assert confidence(signals_of((), (), (), ())) == 0.0
