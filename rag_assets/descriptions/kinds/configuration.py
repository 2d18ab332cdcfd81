"""Options and settings types, with the section and the keys they are bound to."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from rag_assets.contracts.segment import Member, MemberKind, Segment
from rag_assets.descriptions.kind_builder import Facts, KindBuilder, Subject, is_whole_type
from rag_assets.descriptions.kinds.data_type import DataDescription
from rag_assets.languages.csharp.ef.mappings import implements_configuration
from rag_assets.languages.csharp.facts.expressions import literal
from rag_assets.languages.csharp.facts.properties import PropertyFact, properties_of

MAX_DEFAULT = 60
"""Characters of a default value in a line of the snippet; what is longer is code, not a value."""


@dataclass(kw_only=True)
class ConfigurationDescription(DataDescription):
    """`section_names` are the names of configuration sections that the type states as constants, `read_keys` those that
    its code asks for by text, `bound_keys` the key of each settable property."""

    section_names: tuple[str, ...] = ()
    read_keys: tuple[str, ...] = ()
    bound_keys: tuple[str, ...] = ()

    def kind_facts(self) -> list[tuple[str, str]]:
        return [("ConfigurationSection", ", ".join(self.section_names)), ("ReadsKeys", ", ".join(self.read_keys))]

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        facts = [("Section", self.section_names), ("Reads keys", self.read_keys), ("Bound keys", self.bound_keys)]
        return [*facts, *super().listed_facts()]

    def property_line(self, fact: PropertyFact) -> str:
        """`Shipping:FreeFrom: decimal = 60m — …`, as it stands in a settings file."""
        bound = len(self.section_names) == 1 and not fact.read_only
        name = f"{self.section_names[0]}:{fact.name}" if bound else fact.name
        value = fact.default if len(fact.default) <= MAX_DEFAULT else ""
        return replace(fact, name=name, type=f"{fact.type} = {value}" if value else fact.type).line()


class ConfigurationBuilder(KindBuilder):
    """Describes types; configuration files are text, and mappings of entities have a builder of their own."""

    name = "configuration"
    description = (
        "Options and settings types: section names that constants state, the key of each settable property with "
        "its default, and keys that the code reads by text. Bindings made in other files are not known here."
    )
    describes = ConfigurationDescription
    applies = staticmethod(is_whole_type)

    def facts(self, subject: Subject) -> Facts | None:
        whole = subject.whole
        if implements_configuration(whole):
            return None
        properties = properties_of(whole, subject.texts)
        sections = section_names(whole)
        prefix = f"{sections[0]}:" if len(sections) == 1 else ""
        return {
            "properties": properties,
            "section_names": sections,
            "bound_keys": tuple(f"{prefix}{fact.name}" for fact in properties if not fact.read_only),
            "read_keys": read_keys(subject.text) if whole.language == "csharp" else (),
        }


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
