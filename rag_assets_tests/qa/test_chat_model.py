"""Which model a call goes to, and what it takes along."""

from __future__ import annotations

import pytest

from rag_assets.contracts.llm import ChatMessage
from rag_assets.qa.ask_options import configured_model
from rag_assets.qa.services import ModelCall
from rag_assets.settings import AnswerSettings
from rag_assets.settings.config_file import ConfigError
from rag_assets_tests.models.llm.model_server import ModelServer, completion, failing

MESSAGES = (ChatMessage("system", "Be brief."), ChatMessage("user", "Why?"))


def settings(server: ModelServer, **more: object) -> AnswerSettings:
    profiles = {"balanced": {"model": "middle", "max_tokens": 500, "price_in": 10.0}, "cheap": {"model": "small"}}
    return AnswerSettings.model_validate({"base_url": server.url, "retries": 0, **profiles, **more})


@pytest.mark.rule("E18")
@pytest.mark.parametrize(
    ("profile", "model"),
    [("cheap", "small"), ("balanced", "middle"), ("premium", "middle")],
    ids=["own", "default", "none"],
)
def test_a_profile_is_a_model(server: ModelServer, profile: str, model: str) -> None:
    server.script(completion("Because."))
    ask = configured_model(settings(server))
    assert ask is not None
    made = ask(ModelCall("p", MESSAGES, profile, 900, 0.7)).value  # type: ignore[arg-type]
    assert made is not None and (made.text, made.prompt_tokens, made.completion_tokens) == ("Because.", 100, 20)
    body = server.asked[0].body
    assert (body["model"], body["temperature"]) == (model, 0.7)
    assert body["messages"] == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]
    assert made.cost == (pytest.approx(0.001) if model == "middle" else None)
    assert body["max_tokens"] == (500 if model == "middle" else 900), "never more than the model is allowed"


def test_thoughts_are_no_part_of_a_reply(server: ModelServer) -> None:
    server.script(completion("<think>[BM25:] maybe?</think>\n\n[HYBRID:] refunds"))
    ask = configured_model(settings(server))
    assert ask is not None
    made = ask(ModelCall("p", MESSAGES)).value
    assert made is not None and made.text == "[HYBRID:] refunds"


def test_another_profile_writes_what_says_no_profile(server: ModelServer) -> None:
    """And is asked as its settings say, where a call says nothing of the temperature."""
    server.script(completion("Because."))
    ask = configured_model(settings(server), "cheap")
    assert ask is not None and ask(ModelCall("p", MESSAGES)).successful
    assert (server.asked[0].body["model"], server.asked[0].body["temperature"]) == ("small", 0.2)


def test_a_fault_is_a_result(server: ModelServer) -> None:
    server.script(failing(500))
    ask = configured_model(settings(server))
    assert ask is not None and not ask(ModelCall("p", MESSAGES)).successful


def test_without_a_server_there_is_no_model() -> None:
    assert configured_model(AnswerSettings()) is None


def test_a_default_profile_without_a_model_is_refused(server: ModelServer) -> None:
    with pytest.raises((ConfigError, ValueError), match="premium"):
        configured_model(settings(server, profile="premium"))
