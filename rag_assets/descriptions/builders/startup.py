"""Builders of start-up code and of extension methods, which often hold the registrations of a project."""

from __future__ import annotations

from typing import Any

from rag_assets.contracts.description import DomainCatalog, ResourceDictionary, SummaryFacts
from rag_assets.contracts.result import InvokeResult
from rag_assets.contracts.segment import Member, MemberKind, Segment, SymbolText
from rag_assets.contracts.source_file import IndexFileContext
from rag_assets.descriptions.builders.applicability import is_code, is_type
from rag_assets.descriptions.describing import describe_symbol
from rag_assets.descriptions.facts.bodies import body_of
from rag_assets.descriptions.facts.registrations import wiring_of
from rag_assets.descriptions.facts.types import parse_type
from rag_assets.descriptions.kinds.startup import Extended, ExtensionMethodsDescription, StartupDescription

_STARTUP_DECLARATIONS = frozenset({"class", "struct", "record", "program"})


class StartupBuilder:
    """Startup classes and programs."""

    version = 1

    @property
    def name(self) -> str:
        return "startup"

    @property
    def description(self) -> str:
        return (
            "Startup classes and programs of C#: registered services with their lifetimes, middleware, mapped "
            "endpoints, by the names of the calls."
        )

    def build(
        self,
        file_context: IndexFileContext,
        symbol_text: SymbolText,
        domain_catalog: DomainCatalog,
        resource_dictionary: ResourceDictionary,
    ) -> InvokeResult[SummaryFacts]:
        """A StartupDescription; not applicable to other languages, whose start-up has other calls."""
        segment = symbol_text.segment
        if not _is_csharp(segment) or segment.kind not in _STARTUP_DECLARATIONS or not is_code(file_context, segment):
            return InvokeResult.not_applicable()
        facts = _wiring_facts(symbol_text)
        return InvokeResult.create(
            describe_symbol(StartupDescription, file_context, symbol_text, domain_catalog, **facts)
        )


class ExtensionMethodsBuilder:
    """Static classes of extension methods."""

    version = 1

    @property
    def name(self) -> str:
        return "extension-methods"

    @property
    def description(self) -> str:
        return (
            "Extension methods of C#: the extended types with the members each one gets, from `this` parameters and "
            "extension blocks; services, middleware and endpoints that they register."
        )

    def build(
        self,
        file_context: IndexFileContext,
        symbol_text: SymbolText,
        domain_catalog: DomainCatalog,
        resource_dictionary: ResourceDictionary,
    ) -> InvokeResult[SummaryFacts]:
        """An ExtensionMethodsDescription; not applicable to a class that extends nothing."""
        segment = symbol_text.segment
        if not _is_csharp(segment) or not is_type(file_context, segment):
            return InvokeResult.not_applicable()
        extended = extended_types(segment)
        if not extended:
            return InvokeResult.not_applicable()
        facts = _wiring_facts(symbol_text) | {"extended": extended}
        return InvokeResult.create(
            describe_symbol(ExtensionMethodsDescription, file_context, symbol_text, domain_catalog, **facts)
        )


def extended_types(segment: Segment) -> tuple[Extended, ...]:
    """The extended types in text order, each with the names of what extends it."""
    found: dict[str, dict[str, None]] = {}
    for member in segment.members:
        receiver = _receiver(member)
        if not receiver:
            continue
        names = [m.name for m in member.members] if member.kind is MemberKind.EXTENSION else [member.name]
        found.setdefault(receiver, {}).update(dict.fromkeys(names))
    return tuple(Extended(name, tuple(members)) for name, members in found.items())


def _receiver(member: Member) -> str:
    """The type that a method or an extension block extends, without nullability; '' for other members."""
    if not member.parameters:
        return ""
    first = member.parameters[0]
    if member.kind is not MemberKind.EXTENSION and "this" not in first.modifiers:
        return ""
    return str(parse_type(first.type)).rstrip("?")


def _is_csharp(segment: Segment) -> bool:
    return segment.language == "csharp"


def _wiring_facts(symbol_text: SymbolText) -> dict[str, Any]:
    wiring = wiring_of(body_of(symbol_text))
    return {
        "registrations": wiring.registrations,
        "features": wiring.features,
        "middleware": wiring.middleware,
        "mapped_endpoints": wiring.endpoints,
    }
