"""Commands on an index whose model or vectors are in servers."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_assets.cli.console import Output
from rag_assets.cli.doctor import embedding_model
from rag_assets.cli.options import CliSession
from rag_assets.cli.reset import remove_labels
from rag_assets.index.generations import generations_directory
from rag_assets.index.layout import IndexHome
from rag_assets.index.vectors.vector_api import VectorStoreError
from rag_assets.settings import EmbedderSettings, Settings, StoreSettings
from rag_assets_tests.cli.conftest import CommandLine, new_repository
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.models.embedding_server import DIMENSION, embedding
from rag_assets_tests.models.endpoint_tools import endpoint_settings
from rag_assets_tests.models.llm.model_server import ModelServer, failing
from rag_assets_tests.pipeline.conftest import Built, built


def session(folder: Path, server: ModelServer) -> CliSession:
    config = folder / "rag_assets.yaml"
    settings = endpoint_settings(server).model_dump(exclude_none=True)
    config.write_text(f"embedder: {settings}\n", encoding="utf-8")
    return CliSession(folder / "home", config, False, Output())


def test_doctor_asks_the_embedding_server(tmp_path: Path) -> None:
    with ModelServer() as server:
        server.respond = embedding
        made = session(tmp_path, server)
        found = embedding_model(made, made.home())
        assert (found.verdict, found.detail) == (
            "ok",
            f"openai-compatible/m, {DIMENSION} dimensions, {server.url} answers",
        )
        server.script(failing(401, "who?"))
        found = embedding_model(made, made.home())
    assert found.verdict == "fail" and "RAG_ASSETS_EMBEDDINGS_API_KEY" in found.detail


def test_a_label_that_is_removed_leaves_nothing_in_the_vector_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("qdrant_client")
    from rag_assets_tests.index.qdrant_wire import QdrantWire

    monkeypatch.delenv("QDRANT_API_KEY", raising=False)
    source = Repository.new(
        tmp_path / "source", {"src/Order.cs": "namespace Shop;\n\npublic class Order { int id; }\n"}
    )
    with QdrantWire() as wire:
        settings = Settings(
            home=tmp_path / "home",
            embedder=EmbedderSettings(provider="lexical-only"),
            stores=StoreSettings(vectors="qdrant", qdrant_url=wire.url),
        )
        gone, kept = built(source, settings), built(source, settings, id="copy")
        remove_labels(IndexHome(settings.home), [gone.label], Output())
        names = [found.name for found in wire.store.get_collections().collections]
        left = [record for name in names for record in wire.store.scroll(name, limit=100, with_payload=True)[0]]
    assert {(record.payload or {})["IndexLabel"] for record in left} == {kept.label}


def test_what_is_pruned_or_collected_leaves_the_vector_server(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`generations prune` takes the points of old generations with them, `gc` those of a build that was killed."""
    pytest.importorskip("qdrant_client")
    from rag_assets_tests.index.qdrant_wire import QdrantWire
    from rag_assets_tests.index.server_label import ghosts

    monkeypatch.setattr("rag_assets.index.vectors.qdrant_server.client_calls.FIRST_WAIT_SECONDS", 0.005)
    source = new_repository(
        cli.folder / "source", {"src/Order.cs": "namespace Shop;\n\npublic class Order { int id; }\n"}
    )
    with QdrantWire() as wire:
        settings = Settings(
            home=cli.home.root,
            embedder=EmbedderSettings(provider="lexical-only"),
            stores=StoreSettings(vectors="qdrant", qdrant_url=wire.url),
        )
        (cli.folder / "rag_assets.yaml").write_text("retention: {keep: 1}\n", encoding="utf-8")

        def build(number: int) -> Built:
            source.commit({"src/New.cs": f"namespace Shop;\n\npublic class New{number} {{ int id; }}\n"})
            return built(source, settings)

        made = [build(number) for number in range(3)]
        generations = generations_directory(cli.home, made[0].label)
        assert len(cli.run("generations", "prune", "--json").json["pruned"]) == 1
        assert not ghosts(wire, generations)
        wire.refuse = lambda call: 500 if call.path.endswith("/points/payload") else None
        with pytest.raises(VectorStoreError):
            build(3)
        wire.refuse = lambda call: None
        build(4)
        swept = {found["kind"]: found["count"] for found in cli.run("gc", "--json").json["swept"]}
        assert swept["abandoned builds"] == 1
        assert not ghosts(wire, generations)
