"""The built-in actions (D28), by what they are about."""

from __future__ import annotations

from rag_assets.query.pipeline.actions import artifact, budget, citations, ending, model, questions, retrieval

BUILT_IN = (
    *questions.ACTIONS,
    *model.ACTIONS,
    *retrieval.ACTIONS,
    *budget.ACTIONS,
    *citations.ACTIONS,
    *artifact.ACTIONS,
    *ending.ACTIONS,
)

__all__ = ["BUILT_IN"]
