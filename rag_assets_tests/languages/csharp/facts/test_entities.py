"""The entity that a manager, repository or controller is about."""

from __future__ import annotations

import pytest

from rag_assets.languages.csharp.facts.primary_entity import name_stems, primary_entity
from rag_assets.languages.csharp.facts.type_index import TypeIndex, declared_in
from rag_assets_tests.descriptions.samples import segmented

LABEL = "class Order {} class Product {} class Invoice {} class Category {} interface IOrder {} enum Status {}"


def entity(text: str, label: str = LABEL) -> str:
    declared = TypeIndex(
        [*declared_in("a.cs", segmented(label).segments), *declared_in("b.cs", segmented(text).segments)]
    )
    return primary_entity(segmented(text).segments[0], declared)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("class Anything : RepositoryBase<Order, Guid>, IThing { }", "Order"),
        ("class Anything : IRepository<List<Order>> { }", "Order"),
        ("class OrderManager : IOrderManager { }", "Order"),
        ("class OrdersController : ControllerBase { }", "Order"),
        ("class CategoriesController { }", "Category"),
        ("class InMemoryProductRepository { }", "Product"),
        ("class InvoiceDocumentRepository { }", "Invoice"),
        ("interface IOrderService { }", "Order"),
        ("class Archive { Task<Order?> Get(); void Put(Order order); void Log(Product p); }", "Order"),
        ("class Mapper { Task<List<Invoice>> All(); Task<bool> Has(Invoice invoice); }", "Invoice"),
    ],
)
def test_bases_names_and_signatures_point_to_the_entity(text: str, found: str) -> None:
    assert entity(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "class LoyaltyService { }",
        "class Manager { }",
        "class Clock : IComparable<Clock> { }",
        "class Repository<T> : RepositoryBase<T> { T Get(T a, T b); }",
        "class PlaceOrdering : IRequestHandler<Command, int> { }",
        "class Once { Order Get(); }",
        "class StatusService { Status A(); Status B(); }",
        "class Mailer { Task Send(MailOptions a); Task Send(MailOptions b); string Text(string s); }",
    ],
)
def test_without_evidence_there_is_no_entity(text: str) -> None:
    assert entity(text) == ""


def test_an_undeclared_type_counts_where_the_name_and_the_signatures_agree() -> None:
    """Entities of packages: nothing declares them, the text uses them."""
    assert entity("class DeviceManager { Task<Device> Get(string id); }", "") == "Device"
    assert entity("class Store : DocumentDBRepoBase<Device> { }", "") == "Device"
    assert entity("class DeviceManager { }", "") == ""


@pytest.mark.parametrize(
    ("name", "stems"),
    [
        ("OrderManager", ("Order",)),
        ("IOrderRepo", ("Order",)),
        ("SqlOrdersRepository", ("SqlOrders", "SqlOrder", "Orders", "Order", "Sql")),
        ("Manager", ()),
        ("", ()),
        ("AddressService", ("Address",)),
    ],
)
def test_the_stems_of_a_role_name(name: str, stems: tuple[str, ...]) -> None:
    assert name_stems(name) == stems
