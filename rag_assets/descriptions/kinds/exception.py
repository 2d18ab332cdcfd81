"""Exceptions with the messages that their constructors make."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from rag_assets.contracts.segment import MemberKind, SymbolText
from rag_assets.descriptions.kind_builder import Facts, KindBuilder, Subject, is_whole_type
from rag_assets.descriptions.kinds.data_type import DataDescription
from rag_assets.languages.csharp.facts.expressions import arguments_of, dotted_name, literal
from rag_assets.languages.csharp.facts.localized_attributes import NO_TEXT, LocalizedAttributes
from rag_assets.languages.csharp.facts.properties import properties_of
from rag_assets.languages.csharp.simple_names import simple_name

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
        start = member.span.char_start - segment.span.char_start
        text = symbol_text[start : member.span.char_end - segment.span.char_start]
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
