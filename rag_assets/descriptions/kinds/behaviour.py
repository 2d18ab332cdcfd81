"""What managers, services, repositories and clients have in common: an interface, dependencies, methods."""

from __future__ import annotations

from dataclasses import dataclass

from rag_assets.classification.facts import simple_name
from rag_assets.contracts.segment import MemberKind
from rag_assets.descriptions.facts.methods import METHODS, MethodFact, MethodKind
from rag_assets.descriptions.facts.remote_calls import RemoteCall
from rag_assets.descriptions.symbol import SymbolDescription
from rag_assets.sections.snippet import path_words
from rag_assets.sections.tiling import Leaf

METHODS_GROUP = "methods"
CONSTRUCTORS_GROUP = "constructors"

_PLUMBING = frozenset({"ILogger", "ILoggerFactory", "IOptions", "IOptionsMonitor", "IOptionsSnapshot"})
"""Dependencies that nearly every class has: facts, but not worth the tokens of a snippet."""


@dataclass(kw_only=True)
class BehaviourDescription(SymbolDescription):
    """A class that does something for others. `methods` are its own, also those of its other parts, not those
    of nested types.

    `primary_interface` is the one it is known by. The snippet tells the kinds of its methods, because their names
    follow in the same text.
    """

    primary_interface: str = ""
    methods: tuple[MethodFact, ...] = ()

    def finder_facts(self) -> list[tuple[str, str]]:
        return [
            ("Inherits", ", ".join(self.base_types)),
            ("ImplementsInterface", ", ".join(self.interfaces_first())),
            *self.kind_facts(),
            ("DependsOn", ", ".join(d for d in self.dependencies if simple_name(d) not in _PLUMBING)),
            ("Path", path_words(self.path, self.fqn)),
        ]

    def kind_facts(self) -> list[tuple[str, str]]:
        """The lines that only this kind has."""
        return [("Operations", ", ".join(self.operation_kinds()))]

    def interfaces_first(self) -> tuple[str, ...]:
        """The interfaces, the primary one first."""
        return tuple(sorted(self.interfaces, key=lambda name: name != self.primary_interface))

    def operation_kinds(self) -> list[str]:
        """The kinds of its public methods, in their fixed order; nothing where all are Other."""
        found = {method.kind for method in self.methods if method.is_public}
        return [kind.value for kind in MethodKind if kind in found and kind is not MethodKind.OTHER]

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        by_kind = [
            (f"{kind.value} methods", tuple(dict.fromkeys(m.name for m in self.methods if m.kind is kind)))
            for kind in MethodKind
            if kind is not MethodKind.OTHER
        ]
        return [*super().listed_facts(), *by_kind]


@dataclass(kw_only=True)
class OperatingDescription(BehaviourDescription):
    """A behaviour whose constructors and methods have sections of their own (domain reference §3)."""

    def group_of(self, leaf: Leaf) -> str:
        if leaf.owner:
            return ""
        if leaf.member.kind is MemberKind.CONSTRUCTOR:
            return CONSTRUCTORS_GROUP
        return METHODS_GROUP if leaf.member.kind in METHODS else ""


@dataclass(kw_only=True)
class ManagerDescription(OperatingDescription):
    """A manager: the business operations on an entity."""


@dataclass(kw_only=True)
class ServiceDescription(OperatingDescription):
    """A service. `is_hosted`: the host starts it and it runs in the background."""

    is_hosted: bool = False

    @property
    def subtype_flavor(self) -> str:
        return "Background" if self.is_hosted else ""


@dataclass(kw_only=True)
class ClientDescription(BehaviourDescription):
    """A client of another system, and the calls it makes."""

    calls: tuple[RemoteCall, ...] = ()

    def kind_facts(self) -> list[tuple[str, str]]:
        named = [f"{call.verb} {call.address.partition('?')[0]}" for call in self.calls if call.address]
        return [("Calls", ", ".join(dict.fromkeys(named)))]

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        calls = tuple(dict.fromkeys(f"{call.verb} {call.address}".strip() for call in self.calls))
        return [*super().listed_facts(), ("Remote calls", calls)]


@dataclass(kw_only=True)
class ProxyDescription(ClientDescription):
    """Stands in front of something that offers the same operations. `stands_for` are the injected types of which
    it also implements the interface: what it passes calls on to, by its text alone."""

    stands_for: tuple[str, ...] = ()

    def kind_facts(self) -> list[tuple[str, str]]:
        return [("StandsFor", ", ".join(self.stands_for)), *super().kind_facts()]
