"""A language model that is never asked: known answers are given, for all others is counted what asking would take."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from rag_assets.contracts.llm import LlmUsage, StructuredPrompt, StructuredTextLlmService
from rag_assets.contracts.result import InvokeResult, Message
from rag_assets.models.openai_compat.answer_store import AnswerStore, answer_key, answer_schema
from rag_assets.models.openai_compat.faults import FaultCode, result_code
from rag_assets.models.openai_compat.token_counting import estimate_tokens
from rag_assets.models.openai_compat.usage import UsageMeter
from rag_assets.serialization import from_json

if TYPE_CHECKING:
    from rag_assets.settings import LlmSettings

T = TypeVar("T")

WOULD_ASK = "LLM.would-ask"
"""FaultCode of the answer that a build would ask for."""


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
    """Safe to use from several threads. Equal prompts count once."""

    def __init__(self, model: str, answers: AnswerStore, meter: UsageMeter, answer_tokens: int) -> None:
        self._model = model
        self._answers = answers
        self._meter = meter
        self._answer_tokens = answer_tokens
        self._lock = threading.Lock()
        self._counted: set[bytes] = set()

    @property
    def enabled(self) -> bool:
        return True

    def complete(self, prompt: StructuredPrompt, answer_type: type[T]) -> InvokeResult[T]:
        """The known answer, or the error WOULD_ASK; `LLM.budget` for what exceeds `llm.max_calls`, as in a build."""
        schema = answer_schema(answer_type)
        key = answer_key(self._model, schema, prompt)
        known = self._answers.get(key)
        if known is not None:
            self._meter.add_cached()
            return InvokeResult.create(from_json(known, answer_type))
        with self._lock:
            if key not in self._counted:
                if not self._meter.take_call():
                    self._meter.add_failure(FaultCode.BUDGET)
                    return InvokeResult.failure([Message(result_code(FaultCode.BUDGET), "left for a later build")])
                self._counted.add(key)
                asked = estimate_tokens([prompt.instructions, prompt.data, json.dumps(schema)])
                self._meter.add_tokens(sum(asked), self._answer_tokens)
        return InvokeResult.failure([Message(WOULD_ASK, "a build asks the model for this text")])

    def usage(self) -> LlmUsage:
        """What a build would ask and pay; `cached` are the answers that are known."""
        return self._meter.of_texts()
