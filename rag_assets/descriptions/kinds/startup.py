"""Start-up code, and extension methods, which often hold it."""

from __future__ import annotations

from dataclasses import dataclass

from rag_assets.descriptions.facts.registrations import Registration
from rag_assets.descriptions.symbol import SymbolDescription
from rag_assets.sections.snippet import path_words


@dataclass(kw_only=True)
class WiringDescription(SymbolDescription):
    """Code that wires an application: what it registers, what requests pass through, which endpoints it maps."""

    registrations: tuple[Registration, ...] = ()
    features: tuple[str, ...] = ()
    middleware: tuple[str, ...] = ()
    mapped_endpoints: tuple[str, ...] = ()

    def wiring_facts(self) -> list[tuple[str, str]]:
        services = (name for r in self.registrations for name in (r.implementation or r.service,))
        return [
            ("Registers", ", ".join(dict.fromkeys(services))),
            ("Adds", ", ".join(name.removeprefix("Add") for name in self.features)),
            ("Middleware", ", ".join(name.removeprefix("Use") for name in self.middleware)),
            ("Maps", ", ".join(self.mapped_endpoints)),
        ]

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        registered = (
            f"{r.service} → {r.implementation} ({r.lifetime})" if r.implementation else f"{r.service} ({r.lifetime})"
            for r in self.registrations
        )
        return [
            *super().listed_facts(),
            ("Registers", tuple(registered)),
            ("Adds", self.features),
            ("Middleware", self.middleware),
            ("Maps", self.mapped_endpoints),
        ]


@dataclass(kw_only=True)
class StartupDescription(WiringDescription):
    """A `Startup` class or a `Program`."""

    def finder_facts(self) -> list[tuple[str, str]]:
        return [
            ("Inherits", ", ".join(self.base_types)),
            ("DependsOn", ", ".join(self.dependencies)),
            *self.wiring_facts(),
            ("Path", path_words(self.path, self.fqn)),
        ]


@dataclass(frozen=True, slots=True)
class Extended:
    """A type and the names of the methods and properties that extend it."""

    type: str
    members: tuple[str, ...]


@dataclass(kw_only=True)
class ExtensionMethodsDescription(WiringDescription):
    """A static class of extension methods, by extended type."""

    extended: tuple[Extended, ...] = ()

    def finder_facts(self) -> list[tuple[str, str]]:
        return [
            ("Extends", ", ".join(extended.type for extended in self.extended)),
            *self.wiring_facts(),
            ("Path", path_words(self.path, self.fqn)),
        ]

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        extensions = tuple(f"{e.type}: {', '.join(e.members)}" for e in self.extended)
        return [("Extends", extensions), *super().listed_facts()]
