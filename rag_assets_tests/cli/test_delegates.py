"""A delegate is called by its name, and an answer about one shows its signature."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from rag_assets.index.layout import IndexHome
from rag_assets_tests.cli.conftest import CommandLine, new_repository

THINGS = """\
namespace Shop.Invoicing;

public class Invoice { public int Number { get; set; } }

/// <summary>Is told when an invoice was paid.</summary>
public delegate void InvoicePaid(Invoice invoice, decimal amount = 0m);

[System.Serializable]
public delegate TResult InvoiceConverter<in T, out TResult>(T value) where T : class;

public delegate (Invoice First, Invoice Last) InvoiceBounds((int From, int To) range);

public delegate System.Collections.Generic.Dictionary<string, (int, int)>? InvoiceIndex();

public static class Payments
{
    /// <summary>Leaves invoices out.</summary>
    public delegate bool InvoiceFilter(Invoice invoice);

    public static event InvoicePaid? Paid = delegate { };
}
"""


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandLine]:
    base = tmp_path_factory.mktemp("delegates")
    new_repository(base / "shop", {"Things.cs": THINGS})
    settings = {
        "home": "home",
        "embedder": {"provider": "lexical-only"},
        "repositories": [{"id": "shop", "location": "shop"}],
    }
    (base / "rag_assets.yaml").write_text(json.dumps(settings), encoding="utf-8")
    made = CommandLine(IndexHome(base / "home"), base)
    made.build(options=())
    yield made


@pytest.mark.rule("F12")
@pytest.mark.parametrize("asked", ["{}", "What is {}?", "How does {} work?"])
@pytest.mark.parametrize(
    ("name", "line", "signature"),
    [
        ("InvoicePaid", 5, "public delegate void InvoicePaid(Invoice invoice, decimal amount = 0m)"),
        (
            "InvoiceConverter",
            8,
            "public delegate TResult InvoiceConverter<in T, out TResult>(T value) where T : class",
        ),
        ("InvoiceBounds", 11, "public delegate (Invoice First, Invoice Last) InvoiceBounds((int From, int To) range)"),
        (
            "InvoiceIndex",
            13,
            "public delegate System.Collections.Generic.Dictionary<string, (int, int)>? InvoiceIndex()",
        ),
        ("InvoiceFilter", 17, "public delegate bool InvoiceFilter(Invoice invoice)"),
    ],
)
def test_an_answer_about_a_delegate_names_it_and_shows_its_signature(
    cli: CommandLine, asked: str, name: str, line: int, signature: str
) -> None:
    done = cli.run("ask", asked.format(name), options=())
    assert done.code == 0
    first = done.out.splitlines()[0]
    owner = "Payments." if name == "InvoiceFilter" else ""
    assert first.startswith((f"{name} in Things.cs:{line}", f"{owner}{name} in Things.cs:{line}"))
    assert f"  {signature}" in done.out
    assert "Domain: " not in done.out, "it has none"


@pytest.mark.rule("F12")
def test_a_delegate_is_found_and_described_by_its_name(cli: CommandLine) -> None:
    (hit, *_) = cli.run("search", "symbol:InvoicePaid", "--json", "--full", options=()).json["hits"]
    assert hit["symbol"] == "Shop.Invoicing.InvoicePaid"
    shown = cli.run("show", "Things.cs:5", "--json", options=()).json
    assert "# Other InvoicePaid" in shown["description"]
    assert "public delegate void InvoicePaid(Invoice invoice, decimal amount" in shown["description"]
