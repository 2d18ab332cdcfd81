"""A list is of the sort that is asked for: by what types are called, and by what they derive from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets import Index, open_index
from rag_assets.answer.question_analysis import Intent, listed_noun
from rag_assets.index.layout import IndexHome
from rag_assets.qa.ask_options import AskOptions
from rag_assets_tests.cli.conftest import index_without_dagster, new_repository

FILES = {
    "README.md": "# Shop\n\nSells things.\n",
    "src/Contracts/IIntegrationEvent.cs": "namespace Shop;\n\npublic interface IIntegrationEvent { }\n",
    "src/Contracts/IntegrationEventBase.cs": """\
namespace Shop;

public abstract record IntegrationEventBase : IIntegrationEvent;
""",
    "src/Orders/OrderPlaced.cs": "namespace Shop;\n\npublic record OrderPlaced(int Id) : IntegrationEventBase;\n",
    "src/Orders/OrderPaid.cs": "namespace Shop;\n\npublic record OrderPaid(int Id) : IIntegrationEvent;\n",
    "src/Orders/StockLowEvent.cs": "namespace Shop;\n\npublic record StockLowEvent(int Id);\n",
    "src/Orders/BasketEvent.cs": "namespace Shop;\n\npublic record BasketEvent(int Id);\n",
    "src/Orders/OrderStatus.cs": "namespace Shop;\n\npublic enum OrderStatus\n{\n    Placed,\n    Sent,\n}\n",
    "src/Orders/Order.cs": "namespace Shop;\n\npublic class Order { public int Id { get; set; } }\n",
    "src/Orders/Customer.cs": "namespace Shop;\n\npublic class Customer { public int Id { get; set; } }\n",
    "src/Data/ShopContext.cs": """\
namespace Shop;

public class ShopContext : DbContext
{
    public DbSet<Order> Orders => Set<Order>();
    public DbSet<Customer> Customers => Set<Customer>();

    protected override void OnModelCreating(ModelBuilder builder)
    {
        builder.Entity<Order>().ToTable("Orders", "sales");
        builder.Entity<Customer>().ToTable("Customers", "sales");
    }
}
""",
    "src/Data/Migrations/20240101_AddedCalmEvent.cs": """\
namespace Shop;

public partial class AddedCalmEvent : Migration
{
    protected override void Up(MigrationBuilder builder) => builder.Sql("select 1");
}
""",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    base = tmp_path_factory.mktemp("lists")
    home = IndexHome(base / "home")
    index_without_dagster(home, new_repository(base / "shop", {**FILES}), "shop")
    with open_index("shop@main", home=home.root) as index:
        yield index


@pytest.mark.parametrize(
    ("question", "heading", "names"),
    [
        ("Which integration events are there?", "2 integration events", {"OrderPlaced", "OrderPaid"}),
        ("which integration events exist between the services?", "2 integration events", {"OrderPlaced", "OrderPaid"}),
        ("which events exist?", "4 events", {"OrderPlaced", "OrderPaid", "StockLowEvent", "BasketEvent"}),
        ("which database tables are needed for persistent storage?", "2 tables", {"sales.Orders", "sales.Customers"}),
        ("which entities are there?", "2 entities", {"Order", "Customer"}),
    ],
)
def test_a_list_is_of_the_sort_that_is_asked_for(shop: Index, question: str, heading: str, names: set[str]) -> None:
    found = shop.ask(question, options=AskOptions())
    assert found.intent is Intent.LIST and found.text.startswith(f"**{heading}:**\n")
    assert {line.split("**")[1] for line in found.text.splitlines() if line.startswith("- **")} == names


def test_entities_without_a_framework_are_types_and_functions_those_of_a_database(tmp_path: Path) -> None:
    files = {
        "src/user.entity.ts": "@Entity()\nexport class UserEntity { id: number; }\n",
        "src/article.entity.ts": "@Entity()\nexport class ArticleEntity { id: number; }\n",
        "db/a.sql": "CREATE FUNCTION dbo.Total () RETURNS int AS BEGIN RETURN 1 END\n",
        "db/b.sql": "CREATE FUNCTION dbo.[Sum. of all] () RETURNS int AS BEGIN RETURN 1 END\n",
    }
    index_without_dagster(IndexHome(tmp_path / "home"), new_repository(tmp_path / "nest", files), "nest")
    with open_index("nest@main", home=(tmp_path / "home")) as index:
        for question, names in (
            ("which entities are there?", {"UserEntity", "ArticleEntity"}),
            ("which functions are there?", {"dbo.Total", "dbo.Sum. of all"}),
        ):
            found = index.ask(question, options=AskOptions())
            assert {line.split("**")[1] for line in found.text.splitlines() if line.startswith("- **")} == names


def test_a_sort_that_nothing_is_of_is_no_list(shop: Index) -> None:
    found = shop.ask("which audit events are there?", options=AskOptions(threshold=0.0))
    assert found.intent is not Intent.LIST and "events:**" not in found.text


@pytest.mark.parametrize("question", ["which states can an order be in?", "what order states are there?"])
def test_the_states_of_something_are_its_enumeration(shop: Index, question: str) -> None:
    found = shop.ask(question, options=AskOptions())
    assert found.text.startswith("`OrderStatus` in src/Orders/OrderStatus.cs:3-7 ") and "Sent," in found.text


@pytest.mark.parametrize(
    ("question", "noun"),
    [
        ("which integration events exist?", "integration event"),
        ("list all background jobs", "background job"),
        ("which commands are there?", "command"),
        ("how many history entries does it keep?", ""),
        ("which status code does it return?", ""),
    ],
)
def test_what_goes_before_a_noun_says_which_sort(question: str, noun: str) -> None:
    assert listed_noun(question)[0] == noun
