"""The endpoints that a question means: by what their routes, handlers and files are called and their methods do."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from rag_assets.answer.graph_facts import Facts, GraphFact, GraphFacts, facts_at, seen_of
from rag_assets.answer.plans.code_lines import MOST_LISTED, list_heading
from rag_assets.answer.question_analysis import root, roots_of
from rag_assets.contracts.graph import NodeType, Relation
from rag_assets.graph.csr_graph import IN, KINDS, Graph, NodeLocation, ResultReader
from rag_assets.graph.lookup import short_name
from rag_assets.search.index import LabelIndex
from rag_assets.search.ranking.penalties import is_test_path, product_or_samples

_METHODS = {
    root(word): methods
    for words, methods in {
        "fetch list load query read return see show view": ("get",),
        "add create insert make place register submit": ("post", "put"),
        "change edit modify update": ("put patch", "post"),
        "save store": ("post put patch",),
        "delete remove": ("delete",),
    }.items()
    for word in words.split()
}
"""What people call what an endpoint does whose method alone says it: the usual ones before the others."""
_OF_ANY_ROUTE = re.compile(r"\{[^{}]*\}|:\w+|<[^<>]*>|\b(?:api|v\d+)\b", re.IGNORECASE)


class PlacedEndpoint(NamedTuple):
    """The node of a route, at one of its handlers: services of one repository may have the same route."""

    node: int
    place: NodeLocation

    @property
    def path(self) -> str:
        return self.place.path

    @property
    def line(self) -> int:
        return self.place.line_start


def handlers_of(graph: Graph, endpoints: Iterable[int]) -> list[int]:
    """What answers some endpoints, each once: methods, or the files that map them."""
    edges = (edge for node in endpoints for edge in graph.edges_of(node, IN, Relation.EXPOSES))
    return [*dict.fromkeys(node for edge in edges if (node := graph.find(edge.source)) is not None)]


def says_thing(words: Iterable[str]) -> bool:
    """Whether some words tell more of an endpoint than its method."""
    return any(root(word) not in _METHODS for word in words)


def endpoints_about(
    index: LabelIndex, graph: Graph, subject: Sequence[str]
) -> tuple[list[PlacedEndpoint], frozenset[str]]:
    """The endpoints of the product, else of samples, that the index shows and that say all of a subject, some of it
    themselves and the rest by their files; and the roots of its words, of which two are one where endpoints write them
    so: `letterbox`."""
    nodes = np.flatnonzero(graph.kinds == KINDS.index(NodeType.ENDPOINT.value))
    placed = zip(nodes.tolist(), ResultReader(graph).places(nodes), strict=True)
    all_of_them = (
        PlacedEndpoint(node, place) for node, places in placed for place in places if not is_test_path(place.path)
    )
    seen = seen_of(all_of_them, index)
    times = Counter(one.node for one in seen)
    said = [(*one, _said_by(graph, one, is_shared=times[one.node] > 1)) for one in seen]
    wanted = _joined(subject, frozenset().union(*(words for *_, words in said)))
    found = [
        PlacedEndpoint(node, place)
        for node, place, words in said
        if _says(wanted, words, place.path) and (not wanted or wanted & words)
    ]
    kept = product_or_samples(one.path for one in found)
    return [one for one in found if one.path in kept], wanted


def _said_by(graph: Graph, one: PlacedEndpoint, *, is_shared: bool) -> frozenset[str]:
    """What a route and its handler are called, of a shared one the handlers of this file."""
    handlers = [graph.signature(one.node).partition("(")[0]]
    if is_shared:
        exposing = graph.edges_of(one.node, IN, Relation.EXPOSES)
        handlers = [short_name(edge.source) for edge in exposing if edge.path == one.path]
    return roots_of(" ".join((graph.keys[one.node], *handlers)))


def _joined(words: Sequence[str], known: frozenset[str]) -> frozenset[str]:
    roots, at = set[str](), 0
    while at < len(words):
        both = root("".join(words[at : at + 2]))
        is_one = at + 1 < len(words) and both in known and root(words[at]) not in _METHODS
        roots.add(both if is_one else root(words[at]))
        at += 1 + is_one
    return frozenset(roots)


def nearest_endpoints(
    graph: Graph, found: Sequence[PlacedEndpoint], wanted: frozenset[str], *, is_one: bool | None = None
) -> list[PlacedEndpoint]:
    """Of some endpoints those whose routes say the least beside what is wanted, `/folders/{id}` and not
    `/folders/{id}/items` of a folder, and whose methods are the likeliest for it; of what is read those of one thing,
    or of all, if that is known."""

    def beside(node: int) -> tuple[int, int, bool]:
        method, _, route = graph.names[node].partition(" ")
        said = roots_of(_OF_ANY_ROUTE.sub(" ", route))
        ways = [_METHODS[word] for word in wanted & _METHODS.keys() - said]
        ranks = [at for groups in ways for at, group in enumerate(groups) if method.lower() in group.split()]
        is_other = is_one is not None and method == "GET" and route.endswith("}") != is_one
        return len(said - wanted), max(ranks, default=0), is_other

    ranks = [beside(node) for node, _ in found]
    return [one for one, rank in zip(found, ranks, strict=True) if rank == min(ranks)]


def endpoint_facts(index: LabelIndex, graph: Graph, subject: Sequence[str], *, is_one: bool) -> Facts:
    """The endpoints that do what a question says, each where its handler is; nothing where too many may."""
    found = nearest_endpoints(graph, *endpoints_about(index, graph, subject), is_one=is_one)
    facts = dict.fromkeys(
        GraphFact(graph.names[node], "", "", edge.path, edge.line, certain=True)
        for node, path in dict.fromkeys((one.node, one.path) for one in found)
        for edge in graph.edges_of(node, IN, Relation.EXPOSES)
        if edge.path == path
    )
    told = sorted(facts, key=lambda one: (one.path, one.line)) if len(facts) <= MOST_LISTED else []
    at = facts_at(told, index)
    return GraphFacts(tuple(at), len(at), list_heading("endpoint", len(at))), at


def _says(wanted: Iterable[str], said: frozenset[str], path: str) -> bool:
    """Whether an endpoint, or its file, says all that is wanted of it, of what it does also by its method."""
    said |= roots_of(path)
    return all(word in said or not said.isdisjoint(roots_of(" ".join(_METHODS.get(word, ())))) for word in wanted)
