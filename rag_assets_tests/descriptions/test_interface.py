"""Interfaces: role, arity, bases, operations, and who implements them."""

from __future__ import annotations

from typing import Any

import pytest

from rag_assets.descriptions.kinds.interface import KEPT_IMPLEMENTERS, InterfaceDescription
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


@pytest.mark.parametrize("expected", EXPECTED["interfaces"], ids=lambda entry: entry["symbol"].rpartition(".")[2])
def test_interfaces_of_the_shop(expected: dict[str, Any]) -> None:
    """The `interfaces` table of EXPECTED.yaml."""
    found = of_shop(InterfaceDescription, expected["symbol"])
    assert (found.role, found.arity) == (expected["role"], expected["arity"])
    assert list(found.base_interfaces) == expected.get("base", [])
    assert {found.symbol for found in found.implementers} >= set(expected.get("implementers", ()))


@pytest.mark.parametrize(
    ("declaration", "role"),
    [
        ("interface IOrderManager", "manager"),
        ("interface IOrderRepository", "repository"),
        ("interface IOrderRepo<T>", "repository"),
        ("interface IMailService", "service"),
        ("interface IOrders : IRepository<Order>", "repository"),
        ("interface IOrders : IDisposable", "other"),
        ("interface OrderManager", "other"),  # without the I it is no name of a .NET contract
    ],
)
def test_roles(declaration: str, role: str) -> None:
    assert only(InterfaceDescription, f"namespace N; public {declaration} {{ }}").role == role


def test_operations_with_results_and_documentation() -> None:
    found = of_shop(InterfaceDescription, "Fernhill.Shop.Domain.Customers.ILoyaltyService")
    assert [(o.name, o.return_type, o.is_public) for o in found.operations] == [
        ("AddPointsAsync", "Task", True),
        ("DiscountAsync", "Task<decimal>", True),
    ]
    assert found.operations[1].doc == "The discount a customer gets on the next order, between 0 and 0.15."


def test_the_sections_in_full() -> None:
    found = of_shop(InterfaceDescription, "Fernhill.Shop.Domain.Customers.ILoyaltyService")
    head = "Domain: General\n\nKind: Interface\n\nArtifact: Fernhill.Shop.Domain.Customers.ILoyaltyService\n"
    purpose = "\nPurpose: Keeps the loyalty scheme: points for orders, discounts for points.\n"
    assert snippets_of(found) == {
        "interface-overview": (
            f"{head}InterfaceRole: service\n"
            "ImplementedBy: LoyaltyService, NoLoyalty\n"
            f"Path: LoyaltyService\n{purpose}"
            "Members: AddPointsAsync, DiscountAsync"
        ),
        "interface-methods": (
            f"{head}{purpose}\n"
            "Task AddPointsAsync(Guid customerId, Money orderValue, CancellationToken cancellationToken = default) — "
            "Adds the points that an order of that value earns.\n"
            "Task<decimal> DiscountAsync(Guid customerId, CancellationToken cancellationToken = default) — "
            "The discount a customer gets on the next order, between 0 and 0.15."
        ),
    }


A = "namespace A; public interface IStore { void Put(); } public class One : IStore { }"
B = "namespace B; public interface IStore { void Put(); } public class Two : IStore { }"


def test_implementers_of_namesakes_are_told_apart() -> None:
    """By the namespace of the implementer; generic and plain interfaces of one name are different ones too."""
    found = only(InterfaceDescription, A, "a.cs", knowledge_of(("a.cs", A), ("b.cs", B)))
    assert [implementer.symbol for implementer in found.implementers] == ["A.One"]
    both = "namespace N; public interface IBox { } public class Plain : IBox { } public class Of : IBox<int> { }"
    assert [implementer.name for implementer in only(InterfaceDescription, both).implementers] == ["Plain"]


def test_an_interface_of_many() -> None:
    text = "namespace N; public interface IMark { }\n" + "\n".join(f"class C{i:03} : IMark {{ }}" for i in range(120))
    found = only(InterfaceDescription, text)
    assert (found.implementer_count, len(found.implementers)) == (120, KEPT_IMPLEMENTERS)
    (section,) = sections_of(found)
    assert "ImplementedBy: C000, C001, C002, C003, C004, C005\n" in section.finder_snippet
    assert "`70 more`" in section.backing_artifact


@pytest.mark.parametrize(
    ("text", "path", "keys"),
    [
        ("interface IEmpty { }", "a.cs", ["interface-overview"]),
        ("interface IData { int X { get; } event Action E; }", "a.cs", ["interface-overview"]),
        ("interface I<in T> : J<T> where T : class { void M<U>(U u); static abstract T Make(); }", "a.cs",
         ["interface-overview", "interface-methods"]),
        ("interface IN { void M(); class Inner { void N() { } } }", "a.cs",
         ["interface-overview", "interface-methods", "interface-members"]),
        ("export interface Cart { count: number; add(line: Line): void; }", "a.ts",
         ["interface-overview", "interface-methods"]),
        ("class Store(Protocol):\n    def put(self): ...\n", "a.py", ["interface-overview", "interface-methods"]),
    ],
    ids=["empty", "data", "generic", "nested", "typescript", "python protocol"],
)  # fmt: skip
def test_sections_by_shape(text: str, path: str, keys: list[str]) -> None:
    found = only(InterfaceDescription, text, path)
    assert keys_of(found) == keys
    points_of(found)


def test_three_hundred_operations() -> None:
    methods = "\n".join(f"Task<int> Get{i}Async(int id);" for i in range(300))
    found = only(InterfaceDescription, f"namespace N; public interface IBig {{ {methods} }}")
    assert len(found.operations) == 300
    assert sum(len(s.names) for s in sections_of(found) if s.section_key == "interface-methods") == 300
    points_of(found)
