"""Free text from an OpenAI-compatible server: one question, streamed, with a bounded number of tries (E18, A17)."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from rag_assets.contracts.llm import ChatMessage, LlmUsage
from rag_assets.contracts.result import InvokeResult
from rag_assets.llm.chat_stream import Stream
from rag_assets.llm.faults import failure_message
from rag_assets.llm.meter import Meter
from rag_assets.llm.reply import Tokens, read_reply
from rag_assets.llm.reply_limits import ReplyLimits
from rag_assets.llm.shapes import NOT_UNDERSTOOD, with_less
from rag_assets.model_server.api_key import ApiKey
from rag_assets.model_server.faults import FINAL, TRANSIENT, Code, Fault
from rag_assets.model_server.refusal import DETAIL_CHARS, is_json, refusal
from rag_assets.model_server.transport import Reply, Transport

FIRST_WAIT_SECONDS = 1.0
"""Before the first retry, twice that before the next, and so on, where the server does not say how long."""

LONGEST_WAIT_SECONDS = 30.0
"""Somebody waits for the answer: a server that asks for more gets no retry."""

JITTER = 0.5
"""Of a wait, as a share: clients that were refused together do not come back together."""

_ASKED_AGAIN = "\n"
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
class Written:
    """What a model wrote, unparsed and untrusted, and what that took."""

    text: str
    model: str
    usage: LlmUsage


@dataclass(frozen=True, slots=True)
class ChatShape:
    """Which parameters a server takes; found out by its refusals."""

    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    usage: bool = True
    schema: bool = True

    def adapted(self, detail: str, *, has_schema: bool = False) -> ChatShape | None:
        """The shape to try after a refusal that says `detail`; None where it names nothing that can be left out. A
        refusal of a question that `has_schema`, and that names no parameter, is taken to mean the schema."""
        return with_less(self, detail, otherwise="schema" if has_schema else "")

    def body(self, model: Model, messages: Sequence[ChatMessage], schema: str = "") -> bytes:
        """The JSON of one request; equal questions give equal bytes. `schema` is that of the reply, as JSON."""
        made: dict[str, Any] = {
            "model": model.name,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            "stream": True,
            self.limit: model.max_tokens,
        }
        if self.usage:
            made["stream_options"] = {"include_usage": True}
        if self.temperature:
            made["temperature"] = model.temperature
        if schema and self.schema:
            wanted = {"name": "answer", "strict": True, "schema": json.loads(schema)}
            made["response_format"] = {"type": "json_schema", "json_schema": wanted}
        return json.dumps(made).encode()


class ChatService:
    """Asks the models of one server. Safe to use from several threads; a question is sent once and after a transient
    fault up to `retries` times more, each time from the beginning."""

    def __init__(
        self,
        transport: Transport,
        key: ApiKey,
        *,
        section: str,
        retries: int,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`section` of the settings is what messages name; `sleep` is how a wait is spent."""
        self._transport = transport
        self._key = key
        self._section = section
        self._retries = retries
        self._sleep = sleep
        self._lock = threading.Lock()
        self._shapes: dict[str, ChatShape] = {}

    def generate(
        self,
        model: Model,
        messages: Sequence[ChatMessage],
        on_text: Callable[[str], None] = lambda text: None,
        *,
        schema: str = "",
    ) -> InvokeResult[Written]:
        """What a model writes, or one error with an `LLM.` code. `on_text` is given its words as they arrive; a retry
        begins again on a new line. `schema` is a JSON schema that servers which know of such hold the model to: what
        comes is unchecked all the same. Raises nothing that server or model can cause (A17)."""
        meter = Meter(self._retries + len(fields(ChatShape)) + 1, model.price_in, model.price_out)
        tries = 0
        while True:
            with self._lock:
                shape = self._shapes.get(model.name, ChatShape())
            meter.take_call()
            found = self._send(shape.body(model, messages, schema), ReplyLimits.of(model.max_tokens), on_text, meter)
            if not isinstance(found, Fault):
                with self._lock:
                    self._shapes[model.name] = shape
                return InvokeResult.create(Written(found, model.name, meter.snapshot()))
            has_schema = bool(schema and shape.schema)
            adapted = shape.adapted(found.detail, has_schema=has_schema) if found.status in NOT_UNDERSTOOD else None
            if adapted is not None:
                with self._lock:
                    self._shapes[model.name] = adapted
                continue
            if not self._may_retry(found, tries):
                meter.add_failure(found.code)
                return InvokeResult.failure([failure_message(found)])
            self._sleep(_wait(found, tries))
            on_text(_ASKED_AGAIN)
            tries += 1

    def _may_retry(self, fault: Fault, tries: int) -> bool:
        is_transient = fault.code in TRANSIENT and fault.code not in FINAL and fault.code is not Code.TIMEOUT
        return is_transient and tries < self._retries and (fault.wait or 0.0) <= LONGEST_WAIT_SECONDS

    def _send(self, body: bytes, limits: ReplyLimits, on_text: Callable[[str], None], meter: Meter) -> str | Fault:
        stream = Stream(self._key, on_text, limits)
        started = time.monotonic()
        reply = self._transport.post({"Accept": _EVENTS, **self._key.header()}, body, stream.feed)
        meter.add_seconds(time.monotonic() - started)
        if isinstance(reply, Fault):
            return stream.broken_off(reply)
        if not 200 <= reply.status < 300:
            return refusal(reply, self._key, section=self._section)
        text, tokens = self._read(reply, stream)
        meter.add_tokens(tokens.prompt, tokens.completion)
        if isinstance(text, str):
            if len(text) > limits.characters:
                return limits.too_long()
            if self._key.is_in(text):
                said = "the answer repeats the API key; the server must not be trusted with it"
                return Fault(Code.KEY_ECHO, said)
            if not stream.has_events:
                on_text(text)
        return text

    def _read(self, reply: Reply, stream: Stream) -> tuple[str | Fault, Tokens]:
        """Of a stream, or of a server that answers at once although it was asked to stream."""
        if is_json(reply.content_type) and not stream.has_events:
            if stream.fault is not None:
                return stream.fault, Tokens()
            return read_reply(replace(reply, body=stream.body), self._key)
        text = stream.result()
        if isinstance(text, Fault) and not stream.has_events and not reply.content_type.startswith(_EVENTS):
            # Nothing was cut: it is something else, such as a page of the web site that has the API elsewhere.
            kind = self._key.masked(reply.content_type)[:DETAIL_CHARS] or "no content type"
            said = f"the reply is {kind}, not a chat completion; is {self._section}.base_url an API?"
            return Fault(Code.CONTENT_TYPE, said), stream.tokens
        return text, stream.tokens


def _wait(fault: Fault, tries: int) -> float:
    """Seconds before the next try. What a server asks for is the least; jitter only adds to it."""
    spread = random.uniform(0.0, JITTER)
    if fault.wait is not None:
        return min(fault.wait * (1 + spread), LONGEST_WAIT_SECONDS)
    return float(min(FIRST_WAIT_SECONDS * 2**tries * (1 + spread), LONGEST_WAIT_SECONDS))
