"""Whether one thing may have several of another: what the type that is called as it declares of that."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from rag_assets.answer.graph_facts import Facts, GraphFact, GraphFacts, facts_at
from rag_assets.answer.passages import indent_of
from rag_assets.answer.plans.code_lines import lines_of
from rag_assets.answer.question_analysis import name_roots, root
from rag_assets.contracts.graph import NodeType
from rag_assets.graph.declared_types import of_kind
from rag_assets.identifiers import singular
from rag_assets.search.ranking.penalties import non_product_code

if TYPE_CHECKING:
    from rag_assets.graph.csr_graph import Graph, NodeLocation
    from rag_assets.search.index import LabelIndex

_THING = r"[a-z]\w*(?: [a-z]\w*)?"
_SEVERAL = r"(?:several|many|multiple|more than one|two or more|any number of)(?: different)?"
_HAVE = r"(?:be (?:an? )?(?:member|owner|part) of|be in|belong to|contain|have|hold|own)"
_ASKED = re.compile(
    rf"^\W*(?:can|could|may|do|does) (?:an?|each|every|one|the) (?P<owner>{_THING}?) {_HAVE} {_SEVERAL}"
    rf" (?P<thing>{_THING})\W*$",
    re.IGNORECASE,
)
_NAME = re.compile(r"[A-Za-z_]\w*")
_FLAG = re.compile(r"(?:^|_)(?:can|has|is)_|^_?(?:[cC]an|[hH]as|[iI]s)[A-Z]")
_NO_FIELD = re.compile(
    r"\s*(?:#|//|/?\*|@@|@\w|\[[A-Z]|import\b|return\b|[{}()\s]*$)|.*\b(?:class|interface|model|record|struct) \w"
    r"|.*\w\s*\([^()]*\)\s*(?:throws [\w, ]+)?(?:\{|=>)"
)
"""Comments, attributes, methods, and how the type begins and ends."""
_BEHIND = re.compile(r"[\"'=].*|\w+\s*\(.*")
"""Attributes and values behind a field, and what is called."""
_KEEPS = ("config", "configuration", "entity", "model", "record", "state")
"""What types are called beside what they keep."""
_LONGEST = 300  # lines of a type
_MOST_TYPES = 4


class HeldAsked(NamedTuple):
    """The roots of the words for what may have several, and for what it may have."""

    owner: tuple[str, ...]
    thing: tuple[str, ...]


def held_asked(question: str) -> HeldAsked | None:
    """What a question asks of; None for others."""
    found = _ASKED.match(question)
    if found is None:
        return None
    return HeldAsked(*(tuple(root(singular(word)) for word in found[of].lower().split()) for of in HeldAsked._fields))


def held_facts(index: LabelIndex, graph: Graph, wanted: HeldAsked) -> Facts:
    """The lines with which the types of the product that are called as the owner, or as what keeps it, declare the
    thing."""
    kept = [(*wanted.owner, root(word)) for word in _KEEPS]
    named = [(node, tuple(name_roots(graph.names[node]))) for node in of_kind(graph, NodeType.TYPE)]
    for names in ([wanted.owner], kept):
        called = [node for node, roots in named if roots in names]
        places = {place: graph.names[node] for node in called for place in graph.places(node)}
        places = {place: name for place, name in places.items() if non_product_code(place.path) is None}
        lines = lines_of(index, {place.path for place in places}) if len(places) <= _MOST_TYPES else {}
        found = [
            GraphFact(name, "", "", place.path, at, certain=True, is_comment=True)
            for place, name in places.items()
            for at in _declaring(lines.get(place.path, {}), place, wanted.thing)
        ]
        if at := facts_at(found, index):
            return GraphFacts(tuple(at), len(at), f"**What {found[0].source} declares of it:**"), at
    return GraphFacts(), {}


def _declaring(lines: Mapping[int, str], place: NodeLocation, thing: tuple[str, ...]) -> Iterable[int]:
    """The lines of the first level of a type that have a name that is, or ends with, what is asked for."""
    last = min(place.line_end, place.line_start + _LONGEST)
    inside = [at for at in range(place.line_start, last + 1) if not _NO_FIELD.match(lines.get(at, ""))]
    level = min((indent_of(lines[at]) for at in inside), default=0)
    things = (thing, (*thing, "id"))
    for at in inside:
        names = _NAME.findall(_BEHIND.sub("", lines[at])) if indent_of(lines[at]) == level else []
        said = [tuple(name_roots(name)) for name in names if not _FLAG.search(name)]
        if any(roots[-len(one) :] == one for roots in said for one in things):
            yield at
