"""The members of a type that a question names, of one sort and with the modifiers that it wants; and what is declared
in a file or a namespace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rag_assets.answer.artifact.graph_columns import GraphColumns
from rag_assets.answer.graph_facts import Facts, GraphFact, GraphFacts, facts_at
from rag_assets.answer.passages import DECLARATIVE, PROSE
from rag_assets.answer.plans.code_lines import MOST_LISTED, list_heading
from rag_assets.answer.structure.declaration_questions import NAME
from rag_assets.answer.structure.questions import MODIFIERS, modifier_meant
from rag_assets.answer.structure.shapes import is_called_a
from rag_assets.answer.structure.traits import declarations, has_access, line_naming, namespace_of
from rag_assets.contracts.graph import NodeType
from rag_assets.graph.declared_types import of_kind
from rag_assets.identifiers import singular
from rag_assets.languages.detection import detect_language

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
_HAS = r"(?: (?:have|has|declare|define|contain)s?)?"
_FORMS = [
    re.compile(rf"^\W*{form}\W*$")
    for form in (
        rf"{_ASKS}(?i:(?P<so>{_SO}) )?(?i:{_NOUN} (?:(?:are |is )?(?:there )?(?:of|in|on)|does|do|has)) {NAME}"
        rf"(?i:{_HAS})",
        rf"{_ASKS}(?i:{_NOUN} (?:of|in|on)) {NAME} (?i:(?:is|are)(?P<not> not|n't)? (?:marked |declared )?"
        rf"(?P<last>{_SO}))",
        rf"{_ASKS}{NAME}(?:['’]s?) (?i:(?P<so>{_SO}) )?(?i:{_NOUN})",
    )
]
_TYPES = r"(?P<types>class(?:es)?|types?|interfaces?|structs?|records?|enums?)"
_WITHIN = r"(?:(?:(?:are|is) )?(?:there |defined |declared )?(?:in|of)|does|do|has) (?:the )?"
_HOMES = [
    re.compile(rf"^\W*{_ASKS}(?i:{form})\W*$")
    for form in (
        rf"(?:{_NOUN}|{_TYPES}) {_WITHIN}(?:file )?(?P<file>[\w./\\-]+\.[a-z]{{1,5}}){_HAS}",
        rf"{_TYPES} {_WITHIN}(?:namespace|package) (?P<space>[a-z][\w.]*\w){_HAS}",
    )
]
_OF_VALUES = ("nullable", "optional")
_HAS_ACCESSORS = re.compile(r"\{\s*(?:get|set|init)\b|=>")
_NULLABLE = re.compile(r"\w[>\])]?\?(?=\s|:|$)|\bOptional\[|\| ?(?:None|null|undefined)\b|\bNullable<")
_CONSTANT = re.compile(r"\bconst\b|\bstatic (?:final|readonly)\b")
_OVERRIDES = re.compile(r"\boverride\b")


@dataclass(frozen=True, slots=True)
class MembersAsked:
    """The members that a question wants of the types with a `name`, or what the file or the namespace with that name
    declares: of a sort, by its `noun`, and with a `modifier`, or `without` it."""

    name: str
    noun: str
    modifier: str = ""
    without: bool = False
    home: Literal["type", "file", "namespace"] = "type"

    @property
    def said(self) -> str:
        return f"{self.modifier} {self.noun}" if self.modifier and not self.without else self.noun

    @property
    def told(self) -> str:
        """What a list says behind the noun."""
        return f" {'of' if self.home == 'type' else 'in'} {self.name}{f' not {self.modifier}' if self.without else ''}"


def members_asked(question: str) -> MembersAsked | None:
    """The members that a question is for; None for others, and for all the properties of a type: its declaration
    shows them best."""
    for form in _HOMES:
        if (found := form.match(question)) is not None:
            said = {name: text for name, text in found.groupdict().items() if text}
            noun = singular((said.get("noun") or said.get("types", "")).lower())
            if "space" in said:
                return MembersAsked(said["space"], noun, home="namespace")
            file = said["file"].replace("\\", "/")
            return MembersAsked(file, noun, home="file") if _is_code(file) else None
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


def _is_code(path: str) -> bool:
    return detect_language(path) not in PROSE | DECLARATIVE


def member_facts(index: LabelIndex, graph: Graph, wanted: MembersAsked) -> tuple[Facts, bool]:
    """(the members that are wanted, each where it is declared; whether a type has some of the sort at all, so that none
    with the modifier says something)."""
    columns = GraphColumns(index, graph, None)
    members = list(_of_home(columns, wanted) if wanted.home != "type" else _of_types(columns, wanted))
    facts = sorted(_facts(columns, members, wanted), key=lambda fact: (fact.path, fact.line))
    if not facts:
        return (GraphFacts(), {}), bool(members)
    at = facts_at(facts[:MOST_LISTED], index)
    heading = list_heading(wanted.said, len(facts)).replace(":**", f"{wanted.told}:**")
    return (GraphFacts(tuple(at), len(facts), heading), at), True


def _of_types(columns: GraphColumns, wanted: MembersAsked) -> Iterator[int]:
    graph = columns.graph
    for node in declarations(columns, wanted.name):
        for one in columns.contained(node) if graph.kind(node) is NodeType.TYPE else ():
            # of nullable fields properties are some too, as people say it
            is_of_sort = wanted.modifier in _OF_VALUES or _is_of_sort(columns, one, wanted.noun)
            if graph.kind(one) in _SORTS[wanted.noun] and is_of_sort:
                yield one


def _of_home(columns: GraphColumns, wanted: MembersAsked) -> Iterator[int]:
    """What a file or a namespace declares; of a namespace with those below it."""
    graph, kinds = columns.graph, _SORTS.get(wanted.noun, (NodeType.TYPE,))
    every = (node for kind in kinds for node in of_kind(graph, kind))  # of a file of tests too
    for node in every if wanted.home == "file" else columns.nodes(*kinds).tolist():
        if wanted.noun in _SORTS and not _is_of_sort(columns, node, wanted.noun):
            continue
        if wanted.noun not in (*_SORTS, "type") and not is_called_a(wanted.noun, columns, node):
            continue
        if wanted.home == "file" or f"{namespace_of(graph, node)}.".startswith(f"{wanted.name}."):
            yield node


def _facts(columns: GraphColumns, members: list[int], wanted: MembersAsked) -> Iterator[GraphFact]:
    for node in members:
        places = columns.places(node) if wanted.home == "file" else [columns.place(node)]
        place = next((one for one in places if one is None or _is_in(one.path, wanted)), None)
        if place is not None and (not wanted.modifier or _is_so(columns, node, wanted.modifier) is not wanted.without):
            line = line_naming(columns, node, place)
            yield GraphFact(columns.called(node), "", "", place.path, line, True)


def _is_in(path: str, wanted: MembersAsked) -> bool:
    return wanted.home != "file" or f"/{path}".endswith(f"/{wanted.name}")


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
