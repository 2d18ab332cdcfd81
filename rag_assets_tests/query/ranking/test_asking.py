"""What kind of question it is."""

from __future__ import annotations

import pytest

from rag_assets.query.ranking.asking import Asking, asking


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("fix the rounding of invoices", Asking.TASK),
        ("Fixes the rounding of invoices", Asking.TASK),
        ("fixed rounding", Asking.TASK),
        ("Added support for vouchers", Asking.TASK),
        ("removing stale baskets", Asking.TASK),
        ("dropped the old gateway", Asking.TASK),
        ("using spans in the parser", Asking.TASK),
        ("how are invoices rounded", Asking.PROSE),
        ("rounding of invoices", Asking.PROSE),
        ("addresses of customers", Asking.PROSE),
        ("moves", Asking.TASK),
        ("", Asking.PROSE),
        ("???", Asking.PROSE),
    ],
)
def test_a_question_that_begins_with_a_verb_of_change_is_a_task(text: str, kind: Asking) -> None:
    assert asking(text, is_name=False) is kind


LENGTHY = "Holds what a customer still has to pay, split by invoice, currency, tax rate, due date and reminder level"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (LENGTHY, Asking.DESCRIPTION),
        (" ".join(LENGTHY.split()[:9]), Asking.PROSE),
        ("where is it that this is what it was, and who was it that had been there with it and that one", Asking.PROSE),
        ("refund refunds refunding the refund of the refund of a refund and the refund of refunds", Asking.PROSE),
        (f"Fix {LENGTHY}", Asking.TASK),
    ],
    ids=["long", "short", "of function words", "of one word", "a task"],
)
def test_prose_of_many_words_is_a_description(text: str, kind: Asking) -> None:
    assert asking(text, is_name=False) is kind


def test_a_name_is_a_name_whatever_it_says() -> None:
    assert asking("AddOrder", is_name=True) is Asking.NAME
