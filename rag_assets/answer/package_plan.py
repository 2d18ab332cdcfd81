"""Which projects use a package: the manifests and project files that name it."""

from __future__ import annotations

import shlex
from dataclasses import replace

import numpy as np

from rag_assets.answer.graph_facts import MOST_FACTS, GraphFact, GraphFacts, fact_of, facts_at, named_nodes, seen_of
from rag_assets.contracts.graph import NodeType, Relation, key_kind
from rag_assets.graph.csr_graph import IN, RELATIONS, Graph, ResultReader
from rag_assets.graph.lookup import short_name
from rag_assets.search.index import LabelIndex
from rag_assets.search.ranking.penalties import non_product_code


def users_of_package(
    index: LabelIndex, graph: Graph, name: str, *, is_package: bool
) -> tuple[GraphFacts, dict[GraphFact, str]]:
    """The files that refer to a package: nothing if something else is called so, unless a package is asked for."""
    packages = named_nodes(graph, (f"{name}|{NodeType.PACKAGE}" if is_package else name,))
    if not is_package and name.isalpha() and name.islower():  # `core` ends many names, and is a word
        packages = tuple(key for key in packages if short_name(key).casefold() == name)
    if not packages or any(key_kind(key) is not NodeType.PACKAGE for key in packages):
        return GraphFacts(), {}
    referring = np.zeros((2, len(RELATIONS)), np.bool_)
    referring[IN, RELATIONS.index(Relation.REFERENCES.value)] = True
    nodes = np.array([node for key in packages if (node := graph.find(key)) is not None])
    edges = seen_of(ResultReader(graph).edges(graph.reach(nodes, referring)[0].edge), index)
    edges.sort(key=lambda one: (non_product_code(one.path) is not None, one.path, one.line))
    names = {edge.source: edge.path for edge in edges}
    facts = tuple(replace(fact_of(edge, names), target=short_name(edge.target)) for edge in edges)
    at = facts_at(facts[:MOST_FACTS], index)
    return GraphFacts(tuple(at), len(facts), command=f"graph impact {shlex.quote(name)}"), at
