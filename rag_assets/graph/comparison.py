"""What came and went between two graphs: nodes by kind, edges by relation. An edge is one relation between two keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_assets.contracts.graph import GraphEdge, NodeType, Relation
from rag_assets.graph.csr_graph import RELATIONS, Graph, Numbers, ResultReader

SHOWN_KINDS = (NodeType.ENDPOINT, NodeType.TABLE, NodeType.VIEW)
"""Nodes that are named one by one: what others outside of the code depend on."""
_CONTAINS = RELATIONS.index(Relation.CONTAINS)


@dataclass(frozen=True, slots=True)
class GraphDifference:
    """What one of two graphs has and the other has not. `named` are the keys of `SHOWN_KINDS`, `nodes` counts by kind,
    `edges` by relation, without Contains; `listed` are edges, those first whose ends both graphs have."""

    named: tuple[str, ...]
    nodes: dict[str, int]
    edges: dict[str, int]
    listed: tuple[GraphEdge, ...]

    @property
    def is_empty(self) -> bool:
        return not self.nodes and not self.edges


@dataclass(frozen=True, slots=True)
class GraphComparison:
    """From an older graph to a newer one."""

    added: GraphDifference
    removed: GraphDifference


def compare_graphs(old: Graph, new: Graph, *, limit: int | None = None) -> GraphComparison:
    """What differs; `limit` bounds the listed edges of each side. Equal graphs differ in nothing."""
    numbers = {key: number for number, key in enumerate(_keys(old))}
    same = np.array([numbers.get(key, -1) for key in _keys(new)], np.int64)
    shared = same >= 0
    absent = np.cumsum(~shared) - 1 + len(old)
    new_numbers = np.where(shared, same, absent)
    old_numbers = np.arange(len(old), dtype=np.int64)
    total = len(old) + int((~shared).sum())
    old_edges, new_edges = _edges(old, old_numbers, total), _edges(new, new_numbers, total)
    kept = np.zeros(len(old), bool)
    kept[same[shared]] = True
    return GraphComparison(
        added=_difference(new, shared, np.flatnonzero(~np.isin(new_edges, old_edges)), limit),
        removed=_difference(old, kept, np.flatnonzero(~np.isin(old_edges, new_edges)), limit),
    )


def _keys(graph: Graph) -> Iterable[bytes]:
    return (graph.keys.raw(number) for number in range(len(graph)))


def _ends(graph: Graph) -> tuple[Numbers, Numbers, Numbers]:
    """Source, relation and target of every edge."""
    arrays = graph.arrays
    numbers = np.arange(graph.edge_count, dtype=np.int64)
    run = np.searchsorted(arrays["out_edges"], numbers, side="right") - 1
    source = np.searchsorted(arrays["out_runs"], run, side="right") - 1
    return source, arrays["out_relation"][run].astype(np.int64), arrays["edge_target"].astype(np.int64)


def _edges(graph: Graph, numbers: Numbers, total: int) -> Numbers:
    """One number for each edge, by the common numbers of its ends; below 2⁶³ for a hundred million nodes."""
    source, relation, target = _ends(graph)
    found: Numbers = (numbers[source] * len(RELATIONS) + relation) * total + numbers[target]
    return found


def _difference(graph: Graph, shared: NDArray[np.bool_], edges: Numbers, limit: int | None) -> GraphDifference:
    source, relation, target = (column[edges] for column in _ends(graph))
    wanted = relation != _CONTAINS
    edges, source, relation, target = (column[wanted] for column in (edges, source, relation, target))
    apart = np.lexsort((edges, relation, ~(shared[source] & shared[target])))
    alone = np.flatnonzero(~shared).tolist()
    kinds = Counter(graph.kind(node).value for node in alone)
    return GraphDifference(
        named=tuple(graph.keys[node] for node in alone if graph.kind(node) in SHOWN_KINDS),
        nodes=dict(sorted(kinds.items())),
        edges=dict(sorted(Counter(RELATIONS[code] for code in relation.tolist()).items())),
        listed=tuple(ResultReader(graph).edges(edges[apart[:limit]])),
    )
