"""The checks of a graph: each fails on what it is for and says where."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rag_assets.graph.artifact import GRAPH_FOLDER, HEADER, write_graph
from rag_assets.graph.build import EDGES, NODES, assemble_tables
from rag_assets.index.parquet_parts import read_part, read_rows, write_part
from rag_assets.pipeline.active_index import activate
from rag_assets.pipeline.build import BuildError
from rag_assets.pipeline.checks.generation_checks import CHECKS
from rag_assets.pipeline.checks.memoized_checks import CheckResult
from rag_assets.pipeline.code_graph import GRAPH_EDGES, GRAPH_NODES
from rag_assets.pipeline.schemas import SUMMARY_SECTIONS
from rag_assets_tests.pipeline.conftest import Built, candidate, new_build

FILES = {
    "src/Order.cs": "namespace Shop;\npublic record Order(int Id);\n",
    "src/Cart.cs": "namespace Shop;\npublic class Cart { public Order Buy() => new Order(1); }\n",
    "db/orders.sql": "CREATE VIEW dbo.Open AS SELECT Id FROM dbo.Orders;\n",
    "tools/run.py": "def run():\n    return 1\n",
    "docs/guide.md": "# Guide\n\nA `Cart` holds an `Order`.\n",
    "settings.json": '{"a": 1}\n',
}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return new_build(tmp_path_factory.mktemp("original"), FILES)


@pytest.fixture
def built(original: Built, tmp_path: Path) -> Built:
    """A candidate: built, not promoted for good; in a home of its own, which a test may damage."""
    return candidate(original, tmp_path)


def result_of(name: str, built: Built) -> CheckResult:
    return CHECKS[name][2](built.build)


def folder(built: Built) -> Path:
    return built.build.directory / GRAPH_FOLDER


def tables(built: Built) -> dict[str, list[dict[str, Any]]]:
    return {table: read_rows(built.build.directory, table, 0) for table in (GRAPH_NODES, GRAPH_EDGES)}


def put_together(built: Built, rows: Mapping[str, list[dict[str, Any]]]) -> None:
    """Writes the graph of these rows, as a defect of the stage would, with a sound header."""
    import pyarrow as pa

    nodes, edges = pa.Table.from_pylist(rows[GRAPH_NODES], NODES), pa.Table.from_pylist(rows[GRAPH_EDGES], EDGES)
    whole = assemble_tables([nodes], [edges])
    write_graph(folder(built), whole.arrays, whole.counts)


@pytest.mark.rule("D18")
@pytest.mark.parametrize("name", ["graph_is_sound", "points_are_in_the_graph"])
def test_a_graph_as_it_was_written_passes(built: Built, name: str) -> None:
    found = result_of(name, built)
    assert (found.passed, found.examples) == (True, [])
    assert found.numbers.get("nodes", 20) > 10
    assert found.numbers.get("keys", 20) > 5


def test_a_route_that_a_constant_of_another_file_is_leads_to_its_node(tmp_path: Path) -> None:
    controller = (
        "namespace Shop;\n\n[ApiController]\n[Route(Routes.Prefix)]\npublic class OrdersController : ApiBase\n{\n"
        "    [HttpGet(Routes.Orders.All)]\n    public int All() => 1;\n}\n"
    )
    routes = (
        'namespace Shop;\n\npublic static class Routes\n{\n    public const string Prefix = "/api";\n\n'
        '    public static class Orders\n    {\n        public const string All = "orders/all";\n    }\n}\n'
    )
    built = new_build(tmp_path, {"src/OrdersController.cs": controller, "src/Routes.cs": routes})
    found = result_of("points_are_in_the_graph", built)
    assert (found.passed, found.examples) == (True, [])
    keys = {key for row in read_rows(built.build.directory, "summary_sections", 0) for key in _keys_of(row)}
    assert "http:GET /api/orders/all|ENDPOINT" in keys


def _keys_of(row: Mapping[str, Any]) -> list[str]:
    found: list[str] = msgspec.json.decode(row["section"])["graph_node_keys"]
    return found


@pytest.mark.parametrize("name", ["key_bytes.npy", HEADER])
def test_damage_blocks(built: Built, name: str) -> None:
    path = folder(built) / name
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.unlink()  # a hard link may share the bytes
    path.write_bytes(data)
    found = result_of("graph_is_sound", built)
    assert not found.passed
    assert name in found.examples[0]
    with pytest.raises(BuildError, match="graph_is_sound"):
        activate(built.build)


def test_a_missing_graph_blocks(built: Built) -> None:
    for path in folder(built).iterdir():
        path.unlink()
    assert "there is no graph" in result_of("graph_is_sound", built).examples[0]
    assert "there is no graph" in result_of("points_are_in_the_graph", built).examples[0]


@pytest.mark.rule("D18")
def test_a_ghost_blocks(built: Built) -> None:
    """A node of a file that is not there any more."""
    rows = tables(built)
    ghost = rows[GRAPH_NODES][0] | {"key": "csharp:Shop.Gone|TYPE", "path": "src/Gone.cs"}
    put_together(built, rows | {GRAPH_NODES: [*rows[GRAPH_NODES], ghost]})
    found = result_of("graph_is_sound", built)
    assert not found.passed
    assert {"unexpected: csharp:Shop.Gone|TYPE", "ghosts: src/Gone.cs"} <= set(found.examples)
    assert (found.numbers["ghosts"], found.numbers["unexpected"]) == (1, 1)


def test_a_graph_that_lost_something_blocks(built: Built) -> None:
    rows = tables(built)
    put_together(built, rows | {GRAPH_NODES: [row for row in rows[GRAPH_NODES] if row["key"] != "dbo.Open|VIEW"]})
    found = result_of("graph_is_sound", built)
    assert "missing: dbo.Open|VIEW" in found.examples
    assert found.numbers["miscounted"] == 2, "nodes and edges"


@pytest.mark.rule("D18")
def test_a_point_that_leads_nowhere_is_a_warning(built: Built) -> None:
    rows = read_rows(built.build.directory, "summary_sections", 0)
    for row in rows:
        section = msgspec.json.decode(row["section"])
        if row["path"] == "src/Cart.cs":
            section["graph_node_keys"] = ["csharp:Shop.Nowhere|TYPE", "csharp:Shop.Order|TYPE"]
        row["section"] = msgspec.json.encode(section)
    columns = {name: [row[name] for row in rows] for name in SUMMARY_SECTIONS.names}
    write_part(built.build.directory, "summary_sections", 0, SUMMARY_SECTIONS, columns)
    found = result_of("points_are_in_the_graph", built)
    assert not found.passed
    assert found.examples == ["src/Cart.cs:2 carries csharp:Shop.Nowhere|TYPE"]
    assert (found.numbers["without_node"], found.numbers["TYPE"]) == (1, 1)
    assert not CHECKS["points_are_in_the_graph"][1]


def test_without_sections_there_is_nothing_to_look_up(built: Built) -> None:
    built.build.record_path("summary_sections").unlink()
    found = result_of("points_are_in_the_graph", built)
    assert (found.passed, found.numbers) == (True, {})


def test_both_are_kept_for_the_same_bytes(built: Built) -> None:
    for name in ("graph_is_sound", "points_are_in_the_graph"):
        path = built.build.directory / "checks" / f"{name}.json"
        path.unlink(missing_ok=True)
        assert result_of(name, built).passed
        assert path.is_file()
    assert read_part(built.build.directory, GRAPH_NODES, 0).num_rows
