"""Constants and variables outside of types: what the statements of a module give a value by a name.

They are part of the statements and no members: a section would list hundreds of them. What is asked for by its name is
found all the same: the default of a setting, the lines of a constant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rag_assets.contracts.segment import MemberKind, Segment

_UPPER = r"[A-Z_][A-Z0-9_]{2,}"
_LITERAL = r"[\d\"'`\[{-]|true\b|false\b"
_SCRIPT = re.compile(
    r"^(?:export[ \t]+)?(?:const|let|var)[ \t]+"
    rf"(?P<name>{_UPPER}(?![\w$])|[A-Za-z_$][\w$]*(?=[ \t]*(?::[^=\n]+)?=[ \t]*(?:{_LITERAL})))[ \t]*(?::[^=\n]+)?=",
    re.MULTILINE,
)
"""What is written in capitals, or has a literal as its value: other variables of scripts are imports and functions."""
_PATTERNS = {
    "python": re.compile(rf"^(?P<name>{_UPPER})[ \t]*(?::[^=\n]+)?=(?!=)", re.MULTILINE),
    "go": re.compile(
        r"^(?:(?:const|var)[ \t]+|\t)(?P<name>[A-Za-z_]\w*)[ \t]*(?:[\w.*\[\]]+[ \t]*)?=(?!=)", re.MULTILINE
    ),
    **dict.fromkeys(("javascript", "tsx", "typescript"), _SCRIPT),
}
_ENDS = re.compile(
    r"^[ \t]*\r?$|^\)|^[A-Za-z_$][\w$.]*[ \t]*[=(:\[]"
    r"|^(?:const|export|for|from|if|import|let|try|type|var|while|with)\b",
    re.MULTILINE,
)
"""A blank line, that which closes a list of declarations, the next statement."""


@dataclass(frozen=True, slots=True)
class ModuleConstant:
    """Its lines, 1-based and inclusive, with what stands directly below the value; `declaration` is the first."""

    name: str
    line_start: int
    line_end: int
    declaration: str


def module_constants(segment: Segment, text: str) -> Iterator[ModuleConstant]:
    """Those of the module of a file, in text order."""
    pattern = _PATTERNS.get(segment.language)
    if pattern is None or segment.kind != "module":
        return
    for member in segment.members:
        if member.kind is MemberKind.STATEMENTS:
            source, first = member.span.slice(text), member.span.line_start
            found = list(pattern.finditer(source))
            for number, one in enumerate(found, 1):
                after = found[number].start() if number < len(found) else len(source)
                end = _ENDS.search(source, one.end(), after)
                value = source[one.start() : end.start() if end is not None else after].rstrip()
                line = first + source.count("\n", 0, one.start())
                yield ModuleConstant(
                    one["name"], line, line + value.count("\n"), " ".join(value.partition("\n")[0].split())
                )
