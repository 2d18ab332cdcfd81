"""The string expressions of a C# text: what they are worth as far as the file says, and where each character stands.

An expression is one literal or several operands joined by `+`. What is only known when the program runs becomes a
HOLE. The code is the masked one of `languages.csharp.syntax.lexer.scan`, in which every literal is a pair of quotes.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate

from rag_assets.languages.sql.label_objects import HOLE

Lookup = Callable[[str, int], str | None]
"""The value of a name (`Schema`, `this.Schema`) at an offset of the text; None when it is not known."""

_LITERAL = re.compile(r'[$@]*+"[^"]*+"')
_OPERAND = re.compile(r'\s*+\+\s*+(?:(?P<literal>[$@]*+"[^"]*+")|(?P<name>[^\W\d][\w.]*+)(?P<call>\s*+\([^()"]*+\))?)')
_NAME_BEFORE = re.compile(r"(?<![\w.)\]])([^\W\d][\w.]*+)\s*+\+\s*+\Z")
_LOOK_BEHIND_CHARS = 120
"""Longer than any name of a constant with the blanks and the `+` after it."""

_PREFIX = re.compile(r'([$@]*+)("++)')
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{1,4})|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "'": "'", "\\": "\\"}
_FORMAT_ITEM = re.compile(r"\{\d++(?:[,:][^{}]*+)?\}")
_SPECIAL = re.compile(r'[\\{}"]')
_BRACE = re.compile(r'"[^"]*+"|[{}]')
_NAMEOF = re.compile(r"nameof\s*\(\s*(?:[\w.]*\.)?(\w+)\s*\)\Z")
_PATH = re.compile(r"(?:this\.)?([^\W\d][\w.]*+)\Z")


@dataclass(slots=True)
class StringExpression:
    """`value` begins at `start` of the text; `pieces` map offsets of the value to offsets of the text."""

    start: int
    end: int
    value: str = ""
    pieces: list[tuple[int, int]] = field(default_factory=list)

    def source_of(self, offset: int) -> int:
        """Where the character at an offset of the value stands in the text."""
        index = bisect_right(self.pieces, (offset, len(self.value) + self.end)) - 1
        if index < 0:
            return self.start
        at, source = self.pieces[index]
        return min(source + offset - at, self.end)


def string_expressions(text: str, code: str, lookup: Lookup) -> Iterator[StringExpression]:
    """All expressions that begin with a literal, or with a name before one, in text order. Linear."""
    position = 0
    while (found := _LITERAL.search(code, position)) is not None:
        if not _is_whole(text, found):
            position = found.start() + text[found.start() : found.end()].index('"') + 1
            position = max(position, _line_end(text, position))
            continue
        made = StringExpression(found.start(), found.end())
        parts: list[tuple[str, int]] = []
        before = _NAME_BEFORE.search(code, max(0, found.start() - _LOOK_BEHIND_CHARS), found.start())
        if before is not None:
            made.start = before.start(1)
            parts.append((_known(before[1], found.start(), lookup), found.start()))
        parts += _parts(text, found.start(), found.end(), lookup)
        while (operand := _OPERAND.match(code, made.end)) is not None:
            made.end = operand.end()
            if operand["literal"] is not None:
                parts += _parts(text, operand.start("literal"), operand.end(), lookup)
            else:
                name = operand["name"] + (operand["call"] or "")
                parts.append((_known(name, operand.start("name"), lookup), operand.start("name")))
        position = made.end
        made.value = "".join(value for value, _ in parts)
        ends = accumulate(len(value) for value, _ in parts)
        made.pieces = [(end - len(value), source) for end, (value, source) in zip(ends, parts, strict=True) if value]
        yield made


def _is_whole(text: str, found: re.Match[str]) -> bool:
    """Whether the quotes that were found belong together: only verbatim and raw literals go over a line end."""
    if "\n" not in found[0]:
        return True
    prefix = _PREFIX.match(text, found.start())
    return prefix is not None and ("@" in prefix[1] or len(prefix[2]) > 2)


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end


def _known(expression: str, at: int, lookup: Lookup) -> str:
    expression = expression.strip()
    name_of = _NAMEOF.match(expression)
    if name_of is not None:
        return name_of[1]
    path = _PATH.match(expression)
    value = lookup(path[1], at) if path is not None else None
    return HOLE if value is None else value


def _parts(text: str, start: int, end: int, lookup: Lookup) -> Iterator[tuple[str, int]]:
    """The value of one literal in runs that stand in the text as they are, each with its offset there."""
    prefix = _PREFIX.match(text, start, end)
    if prefix is None:
        return
    dollars, verbatim = prefix[1].count("$"), "@" in prefix[1]
    raw = len(prefix[2]) if not verbatim and len(prefix[2]) > 2 else 0
    done = prefix.start(2) + (raw or 1)
    last = max(done, end - (raw or 1))
    escape = "" if raw else '"' if verbatim else "\\"
    opener = "{" * (dollars if raw else 1)
    position = done
    while (special := _SPECIAL.search(text, position, last)) is not None:
        character, at = special[0], special.start()
        position = special.end()
        if character == escape:
            value, position = _unescaped(text, at, verbatim)
        elif character == "{":
            value, position = _hole(text, at, last, opener, dollars, raw, lookup)
        elif character == "}" and dollars and not raw and text.startswith("}}", at):
            value, position = "}", at + 2
        else:
            continue
        yield text[done:at], done
        yield value, at
        done = position = min(position, last)
    yield text[done:last], done


def _unescaped(text: str, position: int, verbatim: bool) -> tuple[str, int]:
    if verbatim:
        return '"', position + 2
    found = _ESCAPE.match(text, position)
    if found is None:
        return "\\", position + 1
    code = found[1] or found[2]
    if code:
        return chr(int(code, 16)), found.end()
    return _ESCAPES.get(found[0][1], " "), found.end()


def _hole(text: str, position: int, last: int, opener: str, dollars: int, raw: int, lookup: Lookup) -> tuple[str, int]:
    """The value of `{…}` and the offset after it; of an item of `string.Format` too."""
    if not dollars:
        item = _FORMAT_ITEM.match(text, position, last)
        return (HOLE, item.end()) if item is not None else ("{", position + 1)
    if not raw and text.startswith("{{", position):
        return "{", position + 2
    if not text.startswith(opener, position):
        return "{", position + 1
    depth = 0
    for brace in _BRACE.finditer(text, position, last):
        depth += (brace[0] == "{") - (brace[0] == "}")
        if depth == 0:
            expression = text[position + len(opener) : brace.end() - len(opener)]
            return _known(re.split(r"[,:]", expression)[0], position, lookup), brace.end()
    return HOLE, last
