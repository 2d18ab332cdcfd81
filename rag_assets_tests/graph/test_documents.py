"""Sections of documents and what they mention."""

from __future__ import annotations

import pytest

from rag_assets.graph.extract.documents import documents
from rag_assets_tests.graph.chains import edges_by, nodes_by

CODE = {
    "a.cs": """
        namespace Shop;
        public class OrderService
        {
            public void Ship(int id) { } public void Ship(string s) { } public void CancelNow() { }
        }
        public class Repo<T> { }
        public class Order { }
    """,
    "x.cs": "namespace X; public class Twin { } public class TwinPair { }",
    "y.cs": "namespace Y; public class Twin { } public class TwinPair { }",
    "t.sql": "CREATE TABLE dbo.Invoices (Id int)",
}


def mentioned(text: str) -> list[str]:
    found = edges_by(documents, CODE | {"d.md": f"# Guide\n\n{text}\n"}, "Mentions")
    return [edge.removeprefix("doc:d.md#guide|SECTION Mentions ") for edge in found]


def test_sections_are_nodes_of_their_file() -> None:
    texts = {"d.md": "intro\n\n# One\n\n## Two\n\n## Two\n"}
    assert nodes_by(documents, texts) == [
        "doc:d.md#body|SECTION", "doc:d.md#one-two-2|SECTION", "doc:d.md#one-two|SECTION", "doc:d.md#one|SECTION",
    ]  # fmt: skip
    assert "file:d.md|FILE Contains doc:d.md#one|SECTION resolved" in edges_by(documents, texts)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Use `OrderService` here.", ["Shop.OrderService|TYPE resolved"]),
        ("The OrderService ships.", ["Shop.OrderService|TYPE probable"]),
        ("`Shop.OrderService`", ["Shop.OrderService|TYPE resolved"]),
        ("`Repo<Order>`", ["Shop.Repo`1|TYPE resolved"]),
        ("`OrderService.CancelNow()`", ["Shop.OrderService.CancelNow()|METHOD resolved"]),
        ("`CancelNow()`", ["Shop.OrderService.CancelNow()|METHOD resolved"]),
        ("OrderService.CancelNow ends it", ["Shop.OrderService.CancelNow()|METHOD probable"]),
        ("`OrderService.Ship`", ["Shop.OrderService.Ship(int)|METHOD name-only",
                                 "Shop.OrderService.Ship(string)|METHOD name-only"]),
        ("`Order`", ["Shop.Order|TYPE probable"]),
        ("Order your things", []),
        ("`order`", []),
        ("`git commit`", []),
        ("`Twin`", ["X.Twin|TYPE name-only", "Y.Twin|TYPE name-only"]),
        ("`X.Twin`", ["X.Twin|TYPE resolved"]),
        ("`dbo.Invoices`", ["dbo.Invoices|TABLE resolved"]),
        ("See GET /api/orders/{id:int}.", ["http:GET /api/orders/{id}|ENDPOINT probable"]),
        ("NothingKnown and `Unknown`", []),
        ("`unclosed OrderService", ["Shop.OrderService|TYPE probable"]),
        ("[text](https://x/OrderService)", []),
        ("", []),
    ],
)  # fmt: skip
def test_mentions(text: str, found: list[str]) -> None:
    assert mentioned(text) == found


def test_a_symbol_is_mentioned_once_per_section_by_its_best_mention() -> None:
    assert mentioned("OrderService. Again `OrderService`, OrderService.") == ["Shop.OrderService|TYPE resolved"]


def test_more_namesakes_than_can_be_told_are_no_mention() -> None:
    many = {f"{name}.cs": f"namespace {name}; class Same {{ }}" for name in "ABCD"}
    assert edges_by(documents, many | {"d.md": "# A\n\n`Same`\n"}, "Mentions") == []


def test_a_document_without_headings_mentions_as_a_file() -> None:
    assert edges_by(documents, CODE | {"n.txt": "the OrderService"}) == [
        "file:n.txt|FILE Mentions Shop.OrderService|TYPE probable"
    ]
