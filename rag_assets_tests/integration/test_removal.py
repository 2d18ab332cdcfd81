"""Branches and repositories that are removed leave nothing, whatever the rest of the home has in common with them."""

from __future__ import annotations

from pathlib import Path

import pytest
from equality import contents_of, differences, ghosts, questions_for
from history import write_history

from rag_assets.defs.in_process import open_instance
from rag_assets.index.layout import IndexHome
from rag_assets.pipeline.run_stages import run_stages
from rag_assets.settings import RepositorySettings, Settings
from rag_assets_tests.cli.conftest import CommandLine
from rag_assets_tests.integration.sample_history import COMMITS

MAIN, FEATURE = "shop@main", "shop@feature"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("source") / "shop.git"
    write_history(path, COMMITS)
    return path


@pytest.fixture
def cli(source: Path, tmp_path: Path) -> CommandLine:
    """A home with both branches, indexed by the command."""
    made = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    for branch in ("main", "feature"):
        done = made.run("index", source, "--id", "shop", "--ref", branch, "--lexical-only")
        assert done.code == 0, done.err
    return made


def remove(cli: CommandLine, label: str) -> None:
    for arguments in (("reset", label, "--yes"), ("gc",)):
        done = cli.run(*arguments)
        assert done.code == 0, done.err


def partitions(home: IndexHome) -> set[str]:
    with open_instance(home) as instance:
        return set(instance.get_dynamic_partitions("index_label"))


def documents(home: IndexHome) -> set[str]:
    return {path.name for path in home.blobs.glob("*/*")}


def test_what_is_removed_leaves_nothing(source: Path, cli: CommandLine, tmp_path: Path) -> None:
    """First a branch, and the home is as if it had never been; then the rest, and nothing is left."""
    settings = Settings(home=cli.home.root)
    alone = IndexHome(tmp_path / "alone")
    repository = RepositorySettings(id="shop", location=str(source), ref="main")
    run_stages(settings.without_vectors().model_copy(update={"home": alone.root}), MAIN, repository)
    remove(cli, FEATURE)
    questions = questions_for(alone.root, MAIN)
    found, wanted = (contents_of(home.root, MAIN, questions) for home in (cli.home, alone))
    assert differences(found, wanted) == []
    assert documents(cli.home) == documents(alone)
    assert ghosts(cli.home.root, settings) == []
    assert (cli.home.known_labels(), partitions(cli.home)) == ([MAIN], {MAIN})

    remove(cli, MAIN)
    assert documents(cli.home) == set()
    assert ghosts(cli.home.root, settings) == []
    assert (cli.home.known_labels(), partitions(cli.home)) == ([], set())
    assert cli.run("search", "order").code != 0
