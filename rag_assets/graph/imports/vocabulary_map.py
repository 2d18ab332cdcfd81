"""What other tools call our kinds and relations."""

from __future__ import annotations

from functools import lru_cache

from rag_assets.contracts.graph import NodeType, Relation
from rag_assets.graph.relations import UnknownRelation, named_relation

_CACHED_WORDS = 256  # a file has a few; of one that is damaged each may be another

DATABASE_KINDS = frozenset(
    {
        NodeType.TABLE,
        NodeType.VIEW,
        NodeType.TABLE_OR_VIEW,
        NodeType.PROC,
        NodeType.FUNC,
        NodeType.SEQUENCE,
        NodeType.TRIGGER,
        NodeType.SYNONYM,
        NodeType.SQL_TYPE,
    }
)
ROUTINES = frozenset({NodeType.PROC, NodeType.FUNC, NodeType.TRIGGER})
STORED_ROWS = frozenset({NodeType.TABLE, NodeType.VIEW, NodeType.TABLE_OR_VIEW, NodeType.SYNONYM})


def _plain(word: str) -> str:
    return "".join(filter(str.isalnum, word.lower()))


_KINDS = {_plain(kind.value): kind for kind in NodeType} | {
    "procedure": NodeType.PROC,
    "storedprocedure": NodeType.PROC,
    "function": NodeType.FUNC,
    "tabletype": NodeType.SQL_TYPE,
    "inlinesql": NodeType.METHOD,  # of sql_bodies.jsonl: the method that holds the statement
    "constructor": NodeType.METHOD,
    "operator": NodeType.METHOD,
    "class": NodeType.TYPE,
    "interface": NodeType.TYPE,
    "struct": NodeType.TYPE,
    "record": NodeType.TYPE,
    "enum": NodeType.TYPE,
}
DEPENDENCY = "cs_dep"
"""The word for an entry of `dependencies.json` where such graphs are stored."""

_BY_TARGET = frozenset({"calls", "uses", "dependson", _plain(DEPENDENCY)})
"""Words that say no more than that one thing needs another; between database objects its kind says how."""


def node_kind(word: str) -> NodeType | None:
    """`Procedure`, `PROC`, `stored_procedure` → PROC; None for a word that names no kind."""
    return _KINDS.get(_plain(word))


def relation_of(word: str, target: NodeType) -> tuple[Relation, bool] | None:
    """Our relation, and whether the word reads it backwards (`CalledBy`); None for a word that means none (R27).

    The general words of the producers (`calls`, `uses`, `cs_dep`) become what one can do with `target`: a table is
    read, a procedure executed, a type used, a method called.
    """
    return (_use_of(target), False) if _plain(word) in _BY_TARGET else _named(word)


@lru_cache(maxsize=_CACHED_WORDS)
def _named(word: str) -> tuple[Relation, bool] | None:
    try:
        return named_relation(word)
    except UnknownRelation:
        return None


def _use_of(target: NodeType) -> Relation:
    if target in STORED_ROWS or target in (NodeType.DBSET, NodeType.ENTITY):
        return Relation.READS_FROM
    if target in ROUTINES or target is NodeType.SEQUENCE:
        return Relation.EXECUTES
    if target is NodeType.TYPE:
        return Relation.USES_TYPE
    return Relation.CALLS if target is NodeType.METHOD else Relation.REFERENCES
