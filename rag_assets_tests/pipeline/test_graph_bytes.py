"""The graph has the same bytes with any number of worker processes, and with any seed of Python's hashes in each."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rag_assets.graph.artifact import GRAPH_FOLDER
from rag_assets.index import parquet_parts
from rag_assets.index.layout import IndexHome
from rag_assets.pipeline.build import label_lock
from rag_assets.pipeline.code_graph import GRAPH_EDGES, GRAPH_NODES, build_graph
from rag_assets.pipeline.discovered_files import discover_files
from rag_assets.pipeline.progress import Silent
from rag_assets.pipeline.segments import segment_files
from rag_assets.settings import RepositorySettings
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.graph.changing_label import LABEL
from rag_assets_tests.pipeline.conftest import lexical

DRIVER = """
import sys
from pathlib import Path
from rag_assets_tests.pipeline.test_graph_bytes import graph_of
print(graph_of(*map(Path, sys.argv[1:]), workers=2))
"""


def graph_of(home: Path, source: Path, *, workers: int) -> Path:
    """The folder of a generation that has a graph."""
    settings = lexical(home).model_copy(update={"workers": workers})
    repository = RepositorySettings(id="shop", location=str(source), ref="main")
    with pytest.MonkeyPatch.context() as patch, label_lock(IndexHome(home), "shop@main"):
        patch.setattr(parquet_parts, "FILES_PER_BUCKET", 4)
        build, _ = discover_files(IndexHome(home), settings, "shop@main", repository, Silent())
        segment_files(build, Silent())
        build_graph(build, Silent())
    return build.directory


def files_of(directory: Path) -> dict[str, bytes]:
    """Name → bytes of every file of the graph."""
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for folder in (GRAPH_NODES, GRAPH_EDGES, GRAPH_FOLDER)
        for path in (directory / folder).iterdir()
    }


@pytest.mark.rule("R20")
def test_neither_processes_nor_hash_seeds_change_a_byte(tmp_path: Path) -> None:
    source = Repository.new(tmp_path / "shop", LABEL)
    wanted = files_of(graph_of(tmp_path / "one", source.path, workers=1))
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, str(tmp_path / "several"), str(source.path)],
        env=os.environ | {"PYTHONHASHSEED": "4711"},
        capture_output=True,
        text=True,
        check=True,
    )
    found = files_of(Path(done.stdout.strip()))
    assert sum(name.startswith(f"{GRAPH_EDGES}/") for name in found) > 3, "several buckets, so several processes"
    assert found.keys() == wanted.keys()
    assert [name for name in sorted(found) if found[name] != wanted[name]] == []
