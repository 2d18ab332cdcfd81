"""A build whose vectors go to a Qdrant server: the same answers, and no moment without a right one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("qdrant_client")

from rag_assets import Mode, open_index
from rag_assets.index.generations import all_generations, generations_directory
from rag_assets.index.vectors.vector_api import VectorStoreError
from rag_assets.pipeline.build import BuildError
from rag_assets.pipeline.checks.generation_checks import CHECKS
from rag_assets.settings import EmbedderSettings, RetentionSettings, Settings, StoreSettings
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.index.qdrant_wire import QdrantWire
from rag_assets_tests.index.server_label import ghosts, version_collections
from rag_assets_tests.models.embedding_server import DIMENSION, embedding
from rag_assets_tests.models.endpoint_tools import endpoint_settings
from rag_assets_tests.models.llm.model_server import ModelServer
from rag_assets_tests.pipeline.conftest import Built, built

FILES = {
    f"src/Type{n}.cs": f"namespace Shop;\n\n/// <summary>Number {n}.</summary>\npublic class Type{n} {{ int id{n}; }}\n"
    for n in range(8)
}


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Iterator[QdrantWire]:
    monkeypatch.setattr("rag_assets.index.vectors.qdrant_server.client_calls.FIRST_WAIT_SECONDS", 0.005)
    monkeypatch.delenv("QDRANT_API_KEY", raising=False)
    with QdrantWire() as running:
        yield running


@pytest.fixture
def source(tmp_path: Path) -> Repository:
    return Repository.new(tmp_path / "source", FILES)


def settings_for(home: Path, wire: QdrantWire, embedder: EmbedderSettings | None = None, keep: int = 3) -> Settings:
    return Settings(
        home=home,
        embedder=embedder or EmbedderSettings(provider="lexical-only"),
        stores=StoreSettings(vectors="qdrant", qdrant_url=wire.url),
        retention=RetentionSettings(keep=keep),
    )


def answers(made: Built, **options: Any) -> list[list[tuple[str, float]]]:
    with open_index(made.label, home=made.settings.home) as index:
        return [
            [(hit.point_id, hit.score) for hit in index.search(question, limit=5, **options)]
            for question in ("Type3", "number", "class id5")
        ]


def points_in(wire: QdrantWire) -> int:
    return sum(wire.store.count(name).count for name in version_collections(wire))


def test_it_answers_as_the_embedded_store_does(
    wire: QdrantWire, source: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with ModelServer() as server:
        server.respond = embedding
        remote = endpoint_settings(server, dimension=DIMENSION)
        (tmp_path / "rag_assets.yaml").write_text(
            f"embedder: {remote.model_dump(exclude_none=True)}\n", encoding="utf-8"
        )
        on_server = built(source, settings_for(tmp_path / "a", wire, remote))
        embedded = built(source, Settings(home=tmp_path / "b", embedder=remote))
        for mode in Mode:
            assert answers(on_server, mode=mode) == [
                [(point, pytest.approx(score, rel=1e-5)) for point, score in found]
                for found in answers(embedded, mode=mode)
            ]
    assert not (on_server.build.directory / "shard" / "edge_config.json").exists()
    assert on_server.build.spec.generation_id != embedded.build.spec.generation_id


def test_commits_follow_each_other_and_leave_no_ghosts(wire: QdrantWire, source: Repository, tmp_path: Path) -> None:
    settings = settings_for(tmp_path / "home", wire, keep=1)
    first = built(source, settings)
    with open_index(first.label, home=settings.home) as before:
        for number in range(3):
            source.commit({"src/Type0.cs": f"namespace Shop;\n\npublic class Renamed{number} {{ int id; }}\n"})
            last = built(source, settings)
        assert before.manifest.generation_id != last.build.spec.generation_id
    generations = generations_directory(first.build.home, first.label)
    assert len(all_generations(first.build.home, first.label)) < 4
    assert points_in(wire) == last.reports["qdrant_points"].counts["points"] + 1, "one point in two versions"
    assert not ghosts(wire, generations)
    with open_index(last.label, home=settings.home) as index:
        assert index.search("Renamed2")[0].symbol == "Shop.Renamed2"
        assert not [hit for hit in index.search("Renamed1") if hit.symbol.endswith("Renamed1")]


def test_a_server_gone_in_the_middle_leaves_the_old_index_and_the_next_run_heals(
    wire: QdrantWire, source: Repository, tmp_path: Path
) -> None:
    settings = settings_for(tmp_path / "home", wire)
    first = built(source, settings)
    before = answers(first)
    source.commit({"src/More.cs": "namespace Shop;\n\npublic class More { int id; }\n"})
    wire.refuse = lambda call: 0 if call.method == "PUT" and call.path.endswith("/points") else None
    with pytest.raises(VectorStoreError, match="run the same again"):
        built(source, settings)
    assert answers(first) == before
    wire.refuse = lambda call: None
    healed = built(source, settings)
    with open_index(healed.label, home=settings.home) as index:
        assert index.search("More")[0].symbol == "Shop.More"


@pytest.mark.parametrize("change", ["missing", "ghost"])
def test_a_store_that_differs_from_the_declaration_does_not_go_live(
    wire: QdrantWire, source: Repository, tmp_path: Path, change: str
) -> None:
    made = built(source, settings_for(tmp_path / "home", wire))
    _, _, check = CHECKS["store_matches_declaration"]
    assert check(made.build).passed
    (collection,) = version_collections(wire)
    (record,), _ = wire.store.scroll(collection, limit=1, with_payload=True)
    if change == "missing":
        wire.store.delete(collection, [record.id])
    else:
        wire.store.set_payload(collection, {"PointId": "another"}, points=[record.id])
    found = check(made.build)
    assert not found.passed and found.numbers["missing"] == 1
    assert found.numbers["ghost"] == (change == "ghost")


def test_another_text_in_the_server_is_no_hit_and_is_said(wire: QdrantWire, source: Repository, tmp_path: Path) -> None:
    made = built(source, settings_for(tmp_path / "home", wire))
    with open_index(made.label, home=made.settings.home) as index:
        wanted = index.search("Type3")[0].point_id
    (collection,) = version_collections(wire)
    records, _ = wire.store.scroll(collection, limit=100, with_payload=True)
    changed = [record.id for record in records if (record.payload or {})["PointId"] == wanted]
    wire.store.set_payload(collection, {"Digest": "of another day"}, points=changed)
    with open_index(made.label, home=made.settings.home) as index:
        found = index.search("Type3")
    assert wanted not in [hit.point_id for hit in found]
    assert " hits left out" in found.warnings[-1] and "rag-assets index --force" in found.warnings[-1]


def test_points_that_cannot_be_deleted_do_not_fail_the_build(
    wire: QdrantWire, source: Repository, tmp_path: Path
) -> None:
    wire.refuse = lambda call: 500 if call.path == "/collections" else None
    made = built(source, settings_for(tmp_path / "home", wire))
    (problem,) = made.reports["active_index"].problems
    assert "others than rag-assets do not see yet in the vector server" in problem
    wire.refuse = lambda call: None
    assert made.again().reports["active_index"].problems == [], "the next run brings it there"
    assert answers(made)


def test_a_wrong_key_fails_before_anything_is_promoted(wire: QdrantWire, source: Repository, tmp_path: Path) -> None:
    wire.api_key = "wanted"
    with pytest.raises((VectorStoreError, BuildError), match="QDRANT_API_KEY"):
        built(source, settings_for(tmp_path / "home", wire))
