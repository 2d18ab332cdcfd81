"""Acme's workflows and flag enums in an index of rag_assets."""

from __future__ import annotations

from importlib.resources import files

from acme_rag.builders import FlagsBuilder, WorkflowBuilder
from rag_assets.contracts.kinds import SubtypeKind
from rag_assets.descriptions.registry import DescriptionBuilderRegistry

RULE_PACK = files(__package__) / "acme.yaml"


def register(registry: DescriptionBuilderRegistry) -> None:
    """Called once at start-up, after the built-in builders are registered."""
    registry.register(WorkflowBuilder, "Workflow")
    registry.register(FlagsBuilder, SubtypeKind.ENUM)
