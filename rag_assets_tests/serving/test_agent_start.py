"""How an agent's session begins: at once, whether a server of the home is there, starts, or cannot start."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION, MODERN_PROTOCOL_VERSIONS

from rag_assets.index.layout import IndexHome
from rag_assets.serving import stdio_relay
from rag_assets.serving.local_socket import socket_path
from rag_assets.serving.relay_plan import relay_plan
from rag_assets.version import own_version
from rag_assets_tests.cli.conftest import CommandLine
from rag_assets_tests.generation_history import copy_sparse
from rag_assets_tests.serving.agents import TOOLS
from rag_assets_tests.serving.conftest import Home, make_home
from rag_assets_tests.serving.test_mcp import servers_of

LISTS = ("tools/list", "prompts/list", "resources/templates/list")
VERSIONS = (*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS)
FLAGS = (("--allow-index",), ("--structured",), ("--no-overlay",), ("--label", "shop"))
SEARCH = {"name": "search", "arguments": {"query": "invoices", "label": "shop@main"}}
VERSION_KEY, CAPABILITIES_KEY = stdio_relay._VERSION_KEY, stdio_relay._CAPABILITIES_KEY


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    made = make_home(tmp_path_factory.mktemp("start"))
    yield made
    stop(made)


@pytest.fixture(scope="module")
def unserved(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return make_home(tmp_path_factory.mktemp("unserved"))


@pytest.fixture
def new_home(unserved: Home, tmp_path: Path) -> Iterator[Home]:
    """One that no server has served yet."""
    root = shutil.copytree(unserved.root, tmp_path / "home", copy_function=copy_sparse)
    made = replace(unserved, cli=CommandLine(IndexHome(root), tmp_path))
    yield made
    stop(made)


def stop(home: Home) -> None:
    for pid in servers_of(home):
        os.kill(pid, signal.SIGTERM)


class Session:
    """A client that speaks the protocol by hand."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._asked = 0

    def send(self, method: str, params: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._asked += 1
        message = {"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params}
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """To the request that was sent last."""
        assert self._process.stdout is not None
        found: dict[str, Any] = json.loads(self._process.stdout.readline())
        assert found.pop("jsonrpc") == "2.0" and found.pop("id") == self._asked
        return found

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self.send(method, params)
        return self.answer()

    def begin(self, version: str = LATEST_HANDSHAKE_VERSION) -> dict[str, Any]:
        found: dict[str, Any] = self.ask("initialize", hello(version))["result"]
        return found


def hello(version: str) -> dict[str, Any]:
    return {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def envelope(version: str) -> dict[str, Any]:
    return {"_meta": {VERSION_KEY: version, CAPABILITIES_KEY: {}}}


@contextmanager
def session(command: Sequence[str], folder: Path, code: int = 0) -> Iterator[Session]:
    """With a process of an agent, which ends with a code when its client leaves."""
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={"PYTHONPATH": str(Path(__file__).parents[2]), "PATH": os.environ["PATH"]},
    ) as process:
        yield Session(process)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60) == code


def program(home: Home) -> list[str]:
    return [sys.executable, "-m", "rag_assets", "--home", str(home.root)]


def with_server(home: Home, start: list[str]) -> list[str]:
    """An agent's process that starts its server by another command."""
    asked = {"folder": str(home.root), "work_tree": False}
    plan = relay_plan(home.cli.home, None, asked, program(home), []) | {"start": start}
    return [sys.executable, "-S", "-E", stdio_relay.__file__, json.dumps(plan)]


@pytest.mark.parametrize("version", VERSIONS[-2:])
def test_an_agent_begins_before_there_is_a_server(new_home: Home, tmp_path: Path, version: str) -> None:
    permission = tmp_path / "go"
    waiting = 'while [ ! -e "$0" ]; do sleep 0.02; done; exec "$@"'
    start = ["sh", "-c", waiting, str(permission), *program(new_home), "serve", "--local"]
    with session(with_server(new_home, start), tmp_path) as agent:
        of_all: dict[str, Any] = {}
        if version in MODERN_PROTOCOL_VERSIONS:
            of_all = envelope(version)
            assert agent.ask("server/discover", of_all)["result"]["supportedVersions"] == [version]
        else:
            assert agent.begin(version)["protocolVersion"] == version
        found = {method: agent.ask(method, of_all)["result"] for method in LISTS}
        assert [tool["name"] for tool in found["tools/list"]["tools"]] == TOOLS
        assert not socket_path(new_home.cli.home, None, own_version()).exists()
        agent.send("tools/call", SEARCH | of_all)
        permission.touch()
        assert "Invoices" in agent.answer()["result"]["content"][0]["text"]


@pytest.mark.parametrize(
    ("version", "flags"),
    [*((version, ()) for version in VERSIONS), *((version, flags) for version in VERSIONS[-2:] for flags in FLAGS)],
    ids=lambda value: value if isinstance(value, str) else " ".join(value) or "plain",
)
def test_the_process_of_an_agent_answers_as_the_server_does(home: Home, version: str, flags: tuple[str, ...]) -> None:
    is_modern = version in MODERN_PROTOCOL_VERSIONS
    of_all = envelope(version) if is_modern else {}
    opening = ("server/discover", of_all) if is_modern else ("initialize", hello(version))
    asked = [opening, *((method, of_all) for method in LISTS)]
    with session([*program(home), "mcp", *flags], home.root) as agent:
        of_process = [agent.ask(method, params) for method, params in asked]
        agent.ask("resources/list", of_all)  # from now on a server knows the client, and is asked how sessions begin
        of_server = [agent.ask(method, {**params, "cursor": "none"}) for method, params in asked]
    assert of_process == of_server
    names = [tool["name"] for tool in of_process[1]["result"]["tools"]]
    assert names == [*TOOLS, *(["index"] if "--allow-index" in flags else [])]


def test_a_version_that_nobody_speaks_is_answered_by_the_newest(home: Home) -> None:
    with session([*program(home), "mcp"], home.root) as agent:
        assert agent.begin("1999-01-01")["protocolVersion"] == LATEST_HANDSHAKE_VERSION
        assert not agent.ask("tools/call", SEARCH)["result"].get("isError")
    with session([*program(home), "mcp"], home.root) as agent:
        problem = agent.ask("server/discover", envelope("2999-01-01"))["error"]
        assert problem["data"]["supported"] == list(MODERN_PROTOCOL_VERSIONS)


def test_what_is_no_beginning_is_refused_by_the_server(home: Home) -> None:
    wrong: tuple[tuple[str, dict[str, Any]], ...] = (
        ("initialize", {"protocolVersion": LATEST_HANDSHAKE_VERSION}),
        ("tools/list", {}),
        ("tools/list", {"_meta": {VERSION_KEY: MODERN_PROTOCOL_VERSIONS[0]}}),
    )
    for method, params in wrong:
        with session([*program(home), "mcp"], home.root) as agent:
            assert agent.ask(method, params)["error"]["code"] == -32602


def test_an_agent_is_served_where_no_server_starts(new_home: Home, tmp_path: Path) -> None:
    with session(with_server(new_home, ["false"]), tmp_path) as agent:
        agent.begin()
        for _ in range(2):
            assert "Invoices" in agent.ask("tools/call", SEARCH)["result"]["content"][0]["text"]
    assert not servers_of(new_home)


@pytest.mark.parametrize("version", VERSIONS[-2:])
def test_requests_say_why_no_server_starts_until_that_is_mended(new_home: Home, tmp_path: Path, version: str) -> None:
    (tmp_path / "rag_assets.yaml").write_text("serch: {}\n", encoding="utf-8")
    of_all = envelope(version) if version in MODERN_PROTOCOL_VERSIONS else {}
    with session([*program(new_home), "mcp"], tmp_path) as agent:
        if not of_all:
            agent.begin(version)
        problem = agent.ask("tools/call", SEARCH | of_all)["error"]["message"]
        assert "rag_assets.yaml:1: unknown key 'serch'; did you mean 'search'?" in problem
        assert "run: rag-assets doctor" in problem
        (tmp_path / "rag_assets.yaml").write_text("{}\n", encoding="utf-8")
        assert "Invoices" in agent.ask("tools/call", SEARCH | of_all)["result"]["content"][0]["text"]


def test_an_agent_whose_server_never_started_fails(new_home: Home, tmp_path: Path) -> None:
    (tmp_path / "rag_assets.yaml").write_text("serch: {}\n", encoding="utf-8")
    with session([*program(new_home), "mcp"], tmp_path, code=1) as agent:
        agent.begin()
        assert "error" in agent.ask("tools/call", SEARCH)
