"""Members of C# types: signatures, facts and ranges (A05, A06)."""

from __future__ import annotations

import pytest

from rag_assets.contracts.segment import Member, MemberKind, Parameter
from rag_assets_tests.segmentation.csharp_tools import member_of, members_of, only
from rag_assets_tests.segmentation.outline import texts


@pytest.mark.parametrize(
    ("body", "kind", "name", "signature"),
    [
        ("public void M() { }", "method", "M", "public void M()"),
        ("int M(int a,\n      string b = \"x  y\") => 1;", "method", "M", 'int M(int a, string b = "x  y")'),
        ("abstract Task<List<int>> M<T>(\n    T t\n) where T : class, new();", "method", "M",
         "abstract Task<List<int>> M<T>(T t) where T : class, new()"),
        ("void IFoo<int>.M() { }", "method", "M", "void IFoo<int>.M()"),
        ("public C(int a) : base(a) { }", "constructor", "C", "public C(int a)"),
        ("static C() { }", "constructor", "C", "static C()"),
        ("~C() { }", "destructor", "~C", "~C()"),
        ("public int P { get; private set; } = 4;", "property", "P", "public int P { get; private set; }"),
        ("public int P => field;", "property", "P", "public int P { get; }"),
        ("public required string P { get { return x; } init { x = value; } }", "property", "P",
         "public required string P { get; init; }"),
        ("public string this[int i, string j = null] => x;", "indexer", "this[]",
         "public string this[int i, string j = null] { get; }"),
        ("private readonly int _a;", "field", "_a", "private readonly int _a"),
        ("public const string Route = \"api/{id}\"; ", "field", "Route", 'public const string Route = "api/{id}"'),
        ("fixed byte buffer[128];", "field", "buffer", "fixed byte buffer[128]"),
        ("public event EventHandler<int> Changed;", "event", "Changed", "public event EventHandler<int> Changed"),
        ("event X I.Y { add { } remove { } }", "event", "Y", "event X I.Y { add; remove; }"),
        ("static C operator +(C a, C b) => a;", "operator", "operator +", "static C operator +(C a, C b)"),
        ("public static C operator checked -(C a) => a;", "operator", "operator checked -",
         "public static C operator checked -(C a)"),
        ("public static explicit operator int(C c) => 1;", "operator", "explicit operator int",
         "public static explicit operator int(C c)"),
        ("static abstract T operator >>>(T a, int b);", "operator", "operator >>>",
         "static abstract T operator >>>(T a, int b)"),
        ("void M(int a, // the first\n       /* and */ int b) { }", "method", "M", "void M(int a, int b)"),
        ("void M(\n#pragma warning disable 1\n int a) { }", "method", "M", "void M(int a)"),
        ("[A]\n#pragma warning disable 1\npublic void M() { }", "method", "M", "public void M()"),
        ("ref readonly int M(ref int a) => ref a;", "method", "M", "ref readonly int M(ref int a)"),
        ("partial void M();", "method", "M", "partial void M()"),
        ("extern static int M();", "method", "M", "extern static int M()"),
    ],
    ids=lambda value: value[:34].replace("\n", " ") if isinstance(value, str) else "",
)  # fmt: skip
def test_signatures(body: str, kind: str, name: str, signature: str) -> None:
    found = member_of(body)
    assert (found.kind.value, found.name, found.signature) == (kind, name, signature)


def test_what_a_method_says() -> None:
    body = """\
/// <summary>Finds one.</summary>
[HttpGet("{id}"), Authorize(Roles = "a, b")]
[return: NotNull]
public static async Task<Order> Find<[Obsolete] T, U>(
    [FromRoute] this T id, ref readonly U u, scoped Span<int> s, in int i, out int o,
    [X(1)] params int[] rest) where T : notnull
{
    return null;
}"""
    found = member_of(body, "static class C")
    assert found.doc == "Finds one."
    assert found.type == "Task<Order>"
    assert found.attributes == ('HttpGet("{id}")', 'Authorize(Roles = "a, b")', "return: NotNull")
    assert found.modifiers == ("public", "static", "async")
    assert found.type_parameters == ("T", "U")
    assert found.parameters == (
        Parameter("id", "T", modifiers=("this",), attributes=("FromRoute",)),
        Parameter("u", "U", modifiers=("ref", "readonly")),
        Parameter("s", "Span<int>", modifiers=("scoped",)),
        Parameter("i", "int", modifiers=("in",)),
        Parameter("o", "int", modifiers=("out",)),
        Parameter("rest", "int[]", modifiers=("params",), attributes=("X(1)",)),
    )
    assert "FromRoute" not in found.signature
    assert found.signature.endswith("in int i, out int o, params int[] rest) where T : notnull")


@pytest.mark.parametrize(
    ("body", "fact", "expected"),
    [
        ("int IFoo<T>.P => 1;", "explicit_interface", "IFoo<T>"),
        ("void N.IFoo.M() { }", "explicit_interface", "N.IFoo"),
        ("event X I.Y { add { } remove { } }", "explicit_interface", "I"),
        ("int P { get; [A] private protected set; }", "accessors", ("get", "private protected set")),
        ("int P => 1;", "accessors", ("get",)),
        ("int P { get; } = 1 + 2;", "value", "1 + 2"),
        ("int P { get; } = Make(\n1);", "value", ""),
        ("int P => 1;", "value", ""),
        ("string f = @\"a\"\"b\";", "value", '@"a""b"'),
        (f"string f = \"{'x' * 200}\";", "value", ""),
        ("(int a, string b) f;", "type", "(int a, string b)"),
        ("int? [] f;", "type", "int? []"),
        ("delegate*<int, void> f;", "type", "delegate*<int, void>"),
        ("public static implicit operator Money(int i) => null;", "type", "Money"),
        ("C() { }", "type", ""),
        ("[A] [B(\"]\")] int f;", "attributes", ("A", 'B("]")')),
        ("[field: A] int P { get; }", "attributes", ("field: A",)),
        ("[A]\n#if X\n[B]\n#else\n[D]\n#endif\nint f;", "attributes", ("A", "B", "D")),
        ("public /* why */ static int f;", "modifiers", ("public", "static")),
    ],
    ids=lambda value: value[:34].replace("\n", " ") if isinstance(value, str) else "",
)  # fmt: skip
def test_facts(body: str, fact: str, expected: object) -> None:
    assert getattr(member_of(body), fact) == expected


def test_each_declarator_is_a_member_and_their_ranges_tile_the_declaration() -> None:
    body = "/// <summary>Sizes.</summary>\n[A] public int a = 1, b, c = 3; // all"
    text = f"class C\n{{\n{body}\n}}\n"
    found = only(text)
    assert [(m.name, m.value, m.doc, m.attributes) for m in found.members] == [
        ("a", "1", "Sizes.", ("A",)),
        ("b", "", "Sizes.", ("A",)),
        ("c", "3", "Sizes.", ("A",)),
    ]
    assert texts(text, found) == ["/// <summary>Sizes.</summary>\n[A] public int a = 1,", "b,", "c = 3; // all"]


def test_fields_of_events_are_events() -> None:
    a, b = members_of("event Action A, B;")
    assert (a.kind, b.kind, b.signature) == (MemberKind.EVENT, MemberKind.EVENT, "event Action B")


def test_enum_values_carry_numbers_docs_and_attributes() -> None:
    """A04 and domain §2: explicit numbers and documentation."""
    text = """\
[Flags]
public enum Access : ushort
{
    /// <summary>Nothing.</summary>
    None = 0,
    Read = 1, // may read
    [Obsolete("x")]
    Write = Read << 1,
    /* all of it */
    All = Read
        | Write
}
"""
    access = only(text)
    assert access.base_list == ("ushort",)
    assert [(m.name, m.value, m.doc, m.attributes) for m in access.members] == [
        ("None", "0", "Nothing.", ()),
        ("Read", "1", "may read", ()),
        ("Write", "Read << 1", "", ('Obsolete("x")',)),
        ("All", "", "all of it", ()),
    ]
    assert texts(text, access)[1] == "Read = 1, // may read"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize("name", ["Name", "Größe", "名前"], ids=["ascii", "latin", "cjk"])
def test_consecutive_members_tile_the_body(newline: str, name: str) -> None:
    """`slice == text[span]`, whatever the line ends and the characters."""
    parts = [
        f"/// <summary>𝄞 {name}</summary>\n    [A]\n    public int {name};",
        f'// plain\n    void M{name}() {{ Call("é𝄞"); }} // after',
        f"/** <summary>x</summary> */\n    public int P{name} {{ get; set; }}",
        f"class I{name} {{ int x; }}",
    ]
    body = "\n\n    ".join(parts)
    text = f"// é𝄞\nnamespace Ü;\n\nclass C\n{{\n    {body}\n}}\n".replace("\n", newline)
    found = only(text)
    assert texts(text, found) == [part.replace("\n", newline) for part in parts]
    assert found.span.slice(text) == text[text.index("class C") :].rstrip()
    lines = [(m.span.line_start, m.span.line_end) for m in found.members]
    assert lines == [(6, 8), (10, 11), (13, 14), (16, 16)]
    assert [m.name for m in found.members] == [name, f"M{name}", f"P{name}", f"I{name}"]


@pytest.mark.parametrize(
    ("body", "doc"),
    [
        ("// plain\nint f;", "plain"),
        ("// far\n\nint f;", ""),
        ("int f; // behind", "behind"),
        ("int f; /// <summary>Behind.</summary>", "Behind."),
        ("// above\nint f; // behind", "above"),
        ("void M() { } // behind", ""),
        ("// plain\n/// <summary>Doc.</summary>\nint f;", "Doc."),
        ("/// <summary>Doc.</summary>\n// plain\nint f;", "Doc."),
        ("#region Fields\n/// <summary>Doc.</summary>\n#endregion\nint f;", "Doc."),
        ("/// <summary>Doc.</summary>\n#if X\nint f;\n#endif", "Doc."),
        ("//// not documentation\nint f;", "not documentation"),
        ("// ---------\n// Real.\n// ReSharper disable once All\n// var x = 1;\nint f;", "Real."),
    ],
    ids=["above", "far", "behind", "doc-behind", "above-wins", "behind-method", "doc-last", "doc-first", "region",
         "if", "four-slashes", "noise"],
)  # fmt: skip
def test_which_comment_documents_a_member(body: str, doc: str) -> None:
    assert member_of(body).doc == doc


def test_nothing_is_read_from_bodies() -> None:
    found = members_of("void M() { int x; void Local() { } class_x = 1; }\nint P { get { int y; return y; } }")
    assert [member.name for member in found] == ["M", "P"]


def depth_of(member: Member) -> int:
    return 1 + max((depth_of(inner) for inner in member.members), default=0)


def test_nesting_is_read_to_a_bound_that_no_real_code_reaches() -> None:
    found = members_of("class A { " * 20 + "int x;" + "}" * 20)
    assert depth_of(found[0]) == 21
    found = members_of("class A { " * 2_000 + "int x;" + "}" * 2_000)
    assert depth_of(found[0]) < 100
