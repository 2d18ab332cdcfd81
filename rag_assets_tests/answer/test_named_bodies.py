"""What comes of something in one case is told by the lines of its body that decide it, not by its declaration."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets.answer.passages import MOST_LINES
from rag_assets.answer.question_analysis import intent_of
from rag_assets.search.query_parser import understand
from rag_assets_tests.cli.conftest import opened_index

_STEPS = "\n".join(f"        _log.Write({at}, crate.Label);" for at in range(30))
FILES = {
    "src/Harbour/Afloat.cs": """\
namespace Harbour;

public interface IMooring
{
    /// <summary>Moors a ship.</summary>
    int MoorShip(string ship);

    /// <summary>Moors a ship at a berth.</summary>
    int MoorShip(string ship, int berth);
}
""",
    "src/Harbour/IHarbourCrane.cs": """\
namespace Harbour;

public interface IHarbourCrane
{
    /// <summary>Lifts a crate.</summary>
    string LiftCrate(string crate);

    /// <summary>Lifts a crate to a deck.</summary>
    string LiftCrate(string crate, int deck);
}
""",
    "src/Harbour/HarbourCrane.cs": f"""\
namespace Harbour;

public sealed class HarbourCrane : IHarbourCrane
{{
    private readonly Log _log;

    public HarbourCrane(Log log)
    {{
        _log = log;
    }}

    public string LiftCrate(string crate) => HoistCrate(crate, 0);

    public string LiftCrate(string crate, int deck) => HoistCrate(crate, deck);

    private string HoistCrate(string crate, int deck)
    {{
{_STEPS}

        if (Weight(crate) > 40)
        {{
            throw new OverflowException("HarbourCrane: The crate is too heavy.");
        }}

        if (string.IsNullOrEmpty(crate))
        {{
            return "nothing lifted";
        }}

        return crate;
    }}

    private int Weight(string crate) => crate.Length;

    public void LowerCrate(string crate) => LowerNow(crate);

    private void LowerNow(string crate) => LowerSlowly(crate);

    private void LowerSlowly(string crate)
    {{
        _log.Write(1, crate);
        if (_speed > 9)
        {{
            throw new TimeoutException("Wait for the tide.");
        }}
        _log.Write(2, crate);
    }}

    public int Speed
    {{
        get {{ return _speed; }}
        set
        {{
            if (value < 1) throw new ArgumentException("A crane does not stand still.");
            _speed = value;
        }}
    }}

    private int _speed;
}}
""",
    "src/Harbour/Winch.cs": """\
namespace Harbour;

public sealed class Winch
{
    // The speed is set to zero when the rope is short.
    public void SetSpeed(int speed)
    {
        if (speed == 0)
        {
            Console.WriteLine("the speed is zero");
        }
    }
}
""",
    "src/Harbour/BerthPlan.cs": """\
namespace Harbour;

public sealed class BerthPlan
{
    private readonly Dictionary<string, int> _taken = new();

    public int Free => 12 - _taken.Count;

    public void Leave(string ship) => _taken.Remove(ship);

    public bool Holds(string ship) => _taken.ContainsKey(ship);

    public void Rename(string ship, string other) => _taken[other] = _taken[ship];

    public void Close() => _taken.Clear();

    public IReadOnlyCollection<string> Ships() => _taken.Keys;

    public void Move(string ship, int berth)
    {
        _taken[ship] = berth;
        Console.WriteLine(ship);
        Console.WriteLine(berth);
    }

    public int MoorShip(string ship)
    {
        if (_taken.TryGetValue(ship, out var berth))
        {
            return berth;
        }
        if (Free == 0)
        {
            return -1;
        }
        return _taken[ship] = _taken.Count;
    }
}
""",
    "src/Office/HarbourOffice.cs": """\
namespace Office;

public sealed class HarbourOffice
{
    // Once a ship has sailed, the caches of the office are cleared: nobody may see a ship that has sailed.
    public void ShipHasSailed(string sailed)
    {
        var entry = _book.Find(sailed);
        entry.SailedAt = _clock.Now;
        entry.Pilot = null;
        _book.Save(entry);
        DropCaches();
    }

    public int Open => 1;

    public string Greeting => "Ahoy";

    public string Name { get; set; }

    public string Flag { get; set; }

    public string Motto { get; set; }

    public void Ring(int times)
    {
        for (var at = 0; at < times; at++)
        {
            Console.Beep();
            Console.Beep();
            Console.Beep();
        }
    }

    public void Sweep(string room)
    {
        Console.WriteLine(room);
        Console.WriteLine(room.Length);
        Console.WriteLine(room.Trim());
        Console.WriteLine(room.ToUpper());
    }

    private void DropCaches()
    {
        _memory.Remove("tides");
        _memory.Remove("berths");
        _memory.Remove("pilots");
    }
}
""",
    "src/Office/SailedShips.cs": """\
namespace Office;

/// <summary>The ships that have sailed, as the office shows them once they have.</summary>
public sealed class SailedShips
{
    // Ships that have sailed are listed once, and the list is cleared of those that have come back.
    public string[] ListSailedShips(string[] sailed) => sailed;

    // A ship that has sailed is cleared by the office.
    public void ClearSailedShip(string sailed) => Console.WriteLine(sailed);
}
""",
    "src/Office/BerthFeed.cs": """\
namespace Office;

public sealed class BerthFeed
{
    public void PullBerths(string address)
    {
        try
        {
            _client.Pull(address);
            _berths.Refresh();
        }
        catch (Exception exception)
        {
            _log.Warn(exception, "no berths, those of yesterday stay");
            _berths.KeepOld();
        }
    }
}
""",
    "src/Office/PullFailure.cs": """\
namespace Office;

public sealed class PullFailure
{
    // It fails to pull: what happens if it fails to pull is that it fails.
    public void FailToPull(string pull)
    {
        throw new PullFailedException("it fails to pull: the pull has failed");
    }
}
""",
    "src/Office/Languages/en.xaml": """\
<ResourceDictionary xmlns:system="clr-namespace:System;assembly=mscorlib">
    <system:String x:Key="bill_line_7">Anchoring twice costs the double tariff</system:String>
    <system:String x:Key="bill_line_6">Anchoring costs the tariff</system:String>
</ResourceDictionary>
""",
    "src/Office/Bill.cs": """\
namespace Office;

public sealed class Bill
{
    public void Add(Ship ship)
    {
        if (ship.Stays > 1)
        {
            _price *= 2;
            _screen.Show(Texts.Get("bill_line_7"));
        }
    }
}
""",
}


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("harbour"), FILES, "harbour") as index:
        yield index


def _first(index: Index, question: str) -> str:
    """The first quote of an answer."""
    return index.ask(question).text.partition("\n```\n\n")[0]


def test_what_a_type_does_in_one_case_is_the_member_that_says_it(harbour: Index) -> None:
    assert "return -1;" in _first(harbour, "What does BerthPlan return when no berth is free?")


def test_what_a_member_returns_in_one_case_is_where_the_member_that_it_calls_says_so(harbour: Index) -> None:
    assert 'return "nothing lifted";' in _first(harbour, "What does HoistCrate return when the crate is null or empty?")
    text = harbour.ask("What happens if HarbourCrane.LiftCrate gets a heavy crate?").text
    assert 'throw new OverflowException("HarbourCrane: The crate is too heavy.");' in text


def test_work_that_is_handed_on_twice_is_told_where_it_is_done(harbour: Index) -> None:
    text = harbour.ask("What does LowerCrate throw when the crane is fast?").text
    assert text.index("LowerNow(crate);") < text.index("Wait for the tide.")


def test_an_excerpt_of_a_long_member_is_as_long_as_a_quote_may_be(harbour: Index) -> None:
    quote = _first(harbour, "What does HoistCrate return when the crate is null or empty?")
    code = quote.partition("```csharp\n")[2].removeprefix("…\n").removesuffix("```").rstrip("\n")
    assert len(code.split("\n")) == MOST_LINES and code.endswith("}")


@pytest.mark.parametrize(
    "question", ["What does LiftCrate of HarbourCrane do?", "What does HarbourCrane's LiftCrate return?"]
)
def test_a_member_of_a_type_is_no_other_one_of_that_name(harbour: Index, question: str) -> None:
    text = harbour.ask(question).text
    assert "HoistCrate(crate, 0)" in text and "IHarbourCrane" not in text


def test_a_property_with_the_name_of_a_word_is_meant_where_a_case_is_told_of_it(harbour: Index) -> None:
    assert "A crane does not stand still." in _first(harbour, "What happens when Speed is set to zero?")


def test_what_a_contract_declares_is_shown_with_a_body(harbour: Index) -> None:
    text = harbour.ask("What does MoorShip do?").text
    assert text.index("“Moors a ship.”") < text.index("return -1;")


def test_what_is_thrown_by_something_named_in_one_case_is_its_error(harbour: Index) -> None:
    text = harbour.ask("Which exception does HarbourCrane throw when the crate is too heavy?").text
    assert "OverflowException" in text.partition("Thrown in")[0]
    assert "throws HarbourCrane" not in text


@pytest.mark.parametrize(
    ("question", "place", "line"),
    [
        ("which caches are cleared once a ship has sailed?", 1, '_memory.Remove("pilots");'),
        ("what happens if it fails to pull the berths?", 0, "_berths.KeepOld();"),
        ("what is the tariff for anchoring twice?", 0, "_price *= 2;"),
    ],
)
def test_what_the_best_quote_leaves_to_others_is_told_with_it(
    harbour: Index, question: str, place: int, line: str
) -> None:
    assert line in harbour.ask(question).text.split("\n```\n\n")[place]


@pytest.mark.parametrize(
    ("question", "is_case"),
    [
        ("What does BerthPlan return when no berth is free?", True),
        ("How does HarbourCrane behave if the crate is heavy?", True),
        ("What does BerthPlan do?", False),
        ("Where is HarbourCrane used when a ship leaves?", False),
    ],
)
def test_questions_that_tell_a_case(question: str, is_case: bool) -> None:
    assert intent_of(understand(question)).case is is_case
