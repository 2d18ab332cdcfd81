"""Every commit of a history, built on what the home has from the commits before, gives what a clean build gives."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from equality import Contents, contents_of, differences, ghosts, questions_for
from history import write_history

from rag_assets.index.layout import IndexHome, index_label
from rag_assets.pipeline.build import IndexBuild, StageReport
from rag_assets.pipeline.collect_garbage import collect_garbage
from rag_assets.pipeline.run_stages import run_stages
from rag_assets.settings import EmbedderSettings, RepositorySettings, Settings
from rag_assets_tests.integration.sample_history import COMMITS


@dataclass(frozen=True)
class Replay:
    """A repository with the sample history, and homes to build it in."""

    source: Path
    ids: dict[str, str]

    def build(self, home: Path, name: str, branch: str = "main") -> tuple[IndexBuild, dict[str, StageReport]]:
        repository = RepositorySettings(id="shop", location=str(self.source), ref=branch)
        label = index_label("shop", branch)
        build, reports = run_stages(settings(home), label, repository, commit=self.ids[name])
        return build, {report.stage: report for report in reports}


def settings(home: Path) -> Settings:
    return Settings(home=home, embedder=EmbedderSettings(provider="lexical-only"), workers=1)


def compared(home: Path, clean: Path, label: str) -> tuple[Contents, Contents]:
    questions = questions_for(clean, label)
    return contents_of(home, label, questions), contents_of(clean, label, questions)


@pytest.fixture(scope="module")
def replay(tmp_path_factory: pytest.TempPathFactory) -> Replay:
    source = tmp_path_factory.mktemp("source") / "shop.git"
    return Replay(source, write_history(source, COMMITS))


@pytest.fixture(scope="module")
def living(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home that goes through all commits, in the order of the tests."""
    return tmp_path_factory.mktemp("living")


@pytest.mark.rule("R2", "C03")
@pytest.mark.parametrize("name", [commit.name for commit in COMMITS if commit.branch == "main"])
def test_a_commit_gives_what_a_clean_build_gives(replay: Replay, living: Path, tmp_path: Path, name: str) -> None:
    replay.build(living, name)
    replay.build(tmp_path, name)
    found, wanted = compared(living, tmp_path, "shop@main")
    assert found.commit == replay.ids[name]
    assert differences(found, wanted) == []


def test_a_branch_costs_what_it_has_of_its_own(replay: Replay, tmp_path: Path) -> None:
    replay.build(tmp_path / "home", "revert")
    _, reports = replay.build(tmp_path / "home", "work on a branch", "feature")
    assert reports["segments"].work["parsed"] == 1
    replay.build(tmp_path / "clean", "work on a branch", "feature")
    assert differences(*compared(tmp_path / "home", tmp_path / "clean", "shop@feature")) == []


def test_switching_a_label_to_another_line_of_history_and_back(replay: Replay, tmp_path: Path) -> None:
    """What a reset or a forced push does to a branch."""
    for name in ("only a mode", "revert", "only a mode", "edit, add and delete"):
        replay.build(tmp_path / "home", name)
    replay.build(tmp_path / "clean", "edit, add and delete")
    assert differences(*compared(tmp_path / "home", tmp_path / "clean", "shop@main")) == []


def test_the_history_of_a_home_leaves_nothing_behind(replay: Replay, living: Path) -> None:
    for commit in COMMITS[-2:]:
        replay.build(living, commit.name)
    collect_garbage(IndexHome(living), settings(living))
    assert ghosts(living, settings(living)) == []
