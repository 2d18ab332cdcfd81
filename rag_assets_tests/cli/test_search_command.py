"""`rag-assets search`: hits with their evidence, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag_assets.index.layout import IndexHome, require_whole_record, sealed_record
from rag_assets_tests.cli.conftest import (
    CommandLine,
    Indexed,
    Outcome,
    index_without_dagster,
    new_repository,
)
from rag_assets_tests.git_repository import Repository

ANSWER_KEYS = {
    "query",
    "label",
    "mode",
    "generation",
    "commit",
    "run_id",
    "head",
    "stale",
    "sources",
    "understood",
    "filters",
    "warnings",
    "similar_to",
    "hits",
}
HIT_KEYS = {
    "rank",
    "label",
    "path",
    "start_line",
    "end_line",
    "symbol",
    "kind",
    "score",
    "point_id",
    "semantic_id",
    "section",
    "part",
    "commit",
    "date",
    "text",
}


def paths(done: Outcome) -> list[str]:
    return [hit["path"] for hit in done.json["hits"]]


def test_a_hit_shows_where_what_and_how_good(indexed: Indexed) -> None:
    done = indexed.cli.run("search", "refund an order")
    assert done.code == 0
    first = done.out.splitlines()[0]
    assert first.startswith(" 1  src/Orders/OrderService.cs:6-8  Shop.Orders.OrderService  Service  ")
    assert "Purpose: Cancels and refunds orders." in done.out


def test_every_answer_says_what_it_was_read_from(indexed: Indexed) -> None:
    """Label, commit, generation, run, and the indexed commit beside the head of the ref."""
    *_, footer, staleness = indexed.cli.run("search", "refund").out.splitlines()
    commit = indexed.repository.git("rev-parse", "--short=10", "HEAD")
    assert footer.startswith(f"shop@main  commit {commit}  generation ")
    assert footer.endswith("run made-by-a-test")
    assert staleness == f"fresh: indexed {commit} is the head"


def test_the_json_object(indexed: Indexed) -> None:
    done = indexed.cli.run("search", "refund", "--json", "--mode", "bm25")
    found = done.json
    commit = indexed.repository.git("rev-parse", "HEAD")
    assert {key: found[key] for key in ("query", "label", "mode", "commit", "head", "stale", "run_id")} == {
        "query": "refund",
        "label": "shop@main",
        "mode": "bm25",
        "commit": commit,
        "head": commit,
        "stale": False,
        "run_id": "made-by-a-test",
    }
    assert found["generation"].endswith(found["generation"][-6:])
    assert set(found) == ANSWER_KEYS
    assert set(found["hits"][0]) == HIT_KEYS
    assert (found["hits"][0]["start_line"], found["hits"][0]["end_line"]) == (6, 8)


def test_explain_adds_scores_and_timings(indexed: Indexed) -> None:
    found = indexed.cli.run("search", "refund", "--json", "--explain").json
    assert {"bm25"} <= set(found["hits"][0]["scores"])
    assert found["timings"]["total"] > 0
    assert found["candidates"]["bm25"] >= 1
    said = indexed.cli.run("search", "refund", "--explain").out
    assert found["hits"][0]["point_id"] in said
    assert "candidates" in said


def test_an_index_without_vectors_says_so_on_stderr(indexed: Indexed) -> None:
    done = indexed.cli.run("search", "refund", "--mode", "semantic")
    assert done.code == 0
    assert "warning: " in done.err
    assert "warning: " not in done.out


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param(["--path", "src/**"], {"src/Orders/OrderService.cs", "src/Orders/Order.cs"}, id="glob"),
        pytest.param(["--path", "README.md"], {"README.md"}, id="file"),
        pytest.param(["--kind", "service"], {"src/Orders/OrderService.cs"}, id="kind in any case"),
        pytest.param(
            ["--kind", "Service", "--kind", "Markdown"], {"src/Orders/OrderService.cs", "README.md"}, id="kinds"
        ),
        pytest.param(["--language", "markdown"], {"README.md"}, id="language"),
        pytest.param(["--language", "CSharp"], {"src/Orders/OrderService.cs", "src/Orders/Order.cs"}, id="case"),
    ],
)
def test_filters(indexed: Indexed, options: list[str], expected: set[str]) -> None:
    assert set(paths(indexed.cli.run("search", "order orders", "--json", *options))) == expected


def test_an_unknown_kind_names_the_nearest(indexed: Indexed) -> None:
    done = indexed.cli.run("search", "order", "--kind", "Servce")
    assert (done.code, done.out) == (2, "")
    assert "unknown kind 'Servce'; did you mean Service?" in done.err


def test_limit(indexed: Indexed) -> None:
    assert len(paths(indexed.cli.run("search", "order orders", "--json", "--limit", "1"))) == 1


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        pytest.param(["zzzqqqxxx"], "nothing found", id="unknown word"),
        pytest.param(["order", "--language", "cobol"], "no section has language cobol", id="absent language"),
        pytest.param(["order", "--path", "nowhere/**"], "nowhere/**", id="absent path"),
    ],
)
def test_nothing_found_is_exit_code_4_with_a_reason(indexed: Indexed, words: list[str], reason: str) -> None:
    done = indexed.cli.run("search", *words)
    assert done.code == 4
    assert reason in done.err


def test_nothing_found_as_json_is_still_an_object(indexed: Indexed) -> None:
    done = indexed.cli.run("search", "zzzqqqxxx", "--json")
    assert (done.code, done.json["hits"]) == (4, [])


@pytest.mark.parametrize("wanted", ["shop@main", "shop"], ids=["the label", "its repository"])
def test_a_label_can_be_named(indexed: Indexed, wanted: str) -> None:
    assert indexed.cli.run("search", "refund", "--label", wanted, "--json").json["label"] == "shop@main"


def test_a_misspelled_label_is_answered_with_the_near_one(indexed: Indexed) -> None:
    done = indexed.cli.run("search", "refund", "--label", "shpo@main")
    assert done.code == 1
    assert "did you mean 'shop@main'?" in done.err


def test_several_labels_need_a_choice_that_the_folder_can_make(cli: CommandLine, tmp_path: Path) -> None:
    first, second = new_repository(tmp_path / "a" / "shop"), new_repository(tmp_path / "b" / "store")
    labels = [index_without_dagster(cli.home, first, "shop"), index_without_dagster(cli.home, second, "store")]
    undecided = cli.run("search", "refund")
    assert undecided.code == 1
    assert "choose one with --label: shop@main, store@main" in undecided.err
    inside = CommandLine(cli.home, second.path / "src" / "Orders")
    assert inside.run("search", "refund", "--json").json["label"] == labels[1]
    assert cli.run("search", "refund", "--label", "shop", "--json").json["label"] == labels[0]


def test_a_new_commit_makes_the_index_stale(cli: CommandLine, repository: Repository) -> None:
    index_without_dagster(cli.home, repository, "shop")
    head = repository.commit({"src/New.cs": "class New { }\n"})
    done = cli.run("search", "refund", "--json")
    assert (done.json["stale"], done.json["head"]) == (True, head)
    assert f"head {head[:10]}; run: rag-assets index shop@main" in cli.run("search", "refund").out


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        pytest.param({"location": "https://host.invalid/shop.git"}, "remote", id="a URL is not asked"),
        pytest.param({"location": "/nowhere/shop"}, "/nowhere/shop is gone", id="the repository is gone"),
        pytest.param(None, "not remembered", id="nothing is remembered"),
    ],
)
def test_an_unknown_head_is_said_with_its_reason(
    cli: CommandLine, repository: Repository, change: dict[str, str] | None, reason: str
) -> None:
    label = index_without_dagster(cli.home, repository, "shop")
    remembered = cli.home.label(label) / "label.json"
    if change is None:
        remembered.unlink()
    else:
        known = json.loads(require_whole_record(remembered.read_bytes()))
        remembered.write_bytes(sealed_record(json.dumps(known | change).encode()))
    done = cli.run("search", "refund", "--json")
    assert (done.json["stale"], done.json["head"]) == (None, None)
    assert reason in cli.run("search", "refund").out


def test_a_deleted_branch_leaves_the_head_unknown(cli: CommandLine, repository: Repository) -> None:
    index_without_dagster(cli.home, repository, "shop")
    repository.git("branch", "--move", "main", "trunk")
    assert "main is gone from the repository" in cli.run("search", "refund").out


def test_without_git_a_search_still_answers(indexed: Indexed, tmp_path: Path) -> None:
    without = CommandLine(indexed.cli.home, indexed.cli.folder, {"PATH": str(tmp_path)})
    done = without.run("search", "refund")
    assert done.code == 0
    assert "head unknown (git is not installed)" in done.out


def test_escape_sequences_of_the_repository_do_not_reach_the_terminal(cli: CommandLine, tmp_path: Path) -> None:
    hostile = new_repository(tmp_path / "shop", {"notes.md": "# Refunds \x1b[2J\n\nPay \x1b]0;title\x07 back.\n"})
    index_without_dagster(cli.home, hostile, "shop")
    done = cli.run("search", "refunds")
    assert done.code == 0
    assert "\x1b" not in done.out and "\x07" not in done.out


def test_a_home_is_found_above_the_current_folder(repository: Repository, tmp_path: Path) -> None:
    """As git finds its repository: an index made at the top is there for every folder below."""
    here = CommandLine(IndexHome(repository.path / ".rag_assets"), repository.path / "src" / "Orders")
    index_without_dagster(here.home, repository, "shop")
    assert here.run("search", "refund", "--json", options=()).json["label"] == "shop@main"
