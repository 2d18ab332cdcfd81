"""Neighbourhoods: bounds, relevance, hubs, and that nothing depends on order (D19, D20)."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_assets.contracts.graph import Confidence, GraphEdge, NodeType, Relation
from rag_assets.graph.neighbourhood import HUB_EDGES, Cut, WalkError, neighbourhood
from rag_assets.graph.relations import ALL_STEPS, Direction, WalkStep, allow_list
from rag_assets_tests.effort import lines_run
from rag_assets_tests.graph.small_graphs import (
    ACTION,
    ENTITY,
    FIND,
    FOREIGN,
    ORDER,
    PORT,
    ROUTE,
    SERVICE,
    TABLE,
    edge,
    graph_of,
    method,
    node,
    of_edges,
    random_edges,
    random_steps,
    reachable,
    shop,
)

HUB = method("Hub")


def keys(found: object) -> list[str]:
    return [each.key for each in found.nodes]  # type: ignore[attr-defined]


@pytest.mark.rule("D20")
def test_depth_bounds_the_walk() -> None:
    assert set(keys(neighbourhood(shop(), [TABLE], depth=1))) == {TABLE, ENTITY, FOREIGN}
    assert set(keys(neighbourhood(shop(), [TABLE], depth=2))) == {TABLE, ENTITY, FOREIGN, FIND, ORDER}
    assert keys(neighbourhood(shop(), [TABLE], depth=0)) == [TABLE]


@pytest.mark.rule("D19", "D20")
def test_every_node_says_how_it_was_reached() -> None:
    found = neighbourhood(shop(), [TABLE], depth=2)
    entry, entity = found.nodes[0], found.nodes[1]
    assert (entry.key, entry.distance, entry.score, entry.via) == (TABLE, 0, 1.0, None)
    assert (entity.key, entity.distance) == (ENTITY, 1)
    assert entity.via == edge(ENTITY, Relation.MAPS_TO, TABLE)
    assert [each.score for each in found.nodes] == sorted((each.score for each in found.nodes), reverse=True)


@pytest.mark.rule("D20")
def test_only_allowed_relations_are_followed_and_shown() -> None:
    found = neighbourhood(shop(), [ENTITY], steps=allow_list(["MapsTo"]))
    assert set(keys(found)) == {ENTITY, TABLE, ORDER}
    assert {each.relation for each in found.edges} == {Relation.MAPS_TO}


@pytest.mark.parametrize(
    ("direction", "expected"), [(Direction.OUT, {ENTITY, TABLE, ORDER}), (Direction.IN, {ENTITY, FIND})]
)
def test_direction(direction: Direction, expected: set[str]) -> None:
    assert set(keys(neighbourhood(shop(), [ENTITY], steps=allow_list([], direction), depth=1))) == expected


def test_kinds_bound_where_the_walk_goes() -> None:
    found = neighbourhood(shop(), [ROUTE], kinds=[NodeType.METHOD], depth=9)
    assert {each.kind for each in found.nodes[1:]} == {NodeType.METHOD}
    assert ACTION in keys(found)
    assert ENTITY not in keys(found)


@pytest.mark.rule("R27")
def test_an_allow_list_without_matches_is_a_warning() -> None:
    found = neighbourhood(shop(), [TABLE], steps=allow_list(["Inherits"]))
    assert keys(found) == [TABLE]
    assert "match nothing in this index: Inherits" in found.warnings[0]


@pytest.mark.rule("D19")
def test_unknown_entries_are_reported() -> None:
    found = neighbourhood(shop(), {"csharp:Gone|TYPE": 2.0, TABLE: 1.0}, depth=0)
    assert (keys(found), found.unknown) == ([TABLE], ("csharp:Gone|TYPE",))
    assert neighbourhood(shop(), []).nodes == ()


@pytest.mark.rule("D19")
def test_weights_of_entries_are_relative() -> None:
    found = neighbourhood(shop(), {TABLE: 12.0, ROUTE: 3.0}, depth=0)
    assert [(each.key, each.score) for each in found.nodes] == [(TABLE, 1.0), (ROUTE, 0.25)]


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ({"depth": -1}, "depth must be at least 0"),
        ({"nodes": 0}, "nodes must be at least 1"),
        ({"hub_edges": 0}, "hub_edges must be at least 1"),
    ],
)
def test_impossible_bounds(bounds: dict[str, int], said: str) -> None:
    with pytest.raises(WalkError, match=said):
        neighbourhood(shop(), [TABLE], **bounds)  # type: ignore[arg-type]


@pytest.mark.parametrize("weight", [0.0, -1.0, float("nan"), float("inf")])
def test_impossible_weights(weight: float) -> None:
    with pytest.raises(WalkError, match="must be a positive number"):
        neighbourhood(shop(), {TABLE: weight})


def test_certain_edges_lead_to_more_relevant_nodes() -> None:
    graph = of_edges(
        [edge(HUB, Relation.CALLS, method(f"To{doubt.name}"), doubt) for doubt in reversed(list(Confidence))]
    )
    found = keys(neighbourhood(graph, [HUB]))
    assert found == [HUB, method("ToRESOLVED"), method("ToPROBABLE"), method("ToNAME_ONLY")]


def test_what_everything_uses_is_less_relevant() -> None:
    helper, own = method("Aaa"), method("Zzz")  # by key the helper would be first
    edges = [edge(HUB, Relation.CALLS, helper), edge(HUB, Relation.CALLS, own)]
    edges += [edge(method(f"C{number}"), Relation.CALLS, helper) for number in range(200)]
    assert keys(neighbourhood(of_edges(edges), [HUB], nodes=3))[1] == own


def test_equal_nodes_are_in_the_order_of_their_keys() -> None:
    graph = of_edges([edge(HUB, Relation.CALLS, method(name)) for name in "CAB"])
    assert keys(neighbourhood(graph, [HUB])) == [HUB, method("A"), method("B"), method("C")]


@pytest.mark.rule("D20")
def test_a_hub_neither_floods_nor_slows() -> None:
    """Bad input: a node with 20,000 edges, three of them side by side."""
    hubs = [method(f"Hub{number}") for number in range(3)]
    edges = [edge(method(f"M{n}"), Relation.CALLS, hubs[n % 3]) for n in range(60_000)]
    edges += [edge(one, Relation.CALLS, hubs[0]) for one in hubs[1:]]
    edges += [edge(hubs[0], Relation.IMPLEMENTS, method("Port"))]
    graph = of_edges(edges)
    found = neighbourhood(graph, hubs, depth=3)
    assert lines_run(lambda: neighbourhood(graph, hubs, depth=3)) < 20_000  # one line an edge would be 60,000
    assert len(found.nodes) == 120
    assert set(hubs) <= set(keys(found))
    assert method("Port") in keys(found)
    assert Cut(hubs[1], Relation.CALLS, Direction.IN, HUB_EDGES, 20_000) in found.cut
    assert found.left_out > 0


@pytest.mark.parametrize("inwards", [True, False], ids=["in", "out"])
def test_the_steps_of_a_hub_that_are_followed_are_the_most_telling(inwards: bool) -> None:
    """Certain ones, then those to what is rarely used; not the first by key."""

    def joined(other: str, doubt: Confidence = Confidence.RESOLVED) -> GraphEdge:
        ends = (other, HUB) if inwards else (HUB, other)
        return edge(ends[0], Relation.CALLS, ends[1], doubt)

    rare = [method(f"Rare{number}") for number in range(3)]
    edges = [joined(method(f"A{n}"), Confidence.NAME_ONLY) for n in range(500)]
    edges += [joined(method(f"Common{n}")) for n in range(5)]
    for common, other in itertools.product(range(5), range(9)):
        ends = [method(f"Common{common}"), method(f"Other{other}")]
        source, target = ends if inwards else reversed(ends)
        edges.append(edge(source, Relation.CALLS, target))
    edges += [joined(one) for one in rare]
    found = neighbourhood(of_edges(edges), [HUB], depth=1, hub_edges=3)
    assert set(keys(found)) == {HUB, *rare}


def test_a_cycle_ends() -> None:
    ring = [method(f"R{number:02}") for number in range(20)]
    graph = of_edges([edge(ring[n], Relation.INHERITS, ring[(n + 1) % 20]) for n in range(20)])
    found = neighbourhood(graph, [ring[0]], depth=50)
    assert set(keys(found)) == set(ring)
    assert max(each.distance for each in found.nodes) == 10


def test_a_node_that_calls_itself_is_shown_to() -> None:
    found = neighbourhood(of_edges([edge(HUB, Relation.CALLS, HUB)]), [HUB])
    assert keys(found) == [HUB]


@given(random_edges, random_steps, st.integers(0, 4), st.integers(1, 15))
@settings(deadline=None)
def test_bounds_hold_and_nothing_is_invented(
    edges: list[GraphEdge], steps: tuple[WalkStep, ...], depth: int, nodes: int
) -> None:
    entries = sorted({e.source for e in edges})[:2]
    found = neighbourhood(of_edges(edges), entries, steps=steps, depth=depth, nodes=nodes)
    near = reachable(edges, entries, steps, depth)
    assert len(found.nodes) <= nodes
    assert set(keys(found)) <= set(near)
    kept = {each.key: each for each in found.nodes}
    for each in found.nodes:
        assert near[each.key] <= each.distance <= depth
        if each.via is None:
            assert each.distance == 0
        else:
            before = kept[each.via.source if each.via.target == each.key else each.via.target]
            assert before.score > each.score
            assert {each.via.source, each.via.target} == {before.key, each.key}
    relations = {step.relation for step in steps}
    assert {(e.source, e.relation, e.target) for e in found.edges} == {
        (e.source, e.relation, e.target)
        for e in edges
        if e.source in kept and e.target in kept and e.relation in relations and e.source != e.target
    }


@given(random_edges, random_steps, st.integers(0, 4))
@settings(deadline=None)
def test_without_bounds_everything_in_reach_is_found(
    edges: list[GraphEdge], steps: tuple[WalkStep, ...], depth: int
) -> None:
    entries = sorted({e.source for e in edges})[:2]
    found = neighbourhood(of_edges(edges), entries, steps=steps, depth=depth, nodes=1000)
    assert {each.key: each.distance for each in found.nodes} == reachable(edges, entries, steps, depth)
    assert found.left_out == 0


@given(random_edges, st.integers(1, 4), st.integers(1, 10))
@settings(deadline=None)
def test_fewer_nodes_are_the_best_of_more(edges: list[GraphEdge], depth: int, nodes: int) -> None:
    """Following only the best of each round loses none of them."""
    graph, entries = of_edges(edges), sorted({e.source for e in edges})[:1]
    everything = neighbourhood(graph, entries, depth=depth, nodes=1000)
    best = neighbourhood(graph, entries, depth=depth, nodes=nodes)
    assert [each.score for each in best.nodes] == [each.score for each in everything.nodes][:nodes]


@given(random_edges, st.randoms(use_true_random=False))
@settings(deadline=None)
def test_order_of_edges_and_entries_does_not_matter(edges: list[GraphEdge], chance: random.Random) -> None:
    entries = sorted({e.target for e in edges})[:4]
    expected = neighbourhood(of_edges(edges), entries, nodes=6)
    chance.shuffle(edges)
    chance.shuffle(entries)
    assert neighbourhood(of_edges(edges), entries, nodes=6) == expected


def test_places_and_signatures_come_along() -> None:
    graph = graph_of([node(SERVICE, "src/S.cs", (3, 7), signature="class Orders")], [])
    (only,) = neighbourhood(graph, [SERVICE], steps=ALL_STEPS).nodes
    assert (only.places[0].path, only.places[0].line_start, only.signature) == ("src/S.cs", 3, "class Orders")
    assert PORT not in keys(neighbourhood(graph, [SERVICE]))
