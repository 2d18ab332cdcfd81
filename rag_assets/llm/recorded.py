"""For processes that have no part in the shared cache: which questions there are, and the answers to some of them."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TypeVar

from rag_assets.contracts.llm import LlmUsage, StructuredPrompt
from rag_assets.contracts.result import InvokeResult
from rag_assets.llm.answer_cache import answer_key
from rag_assets.llm.faults import failure_message, result_code
from rag_assets.llm.request import answer_schema
from rag_assets.llm.service import SERVICE_VERSION
from rag_assets.model_server.faults import Code, Fault

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
        self.asked[answer_key(SERVICE_VERSION, self._model, answer_schema(answer_type), prompt)] = prompt
        return InvokeResult.failure([failure_message(Fault(Code.BUDGET, "only listed"))])

    def usage(self) -> LlmUsage:
        return LlmUsage()


class RecordedAnswers:
    """Answers in memory (`llm.answer_cache.Answers`), and which of them are new. Safe to use from several threads."""

    def __init__(self, known: Mapping[bytes, bytes]) -> None:
        self._lock = threading.Lock()
        self._known = dict(known)
        self._new: dict[bytes, bytes] = {}

    @property
    def waiting(self) -> int:
        """New answers that nobody has taken."""
        return len(self._new)

    def taken(self) -> dict[bytes, bytes]:
        """The new answers; they are no longer new."""
        with self._lock:
            new, self._new = self._new, {}
        return new

    def get(self, key: bytes) -> bytes | None:
        with self._lock:
            return self._known.get(key)

    def put(self, key: bytes, answer: bytes) -> None:
        with self._lock:
            self._known[key] = self._new[key] = answer

    def close(self) -> None:
        """There is nothing to close."""


def unanswered(usage: LlmUsage) -> str:
    """How many questions have no answer, by the codes of the reasons; empty where the calls were all that it lacked."""
    counts = [f"{code}: {count}" for code, count in usage.failures if code != result_code(Code.BUDGET)]
    return f"questions without an answer ({', '.join(counts)})" if counts else ""
