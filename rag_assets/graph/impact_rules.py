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
from rag_assets.graph.csr_graph import IN, KINDS, OUT


class EffectState(IntEnum):
    """How a node was reached, and so which steps may go on from it."""

    FLOW = 0
    BEHIND = 1  # an abstraction, or a message, by the one that implements or handles it
    END = 2


_CODE = (NodeType.METHOD, NodeType.PROPERTY)
_TABLES = (NodeType.TABLE, NodeType.VIEW, NodeType.TABLE_OR_VIEW)


@dataclass(frozen=True, slots=True)
class EffectRule:
    """A step from nodes of some kinds to nodes of some kinds (all where none is named), and the state it leads to."""

    relation: Relation
    side: int
    then: EffectState = EffectState.FLOW
    source: Collection[NodeType] = ()
    to: Collection[NodeType] = ()
    state: EffectState = EffectState.FLOW


def _in(*relations: Relation) -> tuple[EffectRule, ...]:
    return tuple(EffectRule(relation, IN) for relation in relations)


def _out(*relations: Relation) -> tuple[EffectRule, ...]:
    return tuple(EffectRule(relation, OUT) for relation in relations)


AFFECTED: tuple[EffectRule, ...] = (
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
    EffectRule(Relation.MAPS_TO, IN, source=(*_TABLES, NodeType.ENTITY, NodeType.DBSET)),
    EffectRule(Relation.MAPS_TO, IN, source=(NodeType.TYPE,), to=(NodeType.ENTITY, NodeType.DBSET)),
    EffectRule(Relation.MAPS_TO, IN, EffectState.BEHIND, source=(NodeType.TYPE,), to=(NodeType.TYPE,)),
    # Through dispatch: callers of the interface or base method, senders of the message.
    EffectRule(Relation.IMPLEMENTS, OUT, EffectState.BEHIND, source=_CODE),
    EffectRule(Relation.OVERRIDES, OUT, EffectState.BEHIND, source=_CODE),
    EffectRule(Relation.HANDLES, OUT, EffectState.BEHIND),
    *(
        EffectRule(r, IN, state=EffectState.BEHIND)
        for r in (Relation.CALLS, Relation.CONSTRUCTS, Relation.REFERENCES, Relation.INJECTS)
    ),
    *(
        EffectRule(r, OUT, EffectState.BEHIND, state=EffectState.BEHIND)
        for r in (Relation.IMPLEMENTS, Relation.OVERRIDES)
    ),
    # What shows the effect without passing it on.
    *(EffectRule(r, IN, EffectState.END) for r in (Relation.TESTS, Relation.MENTIONS)),
    *(EffectRule(r, OUT, EffectState.END) for r in (Relation.EXPOSES, Relation.WRITES_TO, Relation.SCHEMA_CHANGE)),
    EffectRule(Relation.MAPS_TO, OUT, EffectState.END, source=(NodeType.ENTITY, NodeType.DBSET)),
    EffectRule(Relation.EXPOSES, OUT, EffectState.END, state=EffectState.BEHIND),
    EffectRule(Relation.TESTS, IN, EffectState.END, state=EffectState.BEHIND),
)
"""Who is affected if a node changes."""

NEEDED: tuple[EffectRule, ...] = (
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
    EffectRule(Relation.EXPOSES, IN),
    # From a service to what serves it, from a set to its entity and its table.
    EffectRule(Relation.MAPS_TO, OUT, source=(NodeType.TYPE,)),
    EffectRule(Relation.MAPS_TO, OUT, to=(*_TABLES, NodeType.ENTITY)),
    EffectRule(Relation.MAPS_TO, OUT, EffectState.END),
    # From an interface or base method to the bodies behind it, from a message to its handlers.
    EffectRule(Relation.IMPLEMENTS, IN, source=_CODE),
    EffectRule(Relation.OVERRIDES, IN, source=_CODE),
    EffectRule(Relation.HANDLES, IN),
    # A message that is sent, a specification with its entity; not the entities that an entity knows.
    EffectRule(Relation.REFERENCES, OUT, source=(*_CODE, NodeType.TYPE, NodeType.ENDPOINT)),
    EffectRule(Relation.INHERITS, OUT, EffectState.END),
    EffectRule(Relation.IMPLEMENTS, OUT, EffectState.END),
    EffectRule(Relation.INJECTS, OUT, EffectState.END),
    EffectRule(Relation.USES_TYPE, OUT, EffectState.END),
    EffectRule(Relation.FOREIGN_KEY, OUT, EffectState.END),
    EffectRule(Relation.MENTIONS, OUT, EffectState.END),
    EffectRule(Relation.SCHEMA_CHANGE, OUT, EffectState.END),
)
"""What a node needs to do its work, down to the tables."""


def transitions(rules: Iterable[EffectRule]) -> NDArray[np.int8]:
    """`[state, side, relation, kind from, kind to]`: the state that the step leads to, −1 where it is not allowed.
    Where several rules allow a step, the one that goes on furthest counts."""
    relations, kinds = tuple(Relation), {kind: code for code, kind in enumerate(KINDS)}
    table = np.full((len(EffectState), 2, len(relations), len(kinds), len(kinds)), -1, np.int8)
    everything = list(range(len(kinds)))
    for rule in sorted(rules, key=lambda rule: -rule.then):
        source = [kinds[kind.value] for kind in rule.source] or everything
        to = [kinds[kind.value] for kind in rule.to] or everything
        table[rule.state, rule.side, relations.index(rule.relation)][np.ix_(source, to)] = rule.then
    return table
