"""Real servers on loopback and on a socket, over a small repository that is indexed once."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from rag_assets.index.layout import IndexHome
from rag_assets_tests.cli.conftest import CommandLine, index_without_dagster, new_repository
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.processes import end

SHOP: dict[str, str | bytes] = {
    "src/Orders/OrderService.cs": """\
namespace Shop.Orders;

/// <summary>Cancels and refunds orders.</summary>
public class OrderService : IOrders
{
    private readonly Invoices invoices;
    public OrderService(Invoices invoices) { this.invoices = invoices; }

    /// <summary>Pays back what a customer returned.</summary>
    public decimal RefundOrder(int orderId)
    {
        invoices.Post(orderId);
        return 0m;
    }

    public void Cancel(int orderId) { RefundOrder(orderId); }
}

public interface IOrders { decimal RefundOrder(int orderId); }
""",
    "src/Orders/Invoices.cs": """\
namespace Shop.Orders;

public partial class Invoices
{
    public void Post(int id) => throw new System.InvalidOperationException("no invoice");
}
""",
    "src/Orders/Invoices.Print.cs": "namespace Shop.Orders;\n\npublic partial class Invoices { void Print() { } }\n",
    "src/Other/Invoices.cs": "namespace Shop.Other;\n\npublic class Invoices { public int Count; }\n",
    "tests/OrderTests.cs": """\
namespace Shop.Tests;

public class OrderTests
{
    [Fact] public void RefundsAnOrder() { new Shop.Orders.OrderService(null).RefundOrder(1); }
}
""",
    "db/tables.sql": "CREATE TABLE dbo.Invoices (Id int NOT NULL, Total money NOT NULL);\nGO\n",
    "README.md": "# Shop\n\nOrders, invoices and more.\n",
    "web/site.min.js": "var a=1;",
}


@dataclass(frozen=True)
class Home:
    """A home with the index of a shop and of a small site beside it."""

    cli: CommandLine
    shop: Repository
    site: Repository

    @property
    def root(self) -> Path:
        return self.cli.home.root


@dataclass(frozen=True)
class Server:
    """A server that answers over HTTP."""

    address: str
    process: subprocess.Popen[str]
    errors: Path

    def get(self, path: str, **options: Any) -> httpx2.Response:
        return httpx2.get(self.address + path, timeout=60, **options)

    def post(self, path: str, **options: Any) -> httpx2.Response:
        return httpx2.post(self.address + path, timeout=60, **options)

    def said(self) -> str:
        return self.errors.read_text(encoding="utf-8")


def make_home(folder: Path) -> Home:
    home = IndexHome(folder / "home")
    shop, site = (
        new_repository(folder / "shop", SHOP),
        new_repository(folder / "site", {"README.md": "# Site\n\nWords.\n"}),
    )
    index_without_dagster(home, shop, "shop")
    index_without_dagster(home, site, "site")
    return Home(CommandLine(home, folder), shop, site)


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Shared by tests: they read it only."""
    for name in [name for name in os.environ if name.startswith("RAG_ASSETS")]:
        del os.environ[name]
    return make_home(tmp_path_factory.mktemp("served"))


@contextmanager
def serving(home: Home, *options: str, errors: Path, before: tuple[str, ...] = ()) -> Iterator[Server]:
    """`rag-assets serve` on a free port."""
    with errors.open("w") as file:
        cli = CommandLine(home.cli.home, home.cli.folder, home.cli.environment)
        process = cli.start(*before, "serve", "--port", "0", *options, stderr=file)
        try:
            yield Server(_address(errors, process), process, errors)
        finally:
            end(process)


def _address(errors: Path, process: subprocess.Popen[str]) -> str:
    from rag_assets_tests.processes import until

    def line() -> dict[str, str] | None:
        said = errors.read_text(encoding="utf-8")
        assert process.poll() is None, said
        found = [row for row in said.splitlines() if '"address"' in row]
        return json.loads(found[0]) if found else None

    until(line, "the server says where it is")
    found = line()
    assert found is not None
    return found["address"]


@pytest.fixture(scope="module")
def server(home: Home, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Shared by the tests of a file."""
    with serving(home, errors=tmp_path_factory.mktemp("server") / "errors.txt") as made:
        yield made
