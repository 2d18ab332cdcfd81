"""How one thing leads to another: the edges of the graph on the way from one to the other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.answer.graph_facts import FactsOrAbsent, GraphFacts, fact_of, facts_at, named_nodes
from rag_assets.contracts.graph import NodeType, Relation, key_kind
from rag_assets.graph.csr_graph import KINDS
from rag_assets.graph.lookup import short_name
from rag_assets.graph.paths import paths
from rag_assets.graph.relations import Direction, WalkStep

if TYPE_CHECKING:
    from rag_assets.answer.structure.questions import FlowAsked
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.search.index import LabelIndex

_DATABASE = re.compile(r"(?:the )?(?:database|db|data ?base)", re.IGNORECASE)
_DIRECTIONS = {
    Relation.MAPS_TO: Direction.BOTH,
    Relation.IMPLEMENTS: Direction.IN,
    Relation.OVERRIDES: Direction.IN,
}
"""An interface leads to what implements it, and not from there to its other implementations."""
_NO_WAY = (Relation.CONTAINS, Relation.MENTIONS, Relation.TESTS, Relation.SYNONYM_FOR)
"""A method leads to what it calls, and not to the other members of its type."""
_ONWARDS = tuple(
    WalkStep(relation, _DIRECTIONS.get(relation, Direction.OUT)) for relation in Relation if relation not in _NO_WAY
)


def flow_facts(index: LabelIndex, graph: Graph, wanted: FlowAsked) -> FactsOrAbsent:
    """The steps from one thing to the other; and that there is no way, where both are known."""
    starts, ends = (_nodes(graph, name, wanted.either) for name in (wanted.start, wanted.end))
    if not starts or not ends:
        return GraphFacts(), {}, ""
    found = paths(graph, starts, ends, steps=_ONWARDS, count=1)
    if not found and wanted.either:
        found = paths(graph, ends, starts, steps=_ONWARDS, count=1)
    nowhere = f"nothing that the graph knows leads from {wanted.start} to {wanted.end}"
    if not found:
        return GraphFacts(), {}, "" if wanted.either else nowhere
    (way,) = found
    names = {key: short_name(key) for key in way.keys}
    facts = list(dict.fromkeys(fact_of(step.edge, names) for step in way.steps if step.edge.path))
    at = facts_at(facts, index)
    if index.is_narrowed and len(at) < len(facts):
        return GraphFacts(), {}, f"{nowhere} within the filter"
    heading = f"**From {wanted.start} to {wanted.end}:**\n"
    return GraphFacts(tuple(at), len(at), heading), at, ""


def _nodes(graph: Graph, name: str, either: bool) -> Sequence[int]:
    """What a name means, of a type its members too; of a word of prose only what is declared as just that."""
    if _DATABASE.fullmatch(name):
        kinds = [KINDS.index(kind.value) for kind in (NodeType.TABLE, NodeType.DBSET)]
        tables: list[int] = np.flatnonzero(np.isin(graph.kinds, kinds)).tolist()
        return tables
    keys = list(named_nodes(graph, [name]))
    if name.isalpha() and name.islower():
        kinds_of_word = (NodeType.TYPE, NodeType.TABLE if either else NodeType.METHOD)
        keys = [key for key in keys if key_kind(key) in kinds_of_word]
        of_table = f".{name}|{NodeType.TABLE}"
        keys = [key for key in keys if short_name(key) == name or key.endswith(of_table)]
    named = [node for key in keys if (node := graph.find(key)) is not None]
    return [*named, *(member for node in named for member in graph.contained(node))]
