"""What `ask` returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rag_assets.query.answer.abstention import Signals
from rag_assets.query.answer.checking import Checked
from rag_assets.query.answer.citations import Citation
from rag_assets.query.answer.evidence import Evidence
from rag_assets.query.answer.intents import Intent
from rag_assets.query.results import SearchResult

if TYPE_CHECKING:
    from rag_assets.contracts.llm import LlmUsage

EXTRACTIVE = "extractive"
"""The provider of an answer that no model wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """`text` is Markdown with `[chunk: id]` marks; `citations` are what they mean, in order of first use. An answer
    that `abstained` has the sentence of E20, the reason and what could be ingested, and cites nothing.

    `confidence` is how likely the evidence answers the question, on the scale that the threshold of abstention is on.
    `checks` are the sentences with what the post-check says of each, before unsupported ones were flagged or dropped.
    `provider` is `extractive` or the model; `usage` what that took. `timings` are seconds per step. `context_tokens` is
    the size of the evidence as it was packed, at most the budget. `notes` say what the answer leaves out.
    """

    question: str
    text: str
    abstained: bool
    provider: str
    intent: Intent
    confidence: float
    signals: Signals
    citations: tuple[Citation, ...]
    checks: tuple[Checked, ...]
    evidence: tuple[Evidence, ...]
    search: SearchResult
    reason: str = ""
    suggestions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    context_tokens: int = 0
    usage: LlmUsage | None = None
