"""What a library lets others implement: its contracts that tests, samples or documents implement as users would, or
those about what a question says."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.answer.graph_facts import Facts, GraphFacts, facts_at, seen_of
from rag_assets.answer.plans.code_lines import FEWEST_LISTED, MOST_LISTED, list_heading, says
from rag_assets.answer.plans.listing import ListedNode, places_of
from rag_assets.answer.question_analysis import QueryTerm, root, root_set, roots_of
from rag_assets.contracts.evidence import short_name
from rag_assets.contracts.graph import NodeType, Relation
from rag_assets.graph.csr_graph import IN
from rag_assets.graph.declared_types import of_kind
from rag_assets.identifiers import identifier_words
from rag_assets.search.ranking.penalties import non_product_code

if TYPE_CHECKING:
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.search.index import LabelIndex

_CONTRACT = re.compile(r"^(?!.*\b(?:internal|private|static|sealed)\b).*\b(?:interface|abstract|trait|ABC|Protocol)\b")
_PUBLIC = re.compile(rf"(?=.*\bpublic\b){_CONTRACT.pattern}")
_HIDDEN_BY_DEFAULT = frozenset({"csharp", "java"})
_OF_CONTRACTS = root_set("i base abstract")
_MOST_OF_OTHERS = 4
"""Types that are called so for each that derives from a contract: of more some library has the contract."""


def contracts_to_implement(
    index: LabelIndex, graph: Graph, subject: Sequence[QueryTerm], of_one: bool, *, is_made: bool = False
) -> Facts:
    """The open contracts of the product, with the points that declare them: those about a `subject`, `of_one` those
    that are called so, and end with what `is_made`; without a subject those that something outside of the product
    implements, most of it first."""
    types = (
        (node, _PUBLIC if graph.language(node) in _HIDDEN_BY_DEFAULT else _CONTRACT)
        for node in of_kind(graph, NodeType.TYPE)
    )
    open_to_all = [node for node, contract in types if contract.match(graph.signature(node))]
    outside, derived = Counter[str](), dict[str, set[str]]()
    for edge in graph.edges_of(np.array(open_to_all, np.int64), IN, Relation.IMPLEMENTS, Relation.INHERITS):
        outside[edge.target] += non_product_code(edge.path) is not None
        derived.setdefault(edge.target, set()).add(edge.source)
    wanted, last = {word.root for word in subject}, [word.root for word in subject[-1:]]
    found = [
        one
        for one in seen_of(places_of(graph, np.array(open_to_all, np.int64)), index)
        if non_product_code(one.path) is None
        and (wanted <= roots_of(one.name) if of_one else says(subject, f"{one.name} {one.path}"))
        and (subject or outside[one.key])
        and not (is_made and subject and [*map(root, identifier_words(one.name.removesuffix("Base"))[-1:])] != last)
    ]
    if is_made and not found:
        found, wanted = _called_in_short(open_to_all, graph, index, subject, derived)
    if len(found) < (1 if subject else FEWEST_LISTED) or (of_one and not subject):
        return GraphFacts(), {}
    made = set().union(*(derived.get(one.key, ()) for one in found))
    called = [node for node in of_kind(graph, NodeType.TYPE) if wanted <= roots_of(graph.names[node])]
    is_exact = any(roots_of(one.name) - _OF_CONTRACTS == wanted for one in found)
    if of_one and not is_exact and len(called) > _MOST_OF_OTHERS * (len(made) + len(found)):
        return GraphFacts(), {}
    found.sort(key=lambda one: (-outside[one.key], one.path, one.line))
    at = facts_at([one.fact for one in found[:MOST_LISTED]], index)
    heading = list_heading("contract", len(found)).replace(":", " that others may implement:")
    return GraphFacts(tuple(at), len(found), heading), at


def _called_in_short(
    contracts: Sequence[int],
    graph: Graph,
    index: LabelIndex,
    subject: Sequence[QueryTerm],
    derived: Mapping[str, Collection[str]],
) -> tuple[list[ListedNode], set[str]]:
    """The contract that is called by the last words of a subject and nothing else, and these words: `ISender` for a
    mail sender, where its path, or what derives from it, says the others, or two words are left."""
    known = seen_of(places_of(graph, np.array(contracts, np.int64)), index)
    for first in range(1, len(subject)):
        left, before = {word.root for word in subject[first:]}, subject[:first]
        found = [
            one for one in known if non_product_code(one.path) is None and roots_of(one.name) - _OF_CONTRACTS == left
        ]
        said = " ".join(part for one in found for part in (one.path, *map(short_name, derived.get(one.key, ()))))
        if found and (len(left) > 1 or says(before, said)):
            return found, left
    return [], set()
