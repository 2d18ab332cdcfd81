"""Language models that are never asked: known answers are given, for others is counted what asking would take.

The same prompt is never paid for twice: the key of an answer is everything that decides it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import msgspec

from rag_assets.contracts.identity import cache_key
from rag_assets.contracts.llm import LlmUsage, StructuredPrompt, StructuredTextLlmService
from rag_assets.contracts.result import InvokeResult, Message
from rag_assets.models.openai_compat.faults import FaultCode, result_code
from rag_assets.models.openai_compat.token_counting import estimate_tokens
from rag_assets.models.openai_compat.usage import UsageMeter
from rag_assets.serialization import from_json

if TYPE_CHECKING:
    from rag_assets.settings import LlmSettings


CACHE_NAME = "llm"


SERVICE_VERSION = 1
"""Part of every key. Raise it when requests change in a way that changes answers."""


def answer_schema(answer_type: type) -> dict[str, Any]:
    """The JSON schema of a type that is an object (and does not hold itself), limits included."""
    schema = msgspec.json.schema(answer_type)
    parts: dict[str, Any] = schema.pop("$defs", {})
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    root: dict[str, Any] = parts.pop(name) if name else schema
    return root | ({"$defs": parts} if parts else {})


def answer_key(model: str, schema: dict[str, Any], prompt: StructuredPrompt) -> bytes:
    """All that decides an answer; where the server is does not."""
    version, described = str(SERVICE_VERSION), json.dumps(schema, sort_keys=True)
    return cache_key(CACHE_NAME, version, model, described, prompt.instructions, prompt.data)


class AnswerStore(Protocol):
    """Where a service looks for an answer before it asks, and keeps those that it was given. For several threads."""

    def get(self, key: bytes) -> bytes | None: ...

    def put(self, key: bytes, answer: bytes) -> None: ...

    def close(self) -> None: ...


T = TypeVar("T")

WOULD_ASK = "LLM.would-ask"
"""Code of a failed result: a build would ask for the answer."""


@contextmanager
def dry_run_llm(settings: LlmSettings, answers: AnswerStore, answer_tokens: int) -> Iterator[StructuredTextLlmService]:
    """Stands in for `open_llm` of a configured provider, whose answers have about `answer_tokens`.
    Sends nothing and needs no key."""
    meter = UsageMeter(settings.price_in, settings.price_out, max_calls=settings.max_calls)
    try:
        yield DryRunLlmService(settings.model, answers, meter, answer_tokens)
    finally:
        answers.close()


class DryRunLlmService:
    """Asks nobody; `asked` are the prompts that a build would send, by the keys of their answers. Equal prompts count
    once. Safe to use from several threads."""

    def __init__(self, model: str, answers: AnswerStore, meter: UsageMeter, answer_tokens: int) -> None:
        self._model = model
        self._answers = answers
        self._meter = meter
        self._answer_tokens = answer_tokens
        self._lock = threading.Lock()
        self.asked: dict[bytes, StructuredPrompt] = {}

    @property
    def enabled(self) -> bool:
        return True

    def complete(self, prompt: StructuredPrompt, answer_type: type[T]) -> InvokeResult[T]:
        """The known answer, or the error WOULD_ASK; `LLM.budget` for what exceeds `llm.max_calls`, as in a build."""
        schema = answer_schema(answer_type)
        key = answer_key(self._model, schema, prompt)
        known = self._answers.get(key)
        if known is not None:
            self._meter.add(cached=1)
            return InvokeResult.create(from_json(known, answer_type))
        with self._lock:
            if key not in self.asked:
                if not self._meter.take_call():
                    self._meter.add_failure(FaultCode.BUDGET)
                    return InvokeResult.failure([Message(result_code(FaultCode.BUDGET), "left for a later build")])
                self.asked[key] = prompt
                asked = estimate_tokens([prompt.instructions, prompt.data, json.dumps(schema)])
                self._meter.add(prompt=sum(asked), completion=self._answer_tokens)
        return InvokeResult.failure([Message(WOULD_ASK, "a build asks the model for this text")])

    def usage(self) -> LlmUsage:
        """What a build would ask and pay; `cached` are the answers that are known."""
        return self._meter.of_texts()


class AnswersInMemory:
    """An `AnswerStore` of one process. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.known: dict[bytes, bytes] = {}

    def get(self, key: bytes) -> bytes | None:
        with self._lock:
            return self.known.get(key)

    def put(self, key: bytes, answer: bytes) -> None:
        with self._lock:
            self.known[key] = answer

    def close(self) -> None:
        """There is nothing to close."""
