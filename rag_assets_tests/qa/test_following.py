"""How a follow-up question is read without a model: with the name of the question before, or what its answer cited."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence

import pytest

from rag_assets.answer.results import EXTRACTIVE
from rag_assets.history.conversations import Conversations
from rag_assets.qa.follow_up import Before, CitedSymbol, names_of, read_follow_up
from rag_assets.qa.turn import Status
from rag_assets_tests.qa.conftest import Asking, notes_of

ABOUT_ONE = "What does RefundPolicy do?"
ABOUT_NONE = "where is an order created?"


def cited(number: int, name: str, kinds: str, path: str = "src/Orders/OrderService.cs") -> CitedSymbol:
    return CitedSymbol(number, name, frozenset(kinds.split()), path)


CITED = (
    cited(1, "Order.Id", "property field member file", "src/Orders/Order.cs"),
    cited(2, "OrderService.Create", "method function member file"),
    cited(3, "Order", "type class model file", "src/Orders/Order.cs"),
    cited(4, "sales.Orders", "table file", "db/tables.sql"),
    cited(5, "POST /api/orders", "endpoint route file", "src/Program.cs"),
    cited(6, "IOrderService", "type class interface file", "src/Orders/IOrderService.cs"),
    cited(7, "OrderTests", "type class test file", "tests/OrderTests.cs"),
    cited(8, "", "file document page", "docs/orders.md"),
    cited(9, "OrderService.Cancel", "method function member file"),
)
KNOWN = {"Order", "Parcel"}


def read(question: str, before: str, places: Sequence[CitedSymbol] = CITED) -> tuple[str, str] | None:
    asked = Before(before, names_of(before), lambda: tuple(places))
    found = read_follow_up(question, asked, KNOWN.__contains__)
    return None if found is None else (found.question, found.because)


@pytest.mark.parametrize(
    ("before", "question", "made"),
    [
        # the name of the question before
        (ABOUT_ONE, "who calls it?", "who calls RefundPolicy?"),
        (ABOUT_ONE, "Where is it defined", "Where is RefundPolicy defined"),
        (ABOUT_ONE, "what implements that interface?", "what implements RefundPolicy?"),
        (ABOUT_ONE, "who uses this class in tests", "who uses RefundPolicy in tests"),
        (ABOUT_ONE, "who calls that?", "who calls RefundPolicy?"),
        (ABOUT_ONE, "can I turn that off?", "can I turn RefundPolicy off?"),
        (ABOUT_ONE, "what are its members", "what are RefundPolicy's members"),
        (ABOUT_ONE, "and where is that configured?", "where is RefundPolicy configured?"),
        (ABOUT_ONE, "what does this return when nothing is owed", "what does RefundPolicy return when nothing is owed"),
        (ABOUT_ONE, "what is the purpose of it?", "what is the purpose of RefundPolicy?"),
        (ABOUT_ONE, "and the tests?", "which tests test RefundPolicy?"),
        (ABOUT_ONE, "What about the tests", "which tests test RefundPolicy?"),
        (ABOUT_ONE, "where are its tests?", "which tests test RefundPolicy?"),
        (ABOUT_ONE, "are there tests for it?", "which tests test RefundPolicy?"),
        (ABOUT_ONE, "thanks, and the tests?", "which tests test RefundPolicy?"),
        (ABOUT_ONE, "any tests?", "which tests test RefundPolicy?"),
        (ABOUT_ONE, "does it have tests", "which tests test RefundPolicy?"),
        (ABOUT_ONE, "and its callers?", "who calls RefundPolicy?"),
        (ABOUT_ONE, "what about the implementations", "what implements RefundPolicy?"),
        (ABOUT_ONE, "what happens when it's null?", "what happens when RefundPolicy is null?"),
        (ABOUT_ONE, "where's that?", "where's RefundPolicy?"),
        (ABOUT_ONE, "what breaks if I change it?", "what breaks if I change RefundPolicy?"),
        (ABOUT_ONE, "what does this depend on", "what does RefundPolicy depend on"),
        (
            ABOUT_ONE,
            "who calls it? and where is it defined?",
            "who calls RefundPolicy? and where is RefundPolicy defined?",
        ),
        (ABOUT_ONE, "show me more", "how does RefundPolicy work?"),
        (ABOUT_ONE, "show me the code", "how does RefundPolicy work?"),
        (
            ABOUT_ONE,
            "what calls it and what does that return",
            "what calls RefundPolicy and what does RefundPolicy return",
        ),
        ("What does `Order` do?", "who creates it?", "who creates `Order`?"),
        # what the answer before cited
        (ABOUT_NONE, "what is it", "what is Order.Id"),
        (ABOUT_NONE, "who calls it?", "who calls OrderService.Create?"),
        (ABOUT_NONE, "what implements it?", "what implements `Order`?"),
        (ABOUT_NONE, "who writes to that table?", "who writes to sales.Orders?"),
        (ABOUT_NONE, "what does that method do?", "what does OrderService.Create do?"),
        (ABOUT_NONE, "so what does this class hold?", "what does `Order` hold?"),
        (ABOUT_NONE, "who handles that endpoint?", "who handles POST /api/orders?"),
        (ABOUT_NONE, "what does that test check?", "what does OrderTests check?"),
        (ABOUT_NONE, "what else is in that file?", "what else is in src/Orders/Order.cs?"),
        (ABOUT_NONE, "who calls the second one?", "who calls OrderService.Create?"),
        (ABOUT_NONE, "the third one", "what is `Order`"),
        (ABOUT_NONE, "explain number 2", "explain OrderService.Create"),
        (ABOUT_NONE, "[2]", "what is OrderService.Create"),
        (ABOUT_NONE, "2", "what is OrderService.Create"),
        (ABOUT_NONE, "no, the second", "what is OrderService.Create"),
        (ABOUT_NONE, "callers?", "who calls OrderService.Create?"),
        (ABOUT_NONE, "how about the interface?", "how about IOrderService?"),
        (ABOUT_NONE, "is [4] indexed?", "is sales.Orders indexed?"),
        (ABOUT_NONE, "who calls the last one", "who calls OrderService.Cancel"),
        (ABOUT_NONE, "who calls the second method?", "who calls OrderService.Cancel?"),
        (ABOUT_NONE, "what does the first do?", "what does Order.Id do?"),
        (ABOUT_NONE, "explain the 8th", "explain docs/orders.md"),
        (ABOUT_NONE, "what does that model hold", "what does `Order` hold"),
        (ABOUT_NONE, "who calls the method?", "who calls OrderService.Create?"),
        (ABOUT_NONE, "and the tests?", "which tests test Order.Id?"),
        (ABOUT_NONE, "tell me more about it", "how does Order.Id work?"),
        ("does RefundPolicy call OrderService", "who calls it?", "who calls OrderService.Create?"),
        # the thing of the question before, where that is no name and the follow-up is about no code
        (ABOUT_NONE, "can it be cancelled?", "can the order be cancelled?"),
        (ABOUT_NONE, "where's that stored?", "where's Order.Id stored?"),
        ("how does an invoice get paid?", "what if it expires?", "what if the invoice expires?"),
        ("where are refresh tokens stored?", "how long do they live?", "how long do the refresh tokens live?"),
        ("how do access rules work?", "which repo stores them?", "which repo stores the access rules?"),
        ("what happens when a payment fails?", "and where is it stored?", "where is the payment stored?"),
        ("where's the payment stored?", "which events does it raise?", "which events does the payment raise?"),
        ("where are the emails sent?", "what are their subjects?", "what are the emails' subjects?"),
        ("how are failed jobs retried?", "when does it stop?", "when does Order.Id stop?"),
        ("how does a user log in?", "where does it expire?", "where does Order.Id expire?"),
        # the question before, with something else
        ("who calls RefundPolicy?", "what about InvoiceWriter instead?", "who calls InvoiceWriter?"),
        ("who calls RefundPolicy?", "and InvoiceWriter.Annul()?", "who calls InvoiceWriter.Annul?"),
        ("who calls RefundPolicy?", "the same for `order`", "who calls `order`?"),
        ("who calls RefundPolicy?", "and for Parcel?", "who calls `Parcel`?"),
        ("who calls `Order`?", "what about the class Parcel?", "who calls `Parcel`?"),
        ("who calls RefundPolicy?", "and in the tests?", "who calls RefundPolicy in the tests?"),
        (ABOUT_NONE, "and in src/Orders?", "where is an order created in src/Orders?"),
    ],
)
def test_a_follow_up_is_read_as(before: str, question: str, made: str) -> None:
    found = read(question, before)
    assert found is not None and found[0] == made


def test_what_was_taken_from_where_is_said() -> None:
    assert read("who calls it?", ABOUT_ONE) == (
        "who calls RefundPolicy?",
        "RefundPolicy is from the question before",
    )
    assert read("does the second one call [9]?", ABOUT_NONE) == (
        "does OrderService.Create call OrderService.Cancel?",
        "OrderService.Create is from the answer before and OrderService.Cancel is from the answer before",
    )
    assert read("what about Parcel instead?", "who calls RefundPolicy?") == (
        "who calls `Parcel`?",
        "the question before, about Parcel",
    )


def test_that_kind_is_what_was_cited_of_it_where_the_name_is_something_else() -> None:
    places = [cited(1, "RefundPolicy", "type class"), *CITED[1:]]
    found = [read(f"who uses that {kind}?", ABOUT_ONE, places) for kind in ("class", "interface", "method", "view")]
    assert [one and one[0] for one in found] == [
        "who uses RefundPolicy?", "who uses IOrderService?", "who uses OrderService.Create?", "who uses RefundPolicy?"
    ]  # fmt: skip


def test_it_is_what_says_clearly_more_of_the_question_than_what_was_cited_first() -> None:
    places = [cited(1, "Post.Create", "method member"), cited(2, "Clock.CalculateReadingTime", "method member")]
    found = [
        read("and who calls it?", before, places)
        for before in ("how is the reading time of a post calculated?", "how is a post made in time?")
    ]
    assert [one and one[0] for one in found] == ["who calls Clock.CalculateReadingTime?", "who calls Post.Create?"]


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("are there tests for it?", "RefundPolicy"),
        ("where is it tested", "RefundPolicy"),
        ("who tests this?", "RefundPolicy"),
        ("which tests cover that class", "RefundPolicy"),
        ("which tests test [3]?", "Order"),
        ("who calls it?", ""),
    ],
)
def test_whose_tests_are_asked_for(question: str, name: str) -> None:
    found = read_follow_up(question, Before(ABOUT_ONE, ("RefundPolicy",), lambda: CITED), KNOWN.__contains__)
    assert found is not None and found.tests_of == name


def test_a_class_is_also_that_of_a_cited_member() -> None:
    found = read("where is that class used?", ABOUT_NONE, [cited(1, "OrderService.Create", "method function member")])
    assert found is not None and found[0] == "where is OrderService used?"
    in_module = [cited(1, "orders.create_order", "method function member")]
    assert read("where is that class used?", ABOUT_NONE, in_module) is None


@pytest.mark.parametrize(
    ("question", "before"),
    [
        ("who calls OrderService, and does it log?", ABOUT_ONE),
        ("how are refunds limited", ABOUT_ONE),
        ("is it possible to refund twice", ABOUT_ONE),
        ("does it make sense to refund twice", ABOUT_ONE),
        ("what is the class that limits refunds", ABOUT_ONE),
        ("which method is it that returned", ""),
        ("what happens to the order when it is cancelled", ABOUT_ONE),
        ("does this project have tests", ABOUT_ONE),
        ("which tests are slow?", ABOUT_ONE),
        ("does it matter", ABOUT_ONE),
        ("the first two", ABOUT_ONE),
        ("404", ABOUT_ONE),
        ("what is the first step of checkout?", ABOUT_ONE),
        ("what about refunds?", ABOUT_ONE),
        ("what about Docker?", ABOUT_ONE),
        ("what about RefundPolicy?", ABOUT_ONE),
        ("what about InvoiceWriter?", ABOUT_NONE),
        ("OrderService", ABOUT_ONE),
        ("int[2] array", ABOUT_ONE),
        ("???", ABOUT_ONE),
        ("[2] OrderService", ABOUT_NONE),
        ("what about InvoiceWriter?", "kind:Service who calls RefundPolicy"),
        ("and in the tests?", "path:src/ who calls RefundPolicy"),
        ("it " * 1_333, ABOUT_ONE),
        ("x" * 3_990 + " it?", ABOUT_ONE),
    ],
    ids=lambda text: text[:40],
)
def test_what_says_all_by_itself_stays(question: str, before: str) -> None:
    assert read(question, before, CITED if before else ()) is None


@pytest.mark.parametrize(
    "question",
    ["who calls it?", "what does that method do?", "the second one", "[1]", "and the tests?", "more", "its members"],
)
@pytest.mark.parametrize("before", ["how are refunds limited", "", "does RefundPolicy call OrderService", "knd:X Y"])
def test_nothing_is_guessed(question: str, before: str) -> None:
    assert read(question, before, ()) is None


@pytest.mark.parametrize("question", ["explain [10]", "the 12th one", "who reads that view?", "number 0", "[000]"])
def test_what_was_not_cited_cannot_be_meant(question: str) -> None:
    assert read(question, ABOUT_NONE) is None


def test_long_and_odd_questions_cost_nothing() -> None:
    odd = [
        "and " * 75,
        "the " * 75,
        "a " * 75 + "when it",
        "[" * 300,
        "tests " * 50,
        "it." * 100,
        "`" * 300,
        "more " * 60,
    ]
    odd += ["and in " + "a " * 140, "what about " + "a." * 140, "its " * 75 + "tests", "show me " * 37, "\n" * 300]
    started = time.perf_counter()
    for question in odd:
        read(question, ABOUT_NONE)
        read(question, ABOUT_ONE)
    assert time.perf_counter() - started < 2.0


def offline(asking: Asking, question: str, user: str = "ann"):  # type: ignore[no-untyped-def]
    return asking.ask(asking.pipeline("code_question_answering_offline"), question, user=user, session="s")


def test_a_conversation_without_a_model_goes_on(asking: Asking, history: Conversations) -> None:
    offline(asking, "What does InvoiceWriter do?")
    result = offline(asking, "who creates it?")
    assert result.status is Status.ANSWERED and result.response is not None
    assert "OrderService" in result.answer and result.response.provider == EXTRACTIVE
    assert any(said.startswith("read as: who creates InvoiceWriter?") for said in result.response.warnings)
    kept = history.load("ann", "s").turns[-1]
    assert (kept.question, kept.question_en) == ("who creates it?", "who creates InvoiceWriter?")
    again = offline(asking, "where is it defined")
    assert "InvoiceWriter.cs" in again.answer, "a name is carried on"
    other = offline(asking, "who creates it?", user="bob")
    assert "InvoiceWriter" not in other.answer, "the session of somebody else is another one"


def test_the_answer_before_is_pointed_at_by_its_numbers(asking: Asking) -> None:
    first = offline(asking, "how are credit notes for returned goods written")
    assert first.response is not None
    symbols = {number: one.symbol for number, one in enumerate(first.response.citations, 1)}
    assert symbols[1] == "Shop.Orders.InvoiceWriter.WriteCreditNote"
    result = offline(asking, "who calls [1]?")
    assert "OrderService.RefundOrder calls InvoiceWriter.WriteCreditNote" in re.sub(r"[`*]", "", result.answer)
    assert result.response is not None
    name = "InvoiceWriter.WriteCreditNote"
    assert f"read as: who calls {name}? ({name} is from the answer before)" in result.response.warnings


def test_an_answer_of_a_model_is_pointed_at_too(asking: Asking, good: str) -> None:
    asking.script(answer=good)
    assert asking.ask(user="ann", session="s").status is Status.ANSWERED
    result = offline(asking, "what does the first one do?")
    assert notes_of(result)[0].startswith("read as: what does OrderService.RefundOrder do?")


def test_a_refusal_leaves_what_was_before_it(asking: Asking) -> None:
    offline(asking, "how are credit notes for returned goods written")
    for nothing in ("how long should pasta boil", "What does KitchenTimer do?"):
        assert offline(asking, nothing).status is Status.ABSTAINED
    result = offline(asking, "who calls it?")
    assert notes_of(result)[0].startswith("read as: who calls InvoiceWriter.WriteCreditNote?")


def test_a_refused_question_about_a_known_name_is_still_about_it(asking: Asking) -> None:
    offline(asking, "how are credit notes for returned goods written")
    assert offline(asking, "kind:Test OrderService").status is Status.ABSTAINED
    assert notes_of(offline(asking, "where is it defined"))[0].startswith("read as: where is OrderService defined")


def test_a_summary_or_another_index_leaves_nothing_to_point_at(
    asking: Asking, history: Conversations, shop_indexes: object
) -> None:
    offline(asking, "how are credit notes for returned goods written")
    pipeline = asking.pipeline("code_question_answering_offline")
    other = asking.ask(pipeline, "who calls it?", label=shop_indexes.later, user="ann", session="s")  # type: ignore[attr-defined]
    assert not any(note.startswith("read as") for note in notes_of(other))
    history.save_summary("ann", "s", "They talked.", through=2, after_version=0)
    assert not any(note.startswith("read as") for note in notes_of(offline(asking, "who calls it?")))
