"""`rag-assets reset`: what goes, what stays, and that nothing goes by accident."""

from __future__ import annotations

from pathlib import Path

import pytest
from dagster import DagsterInstance

from rag_assets.defs.in_process import open_instance
from rag_assets.index.gc import referenced_blobs
from rag_assets.pipeline.build import label_lock
from rag_assets_tests.cli.conftest import FILES, CommandLine, index_without_dagster, new_repository
from rag_assets_tests.git_repository import Repository


def blobs(cli: CommandLine) -> set[str]:
    return {path.name for path in cli.home.blobs.glob("??/*")}


@pytest.fixture
def two(cli: CommandLine, repository: Repository, tmp_path: Path) -> CommandLine:
    """Labels shop@main and store@main, which share one file and have others of their own."""
    shared = {"README.md": FILES["README.md"], "src/Store.cs": "public class Store { }\n"}
    index_without_dagster(cli.home, repository, "shop")
    index_without_dagster(cli.home, new_repository(tmp_path / "store", shared), "store")
    return cli


def test_a_label_goes_with_what_only_it_needed(two: CommandLine) -> None:
    before = blobs(two)
    done = two.run("reset", "shop", "--yes")
    assert done.code == 0
    assert "removed shop@main\n" in done.out and "freed " in done.out
    assert two.home.known_labels() == ["store@main"]
    assert blobs(two) == referenced_blobs(two.home) < before
    assert len(blobs(two)) == 2
    assert two.run("search", "store", "--label", "store").code == 0


def test_the_partition_goes_too(two: CommandLine) -> None:
    with open_instance(two.home) as instance:
        instance.add_dynamic_partitions("index_label", ["shop@main", "store@main"])
    assert two.run("reset", "shop@main", "--yes").code == 0
    with DagsterInstance.from_config(str(two.home.dagster)) as instance:
        assert instance.get_dynamic_partitions("index_label") == ["store@main"]


def test_everything_goes_and_can_be_made_again(two: CommandLine, repository: Repository) -> None:
    assert two.run("reset", "--all", "--cache", "--yes").code == 0
    assert (two.home.known_labels(), blobs(two), two.home.cache.exists()) == ([], set(), False)
    index_without_dagster(two.home, repository, "shop")
    assert two.run("search", "refund").code == 0


def test_the_cache_alone(two: CommandLine) -> None:
    assert two.run("reset", "--cache", "--yes").code == 0
    assert not two.home.cache.exists()
    assert two.home.known_labels() == ["shop@main", "store@main"]


@pytest.mark.parametrize(
    ("words", "code", "expected"),
    [
        pytest.param(["shop"], 2, "this would remove shop@main; say so with --yes", id="without a terminal to ask on"),
        pytest.param(["shop", "--all", "--yes"], 2, "not both", id="labels and --all"),
        pytest.param(["shpo@main", "--yes"], 1, "did you mean 'shop@main'?", id="misspelled"),
    ],
)
def test_nothing_goes_by_accident(two: CommandLine, words: list[str], code: int, expected: str) -> None:
    done = two.run("reset", *words)
    assert done.code == code
    assert expected in " ".join(done.err.replace("│", " ").split())
    assert two.home.known_labels() == ["shop@main", "store@main"]


def test_a_label_that_is_being_built_stays_whole(two: CommandLine) -> None:
    with label_lock(two.home, "shop@main"):
        done = two.spawn("reset", "--all", "--yes")
    assert done.code == 1
    assert "shop@main is being indexed by process" in done.err
    assert two.run("search", "refund", "--label", "shop").code == 0


def test_documents_are_kept_while_another_label_is_built(two: CommandLine) -> None:
    """A build writes documents before the table that names them: they must not be swept in between."""
    before = blobs(two)
    with label_lock(two.home, "store@main"):
        done = two.spawn("reset", "shop", "--yes")
    assert done.code == 0
    assert "documents were kept for now: store@main is being indexed" in done.err
    assert blobs(two) == before
    assert two.home.known_labels() == ["store@main"]
