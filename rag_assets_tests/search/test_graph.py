"""From hits to the graph of an index and from node keys to text (D19, D21)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets import Index, open_index
from rag_assets.contracts.graph import GraphEdge, GraphNode, NodeType, Relation, key_kind
from rag_assets.graph.artifact import GRAPH_FOLDER, GraphError, write_graph
from rag_assets.graph.build import assemble
from rag_assets.graph.csr_graph import NodeLocation
from rag_assets.graph.neighbourhood import neighbourhood
from rag_assets.index.artifacts import ArtifactError
from rag_assets.index.generation_files import list_files
from rag_assets.index.generations import active_generation
from rag_assets.index.layout import IndexHome
from rag_assets.search.graph_context import bodies, entries_of, graph_of
from rag_assets_tests.cli.conftest import FILES, index_without_dagster, new_repository

PATH = "src/Orders/OrderService.cs"
SERVICE = "csharp:Shop.Orders.OrderService|TYPE"
REFUND = "csharp:Shop.Orders.OrderService.RefundOrder(int)|METHOD"
PARTIAL = "csharp:Shop.Partial|TYPE"
GONE = "csharp:Shop.Gone|TYPE"
REFERRED = "dbo.Ledger|TABLE_OR_VIEW"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    base = tmp_path_factory.mktemp("graph")
    home = IndexHome(base / "home")
    label = index_without_dagster(home, new_repository(base / "shop"), "shop")
    nodes = [
        GraphNode(SERVICE, NodeType.TYPE, "OrderService", PATH, 4, 8, "csharp"),
        GraphNode(REFUND, NodeType.METHOD, "RefundOrder", PATH, 7, 7, "csharp"),
        GraphNode(PARTIAL, NodeType.TYPE, "Partial", PATH, 1, 1, "csharp"),
        GraphNode(PARTIAL, NodeType.TYPE, "Partial", "README.md", 1, 1, "csharp"),
        GraphNode(GONE, NodeType.TYPE, "Gone", "src/Gone.cs", 1, 1, "csharp"),
    ]
    edges = [GraphEdge(SERVICE, Relation.CONTAINS, REFUND), GraphEdge(REFUND, Relation.WRITES_TO, REFERRED)]
    made = assemble(nodes, edges)
    directory = active_generation(home, label).directory
    write_graph(directory / GRAPH_FOLDER, made.arrays, made.counts)
    list_files(directory, again=(f"{GRAPH_FOLDER}/",))
    with open_index(label, home=home.root) as opened:
        yield opened


@pytest.mark.rule("D19")
def test_hits_are_the_entries_of_a_neighbourhood(index: Index) -> None:
    hits = index.search("refund order", limit=3).hits
    entries = entries_of(index, hits)
    assert max(entries.values()) == hits[0].score
    assert REFUND in entries
    assert {key_kind(key) for key in entries} <= set(NodeType)
    found = neighbourhood(graph_of(index), entries)
    assert REFERRED in [node.key for node in found.nodes]
    assert set(found.unknown) == {key for key in entries if graph_of(index).find(key) is None}


@pytest.mark.rule("D18")
def test_a_hit_has_what_an_entry_candidate_needs(index: Index) -> None:
    """The id of the chunk, its path, and the keys of its nodes."""
    for hit in index.search("refund order", limit=3).hits:
        assert index.get(hit.point_id)["Path"] == hit.path
        assert set(entries_of(index, [hit])) == set(index.get(hit.point_id)["GraphNodeKeys"])


def test_no_hits_are_no_entries(index: Index) -> None:
    assert entries_of(index, ()) == {}


@pytest.mark.rule("D21")
def test_the_text_of_a_node_is_read_by_its_key(index: Index) -> None:
    text = FILES[PATH]
    assert isinstance(text, str)
    (body,) = bodies(index, graph_of(index), [REFUND])
    assert (body.key, body.place) == (REFUND, NodeLocation(PATH, 7, 7))
    assert body.text == text.split("\n")[6]


@pytest.mark.rule("D21")
def test_a_partial_type_has_several_texts(index: Index) -> None:
    found = bodies(index, graph_of(index), [PARTIAL, REFUND, PARTIAL])
    assert [(body.key, body.place.path) for body in found] == [(PARTIAL, "README.md"), (PARTIAL, PATH), (REFUND, PATH)]
    assert found[0].text == "# Shop"


def test_what_is_declared_nowhere_has_no_text(index: Index) -> None:
    assert bodies(index, graph_of(index), [REFERRED, "csharp:Unknown|TYPE"]) == ()


def test_a_text_that_is_not_there_is_an_error(index: Index) -> None:
    with pytest.raises(ArtifactError, match=r"src/Gone\.cs is not indexed"):
        bodies(index, graph_of(index), [GONE])


def test_the_graph_is_that_of_its_own_generation(index: Index, tmp_path: Path) -> None:
    """Nothing of another label is reachable: a second label of the same home has a graph of its own, or none."""
    other = index_without_dagster(
        IndexHome(index.generation.directory.parents[3]), new_repository(tmp_path / "other"), "other"
    )
    home = index.generation.directory.parents[3]
    folder = active_generation(IndexHome(home), other).directory / GRAPH_FOLDER
    (folder / "graph.json").unlink(missing_ok=True)
    with open_index(other, home=home) as opened, pytest.raises(GraphError, match=f"the index of {other} has no graph"):
        graph_of(opened)
