"""Where the code is that no fact is read from: the bodies and initialisers of members, found by brackets alone.

What the grammar cannot parse is most often inside such a body. Blanking the broken ones leaves a file whose
declarations parse clean.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag_assets.languages.csharp.syntax.lexer import brackets

_TOKEN = re.compile(r"[{}()\[\];]|=>|(?<![=!<>+\-*/%&|^])=(?![=>])")
_ENUM_TOKEN = re.compile(r"[{}()\[\];,]")
_TYPE_HEADER = re.compile(
    r"(?<![\w@.])(?:namespace|interface|enum|record\s++(?:class\b|struct\b)?+\s*+@?[^\W\d]"
    r"|(?<!:)(?<!,)(?<![:,]\s)(?:class|struct)(?!\s*+[,{)])|extension\s*+[<(])"
)
_ENUM_HEADER = re.compile(r"(?<![\w@.])enum\s")
_CODE_HEADER = re.compile(
    r"(?:\)|\b(?:get|set|init|add|remove|do|else|try|finally|unsafe|checked|unchecked|switch)|\)\s*+where\b[^{}]*+)\s*\Z"
)


@dataclass(frozen=True, slots=True)
class Region:
    """Code of one member, brackets and operators outside: what may be blanked. `is_expression`: something must stay."""

    start: int
    end: int
    is_expression: bool


def code_regions(code: str) -> list[Region]:
    """The outermost bodies (`{ … }`) and expressions (`=> …;`, `= …;`) of members in `code` (of a Scan), in order.

    Type and namespace bodies and accessor lists are walked through. Linear; a body that is never closed ends it.
    """
    matches = brackets(code)
    regions: list[Region] = []
    in_enum = False
    position = boundary = 0  # `boundary`: where the header of the next declaration begins
    while found := _TOKEN.search(code, position):
        token, start = found.group(), found.start()
        position = found.end()
        if token in (";", "}"):
            boundary = position
            in_enum = in_enum and token == ";"
        elif token in ("(", "["):
            position = matches.get(start, start) + 1
        elif token == "{":
            header = code[boundary:start]
            if not _is_code(header):
                in_enum = _ENUM_HEADER.search(header) is not None
                boundary = position
                continue
            closing = matches.get(start)
            if closing is None:
                break
            regions.append(Region(position, closing, is_expression=False))
            position = boundary = closing + 1
        elif token in ("=>", "="):
            end = _expression_end(code, position, matches, in_enum)
            if code[position:end].strip():
                regions.append(Region(position, end, is_expression=True))
            position = end
    return regions


def _is_code(header: str) -> bool:
    """Whether the brace after `header` opens code: not a type, a namespace or the accessors of a property."""
    if _TYPE_HEADER.search(header):
        return False
    return not header.strip() or _CODE_HEADER.search(header) is not None


def _expression_end(code: str, position: int, matches: dict[int, int], in_enum: bool) -> int:
    """Where an expression ends: at `;` (`,` in an enum) or the enclosing bracket. Brackets in it are jumped over."""
    while found := (_ENUM_TOKEN if in_enum else _TOKEN).search(code, position):
        token = found.group()
        if token in ("{", "(", "["):
            position = matches.get(found.start(), found.start()) + 1
        elif token in (";", ",", "}", ")", "]"):
            return found.start()
        else:
            position = found.end()
    return len(code)
