"""Interfaces: role, operations and implementers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from rag_assets.contracts.segment import MemberRange, Segment
from rag_assets.descriptions.kind_builder import Facts, Subject, TypeAwareBuilder, is_code
from rag_assets.descriptions.kinds.service_like import METHODS_GROUP
from rag_assets.descriptions.symbol_description import SymbolDescription
from rag_assets.languages.csharp.binder.type_syntax import is_interface_name, simple_name
from rag_assets.languages.csharp.facts.method_verbs import METHODS, MethodFact, all_method_facts
from rag_assets.languages.csharp.facts.primary_entity import primary_entity
from rag_assets.languages.csharp.facts.type_index import IndexedType
from rag_assets.languages.csharp.facts.type_names import parse_type
from rag_assets.sections.snippet import path_words

KEPT_IMPLEMENTERS = 50
"""A marker interface may have hundreds; the graph knows them all."""

SHOWN_IMPLEMENTERS = 6
"""In the snippet; an interface that many implement is not found by their names."""

_DECLARATIONS = frozenset({"interface", "class"})  # in Python a Protocol or ABC is a class


class InterfaceRole(StrEnum):
    """The role of the types that implement the interface (domain reference §2)."""

    MANAGER = "manager"
    REPOSITORY = "repository"
    SERVICE = "service"
    OTHER = "other"


_ROLES = (
    ("Manager", InterfaceRole.MANAGER),
    ("Repository", InterfaceRole.REPOSITORY),
    ("Repo", InterfaceRole.REPOSITORY),
    ("Service", InterfaceRole.SERVICE),
)


@dataclass(frozen=True, slots=True)
class Implementer:
    """A declared type whose base list names the interface."""

    symbol: str
    name: str
    path: str


@dataclass(kw_only=True)
class InterfaceDescription(SymbolDescription):
    """An interface. `implementers` are those of the label, at most `KEPT_IMPLEMENTERS`;
    `implementer_count` counts all."""

    role: InterfaceRole = InterfaceRole.OTHER
    arity: int = 0
    base_interfaces: tuple[str, ...] = ()
    operations: tuple[MethodFact, ...] = ()
    implementers: tuple[Implementer, ...] = ()
    implementer_count: int = 0

    def finder_facts(self) -> list[tuple[str, str]]:
        role = "" if self.role is InterfaceRole.OTHER else self.role.value
        shown = list(dict.fromkeys(found.name for found in self.implementers))[:SHOWN_IMPLEMENTERS]
        return [
            ("InterfaceRole", role),
            ("Extends", ", ".join(self.base_interfaces)),
            ("ImplementedBy", ", ".join(shown)),
            ("Attributes", ", ".join(self.attributes)),
            ("Path", path_words(self.path, self.fqn)),
        ]

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        symbols = tuple(dict.fromkeys(found.symbol for found in self.implementers))
        more = self.implementer_count - len(self.implementers)
        return [
            ("Role", (self.role.value,)),
            ("Extends", self.base_interfaces),
            ("Implemented by", (*symbols, f"{more} more") if more > 0 else symbols),
        ]

    def group_of(self, leaf: MemberRange) -> str:
        return METHODS_GROUP if leaf.member.kind in METHODS and not leaf.owner else ""


class InterfaceBuilder(TypeAwareBuilder):
    """Describes declarations of kind Interface."""

    name = "interface"
    description = (
        "Interfaces: the role that the name or a base interface gives them (manager, repository, service), generic "
        "arity, operations with results and documentation, and the declared types that implement them."
    )
    describes = InterfaceDescription
    applies = staticmethod(is_code)

    def facts(self, subject: Subject) -> Facts | None:
        segment = subject.segment
        if segment.kind not in _DECLARATIONS:
            return None
        role = interface_role(segment)
        implementers = self._implementers(segment)
        kept = implementers[:KEPT_IMPLEMENTERS]
        entity = "" if role is InterfaceRole.OTHER else primary_entity(subject.whole, self.declared_types)
        return {
            "role": role,
            "arity": len(segment.type_parameters),
            "base_interfaces": segment.base_list,
            "operations": all_method_facts(subject.text, "interface"),
            "implementers": tuple(Implementer(found.symbol, found.name, found.path) for found in kept),
            "implementer_count": len(implementers),
            "primary_entity": entity,
        }

    def _implementers(self, segment: Segment) -> list[IndexedType]:
        """One entry per type that names this interface. Another interface of the same name is told apart where the
        place of the implementer says which one is meant; where it does not, the type counts for both."""
        arity = len(segment.type_parameters)
        namesakes = {found.symbol for found in self.declared_types.named(segment.name, segment.language)}
        found: dict[str, IndexedType] = {}
        for candidate in self.declared_types.implementers(segment.name, segment.language):
            bases = [base for base in candidate.base_list if simple_name(base) == segment.name]
            if all(len(parse_type(base).arguments) != arity for base in bases):
                continue
            if len(namesakes) > 1 and not self._may_mean(bases, candidate, segment):
                continue
            found.setdefault(candidate.symbol, candidate)
        return list(found.values())

    def _may_mean(self, bases: list[str], candidate: IndexedType, segment: Segment) -> bool:
        for base in bases:
            meant = self.declared_types.resolve(base, candidate.namespace, (), segment.language)
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
