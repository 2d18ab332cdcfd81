"""Values that code writes out: of enumerations, of types that stand for one, and of classes of constants."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from rag_assets.answer.graph_facts import Facts, GraphFacts, seen_of
from rag_assets.answer.plans.code_lines import FEWEST_LISTED, facts_listed
from rag_assets.answer.plans.listing import ListedNode, nodes_listed, places_of
from rag_assets.answer.question_analysis import QueryTerm, roots_of
from rag_assets.contracts.graph import NodeType, key_kind
from rag_assets.graph.csr_graph import Graph
from rag_assets.graph.declared_types import held_by, held_by_each, of_kind
from rag_assets.search.index import LabelIndex
from rag_assets.search.ranking.penalties import non_product_code

_CONSTANT_MEMBER = re.compile(r"\bconst\b|\bstatic (?:readonly|final)\b|\bstatic [\w.]+ \w+ \{ get; \}$")
_FEWEST_CONSTANTS = 9  # fewer are quoted with the class
_FIELD = re.compile(r"^[^(]*=")
_STATIC_METHOD = re.compile(r"\bstatic\b[^=]*\(")
_OF_ITSELF = r"\bstatic (?:(?:final|new|readonly) )*(?:(?:\w+\.)*{0} \w|\w+ = new {0}\()"
"""How a type says that a member of it is one of its values."""
_MADE_VALUE = re.compile(
    rf"\.(?!(?:Build|Create|Current|Default|Get|Instance|New|Next|Random))[A-Z]\w*\(\)\|{NodeType.METHOD.value}$"
)
"""A value beside those that are kept, made each time: `Replace()`."""
_HIDDEN = re.compile(r"\b(?:internal|private)\b")


def enumerations(graph: Graph) -> Iterator[tuple[ListedNode, str]]:
    """The enumerations of the product, each with the type that it is in, '' outside of types."""
    for one in nodes_listed(graph, "enum"):
        if non_product_code(one.path) is None:
            yield one, _type_around(graph, one.key)


def _type_around(graph: Graph, key: str) -> str:
    """The name of the type that a type is in; '' outside of types."""
    owner = key.partition("|")[0].rpartition(".")[0]
    is_inside = bool(owner) and graph.find(f"{owner}|{NodeType.TYPE.value}") is not None
    return re.split(r"[.:]", owner)[-1] if is_inside else ""


def holders_of_constants(graph: Graph) -> Iterator[str]:
    """The names of the classes of the product that have nothing but constants beside what they do with them and types
    inside, and of interfaces of Java that have fields, each with what it is in."""
    java = [one for one in nodes_listed(graph, "interface") if one.path.endswith(".java")]
    types = [(one, _CONSTANT_MEMBER) for one in nodes_listed(graph, "class")] + [(one, _FIELD) for one in java]
    known = [(one, constant, graph.find(one.key)) for one, constant in types if non_product_code(one.path) is None]
    found = [(one, constant, node) for one, constant, node in known if node is not None]
    held = held_by_each(graph, [node for *_, node in found])
    for (one, constant, _), members in zip(found, held, strict=True):
        own = (graph.signature(at) for at in members if key_kind(graph.keys[at]) is not NodeType.TYPE)
        signatures = (signature for signature in own if not _STATIC_METHOD.search(signature))
        first = next(signatures, "")
        if first and constant.search(first) and all(map(constant.search, signatures)):
            yield ".".join(one.key.rpartition("|")[0].rpartition(":")[2].split(".")[-2:])


def values_listed(index: LabelIndex, graph: Graph, noun: str, name: str) -> Facts:
    """The values of a type that it holds itself, as one that stands for an enumeration does: `static readonly Currency
    Euro`; of Go the constants of that type."""
    of_itself = re.compile(_OF_ITSELF.format(re.escape(name)), re.IGNORECASE)
    types = [node for node in of_kind(graph, NodeType.TYPE) if graph.names[node].casefold() == name.casefold()]
    values = [node for node in held_by(graph, types) if of_itself.search(graph.signature(node))]
    values = [node for node in values if not _HIDDEN.search(graph.signature(node))] or values
    values = values or _constants_of_type(graph, name)
    known = [one for one in places_of(graph, np.array(values, np.int64)) if non_product_code(one.path) is None]
    found = [one for one in known if key_kind(one.key) is NodeType.PROPERTY]
    if len(found) < FEWEST_LISTED:
        return GraphFacts(), {}
    found += [one for one in known if _MADE_VALUE.search(one.key)]
    found = sorted(seen_of(found, index), key=lambda one: (one.path, one.line))
    return facts_listed([one.fact for one in found], noun, index)


def constants_listed(index: LabelIndex, graph: Graph, noun: str, name: str, subject: Sequence[QueryTerm]) -> Facts:
    """The constants of a class that has nothing else and more than an outline of it tells, each with its line: those
    alone whose names say something of a subject, where some do."""
    if name not in {one.rpartition(".")[2] for one in holders_of_constants(graph)}:
        return GraphFacts(), {}
    types = [node for node in of_kind(graph, NodeType.TYPE) if graph.names[node] == name]
    outside = [
        node for node in types if not _type_around(graph, graph.keys[node])
    ]  # in `Permissions.Roles` are no roles
    types = outside or types
    places = places_of(graph, np.array(held_by(graph, types), np.int64))
    found = [one for one in places if key_kind(one.key) is NodeType.PROPERTY and non_product_code(one.path) is None]
    about = {word.root for word in subject}
    telling = [one for one in found if not about.isdisjoint(roots_of(one.name))]
    is_some = FEWEST_LISTED <= len(telling) < len(found)
    found = seen_of(sorted(telling if is_some else found, key=lambda one: (one.path, one.line)), index)
    if len(found) < (FEWEST_LISTED if is_some else _FEWEST_CONSTANTS):
        return GraphFacts(), {}
    return facts_listed([one.fact for one in found], noun, index)


def _constants_of_type(graph: Graph, name: str) -> list[int]:
    """The constants of the one type of Go that is called so, or whose name ends so: `Public Visibility = "PUBLIC"`."""
    found: dict[str, list[int]] = {}
    of_type = re.compile(rf"\w+ (?P<type>\w*{re.escape(name)}) = ", re.IGNORECASE)
    for node in of_kind(graph, NodeType.PROPERTY):
        if graph.language(node) == "go" and (known := of_type.match(graph.signature(node))):
            found.setdefault(known["type"].casefold(), []).append(node)
    own = found.get(name.casefold())
    return own or (next(iter(found.values())) if len(found) == 1 else [])
