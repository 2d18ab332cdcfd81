"""The feature plan: what a subject such as `checkout` consists of by the names of the product: its endpoints, its types
with what they do, and its tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice, product
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.answer.artifact.graph_columns import GraphColumns
from rag_assets.answer.artifact.structure import exposed_endpoints
from rag_assets.answer.graph_facts import Facts, GraphFact, GraphFacts, facts_at
from rag_assets.answer.question_analysis import roots_of
from rag_assets.contracts.graph import NodeType, Relation
from rag_assets.graph.csr_graph import KINDS, Graph
from rag_assets.graph.lookup import short_name
from rag_assets.identifiers import identifier_words, word_set

if TYPE_CHECKING:
    from rag_assets.search.index import LabelIndex

_MOST_ENDPOINTS, _MOST_TYPES, _MOST_METHODS, _MOST_TABLES = 5, 4, 3, 3
_FEWEST_METHODS = 3
"""Of all types together: fewer are no feature."""
_LOGS_IN = re.compile(r"[Ll]og[ _-]?(?:[Ii]n|[Oo]ff|[Oo]n|[Oo]ut)(?![a-z])")
_FEW_TYPES = 20
"""Of a repository: in larger ones a subject is no more than a third of all."""
_DATA = word_set(
    "args attribute command config configuration constants context data dto entity enum event exception extensions",
    "item message migration model notification options profile query request response result settings snapshot state",
    "test tests validator viewmodel vm",
)
"""Last words of the names of types that hold what others do."""


def feature_facts(index: LabelIndex, graph: Graph, said: str) -> Facts:
    """What is called as a subject is, else what is in folders that are; nothing where no type of it does something."""
    columns = GraphColumns(index, graph, None)
    written = filter(None, map(roots_of, dict.fromkeys((said, said.replace(" ", "")))))  # `Multitenancy`
    for wanted, (says, where) in product(written, ((_is_called, ""), (_is_in_folder, ", of folders"))):
        is_about = partial(says, columns, wanted)
        doing = [*islice(_types(columns, is_about), _MOST_TYPES)]
        if sum(len(methods) for _, methods in doing) >= _FEWEST_METHODS:
            facts = [*_endpoints(columns, is_about)]
            for node, methods in doing:
                facts += [_fact(columns, method, graph.names[node]) for method in methods]
            tables = columns.nodes(NodeType.TABLE, NodeType.VIEW).tolist()
            tables = [node for node in tables if _is_called(columns, wanted, node)]
            facts += [_fact(columns, node, "Tables") for node in columns.by_weight(tables)[:_MOST_TABLES]]
            at = facts_at([fact for fact in facts if fact.path], index)
            return GraphFacts(tuple(at), len(at), f"**What is called {said}{where}:**\n", leads=True), at
    return GraphFacts(), {}


def _is_called(columns: GraphColumns, wanted: frozenset[str], node: int) -> bool:
    name = columns.graph.names[node]
    return wanted <= roots_of(name) and ("log" not in wanted or _LOGS_IN.search(name) is None)


def _is_in_folder(columns: GraphColumns, wanted: frozenset[str], node: int) -> bool:
    return wanted <= roots_of(_place(columns, node)[0].rpartition("/")[0])


def _endpoints(columns: GraphColumns, is_about: Callable[[int], bool]) -> Iterator[GraphFact]:
    """Those of the subject by their routes or what exposes them, the shortest routes first."""
    graph = columns.graph
    found = [one for one in exposed_endpoints(columns) if is_about(one[0]) or is_about(one[1])]
    group = "Endpoints" if len(found) <= _MOST_ENDPOINTS else f"Endpoints ({_MOST_ENDPOINTS} of {len(found):,})"
    for endpoint, _, path, line in sorted(found, key=lambda one: graph.names[one[0]].count("/"))[:_MOST_ENDPOINTS]:
        yield GraphFact(short_name(graph.keys[endpoint]), "", "", path, line, certain=True, group=group)


def _types(columns: GraphColumns, is_about: Callable[[int], bool]) -> Iterator[tuple[int, list[int]]]:
    """The types that do something, those first whose names say the least beside the subject, each with the methods that
    call the most; without those that endpoints show."""
    graph = columns.graph
    contains = columns.of(Relation.CONTAINS)
    owners, owned = columns.source[contains], columns.target[contains]
    exposing = frozenset(columns.source[columns.of(Relation.EXPOSES)].tolist())
    calls = np.bincount(columns.source[columns.of(Relation.CALLS)], minlength=len(graph))
    types = columns.by_weight(columns.nodes(NodeType.TYPE).tolist())
    named = [node for node in types if is_about(node) and _last_word(graph.names[node]) not in _DATA]
    if 3 * len(named) > len(types) and len(types) > _FEW_TYPES:
        return  # that is no part of it
    for node in sorted(named, key=lambda node: len(roots_of(graph.names[node]))):
        members = owned[owners == node]
        methods = [
            one
            for one in members[graph.kinds[members] == KINDS.index(NodeType.METHOD.value)].tolist()
            if calls[one] and one not in exposing and graph.names[one] != graph.names[node]
        ]
        if methods:
            best = sorted(methods, key=lambda one: (-int(calls[one]), graph.names[one]))[:_MOST_METHODS]
            yield node, sorted(best, key=lambda one: _place(columns, one))


def _last_word(name: str) -> str:
    words = identifier_words(name)
    return words[-1].lower() if words else ""


def _place(columns: GraphColumns, node: int) -> tuple[str, int]:
    place = columns.place(node)
    return (place.path, place.line_start) if place is not None else ("", 0)


def _fact(columns: GraphColumns, node: int, group: str) -> GraphFact:
    path, line = _place(columns, node)
    return GraphFact(short_name(columns.graph.keys[node]), "", "", path, line, certain=True, group=group)
