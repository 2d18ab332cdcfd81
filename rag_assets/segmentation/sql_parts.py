"""The inside of SQL objects, as far as it is cheap: columns of tables, parameters of routines, the declared head."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from rag_assets.contracts.segment import LineIndex, Member, MemberKind, Parameter
from rag_assets.segmentation.doc_comments import plain_comments
from rag_assets.segmentation.sql_names import unquoted
from rag_assets.segmentation.sql_scanner import SqlObject

_MAX_SIGNATURE_CHARS = 1_000  # as in code: names and types come first

_NAME = r'(?:\[[^\]]++\]|"[^"]++"|`[^`]++`|[^\W\d][\w$#]*+)'
_TYPE = (
    rf"{_NAME}(?:\s*+\.\s*+{_NAME})?(?:\s++(?:precision|varying))?(?:\s*+\([^()]*+\))?"
    r"(?:\s++with(?:out)?\s++time\s++zone)?(?:\s*+\[\])*+"
)
_QUOTED_TYPE = re.compile(r"\[([^\]]++)\]")
_COLUMN = re.compile(rf"({_NAME})(?:\s++(?!AS\b)({_TYPE}))?", re.IGNORECASE)
_CONSTRAINT = re.compile(
    r"(?:CONSTRAINT|PRIMARY\s+KEY|FOREIGN\s+KEY|UNIQUE|CHECK|EXCLUDE|LIKE|PERIOD\s+FOR)\b|"
    r"(?:FULLTEXT\s+|SPATIAL\s+)?(?:INDEX|KEY)\b[^(]*\(\s*(?!\d|max\b)",
    re.IGNORECASE,
)
_MODIFIERS = re.compile(r"\b(?:NOT\s+NULL|PRIMARY\s+KEY|IDENTITY|UNIQUE|AUTO_INCREMENT)\b", re.IGNORECASE)
_REFERENCES = re.compile(rf"\bREFERENCES\s+{_NAME}(?:\s*\.\s*{_NAME})*(?:\s*\([^()]*\))?", re.IGNORECASE)
_PARAMETER = re.compile(
    rf"(?:(IN|OUT|INOUT|VARIADIC)\s++)?(@?{_NAME})(?:\s++(?:AS\s++)?({_TYPE}))?"
    r"(?:\s*+(?:=|:=|\bDEFAULT\b)\s*+(.*?))?(?:\s++(OUT|OUTPUT|READONLY))?\Z",
    re.IGNORECASE | re.DOTALL,
)
_PIECE = re.compile(
    r"""--[^\r\n]*+|/\*(?s:.*?)(?:\*/|\Z)|'(?:[^']++|'')*+'?|"[^"]*+"?|`[^`]*+`?|\[(?:[^\]\r\n]++|\]\])*+\]?|[(),]""",
)
_HEAD_TOKEN = re.compile(rf"{_PIECE.pattern}|\$(?:[^\W\d]\w*+)?\$|@*+[\w$#@]++")
_OPEN = re.compile(r"(?:\s|--[^\r\n]*+|/\*(?s:.*?)\*/)*+\(")
_TABLE_BODY = re.compile(r"(?:\s*+AS\s++TABLE)?(?:\s|--[^\r\n]*+|/\*(?s:.*?)\*/)*+\(", re.IGNORECASE)


@dataclass(slots=True)
class _Item:
    """One entry of a comma-separated list: its range, its text and its comments, told apart."""

    start: int
    end: int = -1
    text: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    plain: str = ""  # without comments, on one line; set when the item ends


def columns(text: str, lines: LineIndex, found: SqlObject) -> tuple[Member, ...]:
    """The columns of a CREATE TABLE or table type as PROPERTY members; constraints are left to the text."""
    opening = _TABLE_BODY.match(text, found.header.end, found.end)
    if opening is None or found.header.alters:
        return ()
    return tuple(_columns(text, lines, opening.end(), found.end))


def _columns(text: str, lines: LineIndex, start: int, end: int) -> Iterator[Member]:
    for item in _items(text, start, end):
        plain = item.plain
        column = None if _CONSTRAINT.match(plain) else _COLUMN.match(plain)
        if column is None:
            continue
        yield Member(
            name=unquoted(column[1]),
            kind=MemberKind.PROPERTY,
            signature=plain[:_MAX_SIGNATURE_CHARS],
            span=lines.span(item.start, item.end),
            doc=plain_comments(item.comments),
            type=_QUOTED_TYPE.sub(r"\1", column[2] or ""),
            modifiers=tuple(" ".join(m.upper().split()) for m in _MODIFIERS.findall(plain)),
            attributes=tuple(_REFERENCES.findall(plain)),
        )


def declared_head(text: str, found: SqlObject) -> tuple[str, int]:
    """The signature of an object on one line, and where its declaration ends and its body begins."""
    end = found.end
    if found.header.kind in ("procedure", "function", "trigger", "view"):
        end = _body_start(text, found)
    elif found.header.kind in ("table", "type") and not found.header.alters:
        end = found.header.end
    head = text[found.head : end]
    if "--" in head or "/*" in head:
        head = _PIECE.sub(lambda piece: " " if piece[0][:2] in ("--", "/*") else piece[0], head)
    return " ".join(head.split())[:_MAX_SIGNATURE_CHARS].rstrip("; "), end


def _body_start(text: str, found: SqlObject) -> int:
    """Where AS, BEGIN or a dollar-quoted body stands; `@p AS int` is no body."""
    depth = 0
    after_variable = False
    for token in _HEAD_TOKEN.finditer(text, found.header.end, found.end):
        word = token[0].upper()
        if word[0] in "()":
            depth += 1 if word[0] == "(" else -1
        elif depth == 0 and (word[0] == "$" or word == "BEGIN" or (word == "AS" and not after_variable)):
            return token.start()
        if not word.startswith(("--", "/*")):
            after_variable = word[0] == "@"
    return found.end


def parameters(text: str, found: SqlObject, head_end: int) -> tuple[Parameter, ...]:
    """The parameters of a procedure or function, in parentheses or as a bare T-SQL list."""
    opening = _OPEN.match(text, found.header.end, head_end)
    start = found.header.end if opening is None else opening.end()
    made = []
    for item in _items(text, start, head_end):
        plain = item.plain
        parameter = _PARAMETER.match(plain)
        if parameter is None or (opening is None and not plain.startswith("@")):
            continue
        mode, name, kind, default, suffix = parameter.groups()
        marks = tuple(mark.lower() for mark in (mode, suffix) if mark)
        made.append(Parameter(unquoted(name), (kind or "").strip(), (default or "").strip(), marks))
    return tuple(made)


def _items(text: str, start: int, end: int) -> list[_Item]:
    """The entries of a list, from inside its parenthesis to the one that closes it."""
    found: list[_Item] = []
    depth = 0
    position = start
    item = _Item(start)
    for piece in _PIECE.finditer(text, start, end):
        item.text.append(text[position : piece.start()])
        position = piece.end()
        mark = piece[0]
        if mark.startswith(("--", "/*")):
            if found and mark.startswith("--") and not text[item.start : piece.start()].strip(" \t"):
                found[-1].comments.append(mark)  # after the comma, but on the line of the entry before it
                item.start = position
            else:
                item.comments.append(mark)
            item.text.append(" ")
        elif mark in (",", ")") and depth == 0:
            _finish(text, item, piece.start(), found)
            if mark == ")":
                return found
            item = _Item(position)
        else:
            depth += {"(": 1, ")": -1}.get(mark, 0)
            item.text.append(mark)
    item.text.append(text[position:end])
    _finish(text, item, end, found)
    return found


def _finish(text: str, item: _Item, end: int, found: list[_Item]) -> None:
    item.plain = " ".join("".join(item.text).split())
    if item.plain:
        content = text[item.start : end]
        item.start += len(content) - len(content.lstrip())
        item.end = item.start + len(content.strip())
        found.append(item)
