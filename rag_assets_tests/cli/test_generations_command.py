"""`rag-assets generations …` and `rag-assets gc`: what they say, what they do, and how they end."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from rag_assets.index.generation_refs import tags_of
from rag_assets.index.generations import active_generation, finished_generations, generation_directory
from rag_assets.index.layout import IndexHome
from rag_assets.pipeline.build import label_lock
from rag_assets.pipeline.run_stages import run_stages
from rag_assets_tests.cli.conftest import CommandLine, claimed_bytes
from rag_assets_tests.generation_history import History, new_history

LEXICAL = "--lexical-only"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> History:
    return new_history(tmp_path_factory.mktemp("history"))


@pytest.fixture
def history(original: History, tmp_path: Path) -> History:
    return original.copy(tmp_path)


@pytest.fixture
def cli(history: History, tmp_path: Path) -> CommandLine:
    return CommandLine(history.home, tmp_path)


@pytest.fixture
def two_labels(history: History) -> Iterator[History]:
    history.source.git("branch", "dev")
    run_stages(history.settings, "shop@dev", history.repository.model_copy(update={"ref": "dev"}))
    yield history


def served(history: History) -> str:
    return active_generation(history.home, history.label).manifest.generation_id


def test_the_list_says_what_each_is(cli: CommandLine, history: History) -> None:
    cli.run("generations", "tag", history.commits[0][:10], "v1")
    (generation_directory(history.home, history.label, "20230101T000000Z_main_00000000_000000")).mkdir()
    (label,) = cli.run("generations", "list", "--json").json["labels"]
    found = {entry["generation_id"]: entry for entry in label["generations"]}
    assert [found[known]["state"] for known in history.ids] == ["finished", "previous", "active"]
    assert found[history.ids[0]]["tags"] == ["v1"]
    assert found["20230101T000000Z_main_00000000_000000"]["state"] == "unfinished"
    active = found[history.ids[2]]
    assert (active["commit_sha"], active["embedding_model"]) == (history.commits[2], "lexical-only")
    assert active["points"] > 0 and 0 < active["bytes"] < claimed_bytes(history.home.root)
    text = cli.run("generations", "list", "shop").out
    assert "STATE" in text and "documents, shared by all: " in text
    assert all(known in text for known in history.ids)


def test_a_damaged_manifest_does_not_spoil_the_list(cli: CommandLine, history: History) -> None:
    (generation_directory(history.home, history.label, history.ids[0]) / "manifest.json").write_text("{")
    done = cli.run("generations", "list")
    assert done.code == 0
    assert "damaged" in done.out and f"the manifest of {history.label} {history.ids[0]} cannot be read" in done.out


def test_nothing_indexed_says_what_to_do(tmp_path: Path) -> None:
    empty = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    assert f"run: rag-assets --home {empty.home.root} index" in empty.run("generations", "list").out
    done = empty.run("generations", "rollback")
    assert (done.code, done.out) == (1, "") and "run: rag-assets index" in done.err
    assert empty.run("gc").code == 0


@pytest.mark.usefixtures("without_dagster")
def test_a_rollback_holds_until_there_is_something_new(cli: CommandLine, history: History) -> None:
    done = cli.run("generations", "rollback")
    assert done.code == 0
    assert f"serves {history.ids[1]} now" in done.out
    assert f"rag-assets generations activate {history.ids[2]}" in done.err
    again = cli.run("index", "shop@main", LEXICAL, "--json")
    assert again.code == 0
    (result,) = again.json["results"]
    assert (result["status"], result["generation"]) == ("set-aside", history.ids[1])
    assert f"stays at {history.ids[1]}" in again.err and "--force" in again.err
    assert served(history) == history.ids[1]
    assert cli.run("status", "--json").json["labels"][0]["set_aside"] == history.ids[2]
    assert f"serve it with: rag-assets generations activate {history.ids[2]}" in cli.run("status").out
    history.source.commit({"docs/new.md": "# New\n\nSomething changed.\n"})
    assert cli.run("status", "--json").json["labels"][0]["set_aside"] is None, "the head is a commit nobody judged"
    assert cli.run("index", "shop@main", LEXICAL).code == 0
    assert served(history) not in history.ids


@pytest.mark.usefixtures("without_dagster")
def test_force_ends_a_rollback(cli: CommandLine, history: History) -> None:
    cli.run("generations", "rollback", "shop")
    assert cli.run("index", "shop@main", LEXICAL, "--force").code == 0
    assert served(history) == f"{history.ids[2]}~2"


@pytest.mark.usefixtures("without_dagster")
def test_what_somebody_chose_and_lost_is_said(cli: CommandLine, history: History) -> None:
    cli.run("generations", "rollback")
    shutil.rmtree(generation_directory(history.home, history.label, history.ids[1]) / "shard")
    done = cli.run("index", "shop@main", LEXICAL)
    assert done.code == 1
    assert "which somebody chose and which is damaged" in done.err and "--force" in done.err


@pytest.mark.parametrize("word", ["id", "start of the id", "commit", "label:commit", "previous", "tag"])
def test_the_names_of_a_generation(cli: CommandLine, history: History, word: str) -> None:
    wanted, commit = history.ids[1], history.commits[1]
    assert cli.run("generations", "tag", wanted, "good").code == 0
    words = {
        "id": wanted,
        "start of the id": wanted[:-3],
        "commit": commit[:7],
        "label:commit": f"shop:{commit}",
        "previous": "previous",
        "tag": "good",
    }
    done = cli.run("generations", "activate", words[word], "--json")
    assert done.code == 0, done.err
    assert done.json == {
        "label": "shop@main",
        "active": wanted,
        "commit": commit,
        "left": history.ids[2],
        "changed": True,
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["activate", "nonsense"], "no generation 'nonsense'", id="unknown"),
        pytest.param(["activate", "2024"], "names 3 generations: ", id="ambiguous"),
        pytest.param(["activate", "zoo@main:active"], "no label 'zoo@main'", id="unknown label"),
        pytest.param(["tag", "active", "previous"], "not a tag: 'previous'", id="reserved tag"),
        pytest.param(["tag", "active", "../x"], "not a tag: '../x'", id="path as tag"),
        pytest.param(["untag", "none"], "has no tag 'none'; there are: none", id="no such tag"),
        pytest.param(["compare", "gone", "active"], "no generation 'gone'", id="compare with nothing"),
    ],
)
def test_what_is_not_there_is_explained(cli: CommandLine, words: list[str], message: str) -> None:
    done = cli.run("generations", *words)
    assert (done.code, done.out) == (1, "")
    assert message in done.err and len(done.err.splitlines()) == 1


def test_tags_are_given_once_and_taken_away(cli: CommandLine, history: History) -> None:
    assert cli.run("generations", "tag", history.ids[0], "v1").code == 0
    assert cli.run("generations", "tag", history.ids[0], "v1").code == 0, "again changes nothing"
    done = cli.run("generations", "tag", history.ids[1], "v1")
    assert done.code == 1 and f"tag 'v1' of shop@main is on {history.ids[0]}" in done.err
    assert cli.run("generations", "untag", "v1").code == 0
    assert tags_of(history.home, history.label) == {}


def test_compare_lists_files_and_symbols(cli: CommandLine, history: History) -> None:
    done = cli.run("generations", "compare", "previous", "active")
    assert done.code == 0
    assert "0 changed, 0 removed" in done.out and "src/Refund.cs\n" in done.out and "Shop.Refund" in done.out
    found = cli.run("generations", "compare", history.ids[0], history.ids[2], "--limit", "1", "--json").json
    assert (found["symbols"], len(found["changes"]), found["not_listed"]) == (2, 1, 1)
    assert found["points"]["changed"] > 0 and found["old"]["commit"] == history.commits[0]
    assert "1 more symbols" in cli.run("generations", "compare", history.ids[0], "--limit", "1").err


def test_compare_of_two_labels(cli: CommandLine, two_labels: History) -> None:
    found = cli.run("generations", "compare", "shop@dev", "shop@main", "--json").json
    assert found["equal"] and found["old"]["label"] == "shop@dev" and found["new"]["label"] == "shop@main"
    done = cli.run("generations", "activate", two_labels.commits[2])
    assert done.code == 1 and "names 2 generations: shop@dev:" in done.err


def test_prune_says_what_goes(cli: CommandLine, history: History) -> None:
    (cli.folder / "rag_assets.yaml").write_text("retention: {keep: 1}\n", encoding="utf-8")
    dry = cli.run("generations", "prune", "--dry-run")
    assert f"would delete: shop@main {history.ids[0]}" in dry.out
    assert len(finished_generations(history.home, history.label)) == 3
    found = cli.run("generations", "prune", "shop", "--json").json
    assert [gone["generation_id"] for gone in found["pruned"]] == [history.ids[0]]
    assert set(finished_generations(history.home, history.label)) == set(history.ids[1:])
    assert "nothing to delete" in cli.run("generations", "prune").out
    collected = cli.run("gc")
    assert collected.code == 0
    assert "removed 1 documents" in collected.out and "freed " in collected.out


def test_a_text_that_must_go_is_in_no_file_after_prune_and_gc(cli: CommandLine, history: History) -> None:
    def holding(word: bytes) -> list[str]:
        found = []
        for folder, _, files in os.walk(history.home.root):  # passes over folders that a process is deleting
            for file in files:
                with suppress(FileNotFoundError):
                    found += [file] if word in (Path(folder) / file).read_bytes() else []
        return found

    for text in ("public class Zanzibarquartz {}", "public class Nothing {}"):
        history.source.commit({"src/Once.cs": text})
        run_stages(history.settings, history.label, history.repository)
    gone = b"Zanzibarquartz"
    assert holding(gone)
    cli.run("generations", "prune")
    assert holding(gone), "the build before stays"
    run_stages(history.settings, history.label, history.repository, force=True)
    found = cli.run("generations", "prune", "--served-only", "--json").json["pruned"]
    assert len(found) == 2 and finished_generations(history.home, history.label) == [served(history)]
    cli.run("gc")
    assert holding(gone) == []
    assert cli.run("generations", "rollback").code == 1, "there is nothing to go back to"
    assert cli.run("search", "nothing").code == 0


def test_what_is_being_built_is_left_alone(cli: CommandLine, history: History) -> None:
    with label_lock(history.home, history.label):
        pruned = cli.spawn("generations", "prune")
        collected = cli.spawn("gc", "--json")
    assert pruned.code == 0 and "left alone: shop@main is being indexed by process" in pruned.err
    assert collected.code == 0 and collected.json["kept"][0].startswith("shop@main is being indexed by process")


def test_a_rollback_does_not_wait_for_a_build(cli: CommandLine, history: History) -> None:
    with label_lock(history.home, history.label):
        assert cli.spawn("generations", "rollback").code == 0
    assert served(history) == history.ids[1]
