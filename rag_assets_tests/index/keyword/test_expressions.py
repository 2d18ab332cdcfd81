"""Expressions of everyday English in a question, and what code calls them."""

from __future__ import annotations

import re
from importlib import resources

import pytest

from rag_assets.index.keyword.expressions import expressions_in
from rag_assets.index.keyword.vocabulary import question_terms
from rag_assets_tests.index.keyword.test_question_terms import Known

LINES = resources.files("rag_assets.index.keyword").joinpath("expressions.txt").read_text("ascii").splitlines()


def test_each_line_is_an_expression_and_words_of_code() -> None:
    form = re.compile(r"[a-z]+(?: [a-z]+){0,3}:(?: [a-z]+){0,4}(?: \|(?: [a-z]+){1,4})?")
    assert [line for line in LINES if not form.fullmatch(line) or line.endswith(":")] == []
    said = [line.partition(":")[0] for line in LINES]
    assert said == sorted(said) and len(said) > 1_000


def test_each_line_is_found_by_itself() -> None:
    """No other one has forms of the same words."""
    for line in LINES:
        expression, _, instead = line.replace("|", "").partition(":")
        found = expressions_in(expression)[0]
        assert [" ".join(found.words), *(word for word, _ in found.instead)] == [expression, *instead.split()]


@pytest.mark.parametrize(
    ("question", "words", "term"),
    [
        ("is my handler called again when it throws?", ("called", "again"), "retry"),
        ("Can I call an order off?", ("call", "off"), "cancel"),
        ("are the old entries thrown away", ("thrown", "away"), "delete"),
        ("who has wiped everything out", ("wiped", "out"), "delete"),
    ],
)
def test_forms_of_its_words_are_an_expression_with_two_others_between(
    question: str, words: tuple[str, ...], term: str
) -> None:
    found = {one.words: dict(one.instead) for one in expressions_in(question)}
    assert 0 < found[words][term] < 1


@pytest.mark.parametrize(
    "question",
    ["", "…", "again it is called", "call the clerk of the other office off", "who calls OrderService", "callagain"],
    ids=["empty", "no letters", "another order", "too far apart", "one of its words", "one word"],
)
def test_what_is_no_expression(question: str) -> None:
    assert not {("call", "off"), ("called", "again")} & {one.words for one in expressions_in(question)}


def test_of_two_that_begin_together_the_longer_one_is_meant() -> None:
    assert [one.words for one in expressions_in("how many at most")] == [("how", "many", "at", "most"), ("at", "most")]


def test_a_question_is_searched_with_the_words_of_code_that_the_index_has() -> None:
    index = Known("retry", "called", "again")
    asked = "is it called again"
    found = question_terms(asked, index, expressions=expressions_in(asked))
    assert found.related == {"retry": "called again"}  # no section says `attempt`
    assert found.weights["called"] < 1 and found.weights["retry"] > found.weights["called"]
    without = question_terms(asked, index)
    assert without.weights["called"] == 1 and "retry" not in without.weights


def test_a_word_that_is_asked_for_stands_for_itself() -> None:
    asked = "is it called again after a retry"
    found = question_terms(asked, Known("retry", "called"), expressions=expressions_in(asked))
    assert found.weights["retry"] == 1 and "retry" not in found.related


def test_a_pasted_text_has_those_of_its_beginning() -> None:
    assert len(expressions_in("call it off " * 10)) == 10 < len(expressions_in("call it off " * 10_000)) < 30
