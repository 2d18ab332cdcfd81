"""What goes over the wire, and how servers that take less are met."""

from __future__ import annotations

from typing import Any

import pytest

from rag_assets.contracts.llm import StructuredPrompt
from rag_assets.descriptions.refinement import RefinedText
from rag_assets_tests.models.llm.conftest import Opener
from rag_assets_tests.models.llm.model_server import GOOD, Asked, ModelServer, Reply, answering, failing

EXPECTED = RefinedText(**GOOD)


def prompt(number: int = 0) -> StructuredPrompt:
    return StructuredPrompt("Describe it as JSON.", f"class Order{number}")


def test_the_request_is_that_of_the_protocol(server: ModelServer, opened: Opener) -> None:
    opened(model="small-1").complete(prompt(), RefinedText)
    asked = server.asked[0]
    body = asked.body
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["content-type"] == "application/json"
    assert "Authorization" not in asked.headers, "no key is configured"
    assert (body["model"], body["temperature"], body["stream"]) == ("small-1", 0, False)
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert asked.user == "class Order0"
    wanted = body["response_format"]["json_schema"]
    assert (body["response_format"]["type"], wanted["strict"]) == ("json_schema", True)
    assert wanted["schema"]["required"] == ["summary", "details"]
    assert wanted["schema"]["additionalProperties"] is False
    assert "maxLength" not in str(wanted), "grammars cut words at it"


def test_equal_questions_make_equal_requests(server: ModelServer, opened: Opener) -> None:
    server.script(failing(413))
    for _ in range(2):
        opened().complete(prompt(), RefinedText)
    assert server.asked[0].body == server.asked[1].body


def without_schema(body: dict[str, Any]) -> Reply | None:
    refused = body["response_format"]["type"] == "json_schema"
    return failing(400, "'response_format.type' must be json_object") if refused else None


def reasoning(body: dict[str, Any]) -> Reply | None:
    if "max_tokens" in body:
        return failing(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
    return failing(400, "Unsupported value: 'temperature' does not support 0") if "temperature" in body else None


def unexplained(body: dict[str, Any]) -> Reply | None:
    return Reply(b"Bad Request", 422) if body["response_format"]["type"] == "json_schema" else None


@pytest.mark.parametrize(
    ("refusal", "tries"),
    [
        pytest.param(without_schema, 2, id="no schemas"),
        pytest.param(reasoning, 3, id="a reasoning model"),
        pytest.param(unexplained, 2, id="refused without a word"),
    ],
)
def test_what_a_server_takes_is_found_out_once(server: ModelServer, opened: Opener, refusal: Any, tries: int) -> None:
    server.respond = lambda asked: refusal(asked.body) or answering()
    llm = opened()
    assert [llm.complete(prompt(i), RefinedText).value for i in range(3)] == [EXPECTED] * 3
    assert len(server.asked) == tries + 2


def test_without_a_schema_the_instructions_carry_it(server: ModelServer, opened: Opener) -> None:
    server.respond = lambda asked: without_schema(asked.body) or answering()
    opened().complete(prompt(), RefinedText)
    assert '"summary"' in server.asked[1].body["messages"][0]["content"]


def test_a_server_that_took_a_schema_once_keeps_getting_it(server: ModelServer, opened: Opener) -> None:
    """A later 400 is about that prompt, not about the shape."""

    def too_long(asked: Asked) -> Reply:
        return failing(400, "context length exceeded") if "Order1" in asked.user else answering()

    server.respond = too_long
    llm = opened()
    codes = [[error.code for error in llm.complete(prompt(i), RefinedText).errors] for i in range(3)]
    assert codes == [[], ["LLM.rejected"], []]
    assert [asked.body["response_format"]["type"] for asked in server.asked] == ["json_schema"] * 3


def test_a_prompt_that_no_shape_helps_changes_nothing(server: ModelServer, opened: Opener) -> None:
    server.respond = lambda asked: failing(400, "too long") if "Order0" in asked.user else answering()
    llm = opened()
    assert llm.complete(prompt(0), RefinedText).errors[0].code == "LLM.rejected"
    assert llm.complete(prompt(1), RefinedText).value == EXPECTED
    assert server.asked[-1].body["response_format"]["type"] == "json_schema"
