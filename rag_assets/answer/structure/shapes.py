"""Declarations of the product by how they are declared: by a modifier, by how many implement them, by how many
parameters they have."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.answer.artifact.graph_columns import GraphColumns
from rag_assets.answer.graph_facts import Facts, GraphFact, GraphFacts, named_nodes
from rag_assets.answer.plans.code_lines import facts_listed, lines_of
from rag_assets.contracts.graph import NodeType, Relation
from rag_assets.graph.csr_graph import OUT
from rag_assets.search import CodePlace

if TYPE_CHECKING:
    from rag_assets.answer.structure.questions import ShapeAsked
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.search.index import LabelIndex

_GENERIC = re.compile(r"^[^(=:{]*<\w")
_ABSTRACT_BASE = re.compile(r"^class \w+\(.*\bABC(?:Meta)?\b")  # of Python
_OPENS, _CLOSES = frozenset("([{<"), frozenset(")]}>")
_CONSTRUCTORS = ("__init__", "constructor", "__construct", "initialize", "init")
_STATIC = re.compile(r"(?:\w+ )*static\b")
_OF_METHODS = ("method", "function", "constructor")


def shaped(index: LabelIndex, graph: Graph, wanted: ShapeAsked) -> Facts:
    """The declarations of the product that have a shape."""
    columns, signature = GraphColumns(index, graph, None), graph.signature
    kind = NodeType.METHOD if wanted.noun in _OF_METHODS else NodeType.TYPE
    nodes = [node for node in columns.nodes(kind).tolist() if _is_a(wanted.noun, columns, node)]
    if wanted.modifier:
        nodes = [node for node in nodes if _has(signature(node), wanted.modifier)]
    if wanted.derived is not None:
        counts = _implementations(columns)
        nodes = [node for node in nodes if wanted.derived(counts.get(node, 0))]
    if wanted.parameters is not None:
        nodes = [node for node in nodes if wanted.parameters(_parameters(signature(node)))]
    places = [(columns.place(node), node) for node in nodes]
    shown = sorted((at.path, at.line_start, node) for at, node in places if at is not None)
    facts = [GraphFact(columns.called(node), "", "", path, line, True) for path, line, node in shown]
    return facts_listed(facts, wanted.said, index) if facts else (GraphFacts(), {})


def _is_a(noun: str, columns: GraphColumns, node: int) -> bool:
    """Whether a node is called so: each language has its word for it in the signature; the other nouns mean any."""
    signature = columns.graph.signature(node)
    if noun in ("interface", "struct", "record", "enum"):
        return re.search(rf"\b{noun}\b", signature) is not None
    if noun == "class":
        return re.search(r"\b(?:interface|struct|enum|trait|protocol|type)\b", signature.partition("{")[0]) is None
    owner = int(columns.type_of[node])
    is_constructor = owner not in (-1, node) and columns.graph.names[node] in (columns.graph.names[owner], "__init__")
    return is_constructor if noun == "constructor" else not (noun in _OF_METHODS and is_constructor)


def _has(signature: str, modifier: str) -> bool:
    if modifier == "generic":
        return _GENERIC.search(signature) is not None
    if modifier == "abstract" and _ABSTRACT_BASE.search(signature):
        return True
    return re.search(rf"\b{modifier}\b", signature.partition("(")[0]) is not None


def _implementations(columns: GraphColumns) -> dict[int, int]:
    """Of each type how many of the product derive from it or implement it at once."""
    wanted = columns.of(Relation.IMPLEMENTS, Relation.INHERITS) & columns.product[columns.source]
    pairs = {*zip(columns.target[wanted].tolist(), columns.source[wanted].tolist(), strict=True)}
    targets, counts = np.unique([target for target, _ in pairs], return_counts=True)
    return dict(zip(map(int, targets.tolist()), counts.tolist(), strict=True))


def _parameters(signature: str) -> int:
    """How many parameters stand between the first brackets of a signature."""
    inside, depth, commas = "", 0, 0
    for letter in signature[signature.find("(") + 1 :] if "(" in signature else "":
        depth += (letter in _OPENS) - (letter in _CLOSES)
        if depth < 0:
            break
        inside += letter
        commas += letter == "," and depth == 0
    names = inside.strip().rstrip(",")
    is_receiver = re.match(r"(?:self|cls)\b", names) is not None
    return commas + 1 - is_receiver if names else 0


def constructed(index: LabelIndex, graph: Graph, name: str) -> list[CodePlace]:
    """Where the constructors of a type are, or those heads of the type itself that have parameters."""
    places: list[CodePlace] = []
    nodes = (node for key in named_nodes(graph, [name]) if (node := graph.find(key)) is not None)
    for node in (node for node in nodes if graph.kind(node) is NodeType.TYPE):
        edges = graph.edges_of(node, OUT, Relation.CONTAINS)
        members = [member for edge in edges if (member := graph.find(edge.target)) is not None]
        named = [one for one in members if graph.names[one] in (graph.names[node], *_CONSTRUCTORS)]
        own = [one for one in named if graph.kind(one) is NodeType.METHOD and not _STATIC.match(graph.signature(one))]
        at = [place for one in own for place in graph.places(one)]
        if not at:
            heads = graph.places(node)
            lines = lines_of(index, [head.path for head in heads])
            at = [head for head in heads if "(" in lines.get(head.path, {}).get(head.line_start, "")]
        places += [CodePlace(one.path, one.line_start) for one in at]
    return places
