"""Nodes, and what types and members are to each other."""

from __future__ import annotations

import pytest

from rag_assets.contracts.graph import Confidence, GraphEdge, NodeType
from rag_assets.graph.extract import csharp
from rag_assets_tests.languages.csharp.binder.labels import edges_in, edges_of, extracted, nodes_in, short


@pytest.mark.rule("D18")
def test_nodes_have_the_keys_of_the_points() -> None:
    code = """namespace N;
    class A<T> { int f, g; int P { get; } event System.Action E; A(int x) {} void M<U>(ref int? a, List<T> b) {}
      class In<V> { void X() {} } int this[int i] => i; public static A<T> operator +(A<T> a, A<T> b) => a; }
    enum K { One } delegate int D(string s);"""
    nodes = nodes_in({"x/a.cs": code})
    assert {node.key for node in nodes} == {
        "file:x/a.cs|FILE", "csharp:N.A`1|TYPE", "csharp:N.A`1.f|PROPERTY", "csharp:N.A`1.g|PROPERTY",
        "csharp:N.A`1.P|PROPERTY", "csharp:N.A`1.E|PROPERTY", "csharp:N.A`1.A(int)|METHOD",
        "csharp:N.A`1.M(int?,List<T>)|METHOD", "csharp:N.A`1.In|TYPE", "csharp:N.A`1.In.X()|METHOD",
        "csharp:N.A`1.this[]|PROPERTY", "csharp:N.A`1.operator +(A<T>,A<T>)|METHOD", "csharp:N.K|TYPE",
        "csharp:N.D|TYPE",
    }  # fmt: skip
    inner = next(node for node in nodes if node.name == "In")
    assert (inner.kind, inner.path, inner.line_start, inner.language) == (NodeType.TYPE, "x/a.cs", 3, "csharp")


def test_everything_is_contained_once() -> None:
    found = edges_of({"a.cs": "namespace N; class A { void M() {} class B { int P { get; } } }"}, "Contains")
    assert found == {
        ("file:a.cs", "Contains", "N.A"), ("N.A", "Contains", "N.A.M()"), ("N.A", "Contains", "N.A.B"),
        ("N.A.B", "Contains", "N.A.B.P"),
    }  # fmt: skip


def test_parts_of_a_type_are_nodes_of_one_key() -> None:
    files = {"a.cs": "namespace N; partial class A { }", "b.cs": "namespace N; partial class A { }"}
    found = [(node.key, node.path) for node in nodes_in(files, NodeType.TYPE)]
    assert found == [("csharp:N.A|TYPE", "a.cs"), ("csharp:N.A|TYPE", "b.cs")]


@pytest.mark.rule("D19")
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param("class B {} class A : B {}", ("N.A", "Inherits", "N.B"), id="class"),
        pytest.param("interface I {} class A : I {}", ("N.A", "Implements", "N.I"), id="interface"),
        pytest.param("interface I {} interface J : I {}", ("N.J", "Inherits", "N.I"), id="interface of an interface"),
        pytest.param("class B<T> {} class X {} class A : B<X> {}", ("N.A", "UsesType", "N.X"), id="argument of a base"),
        pytest.param(
            "interface I { void F(); } class A : I { public void F() {} }",
            ("N.A.F()", "Implements", "N.I.F()"),
            id="method",
        ),
        pytest.param(
            "interface I { int P { get; } } class A : I { int I.P => 1; }",
            ("N.A.P", "Implements", "N.I.P"),
            id="explicit property",
        ),
        pytest.param(
            "interface I<T> { void F(T x); } class X {} class A : I<X> { public void F(X x) {} "
            "public void F(int y) {} }",
            ("N.A.F(X)", "Implements", "N.I`1.F(T)"),
            id="generic interface",
        ),
        pytest.param(
            "interface I { void F(); } class B { public void F() {} } class A : B, I {}",
            ("N.B.F()", "Implements", "N.I.F()"),
            id="by the base",
        ),
        pytest.param(
            "class B { public virtual void F() {} } class M : B {} class A : M { public override void F() {} }",
            ("N.A.F()", "Overrides", "N.B.F()"),
            id="override",
        ),
        pytest.param(
            "class B { public virtual void F(int? a) {} public virtual void F(int a) {} public virtual void F(string a)"
            " {} } class A : B { public override void F(string a) {} public override void F(int a) {} }",
            ("N.A.F(string)", "Overrides", "N.B.F(string)"),
            id="override of an overload",
        ),
        pytest.param(
            "class B { public virtual void F(int? a) {} public virtual void F(int a) {} } "
            "class A : B { public override void F(int a) {} }",
            ("N.A.F(int)", "Overrides", "N.B.F(int)"),
            id="override of an overload without null",
        ),
        pytest.param(
            "class B { public virtual void F<T>(T a, (int x, T y) b) {} } "
            "class A : B { public void F(int a, (int, int) b) {} public override void F<U>(U a, (int, U) b) {} }",
            ("N.A.F(U,(int,U))", "Overrides", "N.B.F(T,(intx,Ty))"),
            id="override of a generic method",
        ),
        pytest.param(
            "interface I { void F(object a); } interface J<T> : I { void F(T a); void I.F(object a) {} }",
            ("N.J`1.F(object)", "Implements", "N.I.F(object)"),
            id="by an interface",
        ),
        pytest.param("interface I {} class A { A(I i, int n) {} }", ("N.A", "Injects", "N.I"), id="constructor"),
        pytest.param("interface I {} class A(I i) {}", ("N.A", "Injects", "N.I"), id="primary constructor"),
        pytest.param(
            "interface I {} class A { [Inject] public I P { get; set; } }", ("N.A", "Injects", "N.I"), id="property"
        ),
        pytest.param(
            "interface I {} class A(System.Collections.Generic.IEnumerable<I> all) {}",
            ("N.A", "Injects", "N.I"),
            id="several",
        ),
        pytest.param("class MyAttribute {} [My] class A {}", ("N.A", "References", "N.MyAttribute"), id="attribute"),
        pytest.param("class X {} class A { X F(X a) => null; }", ("N.A.F(X)", "UsesType", "N.X"), id="signature"),
        pytest.param("class X {} class A { object F() => typeof(X); }", ("N.A.F()", "UsesType", "N.X"), id="typeof"),
        pytest.param("class X {} class A { object F() => nameof(X); }", ("N.A.F()", "UsesType", "N.X"), id="nameof"),
        pytest.param(
            "class X {} class A { void F() { var l = new List<X>(); } }",
            ("N.A.F()", "UsesType", "N.X"),
            id="argument in a body",
        ),
        pytest.param("enum K { One } class A { K F() => K.One; }", ("N.A.F()", "References", "N.K"), id="enum value"),
        pytest.param(
            "class A { int P { get; set; } int F() => P; }", ("N.A.F()", "References", "N.A.P"), id="property use"
        ),
        pytest.param(
            "interface I {} class X : I {} class S { void C(object services) { services.AddScoped<I, X>(); } }",
            ("N.I", "MapsTo", "N.X"),
            id="registration",
        ),
    ],
)
def test_relations_of_declarations(code: str, expected: tuple[str, str, str]) -> None:
    assert expected in edges_of({"a.cs": f"namespace N; {code}"})


@pytest.mark.rule("D19")
@pytest.mark.parametrize(
    ("code", "implemented"),
    [
        pytest.param(
            "interface I { void F(object a); } interface J<T> : I { void F(T a); void I.F(object a) {} } class X {} "
            "class A : J<X> { public void F(X a) {} }",
            {("N.A.F(X)", "N.J`1.F(T)"), ("N.J`1.F(object)", "N.I.F(object)")},
            id="explicit members of an interface are no targets",
        ),
        pytest.param(
            "interface I { void F(string a) {} } class A : I { public void F(int a) {} }", set(), id="another type"
        ),
        pytest.param(
            "interface I { void F<T>(T a); } class B<T> : I { public void F(T a) {} }", set(), id="another arity"
        ),
        pytest.param(
            "interface I { void F(Stream a); } class A : I { public void F(System.IO.Stream a) {} }",
            {("N.A.F(System.IO.Stream)", "N.I.F(Stream)")},
            id="a type of a library, written otherwise",
        ),
        pytest.param(
            "interface I { void F(int a); void F(int? a); } class A : I { public void F(int? a) {} "
            "public void F(int a) {} }",
            {("N.A.F(int)", "N.I.F(int)"), ("N.A.F(int?)", "N.I.F(int?)")},
            id="with and without null",
        ),
    ],
)
def test_a_member_implements_what_has_its_parameters(code: str, implemented: set[tuple[str, str]]) -> None:
    found = edges_of({"a.cs": f"namespace N; {code}"}, "Implements")
    assert {(source, target) for source, _, target in found if "(" in source} == implemented


def test_what_a_base_implements_is_not_compared_again_for_its_derived_types(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred providers of one base with hundreds of overloads took minutes."""
    code = """interface I { void F(int a); void F(string a); void G(); }
    class B : I { public virtual void F(int a) {} public virtual void F(string a) {} public virtual void G() {} }
    class A : B { public override void F(int a) {} }"""
    compared, best = [], csharp._best
    monkeypatch.setattr(csharp, "_best", lambda wanted, found: (compared.append(wanted.key), best(wanted, found))[1])
    found = edges_of({"a.cs": code}, "Implements")
    assert {one for one in found if one[0].startswith("A.")} == {("A.F(int)", "Implements", "I.F(int)")}
    assert [key.rpartition("|")[0] for key in compared].count("csharp:I.G()") == 1, "for B alone"


def test_an_implementation_is_at_the_line_of_its_member() -> None:
    code = """interface I { void F(); void G(); void H(); }
    class B { public void H() {} }
    class A : B, I {
        public void F() {}
        void I.G() {}
        public void G() {}
    }"""
    found = [edge for edge in extracted({"a.cs": code}) if isinstance(edge, GraphEdge) and "(" in edge.source]
    lines = {edge.target: edge.line for edge in found if edge.relation == "Implements"}
    assert lines == {"csharp:I.F()|METHOD": 4, "csharp:I.G()|METHOD": 5, "csharp:I.H()|METHOD": 3}


@pytest.mark.parametrize(
    ("call", "registered"),
    [
        pytest.param("AddScoped<I, X>()", {("N.I", "N.X", "resolved")}, id="implements it"),
        pytest.param("AddScoped<I, Open>()", {("N.I", "N.Open", "probable")}, id="base in code that is not indexed"),
        pytest.param("AddScoped<I, Other>()", set(), id="cannot be one"),
        pytest.param("Register<I, X>()", {("N.I", "N.X", "resolved")}, id="container with a plain word"),
        pytest.param("Register<View, Open>(this, Got)", set(), id="messenger"),
        pytest.param("AddScoped<G<X>>(p => new G<X>(p))", set(), id="factory of the generic type itself"),
        pytest.param("AddScoped<Foreign<X>, Other>()", set(), id="service of a library"),
    ],
)
def test_a_registration_gives_what_is_of_the_service(call: str, registered: set[tuple[str, str, str]]) -> None:
    code = "namespace N; interface I {} class X : I {} class Open : Library {} class Other {} class View {} "
    code += f"class G : Library {{}} class G<T> : G {{}} class S {{ void C(object services) {{ services.{call}; }} }}"
    found = [edge for edge in extracted({"a.cs": code}) if isinstance(edge, GraphEdge) and edge.relation == "MapsTo"]
    assert {(short(edge.source), short(edge.target), edge.confidence.value) for edge in found} == registered


def test_an_injected_class_is_only_probable() -> None:
    found = edges_in({"a.cs": "namespace N; interface I {} class K {} class A(I i, K k) {}"}, "Injects")
    injects = {edge.target: edge.confidence for edge in found}
    assert injects == {"csharp:N.I|TYPE": Confidence.RESOLVED, "csharp:N.K|TYPE": Confidence.PROBABLE}


def test_project_files_refer_to_packages_and_projects() -> None:
    text = """<Project Sdk="Microsoft.NET.Sdk">
      <ItemGroup><PackageReference Include="Dapper" Version="2.1" />
      <!-- <PackageReference Include="Old" /> --></ItemGroup>
      <ItemGroup><ProjectReference Include="..\\b\\b.csproj" /></ItemGroup>
    </Project>"""
    files = {"src/a/a.csproj": text}
    edges = [(edge.target, edge.line) for edge in edges_in(files)]
    assert edges == [("nuget:Dapper|PACKAGE", 2), ("file:src/b/b.csproj|FILE", 4)]
    assert {node.key for node in nodes_in(files)} == {"file:src/a/a.csproj|FILE", "nuget:Dapper|PACKAGE"}


@pytest.mark.rule("D18")
def test_a_record_has_the_properties_of_its_parameters_at_their_lines() -> None:
    code = """/// <param name="Id">Not the line of Id.</param>
    record Order(
        int Id, // the Total is computed
        [property: Key] string? Name = null,
        int Total = 1) { public int Total { get; } = Total; record Line(int No); }
    record struct Pair<T>(T Left, T Right);
    class Plain(int Id);"""
    files = {"a.cs": code}
    lines = {node.key: node.line_start for node in nodes_in(files, NodeType.PROPERTY)}
    assert lines == {
        "csharp:Order.Id|PROPERTY": 3, "csharp:Order.Name|PROPERTY": 4, "csharp:Order.Total|PROPERTY": 5,
        "csharp:Order.Line.No|PROPERTY": 5, "csharp:Pair`1.Left|PROPERTY": 6, "csharp:Pair`1.Right|PROPERTY": 6,
    }  # fmt: skip
    assert ("Order", "Contains", "Order.Id") in edges_of(files, "Contains")


def test_a_positional_property_can_be_referred_to() -> None:
    code = "record A(int Id); class B { int M(A a) => a.Id; }"
    assert edges_of({"a.cs": code}, "References") == {("B.M(A)", "References", "A.Id")}
