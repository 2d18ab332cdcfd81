"""What kind of answer a question wants."""

from __future__ import annotations

import pytest

from rag_assets.answer.question_analysis import intent_of, listed_noun
from rag_assets.search.query_parser import understand


@pytest.mark.parametrize(
    ("question", "intent", "names"),
    [
        ("What does OrderService do?", "definition", ("OrderService",)),
        ("OrderService", "definition", ("OrderService",)),
        ("Where is OrderService.Cancel defined?", "definition", ("OrderService.Cancel",)),
        ("what is `Basket`", "definition", ("Basket",)),
        ("who calls OrderService.Cancel", "usage", ("OrderService.Cancel",)),
        ("Where is IOrderRepository used?", "usage", ("IOrderRepository",)),
        ("callers of CancelOrder()", "usage", ("CancelOrder",)),
        ("what does OrderService depend on?", "dependencies", ("OrderService",)),
        ("which services does OrderService use?", "dependencies", ("OrderService",)),
        ("what does OrderService.Cancel call", "dependencies", ("OrderService.Cancel",)),
        ("which tests cover OrderService.Cancel?", "tests", ("OrderService.Cancel",)),
        ("is OrderService tested?", "tests", ("OrderService",)),
        ("how are refunds tested?", "explanation", ()),
        ("what depends on OrderService?", "usage", ("OrderService",)),
        ("what does the shop use to send mail?", "explanation", ()),
        ("what timeout does HttpClient use?", "explanation", ("HttpClient",)),
        ("which handlers use IOrderRepository?", "usage", ("IOrderRepository",)),
        ("which tests use OrderService?", "tests", ("OrderService",)),
        ("which tables does OrderService use?", "tables", ("OrderService",)),
        ("what columns does the sales.Orders table have?", "definition", ("sales.Orders",)),
        ("which fields has OrderDto", "definition", ("OrderDto",)),
        ("which methods of OrderService throw?", "explanation", ("OrderService",)),
        ("what implements IOrderRepository", "implementations", ("IOrderRepository",)),
        ("implementations of IOrderRepository", "implementations", ("IOrderRepository",)),
        ("which endpoint deletes an order", "routes", ()),
        ("GET /api/orders", "routes", ()),
        ("which tables does OrderService write to", "tables", ("OrderService",)),
        ("how are refunds limited", "explanation", ()),
        ("why does OrderService retry", "explanation", ("OrderService",)),
        ("What is this library for and what does it add on top of HttpClient?", "overview", ("HttpClient",)),
        ("describe the service OrderService", "definition", ("OrderService",)),
    ],
)
def test_intents(question: str, intent: str, names: tuple[str, ...]) -> None:
    found = intent_of(understand(question))
    assert (found.intent, found.names) == (intent, names)


@pytest.mark.parametrize(
    ("question", "noun"),
    [
        ("how many endpoints are there?", "endpoint"),
        ("how many tests does the project have", "test"),
        ("Which DTOs exist?", "dto"),
        ("how many jobs can run at the same time by default", ""),
        ("how many orders are allowed per customer", ""),
    ],
)
def test_a_count_of_what_there_is_is_a_list_and_an_amount_is_not(question: str, noun: str) -> None:
    assert listed_noun(question)[0] == noun
