"""`EXEC sp_rename 'dbo.Orders.Total', 'Sum', 'COLUMN'`: SQL Server names what changes in a string."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_assets.contracts.graph import Confidence, GraphEdge, Relation, file_key
from rag_assets.contracts.segment import LineIndex
from rag_assets.descriptions.facts.sql_tokens import name_at, tokens_of
from rag_assets.graph.sql.symbols import SqlSymbols
from rag_assets.graph.sql.targets import TABLES

_TABLES = tuple(kind.value for kind in TABLES)
_RENAME = re.compile(
    r"--[^\r\n]*+|/\*(?s:.*?)(?:\*/|\Z)"
    r"|\bsp_rename\]?\s++(?:@objname\s*+=\s*+)?[nN]?'(?P<name>[^'\r\n]{1,600}+)'"
    r"|'(?:[^']++|'')*+'",
    re.IGNORECASE,
)


def renames(text: str, lines: LineIndex, path: str, symbols: SqlSymbols) -> Iterator[GraphEdge]:
    """SchemaChange from the file to each declared table that is renamed, or whose column or index is."""
    if "sp_rename" not in text:
        return
    for found in _RENAME.finditer(text):
        name = name_at(tokens_of(found["name"]), 0) if found["name"] else None
        for parts in (name.parts, name.parts[:-1]) if name is not None else ():
            known = symbols.named(parts[-1], ".".join(parts[:-1]), _TABLES) if parts else ()
            if len(known) == 1:
                line = lines.line_of(found.start("name"))
                yield GraphEdge(file_key(path), Relation.SCHEMA_CHANGE, known[0].key, Confidence.PROBABLE, path, line)
                break
