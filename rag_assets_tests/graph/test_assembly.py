"""Parts into one graph: merged nodes, single edges, numbers in the order of keys, counts."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_assets.contracts.graph import Confidence, GraphEdge, GraphNode, NodeType, Relation
from rag_assets.graph.build import (
    EDGES,
    NODES,
    REPEATED_IN_EDGES,
    REPEATED_IN_NODES,
    GraphAssembly,
    assemble,
    assemble_tables,
    edges_table,
    nodes_table,
)
from rag_assets.graph.csr_graph import Graph, NodeLocation
from rag_assets_tests.graph.small_graphs import SHOP_EDGES, SHOP_NODES, edge, method, node, of_edges, random_edges

A, B = method("A"), method("B")
STRANGE = [
    "csharp:N.T.M(Dictionary<string,int>,(int,string))|METHOD",
    "csharp:N.Repository`1.Get`2(T[],ref int)|METHOD",
    "csharp:Größe.Äpfel|TYPE",
    'dbo.a "quoted" name|TABLE',
    "dbo.a|b|TABLE",
    "dbo.with [brackets] and 'quotes'\n|TABLE",
    "file:src/a b,c#d.cs|FILE",
    "doc:docs/𝄞.md#a#b|SECTION",
    "|TABLE",
]


@pytest.mark.parametrize("key", STRANGE)
def test_keys_of_any_characters_survive(key: str) -> None:
    graph = of_edges([edge(key, Relation.CALLS, A)])
    number = graph.find(key)
    assert number is not None
    assert graph.keys[number] == key
    assert graph.kind(number).value == key.rpartition("|")[2]


def test_keys_are_numbered_in_their_order() -> None:
    graph = of_edges([edge(key, Relation.CALLS, A) for key in STRANGE])
    keys = [graph.keys[number] for number in range(len(graph))]
    assert keys == sorted({*STRANGE, A})
    assert [graph.find(key) for key in keys] == list(range(len(graph)))
    assert graph.find("csharp:Nothing|TYPE") is None


def test_parts_of_a_type_are_one_node_with_several_places() -> None:
    key = "csharp:N.Partial|TYPE"
    parts = [node(key, "b.cs", (3, 4), signature="second"), node(key, "a.cs", (1, 2), signature="first")]
    graph = Graph(assemble([*parts, parts[0]], []).arrays)
    assert len(graph) == 1
    assert graph.places(0) == (NodeLocation("a.cs", 1, 2), NodeLocation("b.cs", 3, 4))
    assert graph.signature(0) == "first"


def test_equal_edges_are_one_with_the_lowest_place_and_the_best_confidence() -> None:
    seen = [
        edge(A, Relation.CALLS, B, Confidence.NAME_ONLY, "a.cs", 7),
        edge(A, Relation.CALLS, B, Confidence.RESOLVED, "b.cs", 1),
        edge(A, Relation.CALLS, B, Confidence.PROBABLE, "a.cs", 9),
    ]
    graph = of_edges(seen)
    assert graph.edge_count == 1
    assert graph.edge(0) == edge(A, Relation.CALLS, B, Confidence.RESOLVED, "a.cs", 7)


def test_other_relations_and_directions_are_other_edges() -> None:
    assert (
        of_edges([edge(A, Relation.CALLS, B), edge(A, Relation.TESTS, B), edge(B, Relation.CALLS, A)]).edge_count == 3
    )


@pytest.mark.parametrize(
    ("target", "kind", "name"),
    [
        ("dbo.Orders|TABLE_OR_VIEW", NodeType.TABLE_OR_VIEW, "Orders"),
        ("nuget:Newtonsoft.Json|PACKAGE", NodeType.PACKAGE, "Newtonsoft.Json"),
    ],
)
def test_what_is_only_referred_to_becomes_a_node(target: str, kind: NodeType, name: str) -> None:
    graph = Graph(assemble([node(A)], [edge(A, Relation.READS_FROM, target)]).arrays)
    number = graph.find(target)
    assert number is not None
    assert (graph.kind(number), graph.names[number], graph.places(number)) == (kind, name, ())


def test_edges_to_what_is_not_declared_are_left_out_and_counted() -> None:
    made = assemble([node(A)], [edge(A, Relation.CALLS, "csharp:System.X|TYPE"), edge(A, Relation.CALLS, A)])
    assert (made.counts.edges, made.counts.undeclared) == (1, {"Calls": 1})
    assert made.counts.unresolved_share == 0.5


def test_counts() -> None:
    counts = assemble(SHOP_NODES, SHOP_EDGES).counts
    assert (counts.nodes, counts.edges) == (len(SHOP_NODES), len(SHOP_EDGES))
    assert counts.kinds["TABLE"] == 2
    assert counts.relations["Implements"] == 2
    assert counts.confidences == {"resolved": len(SHOP_EDGES) - 1, "probable": 1}
    assert [hub.degree for hub in counts.hubs] == sorted((hub.degree for hub in counts.hubs), reverse=True)
    assert counts.hubs[0].degree == 4


@given(random_edges)
@settings(deadline=None)
def test_every_edge_can_be_read_by_its_number(edges: list[GraphEdge]) -> None:
    graph = of_edges(edges)
    read = [graph.edge(number) for number in range(graph.edge_count)]
    assert sorted((e.source, e.relation, e.target) for e in read) == sorted(
        {(e.source, e.relation, e.target) for e in edges}
    )


def test_an_empty_graph() -> None:
    made = assemble([], [])
    assert (made.counts.nodes, made.counts.edges, made.counts.hubs, made.counts.unresolved_share) == (0, 0, (), 0.0)
    assert len(Graph(made.arrays)) == 0


@pytest.mark.parametrize("column", ["relation", "confidence"])
def test_a_word_outside_the_closed_sets_is_an_error(column: str) -> None:
    rows = edges_table([edge(A, Relation.CALLS, A)])
    at = EDGES.names.index(column)
    damaged = rows.set_column(at, column, pa.array(["Nonsense"]))
    with pytest.raises(ValueError, match=f"unknown {column} in the graph: 'Nonsense'"):
        assemble_tables([nodes_table([node(A)])], [damaged])


def test_tables_hold_the_fields_of_nodes_and_edges() -> None:
    assert NODES.names == [*GraphNode.__struct_fields__, "words"]
    assert EDGES.names == list(GraphEdge.__struct_fields__)
    assert nodes_table([]).num_rows == 0


def as_dictionaries(table: pa.Table, columns: Sequence[str]) -> pa.Table:
    """The table as it is read from Parquet."""
    content = pa.BufferOutputStream()
    pq.write_table(table, content)
    return pq.ParquetFile(pa.BufferReader(content.getvalue()), read_dictionary=list(columns)).read()


def test_texts_may_be_dictionaries_with_texts_that_no_row_has() -> None:
    gone = [node("csharp:Gone.Away|TYPE", "src/Gone.cs", language="gone")]
    lost = [edge("csharp:Lost|TYPE", Relation.READS_FROM, "dbo.Lost|TABLE_OR_VIEW", path="src/Lost.cs")]
    nodes = as_dictionaries(nodes_table([*gone, *SHOP_NODES]), REPEATED_IN_NODES).slice(1)
    edges = as_dictionaries(edges_table([*lost, *SHOP_EDGES]), REPEATED_IN_EDGES).slice(1)
    assert pa.types.is_dictionary(nodes.schema.field("path").type)
    assert pa.types.is_dictionary(edges.schema.field("source").type)
    made, wanted = assemble_tables([nodes], [edges]), assemble(SHOP_NODES, SHOP_EDGES)
    _same(made.arrays, wanted.arrays)
    assert made.counts == wanted.counts


def test_a_node_is_found_by_the_words_of_all_its_parts() -> None:
    key = "csharp:N.Straße|TYPE"
    graph = Graph(assemble([node(key, "b.cs", name="Avenue"), node(key, "a.cs", name="Straße"), node(A)], []).arrays)
    found = {graph.words[number]: _nodes_of(graph, number) for number in range(len(graph.words))}
    assert found == {"strasse": [key], "avenue": [key], "a": [A], "a()": [A]}


def _nodes_of(graph: Graph, word: int) -> list[str]:
    start, stop = graph.arrays["word_nodes"][word : word + 2]
    return [graph.keys[number] for number in graph.arrays["word_node"][start:stop]]


def test_parts_in_one_place_are_one_whatever_their_order() -> None:
    key = "csharp:N.T|TYPE"
    parts = [
        node(key, signature="b", language="csharp"),
        node(key, signature="a", language="razor"),
        node(key, signature="c", language="csharp"),
    ]
    for order in permutations(parts):
        graph = Graph(assemble(order, []).arrays)
        assert (graph.signature(0), graph.language(0)) == ("b", "csharp")
        assert len(graph.places(0)) == 1


_ASSEMBLES = """
import sys
from pathlib import Path
class Refused:
    def find_spec(self, name, path=None, target=None):
        if name in ("pandas", "pyarrow.compute"):
            raise AssertionError(f"{name} was imported")
sys.meta_path.insert(0, Refused())
from rag_assets.contracts.graph import GraphEdge, GraphNode, NodeType, Relation
from rag_assets.graph.artifact import open_graph, write_graph
from rag_assets.graph.build import (
    EDGES, NODES, REPEATED_IN_EDGES, REPEATED_IN_NODES, assemble_tables, edge_columns, node_columns,
)
from rag_assets.index.parquet_parts import read_part, write_part
home = Path(sys.argv[1])
node = GraphNode("csharp:A|TYPE", NodeType.TYPE, "A", "a.cs", 1, 2, "csharp", "class A")
edge = GraphEdge(node.key, Relation.READS_FROM, "dbo.Orders|TABLE_OR_VIEW", path="a.cs", line=2)
write_part(home, "nodes", 0, NODES, node_columns([node]))
write_part(home, "edges", 0, EDGES, edge_columns([edge]))
made = assemble_tables(
    [read_part(home, "nodes", 0, dictionaries=REPEATED_IN_NODES)],
    [read_part(home, "edges", 0, dictionaries=REPEATED_IN_EDGES)],
)
write_graph(home / "graph", made.arrays, made.counts)
graph = open_graph(home / "graph")
print(len(graph), graph.edge_count)
"""


def test_assembling_and_writing_imports_neither_pandas_nor_compute_functions(tmp_path: Path) -> None:
    """They take 300 and 50 ms in each process: as much as the graph of one commit."""
    done = subprocess.run(
        [sys.executable, "-c", _ASSEMBLES, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "2 1"


def test_tables_in_parts_make_the_same_graph() -> None:
    nodes = [nodes_table(SHOP_NODES[:4]), nodes_table([]), nodes_table(SHOP_NODES[4:])]
    edges = [edges_table(SHOP_EDGES[7:]), edges_table(SHOP_EDGES[:7])]
    wanted = assemble(SHOP_NODES, SHOP_EDGES).arrays
    _same(assemble_tables(nodes, edges).arrays, wanted)
    _same(assemble_tables([pa.concat_tables(nodes)], [pa.concat_tables(edges)]).arrays, wanted)
    added = GraphAssembly()
    added.add(nodes[2:], edges[1:])
    added.add(nodes[:2], edges[:1])
    _same(added.assembled().arrays, wanted)


@given(random_edges, st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_order_of_the_parts_does_not_matter(edges: list[GraphEdge], chance: random.Random) -> None:
    nodes = [node(key) for e in edges for key in (e.source, e.target)]
    made = assemble(nodes, edges)
    chance.shuffle(nodes)
    shuffled = list(edges)
    chance.shuffle(shuffled)
    _same(assemble(nodes, shuffled).arrays, made.arrays)


@given(random_edges)
@settings(deadline=None)
def test_both_directions_hold_the_same_edges(edges: list[GraphEdge]) -> None:
    graph = of_edges(edges)
    wanted = {(e.source, e.relation, e.target) for e in edges if e.source != e.target}
    allowed = np.ones((2, len(Relation)), bool)
    reach, cut = graph.reach(np.arange(len(graph)), allowed)
    relations = tuple(Relation)
    found: list[set[tuple[str, Relation, str]]] = [set(), set()]
    for at, to, side, relation in zip(reach.origin, reach.node, reach.side, reach.relation, strict=True):
        ends = (graph.keys[at], graph.keys[to])
        source, target = ends if side == 0 else ends[::-1]
        found[side].add((source, relations[relation], target))
    assert found == [wanted, wanted]
    assert cut == []


def _same(some: dict[str, np.ndarray], others: dict[str, np.ndarray]) -> None:
    assert some.keys() == others.keys()
    for name, values in some.items():
        assert values.dtype == others[name].dtype
        assert values.tobytes() == others[name].tobytes(), name
