"""Source slices of members cover their segment; C04: a slice is the text of its asset, derivable from the file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.contracts.segment import LineIndex, Member, MemberKind, Segment, Span, leaves_of
from rag_assets.languages.csharp.syntax import segment_csharp
from rag_assets.sections.code import tile

CODE = """\
using System;

/// <summary>Orders.</summary>
[Serializable]
public class Orders
{
    #region state
    int a, b;
    #endregion

    // loose comment

    public void Create() { }  // trailing

    class Inner
    {
        int c;
        enum Deep { X, Y }
    }

    /* before */ public int D { get; }
    // last words
}
"""


def tiles_of(text: str) -> tuple[Segment, Span, list[tuple[str, Span]]]:
    segment = segment_csharp(text, "a.cs").segments[0]
    leaves = leaves_of(segment.members)
    header, tiles = tile(segment.span, leaves, segment.span.slice(text))
    names = [f"{leaf.owner}.{leaf.member.name}".lstrip(".") for leaf in leaves]
    return segment, header, list(zip(names, tiles, strict=True))


def uncovered(text: str, segment: Span, spans: list[Span]) -> str:
    """What is not blank in the segment and in no span."""
    covered: set[int] = set()
    for span in spans:
        covered.update(range(span.char_start, span.char_end))
    return "".join(text[i] for i in range(segment.char_start, segment.char_end) if i not in covered).strip()


@pytest.mark.parametrize(
    "text", [CODE, CODE.replace("\n", "\r\n"), CODE.replace("Orders.", "Bestellungen: ö, 注文 🎉")]
)
def test_tiles_cover_the_segment_with_exact_lines(text: str) -> None:
    segment, header, tiles = tiles_of(text)
    spans = [header, *(span for _, span in tiles)]
    assert uncovered(text, segment.span, spans) == ""
    lines = LineIndex(text)
    assert spans == [lines.span(span.char_start, span.char_end) for span in spans]


def test_what_stands_between_members_has_an_owner() -> None:
    """Comments and regions go to the member below, closing braces to what they close."""
    _, header, tiles = tiles_of(CODE)
    texts = {name: span.slice(CODE) for name, span in tiles}
    assert header.slice(CODE).startswith("/// <summary>")
    assert header.slice(CODE).rstrip().endswith("#region state")
    assert texts["Create"].startswith("#endregion")
    assert "// loose comment" in texts["Create"]
    assert texts["Inner.Deep"].startswith("enum Deep")
    assert texts["Inner.Deep.Y"].rstrip().endswith("}")
    assert texts["D"].rstrip().endswith("// last words\n}")


def test_nested_members_follow_their_type_in_text_order() -> None:
    _, _, tiles = tiles_of(CODE)
    expected = ["a", "b", "Create", "Inner", "Inner.c", "Inner.Deep", "Inner.Deep.X", "Inner.Deep.Y", "D"]
    assert [name for name, _ in tiles] == expected


def test_a_type_without_members_is_all_header() -> None:
    text = "interface IMarker { /* nothing */ }"
    segment, header, tiles = tiles_of(text)
    assert (header, tiles) == (segment.span, [])


def test_without_filling_only_members_are_covered() -> None:
    """In a module the types of the file stand between the functions; they are segments of their own."""
    text = "def a(): 1\nclass B: pass\ndef c(): 2\n"
    members = tuple(
        Member(name=name, kind=MemberKind.FUNCTION, signature="", span=LineIndex(text).span(start, end))
        for name, start, end in [("a", 0, 10), ("c", 25, 35)]
    )
    header, tiles = tile(LineIndex(text).span(0, 35), leaves_of(members), text, fill_gaps=False)
    assert [span.slice(text) for span in tiles] == ["def a(): 1", "def c(): 2"]
    assert header.slice(text) == ""


def test_members_outside_of_the_segment_keep_their_span() -> None:
    text = "type S struct { a int }\n\nfunc (s S) M() {}\n"
    lines = LineIndex(text)
    outside = Member(name="M", kind=MemberKind.METHOD, signature="", span=lines.span(25, 42))
    inside = Member(name="a", kind=MemberKind.FIELD, signature="", span=lines.span(16, 21))
    segment = lines.span(0, 23)
    header, tiles = tile(segment, leaves_of((inside, outside)), segment.slice(text))
    assert header.slice(text) == "type S struct {"
    assert [span.slice(text) for span in tiles] == ["a int }", "func (s S) M() {}"]


def test_deep_nesting_needs_no_recursion() -> None:
    member = Member(name="leaf", kind=MemberKind.FIELD, signature="", span=Span(1, 1, 5_000, 5_001))
    for depth in range(5_000):
        member = Member(
            name="T", kind=MemberKind.TYPE, signature="", span=Span(1, 1, 4_999 - depth, 5_001), members=(member,)
        )
    assert len(leaves_of((member,))) == 5_001


@given(
    st.lists(
        st.sampled_from(
            [
                "int f;",
                "void M() { }",
                "// note",
                "#region r",
                "class N { int x; }",
                "enum E { A, B }",
                "",
                "  ",
                "/* c */",
            ]
        ),
        max_size=12,
    ),
    st.sampled_from(["\n", "\r\n", " "]),
)
def test_any_class_is_covered(lines: list[str], break_: str) -> None:
    if break_ == " ":
        lines = [line for line in lines if not line.startswith(("//", "#"))]
    text = f"class C{break_}{{{break_}{break_.join(lines)}{break_}}}"
    segment, header, tiles = tiles_of(text)
    assert uncovered(text, segment.span, [header, *(span for _, span in tiles)]) == ""
