"""What a step of a walk is worth, as arrays: relation and direction, confidence, and how common its ends are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_assets.contracts.graph import Confidence, NodeType, Relation
from rag_assets.graph.csr_graph import IN, KINDS, OUT, Frontier, Graph, Numbers
from rag_assets.graph.relations import TRUST, WORTH, Direction, WalkStep

Floats = NDArray[np.float64]

_COMMON = 16
"""Edges that an ordinary node has. Beyond them a node is worth less as the square root of their number: one that has a
hundred times as many is ten times less telling, as one word among many is."""

_KIND_WORTH = {
    NodeType.FILE: 0.5,  # what is in it is found on better ways
    NodeType.PROPERTY: 0.8,  # fields and properties: most say no more than their type
}

_RELATIONS = tuple(Relation)
_BY_KIND = np.array([_KIND_WORTH.get(NodeType(kind), 1.0) for kind in KINDS])
_WORTH = np.array([[WORTH[r].along for r in _RELATIONS], [WORTH[r].against for r in _RELATIONS]])
_TRUST = np.array([TRUST[confidence] for confidence in Confidence])


def permitted(steps: Iterable[WalkStep]) -> NDArray[np.bool_]:
    """`[side, relation]`: whether a walk may take that step."""
    allowed = np.zeros((2, len(_RELATIONS)), bool)
    for step in steps:
        code = _RELATIONS.index(step.relation)
        allowed[OUT, code] |= step.direction is not Direction.IN
        allowed[IN, code] |= step.direction is not Direction.OUT
    return allowed


def common(count: NDArray[Any]) -> Floats:
    """1 for what has few edges, falling with the square root of their number beyond `_COMMON`."""
    found: Floats = np.sqrt(_COMMON / np.maximum(count, _COMMON))
    return found


def arrival(graph: Graph, reach: Frontier) -> Floats:
    """What the nodes that steps lead to are worth: by kind, and less the more steps of that direction lead to them."""
    found: Floats = _BY_KIND[graph.kinds[reach.node]] * common(graph.degree[1 - reach.side, reach.node])
    return found


def step_worth(graph: Graph, reach: Frontier) -> Floats:
    """What the relation, direction and confidence of each step keep of the relevance of where it begins."""
    found: Floats = _WORTH[reach.side, reach.relation] * _TRUST[graph.confidence[reach.edge]]
    return found


def backwards(allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The same steps from their ends."""
    return allowed[::-1]


def reversed_worth(graph: Graph, reach: Frontier) -> Floats:
    """`step_worth` of steps that were walked from their ends."""
    found: Floats = _WORTH[1 - reach.side, reach.relation] * _TRUST[graph.confidence[reach.edge]]
    return found


def first_rows(group: Numbers, scratch: Numbers) -> Numbers:
    """The first row of each group, ascending. `scratch` has a place for every group; what it holds does not matter.
    Sorting would take ten times as long."""
    rows = np.arange(len(group))
    scratch[group[::-1]] = rows[::-1]  # of several values for one place numpy keeps the last
    return np.flatnonzero(scratch[group] == rows)
