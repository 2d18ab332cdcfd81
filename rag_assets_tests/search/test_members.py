"""The members of a hit and their lines, as an index of real files gives them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets import Hit, Index, open_index
from rag_assets.index.blobs import BlobStore
from rag_assets.search import MemberHit
from rag_assets.search.members import LONGEST_LINES, MOST_LISTED, asked_words
from rag_assets.search.outline import NARROW, signature_of
from rag_assets.search.query_parser import understand
from rag_assets_tests.pipeline.conftest import Built, new_build

ORDERS = """\
namespace Shop.Orders;

/// <summary>Everything that customers do with orders.</summary>
public class OrderService
{
    private readonly decimal _limit;

    /// <summary>Pays back what a customer returned.</summary>
    public decimal Refund(int orderId, decimal amount)
    {
        return amount > _limit ? _limit : amount;
    }

    public void Cancel(int orderId)
    {
        var parcel = Find(orderId);
        parcel.StopAtWarehouse();
    }

    public void Ship(int orderId, string carrier)
    {
        Find(orderId).Send(carrier);
    }

    private Parcel Find(int orderId) => Parcels[orderId];
}
"""
SQL = """\
CREATE TABLE dbo.Invoices (
  Id int NOT NULL,
  -- when it was paid
  SettledAt datetime
);
GO
CREATE PROCEDURE dbo.CloseBooks
  @Year int,
  @Auditor nvarchar(50)
AS
UPDATE dbo.Invoices SET SettledAt = 1;
"""
GUIDE = """\
# Guide

Introduction.

## Install

Download it.

## Backups

Copy the vault every night.
"""
LONG = "def prepare(order):\n" + "".join(f"    step_{n}(order)\n" for n in range(200))
LONG = LONG.replace("step_150(order)", "freeze_the_voucher(order)")
FILES: dict[str, str | bytes] = {
    "src/OrderService.cs": ORDERS,
    "src/Many.cs": "namespace Shop;\n\npublic class Counters\n{\n"
    + "".join(f"    public int CounterOf{n} {{ get; set; }}\n" for n in range(3_000))
    + "}\n",
    "tools/prepare.py": LONG,
    "tools/labels.py": 'def print_label(parcel):\n    """Prints it."""\n\n\ndef burn_label(parcel):\n    return None\n',
    "web/site.js": "var a=1;" * 20 + "function quicksilver(){return 1}",
    "db/tables.sql": SQL,
    "docs/guide.md": GUIDE,
    "deploy/app.yaml": "service:\n  image: shop\n  replicas: 2\nlogging:\n  level: debug\n  sink: journal\n",
    "notes.txt": "First line.\nThe otter sleeps.\nLast line.\n",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return new_build(tmp_path_factory.mktemp("members"), FILES)


@pytest.fixture(scope="module")
def index(made: Built) -> Iterator[Index]:
    with open_index(made.label, home=made.build.home.root) as opened:
        yield opened


def first(index: Index, question: str, path: str = "") -> Hit:
    return next(hit for hit in index.search(question) if hit.path == path or not path)


@pytest.mark.parametrize(
    ("question", "path", "name", "lines"),
    [
        ("pay back what was returned", "src/OrderService.cs", "Refund", (8, 12)),
        ("refunds", "src/OrderService.cs", "Refund", (8, 12)),
        ("stop a parcel at the warehouse", "src/OrderService.cs", "Cancel", (14, 18)),
        ("which carrier sends an order", "src/OrderService.cs", "Ship", (20, 23)),
        ("OrderService", "src/OrderService.cs", "OrderService", (3, 5)),
        ("burning labels", "tools/labels.py", "burn_label", (5, 6)),
        ("settled at", "db/tables.sql", "SettledAt", (3, 4)),
        ("auditor", "db/tables.sql", "@Auditor", (9, 9)),
        ("vault every night", "docs/guide.md", "Backups", (9, 11)),
        ("logging level", "deploy/app.yaml", "logging.level", (5, 5)),
    ],
    ids=["doc", "other ending", "body", "parameter", "type", "python", "column", "sql parameter", "heading", "key"],
)
def test_the_best_member_says_the_most_of_the_question(
    index: Index, question: str, path: str, name: str, lines: tuple[int, int]
) -> None:
    hit = first(index, question, path)
    best = hit.members[0]
    assert (best.name, (best.start_line, best.end_line), hit.best_lines) == (name, lines, lines)


def test_members_have_their_signature_on_one_line(index: Index) -> None:
    hit = first(index, "pay back what was returned")
    assert hit.members[0].signature == "public decimal Refund(int orderId, decimal amount)"
    assert [member.score for member in hit.members] == sorted((one.score for one in hit.members), reverse=True)
    assert hit.member_count == 4  # the declaration and its field are another section


def test_a_trace_leads_to_the_member_that_has_the_line(index: Index) -> None:
    trace = (
        "System.NullReferenceException: no parcel\n"
        "   at Shop.Orders.OrderService.Helper(Int32 id) in /build/src/OrderService.cs:line 17\n"
    )
    hit = first(index, trace, "src/OrderService.cs")
    assert hit.members[0].name == "Cancel"


def test_a_section_without_a_telling_member_is_its_own_member(index: Index) -> None:
    hit = first(index, "where does the otter sleep", "notes.txt")
    assert [(one.start_line, one.end_line) for one in hit.members] == [(hit.start_line, hit.end_line)]
    assert hit.member_count == 0


def test_of_a_long_member_the_lines_that_say_the_most_come_first(index: Index) -> None:
    hit = first(index, "freeze the voucher", "tools/prepare.py")
    start, end = hit.best_lines
    assert start <= 152 <= end
    assert end - start + 1 == LONGEST_LINES


def test_a_type_of_three_thousand_members_lists_eight(index: Index) -> None:
    hits = index.search("counter of something", limit=20).hits
    assert hits and all(len(hit.members) <= MOST_LISTED for hit in hits)
    assert first(index, "CounterOf1234").members[0].name == "CounterOf1234"


def test_a_file_on_one_line_has_that_line(index: Index) -> None:
    assert first(index, "quicksilver", "web/site.js").best_lines == (1, 1)


def test_a_question_that_is_only_a_filter_lists_the_name_that_it_filters_by(index: Index) -> None:
    assert first(index, "symbol:Ship").members[0].name == "Ship"
    listed = index.search("path:src/OrderService.cs")
    assert all(hit.members and hit.best_lines[0] >= 1 for hit in listed)


def test_without_the_document_members_are_told_by_their_names(made: Built, tmp_path: Path) -> None:
    with open_index(made.label, home=made.build.home.root) as index:
        address = index.get(first(index, "refund").point_id)["BlobVersionId"]
        blob = made.build.home.blobs / address[:2] / address
        kept = blob.read_bytes()
    blob.unlink()
    try:
        with open_index(made.label, home=made.build.home.root) as index:
            assert first(index, "refund an order", "src/OrderService.cs").members[0].name == "Refund"
    finally:
        blob.write_bytes(kept)


def test_documents_are_read_of_the_hits_that_are_shown(made: Built, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what is said of a hit does not depend on how many others are wanted."""
    read: list[str] = []
    get = BlobStore.get

    def noted(store: BlobStore, address: str) -> str:
        read.append(address)
        return get(store, address)

    monkeypatch.setattr(BlobStore, "get", noted)
    with open_index(made.label, home=made.build.home.root) as index:
        (best,) = index.search("which carrier sends an order", limit=1, by_symbol=True).hits
        assert read == [index.get(best.point_id)["BlobVersionId"]]
        many = index.search("which carrier sends an order", limit=20, by_symbol=True).hits
    assert many[0] == best and len(set(read)) > 1


@pytest.mark.parametrize(
    ("question", "beginnings"),
    [("swap x and y", {"swap", "x", "y"}), ("which queries", {"quer"}), ("by query", {"quer"})],
)
def test_a_word_of_one_letter_is_looked_for_as_it_is(index: Index, question: str, beginnings: set[str]) -> None:
    """`y` without its `y` would be in every text, at every letter."""
    assert set(asked_words(understand(question), index.parts).beginnings) == beginnings


def test_without_members_the_same_sections_are_found(index: Index) -> None:
    """And no document of theirs is read, for a caller who shows none of it."""
    question = "pay back what was returned"
    found, bare = index.search(question), index.search(question, members=False)
    assert [(hit.point_id, hit.score) for hit in bare] == [(hit.point_id, hit.score) for hit in found]
    assert not any(hit.members or hit.source for hit in bare)
    assert all(hit.best_lines == (hit.start_line, hit.end_line) for hit in bare)
    assert "members" in found.timings and "members" not in bare.timings


@pytest.mark.parametrize(
    ("name", "signature", "shown"),
    [
        ("Refund", "public decimal Refund(int id)", "decimal Refund(int id)"),
        (
            "Queue.EventQueueGrow",
            "public event EventHandler<LogEventQueueGrowEventArgs> EventQueueGrow { add; remove; }",
            "event EventHand… EventQueueGrow { add; remove; }",
        ),
        (
            "Refund",
            "public decimal Refund(int orderId, decimal amount, string reason)",
            "decimal Refund(int orderId, decimal amount, strin…",
        ),
    ],
    ids=["short", "long-type", "long-parameters"],
)
def test_a_line_of_a_member_has_its_name(name: str, signature: str, shown: str) -> None:
    assert signature_of(MemberHit(name, signature, 1, 1, 0.5)) == shown
    assert len(shown) <= NARROW
