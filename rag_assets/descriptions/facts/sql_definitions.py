"""What is created, altered and dropped, and other statements about objects instead of rows; for `sql_reader`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_assets.descriptions.facts.sql_tokens import matching
from rag_assets.descriptions.facts.sql_uses import SqlUse
from rag_assets.descriptions.facts.sql_words import ALTERED, NOT_TABLES, OBJECT_WORDS, PRINCIPALS

if TYPE_CHECKING:
    from rag_assets.descriptions.facts.sql_reader import Reader

_HEAD_TOKENS = 10
"""Between CREATE and the kind of the object: `CREATE OR ALTER …`, `CREATE UNIQUE NONCLUSTERED INDEX`, DEFINER."""


def create(reader: Reader, index: int) -> int:
    """Past the name of what is created, which is no reference; the name of what is altered is one."""
    alters = reader.upper(index) == "ALTER"
    for position in range(index + 1, min(index + _HEAD_TOKENS, len(reader.tokens))):
        word = reader.upper(position)
        if word in OBJECT_WORDS:
            return _created(reader, index, position, word)
        if word in (";", "CREATE", "DROP") or (alters and word not in ALTERED):
            break
        if word in PRINCIPALS:
            reader.grants = True
    return index + 1


def _created(reader: Reader, index: int, position: int, kind: str) -> int:
    reader.verb, reader.awaits_on = kind, kind == "TRIGGER"
    position = _after_conditions(reader, position + 1)
    on = position if reader.upper(position) == "ON" else -1  # PostgreSQL names an index itself
    name = reader.name(position)
    if name is not None:
        if kind == "TABLE" and any(reader.upper(i) in ("TEMP", "TEMPORARY") for i in range(index, position)):
            reader.local.add(name.parts[-1].lower())
        else:
            use = SqlUse.ALTERS if reader.upper(index) == "ALTER" else SqlUse.CREATES
            reader.add(use, name, position, kind)
        position = name.end
        on = position if reader.upper(position) == "ON" else -1
    if kind == "INDEX" and on >= 0:
        reader.awaits_on = True
        return reader.on(on)
    if (kind == "STATISTICS" and on >= 0) or (kind == "TYPE" and reader.upper(position) == "FROM"):
        name = reader.name(position + 1)
        return name.end if name is not None else position
    return position


def drop(reader: Reader, index: int) -> int:
    """`DROP TABLE a, b`; `DROP INDEX i ON t` alters the table."""
    position = index + 1
    while reader.upper(position) in ("TEMPORARY", "MATERIALIZED"):
        position += 1
    kind = reader.upper(position)
    if kind not in OBJECT_WORDS:
        return index + 1  # a column or a constraint
    position = _after_conditions(reader, position + 1)
    while (name := reader.name(position)) is not None:
        reader.add(SqlUse.DROPS, name, position, kind)
        position = name.end
        if reader.upper(position) != ",":
            break
        position += 1
    table = reader.name(position + 1) if reader.upper(position) == "ON" else None
    if table is not None and reader.upper(position + 1) not in NOT_TABLES:
        reader.add(SqlUse.ALTERS, table, position + 1, "TABLE")
        return table.end
    return position


def grant(reader: Reader, index: int) -> int:
    """REVOKE and RESTORE: their FROM has no table."""
    reader.grants = True
    return index + 1


def copy(reader: Reader, index: int) -> int:
    """PostgreSQL's `COPY t (a, b) FROM …` writes, `COPY t TO …` reads."""
    name = reader.name(index + 1)
    if name is None:
        return index + 1
    after = matching(reader.tokens, name.end) if reader.upper(name.end) == "(" else name.end
    if reader.upper(after) not in ("FROM", "TO"):
        return index + 1
    reader.add(SqlUse.WRITES if reader.upper(after) == "FROM" else SqlUse.READS, name, index + 1)
    return after + 1


def _after_conditions(reader: Reader, index: int) -> int:
    """Past CONCURRENTLY, IF [NOT] EXISTS and ONLY."""
    while reader.upper(index) in ("CONCURRENTLY", "IF", "NOT", "EXISTS", "ONLY"):
        index += 1
    return index
