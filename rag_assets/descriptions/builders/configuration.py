"""`ConfigurationBuilder`: options and settings types, with the section and the keys they are bound to."""

from __future__ import annotations

import re

from rag_assets.contracts.description import DomainCatalog, ResourceDictionary, SummaryFacts
from rag_assets.contracts.result import InvokeResult
from rag_assets.contracts.segment import Member, MemberKind, Segment, SymbolText
from rag_assets.contracts.source_file import IndexFileContext
from rag_assets.descriptions.builders.applicability import is_type
from rag_assets.descriptions.describing import describe_symbol
from rag_assets.descriptions.facts.ef import implements_configuration
from rag_assets.descriptions.facts.expressions import literal
from rag_assets.descriptions.facts.properties import properties_of
from rag_assets.descriptions.facts.texts import AttributeTexts
from rag_assets.descriptions.kinds.configuration import ConfigurationDescription


class ConfigurationBuilder:
    """Applies to types; configuration files are text, and mappings of entities have a builder of their own."""

    version = 1

    @property
    def name(self) -> str:
        return "configuration"

    @property
    def description(self) -> str:
        return (
            "Options and settings types: section names that constants state, the key of each settable property with "
            "its default, and keys that the code reads by text. Bindings made in other files are not known here."
        )

    def build(
        self,
        file_context: IndexFileContext,
        symbol_text: SymbolText,
        domain_catalog: DomainCatalog,
        resource_dictionary: ResourceDictionary,
    ) -> InvokeResult[SummaryFacts]:
        """The configuration of one type; warnings for texts that no resource has."""
        whole = symbol_text.whole
        if not is_type(file_context, whole) or implements_configuration(whole):
            return InvokeResult.not_applicable()
        texts = AttributeTexts(resource_dictionary, file_context.relative_path)
        properties = properties_of(whole, texts)
        sections = section_names(whole)
        prefix = f"{sections[0]}:" if len(sections) == 1 else ""
        found = describe_symbol(
            ConfigurationDescription,
            file_context,
            symbol_text,
            domain_catalog,
            properties=properties,
            section_names=sections,
            bound_keys=tuple(f"{prefix}{fact.name}" for fact in properties if not fact.read_only),
            read_keys=read_keys(symbol_text) if whole.language == "csharp" else (),
        )
        return InvokeResult.create(found, texts.warnings)


def section_names(segment: Segment) -> tuple[str, ...]:
    """The texts of constants that are named as the name of a section."""
    values = (literal(member.value) for member in segment.members if _names_a_section(member))
    return tuple(dict.fromkeys(value for value in values if value))


def read_keys(text: str) -> tuple[str, ...]:
    """The keys and sections that code asks a configuration for by a literal text."""
    return tuple(dict.fromkeys(found[1] or found[2] for found in _READ.finditer(text)))


def _names_a_section(member: Member) -> bool:
    if member.kind not in (MemberKind.FIELD, MemberKind.PROPERTY) or not member.value:
        return False
    shared = "const" in member.modifiers or "static" in member.modifiers
    return shared and _SECTION_NAME.fullmatch(member.name) is not None


_SECTION_NAME = re.compile(
    r"(?:\w*Section(?:Name|Key|Path)?|Position|(?:Config|Configuration|Options|Settings)(?:Key|Name|Path)|Key|Name)",
    re.IGNORECASE,
)
"""The names in use: `SectionName`, `ConfigurationSection`, `Position` (of the documentation of .NET) …"""

_READ = re.compile(
    r'\bGet(?:Required)?Section\s*\(\s*"([^"\r\n]+)"'
    r"|\b\w*[cC]onfig(?:uration)?(?:Root)?\s*(?:\.\s*(?:GetValue\s*(?:<[^<>()]*>)?|GetConnectionString|Require|Optional)"
    r'\s*\(|\[)\s*"([^"\r\n]+)"'
)
