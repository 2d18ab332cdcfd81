"""Whatever a server or a network does, the service returns a result with a code (A17)."""

from __future__ import annotations

import json
import socket

import msgspec
import pytest

from rag_assets.contracts.llm import StructuredPrompt
from rag_assets.contracts.result import InvokeResult
from rag_assets.descriptions.refinement import RefinedText
from rag_assets.models.openai_compat.structured import MAX_REPLY_BYTES
from rag_assets_tests.models.llm.conftest import Opener
from rag_assets_tests.models.llm.model_server import GOOD, ModelServer, Reply, answering, completion, failing, timed

pytestmark = pytest.mark.rule("A17")

PROMPT = StructuredPrompt("Describe it as JSON.", "<facts>class Order</facts>")
EXPECTED = RefinedText(**GOOD)


def code_of(result: InvokeResult[RefinedText]) -> str:
    assert result.value is None
    assert len(result.errors) == 1
    assert "\n" not in result.errors[0].text
    return result.errors[0].code


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        pytest.param(failing(500), "LLM.server-error", id="500"),
        pytest.param(failing(503, Retry_After="0"), "LLM.server-error", id="503"),
        pytest.param(failing(429, Retry_After="0"), "LLM.rate-limited", id="429"),
        pytest.param(failing(429, Retry_After="3600"), "LLM.rate-limited", id="429 for an hour"),
        pytest.param(failing(429, Retry_After="Wed, 21 Oct 2015 07:28:00 GMT"), "LLM.rate-limited", id="429 until"),
        pytest.param(failing(429, Retry_After="soon"), "LLM.rate-limited", id="429 until it feels like it"),
        pytest.param(failing(401), "LLM.unauthorised", id="401"),
        pytest.param(failing(403), "LLM.unauthorised", id="403"),
        pytest.param(failing(404, "model m not found"), "LLM.not-found", id="404"),
        pytest.param(failing(413), "LLM.rejected", id="413"),
        pytest.param(failing(302, Location="https://elsewhere.example/v1?t=1"), "LLM.redirect", id="redirect"),
        pytest.param(
            Reply(b"<html>hello</html>", headers={"Content-Type": "text/html"}), "LLM.content-type", id="html"
        ),
        pytest.param(Reply(b"{}", headers={"Content-Type": "text/plain"}), "LLM.content-type", id="plain text"),
        pytest.param(Reply(b"{"), "LLM.malformed", id="half a reply"),
        pytest.param(Reply(b"[]"), "LLM.malformed", id="another reply"),
        pytest.param(Reply(b"\xff\xfe"), "LLM.malformed", id="not UTF-8"),
        pytest.param(Reply(b"[" * 100_000), "LLM.malformed", id="nested beyond measure"),
        pytest.param(Reply(b"{}"), "LLM.no-choices", id="no choices"),
        pytest.param(Reply(b'{"choices": []}'), "LLM.no-choices", id="empty choices"),
        pytest.param(Reply(b'{"error": {"message": "busy"}}'), "LLM.no-choices", id="an error with status 200"),
        pytest.param(completion(None), "LLM.no-choices", id="no text"),
        pytest.param(completion(" \n"), "LLM.no-choices", id="blank text"),
        pytest.param(completion('{"summary": "Keeps', finish="length"), "LLM.truncated", id="truncated"),
        pytest.param(completion("", finish="content_filter"), "LLM.refused", id="filtered"),
        pytest.param(completion("It keeps orders."), "LLM.malformed", id="prose"),
        pytest.param(completion('{"summary": "Keeps'), "LLM.malformed", id="cut without a word"),
        pytest.param(completion('{"summary": "\\ud800", "details": ""}'), "LLM.malformed", id="half a character"),
        pytest.param(completion('{"summary":' + "[" * 100_000), "LLM.schema", id="answer nested beyond measure"),
        pytest.param(answering({"summary": "Keeps orders."}), "LLM.schema", id="a field is missing"),
        pytest.param(answering(GOOD | {"more": 1}), "LLM.schema", id="a field too many"),
        pytest.param(answering(GOOD | {"details": ["a"]}), "LLM.schema", id="a field of another type"),
        pytest.param(answering(GOOD | {"summary": "x" * 20_000}), "LLM.schema", id="a flood"),
        pytest.param(answering([GOOD]), "LLM.schema", id="a list"),
        pytest.param(
            Reply(b" " * (MAX_REPLY_BYTES + 1), headers={"Content-Length": str(10**12)}), "LLM.too-large", id="huge"
        ),
        pytest.param(Reply(b"{}", headers={"Content-Length": "1000"}), "LLM.unreachable", id="shorter than it says"),
        pytest.param(
            Reply(b"\x1f\x8b" + b"\x00" * 50, headers={"Content-Encoding": "gzip"}), "LLM.malformed", id="compressed"
        ),
    ],
)
def test_bad_replies_are_results(server: ModelServer, opened: Opener, reply: Reply, code: str) -> None:
    server.script(reply)
    llm = opened()
    result = llm.complete(PROMPT, RefinedText)
    assert code_of(result) == code
    usage = llm.usage()
    assert usage.failures == ((code, 1),)
    assert usage.calls == len(server.asked) <= 2


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(GOOD),
        f"\n {json.dumps(GOOD, indent=2)} \n",
        f"```json\n{json.dumps(GOOD)}\n```",
        f"```\n{json.dumps(GOOD)}\n```\n",
        f"<think>What is it?\nAn {{order}}.</think>\n{json.dumps(GOOD)}",
    ],
    ids=["plain", "indented", "fenced as json", "fenced", "after thoughts"],
)
def test_usual_wrappings_of_json_are_understood(server: ModelServer, opened: Opener, content: str) -> None:
    server.script(completion(content))
    assert opened().complete(PROMPT, RefinedText) == InvokeResult.create(EXPECTED)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(Reply(b"{}", delay=30), id="silence"),
        pytest.param(Reply(b" " * 1_000, pause=0.05), id="a body by the byte"),
        pytest.param(Reply(b"", drip_headers=0.05), id="headers by the byte"),
    ],
)
def test_the_time_limit_is_for_the_whole_answer(server: ModelServer, opened: Opener, reply: Reply) -> None:
    """Each byte renews a socket timeout; the limit holds all the same, for the call and for its retry."""
    server.script(reply)
    result, seconds = timed(lambda: opened(timeout_seconds=0.3).complete(PROMPT, RefinedText))
    assert code_of(result) == "LLM.timeout"
    assert "0.3 s" in result.errors[0].text
    assert 0.6 <= seconds < 3


def test_a_server_that_is_not_there(opened: Opener) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    result = opened(base_url=f"http://127.0.0.1:{port}/v1").complete(PROMPT, RefinedText)
    assert code_of(result) == "LLM.unreachable"
    assert f"http://127.0.0.1:{port}" in result.errors[0].text


def test_a_server_that_speaks_no_tls(server: ModelServer, opened: Opener) -> None:
    result = opened(base_url=server.url.replace("http:", "https:")).complete(PROMPT, RefinedText)
    assert code_of(result) in ("LLM.unreachable", "LLM.tls")


def test_a_redirect_is_not_followed(server: ModelServer, opened: Opener) -> None:
    with ModelServer() as other:
        server.script(failing(307, Location=f"{other.url}/chat/completions"))
        result = opened(key="sk-secret-123").complete(PROMPT, RefinedText)
        assert code_of(result) == "LLM.redirect"
        assert other.asked == []


def test_proxies_of_the_environment_are_not_used_for_this_machine(
    server: ModelServer, opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    assert opened().complete(PROMPT, RefinedText).value == EXPECTED


def test_any_type_with_named_fields_can_be_asked_for(server: ModelServer, opened: Opener) -> None:
    class Verdict(msgspec.Struct):
        title: str
        good: bool

    server.script(answering({"title": "x", "good": True}))
    assert opened().complete(PROMPT, Verdict).value == Verdict("x", True)
    sent = server.asked[0].body["response_format"]["json_schema"]["schema"]
    assert set(sent["properties"]) == {"title", "good"}
