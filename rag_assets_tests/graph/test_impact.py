"""Who is affected by a change, and what something needs."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_assets.contracts.graph import Confidence, GraphEdge, Relation
from rag_assets.graph.csr_graph import Graph
from rag_assets.graph.impact import Effect, Impact, ImpactGroup, impact
from rag_assets.graph.neighbourhood import WalkError
from rag_assets_tests.graph.small_graphs import (
    ACTION,
    ENTITY,
    FIND,
    FOREIGN,
    HANDLER,
    MESSAGE,
    ORDER,
    OTHER_FIND,
    PORT,
    ROUTE,
    SECTION,
    SENDER,
    SERVICE,
    TABLE,
    TEST,
    edge,
    graph_of,
    method,
    node,
    of_edges,
    random_edges,
    shop,
)


def of(graph: Graph, *keys: str, **bounds: object) -> Impact:
    numbers = [graph.find(key) for key in keys]
    assert None not in numbers
    return impact(graph, numbers, **bounds)  # type: ignore[arg-type]


def distances(found: Impact) -> dict[str, int]:
    return {node.key: node.distance for node in found.reached}


def test_who_is_affected_by_a_table() -> None:
    found = of(shop(), TABLE)
    assert distances(found) == {ENTITY: 1, FOREIGN: 1, FIND: 2, ORDER: 2, PORT: 3, TEST: 3, ACTION: 4, ROUTE: 5}
    assert {node.key: node.group for node in found.reached}[TEST] is ImpactGroup.TESTS
    assert found.groups == {"endpoints": 1, "tables": 1, "tests": 1, "code": 5}
    assert found.counts == {"ENDPOINT": 1, "ENTITY": 1, "METHOD": 4, "TABLE": 1, "TYPE": 1}


@pytest.mark.parametrize(
    ("path", "group"),
    [
        ("tests/Orders.cs", ImpactGroup.TESTS),
        ("src/test/java/Orders.java", ImpactGroup.TESTS),
        ("Shop.UnitTests/Orders.cs", ImpactGroup.TESTS),
        ("Shop.Tests.Data/Builder.cs", ImpactGroup.TESTS),
        ("test/Polly.Specs/Orders.cs", ImpactGroup.TESTS),
        ("cart/cart_test.go", ImpactGroup.TESTS),
        ("src/cart.spec.ts", ImpactGroup.TESTS),
        ("src/contest.py", ImpactGroup.CODE),
        ("src/latest/Contest/Orders.cs", ImpactGroup.CODE),
        ("src/Core/Specs/Open.cs", ImpactGroup.CODE),
        ("src/OrderTests.cs", ImpactGroup.CODE),
    ],
)
def test_what_lies_in_folders_of_tests_is_a_test(path: str, group: ImpactGroup) -> None:
    case = method("Case")
    graph = graph_of([node(FIND), node(case, path)], [edge(case, Relation.CALLS, FIND)])
    assert [reached.group for reached in of(graph, FIND).reached] == [group]


def test_what_a_test_class_contains_is_a_test_with_or_without_a_subject() -> None:
    suite, inner, case, helper = "csharp:N.S|TYPE", "csharp:N.S.In|TYPE", method("Case"), method("Helper")
    edges = [
        edge(suite, Relation.TESTS, SERVICE),
        edge(suite, Relation.CONTAINS, inner),
        edge(inner, Relation.CONTAINS, case),
        edge(case, Relation.CALLS, FIND),
        edge(helper, Relation.CALLS, FIND),
    ]
    assert {node.key: node.group for node in of(of_edges(edges), FIND).reached} == {
        case: ImpactGroup.TESTS,
        helper: ImpactGroup.CODE,
    }


def test_a_table_that_a_test_script_makes_stays_a_table() -> None:
    graph = graph_of(
        [node(TABLE, "tests/a.sql"), node(FOREIGN, "tests/a.sql")], [edge(FOREIGN, Relation.FOREIGN_KEY, TABLE)]
    )
    assert [reached.group for reached in of(graph, TABLE).reached] == [ImpactGroup.TABLES]


def test_an_implementation_affects_the_callers_of_its_interface_but_not_its_siblings() -> None:
    found = distances(of(shop(), FIND))
    assert (found[PORT], found[ACTION], found[ROUTE]) == (1, 2, 3)
    assert OTHER_FIND not in found


def test_an_interface_affects_all_its_implementations() -> None:
    assert {FIND, OTHER_FIND, ACTION} <= distances(of(shop(), PORT)).keys()


def test_a_handler_affects_who_sends_its_message() -> None:
    assert distances(of(shop(), HANDLER)) == {MESSAGE: 1, SENDER: 2}


def test_a_type_changes_with_its_members() -> None:
    found = of(shop(), SERVICE)
    assert found.parts == 2
    assert found.of == (SERVICE,)
    assert {PORT: 1, TEST: 1, SECTION: 1}.items() <= distances(found).items()
    assert FIND not in distances(found)


def test_a_class_of_an_entity_affects_who_reads_it() -> None:
    assert {ENTITY: 1, FIND: 2}.items() <= distances(of(shop(), ORDER)).items()


def test_what_a_route_needs() -> None:
    found = of(shop(), ROUTE, effect=Effect.NEEDED)
    assert distances(found) == {ACTION: 1, PORT: 2, FIND: 3, OTHER_FIND: 3, ENTITY: 4, TABLE: 5, ORDER: 5}
    (table,) = (node for node in found.reached if node.group is ImpactGroup.TABLES)
    assert table.confidence is Confidence.PROBABLE  # the weakest step on the way
    assert table.via == edge(ENTITY, Relation.MAPS_TO, TABLE)


def test_a_sender_needs_the_handler_of_its_message() -> None:
    assert distances(of(shop(), SENDER, effect=Effect.NEEDED)) == {MESSAGE: 1, HANDLER: 2}


def test_the_surest_of_equally_near_ways_counts() -> None:
    a, b, c, d = (method(name) for name in "ABCD")
    graph = of_edges(
        [
            edge(b, Relation.CALLS, a, Confidence.NAME_ONLY),
            edge(c, Relation.CALLS, a),
            edge(d, Relation.CALLS, b),
            edge(d, Relation.CALLS, c, Confidence.PROBABLE),
        ]
    )
    found = {node.key: node for node in of(graph, a).reached}
    assert (found[d].distance, found[d].confidence) == (2, Confidence.PROBABLE)
    assert found[d].via.target == c


def test_bounds() -> None:
    assert distances(of(shop(), TABLE, depth=1)) == {ENTITY: 1, FOREIGN: 1}
    few = of(shop(), TABLE, limit=1)
    assert (list(distances(few)), few.total) == ([ENTITY, FOREIGN, FIND, PORT, TEST, ACTION, ROUTE], 8)
    assert ORDER not in distances(few)  # neither the nearest of its group nor on the way to one
    for bounds in ({"depth": 0}, {"limit": 0}):
        with pytest.raises(WalkError, match="must be at least 1"):
            of(shop(), TABLE, **bounds)


def test_every_caller_of_a_hub_is_counted() -> None:
    hub = method("Hub")
    found = of(of_edges([edge(method(f"M{n}"), Relation.CALLS, hub) for n in range(20_000)]), hub, limit=5)
    assert (found.total, len(found.reached)) == (20_000, 5)


def test_nothing_is_affected() -> None:
    found = of(shop(), SECTION)
    assert (found.reached, found.total, found.counts, found.groups) == ((), 0, {}, {})


@given(random_edges, st.sampled_from(Effect), st.integers(1, 6))
@settings(deadline=None)
def test_every_node_was_reached_by_a_step_from_one_nearer(edges: list[GraphEdge], effect: Effect, depth: int) -> None:
    """Bad input: cycles of every kind."""
    if not edges:
        return
    graph = of_edges(edges)
    start = edges[0].source
    found = of(graph, start, effect=effect, depth=depth, limit=1000)
    near = distances(found)
    known = {(e.source, e.relation, e.target) for e in edges}
    for reached in found.reached:
        assert 1 <= reached.distance <= depth
        assert (reached.via.source, reached.via.relation, reached.via.target) in known
        assert reached.key in (reached.via.source, reached.via.target)
        before = reached.via.source if reached.via.target == reached.key else reached.via.target
        assert near.get(before, 0) < reached.distance
    assert found.total == len(found.reached) == sum(found.counts.values()) == sum(found.groups.values())
    assert of(of_edges(list(reversed(edges))), start, effect=effect, depth=depth, limit=1000) == found
