"""Managers, services, clients and proxies: interface, entity, dependencies, methods by kind, sections and snippets."""

from __future__ import annotations

from typing import Any

import pytest

from rag_assets.descriptions.kinds.service_like import (
    BehaviourDescription,
    ClientDescription,
    ManagerDescription,
    ProxyDescription,
    ServiceDescription,
)
from rag_assets_tests.descriptions.behaving import (
    EXPECTED,
    keys_of,
    of_shop,
    only,
    points_of,
    sections_of,
    shop,
    snippets_of,
)
from rag_assets_tests.descriptions.samples import described_file, knowledge_of

SHIPPING = "Fernhill.Shop.Infrastructure.Shipping"


@pytest.mark.parametrize("expected", EXPECTED["managers"], ids=lambda entry: entry["symbol"].rpartition(".")[2])
def test_managers_and_services_of_the_shop(expected: dict[str, Any]) -> None:
    """The `managers` table of EXPECTED.yaml."""
    parts = [d for d in shop() if isinstance(d, BehaviourDescription) and d.symbol == expected["symbol"]]
    found = max(parts, key=lambda part: len(part.methods))
    assert found.primary_interface == expected["primary_interface"]
    assert list(found.dependencies) == expected["dependencies"]
    assert found.primary_entity == expected.get("primary_entity", "")
    kinds = {method.name: method.kind.value for method in found.methods}
    assert kinds.items() >= expected.get("methods", {}).items()


def test_methods_know_their_documentation_and_place() -> None:
    found = only(
        ManagerDescription,
        "class OrderManager\n{\n/// <summary>Adds.</summary>\npublic async Task<Order> Add(Order o)\n{\n}\n}",
    )
    (method,) = found.methods
    assert (method.doc, method.return_type) == ("Adds.", "Task<Order>")
    assert (method.line_start, method.line_end, method.is_async, method.is_public) == (3, 6, True, True)


MANAGER = """\
namespace Shop.Ordering;
public record Order(int Id);

/// <summary>Places and finds orders.</summary>
public class OrderManager : ManagerBase, IDisposable, IOrderManager
{
    private readonly IOrderRepo _orders;

    public OrderManager(IOrderRepo orders, ILogger<OrderManager> log) { _orders = orders; }

    /// <summary>Places an order.</summary>
    public Task<Order> PlaceAsync(Order order) => _orders.AddAsync(order);

    public Task<Order> FindAsync(int id) => _orders.GetAsync(id);
}
"""


def test_the_sections_of_a_manager_in_full() -> None:
    """Keys and text of domain reference §3: the plumbing (ILogger) is a fact, but not worth tokens of the snippet."""
    found = only(ManagerDescription, MANAGER)
    assert found.dependencies == ("IOrderRepo", "ILogger<OrderManager>")
    head = "Domain: General\n\nKind: Manager\n\nArtifact: Shop.Ordering.OrderManager\nPrimaryEntity: Order\n"
    purpose = "\nPurpose: Places and finds orders.\n"
    assert snippets_of(found) == {
        "manager-overview": (
            f"{head}Inherits: ManagerBase\n"
            "ImplementsInterface: IOrderManager, IDisposable\n"
            "Operations: Create, Query\n"
            "DependsOn: IOrderRepo\n"
            f"Path: Code\n{purpose}"
            "_orders\nMembers: PlaceAsync, FindAsync"
        ),
        "manager-constructors": f"{head}{purpose}\nOrderManager(IOrderRepo orders, ILogger<OrderManager> log)",
        "manager-methods": (
            f"{head}{purpose}\nTask<Order> PlaceAsync(Order order) — Places an order.\nTask<Order> FindAsync(int id)"
        ),
    }
    artifact = sections_of(found)[0].backing_artifact
    assert "- Create methods: `PlaceAsync`" in artifact
    assert "`ILogger<OrderManager>`" in artifact


@pytest.mark.parametrize(
    ("declaration", "interface"),
    [
        ("class OrderManager : IOrderManager, IAudited", "IOrderManager"),
        ("class SqlOrderManager : IAudited, IOrderManager", "IOrderManager"),
        ("class OrderManager : Shop.IOrderManager<Order>", "Shop.IOrderManager<Order>"),
        ("class BillManager : IPaymentManager", "IPaymentManager"),
        ("class BillManager : IPaymentManager, IAudited", ""),
        ("class BillManager : IDisposable", ""),
        ("class BillManager", ""),
    ],
)
def test_the_interface_a_class_is_known_by(declaration: str, interface: str) -> None:
    assert only(ManagerDescription, f"namespace N; public {declaration} {{ }}").primary_interface == interface


@pytest.mark.rule("A10")
@pytest.mark.parametrize(
    ("bases", "flavor"),
    [("BackgroundService", "Background"), ("IMailService, IHostedService", "Background"), ("IMailService", "")],
)
def test_the_flavor_of_a_service_is_decided_by_its_builder(bases: str, flavor: str) -> None:
    found = only(ServiceDescription, f"namespace N; public class Mailer : {bases} {{ void Run() {{ }} }}")
    assert found.subtype_flavor == flavor
    assert {point.payload.subtype_flavor for point in points_of(found)} == {flavor}


def test_nobody_is_their_own_entity() -> None:
    found = of_shop(ServiceDescription, "Fernhill.Shop.Worker.OutboxDispatcher")
    assert found.primary_entity == ""


def test_the_calls_of_a_client() -> None:
    found = of_shop(ClientDescription, f"{SHIPPING}.CarrierClient")
    assert [(call.verb, call.address.partition("?")[0], call.member) for call in found.calls] == [
        ("POST", "v2/parcels", "BookParcelAsync"),
        ("GET", "v2/quotes", "QuoteAsync"),
    ]
    assert "Calls: POST v2/parcels, GET v2/quotes\n" in snippets_of(found)["client-overview"]


@pytest.mark.parametrize(
    ("body", "calls"),
    [
        ('void M() { _http.DeleteAsync($"orders/{id}"); }', [("DELETE", "orders/{id}")]),
        ("void M() { _http.GetFromJsonAsync<Dictionary<int, string>>(url); }", [("GET", "")]),
        ('void M() { new HttpRequestMessage(HttpMethod.Patch, "a/b"); }', [("PATCH", "a/b")]),
        ("void M() { _bus.PostAsync(command); }", []),
        ('void M() { /* _http.GetAsync("x") */ var s = "_http.GetAsync(\\"x\\")"; }', []),
    ],
    ids=["interpolated", "computed", "request message", "not http", "no code"],
)
def test_remote_calls(body: str, calls: list[tuple[str, str]]) -> None:
    found = only(ClientDescription, f"namespace N; public class ShopClient {{ {body} }}")
    assert [(call.verb, call.address) for call in found.calls] == calls


def test_what_a_proxy_stands_for() -> None:
    """Of an interface by its own text; of a class when the label declares that it implements the same interface."""
    assert of_shop(ProxyDescription, f"{SHIPPING}.ParcelRateProxy").stands_for == ("ICarrierClient",)
    text = "namespace N; public class RateProxy(Rates rates, Clock clock) : IRates { }"
    known = knowledge_of(("a.cs", "namespace N; public class Rates : IRates { } public class Clock { }"))
    assert only(ProxyDescription, text, knowledge=known).stands_for == ("Rates",)
    assert only(ProxyDescription, text).stands_for == ()


@pytest.mark.parametrize(
    "body",
    ["", "void M( { ] }", "class Inner { public Inner(int i) { } void N() { } }", "void M<T>(T t) where T : new() { }"],
    ids=["empty", "broken", "nested", "generic"],
)
def test_odd_managers(body: str) -> None:
    points_of(only(ManagerDescription, f"namespace N; public class OddManager<T> : IOddManager<T> {{ {body} }}"))


def test_members_of_nested_types_are_not_its_methods() -> None:
    found = only(ManagerDescription, "class AManager { void M() { } class Inner { void N() { } } }")
    assert [method.name for method in found.methods] == ["M"]
    assert keys_of(found) == ["manager-overview", "manager-methods", "manager-members"]


def test_three_hundred_methods_are_cut_between_methods() -> None:
    methods = "\n".join(f"    public Task<Order> Get{i}Async(Order order) => null;" for i in range(300))
    found = only(ManagerDescription, f"namespace N;\npublic class BigManager : IBigManager\n{{\n{methods}\n}}\n")
    parts = [s for s in sections_of(found) if s.section_key == "manager-methods"]
    assert [(p.part_index, p.part_total) for p in parts] == [(i, len(parts)) for i in range(1, len(parts) + 1)]
    assert sum(len(part.names) for part in parts) == 300
    points_of(found)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("export class OrderManager { place(order: Order): void { } }", "src/order.ts"),
        ("class OrderManager:\n    def place(self, order): ...\n", "order.py"),
        ("public class OrderManager { public Order place(Order order) { return order; } }", "Order.java"),
    ],
    ids=["typescript", "python", "java"],
)
def test_managers_of_other_languages(text: str, path: str) -> None:
    found = only(ManagerDescription, text, path)
    assert [method.name for method in found.methods] == ["place"]
    points_of(found)


@pytest.mark.rule("A14")
def test_what_is_no_class_is_left_to_others() -> None:
    found = described_file("def order_manager(): ...\n", "manager.py")
    assert not any(isinstance(description, BehaviourDescription) for description in found.descriptions)
