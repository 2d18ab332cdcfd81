"""`chunks.json` and `dependencies.json` of RoslynIndexer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from rag_assets.contracts.graph import Confidence, GraphNode, Relation
from rag_assets.graph.imports.imported_graph import ImportedGraph
from rag_assets.graph.imports.key_parser import LabelSymbols
from rag_assets.graph.imports.roslyn import roslyn_graph
from rag_assets_tests.graph.imports.bundles import artifacts, chunk, known, known_node

CART = "src/Cart.cs"


def method(key: str, first: int, last: int, path: str = CART) -> GraphNode:
    return known_node(f"csharp:{key}|METHOD", path, (first, last))


def graph(
    chunks: Any, dependencies: Any = None, known: LabelSymbols | None = None, files: Mapping[str, Any] | None = None
) -> ImportedGraph:
    made = {"code/chunks.json": chunks, "code/dependencies.json": {} if dependencies is None else dependencies} | dict(
        files or {}
    )
    return roslyn_graph(artifacts(made), known)


def keys(found: ImportedGraph) -> list[str]:
    return [node.key for node in found.nodes]


@pytest.mark.parametrize(
    ("signature", "member", "more", "key"),
    [
        ("Shop.Cart.void Cart.Clear()", "Clear", {}, "csharp:Shop.Cart.Clear()|METHOD"),
        (
            "Shop.Data.Cart.Task<List<Order>> Cart.Find<T>(int id, [string name = \"a, b\"]) where T : class",
            "Find", {"class_": "Cart"}, "csharp:Shop.Data.Cart.Find(int,string)|METHOD",
        ),
        ("Shop.Cart.Cart.Cart(ref Dictionary<string, int> all)", "Cart", {"Type": "Constructor"},
         "csharp:Shop.Cart.Cart(Dictionary<string,int>)|METHOD"),
        ("Shop.Cart.int Cart.Count", "Count", {"Type": "Property"}, "csharp:Shop.Cart.Count|PROPERTY"),
        ("NoNamespace.Cart.void Cart.Clear()", "Clear", {}, "csharp:Cart.Clear()|METHOD"),
        ("Shop.NoClass.void Line.Clear()", "Clear", {"class_": "NoClass"}, "csharp:Shop.Line.Clear()|METHOD"),
        ("Shop.Cart.Cart Cart.operator +(Cart a, Cart b)", "+", {"Type": "Operator"},
         "csharp:Shop.Cart.operator +(Cart,Cart)|METHOD"),
        ("Shop.Cart.void Cart<T>.Add(T item)", "Add", {}, "csharp:Shop.Cart`1.Add(T)|METHOD"),
    ],
    ids=["method", "generic", "constructor", "property", "no namespace", "no class", "operator", "generic type"],
)  # fmt: skip
def test_a_key_from_the_data_alone(signature: str, member: str, more: dict[str, Any], key: str) -> None:
    (node,) = graph([chunk(1, CART, signature, member, **more)]).nodes
    assert (node.key, node.path, node.language) == (key, CART, "csharp")


@pytest.mark.parametrize(
    ("display", "line"),
    [
        ("void Cart.Add(int count)", 1),
        ("void Cart.Add(string name)", 3),
        ("void Cart.Add(List<int?> all)", 5),
        ("void Cart<T>.Add(string name)", 7),
        ("void Cart.Line.Add(string name)", 9),
        ("void Cart.Add(params int[] counts)", 11),
    ],
)
def test_overloads_are_told_apart_as_the_label_writes_them(display: str, line: int) -> None:
    ours = known(
        [
            method("Shop.Cart.Add(System.Int32)", 1, 2),
            method("Shop.Cart.Add(string?)", 3, 4),
            method("Shop.Cart.Add(System.Collections.Generic.List<int?>)", 5, 6),
            method("Shop.Cart`1.Add(string)", 7, 8),
            method("Shop.Cart.Line.Add(string)", 9, 10),
            method("Shop.Cart.Add(int[])", 11, 12),
        ]
    )
    (node,) = graph([chunk(1, r"src\Cart.cs", f"NoNamespace.Cart.{display}", "Add")], known=ours).nodes
    assert (node.line_start, node.path) == (line, CART)


def test_dependencies_are_calls_proven_by_the_compiler() -> None:
    chunks = [
        chunk(1, CART, "Shop.Cart.void Cart.Clear()", "Clear"),
        chunk(2, "src/Log.cs", "Shop.Log.void Log.Write(string text)", "Write"),
        chunk("x3", "src/Log.cs", "Shop.Log.string Log.Name", "Name", Type="Property"),
    ]
    found = graph(chunks, {"1": [2, "x3"], "2": [2]})
    clear, write = "csharp:Shop.Cart.Clear()|METHOD", "csharp:Shop.Log.Write(string)|METHOD"
    assert [(edge.source, edge.relation, edge.target, edge.path) for edge in found.edges] == [
        (clear, Relation.CALLS, write, CART),
        (clear, Relation.REFERENCES, "csharp:Shop.Log.Name|PROPERTY", CART),
        (write, Relation.CALLS, write, "src/Log.cs"),
    ]
    assert {edge.confidence for edge in found.edges} == {Confidence.RESOLVED}
    (coverage,) = found.coverage
    assert coverage.relations == {Relation.CALLS}
    assert coverage.paths == {CART, "src/Log.cs"}


def test_a_guessed_end_makes_the_call_probable() -> None:
    ours = known([method("Shop.Cart.Add(Money)", 1, 2), method("Shop.Cart.Clear()", 3, 4)])
    chunks = [
        chunk(1, CART, "Shop.Cart.void Cart.Add(decimal amount)", "Add"),  # our only Add has another parameter
        chunk(2, CART, "Shop.Cart.void Cart.Clear()", "Clear"),
    ]
    (edge,) = graph(chunks, {"2": [1]}, ours).edges
    assert (edge.target, edge.confidence) == ("csharp:Shop.Cart.Add(Money)|METHOD", Confidence.PROBABLE)


def test_ids_without_chunk_are_counted_and_told_a_few_times() -> None:
    chunks = [chunk(1, CART, "Shop.Cart.void Cart.Clear()", "Clear")]
    found = graph(chunks, {"1": list(range(2, 40)), "77": [1]})
    assert found.edges == ()
    assert found.counts["dangling dependencies"] == 39
    told = [problem for problem in found.problems if "dependencies.json" in problem]
    assert told[0] == "code/dependencies.json: dangling, an id without chunk (1 calls 2)"
    assert told[-1] == "code/dependencies.json: 34 more: dangling, an id without chunk"


def test_a_database_object_among_the_called() -> None:
    bodies = json.dumps({"key": "SQL:dbo.proc_Pay", "kind": "Procedure"})
    chunks = [chunk(1, CART, "Shop.Cart.void Cart.Pay()", "Pay")]
    found = graph(chunks, {"1": ["SQL:dbo.proc_Pay", "SQL:dbo.gone"]}, files={"sql_bodies.jsonl": bodies})
    assert [(edge.relation, edge.target) for edge in found.edges] == [(Relation.EXECUTES, "dbo.proc_Pay|PROC")]
    assert found.counts["dangling dependencies"] == 1


GOOD = chunk(1, CART, "Shop.Cart.void Cart.Clear()", "Clear")


@pytest.mark.parametrize(
    "bad",
    [None, 7, [], "x", {}, {"Id": 2}, {"Id": None, "Member": "M"}, {"Id": 2, "Member": 7}, {"Id": [], "Member": "M"}],
    ids=str,
)
def test_what_is_no_chunk_is_told_and_left_out(bad: Any) -> None:
    found = graph([bad, GOOD])
    assert keys(found) == ["csharp:Shop.Cart.Clear()|METHOD"]
    assert any(problem.startswith("code/chunks.json, row 1: ") for problem in found.problems)


def test_a_chunk_without_anything_but_its_name_is_kept() -> None:
    assert keys(graph([{"Id": "C1", "Member": "Main", "Class": None, "File": None}])) == ["csharp:Main()|METHOD"]


def test_an_id_that_comes_again_counts_once() -> None:
    other = chunk(1, CART, "Shop.Cart.void Cart.Add()", "Add")
    assert keys(graph([GOOD, GOOD, other])) == ["csharp:Shop.Cart.Clear()|METHOD"]


def test_a_cut_file_is_not_used_and_told() -> None:
    found = graph([GOOD], '{"1": [1], "2"')
    assert (keys(found), found.edges) == (["csharp:Shop.Cart.Clear()|METHOD"], ())
    assert any(problem.startswith("code/dependencies.json: not used, it is damaged (") for problem in found.problems)


@pytest.mark.parametrize(
    "dependencies",
    ["[]", "7", '{"1": 7}', '{"1": [null]}', '{"1": {"a": 1}}', "", "[" * 5000, '{"1": [' + "9" * 5000 + "]}"],
    ids=lambda text: text[:12],
)
def test_dependencies_that_are_none(dependencies: str) -> None:
    found = graph([GOOD], dependencies)
    assert found.edges == ()
    assert any("dependencies.json" in problem for problem in found.problems)


def test_a_file_of_another_repository_is_told() -> None:
    found = graph([GOOD, chunk(2, "../Other/X.cs", "O.X.void X.Y()", "Y")], known=known(paths=[CART]))
    assert [problem for problem in found.problems if "does not have" in problem] == [
        "code/chunks.json, row 2: a file that the label does not have (../Other/X.cs)"
    ]
    assert found.coverage == ()


def test_the_order_of_chunks_does_not_matter() -> None:
    chunks = [chunk(i, f"src/T{i}.cs", f"Shop.T{i}.void T{i}.Run()", "Run") for i in range(1, 9)]
    calls = {str(i): [1, 8, i] for i in range(1, 9)}
    assert graph(chunks, calls) == graph(chunks[::-1], dict(reversed(calls.items())))
