"""Declarations from inside: columns of tables with keys and defaults, parameters of routines, the declared head."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from rag_assets.contracts.segment import Member, MemberKind, Parameter
from rag_assets.languages.sql.lexer import (
    CLOSED_BLOCK_COMMENT,
    COMMENT,
    DOLLAR_TAG,
    LINE_COMMENT,
    LIST_TOKENS,
    RESERVED,
    STRING,
    Token,
    after_parenthesis,
    name_at,
    unquoted,
    upper_at,
)
from rag_assets.languages.sql.statements import ROUTINES, ObjectStatement


@dataclass(frozen=True, slots=True)
class SqlForeignKey:
    """`columns` of the table that refer to `target_columns` of the table `target` (`schema.name`)."""

    columns: tuple[str, ...]
    target: str
    target_columns: tuple[str, ...] = ()


def foreign_keys_of(tokens: Sequence[Token]) -> tuple[SqlForeignKey, ...]:
    """The foreign keys of CREATE and ALTER TABLE statements, of columns and of the table, in order."""
    found: dict[SqlForeignKey, None] = {}
    for index, token in enumerate(tokens):
        name = name_at(tokens, index + 1) if token.upper == "REFERENCES" else None
        if name is None:
            continue
        targets: tuple[str, ...] = ()
        if upper_at(tokens, name.end) == "(":
            targets = _names_in(tokens, name.end, after_parenthesis(tokens, name.end))
        found[SqlForeignKey(_columns_before(tokens, index), name.symbol, targets)] = None
    return tuple(found)


def primary_key_of(tokens: Sequence[Token]) -> tuple[str, ...]:
    """The columns of `PRIMARY KEY (a, b)`; the key of a single column may stand at the column instead."""
    for index, token in enumerate(tokens):
        if token.upper == "KEY" and upper_at(tokens, index - 1) == "PRIMARY":
            position = index + 1
            while upper_at(tokens, position) in ("CLUSTERED", "NONCLUSTERED"):
                position += 1
            if upper_at(tokens, position) == "(":
                return _names_in(tokens, position, after_parenthesis(tokens, position))
    return ()


def _columns_before(tokens: Sequence[Token], index: int) -> tuple[str, ...]:
    """The columns of `FOREIGN KEY (a, b) REFERENCES`, or the column whose definition has the REFERENCES."""
    depth = 0
    for position in range(index - 1, max(-1, index - LIST_TOKENS), -1):
        word = upper_at(tokens, position)
        depth += (word == ")") - (word == "(")
        if word == "(" and depth == 0:
            before = upper_at(tokens, position - 1)
            named = before not in RESERVED and upper_at(tokens, position - 2) == "KEY"  # MySQL: FOREIGN KEY name (a)
            if before == "KEY" or named:
                return _names_in(tokens, position, index)
        if depth < 0 or (depth == 0 and word == ","):
            column = name_at(tokens, position + 1)
            return column.parts[-1:] if column is not None else ()
    return ()


def _names_in(tokens: Sequence[Token], start: int, end: int) -> tuple[str, ...]:
    """The names in a parenthesised list, sort orders left out."""
    names = (name_at(tokens, i + 1) for i in range(start, end) if upper_at(tokens, i) in ("(", ","))
    return tuple(name.parts[-1] for name in names if name is not None)


MAX_SIGNATURE_CHARS = 1_000  # as in code: names and types come first

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
_DEFAULT = re.compile(
    r"\bDEFAULT\s+(\((?:[^()']++|'(?:[^']|'')*'|\((?:[^()']++|'(?:[^']|'')*'|\([^()]*\))*\))*\)"
    r"|[nN]?'(?:[^']|'')*'|[^\s,]+(?:\([^()]*\))?)",
    re.IGNORECASE,
)
_IDENTITY = re.compile(r"\b(?:IDENTITY|AUTO_INCREMENT|(?:big|small)?serial)\b", re.IGNORECASE)
_PARAMETER = re.compile(
    rf"(?:(IN|OUT|INOUT|VARIADIC)\s++)?(@?{_NAME})(?:\s++(?:AS\s++)?({_TYPE}))?"
    r"(?:\s*+(?:=|:=|\bDEFAULT\b)\s*+(.*?))?(?:\s++(OUT|OUTPUT|READONLY))?\Z",
    re.IGNORECASE | re.DOTALL,
)
_PIECE = re.compile(rf"""{COMMENT}|{STRING}?|"[^"]*+"?|`[^`]*+`?|\[(?:[^\]\r\n]++|\]\])*+\]?|[(),]""")
_HEAD_TOKEN = re.compile(rf"{_PIECE.pattern}|{DOLLAR_TAG}|@*+[\w$#@]++")
_OPEN = rf"(?:\s|{LINE_COMMENT}|{CLOSED_BLOCK_COMMENT})*+\("
_PARAMETER_LIST = re.compile(_OPEN)
_TABLE_BODY = re.compile(rf"(?:\s*+AS\s++TABLE)?{_OPEN}", re.IGNORECASE)


@dataclass(slots=True)
class _Item:
    """One entry of a comma-separated list: its range, its text without comments on one line, and its comments."""

    start: int
    end: int = -1
    text: str = ""
    comments: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    """A column as a CREATE TABLE writes it at `start` to `end`; `text` is its definition on one line."""

    name: str
    type: str
    text: str
    start: int
    end: int
    comments: tuple[str, ...]
    modifiers: tuple[str, ...]
    references: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SqlColumn:
    """A column as declared. `key` is `primary`, `foreign`, `unique` or ''; a primary key is never nullable."""

    name: str
    type: str
    nullable: bool
    key: str = ""
    default: str = ""
    identity: bool = False
    doc: str = ""


def column_definitions(text: str, found: ObjectStatement) -> Iterator[ColumnDefinition]:
    """The columns of a CREATE TABLE or table type, in order; constraints of the table are left out."""
    opening = _TABLE_BODY.match(text, found.header.end, found.end)
    if opening is None or found.header.alters:
        return
    for item in _items(text, opening.end(), found.end):
        column = None if _CONSTRAINT.match(item.text) else _COLUMN.match(item.text)
        if column is not None:
            yield ColumnDefinition(
                unquoted(column[1]),
                _QUOTED_TYPE.sub(r"\1", column[2] or ""),
                item.text[:MAX_SIGNATURE_CHARS],
                item.start,
                item.end,
                tuple(item.comments),
                tuple(" ".join(words.upper().split()) for words in _MODIFIERS.findall(item.text)),
                tuple(_REFERENCES.findall(item.text)),
            )


def columns_of(
    members: Iterable[Member], primary_key: tuple[str, ...], foreign_keys: Iterable[SqlForeignKey]
) -> tuple[SqlColumn, ...]:
    """The columns among the members of a segment. A column is a key as its own definition or the table says."""
    primary = {name.lower() for name in primary_key}
    foreign = {name.lower() for key in foreign_keys for name in key.columns}
    found = []
    for member in members:
        if member.kind is not MemberKind.PROPERTY:
            continue
        name = member.name.lower()
        is_primary = "PRIMARY KEY" in member.modifiers or name in primary
        key = "primary" if is_primary else "foreign" if name in foreign else ""
        default = _DEFAULT.search(member.signature)
        found.append(
            SqlColumn(
                name=member.name,
                type=member.type,
                nullable=not is_primary and "NOT NULL" not in member.modifiers,
                key=key or ("unique" if "UNIQUE" in member.modifiers else ""),
                default=default[1] if default else "",
                identity=bool(_IDENTITY.search(member.signature)),
                doc=member.doc,
            )
        )
    return tuple(found)


def declared_head(text: str, found: ObjectStatement) -> tuple[str, int]:
    """The signature of an object on one line, and where its declaration ends and its body begins."""
    end = found.end
    if found.head_end >= 0:
        end = found.head_end
    elif found.header.kind in ROUTINES or found.header.kind == "view":
        end = _body_start(text, found)
    elif found.header.kind in ("table", "type") and not found.header.alters:
        end = found.header.end
    head = text[found.head : end]
    if "--" in head or "/*" in head:
        head = _PIECE.sub(lambda piece: " " if piece[0][:2] in ("--", "/*") else piece[0], head)
    return " ".join(head.split())[:MAX_SIGNATURE_CHARS].rstrip("; "), end


def parameters(text: str, found: ObjectStatement, head_end: int) -> tuple[Parameter, ...]:
    """The parameters of a procedure or function, in parentheses or as a bare T-SQL list."""
    opening = _PARAMETER_LIST.match(text, found.header.end, head_end)
    start = found.header.end if opening is None else opening.end()
    made = []
    for item in _items(text, start, head_end):
        parameter = _PARAMETER.match(item.text)
        if parameter is None or (opening is None and not item.text.startswith("@")):
            continue
        mode, name, kind, default, suffix = parameter.groups()
        marks = tuple(mark.lower() for mark in (mode, suffix) if mark)
        made.append(Parameter(unquoted(name), (kind or "").strip(), (default or "").strip(), marks))
    return tuple(made)


def _body_start(text: str, found: ObjectStatement) -> int:
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


def _items(text: str, start: int, end: int) -> list[_Item]:
    """The entries of a list, from inside its parenthesis to the one that closes it; those without text left out."""
    found: list[_Item] = []
    item, written = _Item(start), list[str]()
    depth, position = 0, start
    for piece in _PIECE.finditer(text, start, end):
        written.append(text[position : piece.start()])
        position = piece.end()
        mark = piece[0]
        if mark.startswith(("--", "/*")):
            if found and mark.startswith("--") and not text[item.start : piece.start()].strip(" \t"):
                found[-1].comments.append(mark)  # after the comma, but on the line of the entry before it
                item.start = position
            else:
                item.comments.append(mark)
            written.append(" ")
        elif mark in (",", ")") and depth == 0:
            _finish(text, item, written, piece.start(), found)
            if mark == ")":
                return found
            item, written = _Item(position), []
        else:
            depth += {"(": 1, ")": -1}.get(mark, 0)
            written.append(mark)
    written.append(text[position:end])
    _finish(text, item, written, end, found)
    return found


def _finish(text: str, item: _Item, written: list[str], end: int, found: list[_Item]) -> None:
    item.text = " ".join("".join(written).split())
    if item.text:
        content = text[item.start : end]
        item.start += len(content) - len(content.lstrip())
        item.end = item.start + len(content.strip())
        found.append(item)
