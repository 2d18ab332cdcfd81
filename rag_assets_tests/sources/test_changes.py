"""What changed between two commits: real git, bad names, lost history, and the same question without git."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from rag_assets.sources.git import GitError
from rag_assets.sources.git.git_diff import Rename, TreeDiff, changes_between, changes_of
from rag_assets.sources.git.git_snapshot import GitSnapshot
from rag_assets.sources.open import open_snapshot
from rag_assets_tests.git_repository import Repository

LINES = [f"public int Field{number};\n" for number in range(40)]
TEXT = "".join(LINES)
EDITED = "".join(["// moved\n", *LINES[:-2]])
FILES = {"src/A.cs": TEXT, "src/B.cs": "class B { }\n", "docs/a.md": "# A\n"}


@pytest.fixture
def repository(make_repository: Callable[..., Repository]) -> Repository:
    return make_repository(FILES)


def git_dir(repository: Repository) -> Path:
    bare = repository.path / ".git"
    return bare if bare.is_dir() else repository.path


def changes(repository: Repository, old: str | None = "HEAD~1", subdirectory: str = "") -> TreeDiff:
    before = None if old is None else repository.git("rev-parse", old)
    found = changes_between(git_dir(repository), before, repository.git("rev-parse", "HEAD"), subdirectory)
    assert found is not None
    return found


def test_added_modified_deleted(repository: Repository) -> None:
    repository.git("rm", "--quiet", "docs/a.md")
    repository.commit({"src/B.cs": "class B { int x; }\n", "src/C.cs": "class C { }\n"})
    assert changes(repository) == TreeDiff(added=("src/C.cs",), modified=("src/B.cs",), deleted=("docs/a.md",))


@pytest.mark.parametrize(("content", "exact"), [(TEXT, True), (EDITED, False)], ids=["moved", "moved and edited"])
def test_renames_have_a_similarity(repository: Repository, content: str, exact: bool) -> None:
    repository.git("mv", "src/A.cs", "src/New name.cs")
    repository.commit({"src/New name.cs": content})
    found = changes(repository)
    (renamed,) = found.renamed
    assert (renamed.old, renamed.new) == ("src/A.cs", "src/New name.cs")
    assert renamed.similarity == 100 if exact else 50 <= renamed.similarity < 100
    assert (found.added, found.modified, found.deleted) == ((), (), ())


def test_a_copy_is_an_addition(repository: Repository) -> None:
    repository.git("config", "diff.renames", "copies")
    repository.commit({"src/Copy.cs": TEXT})
    assert changes(repository) == TreeDiff(added=("src/Copy.cs",))


def test_the_first_commit_adds_everything(repository: Repository) -> None:
    assert changes(repository, None) == TreeDiff(added=tuple(sorted(FILES)))


def test_a_mode_is_no_content(repository: Repository) -> None:
    repository.git("update-index", "--chmod=+x", "src/B.cs")
    repository.git("commit", "--quiet", "-m", "mode")
    assert changes(repository) == TreeDiff()


def test_submodules_are_not_files(make_repository: Callable[..., Repository]) -> None:
    repository = make_repository({})
    repository.commit_tree([("100644", b"a", b"one\n"), ("160000", b"module", b""), ("100644", b"turns", b"x\n")])
    before = repository.git("rev-parse", "HEAD")
    repository.commit_tree([("100644", b"a", b"two\n"), ("160000", b"turns", b""), ("100644", b"module", b"y\n")])
    found = changes_between(git_dir(repository), before, repository.git("rev-parse", "HEAD"))
    assert found == TreeDiff(added=("module",), modified=("a",), deleted=("turns",))


def test_a_link_that_becomes_a_file_is_modified(make_repository: Callable[..., Repository]) -> None:
    repository = make_repository({})
    repository.commit_tree([("120000", b"a", b"target")])
    before = repository.git("rev-parse", "HEAD")
    repository.commit_tree([("100644", b"a", b"text\n")])
    assert changes_between(git_dir(repository), before, repository.git("rev-parse", "HEAD")) == TreeDiff(
        modified=("a",)
    )


def test_names_have_the_form_that_entries_have(make_repository: Callable[..., Repository]) -> None:
    repository = make_repository({})
    names = [b"a\xff.cs", b"back\\slash.cs", b"line\nbreak.cs", "ümlaut.cs".encode(), b":colon.cs"]
    repository.commit_tree([("100644", name, b"text\n") for name in sorted(names)])
    found = changes(repository, None)
    snapshot = open_snapshot(str(repository.path), mirrors=repository.path)
    assert set(found.added) == {entry.path for entry in snapshot.entries()}
    assert "line\\x0abreak.cs" in found.added


def test_a_subdirectory_hears_of_its_own_files(repository: Repository) -> None:
    repository.commit({"src/C.cs": "class C { }\n", "docs/b.md": "# B\n", "[src]/x.cs": "class X { }\n"})
    assert changes(repository, subdirectory="src") == TreeDiff(added=("src/C.cs",))
    assert changes(repository, subdirectory="[src]") == TreeDiff(added=("[src]/x.cs",)), "no pattern"
    snapshot = open_snapshot(str(repository.path / "src"), mirrors=repository.path)
    assert snapshot.changes_since(repository.git("rev-parse", "HEAD~1")) == TreeDiff(added=("src/C.cs",))


def test_history_that_is_gone_says_so(repository: Repository, clone: Callable[..., Repository]) -> None:
    first = repository.git("rev-parse", "HEAD")
    head = repository.commit({"src/C.cs": "class C { }\n"})
    shallow = clone(repository, "--depth=1")
    assert changes_between(git_dir(shallow), first, head) is None
    assert changes_between(git_dir(repository), "ab" * 20, head) is None
    with pytest.raises(GitError):
        changes_between(git_dir(repository), first, "ab" * 20)


def test_a_partial_clone_finds_exact_renames(repository: Repository, clone: Callable[..., Repository]) -> None:
    repository.git("config", "uploadpack.allowFilter", "true")
    first = repository.git("rev-parse", "HEAD")
    repository.git("mv", "src/A.cs", "src/Moved.cs")
    repository.git("mv", "src/B.cs", "src/Edited.cs")
    head = repository.commit({"src/Edited.cs": "class B { }\n// more\n"})
    partial = clone(repository, "--filter=blob:none", "--bare")
    shutil.rmtree(repository.path)  # nothing can be fetched
    found = changes_between(partial.path, first, head)
    assert found == TreeDiff(
        added=("src/Edited.cs",), deleted=("src/B.cs",), renamed=(Rename("src/A.cs", "src/Moved.cs", 100),)
    )


def test_sources_without_history(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "a.cs").write_text("class A { }\n", encoding="utf-8")
    shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path / "plain")
    for location in ("plain", "packed.zip"):
        with open_snapshot(str(tmp_path / location), mirrors=tmp_path) as snapshot:
            assert not isinstance(snapshot, GitSnapshot)
            assert snapshot.changes_since("ab" * 20) is None


OLD = {"a": "1", "b": "2", "c": "3", "same": "9"}
NEW = {"same": "9", "b": "4", "moved": "1", "other": "5"}


@pytest.mark.parametrize(
    ("git", "expected"),
    [
        (None, TreeDiff(("other",), ("b",), ("c",), (Rename("a", "moved", 100),))),
        (
            TreeDiff(renamed=(Rename("a", "moved", 100), Rename("c", "other", 60), Rename("x", "y", 100))),
            TreeDiff((), ("b",), (), (Rename("a", "moved", 100), Rename("c", "other", 60))),
        ),
        (TreeDiff(), TreeDiff(("moved", "other"), ("b",), ("a", "c"), ())),
    ],
    ids=["without git: equal blobs", "git knows edited ones", "git found none"],
)
def test_listings(git: TreeDiff | None, expected: TreeDiff) -> None:
    assert changes_of(OLD, NEW, git) == expected


def test_equal_blobs_are_paired_once() -> None:
    found = changes_of({"a": "1", "b": "1"}, {"c": "1", "d": "1", "e": "1"}, None)
    assert found == TreeDiff(added=("e",), renamed=(Rename("a", "c", 100), Rename("b", "d", 100)))
