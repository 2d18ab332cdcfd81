"""The built-in description builders: those of each kind, and the general one for everything they leave."""

from __future__ import annotations

from rag_assets.contracts.kinds import SubtypeKind
from rag_assets.descriptions.builders.general import GeneralDescriptionBuilder
from rag_assets.descriptions.registry import DescriptionBuilderRegistry
from rag_assets.descriptions.services import Services

BUILDERS: tuple[tuple[type, tuple[SubtypeKind, ...]], ...] = ()
"""Builder types and the kinds they describe, in order of use."""


def register_builders(registry: DescriptionBuilderRegistry) -> None:
    """Registers the built-in builders. Several may describe one kind; each decides what it applies to (A18)."""
    for builder_type, kinds in BUILDERS:
        for kind in kinds:
            registry.register(builder_type, kind)
    registry.register_fallback(GeneralDescriptionBuilder)


def default_registry(services: Services | None = None) -> DescriptionBuilderRegistry:
    """Built-in builders and those of installed packages, checked: start-up fails here, not at the first file.

    Raises RegistryError.
    """
    registry = DescriptionBuilderRegistry(services)
    register_builders(registry)
    registry.load_entry_points()
    registry.validate()
    return registry
