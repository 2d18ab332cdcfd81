"""Agents: the client of the SDK over standard input and output, in both generations of the protocol."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import StdioServerParameters, stdio_client
from mcp.client.client import Client

from rag_assets.index.layout import IndexHome
from rag_assets.serving.access import Caller, Calling, calling
from rag_assets.serving.index_pool import IndexPool
from rag_assets.serving.local_socket import socket_path
from rag_assets.serving.mcp_server import instructions, mcp_server
from rag_assets.serving.operations import Operations
from rag_assets.version import own_version
from rag_assets_tests.cli.conftest import CommandLine
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.processes import until
from rag_assets_tests.serving.agents import MODES, SHOP, TOOLS, ask, everything, said, tokens
from rag_assets_tests.serving.conftest import Home, make_home


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """Its local server is ended with the last test."""
    made = make_home(tmp_path_factory.mktemp("agents"))
    yield made
    for pid in servers_of(made):
        os.kill(pid, signal.SIGTERM)


def servers_of(home: Home) -> list[int]:
    """The processes that serve agents of a home."""
    found = subprocess.run(
        ["pgrep", "-f", "--", f"--home {home.root} (.* )?serve --local"], capture_output=True, text=True
    )
    return [int(line) for line in found.stdout.split()]


def stdio(home: Home, *options: str, folder: Path | None = None, before: tuple[str, ...] = ()) -> Any:
    package = str(Path(__file__).parents[2])
    return stdio_client(
        StdioServerParameters(
            command=sys.executable,
            args=["-m", "rag_assets", "--home", str(home.root), *before, "mcp", *options],
            env={"PYTHONPATH": package, "PATH": os.environ["PATH"]},
            cwd=folder or home.cli.folder,
        )
    )


@pytest.mark.parametrize("mode", MODES)
def test_a_session_over_standard_input_and_output(home: Home, mode: str) -> None:
    ask(stdio(home), everything, mode)


def test_what_every_session_pays_for(home: Home) -> None:
    async def talk(client: Client) -> None:
        listed = await client.list_tools()
        shown = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed.tools]
        assert tokens(json.dumps(shown)) <= 1500
        default = await client.call_tool("search", SHOP | {"query": "orders and invoices"})
        assert tokens(said(default)) <= 600

    assert len(instructions()) <= 2048
    ask(stdio(home), talk)


def test_one_server_for_all_agents_and_the_folder_says_which_index(home: Home) -> None:
    async def shop(client: Client) -> None:
        assert said(await client.call_tool("search", {"query": "invoices"})).startswith("shop@main @ ")

    async def site(client: Client) -> None:
        assert said(await client.call_tool("search", {"query": "words"})).startswith("site@main @ ")

    async def neither(client: Client) -> None:
        answer = await client.call_tool("search", {"query": "words"})
        assert answer.is_error
        assert said(answer) == "several indexes are here; name one as label: shop@main, site@main"

    ask(stdio(home, folder=home.shop.path / "src"), shop)
    ask(stdio(home, folder=home.site.path), site)
    ask(stdio(home), neither)
    ask(stdio(home, "--label", "shop", folder=home.site.path), shop)
    assert len(servers_of(home)) == 1
    path = socket_path(home.cli.home, None, own_version())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_killed_server_is_replaced_in_the_middle_of_a_session(home: Home) -> None:
    async def talk(client: Client) -> None:
        assert not (await client.call_tool("search", SHOP | {"query": "invoices"})).is_error
        for pid in servers_of(home):
            os.kill(pid, signal.SIGKILL)
        with anyio.move_on_after(30):
            while servers_of(home):
                await anyio.sleep(0.05)
        answer = await client.call_tool("search", SHOP | {"query": "invoices"})
        assert not answer.is_error and "Invoices" in said(answer)

    ask(stdio(home), talk)
    assert len(servers_of(home)) == 1


def test_a_socket_that_nobody_listens_on_is_taken_over(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    ask(stdio(home), everything)
    path = socket_path(home.cli.home, None, own_version())
    (server,) = servers_of(home)
    os.kill(server, signal.SIGTERM)
    until(lambda: not servers_of(home), "the server ends")
    assert not path.exists()
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(path))
    ask(stdio(home), everything)
    for pid in servers_of(home):
        os.kill(pid, signal.SIGTERM)


def test_structured_content_has_one_line_of_text(home: Home) -> None:
    async def talk(client: Client) -> None:
        answer = await client.call_tool("search", SHOP | {"query": "invoices"})
        assert answer.structured_content is not None and answer.structured_content["hits"]
        assert "\n" not in said(answer)

    ask(stdio(home, "--structured"), talk)


def test_an_unknown_role_is_told(home: Home) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rag_assets", "--home", str(home.root), "--role", "king", "mcp"],
        input="",
        capture_output=True,
        text=True,
        cwd=home.cli.folder,
        env={"PYTHONPATH": str(Path(__file__).parents[2]), "PATH": os.environ["PATH"]},
        timeout=120,
    )
    assert done.returncode == 1 and "no role 'king'" in done.stderr


def test_lines_that_are_no_message(home: Home) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "rag_assets", "--home", str(home.root), "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": str(Path(__file__).parents[2]), "PATH": os.environ["PATH"]},
        cwd=home.cli.folder,
    )
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }
    out, _ = process.communicate(b"no json\n\xff\xfe\n[]\n{}\n" + json.dumps(hello).encode() + b"\n", timeout=120)
    answers = [json.loads(line) for line in out.splitlines()]
    assert any(answer.get("id") == 1 and "result" in answer for answer in answers)
    assert process.returncode == 0


def test_alone_without_a_server(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    ask(stdio(home, "--alone"), everything)
    assert not servers_of(home)


def test_the_tool_that_indexes(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    told: list[str | None] = []

    async def heard(done: float, total: float | None, message: str | None) -> None:
        told.append(message)

    async def talk(client: Client) -> None:
        assert [tool.name for tool in (await client.list_tools()).tools] == [*TOOLS, "index"]
        before = said(await client.call_tool("status", SHOP))
        home.shop.commit({"src/Orders/Parcel.cs": "namespace Shop.Orders;\n\npublic class Parcel { }\n"})
        await anyio.sleep(2.1)  # the age of an index is looked at every two seconds
        assert "HEAD +1 commit" in said(await client.call_tool("status", SHOP)) and "is HEAD" in before
        done = await client.call_tool("index", SHOP, progress_callback=heard)
        assert not done.is_error, said(done)
        assert "Parcel" in said(await client.call_tool("symbol", SHOP | {"name": "Parcel"}))
        failed = await client.call_tool("index", {"label": "nowhere"})
        assert failed.is_error and "no label 'nowhere'" in said(failed)

    ask(stdio(home, "--alone", "--allow-index"), talk)
    assert any(told)


def test_a_disk_that_does_not_answer_is_an_error_of_the_tool(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a client on this machine, whose calls have no limit of time."""

    def from_a_lost_mount(*_: Any) -> None:
        raise OSError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT))  # which is a TimeoutError

    with Operations(IndexPool(home.cli.home, None)) as operations:
        monkeypatch.setattr(operations, "search", from_a_lost_mount)

        async def talk() -> None:
            calling.set(Calling(Caller(knows_paths=True)))
            async with Client(mcp_server(operations)) as client:
                answer = await client.call_tool("search", SHOP | {"query": "refund"})
                assert answer.is_error and "cannot be read: Connection timed out" in said(answer)

        anyio.run(talk)


def test_a_call_that_names_nothing_is_told_what_there_is(home: Home) -> None:
    calls = [
        ("read", {"place": "src/Orders/"}, "is a folder; it has Invoices.Print.cs, Invoices.cs, OrderService.cs"),
        ("read", {"place": "app/Orders/Invoices.cs"}, "did you mean src/Orders/Invoices.cs or src/Other/Invoices.cs?"),
        ("read", {"place": "Orders"}, "did you mean src/Orders/?"),
        ("read", {"place": "OrderServce.Cancel"}, "did you mean OrderService.Cancel?"),
        ("symbol", {"name": "InvalidOperationException"}, "; it is written in src/Orders/Invoices.cs:5"),
        ("graph", {"start": "InvalidOperationException"}, "\nit is written in src/Orders/Invoices.cs:5"),
        ("read", {"place": "README.md", "commit": "dead"}, "; it has: main; the index has commit"),
        ("read", {"place": "README.md", "commit": "HEAD~9"}, "HEAD~9"),
    ]

    async def talk(client: Client) -> None:
        for tool, arguments, told in calls:
            answer = await client.call_tool(tool, SHOP | arguments)
            assert answer.is_error and told in said(answer), said(answer)
        for path, told in {
            "src/Order/": "; did you mean src/Orders/?",
            "lib/": "; there are: db/, src/, tests/",
        }.items():
            assert told in said(await client.call_tool("search", SHOP | {"query": "refund", "paths": path}))

    ask(stdio(home), talk)


def test_where_nothing_is_indexed_no_home_is_made(tmp_path: Path) -> None:
    home = Home(CommandLine(IndexHome(tmp_path / "none"), tmp_path), Repository(tmp_path), Repository(tmp_path))

    async def talk(client: Client) -> None:
        answer = await client.call_tool("search", {"query": "x"})
        assert answer.is_error and "rag-assets index PATH_OR_URL" in said(answer)
        assert f"nothing is indexed in {tmp_path}" in said(await client.call_tool("status", {}))

    ask(stdio(home), talk)
    assert not (tmp_path / "none").exists()
    for pid in servers_of(home):
        os.kill(pid, signal.SIGTERM)
