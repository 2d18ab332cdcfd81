"""The edges that the mentions of objects in a piece of SQL make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rag_assets.contracts.graph import Confidence, GraphEdge, NodeType, Relation, key_kind
from rag_assets.descriptions.facts.sql_uses import SqlMention, SqlUse
from rag_assets.graph.sql.symbols import SqlSymbols
from rag_assets.graph.sql.targets import ROUTINES, TABLES, targets_of

_ANYTHING = (*TABLES, NodeType.PROC, NodeType.FUNC, NodeType.SEQUENCE)
_MEANINGS: dict[SqlUse, tuple[Relation, tuple[NodeType, ...]]] = {
    SqlUse.READS: (Relation.READS_FROM, TABLES),
    SqlUse.WRITES: (Relation.WRITES_TO, TABLES),
    SqlUse.EXECUTES: (Relation.EXECUTES, ROUTINES),
    SqlUse.REFERENCES: (Relation.FOREIGN_KEY, (NodeType.TABLE,)),
    SqlUse.ON: (Relation.ON, TABLES),
    SqlUse.SYNONYM_FOR: (Relation.SYNONYM_FOR, _ANYTHING),
}
_OBJECTS: dict[str, tuple[NodeType, ...]] = {
    "TABLE": TABLES,
    "VIEW": (NodeType.VIEW,),
    "PROC": (NodeType.PROC,),
    "PROCEDURE": (NodeType.PROC,),
    "FUNCTION": (NodeType.FUNC,),
    "TYPE": (NodeType.SQL_TYPE,),
    "SEQUENCE": (NodeType.SEQUENCE,),
    "SYNONYM": (NodeType.SYNONYM,),
    "TRIGGER": (NodeType.TRIGGER,),
}
"""What a word after ALTER or DROP means."""


def meaning_of(mention: SqlMention) -> tuple[Relation, tuple[NodeType, ...]] | None:
    """The relation that a mention makes and the kinds of nodes it may lead to; None where it makes none.

    ALTER of anything but a table defines the object again: that is no change of another one.
    """
    if mention.use is SqlUse.ALTERS:
        return (Relation.SCHEMA_CHANGE, TABLES) if mention.kind == "TABLE" else None
    if mention.use is SqlUse.DROPS:
        kinds = _OBJECTS.get(mention.kind)
        return (Relation.SCHEMA_CHANGE, kinds) if kinds is not None else None
    return _MEANINGS.get(mention.use)


def edges_of(
    mention: SqlMention, source: str, symbols: SqlSymbols, path: str, line: int, own: SqlSymbols | None = None
) -> Iterator[GraphEdge]:
    """The edges from `source` that one mention makes; `own` are the objects that its file declares.

    Foreign keys come from tables only; nothing but a foreign key leads from a node to itself.
    """
    parts = mention.name.parts
    if mention.use is SqlUse.USES:
        for kind, relation in ((NodeType.SQL_TYPE, Relation.USES_TYPE), (NodeType.SEQUENCE, Relation.REFERENCES)):
            for target in targets_of(parts, (kind,), symbols, own):
                yield GraphEdge(source, relation, target.key, target.confidence, path, line)
        return
    meaning = meaning_of(mention)
    if meaning is None:
        return
    relation, kinds = meaning
    if relation is Relation.FOREIGN_KEY and key_kind(source) is not NodeType.TABLE:
        return
    for target in targets_of(parts, kinds, symbols, own):
        if target.key != source or relation is Relation.FOREIGN_KEY:
            yield GraphEdge(source, relation, target.key, target.confidence, path, line)


def first_mentions(mentions: Iterable[SqlMention]) -> Iterable[SqlMention]:
    """Of equal mentions, in text order, only the first: the others would make the same edges at later lines."""
    kept: dict[tuple[SqlUse, str, tuple[str, ...]], SqlMention] = {}
    for mention in mentions:
        kept.setdefault((mention.use, mention.kind, mention.name.parts), mention)
    return kept.values()


_ORDER = {Confidence.RESOLVED: 0, Confidence.PROBABLE: 1, Confidence.NAME_ONLY: 2}


def once(edges: Iterable[GraphEdge]) -> Iterator[GraphEdge]:
    """Each edge of one file once, at its first line, with the best of its confidences; in the order of the first."""
    kept: dict[tuple[str, Relation, str], GraphEdge] = {}
    for edge in edges:
        same = (edge.source, edge.relation, edge.target)
        known = kept.get(same)
        if known is None:
            kept[same] = edge
        elif (edge.line, _ORDER[edge.confidence]) != (known.line, _ORDER[known.confidence]):
            best = min(edge.confidence, known.confidence, key=_ORDER.__getitem__)
            kept[same] = GraphEdge(*same, best, edge.path, min(edge.line, known.line))
    yield from kept.values()
