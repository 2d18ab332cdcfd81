"""What builders may know of a whole label: the services of the registry, gathered before the first description."""

from __future__ import annotations

from dataclasses import dataclass, field

from rag_assets.descriptions.container import ServiceContainer
from rag_assets.descriptions.domain_index import DomainIndex
from rag_assets.languages.csharp.facts.type_index import TypeIndex
from rag_assets.languages.csharp.resource_usages import ResourceUsages


@dataclass(frozen=True, slots=True, kw_only=True)
class SymbolTable:
    """Cross-file knowledge, plain data that can be sent to other processes. Empty, it knows of no other file."""

    declared_types: TypeIndex = field(default_factory=TypeIndex)
    declared_domains: DomainIndex = field(default_factory=DomainIndex)
    resource_usages: ResourceUsages = field(default_factory=ResourceUsages)

    def services(self) -> ServiceContainer:
        """Each part under its own type, as the constructors of builders ask for it."""
        return ServiceContainer().add(self.declared_types).add(self.declared_domains).add(self.resource_usages)
