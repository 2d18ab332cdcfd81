"""A build with an embedding server: it pays for each text once, whatever happens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_assets.models.openai_compat.embeddings import EndpointError
from rag_assets.settings import Settings
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.models.embedding_server import DIMENSION, embedding, inputs
from rag_assets_tests.models.endpoint_tools import endpoint_settings
from rag_assets_tests.models.llm.model_server import ModelServer, failing
from rag_assets_tests.pipeline.conftest import Built, built

FILES = {f"src/Type{n}.cs": f"namespace Shop;\n\npublic class Type{n} {{ public int Id{n}; }}\n" for n in range(6)}
KEY = "sk-very-secret-0123456789"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    monkeypatch.setattr("rag_assets.models.openai_compat.faults.FIRST_WAIT_SECONDS", 0.005)
    monkeypatch.setenv("RAG_ASSETS_EMBEDDINGS_API_KEY", KEY)
    with ModelServer() as running:
        running.respond = embedding
        yield running


@pytest.fixture
def source(tmp_path: Path) -> Repository:
    return Repository.new(tmp_path / "source", FILES)


def settings_for(home: Path, server: ModelServer, **changes: Any) -> Settings:
    given = {"dimension": DIMENSION, "batch_texts": 1, "max_concurrency": 1, "price": 2.0} | changes
    return Settings(home=home, embedder=endpoint_settings(server, **given))


def texts_paid_for(server: ModelServer) -> list[str]:
    return [text for asked in server.asked for text in inputs(asked)]


def test_a_build_counts_what_it_spent_and_a_second_one_spends_nothing(
    server: ModelServer, source: Repository, tmp_path: Path
) -> None:
    settings = settings_for(tmp_path / "home", server)
    made = built(source, settings)
    sections = made.reports["summary_sections"].counts["sections"]
    report = made.reports["embeddings"]
    assert len(texts_paid_for(server)) == sections
    assert report.counts == {"vectors": sections, "dimension": DIMENSION}
    assert report.work.pop("milliseconds") > 0
    assert report.work == {
        "embedded": sections,
        "from_cache": 0,
        "requests": sections,
        "retries": 0,
        "tokens": 10 * sections,
        "cost_millionths": 20 * sections,
    }
    assert made.build.spec.embedding_model == f"openai-compatible/m@{DIMENSION}"
    again = built(source, settings, id="copy").reports["embeddings"]
    assert again.work["requests"] == again.work["embedded"] == 0, "another label finds the vectors in the cache"


def test_a_build_that_failed_goes_on_where_it_was(server: ModelServer, source: Repository, tmp_path: Path) -> None:
    settings = settings_for(tmp_path / "home", server)
    server.respond = lambda asked: embedding(asked) if asked.number < 3 else failing(401, "key expired")
    with pytest.raises(EndpointError, match="key expired"):
        built(source, settings)
    paid = texts_paid_for(server)[:3]
    server.asked.clear()
    server.respond = embedding
    made = built(source, settings)
    assert made.reports["embeddings"].work["from_cache"] == 3
    assert not set(paid) & set(texts_paid_for(server)), "paid for twice"


def test_the_key_is_nowhere_in_the_home(server: ModelServer, source: Repository, tmp_path: Path) -> None:
    built(source, settings_for(tmp_path / "home", server))
    assert server.asked[0].headers["Authorization"] == f"Bearer {KEY}"
    assert not [path for path in (tmp_path / "home").rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


def test_the_window_decides_how_many_texts_a_chunk_is_sent_as_and_the_generation(
    server: ModelServer, source: Repository, tmp_path: Path
) -> None:
    source.commit({"docs/guide.md": "# Guide\n\n" + "Many words of a guide. " * 80})

    def made(max_tokens: int) -> tuple[Built, int]:
        server.asked.clear()
        done = built(source, settings_for(tmp_path / f"home{max_tokens}", server, max_tokens=max_tokens))
        return done, len(texts_paid_for(server))

    (small, many), (large, few) = made(64), made(2000)
    counts = [each.reports["summary_sections"].counts["sections"] for each in (small, large)]
    assert counts[0] == counts[1] == few < many, "chunks are the same with every embedder"
    assert small.build.spec.generation_id != large.build.spec.generation_id
