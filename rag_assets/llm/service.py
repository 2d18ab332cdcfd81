"""`OpenAiCompatibleLlmService`: `POST {base_url}/chat/completions`, bounded in calls, threads, time and size (A17)."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from typing import Any, TypeVar

import msgspec

from rag_assets.closing import Closing
from rag_assets.contracts.llm import LlmUsage, StructuredPrompt
from rag_assets.contracts.result import InvokeResult
from rag_assets.decoders import from_json
from rag_assets.llm.answer_cache import Answers, answer_key
from rag_assets.llm.faults import UNUSABLE, failure_message, result_code
from rag_assets.llm.meter import Meter
from rag_assets.llm.reply import decode_answer, read_reply
from rag_assets.llm.request import RequestShape, answer_schema
from rag_assets.llm.shapes import NOT_UNDERSTOOD
from rag_assets.model_server.api_key import ApiKey
from rag_assets.model_server.faults import FINAL, TRANSIENT, Code, Fault
from rag_assets.model_server.transport import Transport

T = TypeVar("T")

SERVICE_VERSION = 1
"""Part of every cached answer's key. Raise it when requests change in a way that changes answers."""

RETRY_SECONDS = 1.0
"""Before the one retry, where the server does not say how long: long enough for a restarted connection or worker."""

LONGEST_WAIT_SECONDS = 30.0
"""A build does not stand still for longer; a server that asks for more gets no retry."""

FAILURES_BEFORE_STOP = 5
"""Questions in a row that failed after their retry. A dead server would otherwise cost two time limits a symbol."""

SHAPES_PER_QUESTION = 3
"""How often one question is sent again in another shape: once for each parameter that can be left out."""


class OpenAiCompatibleLlmService(Closing):
    """Asks one model of one server. Safe to use from several threads; at most `max_concurrency` requests are in
    flight, at most `max_calls` are sent in its life, and per question one and a retry after a transient fault.

    Until the first answer, a question may be sent again in the shapes that servers take (`RequestShape`); the shape
    that was answered stays. Close the service to close its cache.
    """

    def __init__(
        self, transport: Transport, model: str, answers: Answers, meter: Meter, *, key: ApiKey, max_concurrency: int
    ) -> None:
        self._transport = transport
        self._model = model
        self._answers = answers
        self._meter = meter
        self._key = key
        self._slots = threading.BoundedSemaphore(max_concurrency)
        self._lock = threading.Lock()  # for everything below
        self._running: dict[bytes, Future[bytes | Fault]] = {}
        self._shape = RequestShape()
        self._shape_is_proven = False
        self._resume_at = 0.0
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
        key = answer_key(SERVICE_VERSION, self._model, schema, prompt)
        with self._lock:
            running = self._running.get(key)
            mine: Future[bytes | Fault] | None = None
            if running is None:
                running = mine = self._running[key] = Future()
        if mine is not None:
            self._run(mine, key, prompt, answer_type, schema)
        outcome = running.result()
        if mine is None and not isinstance(outcome, Fault):
            self._meter.add_cached()
        if isinstance(outcome, Fault):
            self._meter.add_failure(outcome.code)
            return InvokeResult.failure([failure_message(outcome)])
        return InvokeResult.create(from_json(outcome, answer_type))

    def usage(self) -> LlmUsage:
        return self._meter.snapshot()

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
            self._meter.add_cached()
            return known
        answer = self._ask(prompt, answer_type, schema)
        if isinstance(answer, Fault):
            return answer
        encoded = msgspec.json.encode(answer)
        self._answers.put(key, encoded)
        return encoded

    def _ask(self, prompt: StructuredPrompt, answer_type: type, schema: dict[str, Any]) -> Any | Fault:
        """One question: a request, perhaps one more after a transient fault, and what finding the shape takes."""
        retried = False
        shapes_left = SHAPES_PER_QUESTION
        while True:
            self._pause()
            with self._lock:
                shape, stopped = self._shape, self._stopped
            if stopped is not None:
                return Fault(Code.STOPPED, f"not asked after {result_code(stopped.code)}: {stopped.text}")
            if not self._meter.take_call():
                return Fault(Code.BUDGET, "all calls of this run are spent (llm.max_calls)")
            answer = self._send(shape.body(self._model, prompt, schema), answer_type)
            if not isinstance(answer, Fault):
                self._succeeded(shape)
                return answer
            if shapes_left and self._adapts(shape, answer):
                shapes_left -= 1
                continue
            if answer.code in TRANSIENT and not retried and (answer.wait or 0.0) <= LONGEST_WAIT_SECONDS:
                retried = True
                self._resume_after(RETRY_SECONDS if answer.wait is None else answer.wait)
                continue
            self._failed(answer)
            return answer

    def _send(self, body: bytes, answer_type: type) -> Any | Fault:
        with self._slots:
            started = time.monotonic()
            reply = self._transport.post(self._key.header(), body)
            self._meter.add_seconds(time.monotonic() - started)
        if isinstance(reply, Fault):
            return reply
        text, tokens = read_reply(reply, self._key)
        self._meter.add_tokens(tokens.prompt, tokens.completion)
        return text if isinstance(text, Fault) else decode_answer(text, answer_type, self._key)

    # what threads tell each other

    def _adapts(self, tried: RequestShape, fault: Fault) -> bool:
        """True when the question is worth sending again in another shape, which others may have found meanwhile."""
        if fault.status not in NOT_UNDERSTOOD:
            return False
        with self._lock:
            if self._shape != tried:
                return True
            adapted = None if self._shape_is_proven else tried.adapted(fault.detail)
            if adapted is not None:
                self._shape = adapted
            elif not self._shape_is_proven:
                self._shape = RequestShape()  # no shape helped, so it was not the shape
            return adapted is not None

    def _succeeded(self, shape: RequestShape) -> None:
        with self._lock:
            self._failed_in_a_row = 0
            if not self._shape_is_proven:
                self._shape, self._shape_is_proven = shape, True

    def _failed(self, fault: Fault) -> None:
        with self._lock:
            self._failed_in_a_row = self._failed_in_a_row + 1 if fault.code in UNUSABLE else 0
            if self._stopped is None and (fault.code in FINAL or self._failed_in_a_row >= FAILURES_BEFORE_STOP):
                self._stopped = fault

    def _resume_after(self, seconds: float) -> None:
        """Nobody sends before: a server that asked one thread to wait means all of them."""
        with self._lock:
            self._resume_at = max(self._resume_at, time.monotonic() + seconds)

    def _pause(self) -> None:
        with self._lock:
            seconds = self._resume_at - time.monotonic()
        if seconds > 0:
            time.sleep(seconds)

    def close(self) -> None:
        self._answers.close()
