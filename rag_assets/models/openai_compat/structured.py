"""`OpenAiCompatibleLlmService`: answers of a given type from chat completions, bounded in calls, threads, time and size
(A17).

What a server does not understand of a request is found out by its refusals and left out from then on.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec

from rag_assets.closeable import Closeable
from rag_assets.contracts.llm import (
    ChatMessage,
    LlmUsage,
    StructuredPrompt,
)
from rag_assets.contracts.result import InvokeResult
from rag_assets.models.openai_compat.client import ModelClient
from rag_assets.models.openai_compat.dry_run import AnswerStore, answer_key, answer_schema
from rag_assets.models.openai_compat.endpoint import ServerEndpoint
from rag_assets.models.openai_compat.faults import (
    FINAL,
    UNUSABLE,
    Fault,
    FaultCode,
    Retries,
    failure_message,
    result_code,
)
from rag_assets.models.openai_compat.responses import Reply, ReplyLimits, TokenUsage, decode_answer, read_completion
from rag_assets.models.openai_compat.token_counting import well_formed
from rag_assets.models.openai_compat.usage import UsageMeter
from rag_assets.serialization import from_json

if TYPE_CHECKING:
    import openai

    from rag_assets.settings import LlmSettings


R = TypeVar("R")

_NOT_UNDERSTOOD = (400, 422)
"""422 is how servers built on FastAPI refuse a body."""

_NAMED = {
    "limit": re.compile(r"max_tokens"),
    "temperature": re.compile(r"temperature"),
    "schema": re.compile(r"response_format|json_schema|json schema|structured output", re.IGNORECASE),
    "usage": re.compile(r"stream_options|include_usage"),
}
_LESS = {"limit": "max_completion_tokens", "temperature": False, "schema": False, "usage": False}
"""What servers take that refuse the usual: reasoning models refuse `max_tokens` and `temperature`, older servers
`json_schema` and `stream_options`."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """Which parameters a server takes; the defaults are what the protocol says."""

    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    schema: bool = True
    usage: bool = True

    def without(self, detail: str, otherwise: str = "") -> Parameters | None:
        """What to try after a refusal that says `detail`: all but the first parameter that it names, or `otherwise`
        where it names none. None where there is nothing left to leave out."""
        name = next((name for name, pattern in _NAMED.items() if pattern.search(detail)), otherwise)
        if not name or getattr(self, name) == _LESS[name]:
            return None
        changed: dict[str, Any] = {name: _LESS[name]}
        return replace(self, **changed)

    def request(
        self, model: str, messages: Sequence[ChatMessage], max_tokens: int, temperature: float, schema: str = ""
    ) -> dict[str, Any]:
        """Arguments of `chat.completions.create`; `schema` is that of the answer, as JSON."""
        said = [{"role": message.role, "content": well_formed(message.content)} for message in messages]
        made: dict[str, Any] = {"model": model, "messages": said, self.limit: max_tokens}
        if self.temperature:
            made["temperature"] = temperature
        if schema and self.schema:
            wanted = {"name": "answer", "strict": True, "schema": json.loads(schema)}
            made["response_format"] = {"type": "json_schema", "json_schema": wanted}
        return made


class ServerQuirks:
    """The parameters that each model of a server takes. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken: dict[tuple[str, bool], Parameters] = {}
        self._proven: set[tuple[str, bool]] = set()

    def ask(self, send: Callable[[Parameters], R | Fault], model: str, *, has_schema: bool) -> R | Fault:
        """What `send` returns, sent again with less while the server refuses a parameter, once for each at most.

        A refusal that names none is taken to mean the schema, until a question with one was answered: later it is
        about that question. Where leaving it out did not help, it was not the schema.
        """
        asked = (model, has_schema)
        left = len(fields(Parameters))
        while True:
            with self._lock:
                tried = self._taken.get(asked, Parameters())
            outcome = send(tried)
            if not isinstance(outcome, Fault):
                with self._lock:
                    self._proven.add(asked)
                return outcome
            is_worth_it = outcome.status in _NOT_UNDERSTOOD and left > 0
            if not is_worth_it or not self._adapts(asked, tried, outcome.detail):
                return outcome
            left -= 1

    def _adapts(self, asked: tuple[str, bool], tried: Parameters, detail: str) -> bool:
        """True when the question is worth sending again: with less, or as others have found out meanwhile."""
        with self._lock:
            if self._taken.get(asked, Parameters()) != tried:
                return True
            is_proven = asked in self._proven
            less = tried.without(detail, "schema" if asked[1] and not is_proven else "")
            if less is not None:
                self._taken[asked] = less
            elif not is_proven:
                self._taken.pop(asked, None)
            return less is not None


T = TypeVar("T")

KEY_VARIABLE = "RAG_ASSETS_LLM_API_KEY"
SECTION = "llm"

MAX_REPLY_BYTES = 1 << 20
"""An answer is a few kilobytes; models that send their reasoning along stay far below a megabyte."""

MAX_ANSWER_TOKENS = 1_500
"""The longest wanted answer (1,800 characters) takes 450 tokens in English and three times that in other scripts."""

ATTEMPTS = 2
"""One, and a retry after a transient fault."""

LONGEST_WAIT_SECONDS = 30.0
"""A build does not stand still for longer; a server that asks for more gets no retry."""

FAILURES_BEFORE_STOP = 5
"""Questions in a row that failed after their retry. A dead server would otherwise cost two time limits a symbol."""

_LENGTHS = ("minLength", "maxLength", "title")
"""Servers that compile the schema to a grammar refuse these or cut words at them. They are checked on arrival."""


class OpenAiCompatibleLlmService(Closeable):
    """Asks one model of one server. Safe to use from several threads; at most `max_concurrency` requests are in
    flight, at most as many are sent in its life as the meter has calls, and per question one and a retry after a
    transient fault. Close the service to close its cache."""

    @classmethod
    def open(
        cls, settings: LlmSettings, answers: AnswerStore, environment: Mapping[str, str] | None = None
    ) -> OpenAiCompatibleLlmService:
        """Makes no request. Raises ConfigError for a key that cannot be sent."""
        return cls(
            ModelClient(ServerEndpoint.of(settings, SECTION, KEY_VARIABLE, environment)),
            settings.model,
            answers,
            UsageMeter(settings.price_in, settings.price_out, max_calls=settings.max_calls),
            max_concurrency=settings.max_concurrency,
        )

    def __init__(
        self, client: ModelClient, model: str, answers: AnswerStore, meter: UsageMeter, *, max_concurrency: int
    ) -> None:
        self._client = client
        self._model = model
        self._answers = answers
        self._meter = meter
        self._slots = threading.BoundedSemaphore(max_concurrency)
        self._retries = Retries(LONGEST_WAIT_SECONDS)
        self._quirks = ServerQuirks()
        self._lock = threading.Lock()  # for everything below
        self._running: dict[bytes, Future[bytes | Fault]] = {}
        self._failed_in_a_row = 0
        self._stopped: Fault | None = None

    @property
    def enabled(self) -> bool:
        return True

    def complete(self, prompt: StructuredPrompt, answer_type: type[T]) -> InvokeResult[T]:
        """The answer as `answer_type` (a type msgspec decodes from a JSON object), or one error with an `LLM.` code.

        Equal prompts are answered once, also when they come at the same time; failures are not remembered.
        Raises OSError when the cache cannot be written, and nothing that server or model can cause (A17).
        """
        schema = answer_schema(answer_type)
        key = answer_key(self._model, schema, prompt)
        with self._lock:
            running = self._running.get(key)
            mine: Future[bytes | Fault] | None = None
            if running is None:
                running = mine = self._running[key] = Future()
        if mine is not None:
            self._run(mine, key, prompt, answer_type, schema)
        outcome = running.result()
        if mine is None and not isinstance(outcome, Fault):
            self._meter.add(cached=1)
        if isinstance(outcome, Fault):
            self._meter.add_failure(outcome.code)
            return InvokeResult.failure([failure_message(outcome)])
        return InvokeResult.create(from_json(outcome, answer_type))

    def usage(self) -> LlmUsage:
        return self._meter.of_texts()

    def _run(
        self, mine: Future[bytes | Fault], key: bytes, prompt: StructuredPrompt, answer_type: type, schema: Any
    ) -> None:
        try:
            mine.set_result(self._known_or_asked(key, prompt, answer_type, schema))
        except BaseException as error:
            mine.set_exception(error)  # those who wait for this answer must not wait for ever
            raise
        finally:
            with self._lock:
                del self._running[key]

    def _known_or_asked(
        self, key: bytes, prompt: StructuredPrompt, answer_type: type, schema: dict[str, Any]
    ) -> bytes | Fault:
        known = self._answers.get(key)
        if known is not None:
            self._meter.add(cached=1)
            return known
        answer = self._ask(prompt, answer_type, json.dumps(_without_lengths(schema)))
        self._note(answer)
        if isinstance(answer, Fault):
            return answer
        encoded = msgspec.json.encode(answer)
        self._answers.put(key, encoded)
        return encoded

    def _ask(self, prompt: StructuredPrompt, answer_type: type, schema: str) -> Any | Fault:
        """One question: a request, perhaps one more after a transient fault, and what finding out the quirks takes."""

        def once(accepted: Parameters) -> Any | Fault:
            with self._lock:
                stopped = self._stopped
            if stopped is not None:
                return Fault(FaultCode.STOPPED, f"not asked after {result_code(stopped.code)}: {stopped.text}")
            if not self._meter.take_call():
                return Fault(FaultCode.BUDGET, "all calls of this run are spent (llm.max_calls)")
            return self._send(_request(accepted, self._model, prompt, schema), answer_type)

        def send(attempt: int) -> Any | Fault:
            return self._quirks.ask(once, self._model, has_schema=True)

        return self._retries.run(send, ATTEMPTS, timeouts=ATTEMPTS)

    def _send(self, request: dict[str, Any], answer_type: type) -> Any | Fault:
        endpoint = self._client.endpoint

        def exchange(api: openai.OpenAI) -> tuple[str | Fault, TokenUsage]:
            raw = api.chat.completions.with_raw_response.create(**request)
            reply = Reply(raw.headers.get("content-type", ""), raw.content)
            return read_completion(reply, endpoint.section, endpoint.key)

        with self._slots:
            outcome = self._client.ask(exchange, ReplyLimits(MAX_REPLY_BYTES), self._meter)
        if isinstance(outcome, Fault):
            return outcome
        text, used = outcome
        self._meter.add(prompt=used.prompt_tokens, completion=used.completion_tokens)
        return text if isinstance(text, Fault) else decode_answer(text, answer_type, endpoint.key)

    def _note(self, answer: Any | Fault) -> None:
        """Stops the service after a fault that every question would have, and after several unusable replies in a
        row."""
        code = answer.code if isinstance(answer, Fault) else None
        if code in (FaultCode.STOPPED, FaultCode.BUDGET):
            return
        with self._lock:
            self._failed_in_a_row = self._failed_in_a_row + 1 if code in UNUSABLE else 0
            if self._stopped is None and (code in FINAL or self._failed_in_a_row >= FAILURES_BEFORE_STOP):
                self._stopped = answer

    def close(self) -> None:
        self._answers.close()


def _request(accepted: Parameters, model: str, prompt: StructuredPrompt, schema: str) -> dict[str, Any]:
    """Equal questions make equal requests. A server that takes no schema finds it in the instructions."""
    told = "" if accepted.schema else f"\nAnswer with one JSON object of this JSON schema: {schema}"
    messages = ChatMessage("system", prompt.instructions + told), ChatMessage("user", prompt.data)
    request = accepted.request(model, messages, MAX_ANSWER_TOKENS, 0, schema)
    return {"response_format": {"type": "json_object"}, **request, "stream": False}


def _without_lengths(schema: Any) -> Any:
    if isinstance(schema, dict):
        kept = {key: value for key, value in schema.items() if key not in _LENGTHS or isinstance(value, dict)}
        return {key: _without_lengths(value) for key, value in kept.items()}
    return [_without_lengths(value) for value in schema] if isinstance(schema, list) else schema
