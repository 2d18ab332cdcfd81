"""Indexed commit against head, for every kind of source, without the network."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from pathlib import Path

import pytest

from rag_assets.index.freshness import Freshness, _changed_files, freshness_of
from rag_assets.index.generations import Manifest, active_generation
from rag_assets.index.layout import IndexHome
from rag_assets.pipeline.run_stages import run_stages
from rag_assets.settings import EmbedderSettings, RepositorySettings, Settings
from rag_assets_tests.cli.conftest import Indexed
from rag_assets_tests.git_repository import Repository


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


def changed_files(repository: Repository) -> int:
    head = repository.git("rev-parse", "HEAD")
    found = _changed_files(repository.path, head.encode())
    assert found is not None
    return len(found)


@pytest.fixture
def checkout(tmp_path: Path) -> Repository:
    repository = Repository.new(tmp_path)
    repository.commit(
        {".gitignore": "*.log\n", "A.cs": "class A { }\n", "src/B.cs": "class B { }\n", "ü b.md": "text\n"}
    )
    return repository


def test_files_that_no_commit_has_are_counted_once_each(checkout: Repository) -> None:
    assert changed_files(checkout) == 0
    (checkout.path / "A.cs").write_text("class Edited { }\n", encoding="utf-8")
    (checkout.path / "src" / "B.cs").unlink()
    (checkout.path / "ü b.md").write_text("edited, and staged\n", encoding="utf-8")
    checkout.git("add", "ü b.md")
    (checkout.path / "ü b.md").write_text("edited again\n", encoding="utf-8")
    (checkout.path / "src" / "New.cs").write_text("class New { }\n", encoding="utf-8")
    (checkout.path / "ignored.log").write_text("noise\n", encoding="utf-8")
    assert changed_files(checkout) == 4


def test_an_edit_of_the_same_length_in_the_same_second_is_seen(checkout: Repository) -> None:
    before = (checkout.path / "A.cs").stat()
    (checkout.path / "A.cs").write_text("class Z { }\n", encoding="utf-8")
    assert before.st_size == (checkout.path / "A.cs").stat().st_size
    assert changed_files(checkout) == 1


def test_files_that_were_only_touched_or_have_other_line_ends_are_not_changed(checkout: Repository) -> None:
    os.utime(checkout.path / "A.cs")
    (checkout.path / "src" / "B.cs").write_bytes(b"class B { }\r\n")
    assert changed_files(checkout) == 0


def test_counting_runs_nothing_that_a_repository_configures(checkout: Repository, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    checkout.commit({".gitattributes": "*.cs filter=hostile diff=hostile\n"})
    for key in ("filter.hostile.clean", "filter.hostile.smudge", "filter.hostile.process", "diff.hostile.textconv"):
        checkout.git("config", key, f"touch '{ran}'; cat")
    checkout.git("config", "core.fsmonitor", f"touch '{ran}'")
    os.utime(checkout.path / "A.cs")
    (checkout.path / "src" / "B.cs").write_text("class Edited { }\n", encoding="utf-8")
    assert changed_files(checkout) == 1
    assert not ran.exists()


def test_a_bare_repository_and_another_branch_have_no_work_tree_to_compare(
    checkout: Repository, tmp_path: Path
) -> None:
    (checkout.path / "A.cs").write_text("class Edited { }\n", encoding="utf-8")
    first = checkout.git("rev-parse", "HEAD")
    checkout.git("clone", "--quiet", "--bare", ".", "bare.git")
    assert changed_files(Repository(checkout.path / "bare.git")) == 0
    checkout.commit({"C.cs": "class C { }\n"})
    assert _changed_files(checkout.path, first.encode()) == set()


def test_of_a_folder_in_a_repository_only_its_own_files_count(checkout: Repository) -> None:
    (checkout.path / "A.cs").write_text("class Edited { }\n", encoding="utf-8")
    (checkout.path / "src" / "B.cs").unlink()
    head = checkout.git("rev-parse", "HEAD").encode()
    assert _changed_files(checkout.path / "src", head) == {"src/B.cs"}, "as the index has them"
    assert _changed_files(checkout.path, head) == {"A.cs", "src/B.cs"}


def test_commands_say_how_many_files_they_cannot_know(indexed: Indexed) -> None:
    (indexed.repository.path / "Later.cs").write_text("class Later { }\n", encoding="utf-8")
    said = "; 1 file differs from HEAD and is not indexed"
    try:
        for words in (("status",), ("index", str(indexed.repository.path), "--lexical-only"), ("search", "orders")):
            assert said in indexed.cli.run(*words).out, words
        (source,) = indexed.cli.run("search", "orders", "--json", "--full").json["sources"]
        assert (source["stale"], source["changed_files"]) == (False, 1)
    finally:
        (indexed.repository.path / "Later.cs").unlink()
    assert said not in indexed.cli.run("status").out
