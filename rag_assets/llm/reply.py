"""From a reply to an answer, or to the reason why it is none. Nothing in a reply is trusted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec

from rag_assets.decoders import from_json
from rag_assets.model_server.api_key import ApiKey
from rag_assets.model_server.faults import Code, Fault
from rag_assets.model_server.refusal import DETAIL_CHARS, is_json, refusal, text_of
from rag_assets.model_server.transport import Reply

_FENCE = re.compile(r"```[\w-]*\s*\n(?P<inside>.*?)\n?\s*```", re.DOTALL)
_THOUGHT = re.compile(r"\s*<think>.*?</think>", re.DOTALL)

_Count = Annotated[int, msgspec.Meta(ge=0)]


@dataclass(frozen=True, slots=True)
class Tokens:
    prompt: int = 0
    completion: int = 0


class _Message(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class Usage(msgspec.Struct):
    """What a server says that an answer took."""

    prompt_tokens: _Count | None = None
    completion_tokens: _Count | None = None

    @property
    def tokens(self) -> Tokens:
        return Tokens(self.prompt_tokens or 0, self.completion_tokens or 0)


class _Completion(msgspec.Struct):
    choices: list[_Choice] = []
    usage: Usage | None = None
    error: Any = None


def read_reply(reply: Reply, key: ApiKey) -> tuple[str | Fault, Tokens]:
    """(the text the model wrote, or a fault; the tokens it took, which a useless answer took too)."""
    nothing = Tokens()
    if not 200 <= reply.status < 300:
        return refusal(reply, key, section="llm"), nothing
    if not is_json(reply.content_type):
        kind = key.masked(reply.content_type)[:DETAIL_CHARS] or "no content type"
        return Fault(Code.CONTENT_TYPE, f"the reply is {kind}, not JSON; is llm.base_url an API?"), nothing
    try:
        completion = from_json(reply.body, _Completion)
    except msgspec.DecodeError as error:
        return Fault(
            Code.MALFORMED, f"the reply is no chat completion: {key.masked(str(error))[:DETAIL_CHARS]}"
        ), nothing
    return _content(completion, key), completion.usage.tokens if completion.usage else nothing


def without_thoughts(text: str) -> str:
    """What a model says after thinking: local reasoning models put their thoughts before the answer."""
    thought = _THOUGHT.match(text)
    return text[thought.end() if thought else 0 :].strip()


def decode_answer(text: str, answer_type: type, key: ApiKey) -> Any | Fault:
    """The JSON of an answer, strictly as `answer_type` says. Thoughts before it and a fence around it are dropped."""
    bare = without_thoughts(text)
    fenced = _FENCE.fullmatch(bare)
    try:
        value: Any = from_json(fenced["inside"] if fenced else bare, answer_type)
    except msgspec.ValidationError as error:
        return Fault(Code.SCHEMA, f"the answer does not fit its schema: {key.masked(str(error))[:DETAIL_CHARS]}")
    except msgspec.DecodeError as error:
        return Fault(Code.MALFORMED, f"the answer is not JSON: {key.masked(str(error))[:DETAIL_CHARS]}")
    if key.is_in(msgspec.json.encode(value).decode()):  # as decoded: escapes hide nothing
        return Fault(Code.KEY_ECHO, "the answer repeats the API key; the server must not be trusted with it")
    return value


def _content(completion: _Completion, key: ApiKey) -> str | Fault:
    if not completion.choices:
        return Fault(Code.NO_CHOICES, f"the reply has no choices{_said(completion.error, key)}")
    choice = completion.choices[0]
    if choice.finish_reason == "length":
        return Fault(Code.TRUNCATED, "the answer was cut at the token limit")
    if choice.message.refusal or choice.finish_reason == "content_filter":
        return Fault(Code.REFUSED, f"the model refused{_said(choice.message.refusal, key)}")
    if not (choice.message.content or "").strip():
        return Fault(Code.NO_CHOICES, "the reply has a choice without text")
    return choice.message.content or ""


def _said(told: object, key: ApiKey) -> str:
    text = key.masked(text_of(told))[:DETAIL_CHARS] if told else ""
    return f": {text}" if text else ""
