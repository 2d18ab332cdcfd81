"""Tests as a kind: cases with their data, the subject and why, what stands beside tests."""

from __future__ import annotations

from typing import Any

import pytest

from rag_assets.descriptions.kinds.test_class import TestDescription
from rag_assets.languages.csharp.test_cases import SubjectEvidence
from rag_assets_tests.descriptions.behaving import (
    EXPECTED,
    keys_of,
    of_shop,
    only,
    points_of,
    sections_of,
    snippets_of,
)
from rag_assets_tests.descriptions.samples import knowledge_of


@pytest.mark.parametrize("expected", EXPECTED["tests"], ids=lambda entry: entry["subject"])
def test_tests_of_the_shop(expected: dict[str, Any]) -> None:
    """The `tests` table of EXPECTED.yaml."""
    found = of_shop(TestDescription, expected["symbol"])
    assert (found.tested_type, found.primary_entity) == (expected["subject"], expected["subject"])
    assert found.tested_symbol.endswith(f".{expected['subject']}")
    assert [case.name for case in found.cases] == expected["cases"]


@pytest.mark.parametrize(
    ("attributes", "case"),
    [
        ("[Fact]", ("Fact", 0, (), "")),
        ('[Fact(DisplayName = "a \\"b\\"")]', ("Fact", 0, (), 'a \\"b\\"')),
        ("[Theory, InlineData(1), InlineData(2)]", ("Theory", 2, (), "")),
        ("[Theory] [MemberData(nameof(Rows))] [ClassData(typeof(More))]", ("Theory", 0, ("Rows", "More"), "")),
        ("[SkippableFact]", ("SkippableFact", 0, (), "")),
        ("[Test]", ("Test", 0, (), "")),
        ("[TestCase(1)] [TestCase(2)]", ("TestCase", 2, (), "")),
        ('[TestCaseSource("Rows")]', ("TestCaseSource", 0, ("Rows",), "")),
        ("[TestMethod]", ("TestMethod", 0, (), "")),
        ('[TestMethod("adds")]', ("TestMethod", 0, (), "adds")),
        ('[DataTestMethod, DataRow(1, "x"), DataRow(2, "y")]', ("DataTestMethod", 2, (), "")),
        ("[Obsolete]", None),
        ("", None),
    ],
)
def test_cases_by_their_attributes(attributes: str, case: tuple[str, int, tuple[str, ...], str] | None) -> None:
    """xUnit, NUnit and MSTest."""
    found = only(TestDescription, f"class ATests {{ {attributes}\npublic void Adds() {{ }} }}")
    made = [(c.attribute, c.data_rows, c.data_sources, c.title) for c in found.cases]
    assert made == ([case] if case else [])
    assert found.subtype_flavor == ("" if case else "Support")


@pytest.mark.parametrize(
    ("text", "path", "names"),
    [
        ("class TestCart:\n    def test_adds(self): ...\n    def helper(self): ...\n", "test_cart.py", ["test_adds"]),
        (
            "public class CartTest { @Test public void adds() { } void helper() { } }",
            "src/test/CartTest.java",
            ["adds"],
        ),
    ],
    ids=["pytest", "junit"],
)
def test_cases_of_other_languages(text: str, path: str, names: list[str]) -> None:
    assert [case.name for case in only(TestDescription, text, path).cases] == names


CODE = (
    ("src/a.cs", "namespace App; public class Basket { } public class BasketService { } public class List { }"),
    ("src/b.cs", "namespace App; public class JsonConverterFactory { } public static class Clock { }"),
)


@pytest.mark.parametrize(
    ("name", "body", "subject", "evidence"),
    [
        ("BasketTests", "", "Basket", SubjectEvidence.NAME),
        ("BasketServiceRemovalTests", "", "BasketService", SubjectEvidence.NAME),
        ("BasketTests", "new Basket();", "Basket", SubjectEvidence.CONSTRUCTED),
        ("BasketRemoval", "new Basket(); new BasketService();", "Basket", SubjectEvidence.CONSTRUCTED),
        ("Removal", "new BasketService();", "BasketService", SubjectEvidence.CONSTRUCTED),
        ("Removal", "Clock.Now();", "Clock", SubjectEvidence.CONSTRUCTED),
        ("Removal", "new Basket(); new BasketService();", "", SubjectEvidence.NONE),
        ("Removal", "new List<int>(); new Unknown(); // new Basket()", "", SubjectEvidence.NONE),
        ("UnknownTests", "", "Unknown", SubjectEvidence.CONVENTION),
        ("Basket", "", "Basket", SubjectEvidence.NAME),
        ("Tests", "", "", SubjectEvidence.NONE),
    ],
)
def test_the_subject_and_why(name: str, body: str, subject: str, evidence: SubjectEvidence) -> None:
    text = f"namespace App.Tests; public class {name} {{ [Fact] public void M() {{ {body}\n}} }}"
    found = only(TestDescription, text, "tests/t.cs", knowledge_of(*CODE, ("tests/t.cs", text)))
    assert (found.tested_type, found.subject_evidence) == (subject, evidence)
    known = subject if evidence is not SubjectEvidence.CONVENTION else ""
    assert found.primary_entity == known  # a name alone is not said as if it were certain
    assert found.tested_symbol == (f"App.{known}" if known else "")


def test_an_attribute_names_the_subject() -> None:
    text = "[TestOf(typeof(Basket))] class Anything { [Test] public void M() { } }"
    found = only(TestDescription, text, knowledge=knowledge_of(*CODE))
    assert (found.tested_type, found.subject_evidence) == ("Basket", SubjectEvidence.ATTRIBUTE)


def test_fixtures_and_doubles() -> None:
    text = (
        "class ATests : IClassFixture<ShopFactory>, TestBase<Basket> { [Fact] public void M() { "
        "new Mock<IOrders>(); Substitute.For<IClock>(); A.Fake<Bus>(); } }"
    )
    found = only(TestDescription, text)
    assert found.fixtures == ("ShopFactory", "Basket")
    assert found.mocked == ("IOrders", "IClock", "Bus")


def test_the_snippet_in_full() -> None:
    """One section where all fits: tests are the most numerous kind, so they stay folded."""
    found = of_shop(TestDescription, "Fernhill.Shop.Tests.MoneyTests")
    assert snippets_of(found) == {
        "test-overview": (
            "Domain: General\n\n"
            "Kind: Test\n\n"
            "Artifact: Fernhill.Shop.Tests.MoneyTests\n"
            "PrimaryEntity: Money\n\n"
            "Purpose: money tests class\n"
            "TheoryData<decimal, decimal> Roundings { get; }\n"
            "void Rounds_half_to_even(decimal amount, decimal expected)\n"
            "void Currencies_do_not_mix()"
        )
    }
    assert "- Cases: `Rounds_half_to_even from Roundings`, `Currencies_do_not_mix`" in (
        sections_of(found)[0].backing_artifact
    )


def test_what_stands_beside_tests() -> None:
    found = of_shop(TestDescription, "Fernhill.Shop.Tests.OrderMother")
    assert (found.subtype_flavor, found.tested_type) == ("Support", "")
    assert found.covers == ("InMemoryProductRepository", "Product", "Money")


@pytest.mark.parametrize(
    "text",
    [
        "class ATests { }",
        "class ATests { [Fact] public void M( { ] }",
        "class ATests { class Inner { [Fact] public void M() { } } }",
        "class ATests<T> { [Fact] public void M<U>() { } }",
        "class ATests {" + "".join(f"[Fact] public void M{i}() {{ }}\n" for i in range(300)) + "}",
    ],
    ids=["empty", "broken", "nested", "generic", "300 cases"],
)
def test_odd_test_classes(text: str) -> None:
    found = only(TestDescription, text)
    points_of(found)
    assert set(keys_of(found)) <= {"test-overview", "test-members"}
