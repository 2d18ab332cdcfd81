"""Answers from an index: evidence, quotes or a model, checked citations, and refusing where there is not enough."""

from __future__ import annotations

from rag_assets.query.answer.checking import Policy, Support
from rag_assets.query.answer.citations import Citation
from rag_assets.query.answer.evidence import Evidence
from rag_assets.query.answer.options import AskOptions
from rag_assets.query.answer.results import EXTRACTIVE, Answer

__all__ = ["EXTRACTIVE", "Answer", "AskOptions", "Citation", "Evidence", "Policy", "Support"]
