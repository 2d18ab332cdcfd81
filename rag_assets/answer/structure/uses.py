"""Whether one thing uses another at once, and which types of a sort use it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.answer.artifact.graph_columns import NO_USE, GraphColumns, Mask
from rag_assets.answer.graph_facts import Facts, FactsOrAbsent, GraphFact, GraphFacts, fact_of, facts_at
from rag_assets.answer.plans.code_lines import MOST_LISTED, SAYS_NO_USE, list_heading, part_counted
from rag_assets.answer.structure.shapes import types_of_sort
from rag_assets.answer.structure.traits import declarations
from rag_assets.contracts.graph import NodeType, Relation
from rag_assets.graph.csr_graph import OUT, Numbers
from rag_assets.graph.lookup import short_name

if TYPE_CHECKING:
    from rag_assets.answer.structure.declaration_questions import UseAsked, UsersAsked
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.search.index import LabelIndex

_CONTRACTS = (Relation.IMPLEMENTS, Relation.INHERITS)
_AT_ONCE = tuple(set(Relation) - {Relation.CONTAINS, Relation.MENTIONS, Relation.SYNONYM_FOR})


def use_facts(index: LabelIndex, graph: Graph, wanted: UseAsked) -> FactsOrAbsent:
    """Where the one uses the other or one of its contracts, by path and line, else where its code names it; and that it
    does not, where both are known."""
    columns = GraphColumns(index, graph, None)
    users = [node for node in declarations(columns, wanted.user) if graph.kind(node) is not NodeType.PROPERTY]
    used = declarations(columns, wanted.used)
    if not users or (not used and wanted.as_contract):
        return GraphFacts(), {}, ""
    ends = _with_members(graph, used)
    if not wanted.as_contract:
        ends |= _with_members(graph, _contracts(graph, used))
    kept = columns.of(*(_CONTRACTS if wanted.as_contract else _AT_ONCE))
    kept &= _among(columns.source, _with_members(graph, users)) & _among(columns.target, ends)
    if not wanted.as_contract:  # who has a contract with another does not use it
        kept &= ~columns.of(*_CONTRACTS, Relation.OVERRIDES) | _among(columns.target, _with_members(graph, used))
    facts, said = _facts_of(columns, kept), "is declared as" if wanted.as_contract else "uses"
    absent = f"nothing that the graph knows of {wanted.user} {said} {wanted.used} or a member of it"
    absent = absent if used else f"no line of {wanted.user} names {wanted.used}"
    if not facts and not wanted.as_contract:
        facts, said = _naming(columns, _with_members(graph, users), wanted.used), "names"
    at = facts_at(facts[:MOST_LISTED], index)
    heading = part_counted(f"{wanted.user} {said} {wanted.used}", len(facts), MOST_LISTED)
    return GraphFacts(tuple(at), len(facts), f"**{heading}:**"), at, "" if at else absent


def users_facts(index: LabelIndex, graph: Graph, wanted: UsersAsked) -> Facts:
    """The types whose names end with a sort and that use something, each where it first does."""
    columns = GraphColumns(index, graph, None)
    used = declarations(columns, wanted.used)
    ends = _with_members(graph, [*used, *_contracts(graph, used)])
    sort = [
        node
        for node in columns.nodes(NodeType.TYPE).tolist()
        if graph.names[node].casefold().endswith(wanted.sort) and node not in used
    ]
    if not sort or not ends:
        return GraphFacts(), {}
    kept = ~columns.of(*NO_USE) & _among(columns.type_of[columns.source], sort) & _among(columns.target, ends)
    first: dict[str, GraphFact] = {}
    for fact in _facts_of(columns, kept):
        first.setdefault(fact.source.partition(".")[0], fact)
    shown = list(first.values())
    at = facts_at(shown[:MOST_LISTED], index)
    heading = part_counted(f"{len(shown):,} that use {wanted.used}", len(shown), MOST_LISTED)
    return GraphFacts(tuple(at), len(shown), f"**{heading}:**"), at


def used_sort_facts(index: LabelIndex, graph: Graph, wanted: UsersAsked) -> Facts:
    """The types of a sort, by the ends of names or bases, that something makes or uses, each where it first does."""
    columns = GraphColumns(index, graph, None)
    users = _with_members(graph, declarations(columns, wanted.used))
    sort = types_of_sort(columns, wanted.sort)
    if not users or not sort:
        return GraphFacts(), {}
    kept = ~columns.of(*NO_USE) & _among(columns.source, users) & _among(columns.target, _with_members(graph, sort))
    kept &= ~_among(columns.target, users)
    if wanted.makes:
        kept &= columns.of(Relation.CONSTRUCTS)
    first: dict[str, GraphFact] = {}
    for fact in _facts_of(columns, kept):
        first.setdefault(fact.target.partition(".")[0], fact)
    shown = list(first.values())
    at = facts_at(shown[:MOST_LISTED], index)
    heading = list_heading(wanted.sort, len(shown)).replace(":**", f" of {wanted.used}:**")
    return GraphFacts(tuple(at), len(shown), heading), at


def product_use_facts(index: LabelIndex, graph: Graph, name: str) -> FactsOrAbsent:
    """Where code of the product, outside of its own, uses what is called so; that only tests do, or nothing does, where
    none is known."""
    columns = GraphColumns(index, graph, None)
    used = declarations(columns, name)
    if not used:
        return GraphFacts(), {}, ""
    own = _with_members(graph, used)
    outside = columns.of(*_AT_ONCE) & _among(columns.target, own) & ~_among(columns.source, own)
    facts = _facts_of(columns, outside) or _naming(columns, _beside(columns, own), name)
    at = facts_at(facts[:MOST_LISTED], index)
    places = "one place" if len(facts) == 1 else f"{len(facts):,} places"
    heading = part_counted(f"{name} is used outside of tests, in {places}", len(facts), MOST_LISTED)
    tested = len({(path, line) for *_, path, line in columns.edges(outside & ~columns.is_seen)})
    tests = f"tests do, on {tested:,} lines" if tested else "nor do tests"
    absent = f"no code of the product but its own uses {name}, as far as the graph knows; {tests}"
    return GraphFacts(tuple(at), len(facts), f"**{heading}:**"), at, "" if at else absent


def _beside(columns: GraphColumns, own: Collection[int]) -> list[int]:
    """The types and methods of the product but some."""
    return [node for node in columns.nodes(NodeType.TYPE, NodeType.METHOD).tolist() if node not in own]


def _naming(columns: GraphColumns, nodes: Iterable[int], name: str) -> list[GraphFact]:
    """The lines of declarations that name something: of many languages the graph does not know every use."""
    word = re.compile(rf"(?<!\w){re.escape(name.rpartition('.')[2])}(?!\w)")
    found = {}
    for node in sorted(nodes):
        for place in columns.places(node):
            for line, text in enumerate(columns.lines_at(place), place.line_start):
                if word.search(text) and not SAYS_NO_USE.match(text):
                    found[place.path, line] = GraphFact(columns.called(node), "names", name, place.path, line, True)
    return [found[place] for place in sorted(found)]


def _with_members(graph: Graph, nodes: Iterable[int]) -> set[int]:
    found = set(nodes)
    return found.union(*map(graph.contained, found))


def _contracts(graph: Graph, nodes: Iterable[int]) -> set[int]:
    """The interfaces that some types implement: code uses these in their place."""
    edges = (edge for node in nodes for edge in graph.edges_of(node, OUT, Relation.IMPLEMENTS))
    return {one for edge in edges if (one := graph.find(edge.target)) is not None and graph.places(one)}


def _among(column: Numbers, nodes: Collection[int]) -> Mask:
    found: Mask = np.isin(column, list(nodes))
    return found


def _facts_of(columns: GraphColumns, wanted: Mask) -> list[GraphFact]:
    """The facts of edges that the reader may see, one a line, by path and line."""
    graph, found = columns.graph, dict[tuple[str, int], GraphFact]()
    keys = graph.keys
    rows = {
        (keys[source], keys[target], path, line)
        for source, target, _, path, line in columns.edges(wanted & columns.is_seen)
    }
    for source in sorted({source for source, *_ in rows}):
        node = graph.find(source)
        for edge in graph.edges_of(node, OUT, *_AT_ONCE) if node is not None else ():
            if (edge.source, edge.target, edge.path, edge.line) in rows:
                names = {key: short_name(key) for key in (edge.source, edge.target)}
                found.setdefault((edge.path, edge.line), fact_of(edge, names))
    return [found[place] for place in sorted(found)]
