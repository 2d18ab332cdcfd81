"""Nodes and edges of an import while it is read: each once, with the places that the label knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from operator import attrgetter

from rag_assets.contracts.graph import Confidence, GraphEdge, GraphNode, NodeType, Relation, key_kind
from rag_assets.graph.imports.imported_graph import Coverage, ImportedGraph, Problems, commit_problem
from rag_assets.graph.imports.key_parser import key_parts
from rag_assets.graph.imports.label_symbols import LabelSymbols

_SQL = "sql"

EDGE_ORDER = attrgetter("source", "relation", "target", "confidence", "path", "line")
"""The order of `GraphEdge` itself; as tuples a million of them are sorted in a third of the time."""


class ImportBuilder:
    def __init__(self, known: LabelSymbols) -> None:
        self.known = known
        self.counts: Counter[str] = Counter()
        self._nodes: dict[str, tuple[GraphNode, ...]] = {}
        self._edges: dict[tuple[str, Relation, str, str], GraphEdge] = {}

    def __bool__(self) -> bool:
        return bool(self._nodes or self._edges)

    @property
    def nodes(self) -> Mapping[str, tuple[GraphNode, ...]]:
        """The places of each key."""
        return self._nodes

    def paths_of(self, kinds: Iterable[NodeType]) -> tuple[frozenset[str], frozenset[str]]:
        """(keys, paths) of the nodes of these kinds that have a file."""
        wanted = frozenset(kinds)
        placed = [node for places in self._nodes.values() for node in places if node.kind in wanted and node.path]
        return frozenset(node.key for node in placed), frozenset(node.path for node in placed)

    def relations(self) -> frozenset[Relation]:
        return frozenset(edge.relation for edge in self._edges.values())

    def add_node(self, node: GraphNode) -> None:
        """The node itself, or the places that the label knows of its key: these have lines and signatures."""
        if node.key in self._nodes:
            return
        places = self.known.places(node.key)
        self.counts["nodes matched" if places else "nodes new"] += 1
        self._nodes[node.key] = places or (node,)

    def add_edge(self, edge: GraphEdge) -> None:
        """Of equal edges of a file the best confidence and the lowest line that is known."""
        place = (edge.source, edge.relation, edge.target, edge.path)
        before = self._edges.get(place)
        self._edges[place] = edge if before is None else better(before, edge)

    def graph(self, location: str, problems: Problems, coverage: Iterable[Coverage], commit: str) -> ImportedGraph:
        warning = commit_problem(commit, self.known.commit)
        said = problems.texts()
        self.counts["edges"] = len(self._edges)
        return ImportedGraph(
            nodes=tuple(sorted(node for places in self._nodes.values() for node in places)),
            edges=tuple(sorted(self._edges.values(), key=EDGE_ORDER)),
            problems=(f"{location}: {warning}", *said) if warning else said,
            counts=dict(sorted(self.counts.items())),
            coverage=tuple(coverage),
            commit=commit,
        )


_RANK = {Confidence.RESOLVED: 0, Confidence.PROBABLE: 1, Confidence.NAME_ONLY: 2}


def better(one: GraphEdge, other: GraphEdge) -> GraphEdge:
    """One edge of two that say the same: the higher confidence, and the lowest place that has a line."""
    confidence = min(one.confidence, other.confidence, key=_RANK.__getitem__)
    place = min(one, other, key=lambda edge: (edge.line == 0, edge.path == "", edge.path, edge.line))
    return GraphEdge(one.source, one.relation, one.target, confidence, place.path, place.line)


def is_higher(one: Confidence, other: Confidence) -> bool:
    return _RANK[one] < _RANK[other]


def new_node(key: str, name: str, path: str) -> GraphNode:
    """A node that the label does not declare."""
    parts = key_parts(key)
    return GraphNode(key, key_kind(key), name, path, language=(parts.language or _SQL) if parts is not None else "")
