"""FAISS beside the embedded engine: an exact oracle, and what is its own. What stores have in common is in
test_vector_stores.py."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.index.vectors import has_vectors, open_vectors, open_writer
from rag_assets.index.vectors.qdrant_edge.writer import ShardWriter
from rag_assets.index.vectors.vector_api import StoredPoint, VectorStoreError
from rag_assets.settings import StoreSettings
from rag_assets_tests.index.sample_points import (
    COUNT,
    DIMENSION,
    payload,
    point_id,
    points,
    random_scope,
    scope,
    terms,
    unit_rows,
)
from rag_assets_tests.index.store_kinds import bring

pytest.importorskip("faiss", reason="the extra faiss is not installed")

from rag_assets.index.vectors.faiss import FaissWriter

EVERYTHING = scope(clearance=Confidentiality.RESTRICTED)


def written(directory: Path, vectors: str, base: Path | None = None, *, hnsw_from_points: int = 20_000) -> Path:
    """The sample points, of several tenants, in that kind of store; the folder it is read from."""
    if vectors == "faiss":
        bring(FaissWriter(directory, DIMENSION, base=base), points(COUNT))
    else:
        bring(ShardWriter(directory, DIMENSION, base=base, hnsw_from_points=hnsw_from_points), points(COUNT))
    return directory


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("both")
    written(made / "faiss", "faiss")
    written(made / "embedded", "embedded")
    written(made / "graph", "embedded", hnsw_from_points=0)
    return made


@pytest.mark.rule("R9", "R17")
@pytest.mark.parametrize("engine", ["embedded", "graph"])
@pytest.mark.parametrize("seed", range(4))
def test_the_embedded_engine_finds_what_exact_search_finds(folder: Path, engine: str, seed: int) -> None:
    """Also with its graph: of so few points it finds the nearest ones."""
    chance = random.Random(seed)
    with open_vectors(folder / "faiss") as exact, open_vectors(folder / engine) as found:
        for _ in range(25):
            condition, limit = random_scope(chance), chance.choice([1, 5, 40, 1000])
            question = unit_rows(1, seed=chance.randrange(1_000))[0]
            wanted, near = exact.dense(question, condition, limit), found.dense(question, condition, limit)
            assert [hit.id for hit in near] == [hit.id for hit in wanted], condition
            assert [hit.score for hit in near] == pytest.approx([hit.score for hit in wanted], abs=1e-6)
            asked = sorted(chance.sample(range(9, 18), 3)), [1.0, 0.5, 2.0]
            wanted, near = exact.sparse(*asked, condition, limit), found.sparse(*asked, condition, limit)
            assert [hit.score for hit in near] == pytest.approx([hit.score for hit in wanted], rel=1e-5)


def test_the_facts_of_both_are_equal(folder: Path) -> None:
    with open_vectors(folder / "faiss") as exact, open_vectors(folder / "embedded") as found:
        assert exact.digests() == found.digests()
        assert exact.ids(EVERYTHING) == found.ids(EVERYTHING)
        for key in ("Path", "Kind", "DeclaredNames", "Symbol", "Confidentiality"):
            assert exact.values(key, EVERYTHING) == found.values(key, EVERYTHING)
        everyone = [point_id(number) for number in range(COUNT)]
        assert exact.retrieve(everyone, EVERYTHING) == found.retrieve(everyone, EVERYTHING)


def test_two_builds_of_equal_points_are_equal_byte_by_byte(folder: Path, tmp_path: Path) -> None:
    again = written(tmp_path / "again", "faiss")
    later = written(tmp_path / "later", "faiss", base=again)
    names = sorted(path.name for path in again.iterdir())
    assert names == ["dense.faiss", "faiss.json", "payloads.json", "points.msgpack"]
    for made in (again, later):
        assert [(made / name).read_bytes() for name in names] == [
            (folder / "faiss" / name).read_bytes() for name in names
        ]


@pytest.mark.parametrize("other", ["embedded", "faiss"])
def test_another_kind_of_store_is_not_built_upon(folder: Path, tmp_path: Path, other: str) -> None:
    base = folder / ("faiss" if other == "embedded" else "embedded")
    made = written(tmp_path / "made", other, base=base)
    with open_vectors(made) as reader:
        assert reader.count() == COUNT


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda made: (made / "points.msgpack").unlink(), "cannot be opened"),
        (lambda made: (made / "dense.faiss").unlink(), "cannot be opened"),
        (lambda made: _cut(made / "points.msgpack"), "cannot be opened"),
        (lambda made: _cut(made / "dense.faiss"), "cannot be opened"),
        (lambda made: _cut(made / "payloads.json"), "does not hold what it says"),
        (lambda made: (made / "faiss.json").write_text("{}"), "cannot be opened"),
        (
            lambda made: (made / "faiss.json").write_text('{"version": 9, "dimension": 16, "points": 600}'),
            "has format 9, this version reads 1",
        ),
    ],
    ids=["no points", "no index", "cut points", "cut index", "cut payloads", "no version", "another version"],
)
def test_damage_is_said_and_never_built_upon(tmp_path: Path, damage: Callable[[Path], object], says: str) -> None:
    made = written(tmp_path / "made", "faiss")
    damage(made)
    with pytest.raises(VectorStoreError, match=f"{says}.*rag-assets index --force"):
        open_vectors(made)
    with open_vectors(written(tmp_path / "next", "faiss", base=made)) as reader:
        assert reader.count() == COUNT


def test_a_question_of_another_model_is_refused(folder: Path) -> None:
    with open_vectors(folder / "faiss") as reader, pytest.raises(VectorStoreError, match=r"\(8,\).* 16 dimensions"):
        reader.dense(unit_rows(1)[0][:8], EVERYTHING, 3)


def test_what_is_not_finished_is_nothing(tmp_path: Path) -> None:
    writer = open_writer(
        StoreSettings(vectors="faiss"),
        tmp_path / "begun",
        DIMENSION,
        embedding_model="m",
        org_id="acme",
        project_id="shop",
        index_label="shop@main",
        generation_id="g",
    )
    writer.upsert([StoredPoint(point_id(0), unit_rows(1)[0], terms(0), payload(0))])
    assert not has_vectors(tmp_path / "begun")


def test_without_the_extra_the_line_that_installs_it_is_named(folder: Path) -> None:
    code = f"""
import sys
sys.modules["faiss"] = None
from pathlib import Path
from rag_assets.index.vectors.vector_api import VectorStoreError
from rag_assets.index.vectors.qdrant_edge.writer import ShardWriter
from rag_assets.index.vectors import open_vectors
try:
    open_vectors(Path({str(folder / "faiss")!r}))
except VectorStoreError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "stores.vectors faiss needs faiss; run: pip install 'rag-assets[faiss]'" in done.stdout, done.stderr
