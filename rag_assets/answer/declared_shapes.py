"""Declarations of the product by how they are declared: by a modifier, by how many implement them, by how many
parameters they have."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.answer.artifact.graph_columns import GraphColumns
from rag_assets.answer.graph_facts import GraphFact, GraphFacts, named_nodes
from rag_assets.answer.plans.code_lines import facts_listed, lines_of
from rag_assets.contracts.graph import NodeType, Relation
from rag_assets.graph.csr_graph import OUT
from rag_assets.search import CodePlace

if TYPE_CHECKING:
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.search.index import LabelIndex

_MODIFIER = (
    "static|abstract|sealed|final|async|asynchronous|partial|generic|internal|public|private|protected|virtual|readonly"
    "|suspend|unsafe|extern|inline"
)
_NOUNS = "class(?:es)?|types?|interfaces?|structs?|records?|enums?|methods?|functions?|constructors?"
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBERS = {word: number for number, word in enumerate(_WORDS)}
_NUMBER = rf"\d+|a single|a|{'|'.join(_WORDS)}"
_HERE = (
    r"(?: (?:are |is )?(?:there|here)| exist| do we have| does it have"
    r"| in (?:the|this) (?:code|project|code ?base|repo\w*))*\W*$"
)
_ASKED = re.compile(
    rf"^\W*(?:(?:which|what|list|show|how many|are|is|me|all|the|there|any) )*"
    rf"(?:(?P<before>{_MODIFIER}) (?P<noun_after>{_NOUNS}){_HERE}"
    rf"|(?P<noun>{_NOUNS}) (?:(?:is|are|were) (?:declared |marked )?(?:as )?(?P<modifier>{_MODIFIER}){_HERE}"
    r"|(?:has|have|with) (?P<how>only |just |exactly |more than |at least |over |fewer than )?"
    rf"(?P<count>{_NUMBER}|several|many)"
    r" (?P<of>implementations?|implementors?|implementers?|sub-?class(?:es)?|derived (?:class|type)(?:e?s)?)\W*$"
    rf"|(?:has|have|takes?|with) (?P<than>more than |at least |over |exactly )?(?P<parameters>{_NUMBER})"
    r" (?:parameters?|arguments?)\W*$))",
    re.IGNORECASE,
)
_SAME = {"asynchronous": "async"}
_GENERIC = re.compile(r"^[^(=:{]*<\w")
_OPENS, _CLOSES = frozenset("([{<"), frozenset(")]}>")
_CONSTRUCTORS = ("__init__", "constructor", "__construct", "initialize", "init")
_STATIC = re.compile(r"(?:\w+ )*static\b")
_OF_METHODS = ("method", "function", "constructor")


@dataclass(frozen=True, slots=True)
class ShapeAsked:
    """Declarations that a question wants by their shape: `noun` in the singular, and one of a `modifier`, a number of
    those that derive from it, a number of parameters."""

    noun: str
    modifier: str = ""
    derived: Callable[[int], bool] | None = None
    parameters: Callable[[int], bool] | None = None

    @property
    def said(self) -> str:
        return f"{self.modifier} {self.noun}" if self.modifier else f"such {self.noun}"


def shape_asked(question: str) -> ShapeAsked | None:
    found = _ASKED.match(question)
    if found is None:
        return None
    noun = re.sub(r"(?<=class)es$|(?<!s)s$", "", (found["noun"] or found["noun_after"]).lower())
    if found["of"]:
        return ShapeAsked(noun, derived=_comparison(found["how"] or "", found["count"]))
    if found["parameters"]:
        return ShapeAsked(noun, parameters=_comparison(found["than"] or "", found["parameters"]))
    modifier = (found["before"] or found["modifier"]).lower()
    return ShapeAsked(noun, modifier=_SAME.get(modifier, modifier))


def shaped(index: LabelIndex, graph: Graph, wanted: ShapeAsked) -> tuple[GraphFacts, dict[GraphFact, str]]:
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
    return re.search(rf"\b{modifier}\b", signature.partition("(")[0]) is not None


def _comparison(how: str, count: str) -> Callable[[int], bool]:
    how, count = how.strip().lower(), count.lower()
    if count in ("several", "many"):
        how, count = "more than", "one"
    number = int(count) if count.isdigit() else _NUMBERS.get(count, 1)
    if how in ("more than", "over"):
        return lambda found: found > number
    if how == "at least":
        return lambda found: found >= number
    if how == "fewer than":
        return lambda found: found < number
    return lambda found: found == number


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
