"""Free text from a server: streamed, asked again where that helps, never raising for what a server does (A17, E18)."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from rag_assets.contracts.llm import ChatMessage
from rag_assets.models.openai_compat.chat import LONGEST_WAIT_SECONDS, ChatService, Model
from rag_assets.models.openai_compat.client import ModelClient
from rag_assets.models.openai_compat.endpoint import ApiKey, ServerEndpoint
from rag_assets_tests.models.llm.model_server import Asked, ModelServer, Reply, completion, failing, timed

MODEL = Model("m", max_tokens=200, temperature=0.2, price_in=1.0, price_out=2.0)
QUESTION = (ChatMessage("system", "Be brief."), ChatMessage("user", "Why?"))
KEY = "sk-0123456789abcdef"
STREAM = {"Content-Type": "text/event-stream"}


def event(content: str | None = None, finish: str | None = None, **more: Any) -> str:
    delta = {} if content is None else {"content": content}
    return f"data: {json.dumps({'choices': [{'index': 0, 'delta': delta, 'finish_reason': finish}]} | more)}\n\n"


USAGE = f"data: {json.dumps({'choices': [], 'usage': {'prompt_tokens': 100, 'completion_tokens': 20}})}\n\n"
DONE = "data: [DONE]\n\n"
GOOD = event("Because ") + event("so.") + event(finish="stop") + USAGE + DONE


def stream(text: str, **more: Any) -> Reply:
    return Reply(text.encode(), headers=STREAM, **more)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        running.script(stream(GOOD))
        yield running


def service(
    server: ModelServer, waits: list[float] | None = None, *, retries: int = 2, seconds: float = 5
) -> ChatService:
    client = ModelClient(ServerEndpoint(server.url, ApiKey(KEY, "K"), seconds, section="answer"))
    slept = waits if waits is not None else []
    return ChatService(client, retries=retries, sleep=slept.append)


def test_the_words_come_as_they_are_made(server: ModelServer) -> None:
    heard: list[str] = []
    found = service(server).generate(MODEL, QUESTION, heard.append)
    assert found.value is not None
    assert (found.value.text, found.value.model) == ("Because so.", "m")
    assert heard == ["Because ", "so."]
    usage = found.value.usage
    assert (usage.calls, usage.prompt_tokens, usage.completion_tokens) == (1, 100, 20)
    assert usage.cost == pytest.approx((100 * 1.0 + 20 * 2.0) / 1_000_000)


@pytest.mark.rule("E18")
def test_what_is_sent(server: ModelServer) -> None:
    service(server).generate(MODEL, QUESTION)
    (asked,) = server.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["Authorization"] == f"Bearer {KEY}"
    assert asked.body == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 200,
        "temperature": 0.2,
    }


def test_events_that_are_cut_anywhere(server: ModelServer) -> None:
    """Byte by byte, with comments, blank lines and CR LF between them."""
    server.script(stream((": hello\r\n\r\n" + GOOD).replace("\n", "\r\n"), pause=0.0001))
    found = service(server).generate(MODEL, QUESTION)
    assert found.value is not None and found.value.text == "Because so."


def test_a_server_that_does_not_stream(server: ModelServer) -> None:
    heard: list[str] = []
    server.script(completion("At once."))
    found = service(server).generate(MODEL, QUESTION, heard.append)
    assert found.value is not None and found.value.text == "At once."
    assert heard == ["At once."]


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(failing(429, Retry_After="0"), id="rate limit"),
        pytest.param(failing(503), id="server error"),
        pytest.param(stream(event("Beca")), id="stream cut between events"),
        pytest.param(stream(event("Beca") + 'data: {"choices": [{"del'), id="stream cut in an event"),
        pytest.param(Reply(GOOD[:30].encode(), headers=STREAM | {"Content-Length": "5000"}), id="connection cut"),
        pytest.param(stream(event("x") + 'data: {"error": {"message": "overloaded"}}\n\n'), id="error in the stream"),
    ],
)
def test_what_may_pass_is_asked_again(server: ModelServer, first: Reply) -> None:
    waits: list[float] = []
    server.script(first, stream(GOOD))
    found = service(server, waits).generate(MODEL, QUESTION)
    assert found.value is not None, found.errors
    assert found.value.text == "Because so."
    assert len(waits) == 1


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        pytest.param(
            stream(event("Beca") + event("use")),
            "the stream was cut after 7 characters, which are not used",
            id="between events",
        ),
        pytest.param(
            stream(event("Beca") + 'data: {"choices": [{"del'),
            "the stream was cut after 4 characters, which are not used",
            id="in an event",
        ),
        pytest.param(
            Reply(event("Beca").encode(), headers=STREAM | {"Content-Length": "5000"}),
            "the stream was cut after 4 characters, which are not used: ",
            id="of the connection",
        ),
        pytest.param(
            Reply(b": hello\n\n", headers=STREAM | {"Content-Length": "5000"}),
            "the stream was cut before its first word: ",
            id="before a word",
        ),
    ],
)
def test_a_cut_says_how_much_there_was(server: ModelServer, reply: Reply, said: str) -> None:
    """A server that has begun to answer is up."""
    server.script(reply)
    (error,) = service(server).generate(MODEL, QUESTION).errors
    assert error.text.startswith(said)
    assert "is the server" not in error.text


@pytest.mark.parametrize(
    ("reply", "code", "tries"),
    [
        pytest.param(failing(500), "LLM.server-error", 3, id="server error for ever"),
        pytest.param(failing(401), "LLM.unauthorised", 1, id="key refused"),
        pytest.param(failing(404), "LLM.not-found", 1, id="unknown model"),
        pytest.param(failing(400, "no such thing"), "LLM.rejected", 1, id="not understood"),
        pytest.param(failing(429, Retry_After="3600"), "LLM.rate-limited", 1, id="asks for an hour"),
        pytest.param(stream(DONE), "LLM.no-choices", 1, id="empty"),
        pytest.param(stream(event("  ") + event(finish="stop")), "LLM.no-choices", 1, id="blank"),
        pytest.param(stream(event("a", finish="length")), "LLM.truncated", 1, id="token limit"),
        pytest.param(stream(event("a", finish="content_filter")), "LLM.refused", 1, id="filtered"),
        pytest.param(stream("data: {nonsense\n\n"), "LLM.malformed", 1, id="no JSON"),
        pytest.param(stream("data: " + "[" * 3_000 + "\n\n"), "LLM.malformed", 1, id="deeply nested"),
        pytest.param(stream(event("x" * 30_000) + DONE), "LLM.too-large", 1, id="huge"),
        pytest.param(completion("x" * 30_000), "LLM.too-large", 1, id="huge at once"),
        pytest.param(stream(event(f"the key is {KEY}") + DONE), "LLM.key-echo", 1, id="key in the answer"),
        pytest.param(completion(f"the key is {KEY}"), "LLM.key-echo", 1, id="key in an answer at once"),
        pytest.param(Reply(b"", 302, {"Location": "http://elsewhere.example/"}), "LLM.redirect", 1, id="redirect"),
        pytest.param(
            Reply(b"<html>hello</html>", headers={"Content-Type": "text/html"}), "LLM.content-type", 1, id="a page"
        ),
    ],
)
def test_faults_are_results(server: ModelServer, reply: Reply, code: str, tries: int) -> None:
    server.script(reply)
    found = service(server).generate(MODEL, QUESTION)
    assert [error.code for error in found.errors] == [code]
    assert len(server.asked) == tries
    assert KEY not in str(found.errors)


def test_a_page_of_a_web_site_is_named_by_its_type(server: ModelServer) -> None:
    server.script(Reply(b"<html>hello</html>", headers={"Content-Type": "text/html; charset=utf-8"}))
    (error,) = service(server).generate(MODEL, QUESTION).errors
    assert error.text == "the reply is text/html; charset=utf-8, not a chat completion; is answer.base_url an API?"


def test_a_stream_without_a_type_of_its_own_is_read(server: ModelServer) -> None:
    server.script(Reply(GOOD.encode(), headers={"Content-Type": "text/plain"}))
    assert service(server).generate(MODEL, QUESTION).value is not None


def test_a_slow_server_is_not_asked_again(server: ModelServer) -> None:
    server.script(stream(GOOD, delay=30))
    found = service(server, seconds=0.2).generate(MODEL, QUESTION)
    assert [error.code for error in found.errors] == ["LLM.timeout"]
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("asked_for", "least", "most"), [("2", 2.0, 3.0), ("29", 29.0, LONGEST_WAIT_SECONDS), (None, 1.0, 1.5)], ids=str
)
def test_a_wait_is_as_long_as_the_server_says_or_longer(
    server: ModelServer, asked_for: str | None, least: float, most: float
) -> None:
    waits: list[float] = []
    server.script(failing(429, **({"Retry_After": asked_for} if asked_for else {})), stream(GOOD))
    service(server, waits).generate(MODEL, QUESTION)
    assert least <= waits[0] <= most


def test_waits_grow(server: ModelServer) -> None:
    waits: list[float] = []
    server.script(failing(500))
    service(server, waits, retries=3).generate(MODEL, QUESTION)
    assert [1.0 <= waits[0] <= 1.5, 2.0 <= waits[1] <= 3.0, 4.0 <= waits[2] <= 6.0] == [True] * 3


@pytest.mark.parametrize(
    ("refusal", "gone"),
    [
        ("unknown parameter stream_options", "stream_options"),
        ("temperature is not supported", "temperature"),
        ("use max_completion_tokens instead of max_tokens", "max_tokens"),
    ],
)
def test_parameters_that_a_server_does_not_take(server: ModelServer, refusal: str, gone: str) -> None:
    def respond(asked: Asked) -> Reply:
        return failing(400, refusal) if gone in asked.body else stream(GOOD)

    server.respond = respond
    asking = service(server)
    for _ in range(2):
        assert asking.generate(MODEL, QUESTION).value is not None
    assert [gone in asked.body for asked in server.asked] == [True, False, False]


def test_nobody_listens_on_the_port() -> None:
    with ModelServer() as gone:
        url = gone.url
    client = ModelClient(ServerEndpoint(url, ApiKey(), 2, section="answer"))
    found = ChatService(client, retries=0).generate(MODEL, QUESTION)
    assert [error.code for error in found.errors] == ["LLM.unreachable"]
    assert "answer.base_url" in found.errors[0].text


# replies that do not end

ENDLESS = {
    "words": stream("", forever=(event("again and again ") * 100).encode()),
    "events without words": stream("", forever=(event() * 1_000).encode()),
    "comments": stream("", forever=b": still here\n" * 1_000),
    "one event": stream("data: ", forever=b"x" * 100_000),
    "no line feed": stream("", forever=b"x" * 100_000),
    "JSON": Reply(b'{"choices": [{"message": {"content": "', forever=b"x" * 100_000),
    "JSON of 200 MB": Reply(b'{"choices": [', headers={"Content-Length": str(200 << 20)}, forever=b" " * 100_000),
}


@pytest.mark.rule("A17")
@pytest.mark.parametrize("reply", ENDLESS.values(), ids=ENDLESS)
def test_a_reply_that_does_not_end_is_not_read_on(server: ModelServer, reply: Reply) -> None:
    """Neither for as long as it may take, nor into memory."""
    server.script(reply)
    tracemalloc.start()
    try:
        found, seconds = timed(lambda: service(server, seconds=60).generate(MODEL, QUESTION))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    (error,) = found.errors
    assert error.code == "LLM.too-large"
    assert error.text.endswith(", and 200 tokens were asked for; nothing of it is used")
    assert seconds < 30
    assert server.sent < 40 << 20, "with what waits in the buffers of both sides"
    assert peak < 12 << 20
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [400, 500])
def test_a_refusal_that_does_not_end_is_a_refusal(server: ModelServer, status: int) -> None:
    server.script(Reply(b"overloaded ", status, forever=b"x" * 100_000))
    (error,) = service(server, retries=0).generate(MODEL, QUESTION).errors
    assert error.text.startswith(f"the server answers {status}: overloaded xxx")


def test_a_page_that_does_not_end_is_named_by_its_type(server: ModelServer) -> None:
    server.script(Reply(b"<html>", headers={"Content-Type": "text/html"}, forever=b"<p>hello</p>\n" * 1_000))
    (error,) = service(server).generate(MODEL, QUESTION).errors
    assert error.code == "LLM.content-type"


def test_nobody_waits_behind_the_end_of_a_stream(server: ModelServer) -> None:
    """Some servers leave the connection open."""
    server.script(stream(GOOD, forever=b"\n" * 1_000))
    found = service(server, seconds=10).generate(MODEL, QUESTION)
    assert found.value is not None and found.value.text == "Because so."
    assert found.value.usage.completion_tokens == 20


@pytest.mark.parametrize("max_tokens", [200, 3_000, 100_000])
@pytest.mark.parametrize("streams", [True, False], ids=["stream", "at once"])
def test_an_answer_as_long_as_it_may_be_is_read(server: ModelServer, max_tokens: int, streams: bool) -> None:
    """Five characters a token, and as many events as tokens with what servers put around each."""
    model = replace(MODEL, max_tokens=max_tokens)
    around = {"id": "chatcmpl-" + "0" * 30, "object": "chat.completion.chunk", "model": "m" * 40, "logprobs": None}
    token = event("é\u0416\u4e2dxy", **around)
    text = "é\u0416\u4e2dxy" * max_tokens
    server.script(stream(token * max_tokens + event(finish="stop") + DONE) if streams else completion(text))
    found = service(server, seconds=60).generate(model, QUESTION)
    assert found.value is not None, found.errors
    assert found.value.text == text
