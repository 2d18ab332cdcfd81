"""Generations, the active pointer, labels and blobs."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_assets.index.blobs import BlobError, BlobStore
from rag_assets.index.generations import (
    MANIFEST_VERSION,
    GenerationError,
    Manifest,
    active_generation,
    active_pointer,
    delete_label,
    finished_generations,
    generation_directory,
    promote,
    read_generation,
    write_manifest,
)
from rag_assets.index.layout import IndexHome, index_label, path_slug, write_atomically
from rag_assets_tests.records import edit_record


def manifest(generation_id: str, label: str = "shop@main") -> Manifest:
    return Manifest(
        generation_id=generation_id,
        index_label=label,
        repository_id="shop",
        org_id="acme",
        project_id="shop",
        remote_url="",
        ref="main",
        commit_sha="a" * 40,
        commit_date="2026-01-01T00:00:00Z",
        is_git=True,
        config_hash="c",
        embedding_model="m",
        dimension=3,
        lexical_only=False,
        stage_versions={},
        counts={"points": 1},
        capabilities=("dense", "keyword"),
    )


def finished(home: IndexHome, generation_id: str, label: str = "shop@main") -> None:
    write_manifest(generation_directory(home, label, generation_id), manifest(generation_id, label))


@pytest.mark.parametrize(
    ("name", "plain"),
    [("main", True), ("v1.2.3", True), ("feature/x", False), ("Feature-x", False), ("a,b|c", False), ("..", False)],
)
def test_slugs_are_safe_and_tell_refs_apart(name: str, plain: bool) -> None:
    made = path_slug(name)
    assert (made == name) is plain
    assert not set(made) & set("/\\|,: ") and not made.startswith(".")


def test_refs_that_look_alike_get_labels_of_their_own() -> None:
    assert len({index_label("r", ref) for ref in ("feature/x", "feature-x", "Feature/x", "feature x")}) == 4


@pytest.mark.parametrize("label", ["", "../x", "a/b", "a\\b", "a|b", "a,b", ".hidden"])
def test_a_label_cannot_leave_its_folder(tmp_path: Path, label: str) -> None:
    with pytest.raises(ValueError, match="not an index label"):
        IndexHome(tmp_path).label(label)


def test_a_generation_without_manifest_is_not_readable(tmp_path: Path) -> None:
    home = IndexHome(tmp_path)
    generation_directory(home, "shop@main", "g1").mkdir(parents=True)
    with pytest.raises(GenerationError, match="not finished"):
        read_generation(home, "shop@main", "g1")
    with pytest.raises(GenerationError, match="not finished"):
        promote(home, "shop@main", "g1", "run")
    assert finished_generations(home, "shop@main") == []


def test_promotion_remembers_what_it_replaced(tmp_path: Path) -> None:
    home = IndexHome(tmp_path)
    finished(home, "g1")
    finished(home, "g2")
    promote(home, "shop@main", "g1", "run-1")
    promote(home, "shop@main", "g2", "run-2")
    pointer = active_pointer(home, "shop@main")
    assert pointer is not None
    assert (pointer.generation_id, pointer.previous_generation_id, pointer.run_id) == ("g2", "g1", "run-2")
    assert promote(home, "shop@main", "g2", "run-3") == pointer, "promoting the active one again changes nothing"
    assert active_generation(home, "shop@main").manifest == manifest("g2")


def test_no_index_names_the_labels_there_are(tmp_path: Path) -> None:
    home = IndexHome(tmp_path)
    with pytest.raises(GenerationError, match=r"nothing is indexed in .* yet"):
        active_generation(home, "shop@main")
    finished(home, "g1")
    promote(home, "shop@main", "g1", "run")
    with pytest.raises(GenerationError, match="labels with an index: shop@main"):
        active_generation(home, "shop@mian")


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    home = IndexHome(tmp_path)
    finished(home, "g1")
    path = generation_directory(home, "shop@main", "g1") / "manifest.json"
    edit_record(path, f'"manifest_version": {MANIFEST_VERSION}', '"manifest_version": 99')
    with pytest.raises(GenerationError, match="format 99"):
        read_generation(home, "shop@main", "g1")


def test_deleting_a_label_deletes_it(tmp_path: Path) -> None:
    home = IndexHome(tmp_path)
    finished(home, "g1")
    promote(home, "shop@main", "g1", "run")
    delete_label(home, "shop@main")
    assert home.known_labels() == []


def test_atomic_write_leaves_no_temporary_file(tmp_path: Path) -> None:
    write_atomically(tmp_path / "deep" / "x.json", b"1")
    write_atomically(tmp_path / "deep" / "x.json", b"2")
    assert [(p.name, p.read_bytes()) for p in (tmp_path / "deep").iterdir()] == [("x.json", b"2")]


@pytest.mark.rule("C03")
def test_c03_blobs_are_lossless_and_stored_once(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    text = "line\r\nzażółć\u2028🦊\x00end"
    address = store.put(text)
    assert store.put(text) == address
    assert store.get(address) == text
    assert len(list(tmp_path.rglob("*"))) == 2


def test_a_damaged_blob_is_noticed_and_removed(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    address = store.put("text")
    store.path(address).write_text("other")
    with pytest.raises(BlobError, match="damaged"):
        store.get(address)
    with pytest.raises(BlobError, match="not in the blob store"):
        store.get(address)
    assert store.put("text") == address and store.get(address) == "text"
