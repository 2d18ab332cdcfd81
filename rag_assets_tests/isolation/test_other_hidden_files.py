"""Two labels with the same visible files and other hidden ones are the same label to who may not see these (E12)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_assets import Index, open_index
from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.pipeline.run_stages import run_stages
from rag_assets.search.graph_context import bodies, counts_of, graph_of
from rag_assets.settings import EmbedderSettings, RepositorySettings, Settings
from rag_assets_tests.git_repository import Repository

LABEL = "shop@main"
ORDERS = """\
namespace Shop.Orders;

/// <summary>Refunds money for returned orders.</summary>
public class OrderService : IOrders
{
    private readonly Invoices invoices;
    public OrderService(Invoices invoices) { this.invoices = invoices; }

    /// <summary>Pays back what a customer returned.</summary>
    public decimal RefundOrder(int id) { invoices.Post(id); return 0m; }
}

public interface IOrders { decimal RefundOrder(int id); }

public class Invoices { public void Post(int id) { } }
"""
LEDGER = """\
namespace Shop.Orders;

public partial class Ledger { public void Book(Invoices all) { all.Post(1); } }
"""
TABLE = "CREATE TABLE dbo.Orders (Id int, Total money);\nGO\n"
PROJECT = """\
<Project Sdk="Microsoft.NET.Sdk">
  <ProjectReference Include="{}.csproj" />
  <ProjectReference Include="{}.csproj" />
</Project>
"""
VISIBLE: dict[str, str | bytes] = {
    "src/OrderService.cs": ORDERS,
    "src/Ledger.cs": LEDGER,
    "docs/refunds.md": "# Refunds\n\nMoney for returned orders.\n\n# Invoices\n\nAn invoice is posted once.\n",
    "db/orders.sql": TABLE,
    "db/migrations/1_orders.sql": TABLE,
    "src/Shop.Web.csproj": PROJECT.format("Shop.Core", "Shop.Secret"),
    "src/Shop.Core.csproj": PROJECT.format("Shop.Data", "Shop.Data"),
    "tests/OrderServiceTests.cs": "public class OrderServiceTests { [Fact] public void Pays(OrderService all) { } }\n",
}
NOTHING: dict[str, str | bytes] = {"hidden/Plain.cs": "namespace Shop;\n\npublic class Plain { public int Id; }\n"}
MUCH: dict[str, str | bytes] = {
    "hidden/OrderService.cs": ORDERS.replace("Refunds money", "Refunds refunds refunds money and invoices"),
    "hidden/Ledger.cs": LEDGER.replace("Ledger {", "Ledger : IOrders { public decimal RefundOrder(int id) => 0m;"),
    "hidden/refunds.md": "".join(f"# Refund {number}\n\nOrders returned, money posted.\n\n" for number in range(30)),
    "hidden/orders.sql": f"{TABLE}CREATE PROCEDURE dbo.Refund AS SELECT * FROM dbo.Orders;\nGO\n",
    "hidden/migrations/2_orders.sql": "ALTER TABLE dbo.Orders ADD Secret int;\n",
    "hidden/Shop.Secret.csproj": PROJECT.format("Shop.Web", "Shop.Core"),
    "hidden/InvoicesTests.cs": "// TODO\npublic class InvoicesTests { [Fact] public void Posts(Invoices all) { } }\n",
}
"""The same names, words and types as in the visible files, and many more of them."""

QUESTIONS = (
    "refund money for returned orders",
    "OrderService",
    "order services refunding",
    "what is posted with an invoice",
    "who calls Post",
    "what implements IOrders",
    "which tables has Orders",
    "what is OrderServise",
    "Ledger",
    "what happens when an order is refunded",
    "which migrations changed the Orders table",
    "which migrations added the column Secret",
    "are there circular references between the projects",
    "which project has the most references",
    "which classes have tests",
    "which methods of Invoices are used the most",
    "which TODOs are there",
)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Index, Index]]:
    nothing, much = (_indexed(tmp_path_factory.mktemp("hidden"), hidden) for hidden in (NOTHING, MUCH))
    with open_index(LABEL, home=nothing) as one, open_index(LABEL, home=much) as other:
        yield one, other


def _indexed(folder: Path, hidden: dict[str, str | bytes]) -> Path:
    repository = Repository.new(folder / "shop", {**VISIBLE, **hidden})
    for number in range(3):
        changed = {path: f"{text!s}{' ' * number}\n" for path, text in hidden.items()}
        repository.commit(changed, "Refunds of orders are posted twice")
    repository.commit({"src/OrderService.cs": ORDERS.replace("Pays back", "Pays twice")}, "Refunds are paid twice")
    configured = RepositorySettings(
        id="shop",
        location=str(repository.path),
        ref="main",
        confidential_paths={"hidden": Confidentiality.RESTRICTED},
    )
    settings = Settings(home=folder / "home", embedder=EmbedderSettings(provider="lexical-only"), workers=1)
    run_stages(settings, LABEL, configured)
    return folder / "home"


@pytest.mark.rule("E12", "R17")
@pytest.mark.parametrize("question", QUESTIONS)
def test_hits_scores_and_terms_are_the_same(opened: tuple[Index, Index], question: str) -> None:
    one, other = (_told(index.search(question, limit=50, explain=True)) for index in opened)
    assert one == other


@pytest.mark.rule("E12", "E20")
@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_and_refusals_are_the_same(opened: tuple[Index, Index], question: str) -> None:
    one, other = (_told(index.ask(question)) for index in opened)
    assert one == other


@pytest.mark.rule("E12")
def test_points_and_descriptions_are_the_same(opened: tuple[Index, Index]) -> None:
    def everything(index: Index) -> dict[str, str]:
        shard = index.parts.shard()
        found = shard.retrieve(sorted(shard.ids(index.scope())), index.scope())
        return {known: _told((point, index.description(point["DescriptionBlobUri"]))) for known, point in found.items()}

    one, other = map(everything, opened)
    assert one == other


@pytest.mark.rule("E12", "D21")
def test_the_graph_is_the_same(opened: tuple[Index, Index]) -> None:
    def everything(index: Index) -> Any:
        graph = graph_of(index)
        keys = [graph.keys[node] for node in range(len(graph))]
        return _told((counts_of(index), bodies(index, graph, keys)))

    one, other = map(everything, opened)
    assert one == other


def _told(answer: object) -> str:
    """Without the time that it took and the commit. The engine adds up in the order in which it has stored points, so
    the last digits of a score say nothing."""
    plain = re.sub(r"timings=\{[^}]*\}|[0-9a-f]{40}|\d{8}T\d{6}Z_\w+|[0-9a-f]{32}|@[0-9a-f]{10}", "", repr(answer))
    return re.sub(r"\d+\.\d{6,}", lambda number: f"{float(number.group()):.5f}", plain)
