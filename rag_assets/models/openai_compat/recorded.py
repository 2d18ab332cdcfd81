"""For processes that do not open the shared cache: which questions there are, and the answers to some of them."""

from __future__ import annotations

import threading
from typing import TypeVar

from rag_assets.contracts.llm import LlmUsage, StructuredPrompt
from rag_assets.contracts.result import InvokeResult
from rag_assets.models.openai_compat.answer_store import answer_key, answer_schema
from rag_assets.models.openai_compat.faults import Fault, FaultCode, failure_message, result_code

T = TypeVar("T")


class QuestionList:
    """A model service that answers nothing and remembers what it was asked, by the keys of the answers."""

    def __init__(self, model: str) -> None:
        self._model = model
        self.asked: dict[bytes, StructuredPrompt] = {}

    @property
    def enabled(self) -> bool:
        return True

    def complete(self, prompt: StructuredPrompt, answer_type: type[T]) -> InvokeResult[T]:
        self.asked[answer_key(self._model, answer_schema(answer_type), prompt)] = prompt
        return InvokeResult.failure([failure_message(Fault(FaultCode.BUDGET, "only listed"))])

    def usage(self) -> LlmUsage:
        return LlmUsage()


class AnswersInMemory:
    """`answer_cache.AnswerStore` of one process. Safe to use from several threads."""

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


def unanswered(usage: LlmUsage) -> str:
    """How many questions have no answer, by the codes of the reasons; empty where the calls were all that it lacked."""
    counts = [f"{code}: {count}" for code, count in usage.failures if code != result_code(FaultCode.BUDGET)]
    return f"questions without an answer ({', '.join(counts)})" if counts else ""
