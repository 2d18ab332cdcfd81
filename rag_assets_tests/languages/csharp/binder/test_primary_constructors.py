"""Parameters that all members of a type may use: of primary constructors, of extension blocks."""

from __future__ import annotations

import pytest

from rag_assets_tests.languages.csharp.binder.labels import edges_of

DECLARED = "interface IR { int A(); int B(); } class X { public int B() => 1; }"


@pytest.mark.rule("D19")
@pytest.mark.parametrize(
    ("code", "called"),
    [
        pytest.param(
            "class C(IR r) { void M() { r.A(); } void N() { r.B(); } }",
            {"C.M() IR.A()", "C.N() IR.B()"},
            id="every member",
        ),
        pytest.param("class C(IR r) { int f; int P => r.A(); }", {"C.P IR.A()"}, id="after a field"),
        pytest.param("struct C(IR r) { int f; int P => r.A(); }", {"C.P IR.A()"}, id="of a structure"),
        pytest.param("class C(IR r) { int f = r.A(); int P { get; } = r.B(); }", {"C.f IR.A()", "C.P IR.B()"},
                     id="initialisers"),
        pytest.param("class C(IR r) { class In { } void M() { r.A(); } }", {"C.M() IR.A()"}, id="after a nested type"),
        pytest.param("class C(IR r) { class In { void M() { r.A(); } } }", set(), id="not in a nested type"),
        pytest.param("class C(System.Func<IR> r) { void M() {} void N() { r().B(); } }", {"C.N() IR.B()"},
                     id="delegate"),
        pytest.param("class C(IR r) { void M(X r) { r.B(); } }", {"C.M(X) X.B()"}, id="hidden by a parameter"),
        pytest.param("class C(IR r) { X r; int f = r.A(); void M() { r.B(); } }", {"C.f IR.A()", "C.M() X.B()"},
                     id="hidden by a field, but in initialisers"),
        pytest.param("class P { protected X r; } class C(IR r) : P { void M() { r.B(); } }", {"C.M() X.B()"},
                     id="hidden by an inherited field"),
        pytest.param("class P { X r; } class C(IR r) : P { void M() { r.B(); } }", {"C.M() IR.B()"},
                     id="not by a private one of the base"),
        pytest.param("partial class C { void M() { r.A(); } } partial class C(IR r) { void N() { r.B(); } }",
                     {"C.M() IR.A()", "C.N() IR.B()"}, id="in another part"),
        pytest.param("static class C { extension(IR r) { public void M() { r.A(); } public void N() { r.B(); } } "
                     "static void O() { r.A(); } }",
                     {"C.extension(IR).M() IR.A()", "C.extension(IR).N() IR.B()"}, id="extension block"),
    ],
)  # fmt: skip
def test_a_parameter_is_in_scope_in_the_whole_type(code: str, called: set[str]) -> None:
    edges = edges_of({"a.cs": f"namespace N; {code} {DECLARED}"}, "Calls")
    assert {f"{source} {target}".replace("N.C", "C").replace(" N.", " ") for source, _, target in edges} == called


def test_in_the_bodies_of_a_record_its_property_is_meant() -> None:
    code = f"namespace N; record C(IR R) {{ int f = R.A(); int M() => R.B(); }} {DECLARED}"
    assert edges_of({"a.cs": code}, "Calls", "References") == {
        ("N.C.f", "Calls", "N.IR.A()"),
        ("N.C.M()", "References", "N.C.R"),
        ("N.C.M()", "Calls", "N.IR.B()"),
    }
