"""The names of relations, which way they are walked, and what a step along each is worth (domain reference §5; R27).

One closed set, `contracts.graph.Relation`, with aliases for the names that other producers and older settings use.
An allow-list is validated when it is loaded: a name that means nothing is an error with the nearest valid ones, and
one that no edge of the index can match is a warning. A step is worth less the lower its confidence and the more common
its ends are.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_assets.contracts.graph import Confidence, NodeType, Relation
from rag_assets.errors import RagAssetsError
from rag_assets.graph.csr_graph import IN, KINDS, OUT, Frontier, Graph, Numbers

_SHOWN_NEAREST = 3


class Direction(StrEnum):
    """Which way an edge `source relation target` is walked."""

    OUT = "out"  # from source to target
    IN = "in"  # from target to source
    BOTH = "both"


@dataclass(frozen=True, slots=True, order=True)
class WalkStep:
    """One relation that a walk may follow, and which way."""

    relation: Relation
    direction: Direction = Direction.BOTH


@dataclass(frozen=True, slots=True)
class EdgeWeight:
    """How much of a node's relevance a neighbour keeps, 0 < worth < 1: `along` the edge and `against` it."""

    along: float
    against: float


class UnknownRelation(RagAssetsError, ValueError):
    """A name that is neither a relation nor an alias of one, or one that contradicts the wanted direction."""


WORTH: Mapping[Relation, EdgeWeight] = {
    # What happens at run time explains most; what is called matters more than who else calls it.
    Relation.CALLS: EdgeWeight(0.90, 0.70),
    Relation.EXECUTES: EdgeWeight(0.90, 0.80),
    Relation.READS_FROM: EdgeWeight(0.90, 0.70),
    Relation.WRITES_TO: EdgeWeight(0.95, 0.80),  # who changes a table tells more than who reads it
    # Two names of one thing: a service and its implementation, an entity and its table, a route and its action.
    Relation.MAPS_TO: EdgeWeight(0.95, 0.90),
    Relation.SYNONYM_FOR: EdgeWeight(0.95, 0.70),
    Relation.EXPOSES: EdgeWeight(0.90, 0.90),
    Relation.HANDLES: EdgeWeight(0.90, 0.90),
    Relation.IMPLEMENTS: EdgeWeight(0.80, 0.85),  # the body is on the other side of an interface
    Relation.OVERRIDES: EdgeWeight(0.70, 0.70),
    Relation.INHERITS: EdgeWeight(0.80, 0.60),
    Relation.INJECTS: EdgeWeight(0.80, 0.60),
    Relation.CONSTRUCTS: EdgeWeight(0.70, 0.50),
    Relation.ON: EdgeWeight(0.80, 0.80),
    Relation.FOREIGN_KEY: EdgeWeight(0.65, 0.60),
    Relation.SCHEMA_CHANGE: EdgeWeight(0.60, 0.40),
    Relation.TESTS: EdgeWeight(0.70, 0.55),
    # Neighbours in the text, and mentions: many of them, each telling little.
    Relation.CONTAINS: EdgeWeight(0.50, 0.50),
    Relation.USES_TYPE: EdgeWeight(0.50, 0.30),
    Relation.REFERENCES: EdgeWeight(0.50, 0.35),
    Relation.MENTIONS: EdgeWeight(0.50, 0.45),
}
"""From the strongest to the weakest reason to look there; only their order is relied on."""

TRUST: Mapping[Confidence, float] = {Confidence.RESOLVED: 1.0, Confidence.PROBABLE: 0.7, Confidence.NAME_ONLY: 0.35}
"""One step by name alone is worth less than two proven ones, so proven ways win over guessed ones."""

ALL_STEPS: tuple[WalkStep, ...] = tuple(WalkStep(relation) for relation in Relation)
"""The default policy: every relation, both ways, each at its worth."""


def _folded(name: str) -> str:
    """`Foreign_Key`, `foreign-key` and `ForeignKey` are one name."""
    return "".join(char for char in name.casefold() if char not in " _-\t\n")


# What a relation is called when it is read backwards.
_BACKWARDS = {
    "ContainedBy": Relation.CONTAINS,
    "ContainedIn": Relation.CONTAINS,
    "InheritedBy": Relation.INHERITS,
    "ImplementedBy": Relation.IMPLEMENTS,
    "OverriddenBy": Relation.OVERRIDES,
    "CalledBy": Relation.CALLS,
    "ConstructedBy": Relation.CONSTRUCTS,
    "InjectedInto": Relation.INJECTS,
    "InjectedBy": Relation.INJECTS,
    "UsedBy": Relation.USES_TYPE,
    "ReadBy": Relation.READS_FROM,
    "WrittenBy": Relation.WRITES_TO,
    "ExecutedBy": Relation.EXECUTES,
    "MappedBy": Relation.MAPS_TO,
    "ChangedBy": Relation.SCHEMA_CHANGE,
    "HandledBy": Relation.HANDLES,
    "ExposedBy": Relation.EXPOSES,
    "TestedBy": Relation.TESTS,
    "ReferencedBy": Relation.REFERENCES,
    "ReferencedBy(C#)": Relation.REFERENCES,  # the default allow-list of the seeds
    "MentionedBy": Relation.MENTIONS,
    "MentionedIn": Relation.MENTIONS,
}

# Other names that are read the same way.
_ALIASES = {
    "FK": Relation.FOREIGN_KEY,
    "Call": Relation.CALLS,
    "cs_dep": Relation.CALLS,  # RoslynIndexer: a C# chunk and the chunks that it calls
    "Reads": Relation.READS_FROM,
    "Selects": Relation.READS_FROM,
    "Writes": Relation.WRITES_TO,
    "Exec": Relation.EXECUTES,
    "Creates": Relation.CONSTRUCTS,
    "New": Relation.CONSTRUCTS,
    "Uses": Relation.USES_TYPE,
    "Extends": Relation.INHERITS,
    "Maps": Relation.MAPS_TO,
    "Synonym": Relation.SYNONYM_FOR,
    "Migrates": Relation.SCHEMA_CHANGE,
    "Refs": Relation.REFERENCES,
}

_NAMES: Mapping[str, tuple[str, Relation, bool]] = {
    _folded(name): (name, relation, backwards)
    for names, backwards in (
        ({relation.value: relation for relation in Relation} | _ALIASES, False),
        (_BACKWARDS, True),
    )
    for name, relation in names.items()
}


def named_relation(name: str) -> tuple[Relation, bool]:
    """The relation of a name or an alias in any case, and True where the name reads it backwards: an edge
    `A CalledBy B` is `B Calls A` (R27). Raises UnknownRelation with the nearest valid names."""
    found = _NAMES.get(_folded(name))
    if found is None:
        near = difflib.get_close_matches(_folded(name), _NAMES, n=_SHOWN_NEAREST, cutoff=0.5)
        valid = [_NAMES[folded][0] for folded in near] or [relation.value for relation in Relation]
        said = "did you mean" if near else "valid:"
        raise UnknownRelation(f"{name!r} is no relation; {said} {', '.join(valid)}{'?' if near else ''}")
    return found[1], found[2]


def allow_list(names: Iterable[str], direction: Direction | None = None) -> tuple[WalkStep, ...]:
    """The steps that a walk may take, in the order of `Relation` (D20, R27).

    A plain name is walked as `direction` says, both ways without one; a name that is read backwards (`CalledBy`,
    `ReferencedBy(C#)`) is walked inwards. Names of one relation add up. No name at all means every relation.
    Raises UnknownRelation.
    """
    wanted: dict[Relation, Direction] = {}
    for name in names:
        relation, backwards = named_relation(name)
        if backwards and direction is Direction.OUT:
            raise UnknownRelation(
                f"{name!r} is {relation.value} walked inwards, against direction 'out'; "
                f"name {relation.value}, or leave the direction out"
            )
        way = Direction.IN if backwards else direction or Direction.BOTH
        before = wanted.setdefault(relation, way)
        wanted[relation] = way if before is way else Direction.BOTH
    if not wanted:
        return tuple(WalkStep(relation, direction or Direction.BOTH) for relation in Relation)
    return tuple(WalkStep(relation, wanted[relation]) for relation in Relation if relation in wanted)


def check_against(steps: Iterable[WalkStep], present: Mapping[Relation, int]) -> tuple[str, ...]:
    """Warnings about an allow-list that the index cannot meet, never silence (R27): one where no edge has any of its
    relations, else one for each relation without edges. `present` counts the edges of the index by relation; the
    default policy, which allows everything, has nothing to warn of."""
    chosen = [step.relation for step in steps]
    missing = [relation.value for relation in chosen if not present.get(relation)]
    if not missing or len(chosen) == len(Relation):
        return ()
    there = ", ".join(relation.value for relation in Relation if present.get(relation)) or "none"
    if len(missing) == len(chosen):
        return (f"the allowed relations match nothing in this index: {', '.join(missing)}; it has: {there}",)
    return (f"this index has no edges of {', '.join(missing)}; it has: {there}",)


Floats = NDArray[np.float64]

_COMMON = 16
"""Edges that an ordinary node has. Beyond them a node is worth less as the square root of their number: one that has a
hundred times as many is ten times less telling, as one word among many is."""

_KIND_WORTH = {
    NodeType.FILE: 0.5,  # what is in it is found on better ways
    NodeType.PROPERTY: 0.8,  # fields and properties: most say no more than the type that they have
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
