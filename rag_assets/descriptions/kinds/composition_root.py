"""Start-up code, and extension methods, which often hold the registrations of a project."""

from __future__ import annotations

from dataclasses import dataclass

from rag_assets.contracts.segment import Member, MemberKind, Segment, SymbolText
from rag_assets.descriptions.kind_builder import Facts, KindBuilder, Subject, is_code
from rag_assets.descriptions.symbol_description import SymbolDescription
from rag_assets.languages.csharp.facts.composition_root import Registration, registrations_in
from rag_assets.languages.csharp.facts.masked_body import masked_body_of
from rag_assets.languages.csharp.facts.type_names import parse_type
from rag_assets.sections.snippet import path_words

_STARTUP_DECLARATIONS = frozenset({"class", "struct", "record", "program"})


@dataclass(kw_only=True)
class CompositionRootDescription(SymbolDescription):
    """Code that wires an application: what it registers, what requests pass through, which endpoints it maps."""

    registrations: tuple[Registration, ...] = ()
    features: tuple[str, ...] = ()
    middleware: tuple[str, ...] = ()
    mapped_endpoints: tuple[str, ...] = ()

    def registration_lines(self) -> list[tuple[str, str]]:
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
class StartupDescription(CompositionRootDescription):
    """A `Startup` class or a `Program`."""

    def finder_facts(self) -> list[tuple[str, str]]:
        return [
            ("Inherits", ", ".join(self.base_types)),
            ("DependsOn", ", ".join(self.dependencies)),
            *self.registration_lines(),
            ("Path", path_words(self.path, self.fqn)),
        ]


@dataclass(frozen=True, slots=True)
class ExtendedType:
    """A type and the names of the methods and properties that extend it."""

    type: str
    members: tuple[str, ...]


@dataclass(kw_only=True)
class ExtensionMethodsDescription(CompositionRootDescription):
    """A static class of extension methods, by extended type."""

    extended: tuple[ExtendedType, ...] = ()

    def finder_facts(self) -> list[tuple[str, str]]:
        return [
            ("Extends", ", ".join(extended.type for extended in self.extended)),
            *self.registration_lines(),
            ("Path", path_words(self.path, self.fqn)),
        ]

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        extensions = tuple(f"{e.type}: {', '.join(e.members)}" for e in self.extended)
        return [("Extends", extensions), *super().listed_facts()]


class StartupBuilder(KindBuilder):
    """Describes startup classes and programs of C#; the start-up of other languages has other calls."""

    name = "startup"
    description = (
        "Startup classes and programs of C#: registered services with their lifetimes, middleware, mapped "
        "endpoints, by the names of the calls."
    )
    describes = StartupDescription
    applies = staticmethod(is_code)

    def facts(self, subject: Subject) -> Facts | None:
        segment = subject.segment
        if segment.language != "csharp" or segment.kind not in _STARTUP_DECLARATIONS:
            return None
        return _registration_facts(subject.text)


class ExtensionMethodsBuilder(KindBuilder):
    """Describes static C# classes of extension methods; not applicable to a class that extends nothing."""

    name = "extension-methods"
    description = (
        "Extension methods of C#: the extended types with the members each one gets, from `this` parameters and "
        "extension blocks; services, middleware and endpoints that they register."
    )
    describes = ExtensionMethodsDescription

    def facts(self, subject: Subject) -> Facts | None:
        extended = extended_types(subject.segment) if subject.segment.language == "csharp" else ()
        return _registration_facts(subject.text) | {"extended": extended} if extended else None


def extended_types(segment: Segment) -> tuple[ExtendedType, ...]:
    """The extended types in text order, each with the names of what extends it."""
    found: dict[str, dict[str, None]] = {}
    for member in segment.members:
        receiver = _receiver(member)
        if not receiver:
            continue
        names = [m.name for m in member.members] if member.kind is MemberKind.EXTENSION else [member.name]
        found.setdefault(receiver, {}).update(dict.fromkeys(names))
    return tuple(ExtendedType(name, tuple(members)) for name, members in found.items())


def _receiver(member: Member) -> str:
    """The type that a method or an extension block extends, without nullability; '' for other members."""
    if not member.parameters:
        return ""
    first = member.parameters[0]
    if member.kind is not MemberKind.EXTENSION and "this" not in first.modifiers:
        return ""
    return str(parse_type(first.type)).rstrip("?")


def _registration_facts(symbol_text: SymbolText) -> Facts:
    found = registrations_in(masked_body_of(symbol_text))
    return {
        "registrations": found.registrations,
        "features": found.features,
        "middleware": found.middleware,
        "mapped_endpoints": found.endpoints,
    }
