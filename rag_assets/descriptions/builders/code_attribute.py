"""`CodeAttributeBuilder`: attributes with their targets and how they are written."""

from __future__ import annotations

import re
from typing import Any

from rag_assets.classification.facts import attribute_name
from rag_assets.contracts.description import DomainCatalog, ResourceDictionary, SummaryFacts
from rag_assets.contracts.result import InvokeResult
from rag_assets.contracts.segment import MemberKind, Parameter, Segment, SymbolText
from rag_assets.contracts.source_file import IndexFileContext
from rag_assets.descriptions.builders.applicability import is_type
from rag_assets.descriptions.describing import describe_symbol
from rag_assets.descriptions.facts.expressions import arguments_of
from rag_assets.descriptions.facts.properties import PropertyFact, properties_of
from rag_assets.descriptions.facts.texts import AttributeTexts
from rag_assets.descriptions.kinds.code_attribute import CodeAttributeDescription

SHOWN_ARGUMENTS = 6
"""How many arguments the usage of an attribute shows; one known attribute has forty."""


class CodeAttributeBuilder:
    """Applies to C# attribute classes."""

    version = 1

    @property
    def name(self) -> str:
        return "code-attribute"

    @property
    def description(self) -> str:
        return (
            "Attribute classes: what they may mark and how often, by [AttributeUsage], and how they are written, with "
            "the arguments of their public constructors and the properties that may be set."
        )

    def build(
        self,
        file_context: IndexFileContext,
        symbol_text: SymbolText,
        domain_catalog: DomainCatalog,
        resource_dictionary: ResourceDictionary,
    ) -> InvokeResult[SummaryFacts]:
        """The attribute of one type; warnings for texts that no resource has."""
        whole = symbol_text.whole
        if whole.language != "csharp" or not is_type(file_context, whole):
            return InvokeResult.not_applicable()
        texts = AttributeTexts(resource_dictionary, file_context.relative_path)
        properties = properties_of(whole, texts)
        found = describe_symbol(
            CodeAttributeDescription,
            file_context,
            symbol_text,
            domain_catalog,
            properties=properties,
            usage=usages_of(whole, properties),
            **_attribute_usage(whole),
        )
        return InvokeResult.create(found, texts.warnings)


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
