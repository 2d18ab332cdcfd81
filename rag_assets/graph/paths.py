"""How one node leads to another: the cheapest ways through the graph, in either direction of its edges.

The cost of a step is −log2 of what it is worth, so costs add up where worths multiply; passing through a node that
everything is connected to costs more. Costs to the goal are found once, from the goal backwards, in rounds over whole
arrays; with them as an exact estimate the cheapest ways come out one after the other without any wrong turn.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_assets.contracts.graph import GraphEdge
from rag_assets.graph.csr_graph import Graph, Numbers
from rag_assets.graph.edge_weights import Floats, backwards, common, first_rows, permitted, reversed_worth, step_worth
from rag_assets.graph.neighbourhood import WalkError
from rag_assets.graph.relations import ALL_STEPS, WalkStep

DEFAULT_HOPS = 10
"""A route reaches its table in six to eight steps; what is further apart is not explained by a path."""

DEFAULT_PATHS = 3

_SLACK = 6.0
"""Bits by which an alternative may cost more than the cheapest way: two or three steps more. Beyond that alternatives
are detours, and the search for them would flood the graph."""

_PER_HOP = 0.5
"""Bits of every step: of two ways of like worth the shorter one."""

_MOST_TRIED = 3_000
"""Beginnings of paths that are looked at, each about 100 µs. The cheapest way takes as many as it has steps; more are
tried where fewer ways exist than are wanted, and a hub has thousands of neighbours that lead only back to it."""


@dataclass(frozen=True, slots=True)
class PathStep:
    """One step of a path: from the node `key` over `edge` to the other end of it."""

    key: str
    edge: GraphEdge

    @property
    def forward(self) -> bool:
        """True where the step goes from the source of the edge to its target."""
        return self.edge.source == self.key

    @property
    def leads_to(self) -> str:
        return self.edge.target if self.forward else self.edge.source


@dataclass(frozen=True, slots=True)
class GraphPath:
    """A way from `start` to `end`, no node twice; without steps where both are one node. `cost` in bits."""

    start: str
    end: str
    steps: tuple[PathStep, ...]
    cost: float

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.start, *(step.leads_to for step in self.steps))


def paths(
    graph: Graph,
    starts: Sequence[int],
    ends: Sequence[int],
    *,
    steps: Sequence[WalkStep] = ALL_STEPS,
    hops: int = DEFAULT_HOPS,
    count: int = DEFAULT_PATHS,
) -> tuple[GraphPath, ...]:
    """The `count` cheapest paths of at most `hops` steps from any of `starts` to any of `ends` (numbers of nodes), the
    cheapest first, equal ones in the order of their nodes. Parallel edges make one path, by the best of them. None
    where nothing connects them within the bounds. Raises WalkError for a bound below 1."""
    for name, value in (("hops", hops), ("count", count)):
        if value < 1:
            raise WalkError(f"{name} must be at least 1, got {value}")
    begin, goal = sorted(set(starts)), sorted(set(ends))
    if not begin or not goal:
        return ()
    allowed = permitted(steps)
    left = _costs_to(graph, np.array(goal, np.int64), np.array(begin, np.int64), allowed, hops)
    found: list[GraphPath] = []
    for nodes, edges, cost in _cheapest(graph, begin, frozenset(goal), allowed, left, hops):
        found.append(_path(graph, nodes, edges, cost))
        if len(found) == count:
            break
    return tuple(found)


def _costs_to(graph: Graph, goal: Numbers, begin: Numbers, allowed: NDArray[np.bool_], hops: int) -> Floats:
    """The least cost from each node to the goal in at most `hops` steps, inf beyond the cheapest way and the slack."""
    costs = np.full(len(graph), np.inf)
    costs[goal] = 0.0
    scratch = np.zeros(len(graph), np.int64)
    frontier = goal
    for _ in range(hops):
        reach, _ = graph.reach(frontier, backwards(allowed))
        cost = costs[frontier][reach.origin] + _cost(
            reversed_worth(graph, reach), graph.degree[1 - reach.side, reach.node]
        )
        before = costs[reach.node]
        useful = (cost < before) & (cost <= costs[begin].min() + _SLACK)
        np.minimum.at(costs, reach.node[useful], cost[useful])
        rows = np.flatnonzero(useful & (cost == costs[reach.node]))
        frontier = np.sort(reach.node[rows[first_rows(reach.node[rows], scratch)]])
        if not len(frontier):
            break
    return costs


def _cost(worth: Floats, degree: NDArray[np.uint32]) -> Floats:
    """Bits of steps that leave nodes with so many edges in that direction."""
    found: Floats = _PER_HOP - np.log2(worth * common(degree))
    return found


_Found = tuple[tuple[int, ...], tuple[int, ...], float]


def _cheapest(
    graph: Graph, begin: Sequence[int], goal: frozenset[int], allowed: NDArray[np.bool_], left: Floats, hops: int
) -> Iterator[_Found]:
    """All paths by cost. A beginning waits at the least cost it can end with; the ways on from it wait as one list by
    cost, and only the next one is ever taken up, so that a hub adds one entry and not its twenty thousand."""
    heap: list[tuple[float, tuple[int, ...], int]] = []
    prefixes: list[tuple[tuple[int, ...], float]] = []
    ways: dict[int, Iterator[tuple[float, int, int, float]]] = {}

    def wait(nodes: tuple[int, ...], edges: tuple[int, ...], cost: float, least: float) -> None:
        prefixes.append((edges, cost))
        heapq.heappush(heap, (least, nodes, len(prefixes) - 1))

    def next_way(parent: int, nodes: tuple[int, ...]) -> None:
        way = next(ways[parent], None)
        if way is not None:
            least, node, edge, cost = way
            edges, _ = prefixes[parent]
            prefixes.append(((*edges, edge), cost))
            heapq.heappush(heap, (least, (*nodes, node), len(prefixes) - 1))
            parents[len(prefixes) - 1] = parent

    parents: dict[int, int] = {}
    for node in begin:
        if np.isfinite(left[node]):
            wait((node,), (), 0.0, float(left[node]))
    for _ in range(_MOST_TRIED):
        if not heap:
            return
        _, nodes, number = heapq.heappop(heap)
        edges, cost = prefixes[number]
        if number in parents:
            next_way(parents[number], nodes[:-1])
        if nodes[-1] in goal:
            yield nodes, edges, cost
        elif len(edges) < hops:
            ways[number] = _ways_on(graph, nodes, cost, allowed, left)
            next_way(number, nodes)


def _ways_on(
    graph: Graph, nodes: tuple[int, ...], spent: float, allowed: NDArray[np.bool_], left: Floats
) -> Iterator[tuple[float, int, int, float]]:
    """Least whole cost, next node, edge and cost so far of every way on from a beginning, the cheapest first."""
    last = nodes[-1]
    reach, _ = graph.reach(np.array([last], np.int64), allowed)
    cost = spent + _cost(step_worth(graph, reach), graph.degree[reach.side, last])
    rows = np.flatnonzero(np.isfinite(left[reach.node]) & ~np.isin(reach.node, nodes))
    least = cost + left[reach.node]
    taken: set[int] = set()
    for row in rows[np.lexsort((rows, reach.node[rows], least[rows]))].tolist():
        node = int(reach.node[row])
        if node in taken:  # by a better edge
            continue
        taken.add(node)
        yield float(least[row]), node, int(reach.edge[row]), float(cost[row])


def _path(graph: Graph, nodes: tuple[int, ...], edges: tuple[int, ...], cost: float) -> GraphPath:
    steps = (PathStep(graph.keys[node], graph.edge(edge)) for node, edge in zip(nodes, edges, strict=False))
    return GraphPath(graph.keys[nodes[0]], graph.keys[nodes[-1]], tuple(steps), cost)
