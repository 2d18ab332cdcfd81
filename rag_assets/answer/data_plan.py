"""The data plan: in which table an entity is kept, who writes it and who reads it, as far as the graph knows.

An entity is a class, a set of a context and a table; statements write and read any of them. So all that maps to each
other is one thing here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.answer.graph_facts import GraphFact, GraphFacts, fact_of, facts_at, seen_of
from rag_assets.answer.plans import ListedNode, places_of
from rag_assets.answer.question_analysis import READ, STORED, WRITTEN, DataAsked, root
from rag_assets.contracts.graph import GraphEdge, NodeType, Relation, key_kind
from rag_assets.graph.csr_graph import IN, KINDS, OUT, RELATIONS, Graph, Numbers, ResultReader
from rag_assets.graph.lookup import short_name
from rag_assets.identifiers import identifier_words
from rag_assets.search.ranking.penalties import non_product_code

if TYPE_CHECKING:
    from rag_assets.search.index import LabelIndex

_KINDS = [
    KINDS.index(kind.value)
    for kind in (NodeType.ENTITY, NodeType.DBSET, NodeType.TABLE, NodeType.TABLE_OR_VIEW, NodeType.VIEW)
]
_ENTITY = KINDS.index(NodeType.ENTITY.value)
_HOPS = 2  # from a set over its entity to the table
_MOST_EACH, _MOST_ASKED = 4, 8
_RELATION = {Relation.MAPS_TO: STORED, Relation.WRITES_TO: WRITTEN, Relation.READS_FROM: READ}


def data_facts(index: LabelIndex, graph: Graph, asked: DataAsked) -> tuple[GraphFacts, dict[GraphFact, str]]:
    """Where the thing is kept, who writes and who reads it, with the points that show it; nothing where the graph does
    not know what is asked first."""
    nodes = _meant(graph, asked.words)
    edges = seen_of(_edges(graph, nodes), index)
    groups = [asked.first, *(group for group in _RELATION.values() if group != asked.first)]
    made: list[GraphFact] = []
    for group in groups:
        told: dict[str, GraphEdge] = {}
        for edge in edges:
            if _RELATION[edge.relation] == group:
                told.setdefault(edge.target if group == STORED else edge.source, edge)
        most = _MOST_ASKED if group == asked.first else _MOST_EACH
        shown = list(told.values())[:most]
        title = group if len(shown) == len(told) else f"{group} ({len(shown)} of {len(told)})"
        names = {edge.source: short_name(edge.source) for edge in shown}  # of files and routes
        made += [replace(fact_of(edge, names), group=title) for edge in shown]
        if group == STORED and not shown:
            made += [replace(table.fact, group=group) for table in seen_of(_tables(graph, nodes), index)[:most]]
        if not made:
            return GraphFacts(), {}
    at = facts_at(made, index)
    return GraphFacts(tuple(at), len(at)), at


def _meant(graph: Graph, words: Sequence[str]) -> Numbers:
    """The entities, sets, tables and views that are called so, and all that these map to."""
    wanted = set(words)
    named = [
        node
        for node in np.flatnonzero(np.isin(graph.kinds, _KINDS)).tolist()
        if wanted and {root(word) for word in identifier_words(graph.names[node].rpartition(".")[2])} == wanted
    ]
    to, of = np.zeros((2, 2, len(RELATIONS)), np.bool_)
    to[OUT, RELATIONS.index(Relation.MAPS_TO.value)] = of[IN, RELATIONS.index(Relation.MAPS_TO.value)] = True
    known = np.array(named, np.int64)
    for _ in range(_HOPS if named else 0):
        entities = known[graph.kinds[known] == _ENTITY]  # where there are some: a table has those of owned types too
        of_these = entities if len(entities) else known
        reached = np.concatenate([graph.reach(known, to)[0].node, graph.reach(of_these, of)[0].node])
        known = np.union1d(known, reached[np.isin(graph.kinds[reached], _KINDS)])
    return known


def entity_called(graph: Graph, words: Sequence[str]) -> str:
    """The type behind the table, or the set of a context, that is called so; '' where several are, or none."""
    names = {graph.names[node] for node in _meant(graph, words).tolist() if graph.kinds[node] == _ENTITY}
    return names.pop() if len(names) == 1 else ""


def _tables(graph: Graph, nodes: Numbers) -> list[ListedNode]:
    """The tables among some nodes, where they are created."""
    return list(places_of(graph, nodes[graph.kinds[nodes] == KINDS.index(NodeType.TABLE.value)]))


def _edges(graph: Graph, nodes: Numbers) -> list[GraphEdge]:
    """What writes and reads the nodes, and what they map to: the product first, and its code before its scripts."""
    allowed = np.zeros((2, len(RELATIONS)), np.bool_)
    allowed[IN, [RELATIONS.index(one.value) for one in (Relation.WRITES_TO, Relation.READS_FROM)]] = True
    allowed[OUT, RELATIONS.index(Relation.MAPS_TO.value)] = True
    reach, _ = graph.reach(nodes, allowed)
    kept = (reach.side == IN) | np.isin(graph.kinds[reach.node], _KINDS)
    edges = [edge for edge in ResultReader(graph).edges(np.unique(reach.edge[kept])) if edge.path]

    def order(edge: GraphEdge) -> tuple[object, ...]:
        is_script = key_kind(edge.source) is NodeType.FILE
        return non_product_code(edge.path) is not None, is_script, edge.path, edge.line, edge

    return sorted(edges, key=order)
