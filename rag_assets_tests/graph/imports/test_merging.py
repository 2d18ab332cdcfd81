"""The built-in graph and an import as one."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.contracts.graph import Confidence, GraphEdge, GraphNode, Relation
from rag_assets.graph.imports.imported_graph import Coverage, ImportedGraph, merge
from rag_assets.settings.repositories import ImportMode
from rag_assets_tests.graph.imports.bundles import known_node

A, B, C = "csharp:N.A.Run()|METHOD", "csharp:N.B.Go(int)|METHOD", "csharp:N.B.Go(string)|METHOD"
CALLS, USES = Relation.CALLS, Relation.USES_TYPE
RESOLVED, PROBABLE = Confidence.RESOLVED, Confidence.PROBABLE
OF_A = Coverage(frozenset({CALLS}), frozenset({"a.cs"}))


def imported(*edges: GraphEdge, nodes: Iterable[GraphNode] = (), coverage: Coverage | None = OF_A) -> ImportedGraph:
    return ImportedGraph(tuple(nodes), edges, (), {}, (coverage,) if coverage else ())


def edge(target: str, confidence: Confidence = RESOLVED, path: str = "a.cs", line: int = 0) -> GraphEdge:
    return GraphEdge(A, CALLS, target, confidence, path, line)


@pytest.mark.parametrize("mode", ["merge", "replace"])
def test_what_both_say_has_the_line_of_one_and_the_confidence_of_the_other(mode: ImportMode) -> None:
    found = merge([edge(B, PROBABLE, line=7)], imported(edge(B)), mode)
    assert found.edges == (edge(B, RESOLVED, line=7),)
    assert (found.counts["agreed"], found.counts["upgraded"]) == (1, 1)


def test_a_lower_confidence_takes_nothing_away() -> None:
    assert merge([edge(B, RESOLVED, line=7)], imported(edge(B, PROBABLE)), "merge").edges == (edge(B, line=7),)


@pytest.mark.parametrize(
    ("mode", "left"),
    [
        ("merge", {"old", "other file", "other relation", "request", "new"}),
        ("replace", {"other file", "other relation", "request", "new"}),
    ],
)
def test_replacing_takes_what_the_import_speaks_for(mode: ImportMode, left: set[str]) -> None:
    edges = {
        "old": edge("csharp:N.X.Old()|METHOD", line=1),
        "other file": edge("csharp:N.X.Y()|METHOD", path="b.cs", line=2),
        "other relation": GraphEdge(A, USES, "csharp:N.B|TYPE", RESOLVED, "a.cs", 3),
        "request": edge("http:GET ~/orders/{}|ENDPOINT", PROBABLE, line=4),
    }
    new = edge("csharp:N.X.New()|METHOD")
    found = merge(edges.values(), imported(new), mode)
    assert set(found.edges) == {(edges | {"new": new})[name] for name in left}
    assert found.counts.get("replaced", 0) == (mode == "replace")


def test_only_of_the_sources_that_the_import_knows() -> None:
    from_field = GraphEdge("csharp:N.A.field|PROPERTY", CALLS, B, RESOLVED, "a.cs", 4)
    only_a = Coverage(frozenset({CALLS}), frozenset({"a.cs"}), frozenset({A}))
    found = merge([from_field, edge(C, line=5)], imported(edge(B), coverage=only_a), "replace")
    assert set(found.edges) == {from_field, edge(B)}


@pytest.mark.parametrize(
    ("confidence", "left", "count"),
    [
        (PROBABLE, {B}, "conflicts won"),
        (Confidence.NAME_ONLY, {B}, "conflicts won"),
        (RESOLVED, {B, C}, "conflicts open"),
    ],
)
def test_another_overload_loses_against_a_higher_confidence(confidence: Confidence, left: set[str], count: str) -> None:
    found = merge([edge(C, confidence, line=3)], imported(edge(B)), "merge")
    assert {each.target for each in found.edges} == left
    assert found.counts[count] == 1


def test_both_overloads_called_are_no_conflict() -> None:
    found = merge([edge(B, PROBABLE, line=3), edge(C, PROBABLE, line=4)], imported(edge(B), edge(C)), "merge")
    assert found.edges == (edge(B, line=3), edge(C, line=4))
    assert "conflicts won" not in found.counts


def test_where_the_import_does_not_speak_for_a_file_nothing_is_in_conflict() -> None:
    found = merge([edge(C, PROBABLE, line=3)], imported(edge(B), coverage=None), "merge")
    assert {each.target for each in found.edges} == {B, C}


@pytest.mark.parametrize("mode", ["merge", "replace"])
def test_nodes_are_never_lost_and_keep_their_places(mode: ImportMode) -> None:
    """Points name them: a node less is a hit that leads nowhere."""
    own, part = known_node("csharp:N.A|TYPE", "a.cs", (1, 9)), known_node("csharp:N.A|TYPE", "a2.cs", (1, 5))
    new = known_node("dbo.T|TABLE")
    found = merge([own, part], imported(nodes=[known_node("csharp:N.A|TYPE"), new]), mode)
    assert found.nodes == (own, part, new)
    assert found.counts["nodes added"] == 1


def test_an_import_of_nothing_changes_nothing() -> None:
    parts: list[GraphNode | GraphEdge] = [known_node(A, "a.cs", (1, 2)), edge(B, line=1)]
    found = merge(parts, imported(coverage=None), "replace")
    assert (*found.nodes, *found.edges) == tuple(parts)


EDGES = st.lists(
    st.builds(
        GraphEdge,
        st.sampled_from([A, B]),
        st.sampled_from([CALLS, USES]),
        st.sampled_from([A, B, C]),
        st.sampled_from(list(Confidence)),
        st.sampled_from(["a.cs", "b.cs"]),
        st.integers(0, 3),
    ),
    max_size=8,
    unique_by=lambda each: (each.source, each.relation, each.target, each.path),
)


@given(own=EDGES, theirs=EDGES, mode=st.sampled_from(["merge", "replace"]), data=st.data())
def test_order_does_not_matter_and_nothing_is_invented(
    own: list[GraphEdge], theirs: list[GraphEdge], mode: ImportMode, data: st.DataObject
) -> None:
    other = imported(*sorted(theirs))
    found = merge(own, other, mode)
    assert merge(data.draw(st.permutations(own)), other, mode) == found
    said = {(each.source, each.relation, each.target) for each in (*own, *theirs)}
    kept = {(each.source, each.relation, each.target) for each in found.edges}
    assert {(each.source, each.relation, each.target) for each in theirs} <= kept <= said
    assert all(each in found.edges or OF_A.holds(each) or _stated(each, theirs) for each in own)


def _stated(edge: GraphEdge, theirs: list[GraphEdge]) -> bool:
    return any(
        (edge.source, edge.relation, edge.target) == (each.source, each.relation, each.target) for each in theirs
    )
