"""What kind of answer a question wants."""

from __future__ import annotations

import pytest

from rag_assets.answer.question_analysis import asks_purpose, intent_of, listed_noun, words_as_names, written_name
from rag_assets.answer.question_kinds import asks_choice, asks_handler
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
        ("which tests are there for the OrderService class?", "tests", ("OrderService",)),
        ("which implementation is used for IOrderRepository?", "implementations", ("IOrderRepository",)),
        ("is there an implementation for IOrderRepository", "implementations", ("IOrderRepository",)),
        ("how are refunds tested?", "explanation", ()),
        ("what depends on OrderService?", "usage", ("OrderService",)),
        ("what does the shop use to send mail?", "explanation", ()),
        ("what timeout does HttpClient use?", "explanation", ("HttpClient",)),
        ("which handlers use IOrderRepository?", "usage", ("IOrderRepository",)),
        ("which tests use OrderService?", "tests", ("OrderService",)),
        ("which tables does OrderService use?", "tables", ("OrderService",)),
        ("what writes to table orders?", "tables", ()),
        ("which error comes when the parent table has no schema?", "explanation", ()),
        ("what columns does the sales.Orders table have?", "definition", ("sales.Orders",)),
        ("which fields has OrderDto", "definition", ("OrderDto",)),
        ("which methods of OrderService throw?", "explanation", ("OrderService",)),
        ("what implements IOrderRepository", "implementations", ("IOrderRepository",)),
        ("which types conform to IOrderRepository", "implementations", ("IOrderRepository",)),
        ("implementations of IOrderRepository", "implementations", ("IOrderRepository",)),
        ("which endpoint deletes an order", "routes", ()),
        ("GET /api/orders", "routes", ()),
        ("which tables does OrderService write to", "tables", ("OrderService",)),
        ("how are refunds limited", "explanation", ()),
        ("why does OrderService retry", "explanation", ("OrderService",)),
        ("What is this library for and what does it add on top of HttpClient?", "overview", ("HttpClient",)),
        ("describe the service OrderService", "definition", ("OrderService",)),
        ("what is this project made of?", "overview", ()),
        ("show me OrderService.Cancel", "definition", ("OrderService.Cancel",)),
        ("show the constructor of OrderService", "definition", ("OrderService",)),
        ("what is the signature of OrderService.Cancel?", "definition", ("OrderService.Cancel",)),
        ("what parameters does OrderService.Cancel take", "definition", ("OrderService.Cancel",)),
        ("which interfaces does OrderService implement?", "definition", ("OrderService",)),
        ("show me how OrderService retries", "explanation", ("OrderService",)),
        ("What is this good for?", "overview", ()),
        ("what would break if I drop Orders", "usage", ()),
        ("what do I break by changing OrderService?", "usage", ("OrderService",)),
        ("which tests break when OrderService changes", "usage", ("OrderService",)),
        ("what is the default break duration of the shop?", "explanation", ()),
        ("what is the app built with", "overview", ()),
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
        ("list the endpoints under /api/orders", "endpoint"),
        ("how many jobs can run at the same time by default", ""),
        ("how many orders are allowed per customer", ""),
        ("how many times is an order tried again", ""),
        ("how many records are deleted in a single pass", ""),
        ("how many orders are shown on the first page", ""),
        ("what happens to an order that is lost", ""),
        ("which status does an order have", ""),
    ],
)
def test_a_count_of_what_there_is_is_a_list_and_an_amount_is_not(question: str, noun: str) -> None:
    assert listed_noun(question)[0] == noun


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("where do we write to app.LateFee?", "app.LateFee"),
        ("Where is Order.Status set?", "Order.Status"),
        ("where does `last_seen` get updated", "last_seen"),
        ("which methods change the order.total", "order.total"),
        ("who sets retryCount?", "retryCount"),
        ("where is the password set?", ""),
        ("where is Order.Status used?", ""),
        ("where do we write to the log", ""),
        ("how is Order.Status set when it fails", ""),
        ("what breaks if I change Order.Status?", ""),
        ("who is affected when we set retryCount", ""),
    ],
)
def test_what_is_written(question: str, name: str) -> None:
    assert written_name(question) == name


@pytest.mark.parametrize(
    ("question", "is_asked"),
    [
        ("what is SHOP_FEE used for?", True),
        ("what does SHOP_FEE do", True),
        ("what does the setting shop.fee do?", True),
        ("where is shop.fee read?", True),
        ("what does OrderService do?", False),
        ("what is the default of SHOP_FEE?", False),
    ],
)
def test_what_something_is_for(question: str, is_asked: bool) -> None:
    assert asks_purpose(question) is is_asked


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("which columns does the Profile table have?", ("Profile", "Profile")),
        ("what fields does a catalog item have in the database?", ("CatalogItem", "catalog item")),
        ("what does the Flip model store?", ("Flip", "Flip")),
        ("which properties does an order have?", ("Order", "order")),
        ("which fields of an order are sent to the customer?", None),
    ],
)
def test_a_word_may_be_what_has_the_members(question: str, names: tuple[str, ...] | None) -> None:
    found = words_as_names(understand(question))
    assert (found.names if found else None) == names


@pytest.mark.parametrize(
    ("question", "routes"),
    [
        ("where is POST /users/login handled?", ("POST /users/login",)),
        ("where is the url /api/v3/checks/ handled?", ("/api/v3/checks/",)),
        ("which endpoint deletes an order", ()),
    ],
)
def test_paths_of_http(question: str, routes: tuple[str, ...]) -> None:
    found = intent_of(understand(question))
    assert (found.intent, found.routes) == ("routes", routes)


@pytest.mark.parametrize(
    ("question", "is_choice"),
    [
        ("which databases are supported?", True),
        ("which providers can I use?", True),
        ("which exceptions are there?", False),
        ("which exceptions can be thrown?", False),
    ],
)
def test_a_choice_is_no_list_of_types(question: str, is_choice: bool) -> None:
    assert asks_choice(listed_noun(question)[1]) is is_choice


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("who handles PlaceOrder?", True),
        ("which consumers listen to the OrderPlaced event?", True),
        ("where is OrderPlaced consumed", True),
        ("what is the handler of PlaceOrder?", True),
        ("who handles PlaceOrder when the stock is empty?", False),
        ("how are refunds made", False),
    ],
)
def test_a_question_for_a_handler(question: str, asks: bool) -> None:
    assert asks_handler(question) is asks
