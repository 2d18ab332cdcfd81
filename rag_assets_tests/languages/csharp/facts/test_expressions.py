"""C# expressions as they stand in attributes and initializers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.languages.csharp.facts.expressions import (
    Arguments,
    arguments_of,
    dotted_name,
    first_initializer,
    initializer,
    last_name,
    literal,
    split_list,
)

ARGUMENTS = [
    ("none", "Required", (), {}),
    ("empty", "Required()", (), {}),
    ("positional", 'Route("a", 1)', ('"a"', "1"), {}),
    ("named", 'Form(Label = nameof(R.A), Help: "h")', (), {"Label": "nameof(R.A)", "Help": '"h"'}),
    ("commas-and-brackets-in-strings", 'X("a,b)", @"c""),d")', ('"a,b)"', '@"c""),d"'), {}),
    (
        "generics",
        "X(typeof(Dictionary<string, int>), new List<A, B>())",
        ("typeof(Dictionary<string, int>)", "new List<A, B>()"),
        {},
    ),
    ("less-than", "X(a < b, c)", ("a < b", "c"), {}),
    ("comments", 'X("a", // one, two\n /* ), */ "b")', ('"a"', '"b"'), {}),
    ("alias-is-not-named", "X(global::A.B, c == d)", ("global::A.B", "c == d"), {}),
    ("unclosed", 'Route("a", b', ('"a"', "b"), {}),
    ("unclosed-string", 'Route("a)b', ('"a)b',), {}),
    ("first-name-wins", "X(A = 1, A = 2)", (), {"A": "1"}),
]


@pytest.mark.parametrize(
    ("text", "positional", "named"), [row[1:] for row in ARGUMENTS], ids=[row[0] for row in ARGUMENTS]
)
def test_arguments(text: str, positional: tuple[str, ...], named: dict[str, str]) -> None:
    assert arguments_of(text) == Arguments(positional, named)


LITERALS = [
    ("plain", '"a"', "a"),
    ("escapes", r'"a\n\"\u0041\x42"', 'a\n"AB'),
    ("verbatim", '@"C:\\x ""y"""', 'C:\\x "y"'),
    ("raw", '"""a "b" c"""', 'a "b" c'),
    ("raw-lines", '"""\n    one\n      two\n    """', "one\n  two"),
    ("joined", '"a" +\n "b" + @"c"', "abc"),
    ("interpolated-without-holes", '$"a"', None),
    ("interpolated", '$"a{b}"', None),
    ("name", "Texts.Title", None),
    ("call", 'F("a")', None),
    ("joined-with-a-name", '"a" + B', None),
    ("open-end", '"a" +', None),
    ("number", "1", None),
    ("empty", "", None),
    ("in-parentheses", '("a")', "a"),
    ("lone-surrogate-stays-as-written", r'"\ud800"', r"\ud800"),
]


@pytest.mark.parametrize(("text", "value"), [row[1:] for row in LITERALS], ids=[row[0] for row in LITERALS])
def test_literals(text: str, value: str | None) -> None:
    assert literal(text) == value


NAMES = [
    ("AIResources.Names.Title", ("AIResources", "Names", "Title")),
    ("nameof(R.Title)", ("R", "Title")),
    ("typeof(global::A.B<int>)", ("A", "B")),
    (" @class . Name ", ("class", "Name")),
    ('"text"', ()),
    ("F(x)", ()),
    ("a + b", ()),
    ("", ()),
]


@pytest.mark.parametrize(("text", "parts"), NAMES)
def test_names(text: str, parts: tuple[str, ...]) -> None:
    assert dotted_name(text) == parts
    assert last_name(text) == (parts[-1] if parts else "")


def test_initializers_keep_what_is_assigned_as_written() -> None:
    text = """{ get { // new DomainDescription { Name = "no" }
        return new DomainDescription("x") { Name = "A" + "B", At = new() { Y = 1 },
            Parts = new List<Part>() { new Part() { Key = "a, {" }, new Part { Key = "b" } } }; } }"""
    made = first_initializer(text, "DomainDescription")
    assert made is not None
    assert made.type == "DomainDescription"
    assert dict(made.assigned)["Name"] == '"A" + "B"'
    parts = initializer(made.assigned["Parts"])
    assert parts is not None
    assert [dict(part.assigned) for item in parts.items if (part := initializer(item))] == [
        {"Key": '"a, {"'},
        {"Key": '"b"'},
    ]


@pytest.mark.parametrize(
    ("text", "items"),
    [("[new() { A = 1 }, b]", ("new() { A = 1 }", "b")), ("new[] { 1, 2 }", ("1", "2")), ("{ a }", ("a",)), ("{", ())],
)
def test_collections(text: str, items: tuple[str, ...]) -> None:
    made = initializer(text)
    assert made is not None
    assert made.items == items


def test_what_is_no_initializer() -> None:
    assert initializer("5") is None
    assert first_initializer("return 5;", "A") is None
    assert first_initializer("=> new() { Key = P };", "A") is not None


@given(st.text(alphabet="aB.,()<>{}[]\"@$+=:'\\/* \n", max_size=60))
def test_any_text_is_read_without_an_exception(text: str) -> None:
    arguments_of(f"X({text})")
    literal(text)
    dotted_name(text)
    initializer(text)
    first_initializer(text, "A")
    assert all(entry == entry.strip() != "" for entry in split_list(text))
