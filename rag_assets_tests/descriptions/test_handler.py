"""Handlers: what they handle and answer, by interface or by convention, and the flavor that follows."""

from __future__ import annotations

from typing import Any

import pytest

from rag_assets.descriptions.kinds.service_like import HandlerDescription
from rag_assets_tests.descriptions.behaving import (
    EXPECTED,
    keys_of,
    of_shop,
    only,
    points_of,
    sections_of,
    snippets_of,
)


@pytest.mark.parametrize("expected", EXPECTED["handlers"], ids=lambda entry: entry["symbol"].rpartition(".")[2])
def test_handlers_of_the_shop(expected: dict[str, Any]) -> None:
    """The `handlers` table of EXPECTED.yaml; all of them by their interfaces."""
    (message,) = of_shop(HandlerDescription, expected["symbol"]).handled
    assert (message.request, message.response) == (expected["handles"], expected.get("answers", ""))
    assert not message.by_convention


def handler(declaration: str, body: str = "") -> HandlerDescription:
    return only(HandlerDescription, f"namespace N; public {declaration} {{ {body} }}")


@pytest.mark.rule("A10")
@pytest.mark.parametrize(
    ("declaration", "message", "answer", "flavor"),
    [
        (
            "class H : IRequestHandler<PlaceCommand, Result<Order>>",
            "PlaceCommand",
            "Result<Order>",
            "Command",
        ),
        ("class H : IRequestHandler<OrdersQuery, List<Order>>", "OrdersQuery", "List<Order>", "Query"),
        ("class H : IRequestHandler<GetOrders, List<Order>>", "GetOrders", "List<Order>", "Query"),
        ("class H : IRequestHandler<CreateOrder, int>", "CreateOrder", "int", "Command"),
        ("class H : IRequestHandler<Ping, Pong>", "Ping", "Pong", ""),
        ("class H : ICommandHandler<Ship>", "Ship", "", "Command"),
        ("class H : IQueryHandler<Orders, Task<Order[]>>", "Orders", "Order[]", "Query"),
        ("class H : INotificationHandler<Shipped>", "Shipped", "", "Notification"),
        ("class H : MassTransit.IConsumer<OrderPaid>", "OrderPaid", "", "Message"),
        ("class H : IHandleMessages<OrderPaid>", "OrderPaid", "", "Message"),
        ("class HHandler : AuthorizationHandler<Staff, Order>", "Staff", "", ""),
    ],
)
def test_by_interface(declaration: str, message: str, answer: str, flavor: str) -> None:
    found = only(HandlerDescription, f"namespace N; public {declaration.replace('class H ', 'class HHandler ')} {{ }}")
    assert [(handled.request, handled.response) for handled in found.handled] == [(message, answer)]
    assert found.subtype_flavor == flavor


@pytest.mark.rule("A10")
@pytest.mark.parametrize(
    ("body", "handled", "flavor"),
    [
        (
            "Task<Receipt> Handle(PayCommand c, CancellationToken t) => null;",
            [("PayCommand", "Receipt")],
            "Command",
        ),
        ("public void Consume(OrderPaidEvent e) { }", [("OrderPaidEvent", "")], "Notification"),
        ("public Task Consume(ConsumeContext<OrderPaid> context) => null;", [("OrderPaid", "")], "Message"),
        ("public Task InvokeAsync(HttpContext context) => null;", [("HttpContext", "")], "Middleware"),
        ("public Task Invoke(string text) => null;", [], ""),
        ("private void Handle(PayCommand c) { }", [], ""),
        ("public void Handle<T>(T message) { }", [], ""),
        ("public void Handle() { }", [], ""),
        ("public void Run(PayCommand c) { }", [], ""),
    ],
)
def test_by_convention(body: str, handled: list[tuple[str, str]], flavor: str) -> None:
    found = handler("class PayHandler", body)
    assert [(message.request, message.response) for message in found.handled] == handled
    assert all(message.by_convention for message in found.handled)
    assert found.subtype_flavor == flavor


def test_interfaces_come_before_conventions() -> None:
    found = handler("class H : INotificationHandler<A>, INotificationHandler<B>", "public void Handle(C c) { }")
    assert [message.request for message in found.handled] == ["A", "B"]
    assert found.subtype_flavor == "Notification"
    mixed = handler("class H : INotificationHandler<A>, IConsumer<B>")
    assert mixed.subtype_flavor == ""


def test_an_open_handler_handles_nothing_in_particular() -> None:
    assert handler("class LogHandler<T> : INotificationHandler<T>").handled == ()


def test_the_snippet_in_full() -> None:
    found = of_shop(HandlerDescription, "Fernhill.Shop.Domain.Orders.PlaceOrderHandler")
    assert snippets_of(found) == {
        "handler-overview": (
            "Domain: General\n\n"
            "Kind: Handler\n\n"
            "Artifact: Fernhill.Shop.Domain.Orders.PlaceOrderHandler\n"
            "PrimaryEntity: Order\n"
            "Handles: PlaceOrderCommand → PlaceOrderResult\n"
            "DependsOn: IOrderManager\n"
            "Path: OrderHandlers\n\n"
            "Purpose: Handles PlaceOrderCommand by handing it to the order manager.\n"
            "Task<PlaceOrderResult> HandleAsync(PlaceOrderCommand request, CancellationToken cancellationToken)"
        )
    }
    assert "- Handles: `Command PlaceOrderCommand → PlaceOrderResult`" in sections_of(found)[0].backing_artifact


@pytest.mark.parametrize(
    "body",
    ["", "void M( { ] }", "class Inner : IConsumer<X> { }", "\n".join(f"public void M{i}() {{ }}" for i in range(300))],
    ids=["empty", "broken", "nested", "300 members"],
)
def test_odd_handlers(body: str) -> None:
    found = handler("class OddHandler<T>", body)
    assert found.handled == ()
    points_of(found)
    assert keys_of(found)[0] == "handler-overview"
