"""Which member a call means: receivers, overloads, extensions, constructors, delegates."""

from __future__ import annotations

import pytest

from rag_assets.contracts.graph import Confidence
from rag_assets_tests.languages.csharp.binder.labels import edges_in, edges_of, targets

ORDER = """
class Line { public void Ship() {} public Line Next; }
class Order { public Line First() => null; public Line Main { get; set; } public int Total() => 1;
  public System.Collections.Generic.List<Line> Lines; public System.Threading.Tasks.Task<Line> LoadAsync() => null; }
"""


@pytest.mark.rule("D19")
@pytest.mark.parametrize(
    "body",
    [
        pytest.param("void M(Line x) { x.Ship(); }", id="parameter"),
        pytest.param("Line f; void M() { f.Ship(); this.f.Ship(); }", id="field"),
        pytest.param("Line P { get; set; } void M() => P?.Ship();", id="property, conditional"),
        pytest.param("void M() { var x = new Line(); x.Ship(); }", id="var from a constructor"),
        pytest.param("void M() { Line x = new(); x.Ship(); }", id="target-typed new"),
        pytest.param("void M(Order o) { var x = o.First(); x!.Ship(); }", id="var from a known return"),
        pytest.param("async void M(Order o) { (await o.LoadAsync()).Ship(); }", id="await"),
        pytest.param("void M(Order o) { foreach (var x in o.Lines) x.Ship(); }", id="foreach"),
        pytest.param("void M(Order o) { o.Lines[0].Ship(); }", id="indexer of a list"),
        pytest.param("void M(Line[] a) { a[0].Ship(); }", id="element of an array"),
        pytest.param("void M(object x) { if (x is Line y) y.Ship(); }", id="pattern variable"),
        pytest.param("void M(object x) { switch (x) { case Line y: y.Ship(); break; } }", id="case"),
        pytest.param("void M(Order o) { if (o is { Main: var x }) x.Ship(); }", id="property pattern"),
        pytest.param(
            "int M(object x) => x switch { Line y => F(() => y.Ship()), _ => 0 }; int F(System.Action a) => 1;",
            id="switch expression",
        ),
        pytest.param("void M() { F(out var x); x.Ship(); } void F(out Line l) { l = null; }", id="out var"),
        pytest.param("void M() { F(out Line x); x.Ship(); } void F(out Line l) { l = null; }", id="out"),
        pytest.param("void M(object x) { ((Line)x).Ship(); (x as Line).Ship(); }", id="casts"),
        pytest.param("void M() { var (a, b) = F(); b.Ship(); } (int, Line) F() => default;", id="deconstruction"),
        pytest.param("void M() { F().line.Ship(); } (int n, Line line) F() => default;", id="tuple element"),
        pytest.param("void M(Order o) { o.Lines.ForEach(x => x.Ship()); }", id="lambda of a library method"),
        pytest.param("void M(Order o) { o.Lines.Where(x => true).OrderBy(x => x).First().Ship(); }", id="LINQ"),
        pytest.param("void M(Order o) { o.Lines.Select(x => x.Next).ToList()[0].Ship(); }", id="LINQ, projected"),
        pytest.param(
            "void M(Order o) { var q = from x in o.Lines where x != null select x; q.First().Ship(); }", id="query"
        ),
        pytest.param("void M() { F(x => x.Ship()); } void F(System.Action<Line> a) {}", id="lambda of an Action"),
        pytest.param("delegate void D(Line l); void M() { F(x => x.Ship()); } void F(D d) {}", id="own delegate"),
        pytest.param(
            "void M(System.Collections.Generic.Dictionary<int, Line> d) { d.TryGetValue(1, out var x); x.Ship(); }",
            id="value of a map",
        ),
        pytest.param("void M(bool b, Line x, Line y) { (b ? x : y).Ship(); (x ?? y).Ship(); }", id="conditions"),
        pytest.param("Line X() { Line L() => null; L().Ship(); return null; }", id="local function"),
        pytest.param("T G<T>() => default; void M() { G<Line>().Ship(); }", id="type argument given"),
        pytest.param("T G<T>(T x) => x; void M(Line l) { G(l).Ship(); }", id="type argument inferred"),
        pytest.param(
            "T G<T>(System.Func<T> f) => f(); void M(Line l) { G(() => l).Ship(); }", id="inferred by a lambda"
        ),
        pytest.param("void M<T>(T x) where T : Line { x.Ship(); }", id="constraint"),
        pytest.param("void M(Order o) { var a = new { o.Main, Z = 1 }; a.Main.Ship(); }", id="anonymous object"),
        pytest.param("void M(System.Lazy<Line> x) { x.Value.Ship(); }", id="value of a wrapper"),
        pytest.param("void M(Order o) { using var x = o.First(); x.Ship(); }", id="using declaration"),
        pytest.param("void M(Order o) { N.Line x = o.Main; x.Ship(); }", id="qualified name"),
    ],
)
def test_the_type_of_a_receiver_is_followed(body: str) -> None:
    assert "Line.Ship()" in targets(f"class C {{ {body} }} {ORDER}")


@pytest.mark.parametrize(
    ("body", "called"),
    [
        pytest.param("F(1)", "T.F(int)", id="number"),
        pytest.param('F("a")', "T.F(string)", id="text"),
        pytest.param("F()", "T.F()", id="none"),
        pytest.param('F(1, "b")', "T.F(int,string)", id="optional given"),
        pytest.param("F(new T())", "T.F(T)", id="own type"),
        pytest.param("F(new U())", "T.F(T)", id="derived type"),
        pytest.param("F(1.5, 2, 3)", "T.F(double,int[])", id="params"),
        pytest.param("F(() => 1)", "T.F(Func<int>)", id="lambda without parameters"),
        pytest.param("F(x => x + 1)", "T.F(Func<int,int>)", id="lambda with one"),
        pytest.param("F(text: null)", "T.F(string)", id="named"),
        pytest.param("F<int>()", "T.F()", id="type arguments"),
        pytest.param("F(System.TimeSpan.Zero)", "T.F(V)", id="implicit conversion"),
    ],
)
def test_overloads_are_chosen_by_arity_and_types(body: str, called: str) -> None:
    declared = """class T { public void F() {} public void F<A>() {} public void F(int n) {}
      public void F(string text) {}
      public void F(int n, string t = "") {} public void F(T t) {} public void F(double d, params int[] rest) {}
      public void F(Func<int> f) {} public void F(Func<int, int> f) {}
      public void F(V v) {} } class U : T {}
      struct V { public static implicit operator V(TimeSpan t) => default; }"""
    assert targets(f"class C {{ void M(T t) {{ t.{body}; }} }} {declared}") == {called}


def test_an_undecided_overload_is_probable() -> None:
    code = "namespace N; class C { void M(C c) { F(Unknown.X); } void F(int a) {} void F(string b) {} }"
    calls = [(edge.target, edge.confidence) for edge in edges_in({"a.cs": code}, "Calls")]
    assert calls == [("csharp:N.C.F(int)|METHOD", Confidence.PROBABLE)]


@pytest.mark.parametrize(
    ("code", "called"),
    [
        pytest.param(
            "class B { public void F() {} } class C : B { void M() { F(); base.F(); } }", {"B.F()"}, id="base"
        ),
        pytest.param(
            "class B { public virtual void F() {} } class D : B { public override void F() {} } "
            "class C { void M(D d, B b) { d.F(); } }",
            {"D.F()"},
            id="override of the static type",
        ),
        pytest.param(
            "interface I { void F(); } class D : I { public void F() {} } class C { void M(I i) { i.F(); } }",
            {"I.F()"},
            id="interface, not what implements it",
        ),
        pytest.param(
            "interface I : J { } interface J { void F(); } class C { void M(I i) { i.F(); } }",
            {"J.F()"},
            id="base interface",
        ),
        pytest.param(
            "class R<T> { public T Get() => default; } class O { public void F() {} } class P : R<O> {} "
            "class C { void M(P p) { p.Get().F(); } }",
            {"R`1.Get()", "O.F()"},
            id="generic base",
        ),
        pytest.param(
            "static class E { public static void X(this O o) {} } class O {} class C { void M(O o) { o.X(); } }",
            {"E.X(O)"},
            id="extension",
        ),
        pytest.param(
            "static class E { public static void X(this O o) {} } class O { public void X() {} } "
            "class C { void M(O o) { o.X(); } }",
            {"O.X()"},
            id="instance before extension",
        ),
        pytest.param(
            "static class E { public static T X<T>(this T o) => o; } class O { public void F() {} } "
            "class C { void M(O o) { o.X().F(); } }",
            {"E.X(T)", "O.F()"},
            id="generic extension",
        ),
        pytest.param(
            "static class E { extension(O o) { public int X() => 1; } } class O {} class C { void M(O o) { o.X(); } }",
            {"E.extension(O).X()"},
            id="extension block",
        ),
        pytest.param(
            "class Color { public static void S() {} public void I() {} } "
            "class C { Color Color; void M() { Color.S(); Color.I(); } }",
            {"Color.S()", "Color.I()"},
            id="member and type of one name",
        ),
        pytest.param(
            "class O { public class I { public static void F() {} } } class C { void M() { O.I.F(); } }",
            {"O.I.F()"},
            id="nested type",
        ),
        pytest.param(
            "class B { protected static class I { public static void F() {} } } class C : B { void M() { I.F(); } }",
            {"B.I.F()"},
            id="nested type of the base",
        ),
        pytest.param(
            "class C { int P => F(); int f = F(); C() : this(F()) {} C(int a) {} static int F() => 1; }",
            {"C.F()", "C.C(int)"},
            id="accessors, initialisers, chaining",
        ),
        pytest.param(
            "class O { public O(int a) {} } class C : O { C() : base(1) {} }", {"O.O(int)"}, id="base chaining"
        ),
        pytest.param(
            "class C { void M() { System.Action a = () => F(); void L() => F(); } void F() {} }",
            {"C.F()"},
            id="lambdas and local functions count to the member",
        ),
    ],
)
def test_calls_of_members_elsewhere(code: str, called: set[str]) -> None:
    assert targets(code) == called


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("void M(Unknown u) { u.Run(); }", id="type of a library"),
        pytest.param("void M(dynamic u) { u.Run(); }", id="dynamic"),
        pytest.param("void M(string s) { s.Run(); }", id="text"),
        pytest.param("void M(System.Action Run) { Run(); }", id="delegate in a parameter"),
        pytest.param('void M() { // x.Run();\n var s = "x.Run()"; }', id="comment and text"),
        pytest.param("void M() { Console.Run(); }", id="class of a library"),
    ],
)
def test_what_is_of_no_type_of_the_label_gives_no_call(body: str) -> None:
    assert targets(f"class C {{ {body} }} class O {{ public void Run() {{}} }}") == set()


def test_a_telling_name_is_enough_where_the_receiver_is_unknown() -> None:
    declared = "class O { public void ReleaseHeldOrders() {} public void Get() {} }"
    assert targets(
        f"class C {{ void M() {{ var x = Library.Make(); x.ReleaseHeldOrders(); x.Get(); }} }} {declared}"
    ) == {"O.ReleaseHeldOrders()"}


def test_constructions_reach_the_type_and_the_constructor() -> None:
    code = "class O { public O(int a) {} public O(string b) {} public int P { get; set; } } class Q {} "
    code += 'class C { O f = new("a"); void M() { new O(1) { P = 2 }; new Q(); } }'
    assert targets(code, "Constructs") == {"O", "O.O(string)", "O.O(int)", "Q"}
    assert "O.P" in targets(code, "References")


def test_a_primary_constructor_is_the_type() -> None:
    files = {
        "a.cs": "namespace N; class B(int x) {} class C(int y) : B(y) {} record R(int A); class D { R r = new(1); }"
    }
    assert ("N.C", "Constructs", "N.B") in edges_of(files)
    assert ("N.D.r", "Constructs", "N.R") in edges_of(files)


def test_method_groups_and_events_are_references() -> None:
    code = "class O { public event System.Action E; } class C { void M(O o) { o.E += H; F(H); } void H() {} "
    code += "void F(System.Action a) {} }"
    assert targets(code, "References") == {"O.E", "C.H()"}
    assert targets(code) == {"C.F(System.Action)"}


def test_programs_call_from_the_file() -> None:
    files = {
        "Program.cs": "using N; var s = new Service(); s.Run(); Local(); void Local() { s.Stop(); }",
        "s.cs": "namespace N; public class Service { public void Run() {} public void Stop() {} }",
    }
    assert edges_of(files, "Calls") == {
        ("file:Program.cs", "Calls", "N.Service.Run()"),
        ("file:Program.cs", "Calls", "Program.Local()"),
        ("Program.Local()", "Calls", "N.Service.Stop()"),
    }


@pytest.mark.parametrize(
    ("body", "called"),
    [
        pytest.param("\n#if X\n F();\n#else\n G();\n#endif\n", {"C.F()", "C.G()"}, id="of statements"),
        pytest.param(
            "\n#if X\n if (F()) {\n#else\n if (G()) {\n#endif\n H(); }",
            {"C.F()", "C.G()", "C.H()"},
            id="that split a statement",
        ),
    ],
)
def test_both_branches_of_a_condition_are_read(body: str, called: set[str]) -> None:
    methods = "bool F() => true; bool G() => true; void H() {}"
    assert targets(f"class C {{ void M() {{{body} }} {methods} }}") == called


def test_the_line_is_the_one_of_the_name() -> None:
    code = "namespace N;\nclass C {\n  void M(C c) {\n    c\n      .F();\n  }\n  void F() {}\n}\n"
    assert [(edge.path, edge.line) for edge in edges_in({"a.cs": code}, "Calls")] == [("a.cs", 5)]
