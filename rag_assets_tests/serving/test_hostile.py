"""Texts, clients and files that mean no good, or are broken."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from rag_assets.index.layout import IndexHome
from rag_assets.printable import printable
from rag_assets.serving import stdio_relay
from rag_assets_tests.cli.conftest import CommandLine, index_without_dagster, new_repository
from rag_assets_tests.processes import until
from rag_assets_tests.serving.agents import ask, said, tokens
from rag_assets_tests.serving.conftest import Home, Server, serving
from rag_assets_tests.serving.test_mcp import servers_of, stdio

EVIL = """\
namespace Evil;

public class Painter
{
    /// <summary>Paints\x1b[31mred\u202eder and \u200bnothing.</summary>
    public void Paint(string \u202ecolour) { var code = "\x1b]0;title\x07\x1b[2J"; }
}
"""


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A repository whose text would repaint a terminal and turn its order around."""
    folder = tmp_path_factory.mktemp("evil")
    home = IndexHome(folder / "home")
    repository = new_repository(folder / "shop", {"src/Painter.cs": EVIL, "notes.min.js": "var a=1;"})
    index_without_dagster(home, repository, "shop")
    return Home(CommandLine(home, folder), repository, repository)


@pytest.fixture(scope="module")
def server(evil: Home, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(evil, "--seconds", "2", errors=tmp_path_factory.mktemp("server") / "errors.txt") as made:
        yield made


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search", {"query": "paint colour", "detail": "source"}),
    ("read", {"place": "src/Painter.cs"}),
    ("symbol", {"name": "Painter.Paint"}),
    ("ask", {"question": "what does Painter.Paint do?"}),
    ("read", {"place": "nowhere\u202e.cs"}),
]


@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_no_text_commands_the_terminal_of_an_agent(server: Server, name: str, arguments: dict[str, Any]) -> None:
    text = server.post(f"/api/v1/{name}", json=arguments, headers={"accept": "text/plain"}).text
    if name == "read" and "Painter" not in arguments["place"]:
        text = json.loads(text)["error"]["message"]  # JSON is for programs
        assert "nowhere" in text
    else:
        assert printable(text) == text and "\\u202e" in text and tokens(text) <= 1500


def test_no_reply_of_a_tool_commands_a_terminal(evil: Home) -> None:
    async def talk(client: Any) -> None:
        for name, arguments in CALLS:
            answer = await client.call_tool(name, arguments)
            found = said(answer) + json.dumps(answer.structured_content or {}, ensure_ascii=False)
            assert printable(found) == found, name
        commit = evil.shop.git("rev-parse", "HEAD")
        file = await client.read_resource(f"rag://shop@main/{commit}/src/Painter.cs")
        assert "\\x1b[31mred\\u202eder" in file.contents[0].text

    ask(stdio(evil, "--alone", "--structured"), talk)


def test_what_is_not_there_is_not_found(server: Server) -> None:
    for path in (
        "read?place=src/Painter.cs&commit=deadbeef",
        "read?place=src/Painter.cs&commit=--output=x",
        "read?place=notes.min.js",
        "graph?since=no-such-branch",
    ):
        answer = server.get(f"/api/v1/{path}")
        assert (answer.status_code, answer.json()["error"]["type"]) == (404, "not_found"), answer.text


def test_names_that_are_not_there_cost_no_open_files(server: Server) -> None:
    """What an error holds on to is freed later than a refused request ends."""

    def open_files() -> int:
        return len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))

    def refused(number: int) -> int:
        answer = server.get("/api/v1/graph", params={"start": f"NoSuchName{number}"})
        assert answer.status_code == 404, answer.text
        return open_files()

    before = refused(0)
    with ThreadPoolExecutor(4) as executor:
        assert max(executor.map(refused, range(1, 60))) < before + 60


def test_an_error_of_many_wrong_arguments_is_short(server: Server) -> None:
    answer = server.post("/api/v1/search", json={"query": "x"} | {f"wrong{number}": 1 for number in range(5000)})
    assert answer.status_code == 400 and "and 4,992 more; there are: query, " in answer.json()["error"]["message"]
    assert len(answer.text) < 2000


def test_a_body_that_does_not_come_is_given_up(server: Server) -> None:
    at = urlsplit(server.address)
    with socket.create_connection((at.hostname, at.port), timeout=30) as stream:
        head = f"POST /api/v1/search HTTP/1.1\r\nHost: {at.netloc}\r\nContent-Type: application/json\r\n"
        stream.sendall(f'{head}Content-Length: 50\r\n\r\n{{"qu'.encode())
        answer = stream.recv(65_536)
    assert b" 408 " in answer.split(b"\r\n")[0]


def test_who_asks_from_elsewhere_learns_no_path_of_the_server(evil: Home, tmp_path: Path) -> None:
    """Errors, warnings and ages name files for whoever can repair them."""
    places = [str(evil.root), str(evil.shop.path)]
    ask_for = (
        "graph?start=Painter",
        "read?place=src/Painter.cs&commit=deadbeef",
        "search?query=paint",
        "status",
        "symbol?name=Painter",
    )
    graph = [path for path in evil.root.rglob("graph/*") if path.is_file()]
    kept = {path: path.read_bytes() for path in graph}
    assert kept
    for path in graph:
        path.write_bytes(b"x" * 40)
    moved = evil.shop.path.with_name("moved")
    parts = [path for path in evil.root.rglob("segments/*.parquet") if path.is_file()]
    kept |= {path: path.read_bytes() for path in parts}
    try:
        with serving(evil, errors=tmp_path / "open.txt") as server:
            assert str(evil.shop.path) in server.get(f"/api/v1/{ask_for[1]}").text
        token = evil.cli.run("token", "create", "anna", "--json").json["token"]
        with serving(evil, errors=tmp_path / "errors.txt") as server:
            for gone in (False, True):
                if gone:
                    evil.shop.path.rename(moved)
                    for part in parts:
                        part.unlink()
                for path in ask_for:
                    for kind in ("text/plain", "application/json"):
                        headers = {"authorization": f"Bearer {token}", "accept": kind}
                        answer = server.get(f"/api/v1/{path}", headers=headers)
                        assert not any(place in answer.text for place in places), answer.text
            assert "…/home/labels/" in server.get(f"/api/v1/{ask_for[0]}", headers=headers).text
    finally:
        if moved.exists():
            moved.rename(evil.shop.path)
        for path, content in kept.items():
            path.write_bytes(content)
        (evil.root / "tokens.json").unlink(missing_ok=True)


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


def test_messages_that_nobody_can_read_end_no_session(evil: Home) -> None:
    """Nested too deep, too long, and with half of an emoji."""

    def message(number: int, query: str) -> str:
        params = {"name": "search", "arguments": {"query": query}}
        return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})

    lines = [
        json.dumps(INITIALIZE),
        '{"jsonrpc": "2.0", "method": "notifications/initialized"}',
        '{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": ' + "[" * 100_000,
        message(3, "a" * 5_000_000),
        message(4, "paint \ud83d"),
        message(5, "paint \U0001f3a8"),
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "rag_assets", "--home", str(evil.root), "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": str(Path(__file__).parents[2]), "PATH": os.environ["PATH"]},
        cwd=evil.cli.folder,
    )
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write("".join(f"{line}\n" for line in lines).encode())
    process.stdin.flush()
    answers: dict[int, dict[str, Any]] = {}
    while not {1, 3, 4, 5} <= answers.keys():
        found = json.loads(process.stdout.readline())
        answers[found.get("id") or 0] = found
    process.stdin.close()
    assert process.wait(60) == 0 and "at most 4,000,000" in answers[3]["error"]["message"]
    for number in (4, 5):
        assert not answers[number]["result"].get("isError") and "Painter.cs" in json.dumps(answers[number])
    for pid in servers_of(evil):
        os.kill(pid, signal.SIGTERM)


@contextmanager
def pretended_server(path: Path, sessions: int, got: list[list[dict[str, Any]]]) -> Iterator[None]:
    """Serves a socket: greets, hears two requests, and dies; the last session answers them until the client leaves."""

    def serve(listener: socket.socket) -> None:
        for session in range(sessions):
            stream, _ = listener.accept()
            heard: list[dict[str, Any]] = []
            got.append(heard)
            with stream, stream.makefile("rwb") as file:
                file.readline()
                file.write(b'{"ready": true}\n')
                file.flush()
                while session == sessions - 1 or len(heard) < 2:
                    line = file.readline()
                    if not line:
                        break
                    heard.append(json.loads(line))
                    if session == sessions - 1:
                        file.write(json.dumps({"jsonrpc": "2.0", "id": heard[-1].get("id"), "result": {}}).encode())
                        file.write(b"\n")
                        file.flush()

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        thread = threading.Thread(target=serve, args=(listener,), daemon=True)
        thread.start()
        yield
        thread.join(20)


def test_what_was_under_way_when_a_server_died_is_asked_again(tmp_path: Path) -> None:
    """Also where the client's next line is what finds out that the server is gone."""
    written: list[dict[str, Any]] = []
    got: list[list[dict[str, Any]]] = []
    path = tmp_path / "s.sock"
    relay = stdio_relay.Relay({"socket": str(path), "hello": {}, "start": ["false"], "log": os.devnull, "alone": []})
    with pytest.MonkeyPatch.context() as patch, pretended_server(path, 2, got):
        patch.setattr(stdio_relay, "_write", lambda data: written.append(json.loads(data)))
        relay._connection = relay._connected()  # nobody reads it, as when the reader is late
        for number in (1, 2):
            relay._send(json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"}).encode() + b"\n")
        connection = relay._connection
        assert connection is not None
        while connection.recv(1):
            pass
        for number in (3, 4):  # the second is refused by a socket whose end is known
            relay._send(json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"}).encode() + b"\n")
        until(lambda: len(written) == 4, "every request has an answer")
        relay._is_over = True
        assert relay._connection is not None
        relay._connection.shutdown(socket.SHUT_RDWR)
    assert [one["id"] for one in got[0]] == [1, 2]
    assert sorted(one["id"] for one in written) == [1, 2, 3, 4] and not relay._waiting
