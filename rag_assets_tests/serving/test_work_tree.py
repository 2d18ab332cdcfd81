"""What an agent has just changed: the files of its checkout lie over the index, and what its commits touch is told."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp.client.client import Client

from rag_assets_tests.cli.conftest import index_without_dagster
from rag_assets_tests.serving.agents import SHOP, ask, said
from rag_assets_tests.serving.conftest import Home, Server, make_home, serving
from rag_assets_tests.serving.test_mcp import stdio

HTML = {"accept": "text/html"}
PARCEL = "namespace Shop.Orders;\n\npublic class Parcel { public void Weigh() { } }\n"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    yield make_home(tmp_path)


def test_an_agent_finds_what_it_has_just_written(home: Home) -> None:
    (home.shop.path / "src/Orders/Parcel.cs").write_text(PARCEL, encoding="utf-8")
    (home.shop.path / "src/Other/Invoices.cs").unlink()

    async def inside(client: Client) -> None:
        found = said(await client.call_tool("search", {"query": "Weigh a parcel", "limit": 1}))
        assert "2 files as in the work tree now" in found.partition("\n")[0]
        assert "src/Orders/Parcel.cs:3  Shop.Orders.Parcel" in found and "  work tree" in found
        assert "public void Weigh" in said(await client.call_tool("read", {"place": "Parcel.Weigh"}))
        assert "Shop.Other" not in said(await client.call_tool("symbol", {"name": "Invoices"}))
        (home.shop.path / "src/Orders/Parcel.cs").write_text(PARCEL.replace("Weigh", "Measure"), encoding="utf-8")
        assert "Measure" in said(await client.call_tool("symbol", {"name": "Parcel"}))

    async def as_indexed(client: Client) -> None:
        found = said(await client.call_tool("search", SHOP | {"query": "symbol:Parcel"}))
        assert "nothing found" in found and "files differ from HEAD" in found

    ask(stdio(home, "--alone", folder=home.shop.path / "src"), inside)
    ask(stdio(home, "--alone", "--no-overlay", folder=home.shop.path), as_indexed)
    ask(stdio(home, "--alone", folder=home.site.path), as_indexed)


def test_a_server_has_the_work_tree_only_where_it_is_wanted(home: Home, tmp_path: Path) -> None:
    (home.shop.path / "src/Orders/Parcel.cs").write_text(PARCEL, encoding="utf-8")
    asked = {"query": "symbol:Parcel", "label": "shop"}
    with serving(home, errors=tmp_path / "errors.txt") as server:
        assert server.get("/api/v1/search", params=asked).json()["hits"] == []
    with serving(home, "--overlay", errors=tmp_path / "errors.txt") as server:
        (hit,) = server.get("/api/v1/search", params=asked).json()["hits"]
        assert hit["path"] == "src/Orders/Parcel.cs" and hit["work_tree"] is True
        began = time.perf_counter()
        server.get("/api/v1/search", params=asked)
        assert time.perf_counter() - began < 30


@pytest.fixture(scope="module")
def later(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Home, Server]]:
    """A server of a shop that was indexed again after two more commits."""
    folder = tmp_path_factory.mktemp("later")
    home = make_home(folder)
    invoices = (home.shop.path / "src/Orders/Invoices.cs").read_text(encoding="utf-8")
    table = "CREATE TABLE dbo.Parcels (Id int NOT NULL);\nGO\n"
    home.shop.commit({"db/parcels.sql": table, "src/Orders/Invoices.Print.cs": "namespace Shop.Orders;\n"})
    home.shop.commit({"src/Orders/Invoices.cs": invoices.replace('"no invoice"', '"no such invoice"')})
    index_without_dagster(home.cli.home, home.shop, "shop")
    with serving(home, errors=folder / "errors.txt") as server:
        yield home, server


def test_what_the_last_commits_touch(later: tuple[Home, Server]) -> None:
    home, server = later
    before = home.shop.git("rev-parse", "HEAD~1")

    async def talk(client: Client) -> None:
        found = said(await client.call_tool("graph", SHOP | {"since": before, "only": ["test"]}))
        assert "RefundsAnOrder" in found and "because of Invoices.Post" in found
        wrong = await client.call_tool("graph", SHOP | {"since": "nowhere"})
        assert wrong.is_error and "nowhere" in said(wrong)
        neither = await client.call_tool("graph", SHOP)
        assert neither.is_error and "start is missing" in said(neither)

    ask(stdio(home, "--alone"), talk)
    found = server.get("/api/v1/graph", params=SHOP | {"since": before}).json()
    assert {node["what"] for node in found["touched"]} == {"test"} and found["base_commit"] == before
    page = server.get("/impact", params=SHOP | {"since": before}).text
    assert "RefundsAnOrder" in page and "because of" in page and "/source?label=shop%40main&amp;place=" in page
    assert server.get("/impact", params=SHOP | {"since": "nowhere"}, headers=HTML).status_code >= 400


def test_what_differs_from_the_generation_before(later: tuple[Home, Server]) -> None:
    home, server = later

    async def talk(client: Client) -> None:
        found = said(await client.call_tool("status", SHOP | {"compare": "previous"}))
        assert "+ dbo.Parcels|TABLE" in found
        same = said(await client.call_tool("status", SHOP | {"compare": "active"}))
        assert "no route, table or edge differs" in same
        wrong = await client.call_tool("status", SHOP | {"compare": "20010101"})
        assert wrong.is_error and "20010101" in said(wrong)

    ask(stdio(home, "--alone"), talk)
    compared = server.get("/api/v1/status", params=SHOP | {"compare": "previous"}).json()
    assert compared["added"]["named"] == ["dbo.Parcels|TABLE"] and compared["removed"]["nodes"]
    page = server.get("/compare", params=SHOP).text
    assert "What came" in page and "/graph?start=dbo.Parcels%7CTABLE" in page
