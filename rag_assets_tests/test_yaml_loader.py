"""Files of people as values that know their lines: repeated keys, anchors, lines, bounds."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from rag_assets.settings.yaml_loader import InvalidFileError, Mark, Problem, parse_yaml, read_items, read_yaml


def problems(text: str, **options: bool) -> list[tuple[int, str]]:
    with pytest.raises(InvalidFileError) as caught:
        parse_yaml(text, "a.yaml", **options)
    assert str(caught.value) == "\n".join(map(str, caught.value.problems))
    return [(problem.mark.line, problem.text) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("a: 1\nb: {a: 2}\n", {"a": 1, "b": {"a": 2}}),
        ("- {a: 1}\n- {a: 2}\n", [{"a": 1}, {"a": 2}]),
        ("on: yes\n1: 2026-01-31\n", {"on": True, "1": date(2026, 1, 31)}),
        ("x: &x {a: 1, b: 1}\ny:\n  <<: *x\n  a: 2\n", {"x": {"a": 1, "b": 1}, "y": {"b": 1, "a": 2}}),
        ("x: {y: &y {<<: {a: 1}, a: 2}}\nz: {<<: *y}\n", {"x": {"y": {"a": 2}}, "z": {"a": 2}}),
        (
            "x: &x {a: 1}\ny: &y {a: 2, b: 2}\nz: {<<: [*x, *y]}\n",
            {"x": {"a": 1}, "y": {"a": 2, "b": 2}, "z": {"a": 1, "b": 2}},
        ),
    ],
    ids=["empty", "in another mapping", "in another item", "keys as written", "merged", "merged twice", "first wins"],
)
def test_a_key_may_be_there_once_in_each_mapping(text: str, value: object) -> None:
    assert parse_yaml(text, "a.yaml").plain == value


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: 1\nb: 2\na: 3\n", [(3, "'a' is written twice, first in line 1")]),
        ("a:\n  - b: 1\n    c: 2\n    b: 3\n", [(4, "'b' is written twice, first in line 2")]),
        (
            "a: {b: 1, b: 1}\nc: {d: 1, d: 1}\n",
            [(1, "'b' is written twice, first in line 1"), (2, "'d' is written twice, first in line 2")],
        ),
        ("x: &x {a: 1, a: 2}\ny: *x\n", [(1, "'a' is written twice, first in line 1")]),
        ("1: a\n'1': b\n", [(2, "'1' is written twice, first in line 1")]),
    ],
    ids=["at the top", "inside", "all of them", "behind an anchor", "in quotes"],
)
def test_a_key_that_is_written_twice_is_refused(text: str, told: list[tuple[int, str]]) -> None:
    assert problems(text) == told


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("&a [*a]", 1, "has no anchor before it, or is inside of it"),
        ("a: *b", 1, "*b has no anchor"),
        ("a: 1\n---\nb: 1", 2, "a second document"),
        ("a:\n  ? [b]\n  : 1", 2, "a key must be a word"),
        ("a: !!python/object:os.system x", 1, "not a value: could not determine"),
        ("a:\n  b: !!python/object:os.system {}", 2, "not a value: no mapping or list has the tag"),
        ("a: 1\nb: 2024-13-45", 2, "not a value: month must be"),
        ("a: [1", 1, "not valid YAML: expected ',' or ']'"),
        ("\x00", 1, "not valid YAML"),
        ("[" * 200, 1, "nested too deeply"),
        ("- " * 200_000, 1, "nested too deeply"),
    ],
)
def test_what_is_no_document_is_told_with_its_line(text: str, line: int, said: str) -> None:
    ((found, told),) = problems(text)
    assert found == line and said in told


def test_anchors_can_be_refused() -> None:
    told = [(2, "anchors and aliases are not supported; share with `extends`")]
    assert problems("a: &a 1\nb: *a\n", anchors=False) == told


def test_a_small_file_that_names_a_billion_values_is_read_at_once() -> None:
    rows = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10))
    assert len(parse_yaml(f"a0: &a0 [x]\n{rows}", "a.yaml").plain["a9"]) == 10


@pytest.mark.parametrize(
    ("location", "line"),
    [((), 1), (("b",), 2), (("b", 1, "c"), 5), (("b", 1, "d"), 4), (("b", 7), 2), (("x", "y"), 1)],
    ids=["nowhere", "a key", "in an item", "a key the item lacks", "an item that is not there", "a key not there"],
)
def test_where_a_setting_is_written(location: tuple[int | str, ...], line: int) -> None:
    root = parse_yaml("a: 1\nb:\n  - c: 1\n  - e: 1\n    c: 2\n", "a.yaml")
    assert root.at(location).mark == Mark("a.yaml", line)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InvalidFileError, match=r"none\.yaml: cannot be read: there is no such file"):
        read_yaml(tmp_path / "none.yaml")
    (tmp_path / "a.yaml").write_bytes(b"a: 1\nb: \xff\n")
    with pytest.raises(InvalidFileError, match=r"a\.yaml:2: not UTF-8 \(byte 0xff\); save it as UTF-8"):
        read_yaml(tmp_path / "a.yaml")


@pytest.mark.parametrize(
    ("name", "text", "items", "told"),
    [
        ("a.jsonl", '1\n\n{"a": 2}\n{\n', [(1, 1), (3, {"a": 2})], [(4, "not one JSON object a line")]),
        ("a.jsonl", '{"a": 1, "a": 2}\n[]\n', [(2, [])], [(1, "'a' is written twice")]),
        ("a.jsonl", "[" * 500 + "]" * 500, [], [(1, "nested too deeply")]),
        ("a.json", '\n[1,\n{"a": [2]}]', [(2, 1), (3, {"a": [2]})], []),
        ("a.json", "[1 2]", [], [(1, "not valid JSON: Expecting ',' delimiter")]),
        ("a.json", "[1] 2", [], [(1, "not valid JSON: Extra data")]),
        ("a.json", "{}", [], [(1, "must be a list")]),
        ("a.json", '[1,\n"', [], [(2, "not valid JSON: Unterminated string")]),
        ("a.yml", "- 1\n- a: 2\n", [(1, 1), (2, {"a": 2})], []),
        ("a.yaml", "- {a: 1, a: 1}\n- {b: 1}\n", [(1, {"a": 1}), (2, {"b": 1})], [(1, "'a' is written twice")]),
        ("a.yaml", "a: 1\n", [], [(1, "must be a list, found a mapping")]),
        ("a.yaml", "", [], []),
    ],
)
def test_lists_are_read_item_by_item(
    tmp_path: Path, name: str, text: str, items: list[object], told: list[tuple[int, str]]
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    found: list[Problem] = []
    read = read_items(tmp_path / name, found)
    assert [(item.mark.line, item.plain) for item in read] == items
    assert [problem.mark.line for problem in found] == [line for line, _ in told]
    assert all(said in problem.text for problem, (_, said) in zip(found, told, strict=True))
