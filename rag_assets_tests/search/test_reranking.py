"""Searches whose best candidates a reranking server puts in order, or does not (E11)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from rag_assets import Index, SearchFilters, SearchResult, open_index
from rag_assets.contracts.retrieval import DEFAULT_POLICY, Mode
from rag_assets.index.generations import active_generation
from rag_assets.index.layout import IndexHome
from rag_assets.models.openai_compat.reranker import KEY_VARIABLE
from rag_assets.search.fusion import Ranked
from rag_assets.search.index import load_policy
from rag_assets.search.reranking import reranked
from rag_assets_tests.models.llm.model_server import ModelServer, failing
from rag_assets_tests.models.rerank_server import cohere, documents, settings_of, shuffling, tei
from rag_assets_tests.search.small_index import LABEL, SHOP, build
from rag_assets_tests.search.tenants import HashedWords

QUERY = "orders customer mail"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    with ModelServer() as running:
        running.respond = cohere
        yield running


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> IndexHome:
    found = IndexHome(tmp_path_factory.mktemp("reranking"))
    build(found, [*SHOP, replace(SHOP[7], symbol="Secret mail", level="restricted")], embedder=HashedWords())
    return found


def searched(home: IndexHome, folder: Path, reranker: dict[str, Any], **options: Any) -> SearchResult:
    path = folder / "other.yaml"
    path.write_text(yaml.safe_dump({"search": {"reranker": reranker}}), encoding="utf-8")
    policy = load_policy(home, path)
    with Index(home, active_generation(home, LABEL), embedder=HashedWords(), policy=policy) as index:
        return index.search(QUERY, **options)


@pytest.mark.rule("E11")
@pytest.mark.parametrize("mode", list(Mode))
def test_hits_come_in_the_order_of_the_model(home: IndexHome, server: ModelServer, tmp_path: Path, mode: Mode) -> None:
    server.respond = shuffling
    plain = searched(home, tmp_path, {}, mode=mode, limit=8)
    found = searched(home, tmp_path, settings_of(server), mode=mode, limit=8)
    assert found.warnings == () and len(server.asked) == 1
    assert {hit.point_id for hit in found} == {hit.point_id for hit in plain}
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
    assert [hit.point_id for hit in found] != [hit.point_id for hit in plain]
    before = {hit.point_id: hit for hit in plain}
    for hit in found:
        assert hit.scores == {**before[hit.point_id].scores, "rerank": hit.score}
    ranks = {hit.point_id: rank for rank, hit in enumerate(plain)}
    assert [hit.point_id for hit in found] == sorted(
        before, key=lambda known: (-next(hit.score for hit in found if hit.point_id == known), ranks[known])
    )


@pytest.mark.rule("E11")
def test_both_kinds_of_server_give_the_same(home: IndexHome, server: ModelServer, tmp_path: Path) -> None:
    first = searched(home, tmp_path, settings_of(server)).hits
    server.respond = tei
    assert searched(home, tmp_path, settings_of(server, provider="tei", model="")).hits == first


def test_it_is_asked_about_the_best_candidates(home: IndexHome, server: ModelServer, tmp_path: Path) -> None:
    found = searched(home, tmp_path, settings_of(server, candidates=4), limit=2)
    assert (len(found), len(documents(server.asked[0]))) == (2, 4)
    searched(home, tmp_path, settings_of(server, candidates=1), limit=3)
    assert len(documents(server.asked[1])) == 3


@pytest.mark.rule("E12")
def test_it_is_sent_what_the_asker_may_see_and_nothing_else(
    home: IndexHome, server: ModelServer, tmp_path: Path
) -> None:
    searched(home, tmp_path, settings_of(server, candidates=100), filters=SearchFilters(kinds=("Markdown", "Service")))
    sent = documents(server.asked[0])
    assert sent and not [text for text in sent if "Secret" in text or "Kind: Test" in text]
    assert f"{SHOP[7].path}\n{SHOP[7].snippet}" in sent


@pytest.mark.rule("E11")
@pytest.mark.parametrize("status", [401, 429, 500])
def test_a_server_that_fails_leaves_the_order_and_says_so(
    home: IndexHome, server: ModelServer, tmp_path: Path, status: int
) -> None:
    server.respond = lambda asked: failing(status, "no")
    found = searched(home, tmp_path, settings_of(server), limit=3)
    assert found.hits == searched(home, tmp_path, {}, limit=3).hits
    assert [warning.startswith(f"not reranked: the server answers {status}") for warning in found.warnings] == [True]


def test_it_waits_no_longer_than_the_settings_say(home: IndexHome, server: ModelServer, tmp_path: Path) -> None:
    server.respond = lambda asked: replace(cohere(asked), delay=30.0)
    found = searched(home, tmp_path, settings_of(server, timeout_seconds=0.2))
    assert found.hits and "in 0.2 s (search.reranker.timeout_seconds)" in found.warnings[0]


def test_a_listing_is_not_reranked(home: IndexHome, server: ModelServer, tmp_path: Path) -> None:
    path = tmp_path / "other.yaml"
    path.write_text(yaml.safe_dump({"search": {"reranker": settings_of(server)}}), encoding="utf-8")
    with open_index(LABEL, home=home.root, config=path) as index:
        assert index.search("kind:Service").hits
    assert not server.asked


class Fixed:
    """Scores by position."""

    def __init__(self, *scores: float) -> None:
        self.candidates = len(scores)
        self._scores = list(scores)

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        return self._scores[: len(texts)]


@pytest.mark.parametrize(
    ("scores", "order", "values"),
    [
        ((0.2, 0.9, 0.2), "bac", (0.9, 0.2, 0.2)),
        ((0.0, 0.0, 0.0), "abc", (0.0, 0.0, 0.0)),
        ((-2.0, 3.0, 0.5), "bca", (0.9526, 0.6225, 0.1192)),
        ((-1e6, 1e6, 0.0), "bca", (1.0, 0.5, 0.0)),
    ],
    ids=["ties", "equal", "logits", "huge logits"],
)
def test_scores_are_between_0_and_1(scores: tuple[float, ...], order: str, values: tuple[float, ...]) -> None:
    ranked = [Ranked(name, 0.1, {"dense": 0.5}) for name in "abc"]
    found, warnings = reranked("q", ranked, {name: {} for name in "abc"}, Fixed(*scores))
    assert ("".join(one.id for one in found), warnings) == (order, ())
    assert [one.score for one in found] == pytest.approx(values, abs=1e-4)
    assert {one.id: one.scores["rerank"] for one in found} == dict(zip("abc", scores, strict=True))


def test_what_has_no_text_stays_at_the_end() -> None:
    ranked = [Ranked(name, 0.1, {}) for name in "abc"]
    found, _ = reranked("q", ranked, {"b": {}, "c": {}}, Fixed(0.1, 0.2))
    assert [(one.id, "rerank" in one.scores) for one in found] == [("c", True), ("b", True), ("a", False)]
    assert reranked("q", ranked, {}, Fixed())[0] == ranked


def test_no_reranker_is_the_default() -> None:
    assert DEFAULT_POLICY.reranker is None
