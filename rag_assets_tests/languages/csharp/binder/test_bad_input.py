"""Any text gives something, in bounded time, and the same thing each time."""

from __future__ import annotations

import random

import pytest

from rag_assets_tests.effort import ends_within
from rag_assets_tests.languages.csharp.binder.labels import edges_of, extracted, nodes_in, targets

REAL = """namespace N; using System.Linq;
public partial class C<T> : B, I<T> where T : class { private readonly I<T> _i; public C(I<T> i) : base(1) { _i = i; }
  public async Task<int> M(int a, string b = "x") { foreach (var x in _i.All()) { if (x is C<T> { P: > 1 } y) y.M(1); }
    return await Task.Run(() => new D { E = 1 }.F(out var z) ? z : 0); } public int P { get => _i.Count; set { } } }
"""


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("\ufeff", id="byte order mark"),
        pytest.param("class", id="one word"),
        pytest.param("class A { void M() { x.", id="unfinished"),
        pytest.param("}}}}{{{{", id="brackets"),
        pytest.param("class A : { } class : B { } class C<> : C<,> {}", id="names missing"),
        pytest.param(
            "class A { void M() { a?.b?.c?[0]?.d(); ((((x)))).y(); new(); new { }; [..]; } }", id="odd expressions"
        ),
        pytest.param("class Ä { void Ö(Ü ü) { ü.ß(); } } class Ü { public void ß() {} }", id="letters"),
        pytest.param("\x00class A {}\x00", id="NUL"),
        pytest.param("#if X\nclass A {\n#else\nclass B {\n#endif\nvoid M() {} }", id="split declaration"),
    ],
)
def test_nothing_raises(text: str) -> None:
    assert nodes_in({"a.cs": text})


@pytest.mark.parametrize("seed", range(8))
def test_damaged_code_gives_something(seed: int) -> None:
    chosen = random.Random(seed)
    text = list(REAL)
    for _ in range(12):
        at = chosen.randrange(len(text))
        text[at : at + chosen.randrange(4)] = chosen.choice(["", "{", "}", "(", "<", '"', ";", "=>", "#if\n"])
    extracted({"a.cs": "".join(text), "b.cs": REAL})


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("x" + ".F()" * 3_000, id="calls in a chain"),
        pytest.param("(" * 2_000 + "x" + ")" * 2_000, id="parentheses"),
        pytest.param(" + ".join(["x.F()"] * 5_000), id="sum"),
        pytest.param("{" * 1_000 + "x.F();" + "}" * 1_000, id="blocks"),
        pytest.param("if (a) x.F(); else " * 1_000 + "x.F()", id="else if"),
        pytest.param("F(" * 1_000 + "x" + ")" * 1_000, id="arguments"),
        pytest.param("F(() => " * 500 + "x" + ")" * 500, id="lambdas"),
        pytest.param("var y = " + "new A { P = " * 500 + "x" + "}" * 500, id="initialisers"),
        pytest.param("y = " + "a ? b : " * 1_000 + "x", id="conditions"),
    ],
)
def test_deep_nesting_is_read_without_recursion_on_its_depth(body: str) -> None:
    code = f"namespace N; class C {{ C P; C F() => this; void M(C x) {{ {body}; }} void Z(C x) {{ x.F(); }} }}"
    assert ("N.C.Z(C)", "Calls", "N.C.F()") in edges_of({"a.cs": code})


def test_what_is_too_deep_is_read_as_well() -> None:
    body = "(" * 500 + "o.Deep()" + ")" * 500
    assert targets(f"class C {{ void M(O o) {{ var y = {body}; }} }} class O {{ public int Deep() => 1; }}") == {
        "O.Deep()"
    }


def test_a_type_with_20000_members() -> None:
    members = " ".join(f"public void M{number}() {{ M{number + 1}(); }}" for number in range(20_000))
    with ends_within(120):  # linear: about 3 s; quadratic would be many minutes
        found = edges_of({"a.cs": f"class C {{ {members} void M20000() {{}} }}"}, "Calls")
    assert len(found) == 20_000


def test_same_text_same_order() -> None:
    assert extracted({"a.cs": REAL}) == extracted({"a.cs": REAL})
