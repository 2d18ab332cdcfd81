"""Opening an index, looking points up, and what a broken home says."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rag_assets import Index, QueryError, open_index
from rag_assets.index.artifacts import ArtifactError
from rag_assets.index.generations import Generation, GenerationError
from rag_assets.index.layout import IndexHome
from rag_assets.index.vectors.vector_api import VectorStoreError
from rag_assets_tests.search.small_index import FOREIGN, LABEL, SHOP, build


@pytest.mark.parametrize(
    "identifier",
    [
        SHOP[1].point_id,
        SHOP[1].point_id.upper(),
        SHOP[1].point_id[:8],
        SHOP[1].semantic_id,
        f" {SHOP[1].semantic_id.upper()} ",
    ],
    ids=["point id", "upper case", "beginning", "semantic id", "semantic id in any case"],
)
def test_a_point_is_found_by_any_of_its_names(lexical: Index, identifier: str) -> None:
    assert lexical.get(identifier) == SHOP[1].payload()


@pytest.mark.parametrize(
    ("identifier", "says"),
    [
        ("", "not a point id"),
        ("abc", "not a point id"),
        ("OrderService", "not a point id"),
        ("00000000", "no point"),
        ("00000000-0000-5000-8000-000000000000", "no point"),
        ("acme:shop:nothing", "no point"),
        (FOREIGN[0].point_id, "no point"),
        (FOREIGN[0].point_id[:12], "no point"),
        (FOREIGN[0].semantic_id, "no point"),
    ],
    ids=["empty", "too short", "a name", "no such beginning", "no such id", "no such semantic id"]
    + [f"{what} of another tenant" for what in ("id", "beginning", "semantic id")],
)
def test_what_is_not_there_is_said(lexical: Index, identifier: str, says: str) -> None:
    with pytest.raises(QueryError, match=says):
        lexical.get(identifier)


def test_an_ambiguous_beginning_names_the_candidates(tmp_path: Path) -> None:
    first, second = "abcd1111-0000-5000-8000-000000000000", "abcd2222-0000-5000-8000-000000000000"
    build(IndexHome(tmp_path), [replace(SHOP[0], id=first), replace(SHOP[1], id=second)])
    with open_index(LABEL, home=tmp_path) as index:
        with pytest.raises(QueryError, match=f"2 points: {first}, {second}"):
            index.get("abcd")
        assert index.get("abcd2") == SHOP[1].payload()


def test_artifacts_of_another_label_are_refused(lexical: Index) -> None:
    """C11: a consumer reaches only what its own generation holds."""
    with pytest.raises(ArtifactError, match="site@main"):
        lexical.resolve("rag://site@main/src/Order.cs")


@pytest.mark.parametrize(
    ("label", "says"),
    [
        ("site@main", f"labels with an index: {LABEL}"),
        ("../etc", "not an index label"),
        ("", "not an index label"),
    ],
    ids=["unknown", "path", "empty"],
)
def test_an_unknown_label_is_an_error_that_helps(lexical_home: IndexHome, label: str, says: str) -> None:
    with pytest.raises(GenerationError, match=says):
        open_index(label, home=lexical_home.root)


def test_an_empty_home_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(GenerationError, match=r"nothing is indexed in .*nowhere yet; run: rag-assets index"):
        open_index(LABEL, home=tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


def test_the_home_of_the_environment_is_used(lexical_home: IndexHome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_ASSETS__HOME", str(lexical_home.root))
    with open_index(LABEL) as index:
        assert index.label == LABEL


@pytest.mark.parametrize(
    ("damage", "error"),
    [
        (lambda g: shutil.rmtree(g.vectors), GenerationError),
        (lambda g: shutil.rmtree(g.keyword), QueryError),
        (lambda g: (g.directory / "manifest.json").unlink(), GenerationError),
        (lambda g: shutil.rmtree(g.vectors / "segments"), VectorStoreError),
        (lambda g: (g.keyword / "vocabulary.tsv").unlink(), QueryError),
    ],
    ids=["no shard", "no keyword index", "no manifest", "points lost", "no vocabulary"],
)
def test_a_damaged_generation_says_what_to_run(
    lexical_home: IndexHome, tmp_path: Path, damage: Callable[[Generation], object], error: type[Exception]
) -> None:
    home = IndexHome(tmp_path / "home")
    shutil.copytree(lexical_home.root, home.root)
    with open_index(LABEL, home=home.root) as index:
        generation = index.generation
    damage(generation)
    with pytest.raises(error, match="rag-assets index"), open_index(LABEL, home=home.root) as index:
        index.search("order", mode="bm25")


def test_an_open_index_keeps_its_generation(tmp_path: Path) -> None:
    home = IndexHome(tmp_path)
    build(home, SHOP, generation_id="one")
    with open_index(LABEL, home=tmp_path) as before:
        build(home, SHOP[:2], generation_id="two")
        with open_index(LABEL, home=tmp_path) as after:
            new = after.search("order", mode="bm25", limit=50)
        found = before.search("order", mode="bm25", limit=50)
    assert (found.generation_id, new.generation_id) == ("one", "two")
    assert len(found) > len(new) == 1


def test_closing_twice_is_harmless(lexical_home: IndexHome) -> None:
    index = open_index(LABEL, home=lexical_home.root)
    index.search("order", mode="bm25")
    index.close()
    index.close()
