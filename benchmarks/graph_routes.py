"""From HTTP routes to tables: what the graph of a repository says, against what was checked by hand.

    python benchmarks/graph_routes.py path/to/eShopOnWeb [--gold benchmarks/gold/routes.csv] [--route "GET /Basket"]

Reads the files of HEAD of a checkout, a bare git directory or a URL, extracts the graph of all of them in memory, and
walks from every ENDPOINT along calls, implementations, messages and their handlers to the sets and entities that are
read and written, and on to their tables. The gold file has one row per route, access and table (see
benchmarks/gold/README.md). Prints a table of all routes, precision and recall; `--route` prints the path to each table
of one route. Exit code 1 when a floor is not reached.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from graph_in_memory import extracted, files_at, is_in_chains

from rag_assets.contracts.graph import GraphEdge, GraphNode, NodeType, Relation, key_kind

TABLES_FLOOR = 1.0
"""Of the tables of a route, read or written: a route with a wrong table is a wrong answer."""

ACCESS_FLOOR = 0.95
"""Of (table, read or written): that EF writes the children of an aggregate is known, whether there are any is not."""

_TABLES = frozenset({NodeType.TABLE, NodeType.VIEW, NodeType.TABLE_OR_VIEW})
_STORED = frozenset({NodeType.DBSET, NodeType.ENTITY}) | _TABLES
_ACCESS = {Relation.READS_FROM: "reads", Relation.WRITES_TO: "writes"}
_RUNS = frozenset({Relation.CALLS, Relation.CONSTRUCTS, Relation.EXECUTES, Relation.REFERENCES})
_ANSWERS = frozenset({Relation.IMPLEMENTS, Relation.OVERRIDES})
"""Backwards: what runs when an interface or virtual method is called."""

Access = tuple[str, str, str]
"""(route, `reads` or `writes`, table)"""


@dataclass
class Graph:
    """Edges by both ends, the lowest line first."""

    nodes: list[GraphNode] = field(default_factory=list)
    forwards: dict[str, list[GraphEdge]] = field(default_factory=lambda: defaultdict(list))
    backwards: dict[str, list[GraphEdge]] = field(default_factory=lambda: defaultdict(list))

    def add(self, part: GraphNode | GraphEdge) -> None:
        if isinstance(part, GraphNode):
            self.nodes.append(part)
        else:
            self.forwards[part.source].append(part)
            self.backwards[part.target].append(part)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", metavar="REPO", help="path or URL")
    parser.add_argument("--gold", type=Path, default=None, help="hand-checked routes of this repository")
    parser.add_argument("--route", default="", help="shows how one route reaches its tables")
    arguments = parser.parse_args()
    started = time.perf_counter()
    graph = Graph()
    for part in extracted(files_at(arguments.repository, is_in_chains)):
        graph.add(part)
    print(f"{len(graph.nodes):,} nodes in {time.perf_counter() - started:.1f} s")
    if arguments.route:
        raise SystemExit(explain(graph, arguments.route))
    found = {route: accesses(graph, key) for key, route in routes_of(graph)}
    for route, told in found.items():
        print(f"{route:50} {', '.join(sorted({f'{access} {table}' for _, access, table in told})) or '-'}")
    raise SystemExit(arguments.gold is not None and not compared(found, arguments.gold))


def routes_of(graph: Graph) -> list[tuple[str, str]]:
    """(key, `GET /api/orders`) of all endpoints, sorted."""
    keys = sorted({node.key for node in graph.nodes if node.kind is NodeType.ENDPOINT})
    return [(key, key.removeprefix("http:").rpartition("|")[0]) for key in keys]


def accesses(graph: Graph, endpoint: str) -> set[Access]:
    """What serving a route reads and writes."""
    route = endpoint.removeprefix("http:").rpartition("|")[0]
    found: set[Access] = set()
    for node, _ in walked(graph, endpoint):
        for edge in graph.forwards[node]:
            if edge.relation in _ACCESS and key_kind(edge.target) in _STORED:
                found |= {(route, _ACCESS[edge.relation], table) for table in tables_of(graph, edge.target)}
    return found


def walked(graph: Graph, start: str) -> Iterator[tuple[str, str]]:
    """(node, the node it was reached from) of all code that runs, nearest first."""
    seen = {start}
    waiting = deque([(start, "")])
    while waiting:
        node, before = waiting.popleft()
        yield node, before
        for found in runs(graph, node):
            if found not in seen:
                seen.add(found)
                waiting.append((found, node))


def runs(graph: Graph, node: str) -> Iterator[str]:
    """What runs next: the handler of a route, what a method calls, what stands behind an interface or message."""
    kind = key_kind(node)
    forwards, backwards = graph.forwards[node], graph.backwards[node]
    if kind is NodeType.ENDPOINT:
        own = [edge.target for edge in forwards if edge.relation in _RUNS]
        yield from own or (edge.source for edge in backwards if edge.relation is Relation.EXPOSES)
    elif kind is NodeType.METHOD:
        yield from (edge.target for edge in forwards if edge.relation in _RUNS and not is_link(graph, edge))
        yield from (edge.source for edge in backwards if edge.relation in _ANSWERS)
    elif kind is NodeType.TYPE:  # a message that was sent
        yield from (edge.source for edge in backwards if edge.relation is Relation.HANDLES)


def is_link(graph: Graph, edge: GraphEdge) -> bool:
    """Whether an action is only named, as redirects name it: it answers a request of its own."""
    exposed = any(found.relation is Relation.EXPOSES for found in graph.forwards[edge.target])
    return edge.relation is Relation.REFERENCES and exposed


def tables_of(graph: Graph, stored: str) -> set[str]:
    """The names of the tables of a set, entity or table, without a default schema."""
    if key_kind(stored) in _TABLES:
        return {stored.rpartition("|")[0].removeprefix("dbo.")}
    mapped = (edge.target for edge in graph.forwards[stored] if edge.relation is Relation.MAPS_TO)
    return {name for target in mapped if key_kind(target) in _STORED for name in tables_of(graph, target)}


def explain(graph: Graph, route: str) -> int:
    """Prints the shortest way to each table; 1 for an unknown route."""
    key = next((key for key, name in routes_of(graph) if name == route), None)
    if key is None:
        print(f"no route {route}")
        return 1
    before = dict(walked(graph, key))
    for node in before:
        for edge in graph.forwards[node]:
            if edge.relation in _ACCESS and key_kind(edge.target) in _STORED:
                way = [node]
                while before[way[-1]]:
                    way.append(before[way[-1]])
                tables = ", ".join(sorted(tables_of(graph, edge.target)))
                print(f"\n{_ACCESS[edge.relation]} {tables} ({edge.confidence.value}, {edge.path}:{edge.line})")
                print("\n".join(f"  {step}" for step in reversed(way)))
    return 0


def compared(found: dict[str, set[Access]], gold: Path) -> bool:
    """Prints precision and recall of the routes in `gold`; whether the floors are reached."""
    with gold.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    routes = {row["route"] for row in rows}
    wanted: set[Access] = {(row["route"], row["access"], row["table"]) for row in rows if row["table"]}
    told = {access for route in routes for access in found.get(route, ())}
    missing = sorted(routes - found.keys())
    if missing:
        print(f"routes without a node: {', '.join(missing)}")
    print(f"\n{len(routes)} routes checked by hand")
    tables = share("tables", {(r, t) for r, _, t in told}, {(r, t) for r, _, t in wanted})
    access = share("accesses", told, wanted)
    return not missing and tables >= TABLES_FLOOR and access >= ACCESS_FLOOR


def share(what: str, told: Iterable[tuple[str, ...]], wanted: Iterable[tuple[str, ...]]) -> float:
    """Prints and returns the lower of precision and recall."""
    given, right = set(told), set(wanted)
    both = len(given & right)
    precision, recall = both / max(len(given), 1), both / max(len(right), 1)
    print(f"{what}: {len(right)} by hand, {len(given)} found, P {precision:.3f}, R {recall:.3f}")
    for mark, rows in (("missing", right - given), ("wrong", given - right)):
        for row in sorted(rows):
            print(f"  {mark}: {' '.join(row)}")
    return min(precision, recall)


if __name__ == "__main__":
    main()
