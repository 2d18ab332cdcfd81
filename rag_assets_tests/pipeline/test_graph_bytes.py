"""The graph has the same bytes with any number of worker processes, and with any seed of Python's hashes in each."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rag_assets.graph.artifact import GRAPH_FOLDER
from rag_assets.pipeline.code_graph import GRAPH_EDGES, GRAPH_NODES
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.graph.changing_label import LABEL

DRIVER = """
import sys
from pathlib import Path
from rag_assets.settings import RepositorySettings
from rag_assets.pipeline.build import label_lock
from rag_assets.pipeline.code_graph import build_graph
from rag_assets.pipeline.discovered_files import discover_files
from rag_assets.pipeline.progress import Silent
from rag_assets.pipeline.segments import segment_files
from rag_assets.index import parquet_parts
from rag_assets.index.layout import IndexHome as Home
from rag_assets_tests.pipeline.conftest import lexical
parquet_parts.FILES_PER_BUCKET = 4
home, source, workers = sys.argv[1:]
settings = lexical(Path(home)).model_copy(update={"workers": int(workers)})
repository = RepositorySettings(id="shop", location=source, ref="main")
with label_lock(Home(Path(home)), "shop@main"):
    build, _ = discover_files(Home(Path(home)), settings, "shop@main", repository, Silent())
    segment_files(build, Silent())
    build_graph(build, Silent())
print(build.directory)
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    repository = Repository(tmp_path_factory.mktemp("source") / "shop")
    repository.path.mkdir()
    repository.git("init", "--quiet", "--initial-branch=main")
    repository.commit(LABEL)
    return repository


@pytest.fixture(scope="module")
def wanted(source: Repository, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """As one process makes it."""
    return graph_files(tmp_path_factory.mktemp("wanted"), source, workers=1, seed=0)


def graph_files(home: Path, source: Repository, *, workers: int, seed: int) -> dict[str, bytes]:
    """Name → bytes of every file of the graph."""
    arguments = [sys.executable, "-c", DRIVER, str(home), str(source.path), str(workers)]
    environment = os.environ | {"PYTHONHASHSEED": str(seed)}
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=True)
    directory = Path(done.stdout.strip())
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for folder in (GRAPH_NODES, GRAPH_EDGES, GRAPH_FOLDER)
        for path in (directory / folder).iterdir()
    }


@pytest.mark.rule("R20")
def test_neither_processes_nor_hash_seeds_change_a_byte(
    source: Repository, wanted: dict[str, bytes], tmp_path: Path
) -> None:
    found = graph_files(tmp_path, source, workers=2, seed=4711)
    assert sum(name.startswith(f"{GRAPH_EDGES}/") for name in found) > 3, "several buckets, so several processes"
    assert found.keys() == wanted.keys()
    assert [name for name in sorted(found) if found[name] != wanted[name]] == []
