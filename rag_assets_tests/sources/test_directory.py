"""Plain directories: content-addressed, ignore files honoured, links not followed, changes noticed."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from rag_assets.errors import EmptyRepository, LocationError, MissingCommit
from rag_assets.sources.git.git_refs import default_ref, remote_head
from rag_assets.sources.ignore import IgnorePolicy
from rag_assets.sources.open import open_snapshot
from rag_assets.sources.snapshot import Snapshot
from rag_assets_tests.sources.conftest import discover_all


def make(root: Path, files: Mapping[str, str | bytes]) -> Path:
    for number, (name, content) in enumerate(files.items()):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
    return root


def opened(root: Path, policy: IgnorePolicy | None = None, commit: str | None = None) -> Snapshot:
    return open_snapshot(str(root), commit=commit, mirrors=Path("unused-mirrors"), policy=policy)


def test_a_directory_has_an_identity_of_its_content(tmp_path: Path) -> None:
    one = make(tmp_path / "one", {"b.cs": "b\n", "a/a.cs": "a\n"})
    two = make(tmp_path / "two", {"a/a.cs": "a\n", "b.cs": "b\n"})
    first, second = opened(one), opened(two)
    assert first.info.commit_sha == second.info.commit_sha, "not where it lies, not in which order it was written"
    assert len(first.info.commit_sha) == 64
    assert (first.info.is_git, first.info.remote_url, first.ref) == (False, "", "directory")
    assert first.info.commit_date == "2023-11-14T22:13:21Z", "the newest file"
    assert [entry.path for entry in first.entries()] == ["a/a.cs", "b.cs"]
    assert default_ref(str(one)) == "directory"


@pytest.mark.parametrize(
    ("change", "changes"),
    [
        ({"a.cs": "changed\n"}, True),
        ({"c.cs": "new\n"}, True),
        ({"obj/A.cs": "built\n"}, False),
        ({"node_modules/x/i.js": "installed\n"}, False),
        ({"skip/me.txt": "ignored\n"}, False),
        ({".git-credentials": "x\n"}, True),
    ],
)
def test_only_what_is_read_changes_the_identity(tmp_path: Path, change: dict[str, str], changes: bool) -> None:
    root = make(tmp_path / "r", {"a.cs": "a\n", ".gitignore": "skip/\n"})
    before = opened(root)
    make(root, change)
    assert (opened(root).info.commit_sha != before.info.commit_sha) is changes
    assert (remote_head(str(root)) != before.info.commit_sha) is changes


def test_ignore_files_and_conventions_prune_with_a_reason(tmp_path: Path) -> None:
    root = make(
        tmp_path / "r",
        {
            ".gitignore": "*.log\n/out/\n!keep.log\n",
            "src/.gitignore": "*.tmp\n",
            "src/.rag_assets_ignore": "Legacy/\n",
            "src/a.cs": "a\n",
            "src/a.tmp": "x\n",
            "src/Legacy/old.cs": "x\n",
            "a.log": "x\n",
            "keep.log": "x\n",
            "out/a.cs": "x\n",
            "src/out/a.cs": "x\n",
            "node_modules/m/index.js": "x\n",
            "node_modules/m/readme.md": "x\n",
            ".git-blame-ignore-revs": "x\n",
            ".hg/store": "x\n",
        },
    )
    found = discover_all(opened(root))
    assert sorted(found.texts) == [".git-blame-ignore-revs", "keep.log", "src/a.cs", "src/out/a.cs"]
    assert {path: skipped.detail for path, skipped in found.skipped.items() if path[-6:] != "ignore"} == {
        "a.log": ".gitignore:1: *.log",
        "out/": ".gitignore:2: /out/",
        "src/a.tmp": "src/.gitignore:1: *.tmp",
        "src/Legacy/": "src/.rag_assets_ignore:1: Legacy/",
        "node_modules/": "node_modules/: directory of third-party code",
    }


def test_the_policy_given_at_opening_reaches_below_a_convention(tmp_path: Path) -> None:
    root = make(tmp_path / "r", {"dist/ours.cs": "ours\n"})
    policy = IgnorePolicy(exclude=("!dist/",))
    assert list(discover_all(opened(root, policy), policy).texts) == ["dist/ours.cs"]
    with pytest.raises(EmptyRepository):
        opened(root)


def test_links_are_listed_and_not_followed(tmp_path: Path) -> None:
    root = make(tmp_path / "r", {"a.cs": "a\n", "d/b.cs": "b\n"})
    outside = make(tmp_path / "outside", {"secret.cs": "secret\n"})
    try:
        (root / "file-link.cs").symlink_to(outside / "secret.cs")
        (root / "dir-link").symlink_to(outside, target_is_directory=True)
        (root / "loop").symlink_to(root, target_is_directory=True)
        (root / "broken").symlink_to(root / "nowhere")
    except OSError:
        pytest.skip("this system does not let us make links")
    found = discover_all(opened(root))
    assert sorted(found.texts) == ["a.cs", "d/b.cs"]
    assert found.reasons() == dict.fromkeys(["file-link.cs", "dir-link", "loop", "broken"], "symlink")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux file systems take any byte in a name")
def test_hostile_names(tmp_path: Path) -> None:
    root = make(tmp_path / "r", {"a.cs": "a\n", "A.cs": "A\n"})
    for name in (b"caf\xe9.cs", b"back\\slash.cs", b"line\nbreak.cs"):
        (root / os.fsdecode(name)).write_bytes(b"x\n")
    os.mkfifo(root / "pipe.cs")
    found = discover_all(opened(root))
    assert sorted(found.texts) == ["A.cs", "a.cs", "caf\\xe9.cs"]
    assert found.reasons() == {
        "back\\slash.cs": "unsafe-path",
        "line\\x0abreak.cs": "unsafe-path",
        "pipe.cs": "unreadable",
    }


def test_a_file_that_changes_or_goes_after_opening_is_reported(tmp_path: Path) -> None:
    root = make(tmp_path / "r", {"a.cs": "a\n", "b.cs": "b\n", "c.cs": "c\n"})
    snapshot = opened(root)
    (root / "a.cs").write_text("A\n", encoding="utf-8")
    (root / "b.cs").unlink()
    found = discover_all(snapshot)
    assert found.reasons() == {"a.cs": "unreadable", "b.cs": "unreadable"}
    assert "changed while it was being indexed" in found.skipped["a.cs"].detail
    assert list(found.texts) == ["c.cs"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_listed(tmp_path: Path) -> None:
    root = make(tmp_path / "r", {"a.cs": "a\n", "b.cs": "b\n"})
    (root / "b.cs").chmod(0)
    assert discover_all(opened(root)).reasons() == {"b.cs": "unreadable"}


def test_a_directory_has_one_version_only(tmp_path: Path) -> None:
    root = make(tmp_path / "r", {"a.cs": "a\n"})
    current = opened(root).info.commit_sha
    assert opened(root, commit=current[:12]).info.commit_sha == current
    with pytest.raises(MissingCommit, match="without git"):
        opened(root, commit="f" * 40)


def test_an_empty_directory_and_a_missing_one_say_so(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(EmptyRepository, match="contains no file"):
        opened(tmp_path / "empty")
    with pytest.raises(LocationError, match="no such directory"):
        opened(tmp_path / "missing")


def test_a_directory_needs_no_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make(tmp_path / "r", {"a.cs": "a\n"})
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert shutil.which("git") is None
    assert list(discover_all(opened(root)).texts) == ["a.cs"]


def test_relative_locations_start_at_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path / "conf" / "src", {"a.cs": "a\n"})
    monkeypatch.chdir(tmp_path / "conf")
    snapshot = open_snapshot("src", mirrors=tmp_path)
    assert [entry.path for entry in snapshot.entries()] == ["a.cs"]
