"""`#if` groups: which can stay whole, and which branch is taken of the others."""

from __future__ import annotations

import pytest

from rag_assets.languages.csharp.syntax.lexer import scan
from rag_assets.languages.csharp.syntax.preprocessor import choose, evaluate, find_groups


@pytest.mark.parametrize(
    ("condition", "defined", "undefined"),
    [
        ("A", True, False),
        ("!A", False, True),
        ("A && !B", False, False),
        ("A || !B", True, True),
        ("!(A || B)", False, True),
        ("A == B", True, True),
        ("A != false", True, False),
        ("true", True, True),
        ("false", False, False),
        ("!A && (B || C) || true == false", False, False),
        ("(A", True, False),
        ("A)", True, False),
        ("&&", True, False),
        ("", True, False),
        ("A B", True, False),
        ("(" * 20_000 + "A" + ")" * 20_000, True, False),
        ("!" * 20_001 + "A", False, True),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else "",
)
def test_conditions(condition: str, defined: bool, undefined: bool) -> None:
    assert evaluate(condition, defined=True) is defined
    assert evaluate(condition, defined=False) is undefined


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("x;\n#if A\nint a;\n#else\nint b;\n#endif\n", [True]),
        ("{\n#if A\nvoid F() { }\n#endif\n}", [True]),
        ("#if A\nusing X;\n#endif\n", [True]),
        ("\ufeff#if A\nusing X;\n#endif\n", [True]),
        ("x;\n#if A\n#endif\n", [True]),
        ("class A\n#if A\n: B\n#endif\n{ }", [False]),
        ("x;\n#if A\nvoid F(int a) {\n#else\nvoid F() {\n#endif\n}", [False]),
        ("if (a) { }\n#if A\nelse\n#endif\n{ }", [False]),
        ("x;\n#if A\n}\n#endif\n", [False]),
        ("x;\n#if A\n} {\n#endif\n", [False]),
        ("[A]\n#if A\n[B]\n#endif\nvoid F();", [True]),
        ("enum E { A,\n#if X\nB,\n#endif\nC }", [True]),
        ("f(a,\n#if X\nb,\n#endif\nc)", [False]),
        ("a\n#if X\n.b();\n#else\n.c();\n#endif\n", [False]),
        ("x;\n#if A\nint a;\n#if B\nint b;\n#endif\n#endif\n", [True, True]),
        ("x;\n#if A\nvoid F(\n#if B\nint b\n#endif\n) { }\n#endif\n", [True, False]),
        ("x;\n#if A\nint a;\n", [False]),
        ("#endif\n#else\nx;\n#if A\nint a;\n#endif\n", [True]),
        ("x;\n#if A\nf(\"}\", '{'); // }\n#endif\n", [True]),
    ],
    ids=lambda value: value[:34].replace("\n", " ") if isinstance(value, str) else "",
)
def test_which_groups_can_stay_whole(text: str, whole: list[bool]) -> None:
    assert [group.whole for group in find_groups(scan(text))] == whole


@pytest.mark.parametrize(
    ("text", "defined", "undefined"),
    [
        ("a\n#if X\n+ b\n#else\n+ c\n#endif\n;", "a + b ;", "a + c ;"),
        ("a\n#if !X\n+ b\n#elif Y\n+ c\n#else\n+ d\n#endif\n;", "a + c ;", "a + b ;"),
        ("a\n#if X\n+ b\n#endif\n;", "a + b ;", "a ;"),
        ("a\n#if X\n+ b\n#if Y\n+ c\n#endif\n#else\n+ d\n#if Z\n+ e\n#endif\n#endif\n;", "a + b + c ;", "a + d ;"),
        ("x;\n#if X\nint b;\n#else\nint c;\n#endif\n", "x; int b; int c;", "x; int b; int c;"),
    ],
    ids=["else", "elif", "nothing", "nested", "whole"],
)
def test_what_stays(text: str, defined: str, undefined: str) -> None:
    groups = find_groups(scan(text))
    for value, expected in ((True, defined), (False, undefined)):
        choice = choose(groups, value)
        gone = [*choice.directives, *((start, end) for start, end, _ in choice.dropped)]
        stays = "".join(c for i, c in enumerate(text) if not any(start <= i < end for start, end in gone))
        assert " ".join(stays.split()) == expected
