"""Operators that types of the label declare."""

from __future__ import annotations

import pytest

from rag_assets.contracts.graph import Confidence, GraphEdge
from rag_assets_tests.languages.csharp.binder.labels import extracted, targets

SUM = """struct Sum { public static Sum operator +(Sum a, Sum b) => a; public static Sum operator -(Sum a) => a;
  public static Sum operator -(Sum a, int b) => a; public static bool operator ==(Sum a, Sum b) => true;
  public static bool operator !=(Sum a, Sum b) => false; public static Sum operator ++(Sum a) => a;
  public static bool operator !(Sum a) => true; public static implicit operator Sum(int a) => default;
  public void Go() {} } class Low : Sum {} class Box<T> { public static T operator *(Box<T> a, int b) => default; }"""


@pytest.mark.rule("D19")
@pytest.mark.parametrize(
    ("expression", "used"),
    [
        pytest.param("a + b", {"Sum.operator +(Sum,Sum)"}, id="binary"),
        pytest.param("a - 1", {"Sum.operator -(Sum,int)"}, id="binary overload"),
        pytest.param("-a", {"Sum.operator -(Sum)"}, id="unary"),
        pytest.param("!a", {"Sum.operator !(Sum)"}, id="not"),
        pytest.param("a++", {"Sum.operator ++(Sum)"}, id="postfix"),
        pytest.param("a += b", {"Sum.operator +(Sum,Sum)"}, id="assignment"),
        pytest.param("a == b", {"Sum.operator ==(Sum,Sum)"}, id="comparison"),
        pytest.param("low + low", {"Sum.operator +(Sum,Sum)"}, id="of the base"),
        pytest.param("1 + a", {"Sum.operator +(Sum,Sum)"}, id="converted operand"),
        pytest.param("(a + b + a).Go()", {"Sum.operator +(Sum,Sum)", "Sum.Go()"}, id="what it gives"),
        pytest.param("(box * 2).Go()", {"Box`1.operator *(Box<T>,int)", "Sum.Go()"}, id="what a generic one gives"),
        pytest.param("a!.Go()", {"Sum.Go()"}, id="no null is no operator"),
        pytest.param('"x" + a', set(), id="texts are put together"),
        pytest.param("n + 1", set(), id="of the language"),
        pytest.param("a ^ b", set(), id="none declared"),
        pytest.param("F(-1)", {"C.F(int)"}, id="a negative number is a number"),
        pytest.param("F(!n)", {"C.F(bool)"}, id="a negated value is a truth value"),
    ],
)
def test_an_operator_is_referred_to(expression: str, used: set[str]) -> None:
    code = f"class C {{ void M(Sum a, Sum b, Low low, Box<Sum> box, int n) {{ var q = {expression}; }} "
    code += "void F(string a) {} void F(int a) {} void F(bool a) {} }"
    found = targets(code + SUM, "References") | targets(code + SUM, "Calls")
    assert found == used


def test_with_an_operand_of_unknown_type_it_is_probable() -> None:
    code = f"namespace N; class C {{ bool M(Sum a) => a == Unknown.X; }} {SUM}"
    edges = [found for found in extracted({"a.cs": code}) if isinstance(found, GraphEdge)]
    found = [edge for edge in edges if edge.relation == "References"]
    assert [edge.confidence for edge in found] == [Confidence.PROBABLE]
