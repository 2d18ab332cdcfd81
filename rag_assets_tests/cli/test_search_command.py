"""`rag-assets search`: hits with their evidence, for people and for programs."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from rag_assets.index.layout import IndexHome, require_whole_record, sealed_record
from rag_assets.models.openai_compat.token_counting import estimate_tokens
from rag_assets_tests.cli.conftest import (
    CommandLine,
    Indexed,
    Outcome,
    index_without_dagster,
    new_repository,
)
from rag_assets_tests.git_repository import Repository

ANSWER_KEYS = {"query", "label", "mode", "commit", "stale", "warnings", "known_words", "hits"}
HIT_KEYS = {"rank", "path", "lines", "symbol", "kind", "members", "more_members"}
FULL_ANSWER_KEYS = ANSWER_KEYS | {"generation", "run_id", "head", "understood", "filters", "sources", "similar_to"}
FULL_HIT_KEYS = HIT_KEYS | {
    *("label", "name", "start_line", "end_line", "section", "part", "score", "point_id", "semantic_id"),
    *("document_uri", "slice_uri", "description_uri", "commit", "date", "text", "work_tree"),
}


def paths(done: Outcome) -> list[str]:
    return [hit["path"] for hit in done.json["hits"]]


def test_a_hit_shows_where_what_and_the_lines_that_answer(indexed: Indexed) -> None:
    done = indexed.cli.run("search", "refund an order")
    assert done.code == 0
    first, comment, declaration, *_ = done.out.splitlines()
    assert first == " 1  src/Orders/OrderService.cs:6-7  Shop.Orders.OrderService  Service"
    assert comment == "    6  /// <summary>Pays back what a customer returned.<…"
    assert declaration == "    7  public decimal RefundOrder(int orderId) => 0m;"


def test_the_last_lines_say_how_new_it_is_and_what_to_do_next(indexed: Indexed) -> None:
    *_, staleness, following = indexed.cli.run("search", "refund").out.splitlines()
    commit = indexed.repository.git("rev-parse", "--short=10", "HEAD")
    assert staleness == f"shop@main  fresh: indexed {commit} is the head"
    assert following.startswith("next: rag-assets ") and following.endswith("read src/Orders/OrderService.cs:6-7")
    words = shlex.split(following.removeprefix("next: rag-assets"))
    assert "RefundOrder" in indexed.cli.run(*words, options=()).out


def test_explain_names_generation_and_run(indexed: Indexed) -> None:
    said = indexed.cli.run("search", "refund", "--explain").out
    commit = indexed.repository.git("rev-parse", "--short=10", "HEAD")
    assert f"shop@main  commit {commit}  generation " in said and "run made-by-a-test" in said
    assert "section of lines 6-8" in said
    assert "section of lines" not in indexed.cli.run("search", "refund").out


def test_the_json_object_is_small(indexed: Indexed) -> None:
    done = indexed.cli.run("search", "refund", "--json", "--mode", "bm25")
    found = done.json
    assert {key: found[key] for key in ("query", "label", "mode", "commit", "stale")} == {
        "query": "refund",
        "label": "shop@main",
        "mode": "bm25",
        "commit": indexed.repository.git("rev-parse", "HEAD"),
        "stale": False,
    }
    assert set(found) == ANSWER_KEYS
    hit = found["hits"][0]
    assert set(hit) == HIT_KEYS
    assert (hit["lines"], hit["members"]) == ([6, 7], [[6, 7, "decimal RefundOrder(int orderId)"]])
    assert done.out.count("\n") == 1


def test_the_full_json_object_has_ids_and_addresses(indexed: Indexed) -> None:
    found = indexed.cli.run("search", "refund", "--json", "--full", "--mode", "bm25").json
    commit = indexed.repository.git("rev-parse", "HEAD")
    assert (found["head"], found["run_id"]) == (commit, "made-by-a-test")
    assert found["generation"].endswith(found["generation"][-6:])
    hit = found["hits"][0]
    assert (set(found), set(hit)) == (FULL_ANSWER_KEYS, FULL_HIT_KEYS)
    assert (hit["start_line"], hit["end_line"]) == (6, 8)
    assert hit["members"][0]["name"] == "RefundOrder"


def test_full_is_for_json_only(indexed: Indexed) -> None:
    done = indexed.cli.run("search", "refund", "--full")
    assert done.code == 2 and "--full says more in --json only" in done.err


@pytest.mark.parametrize(
    ("detail", "expected"),
    [
        ("source", ["6  /// <summary>Pays back what a customer returned.</summary>", "7  public decimal RefundOrder"]),
        ("snippet", ["6  /// <summary>Pays back what a customer returned.<…", "7  public decimal RefundOrder"]),
        ("outline", ["6-7  decimal RefundOrder(int orderId)"]),
        ("places", []),
    ],
)
def test_the_reader_chooses_how_much_is_said(indexed: Indexed, detail: str, expected: list[str]) -> None:
    said = indexed.cli.run("search", "refund an order", "--detail", detail, "--limit", "1").out.splitlines()
    below = [line.strip() for line in said[1:-2] if "more member" not in line]
    assert len(below) == len(expected)
    assert all(line.startswith(wanted) for line, wanted in zip(below, expected, strict=True))


def test_a_budget_of_tokens_is_kept_by_saying_less(indexed: Indexed) -> None:
    sizes = []
    for budget in (400, 200, 150, 100, 60, 30, 16):
        said = indexed.cli.run("search", "order orders refund", "--max-tokens", str(budget)).out
        sizes.append(sum(estimate_tokens(said.splitlines())))
        assert sizes[-1] <= budget
        assert "…" not in said.splitlines()[-1]
    assert sizes == sorted(sizes, reverse=True)


def test_a_budget_for_no_place_says_how_many_hits_there_are_and_what_they_cost(indexed: Indexed) -> None:
    said = indexed.cli.run("search", "order orders refund", "--max-tokens", "40").out.splitlines()
    assert said[-1].startswith(f"{len(paths(indexed.cli.run('search', 'order orders refund', '--json')))} hits; ")
    assert any(line.startswith("src/Orders/  ") for line in said)
    needed = said[-1].rpartition(" ")[2]
    enough = indexed.cli.run("search", "order orders refund", "--max-tokens", needed).out
    assert "src/Orders/OrderService.cs:" in enough
    as_json = indexed.cli.run("search", "order orders refund", "--json", "--max-tokens", "60").json
    assert as_json["hits"] == [] and as_json["found"] >= 2


def test_a_symbol_has_one_hit_in_a_file(cli: CommandLine, tmp_path: Path) -> None:
    methods = "".join(
        f"    /// <summary>Refunds order number {n}, and says so in a long sentence about orders.</summary>\n"
        f"    public decimal RefundOrderNumber{n}(int order, decimal amount, string reason) => {n}m;\n\n"
        for n in range(60)
    )
    files = {"src/Refunds.cs": f"namespace Shop;\n\npublic class Refunds\n{{\n{methods}}}\n"}
    index_without_dagster(cli.home, new_repository(tmp_path / "shop", files), "shop")
    found = cli.run("search", "refund order number", "--json").json["hits"]
    assert [hit["path"] for hit in found] == ["src/Refunds.cs"]
    said = cli.run("search", "refund order number").out
    assert "Shop.Refunds (part " in said and "more members" in said
    whole = cli.run("search", "refund order number", "--json", "--full").json["hits"][0]
    assert re.fullmatch(r"Shop\.Refunds \(part \d+ of \d+, lines \d+–\d+\)", whole["name"])


def test_a_type_in_many_parts_leaves_room_for_others_and_is_the_same_whatever_the_limit(
    cli: CommandLine, tmp_path: Path
) -> None:
    methods = "".join(f"    public decimal Number{n}(int order) => Cancel(order, {n});\n" for n in range(600))
    files = {f"src/{name}.cs": f"namespace Shop;\n\npublic class {name}\n{{\n}}\n" for name in "BC"}
    files["src/A.cs"] = f"namespace Shop;\n\npublic class A\n{{\n{methods}}}\n"
    index_without_dagster(cli.home, new_repository(tmp_path / "shop", files), "shop")
    for limit in ("1", "2", "3"):
        listed = paths(cli.run("search", "path:src/", "--json", "--limit", limit))
        assert listed == [f"src/{name}.cs" for name in "ABC"][: int(limit)]
    first = [cli.run("search", "Cancel order", "--json", "--limit", limit).json["hits"][0] for limit in ("1", "2", "9")]
    assert first[0] == first[1] == first[2]


def test_what_helps_is_not_the_mode_that_was_asked_for(indexed: Indexed) -> None:
    assert "--mode hybrid" in indexed.cli.run("search", "zzyzx", "--mode", "bm25").err
    done = indexed.cli.run("search", "zzyzx")
    assert done.code == 4 and "--mode hybrid" not in done.err and "rag-assets status --skipped" in done.err


def test_parts_of_a_type_are_told_by_their_name(cli: CommandLine, tmp_path: Path) -> None:
    part = "namespace Shop;\n\npublic partial class Refunds\n{{\n    public int {0}() => 1;\n}}\n"
    files = {"src/A.cs": part.format("FromCard"), "src/B.cs": part.format("FromBank")}
    index_without_dagster(cli.home, new_repository(tmp_path / "shop", files), "shop")
    for words in (
        ("search", "refunds from"),
        ("search", "refunds from", "--json"),
        ("show", "src/A.cs:5", "--part", "source"),
    ):
        said = cli.run(*words).out
        assert "Shop.Refunds" in said
        assert "Refunds~" not in said.partition("--- payload")[0]


def test_lines_of_a_file_that_changed_since_are_those_that_were_indexed(
    cli: CommandLine, repository: Repository
) -> None:
    index_without_dagster(cli.home, repository, "shop")
    service = repository.path / "src/Orders/OrderService.cs"
    service.write_text("// nothing here\n" * 20, encoding="utf-8")
    said = cli.run("search", "refund an order").out
    assert "7  public decimal RefundOrder(int orderId) => 0m;" in said
    assert "nothing here" not in said
    assert said.splitlines()[-2].endswith("1 file differs from HEAD and is not indexed")


def test_explain_adds_scores_and_timings(indexed: Indexed) -> None:
    found = indexed.cli.run("search", "refund", "--json", "--full", "--explain").json
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
    done = cli.run("search", "refund", "--json", "--full")
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
    done = cli.run("search", "refund", "--json", "--full")
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
