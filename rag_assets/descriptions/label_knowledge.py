"""What builders may know of a whole label: the services of the registry, gathered before the first description."""

from __future__ import annotations

from dataclasses import dataclass, field

from rag_assets.descriptions.declared_domains import DeclaredDomains
from rag_assets.descriptions.declared_types import DeclaredTypes
from rag_assets.descriptions.resource_usages import ResourceUsages
from rag_assets.descriptions.services import Services


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelKnowledge:
    """Cross-file knowledge, plain data that can be sent to other processes. Empty, it knows of no other file."""

    declared_types: DeclaredTypes = field(default_factory=DeclaredTypes)
    declared_domains: DeclaredDomains = field(default_factory=DeclaredDomains)
    resource_usages: ResourceUsages = field(default_factory=ResourceUsages)

    def services(self) -> Services:
        """Each part under its own type, as the constructors of builders ask for it."""
        return Services().add(self.declared_types).add(self.declared_domains).add(self.resource_usages)
