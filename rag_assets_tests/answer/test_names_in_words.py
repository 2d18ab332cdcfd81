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
    "src/Ticket.cs": "namespace Ferry;\n\npublic class Ticket(int seats)\n{\n"
    "    public int SeatCount { get; private set; } = seats;\n\n    public bool IsUsed { get; private set; }\n\n"
    "    public void TearOff() => IsUsed = true;\n\n    public Task FindBySeatAsync() => Task.CompletedTask;\n}\n",
    "src/DeckRepository.cs": "namespace Ferry;\n\npublic interface IDecksRepository { }\n\n"
    "public class DecksRepository : IDecksRepository, IAsyncDisposable { }\n\npublic class Deck { }\n\n"
    "public class Purser(IDecksRepository decks, Ticket ticket)\n{\n"
    "    public void Punch()\n    {\n        ticket.TearOff();\n        ticket.FindBySeatAsync();\n"
    "        if (ticket.IsUsed) throw new BoatFullException(ticket.SeatCount);\n    }\n}\n",
    "src/Horns.cs": "namespace Ferry;\n\npublic record FogSeen(int Metres);\n\npublic class Wrapped<T> { }\n\n"
    "public class FogHorn : INotificationHandler<Wrapped<FogSeen>>\n{\n"
    "    public Task Handle(Wrapped<FogSeen> seen) => Task.CompletedTask;\n}\n\n"
    "public class Lookout\n{\n    public object Look() => new FogSeen(10);\n}\n\n"
    "public class NightLookout : Lookout { }\n",
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


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("who calls the ticket's tear off method?", "**Purser.Punch** calls **Ticket.TearOff** in"),
        ("who calls the tear off method of the ticket?", "**Purser.Punch** calls **Ticket.TearOff** in"),
        ("who calls find by seat on the ticket?", "**Purser.Punch** calls **Ticket.FindBySeatAsync** in"),
        ("who reads the ticket's seat count?", "**Purser.Punch** refers to **Ticket.SeatCount** in"),
        ("what uses the is used property of a ticket?", "**Purser.Punch** refers to **Ticket.IsUsed** in"),
        ("where is the ticket's is used set?", "**Ticket.TearOff** sets **IsUsed** in"),
        ("who uses the deck repo?", "**Purser** is given **IDecksRepository** in"),
        ("what injects the deck repository?", "**Purser** is given **IDecksRepository** in"),
        ("is the price list used anywhere?", "**TicketOffice._prices** creates **PriceList** in"),
        ("who throws the boat full exception?", "**Purser.Punch** throws **BoatFullException** in"),
        ("what implements the async disposable interface?", "**DecksRepository** derives from **IAsyncDisposable** in"),
        ("who raises the fog seen event?", "**Lookout.Look** makes **FogSeen** in"),
        ("who handles the fog seen event?", "**FogHorn** receives **FogSeen** in"),
        ("what inherits from the lookout class?", "**NightLookout** inherits **Lookout** in"),
        (
            "what does the constructor of the deck controller take?",
            "DeckController(ITicketOffice office, IMediator mediator)",
        ),
        ("where is the ticket office?", "`TicketOffice` in src/TicketOffice.cs:8"),
        ("which folder is the price list in?", "`PriceList` in src/PriceList.cs:3"),
        ("which tests cover the gate controller?", "No test"),
    ],
)
def test_members_kinds_and_short_forms_are_said_in_words_too(ferry: Index, question: str, fact: str) -> None:
    told = ferry.ask(question)
    assert fact.lower() in f"{told.text} {told.notes}".lower()


def test_what_a_class_depends_on_is_not_what_uses_it(ferry: Index) -> None:
    told = ferry.ask("what does the ticket office depend on?").text
    assert "**PriceList**" in told
    assert "GateController" not in told


@pytest.mark.parametrize(
    "question",
    [
        "who uses the ticket office repository?",
        "what calls the ticket office method?",
        "who uses the ticket office service?",
        "who uses the colour of the ticket office?",
    ],
)
def test_more_words_of_a_name_or_a_part_of_it_are_not_the_whole(ferry: Index, question: str) -> None:
    assert "is given **ITicketOffice**" not in ferry.ask(question).text


def test_a_service_of_a_thing_is_not_the_thing(ferry: Index) -> None:
    assert "given **Ticket**" not in ferry.ask("who uses the ticket service?").text
    assert "given **Ticket**" in ferry.ask("who uses the ticket class?").text


@pytest.mark.parametrize("question", ["who uses the cache?", "what breaks if I change the boat?"])
def test_one_word_alone_or_a_part_of_a_name_is_no_name(ferry: Index, question: str) -> None:
    told = ferry.ask(question).text
    assert "- **" not in told.partition("```")[0] and "no use of" not in told
