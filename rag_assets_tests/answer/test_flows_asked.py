"""How one thing leads to another, where code makes an object of a type, and what lives how long in a container."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "src/Orders.cs": """\
namespace Shop;

public class OrdersController
{
    private readonly IOrderService _service;

    public OrdersController(IOrderService service) => _service = service;

    public void Place(string name) => _service.Save(new Order(name));

    public void Other()
    {
    }
}

public interface IOrderService
{
    void Save(Order order);
}

public class OrderService : IOrderService
{
    private readonly Mailer _mailer = new();

    public void Save(Order order)
    {
        _mailer.Send("saved");
    }

    public Order Copy(Order order) => new Order(order.Name);
}

public class QuietOrderService : IOrderService
{
    public void Save(Order order)
    {
    }
}

public class Mailer
{
    public void Send(string text)
    {
    }
}

public class Order(string name)
{
    public string Name => name;
}

public class Lonely
{
}
""",
    "src/Startup.cs": """\
namespace Shop;

public class Startup
{
    public void Configure(IServiceCollection services)
    {
        services.AddScoped<IOrderService, OrderService>();
        services.AddSingleton<Mailer>();
    }
}
""",
    "lib/Invoice.java": """\
class Invoice {
    Invoice(String id) {
    }

    static Invoice create(String id) {
        return new Invoice(id);
    }
}
""",
    "lib/ticket.rs": """\
pub struct Ticket {
    id: u32,
}

impl TicketBuilder {
    pub fn build(&self) -> Ticket {
        Ticket {
            id: 1,
        }
    }
}
""",
    "lib/label.go": "package lib\n\ntype Label struct {\n}\n\nfunc Read() {\n\tone := Label{}\n\tprint(one)\n}\n",
    "db/schema.sql": (
        "CREATE TABLE shops (id int PRIMARY KEY);\n"
        "CREATE TABLE clerks (id int PRIMARY KEY, shop_id int REFERENCES shops (id));\n"
    ),
    "lib/carts.py": "class Cart:\n    pass\n\n\ndef opened():\n    return Cart()\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("flows"), FILES, "flows") as index:
        yield index


@pytest.mark.parametrize(
    "question",
    [
        "what is the call chain from OrdersController.Place to Mailer.Send?",
        "How does OrdersController reach Mailer?",
        "show the path from OrdersController to the Mailer class",
        "does OrdersController.Place eventually call Mailer.Send?",
        "how is Mailer.Send reached from OrdersController.Place?",
        "how are Mailer and OrdersController related?",
    ],
)
def test_the_way_from_one_thing_to_another_is_told_step_by_step(shop: Index, question: str) -> None:
    answer = shop.ask(question)

    assert not answer.abstained and not answer.unsure
    steps = [
        line.replace("**", "").partition(" in src")[0] for line in answer.text.split("\n") if line.startswith("- ")
    ]
    assert steps == [
        "- OrdersController.Place calls IOrderService.Save",
        "- OrderService.Save implements IOrderService.Save",
        "- OrderService.Save calls Mailer.Send",
    ]


def test_that_nothing_leads_there_is_said(shop: Index) -> None:
    answer = shop.ask("how does OrdersController.Other reach Lonely?")
    assert "nothing that the graph knows leads from OrdersController.Other to Lonely" in " ".join(
        (*answer.notes, answer.reason or "")
    )


@pytest.mark.parametrize(
    "question",
    [
        "what changed from version 1 to 2?",
        "how do I get from the airport to the shop?",
        "what is the difference between Order and Cart?",
        "how is an order sent from the shop to the customer?",
        "how does the order get to the mailer?",
        "how are orders and mailers related?",
        "is there a link from the order to the mailer?",
        "how are Mailer and Order related?",
    ],
)
def test_other_ways_are_no_flow_of_the_graph(shop: Index, question: str) -> None:
    answer = shop.ask(question)
    assert "leads from" not in " ".join((*answer.notes, answer.reason or "")) and "**From " not in answer.text


def test_tables_are_related_by_their_keys(shop: Index) -> None:
    assert "**clerks** refers to **shops**" in shop.ask("how are shops and clerks related?").text


def test_one_implementation_leads_to_no_other(shop: Index) -> None:
    assert "**From " not in shop.ask("how does QuietOrderService reach Mailer?").text


@pytest.mark.parametrize(
    ("question", "makers"),
    [
        ("where is Order created?", {"OrdersController.Place", "OrderService.Copy"}),
        ("where do we instantiate Order objects?", {"OrdersController.Place", "OrderService.Copy"}),
        ("who creates a Cart?", {"carts.opened"}),
        ("where is Invoice created?", {"Invoice.create"}),
        ("where is Ticket created?", {"TicketBuilder.build"}),
        ("where is Label created?", {"lib.Read"}),
    ],
)
def test_where_an_object_is_made_is_told_and_not_who_uses_its_type(
    shop: Index, question: str, makers: set[str]
) -> None:
    told = shop.ask(question).text
    assert {line.split("**")[1] for line in told.split("\n") if " creates " in line.replace("**", "")} == makers


def test_what_lives_how_long_is_listed_without_the_word_registered(shop: Index) -> None:
    assert "**Mailer** in src/Startup.cs:8" in shop.ask("which services are singletons?").text
    assert "**IOrderService** in src/Startup.cs:7" in shop.ask("which services are scoped?").text


def test_what_no_index_can_know_of_packages_is_said(shop: Index) -> None:
    for question in ("which packages are outdated?", "are any dependencies vulnerable?"):
        answer = shop.ask(question)
        assert "dotnet list package --outdated" in " ".join((*answer.notes, answer.reason or ""))
