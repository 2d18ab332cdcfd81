"""Names of code as people say them: `the order manager` is `OrderManager`, and who uses it is given its interface."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "README.md": "# Ferry\n\nTakes cars across.\n",
    "src/TicketOffice.cs": "namespace Ferry;\n\npublic interface ITicketOffice\n{\n    void Sell(int count);\n}\n\n"
    "public class TicketOffice : ITicketOffice\n{\n    private readonly PriceList _prices = new();\n\n"
    "    public void Sell(int count) => _prices.Of(count);\n}\n",
    "src/PriceList.cs": "namespace Ferry;\n\npublic class PriceList\n{\n"
    "    public int Of(int count) => count * 3;\n}\n",
    "src/GateController.cs": "namespace Ferry;\n\npublic class GateController(ITicketOffice office)\n{\n"
    "    public void Open() => office.Sell(1);\n}\n",
    "src/DeckController.cs": 'using Microsoft.AspNetCore.Mvc;\n\nnamespace Ferry;\n\n[ApiController]\n[Route("deck")]\n'
    "public class DeckController(ITicketOffice office, IMediator mediator) : ControllerBase\n{\n    [HttpPost]\n"
    "    public void Load() => office.Sell(2);\n\n    [HttpDelete]\n"
    "    public void Clear() => mediator.Publish(new DeckClearedEvent());\n}\n",
    "src/DeckClearedEvent.cs": "namespace Ferry;\n\npublic record DeckClearedEvent : INotification;\n\n"
    "public class Horn : INotificationHandler<DeckClearedEvent>\n{\n"
    "    public Task Handle(DeckClearedEvent cleared, CancellationToken token) => Task.CompletedTask;\n}\n",
    "src/Cache.cs": "namespace Ferry;\n\npublic class Cache { public void Clear() { } }\n",
    "tests/PriceListTests.cs": "using Xunit;\n\nnamespace Ferry.Tests;\n\npublic class PriceListTests\n{\n    [Fact]\n"
    "    public void Three_each() => Assert.Equal(6, new PriceList().Of(2));\n}\n",
    "db/tables.sql": "CREATE TABLE sales.Tickets (Id int);\nGO\nCREATE TABLE sales.BoatLogs (Id int);\nGO\n"
    "CREATE PROCEDURE sales.SellTicket AS\nINSERT INTO sales.Tickets (Id) VALUES (1);\n",
}


@pytest.fixture(scope="module")
def ferry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("ferry"), FILES, "ferry") as index:
        yield index


@pytest.mark.parametrize(
    "question",
    [
        "who uses the ticket office?",
        "what depends on the ticket office?",
        "where is our ticket office used?",
        "where is ticket office used?",
        "who uses ticket office",
        "what breaks if I change the ticket office?",
        "who uses TicketOffice?",
    ],
)
def test_what_is_given_the_interface_of_a_class_uses_it(ferry: Index, question: str) -> None:
    told = ferry.ask(question).text
    assert "**GateController** is given **ITicketOffice** in src/GateController.cs:3" in told
    assert "**GateController.Open** calls **ITicketOffice.Sell** in src/GateController.cs:5" in told


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("what breaks if I change the tickets table?", "**SellTicket** writes to **Tickets** in db/tables.sql:6"),
        ("what uses the ticket table?", "**SellTicket** writes to **Tickets** in db/tables.sql:6"),
        ("who uses the price list class?", "**TicketOffice._prices** creates **PriceList** in src/TicketOffice.cs:10"),
        ("how is the price list tested?", "**PriceListTests** tests **PriceList** in tests/PriceListTests.cs:5"),
        ("what implements the ticket office interface?", "**TicketOffice** implements **ITicketOffice** in"),
        ("what does the ticket office depend on?", "**PriceList**"),
        ("which endpoints use the ticket office?", "**1 endpoint:**\n- **POST /deck** in src/DeckController.cs:10"),
        ("who handles the deck cleared event?", "**Horn.Handle** handles **DeckClearedEvent** in"),
        ("where is the deck cleared event published?", "**DeckController.Clear** sends **DeckClearedEvent** in"),
        ("who sends DeckClearedEvent?", "**DeckController.Clear** sends **DeckClearedEvent** in"),
        ("where is the ticket office defined?", "`TicketOffice` in src/TicketOffice.cs:8"),
    ],
)
def test_a_thing_said_in_words_is_what_the_graph_calls_so(ferry: Index, question: str, fact: str) -> None:
    assert fact in ferry.ask(question).text


@pytest.mark.parametrize("question", ["who uses the cache?", "what breaks if I change the boat?"])
def test_one_word_alone_or_a_part_of_a_name_is_no_name(ferry: Index, question: str) -> None:
    told = ferry.ask(question).text
    assert "- **" not in told.partition("```")[0] and "no use of" not in told
