"""What the grammar cannot read: `#if` that splits a construct, newer syntax, broken code (parse health)."""

from __future__ import annotations

import pytest

from rag_assets.contracts.segment import MemberKind, Parameter, ParseHealth
from rag_assets.languages.csharp.syntax import segment_csharp
from rag_assets.languages.csharp.syntax.error_recovery import code_regions
from rag_assets.languages.csharp.syntax.lexer import scan
from rag_assets_tests.segmentation.csharp_tools import member_of, members_of, names, only, symbols
from rag_assets_tests.segmentation.outline import check_invariants, member, outline


@pytest.mark.parametrize(
    ("body", "noted"),
    [
        ("void M<T>() where T : IFoo, allows ref struct { }", "allows ref struct at 3"),
        ("void M() { a?.B = 3; }", "null-conditional assignment at 3"),
        ("void M() { a?.B(x => x)?[1].C += 3; b?[i] = 2; }", "null-conditional assignment at 3"),
        ("F f = (text, out r) => true;", "lambda parameter modifier at 3"),
        ("F f = (ref a, scoped in b) => a;", "lambda parameter modifier at 3"),
        ("public void operator +=(int x) { }", "compound assignment operator at 3"),
        ("public void operator checked -=(int x) { }", "compound assignment operator at 3"),
        ("public void operator >>>=(int x) { }", "compound assignment operator at 3"),
        ('extension(string s) { public bool Empty => s == ""; }', "extension block at 3"),
        ("ref partial struct S { }", "ref partial struct at 3"),
        ("void M() { Unsafe.As<byte, T>(ref a) = b; }", "unparsed body at 3"),
        ("int P => value(*x) = 3;", "unparsed body at 3"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_newer_syntax_is_masked_and_noted(body: str, noted: str) -> None:
    """Components §5: same-length masks; offsets and texts are those of the original."""
    text = f"public static class C\n{{\n{body}\nint last = 1;\n}}\n"
    file = segment_csharp(text)
    assert file.health is ParseHealth.RESCUED
    assert noted in file.masked
    first, last = only(text).members
    assert first.span.slice(text) == body
    assert last.span.slice(text) == "int last = 1;"
    check_invariants(text, file)


@pytest.mark.parametrize(
    ("body", "kind", "name", "signature"),
    [
        ("void M<T>() where T : allows ref struct { }", "method", "M", "void M<T>() where T : allows ref struct"),
        ("public void operator +=(int x) { }", "operator", "operator +=", "public void operator +=(int x)"),
        ("F f = (a, out r) => r;", "field", "f", "F f = (a, out r) => r"),
        ("public ref partial struct S<T> { }", "type", "S", "public ref partial struct S<T>"),
        ("ref partial struct S { }", "type", "S", "ref partial struct S"),
        ("public const int A = f(*x) = 3;", "field", "A", "public const int A = f(*x) = 3"),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else "",
)
def test_facts_of_masked_syntax_are_the_original(body: str, kind: str, name: str, signature: str) -> None:
    found = member_of(body)
    assert (found.kind.value, found.name, found.signature) == (kind, name, signature)


EXTENSIONS = """\
public static class E
{
    /// <summary>For sequences.</summary>
    extension<T>(IEnumerable<T> source) where T : notnull
    {
        /// <summary>Empty?</summary>
        public bool IsEmpty => !source.Any();
        public void Each(Action<T> act) { }
    }

    extension(ref readonly Größe größe) { public int A() => 1; }

    extension(string)
    {
        public static string Of(int x) => "extension(int y) { }";
    }

    public static bool extension(int x) { return true; }
}
"""


def test_extension_blocks() -> None:
    """C# 14"""
    file = segment_csharp(EXTENSIONS)
    found = only(EXTENSIONS)
    assert [(m.kind, m.name) for m in found.members] == [
        (MemberKind.EXTENSION, "extension(IEnumerable<T>)"),
        (MemberKind.EXTENSION, "extension(ref readonly Größe)"),
        (MemberKind.EXTENSION, "extension(string)"),
        (MemberKind.METHOD, "extension"),
    ]
    sequences, sizes, strings, _ = found.members
    assert sequences.signature == "extension<T>(IEnumerable<T> source) where T : notnull"
    assert sequences.parameters == (Parameter("source", "IEnumerable<T>"),)
    assert (sequences.doc, sequences.type_parameters, names(sequences)) == (
        "For sequences.",
        ("T",),
        ["IsEmpty", "Each"],
    )
    assert sizes.parameters == (Parameter("größe", "Größe", modifiers=("ref", "readonly")),)
    assert strings.parameters == (Parameter("", "string"),)
    assert strings.signature == "extension(string)"
    assert names(strings) == ["Of"]
    check_invariants(EXTENSIONS, file)


def test_an_extension_block_of_methods_only_is_not_a_constructor() -> None:
    """The grammar takes it for one, without an error."""
    (found,) = members_of("extension(string s) { public bool Empty() => true; public int N() { return 1; } }")
    assert (found.kind, names(found)) == (MemberKind.EXTENSION, ["Empty", "N"])


@pytest.mark.parametrize(
    "body",
    [
        'string s = "allows ref struct";',
        "// operator +=(int x)\nint f;",
        'string s = @"\n#if A\n(\n#endif\n";',
        'string s = """\n#else\na?.b = 1\n""";',
        'string s = $"{(a ? "(text, out r) =>" : "x")}";',
        'char c = \'"\'; string d = "#if";',
        'void M() { Call("extension(string s) { "); }',
    ],
    ids=["string", "comment", "verbatim", "raw", "interpolated", "char", "extension"],
)
def test_nothing_inside_strings_and_comments_is_masked(body: str) -> None:
    text = f"class C\n{{\n{body}\n}}\n"
    assert segment_csharp(text).masked == ()
    # the same text in a file that does need masks
    broken = f"class C\n#if A\n: B\n#endif\n{{\n{body}\n}}\n"
    file = segment_csharp(broken)
    assert (file.health, file.masked) == (ParseHealth.RESCUED, ())
    assert body in [m.span.slice(broken) for m in file.segments[0].members] or body.count(";") > 1


SPLIT = """\
namespace N
{
    public class A
#if NET
        : IDisposable
#endif
    {
#if NET
        public Task<int> ReadAsync(int x)
#else
        public int Read(int x)
#endif
        {
            return 1;
        }
        void F() { if (x) { }
#if Q
        else
#endif
        { } }
    }
#if NET
    class OnlyNet {
#else
    class NotNet {
#endif
        int z;
    }
}
"""


def test_a_split_construct_takes_one_branch_and_keeps_what_the_other_declares() -> None:
    file = segment_csharp(SPLIT)
    assert file.health is ParseHealth.RESCUED
    assert outline(file) == [
        "class N.A",
        "  method ReadAsync",
        "  method Read",
        "  method F",
        "class N.OnlyNet",
        "  field z",
        "class N.NotNet",
    ]
    assert file.masked == ("#else at 10-11", "#else at 24-25")
    assert file.detail == "2 declarations read from other #if branches"
    first = file.segments[0]
    assert first.base_list == ("IDisposable",)
    assert first.signature == "public class A : IDisposable"
    assert member(first, "Read").span.slice(SPLIT).strip() == "public int Read(int x)"
    assert file.segments[2].span.slice(SPLIT) == "class NotNet {"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#if A\nclass X : B {\n#else\nclass X : C {\n#endif\nint a; }\n", ["class X", "  field a"]),
        ("class X\n#if A\n: B {\n#else\n{\n#endif\nint a; }\n", ["class X", "  field a"]),
        (
            "class X {\nvoid F(\n#if A\nint x\n#else\nstring y\n#endif\n) { } }\n",
            ["class X", "  method F", "  method F"],
        ),
        ("class X {\n#if A\ninternal\n#else\npublic\n#endif\nint a; }\n", ["class X", "  field a"]),
        ("class X {\n#if A\nint a; }\n#endif\n", ["class X", "  field a"]),
        ("#if A\n#if B\nclass X\n#else\nclass Y\n#endif\n#endif\n{ int a; }\n", ["class X", "  field a"]),
        ("class X {\n#if false\nthis is prose, it isn't code\n#endif\nint a; }\n", ["class X", "  field a"]),
        ("class X { int a;\n#pragma warning disable whatever -\n}\n", ["class X", "  field a"]),
        ("#:package A@1\n#!/usr/bin\nclass X { int a; }\n", ["class X", "  field a"]),
        ("class X { int a; }\n#pragma warning restore 618", ["class X", "  field a"]),
    ],
    ids=[
        "header",
        "body",
        "parameters",
        "modifier",
        "unclosed",
        "nested",
        "prose",
        "pragma",
        "file-based",
        "last-line",
    ],
)
def test_directives_that_break_the_grammar(text: str, expected: list[str]) -> None:
    file = segment_csharp(text)
    assert file.health in (ParseHealth.OK, ParseHealth.RESCUED), file.detail
    assert [line for line in outline(file) if not line.startswith("class Y")] == expected


def test_a_namespace_or_modifier_of_the_other_branch_is_no_loss() -> None:
    text = (
        "#if !A\nnamespace Y {\n#else\nnamespace X {\n#endif\n#if !A\ninternal\n#else\npublic\n#endif\nclass C { }\n}\n"
    )
    file = segment_csharp(text)
    assert (outline(file), file.masked) == (["class X.C"], ("#if !A at 1-2", "#if !A at 6-7"))


def test_statements_of_the_other_branch_are_kept_as_text() -> None:
    text = "using A;\n#if X\nnamespace N {\n#else\n[assembly: B(1)] namespace M { enum E {\n#endif\nclass C { }\n}\n"
    file = segment_csharp(text, "x.cs")
    assert "class N.C" in outline(file)
    assert any("assembly" in segment.span.slice(text) for segment in file.segments)


def test_signatures_show_the_branch_that_was_taken() -> None:
    text = "class X {\nvoid F(\n#if A\n  int x\n#else\n  string y\n#endif\n) { } }\n"
    first, second = only(text).members
    assert (first.signature, first.parameters) == ("void F(int x)", (Parameter("x", "int"),))
    assert second.parameters == (Parameter("y", "string"),)


BROKEN_HEADER = """\
using System;

namespace N
{
    // lost too
    public class A : <<< {
        public void M() { }
    }

    public class B { }

    garbage ( here
}
"""


def test_a_broken_file_is_partial_and_loses_no_line() -> None:
    """Every line that is not blank lies in a segment."""
    file = segment_csharp(BROKEN_HEADER, "src/A.cs")
    assert file.health is ParseHealth.PARTIAL
    assert "N.B" in symbols(file)
    assert "syntax error" in file.detail
    covered = {line for s in file.segments for line in range(s.span.line_start, s.span.line_end + 1)}
    wanted = {n for n, line in enumerate(BROKEN_HEADER.splitlines(), 1) if line.strip(" {}")} - {1, 3}
    assert wanted <= covered
    assert all(segment.health is ParseHealth.PARTIAL for segment in file.segments)
    check_invariants(BROKEN_HEADER, file)


@pytest.mark.parametrize(
    "text",
    [
        "This is prose. It isn't code; it has \"quotes and\nmore (parens.",
        "%%^&*( )) }{ " * 50,
        "{{{{{{{{",
        "((((",
        "<<<<<<< HEAD\n=======\n>>>>>>> theirs\n",
        "a<" * 3_000,
    ],
    ids=["prose", "noise", "braces", "parens", "conflict", "angles"],
)
def test_what_is_no_csharp_is_text(text: str) -> None:
    file = segment_csharp(text, "src/notes.cs")
    assert file.health is ParseHealth.TEXT_FALLBACK
    assert file.detail
    (segment,) = file.segments
    assert (segment.kind, segment.symbol, segment.span.slice(text)) == ("file", "src/notes.cs", text)
    check_invariants(text, file)


def test_a_merge_conflict_loses_no_type() -> None:
    text = "class A { int a; }\n<<<<<<< HEAD\nclass B { }\n=======\nclass C { }\n>>>>>>> x\nclass D { int d; }\n"
    file = segment_csharp(text, "x.cs")
    assert file.health is ParseHealth.PARTIAL
    assert "A" in symbols(file)
    assert any(segment.span.char_start <= text.index("int d") < segment.span.char_end for segment in file.segments)
    check_invariants(text, file)


def test_errors_in_bodies_cost_no_declaration() -> None:
    text = "class A {\n  void F() { a ((( ; }\n  int P { get { $$ } set { %% } }\n  int X() => ** ;\n  int last; }\n"
    file = segment_csharp(text)
    assert file.health is ParseHealth.RESCUED
    assert names(only(text)) == ["F", "P", "X", "last"]
    assert member(only(text), "P").accessors == ("get", "set")
    assert file.masked


def test_many_broken_bodies_are_summed_up() -> None:
    text = "class A {\n" + "void F() { ( }\n" * 20 + "}\n"
    assert segment_csharp(text).masked == ("20 unparsed bodies at 2-21",)


@pytest.mark.parametrize(
    ("code", "regions"),
    [
        ("class A { void F() { a; } int x = 1, y; }", [" a; ", " 1, y"]),
        ("class A { int P { get { a; } set => b; } = 3; }", [" a; ", " b", " 3"]),
        ("namespace N { enum E { A = 1, B = 2 } }", [" 1", " 2 "]),
        ("void F<T>() where T : class { a; }", [" a; "]),
        ("class A { A() : base(1) { a; } }", [" a; "]),
        ("record R(int X) { int F() { a; } }", [" a; "]),
        ("class A { static bool operator ==(A a, A b) { c; } }", [" c; "]),
        ("[A(B = 1)] class A { (int, int) P { get; } }", []),
        ("class A { void F() { if (a) { b; } } void G() { c", [" if (a) { b; } "]),
        ("if (a) { b; } else { c; }", [" b; ", " c; "]),
    ],
    ids=["members", "accessors", "enum", "constraint", "base", "record", "operator", "tuple", "unclosed", "statements"],
)
def test_code_regions(code: str, regions: list[str]) -> None:
    assert [code[r.start : r.end] for r in code_regions(scan(code).code)] == regions
