"""YAML of people: keys that are written twice, and where things are written."""

from __future__ import annotations

import pytest
import yaml

from rag_assets.yaml_text import line_of, load_yaml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("a: 1\nb: {a: 2}\n", {"a": 1, "b": {"a": 2}}),
        ("- {a: 1}\n- {a: 2}\n", [{"a": 1}, {"a": 2}]),
        ("1: a\n'1': b\n", {1: "a", "1": "b"}),
        ("x: &x {a: 1, b: 1}\ny:\n  <<: *x\n  a: 2\n", {"x": {"a": 1, "b": 1}, "y": {"b": 1, "a": 2}}),
        ("x: {y: &y {<<: {a: 1}, a: 2}}\nz: {<<: *y}\n", {"x": {"y": {"a": 2}}, "z": {"a": 2}}),
    ],
    ids=["empty", "in another mapping", "in another item", "of another type", "of what it takes over", "twice over"],
)
def test_a_key_may_be_there_once_in_each_mapping(text: str, value: object) -> None:
    assert load_yaml(text) == value


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "'a' is written twice, first in line 1"),
        ("a:\n  - b: 1\n    c: 2\n    b: 3\n", 4, "'b' is written twice, first in line 2"),
        ("a: {b: 1, b: 1}\nc: {d: 1, d: 1}\n", 1, "'b' is written twice"),
        ("x: &x {a: 1, a: 2}\ny: *x\n", 1, "'a' is written twice"),
    ],
    ids=["at the top", "inside", "the first of two", "behind an anchor"],
)
def test_a_key_that_is_written_twice_is_refused(text: str, line: int, said: str) -> None:
    with pytest.raises(yaml.MarkedYAMLError, match=said) as caught:
        load_yaml(text)
    assert caught.value.problem_mark is not None and caught.value.problem_mark.line + 1 == line


def test_a_text_that_names_itself_is_read() -> None:
    loaded = load_yaml("&a [*a]")
    assert loaded[0] is loaded


@pytest.mark.parametrize(
    ("location", "line"),
    [((), None), (("b",), 2), (("b", 1, "c"), 5), (("b", 1, "d"), 4), (("b", 7), 2), (("x", "y"), None)],
    ids=["nowhere", "a key", "in an item", "a key the item lacks", "an item that is not there", "a key not there"],
)
def test_where_a_setting_is_written(location: tuple[int | str, ...], line: int | None) -> None:
    assert line_of("a: 1\nb:\n  - c: 1\n  - e: 1\n    c: 2\n", location) == line
