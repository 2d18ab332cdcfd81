"""The built-in description builders. A kind-specific builder is registered before the general one of its kind."""

from __future__ import annotations

from rag_assets.contracts.kinds import SubtypeKind
from rag_assets.descriptions.builders.general import GeneralDescriptionBuilder
from rag_assets.descriptions.registry import DescriptionBuilderRegistry
from rag_assets.descriptions.services import Services


def register_builders(registry: DescriptionBuilderRegistry) -> None:
    """Registers the built-in builders: the general one for every kind."""
    for kind in SubtypeKind:
        registry.register(GeneralDescriptionBuilder, kind)


def default_registry(services: Services | None = None) -> DescriptionBuilderRegistry:
    """Built-in builders and those of installed packages, checked: start-up fails here, not at the first file.

    Raises RegistryError.
    """
    registry = DescriptionBuilderRegistry(services)
    register_builders(registry)
    registry.load_entry_points()
    registry.validate()
    return registry
