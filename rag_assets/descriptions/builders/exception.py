"""`ExceptionBuilder`: exceptions with the messages that their constructors make."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from rag_assets.classification.facts import simple_name
from rag_assets.contracts.description import DomainCatalog, ResourceDictionary, SummaryFacts
from rag_assets.contracts.result import InvokeResult
from rag_assets.contracts.segment import MemberKind, SymbolText
from rag_assets.contracts.source_file import IndexFileContext
from rag_assets.descriptions.builders.applicability import is_type
from rag_assets.descriptions.describing import describe_symbol
from rag_assets.descriptions.facts.expressions import arguments_of, dotted_name, literal
from rag_assets.descriptions.facts.properties import properties_of
from rag_assets.descriptions.facts.texts import NO_TEXT, AttributeTexts
from rag_assets.descriptions.kinds.exception import ExceptionDescription

MAX_CALL = 1_000
"""Characters of a constructor call that are read for its message."""


class ExceptionBuilder:
    """Applies to types of every language; messages are found in C#."""

    version = 1

    @property
    def name(self) -> str:
        return "exception"

    @property
    def description(self) -> str:
        return (
            "Exceptions: base, data they carry, and the messages that constructors pass to their base, as literals, "
            "interpolated texts or keys of resources."
        )

    def build(
        self,
        file_context: IndexFileContext,
        symbol_text: SymbolText,
        domain_catalog: DomainCatalog,
        resource_dictionary: ResourceDictionary,
    ) -> InvokeResult[SummaryFacts]:
        """The exception of one type; warnings for texts that no resource has."""
        whole = symbol_text.whole
        if not is_type(file_context, whole):
            return InvokeResult.not_applicable()
        texts = AttributeTexts(resource_dictionary, file_context.relative_path)
        calls = _base_calls(symbol_text) if whole.language == "csharp" else ()
        found = describe_symbol(
            ExceptionDescription,
            file_context,
            symbol_text,
            domain_catalog,
            properties=properties_of(whole, texts),
            messages=tuple(
                dict.fromkeys(m for call in calls for m in _messages(call, resource_dictionary, texts.near))
            ),
        )
        return InvokeResult.create(found, texts.warnings)


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
        start = member.span.char_start - segment.span.char_start
        text = symbol_text[start : member.span.char_end - segment.span.char_start]
        called = _BASE_CALL.search(text)
        if called:
            yield text[called.end() - 1 : called.end() + MAX_CALL]


def _messages(call: str, resources: ResourceDictionary, near: str) -> Iterator[str]:
    """The arguments of a call that are texts; a dotted name that is no text of a resource is an ordinary value."""
    arguments = arguments_of(call)
    for argument in (*arguments.positional, *arguments.named.values()):
        formatted = _FORMAT.match(argument)
        parts = arguments_of(argument).positional if formatted else argument.split("??")
        texts = (text for part in parts for text in _text_of(part.strip(), resources, near))
        yield from islice(texts, 1)  # what a format takes after its text are values


def _text_of(expression: str, resources: ResourceDictionary, near: str) -> Iterator[str]:
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
    resolved = resources.resolve(owner, key, near=near) if owner else None
    if resolved is not None and not any(warning.code in NO_TEXT for warning in resolved.warnings):
        yield resolved.value or key


_BASE_CALL = re.compile(r"\)\s*:\s*(?:base|this)\s*\(")
_FORMAT = re.compile(r"[sS]tring\s*\.\s*Format\s*\(")
_INTERPOLATED = re.compile(r'\$"((?:[^"\\]|\\.)*)"')
