"""The built-in actions (D28), by what they are about."""

from __future__ import annotations

from functools import cache

from rag_assets.entry_points import offered
from rag_assets.qa.actions import artifact, context_budget, finish, model, question, retrieval
from rag_assets.qa.definition.action_registry import ENTRY_POINT_GROUP, ActionRegistry

BUILT_IN = (
    *question.ACTIONS,
    *model.ACTIONS,
    *retrieval.ACTIONS,
    *context_budget.ACTIONS,
    *artifact.ACTIONS,
    *finish.ACTIONS,
)


@cache
def default_registry() -> ActionRegistry:
    """The built-in actions and those of installed packages."""
    return ActionRegistry(BUILT_IN, installed=lambda: offered(ENTRY_POINT_GROUP))
