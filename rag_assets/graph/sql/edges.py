"""The edges that the references to objects in a piece of SQL make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rag_assets.contracts.graph import Confidence, GraphEdge, NodeType, Relation, key_kind
from rag_assets.languages.sql.label_objects import SqlSymbols
from rag_assets.languages.sql.name_resolution import ROUTINES, TABLES, targets_of
from rag_assets.languages.sql.references import ObjectReference, SqlUse

_ANYTHING = (*TABLES, NodeType.PROC, NodeType.FUNC, NodeType.SEQUENCE)
_DROPPED: dict[str, tuple[NodeType, ...]] = {
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
_MEANINGS: dict[tuple[SqlUse, str], tuple[tuple[Relation, tuple[NodeType, ...]], ...]] = {
    (SqlUse.READS, ""): ((Relation.READS_FROM, TABLES),),
    (SqlUse.WRITES, ""): ((Relation.WRITES_TO, TABLES),),
    (SqlUse.EXECUTES, ""): ((Relation.EXECUTES, ROUTINES),),
    (SqlUse.USES, ""): ((Relation.USES_TYPE, (NodeType.SQL_TYPE,)), (Relation.REFERENCES, (NodeType.SEQUENCE,))),
    (SqlUse.REFERENCES, ""): ((Relation.FOREIGN_KEY, (NodeType.TABLE,)),),
    (SqlUse.ON, ""): ((Relation.ON, TABLES),),
    (SqlUse.SYNONYM_FOR, ""): ((Relation.SYNONYM_FOR, _ANYTHING),),
    (SqlUse.ALTERS, "TABLE"): ((Relation.SCHEMA_CHANGE, TABLES),),
    **{(SqlUse.DROPS, word): ((Relation.SCHEMA_CHANGE, kinds),) for word, kinds in _DROPPED.items()},
}
"""Use and word after ALTER or DROP → the relations that a reference makes and the kinds of nodes they lead to. ALTER of
anything but a table defines the object again: that is no change of another one."""

_MAY_LOOP = frozenset({Relation.FOREIGN_KEY, Relation.USES_TYPE, Relation.REFERENCES})
"""Relations that may lead from a node to itself."""


def edges_of(
    found: ObjectReference, source: str, symbols: SqlSymbols, path: str, line: int, own: SqlSymbols | None = None
) -> Iterator[GraphEdge]:
    """The edges from `source` that one reference makes; `own` are the objects that its file declares.

    Foreign keys come from tables only.
    """
    for relation, kinds in _MEANINGS.get((found.use, found.kind), ()):
        if relation is Relation.FOREIGN_KEY and key_kind(source) is not NodeType.TABLE:
            continue
        for target in targets_of(found.name.parts, kinds, symbols, own):
            if target.key != source or relation in _MAY_LOOP:
                yield GraphEdge(source, relation, target.key, target.confidence, path, line)


def first_references(references: Iterable[ObjectReference]) -> Iterable[ObjectReference]:
    """Of equal references, in text order, only the first: the others would make the same edges at later lines."""
    kept: dict[tuple[SqlUse, str, tuple[str, ...]], ObjectReference] = {}
    for found in references:
        kept.setdefault((found.use, found.kind, found.name.parts), found)
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
