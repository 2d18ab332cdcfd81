"""`InterfaceBuilder`: contracts, their role, operations and implementers."""

from __future__ import annotations

from rag_assets.classification.facts import is_interface_name, simple_name
from rag_assets.contracts.description import DomainCatalog, ResourceDictionary, SummaryFacts
from rag_assets.contracts.result import InvokeResult
from rag_assets.contracts.segment import Segment, SymbolText
from rag_assets.contracts.source_file import IndexFileContext
from rag_assets.descriptions.builders.applicability import is_code
from rag_assets.descriptions.declared_types import DeclaredType, DeclaredTypes
from rag_assets.descriptions.describing import describe_symbol
from rag_assets.descriptions.facts.entities import primary_entity
from rag_assets.descriptions.facts.methods import all_method_facts
from rag_assets.descriptions.facts.types import parse_type
from rag_assets.descriptions.kinds.interface import (
    KEPT_IMPLEMENTERS,
    Implementer,
    InterfaceDescription,
    InterfaceRole,
)

_DECLARATIONS = frozenset({"interface", "class"})  # in Python a Protocol or ABC is a class

_ROLES = (
    ("Manager", InterfaceRole.MANAGER),
    ("Repository", InterfaceRole.REPOSITORY),
    ("Repo", InterfaceRole.REPOSITORY),
    ("Service", InterfaceRole.SERVICE),
)


class InterfaceBuilder:
    """Declarations of kind Interface."""

    version = 1

    def __init__(self, declared_types: DeclaredTypes) -> None:
        self._declared_types = declared_types

    @property
    def name(self) -> str:
        return "interface"

    @property
    def description(self) -> str:
        return (
            "Interfaces: the role that the name or a base interface gives them (manager, repository, service), generic "
            "arity, operations with results and documentation, and the declared types that implement them."
        )

    def build(
        self,
        file_context: IndexFileContext,
        symbol_text: SymbolText,
        domain_catalog: DomainCatalog,
        resource_dictionary: ResourceDictionary,
    ) -> InvokeResult[SummaryFacts]:
        """An InterfaceDescription; not applicable to what declares no contract."""
        segment = symbol_text.segment
        if segment.kind not in _DECLARATIONS or not is_code(file_context, segment):
            return InvokeResult.not_applicable()
        role = interface_role(segment)
        implementers = self._implementers(segment)
        kept = implementers[:KEPT_IMPLEMENTERS]
        description = describe_symbol(
            InterfaceDescription,
            file_context,
            symbol_text,
            domain_catalog,
            role=role,
            arity=len(segment.type_parameters),
            base_interfaces=segment.base_list,
            operations=all_method_facts(symbol_text, "interface"),
            implementers=tuple(Implementer(found.symbol, found.name, found.path) for found in kept),
            implementer_count=len(implementers),
            primary_entity=""
            if role is InterfaceRole.OTHER
            else primary_entity(symbol_text.whole, self._declared_types),
        )
        return InvokeResult.create(description)

    def _implementers(self, segment: Segment) -> list[DeclaredType]:
        """One entry per type that names this interface. Another interface of the same name is told apart where the
        place of the implementer says which one is meant; where it does not, the type counts for both."""
        arity = len(segment.type_parameters)
        namesakes = {found.symbol for found in self._declared_types.named(segment.name, segment.language)}
        found: dict[str, DeclaredType] = {}
        for candidate in self._declared_types.implementers(segment.name, segment.language):
            bases = [base for base in candidate.base_list if simple_name(base) == segment.name]
            if all(len(parse_type(base).arguments) != arity for base in bases):
                continue
            if len(namesakes) > 1 and not self._may_mean(bases, candidate, segment):
                continue
            found.setdefault(candidate.symbol, candidate)
        return list(found.values())

    def _may_mean(self, bases: list[str], candidate: DeclaredType, segment: Segment) -> bool:
        for base in bases:
            meant = self._declared_types.resolve(base, candidate.namespace, (), segment.language)
            if meant is None or meant.symbol == segment.symbol:
                return True
        return False


def interface_role(segment: Segment) -> InterfaceRole:
    """By the name of the interface, else by that of an interface it extends."""
    for name in (segment.name, *map(simple_name, segment.base_list)):
        if segment.language == "csharp" and not is_interface_name(name):
            continue
        for suffix, role in _ROLES:
            if name.endswith((suffix, f"{suffix}Async")):
                return role
    return InterfaceRole.OTHER
