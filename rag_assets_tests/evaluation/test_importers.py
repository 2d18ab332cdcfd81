"""Question sets in the forms of others, and JSON arrays: what is read, and what is said of what cannot be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rag_assets.evaluation.questions import EvalQuestion, QuestionSetError, load_questions

pytestmark = pytest.mark.rule("E24")
HISTORY: dict[str, Any] = {
    "id": "acme/shop#c-1",
    "repo": "acme/shop",
    "snapshot_rev": "b" * 40,
    "type": "commit",
    "query": "round refunds up",
    "relevant": ["src/Refund.cs", "src/Money.cs"],
    "leaky": False,
    "commit": "d" * 40,
}
ANNOTATED: dict[str, Any] = {
    "query": "how are refunds rounded?",
    "relevant": ["src/Refund.cs"],
    "secondary": ["src/Money.cs"],
    "category": "semantic",
}


def written(folder: Path, text: str, name: str = "set.jsonl") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def lines(*items: object) -> str:
    return "".join(json.dumps(item) + "\n" for item in items)


def test_the_history_form(tmp_path: Path) -> None:
    leaky = HISTORY | {"id": "acme/shop#c-2", "leaky": True}
    found = load_questions(written(tmp_path, lines(HISTORY, leaky), "commit.jsonl"))
    assert found.name == "commit"
    assert found.questions[0] == EvalQuestion(
        id="acme/shop#c-1",
        question="round refunds up",
        relevant=("src/Refund.cs", "src/Money.cs"),
        tags=("commit", "non-leaky"),
        repository="acme/shop",
        revision="b" * 40,
        commit="d" * 40,
    )
    assert found.questions[1].tags == ("commit", "leaky")


def test_the_annotated_form_counts_secondary_answers_and_numbers_its_questions(tmp_path: Path) -> None:
    text = json.dumps([ANNOTATED, ANNOTATED | {"query": "other", "secondary": [], "category": "symbol"}], indent=1)
    first, second = load_questions(written(tmp_path, text, "shop.json")).questions
    assert (first.id, first.relevant, first.tags) == ("shop#1", ("src/Refund.cs", "src/Money.cs"), ("semantic",))
    assert (second.id, second.relevant, second.tags) == ("shop#2", ("src/Refund.cs",), ("symbol",))


def test_a_section_is_a_target(tmp_path: Path) -> None:
    item = {"id": "a", "question": "b", "relevant": ["section:docs/guide.md#refunds"]}
    assert load_questions(written(tmp_path, lines(item))).questions[0].relevant == ("section:docs/guide.md#refunds",)


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        pytest.param(lines(HISTORY, HISTORY), "s.jsonl", ":2: id 'acme/shop#c-1' is that of line 1", id="same id"),
        pytest.param(
            lines(HISTORY | {"leeky": 1}), "s.jsonl", ":1: unknown key 'leeky'; did you mean 'leaky'", id="key"
        ),
        pytest.param(
            lines(HISTORY | {"relevant": 3}), "s.jsonl", ":1: relevant: must be a list, found 3", id="answers"
        ),
        pytest.param(
            lines({"query": "x"}), "s.jsonl", ":1: relevant: name at least one path", id="annotated without answers"
        ),
        pytest.param(lines(HISTORY | {"repo": ""}), "s.jsonl", ":1: repository: must not be empty", id="no repository"),
        pytest.param(lines(HISTORY) + "{", "s.jsonl", ":2: not one JSON object a line", id="half a line"),
        pytest.param("[]", "s.json", ": no questions in it", id="empty array"),
        pytest.param("{}", "s.json", ":1: must be a list", id="object"),
        pytest.param("", "s.json", ":1: not valid JSON", id="empty file"),
        pytest.param('[\n{"query": "x",\n oops}]', "s.json", ":3: not valid JSON", id="malformed item"),
        pytest.param("[1 2]", "s.json", ":1: not valid JSON: Expecting ',' delimiter", id="no comma"),
        pytest.param("[1,]", "s.json", ":1: not valid JSON", id="comma at the end"),
        pytest.param("[1", "s.json", ":1: not valid JSON: Expecting ',' delimiter", id="open"),
        pytest.param("[\n1\n]\nx", "s.json", ":4: not valid JSON: Extra data", id="more"),
        pytest.param(
            "[\n\n3]", "s.json", ":3: must be a mapping with id, question, relevant, found 3", id="line of an item"
        ),
        pytest.param("[" * 100_000, "s.json", "not valid JSON", id="nested too deep"),
        pytest.param(
            lines({"id": "a", "question": "b", "relevant": ["section:guide.md"]}),
            "s.jsonl",
            "names no section; write section:PATH#KEY",
            id="section without a key",
        ),
    ],
)
def test_what_is_wrong_is_said_by_file_and_line(tmp_path: Path, text: str, name: str, said: str) -> None:
    with pytest.raises(QuestionSetError) as caught:
        load_questions(written(tmp_path, text, name))
    assert str(tmp_path / name) in str(caught.value) and said in str(caught.value)


def test_what_a_question_is_of_is_no_part_of_the_fingerprint(tmp_path: Path) -> None:
    base = load_questions(written(tmp_path, lines(HISTORY))).fingerprint
    assert load_questions(written(tmp_path, lines(HISTORY | {"leaky": True, "repo": "b/c"}))).fingerprint == base
    assert load_questions(written(tmp_path, lines(HISTORY | {"query": "x"}))).fingerprint != base
