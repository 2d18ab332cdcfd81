"""A small repository that goes through everything that can happen to files between two commits."""

from __future__ import annotations

from history import EXECUTABLE, SUBMODULE, SYMLINK, Commit, Content, Entry

ORDER = """namespace Shop.Orders;

/// <summary>An order of a customer.</summary>
public class Order
{
    public int Id { get; set; }

    public OrderState State { get; set; }
}
"""
SERVICE = """namespace Shop.Orders;

/// <summary>Takes orders.</summary>
public partial class OrderService : IOrderService
{
    private readonly IClock _clock;

    public OrderService(IClock clock) => _clock = clock;

    public Order Place(int customer) => new Order { Id = customer };
}
"""
OTHER_PART = """namespace Shop.Orders;

public partial class OrderService
{
    /// <summary>Takes an order back.</summary>
    public void Cancel(Order order) => order.State = OrderState.Cancelled;
}
"""
CONTRACT = """namespace Shop.Orders;

/// <summary>What can be done with orders.</summary>
public interface IOrderService
{
    Order Place(int customer);
}
"""
STATE = "namespace Shop.Orders;\n\npublic enum OrderState { New, Placed, Cancelled }\n"
TEXTS = """<?xml version="1.0" encoding="utf-8"?>
<root>
  <data name="Order_Title" xml:space="preserve"><value>{}</value></data>
</root>
"""
SQL = "CREATE TABLE shop.Orders (Id INT NOT NULL, State INT NOT NULL);\n"
GUIDE = "# Orders\n\n## How to place one\n\nCall `Place`.\n\n## How to cancel one\n\nCall `Cancel`.\n"

FIRST: dict[str, Content] = {
    "src/Order.cs": ORDER,
    "src/OrderService.cs": SERVICE,
    "src/OrderService.Cancel.cs": OTHER_PART,
    "src/IOrderService.cs": CONTRACT,
    "src/OrderState.cs": STATE,
    "src/Texts.resx": TEXTS.format("An order"),
    "db/Orders.sql": SQL,
    "docs/guide.md": GUIDE,
    "tools/run.py": "def run():\n    return 1\n",
}

COMMITS = (
    Commit(name="first", put=FIRST.items()),
    Commit(
        name="edit, add and delete",
        put=[
            ("src/OrderService.cs", SERVICE.replace("Id = customer", "Id = customer + 1")),
            (
                "src/Refund.cs",
                "namespace Shop.Orders;\n\npublic class Refund : Order { public int Cents { get; set; } }\n",
            ),
        ],
        delete=["docs/guide.md"],
    ),
    Commit(
        name="move a folder", move={"src/Order.cs": "src/Model/Order.cs", "src/OrderState.cs": "src/Model/State.cs"}
    ),
    Commit(
        name="rename a type in place",
        move={"src/Refund.cs": "src/CreditNote.cs"},
        put=[
            (
                "src/CreditNote.cs",
                "namespace Shop.Orders;\n\npublic class CreditNote { public int Cents { get; set; } }\n",
            )
        ],
    ),
    Commit(
        name="revert", put=[("src/OrderService.cs", SERVICE), ("docs/guide.md", GUIDE)], delete=["src/CreditNote.cs"]
    ),
    Commit(name="a text that others use", put=[("src/Texts.resx", TEXTS.format("An order of a customer"))]),
    Commit(name="a part of a type goes", delete=["src/OrderService.Cancel.cs"]),
    Commit(name="text becomes binary", put=[("db/Orders.sql", b"\x00\x01\x02" * 500)]),
    Commit(name="binary becomes text", put=[("db/Orders.sql", SQL + "-- again\n")]),
    Commit(name="only the case of a name", move={"src/IOrderService.cs": "src/iorderservice.cs"}),
    Commit(name="only a mode", put=[("tools/run.py", Entry(b"def run():\n    return 1\n", EXECUTABLE))]),
    Commit(
        name="submodule and link",
        put=[("vendor/lib", Entry(b"1" * 40, SUBMODULE)), ("docs/link.md", Entry(b"guide.md", SYMLINK))],
    ),
    Commit(
        name="file becomes folder",
        delete=["tools/run.py"],
        put=[("tools/run.py/main.py", "def main():\n    return 2\n"), ("src/Copy.cs", ORDER)],
    ),
    Commit(
        name="work on a branch",
        branch="feature",
        parent="revert",
        put=[
            (
                "src/Coupon.cs",
                "namespace Shop.Orders;\n\n/// <summary>Lowers a price.</summary>\npublic class Coupon { }\n",
            )
        ],
    ),
    Commit(
        name="merge",
        parent="file becomes folder",
        merge="work on a branch",
        put=[
            (
                "src/Coupon.cs",
                "namespace Shop.Orders;\n\n/// <summary>Lowers a price.</summary>\npublic class Coupon { }\n",
            )
        ],
    ),
    Commit(name="nothing changed"),
    Commit(
        name="everything goes",
        delete=["src", "db", "docs", "tools", "vendor"],
        put=[("README.md", "# Empty\n\nNothing.\n")],
    ),
    Commit(name="everything is back", delete=["README.md"], put=FIRST.items()),
)
"""What the names say, each compared with the one before; the branch leaves main at "revert"."""
