"""The repository of the benchmarks: the same everywhere, of the asked size, and of sound C#."""

from __future__ import annotations

from pathlib import Path

from equality import contents_of
from history import git
from synthetic import Area, repository
from synthetic_files import FILES

from rag_assets.index.layout import index_label
from rag_assets.pipeline.run_stages import run_stages
from rag_assets.settings import EmbedderSettings, RepositorySettings, Settings

TWO_AREAS = 2 * len(FILES)
ENOUGH_AREAS = 10_000  # of a repository of 140,000 files


def test_equal_seeds_give_equal_commits_and_others_do_not(tmp_path: Path) -> None:
    first, again, other = (
        repository(tmp_path / name, files=120, commits=4, seed=seed) for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert list(first) == ["c0", "c1", "c2", "c3"]
    assert first == again
    assert not set(first.values()) & set(other.values())


def test_the_first_commit_has_the_asked_number_of_files(tmp_path: Path) -> None:
    made = repository(tmp_path / "odd", files=TWO_AREAS + 5)
    assert len(git(tmp_path / "odd", "ls-tree", "-r", "--name-only", made["c0"]).splitlines()) == TWO_AREAS + 5


def test_later_commits_edit_add_move_and_delete(tmp_path: Path) -> None:
    repository(tmp_path / "busy", files=200, commits=2)
    changes = git(tmp_path / "busy", "diff-tree", "-r", "-M", "--name-status", "main~1", "main").splitlines()
    assert {change[0] for change in changes} == {"M", "A", "R", "D"}


def test_areas_have_names_of_their_own() -> None:
    assert len({Area(number, 0).entity.lower() for number in range(ENOUGH_AREAS)}) == ENOUGH_AREAS


def test_every_file_is_parsed_without_an_error_and_gives_points(tmp_path: Path) -> None:
    repository(tmp_path / "source", files=TWO_AREAS)
    settings = Settings(home=tmp_path / "home", embedder=EmbedderSettings(provider="lexical-only"), workers=1)
    configured = RepositorySettings(id="synthetic", location=str(tmp_path / "source"), ref="main")
    _, reports = run_stages(settings, index_label("synthetic", "main"), configured)
    counts = {report.stage: report.counts for report in reports}
    assert counts["discovered_files"]["indexed"] == TWO_AREAS
    assert counts["descriptions"]["kind_other"] == 0
    health = contents_of(settings.home, "synthetic@main", ()).aspects["manifest"]
    unsound = {name: value for name, value in health.items() if name.startswith("parse health") and value != "0"}
    assert set(unsound) == {"parse health ok"}
