"""The artifact on disk: what is written is read, equal graphs are equal bytes, and damage is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rag_assets.graph.artifact import HEADER, GraphError, check, open_graph, read_counts, write_graph
from rag_assets.graph.build import assemble
from rag_assets.graph.csr_graph import Graph
from rag_assets.graph.neighbourhood import neighbourhood
from rag_assets_tests.graph.small_graphs import SERVICE, SHOP_EDGES, SHOP_NODES


def written(directory: Path) -> Path:
    made = assemble(SHOP_NODES, SHOP_EDGES)
    write_graph(directory, made.arrays, made.counts)
    return directory


def test_what_is_read_is_what_was_assembled(tmp_path: Path) -> None:
    made = assemble(SHOP_NODES, SHOP_EDGES)
    files = write_graph(tmp_path / "graph", made.arrays, made.counts)
    assert sorted(files) == sorted((tmp_path / "graph").iterdir())
    assert files[-1].name == HEADER
    opened = open_graph(tmp_path / "graph")
    assert opened.relations == Graph(made.arrays).relations
    assert neighbourhood(opened, [SERVICE]) == neighbourhood(Graph(made.arrays), [SERVICE])
    assert read_counts(tmp_path / "graph") == made.counts
    check(tmp_path / "graph")


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts descriptors as Linux shows them")
def test_many_small_graphs_can_be_open_at_once(tmp_path: Path) -> None:
    directory = written(tmp_path)
    before = len(list(Path("/proc/self/fd").iterdir()))
    opened = [open_graph(directory) for _ in range(50)]
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert {len(graph) for graph in opened} == {len(SHOP_NODES)}


def test_an_empty_graph_can_be_kept(tmp_path: Path) -> None:
    made = assemble([], [])
    write_graph(tmp_path, made.arrays, made.counts)
    check(tmp_path)
    assert neighbourhood(open_graph(tmp_path), [SERVICE]).unknown == (SERVICE,)


def test_equal_graphs_are_equal_bytes(tmp_path: Path) -> None:
    first = written(tmp_path / "a")
    made = assemble(reversed(SHOP_NODES), reversed(SHOP_EDGES))
    write_graph(tmp_path / "b", made.arrays, made.counts)
    assert {file.name: file.read_bytes() for file in first.iterdir()} == {
        file.name: file.read_bytes() for file in (tmp_path / "b").iterdir()
    }


def test_writing_over_a_graph_replaces_it(tmp_path: Path) -> None:
    written(tmp_path)
    made = assemble(SHOP_NODES[:3], [])
    write_graph(tmp_path, made.arrays, made.counts)
    assert len(open_graph(tmp_path)) == 3
    check(tmp_path)


def _header(change: Callable[[dict[str, object]], object]) -> Callable[[Path], object]:
    def damage(directory: Path) -> None:
        known = json.loads((directory / HEADER).read_text())
        change(known)
        (directory / HEADER).write_text(json.dumps(known))

    return damage


def _cut(directory: Path) -> None:
    path = directory / "edge_target.npy"
    path.write_bytes(path.read_bytes()[:-2])


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        pytest.param(lambda d: (d / HEADER).unlink(), "graph.json is missing", id="no header"),
        pytest.param(lambda d: (d / HEADER).write_text("{"), "graph.json cannot be read", id="half a header"),
        pytest.param(lambda d: (d / HEADER).write_text("[]"), "graph.json cannot be read", id="another header"),
        pytest.param(_header(lambda h: h.update(version=99)), "has format 99, this version reads 1", id="version"),
        pytest.param(_header(lambda h: h.update(kinds=["X"])), "other kinds or relations", id="kinds"),
        pytest.param(_header(lambda h: h.pop("files")), "graph.json cannot be read", id="no files"),
        pytest.param(
            _header(lambda h: h["files"].pop("in_edge.npy")),  # type: ignore[attr-defined]
            "is damaged",
            id="a file that the header lacks",
        ),
        pytest.param(lambda d: (d / "in_edge.npy").unlink(), "in_edge.npy is missing", id="no file"),
        pytest.param(_cut, "edge_target.npy is damaged: it has", id="cut file"),
        pytest.param(
            lambda d: (d / "node_kind.npy").write_bytes(b"\0" * (d / "node_kind.npy").stat().st_size),
            "node_kind.npy cannot be read",
            id="zeros",
        ),
    ],
)
def test_damage_is_named_with_the_next_command(tmp_path: Path, damage: Callable[[Path], object], said: str) -> None:
    damage(written(tmp_path))
    with pytest.raises(GraphError) as caught:
        open_graph(tmp_path)
    assert said in str(caught.value)
    assert str(tmp_path) in str(caught.value)
    assert str(caught.value).endswith("run: rag-assets index --force")


def test_other_bytes_of_the_same_size_are_found_by_reading(tmp_path: Path) -> None:
    path = written(tmp_path) / "edge_line.npy"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))
    open_graph(tmp_path)
    with pytest.raises(GraphError, match=r"edge_line\.npy is damaged: its bytes are not those that were written"):
        check(tmp_path)
