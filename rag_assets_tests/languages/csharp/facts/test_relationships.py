"""How models refer to each other."""

from __future__ import annotations

import pytest

from rag_assets.languages.csharp.facts.expressions import LocalizedAttributes
from rag_assets.languages.csharp.facts.properties import properties_of
from rag_assets.languages.csharp.facts.relationships import Relationship, child_objects, relationships_of
from rag_assets.languages.csharp.facts.type_index import TypeIndex, declared_in
from rag_assets.languages.documents.resx import StaticResourceDictionary
from rag_assets_tests.descriptions.samples import segmented

LABEL = (
    "namespace Shop { class Customer {} class Line {} record Invoice(); enum Status {} struct Money {}"
    " interface IPart {} class Pair<A, B> {} }"
)


def related(text: str, label: str = LABEL) -> tuple[Relationship, ...]:
    segment = segmented(f"namespace Shop; {text}").segments[0]
    declared = TypeIndex(declared_in("label.cs", segmented(label).segments))
    return relationships_of(
        segment, properties_of(segment, LocalizedAttributes(StaticResourceDictionary(), "")), declared
    )


@pytest.mark.parametrize(
    ("declaration", "lines"),
    [
        ("public Customer Buyer { get; set; }", ["OrderToCustomer: one Customer by Buyer"]),
        ("public Customer? Buyer { get; set; }", ["OrderToCustomer: zero-or-one Customer by Buyer"]),
        ("public List<Line> Lines { get; set; }", ["OrderToLine: many Line by Lines"]),
        ("public IDictionary<string, Line[]> Lines { get; set; }", ["OrderToLine: many Line by Lines"]),
        ("public EntityHeader<Customer> Buyer { get; set; }", ["OrderToCustomer: one Customer by Buyer"]),
        ("public Invoice? Bill { get; set; }", ["OrderToInvoice: zero-or-one Invoice by Bill"]),
        (
            "public Guid CustomerId { get; set; } public Customer Customer { get; set; }",
            ["OrderToCustomer: one Customer by Customer, key CustomerId"],
        ),
        (
            "public Guid? CustomerId { get; set; }",
            ["OrderToCustomer: zero-or-one Customer by CustomerId, by convention"],
        ),
        ("public Line Line { get; set; } public class Line { }", ["OrderToLine: one Line by Line"]),
        ("public Pair<int, int> P { get; set; }", ["OrderToPair: one Pair by P"]),
        ("public Status Status { get; set; }", []),
        ("public Money Price { get; set; }", []),
        ("public IPart Part { get; set; }", []),
        ("public HttpClient Client { get; set; }", []),
        ("public EntityHeader<Status> Status { get; set; }", []),
        ("public string TenantId { get; set; }", []),
        ("public Guid OrderId { get; set; } public Guid Id { get; set; }", []),
    ],
)
def test_a_property_of_a_declared_class_is_a_relationship(declaration: str, lines: list[str]) -> None:
    assert [found.line() for found in related(f"class Order {{ {declaration} }}")] == lines


def test_a_target_is_the_declaration_and_not_a_name() -> None:
    nested, outer = related("class Order { public Line A; public Customer B; public class Line { } }")
    assert (nested.target_symbol, outer.target_symbol) == ("Shop.Order.Line", "Shop.Customer")


def test_a_tree_shows_both_ends() -> None:
    up, down = related("class Category { public Category? Parent; public List<Category> Children; }")
    assert (up.multiplicity, up.inverse) == ("ManyToOne", "Children")
    assert (down.multiplicity, down.inverse) == ("OneToMany", "Parent")


@pytest.mark.parametrize(
    "declaration",
    ["public Category A;", "public Category A; public Category B;", "public Category A, B; public List<Category> C;"],
)
def test_the_other_end_is_not_guessed(declaration: str) -> None:
    assert {(found.multiplicity, found.inverse) for found in related(f"class Category {{ {declaration} }}")} == {
        ("", "")
    }


def test_type_parameters_are_no_targets() -> None:
    assert related("class Page<Customer> { public Customer Item; public List<Customer> Items; }") == ()


def test_what_a_model_is_made_of() -> None:
    members = "public List<Line> Lines; public Customer Buyer; public List<Order> Older; class Part { } enum E { }"
    text = f"class Order {{ {members} }}"
    segment = segmented(f"namespace Shop; {text}").segments[0]
    assert child_objects(segment, related(text)) == ("Line", "Part")
