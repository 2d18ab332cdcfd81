"""A build whose vectors are searched by FAISS: the same answers, the same checks, the same commits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("faiss", reason="the extra faiss is not installed")

from rag_assets import open_index
from rag_assets.contracts.retrieval import Mode
from rag_assets.index.generations import active_generation
from rag_assets.index.layout import IndexHome
from rag_assets.pipeline.checks.generation_checks import CHECKS
from rag_assets.settings import Settings, StoreSettings
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.models.embedding_server import DIMENSION, embedding
from rag_assets_tests.models.endpoint_tools import endpoint_settings
from rag_assets_tests.models.llm.model_server import ModelServer
from rag_assets_tests.pipeline.conftest import Built, built

FILES = {
    f"src/Type{n}.cs": f"namespace Shop;\n\n/// <summary>Number {n}.</summary>\npublic class Type{n} {{ int id{n}; }}\n"
    for n in range(8)
}


@pytest.fixture
def source(tmp_path: Path) -> Repository:
    return Repository.new(tmp_path / "source", FILES)


def answers(made: Built, mode: Mode) -> list[list[tuple[str, float]]]:
    with open_index(made.label, home=made.settings.home) as index:
        found = [index.search(question, limit=5, mode=mode) for question in ("Type3", "number", "class id5 path:src/")]
    assert {result.mode for result in found} == {mode}
    return [[(hit.point_id, hit.score) for hit in result] for result in found]


def test_it_answers_as_the_embedded_store_does(
    source: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with ModelServer() as server:
        server.respond = embedding
        model = endpoint_settings(server, dimension=DIMENSION)
        (tmp_path / "rag_assets.yaml").write_text(f"embedder: {model.model_dump(exclude_none=True)}\n", "utf-8")
        exact = built(source, Settings(home=tmp_path / "a", embedder=model, stores=StoreSettings(vectors="faiss")))
        embedded = built(source, Settings(home=tmp_path / "b", embedder=model))
        for mode in Mode:
            wanted: Any = [
                [(point, pytest.approx(score, rel=1e-5)) for point, score in found] for found in answers(embedded, mode)
            ]
            assert answers(exact, mode) == wanted
    assert (exact.build.directory / "shard" / "faiss.json").is_file()
    assert exact.build.spec.generation_id != embedded.build.spec.generation_id
    assert active_generation(IndexHome(exact.settings.home), exact.label).retrieval_modes == tuple(Mode)


def test_a_commit_costs_what_it_changed_and_all_checks_pass(source: Repository, tmp_path: Path) -> None:
    with ModelServer() as server:
        server.respond = embedding
        model = endpoint_settings(server, dimension=DIMENSION)
        settings = Settings(home=tmp_path / "home", embedder=model, stores=StoreSettings(vectors="faiss"))
        first = built(source, settings)
        source.commit({"src/Type0.cs": FILES["src/Type0.cs"].replace("int id0", "int no0")})
        later = built(source, settings)
        clean = built(source, settings.model_copy(update={"home": tmp_path / "clean"}))
    assert first.reports["qdrant_points"].work["upserted"] > 4
    assert later.reports["qdrant_points"].work == {"upserted": 1, "deleted": 0}
    assert {name for name, (_, _, check) in CHECKS.items() if not check(later.build).passed} == set()
    for name in ("dense.faiss", "points.msgpack", "payloads.json"):
        assert (later.build.directory / "shard" / name).read_bytes() == (
            clean.build.directory / "shard" / name
        ).read_bytes()
    with open_index(later.label, home=settings.home) as index:
        assert index.search("no0", mode="bm25")[0].symbol == "Shop.Type0"
