"""Paths: valid, cheapest first, bounded, the same for every order of edges."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_assets.contracts.graph import Confidence, GraphEdge, Relation
from rag_assets.graph.csr_graph import Graph
from rag_assets.graph.neighbourhood import WalkError
from rag_assets.graph.paths import GraphPath, paths
from rag_assets.graph.relations import ALL_STEPS, Direction, WalkStep, allow_list
from rag_assets_tests.graph.small_graphs import (
    ACTION,
    ENTITY,
    FIND,
    PORT,
    ROUTE,
    SENDER,
    TABLE,
    edge,
    method,
    of_edges,
    random_edges,
    random_steps,
    reachable,
    shop,
)

A, B, C, D = (method(name) for name in "ABCD")


def between(graph: Graph, start: str, end: str, **bounds: object) -> tuple[GraphPath, ...]:
    first, last = graph.find(start), graph.find(end)
    assert first is not None
    assert last is not None
    return paths(graph, [first], [last], **bounds)  # type: ignore[arg-type]


def test_from_a_route_to_its_table() -> None:
    found = between(shop(), ROUTE, TABLE)
    assert found[0].keys == (ROUTE, ACTION, PORT, FIND, ENTITY, TABLE)
    assert [step.forward for step in found[0].steps] == [False, True, False, True, True]
    assert found[0].steps[0].edge == edge(ACTION, Relation.EXPOSES, ROUTE)


def test_there_and_back() -> None:
    assert between(shop(), TABLE, ROUTE)[0].keys == (TABLE, ENTITY, FIND, PORT, ACTION, ROUTE)


@pytest.mark.parametrize(
    ("bounds", "length"),
    [
        ({"hops": 5}, 5),
        ({"hops": 4}, None),
        ({"steps": allow_list(["Calls", "ReadsFrom", "MapsTo"])}, None),
        ({"steps": allow_list(["ExposedBy", "Calls", "ImplementedBy", "ReadsFrom", "MapsTo"])}, 5),
        ({"steps": allow_list([], Direction.OUT)}, None),
    ],
    ids=["enough steps", "one too few", "relations that do not connect", "relations that do", "one way only"],
)
def test_bounds(bounds: dict[str, object], length: int | None) -> None:
    found = between(shop(), ROUTE, TABLE, **bounds)
    assert [len(path.steps) for path in found] == ([] if length is None else [length])


def test_what_is_not_connected_has_no_path() -> None:
    assert between(shop(), SENDER, TABLE) == ()


def test_a_node_to_itself_is_a_path_without_steps() -> None:
    (path,) = between(shop(), TABLE, TABLE)
    assert (path.keys, path.steps, path.cost) == ((TABLE,), (), 0.0)


def test_alternatives_come_by_cost() -> None:
    graph = of_edges(
        [
            edge(A, Relation.CALLS, B),
            edge(B, Relation.CALLS, D),
            edge(A, Relation.CALLS, C, Confidence.PROBABLE),
            edge(C, Relation.CALLS, D),
            edge(A, Relation.MENTIONS, D, Confidence.NAME_ONLY),
        ]
    )
    found = between(graph, A, D)
    assert [path.keys for path in found] == [(A, B, D), (A, C, D), (A, D)]
    assert [path.cost for path in found] == sorted(path.cost for path in found)
    assert between(graph, A, D, count=1) == found[:1]


def test_a_way_along_its_edges_is_before_one_against_them() -> None:
    edges = [edge(A, Relation.CALLS, B), edge(D, Relation.USES_TYPE, B)]
    edges += [edge(A, Relation.CALLS, C), edge(C, Relation.USES_TYPE, D)]
    assert [path.keys for path in between(of_edges(edges), A, D)] == [(A, C, D), (A, B, D)]


def test_parallel_edges_are_one_path_by_the_best() -> None:
    graph = of_edges([edge(A, Relation.MENTIONS, B), edge(A, Relation.CALLS, B), edge(B, Relation.TESTS, A)])
    (path,) = between(graph, A, B)
    assert path.steps[0].edge.relation is Relation.CALLS


def test_a_way_around_a_hub_is_preferred() -> None:
    hub = method("Aaa")
    edges = [edge(method(f"M{number}"), Relation.CALLS, hub) for number in range(2_000)]
    edges += [edge(A, Relation.CALLS, hub), edge(D, Relation.CALLS, hub)]
    edges += [edge(A, Relation.CALLS, B), edge(C, Relation.CALLS, B), edge(C, Relation.CALLS, D)]
    assert between(of_edges(edges), A, D)[0].keys == (A, B, C, D)


def test_several_starts_and_ends() -> None:
    graph = of_edges([edge(A, Relation.CALLS, B), edge(C, Relation.CALLS, B), edge(B, Relation.CALLS, D)])
    numbers = {key: graph.find(key) for key in (A, B, C, D)}
    found = paths(graph, [numbers[C], numbers[A]], [numbers[D]])  # type: ignore[list-item]
    assert {path.start for path in found} == {A, C}
    assert paths(graph, [], [0]) == ()


@pytest.mark.parametrize("bounds", [{"hops": 0}, {"count": 0}])
def test_impossible_bounds(bounds: dict[str, int]) -> None:
    with pytest.raises(WalkError, match="must be at least 1"):
        between(shop(), ROUTE, TABLE, **bounds)


def test_a_maze_ends() -> None:
    """Bad input: every node beside every other one."""
    names = [method(f"N{number:02}") for number in range(40)]
    graph = of_edges([edge(a, Relation.CALLS, b) for a, b in itertools.permutations(names, 2)])
    found = between(graph, names[0], names[-1], count=50)
    assert len(found) == 50
    assert len({path.keys for path in found}) == 50


@given(random_edges, random_steps, st.integers(1, 5))
@settings(deadline=None)
def test_paths_are_valid(edges: list[GraphEdge], steps: tuple[WalkStep, ...], hops: int) -> None:
    keys = sorted({end for e in edges for end in (e.source, e.target)})
    if not keys:
        return
    start, end = keys[0], keys[-1]
    found = between(of_edges(edges), start, end, steps=steps, hops=hops, count=4)
    known = {(e.source, e.relation, e.target) for e in edges}
    ways = {(step.relation, step.direction) for step in steps}
    for path in found:
        assert (path.keys[0], path.keys[-1]) == (start, end)
        assert len(path.steps) <= hops
        assert len(set(path.keys)) == len(path.keys)
        for step in path.steps:
            assert (step.edge.source, step.edge.relation, step.edge.target) in known
            way = Direction.OUT if step.forward else Direction.IN
            assert {(step.edge.relation, way), (step.edge.relation, Direction.BOTH)} & ways
    assert [path.cost for path in found] == sorted(path.cost for path in found)
    assert len({path.keys for path in found}) == len(found)
    assert bool(found) == (end in reachable(edges, [start], steps, hops))


@given(random_edges)
@settings(deadline=None)
def test_the_first_path_is_the_cheapest_of_all(edges: list[GraphEdge]) -> None:
    keys = sorted({end for e in edges for end in (e.source, e.target)})
    if len(keys) < 2:
        return
    graph = of_edges(edges)
    few = between(graph, keys[0], keys[1], count=1)
    many = between(graph, keys[0], keys[1], count=100)
    assert few == many[:1]
    backwards = between(of_edges(list(reversed(edges))), keys[0], keys[1], count=100)
    assert backwards == many


def test_the_default_follows_every_relation() -> None:
    graph = of_edges([edge(A, relation, method(f"To{relation}")) for relation in Relation])
    assert all(between(graph, A, method(f"To{relation}"), steps=ALL_STEPS) for relation in Relation)
