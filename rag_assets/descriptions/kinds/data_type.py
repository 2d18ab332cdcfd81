"""Types that carry data: attributes, options, exceptions, requests, responses, messages, rows of list views [L].

Each property is one line with what is special about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

from rag_assets.contracts.graph import NodeType, symbol_key
from rag_assets.contracts.segment import (
    Member,
    MemberKind,
    MemberRange,
    Parameter,
    Segment,
    Span,
    SymbolText,
    first_paragraph,
)
from rag_assets.descriptions.kind_builder import Facts, KindBuilder, Subject, TypeAwareBuilder, is_whole_type
from rag_assets.descriptions.symbol_description import SymbolDescription, inline_code, outline_member
from rag_assets.identifiers import identifier_words
from rag_assets.languages.configuration_keys import KEY_READ
from rag_assets.languages.csharp.binder.type_syntax import attribute_name, simple_name
from rag_assets.languages.csharp.ef.mappings import implements_configuration
from rag_assets.languages.csharp.facts.expressions import (
    NO_TEXT,
    LocalizedAttributes,
    arguments_of,
    dotted_name,
    literal,
)
from rag_assets.languages.csharp.facts.properties import (
    EntityFacts,
    NamedValue,
    PropertyFact,
    entity_facts,
    properties_of,
)
from rag_assets.languages.csharp.facts.type_names import parse_type
from rag_assets.sections.snippet import Block, path_words

_SAID_BY_KIND = frozenset({"Attribute", "AttributeUsage", "EntityDescription", "object", "Object"})
"""Bases and attributes whose content the lines of the kind already say."""

_DATA = (MemberKind.PROPERTY, MemberKind.FIELD)


@dataclass(kw_only=True)
class DataDescription(SymbolDescription):
    """`properties` are those of the whole type, positional parameters first; of a partial type those of all parts."""

    properties: tuple[PropertyFact, ...] = ()

    def finder_facts(self) -> list[tuple[str, str]]:
        attributes = dict.fromkeys(map(attribute_name, self.attributes))
        return [
            *self.kind_facts(),
            ("Inherits", ", ".join(base for base in self.base_types if base not in _SAID_BY_KIND)),
            ("Implements", ", ".join(self.interfaces)),
            ("Attributes", ", ".join(name for name in attributes if name not in _SAID_BY_KIND)),
            ("Path", path_words(self.path, self.fqn)),
        ]

    def kind_facts(self) -> list[tuple[str, str]]:
        """The lines of the snippet that only this kind has, before those of all data types."""
        return []

    def property_group(self) -> str:
        """The section that properties belong to, '' for the overview."""
        return ""

    def property_line(self, fact: PropertyFact) -> str:
        """How a property reads in a snippet."""
        return fact.line()

    def group_of(self, leaf: MemberRange) -> str:
        return self.property_group() if self._fact_of(leaf) is not None else ""

    def _fact_of(self, leaf: MemberRange) -> PropertyFact | None:
        if leaf.owner or leaf.member.kind not in _DATA or leaf.member.explicit_interface:
            return None
        return self._facts_by_name.get(leaf.member.name)

    @cached_property
    def _facts_by_name(self) -> dict[str, PropertyFact]:
        return {fact.name: fact for fact in self.properties if not fact.parameter}

    def _member_blocks(self, own_key: str) -> list[Block]:
        return [*self._parameter_blocks(), *super()._member_blocks(own_key)]

    def _member_block(self, leaf: MemberRange, tile: Span) -> Block:
        block = super()._member_block(leaf, tile)
        fact = self._fact_of(leaf)
        if fact is None:
            return block
        marks = ", ".join(fact.marks())
        markdown = f"{block.markdown}\n  {marks}" if marks else block.markdown
        return replace(block, text=self.property_line(fact), markdown=markdown)

    def _parameter_blocks(self) -> list[Block]:
        """The positional parameters; they stand in the declaration itself."""
        return [
            Block(
                text=self.property_line(fact),
                span=self.header,
                names=(fact.name,),
                node_keys=(symbol_key(self.code_language, f"{self.fqn}.{fact.name}", NodeType.PROPERTY),),
                markdown=_parameter_markdown(fact),
                group=self.property_group(),
                members=(outline_member(fact.name, f"{fact.type} {fact.name}", self.header),),
            )
            for fact in self.properties
            if fact.parameter
        ]


def attribute_summary(segment: Segment, text: str) -> Facts:
    """What attributes say of a type, as the purpose of one without documentation."""
    return {} if first_paragraph(segment.doc) or not text else {"summary": text, "documented": True}


def _parameter_markdown(fact: PropertyFact) -> str:
    default = f" = {fact.default}" if fact.default else ""
    lines = [f"- {inline_code(f'{fact.type} {fact.name}{default}')}"]
    lines += [f"  {text}" for text in (fact.doc, ", ".join(fact.marks())) if text]
    return "\n".join(lines)


SHOWN_ARGUMENTS = 6
"""How many arguments the usage of an attribute shows; one known attribute has forty."""


@dataclass(kw_only=True)
class CodeAttributeDescription(DataDescription):
    """`targets` as `[AttributeUsage]` has them (`Class`, `Method`); without one an attribute may stand anywhere, once.
    `usage` is how it is written, with its constructor arguments and the properties that may be set."""

    targets: tuple[str, ...] = ()
    allow_multiple: bool = False
    inherited: bool = True
    usage: tuple[str, ...] = ()

    def kind_facts(self) -> list[tuple[str, str]]:
        return [
            ("Usage", " or ".join(self.usage)),
            ("Targets", ", ".join(self.targets)),
            ("AllowMultiple", "yes" if self.allow_multiple else ""),
        ]

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        inherited = () if self.inherited else ("no",)
        multiple = ("yes",) if self.allow_multiple else ()
        return [
            ("Usage", self.usage),
            ("Targets", self.targets),
            ("Allow multiple", multiple),
            ("Inherited", inherited),
            *super().listed_facts(),
        ]


class CodeAttributeBuilder(KindBuilder):
    """Describes C# attribute classes."""

    name = "code-attribute"
    description = (
        "Attribute classes: what they may mark and how often, by [AttributeUsage], and how they are written, with "
        "the arguments of their public constructors and the properties that may be set."
    )
    describes = CodeAttributeDescription
    applies = staticmethod(is_whole_type)

    def facts(self, subject: Subject) -> Facts | None:
        whole = subject.whole
        if whole.language != "csharp":
            return None
        properties = properties_of(whole, subject.texts)
        return {"properties": properties, "usage": usages_of(whole, properties), **_attribute_usage(whole)}


def usages_of(segment: Segment, properties: tuple[PropertyFact, ...]) -> tuple[str, ...]:
    """`[Audited(action, RetentionDays = …)]`, one per public constructor; none for an abstract attribute."""
    if "abstract" in segment.modifiers:
        return ()
    given = [segment.parameters] if segment.parameters else []
    given += [
        member.parameters
        for member in segment.members
        if member.kind is MemberKind.CONSTRUCTOR and "public" in member.modifiers
    ]
    name = segment.name.removesuffix("Attribute") or segment.name
    settable = [fact.name for fact in properties if not fact.read_only and not fact.parameter]
    return tuple(dict.fromkeys(_usage(name, parameters, settable) for parameters in given or [()]))


def _usage(name: str, parameters: tuple[Parameter, ...], settable: list[str]) -> str:
    positional = [parameter.name for parameter in parameters]
    named = [f"{name} = …" for name in settable]
    arguments = [*positional, *named][:SHOWN_ARGUMENTS]
    more = ["…"] if len(positional) + len(named) > SHOWN_ARGUMENTS else []
    return f"[{name}({', '.join([*arguments, *more])})]" if arguments else f"[{name}]"


def _attribute_usage(segment: Segment) -> dict[str, Any]:
    for attribute in segment.attributes:
        if attribute_name(attribute) == "AttributeUsage":
            arguments = arguments_of(attribute)
            first = (*arguments.positional, arguments.named.get("validOn", ""), "")[0]
            return {
                "targets": tuple(dict.fromkeys(_TARGET.findall(first))),
                "allow_multiple": arguments.named.get("AllowMultiple", "") == "true",
                "inherited": arguments.named.get("Inherited", "true") != "false",
            }
    return {}


_TARGET = re.compile(r"(?:AttributeTargets\s*\.\s*)?\b(?!AttributeTargets\b)([A-Z]\w*)")


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
    return tuple(dict.fromkeys(found[found.lastindex or 0] for found in KEY_READ.finditer(text)))


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

MAX_CALL = 1_000
"""Characters of a constructor call that are read for its message."""


@dataclass(kw_only=True)
class ExceptionDescription(DataDescription):
    """`messages` are the texts that constructors pass to the base, resources resolved, holes as written."""

    messages: tuple[str, ...] = ()

    def kind_facts(self) -> list[tuple[str, str]]:
        return [("Message", " | ".join(self.messages))]

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        return [("Message", self.messages), *super().listed_facts()]


class ExceptionBuilder(KindBuilder):
    """Describes exceptions of every language; messages are found in C#."""

    name = "exception"
    description = (
        "Exceptions: base, data they carry, and the messages that constructors pass to their base, as literals, "
        "interpolated texts or keys of resources."
    )
    describes = ExceptionDescription
    applies = staticmethod(is_whole_type)

    def facts(self, subject: Subject) -> Facts:
        calls = _base_calls(subject.text) if subject.whole.language == "csharp" else ()
        messages = (message for call in calls for message in _messages(call, subject.texts))
        return {
            "properties": properties_of(subject.whole, subject.texts),
            "messages": tuple(dict.fromkeys(messages)),
        }


def _base_calls(symbol_text: SymbolText) -> Iterator[str]:
    """The texts from a call of the base constructor on: of a primary constructor, then of each constructor."""
    segment = symbol_text.segment
    if segment.base_list:
        base = re.compile(rf"\)\s*:\s*[\w.:\s]*\b{re.escape(simple_name(segment.base_list[0]))}\s*\(")
        found = base.search(symbol_text)
        if found:
            yield symbol_text[found.end() - 1 : found.end() + MAX_CALL]
    for member in segment.members:
        if member.kind is not MemberKind.CONSTRUCTOR:
            continue
        text = symbol_text.part(member.span)
        called = _BASE_CALL.search(text)
        if called:
            yield text[called.end() - 1 : called.end() + MAX_CALL]


def _messages(call: str, texts: LocalizedAttributes) -> Iterator[str]:
    """The arguments of a call that are texts; a dotted name that is no text of a resource is an ordinary value."""
    arguments = arguments_of(call)
    for argument in (*arguments.positional, *arguments.named.values()):
        formatted = _FORMAT.match(argument)
        parts = arguments_of(argument).positional if formatted else argument.split("??")
        found = (text for part in parts for text in _text_of(part.strip(), texts))
        yield from islice(found, 1)  # what a format takes after its text are values


def _text_of(expression: str, texts: LocalizedAttributes) -> Iterator[str]:
    written = literal(expression)
    if written is not None:
        if written.strip():
            yield written
        return
    interpolated = _INTERPOLATED.fullmatch(expression)
    if interpolated:
        yield interpolated[1]
        return
    owner, _, key = ".".join(dotted_name(expression)).rpartition(".")
    resolved = texts.resources.resolve(owner, key, near=texts.near) if owner else None
    if resolved is not None and not any(warning.code in NO_TEXT for warning in resolved.warnings):
        yield resolved.value or key


_BASE_CALL = re.compile(r"\)\s*:\s*(?:base|this)\s*\(")
_FORMAT = re.compile(r"[sS]tring\s*\.\s*Format\s*\(")
_INTERPOLATED = re.compile(r'\$"((?:[^"\\]|\\.)*)"')


@dataclass(kw_only=True)
class ContractDescription(DataDescription):
    """A request, response, result or message. `flavor` is Command, Query or Event where name or base say so; `answer`
    is the type that its base says it is answered with (`IRequest<Order>` → `Order`)."""

    flavor: str = ""
    answer: str = ""

    @property
    def subtype_flavor(self) -> str:
        return self.flavor

    def kind_facts(self) -> list[tuple[str, str]]:
        return [("Flavor", self.flavor), ("AnsweredWith", self.answer)]

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        facts = [("Flavor", self.flavor), ("Answered with", self.answer)]
        return [*((label, (text,)) for label, text in facts if text), *super().listed_facts()]


@dataclass(kw_only=True)
class SummaryListDescription(DataDescription):
    """A row of a list view of `primary_entity`. `title`, `help` and `urls` come from `[EntityDescription]`. [L]"""

    title: str = ""
    help: str = ""
    about: str = ""
    urls: tuple[NamedValue, ...] = ()

    def kind_facts(self) -> list[tuple[str, str]]:
        return [
            ("Title", self.title),
            ("Help", self.help if self.help != self.summary else ""),
            ("Routes", ", ".join(dict.fromkeys(url.value for url in self.urls))),
        ]

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        texts = (("Title", self.title), ("Help", self.help), ("About", self.about))
        urls = [(url.name, (url.value,)) for url in self.urls]
        return [*((label, (text,)) for label, text in texts if text), *super().listed_facts(), *urls]


class ContractBuilder(KindBuilder):
    """Describes types of every language; their kind says what they are, name and base what for."""

    name = "contract"
    description = (
        "Requests, responses, results and messages: the data they carry with documentation, Command, Query or "
        "Event by base type or last word of the name, and the answer that a base like IRequest<T> states."
    )
    describes = ContractDescription
    applies = staticmethod(is_whole_type)

    def facts(self, subject: Subject) -> Facts:
        whole = subject.whole
        return {
            "properties": properties_of(whole, subject.texts),
            "flavor": flavor_of(whole),
            "answer": answer_of(whole),
        }


class SummaryListModelBuilder(TypeAwareBuilder):
    """Describes C# types that are rows of a list view; their entity is the one their name without Summary names."""

    name = "summary-list-model"
    description = (
        "Rows of list views: columns with types, texts and addresses of [EntityDescription] looked up in "
        "resources, and the entity that the name without Summary means where it is declared."
    )
    describes = SummaryListDescription
    applies = staticmethod(is_whole_type)

    def facts(self, subject: Subject) -> Facts:
        whole, texts = subject.whole, subject.texts
        entity = entity_facts(whole, texts) or EntityFacts()
        return {
            "properties": properties_of(whole, texts),
            "primary_entity": self._entity_of(whole),
            "title": entity.title,
            "help": entity.help,
            "about": entity.description,
            "urls": entity.urls,
            **attribute_summary(whole, texts.first_known(entity.description, entity.help)),
        }

    def _entity_of(self, segment: Segment) -> str:
        for ending in ("Summary", "SummaryData", "ListItem"):
            stem = segment.name.removesuffix(ending)
            if stem and stem != segment.name:
                found = self.declared_types.resolve(stem, segment.namespace, segment.usings, segment.language)
                if found is not None:
                    return found.name
        return ""


def flavor_of(segment: Segment) -> str:
    """Command, Query, Event or '': by a base type or interface, else by the last word of the name."""
    for base in segment.base_list:
        flavor = _FLAVORS.get(_last_word(simple_name(base)))
        if flavor:
            return flavor
    return _FLAVORS.get(_last_word(segment.name), "")


def answer_of(segment: Segment) -> str:
    """The type that a base says the message is answered with, as written; '' where none does."""
    for base in segment.base_list:
        found = parse_type(base)
        if found.name in _ANSWERED and found.arguments:
            return str(found.arguments[-1])
    return ""


def _last_word(name: str) -> str:
    words = identifier_words(name)
    return words[-1] if words else ""


_FLAVORS = {
    "Command": "Command",
    "Query": "Query",
    "Event": "Event",
    "Notification": "Event",
    "Args": "Event",  # EventArgs
}
_ANSWERED = frozenset({"IRequest", "ICommand", "IQuery", "IStreamRequest", "Request", "Command", "Query"})
"""Base types whose last type argument is the type of the answer."""
