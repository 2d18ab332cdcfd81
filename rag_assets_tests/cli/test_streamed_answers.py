"""What somebody sees of an answer while a model writes it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets_tests.cli.conftest import CommandLine, Indexed
from rag_assets_tests.models.llm.model_server import Asked, ModelServer, Reply

QUESTION = "What does OrderService do?"


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture
def cli(indexed: Indexed, tmp_path: Path, model: ModelServer) -> CommandLine:
    answer = {"base_url": model.url, "balanced": {"model": "m"}, "retries": 0}
    (tmp_path / "rag_assets.yaml").write_text(json.dumps({"answer": answer}), encoding="utf-8")
    return CommandLine(indexed.cli.home, tmp_path)


def streaming(*chunks: str) -> Reply:
    """A reply that comes in these pieces."""
    events = "".join(f"data: {json.dumps({'choices': [{'delta': {'content': chunk}}]})}\n\n" for chunk in chunks)
    return Reply(f"{events}data: [DONE]\n\n".encode(), headers={"Content-Type": "text/event-stream"})


def answering(model: ModelServer, *drafts: list[str]) -> None:
    """A model that writes these drafts, one after the other; `ID` in them is the first piece of the evidence."""
    waiting = list(drafts)

    def respond(asked: Asked) -> Reply:
        if asked.body["messages"][0]["content"].startswith("You plan how to search"):
            return streaming("[HYBRID:] orders refunds")
        evidence = next(str(one["content"]) for one in asked.body["messages"] if '<evidence id="' in one["content"])
        known = evidence.split('<evidence id="')[1].partition('"')[0]
        draft = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        return streaming(*(chunk.replace("ID", known) for chunk in draft))

    model.respond = respond


GOOD = ["[Answer:] It “Cancels and refunds orders.” [chunk: ID]"]


@pytest.mark.rule("D10", "D24")
@pytest.mark.parametrize(
    "marker",
    [
        pytest.param(["[Requesting data on:] the refunds"], id="at once"),
        pytest.param(["[Requ", "esting da", "ta on:", "] the refunds"], id="in chunks"),
        pytest.param(list("[Requesting data on:] the refunds"), id="by letter"),
        pytest.param(["[REQUESTING DATA ON:] the", " refunds"], id="in capitals"),
        pytest.param(["[Answer:] the refunds"], id="a second answer"),
    ],
)
@pytest.mark.parametrize("before", ["It cancels orders. ", "It cancels orders.\n"], ids=["in a line", "a line"])
def test_no_marker_is_shown_in_a_draft(cli: CommandLine, model: ModelServer, before: str, marker: list[str]) -> None:
    answering(model, ["[Answer:] ", before, *marker], GOOD)
    done = cli.run("ask", QUESTION)
    assert done.code == 0 and "Cancels and refunds orders." in done.out
    assert "It cancels orders." in done.err
    said = (done.out + done.err).casefold()
    assert "requesting" not in said and "[answer" not in said and "the refunds" not in said


def test_a_line_end_that_comes_alone_hides_nothing(cli: CommandLine, model: ModelServer) -> None:
    answering(model, ["[Answer:] It “Cancels and refunds orders.” [chunk: ID]", "\n", "\n", "And it pays back."])
    done = cli.run("ask", QUESTION)
    assert "And it pays back." in done.err
