"""Texts that somebody saw, an error or a line of a log: where they are written, and what leads to them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets.answer.message_texts import written_texts
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "src/OrderNotFoundException.cs": """\
namespace Shop;
public sealed class OrderNotFoundException : Exception
{
    public OrderNotFoundException(Guid id) : base($"The order {id} is not known to us.") { }
}
""",
    "src/OrderService.cs": """\
namespace Shop;
public sealed class OrderService
{
    private const string TooMany = "You may not order more than ten of one thing.";
    private readonly ILogger<OrderService> _log;
    public Order Find(Guid id)
    {
        var order = _orders.Find(id);
        if (order is null)
        {
            throw new OrderNotFoundException(id);
        }
        return order;
    }
    public void Add(Order order, int count)
    {
        if (count > 10)
        {
            throw new InvalidOperationException(TooMany);
        }
        if (order.IsClosed)
            _log.LogWarning("Line was added to the closed order {OrderId} by {User}", order.Id, order.User);
    }
    public string Cancel(Order order)
    {
        if (order.Shipped) return Texts.AlreadyShipped;
        return "";
    }
}
""",
    "res/Texts.resx": """\
<?xml version="1.0"?>
<root>
  <data name="AlreadyShipped" xml:space="preserve">
    <value>The parcel has left our house already.</value>
  </data>
  <data name="Thanks" xml:space="preserve">
    <value>Thank you for your order.</value>
  </data>
</root>
""",
    "web/en.json": """\
{
  "errors": {
    "basketEmpty": "Put something into your basket first.",
    "loginFailed": "Wrong name or password."
  }
}
""",
    "web/checkout.ts": """\
export function checkout(basket: Basket): void {
  if (basket.lines.length === 0) {
    throw new UserError(t("errors.basketEmpty"));
  }
  submit(basket);
}
""",
    "go/store.go": """\
package store
import "errors"
var ErrLocked = errors.New("the stock is locked by another picker")
func (s *Store) Pick(id string) error {
	if s.locked[id] {
		return ErrLocked
	}
	return nil
}
""",
    "java/messages.properties": """\
voucher.expired=This voucher has run out on {0}.
""",
    "java/Vouchers.java": """\
package shop;
public class Vouchers {
    public void redeem(Voucher voucher) {
        if (voucher.expires().isBefore(now())) {
            throw new ShopException(messages.get("voucher.expired", voucher.expires()));
        }
    }
}
""",
    "py/refunds.py": '''\
class RefundError(Exception):
    """Why a refund is refused."""

def refund(order, amount):
    if amount > order.total:
        raise RefundError(
            f"cannot give back {amount} for order {order.id}, "
            "as it was paid less"
        )
''',
    "src/OrderServiceTests.cs": """\
public class OrderServiceTests
{
    [Fact]
    public void Fails() => Assert.Equal("The till drawer could not be opened again.", Run());
}
""",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("texts"), FILES, "texts") as index:
        yield index


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        (
            'why do I get "The order 4711 is not known to us."?',
            [
                "src/OrderNotFoundException.cs:4",
                "if (order is null)",
                "Thrown in",
            ],
        ),
        (
            "what does You may not order more than ten of one thing mean?",
            ["src/OrderService.cs:4", "if (count > 10)", "TooMany is used in:"],
        ),
        (
            "I see this in the log: Line was added to the closed order 12 by bob. Where does it come from?",
            ["src/OrderService.cs:1", "if (order.IsClosed)"],
        ),
        ("customers see The parcel has left our house already, why?", ["res/Texts.resx", "if (order.Shipped)"]),
        (
            "when is the message Put something into your basket first shown?",
            ["web/en.json", "basket.lines.length === 0"],
        ),
        ("why does it say the stock is locked by another picker?", ["go/store.go:3", "Store.Pick"]),
        ("customers get This voucher has run out on 2024-01-01. When?", ["messages.properties:1", "voucher.expires()"]),
        ("cannot give back 12.50 for order 7, as it was paid less", ["py/refunds.py:", "if amount > order.total:"]),
        ("RefundError: cannot give back 3 for order 8, as it was paid less", ["py/refunds.py:", "raise RefundError("]),
        ('where does "by another picker" come from?', ["go/store.go:3"]),
    ],
)
def test_a_text_that_somebody_saw_is_told_with_its_place_and_what_leads_to_it(
    shop: Index, question: str, shown: list[str]
) -> None:
    answer = shop.ask(question)

    assert not answer.abstained and not answer.unsure
    assert [text for text in shown if text not in answer.text.replace("`", "")] == []
    assert "[unverified]" not in answer.text


@pytest.mark.parametrize(
    "question",
    [
        "why do I get an error when the order is not known?",
        "what does it say when the basket is empty?",
        "why do I get The till drawer could not be opened again?",  # a test alone says it
        "why does it fail to give back an order?",
        "when does the log say that another picker was locked by the stock?",
    ],
)
def test_words_of_a_text_in_another_order_or_only_some_of_them_are_not_that_text(shop: Index, question: str) -> None:
    assert written_texts(question, (), shop) is None
