"""A language model that is never asked: known answers are given, for all others is counted what asking would take."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from rag_assets.contracts.llm import LlmUsage, StructuredPrompt, StructuredTextLlmService
from rag_assets.contracts.result import InvokeResult, Message
from rag_assets.decoders import from_json
from rag_assets.descriptions.guard_rails import DETAILS_CHARS, SUMMARY_CHARS
from rag_assets.llm.answer_cache import AnswerCache, answer_key
from rag_assets.llm.faults import result_code
from rag_assets.llm.meter import Meter
from rag_assets.llm.request import answer_schema
from rag_assets.llm.service import SERVICE_VERSION
from rag_assets.model_server.faults import Code
from rag_assets.models.endpoint_tokens import estimate_tokens

if TYPE_CHECKING:
    from rag_assets.settings import LlmSettings

T = TypeVar("T")

WOULD_ASK = "LLM.would-ask"
"""Code of the answer that a build would ask for."""

ANSWER_TOKENS = (SUMMARY_CHARS + DETAILS_CHARS) // 4
"""Of the longest wanted answer in English: most are shorter, so the price of a plan is rather too high."""


@contextmanager
def planned_llm(settings: LlmSettings, cache: Path) -> Iterator[StructuredTextLlmService]:
    """Stands in for `open_llm(settings, cache)` of a configured provider. Sends nothing and needs no key."""
    answers = AnswerCache(cache)
    try:
        yield PlannedLlmService(
            settings.model, answers, Meter(settings.max_calls, settings.price_in, settings.price_out)
        )
    finally:
        answers.close()


class PlannedLlmService:
    """Safe to use from several threads. Equal prompts count once."""

    def __init__(self, model: str, answers: AnswerCache, meter: Meter) -> None:
        self._model = model
        self._answers = answers
        self._meter = meter
        self._lock = threading.Lock()
        self._counted: set[bytes] = set()

    @property
    def enabled(self) -> bool:
        return True

    def complete(self, prompt: StructuredPrompt, answer_type: type[T]) -> InvokeResult[T]:
        """The known answer, or the error WOULD_ASK; `LLM.budget` for what exceeds `llm.max_calls`, as in a build."""
        schema = answer_schema(answer_type)
        key = answer_key(SERVICE_VERSION, self._model, schema, prompt)
        known = self._answers.get(key)
        if known is not None:
            self._meter.add_cached()
            return InvokeResult.create(from_json(known, answer_type))
        with self._lock:
            if key not in self._counted:
                if not self._meter.take_call():
                    self._meter.add_failure(Code.BUDGET)
                    return InvokeResult.failure([Message(result_code(Code.BUDGET), "left for a later build")])
                self._counted.add(key)
                asked = estimate_tokens([prompt.instructions, prompt.data, json.dumps(schema)])
                self._meter.add_tokens(sum(asked), ANSWER_TOKENS)
        return InvokeResult.failure([Message(WOULD_ASK, "a build asks the model for this text")])

    def usage(self) -> LlmUsage:
        """What a build would ask and pay; `cached` are the answers that are known."""
        return self._meter.snapshot()
