"""A whole graph as flat arrays, both directions: what walks read.

Nodes are numbered in the order of the bytes of their keys, edges in the order of their source. The edges of a node
stand in runs of one relation each, the most telling first, so that a walk takes the beginning of a run and never looks
at the twenty thousand edges of a hub.

    key_bytes, key_ends            texts: one run of UTF-8 and where each begins, the end of the last included;
                                   so too name_*, signature_*, path_*, language_*, word_*
    node_kind, node_language       one code per node
    node_out, node_in              edges in each direction, those of Contains apart
    node_places                    where the places of a node begin: place_path, place_start, place_end
    edge_target, edge_confidence, edge_path, edge_line       one per edge, by source
    out_runs, out_relation, out_edges                        where the runs of a node begin; of each run the relation,
                                                             and where its edges begin
    in_runs, in_relation, in_edges, in_source, in_edge       the same by target; in_edge is the number of the edge
    word_nodes, word_node          where the nodes of a word begin (`graph.lookup`)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_assets.contracts.graph import Confidence, GraphEdge, NodeType, Relation


@dataclass(frozen=True, slots=True)
class Hub:
    """A node with many edges, in and out."""

    key: str
    kind: str
    degree: int


@dataclass(frozen=True, slots=True)
class GraphCounts:
    """Counts of an assembled graph; all mappings are by the value of their enum, without zeros.

    `undeclared` counts the edges of each relation that lead to what the label does not declare; they are not part of
    the graph. `hubs` are the nodes with most edges, the largest first.
    """

    nodes: int
    edges: int
    kinds: dict[str, int] = field(default_factory=dict)
    relations: dict[str, int] = field(default_factory=dict)
    confidences: dict[str, int] = field(default_factory=dict)
    undeclared: dict[str, int] = field(default_factory=dict)
    hubs: tuple[Hub, ...] = ()

    @property
    def unresolved_share(self) -> float:
        """The share of all edges whose target is not certain to exist: known by name only, or not declared."""
        outside = sum(self.undeclared.values())
        found = self.edges + outside
        return (self.confidences.get("name-only", 0) + outside) / found if found else 0.0


def by_count(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Highest count first, equal counts by name: the order for Dagster, the command line and JSON."""
    return sorted(counts.items(), key=lambda found: (-found[1], found[0]))


Numbers = NDArray[np.int64]
Arrays = dict[str, NDArray[Any]]

KINDS: tuple[str, ...] = tuple(kind.value for kind in NodeType)
RELATIONS: tuple[str, ...] = tuple(relation.value for relation in Relation)
CONFIDENCES: tuple[str, ...] = tuple(confidence.value for confidence in Confidence)
"""What the codes of the arrays mean; the certain confidence first, so that the lowest code is the best."""

_RELATION = tuple(Relation)
_CONFIDENCE = tuple(Confidence)
_KIND = tuple(NodeType)

OUT, IN = 0, 1


def steps_over(side: int, *relations: Relation) -> NDArray[np.bool_]:
    """The steps of a walk over some relations, or all, from a node (OUT) or to it (IN)."""
    allowed = np.zeros((2, len(RELATIONS)), np.bool_)
    allowed[side, [RELATIONS.index(one.value) for one in relations] or slice(None)] = True
    return allowed


@dataclass(frozen=True, slots=True)
class NodeLocation:
    """Where (a part of) a node is declared; lines are 1-based and inclusive."""

    path: str
    line_start: int
    line_end: int


@dataclass(frozen=True, slots=True)
class Frontier:
    """Steps from the nodes of a frontier, one row each: where in the frontier it begins, the node it leads to, the
    number of its edge, its side (OUT or IN), its relation, and how many edges its run has."""

    origin: Numbers
    node: Numbers
    edge: Numbers
    side: Numbers
    relation: Numbers
    run: Numbers


@dataclass(frozen=True, slots=True)
class TruncatedFanOut:
    """A run that was followed only in part."""

    node: int
    side: int
    relation: Relation
    followed: int
    total: int


class PackedTexts:
    """Texts that stand one after the other in a run of UTF-8."""

    __slots__ = ("_bytes", "_ends")

    def __init__(self, content: NDArray[np.uint8], ends: NDArray[np.int64]) -> None:
        self._bytes = memoryview(np.asarray(content).data)
        self._ends = memoryview(np.asarray(ends).data)

    def __len__(self) -> int:
        return len(self._ends) - 1

    def raw(self, number: int) -> bytes:
        return bytes(self._bytes[self._ends[number] : self._ends[number + 1]])

    def __getitem__(self, number: int) -> str:
        return str(self._bytes[self._ends[number] : self._ends[number + 1]], "utf-8", "replace")

    def __iter__(self) -> Iterator[str]:
        content = bytes(self._bytes)
        return (content[start:end].decode("utf-8", "replace") for start, end in pairwise(self._ends.tolist()))

    def find(self, text: str) -> int:
        """The number of a text among ascending ones, -1 where it is not there; O(log n)."""
        wanted = text.encode("utf-8", "replace")
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self.raw(middle) < wanted:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self) and self.raw(low) == wanted else -1


class Graph:
    """The graph of one generation of one label, for reading. Nodes are known by number; `find` gives it for a key."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], relations: Mapping[Relation, int] | None = None) -> None:
        """`arrays` are those of `graph.build`; `relations` counts the edges by relation where that is known."""
        self.arrays = {name: np.asarray(values) for name, values in arrays.items()}  # memory-mapped ones index slowly
        self._relations = None if relations is None else dict(relations)
        self.keys = self._texts("key")
        self.names = self._texts("name")
        self.words = self._texts("word")
        self.paths = self._texts("path")
        self._languages = self._texts("language")
        self._signatures = self._texts("signature")
        self.degree = np.stack((self.arrays["node_out"], self.arrays["node_in"]))  # by side
        self.kinds = self.arrays["node_kind"]
        self.confidence = self.arrays["edge_confidence"]

    def _texts(self, name: str) -> PackedTexts:
        return PackedTexts(self.arrays[f"{name}_bytes"], self.arrays[f"{name}_ends"])

    def __len__(self) -> int:
        """How many nodes there are."""
        return len(self.keys)

    @property
    def edge_count(self) -> int:
        return len(self.arrays["edge_target"])

    @property
    def relations(self) -> dict[Relation, int]:
        """How many edges each relation has; one without any is absent."""
        if self._relations is None:
            sizes = np.diff(self.arrays["out_edges"])
            totals = np.bincount(self.arrays["out_relation"], sizes, len(_RELATION))
            self._relations = {relation: int(totals[code]) for code, relation in enumerate(_RELATION) if totals[code]}
        return dict(self._relations)

    def find(self, key: str) -> int | None:
        """The number of the node with exactly this key."""
        number = self.keys.find(key)
        return None if number < 0 else number

    def kind(self, node: int) -> NodeType:
        return _KIND[int(self.kinds[node])]

    def language(self, node: int) -> str:
        return self._languages[self.arrays["node_language"][node]]

    def are_in(self, language: str, nodes: Numbers) -> NDArray[np.bool_]:
        """Of each node whether it is of a language."""
        found: NDArray[np.bool_] = self.arrays["node_language"][nodes] == self._languages.find(language)
        return found

    def signature(self, node: int) -> str:
        return self._signatures[node]

    def places(self, node: int) -> tuple[NodeLocation, ...]:
        """Where a node is declared, by path and line; several for a partial type, none for what is only referred to."""
        return ResultReader(self).places(np.array([node]))[0]

    def edge(self, number: int) -> GraphEdge:
        """An edge by its number, as it was found."""
        return ResultReader(self).edges(np.array([number]))[0]

    def edges_of(self, nodes: int | Numbers, side: int, *relations: Relation) -> list[GraphEdge]:
        """The edges of some relations from nodes (OUT) or to them (IN), without loops."""
        return ResultReader(self).edges(self.reach(np.atleast_1d(nodes), steps_over(side, *relations))[0].edge)

    def contained(self, node: int) -> list[int]:
        """The nodes that a node contains, as far as the graph has them."""
        edges = self.edges_of(node, OUT, Relation.CONTAINS)
        return [inner for edge in edges if (inner := self.find(edge.target)) is not None]

    def reach(
        self, frontier: Numbers, allowed: NDArray[np.bool_], limit: int | None = None
    ) -> tuple[Frontier, list[TruncatedFanOut]]:
        """All steps from the nodes of `frontier` that `allowed[side, relation]` permits, without loops on one node.

        With a `limit`, no more than that many of each run, the most telling ones, and which runs were cut. The cost is
        that of the steps given, whatever the degree of the nodes.
        """
        halves, cut = [], []
        for side in (OUT, IN):
            half, cut_here = self._one_side(frontier, allowed, side, limit)
            halves.append(half)
            cut += cut_here
        both = Frontier(*(np.concatenate(parts) for parts in zip(*map(_columns, halves), strict=True)))
        return both, cut

    def _one_side(
        self, frontier: Numbers, allowed: NDArray[np.bool_], side: int, limit: int | None
    ) -> tuple[Frontier, list[TruncatedFanOut]]:
        arrays, name = self.arrays, ("out", "in")[side]
        runs, relations, edges = arrays[f"{name}_runs"], arrays[f"{name}_relation"], arrays[f"{name}_edges"]
        run, owner = spans(runs[frontier], runs[frontier + 1])
        permitted = allowed[side][relations[run]]
        run, owner = run[permitted], owner[permitted]
        start, size = edges[run], edges[run + 1] - edges[run]
        followed = size if limit is None else np.minimum(size, limit)
        at, which = spans(start, start + followed)
        origin = owner[which]
        if side == OUT:
            edge, node = at, arrays["edge_target"][at].astype(np.int64)
        else:
            edge, node = arrays["in_edge"][at].astype(np.int64), arrays["in_source"][at].astype(np.int64)
        away = node != frontier[origin]
        relation = relations[run][which].astype(np.int64)
        reach = Frontier(
            origin[away], node[away], edge[away], np.full(int(away.sum()), side), relation[away], size[which][away]
        )
        cut = [
            TruncatedFanOut(int(frontier[owner[i]]), side, _RELATION[relations[run[i]]], int(followed[i]), int(size[i]))
            for i in np.flatnonzero(followed < size)
        ]
        return reach, cut


class ResultReader:
    """Nodes and edges of one result as objects. A result has few nodes and paths, each in many edges, so their texts
    are decoded once, and numbers are taken from the arrays for all at once."""

    __slots__ = ("_graph", "_keys", "_paths")

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._keys: dict[int, str] = {}
        self._paths: dict[int, str] = {}

    def key(self, node: int) -> str:
        found = self._keys.get(node)
        if found is None:
            found = self._keys[node] = self._graph.keys[node]
        return found

    def edges(self, numbers: Numbers) -> list[GraphEdge]:
        arrays, key, path = self._graph.arrays, self.key, self._path
        run = np.searchsorted(arrays["out_edges"], numbers, side="right") - 1
        source = np.searchsorted(arrays["out_runs"], run, side="right") - 1
        names = ("edge_target", "edge_confidence", "edge_path", "edge_line")
        columns = (source, arrays["out_relation"][run], *(arrays[name][numbers] for name in names))
        return [
            GraphEdge(key(source), _RELATION[relation], key(target), _CONFIDENCE[doubt], path(at), line)
            for source, relation, target, doubt, at, line in zip(*(c.tolist() for c in columns), strict=True)
        ]

    def places(self, nodes: Numbers) -> list[tuple[NodeLocation, ...]]:
        """The places of each node, by path and line."""
        arrays, path = self._graph.arrays, self._path
        starts, ends = arrays["node_places"][nodes], arrays["node_places"][nodes + 1]
        at, _ = spans(starts, ends)
        columns = (arrays[name][at].tolist() for name in ("place_path", "place_start", "place_end"))
        places = iter([NodeLocation(path(number), start, end) for number, start, end in zip(*columns, strict=True)])
        return [tuple(islice(places, size)) for size in (ends - starts).tolist()]

    def _path(self, number: int) -> str:
        found = self._paths.get(number)
        if found is None:
            found = self._paths[number] = self._graph.paths[number]
        return found


def spans(starts: NDArray[Any], ends: NDArray[Any]) -> tuple[Numbers, Numbers]:
    """The numbers of all ranges `starts[i]..ends[i]` one after the other, and the range that each belongs to."""
    sizes = (ends - starts).astype(np.int64)
    which = np.repeat(np.arange(len(sizes)), sizes)
    before = np.cumsum(sizes) - sizes
    return np.arange(len(which)) + (starts.astype(np.int64) - before)[which], which


def _columns(reach: Frontier) -> tuple[Numbers, ...]:
    return reach.origin, reach.node, reach.edge, reach.side, reach.relation, reach.run
