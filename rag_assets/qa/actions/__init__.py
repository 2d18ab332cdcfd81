"""The built-in actions (D28), by what they are about."""

from __future__ import annotations

from rag_assets.qa.actions import artifact, context_budget, finish, model, question, retrieval

BUILT_IN = (
    *question.ACTIONS,
    *model.ACTIONS,
    *retrieval.ACTIONS,
    *context_budget.ACTIONS,
    *artifact.ACTIONS,
    *finish.ACTIONS,
)
