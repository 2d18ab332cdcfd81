"""The signals of a search, and what they add up to (E20, E22)."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from rag_assets import Index
from rag_assets.answer.abstention import SURE, THRESHOLD, Signals, confidence, keyword_signal, likelihood
from rag_assets.answer.passage_ranking import ranked, signals_of
from rag_assets.answer.question_analysis import QueryTerm, root
from rag_assets.contracts.retrieval import Mode
from rag_assets.index.keyword.vocabulary import inverse_document_frequency
from rag_assets.models.static_code.embedder import StaticEmbedder
from rag_assets_tests.answer.pieces import piece

STRONG = Signals(said=1.0, meaning=0.5, keyword=1.0, named=0.5, words_said=4, words=4)
WEAK = Signals(said=0.3, meaning=0.1, keyword=0.5, document=1.0, unsaid_names=1, words_said=1, words=4)
REFUND = QueryTerm("refund", "refund", 3.0, True)
FAX = QueryTerm("fax", "fax", 5.0, False)


@pytest.mark.rule("E22")
def test_a_fitting_search_is_answered_and_another_is_not() -> None:
    assert confidence(STRONG) > SURE > THRESHOLD > confidence(WEAK)


@pytest.mark.parametrize(
    "better",
    [
        *({"said": 0.8}, {"meaning": 0.5}, {"keyword": 0.9}, {"named": 0.5}),
        *({"document": 0.0}, {"unsaid_names": 0}, {"words_said": 2}, {"setting": 0.5}, {"unsaid_things": -0.2}),
    ],
    ids=str,
)
def test_every_signal_counts(better: dict[str, float]) -> None:
    assert confidence(replace(WEAK, **better)) > confidence(WEAK)  # type: ignore[arg-type]


def test_what_most_of_a_question_about_a_name_lacks_is_not_sure_at_best() -> None:
    lacking = replace(STRONG, unsaid=0.6)
    assert THRESHOLD < confidence(lacking) < SURE < confidence(replace(lacking, unsaid=0.3)) == likelihood(lacking)
    assert confidence(replace(lacking, named=0.0, said=1.0, keyword=1.4)) > SURE


def test_an_unknown_name_is_no_matter_of_degree() -> None:
    assert confidence(replace(STRONG, unknown_names=("OrderDispatcher",))) == 0.0


def test_a_fact_about_a_known_name_is_an_answer() -> None:
    assert confidence(replace(WEAK, names=1, facts=1)) == 1.0
    assert confidence(replace(WEAK, facts=1)) < THRESHOLD


def test_signals_of_passages() -> None:
    other = piece(path="b", text="int fee = 3;\n", identifier="bbbb2222", score=0.5)
    found = signals_of(ranked("refund fax", (REFUND, FAX), [piece(), other], None), ("RefundOrder",), ())
    assert (found.said, found.document, found.names, found.words, found.words_said) == (3 / 8, 0.0, 1, 2, 1)


def test_a_name_that_has_neighbouring_words_together_is_a_sign() -> None:
    order, limit = (QueryTerm(word, word, 3.0, True) for word in ("order", "limit"))
    named = signals_of(ranked("refund order limit", (REFUND, order, limit), [piece()], None), (), ()).named
    assert named == 0.5  # `RefundOrder`; no name has `order` and `limit`
    assert signals_of(ranked("refund limit", (REFUND, limit), [piece()], None), (), ()).named == 0.0
    assert signals_of(ranked("refund", (REFUND,), [piece()], None), (), ()).named == 1.0


def test_a_document_that_is_quoted_first_is_a_sign() -> None:
    page = piece(
        "# Refunds\n\nA refund is paid within 14 days.\n", "bbbb2222", path="docs/refunds.md", language="markdown"
    )
    assert signals_of(ranked("refund", (REFUND,), [page], None), (), ()).document == 1.0


def test_of_a_long_question_many_words_are_said_and_a_few_more_prove_nothing() -> None:
    assert confidence(replace(WEAK, words_said=80)) == confidence(replace(WEAK, words_said=8))


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


def test_things_that_are_left_unsaid_count_and_ways_to_say_it_do_not(tmp_path: Path) -> None:
    model = StaticEmbedder.load(tmp_path, for_questions=True)

    def unsaid_things(word: str, text: str, model: StaticEmbedder | None = model, *, known: bool = True) -> float:
        words = (REFUND, QueryTerm(word, root(word), 3.0, known))
        return signals_of(ranked(f"refund {word}", words, [piece(text)], model), (), ()).unsaid_things

    text = "public void Refund() { }\n"
    things = [unsaid_things(word, text) for word in ("voucher", "encryption", "subscription", "invoice")]
    others = [unsaid_things(word, text) for word in ("decided", "shown", "come", "took")]
    assert min(things) > 0 > max(others)
    assert unsaid_things("voucher", "public void Refund(Voucher voucher) { }\n") == 0.0
    assert unsaid_things("voucher", text, None) == 0.0
    assert unsaid_things("vouchzqx", text, known=False) > max(things), "what nobody has is a thing"
    assert unsaid_things("blockchain", text) == unsaid_things("возврат", text) == 0.0, (
        "the table has pieces, or nothing"
    )


@pytest.mark.parametrize("sections", [2_000, 20_000])
def test_a_keyword_score_does_not_depend_on_how_many_sections_there_are(shop: Index, sections: int) -> None:
    """A word that one section has weighs more the more there are; two such words prove the same in any index."""
    rare = 2 * inverse_document_frequency(sections, 1)
    found = shop.search("refund", mode=Mode.BM25)
    scored = replace(found, hits=tuple(replace(hit, scores={"bm25": rare}) for hit in found.hits))
    keyword = keyword_signal(scored, sections)
    assert keyword == pytest.approx(math.log(3))
    assert keyword_signal(replace(found, hits=()), sections) == 0.0
    without = keyword_signal(replace(scored, mode=Mode.SEMANTIC), sections)
    assert 0 < without < keyword, "a search without keywords says nothing for or against"


def test_no_evidence_has_no_confidence() -> None:
    assert confidence(signals_of(ranked("refund", (REFUND,), [], None), (), ())) == 0.0
    assert confidence(signals_of(ranked("", (), [piece()], None), (), ())) == 0.0
