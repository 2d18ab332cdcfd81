"""What past commits say of files: real git, renames, odd names, shallow clones."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rag_assets.sources.git import GitError
from rag_assets.sources.git.git_history import Commit, GitHistory, LastChange, subjects_by_path
from rag_assets.sources.open import open_snapshot
from rag_assets.sources.snapshot import utc_iso
from rag_assets_tests.git_repository import Repository


@pytest.fixture
def repository(make_repository: Callable[..., Repository]) -> Repository:
    made = make_repository()
    made.commit({"src/A.cs": "class A { int one; int two; int three; }\n", "b.md": "# B\n"}, "Create the shop")
    return made


def commits(repository: Repository) -> list[Commit]:
    with open_snapshot(str(repository.path), mirrors=repository.path) as snapshot:
        past = snapshot.past()
        assert past is not None
        ids = past.ids()
        found = past.read(ids)
    return [found[commit] for commit in ids]


def day(number: int) -> str:
    return f"2025-01-{number:02}T00:00:00Z"


def subjects(repository: Repository, most_files: int = 30) -> dict[str, tuple[str, ...]]:
    return subjects_by_path(commits(repository), most_files)


def last_changes(repository: Repository) -> dict[str, LastChange]:
    with open_snapshot(str(repository.path), mirrors=repository.path) as snapshot:
        past = snapshot.past()
        assert past is not None
        found, newest = past.last_changes({entry.path: entry.blob_id for entry in snapshot.entries()})
    assert newest >= max(change.seconds for change in found.values())
    return found


def dates(repository: Repository) -> dict[str, str]:
    """Of the files whose change is known."""
    return {path: utc_iso(change.seconds) for path, change in last_changes(repository).items() if change.known}


def test_a_file_has_the_subjects_of_the_commits_that_changed_it(repository: Repository) -> None:
    repository.commit({"src/A.cs": "class A { }\n"}, "Round invoices up\n\nThe body says more.")
    repository.commit({"src/C.cs": "class C { }\n"}, "Ünïcode – in “subjects”")
    assert subjects(repository) == {
        "src/A.cs": ("Create the shop", "Round invoices up"),
        "b.md": ("Create the shop",),
        "src/C.cs": ("Ünïcode – in “subjects”",),
    }


def test_a_moved_file_keeps_its_past_and_its_old_name_begins_anew(repository: Repository) -> None:
    repository.git("mv", "src/A.cs", "src/Moved here.cs")
    repository.commit({}, "Move it")
    repository.commit({"src/A.cs": "interface IOther { }\n"}, "Another file of that name")
    found = subjects(repository)
    assert found["src/Moved here.cs"] == ("Create the shop", "Move it")
    assert found["src/A.cs"] == ("Another file of that name",)


def test_a_commit_of_many_files_says_nothing(repository: Repository) -> None:
    repository.commit({f"src/F{number}.cs": "x\n" for number in range(4)}, "Reformat everything")
    assert "src/F1.cs" in subjects(repository, most_files=4)
    assert "src/F1.cs" not in subjects(repository, most_files=3)


def test_merges_and_deletions_say_nothing(repository: Repository) -> None:
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit({"src/Side.cs": "class Side { }\n"}, "Work beside")
    repository.git("checkout", "--quiet", "main")
    repository.git("rm", "--quiet", "b.md")
    repository.commit({}, "Drop the page")
    repository.git("merge", "--quiet", "--no-ff", "-m", "Merge the side", "side")
    said = {subject for found in subjects(repository).values() for subject in found}
    assert said == {"Create the shop", "Work beside"}


def test_a_commit_without_files_or_subject_is_read(repository: Repository) -> None:
    repository.git("commit", "--quiet", "--allow-empty", "-m", "Nothing")
    repository.git("commit", "--quiet", "--allow-empty", "--allow-empty-message", "-m", "")
    assert subjects(repository)["b.md"] == ("Create the shop",)


def test_names_that_are_not_utf_8(repository: Repository) -> None:
    commit = repository.commit_tree([("100644", b"caf\xe9\n.cs", b"x"), ("100644", b"M", b"y")])
    found = GitHistory(repository.path / ".git", commit).read([commit])
    assert set(found[commit].paths) == {"caf\\xe9\\x0a.cs", "M"}


def shallow_clone(repository: Repository, path: Path, depth: int) -> Repository:
    command = ["git", "clone", "--quiet", f"--depth={depth}", repository.path.as_uri(), str(path)]
    subprocess.run(command, check=True, capture_output=True)
    return Repository(path)


@pytest.mark.rule("E08")
@pytest.mark.parametrize(
    ("depth", "known"), [(1, {}), (2, {"b.md": "Newest"}), (3, {"b.md": "Newest", "src/A.cs": "Round"})]
)
def test_the_commit_at_which_a_clone_was_cut_changed_nothing_we_know_of(
    repository: Repository, tmp_path: Path, depth: int, known: dict[str, str]
) -> None:
    """git shows it as one that made every file."""
    at = {"Round": "2024-06-01T00:00:00Z", "Newest": "2025-01-01T00:00:00Z"}
    repository.commit({"c.md": "# C\n"}, "Before")
    repository.commit({"src/A.cs": "class A { }\n"}, "Round", at=at["Round"])
    repository.commit({"b.md": "# New\n"}, "Newest", at=at["Newest"])
    shallow = shallow_clone(repository, tmp_path / "shallow", depth)
    assert subjects(shallow) == {path: (said,) for path, said in known.items()}
    assert dates(shallow) == {path: at[said] for path, said in known.items()}
    oldest = shallow.git("rev-list", "--max-parents=0", "HEAD")
    unknown = {change.commit for change in last_changes(shallow).values() if not change.known}
    assert unknown == {oldest}, "the oldest commit that the clone has"
    shallow.git("fetch", "--quiet", "--unshallow")
    assert subjects(shallow) == subjects(repository) and last_changes(shallow) == last_changes(repository)


def test_a_first_commit_made_its_files_in_a_shallow_clone_too(repository: Repository, tmp_path: Path) -> None:
    """git lists it among those at which it was asked to stop."""
    shallow = shallow_clone(repository, tmp_path / "shallow", 1)
    assert (shallow.path / ".git" / "shallow").read_text().split() == [repository.git("rev-parse", "HEAD")]
    assert subjects(shallow) == subjects(repository) != {}
    assert last_changes(shallow) == last_changes(repository)
    assert all(change.known for change in last_changes(shallow).values())


def test_a_worktree_of_a_shallow_clone_is_shallow(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"b.md": "# New\n"}, "Newest")
    shallow = shallow_clone(repository, tmp_path / "shallow", 1)
    shallow.git("worktree", "add", "--quiet", str(tmp_path / "beside"), "-b", "beside")
    assert commits(Repository(tmp_path / "beside")) == []


def test_only_a_repository_has_a_past(tmp_path: Path) -> None:
    (tmp_path / "a.cs").write_text("class A { }")
    with open_snapshot(str(tmp_path), mirrors=tmp_path) as snapshot:
        assert snapshot.past() is None


def test_a_commit_that_is_not_there_is_an_error(repository: Repository) -> None:
    with pytest.raises(GitError):
        GitHistory(repository.path / ".git", "0" * 40).read(["0" * 40])


def test_reading_nothing_asks_nobody(tmp_path: Path) -> None:
    assert GitHistory(tmp_path, "0" * 40).read([]) == {}


def test_the_order_of_parallel_branches_does_not_matter() -> None:
    one, two = Commit("One", ("a.cs",)), Commit("Two", ("a.cs",))
    assert subjects_by_path([one, two], 30) == subjects_by_path([two, one], 30)


@pytest.mark.rule("E08", "R20")
def test_a_file_was_changed_when_its_last_commit_was_made(repository: Repository) -> None:
    repository.commit({"src/A.cs": "class A { }\n"}, "Later", at="2025-01-31T23:30:00-02:00")
    repository.commit({"src/C.cs": "class C { }\n"}, "Before it, by a clock that is wrong", at="2024-12-24T00:00:00Z")
    repository.git("mv", "b.md", "c.md")
    repository.commit({}, "Move", at="2025-03-01T00:00:00Z")
    found = dates(repository)
    assert {path: found[path] for path in ("src/A.cs", "src/C.cs", "c.md")} == {
        "src/A.cs": "2025-02-01T01:30:00Z",
        "src/C.cs": "2024-12-24T00:00:00Z",
        "c.md": "2025-03-01T00:00:00Z",
    }


@pytest.mark.rule("E08")
def test_a_commit_of_very_many_files_changed_them_all(repository: Repository) -> None:
    repository.commit({f"src/F{number}.cs": "x\n" for number in range(40)}, "Reformat", at="2025-01-01T00:00:00Z")
    assert dates(repository)["src/F39.cs"] == "2025-01-01T00:00:00Z"


@pytest.mark.rule("R29")
def test_the_last_change_has_the_text_of_the_file(repository: Repository) -> None:
    """Through merges: a text that is of both sides is of the merge, one that is of a side is of that side, and what was
    taken back is of the commit that took it back."""
    one = repository.commit({"both.cs": "1\n2\n3\n4\n5\n6\n7\n", "ours.cs": "first\n"}, "Begin", at=day(1))
    repository.git("checkout", "--quiet", "-b", "side")
    side = repository.commit({"both.cs": "1\n2\n3\n4\n5\n6\nside\n", "ours.cs": "side\n"}, "Side", at=day(2))
    repository.git("checkout", "--quiet", "main")
    main = repository.commit({"both.cs": "main\n2\n3\n4\n5\n6\n7\n", "ours.cs": "main\n"}, "Main", at=day(3))
    repository.git("merge", "--quiet", "--no-ff", "-X", "ours", "-m", "Merge", "side", at=day(4))
    merge = repository.git("rev-parse", "HEAD")
    repository.commit({"b.md": "# Other\n"}, "Change a page", at=day(5))
    back = repository.commit({"b.md": "# B\n"}, "Take it back", at=day(6))
    found = last_changes(repository)
    assert {path: found[path].commit for path in ("both.cs", "ours.cs", "b.md")} == {
        "both.cs": merge,
        "ours.cs": main,
        "b.md": back,
    }
    assert one and side
    for path, change in found.items():
        assert repository.git("rev-parse", f"{change.commit}:{path}") == repository.git("rev-parse", f"HEAD:{path}")


def test_files_whose_names_are_not_utf_8_have_a_last_change(repository: Repository) -> None:
    commit = repository.commit_tree([("100644", b"caf\xe9.cs", b"x"), ("100644", "Ü.cs".encode(), b"y")])
    assert {path: change.commit for path, change in last_changes(repository).items()} == {
        "caf\\xe9.cs": commit,
        "Ü.cs": commit,
    }


def test_what_came_after_a_commit_and_who_wrote_it(repository: Repository) -> None:
    first = repository.git("rev-parse", "HEAD")
    repository.git("checkout", "--quiet", "-b", "side")
    side = repository.commit({"src/B.cs": "class B { }\n"}, "On the side")
    repository.git("checkout", "--quiet", "main")
    second = repository.commit({"src/C.cs": "class C { }\n"}, "On the branch")
    repository.git("merge", "--quiet", "--no-ff", "-m", "Merge the side", "side")
    head = repository.git("rev-parse", "HEAD")
    with open_snapshot(str(repository.path), mirrors=repository.path) as snapshot:
        past = snapshot.past()
        assert past is not None
        assert sorted(past.ids_since(first)) == sorted([side, second]), "merges are none"
        assert past.ids_since(second) == [side] and past.ids_since(head) == []
        assert past.mainline() == [head, second, first]
        assert past.mainline(until="2001-01-01") == []
        assert past.authors([first, side]) == dict.fromkeys([first, side], "Test <test@example.invalid>")
        assert past.authors([]) == {}
        with pytest.raises(GitError):
            past.ids_since("f" * 40)
