"""Every mention of a database object in a piece of SQL, by the words before its name.

Left out are variables, temporary tables, common table expressions, aliases, the tables of a trigger's rows, and what
belongs to the system.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_assets.descriptions.facts.sql_reader import Reader
from rag_assets.descriptions.facts.sql_tokens import Token, expressions_of
from rag_assets.descriptions.facts.sql_uses import SqlMention, SqlUse
from rag_assets.descriptions.facts.sql_words import (
    ROWS_OF_TRIGGERS,
    SYSTEM_DATABASES,
    SYSTEM_PREFIXES,
    SYSTEM_SCHEMAS,
    SYSTEM_TABLE_PREFIXES,
    SYSTEM_TABLES,
)

_PROCEDURAL = re.compile(
    r"\$\w*\$|\bLANGUAGE\s+'?plpgsql\b|^[ \t]*DELIMITER\b|\bPACKAGE\s+BODY\b|%(?:ROW)?TYPE\b",
    re.IGNORECASE | re.MULTILINE,
)


def mentions_in(tokens: Sequence[Token], *, assigns_into: bool = False) -> list[SqlMention]:
    """All mentions in text order, repeated ones too.

    `assigns_into` says that `SELECT … INTO x` fills a variable, as it does in the procedural languages of PostgreSQL,
    Oracle and MySQL, and not a new table. Never raises; linear for all practical statements.
    """
    expressions = expressions_of(tokens) if any(token.upper == "WITH" for token in tokens) else {}
    reader = Reader(tokens, assigns_into)
    reader.read()
    return [found for found in reader.found if not _is_temporary(found, reader.local, expressions) and _is_own(found)]


def is_procedural(text: str) -> bool:
    """Whether a script is in a procedural language of PostgreSQL, Oracle or MySQL; see `assigns_into`."""
    return _PROCEDURAL.search(text) is not None


def _is_temporary(found: SqlMention, local: set[str], expressions: dict[str, list[tuple[int, int]]]) -> bool:
    """A temporary table, a common table expression, a row of a trigger."""
    last = found.name.parts[-1].lower()
    if last.startswith("#"):
        return True
    if found.name.is_qualified:
        return False
    scopes = expressions.get(last, ())
    return last in ROWS_OF_TRIGGERS or last in local or any(start <= found.name.end <= end for start, end in scopes)


def _is_own(found: SqlMention) -> bool:
    """An object of the database, not of the system."""
    *before, last = (part.lower() for part in found.name.parts)
    if before and (before[0] in SYSTEM_SCHEMAS or before[-1] in SYSTEM_SCHEMAS):
        return False
    if len(before) > 1 and before[-2] in SYSTEM_DATABASES:
        return False
    if found.use is SqlUse.EXECUTES and last.startswith(SYSTEM_PREFIXES):
        return False
    written_alone = not before or before[-1] in ("", "dbo")
    return not (written_alone and (last in SYSTEM_TABLES or last.startswith(SYSTEM_TABLE_PREFIXES)))
