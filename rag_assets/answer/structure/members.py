"""The members of a type that a question names, of one sort and with the modifiers that it wants."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_assets.answer.artifact.graph_columns import GraphColumns
from rag_assets.answer.graph_facts import Facts, GraphFact, GraphFacts, facts_at
from rag_assets.answer.plans.code_lines import MOST_LISTED, list_heading
from rag_assets.answer.structure.declaration_questions import NAME
from rag_assets.answer.structure.questions import MODIFIERS, modifier_meant
from rag_assets.answer.structure.shapes import is_called_a
from rag_assets.answer.structure.traits import declarations, has_access, line_naming
from rag_assets.contracts.graph import NodeType
from rag_assets.identifiers import singular

if TYPE_CHECKING:
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.search.index import LabelIndex

_SO = rf"{MODIFIERS}|nullable|optional|override|overridden|const|constant"
_SORTS = {
    "method": (NodeType.METHOD,),
    "function": (NodeType.METHOD,),
    "constructor": (NodeType.METHOD,),
    "property": (NodeType.PROPERTY,),
    "field": (NodeType.PROPERTY,),
    "member": (NodeType.METHOD, NodeType.PROPERTY),
}
_NOUN = r"(?P<noun>methods?|functions?|constructors?|members?|propert(?:y|ies)|fields?)"
_ASKS = r"(?i:(?:which|what|list|show|name|how many|give|me|all|of|the|are|is|there|any) )*"
_FORMS = [
    re.compile(rf"^\W*{form}\W*$")
    for form in (
        rf"{_ASKS}(?i:(?P<so>{_SO}) )?(?i:{_NOUN} (?:(?:are |is )?(?:there )?(?:of|in|on)|does|do|has)) {NAME}"
        rf"(?i:(?: (?:have|has|declare|define|contain)s?)?)",
        rf"{_ASKS}(?i:{_NOUN} (?:of|in|on)) {NAME} (?i:(?:is|are)(?P<not> not|n't)? (?:marked |declared )?"
        rf"(?P<last>{_SO}))",
        rf"{_ASKS}{NAME}(?:['’]s?) (?i:(?P<so>{_SO}) )?(?i:{_NOUN})",
    )
]
_OF_VALUES = ("nullable", "optional")
_HAS_ACCESSORS = re.compile(r"\{\s*(?:get|set|init)\b|=>")
_NULLABLE = re.compile(r"\w[>\])]?\?(?=\s|:|$)|\bOptional\[|\| ?(?:None|null|undefined)\b|\bNullable<")
_CONSTANT = re.compile(r"\bconst\b|\bstatic (?:final|readonly)\b")
_OVERRIDES = re.compile(r"\boverride\b")


@dataclass(frozen=True, slots=True)
class MembersAsked:
    """The members of the types with a `name` that a question wants: of a sort, by its `noun`, and with a `modifier`, or
    `without` it."""

    name: str
    noun: str
    modifier: str = ""
    without: bool = False

    @property
    def said(self) -> str:
        return f"{self.modifier} {self.noun}" if self.modifier and not self.without else self.noun

    @property
    def told(self) -> str:
        """What a list says behind the noun."""
        return f" of {self.name}{f' not {self.modifier}' if self.without else ''}"


def members_asked(question: str) -> MembersAsked | None:
    """The members that a question is for; None for others, and for all the properties of a type: its declaration
    shows them best."""
    for form in _FORMS:
        if (found := form.match(question)) is None:
            continue
        said = found.groupdict()
        noun, modifier = singular(found["noun"].lower()), (said.get("so") or said.get("last") or "").lower()
        if modifier == "extension":
            return None  # which are of other types
        if not modifier and NodeType.PROPERTY in _SORTS[noun]:
            return None
        return MembersAsked(found["name"], noun, modifier_meant(modifier), said.get("not") is not None)
    return None


def member_facts(index: LabelIndex, graph: Graph, wanted: MembersAsked) -> tuple[Facts, bool]:
    """(the members that are wanted, each where it is declared; whether a type has some of the sort at all, so that none
    with the modifier says something)."""
    columns = GraphColumns(index, graph, None)
    types = [node for node in declarations(columns, wanted.name) if graph.kind(node) is NodeType.TYPE]
    members = [one for node in types for one in columns.contained(node) if graph.kind(one) in _SORTS[wanted.noun]]
    if wanted.modifier not in _OF_VALUES:  # whose fields are properties too, as people say it
        members = [one for one in members if _is_of_sort(columns, one, wanted.noun)]
    facts = sorted(_facts(columns, members, wanted), key=lambda fact: (fact.path, fact.line))
    if not facts:
        return (GraphFacts(), {}), bool(members)
    at = facts_at(facts[:MOST_LISTED], index)
    heading = list_heading(wanted.said, len(facts)).replace(":**", f"{wanted.told}:**")
    return (GraphFacts(tuple(at), len(facts), heading), at), True


def _facts(columns: GraphColumns, members: list[int], wanted: MembersAsked) -> Iterator[GraphFact]:
    for node in members:
        place = columns.place(node)
        if place is not None and (not wanted.modifier or _is_so(columns, node, wanted.modifier) is not wanted.without):
            line = line_naming(columns, node, place)
            yield GraphFact(columns.called(node), "", "", place.path, line, True)


def _is_of_sort(columns: GraphColumns, node: int, noun: str) -> bool:
    if noun in ("property", "field") and columns.graph.language(node) == "csharp":
        return (noun == "property") is (_HAS_ACCESSORS.search(columns.graph.signature(node)) is not None)
    return noun == "member" or is_called_a(noun, columns, node)


def _is_so(columns: GraphColumns, node: int, modifier: str) -> bool:
    signature = columns.graph.signature(node)
    head = signature.partition("(")[0].partition("=")[0]
    if modifier in _OF_VALUES:
        return _NULLABLE.search(head) is not None
    if modifier in ("const", "constant"):
        return _CONSTANT.search(head) is not None
    if modifier in ("override", "overridden"):
        return _OVERRIDES.search(head) is not None
    return has_access(columns, node, modifier)
