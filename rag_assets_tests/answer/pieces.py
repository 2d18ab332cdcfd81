"""Evidence as tests need it: a text with a place and a true hash."""

from __future__ import annotations

from typing import Any

from rag_assets.contracts.evidence import Evidence
from rag_assets.contracts.identity import content_hash

SERVICE = """\
/// <summary>Cancels and refunds orders.</summary>
public class OrderService
{
    private readonly IOrderRepository _orders;

    public OrderService(IOrderRepository orders) => _orders = orders;

    /// <summary>Pays back what a customer returned, up to the limit.</summary>
    public decimal RefundOrder(int orderId)
    {
        var order = _orders.Find(orderId);
        if (order.Total > Limit)
        {
            throw new RefundException("too much");
        }
        return order.Total;
    }

    public int Count { get; private set; } = 3;
}
"""


def piece(text: str = SERVICE, identifier: str = "aaaa1111", **changes: Any) -> Evidence:
    values: dict[str, Any] = {
        "point_ids": (f"{identifier}-0000-5000-8000-000000000000",),
        "ids": (identifier,),
        "label": "shop@main",
        "commit_sha": "c" * 40,
        "path": "src/Orders/OrderService.cs",
        "line_start": 3,
        "line_end": 2 + max(1, len(text.splitlines())),
        "symbol": "Shop.Orders.OrderService",
        "kind": "Service",
        "language": "csharp",
        "text": text,
        "sha256": content_hash(text),
        "score": 1.0,
    }
    return Evidence(**{**values, **changes})
