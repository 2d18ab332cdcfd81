"""What a library lets others implement: its contracts that tests, samples or documents implement as users would, or
those about what a question says."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.answer.graph_facts import GraphFacts, facts_at, seen_of
from rag_assets.answer.plans.code_lines import FEWEST_LISTED, MOST_LISTED, list_heading, says
from rag_assets.answer.plans.listing import of_kind, places_of
from rag_assets.answer.question_analysis import QueryTerm, roots_of
from rag_assets.contracts.graph import NodeType, Relation
from rag_assets.graph.csr_graph import IN, RELATIONS, ResultReader
from rag_assets.search.ranking.penalties import non_product_code

if TYPE_CHECKING:
    from rag_assets.answer.graph_facts import GraphFact
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.search.index import LabelIndex

_CONTRACT = re.compile(r"^(?!.*\b(?:internal|private|static|sealed)\b).*\b(?:interface|abstract|trait|ABC|Protocol)\b")

_HIDDEN_BY_DEFAULT = frozenset({"csharp", "java"})
_MOST_OF_OTHERS = 4
"""Types that are called so for each that derives from a contract: of more some library has the contract."""


def contracts_to_implement(
    index: LabelIndex, graph: Graph, subject: Sequence[QueryTerm], of_one: bool
) -> tuple[GraphFacts, dict[GraphFact, str]]:
    """The open contracts of the product, with the points that declare them: those about a `subject`, `of_one` those
    that are called so; without a subject those that something outside of the product implements, most of it first."""
    open_to_all = [node for node in of_kind(graph, NodeType.TYPE) if _is_open(graph, node)]
    allowed = np.zeros((2, len(RELATIONS)), np.bool_)
    allowed[IN, [RELATIONS.index(one.value) for one in (Relation.IMPLEMENTS, Relation.INHERITS)]] = True
    reach, _ = graph.reach(np.array(open_to_all, np.int64), allowed)
    outside, derived = Counter[str](), dict[str, set[str]]()
    for edge in ResultReader(graph).edges(reach.edge):
        outside[edge.target] += non_product_code(edge.path) is not None
        derived.setdefault(edge.target, set()).add(edge.source)
    wanted = {word.root for word in subject}
    found = [
        one
        for one in seen_of(places_of(graph, np.array(open_to_all, np.int64)), index)
        if non_product_code(one.path) is None
        and (wanted <= roots_of(one.name) if of_one else says(subject, f"{one.name} {one.path}"))
        and (subject or outside[one.key])
    ]
    if len(found) < (1 if subject else FEWEST_LISTED) or (of_one and not subject):
        return GraphFacts(), {}
    made = set().union(*(derived.get(one.key, ()) for one in found))
    called = [node for node in of_kind(graph, NodeType.TYPE) if wanted <= roots_of(graph.names[node])]
    if of_one and len(called) > _MOST_OF_OTHERS * (len(made) + len(found)):
        return GraphFacts(), {}
    found.sort(key=lambda one: (-outside[one.key], one.path, one.line))
    at = facts_at([one.fact for one in found[:MOST_LISTED]], index)
    heading = list_heading("contract", len(found)).replace(":", " that others may implement:")
    return GraphFacts(tuple(at), len(found), heading), at


def _is_open(graph: Graph, node: int) -> bool:
    """Whether a type is a contract that code of others sees: in C# and Java a type without `public` is hidden."""
    signature = graph.signature(node)
    is_seen = graph.language(node) not in _HIDDEN_BY_DEFAULT or re.search(r"\bpublic\b", signature) is not None
    return is_seen and _CONTRACT.match(signature) is not None
