"""`rag-assets status`: what is served, how old it is, what was left out, what is unfinished."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from rag_assets.cli import status
from rag_assets.index.layout import IndexHome, read_record, write_record
from rag_assets_tests.cli.conftest import CommandLine, Indexed, claimed_bytes, index_without_dagster, new_repository
from rag_assets_tests.git_repository import Repository

KEYS = {
    "label",
    "location",
    "active",
    "building_by",
    "unfinished",
    "refused",
    "set_aside",
    "quality",
    "bytes",
    "ref",
    "commit",
    "commit_date",
    "built_at",
    "head",
    "head_unknown",
    "stale",
    "changed_files",
    "other_configuration",
    "run_id",
    "embedding_model",
    "lexical_only",
    "capabilities",
    "retrieval_modes",
    "counts",
    "parse_health",
    "skipped_by_reason",
}


def test_the_json_object(indexed: Indexed) -> None:
    done = indexed.cli.run("status", "--json")
    (found,) = done.json["labels"]
    assert done.json["home"] == str(indexed.cli.home.root)
    assert set(found) == KEYS
    assert (found["label"], found["ref"], found["stale"], found["lexical_only"]) == ("shop@main", "main", False, True)
    assert found["location"] == str(indexed.repository.path.resolve())
    assert (found["counts"]["files"], found["skipped_by_reason"]) == (4, {"minified": 1})
    assert (found["building_by"], found["unfinished"]) == (None, None)
    assert (found["capabilities"], found["retrieval_modes"]) == (["keyword", "graph", "history"], ["bm25"])
    assert 0 < found["bytes"] < claimed_bytes(indexed.cli.home.root)  # what is on the disk, not what sparse files claim


def test_skipped_files_are_listed_with_the_rule_that_matched(indexed: Indexed) -> None:
    (found,) = indexed.cli.run("status", "--json", "--skipped").json["labels"]
    assert [(row["path"], row["reason"], bool(row["detail"])) for row in found["skipped"]] == [
        ("web/site.min.js", "minified", True)
    ]
    assert "web/site.min.js" in indexed.cli.run("status", "--skipped").out
    assert "web/site.min.js" not in indexed.cli.run("status").out


def test_for_people(indexed: Indexed) -> None:
    said = indexed.cli.run("status").out
    commit = indexed.repository.git("rev-parse", "--short=10", "HEAD")
    assert said.startswith(f"shop@main  {indexed.repository.path.resolve()}\n")
    assert f"{commit} of 2024-05-06T08:00:00Z, fresh" in said
    assert "4 indexed, 1 skipped (minified 1)" in said
    assert "none: keyword search only" in said
    assert "modes        bm25\n" in said


def test_an_index_of_another_configuration_is_named(cli: CommandLine, repository: Repository) -> None:
    def configure(more: str) -> None:
        place = json.dumps(str(repository.path))
        text = f"repositories: [{{id: shop, location: {place}{more}}}]\nembedder: {{provider: lexical-only}}\n"
        (cli.folder / "rag_assets.yaml").write_text(text, encoding="utf-8")

    def said() -> tuple[bool, bool]:
        (found,) = cli.run("status", "--json").json["labels"]
        return found["other_configuration"], "built with another configuration" in cli.run("status").out

    configure("")
    cli.build()
    assert said() == (False, False)
    configure(", confidential_paths: {src/: restricted}")
    assert said() == (True, True)
    cli.build()
    assert said() == (False, False)


def test_a_new_commit_is_seen(cli: CommandLine, repository: Repository) -> None:
    index_without_dagster(cli.home, repository, "shop")
    head = repository.commit({"src/New.cs": "class New { }\n"})
    assert f"stale, head is {head[:10]}" in cli.run("status").out


def test_an_unfinished_build_is_seen_with_the_command_that_continues_it(
    cli: CommandLine, repository: Repository
) -> None:
    label = index_without_dagster(cli.home, repository, "shop")
    candidate = cli.home.label(label) / "candidate.json"
    (cli.home.label(label) / "generations" / "half").mkdir()
    write_record(candidate, read_record(candidate, dict[str, str]) | {"generation_id": "half"})
    assert cli.run("status", "--json").json["labels"][0]["unfinished"] == "half"
    assert "an unfinished build of half continues with: rag-assets index shop@main" in cli.run("status").out


def test_a_generation_that_was_deleted_is_a_problem_not_a_crash(cli: CommandLine, repository: Repository) -> None:
    label = index_without_dagster(cli.home, repository, "shop")
    (manifest,) = (cli.home.label(label) / "generations").glob("*/manifest.json")
    manifest.unlink()
    done = cli.run("status")
    assert done.code == 0
    assert "is not finished or was deleted; run: rag-assets index" in done.out


def test_a_generation_that_goes_meanwhile_is_told_as_it_was(
    cli: CommandLine, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = index_without_dagster(cli.home, repository, "shop")
    (manifest,) = (cli.home.label(label) / "generations").glob("*/manifest.json")
    described = status.describe_label

    def then_pruned(*words: Any, **named: Any) -> dict[str, Any]:
        found = described(*words, **named)
        manifest.unlink()
        return found

    monkeypatch.setattr(status, "describe_label", then_pruned)
    done = cli.run("status", "--json", "--duplicates")
    (found,) = done.json["labels"]
    assert (done.code, found["counts"]["files"], found["other_configuration"]) == (0, 4, False)


DAMAGED = {
    "active.json": r"is damaged: .*: rag-assets generations activate \d+\S+, or run: rag-assets index shop@main$",
    "generations/*/manifest.json": r"of shop@main \S+ cannot be read: .*; run: rag-assets index shop@main$",
    "generations/*/stages/segments.json": r"stages/segments\.json is damaged: .*; run: rag-assets index shop@main$",
    "generations/*/stages/discovered_files.json": r"files\.json is damaged: .*; run: rag-assets index shop@main$",
    "generations/*/discovered_files/*.parquet": r"part-\d+\.parquet is damaged: .*; run: rag-assets index shop@main$",
}
CONTENTS = {
    "empty": b"",
    "cut short": b'{"ge',
    "other bytes": b"\x00\xff" * 40,
    "no UTF-8": b'{"stage": "\xff"}',
    "other JSON": b"[]",
}


@pytest.fixture(scope="module")
def two_labels(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    base = tmp_path_factory.mktemp("two")
    repository = new_repository(base / "shop")
    cli = CommandLine(IndexHome(base / "home"), base)
    for identifier in ("other", "shop"):
        index_without_dagster(cli.home, repository, identifier)
    return cli


@contextmanager
def damaged(cli: CommandLine, name: str, content: bytes) -> Iterator[None]:
    path = next(cli.home.label("shop@main").glob(name))
    whole = path.rename(path.with_name("whole"))  # not written to: equal tables of two labels are one file
    path.write_bytes(content)
    try:
        yield
    finally:
        whole.replace(path)


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_the_problem_of_its_label_alone(two_labels: CommandLine, name: str, content: str) -> None:
    with damaged(two_labels, name, CONTENTS[content]):
        done = two_labels.run("status", "--json", "--skipped")
        shown = two_labels.run("status", "--skipped")
    other, shop = done.json["labels"]
    assert (done.code, shown.code, other["counts"]["files"], "problem" in other) == (0, 0, 4, False)
    assert re.search(DAMAGED[name], shop["problem"])
    assert shop["problem"] in shown.out
    assert ("counts" in shop) == (name not in ("active.json", "generations/*/manifest.json"))  # is served all the same


def test_a_table_that_is_gone_is_the_problem_of_its_label_alone(two_labels: CommandLine) -> None:
    folder = next(two_labels.home.label("shop@main").glob("generations/*/discovered_files"))
    away = folder.rename(folder.with_name("away"))
    try:
        other, shop = two_labels.run("status", "--json", "--skipped").json["labels"]
    finally:
        away.rename(folder)
    assert shop["problem"].endswith("a part is gone; run: rag-assets index shop@main")
    assert "problem" not in other


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("name", ["candidate.json", "label.json"])
def test_a_damaged_note_that_the_next_build_writes_again_is_no_problem(
    two_labels: CommandLine, name: str, content: str
) -> None:
    with damaged(two_labels, name, CONTENTS[content]):
        done = two_labels.run("status", "--json")
    assert (done.code, [entry["counts"]["files"] for entry in done.json["labels"]]) == (0, [4, 4])


@pytest.mark.parametrize("wanted", ["shop", "shop@main"])
def test_one_label_can_be_chosen(indexed: Indexed, wanted: str) -> None:
    assert [entry["label"] for entry in indexed.cli.run("status", "--label", wanted, "--json").json["labels"]] == [
        "shop@main"
    ]


def test_nothing_indexed(cli: CommandLine) -> None:
    assert cli.run("status", "--json").json["labels"] == []
    assert cli.run("status").code == 0
    assert not cli.home.root.exists()  # to look is not to make
