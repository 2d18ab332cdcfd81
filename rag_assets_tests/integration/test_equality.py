"""The comparison itself: what it calls equal, and that it finds what is not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from equality import Hits, contents_of, differences, ghosts, questions_for, same_hits
from history import write_history

from rag_assets.index.generation_files import list_files
from rag_assets.index.generations import active_generation
from rag_assets.index.layout import IndexHome
from rag_assets.pipeline.run_stages import run_stages
from rag_assets.settings import EmbedderSettings, RepositorySettings, Settings
from rag_assets_tests.generation_history import copy_sparse
from rag_assets_tests.integration.sample_history import COMMITS

LABEL = "shop@main"
A_BIT = 4e-7  # in a float32 of about 5

HITS: dict[str, tuple[Hits, Hits, bool]] = {
    "the same": ([("a", 5.0), ("b", 4.0)], [("a", 5.0), ("b", 4.0)], True),
    "none": ([], [], True),
    "another last bit": ([("a", 5.0), ("b", 4.0)], [("a", 5.0 + A_BIT), ("b", 4.0)], True),
    "a tie in another order": ([("a", 5.0), ("b", 5.0 + A_BIT)], [("b", 5.0), ("a", 5.0)], True),
    "a tie cut in two": ([("a", 5.0), ("b", 4.0)], [("a", 5.0), ("c", 4.0 - A_BIT)], True),
    "another score": ([("a", 5.0), ("b", 4.0)], [("a", 5.0), ("b", 4.001)], False),
    "another point on top": ([("a", 5.0), ("b", 4.0)], [("c", 5.0), ("b", 4.0)], False),
    "scores exchanged": ([("a", 5.0), ("b", 4.0)], [("b", 5.0), ("a", 4.0)], False),
    "one missing": ([("a", 5.0), ("b", 4.0)], [("a", 5.0)], False),
}


@pytest.mark.parametrize(("one", "other", "same"), HITS.values(), ids=HITS)
def test_hits_are_the_same_up_to_the_last_bit(one: Hits, other: Hits, same: bool) -> None:
    assert same_hits(one, other) is same
    assert same_hits(other, one) is same


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two homes, with the first and with the second commit of the history."""
    folder = tmp_path_factory.mktemp("homes")
    made = write_history(folder / "shop.git", COMMITS[:2])
    repository = RepositorySettings(id="shop", location=str(folder / "shop.git"), ref="main")
    homes = folder / "old", folder / "new"
    for home, commit in zip(homes, made.values(), strict=True):
        run_stages(settings(home), LABEL, repository, commit=commit)
    return homes


def settings(home: Path) -> Settings:
    return Settings(home=home, embedder=EmbedderSettings(provider="lexical-only"), workers=1)


def test_every_aspect_of_a_change_is_told(homes: tuple[Path, Path]) -> None:
    old, new = homes
    questions = questions_for(new, LABEL)
    found = differences(contents_of(old, LABEL, questions), contents_of(new, LABEL, questions))
    aspects = {difference.partition(":")[0] for difference in found}
    everything = {"manifest", "files", "declared points", "stored points", "payloads", "keyword weights", "vocabulary"}
    assert everything | {"documents", "texts", "searches", "graph nodes", "graph edges", "graph"} <= aspects


def test_what_is_too_much_and_what_is_missing_is_found(homes: tuple[Path, Path], tmp_path: Path) -> None:
    assert ghosts(homes[0], settings(homes[0])) == []
    home = IndexHome(tmp_path / "home")
    shutil.copytree(homes[0], home.root, copy_function=copy_sparse)
    directory = active_generation(home, LABEL).directory
    vocabulary = directory / "keyword" / "vocabulary.tsv"
    vocabulary.write_bytes(b"".join(vocabulary.read_bytes().splitlines(keepends=True)[1:]))
    next(home.blobs.glob("*/*")).unlink()
    nobodys = home.blobs / "ab" / ("ab" * 32)
    nobodys.parent.mkdir(exist_ok=True)
    nobodys.write_bytes(b"nobody's")
    (directory.parent / "begun").mkdir()
    nodes = directory / "graph_nodes/part-000.parquet"
    ghost = pq.read_table(nodes).slice(0, 1).set_column(3, "path", pa.array(["src/Gone.cs"]))
    pq.write_table(pa.concat_tables([pq.read_table(nodes), ghost]), nodes)
    list_files(directory, again=("graph_nodes/", "keyword/"))
    found = " | ".join(ghosts(home.root, settings(home.root)))
    assert "1 keyword entries missing" in found
    assert "1 documents missing" in found
    assert "1 documents that nothing needs" in found
    assert "begun: an unfinished build" in found
    assert "graph nodes of 1 files that are not indexed, such as src/Gone.cs" in found
