"""Which error somebody gets is answered by where it is thrown, with its message, and by who catches it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets import Index
from rag_assets.answer.citations import Support
from rag_assets.answer.question_analysis import asks_what_happens
from rag_assets.answer.question_kinds import errors_asked
from rag_assets.qa.ask_options import AskOptions
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "src/Web/Client.cs": """\
namespace Shop;

public class RateLimitException : Exception
{
    public RateLimitException(int status) : base($"status {status}") { }
}

public class Client
{
    public void Check(int status)
    {
        if (status >= 400)
            throw ErrorFor(status);
    }
    private static Exception ErrorFor(int status) => status == 429 ? new RateLimitException(status) : new Exception();
}
""",
    "README.md": "# Shop\n\nSells things.\n",
    "src/Vouchers/VoucherExpiredException.cs": """\
namespace Shop;

/// <summary>A voucher that is too old.</summary>
public class VoucherExpiredException : Exception
{
    public VoucherExpiredException(string code) : base(code) { }
}
""",
    "src/Vouchers/VoucherBook.cs": """\
namespace Shop;

/// <summary>Redeems vouchers.</summary>
public class VoucherBook
{
    public void Redeem(Voucher voucher, Basket basket)
    {
        if (voucher is null)
            throw new ArgumentNullException(nameof(voucher));
        if (voucher.Basket == basket.Id)
            throw new InvalidOperationException("This voucher is redeemed in this basket already.");
        if (voucher.Ends < DateTime.Today)
            throw new VoucherExpiredException(voucher.Code);
        basket.Add(voucher);
    }
}
""",
    "src/Web/BasketEndpoint.cs": """\
namespace Shop;

public class BasketEndpoint
{
    public IResult Post(Voucher voucher)
    {
        try
        {
            _book.Redeem(voucher, _basket);
            return Results.Ok();
        }
        catch (VoucherExpiredException expired)
        {
            return Results.Conflict(expired.Message);
        }
    }
}
""",
    "tests/VoucherTests.cs": """\
public class VoucherTests
{
    public void Old() => Assert.Throws<VoucherExpiredException>(() => throw new VoucherExpiredException("x"));
}
""",
    "store/lock.go": """\
package store

import "errors"

// ErrLocked tells that another process has the lock.
var ErrLocked = errors.New("store is locked")

// Acquire takes the lock of the store.
func Acquire(held bool) error {
	if held {
		return ErrLocked
	}
	return nil
}

// Retry takes the lock again later.
func Retry(held bool) error {
	if err := Acquire(held); errors.Is(err, ErrLocked) {
		return nil
	}
	return nil
}
""",
}
FILES["pom/Keepers.java"] = """\
package shop;

public class Keepers {
    public Keeper keeperOf(int id) {
        return this.keepers.findById(id).orElseThrow(() -> new IllegalStateException(
                "No keeper of the warehouse exists with this id: " + id));
    }
}
"""
FILES["db/warehouse.sql"] = """\
CREATE TABLE IF NOT EXISTS keeper_of_warehouse (
    id INT
);
"""
THROWN, MADE, CAUGHT = "Thrown in", "Made in", "Caught in"


LOCK_TS = """export function turnKey(kind: string) {
  const acts: Record<string, () => void> = {
    'rusty': () => { throw new JammedError('rust'); },
  };
  acts[kind]();
}
"""
LOCK_VB = """Public Class Lock
    Public Sub OpenDoor()
        ' Throw New JammedException("no")
        Turn()
    End Sub
End Class
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("error-plan"), FILES, "shop") as index:
        yield index


def told_by(index: Index, question: str) -> dict[str, list[str]]:
    """Heading → the places below it; every statement is shown by the line that it names."""
    answer = index.ask(question, options=AskOptions(threshold=0.0))
    assert {one.support for one in answer.checks} <= {Support.SUPPORTED}
    found: dict[str, list[str]] = {}
    for line in answer.text.splitlines():
        if line.startswith("**") and line.endswith(":**"):
            found[line.strip("*:")] = []
        elif line.startswith("- **"):
            found[[*found][-1]].append(line.partition(": `")[0].rpartition(" in ")[2])
    return {heading: places for heading, places in found.items() if heading in (THROWN, MADE, CAUGHT)}


@pytest.mark.rule("E19")
@pytest.mark.parametrize(
    ("question", "first"),
    [("where is VoucherExpiredException thrown?", THROWN), ("who catches VoucherExpiredException?", CAUGHT)],
)
def test_a_named_error_is_thrown_and_caught_in_the_product(shop: Index, question: str, first: str) -> None:
    told = told_by(shop, question)
    assert next(iter(told)) == first
    assert told == {THROWN: ["src/Vouchers/VoucherBook.cs:13"], CAUGHT: ["src/Web/BasketEndpoint.cs:12"]}


def test_an_error_that_is_thrown_by_another_method_is_made_somewhere(shop: Index) -> None:
    """Clients of a server make the error that belongs to a status, and throw whichever it is."""
    told = told_by(shop, "when is RateLimitException thrown?")
    assert told == {MADE: ["src/Web/Client.cs:15"]}


def test_what_makes_an_error_is_told_before_what_catches_it(tmp_path: Path) -> None:
    files = {
        "src/BrokenException.cs": "namespace Shop;\n\npublic class BrokenException : Exception { }\n",
        "src/Circuit.cs": "namespace Shop;\n\npublic class Circuit\n{\n"
        "    public Exception Opened(bool open) => open ? new BrokenException() : null;\n}\n",
        "src/Caller.cs": "namespace Shop;\n\npublic class Caller\n{\n    public void Run()\n    {\n"
        "        try { Call(); }\n        catch (BrokenException) { Wait(); }\n    }\n}\n",
    }
    with opened_index(tmp_path, files, "shop") as index:
        assert [*told_by(index, "what throws BrokenException?")] == [MADE, CAUGHT]
        assert [*told_by(index, "who catches BrokenException?")] == [CAUGHT, MADE]


def test_an_error_that_is_a_value(shop: Index) -> None:
    told = told_by(shop, "when do I get ErrLocked?")
    assert told == {THROWN: ["store/lock.go:11"], CAUGHT: ["store/lock.go:18"]}


def test_an_error_that_is_not_named_is_the_one_whose_condition_and_message_say_the_question(shop: Index) -> None:
    told = told_by(shop, "what happens if a voucher is redeemed in the same basket already?")
    assert told[THROWN][0] == "src/Vouchers/VoucherBook.cs:11"
    assert "src/Vouchers/VoucherBook.cs:9" not in told[THROWN]  # that checks an argument
    assert told.get(CAUGHT, ["src/Web/BasketEndpoint.cs:12"]) == ["src/Web/BasketEndpoint.cs:12"]


def test_what_a_test_throws_is_not_what_happens(shop: Index) -> None:
    told = told_by(shop, "what happens if the old voucher of the voucher tests throws?")
    assert not [place for place in told.get(THROWN, []) if place.startswith("tests/")]


def test_nothing_of_errors_is_told_where_they_are_not_asked_for(shop: Index) -> None:
    assert not told_by(shop, "how are vouchers redeemed?")


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("which error do I get if the voucher is too old?", True),
        ("what happens when the store is locked?", True),
        ("which HTTP status does a client get", True),
        ("how are vouchers redeemed?", False),
        ("what does a voucher contain?", False),
    ],
)
def test_what_an_error_may_answer(question: str, asks: bool) -> None:
    assert asks_what_happens(question) is asks


@pytest.mark.parametrize(
    ("question", "names", "errors"),
    [
        ("where is OrderException thrown?", ("OrderException",), ["OrderException"]),
        ("who handles ErrLocked", ("ErrLocked",), ["ErrLocked"]),
        ("what is OrderException?", ("OrderException",), []),
        ("where is OrderService handled?", ("OrderService",), []),
    ],
)
def test_errors_that_are_named(question: str, names: tuple[str, ...], errors: list[str]) -> None:
    assert errors_asked(question, names) == errors


DERIVED = {
    "src/Refusals.cs": "namespace Shop;\n\npublic abstract class ParcelRefusedException : Exception { }\n\n"
    "public class TooHeavyException : ParcelRefusedException { }\n\n"
    "public class NoAddressException : ParcelRefusedException { }\n",
    "src/Others.cs": "namespace Shop;\n\npublic class LostParcelException : Exception { }\n",
}


def test_the_errors_that_derive_from_the_one_that_is_meant(tmp_path: Path) -> None:
    with opened_index(tmp_path, DERIVED, "shop") as index:
        told = index.ask("which exceptions are thrown when a parcel is refused?", options=AskOptions()).text
        other = index.ask("which exceptions are thrown when a parcel is lost?", options=AskOptions()).text
    assert told.startswith("**Derived from ParcelRefusedException:**\n- **TooHeavyException** in src/Refusals.cs:5")
    assert "- **NoAddressException** in src/Refusals.cs:7" in told and "Derived from" not in other


def test_what_is_raised_in_a_type_is_no_use_of_that_type(tmp_path: Path) -> None:
    """Events are raised, too, and a type that is made and compared with is no error."""
    files = {
        "src/WaterPump.cs": "namespace Shop;\n\npublic class WaterPump\n{\n    public event Action RanEmpty;\n"
        "    public void Run() => RanEmpty?.Invoke();\n}\n",
        "src/Station.cs": "namespace Shop;\n\npublic class Station\n{\n    public object Open() => new WaterPump();\n"
        "    public bool Has(object one) => one is WaterPump;\n}\n",
    }
    with opened_index(tmp_path, files, "shop") as index:
        assert told_by(index, "where is RanEmpty raised in WaterPump?") == {}


def test_an_apostrophe_begins_a_comment_unless_a_key_is_in_it(tmp_path: Path) -> None:
    files = {"README.md": "# Lock\n", "lock.ts": LOCK_TS, "Lock.vb": LOCK_VB}
    with opened_index(tmp_path, files, "lock") as index:
        assert "throws **JammedError**" in index.ask("which exceptions does turnKey throw?").text
        assert "throws" not in index.ask("which exceptions does OpenDoor throw?").text


def test_an_error_of_another_name_and_what_its_documentation_shows(tmp_path: Path) -> None:
    """Also where the documentation is so long that a section begins within it."""
    told = "\n".join(f"    A line that says what happens in case {number} of many." for number in range(120))
    files = {
        "shop/errors.py": f'class StopSelling(Exception):\n    """Ends a sale.\n\n{told}\n\n'
        '        raise StopSelling("late")\n\n'
        f'{told}\n    """\n\n    reason = ""\n',
        "shop/sale.py": "from shop.errors import StopSelling\n\n\ndef sell(goods):\n    try:\n        goods.take()\n"
        "    except StopSelling as stopped:\n        return stopped.reason\n",
    }
    with opened_index(tmp_path, files, "shop") as index:
        assert told_by(index, "where is the StopSelling exception handled?") == {CAUGHT: ["shop/sale.py:7"]}


def test_what_an_empty_optional_throws_is_thrown_there(shop: Index) -> None:
    told = told_by(shop, "what happens when a keeper of the warehouse does not exist?")
    assert told == {THROWN: ["pom/Keepers.java:5-6"]}


def test_a_script_that_may_run_twice_says_nothing_of_what_does_not_exist(shop: Index) -> None:
    answer = shop.ask("what happens when a keeper of the warehouse does not exist?", options=AskOptions())
    assert answer.citations[0].path == "pom/Keepers.java"


KILN = """\
namespace Kiln;

public static class KilnExtensions
{
    /// <summary>Fires a pot.</summary>
    /// <exception cref="ArgumentNullException">Where there is no pot.</exception>
    /// <exception cref="PotCrackedException">
    /// Thrown if the pot is cracked.
    /// </exception>
    public static Pot Fire(this IKiln kiln, Pot pot)
    {
        return kiln.Burn(pot);
    }
}
"""


@pytest.mark.parametrize(
    "question", ["What does Fire throw if the pot is cracked?", "Which exceptions does KilnExtensions.Fire throw?"]
)
def test_a_comment_says_what_a_member_throws_by_what_it_calls(tmp_path: Path, question: str) -> None:
    files = {"README.md": "# Kiln\n\nBurns pots.\n", "src/KilnExtensions.cs": KILN}
    with opened_index(tmp_path, files, "kiln") as index:
        told = index.ask(question).text
        assert "throws **PotCrackedException**" in told and "throws **ArgumentNullException**" not in told
