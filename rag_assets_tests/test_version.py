"""`own_commit` in a checkout, in what `git archive` makes of it, and in sources that lie in another repository. That of
a wheel is in `deploy/test_wheel.py`."""

from __future__ import annotations

import io
import runpy
import subprocess
import tarfile
from pathlib import Path

import pytest

from rag_assets.version import own_commit
from rag_assets_tests.git_repository import Repository

ROOT = Path(__file__).parents[1]
FILES = ("rag_assets/version.py", "rag_assets/commit.txt")


def git(*words: str) -> bytes:
    if not (ROOT / ".git").exists():
        pytest.skip("these sources are no checkout")
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, check=True).stdout


def commit_of(folder: Path) -> str:
    return str(runpy.run_path(str(folder / "rag_assets" / "version.py"))["own_commit"]())


def test_a_checkout_asks_git() -> None:
    head = git("rev-parse", "HEAD").decode().strip()[:10]
    assert own_commit().removesuffix("-dirty") == head


def test_an_archive_has_it_in_the_file(tmp_path: Path) -> None:
    """Sources without `.git`, as a host offers them for download."""
    with tarfile.open(fileobj=io.BytesIO(git("archive", "HEAD", *FILES))) as archive:
        archive.extractall(tmp_path, filter="data")
    assert commit_of(tmp_path) == git("rev-parse", "HEAD").decode().strip()[:10]


def test_changed_files_are_said(tmp_path: Path) -> None:
    clone = copied(tmp_path / "clone")
    clone.git("init", "--quiet", "--initial-branch=main")
    head = clone.commit({"README.md": "# Hello\n"})
    assert commit_of(clone.path) == head[:10]
    (clone.path / "README.md").write_text("# Changed\n", encoding="utf-8")
    assert commit_of(clone.path) == f"{head[:10]}-dirty"


def test_sources_in_a_folder_of_another_repository_are_not_of_its_commit(tmp_path: Path) -> None:
    outer = Repository.new(tmp_path)
    vendored = copied(tmp_path / "vendor")
    outer.commit({"README.md": "# Outer\n"})
    assert commit_of(vendored.path) == ""


def copied(folder: Path) -> Repository:
    for name in FILES:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((ROOT / name).read_bytes())
    return Repository(folder)
