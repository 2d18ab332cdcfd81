"""The convention plan: the form that most things of a sort have, with three of them, and where they are registered."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from rag_assets.answer.graph_facts import GraphFact, GraphFacts, points_at
from rag_assets.answer.plans import facts_naming, nodes_listed, points_naming
from rag_assets.search.ranking.penalties import non_product_code

if TYPE_CHECKING:
    from rag_assets.answer.plans import ListedNode
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.search.index import LabelIndex

_BASE = re.compile(r"(?:[\w>)]\s*:|\bextends|\bimplements|^class \w+\()\s*(?:[\w]+\.)*([A-Za-z_]\w*)")
_ARGUMENTS = re.compile(r"<[^<>]*>|(?<=\w)\([^()]*\)(?=\s*:)")
_ADDS = "[Aa]dd|[Rr]egister|[Bb]ind|[Mm]ap|[Ii]nclude|[Ss]can|AsClosedTypesOf|typeof"
_REGISTERS = rf"\b(?:{_ADDS})\w*\s*[<(][^\"'\n]*(?<!\w){{0}}(?!\w)"
_FEWEST, _SHOWN = 3, 3


def convention_facts(index: LabelIndex, graph: Graph, noun: str) -> tuple[GraphFacts, dict[GraphFact, str]]:
    """Three of the types of a sort that have the commonest base, of different folders where they can be, and where that
    base is registered, with the points that show it; nothing where fewer than three have one in common."""
    listed = [one for one in nodes_listed(graph, noun) if non_product_code(one.path) is None]
    base_of = {one: base for one in listed if (base := _base(graph, one))}
    if not base_of:
        return GraphFacts(), {}
    base, count = Counter(base_of.values()).most_common(1)[0]
    if count < _FEWEST:
        return GraphFacts(), {}
    usual = [one for one in listed if base_of.get(one) == base]
    by_folder: dict[str, ListedNode] = {}
    for one in usual:
        by_folder.setdefault(one.path.rpartition("/")[0], one)
    shown = list(dict.fromkeys((*by_folder.values(), *usual)))[:_SHOWN]
    group = f"Usual form, {count} of {len(listed)} derive from {base}"
    facts = [replace(one.fact, group=group) for one in shown]
    located = points_at([(one.path, one.line) for one in facts], index.parts.shard(), index.scope())
    at = {fact: located[fact.path, fact.line] for fact in facts if (fact.path, fact.line) in located}
    return _with_registrations(index, base, at)


def _base(graph: Graph, one: ListedNode) -> str:
    node = graph.find(one.key)
    signature = graph.signature(node) if node is not None else ""
    while (bare := _ARGUMENTS.sub("", signature)) != signature:
        signature = bare
    found = _BASE.search(signature)
    return found[1] if found is not None else ""


def _with_registrations(
    index: LabelIndex, base: str, at: dict[GraphFact, str]
) -> tuple[GraphFacts, dict[GraphFact, str]]:
    payloads = index.parts.shard().retrieve(sorted(points_naming(base, index).ids), index.scope())
    product = {point: one for point, one in payloads.items() if non_product_code(one.get("Path", "")) is None}
    found = facts_naming(re.compile(_REGISTERS.format(re.escape(base))), product, index, ("registers", base, True))
    first = sorted(found, key=lambda fact: (fact.path, fact.line))[:_SHOWN]
    at |= {replace(fact, group="Registered in"): found[fact] for fact in first}
    return GraphFacts(tuple(at), len(at), leads=True), at
