"""Question sets: what is read, and what is said of what cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag_assets.evaluation.questions import EvalQuestion, QuestionSetError, load_questions, split_target

ASKED = {"id": "q1", "question": "Where are refunds?", "relevant": ["src/Refund.cs"]}


def written(folder: Path, text: str | bytes, name: str = "set.jsonl") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def lines(*items: object) -> str:
    return "".join(json.dumps(item) + "\n" for item in items)


def test_json_lines_and_yaml_say_the_same(tmp_path: Path) -> None:
    full = ASKED | {
        "relevant": ["./src\\Refund.cs", "path:docs/a.md", "symbol:Shop.Refund", "point:0b9c"],
        "tags": ["money"],
        "filters": {"path": "src/**", "kinds": ["Service"], "languages": "csharp"},
    }
    yaml_text = """\
- id: q1
  question: Where are refunds?
  relevant: ['./src\\Refund.cs', 'path:docs/a.md', 'symbol:Shop.Refund', 'point:0b9c']
  tags: [money]
  filters: {path: src/**, kinds: [Service], languages: csharp}
"""
    from_lines = load_questions(written(tmp_path, lines(full)))
    from_yaml = load_questions(written(tmp_path, yaml_text, "set.yaml"))
    assert from_lines == from_yaml
    assert from_lines.questions == (
        EvalQuestion(
            id="q1",
            question="Where are refunds?",
            relevant=("src/Refund.cs", "docs/a.md", "symbol:Shop.Refund", "point:0b9c"),
            tags=("money",),
            paths=("src/**",),
            kinds=("Service",),
            languages=("csharp",),
        ),
    )
    assert [split_target(target)[0] for target in from_lines.questions[0].relevant] == [
        "path",
        "path",
        "symbol",
        "point",
    ]


def test_facts_and_spans_say_what_a_right_answer_quotes(tmp_path: Path) -> None:
    full = ASKED | {
        "kind": "error",
        "tags": ["money", "error"],
        "facts": "throw new Late()",
        "spans": "src/Refund.cs:4",
    }
    found = load_questions(written(tmp_path, lines(full)))
    (question,) = found.questions
    assert (question.facts, question.tags) == (("throw new Late()",), ("error", "money"))
    for other in (full | {"facts": ["x"]}, {name: full[name] for name in full if name != "facts"}):
        assert load_questions(written(tmp_path, lines(other))).fingerprint != found.fingerprint
    kindless = {name: full[name] for name in full if name != "kind"}
    assert load_questions(written(tmp_path, lines(kindless))).fingerprint == found.fingerprint


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", ":1: not one JSON object a line"),
        (lines(ASKED) + "\n\n[]\n", ":4: must be a mapping with id, question, relevant, found a list"),
        (lines({"id": "a", "question": "b"}), ":1: relevant: name at least one path"),
        (lines(ASKED | {"relevent": []}), ":1: unknown key 'relevent'; did you mean 'relevant'?"),
        (lines(ASKED | {"filters": {"kind": "x"}}), ":1: unknown key 'filters.kind'; did you mean 'kinds'?"),
        (lines(ASKED | {"filters": []}), ":1: filters: must be a mapping with kinds, languages, path, found a list"),
        (lines(ASKED | {"question": " "}), ":1: question: must not be empty"),
        (lines(ASKED | {"relevant": []}), ":1: relevant: name at least one path"),
        (lines(ASKED | {"relevant": []}), "or set answerable: false"),
        (
            lines(ASKED | {"answerable": False}),
            ":1: relevant: a question with answerable: false has no",
        ),
        (
            lines({"id": "a", "question": "b", "answerable": False, "facts": "c"}),
            ":1: facts: a question with answerable: ",
        ),
        (lines(ASKED | {"facts": [""]}), ":1: facts.0: must not be empty"),
        (lines(ASKED | {"answerable": "no"}), ":1: answerable: must be true or false, found text"),
        (lines({"id": "a", "question": "b", "answerable": True}), ":1: relevant: name at least one path"),
        (lines(ASKED | {"relevant": ["a.cs", "./a.cs"]}), ":1: relevant: a.cs is there twice"),
        (lines(ASKED | {"relevant": ["/etc/a.cs"]}), "is not a file path relative to the repository"),
        (lines(ASKED | {"relevant": [7]}), ":1: relevant.0: must be text, found 7"),
        (lines(ASKED, ASKED), ":2: id 'q1' is that of line 1 already"),
        (
            '{"id": "a", "id": "b", "question": "c", "relevant": ["d"]}',
            ":1: not one JSON object a line: 'id' is written twice",
        ),
        ("\n \n", "no questions in it"),
        (b'{"id": "a"}\n{"id": "\xff"}\n', ":2: not UTF-8 (byte 0xff); save it as UTF-8"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, str) else "bytes",
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, text: str | bytes, said: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(QuestionSetError) as caught:
        load_questions(path)
    assert said in str(caught.value) and str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- id: a\n  question: b\n  relevant: [c]\n- id: a\n  question: b\n  relevant: [c]\n", ":4: id 'a' is that of"),
        ("- {id: a, id: b}\n", ":1: 'id' is written twice, first in line 1"),
        ("questions: []\n", ":1: must be a list, found a mapping"),
        ("- [a\n", "not valid YAML"),
        ("- !!python/object:os.system {}\n", ":1: not a value"),
        ("- 2024-13-45\n", ":1: not a value"),
        ("", "no questions in it"),
    ],
)
def test_yaml_is_read_as_strictly(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(QuestionSetError, match=r"set\.yaml") as caught:
        load_questions(written(tmp_path, text, "set.yaml"))
    assert said in str(caught.value)


def test_everything_wrong_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(QuestionSetError) as caught:
        load_questions(written(tmp_path, "x\n" * 30))
    said = str(caught.value).splitlines()
    assert len(said) == 21 and said[-1] == "and 10 more"


def test_a_file_that_is_not_there_or_of_another_kind(tmp_path: Path) -> None:
    with pytest.raises(QuestionSetError, match=r"there is no such file; .*rag-assets eval mine"):
        load_questions(tmp_path / "gone.jsonl")
    with pytest.raises(QuestionSetError, match=r"is a \.jsonl, \.json, \.yaml, \.yml file"):
        load_questions(written(tmp_path, "", "set.csv"))
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(QuestionSetError, match=r"folder\.jsonl: cannot be read: it is a folder"):
        load_questions(tmp_path / "folder.jsonl")


def test_the_fingerprint_follows_what_decides_the_metrics(tmp_path: Path) -> None:
    other = ASKED | {"id": "q2"}

    def fingerprint(*items: object) -> str:
        return load_questions(written(tmp_path, lines(*items))).fingerprint

    base = fingerprint(ASKED, other)
    assert fingerprint(other, ASKED) == base, "the order does not"
    assert fingerprint(ASKED | {"tags": ["x"]}, other) == base, "tags do not"
    assert fingerprint(ASKED) != base
    for change in ({"question": "x"}, {"relevant": ["x"]}, {"filters": {"path": "src/"}}, {"id": "q3"}):
        assert fingerprint(ASKED | change, other) != base, change


def test_windows_files_are_read(tmp_path: Path) -> None:
    text = "\ufeff" + lines(ASKED).replace("\n", "\r\n")
    assert load_questions(written(tmp_path, text)).questions[0].id == "q1"


@pytest.mark.rule("E22")
def test_a_question_without_an_answer(tmp_path: Path) -> None:
    made = load_questions(written(tmp_path, lines(ASKED, {"id": "n", "question": "Pasta?", "answerable": False})))
    assert [question.answerable for question in made.questions] == [True, False]
    assert [question.id for question in made.answerable] == ["q1"]
    assert made.fingerprint != load_questions(written(tmp_path, lines(ASKED))).fingerprint


def test_the_questions_of_people_say_what_a_right_answer_quotes() -> None:
    files = sorted((Path(__file__).parents[2] / "benchmarks" / "asked" / "people").glob("*.jsonl"))
    sets = [load_questions(file) for file in files]
    assert len(sets) == 62 and {len(found.questions) for found in sets} == {20, 21, 23}
    for found in sets:
        assert len(found.answerable) in (13, 14, 15) and found.has_spans, found.name
        assert all(question.facts and question.tags for question in found.answerable), found.name
        assert {bool(question.repository and question.revision) for question in found.questions} == {True}, found.name
