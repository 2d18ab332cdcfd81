"""docs/json.md names every key of the JSON output of the commands that show something, and no other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_assets.index.layout import IndexHome
from rag_assets_tests.cli.conftest import CommandLine, index_without_dagster, new_repository

PAGE = Path(__file__).parents[2] / "docs" / "json.md"
QUESTIONS = '{"id": "q", "question": "what pays back?", "relevant": "src/Orders/OrderService.cs", "tags": ["a"]}\n'

COMMANDS = {
    "search": "search refund --explain --full --detail source",
    "ask": "ask OrderService? --session s --explain",
    "artifact": "artifact blueprint OrderService",
    "read": "read src/Orders/OrderService.cs",
    "show": "show README.md:1",
    "cite check": "cite check cited.md",
    "explain": "explain src/Orders/OrderService.cs",
    "index": "index ../shop --lexical-only",
    "plan": "plan ../shop --lexical-only",
    "status": "status --skipped --duplicates",
    "validate": "validate",
    "doctor": "doctor",
    "config check": "config check",
    "config settings": "config settings",
    "generations list": "generations list",
    "generations compare": "generations compare active active --graph",
    "graph around": "graph around OrderService",
    "graph path": "graph path OrderService OrderService.RefundOrder",
    "graph impact": "graph impact OrderService",
    "graph uses": "graph uses OrderService",
    "graph list": "graph list service",
    "graph overview": "graph overview",
    "impact": "impact --since HEAD~1 --only code,test",
    "log": "log",
    "trace": "trace",
    "replay": "replay",
    "session list": "session list",
    "agent list": "agent list",
    "agent show": "agent show architect",
    "agent validate": "agent validate",
    "pipeline list": "pipeline list",
    "pipeline show": "pipeline show code_question_answering",
    "pipeline graph": "pipeline graph code_question_answering",
    "pipeline validate": "pipeline validate",
    "eval run": "eval run --set questions.jsonl",
    "eval tokens": "eval tokens spans.jsonl",
    "eval compare": "eval compare active active --set questions.jsonl",
    "eval report": "eval report",
}
OPEN = {"pipeline show": {"steps", "settings", "origins"}, "generations compare": {"changes"}}
"""Entries whose keys are those of something that another page describes."""


def documented() -> dict[str, set[str]]:
    """Command → the keys in the first column of its table."""
    found: dict[str, set[str]] = {}
    for part in re.split(r"^### ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        title, _, text = part.partition("\n")
        rows = re.findall(r"^\| (`.*?) \| ", text.partition("\n## ")[0], flags=re.MULTILINE)
        for command in re.findall(r"`([^`]+)`", title):
            found[command] = {key for row in rows for key in re.findall(r"`([^`]+)`", row)}
    return found


def keys_of(value: dict[str, Any], closed: set[str]) -> Iterator[str]:
    """The keys of an object, and those of the entries of its lists."""
    for key, inner in value.items():
        yield key
        if isinstance(inner, list) and key not in closed:
            yield from (f"{key}[].{name}" for entry in inner if isinstance(entry, dict) for name in entry)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """An index with a question in its log, in a session, and a run of a question set."""
    base = tmp_path_factory.mktemp("json")
    repository = new_repository(base / "shop")
    repository.commit({"src/Orders/Order.cs": "namespace Shop.Orders;\n\npublic class Order { public int No; }\n"})
    (base / "here").mkdir()
    (base / "here" / "questions.jsonl").write_text(QUESTIONS, encoding="utf-8")
    with_spans = QUESTIONS.replace('"tags"', '"spans": "src/Orders/OrderService.cs:6-7", "tags"')
    (base / "here" / "spans.jsonl").write_text(with_spans, encoding="utf-8")
    (base / "here" / "cited.md").write_text("The refund: src/Orders/OrderService.cs:6\n", encoding="utf-8")
    cli = CommandLine(IndexHome(base / "home"), base / "here")
    index_without_dagster(cli.home, repository, "shop")
    for words in (COMMANDS["ask"], COMMANDS["eval run"]):
        assert cli.run(*words.split(), "--json").code == 0
    return cli


@pytest.mark.parametrize("command", COMMANDS)
def test_every_key_is_documented(asked: CommandLine, command: str) -> None:
    done = asked.run(*COMMANDS[command].split(), "--json")
    found = set(keys_of(done.json, OPEN.get(command, set())))
    known = documented()[command]
    assert found - known == set(), "missing in docs/json.md"
    together = {"config check", "config settings", "agent list", "agent show"}  # two commands in one table
    if command not in together:
        empty = {key for key, value in done.json.items() if value in ([], None)}
        gone = {key for key in known - found if key.partition("[]")[0] not in empty}
        assert gone == set(), "in docs/json.md alone"


def test_every_command_that_shows_something_is_documented() -> None:
    assert set(COMMANDS) <= documented().keys()
