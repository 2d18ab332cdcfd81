"""An index whose vectors come from a server: questions go to the same model, and never to another one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from rag_assets import Mode, open_index
from rag_assets.index.layout import IndexHome
from rag_assets.qa.ask_options import AskOptions
from rag_assets_tests.models.embedding_server import DIMENSION, embedding, inputs
from rag_assets_tests.models.endpoint_tools import endpoint_settings, opened
from rag_assets_tests.models.llm.model_server import ModelServer, Reply, failing, timed
from rag_assets_tests.search.small_index import LABEL, SHOP, build

QUESTION = SHOP[3].snippet  # the server gives the vector of that section
KEY = "sk-very-secret-0123456789"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        running.respond = embedding
        yield running


@pytest.fixture
def home(server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> IndexHome:
    """An index of the shop, and a configuration that names the server. What it was asked so far is forgotten."""
    made = IndexHome(tmp_path / ".rag_assets")
    build(made, SHOP, embedder=opened(server, dimension=DIMENSION))
    configure(tmp_path, server)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAG_ASSETS_EMBEDDINGS_API_KEY", KEY)
    server.asked.clear()
    return made


def configure(folder: Path, server: ModelServer, **changes: Any) -> Path:
    settings = endpoint_settings(server, **({"dimension": DIMENSION, "query_timeout_seconds": 0.3} | changes))
    path = folder / "rag_assets.yaml"
    path.write_text(yaml.safe_dump({"embedder": settings.model_dump(exclude_none=True)}), encoding="utf-8")
    return path


def test_questions_are_embedded_by_the_same_server(server: ModelServer, home: IndexHome) -> None:
    with open_index(LABEL, home=home.root) as index:
        found = index.search(QUESTION, mode=Mode.SEMANTIC)
    assert (found.mode, found.warnings) == (Mode.SEMANTIC, ())
    assert found[0].path == SHOP[3].path and found[0].score == pytest.approx(1.0, abs=1e-5)
    assert [inputs(asked) for asked in server.asked] == [[QUESTION]]
    assert server.asked[0].headers["Authorization"] == f"Bearer {KEY}"


def test_keyword_search_asks_nobody(server: ModelServer, home: IndexHome) -> None:
    with open_index(LABEL, home=home.root) as index:
        assert index.search("OrderService", mode=Mode.BM25).hits
    assert server.asked == []


def test_a_named_configuration_and_one_beside_the_home_are_used(
    server: ModelServer, home: IndexHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere" / "deep"
    elsewhere.mkdir(parents=True)
    named = configure(elsewhere, server)
    monkeypatch.chdir(tmp_path.parent)
    with open_index(LABEL, home=home.root) as index:
        assert index.search(QUESTION).warnings == ()
    (tmp_path / "rag_assets.yaml").unlink()
    with open_index(LABEL, home=home.root, config=named) as index:
        assert index.search(QUESTION).warnings == ()


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        pytest.param(Reply(b"{}", delay=30), "no answer", id="slow"),
        pytest.param(failing(500, "broken"), "broken", id="500"),
        pytest.param(failing(429, "slow down", Retry_After="60"), "slow down", id="429"),
        pytest.param(failing(401, "who?"), "RAG_ASSETS_EMBEDDINGS_API_KEY", id="wrong key"),
    ],
)
def test_without_an_answer_in_time_keywords_answer_and_say_so(
    server: ModelServer, home: IndexHome, reply: Reply, reason: str
) -> None:
    """One request, within its time; the next questions are not held up by a server that is known to be down."""
    server.script(reply)
    with open_index(LABEL, home=home.root) as index:
        found, seconds = timed(lambda: index.search("OrderService"))
        again = index.search("OrderService")
    assert found.hits and found.mode is Mode.BM25
    assert "keyword search only" in found.warnings[0] and reason in found.warnings[0]
    assert KEY not in found.warnings[0]
    assert seconds < 3
    assert again.hits == found.hits and again.warnings == found.warnings
    assert len(server.asked) == 1


def test_after_a_rest_the_server_is_asked_again(
    server: ModelServer, home: IndexHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag_assets.search.query_embedding.REST_SECONDS", 0.0)
    server.respond = lambda asked: failing(500) if asked.number == 0 else embedding(asked)
    with open_index(LABEL, home=home.root) as index:
        modes = [index.search(QUESTION, mode=Mode.SEMANTIC).mode for _ in range(2)]
    assert modes == [Mode.BM25, Mode.SEMANTIC]


@pytest.mark.rule("R22")
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"model": "n"}, "the configuration has openai-compatible/n@8"),
        ({"dimension": 4}, "the configuration has openai-compatible/m@4"),
        ({"provider": "minilm"}, "the configuration has all-MiniLM-L6-v2"),
    ],
    ids=["model", "dimension", "provider"],
)
def test_spaces_are_never_mixed(
    server: ModelServer, home: IndexHome, tmp_path: Path, change: dict[str, Any], reason: str
) -> None:
    """R22: a question embedded by another model than the sections is not searched with."""
    configure(tmp_path, server, **change)
    with open_index(LABEL, home=home.root) as index:
        found = index.search("OrderService")
    assert found.mode is Mode.BM25 and reason in found.warnings[0] and "rag-assets index" in found.warnings[0]
    assert server.asked == []


@pytest.mark.rule("R22")
def test_a_server_that_changed_its_model_is_noticed(server: ModelServer, home: IndexHome) -> None:
    server.respond = lambda asked: embedding(type(asked)(asked.path, asked.headers, asked.body | {"dimensions": 5}, 0))
    with open_index(LABEL, home=home.root) as index:
        found = index.search("OrderService")
    assert found.mode is Mode.BM25 and "5 dimensions instead of 8" in found.warnings[0]


@pytest.mark.rule("E22")
def test_cosines_of_another_model_do_not_say_how_well_something_fits(server: ModelServer, home: IndexHome) -> None:
    """They order hits, and lie where they lie: this model calls every question a perfect match."""
    with open_index(LABEL, home=home.root) as index:
        found = index.ask("How long should pasta boil?", options=AskOptions())
        assert all("dense" in hit.scores for hit in found.search.hits)
    assert found.signals.said < 0.5 and found.abstained
