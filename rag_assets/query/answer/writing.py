"""A model that writes answers from a context."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_assets.query.answer.packing import Context

if TYPE_CHECKING:
    from rag_assets.contracts.result import InvokeResult
    from rag_assets.llm.chat import ChatService, Model, Written


@dataclass(frozen=True, slots=True)
class Writer:
    """A model of a server. Safe to use from several threads."""

    service: ChatService
    model: Model

    def write(self, question: str, context: Context, on_text: Callable[[str], None]) -> InvokeResult[Written]:
        """What the model answers from the evidence, unchecked (E18). Never raises for what a server can do."""
        from rag_assets.query.answer.prompting import messages

        return self.service.generate(self.model, messages(question, context), on_text)
