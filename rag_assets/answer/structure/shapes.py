"""Declarations of the product by how they are declared: by a modifier, by how many implement them, by the parameters
that they have."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.answer.artifact.graph_columns import GraphColumns
from rag_assets.answer.graph_facts import Facts, GraphFact, GraphFacts, facts_at, named_nodes
from rag_assets.answer.passages import DECLARATIVE
from rag_assets.answer.plans.code_lines import MOST_LISTED, facts_listed, lines_of, list_heading
from rag_assets.answer.plans.listing import places_of
from rag_assets.answer.structure.questions import OF_KINDS
from rag_assets.contracts.graph import NodeType, Relation
from rag_assets.graph.csr_graph import IN
from rag_assets.graph.declared_types import bases_of, of_kind
from rag_assets.search import CodePlace
from rag_assets.search.ranking.penalties import non_product_code

if TYPE_CHECKING:
    from rag_assets.answer.structure.questions import ShapeAsked
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.search.index import LabelIndex

_FITS_SILENTLY = ("go", "typescript", "tsx")
_GENERIC = re.compile(r"^[^(=:{]*<\w")
_EXTENDS = re.compile(r"\(\s*(?:\[\w+\]\s*)?this\s+\w|\bfun\s+(?:<[^>]*>\s*)?[A-Z]\w*(?:<[^>]*>)?\??\.\w")
_APART = ("abstract", "static")
"""What is never sealed."""
_SCRIPTS = frozenset({"go", "javascript", "perl", "powershell", "python", "ruby", "shell", "tsx", "typescript"})
_WITHOUT: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("final", "private", "protected", "sealed"), _SCRIPTS),
    "public": _SCRIPTS | {"kotlin"},
    "static": frozenset({"go", "powershell", "ruby", "shell"}),
    "async": frozenset({"c", "cpp", "go", "java", "kotlin", "perl", "php", "powershell", "ruby", "scala", "shell"}),
}
"""Languages that have no such word: that nothing is so there says nothing."""
_ABSTRACT_BASE = re.compile(r"^class \w+\(.*\bABC(?:Meta)?\b")  # of Python
_OPENS, _CLOSES = frozenset("([{<"), frozenset(")]}>")
_NAMED_CONSTRUCTORS = ("__init__", "constructor", "__construct")
_CONSTRUCTORS = (*_NAMED_CONSTRUCTORS, "initialize", "init")
_STATIC = re.compile(r"(?:\w+ )*static\b")
_HANDLES = re.compile(r"(?:Handler|Validator|Consumer|Behaviou?r|Profile)(?:Base)?$")
ERRORS = ("exception", "error")
_OF_METHODS = ("method", "function", "constructor")
_MOST_BEFORE = 40  # an overload: its comment and its attributes
_PARAMETERS = re.compile(r"\((?P<all>.*)\)[^)]*$", re.DOTALL)


def shaped(index: LabelIndex, graph: Graph, wanted: ShapeAsked) -> Facts:
    """The declarations of the product that have a shape."""
    columns, signature = GraphColumns(index, graph, None), graph.signature
    kind = NodeType.METHOD if wanted.noun in _OF_METHODS else NodeType.TYPE
    if wanted.handled is not None:
        nodes = types_of_sort(columns, wanted.noun)
    else:
        nodes = [node for node in columns.nodes(kind).tolist() if is_called_a(wanted.noun, columns, node)]
    if wanted.modifiers:
        nodes = [node for node in nodes if _is_so(columns, node, wanted)]
    if wanted.handled is not None:
        counts = _sources(columns, Relation.HANDLES)
        nodes = [node for node in nodes if wanted.handled(counts.get(node, 0))]
    if wanted.derived is not None:
        counts = _sources(columns, Relation.IMPLEMENTS, Relation.INHERITS)
        if wanted.derived(0):  # what fits an interface there says nowhere that it does
            nodes = [node for node in nodes if graph.language(node) not in _FITS_SILENTLY]
        nodes = [node for node in nodes if wanted.derived(counts.get(node, 0))]
    if wanted.parameters is not None:
        nodes = [node for node in nodes if wanted.parameters(parameter_count(signature(node)))]
    places = [(columns.place(node), node) for node in nodes]
    shown = sorted((at.path, at.line_start, node) for at, node in places if at is not None)
    facts = [GraphFact(columns.called(node), "", "", path, line, True) for path, line, node in shown]
    if not facts:
        return GraphFacts(), {}
    told, at = facts_listed(facts, wanted.said, index)
    return replace(told, heading=told.heading.replace(":**", f"{wanted.told}:**")), at


def types_of_sort(columns: GraphColumns, noun: str) -> list[int]:
    """The types of the product that are of a kind, or whose names or bases end so, without the bases of others."""
    graph = columns.graph
    types = columns.nodes(NodeType.TYPE).tolist()
    if noun in OF_KINDS:
        return [node for node in types if is_called_a(noun, columns, node)]
    endings = ERRORS if noun in ERRORS else (noun,)
    based = re.compile(rf"\b\w*{noun.capitalize()}(?:Base)?\s*(?:[,{{;]|$)")

    def is_called_so(node: int) -> bool:
        if graph.language(node) in DECLARATIVE:
            return False
        if re.search(r"\babstract\b|\binterface\b", graph.signature(node)) or _HANDLES.search(graph.names[node]):
            return False
        return graph.names[node].lower().endswith(endings) or based.search(bases_of(graph, node)) is not None

    named = [node for node in types if is_called_so(node)]
    return [node for node in named if not any(graph.edges_of(node, IN, Relation.INHERITS, Relation.IMPLEMENTS))]


def is_called_a(noun: str, columns: GraphColumns, node: int) -> bool:
    """Whether a node is called so: each language has its word for it in the signature; the other nouns mean any."""
    before = columns.graph.signature(node).partition(columns.graph.names[node])[0]
    if noun in OF_KINDS:
        return re.search(rf"\b{noun}\b", before) is not None
    if noun == "class":
        return re.search(r"\b(?:interface|struct|enum|trait|protocol|type)\b", before) is None
    owner = int(columns.type_of[node])
    is_constructor = owner not in (-1, node) and columns.graph.names[node] in (
        columns.graph.names[owner],
        *_NAMED_CONSTRUCTORS,
    )
    return is_constructor if noun == "constructor" else not (noun in _OF_METHODS and is_constructor)


def _is_so(columns: GraphColumns, node: int, wanted: ShapeAsked) -> bool:
    """Whether a declaration has all modifiers; where it should not, whether it has none and may have them."""
    if not wanted.is_not:
        return all(has_modifier(columns, node, one) for one in wanted.modifiers)
    language = columns.graph.language(node)
    if any(language in _WITHOUT.get(one, ()) for one in wanted.modifiers):
        return False
    owner = int(columns.type_of[node])
    if "public" in wanted.modifiers and owner not in (-1, node) and is_called_a("interface", columns, owner):
        return False  # which all are
    apart = _APART if "sealed" in wanted.modifiers or "final" in wanted.modifiers else ()
    return not any(has_modifier(columns, node, one) for one in (*wanted.modifiers, *apart))


def has_modifier(columns: GraphColumns, node: int, modifier: str) -> bool:
    """Whether a declaration says a modifier, before its parameters, or is what a question says like one."""
    if modifier == "recursive":
        return node in columns.recursive
    signature = columns.graph.signature(node)
    if modifier == "extension":
        return _EXTENDS.search(signature) is not None
    if modifier == "generic":
        return _GENERIC.search(signature) is not None
    if modifier == "abstract" and _ABSTRACT_BASE.search(signature):
        return True
    return re.search(rf"\b{modifier}\b", signature.partition("(")[0]) is not None


def _sources(columns: GraphColumns, *relations: Relation) -> dict[int, int]:
    """Of each type to how many of the product it has such an edge: that derive from it at once, that handle it."""
    wanted = columns.of(*relations) & columns.product[columns.source]
    pairs = {*zip(columns.target[wanted].tolist(), columns.source[wanted].tolist(), strict=True)}
    targets, counts = np.unique([target for target, _ in pairs], return_counts=True)
    return dict(zip(map(int, targets.tolist()), counts.tolist(), strict=True))


def parameter_count(signature: str) -> int:
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
        named = [one for one in graph.contained(node) if graph.names[one] in (graph.names[node], *_CONSTRUCTORS)]
        own = [one for one in named if graph.kind(one) is NodeType.METHOD and not _STATIC.match(graph.signature(one))]
        at = [place for one in own for place in graph.places(one)]
        if not at:
            heads = graph.places(node)
            lines = lines_of(index, [head.path for head in heads])
            at = [head for head in heads if "(" in lines.get(head.path, {}).get(head.line_start, "")]
        places += [CodePlace(one.path, one.line_start) for one in at]
    return places


def overload_facts(index: LabelIndex, graph: Graph, names: Sequence[str]) -> Facts:
    """Where the product declares each method that is called so, of the type that a name says, if it says one."""
    for name in names:
        owner, _, last = name.rpartition(".")
        nodes = [node for node in of_kind(graph, NodeType.METHOD) if graph.names[node].rpartition(".")[2] == last]
        places = [one for one in places_of(graph, np.array(nodes, np.int64)) if non_product_code(one.path) is None]
        lines = lines_of(index, {one.path for one in places})
        written = re.compile(rf"(?<![\w.]){re.escape(last)}\s*[(<]")
        found: dict[tuple[str, int], GraphFact] = {}
        for one in sorted(places, key=lambda one: (one.path, one.line)):
            symbol = one.key.partition("|")[0]
            before, parameters = symbol.partition("(")[0], _PARAMETERS.search(symbol.rpartition(f".{last}")[2])
            if owner and not re.search(rf"(?<!\w){re.escape(owner)}(?:\W|$)", before or symbol):
                continue
            said = f"{last}({parameters['all']})" if parameters else last
            known = lines.get(one.path, {})
            near = range(one.line, one.line + _MOST_BEFORE)
            line = next((at for at in near if written.search(known.get(at, ""))), one.line)
            found.setdefault((one.path, line), GraphFact(said, "", "", one.path, line, certain=True, is_comment=True))
        if found:
            facts = [*found.values()]
            at = facts_at(facts[:MOST_LISTED], index)
            heading = list_heading("overload", len(facts)).replace(":**", f" of {last}:**")
            return GraphFacts(tuple(at), len(facts), heading), at
    return GraphFacts(), {}
