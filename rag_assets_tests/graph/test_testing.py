"""Tests and their subjects."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from rag_assets.contracts.graph import GraphEdge
from rag_assets.graph.extract.registry import graph_of
from rag_assets.graph.extract.tests import subjects_of_tests
from rag_assets_tests.graph.chains import edges_by, files_of, symbols_of, told

SUBJECT = "namespace Shop; public class OrderService { public void Ship(int id) { } public void Ship(string s) { } }"


def written(body: str, name: str = "OrderServiceTests", attributes: str = "") -> str:
    return f"namespace Shop.Tests; {attributes} public class {name} {{ [Fact] public void Ships() {{ {body} }} }}"


@pytest.mark.parametrize(
    ("text", "confidence"),
    [
        (written("new OrderService().Ship(1);"), "resolved"),
        (written("", "Whatever", "[TestOf(typeof(OrderService))]"), "resolved"),
        (written("Run();"), "probable"),
        (written("new OrderService();", "ShippingTests"), "probable"),
    ],
    ids=["constructed", "TestOf", "name-only", "only-type-it-makes"],
)
def test_the_subject_of_a_class(text: str, confidence: str) -> None:
    (found,) = edges_by(subjects_of_tests, {"Subject.cs": SUBJECT, "Test.cs": text})
    assert found.startswith("Shop.Tests.") and found.endswith(f"|TYPE Tests Shop.OrderService|TYPE {confidence}")


def test_of_two_subjects_the_one_of_the_project_is_meant() -> None:
    texts = {
        "a.cs": "namespace Acme.Billing; public class OrderService { }",
        "b.cs": "namespace Acme.Sales; public class OrderService { }",
        "t.cs": "namespace Acme.Sales.Specs; public class OrderServiceTests { [Fact] public void A() { } }",
    }
    assert edges_by(subjects_of_tests, texts) == [
        "Acme.Sales.Specs.OrderServiceTests|TYPE Tests Acme.Sales.OrderService|TYPE probable"
    ]


@pytest.mark.parametrize(
    "text",
    [written("Run();", "StrangeTests"), "public class OrderServiceTests { void Helper() { } }", "class T { [Fact"],
    ids=["nothing-of-that-name", "no-cases", "broken"],
)
def test_classes_without_a_subject(text: str) -> None:
    assert edges_by(subjects_of_tests, {"Subject.cs": SUBJECT, "Test.cs": text}) == []


def _all(texts: Mapping[str, str]) -> list[str]:
    files = files_of(texts)
    symbols = symbols_of(files)
    edges = {told(part) for file in files for part in graph_of(file, symbols) if isinstance(part, GraphEdge)}
    return sorted(edge for edge in edges if " Tests " in edge and "METHOD Tests" in edge)


def test_a_case_tests_the_methods_that_it_calls_on_the_subject() -> None:
    helper = "namespace Shop; public class Other { public void Ship(int id) { } }"
    body = 'var s = new OrderService(); s.Ship("a"); new Other().Ship(1);'
    assert _all({"Subject.cs": SUBJECT, "Other.cs": helper, "Test.cs": written(body)}) == [
        "Shop.Tests.OrderServiceTests.Ships()|METHOD Tests Shop.OrderService.Ship(string)|METHOD resolved"
    ]


@pytest.mark.parametrize(
    ("name", "body", "edge"),
    [
        ("AddsWeight", "new OrderService(new Parcel());", "Shop.Parcel|TYPE resolved"),
        ("ParcelWeight", "new OrderService().Pack();", "Shop.Parcel|TYPE probable"),
        ("Weighs", "new OrderService().Pack();", "Shop.OrderService|TYPE probable"),
    ],
    ids=["makes-it", "named-like-it", "neither"],
)
def test_a_namespace_is_named_after_the_subject_of_its_classes(name: str, body: str, edge: str) -> None:
    text = f"namespace Shop.ParcelTests; public class {name} {{ [Fact] public void A() {{ {body} }} }}"
    texts = {"Subject.cs": f"{SUBJECT} public class Parcel {{ }}", "Test.cs": text}
    assert edges_by(subjects_of_tests, texts) == [f"Shop.ParcelTests.{name}|TYPE Tests {edge}"]


def test_python_tests_have_subjects_too() -> None:
    texts = {
        "shop/cart.py": "class Cart:\n    pass\n",
        "tests/test_cart.py": "class TestCart:\n    def test_a(self): Cart()\n",
    }
    assert edges_by(subjects_of_tests, texts) == [
        "python:tests.test_cart.TestCart|TYPE Tests python:shop.cart.Cart|TYPE probable"
    ]
