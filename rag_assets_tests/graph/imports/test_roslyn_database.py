"""`nodes.csv`, `edges.csv` and `sql_bodies.jsonl` of RoslynIndexer."""

from __future__ import annotations

import codecs
import json
from collections.abc import Mapping
from typing import Any

import pytest

from rag_assets.contracts.graph import Confidence, Relation
from rag_assets.graph.imports.imported_graph import ImportedGraph, UnusableImport
from rag_assets.graph.imports.key_parser import LabelSymbols
from rag_assets.graph.imports.roslyn import roslyn_graph
from rag_assets_tests.graph.imports.bundles import (
    EDGES_HEADER,
    artifacts,
    edge_row,
    edges_csv,
    known,
    known_node,
    node_row,
    nodes_csv,
    row,
)

PROC, TABLE, VIEW = "dbo.GetOrders|PROC", "dbo.Orders|TABLE", "dbo.Open|VIEW"
NODES = nodes_csv(
    node_row(PROC, "db\\GetOrders.sql"), node_row(TABLE, "db\\Orders.sql"), node_row(VIEW, "db\\Open.sql")
)


def graph(
    nodes: str | bytes = NODES,
    edges: str | bytes = "",
    known: LabelSymbols | None = None,
    files: Mapping[str, Any] | None = None,
) -> ImportedGraph:
    made = {"graph/nodes.csv": nodes, "graph/edges.csv": edges or edges_csv()} | dict(files or {})
    return roslyn_graph(artifacts(made), known)


def said(found: ImportedGraph) -> list[tuple[str, str, str]]:
    return [(edge.source, edge.relation.value, edge.target) for edge in found.edges]


def about(found: ImportedGraph, file: str) -> list[str]:
    return [problem for problem in found.problems if problem.startswith(file)]


def test_objects_and_what_they_do() -> None:
    found = graph(
        edges=edges_csv(
            edge_row(PROC, TABLE, "ReadsFrom", "db\\GetOrders.sql"), edge_row(VIEW, TABLE, "ReadsFrom", "db\\Open.sql")
        )
    )
    assert [(node.key, node.path, node.language) for node in found.nodes] == [
        (PROC, "db/GetOrders.sql", "sql"),
        (VIEW, "db/Open.sql", "sql"),
        (TABLE, "db/Orders.sql", "sql"),
    ]
    assert said(found) == [(PROC, "ReadsFrom", TABLE), (VIEW, "ReadsFrom", TABLE)]
    assert {edge.confidence for edge in found.edges} == {Confidence.RESOLVED}
    assert (found.counts["node rows"], found.counts["edge rows"]) == (3, 2)


@pytest.mark.rule("R27")
@pytest.mark.parametrize(
    ("word", "target", "relation"),
    [
        ("ForeignKey", TABLE, Relation.FOREIGN_KEY),
        ("FK", TABLE, Relation.FOREIGN_KEY),
        ("foreign_key", TABLE, Relation.FOREIGN_KEY),
        ("Executes", PROC, Relation.EXECUTES),
        ("calls", PROC, Relation.EXECUTES),
        ("calls", VIEW, Relation.READS_FROM),
        ("Uses", TABLE, Relation.READS_FROM),
        ("cs_dep", TABLE, Relation.READS_FROM),
        ("SynonymFor", TABLE, Relation.SYNONYM_FOR),
    ],
)
def test_the_words_of_producers(word: str, target: str, relation: Relation) -> None:
    found = graph(edges=edges_csv(edge_row(VIEW, target, word)))
    assert said(found) == ([(VIEW, relation.value, target)])


@pytest.mark.rule("R27")
def test_a_relation_read_backwards_is_turned_around() -> None:
    assert said(graph(edges=edges_csv(edge_row(TABLE, PROC, "ReadBy")))) == [(PROC, "ReadsFrom", TABLE)]


def test_our_declarations_give_their_keys_and_lines() -> None:
    """Their C# keys have simple names, or no parameters; their SQL keys imply dbo and another case."""
    ours = known(
        [
            known_node("csharp:Shop.Data.ShopContext.Orders|DBSET", "src/ShopContext.cs", (5, 5)),
            known_node("csharp:Shop.Model.Order|ENTITY", "src/Order.cs", (1, 9)),
            known_node("dbo.ORDERS|TABLE", "db/Orders.sql", (1, 4)),
            known_node("csharp:Shop.Jobs.Clean.Run(int)|METHOD", "src/Clean.cs", (3, 8)),
            known_node("csharp:Shop.Jobs.Clean.Run(string)|METHOD", "src/Clean.cs", (10, 20)),
        ]
    )
    body = {"key": "Shop.Jobs.Clean.Run", "kind": "InlineSQL", "relativePath": "src\\Clean.cs", "lineNumber": 12}
    dbset, entity, method = (
        "csharp:ShopContext.Orders|DBSET",
        "csharp:Order|ENTITY",
        "csharp:Shop.Jobs.Clean.Run|METHOD",
    )
    found = graph(
        nodes_csv(node_row(dbset, "src/ShopContext.cs"), node_row(entity), node_row(method), node_row(TABLE)),
        edges_csv(
            edge_row(dbset, TABLE, "MapsTo"),
            edge_row(entity, TABLE, "MapsTo"),
            edge_row(method, "dbo.Orders|TABLE_OR_VIEW", "ReadsFrom", "src/Clean.cs"),
        ),
        ours,
        files={"docs/sql_bodies.jsonl": json.dumps(body)},
    )
    assert said(found) == [
        ("csharp:Shop.Data.ShopContext.Orders|DBSET", "MapsTo", "dbo.ORDERS|TABLE"),
        ("csharp:Shop.Jobs.Clean.Run(string)|METHOD", "ReadsFrom", "dbo.ORDERS|TABLE"),
        ("csharp:Shop.Model.Order|ENTITY", "MapsTo", "dbo.ORDERS|TABLE"),
    ]
    assert [(node.path, node.line_start) for node in found.nodes] == [
        ("src/ShopContext.cs", 5),
        ("src/Clean.cs", 10),
        ("src/Order.cs", 1),
        ("db/Orders.sql", 1),
    ]
    assert {edge.confidence for edge in found.edges} == {Confidence.RESOLVED}


def test_a_body_tells_the_namespace_of_an_entity() -> None:
    body = {"key": "csharp:Order|ENTITY", "kind": "ENTITY", "typeFullName": "Shop.Model.Order"}
    found = graph(nodes_csv(node_row("csharp:Order|ENTITY")), files={"sql_bodies.jsonl": json.dumps(body)})
    assert [node.key for node in found.nodes] == ["csharp:Shop.Model.Order|ENTITY"]


def test_without_nodes_the_bodies_are_the_nodes() -> None:
    bodies = [
        {"key": "SQL:dbo.proc_Pay", "kind": "Procedure", "file": "db/pay.sql"},
        {"key": "SQL:dbo.Payments", "kind": "Table"},
    ]
    files = {
        "sql_bodies.jsonl": "\n".join(map(json.dumps, bodies)),
        "edges.csv": "from,to,relation\nSQL:dbo.proc_Pay,SQL:dbo.Payments,calls\n",
    }
    found = roslyn_graph(artifacts(files))
    assert [node.key for node in found.nodes] == ["dbo.Payments|TABLE", "dbo.proc_Pay|PROC"]
    assert said(found) == [("dbo.proc_Pay|PROC", "ReadsFrom", "dbo.Payments|TABLE")]
    assert "nodes.csv: missing" in found.problems


def test_a_table_that_nothing_declares_is_only_probable() -> None:
    """RoslynIndexer takes a common table expression for a table."""
    (edge,) = graph(edges=edges_csv(edge_row(PROC, "dbo.recent|TABLE_OR_VIEW", "ReadsFrom"))).edges
    assert (edge.target, edge.confidence) == ("dbo.recent|TABLE_OR_VIEW", Confidence.PROBABLE)


def test_an_unknown_kind_is_that_of_the_declaration() -> None:
    edges = edges_csv(edge_row(PROC, "dbo.Orders|UNKNOWN", "On"), edge_row(PROC, "dbo.gone|UNKNOWN", "On"))
    assert [target for _, _, target in said(graph(edges=edges))] == [TABLE, "dbo.gone|TABLE_OR_VIEW"]


@pytest.mark.parametrize(
    "key",
    [
        "dbo.Order, Lines|TABLE",
        'dbo.Order "Lines"|TABLE',
        "dbo.a|b|TABLE",
        "dbo.Bestellung ü 表|TABLE",
        "dbo.two\r\nlines|TABLE",
        "dbo.with:colon|TABLE",
        "other.dbo.T|TABLE",
    ],
    ids=["comma", "quote", "pipe", "unicode", "line end", "colon", "database"],
)
def test_keys_with_unusual_characters_survive(key: str) -> None:
    found = graph(nodes_csv(node_row(key), node_row(PROC)), edges_csv(edge_row(PROC, key, "ReadsFrom")))
    assert said(found) == [(PROC, "ReadsFrom", key)]
    assert key in [node.key for node in found.nodes]


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: codecs.BOM_UTF8 + text.encode(),
        lambda text: codecs.BOM_UTF16_LE + text.encode("utf-16-le"),
        lambda text: text.encode("utf-16-be"),
    ],
    ids=["UTF-8 with BOM", "UTF-16", "UTF-16 without BOM"],
)
def test_encodings(encode: Any) -> None:
    assert [node.key for node in graph(encode(NODES)).nodes] == [PROC, VIEW, TABLE]


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (row("", "TABLE"), "row 3: without key (,TABLE)"),
        (row("dbo.X|GADGET", "GADGET"), "row 3: a node of unknown kind (dbo.X|GADGET GADGET)"),
        ('"a"b,"c"', "row 3: unreadable row (',' expected after '\"')"),
        (row("x" * 200_000 + "|TABLE"), "row 3: unreadable row (field larger than field limit (131072))"),
        ('"never closed,TABLE', "row 3: unreadable row (unexpected end of data)"),
    ],
    ids=["no key", "unknown kind", "bad quotes", "huge field", "open quote"],
)
def test_bad_rows_of_nodes_are_told_and_left_out(bad: str, problem: str) -> None:
    found = graph(nodes_csv(node_row(TABLE), bad))
    assert about(found, "graph/nodes.csv") == [f"graph/nodes.csv, {problem}"]
    assert [node.key for node in found.nodes] == [TABLE]


def test_rows_behind_a_bad_one_are_used() -> None:
    found = graph(nodes_csv('"a"b', node_row(TABLE), "", row("short"), node_row(PROC)))
    assert [node.key for node in found.nodes] == [PROC, TABLE]


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (edge_row(PROC, TABLE, "Frobnicates"), "an unknown relation (Frobnicates)"),
        (edge_row("dbo.Gone|PROC", TABLE, "ReadsFrom"), "dangling, nothing declares its source (dbo.Gone|PROC)"),
        (edge_row(PROC, "dbo.Gone|PROC", "Executes"), "dangling, nothing declares its target (dbo.Gone|PROC)"),
        (edge_row("Gone", TABLE, "ReadsFrom", to_kind="X"), "an end of unknown kind (Gone)"),
        (edge_row(PROC, "|TABLE", "ReadsFrom"), "an end of unknown kind (|TABLE)"),
        (row(PROC, "", "ReadsFrom"), f"without to ({PROC},,ReadsFrom)"),
        (edge_row(PROC, "Gone|X", "ReadsFrom"), "an end of unknown kind (Gone|X)"),
    ],
    ids=["relation", "source", "target", "no key", "only a kind", "no target", "kind"],
)
def test_bad_edges_are_told_and_left_out(bad: str, problem: str) -> None:
    found = graph(edges=edges_csv(bad, edge_row(PROC, TABLE, "ReadsFrom")))
    assert about(found, "graph/edges.csv") == [f"graph/edges.csv, row 2: {problem}"]
    assert said(found) == [(PROC, "ReadsFrom", TABLE)]


@pytest.mark.parametrize("header", ["", "from,to", "a;b;c", "\0\1\2"], ids=["empty", "no relation", "other", "binary"])
def test_a_wrong_header_leaves_the_file_unused(header: str) -> None:
    found = graph(edges=header.encode() + b"\r\n" + edge_row(PROC, TABLE, "ReadsFrom").encode())
    assert found.edges == ()
    assert len(about(found, "graph/edges.csv")) == 1
    assert "not used, " in about(found, "graph/edges.csv")[0]


def test_columns_may_come_in_another_order_and_case() -> None:
    text = f"Relation,TO,From\nReadsFrom,{TABLE},{PROC}\n"
    assert said(graph(edges=text)) == [(PROC, "ReadsFrom", TABLE)]


def test_a_file_of_nothing_but_faults_stays_short() -> None:
    rows = [edge_row(PROC, TABLE, f"Nonsense{number}") for number in range(2000)]
    found = graph(edges=edges_csv(*rows))
    assert len(about(found, "graph/edges.csv")) == 6
    assert found.problems[-1] == "graph/edges.csv: 1,995 more: an unknown relation"


def test_bad_lines_of_bodies() -> None:
    lines = [
        '{"key": "dbo.A", "kind": "Table"}',
        "{",
        "[]",
        '{"key": 7}',
        "",
        '{"key": "dbo.B", "kind": "View"}',
        "[" * 9000,
    ]
    found = roslyn_graph(artifacts({"sql_bodies.jsonl": "\n".join(lines)}))
    assert [node.key for node in found.nodes] == ["dbo.A|TABLE", "dbo.B|VIEW"]
    assert [problem[:28] for problem in about(found, "sql_bodies")] == [
        "sql_bodies.jsonl, row 2: unr",
        "sql_bodies.jsonl, row 3: unr",
        "sql_bodies.jsonl, row 4: unr",
        "sql_bodies.jsonl, row 7: unr",
    ]


def test_paths_are_those_of_the_repository() -> None:
    """RoslynIndexer writes them relative to the folder of the scripts, or as they were on its machine."""
    ours = known(paths=["src/db/Orders.sql", "src/db/GetOrders.sql", "src/db/Open.sql"])
    nodes = nodes_csv(
        node_row(TABLE, "Orders.sql"),
        node_row(PROC, r"D:\work\Shop\src\db\GetOrders.sql"),
        node_row(VIEW, "..\\db\\OPEN.sql"),
    )
    meta = {"RepositoryRoot": r"D:\work\Shop", "HeadSha": "c" * 40}
    found = graph(nodes, "", ours, files={"repo_meta.json": meta})
    assert {node.key: node.path for node in found.nodes} == {
        PROC: "src/db/GetOrders.sql",
        VIEW: "src/db/Open.sql",
        TABLE: "src/db/Orders.sql",
    }
    assert found.commit == "c" * 40


@pytest.mark.parametrize(
    ("label", "is_warned"), [("c" * 40, False), ("C" * 40, False), ("c" * 8, False), ("", False), ("d" * 40, True)]
)
def test_an_import_of_another_commit_is_a_warning(label: str, is_warned: bool) -> None:
    found = graph(known=known(commit=label), files={"repo_meta.json": {"HeadSha": "c" * 40}})
    assert (
        any("made for commit cccccccccccc, the label is at dddddddddddd" in each for each in found.problems)
        is is_warned
    )


@pytest.mark.parametrize("meta", ["{", "[]", "", '{"HeadSha": 7, "RepositoryRoot": null}'])
def test_a_damaged_meta_file_costs_the_commit_only(meta: str) -> None:
    found = graph(files={"repo_meta.json": meta})
    assert (found.commit, len(found.nodes)) == ("", 3)


def test_it_speaks_for_the_scripts_it_read() -> None:
    found = graph(edges=edges_csv(edge_row(PROC, TABLE, "ReadsFrom", "db/GetOrders.sql")))
    (coverage,) = found.coverage
    assert coverage.paths == {"db/GetOrders.sql", "db/Open.sql", "db/Orders.sql"}
    assert coverage.sources == {PROC, TABLE, VIEW}
    assert Relation.READS_FROM in coverage.relations
    assert Relation.MAPS_TO not in coverage.relations


@pytest.mark.parametrize(
    ("files", "first"),
    [
        ({"nodes.csv": ""}, r"nodes\.csv, row 1: not used, its header lacks"),
        ({"edges.csv": EDGES_HEADER}, r"sql_bodies\.jsonl: missing"),
        ({"chunks.json": "["}, r"chunks\.json: not used, it is damaged"),
        ({"nodes.csv": b"\x00\xff" * 50}, r"nodes\.csv, row 1: not used, its header lacks"),
    ],
    ids=["empty", "no rows", "cut", "binary"],
)
def test_nothing_usable_is_an_error_that_says_why_first(files: dict[str, Any], first: str) -> None:
    with pytest.raises(UnusableImport, match=rf"^bundle: nothing of it can be used: {first}"):
        roslyn_graph(artifacts(files))


def test_the_order_of_rows_does_not_matter() -> None:
    rows = [edge_row(PROC, TABLE, "ReadsFrom"), edge_row(PROC, TABLE, "WritesTo"), edge_row(VIEW, TABLE, "ReadsFrom")]
    one, other = graph(edges=edges_csv(*rows)), graph(edges=edges_csv(*reversed(rows)))
    assert (one.nodes, one.edges, one.coverage) == (other.nodes, other.edges, other.coverage)
