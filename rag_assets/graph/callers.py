"""Who uses something: the walk of `graph callers` and of the relation `callers` of the tool."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from rag_assets.contracts.graph import NodeType, Relation
from rag_assets.graph.csr_graph import Graph
from rag_assets.graph.lookup import name_of
from rag_assets.graph.neighbourhood import Neighbour, Neighbourhood, neighbourhood
from rag_assets.graph.relations import CALLER_STEPS, TYPE_USER_STEPS, Direction, WalkStep

_INSIDE = (WalkStep(Relation.CONTAINS, Direction.OUT),)
_USED = (NodeType.TYPE, NodeType.METHOD, NodeType.PROPERTY)
_MOST_DECLARED = 200
_EVERY_EDGE = 100_000
"""Who uses a hub is asked to be counted, too."""


def callers(graph: Graph, keys: Sequence[str], *, depth: int, nodes: int) -> Neighbourhood:
    """The `nodes` most relevant users of some nodes within `depth` steps, those included: who calls, makes, reads or
    sets a member, also through what it implements; who is given a type, derives from it or declares something of it. Of
    a class that is given one its constructor and its fields say nothing new, nor do the interfaces that users have
    besides, nor its own members. Of a file those of what it declares."""
    keys = [*dict.fromkeys(one for key in keys for one in _declared(graph, key))]
    nodes = max(nodes, len(keys) + 1)
    is_type = any(key.endswith(f"|{NodeType.TYPE.value}") for key in keys)
    first = TYPE_USER_STEPS if is_type else ()
    found = neighbourhood(graph, keys, steps=CALLER_STEPS, depth=depth, nodes=nodes, hub_edges=_EVERY_EDGE, first=first)
    given = _symbols(one for one in found.nodes if one.via and one.via.relation is Relation.INJECTS)
    own = frozenset(name_of(key).segments for key in keys if is_type)
    beside = {one.key for one in found.nodes if _is_beside(one, given) or (is_type and _is_of_a_user(one))}
    beside |= {one.key for one in found.nodes if one.distance and name_of(one.key).segments[:-1] in own}
    if not beside:
        return found
    return replace(
        found,
        nodes=tuple(one for one in found.nodes if one.key not in beside),
        edges=tuple(edge for edge in found.edges if not beside & {edge.source, edge.target}),
    )


def _declared(graph: Graph, key: str) -> list[str]:
    """The key of a declaration; of a file those of what it declares outermost, if anything."""
    if not key.endswith(f"|{NodeType.FILE.value}"):
        return [key]
    inside = neighbourhood(graph, [key], steps=_INSIDE, depth=1, nodes=_MOST_DECLARED, hub_edges=_MOST_DECLARED)
    return [one.key for one in inside.nodes if one.distance and one.kind in _USED] or [key]


def _symbols(nodes: Iterable[Neighbour]) -> frozenset[tuple[str, ...]]:
    return frozenset(name_of(one.key).segments for one in nodes)


def _is_beside(node: Neighbour, given: frozenset[tuple[str, ...]]) -> bool:
    """Whether a member only keeps or takes what its class is given."""
    if node.via is None or node.via.relation is not Relation.USES_TYPE or node.distance != 1:
        return False
    *owner, name = name_of(node.key).segments
    return tuple(owner) in given and (node.kind is NodeType.PROPERTY or name == owner[-1])


def _is_of_a_user(node: Neighbour) -> bool:
    """Whether a type is only what a user of the wanted one implements."""
    return node.distance > 1 and node.kind is NodeType.TYPE and node.via is not None and node.via.target == node.key
