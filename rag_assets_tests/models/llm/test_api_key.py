"""The key comes from the environment, goes into one header, and is in nothing else (A17)."""

from __future__ import annotations

import json
import traceback
from pathlib import Path

import pytest

from rag_assets.contracts.llm import StructuredPrompt
from rag_assets.descriptions.refinement import RefinedText
from rag_assets.models import open_llm
from rag_assets.models.openai_compat.endpoint import ApiKey
from rag_assets.models.openai_compat.structured import KEY_VARIABLE
from rag_assets.pipeline.memo import AnswerCache
from rag_assets.settings import LlmSettings, Settings
from rag_assets.settings.config_file import ConfigError
from rag_assets_tests.models.llm.conftest import Opener
from rag_assets_tests.models.llm.model_server import (
    GOOD,
    Asked,
    ModelServer,
    Reply,
    answering,
    completion,
    failing,
)

KEY = "sk-test-0123456789abcdef"
PROMPT = StructuredPrompt("Describe it as JSON.", "class Order")


def bearer(asked: Asked) -> str:
    return asked.headers["Authorization"]


def test_it_is_sent_as_a_bearer_token(server: ModelServer, opened: Opener) -> None:
    opened(key=KEY).complete(PROMPT, RefinedText)
    assert bearer(server.asked[0]) == f"Bearer {KEY}"
    assert KEY not in json.dumps(server.asked[0].body)


def test_it_is_read_from_the_environment(server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, f"{KEY}\r\n")
    settings = LlmSettings(provider="openai-compatible", base_url=server.url, model="m")
    with open_llm(settings, lambda: AnswerCache(tmp_path)) as llm:
        llm.complete(PROMPT, RefinedText)
    assert bearer(server.asked[0]) == f"Bearer {KEY}"
    assert KEY not in Settings(llm=settings).model_dump_json()


@pytest.mark.parametrize(
    "echo",
    [
        pytest.param(lambda asked: failing(401, f"bad header {bearer(asked)}"), id="error message"),
        pytest.param(lambda asked: failing(400, "x" * 190 + bearer(asked)), id="where the message is cut"),
        pytest.param(lambda asked: Reply(bearer(asked).encode(), 500), id="plain error"),
        pytest.param(lambda asked: Reply(b"{}", headers={"Content-Type": bearer(asked)}), id="content type"),
        pytest.param(lambda asked: failing(302, Location=f"http://h.example/?k={KEY}"), id="redirect"),
        pytest.param(lambda asked: answering(GOOD | {"details": f"Token: {bearer(asked)}"}), id="answer"),
        pytest.param(lambda asked: answering({bearer(asked): 1}), id="field of an answer"),
        pytest.param(
            lambda asked: completion(json.dumps(GOOD).replace("Keeps", "".join(f"\\u{ord(c):04x}" for c in KEY))),
            id="escaped in an answer",
        ),
        pytest.param(lambda asked: Reply(json.dumps({"error": bearer(asked)}).encode()), id="error with status 200"),
    ],
)
def test_a_server_that_repeats_it_leaks_nothing(
    server: ModelServer, opened: Opener, tmp_path: Path, echo: object
) -> None:
    server.respond = echo  # type: ignore[assignment]
    llm = opened(key=KEY)
    result = llm.complete(PROMPT, RefinedText)
    assert result.value is None
    assert KEY not in repr(result) and KEY[:12] not in repr(result)
    assert KEY not in repr(llm) + repr(llm.usage())
    stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert KEY.encode() not in stored


def test_placeholders_are_not_secrets() -> None:
    """`none` is what people set for servers without keys; answers may hold the word."""
    assert ApiKey("none").masked("none of them") == "none of them"
    assert not ApiKey("none").is_in("none of them")


@pytest.mark.parametrize(
    "key", ["two words-of-it", "schlüssel-123", 'quoted"key-1', "back\\slash-123", "unsplit\nkey-123"]
)
def test_a_key_that_no_header_can_carry_is_refused_without_repeating_it(key: str) -> None:
    with pytest.raises(ConfigError, match=KEY_VARIABLE) as caught:
        ApiKey.of({KEY_VARIABLE: key}, KEY_VARIABLE)
    shown = "".join(traceback.format_exception(caught.value))
    assert key not in shown and key.split()[0] not in shown


def test_texts_of_servers_cannot_drive_a_terminal() -> None:
    assert ApiKey().masked("a\x1b[31mb\r\nc\u202ed") == "a [31mb c d"
