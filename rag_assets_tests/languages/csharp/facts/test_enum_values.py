"""The numbers of enum values."""

from __future__ import annotations

import pytest

from rag_assets.contracts.segment import SymbolText
from rag_assets.languages.csharp.facts.enum_values import EnumValue, enum_values
from rag_assets.languages.csharp.facts.expressions import LocalizedAttributes
from rag_assets.languages.documents.resx import StaticResourceDictionary
from rag_assets_tests.descriptions.samples import segmented


def values(text: str, path: str = "a.cs") -> tuple[EnumValue, ...]:
    return enum_values(symbol_text(text, path), LocalizedAttributes(StaticResourceDictionary(), path))


def symbol_text(text: str, path: str = "a.cs") -> SymbolText:
    segment = segmented(text, path).segments[0]
    return SymbolText(segment.span.slice(text), segment)


def numbers(body: str, base: str = "") -> list[int | None]:
    return [value.number for value in values(f"enum E{base} {{ {body} }}")]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("A, B, C", [0, 1, 2]),
        ("A = 10, B, C = 5, D", [10, 11, 5, 6]),
        ("A = -2, B, C", [-2, -1, 0]),
        ("A = 1 << 0, B = 1 << 1, Both = A | B, None = 0", [1, 2, 3, 0]),
        ("A = 0x1F, B = 0b_101, C = 1_000, D = 7u", [31, 5, 1000, 7]),
        ("A = 'a', B", [97, 98]),
        ("A = (int)5, B = (byte) 3 + 2, C = unchecked((int)0xFFFFFFFF)", [5, 5, -1]),
        ("A = 3, B = E.A + 1, C = ~A, D = A & 1, F = A ^ 1", [3, 4, -4, 1, 2]),
        ("A = 7 / 2, B = -7 / 2, C = -7 % 3, D = (1 + 2) * 4", [3, -3, -1, 12]),
        ("A = Other.X, B, C = 4, D", [None, None, 4, 5]),
        ("A = Missing, B = 1 / 0, C = F(1), D = (", [None, None, None, None]),
        ("", []),
    ],
)
def test_numbers_are_read_implied_and_computed(body: str, expected: list[int | None]) -> None:
    assert numbers(body) == expected


@pytest.mark.parametrize(
    ("base", "body", "expected"),
    [
        (" : byte", "A = ~0 & 255, B = 255", [255, 255]),
        (" : uint", "A = ~0u", [4294967295]),
        (" : ulong", "A = 1UL << 63, B = 0xFFFFFFFFFFFFFFFF", [1 << 63, (1 << 64) - 1]),
        (" : long", "A = 1L << 40, B = -1", [1 << 40, -1]),
        (" : System.Int16", "A = 3", [3]),
    ],
)
def test_numbers_fit_their_type(base: str, body: str, expected: list[int]) -> None:
    assert numbers(body, base) == expected


def test_expressions_made_to_hurt_end() -> None:
    assert numbers(f"A = {'(' * 60}1{')' * 60}, B = {'1 + ' * 400}1, C = 9 << 99999999999") == [1, None, 0]
    wrapped = (9 * 9999999999**3) & 0xFFFFFFFF
    assert numbers("A = 9 * 9999999999 * 9999999999 * 9999999999") == [wrapped - (1 << 32)]


def test_a_value_says_what_is_written_and_what_people_see() -> None:
    found = values(
        'enum E { /// <summary>None at all.</summary>\n None = 0, [Description("Five days")] Weekdays = 1 << 0, '
        '[EnumMember(Value = "sat")] Saturday, [Display(Name = "All of it")] Any = None | Weekdays }'
    )
    assert [value.line() for value in found] == [
        "None = 0 — None at all.",
        "Weekdays = 1 (1 << 0) “Five days”",
        "Saturday = 2 “sat”",
        "Any = 1 (None | Weekdays) “All of it”",
    ]
    assert [value.explicit for value in found] == [True, True, False, True]


def test_labels_come_from_resources() -> None:
    """[L]: a key of a resource class; one that is missing stands for itself and is reported."""
    resources = StaticResourceDictionary()
    resources.add("Texts", "Status_Open", "Still open", path="r/Texts.resx")
    texts = LocalizedAttributes(resources, "a.cs")
    text = (
        "enum E { [EnumLabel(E.Key, Texts.Names.Status_Open, typeof(Texts))] Open, "
        "[EnumLabel(E.Key, Texts.Names.Status_Gone, typeof(Texts))] Gone }"
    )
    assert [v.label for v in enum_values(symbol_text(text), texts)] == ["Still open", "Status_Gone"]
    assert [(w.code, "Status_Gone" in w.text) for w in texts.warnings] == [("RESX.missing-key", True)]


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.ts", "enum E { A, B = 5, C, D = 'd' }", [("A", 0), ("B", 5), ("C", 6), ("D", None)]),
        ("A.java", "enum E { A, B }", [("A", None), ("B", None)]),
        ("a.py", "class E(Enum):\n    A = 1\n    B = 'b'\n    _x = 3\n", [("A", 1), ("B", None)]),
    ],
)
def test_other_languages_number_by_their_own_rules(
    path: str, text: str, expected: list[tuple[str, int | None]]
) -> None:
    assert [(value.name, value.number) for value in values(text, path)] == expected
