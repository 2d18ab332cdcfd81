"""What past commits say, from git into the index: once per commit, without secrets, and only where it is wanted."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from rag_assets import Index
from rag_assets.index.cache import Cache
from rag_assets.index.generations import active_generation
from rag_assets.index.layout import IndexHome
from rag_assets.index.parquet_parts import read_rows
from rag_assets.index.vectors.filters import SearchFilters
from rag_assets.pipeline.collect_garbage import collect_garbage
from rag_assets.pipeline.commit_subjects import MOST_FILES, PAST_COMMITS
from rag_assets.sources.git.git_history import Commit, GitHistory
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.pipeline.conftest import Built, built, lexical

FILES = {
    "src/One.cs": "namespace Shop;\npublic class One { public void Total() { } }\n",
    "src/Two.cs": "namespace Shop;\npublic class Two { public void Total() { } }\n",
}
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


@pytest.fixture
def source(tmp_path: Path) -> Repository:
    made = Repository.new(tmp_path / "source")
    made.commit(FILES, "First")
    made.commit({"src/Two.cs": FILES["src/Two.cs"] + "\n"}, "Make rounding of totals fair")
    return made


def subjects(made: Built) -> dict[str, list[str]]:
    rows = [row for b in made.build.buckets for row in read_rows(made.build.directory, "discovered_files", b)]
    return {row["path"]: row["subjects"] for row in rows}


def search(made: Built, question: str) -> list[tuple[str, bool]]:
    """The paths of the hits, and whether past commits spoke for them."""
    home = IndexHome(made.settings.home)
    with Index(home, active_generation(home, made.label)) as index:
        return [(hit.path, "history_boost" in hit.scores) for hit in index.search(question)]


def test_a_file_is_found_by_what_its_commits_said(tmp_path: Path, source: Repository) -> None:
    made = built(source, lexical(tmp_path / "home"))
    assert subjects(made) == {"src/One.cs": ["First"], "src/Two.cs": ["First", "Make rounding of totals fair"]}
    assert search(made, "what is rounding of totals")[0] == ("src/Two.cs", True)


def test_history_can_be_left_out(tmp_path: Path, source: Repository) -> None:
    made = built(source, lexical(tmp_path / "home"), history=False)
    assert subjects(made) == {"src/One.cs": [], "src/Two.cs": []}
    assert not list((made.build.directory / "keyword").glob("past_*"))
    assert {spoken for _, spoken in search(made, "what is rounding of totals")} == {False}


def test_a_secret_in_a_subject_is_redacted(tmp_path: Path, source: Repository) -> None:
    source.commit({"src/One.cs": FILES["src/One.cs"] + "\n"}, f"Use token {SECRET} of the robot")
    made = built(source, lexical(tmp_path / "home"))
    (said,) = (subject for subject in subjects(made)["src/One.cs"] if subject.startswith("Use token"))
    assert SECRET not in said
    stored = b"".join(path.read_bytes() for path in (tmp_path / "home").rglob("*") if path.is_file())
    assert SECRET.encode() not in stored


def test_a_new_commit_is_read_and_no_other(tmp_path: Path, source: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    read = GitHistory.read

    def noted(self: GitHistory, ids: Sequence[str]) -> dict[str, Commit]:
        asked.append(list(ids))
        return read(self, ids)

    monkeypatch.setattr(GitHistory, "read", noted)
    made = built(source, lexical(tmp_path / "home"))
    commit = source.commit({"src/One.cs": FILES["src/One.cs"] + "\n"}, "Newest")
    later = made.again()
    assert [len(ids) for ids in asked] == [2, 1]
    assert asked[1] == [commit]
    fresh = built(source, lexical(tmp_path / "other"))
    assert subjects(later) == subjects(fresh)
    for name in ("past_files.tsv", "past_terms.tsv"):
        assert (later.build.directory / "keyword" / name).read_bytes() == (
            fresh.build.directory / "keyword" / name
        ).read_bytes()


def test_what_is_said_goes_with_the_file(tmp_path: Path, source: Repository) -> None:
    made = built(source, lexical(tmp_path / "home"))
    source.git("rm", "--quiet", "src/Two.cs")
    source.commit({}, "Drop two")
    later = made.again()
    assert set(subjects(later)) == {"src/One.cs"}
    assert b"Two.cs" not in (later.build.directory / "keyword" / "past_files.tsv").read_bytes()


def test_a_commit_of_very_many_files_is_left_out(tmp_path: Path, source: Repository) -> None:
    source.commit({f"src/F{number}.cs": "class F { }\n" for number in range(MOST_FILES + 1)}, "Import everything")
    assert subjects(built(source, lexical(tmp_path / "home")))["src/F1.cs"] == []


def test_what_no_generation_knows_is_swept(tmp_path: Path, source: Repository) -> None:
    """Deletes are real: a subject goes with the last generation that it speaks of."""
    home = built(source, lexical(tmp_path / "home")).build.home

    def entries() -> int:
        with Cache(home.cache, PAST_COMMITS) as cache:
            return cache.count()

    far = time.time() + 400 * 86_400
    collect_garbage(home, lexical(home.root), now=far)
    assert entries() == 2
    shutil.rmtree(home.labels)
    collect_garbage(home, lexical(home.root), now=far)
    assert entries() == 0


# when a file was changed


def dates(made: Built) -> dict[str, str]:
    rows = [row for b in made.build.buckets for row in read_rows(made.build.directory, "discovered_files", b)]
    return {row["path"]: row["commit_date"] if row["dated"] else "" for row in rows}


def changed(made: Built, **period: str) -> tuple[set[str], tuple[str, ...]]:
    """The files of a search for everything within a period, and its warnings."""
    home = IndexHome(made.settings.home)
    with Index(home, active_generation(home, made.label)) as index:
        found = index.search("path:src", limit=100, filters=SearchFilters(**period))  # type: ignore[arg-type]
    return {hit.path for hit in found}, found.warnings


@pytest.mark.rule("E08", "R20")
def test_points_know_when_their_file_was_changed(tmp_path: Path, source: Repository) -> None:
    source.commit({"src/Two.cs": FILES["src/Two.cs"]}, "Back again", at="2025-01-01T00:00:00Z")
    made = built(source, lexical(tmp_path / "home"))
    assert dates(made) == {"src/One.cs": "2024-05-06T08:00:00Z", "src/Two.cs": "2025-01-01T00:00:00Z"}
    assert changed(made, since="2025") == ({"src/Two.cs"}, ())
    assert changed(made, before="2025") == ({"src/One.cs"}, ())
    assert changed(made, since="2024-05-06", before="2025-01-01") == ({"src/One.cs"}, ())
    nothing, warnings = changed(made, since="2026")
    assert not nothing and "no section is known to have been changed in that period" in warnings


@pytest.mark.rule("E08")
def test_a_change_of_the_date_alone_changes_the_points_and_nothing_before(tmp_path: Path, source: Repository) -> None:
    made = built(source, lexical(tmp_path / "home"))
    source.git("rm", "--quiet", "src/Two.cs")
    source.commit({}, "Drop two", at="2025-01-01T00:00:00Z")
    source.commit({"src/Two.cs": FILES["src/Two.cs"] + "\n"}, "Bring two back", at="2025-01-02T00:00:00Z")
    later = made.again()
    assert changed(later, since="2025-01-02") == ({"src/Two.cs"}, ())
    for stage in ("segments", "descriptions", "summary_sections", "embeddings"):
        assert later.build.required(stage).parts == made.build.required(stage).parts, stage
    fresh = built(source, lexical(tmp_path / "other"))
    assert later.build.required("qdrant_points").parts == fresh.build.required("qdrant_points").parts


@pytest.mark.rule("E08")
def test_without_git_nothing_is_in_a_period_and_a_warning_says_so(tmp_path: Path, source: Repository) -> None:
    shutil.rmtree(source.path / ".git")
    made = built(source, lexical(tmp_path / "home"), ref=None)
    assert dates(made) == {"src/One.cs": "", "src/Two.cs": ""}
    for period in ({"since": "1980"}, {"before": "2100"}):
        found, warnings = changed(made, **period)
        assert not found
        assert "sections were left out: it is not known when they were changed" in warnings[0]


@pytest.mark.rule("E08", "R29")
def test_who_wants_no_subjects_still_has_dates(tmp_path: Path, source: Repository) -> None:
    made = built(source, lexical(tmp_path / "home"), history=False)
    assert set(dates(made).values()) == {"2024-05-06T08:00:00Z"}
    assert changed(made, since="2024-05-06")[0] == {"src/One.cs", "src/Two.cs"}
