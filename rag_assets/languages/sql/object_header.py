"""The head of a CREATE or ALTER statement: what kind of object, and which."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag_assets.languages.sql.lexer import DEFAULT_SCHEMA, unquoted

_PART = r'(?:\[(?:[^\]]|\]\])++\]|"(?:[^"]|"")++"|`[^`]++`|[^\W\d][\w$#@]*+)'
_NAME = rf"{_PART}(?:\s*+\.\s*+{_PART}){{0,3}}"
_HEADER = re.compile(
    rf"""
    (?:(?P<alter>ALTER)|CREATE(?:\s++OR\s++(?:ALTER|REPLACE))?)\s++
    (?:ALGORITHM\s*+=\s*+\w++\s++)?(?:DEFINER\s*+=\s*+\S++\s++)?(?:SQL\s++SECURITY\s++\w++\s++)?
    (?:(?:UNIQUE|CLUSTERED|NONCLUSTERED|COLUMNSTORE|FULLTEXT|SPATIAL|BITMAP|UNLOGGED|EXTERNAL|FOREIGN|MATERIALIZED|
        RECURSIVE|CONSTRAINT|AGGREGATE|EDITIONABLE|NONEDITIONABLE|PRIMARY|XML|GLOBAL|LOCAL|TEMPORARY|TEMP)\s++)*+
    (?P<kind>TABLE|VIEW|PROCEDURE|PROC|FUNCTION|TRIGGER|TYPE|SEQUENCE|SYNONYM|INDEX)\b\s*+
    (?:CONCURRENTLY\s++)?(?:IF\s++(?:NOT\s++)?EXISTS\s++)?(?:ONLY\s++)?
    (?P<name>{_NAME})?
    """,
    re.IGNORECASE | re.VERBOSE,
)
_TEMPORARY = re.compile(r"(?<!GLOBAL )\bTEMP(?:ORARY)?\b", re.IGNORECASE)
"""Gone with the session; what Oracle calls GLOBAL TEMPORARY stays, only its rows go."""
_INDEXED_TABLE = re.compile(rf"\s*+ON\s++(?:ONLY\s++)?({_NAME})", re.IGNORECASE)
_PARTS = re.compile(_PART)
_KINDS = {"PROC": "procedure"}
_NO_NAMES = frozenset({"AS", "BEGIN", "FOR", "FROM", "IS", "ON", "RETURNS", "SELECT"})
"""What follows a name: read in its place, it was left out, or filled in by a tool (`CREATE PROC $(name) AS`)."""


@dataclass(frozen=True, slots=True)
class Header:
    """`schema` may hold a database too: `shop.dbo`. `table` is the symbol of the table that an index is on."""

    kind: str
    schema: str
    name: str
    alters: bool
    end: int  # offset after the name
    table: str = ""

    @property
    def symbol(self) -> str:
        return f"{self.table or self.schema}.{self.name}"


def read_header(text: str, position: int) -> Header | None:
    """The header of the CREATE or ALTER at `position`; None for objects that are not indexed on their own.

    Those are temporary tables, `ALTER INDEX` and server objects (logins, schemas, databases …).
    """
    found = _HEADER.match(text, position)
    if found is None or _TEMPORARY.search(text, found.start(), found.start("kind")):
        return None
    kind = _KINDS.get(found["kind"].upper(), found["kind"].lower())
    alters = found["alter"] is not None
    if kind == "index":
        return None if alters else _index(text, found)
    if found["name"] is None or found["name"].upper() in _NO_NAMES:
        return None
    schema, name = split_name(found["name"])
    return Header(kind, schema, name, alters, found.end())


def _index(text: str, found: re.Match[str]) -> Header | None:
    name, end = found["name"], found.end()
    if name is not None and name.upper() == "ON":  # PostgreSQL may leave the name to the server
        name, end = None, found.start("name")
    on = _INDEXED_TABLE.match(text, end)
    if on is None:
        return None
    schema, table = split_name(on[1])
    own = split_name(name)[1] if name else "index"
    return Header("index", schema, own, False, on.end(), f"{schema}.{table}")


def split_name(written: str) -> tuple[str, str]:
    """(schema, name) of a name as written, quotes removed: `[dbo].[Order]` → `dbo`, `Order`."""
    parts = [unquoted(part) for part in _PARTS.findall(written)]
    return ".".join(parts[:-1]) or DEFAULT_SCHEMA, parts[-1]
