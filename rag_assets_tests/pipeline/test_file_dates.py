"""The last changes of files: of all of history, and the same however they were come by."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from rag_assets.index.parquet_parts import read_rows
from rag_assets.sources.git import git_history
from rag_assets.sources.git.git_history import GitHistory, LastChange
from rag_assets.sources.snapshot import utc_iso
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.pipeline.conftest import Built, built, lexical


def dates(made: Built) -> dict[str, str]:
    """When each file was changed; empty where that is not known."""
    return {path: date if dated else "" for path, (_, date, dated) in origins(made).items()}


def origins(made: Built) -> dict[str, tuple[str, str, bool]]:
    rows = [row for b in made.build.buckets for row in read_rows(made.build.directory, "discovered_files", b)]
    return {row["path"]: (row["commit_sha"], row["commit_date"], row["dated"]) for row in rows}


def day(number: int) -> str:
    return f"2024-{1 + number // 28:02}-{1 + number % 28:02}T00:00:00Z"


@pytest.fixture
def source(tmp_path: Path) -> Repository:
    made = Repository.new(tmp_path / "source")
    made.commit({f"src/F{number}.cs": f"class F{number} {{ }}\n" for number in range(4)}, "First", at=day(0))
    return made


@pytest.fixture
def whole_reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows with every reading of all of history."""
    read: list[int] = []
    last_changes = GitHistory.last_changes

    def noted(self: GitHistory, blobs: Mapping[str, str], *, since: str = "") -> tuple[dict[str, LastChange], int]:
        read.extend([] if since else [1])
        return last_changes(self, blobs, since=since)

    monkeypatch.setattr(GitHistory, "last_changes", noted)
    return read


def test_a_file_that_nobody_touches_keeps_its_date(
    tmp_path: Path, source: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commit that made it is long out of the ones whose subjects count."""
    monkeypatch.setattr(git_history, "MOST_COMMITS", 3)
    for number in range(1, 8):
        source.commit({"src/F0.cs": f"class F0 {{ int x{number}; }}\n"}, f"Change {number}", at=day(number))
    assert dates(built(source, lexical(tmp_path / "home"))) == {
        "src/F0.cs": day(7),
        **{f"src/F{number}.cs": day(0) for number in (1, 2, 3)},
    }


def test_only_what_is_new_is_read(tmp_path: Path, source: Repository, whole_reads: list[int]) -> None:
    made = built(source, lexical(tmp_path / "home"))
    assert len(whole_reads) == 1
    source.commit({"src/F1.cs": "class F1 { int x; }\n", "src/New.cs": "class New { }\n"}, "More", at=day(5))
    later = made.again()
    assert len(whole_reads) == 1
    assert dates(later) == {
        **{f"src/F{number}.cs": day(0) for number in (0, 2, 3)},
        "src/F1.cs": day(5),
        "src/New.cs": day(5),
    }


@pytest.mark.rule("R29")
@pytest.mark.parametrize("seed", range(3))
def test_dates_do_not_depend_on_what_was_built_before(tmp_path: Path, source: Repository, seed: int) -> None:
    """Branches, merges, moves, deletions, files that come back, and history that is written anew."""
    chance = random.Random(seed)
    made = built(source, lexical(tmp_path / "home"))
    for step in range(1, 9):
        names = sorted(path.name for path in (source.path / "src").iterdir())
        name = chance.choice(names)
        match chance.choice(["edit", "edit", "add", "move", "drop", "branch", "both", "back", "rewrite", "clock"]):
            case "edit":
                source.commit({f"src/{name}": f"class F {{ int x{step}; }}\n"}, "Edit", at=day(step))
            case "add":
                source.commit({f"src/F{chance.randrange(9)}.cs": f"class G {{ int y{step}; }}\n"}, "Add", at=day(step))
            case "move":
                source.git("mv", "--force", f"src/{name}", f"src/Moved{step}.cs")
                source.commit({}, "Move", at=day(step))
            case "drop" if len(names) > 1:
                source.git("rm", "--quiet", f"src/{name}")
                source.commit({}, "Drop", at=day(step))
            case "branch":
                source.git("switch", "--quiet", "-c", f"b{step}", "HEAD")
                source.commit({f"src/B{step}.cs": "class B { }\n"}, "On a branch", at=day(step))
                source.git("switch", "--quiet", "main")
                source.commit({f"src/{name}": f"class M {{ int z{step}; }}\n"}, "Beside it", at=day(step))
                source.git("merge", "--quiet", "--no-ff", "-m", "Merge", f"b{step}", at=day(step))
            case "both":
                source.git("switch", "--quiet", "-c", f"b{step}", "HEAD")
                source.commit({f"src/{name}": f"class B {{ int b{step}; }}\n"}, "On a branch", at=day(step - 1))
                source.git("switch", "--quiet", "main")
                source.commit({f"src/{name}": f"class M {{ int m{step}; }}\n"}, "Beside it", at=day(step))
                if chance.random() < 0.5:
                    made = made.again()
                side = chance.choice(["ours", "theirs"])
                source.git("merge", "--quiet", "--no-ff", "-X", side, "-m", "Merge", f"b{step}", at=day(step))
            case "back":
                source.git("checkout", "--quiet", "HEAD~1", "--", ".")
                source.commit({}, "Taken back", at=day(chance.randrange(step)))
            case "rewrite":
                source.git("commit", "--quiet", "--amend", "-m", "Written anew", at=day(step))
            case "clock":
                source.commit(
                    {f"src/{name}": f"class C {{ int w{step}; }}\n"}, "An old clock", at="2023-01-01T00:00:00Z"
                )
        if chance.random() < 0.6:
            made = made.again()
    later = made.again()
    fresh = built(source, lexical(tmp_path / "other"))
    assert origins(later) == origins(fresh)
    assert later.build.required("qdrant_points").parts == fresh.build.required("qdrant_points").parts
    for path, (commit, date, dated) in origins(later).items():
        assert source.git("rev-parse", f"{commit}:{path}") == source.git("rev-parse", f"HEAD:{path}")
        assert dated and utc_iso(int(source.git("show", "--no-patch", "--format=%ct", commit))) == date


@pytest.mark.rule("E08")
def test_a_clone_that_is_deepened_later(tmp_path: Path, source: Repository) -> None:
    """What it did not know then, it says; and what it knows now is not mixed with what it made of less."""
    source.commit({"src/F1.cs": "class F1 { int x; }\n"}, "Second", at=day(1))
    shallow = Repository(tmp_path / "shallow")
    source.git("clone", "--quiet", "--depth=1", source.path.as_uri(), str(shallow.path))
    made = built(shallow, lexical(tmp_path / "home"))
    assert set(dates(made).values()) == {""}
    assert [problem.partition(";")[0] for problem in made.reports["discovered_files"].problems] == [
        "the clone is shallow: dates and past commits of 4 files are not known"
    ]
    shallow.commit({"src/F2.cs": "class F2 { int x; }\n"}, "Third", at=day(2))
    assert dates(made.again()) == {**{f"src/F{number}.cs": "" for number in (0, 1, 3)}, "src/F2.cs": day(2)}
    shallow.git("fetch", "--quiet", "--unshallow")
    forced = made.again(force=True)
    assert dates(forced) == {f"src/F{number}.cs": day(number % 3) for number in range(4)}
    assert not forced.reports["discovered_files"].problems
    shallow.commit({"src/F3.cs": "class F3 { int x; }\n"}, "Fourth", at=day(3))
    later, fresh = made.again(), built(shallow, lexical(tmp_path / "other"))
    assert dates(later) == dates(fresh) == {f"src/F{number}.cs": day(number) for number in range(4)}
    assert later.build.required("discovered_files").parts == fresh.build.required("discovered_files").parts


@pytest.mark.rule("E08")
def test_a_clone_that_is_cut_later(tmp_path: Path, source: Repository) -> None:
    """A build of it is the one that a new home would make, not one that remembers more."""
    clone = Repository(tmp_path / "clone")
    source.git("clone", "--quiet", source.path.as_uri(), str(clone.path))
    made = built(clone, lexical(tmp_path / "home"))
    for number in (1, 2):
        source.commit({f"src/F{number}.cs": f"class F {{ int x{number}; }}\n"}, "More", at=day(number))
    clone.git("fetch", "--quiet", "--depth=2")
    clone.git("reset", "--quiet", "--hard", "origin/main")
    later, fresh = made.again(), built(clone, lexical(tmp_path / "other"))
    assert dates(later) == dates(fresh) == {**{f"src/F{number}.cs": "" for number in (0, 1, 3)}, "src/F2.cs": day(2)}


def test_damaged_dates_are_read_again(tmp_path: Path, source: Repository, whole_reads: list[int]) -> None:
    made = built(source, lexical(tmp_path / "home"))
    (made.build.directory / "stages" / "last_changes.msgpack").write_bytes(b"\x81")
    source.commit({"src/F1.cs": "class F1 { int x; }\n"}, "Second", at=day(1))
    assert dates(made.again())["src/F1.cs"] == day(1)
    assert len(whole_reads) == 2


def test_subjects_of_the_oldest_month_are_left_out_together(
    tmp_path: Path, source: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that one more commit does not change what is said of files that it has not touched."""
    monkeypatch.setattr(git_history, "MOST_COMMITS", 4)
    for number, at in enumerate([day(1), day(2), day(30), day(31)]):
        source.commit({f"src/F{number}.cs": f"class F {{ int x{number}; }}\n"}, f"Change {number}", at=at)

    def subjects(made: Built) -> dict[str, list[str]]:
        rows = [row for b in made.build.buckets for row in read_rows(made.build.directory, "discovered_files", b)]
        return {row["path"]: row["subjects"] for row in rows}

    made = built(source, lexical(tmp_path / "home"))
    old = {"src/F0.cs": [], "src/F1.cs": []}
    assert subjects(made) == {**old, "src/F2.cs": ["Change 2"], "src/F3.cs": ["Change 3"]}
    source.commit({"src/New.cs": "class New { }\n"}, "Change 4", at=day(32))
    new = {"src/New.cs": ["Change 4"]}
    assert subjects(made.again()) == {**old, "src/F2.cs": ["Change 2"], "src/F3.cs": ["Change 3"], **new}


def test_a_busy_month_is_not_left_out_whole(source: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_history, "MOST_COMMITS", 3)
    commits = [git_history.Commit(f"c{number}", (), (), 1_704_067_200 + number) for number in (3, 2, 1)]
    assert git_history.of_whole_months(commits) == commits
    assert git_history.of_whole_months(commits[:2]) == commits[:2]
