"""Indexed commit against head, for every kind of source, without the network."""

from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import Path

import pytest

from rag_assets.index.freshness import Freshness, freshness_of
from rag_assets.index.generations import Manifest, active_generation
from rag_assets.index.layout import IndexHome
from rag_assets.pipeline.run_stages import run_stages
from rag_assets.settings import EmbedderSettings, RepositorySettings, Settings


def archive(path: Path, text: str) -> Path:
    with tarfile.open(path, "w:gz") as made:
        member = tarfile.TarInfo("shop-1.0/Order.cs")
        data = text.encode()
        member.size = len(data)
        made.addfile(member, io.BytesIO(data))
    return path


def manifest_of(home: IndexHome, location: Path) -> Manifest:
    settings = Settings(home=home.root, embedder=EmbedderSettings(provider="lexical-only"))
    run_stages(settings, "shop@1.0", RepositorySettings(id="shop", location=str(location)))
    return active_generation(home, "shop@1.0").manifest


def test_an_archive_is_stale_when_its_file_changed(tmp_path: Path) -> None:
    home = IndexHome(tmp_path / "home")
    path = archive(tmp_path / "shop-1.0.tar.gz", "class Order { }\n")
    manifest = manifest_of(home, path)
    assert freshness_of(home, manifest).stale is False
    archive(path, "class Order { int id; }\n")
    assert freshness_of(home, manifest) == Freshness(manifest.commit_sha, hashlib.sha256(path.read_bytes()).hexdigest())
    assert freshness_of(home, manifest).stale is True


def test_a_plain_directory_cannot_be_asked(tmp_path: Path) -> None:
    home, folder = IndexHome(tmp_path / "home"), tmp_path / "shop"
    folder.mkdir()
    (folder / "Order.cs").write_text("class Order { }\n", encoding="utf-8")
    found = freshness_of(home, manifest_of(home, folder))
    assert (found.stale, found.reason) == (None, "a plain directory has no commits")


@pytest.mark.parametrize(
    ("head", "stale"), [("abc", False), ("def", True), ("", None)], ids=["the head", "behind", "unknown"]
)
def test_the_verdict(head: str, stale: bool | None) -> None:
    assert Freshness("abc", head).stale is stale
