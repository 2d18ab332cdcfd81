"""Attribute classes: what an attribute marks and how it is written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from rag_assets.contracts.segment import MemberKind, Parameter, Segment
from rag_assets.descriptions.kind_builder import Facts, KindBuilder, Subject, is_whole_type
from rag_assets.descriptions.kinds.data_type import DataDescription
from rag_assets.languages.csharp.facts.expressions import arguments_of
from rag_assets.languages.csharp.facts.properties import PropertyFact, properties_of
from rag_assets.languages.csharp.simple_names import attribute_name

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
