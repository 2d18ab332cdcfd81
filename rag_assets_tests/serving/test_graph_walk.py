"""What a walk of the tool `graph` has room for."""

from __future__ import annotations

from rag_assets.contracts.graph import Relation
from rag_assets.graph.impact import language_without_resolver
from rag_assets.serving.operations.graph import _around
from rag_assets.serving.requests import GraphQuery, GraphRequest
from rag_assets_tests.graph.small_graphs import edge, graph_of, node


def test_many_overloads_leave_room_for_their_callers_and_the_rest_is_counted() -> None:
    own = [f"csharp:A.S.Save(T{number})|METHOD" for number in range(250)]
    callers = [f"csharp:A.C{number}.Go()|METHOD" for number in range(250)]
    edges = [edge(caller, Relation.CALLS, key) for caller, key in zip(callers, own, strict=True)]
    graph = graph_of(map(node, (*own, *callers)), edges)
    rows, _, left_out = _around(graph, GraphRequest(start="S.Save", relation=GraphQuery.CALLERS), own)
    assert (len(rows), left_out) == (200, 50)


def test_an_endpoint_is_of_the_language_of_the_file_that_declares_it() -> None:
    route = "http:DELETE /api/orders|ENDPOINT"
    assert language_without_resolver(route, "src/OrdersController.cs") == ""
    assert language_without_resolver(route, "web/orders.go") == "go"
