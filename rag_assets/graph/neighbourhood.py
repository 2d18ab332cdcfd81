"""What is around some nodes, the most relevant first: the context of search hits (D19, D20).

Relevance begins with the weight of an entry and is multiplied at every step by what the step is worth: by relation and
direction, by confidence, by how many edges of that relation leave the node, and by how connected the node is that it
leads to. Each factor is below 1, so the most relevant nodes always hang together, and the best N are found exactly by
following the best N of each round and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_assets.contracts.graph import GraphEdge, NodeType, Relation
from rag_assets.errors import RagAssetsError
from rag_assets.graph.csr_graph import (
    IN,
    KINDS,
    OUT,
    Frontier,
    Graph,
    NodeLocation,
    Numbers,
    ResultReader,
    TruncatedFanOut,
)
from rag_assets.graph.edge_weights import Floats, arrival, common, first_rows, permitted, step_worth
from rag_assets.graph.relations import ALL_STEPS, Direction, WalkStep, check_against

DEFAULT_DEPTH = 2
DEFAULT_NODES = 120
"""The defaults of the seeds: two steps explain a hit, and 120 nodes fit a prompt."""

HUB_EDGES = 64
"""Edges of one relation and direction that are followed from a node. Relevance falls with their number, so the 65th of
a hub hardly ever is among the best 120; and a hub costs no more than any other node."""

_PER_HOP = 0.8
"""What is left with every hop: without it a chain of the best steps would never end."""


class WalkError(RagAssetsError, ValueError):
    """Bounds or weights that no walk can have."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A node that was reached. `distance` is the least number of steps from an entry (0: an entry); `score` falls from
    1 to 0; `via` is the edge by which its score came, None for an entry."""

    key: str
    kind: NodeType
    name: str
    distance: int
    score: float
    places: tuple[NodeLocation, ...] = ()
    signature: str = ""
    via: GraphEdge | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """A node whose edges of one relation were too many: `followed` of `total`, the most telling ones."""

    key: str
    relation: Relation
    direction: Direction
    followed: int
    total: int


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """`nodes` by relevance; `edges` between them in the order of their ends. `left_out` counts the nodes that were
    reached but not kept, `cut` names the hubs, `unknown` the entries that the graph does not have, and `warnings` says
    what the caller should know of his allow-list (R27)."""

    nodes: tuple[Neighbour, ...]
    edges: tuple[GraphEdge, ...]
    left_out: int = 0
    cut: tuple[Cut, ...] = ()
    unknown: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def neighbourhood(
    graph: Graph,
    entries: Mapping[str, float] | Iterable[str],
    *,
    steps: Sequence[WalkStep] = ALL_STEPS,
    depth: int = DEFAULT_DEPTH,
    nodes: int = DEFAULT_NODES,
    kinds: Collection[NodeType] = (),
    hub_edges: int = HUB_EDGES,
    first: Sequence[WalkStep] = (),
) -> Neighbourhood:
    """The `nodes` most relevant nodes within `depth` steps of the entries, entries included, and all edges of the
    allowed relations between them (D19, D20).

    `entries` are node keys with weights (any positive numbers, as scores of hits are), or keys alike. With `kinds` no
    node of another kind is walked to; entries may be of any. `first` are the steps from the entries, where they are
    others than those after them. The result depends on nothing but the graph and the arguments, not on the order of
    entries. Raises WalkError for a bound below its least value or a weight that is not
    positive.
    """
    _check_bounds(depth, nodes, hub_edges)
    known, unknown = _known(graph, entries)
    allowed = permitted(steps)
    begins = permitted(first) if first else allowed
    walk = _Walk(graph, _mask(kinds), nodes, hub_edges)
    walk.begin(known)
    for hop in range(1, depth + 1):
        if not walk.go(hop, begins if hop == 1 else allowed):
            break
    either = begins | allowed
    reading = ResultReader(graph)
    return Neighbourhood(
        nodes=tuple(walk.neighbours(reading)),
        edges=_edges_among(graph, walk.kept, either[OUT] | either[IN], reading),
        left_out=walk.left_out,
        cut=tuple(_cut(reading, run) for run in walk.cut.values()),
        unknown=unknown,
        warnings=check_against(steps, graph.relations),
    )


def _edges_among(
    graph: Graph, nodes: Numbers, relations: NDArray[np.bool_], reading: ResultReader
) -> tuple[GraphEdge, ...]:
    """All edges of some relations between some nodes, by source, relation and target."""
    inside = np.zeros(len(graph), bool)
    inside[nodes] = True
    outwards = np.zeros((2, len(relations)), bool)
    outwards[OUT] = relations
    ascending = np.sort(nodes)
    reach, _ = graph.reach(ascending, outwards)
    rows = np.flatnonzero(inside[reach.node])
    order = rows[np.lexsort((reach.node[rows], reach.relation[rows], reach.origin[rows]))]
    return tuple(reading.edges(reach.edge[order]))


class _Walk:
    """The rounds of one walk. Per node: its best score, the step it came by, and the hop it was first reached in."""

    def __init__(self, graph: Graph, wanted: NDArray[np.bool_] | None, nodes: int, hub_edges: int) -> None:
        self._graph, self._wanted = graph, wanted
        self._nodes, self._hub_edges = nodes, hub_edges
        self._score = np.zeros(len(graph))
        self._hop = np.full(len(graph), -1, np.int32)
        self._via = np.zeros(len(graph), np.int64)
        self._scratch = np.zeros(len(graph), np.int64)
        self._improved_now = np.zeros(len(graph), bool)
        self._improved: Numbers = np.zeros(0, np.int64)
        self.kept: Numbers = np.zeros(0, np.int64)
        self.cut: dict[tuple[int, int, Relation], TruncatedFanOut] = {}

    @property
    def left_out(self) -> int:
        return int(np.count_nonzero(self._hop >= 0)) - len(self.kept)

    def begin(self, weights: Mapping[int, float]) -> None:
        entries = np.array(sorted(weights), np.int64)
        if len(entries):
            self._score[entries] = np.array([weights[node] for node in entries.tolist()]) / max(weights.values())
            self._hop[entries] = 0
        self._keep(entries)
        self._improved = np.sort(self.kept)

    def go(self, hop: int, allowed: NDArray[np.bool_]) -> bool:
        """One more step from all nodes that have become more relevant; False where there is none."""
        frontier = self._improved
        reach, cut = self._graph.reach(frontier, allowed, self._hub_edges)
        for run in cut:
            self.cut[run.node, run.side, run.relation] = run
        rows = self._better(reach, self._scores(frontier, reach))
        reached = reach.node[rows]
        self._hop[reached[self._hop[reached] < 0]] = hop
        self._via[reached] = reach.edge[rows]
        self._improved_now[reached] = True
        self._keep(np.concatenate((self.kept[~self._improved_now[self.kept]], reached)))
        self._improved = np.sort(self.kept[self._improved_now[self.kept]])
        self._improved_now[reached] = False
        return bool(len(self._improved))

    def _scores(self, frontier: Numbers, reach: Frontier) -> Floats:
        worth = step_worth(self._graph, reach) * common(reach.run) * arrival(self._graph, reach)
        found: Floats = self._score[frontier][reach.origin] * worth * _PER_HOP
        return found

    def _better(self, reach: Frontier, score: Floats) -> Numbers:
        """Sets the scores of the nodes that become more relevant, and gives the step that each of them came by. Equal
        steps are decided by the order of `reach`: out before in, then by key of the node they come from."""
        if self._wanted is not None:
            score = np.where(self._wanted[self._graph.kinds[reach.node]], score, 0.0)
        before = self._score[reach.node]
        np.maximum.at(self._score, reach.node, score)
        rows = np.flatnonzero((score > before) & (score == self._score[reach.node]))
        return rows[first_rows(reach.node[rows], self._scratch)]

    def _keep(self, nodes: Numbers) -> None:
        """The best of all nodes so far. What falls out has enough better ones, and so has all that it leads to."""
        score = self._score[nodes]
        if len(nodes) > self._nodes:
            least = np.partition(score, len(nodes) - self._nodes)[len(nodes) - self._nodes]
            nodes, score = nodes[score >= least], score[score >= least]
        order = np.lexsort((nodes, self._hop[nodes], -score))
        self.kept = nodes[order[: self._nodes]]

    def neighbours(self, reading: ResultReader) -> list[Neighbour]:
        graph, kept, hops = self._graph, self.kept, self._hop[self.kept]
        away = kept[hops > 0]
        vias = dict(zip(away.tolist(), reading.edges(self._via[away]), strict=True))
        columns = (kept.tolist(), hops.tolist(), self._score[kept].tolist(), reading.places(kept))
        return [
            Neighbour(
                reading.key(node),
                graph.kind(node),
                graph.names[node],
                hop,
                score,
                places,
                graph.signature(node),
                vias.get(node),
            )
            for node, hop, score, places in zip(*columns, strict=True)
        ]


def _known(graph: Graph, entries: Mapping[str, float] | Iterable[str]) -> tuple[dict[int, float], tuple[str, ...]]:
    weights = entries if isinstance(entries, Mapping) else dict.fromkeys(entries, 1.0)
    known, unknown = {}, []
    for key, weight in sorted(weights.items()):
        if not (weight > 0 and math.isfinite(weight)):
            raise WalkError(f"the weight of entry {key!r} must be a positive number, got {weight}")
        node = graph.find(key)
        if node is None:
            unknown.append(key)
        else:
            known[node] = float(weight)
    return known, tuple(unknown)


def _mask(kinds: Collection[NodeType]) -> NDArray[np.bool_] | None:
    return np.array([kind in {wanted.value for wanted in kinds} for kind in KINDS]) if kinds else None


def _cut(reading: ResultReader, run: TruncatedFanOut) -> Cut:
    direction = Direction.IN if run.side == IN else Direction.OUT
    return Cut(reading.key(run.node), run.relation, direction, run.followed, run.total)


def _check_bounds(depth: int, nodes: int, hub_edges: int) -> None:
    for name, value, least in (("depth", depth, 0), ("nodes", nodes, 1), ("hub_edges", hub_edges, 1)):
        if value < least:
            raise WalkError(f"{name} must be at least {least}, got {value}")
