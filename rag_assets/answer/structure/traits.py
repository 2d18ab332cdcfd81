"""What is so of one declaration: how it is declared, how long it lives in a container, where it belongs, how much it
has."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rag_assets.answer.artifact.graph_columns import GraphColumns
from rag_assets.answer.graph_facts import Facts, GraphFact, GraphFacts, facts_at, named_nodes
from rag_assets.answer.plans.code_lines import SAYS_NO_USE
from rag_assets.answer.structure.declaration_questions import KINDS, TraitAsked
from rag_assets.answer.structure.shapes import has_modifier, is_called_a, parameter_count
from rag_assets.contracts.graph import NodeType
from rag_assets.identifiers import plural
from rag_assets.search import CodePlace

if TYPE_CHECKING:
    from rag_assets.graph.csr_graph import Graph, NodeLocation
    from rag_assets.search.index import LabelIndex

_MOST = 8  # declarations of one name
_DECLARED = frozenset({NodeType.TYPE, NodeType.METHOD, NodeType.PROPERTY})
_OF_MEMBERS = {
    "method": NodeType.METHOD,
    "function": NodeType.METHOD,
    "constructor": NodeType.METHOD,
    "property": NodeType.PROPERTY,
    "field": NodeType.PROPERTY,
}
_ACCESS = ("internal", "private", "protected", "public")
_WITHOUT_MODIFIER = {"csharp": ("internal", "private"), "java": ("", ""), "swift": ("internal", "internal")}
"""What a type and a member are that say no access, where that is not `public`."""
_IS_PUBLIC: Mapping[str, Callable[[str, str], bool]] = {
    "python": lambda name, _: not name.startswith("_"),
    "go": lambda name, _: all(part[:1].isupper() for part in name.split(".")),  # a method with its type
    "rust": lambda _, signature: signature.startswith("pub "),
}
"""The languages that say by a name, or by a word of their own before it, whether others may use it."""


def trait_facts(index: LabelIndex, graph: Graph, wanted: TraitAsked) -> Facts:
    """What a question asks of the declarations that are called so, of the product if it has any, each where it is."""
    columns = GraphColumns(index, graph, None)
    nodes = declarations(columns, wanted.name)
    facts = list(dict.fromkeys(_facts(columns, nodes, wanted)))
    at = facts_at(facts[:_MOST], index)
    return GraphFacts(tuple(at), len(facts)), at


def declared_at(index: LabelIndex, graph: Graph, name: str) -> list[CodePlace]:
    """Where what is called so is declared."""
    columns = GraphColumns(index, graph, None)
    places = (columns.place(node) for node in declarations(columns, name))
    return [CodePlace(place.path, place.line_start) for place in places if place is not None]


def declarations(columns: GraphColumns, name: str) -> list[int]:
    """The types and members with a name that the reader may see, of the product if it has any."""
    graph = columns.graph
    found = [node for key in named_nodes(graph, [name]) if (node := graph.find(key)) is not None]
    found = [node for node in found if graph.kind(node) in _DECLARED and columns.place(node) is not None]
    return [node for node in found if columns.product[node]] or found


def _facts(columns: GraphColumns, nodes: Sequence[int], wanted: TraitAsked) -> Iterator[GraphFact]:
    of_types = [node for node in nodes if columns.graph.kind(node) is NodeType.TYPE]
    for node in (of_types or nodes) if wanted.trait in KINDS else nodes:
        place = columns.place(node)
        verb, told = _told(columns, node, wanted)
        if place is not None and told is not None:
            line = line_naming(columns, node, place)
            yield GraphFact(columns.called(node), verb, told, place.path, line, True, is_comment=True)


def line_naming(columns: GraphColumns, node: int, place: NodeLocation) -> int:
    """The line of a declaration that has its name: attributes and comments stand before it."""
    name = columns.graph.names[node]
    lines = enumerate(columns.lines_at(place), place.line_start)
    named = (at for at, text in lines if name in text and not SAYS_NO_USE.match(text))
    return next(named, place.line_start)


def _told(columns: GraphColumns, node: int, wanted: TraitAsked) -> tuple[str, str | None]:
    """(verb, what is told) of a node; None of one that cannot have it."""
    if wanted.trait:
        is_so = (
            is_called_a(wanted.trait, columns, node)
            if wanted.trait in KINDS
            else has_access(columns, node, wanted.trait)
        )
        article = "" if wanted.trait not in KINDS else "an " if wanted.trait[0] in "aeiou" else "a "
        return "is" if is_so else "is not", f"{article}{wanted.trait}"
    if wanted.part:
        return "belongs to", _part(columns, node, wanted.part) or None
    count, noun = _count(columns, node, wanted.counted), wanted.counted
    if count is None:
        return "", None
    return "has", f"{count:,} {noun if count == 1 else plural(noun)}"


def has_access(columns: GraphColumns, node: int, modifier: str) -> bool:
    """Whether a declaration has a modifier or an access, if only as what its language means without one."""
    graph = columns.graph
    head = graph.signature(node).partition("(")[0]
    if modifier not in _ACCESS or re.search(rf"\b(?:{'|'.join(_ACCESS)})\b", head):
        return has_modifier(columns, node, modifier)
    language, name = graph.language(node), graph.names[node]
    if language in _IS_PUBLIC:
        is_public = _IS_PUBLIC[language](name, graph.signature(node))
        return (modifier == "private") is not is_public and modifier in ("private", "public")
    owner = int(columns.type_of[node])
    is_member = owner not in (-1, node) and graph.kind(node) is not NodeType.TYPE
    of_interface = is_member and is_called_a("interface", columns, owner)
    of_type, of_member = _WITHOUT_MODIFIER.get(language, ("public", "public"))
    return modifier == ("public" if of_interface else of_member if is_member else of_type)


def _part(columns: GraphColumns, node: int, part: str) -> str:
    """The namespace or the project of a declaration; '' where it has none."""
    place = columns.place(node)
    path = place.path if place is not None else ""
    if part in ("project", "assembly"):
        homes = {one.rpartition("/")[0]: one for one in columns.projects}
        folders = [path[: at.start()] for at in re.finditer("/", path)]
        return next((homes[folder] for folder in (*reversed(folders), "") if folder in homes), "")
    return namespace_of(columns.graph, node) or path.rpartition("/")[0]


def namespace_of(graph: Graph, node: int) -> str:
    """What the name of the outermost type is in: the dotted names before it that are no types."""
    language, _, rest = graph.keys[node].partition(":")
    parts = rest.partition("|")[0].partition("(")[0].split(".")
    if "/" in rest:
        return ""
    for count in range(1, len(parts)):
        if graph.find(f"{language}:{'.'.join(parts[:count])}|{NodeType.TYPE}") is not None:
            return ".".join(parts[: count - 1])
    return ".".join(parts[:-1])


def _count(columns: GraphColumns, node: int, noun: str) -> int | None:
    graph = columns.graph
    if noun == "line":
        is_code = graph.kind(node) is not NodeType.PROPERTY  # how long a `BreakDuration` is, its value says
        return columns.length(node) if is_code else None
    if noun in ("parameter", "argument"):
        return parameter_count(graph.signature(node)) if graph.kind(node) is NodeType.METHOD else None
    if graph.kind(node) is not NodeType.TYPE:
        return None
    members = columns.contained(node)
    if noun == "member":
        return len(members)
    kind = _OF_MEMBERS[noun]
    return sum(graph.kind(one) is kind and is_called_a(noun, columns, one) for one in members)
