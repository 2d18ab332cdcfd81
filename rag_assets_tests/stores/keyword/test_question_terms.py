"""The words of a question, and the names that they make."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rag_assets.stores.keyword.question_terms import JOINED_WEIGHT, question_terms
from rag_assets.stores.keyword.vocabulary import KnownTerm


def known(*terms: str) -> Callable[[str], KnownTerm | None]:
    return {term: KnownTerm(number, 1) for number, term in enumerate(terms)}.get


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
    found = question_terms(text, known(whole))
    assert found.weights[whole] == 1.0
    assert found.is_name


@pytest.mark.parametrize("text", ["OrderRepository", "orders", "get_order"])
def test_one_run_is_a_name(text: str) -> None:
    assert question_terms(text, known()).is_name


def test_neighbours_in_a_sentence_count_less() -> None:
    found = question_terms("how does the order repository save lines", known("orderrepository", "thelines"))
    assert found.weights["orderrepository"] == JOINED_WEIGHT
    assert "thelines" not in found.weights
    assert not found.is_name


def test_a_term_that_is_written_keeps_its_weight() -> None:
    assert question_terms("OrderRepository of an order repository", known("orderrepository")).weights[
        "orderrepository"
    ] == pytest.approx(1.0)


@pytest.mark.parametrize("text", ["", "…", "the of"], ids=["empty", "no letters", "function words"])
def test_a_question_without_names_has_none(text: str) -> None:
    found = question_terms(text, known())
    assert not found.is_name
    assert all(weight < 1 for weight in found.weights.values())


def test_a_long_text_costs_a_bounded_number_of_look_ups() -> None:
    asked: list[str] = []

    def find(term: str) -> None:
        asked.append(term)

    question_terms("word " * 5_000, find)
    assert len(asked) < 100
