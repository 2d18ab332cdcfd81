"""What a server costs, and what it holds under load: start, latency, memory, budgets, changing generations.

    python benchmarks/serving.py REPOSITORY [--seconds 300] [--clients 50] [--calls 2000] [--stdio 20]

REPOSITORY is a git repository, bare or not. Its last two commits that differ in a file are indexed into a temporary
home with the configuration of a new user; a server then changes between the two generations every 20 seconds under
load. Every answer under load must equal the one that its commit gives without load, so an answer of two generations is
noticed. Memory is the resident one, of a client's process and of the server. Ends with code 1 where a bound is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpe_openai
import httpx2
import psutil
from report import table, with_bytecode

from rag_assets.index.layout import IndexHome
from rag_assets.serving.access import Caller
from rag_assets.serving.index_pool import IndexPool
from rag_assets.serving.mcp_server import instructions
from rag_assets.serving.operations import Operations
from rag_assets_tests.serving.test_budgets import random_call

TOKENS = bpe_openai.get_encoding("cl100k_base")
PROMOTED_EVERY = 20.0
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}


@dataclass
class Row:
    measure: str
    found: str
    bound: str = ""
    is_held: bool | None = None


@dataclass
class Load:
    seconds: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    mixed: int = 0
    by_commit: Counter[str] = field(default_factory=Counter)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--stdio", type=int, default=20)
    options = parser.parse_args()
    with_bytecode()
    with tempfile.TemporaryDirectory(prefix="rag") as folder:
        home = Path(folder) / "home"
        generations = index(home, options.repository)
        rows = [*tokens(home, options.calls), *agents(home, options.stdio), *over_http(home, generations, options)]
    table(
        ("measure", "found", "bound", "held"),
        [(row.measure, row.found, row.bound, {True: "yes", False: "NO", None: ""}[row.is_held]) for row in rows],
    )
    return 1 if any(row.is_held is False for row in rows) else 0


def command(home: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "rag_assets", "--no-color", "--home", str(home), *words]


def run(home: Path, *words: str) -> str:
    return subprocess.run(command(home, *words), check=True, capture_output=True, text=True).stdout


def index(home: Path, repository: Path) -> list[str]:
    """The ids of two generations of one label, the served one last."""

    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", str(repository), *words], check=True, capture_output=True, text=True).stdout

    commits = git("log", "--format=%H", "-n", "2", "--diff-filter=M", "--", "*.cs").split()
    made = []
    for commit in reversed(commits):
        run(home, "index", str(repository), "--id", "measured", "--commit", commit)
        made.append(json.loads(run(home, "status", "--json"))["labels"][0]["active"])
    return made


def label_of(home: Path) -> str:
    return str(json.loads(run(home, "status", "--json"))["labels"][0]["label"])


def tokens(home: Path, calls: int) -> list[Row]:
    """What is paid for by every session, and whether answers stay within their budgets."""
    label = label_of(home)
    with Operations(IndexPool(IndexHome(home), None)) as operations:
        with operations.pool.index(label, Caller()) as opened:
            shard, scope = opened.parts.shard(), opened.scope()
            names = list(shard.values("DeclaredNames", scope))
            paths = list(shard.values("Path", scope))
        chance = random.Random(1)
        words = [*chance.sample(names, min(200, len(names))), *chance.sample(paths, min(200, len(paths)))]
        words += [f"{path}:1-{chance.randint(2, 900)}" for path in paths[:100]]
        over, answered, used = 0, 0, []
        for _ in range(calls):
            reply, most = random_call(operations, Caller(), chance, words, label)
            if reply is not None:
                answered += 1
                cost = len(TOKENS.encode_ordinary(reply.text(most)))
                used.append(cost / most)
                over += cost > most
    return [
        Row("instructions, characters", f"{len(instructions()):,}", "≤ 2,048", len(instructions()) <= 2048),
        Row(f"answers above their budget, of {answered:,} ({calls:,} calls)", str(over), "0", over == 0),
        Row("share of its budget that an answer uses, median", f"{statistics.median(used):.0%}"),
    ]


def agents(home: Path, count: int) -> list[Row]:
    """Agents on standard input and output: one that must start the server, then others beside it."""
    began = time.perf_counter()
    clients = [_Agent(home)]
    cold = time.perf_counter() - began
    listed = clients[0].ask("tools/list", {})
    tools = len(TOKENS.encode_ordinary(json.dumps(listed["result"]["tools"])))
    clients[0].ask("resources/list", {})  # waits for the server
    started = time.perf_counter() - began
    text = clients[0].tool("search", {"query": "where is the configuration read"})
    first = time.perf_counter() - began - started
    ready = []
    for _ in range(count - 1):
        began = time.perf_counter()
        clients.append(_Agent(home))
        ready.append(time.perf_counter() - began)
    for client in clients:
        client.tool("search", {"query": "how are errors handled"})
    (server,) = [
        one for one in psutil.process_iter(["cmdline"]) if {"--local", str(home)} <= set(one.info["cmdline"] or ())
    ]
    of_client = max(psutil.Process(client.process.pid).memory_info().rss for client in clients) / 1e6
    of_server = server.memory_info().rss / 1e6
    whole = of_server + sum(psutil.Process(client.process.pid).memory_info().rss for client in clients) / 1e6
    for client in clients:
        client.end()
    server.send_signal(signal.SIGTERM)
    server.wait(30)
    cost, usual = len(TOKENS.encode_ordinary(text)), statistics.median(ready)
    return [
        Row("tokens of all tools", f"{tools:,}", "≤ 1,500", tools <= 1500),
        Row("tokens of a default search", str(cost), "≤ 600", cost <= 600),
        Row("agent ready, no server yet, s", f"{cold:.2f}", "≤ 0.6", cold <= 0.6),
        Row("agent ready, server there, median s", f"{usual:.2f}", "≤ 0.6", usual <= 0.6),
        Row("process of an agent, MB", f"{of_client:.0f}", "≤ 60", of_client <= 60),
        Row("its server there, s", f"{started:.2f}"),
        Row("first search on a cold server, s", f"{first:.2f}", "≤ 1.5", first <= 1.5),
        Row(f"{count} agents and their server, MB", f"{whole:.0f}", "≤ 600", whole <= 600),
        Row("the server among them, MB", f"{of_server:.0f}"),
    ]


class _Agent:
    """A client that speaks the protocol by hand, so that nothing of it is in the measured time."""

    def __init__(self, home: Path) -> None:
        self.process = subprocess.Popen(
            command(home, "mcp"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self._id = 1
        self._send(HELLO)
        assert "result" in self._answer()
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def tool(self, name: str, arguments: dict[str, Any]) -> str:
        return str(self.ask("tools/call", {"name": name, "arguments": arguments})["result"]["content"][0]["text"])

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._id += 1
        self._send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        return self._answer()

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(30)

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found


@contextmanager
def server(home: Path) -> Any:
    process = subprocess.Popen(
        command(home, "serve", "--port", "0"), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    assert process.stderr is not None
    address = json.loads(process.stderr.readline())["address"]

    threading.Thread(target=lambda: [None for _ in process.stderr or ()], daemon=True).start()
    try:
        yield address, psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait(30)


QUESTIONS = (
    "how are errors handled",
    "where is the configuration read",
    "write a value",
    "parse a date",
    "cache of types",
)


def over_http(home: Path, generations: list[str], options: argparse.Namespace) -> list[Row]:
    label = label_of(home)
    points = json.loads(run(home, "status", "--json"))["labels"][0]["counts"]["points"]
    with server(home) as (address, process):
        with httpx2.Client(base_url=address, timeout=60) as client:
            client.get("/healthz")
            alone = [_timed(client, label, number) for number in range(300)]
            expected: dict[str, dict[str, str]] = {}
            for generation in generations:
                run(home, "generations", "activate", generation)
                expected[generation] = {question: _body(client, label, question) for question in QUESTIONS}
            by_commit = {json.loads(next(iter(one.values())))["commit"]: one for one in expected.values()}
        found, before, after = asyncio.run(_load(home, address, label, generations, by_commit, process, options))
    p50, p95 = (statistics.quantiles(found.seconds, n=20)[at] * 1000 for at in (9, 18))
    alone_p50 = statistics.median(alone[20:]) * 1000
    count = len(found.seconds)
    return [
        Row(f"warm search over HTTP at {points:,} points, p50 ms", f"{alone_p50:.1f}", "≤ 20", alone_p50 <= 20),
        Row(f"requests of {options.clients} clients in {options.seconds:.0f} s", f"{count:,}"),
        Row("errors", str(dict(found.errors) or 0), "0", not found.errors),
        Row("answers of two generations, or of a wrong one", str(found.mixed), "0", found.mixed == 0),
        Row("answers by commit", ", ".join(f"{commit[:7]} {n:,}" for commit, n in sorted(found.by_commit.items()))),
        Row("under load, p50 / p95 ms", f"{p50:.0f} / {p95:.0f}"),
        Row("memory of the server, after the first 1,000 and all requests, MB", f"{before:.0f} / {after:.0f}"),
    ]


def _timed(client: httpx2.Client, label: str, number: int) -> float:
    began = time.perf_counter()
    client.get(
        "/api/v1/search", params={"query": f"{QUESTIONS[number % 5]} {number}", "label": label}
    ).raise_for_status()
    return time.perf_counter() - began


def _body(client: httpx2.Client, label: str, question: str) -> str:
    return _without_age(client.get("/api/v1/search", params={"query": question, "label": label, "limit": 20}).text)


def _without_age(body: str) -> str:
    """How old an index is may be said a little later than it is served."""
    return re.sub(r'"stale":(true|false|null)', '"stale":null', body)


async def _load(
    home: Path,
    address: str,
    label: str,
    generations: list[str],
    expected: dict[str, dict[str, str]],
    process: psutil.Process,
    options: argparse.Namespace,
) -> tuple[Load, float, float]:
    made, end = Load(), time.monotonic() + options.seconds
    memory = [process.memory_info().rss / 1e6]

    async def client(number: int) -> None:
        async with httpx2.AsyncClient(base_url=address, timeout=60) as http:
            while time.monotonic() < end:
                question = QUESTIONS[(number + len(made.seconds)) % len(QUESTIONS)]
                began = time.perf_counter()
                try:
                    answer = await http.get("/api/v1/search", params={"query": question, "label": label, "limit": 20})
                except httpx2.HTTPError as error:
                    made.errors[type(error).__name__] += 1
                    continue
                made.seconds.append(time.perf_counter() - began)
                if answer.status_code != 200:
                    made.errors[f"{answer.status_code} {answer.text[:100]}"] += 1
                    continue
                commit = answer.json()["commit"]
                made.by_commit[commit] += 1
                made.mixed += _without_age(answer.text) != expected[commit][question]
                if len(made.seconds) == 1000:
                    memory[0] = process.memory_info().rss / 1e6

    async def promote() -> None:
        number = 0
        while time.monotonic() + PROMOTED_EVERY < end:
            await asyncio.sleep(PROMOTED_EVERY)
            words = command(home, "generations", "activate", generations[number % 2])
            done = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.DEVNULL)
            await done.wait()
            number += 1

    await asyncio.gather(promote(), *(client(number) for number in range(options.clients)))
    return made, memory[0], process.memory_info().rss / 1e6


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    raise SystemExit(main())
