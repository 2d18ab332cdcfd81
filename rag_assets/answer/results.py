"""What `ask` returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rag_assets.answer.abstention import Signals
from rag_assets.answer.citation_check import CheckedSentence
from rag_assets.answer.citations import Citation
from rag_assets.answer.context_pack import AnswerInputs
from rag_assets.answer.intent import Intent
from rag_assets.contracts.evidence import Evidence
from rag_assets.search import SearchResult

if TYPE_CHECKING:
    from rag_assets.contracts.llm import LlmUsage

EXTRACTIVE = "extractive"
"""The provider of an answer that no model wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """`text` is Markdown with `[chunk: id]` marks; `citations` are what they mean, in order of first use. An answer
    that `abstained` has the sentence of E20 (or what a model made of it in the language of the question), the reason
    and what could be ingested, and cites nothing.

    `read` is what the index has for the question: the search, and how well it fits. `checks` are the sentences with
    what the post-check says of each, before unsupported ones were flagged or dropped. `provider` is `extractive` or the
    model; `usage` what all calls of the turn took. `evidence` is all that the answer could be made from.
    `context_tokens` is the size of it as it was packed, at most the budget. `timings` are seconds per step. `notes` say
    what the answer leaves out.
    """

    question: str
    text: str
    abstained: bool
    provider: str
    citations: tuple[Citation, ...]
    checks: tuple[CheckedSentence, ...]
    evidence: tuple[Evidence, ...]
    read: AnswerInputs
    reason: str = ""
    suggestions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    context_tokens: int = 0
    usage: LlmUsage | None = None

    @property
    def search(self) -> SearchResult:
        """The search for the question itself."""
        return self.read.search

    @property
    def intent(self) -> Intent:
        return self.read.wish.intent

    @property
    def signals(self) -> Signals:
        return self.read.signals

    @property
    def confidence(self) -> float:
        """How likely the evidence answers the question, on the scale that the threshold of abstention is on."""
        return self.read.confidence
