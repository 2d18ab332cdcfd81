"""The `search` settings: each changes a search, and a search without them does not load the settings model (E14)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_assets import Index, SearchResult, open_index
from rag_assets.contracts.retrieval import DEFAULT_POLICY
from rag_assets.index.layout import IndexHome
from rag_assets.search.index import load_policy
from rag_assets.settings import SearchSettings
from rag_assets.settings.config_file import ConfigError
from rag_assets_tests.search.small_index import LABEL, SHOP, Section, build
from rag_assets_tests.search.tenants import HashedWords

QUERY = "order service that cancels an order"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> IndexHome:
    found = IndexHome(tmp_path_factory.mktemp("policy"))
    more = [Section(f"src/Copy{n}.cs", f"Shop.Copy{n}.Order", "Model", f"An order, number {n}.") for n in range(80)]
    build(found, [*SHOP, *more], embedder=HashedWords())
    return found


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield


def searched(home: IndexHome, config: Path | None, **options: Any) -> SearchResult:
    """As `open_index` would with that configuration file, but with the model of the tests."""
    with open_index(LABEL, home=home.root) as plain:
        generation = plain.generation
    with Index(home, generation, embedder=HashedWords(), policy=load_policy(home, config)) as index:
        return index.search(QUERY, explain=True, **options)


def configured(folder: Path, settings: str) -> Path:
    path = folder / "other.yaml"
    path.write_text(f"search: {settings}\n", encoding="utf-8")
    return path


@pytest.mark.rule("E14")
@pytest.mark.parametrize(
    ("settings", "options"),
    [
        ("{mode: bm25}", {}),
        ("{mode: semantic_rerank}", {}),
        ("{limit: 3}", {}),
        ("{fusion: rrf}", {}),
        ("{dense_candidates: 1}", {}),
        ("{keyword_candidates: 1}", {}),
        ("{alpha: 0.0}", {"mode": "semantic_rerank"}),
        ("{beta: 0.0}", {"mode": "semantic_rerank"}),
    ],
)
def test_every_setting_changes_a_search(
    home: IndexHome, tmp_path: Path, settings: str, options: dict[str, Any]
) -> None:
    before, after = searched(home, None, **options), searched(home, configured(tmp_path, settings), **options)
    assert (before.mode, before.candidates, before.hits) != (after.mode, after.candidates, after.hits)


@pytest.mark.rule("E14")
@pytest.mark.parametrize(
    ("settings", "options", "expected"),
    [
        ("{mode: bm25}", {"mode": "semantic"}, ("semantic", 10)),
        ("{limit: 3}", {"limit": 5}, ("hybrid", 5)),
        ("{mode: semantic, limit: 2}", {}, ("semantic", 2)),
    ],
)
def test_what_a_caller_says_beats_the_settings(
    home: IndexHome, tmp_path: Path, settings: str, options: dict[str, Any], expected: tuple[str, int]
) -> None:
    found = searched(home, configured(tmp_path, settings), **options)
    assert (found.mode, len(found)) == expected


@pytest.mark.rule("E09")
def test_candidates_are_as_many_as_the_settings_say(home: IndexHome, tmp_path: Path) -> None:
    found = searched(home, configured(tmp_path, "{dense_candidates: 40, keyword_candidates: 20}"))
    assert found.candidates == {"dense": 40, "bm25": 20}
    assert searched(home, configured(tmp_path, "{dense_candidates: 4}"), limit=30).candidates["dense"] == 30


@pytest.mark.rule("D15")
def test_failing_instead_of_falling_back_is_a_setting(tmp_path: Path) -> None:
    home = IndexHome(tmp_path / "lexical")
    build(home, SHOP)
    assert load_policy(home, configured(tmp_path, "{on_missing: fail}")).on_missing == "fail"
    assert load_policy(home, None).on_missing == "fall_back"


def test_an_index_is_opened_with_the_settings_of_its_home(home: IndexHome, tmp_path: Path) -> None:
    own = IndexHome(tmp_path / "project" / ".rag_assets")
    build(own, SHOP)
    (own.root.parent / "rag_assets.yaml").write_text("search: {mode: bm25, limit: 2}\n", encoding="utf-8")
    with open_index(LABEL, home=own.root) as index:
        found = index.search("order")
    assert (found.requested_mode, found.warnings, len(found)) == ("bm25", (), 2)


def test_the_environment_is_read_too(home: IndexHome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_ASSETS__SEARCH__FUSION", "rrf")
    assert load_policy(home, None).fusion == "rrf"


def test_a_file_without_such_settings_means_the_defaults(home: IndexHome, tmp_path: Path) -> None:
    path = tmp_path / "other.yaml"
    path.write_text("not even: valid\n", encoding="utf-8")
    assert load_policy(home, path) is DEFAULT_POLICY, "whoever searches with another file's index is not stopped by it"
    assert SearchSettings().policy() == DEFAULT_POLICY


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ("{fusion: rff}", "search.fusion"),
        ("{on_missing: ignore}", "search.on_missing"),
        ("{alpha: -1}", "search.alpha"),
        ("{mode: fuzzy}", "search.mode"),
        ("{limit: 0}", "search.limit"),
        ("{dense_candidates: 0}", "search.dense_candidates"),
        ("{betta: 1}", "did you mean 'beta'"),
    ],
)
def test_settings_that_cannot_be_used_are_explained(home: IndexHome, tmp_path: Path, settings: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        load_policy(home, configured(tmp_path, settings))
