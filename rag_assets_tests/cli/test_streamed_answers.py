"""What somebody sees of an answer while a model writes it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets import open_index
from rag_assets.history.conversations import open_conversations
from rag_assets.qa.answering import system_user
from rag_assets_tests.answer.test_link_guard import ATTACKS, opened
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


HARMFUL = ["image", "link relative", "address", "reference relative", "tag over lines", "host", "entities", "comment"]


@pytest.mark.rule("E19", "E21")
@pytest.mark.parametrize("name", HARMFUL)
def test_no_link_of_a_model_is_shown_kept_or_handed_on(cli: CommandLine, model: ModelServer, name: str) -> None:
    """It rides in a supported sentence: the check of citations alone would let it through."""
    reply = f"It “Cancels and refunds orders.” [chunk: ID] Orders {ATTACKS[name]}"
    answering(model, ["[Answer:] ", reply])
    found = cli.run("ask", QUESTION, "--session", "s", "--json")
    assert found.code == 0 and opened(found.json["answer"]) == []
    assert all(opened(one["sentence"]) == [] for one in found.json["checks"])
    done = cli.run("ask", QUESTION)
    assert done.code == 0 and "Cancels and refunds orders." in done.out
    talked = cli.run("chat", spoken=f"{QUESTION}\n")
    traced = cli.run("trace", found.json["turn"], "--json").json
    for shown in (done.out, done.err, talked.out, talked.err, traced["answer"]):
        assert opened(shown) == []
    with open_conversations(cli.home) as history:
        kept = history.load(system_user(), "s").turns
    assert kept and all(opened(turn.answer) == opened(turn.answer_en) == [] for turn in kept)


@pytest.mark.rule("E19", "E21")
def test_none_of_many_replies_shows_a_link_that_the_evidence_does_not_have(
    cli: CommandLine, model: ModelServer, indexed: Indexed
) -> None:
    answered = 0
    with open_index(indexed.label, home=cli.home.root, config=cli.folder / "rag_assets.yaml") as index:
        for name, attack in ATTACKS.items():
            answering(
                model, [f"[Answer:] It “Cancels and refunds orders.” [chunk: ID] {attack}\n\nSo it is. [chunk: ID]"]
            )
            drafted: list[str] = []
            answer = index.ask(QUESTION, on_text=drafted.append)
            assert opened(answer.text) == [], name
            answered += not answer.abstained
            assert opened("".join(drafted)) == [], name
    assert answered >= 60, "replies with control characters are no answers"


@pytest.mark.parametrize(
    "said", ["[the service](src/Orders/OrderService.cs)", "`List<int>` and `src/Orders/OrderService.cs`"]
)
def test_what_the_evidence_has_is_shown(cli: CommandLine, model: ModelServer, said: str) -> None:
    answering(model, [f"[Answer:] It “Cancels and refunds orders.” [chunk: ID] See {said}."])
    assert said in cli.run("ask", QUESTION, "--json").json["answer"]
