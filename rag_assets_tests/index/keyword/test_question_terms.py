"""The words of a question, and the names that they make."""

from __future__ import annotations

import pytest

from rag_assets.index.keyword.terms import FORM_WEIGHT
from rag_assets.index.keyword.vocabulary import JOINED_WEIGHT, RELATED_WEIGHT, KnownTerm, question_terms


class Known:
    """An index of these terms, which keeps what it is asked."""

    def __init__(self, *terms: str) -> None:
        self.terms = sorted(terms)
        self.asked: list[str] = []

    def find(self, term: str) -> KnownTerm | None:
        self.asked.append(term)
        return KnownTerm(self.terms.index(term), 1) if term in self.terms else None

    def starting(self, beginning: str) -> list[str]:
        self.asked.append(beginning)
        return [term for term in self.terms if term.startswith(beginning)]


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("order repository", "orderrepository"),
        ("i order repository", "iorderrepository"),
        ("Order Repository", "orderrepository"),
        ("Shop.OrderRepository", "shoporderrepository"),
    ],
    ids=["two words", "a letter", "capitals", "a dotted name"],
)
def test_a_name_split_into_words_is_asked_for_as_a_whole(text: str, whole: str) -> None:
    found = question_terms(text, Known(whole))
    assert found.weights[whole] == 1.0
    assert found.is_name


@pytest.mark.parametrize("text", ["OrderRepository", "orders", "get_order"])
def test_one_run_is_a_name(text: str) -> None:
    assert question_terms(text, Known()).is_name


def test_neighbours_in_a_sentence_count_less() -> None:
    found = question_terms("how does the order repository save lines", Known("orderrepository", "thelines"))
    assert found.weights["orderrepository"] == JOINED_WEIGHT
    assert "thelines" not in found.weights
    assert not found.is_name


def test_a_term_that_is_written_keeps_its_weight() -> None:
    assert question_terms("OrderRepository of an order repository", Known("orderrepository")).weights[
        "orderrepository"
    ] == pytest.approx(1.0)


@pytest.mark.parametrize("text", ["", "…", "the of"], ids=["empty", "no letters", "function words"])
def test_a_question_without_names_has_none(text: str) -> None:
    found = question_terms(text, Known())
    assert not found.is_name
    assert all(weight < 1 for weight in found.weights.values())


def test_other_forms_of_words_count_less_and_say_whose_they_are() -> None:
    found = question_terms("what provides orders", Known("provider", "providing", "order", "ordering", "wha"))
    assert found.forms == {"provider": "provide", "providing": "provide", "ordering": "order"}
    assert {term: found.weights[term] for term in found.forms} == dict.fromkeys(found.forms, FORM_WEIGHT)
    assert list(found.weights)[:3] == ["what", "provide", "order"]


@pytest.mark.parametrize("text", ["providers", "order providing"], ids=["one run", "a split name"])
def test_a_name_is_asked_for_as_it_is(text: str) -> None:
    assert question_terms(text, Known("provide", "orderproviding")).forms == {}


@pytest.mark.parametrize("text", ["should these", "providing should provide"], ids=["function words", "said itself"])
def test_what_is_said_or_says_nothing_has_no_forms(text: str) -> None:
    assert question_terms(text, Known("shoulder", "theses", "provide", "providing")).forms == {}


def test_a_long_text_costs_a_bounded_number_of_look_ups() -> None:
    index = Known()
    question_terms(" ".join(f"word{chr(97 + number % 26)}{number}" for number in range(5_000)), index)
    assert len(index.asked) < 200


THESAURUS = {"voucher": [("vouchers", 0.9), ("coupons", 0.6), ("coupon", 0.55), ("gift", 0.5), ("where", 0.45)]}


def test_words_that_mean_about_the_same_are_searched_where_the_index_has_them() -> None:
    index = Known("coupon", "where", "apply")
    found = question_terms("where is the voucher applied", index, lambda word: THESAURUS.get(word, []))
    assert found.related == {"coupon": "voucher"}  # `gift` is nowhere, `where` says nothing
    assert found.weights["coupon"] == pytest.approx(RELATED_WEIGHT * 0.6)
    assert "coupon" not in question_terms("where is the voucher applied", index).weights


def test_a_word_that_is_asked_for_is_not_related_to_another() -> None:
    found = question_terms("is a coupon a voucher", Known("coupon"), lambda word: THESAURUS.get(word, []))
    assert found.weights["coupon"] == 1.0 and not found.related


def test_a_word_has_few_related_ones_and_a_name_none() -> None:
    many = [f"word{chr(97 + number)}" for number in range(20)]
    index = Known(*many)
    found = question_terms("what is a voucher", index, lambda word: [(other, 0.5) for other in many])
    assert list(found.related) == many[:5]
    assert not question_terms("Voucher", index, lambda word: [(other, 0.5) for other in many]).related
