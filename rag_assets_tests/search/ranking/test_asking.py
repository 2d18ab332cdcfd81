"""What kind of question it is."""

from __future__ import annotations

import pytest

from rag_assets.search.ranking.signals import QueryType, is_question, query_type


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("fix the rounding of invoices", QueryType.TASK),
        ("Fixes the rounding of invoices", QueryType.TASK),
        ("fixed rounding", QueryType.TASK),
        ("Added support for vouchers", QueryType.TASK),
        ("removing stale baskets", QueryType.TASK),
        ("dropped the old gateway", QueryType.TASK),
        ("using spans in the parser", QueryType.TASK),
        ("how are invoices rounded", QueryType.QUESTION),
        ("rounding of invoices", QueryType.PROSE),
        ("addresses of customers", QueryType.PROSE),
        ("moves", QueryType.TASK),
        ("", QueryType.PROSE),
        ("???", QueryType.PROSE),
    ],
)
def test_a_question_that_begins_with_a_verb_of_change_is_a_task(text: str, kind: QueryType) -> None:
    assert query_type(text, is_name=False) is kind


LENGTHY = "Holds what a customer still has to pay, split by invoice, currency, tax rate, due date and reminder level"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (LENGTHY, QueryType.DESCRIPTION),
        (" ".join(LENGTHY.split()[:9]), QueryType.PROSE),
        (
            "it is that this is what it was, and it was that which had been there with it and that one",
            QueryType.PROSE,
        ),
        ("refund refunds refunding the refund of the refund of a refund and the refund of refunds", QueryType.PROSE),
        (f"Fix {LENGTHY}", QueryType.TASK),
    ],
    ids=["long", "short", "of function words", "of one word", "a task"],
)
def test_prose_of_many_words_is_a_description(text: str, kind: QueryType) -> None:
    assert query_type(text, is_name=False) is kind


def test_a_name_is_a_name_whatever_it_says() -> None:
    assert query_type("AddOrder", is_name=True) is QueryType.NAME


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Where are vouchers applied", True),
        ("nobody reacts in time, who gets it then?", True),
        (f"how is it decided {LENGTHY}", True),
        ("default mail server and port? ", True),
        ("rounding of invoices", False),
        ("isolation of tenants", False),
        ("How", False),
        ("IsIn", False),
        ("???", False),
        ("", False),
    ],
)
def test_a_question_begins_or_ends_as_one(text: str, *, asks: bool) -> None:
    assert is_question(text) is asks
    assert (query_type(text, is_name=False) is QueryType.QUESTION) is asks
