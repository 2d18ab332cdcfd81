"""What came and went between two graphs, against sets of keys and edges."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rag_assets.contracts.graph import GraphEdge, Relation
from rag_assets.graph.comparison import GraphDifference, compare_graphs
from rag_assets.graph.csr_graph import Graph
from rag_assets_tests.graph.small_graphs import (
    ACTION,
    FIND,
    FOREIGN,
    ORDER,
    ROUTE,
    SERVICE,
    TABLE,
    edge,
    of_edges,
    random_edges,
)


def edges_of(graph: Graph) -> set[tuple[str, Relation, str]]:
    every = (graph.edge(number) for number in range(graph.edge_count))
    return {(one.source, one.relation, one.target) for one in every if one.relation is not Relation.CONTAINS}


def told(side: GraphDifference) -> set[tuple[str, Relation, str]]:
    return {(one.source, one.relation, one.target) for one in side.listed}


def test_routes_and_tables_are_named_and_edges_between_old_acquaintances_come_first() -> None:
    old = of_edges([edge(ACTION, Relation.CALLS, FIND), edge(FIND, Relation.READS_FROM, TABLE)])
    new = of_edges(
        [
            edge(ACTION, Relation.EXPOSES, ROUTE),
            edge(ACTION, Relation.READS_FROM, TABLE),
            edge(ACTION, Relation.CALLS, FIND),
            edge(FIND, Relation.READS_FROM, FOREIGN),
        ]
    )
    found = compare_graphs(old, new)
    assert set(found.added.named) == {ROUTE, FOREIGN}
    assert found.added.nodes == {"ENDPOINT": 1, "TABLE": 1}
    assert found.added.edges == {"Exposes": 1, "ReadsFrom": 2}
    assert (found.added.listed[0].source, found.added.listed[0].target) == (ACTION, TABLE)
    assert (found.removed.named, found.removed.nodes, found.removed.edges) == ((), {}, {"ReadsFrom": 1})
    assert len(compare_graphs(old, new, limit=1).added.listed) == 1


def test_what_a_type_contains_is_no_news_as_an_edge() -> None:
    old, new = (
        of_edges([edge(SERVICE, Relation.CALLS, ORDER)]),
        of_edges([edge(SERVICE, Relation.CALLS, ORDER), edge(SERVICE, Relation.CONTAINS, FIND)]),
    )
    found = compare_graphs(old, new)
    assert (found.added.nodes, found.added.edges) == ({"METHOD": 1}, {})
    assert found.removed.is_empty


@given(random_edges, random_edges, st.booleans())
def test_as_sets_say(first: list[GraphEdge], second: list[GraphEdge], same: bool) -> None:
    old, new = of_edges(first), of_edges(first if same else second)
    found = compare_graphs(old, new)
    keys = [{graph.keys[node] for node in range(len(graph))} for graph in (old, new)]
    assert told(found.added) == edges_of(new) - edges_of(old)
    assert told(found.removed) == edges_of(old) - edges_of(new)
    assert sum(found.added.nodes.values()) == len(keys[1] - keys[0])
    assert sum(found.removed.nodes.values()) == len(keys[0] - keys[1])
    if same:
        assert found.added.is_empty and found.removed.is_empty
