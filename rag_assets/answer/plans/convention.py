"""The convention plan: the form that most things of a sort have, with three of them, and where they are registered."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.answer.graph_facts import Facts, GraphFact, GraphFacts, facts_at, seen_of
from rag_assets.answer.plans.code_lines import facts_naming, list_heading, points_naming, product_of
from rag_assets.answer.plans.listing import LISTED_KINDS, ListedNode, nodes_listed
from rag_assets.answer.question_analysis import name_roots, root_set, roots_of
from rag_assets.answer.structure.actions import MEANS
from rag_assets.contracts.graph import NodeType, Relation, key_kind
from rag_assets.graph.csr_graph import OUT
from rag_assets.graph.lookup import short_name
from rag_assets.search.ranking.penalties import non_product_code

if TYPE_CHECKING:
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.search.index import LabelIndex

_BASE = re.compile(r"(?:[\w>)]\s*:|\bextends|\bimplements|^class \w+\()\s*(?:[\w]+\.)*([A-Za-z_]\w*)")
_ARGUMENTS = re.compile(r"<[^<>]*>|(?<=\w)\([^()]*\)(?=\s*:)")
_ADDS = "[Aa]dd|[Rr]egister|[Bb]ind|[Mm]ap|[Ii]nclude|[Ss]can|AsClosedTypesOf|typeof"
_REGISTERS = rf"\b(?:{_ADDS})\w*\s*[<(][^\"'\n]*(?<!\w){{0}}(?!\w)"
_DONE = frozenset(MEANS) | root_set("activate deactivate disable enable install list manage uninstall")
_FEWEST, _SHOWN = 3, 3
_LEAST_SHARE = 0.25  # of all of a sort: what fewer have in common is not usual


def convention_facts(index: LabelIndex, graph: Graph, noun: str) -> Facts:
    """Three of the types of a sort that have the commonest base, of different folders where they can be, and where that
    base is registered, with the points that show it; nothing where fewer than three have one in common."""
    listed = [one for one in nodes_listed(graph, noun) if non_product_code(one.path) is None]
    if noun in LISTED_KINDS and len(listed) >= _FEWEST:
        at = _shown(index, listed, f"{list_heading(noun, len(listed)).strip('*:')}, for example")
        return GraphFacts(tuple(at), len(listed), leads=True), at
    base_of = {one: base for one in listed if (base := _base(graph, one))}
    if len(base_of) < _FEWEST:  # of languages whose types do not say it where they are declared
        base_of = dict(_implemented(graph, listed))
        listed = [*base_of]
    if not base_of:
        return GraphFacts(), {}
    base, count = Counter(base_of.values()).most_common(1)[0]
    if count < max(_FEWEST, _LEAST_SHARE * len(listed)):
        return GraphFacts(), {}
    usual = [one for one in listed if base_of.get(one) == base]
    wanted = roots_of(noun)
    if not wanted <= roots_of(base) and all(_is_done_to(one, wanted) for one in usual):
        return GraphFacts(), {}
    at = _shown(index, usual, f"Usual form, {count} of {len(listed)} derive from {base}")
    return _with_registrations(index, base, at)


def _is_done_to(one: ListedNode, wanted: frozenset[str]) -> bool:
    """Whether a type is called as what is done to something of a sort, and is none: `EnablePlugin`."""
    first, *more = name_roots(one.name) or [""]
    return first in _DONE and wanted == {*more}


def _shown(index: LabelIndex, usual: Sequence[ListedNode], group: str) -> dict[GraphFact, str]:
    """Three of them below one heading, of different folders, else of different files where they can be, with the points
    that show them."""
    by_place: dict[str, ListedNode] = {}
    for one in usual:
        by_place.setdefault(one.path.rpartition("/")[0], one)
    for one in usual:
        by_place.setdefault(one.path, one)
    shown = seen_of(dict.fromkeys((*by_place.values(), *usual)), index)[:_SHOWN]
    return facts_at([replace(one.fact, group=group) for one in shown], index)


def _base(graph: Graph, one: ListedNode) -> str:
    node = graph.find(one.key)
    signature = graph.signature(node) if node is not None else ""
    while (bare := _ARGUMENTS.sub("", signature)) != signature:
        signature = bare
    found = _BASE.search(signature)
    return found[1] if found is not None else ""


def _implemented(graph: Graph, listed: Sequence[ListedNode]) -> Iterator[tuple[ListedNode, str]]:
    """Types with what the graph says that they implement, each where that is written."""
    nodes = np.array([node for one in listed if (node := graph.find(one.key)) is not None], np.int64)
    for edge in graph.edges_of(nodes, OUT, Relation.IMPLEMENTS):
        if key_kind(edge.source) is NodeType.TYPE and non_product_code(edge.path) is None:
            yield ListedNode(edge.source, edge.path, edge.line), short_name(edge.target).rpartition(".")[2]


def _with_registrations(index: LabelIndex, base: str, at: dict[GraphFact, str]) -> Facts:
    found = _registering(index, base)
    if not found:  # each by its own name
        found = {fact: point for one in at for fact, point in islice(_registering(index, one.source).items(), 1)}
    first = sorted(found, key=lambda fact: (fact.path, fact.line))[:_SHOWN]
    at |= {replace(fact, group="Registered in"): found[fact] for fact in first}
    return GraphFacts(tuple(at), len(at), leads=True), at


def _registering(index: LabelIndex, name: str) -> dict[GraphFact, str]:
    product = product_of(points_naming(name, index).ids, index)
    written = re.compile(_REGISTERS.format(re.escape(name)))
    return facts_naming(written, product, index, ("registers", name, True), each_line=True)
