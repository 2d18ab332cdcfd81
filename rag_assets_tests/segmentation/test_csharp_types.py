"""C# files: which segments there are and what they say about the type (A04, A05, A06, R14)."""

from __future__ import annotations

import pytest

from rag_assets.contracts.segment import MemberKind, Parameter, ParseHealth
from rag_assets.languages.csharp.syntax import segment_csharp
from rag_assets_tests.segmentation.csharp_tools import members_of, names, only, symbols
from rag_assets_tests.segmentation.outline import check_invariants, member, outline

SHOP = """\
// Licensed to nobody.
using System;
using static System.Math;
global using Json = System.Text.Json;
extern alias Old;
[assembly: InternalsVisibleTo("Shop.Tests")]

namespace Shop.Orders
{
    using Shop.Money;

    /// <summary>Keeps orders.</summary>
    [Service("orders"), Scoped]
    public sealed partial class OrderBook<TKey, TValue>(int size, ILog log = null) : Book<TKey>(size), IBook<TValue>
        where TKey : notnull, new()
    {
        private enum State { Open, Closed = 4 }

        public int Count { get; private set; }
    }

    // Prints.
    public interface IPrinter { void Print(); }

    namespace Inner
    {
        public enum Colour : byte { Red, Green }
    }
}

public readonly record struct Point(int X, int Y) : IEquatable<Point>;
public delegate TResult Fold<in T, out TResult>(T seed, params T[] rest) where T : class;
"""


@pytest.mark.rule("A04", "R14")
def test_one_segment_per_top_level_type_and_delegate() -> None:
    """A04, R14"""
    file = segment_csharp(SHOP)
    assert file.health is ParseHealth.OK
    assert [(segment.kind, segment.symbol) for segment in file.segments] == [
        ("class", "Shop.Orders.OrderBook`2"),
        ("interface", "Shop.Orders.IPrinter"),
        ("enum", "Shop.Orders.Inner.Colour"),
        ("record", "Point"),
        ("delegate", "Fold`2"),
    ]
    check_invariants(SHOP, file)


@pytest.mark.rule("A06")
def test_what_a_type_says() -> None:
    """A06"""
    book = segment_csharp(SHOP).segments[0]
    assert book.name == "OrderBook"
    assert book.namespace == "Shop.Orders"
    assert book.doc == "Keeps orders."
    assert book.modifiers == ("public", "sealed", "partial")
    assert book.is_partial
    assert book.attributes == ('Service("orders")', "Scoped")
    assert book.type_parameters == ("TKey", "TValue")
    assert book.base_list == ("Book<TKey>", "IBook<TValue>")
    assert book.parameters == (Parameter("size", "int"), Parameter("log", "ILog", "null"))
    assert book.signature == (
        "public sealed partial class OrderBook<TKey, TValue>(int size, ILog log = null) "
        ": Book<TKey>(size), IBook<TValue> where TKey : notnull, new()"
    )
    assert book.usings == (
        "System",
        "static System.Math",
        "global Json = System.Text.Json",
        "extern alias Old",
        "Shop.Money",
    )
    assert book.span.slice(SHOP).startswith("/// <summary>Keeps orders.")
    assert book.span.slice(SHOP).endswith("}")
    assert (book.span.line_start, book.span.line_end) == (12, 20)


@pytest.mark.rule("A05", "R14")
def test_nested_types_stay_in_their_type() -> None:
    """A05, R14"""
    book = segment_csharp(SHOP).segments[0]
    state = member(book, "State")
    assert (state.kind, state.type, state.symbol) == (MemberKind.TYPE, "enum", "Shop.Orders.OrderBook`2.State")
    assert [(value.name, value.value) for value in state.members] == [("Open", ""), ("Closed", "4")]


@pytest.mark.rule("R14")
def test_delegate_and_record_carry_their_parameters() -> None:
    """R14"""
    *_, point, fold = segment_csharp(SHOP).segments
    assert point.parameters == (Parameter("X", "int"), Parameter("Y", "int"))
    assert point.signature == "public readonly record struct Point(int X, int Y) : IEquatable<Point>"
    assert fold.parameters == (Parameter("seed", "T"), Parameter("rest", "T[]", modifiers=("params",)))
    assert fold.signature.startswith("public delegate TResult Fold<in T, out TResult>(T seed, params T[] rest)")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("namespace A.B;\nclass C { }", ["A.B.C"]),
        ("namespace A { namespace B.C { class D { } } class E { } }", ["A.B.C.D", "A.E"]),
        ("class C { }", ["C"]),
        ("class C<T> { }", ["C`1"]),
        ("namespace A;\nclass C<T, U> { }\nstruct S;\n", ["A.C`2", "A.S"]),
        ("namespace @class;\nclass @event { }", ["@class.@event"]),
        ("record R; record class S(int X); record struct T;", ["R", "S", "T"]),
        ("file class Hidden { }\nref struct Bag { }", ["Hidden", "Bag"]),
        ("#if A\nclass X { }\n#else\nclass Y { }\n#endif", ["X", "Y"]),
        ("namespace N {\n#if A\nclass X;\n#elif B\nclass Y;\n#else\nclass Z;\n#endif\n}", ["N.X", "N.Y", "N.Z"]),
        ("class C { };", ["C"]),
        ("\ufeffnamespace Größe { class Äpfel<T> { } }", ["Größe.Äpfel`1"]),
    ],
    ids=lambda value: value[:30].replace("\n", " ") if isinstance(value, str) else "",
)  # fmt: skip
def test_symbols(text: str, expected: list[str]) -> None:
    file = segment_csharp(text)
    assert symbols(file) == expected
    check_invariants(text, file)


def test_nested_types_keep_arity_in_their_symbol() -> None:
    outer = only("namespace N; class Outer<T> { class Inner<U, V> { delegate void Done<W>(W w); } }")
    inner = member(outer, "Inner")
    assert inner.symbol == "N.Outer`1.Inner`2"
    assert member(inner, "Done").symbol == "N.Outer`1.Inner`2.Done`1"
    assert member(inner, "Done").parameters == (Parameter("w", "W"),)


@pytest.mark.rule("A06")
@pytest.mark.parametrize(
    ("above", "covered"),
    [
        ("/// <summary>Doc.</summary>\n[A]\n", "/// <summary>"),
        ("// plain\n", "// plain"),
        ("// detached\n\n", "class"),
        ("// detached\n\n// attached\n", "// attached"),
        ("/// doc stays attached\n\n", "/// doc"),
        ("/// <summary>x</summary>\n#pragma warning disable 1\n", "/// <summary>"),
        ("[A(1)]\n#if X\n[B]\n#endif\n", "[A(1)]"),
        ("using X;\n/* block */ ", "/* block */"),
    ],
    ids=["doc", "plain", "detached", "one-of-two", "doc-over-blank", "doc-over-pragma", "attributes", "block"],
)
def test_a_segment_begins_with_what_belongs_to_it(above: str, covered: str) -> None:
    """A06"""
    text = above + "class C { }\n"
    assert only(text).span.slice(text).startswith(covered)


@pytest.mark.rule("A04", "R14")
def test_top_level_statements_are_a_program() -> None:
    """A04, R14"""
    text = (
        "using System;\n\n// Starts the shop.\nvar builder = Create(args);\nbuilder.Run();\n\n"
        "/// <summary>Adds.</summary>\nstatic int Add(int a, int b = 2) => a + b;\n\n"
        "Add(1);\n;\npartial class Program { }\n"
    )
    file = segment_csharp(text)
    assert outline(file) == [
        "program Program",
        "  statements statements",
        "  function Add",
        "  statements statements",
        "class Program",
    ]
    program = file.segments[0]
    assert (program.doc, program.usings) == ("Starts the shop.", ("System",))
    run, add, _ = program.members
    assert run.signature == "var builder = Create(args);"
    assert (add.signature, add.doc, add.type) == ("static int Add(int a, int b = 2)", "Adds.", "int")
    check_invariants(text, file)


def test_long_runs_of_statements_are_cut_between_statements() -> None:
    text = "".join(f"Call({number});\n" for number in range(200))
    parts = only(text).members
    assert len(parts) > 2
    assert all(part.span.slice(text).endswith(";") for part in parts)


def test_a_second_program_part_after_types_does_not_overlap_them() -> None:
    text = "Run();\nclass A { }\nStop();\n"
    file = segment_csharp(text)
    assert [(segment.kind, segment.span.slice(text)) for segment in file.segments] == [
        ("program", "Run();"),
        ("class", "class A { }"),
        ("program", "Stop();"),
    ]


@pytest.mark.parametrize(
    ("text", "usings", "attributes", "doc"),
    [
        ("global using System;\nglobal using static A.B;\n", ("global System", "global static A.B"), (), ""),
        ('[assembly: AssemblyTitle("x")]\n[module: M]\n', (), ('assembly: AssemblyTitle("x")', "module: M"), ""),
        ("// only\n// comments\n", (), (), "only comments"),
        ("/* nothing\n * here */", (), (), "nothing here"),
        ("using System;\nnamespace Empty { }\n", ("System",), (), ""),
        ("#define X\n", (), (), ""),
    ],
    ids=["global-usings", "assembly-attributes", "comments", "block-comment", "empty-namespace", "define"],
)
def test_a_file_without_declarations_is_one_file_segment(
    text: str, usings: tuple[str, ...], attributes: tuple[str, ...], doc: str
) -> None:
    """No file is silently absent."""
    file = segment_csharp(text, "src/GlobalUsings.cs")
    (segment,) = file.segments
    assert (segment.kind, segment.name) == ("file", "GlobalUsings")
    assert (segment.usings, segment.attributes, segment.doc) == (usings, attributes, doc)
    assert segment.members
    check_invariants(text, file)


@pytest.mark.parametrize("text", ["", " \r\n\t", "\ufeff", "\ufeff\n", "\x00\x00"], ids=repr)
def test_a_file_without_text_has_no_segments_and_says_why(text: str) -> None:
    file = segment_csharp(text)
    assert (file.segments, file.detail) == ((), "the file holds no text")


def test_members_that_lost_their_type_are_kept() -> None:
    text = "namespace N { class A { } public void Lost(int x) { } int alsoLost; }"
    file = segment_csharp(text, "src/N.cs")
    assert outline(file) == ["class N.A", "file src/N.cs", "  method Lost", "  field alsoLost"]
    check_invariants(text, file)


def test_types_nested_without_end_are_cut_off_not_lost() -> None:
    text = "class A { " * 10_000 + "}" * 10_000
    file = segment_csharp(text)
    assert symbols(file) == ["A"]
    check_invariants(text, file)


def test_namespaces_nested_without_end_are_kept_as_text() -> None:
    text = "namespace A { " * 5_000 + "class Deep { }" + "}" * 5_000
    file = segment_csharp(text, "x.cs")
    assert [segment.kind for segment in file.segments] == ["file"]
    assert text.rindex("class Deep") < file.segments[0].span.char_end


def test_both_branches_of_a_member_are_read() -> None:
    found = members_of("#if A\nint a;\n#elif B\nint b;\n#else\nint c;\n#endif\nint d;")
    assert [member.name for member in found] == ["a", "b", "c", "d"]


def test_comments_do_not_cross_from_one_branch_to_the_next() -> None:
    first, second = members_of("#if A\nint a;\n// end of A\n#else\nint b;\n#endif")
    assert (first.doc, second.doc) == ("", "")


def test_a_file_scoped_namespace_holds_for_everything_after_it() -> None:
    file = segment_csharp("using A;\nnamespace N.M;\nusing B;\nclass X { }\nenum Y { }\n")
    assert symbols(file) == ["N.M.X", "N.M.Y"]
    assert [segment.usings for segment in file.segments] == [("A", "B")] * 2
    assert names(file.segments[0]) == []
