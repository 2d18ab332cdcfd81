"""The signals of a search, and what they add up to (E20, E22)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rag_assets.answer.abstention import SURE, THRESHOLD, Signals, confidence
from rag_assets.answer.passage_ranking import ranked, signals_of
from rag_assets.answer.question_analysis import QueryTerm
from rag_assets.models.static_code.embedder import StaticEmbedder
from rag_assets_tests.answer.pieces import piece

STRONG = Signals(best=1.0, elsewhere=0.6, meaning=0.5, words=4)
WEAK = Signals(best=0.3, meaning=0.1, unknown=0.5, unsaid=0.5, unsaid_names=1, missed=1.0, words=4)
REFUND = QueryTerm("refund", "refund", 3.0, True)
FAX = QueryTerm("fax", "fax", 5.0, False)


@pytest.mark.rule("E22")
def test_a_fitting_search_is_answered_and_another_is_not() -> None:
    assert confidence(STRONG) > SURE > THRESHOLD > confidence(WEAK)


@pytest.mark.parametrize(
    "better",
    [{"best": 0.8}, {"elsewhere": 0.5}, {"meaning": 0.5}, {"unknown": 0.0}, {"unsaid": 0.0}, {"unsaid_names": 0}],
    ids=str,
)
def test_every_signal_counts(better: dict[str, float]) -> None:
    assert confidence(replace(WEAK, **better)) > confidence(WEAK)  # type: ignore[arg-type]


def test_an_unknown_name_is_no_matter_of_degree() -> None:
    assert confidence(replace(STRONG, unknown_names=("OrderDispatcher",))) == 0.0


def test_a_fact_about_a_known_name_is_an_answer() -> None:
    assert confidence(replace(WEAK, names=1, facts=1)) == 1.0
    assert confidence(replace(WEAK, facts=1)) < THRESHOLD


def test_signals_of_passages() -> None:
    other = piece(path="b", text="int fee = 3;\n", identifier="bbbb2222", score=0.5)
    found = signals_of(ranked("refund fax", (REFUND, FAX), [piece(), other], None), ("RefundOrder",), ())
    assert (found.best, found.elsewhere, found.unknown, found.unsaid) == (3 / 8, 0.0, 5 / 8, 5 / 8)
    assert (found.names, found.words, found.missed) == (1, 2, 1.0)


def test_a_name_that_nothing_says_is_counted() -> None:
    named = replace(FAX, is_name=True)
    assert signals_of(ranked("refund by Fax", (REFUND, named), [piece()], None), (), ()).unsaid_names == 1


def test_a_word_that_means_about_the_same_counts_in_part(tmp_path: Path) -> None:
    model = StaticEmbedder.load(tmp_path, for_questions=True)
    words = (QueryTerm("computed", "comput", 1.0, True), QueryTerm("oracle", "oracl", 1.0, True))
    text = "public decimal Calculate() { return 1m; }\n"
    found = ranked("how is it computed", words, [piece(text)], model)
    (near, far), _ = found.credit[0], found.said
    assert 0.2 < near < 1.0 and far == 0.0
    assert ranked("how is it computed", words, [piece(text)], None).credit.max() == 0.0


def test_no_evidence_has_no_confidence() -> None:
    assert confidence(signals_of(ranked("refund", (REFUND,), [], None), (), ())) == 0.0
    assert confidence(signals_of(ranked("", (), [piece()], None), (), ())) == 0.0
