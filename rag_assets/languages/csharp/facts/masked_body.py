"""The code of a segment without comments and string contents, for the facts that stand in bodies.

A description may look into a body for calls by name. It must not find them in a comment or a string, so it searches
the masked code and reads arguments from the text at the same offsets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from rag_assets.contracts.segment import LineIndex, Segment, Span, SymbolText
from rag_assets.languages.csharp.syntax.lexer import scan

MAX_ARGUMENT_CHARS = 1_000
"""How far a list of type arguments may reach; what is longer is broken code."""

MAX_DEPTH = 12
"""Of type arguments in type arguments, twice what real code has; unclosed ones end here instead of at the limit."""


@dataclass(frozen=True)
class MaskedBody:
    """`code` and `text` are equally long; offsets in both are those of the segment, from 0. `whole` has the members of
    all parts of a partial type; the spans of those are places in other files."""

    code: str
    text: str
    segment: Segment
    whole: Segment

    def part(self, span: Span) -> tuple[int, int]:
        """The offsets of a span of the file inside of the segment, cut to it."""
        origin, length = self.segment.span.char_start, len(self.code)
        start = min(max(span.char_start - origin, 0), length)
        return start, min(max(span.char_end - origin, start), length)

    def line_at(self, offset: int) -> int:
        """The 1-based line of the file at an offset of the segment."""
        return self.segment.span.line_start + self._lines.line_of(offset) - 1

    @cached_property
    def _lines(self) -> LineIndex:
        return LineIndex(self.text)

    def string_at(self, offset: int) -> str:
        """The string literal that is the first argument at `offset`; '' where another argument stands."""
        return next(iter(self.strings_at(offset, 1)), "")

    def strings_at(self, offset: int, most: int) -> tuple[str, ...]:
        """The string literals among the first arguments from `offset` on, up to the first that is none."""
        found: list[str] = []
        position = offset
        while len(found) < most:
            match = _ARGUMENT_STRING.match(self.text, position)
            if match is None:
                break
            found.append(match.group(1))
            position = match.end()
        return tuple(found)


_ARGUMENT_STRING = re.compile(r'\s{0,200}(?:\w{1,60}\s*:\s*)?[$@]{0,3}"((?:[^"\\\r\n]|\\.){0,500})"\s{0,200},?')
"""A string argument, also a named one, with the comma behind it. Bounded, because it is tried on any text."""


def masked_body_of(symbol_text: SymbolText) -> MaskedBody:
    """The text of a segment and its masked code; linear. Only C# is masked, other languages are taken as they are."""
    text = str(symbol_text)
    segment = symbol_text.segment
    code = scan(text).code if segment.language == "csharp" else text
    return MaskedBody(code, text, segment, symbol_text.whole)


def type_arguments(code: str, position: int) -> tuple[tuple[str, ...], int]:
    """The arguments of `<…>` that starts at `position`, and the offset after it; ((), position) where none does."""
    if code[position : position + 1] != "<":
        return (), position
    depth, start, found = 0, position + 1, []
    for index in range(position, min(len(code), position + MAX_ARGUMENT_CHARS)):
        character = code[index]
        if character in "<([":
            depth += 1
            if depth > MAX_DEPTH:
                break
        elif character in ">)]":
            depth -= 1
            if depth == 0:
                found.append(code[start:index])
                return tuple(" ".join(part.split()) for part in found if part.strip()), index + 1
        elif character == "," and depth == 1:
            found.append(code[start:index])
            start = index + 1
        elif character in ";{}":
            break
    return (), position
