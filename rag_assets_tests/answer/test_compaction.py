"""Signatures instead of bodies: shorter, and every declared name is still there (D23)."""

from __future__ import annotations

import pytest

from rag_assets.answer.token_budget import signatures
from rag_assets_tests.answer.pieces import SERVICE


@pytest.mark.rule("D23")
def test_bodies_go_and_names_stay() -> None:
    made = signatures(SERVICE, "csharp")
    assert len(made) < len(SERVICE)
    for name in ("OrderService", "_orders", "RefundOrder(int orderId)", "Count { get; private set; } = 3;"):
        assert name in made
    assert "RefundException" not in made
    assert "/// <summary>Pays back" in made


@pytest.mark.parametrize(
    ("language", "text", "gone", "kept"),
    [
        pytest.param(
            "markdown",
            "# Refunds\n\nMoney goes back in a week. The bank takes its time, and nobody knows why that is so.\n",
            "bank",
            "Money goes back in a week.",
            id="first sentences of prose",
        ),
        pytest.param(
            "sql",
            "CREATE PROCEDURE dbo.Refund @id int\nAS\nBEGIN\n    UPDATE dbo.Orders SET Back = 1 WHERE Id = @id\nEND\n",
            "UPDATE",
            "CREATE PROCEDURE dbo.Refund @id int",
            id="a procedure without its body",
        ),
        pytest.param(
            "python",
            "def refund(order):\n    total = order.total\n    pay_back(total, order.customer, reason='returned')\n",
            "pay_back",
            "def refund(order):",
            id="python",
        ),
    ],
)
def test_what_is_left_of_other_languages(language: str, text: str, gone: str, kept: str) -> None:
    made = signatures(text, language)
    assert kept in made and gone not in made


def test_a_table_is_all_signature() -> None:
    text = "CREATE TABLE dbo.Orders (\n    Id int NOT NULL,\n    Total money NOT NULL\n);"
    assert signatures(text, "sql") == text


def test_it_never_gets_longer() -> None:
    for text in ("", "x", "a { }", "void A() => B();"):
        assert len(signatures(text, "csharp")) <= len(text)
