"""Which steps carry an effect: the rules of "who is affected by this" and "what does this need", as one table.

A walk has a state, because not every step may follow every other. A method that implements an interface affects the
callers of the interface method, but not its other implementations: it has reached the interface as the one who is
behind it (BEHIND). What is affected or needed without passing it on, such as a table that is written or a section that
mentions a class, is an end (END).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from rag_assets.contracts.graph import NodeType, Relation
from rag_assets.graph.adjacency import IN, KINDS, OUT


class State(IntEnum):
    """How a node was reached, and so which steps may go on from it."""

    FLOW = 0
    BEHIND = 1  # an abstraction, or a message, by the one that implements or handles it
    END = 2


_CODE = (NodeType.METHOD, NodeType.PROPERTY)
_TABLES = (NodeType.TABLE, NodeType.VIEW, NodeType.TABLE_OR_VIEW)


@dataclass(frozen=True, slots=True)
class Rule:
    """A step from nodes of some kinds to nodes of some kinds (all where none is named), and the state it leads to."""

    relation: Relation
    side: int
    then: State = State.FLOW
    source: Collection[NodeType] = ()
    to: Collection[NodeType] = ()
    state: State = State.FLOW


def _in(*relations: Relation) -> tuple[Rule, ...]:
    return tuple(Rule(relation, IN) for relation in relations)


def _out(*relations: Relation) -> tuple[Rule, ...]:
    return tuple(Rule(relation, OUT) for relation in relations)


AFFECTED: tuple[Rule, ...] = (
    # Whoever is written in terms of it.
    *_in(
        Relation.CALLS,
        Relation.CONSTRUCTS,
        Relation.USES_TYPE,
        Relation.INJECTS,
        Relation.INHERITS,
        Relation.IMPLEMENTS,
        Relation.OVERRIDES,
        Relation.REFERENCES,
        Relation.HANDLES,
    ),
    *_in(
        Relation.READS_FROM,
        Relation.WRITES_TO,
        Relation.EXECUTES,
        Relation.FOREIGN_KEY,
        Relation.ON,
        Relation.SYNONYM_FOR,
    ),
    # An entity follows its table and its class; a service is served by the implementation that changes.
    Rule(Relation.MAPS_TO, IN, source=(*_TABLES, NodeType.ENTITY, NodeType.DBSET)),
    Rule(Relation.MAPS_TO, IN, source=(NodeType.TYPE,), to=(NodeType.ENTITY, NodeType.DBSET)),
    Rule(Relation.MAPS_TO, IN, State.BEHIND, source=(NodeType.TYPE,), to=(NodeType.TYPE,)),
    # Through dispatch: callers of the interface or base method, senders of the message.
    Rule(Relation.IMPLEMENTS, OUT, State.BEHIND, source=_CODE),
    Rule(Relation.OVERRIDES, OUT, State.BEHIND, source=_CODE),
    Rule(Relation.HANDLES, OUT, State.BEHIND),
    *(
        Rule(r, IN, state=State.BEHIND)
        for r in (Relation.CALLS, Relation.CONSTRUCTS, Relation.REFERENCES, Relation.INJECTS)
    ),
    *(Rule(r, OUT, State.BEHIND, state=State.BEHIND) for r in (Relation.IMPLEMENTS, Relation.OVERRIDES)),
    # What shows the effect without passing it on.
    *(Rule(r, IN, State.END) for r in (Relation.TESTS, Relation.MENTIONS)),
    *(Rule(r, OUT, State.END) for r in (Relation.EXPOSES, Relation.WRITES_TO, Relation.SCHEMA_CHANGE)),
    Rule(Relation.MAPS_TO, OUT, State.END, source=(NodeType.ENTITY, NodeType.DBSET)),
    Rule(Relation.EXPOSES, OUT, State.END, state=State.BEHIND),
    Rule(Relation.TESTS, IN, State.END, state=State.BEHIND),
)
"""Who is affected if a node changes."""

NEEDED: tuple[Rule, ...] = (
    *_out(
        Relation.CALLS,
        Relation.CONSTRUCTS,
        Relation.EXECUTES,
        Relation.READS_FROM,
        Relation.WRITES_TO,
        Relation.SYNONYM_FOR,
        Relation.TESTS,
        Relation.ON,
    ),
    Rule(Relation.EXPOSES, IN),
    # From a service to what serves it, from a set to its entity and its table.
    Rule(Relation.MAPS_TO, OUT, source=(NodeType.TYPE,)),
    Rule(Relation.MAPS_TO, OUT, to=(*_TABLES, NodeType.ENTITY)),
    Rule(Relation.MAPS_TO, OUT, State.END),
    # From an interface or base method to the bodies behind it, from a message to its handlers.
    Rule(Relation.IMPLEMENTS, IN, source=_CODE),
    Rule(Relation.OVERRIDES, IN, source=_CODE),
    Rule(Relation.HANDLES, IN),
    # A message that is sent, a specification with its entity; not the entities that an entity knows.
    Rule(Relation.REFERENCES, OUT, source=(*_CODE, NodeType.TYPE, NodeType.ENDPOINT)),
    Rule(Relation.INHERITS, OUT, State.END),
    Rule(Relation.IMPLEMENTS, OUT, State.END),
    Rule(Relation.INJECTS, OUT, State.END),
    Rule(Relation.USES_TYPE, OUT, State.END),
    Rule(Relation.FOREIGN_KEY, OUT, State.END),
    Rule(Relation.MENTIONS, OUT, State.END),
    Rule(Relation.SCHEMA_CHANGE, OUT, State.END),
)
"""What a node needs to do its work, down to the tables."""


def transitions(rules: Iterable[Rule]) -> NDArray[np.int8]:
    """`[state, side, relation, kind from, kind to]`: the state that the step leads to, −1 where it is not allowed.
    Where several rules allow a step, the one that goes on furthest counts."""
    relations, kinds = tuple(Relation), {kind: code for code, kind in enumerate(KINDS)}
    table = np.full((len(State), 2, len(relations), len(kinds), len(kinds)), -1, np.int8)
    everything = list(range(len(kinds)))
    for rule in sorted(rules, key=lambda rule: -rule.then):
        source = [kinds[kind.value] for kind in rule.source] or everything
        to = [kinds[kind.value] for kind in rule.to] or everything
        table[rule.state, rule.side, relations.index(rule.relation)][np.ix_(source, to)] = rule.then
    return table
