"""What a configuration file says of model servers is what the commands do with them."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from rag_assets_tests.cli.conftest import CommandLine, Outcome, new_repository
from rag_assets_tests.models.embedding_server import embedding, inputs
from rag_assets_tests.models.llm.model_server import Asked, ModelServer, Reply, answering, failing
from rag_assets_tests.stored_points import payloads_in

FILES: dict[str, str | bytes] = {
    f"src/{name}.cs": f"namespace Shop;\n\npublic class {name}\n{{\n    public void Cancel(int id) {{ }}\n}}\n"
    for name in ("Invoice", "Order", "Parcel")
} | {
    "src/Payment.cs": "namespace Shop;\n\n/// <summary>Books a payment.</summary>\npublic class Payment\n{\n"
    "    public void Book(int id) { }\n}\n"
}
WRITTEN = {"summary": "Lets a clerk withdraw a bill that was sent in error.", "details": "Cancel takes the number."}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture
def shop(cli: CommandLine) -> CommandLine:
    new_repository(cli.folder / "shop", FILES)
    return cli


def configure(cli: CommandLine, **sections: Any) -> None:
    settings = {"repositories": [{"id": "shop", "location": "shop"}]} | sections
    (cli.folder / "rag_assets.yaml").write_text(json.dumps(settings), encoding="utf-8")


def run(cli: CommandLine, *words: str, **sections: Any) -> Outcome:
    configure(cli, **sections)
    return cli.run(*words)


def build(cli: CommandLine, **sections: Any) -> None:
    configure(cli, **sections)
    cli.build()


def snippets(cli: CommandLine) -> dict[str, str]:
    (generation,) = cli.home.root.glob("labels/*/generations/*/")
    return {payload["Path"]: payload["FinderSnippet"] for payload in payloads_in(generation)}


def test_requests_of_an_index_build_are_as_large_and_as_many_as_configured(
    shop: CommandLine, server: ModelServer
) -> None:
    def slow(asked: Asked) -> Reply:
        return replace(embedding(asked), delay=0.02)

    def asked_of(**more: Any) -> tuple[set[int], int, set[object]]:
        server.asked.clear()
        server.peak = 0
        known = {"provider": "openai-compatible", "base_url": server.url, "model": "m"}
        build(shop, embedder=known | more)
        found = [asked for asked in server.asked if "input" in asked.body]
        return {len(inputs(asked)) for asked in found}, server.peak, {asked.body.get("dimensions") for asked in found}

    server.respond = slow
    sizes, peak, dimensions = asked_of(batch_texts=2, max_concurrency=1)
    assert (max(sizes), peak, dimensions) == (2, 1, {None})
    sizes, _, dimensions = asked_of(batch_texts=64, dimension=16)
    assert max(sizes) > 2 and dimensions == {16}
    sizes, _, _ = asked_of(batch_tokens=1, dimension=12)
    assert sizes == {1}


def test_a_question_waits_as_long_as_configured_for_its_embedding(shop: CommandLine, server: ModelServer) -> None:
    known = {"provider": "openai-compatible", "base_url": server.url, "model": "m"}
    server.respond = embedding
    build(shop, embedder=known)
    server.respond = lambda asked: replace(embedding(asked), delay=1.0)
    patient = run(shop, "search", "cancel an invoice", "--json", embedder=known).json
    hasty = run(shop, "search", "cancel an invoice", "--json", embedder=known | {"query_timeout_seconds": 0.1})
    assert (patient["mode"], hasty.json["mode"]) == ("hybrid", "bm25")
    assert "query_timeout_seconds" in hasty.err


@pytest.mark.rule("A15", "A17")
@pytest.mark.parametrize(
    ("options", "asked", "refined"),
    [({}, 3, 3), ({"max_calls": 2}, 2, 2), ({"refine": "all"}, 4, 4), ({"provider": "none"}, 0, 0)],
    ids=str,
)
def test_summaries_are_written_for_as_many_symbols_as_configured(
    shop: CommandLine, server: ModelServer, options: dict[str, Any], asked: int, refined: int
) -> None:
    server.script(answering(WRITTEN))
    llm = {"provider": "openai-compatible", "base_url": server.url, "model": "small"} | options
    build(shop, embedder={"provider": "lexical-only"}, llm=llm)
    assert len(server.asked) == asked
    assert sum(WRITTEN["summary"] in snippet for snippet in snippets(shop).values()) == refined


@pytest.mark.rule("F02", "C08")
def test_a_summary_that_a_model_wrote_is_quoted_where_its_words_are_asked_for(
    shop: CommandLine, server: ModelServer
) -> None:
    server.script(answering(WRITTEN))
    sections: dict[str, Any] = {
        "embedder": {"provider": "lexical-only"},
        "llm": {"provider": "openai-compatible", "base_url": server.url, "model": "small", "max_calls": 1},
        "answer": {"threshold": 0, "sure": 0},
    }
    build(shop, **sections)
    found = run(shop, "ask", "How does a clerk withdraw a bill that was sent in error?", "--json", **sections).json
    assert f"\n> Purpose: {WRITTEN['summary']}" in found["answer"]
    assert {one["support"] for one in found["checks"]} == {"supported"} and found["citations"]


def test_an_answer_is_waited_for_and_asked_for_again_as_configured(shop: CommandLine, server: ModelServer) -> None:
    lexical = {"provider": "lexical-only"}
    build(shop, embedder=lexical)

    def asked(reply: Reply, **more: Any) -> tuple[int, str]:
        server.asked.clear()
        server.respond = lambda asked: reply
        answer = {"base_url": server.url, "balanced": {"model": "m"}} | more
        done = run(shop, "ask", "What does Payment book?", embedder=lexical, answer=answer)
        return len(server.asked), done.err

    ways = 2  # the router, then the answer
    assert asked(failing(503), retries=0)[0] == ways
    assert asked(failing(503, Retry_After="0"), retries=2)[0] == 3 * ways
    began = time.monotonic()
    _, said = asked(Reply(b"{}", delay=30.0), retries=0, timeout_seconds=0.3)
    assert "0.3 s (answer.timeout_seconds)" in said and time.monotonic() - began < 15, said


def test_a_repository_that_does_not_answer_is_waited_for_as_long_as_configured(cli: CommandLine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        location = f"http://127.0.0.1:{silent.getsockname()[1]}/shop.git"
        repositories = [{"id": "shop", "location": location}]
        for words, section in (
            (("index",), {"sources": {"network_timeout_seconds": 0.3}}),
            (("watch", "--once"), {"automation": {"poll_timeout_seconds": 0.3}}),
        ):
            began = time.monotonic()
            done = run(cli, *words, repositories=repositories, **section)
            assert done.code != 0 and "no answer within 0.3 s" in done.out + done.err
            assert time.monotonic() - began < 9, "the defaults are 300 and 10 seconds"
