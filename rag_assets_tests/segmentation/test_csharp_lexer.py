"""The scanner under the masks: what is code in a C# text, where brackets close, which directives there are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.languages.csharp.syntax.lexer import brackets, scan


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a // b\nc", "a     \nc"),
        ("a /* b\n*/ c", "a     \n   c"),
        ("a /* open", "a        "),
        ('f("//x", \'"\')', "f(\"   \", ' ')"),
        (r'f("a\"b")', 'f("    ")'),
        ('@"a""\nb" c', '@"   \n " c'),
        ('"""a "b" // c""" d', '"              " d'),
        ('""""a """ b"""" d', '"             " d'),
        ('$"a{b + "c"}d" e', '$"           " e'),
        ('$"{a}{{b}}" e', '$"        " e'),
        ('$@"{a["x"]}\n{b}" e', '$@"        \n   " e'),
        ('@$"{$"{@"""x"}"}" e', '@$"             " e'),
        ('$"""{x["a"]}""" e', '$"            " e'),
        ('$"{a:"x"}" e', '$"       " e'),
        ("$\"{a /* } */ + '}'}\" e", '$"                 " e'),
        ('x = "open\ny', 'x = "    \ny'),
        ("x = 'open\ny", "x = '    \ny"),
        ("'\\''x", "'  'x"),
        ("#if A // b\nx\n#endif", "          \nx\n      "),
        ('  # region Foo "x\nx', "                 \nx"),
        ("x # y", "x # y"),
        ("\ufeff#if A\nx", "\ufeff     \nx"),
        ("a\r#if A\rb", "a\r     \rb"),
        ('@"\n#if A\n"', '@"\n     \n"'),
        ("@class $x", "@class $x"),
    ],
    ids=lambda value: value[:30].replace("\n", "\\n"),
)
def test_what_is_code(text: str, code: str) -> None:
    assert scan(text).code == code


def test_directives() -> None:
    text = '#if A && B // why\n  #  else\n#endregion\n#:package X@1\n#!\n"\n#no string runs past its line\n'
    found = scan(text).directives
    assert [(d.word, d.rest) for d in found] == [
        ("if", "A && B"),
        ("else", ""),
        ("endregion", ""),
        (":", "package X@1"),
        ("!", ""),
        ("no", "string runs past its line"),
    ]
    assert text[found[1].start : found[1].end] == "#  else"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("a(b[c]{d})", {1: 9, 3: 5, 6: 8}),
        ("{ f( }", {0: 5}),
        ("( { ) }", {2: 6}),
        ("} ) ]", {}),
        ("((", {}),
    ],
)
def test_brackets(code: str, expected: dict[int, int]) -> None:
    assert brackets(code) == expected


TOKENS = st.sampled_from(
    [
        '"',
        "'",
        '"""',
        "$",
        "@",
        "{",
        "}",
        "{{",
        "//",
        "/*",
        "*/",
        "\\",
        "#if A",
        "#",
        "\n",
        "\r\n",
        "\r",
        " ",
        "x",
        "é𝄞",
    ]
)


@given(st.lists(TOKENS).map("".join))
def test_code_is_as_long_as_the_text_and_keeps_its_line_ends(text: str) -> None:
    code = scan(text).code
    assert len(code) == len(text)
    for before, after in zip(text, code, strict=True):
        assert after == before or (after == " " and before not in "\r\n")


@pytest.mark.parametrize(
    "piece",
    ["$", "@", '$"{', '"', "'", "/*", "#", " #", '$@"', '"""', "\\", '$"{$"', "{", ")("],
)
def test_hostile_text_costs_linear_time(piece: str) -> None:
    """Quadratic work on these would take minutes."""
    brackets(scan(piece * 200_000).code)
