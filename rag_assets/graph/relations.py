"""The names of relations, which way they are walked, and what a step along each is worth (domain reference §5; R27).

One closed set, `contracts.graph.Relation`, with aliases for the names that other producers and older settings use.
An allow-list is validated when it is loaded: a name that means nothing is an error with the nearest valid ones, and
one that no edge of the index can match is a warning.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from rag_assets.contracts.graph import Confidence, Relation
from rag_assets.errors import RagAssetsError

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

CALLER_STEPS = (
    WalkStep(Relation.CALLS, Direction.IN),
    WalkStep(Relation.CONSTRUCTS, Direction.IN),
    WalkStep(Relation.HANDLES, Direction.IN),
    WalkStep(Relation.REFERENCES, Direction.IN),
    WalkStep(Relation.EXPOSES, Direction.OUT),
    WalkStep(Relation.EXECUTES, Direction.IN),
    WalkStep(Relation.READS_FROM, Direction.IN),
    WalkStep(Relation.WRITES_TO, Direction.IN),
    WalkStep(Relation.TESTS, Direction.IN),
    WalkStep(Relation.IMPLEMENTS, Direction.OUT),
    WalkStep(Relation.OVERRIDES, Direction.OUT),
)
"""Who calls a member, also through the interface that it implements, names it (a property that is read or set, an event
that is subscribed to, a method that is handed on), executes a procedure, reads or writes a table."""

TYPE_USER_STEPS = (
    *CALLER_STEPS,
    WalkStep(Relation.INJECTS, Direction.IN),
    WalkStep(Relation.INHERITS, Direction.IN),
    WalkStep(Relation.IMPLEMENTS, Direction.IN),
    WalkStep(Relation.USES_TYPE, Direction.IN),
)
"""The same of a type, which nobody calls: who is given it, derives from it or declares something of it."""


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
