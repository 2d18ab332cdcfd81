"""How one thing leads to another: the edges of the graph on the way from one to the other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.answer.graph_facts import GraphFact, GraphFacts, fact_of, facts_at, named_nodes
from rag_assets.contracts.graph import NodeType, Relation
from rag_assets.graph.csr_graph import KINDS, OUT
from rag_assets.graph.lookup import short_name
from rag_assets.graph.paths import paths
from rag_assets.graph.relations import Direction, WalkStep

if TYPE_CHECKING:
    from rag_assets.answer.structure.questions import FlowAsked
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.search.index import LabelIndex

_DATABASE = re.compile(r"(?:the )?(?:database|db|data ?base)", re.IGNORECASE)
_BOTH_WAYS = (Relation.IMPLEMENTS, Relation.OVERRIDES, Relation.MAPS_TO)
_NO_WAY = (Relation.CONTAINS, Relation.MENTIONS, Relation.TESTS, Relation.SYNONYM_FOR)
"""A method leads to what it calls, and not to the other members of its type."""
_ONWARDS = tuple(
    WalkStep(relation, Direction.BOTH if relation in _BOTH_WAYS else Direction.OUT)
    for relation in Relation
    if relation not in _NO_WAY
)
_ANYHOW = tuple(WalkStep(relation) for relation in Relation if relation not in _NO_WAY)


def flow_facts(index: LabelIndex, graph: Graph, wanted: FlowAsked) -> tuple[GraphFacts, dict[GraphFact, str], str]:
    """The steps from one thing to the other; and that there is no way, where both are known."""
    starts, ends = (_nodes(graph, name) for name in (wanted.start, wanted.end))
    if not starts or not ends:
        return GraphFacts(), {}, ""
    found = paths(graph, starts, ends, steps=_ONWARDS, count=1)
    if not found and wanted.either:
        found = paths(graph, ends, starts, steps=_ONWARDS, count=1)
        found = found or paths(graph, starts, ends, steps=_ANYHOW, count=1)
    if not found:
        return GraphFacts(), {}, f"nothing that the graph knows leads from {wanted.start} to {wanted.end}"
    (way,) = found
    names = {key: short_name(key) for key in way.keys}
    facts = list(dict.fromkeys(fact_of(step.edge, names) for step in way.steps if step.edge.path))
    at = facts_at(facts, index)
    heading = f"**From {wanted.start} to {wanted.end}:**\n"
    return GraphFacts(tuple(at), len(at), heading), at, ""


def _nodes(graph: Graph, name: str) -> Sequence[int]:
    """What a name means, of a type its members too."""
    if _DATABASE.fullmatch(name):
        kinds = [KINDS.index(kind.value) for kind in (NodeType.TABLE, NodeType.DBSET)]
        tables: list[int] = np.flatnonzero(np.isin(graph.kinds, kinds)).tolist()
        return tables
    keys = list(named_nodes(graph, [name]))
    named = [node for key in keys if (node := graph.find(key)) is not None]
    edges = (edge for node in named for edge in graph.edges_of(node, OUT, Relation.CONTAINS))
    return [*named, *(node for edge in edges if (node := graph.find(edge.target)) is not None)]
