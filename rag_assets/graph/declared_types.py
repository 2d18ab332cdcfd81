"""Types as a graph has them: what they hold, what they say that they derive from, and what derives from them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from rag_assets.contracts.graph import NodeType, Relation
from rag_assets.graph.csr_graph import IN, KINDS, OUT, Graph, steps_over

_ARGUMENTS = re.compile(r"<[^<>]*>")
_PARAMETERS = re.compile(r"\([^()]*\)")
_DERIVES = re.compile(r"(?<!:):(?!:)|\b(?:extends|implements)\b|^class [\w:]+ <(?!<)")
_MOST_BASES = 4  # between a type and the contract that says what it is


def of_kind(graph: Graph, kind: NodeType) -> list[int]:
    found: list[int] = np.flatnonzero(graph.kinds == KINDS.index(kind.value)).tolist()
    return found


def held_by(graph: Graph, types: Sequence[int]) -> list[int]:
    """The members of some types."""
    return [member for held in held_by_each(graph, types) for member in held]


def held_by_each(graph: Graph, types: Sequence[int]) -> list[list[int]]:
    """The members of each of some types, in one step over the graph."""
    reached = graph.reach(np.array(types, np.int64), steps_over(OUT, Relation.CONTAINS))[0]
    held: list[list[int]] = [[] for _ in types]
    for origin, member in zip(reached.origin.tolist(), reached.node.tolist(), strict=True):
        held[origin].append(member)
    return held


def derived_from(graph: Graph, nodes: Sequence[int]) -> tuple[set[int], set[int]]:
    """What inherits or implements some types, and what does that of these; and what it derives from."""
    deriving = steps_over(IN, Relation.INHERITS, Relation.IMPLEMENTS)
    derived, bases = set[int](), set[int]()
    for _ in range(_MOST_BASES):
        frontier = np.array(nodes, np.int64)
        reach, _ = graph.reach(frontier, deriving)
        bases.update(frontier[reach.origin].tolist())
        nodes = [node for node in reach.node.tolist() if graph.kinds[node] == KINDS.index(NodeType.TYPE.value)]
        derived.update(nodes)
    return derived, bases


def bases_above(graph: Graph, nodes: Sequence[int]) -> list[int]:
    """Some types with what they derive from, and what that does."""
    above = dict.fromkeys(nodes)
    for _ in range(_MOST_BASES):
        edges = (edge for node in nodes for edge in graph.edges_of(node, OUT, Relation.INHERITS))
        found = dict.fromkeys(base for edge in edges if (base := graph.find(edge.target)) is not None)
        nodes = [node for node in found if node not in above]
        above |= dict.fromkeys(nodes)
    return [*above]


def bases_of(graph: Graph, node: int) -> str:
    """What a type says that it derives from, as it is written; '' for nothing."""
    said = head_of(graph, node)
    if graph.language(node) == "python":
        return said.partition("(")[2]
    said = _without(_PARAMETERS, said)
    found = _DERIVES.search(said)
    return said[found.end() :] if found is not None else ""


def head_of(graph: Graph, node: int) -> str:
    """The declaration of a type without type arguments and what limits them."""
    return _without(_ARGUMENTS, graph.signature(node)).partition(" where ")[0]


def _without(innermost: re.Pattern[str], text: str) -> str:
    """A text without what stands in brackets, those inside of others first."""
    while (less := innermost.sub("", text)) != text:
        text = less
    return text
