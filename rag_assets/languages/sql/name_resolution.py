"""From a name in SQL to the nodes it may mean, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass

from rag_assets.contracts.graph import Confidence, NodeType, sql_key
from rag_assets.languages.sql.dynamic_sql import HOLE
from rag_assets.languages.sql.label_objects import DEFAULT_SCHEMAS, SqlSymbols
from rag_assets.languages.sql.lexer import DEFAULT_SCHEMA

TABLES = (NodeType.TABLE, NodeType.VIEW, NodeType.SYNONYM)
ROUTINES = (NodeType.PROC, NodeType.FUNC, NodeType.SYNONYM)

_MAX_CANDIDATES = 3
"""More objects than these of one name say nothing: no edge at all."""


@dataclass(frozen=True, slots=True)
class ResolvedName:
    key: str
    confidence: Confidence


def targets_of(
    parts: tuple[str, ...], kinds: tuple[NodeType, ...], symbols: SqlSymbols, own: SqlSymbols | None = None
) -> tuple[ResolvedName, ...]:
    """The nodes of the name with these parts (`schema`, `name`), one as a rule.

    `own` are the objects of the file that has the name: the only one of them that it surely names is meant, for a label
    may hold the same tables in scripts for several kinds of servers.

    A declared object is resolved when its schema is the written one, or a default schema where none is written;
    probable when it is the only one in another schema or the database is not sure; several are name-only. An object
    that nothing declares becomes a `TABLE_OR_VIEW`, probable, where `kinds` has tables, and nothing otherwise.
    """
    name, schema = parts[-1], ".".join(parts[:-1])
    if HOLE in name:
        return ()
    wanted = tuple(kind.value for kind in kinds)
    known = own.find(name, schema, wanted) if own is not None else ()
    if len(known) != 1 or not _is_same(known[0].schema, schema):
        known = symbols.named(name, schema, wanted)
    if len(known) > _MAX_CANDIDATES:
        return ()
    if len(known) > 1:
        return tuple(ResolvedName(made.key, Confidence.NAME_ONLY) for made in known)
    if known:
        sure = _is_same(known[0].schema, schema)
        return (ResolvedName(known[0].key, Confidence.RESOLVED if sure else Confidence.PROBABLE),)
    if NodeType.TABLE not in kinds:
        return ()
    written = ".".join(part for part in parts[:-1] if part and HOLE not in part) or DEFAULT_SCHEMA
    return (ResolvedName(sql_key(written, name, NodeType.TABLE_OR_VIEW), Confidence.PROBABLE),)


def _is_same(declared: str, written: str) -> bool:
    declared, written = declared.lower(), written.lower()
    return declared == written or (declared in DEFAULT_SCHEMAS and written in DEFAULT_SCHEMAS)
