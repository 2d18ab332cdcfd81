"""What a follow-up question carries over from the one before, without a model: one name, or nothing."""

from __future__ import annotations

import pytest

from rag_assets.answer.results import EXTRACTIVE
from rag_assets.history.conversations import Conversations
from rag_assets.qa.actions.question import carried_over
from rag_assets.qa.turn import Status
from rag_assets_tests.qa.conftest import Asking

ABOUT_ONE = "What does RefundPolicy do?"


@pytest.mark.parametrize(
    ("question", "made"),
    [
        ("who calls it?", "who calls RefundPolicy?"),
        ("Where is it defined", "Where is RefundPolicy defined"),
        ("what implements that interface?", "what implements RefundPolicy?"),
        ("who uses this class in tests", "who uses RefundPolicy in tests"),
        ("who calls that?", "who calls RefundPolicy?"),
        ("what are its members", "what are RefundPolicy's members"),
    ],
)
def test_what_points_at_the_one_name_before_is_read_as_it(question: str, made: str) -> None:
    assert carried_over(question, ABOUT_ONE) == (made, "RefundPolicy")


@pytest.mark.parametrize(
    ("question", "before"),
    [
        ("who calls OrderService, and does it log?", ABOUT_ONE),
        ("how are refunds limited", ABOUT_ONE),
        ("is it possible to refund twice", ABOUT_ONE),
        ("what is the class that limits refunds", ABOUT_ONE),
        ("who calls it?", "how are refunds limited"),
        ("who calls it?", "does RefundPolicy call OrderService"),
        ("who calls it?", ""),
        ("who calls it?", "knd:Service RefundPolicy"),
    ],
    ids=["own-name", "nothing-points", "expletive", "relative", "no-name", "two-names", "first", "unreadable"],
)
def test_nothing_is_guessed(question: str, before: str) -> None:
    assert carried_over(question, before) == (question, "")


def test_a_conversation_without_a_model_goes_on(asking: Asking, history: Conversations) -> None:
    offline = asking.pipeline("code_question_answering_offline")
    asking.ask(offline, "What does InvoiceWriter do?", user="ann", session="s")
    result = asking.ask(offline, "who creates it?", user="ann", session="s")
    assert result.status is Status.ANSWERED and result.response is not None
    assert "OrderService" in result.answer and result.response.provider == EXTRACTIVE
    assert any(said.startswith("read as: who creates InvoiceWriter?") for said in result.response.warnings)
    kept = history.load("ann", "s").turns[-1]
    assert (kept.question, kept.question_en) == ("who creates it?", "who creates InvoiceWriter?")
    again = asking.ask(offline, "where is it defined", user="ann", session="s")
    assert "InvoiceWriter.cs" in again.answer, "a name is carried on"
    other = asking.ask(offline, "who creates it?", user="bob", session="s")
    assert "InvoiceWriter" not in other.answer, "the session of somebody else is another one"
