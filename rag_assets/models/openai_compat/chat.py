"""Free text from an OpenAI-compatible server: one question, streamed, with a bounded number of tries (E18, A17)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rag_assets.contracts.llm import ASKED_AGAIN, ChatMessage, LlmUsage
from rag_assets.contracts.result import InvokeResult
from rag_assets.models.openai_compat.client import ModelClient
from rag_assets.models.openai_compat.faults import KEY_ECHO, Fault, Retries, failure_message
from rag_assets.models.openai_compat.responses import (
    Reply,
    ReplyLimits,
    StreamReader,
    TokenUsage,
    data_lines,
    is_json,
    not_an_api,
    read_completion,
)
from rag_assets.models.openai_compat.structured import Parameters, ServerQuirks
from rag_assets.models.openai_compat.usage import UsageMeter

if TYPE_CHECKING:
    import openai

LONGEST_WAIT_SECONDS = 30.0
"""Somebody waits for the answer: a server that asks for more gets no retry."""

_EVENTS = "text/event-stream"


@dataclass(frozen=True, slots=True)
class Model:
    """A model of a server, and how it is asked. Prices are per million tokens, None where they are not known."""

    name: str
    max_tokens: int
    temperature: float
    price_in: float | None = None
    price_out: float | None = None


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """What a model wrote, unparsed and untrusted, and what that took."""

    text: str
    model: str
    usage: LlmUsage


class ChatService:
    """Asks the models of one server. Safe to use from several threads; a question is sent once and after a transient
    fault up to `retries` times more, each time from the beginning."""

    def __init__(self, client: ModelClient, *, retries: int, sleep: Callable[[float], object] = time.sleep) -> None:
        """`sleep` is how a wait is spent."""
        self._client = client
        self._attempts = retries + 1
        self._sleep = sleep
        self._retries = Retries(LONGEST_WAIT_SECONDS)
        self._quirks = ServerQuirks()

    def generate(
        self,
        model: Model,
        messages: Sequence[ChatMessage],
        on_text: Callable[[str], None] = lambda text: None,
        *,
        schema: str = "",
    ) -> InvokeResult[ChatAnswer]:
        """What a model writes, or one error with an `LLM.` code. `on_text` is given its words as they arrive; a retry
        begins again after `ASKED_AGAIN`. `schema` is a JSON schema that servers which know of such hold the model to:
        what comes is unchecked all the same. Raises nothing that server or model can cause (A17)."""
        meter = UsageMeter(model.price_in, model.price_out)

        def send(attempt: int) -> str | Fault:
            if attempt:
                on_text(ASKED_AGAIN)
            return self._quirks.ask(once, model.name, has_schema=bool(schema))

        def once(accepted: Parameters) -> str | Fault:
            request = accepted.request(model.name, messages, model.max_tokens, model.temperature, schema)
            usage = {"stream_options": {"include_usage": True}} if accepted.usage else {}
            return self._send({**request, **usage, "stream": True}, model.max_tokens, on_text, meter)

        found = self._retries.run(send, self._attempts, timeouts=1, wait=self._sleep)
        if isinstance(found, Fault):
            return InvokeResult.failure([failure_message(found)])
        return InvokeResult.create(ChatAnswer(found, model.name, meter.of_texts()))

    def _send(
        self, request: dict[str, Any], max_tokens: int, on_text: Callable[[str], None], meter: UsageMeter
    ) -> str | Fault:
        limits = ReplyLimits.of_tokens(max_tokens)
        meter.take_call()
        outcome = self._client.ask(lambda api: self._exchange(api, request, on_text, limits), limits, meter)
        if isinstance(outcome, Fault):
            return outcome
        text, used = outcome
        meter.add(prompt=used.prompt_tokens, completion=used.completion_tokens)
        return text

    def _exchange(
        self, api: openai.OpenAI, request: dict[str, Any], on_text: Callable[[str], None], limits: ReplyLimits
    ) -> tuple[str | Fault, TokenUsage]:
        """Reads a stream, or the reply of a server that answers at once although it was asked to stream."""
        endpoint = self._client.endpoint
        with api.chat.completions.with_streaming_response.create(**request) as response:
            kind = response.headers.get("content-type", "")
            if not is_json(kind):
                return self._read_events(response, kind, on_text, limits)
            text, used = read_completion(Reply(kind, response.read()), endpoint.section, endpoint.key)
        if isinstance(text, Fault):
            return text, used
        if len(text) > limits.characters:
            return limits.too_long(), used
        if endpoint.key.is_in(text):
            return KEY_ECHO, used
        on_text(text)
        return text, used

    def _read_events(
        self, response: Any, kind: str, on_text: Callable[[str], None], limits: ReplyLimits
    ) -> tuple[str | Fault, TokenUsage]:
        import httpx2  # loaded: `response` is one of its objects

        from rag_assets.models.openai_compat.transport import fault_of

        endpoint = self._client.endpoint
        reader = StreamReader(endpoint.key, on_text, limits)
        fault: Fault | None = None
        try:
            for data in data_lines(response.iter_bytes()):
                fault = reader.take(data)
                if fault is not None or reader.is_done:
                    break
        except httpx2.RequestError as error:
            fault = reader.cut(fault_of(error, endpoint))
        if not reader.has_events and not kind.startswith(_EVENTS):
            return not_an_api(kind, "a chat completion", endpoint.section, endpoint.key), reader.usage
        text = fault or reader.answer()
        return KEY_ECHO if isinstance(text, str) and endpoint.key.is_in(text) else text, reader.usage
