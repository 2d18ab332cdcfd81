"""`rag-assets eval tokens`: what the answers of a set cost who reads them, and sets that know the lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rag_assets.evaluation.questions import QuestionSetError, load_questions
from rag_assets.evaluation.tokens import NEVER
from rag_assets.index.eval_records import read_run
from rag_assets.index.generations import active_generation
from rag_assets_tests.cli.conftest import CommandLine, index_without_dagster, new_repository

SERVICE = "src/Orders/OrderService.cs"
WITH_SPANS: list[dict[str, Any]] = [
    {"id": "a", "question": "pay back a customer", "relevant": [SERVICE], "spans": [f"{SERVICE}:6-7"]},
    {"id": "b", "question": "invoices total", "relevant": ["db/tables.sql"], "spans": ["db/tables.sql:1"]},
]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    from rag_assets.index.layout import IndexHome

    folder = tmp_path_factory.mktemp("tokens")
    cli = CommandLine(IndexHome(folder / "home"), folder)
    index_without_dagster(cli.home, new_repository(folder / "shop"), "shop")
    return cli


def written(folder: Path, rows: list[dict[str, Any]], name: str = "set.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def test_both_tables_stand_beside_grep_and_are_kept_with_the_run(shop: CommandLine) -> None:
    path = written(shop.folder, WITH_SPANS)
    found = shop.run("eval", "tokens", path, "--json").json
    costs = {cost["name"]: cost for cost in found["tokens"]}
    assert list(costs) == ["outline", "snippet", "source", "grep and read"]
    assert costs["outline"]["expected"] <= costs["snippet"]["expected"] <= costs["source"]["expected"] < NEVER
    assert costs["snippet"]["recall"]["500"] == costs["snippet"]["member_recall"]["500"] == 1.0
    assert costs["outline"]["member_median"] > 0
    run = read_run(active_generation(shop.home, "shop@main").directory, "set")
    assert run is not None and [cost.name for cost in run.tokens] == list(costs)
    shop.run("eval", "run", "--set", path)
    again = read_run(active_generation(shop.home, "shop@main").directory, "set")
    assert again is not None and again.tokens == run.tokens
    said = shop.run("eval", "tokens", path).out
    assert "EXPECTED" in said and "TO THE LINES" in said and "grep and read" in said


def test_the_gate_may_ask_for_the_shares_of_a_set_with_spans(shop: CommandLine) -> None:
    metrics = shop.run("eval", "run", "--set", written(shop.folder, WITH_SPANS), "--json").json["run"]["metrics"]
    assert (metrics["file_recall@500t"], metrics["member_recall@1000t"]) == (1.0, 1.0)
    without = [{key: value for key, value in row.items() if key != "spans"} for row in WITH_SPANS]
    path = written(shop.folder, without, "files.jsonl")
    assert "member_recall@1000t" not in shop.run("eval", "run", "--set", path, "--json").json["run"]["metrics"]
    assert "TO THE LINES" not in shop.run("eval", "tokens", path).out


def test_what_is_not_found_costs_a_whole_context(shop: CommandLine) -> None:
    rows = [{"id": "x", "question": "pay back a customer", "relevant": ["README.md"], "filters": {"path": "src/"}}]
    found = shop.run("eval", "tokens", written(shop.folder, rows, "never.jsonl"), "--json").json["tokens"][0]
    assert (found["expected"], found["recall"]["4000"]) == (NEVER, 0.0)


def test_documentation_gives_questions_with_the_lines_of_their_members(shop: CommandLine) -> None:
    out = shop.folder / "documented.jsonl"
    done = shop.run("eval", "mine", "shop", "--documentation", "--out", out)
    assert done.code == 0, done.err
    assert "eval tokens" in done.err
    (question,) = load_questions(out).questions
    assert question.question == "Pays back what a customer returned."
    assert [str(span) for span in question.spans] == [f"{SERVICE}:6-7"]
    assert shop.run("eval", "tokens", out).code == 0
    assert shop.run("eval", "mine", "shop", "--documentation", "--answers", "--force", "--out", out).code == 2


@pytest.mark.parametrize(
    ("spans", "says"),
    [
        (["src/A.cs"], "names no lines; write PATH:FIRST-LAST"),
        (["src/A.cs:9-3"], "the last line is before the first"),
        ([{"path": "/etc/passwd", "lines": [1, 2]}], "not a file path relative to the repository"),
    ],
)
def test_spans_that_name_no_lines_are_told(tmp_path: Path, spans: list[Any], says: str) -> None:
    path = written(tmp_path, [{"id": "a", "question": "q", "relevant": ["src/A.cs"], "spans": spans}])
    with pytest.raises(QuestionSetError, match=says):
        load_questions(path)


def test_spans_are_part_of_what_is_asked(tmp_path: Path) -> None:
    def fingerprint(**more: Any) -> str:
        row = {"id": "a", "question": "q", "relevant": ["src/A.cs"], **more}
        return load_questions(written(tmp_path, [row])).fingerprint

    lines = {"path": "src/A.cs", "lines": [3, 9]}
    assert fingerprint(spans="src/A.cs:3-9") == fingerprint(spans=[lines]) != fingerprint()
