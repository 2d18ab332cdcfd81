"""The way of a request: the methods of the product that an endpoint comes to, through interfaces and messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from rag_assets.answer.graph_facts import Facts, GraphFact, GraphFacts, facts_at
from rag_assets.answer.question_analysis import QueryTerm, roots_of
from rag_assets.contracts.graph import GraphEdge, NodeType, Relation, key_kind
from rag_assets.graph.csr_graph import IN, OUT, Graph, NodeLocation, steps_over
from rag_assets.graph.declared_types import of_kind
from rag_assets.graph.lookup import short_name
from rag_assets.search.index import LabelIndex
from rag_assets.search.ranking.penalties import is_test_path

IN_ORDER = "**It comes to, in this order:**"
_MOST_STEPS, _DEEPEST, _FEWEST = 24, 6, 3
_MOST_CALLERS = 24
_MOST_SEEN = 400  # of what a request may come to
_MOST_IMPLEMENTATIONS = 2  # a decorator and what it decorates; more are plugins
DOUBLE = re.compile(
    r"(?:^|\.)(?:Dummy|Fake|InMemory|Mock|Null|Stub|Test)[A-Z]|(?:Fake|Mock|Null|Stub)(?:\.|(?:Client|Repository|Service)\.)"
)
_GOES = tuple(map(Relation, ("Calls", "Constructs", "Executes", "References", "UsesType", "WritesTo")))


def request_flow(index: LabelIndex, graph: Graph, subject: Sequence[QueryTerm]) -> Facts:
    """What the one endpoint about a subject calls, depth first, in the order of lines."""
    wanted = {word.root for word in subject}
    found = {
        edge.source
        for node in of_kind(graph, NodeType.ENDPOINT)
        for edge in graph.edges_of(node, IN, Relation.EXPOSES)
        if wanted <= roots_of(f"{graph.keys[node]} {short_name(edge.source)} {edge.path.rpartition('/')[2]}")
        and not is_test_path(edge.path)
    }
    if len(found) != 1:
        return GraphFacts(), {}
    (begin,) = found
    facts = [*steps_at(graph, [begin, *way_of(graph, begin)])]
    at = facts_at(facts, index) if len(facts) >= _FEWEST else {}
    return GraphFacts(tuple(at), len(at), IN_ORDER, leads=True), at


def steps_at(graph: Graph, keys: Iterable[str]) -> Iterator[GraphFact]:
    """Methods and tables as facts, each where it is declared first."""
    for key in keys:
        if places := _places(graph, key):
            yield GraphFact(short_name(key), "", "", places[0].path, places[0].line_start, True)


def way_of(graph: Graph, key: str) -> list[str]:
    """What a method comes to, in the order of lines, as deep as all that is so deep are not too many."""
    way = [*_walk(graph, key, {key}, 1)]
    depths = sorted(depth for _, depth in way)
    deepest = max(1, depths[_MOST_STEPS] - 1) if len(way) > _MOST_STEPS else _DEEPEST
    return [key for key, depth in way if depth <= deepest][:_MOST_STEPS]


def _walk(graph: Graph, key: str, seen: set[str], depth: int) -> Iterator[tuple[str, int]]:
    """What a method comes to, with how many steps it is away; without what half of the code calls, and of what goes no
    further without what stands on one line, and keeps or compares a value."""
    node = graph.find(key)
    if node is None or depth > _DEEPEST:
        return
    handled = {edge.target for edge in graph.edges_of(node, OUT, Relation.HANDLES)}
    for edge in sorted(graph.edges_of(node, OUT, *_GOES), key=lambda one: (one.line, one.target)):
        if edge.relation is Relation.USES_TYPE and edge.target in handled:  # its other handlers are none that it runs
            continue
        for target in _behind(graph, edge) if edge.target not in seen and len(seen) < _MOST_SEEN else ():
            if target in seen or len(seen) == _MOST_SEEN or _is_helper(graph, target):
                continue
            seen.add(target)
            further = list(_walk(graph, target, seen, depth + 1))
            is_short = all(one.line_start == one.line_end for one in _places(graph, target))
            if further or not is_short or key_kind(target) is not NodeType.METHOD:
                yield target, depth
            yield from further


def _is_helper(graph: Graph, key: str) -> bool:
    """Whether so many call a method that no way is told by it: a check of arguments, a query by the key."""
    node = graph.find(key)
    if node is None or key_kind(key) is not NodeType.METHOD:
        return False
    reach, _ = graph.reach(np.array([node], np.int64), steps_over(IN, Relation.CALLS), _MOST_CALLERS + 2)
    return len(reach.node) > _MOST_CALLERS  # of one more, as what calls itself is not told


def _behind(graph: Graph, edge: GraphEdge) -> list[str]:
    """What runs where a method goes: of a message its handlers, of a member of an interface what implements it."""
    target, kind = graph.find(edge.target), key_kind(edge.target)
    if target is None:
        return []
    if kind is NodeType.TYPE:
        return [one.source for one in graph.edges_of(target, IN, Relation.HANDLES) if not is_test_path(one.path)]
    if edge.relation is Relation.WRITES_TO:
        return [edge.target]
    if kind is not NodeType.METHOD or edge.relation is not Relation.CALLS:
        return []
    above = graph.edges_of(target, IN, Relation.IMPLEMENTS, Relation.OVERRIDES)
    real = [one.source for one in above if not is_test_path(one.path) and not DOUBLE.search(short_name(one.source))]
    return real if 0 < len(real) <= _MOST_IMPLEMENTATIONS else [edge.target]


def _places(graph: Graph, key: str) -> tuple[NodeLocation, ...]:
    node = graph.find(key)
    return tuple(graph.places(node)) if node is not None else ()
