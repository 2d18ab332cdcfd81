"""`InterfaceDescription`: a contract, its role, its operations and who implements it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from rag_assets.descriptions.facts.methods import METHODS, MethodFact
from rag_assets.descriptions.kinds.behaviour import METHODS_GROUP
from rag_assets.descriptions.symbol import SymbolDescription
from rag_assets.sections.snippet import path_words
from rag_assets.sections.tiling import Leaf

KEPT_IMPLEMENTERS = 50
"""A marker interface may have hundreds; the graph knows them all."""

SHOWN_IMPLEMENTERS = 6
"""In the snippet; an interface that many implement is not found by their names."""


class InterfaceRole(StrEnum):
    """What the contract is of (domain reference §2)."""

    MANAGER = "manager"
    REPOSITORY = "repository"
    SERVICE = "service"
    OTHER = "other"


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

    def group_of(self, leaf: Leaf) -> str:
        return METHODS_GROUP if leaf.member.kind in METHODS and not leaf.owner else ""
