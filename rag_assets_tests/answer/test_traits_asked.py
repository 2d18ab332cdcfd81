"""What is asked of one declaration, or of all by their signatures: how they are declared, where they belong, how much
they have, what they take and give, and whether one uses another."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets.answer.structure.declaration_questions import (
    declaration_asked,
    number_asked,
    signature_asked,
    together_asked,
    trait_asked,
    use_asked,
    users_asked,
)
from rag_assets.answer.structure.members import members_asked
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "src/Shop/Shop.csproj": '<Project Sdk="Microsoft.NET.Sdk">\n</Project>\n',
    "src/Shop/Clock.cs": """\
namespace Shop.Time;

public interface IClock
{
    DateTime Now();
}

sealed class Clock : IClock
{
    public const string Zone = "UTC";
    public const int Step = 60;
    private readonly Wheel _wheel;

    public int TickCount { get; set; }

    /// <summary>Reads the time.</summary>
    /// <param name="wheel">what turns while it reads</param>
    [Obsolete]
    public async Task<Reading> ReadAsync(Wheel wheel, CancellationToken stop)
    {
        return new Reading();
    }

    public DateTime Now() => _wheel.Turn();

    public override string ToString() => "clock";
}
""",
    "src/Shop/Wheel.cs": """\
namespace Shop.Time;

public class Wheel
{
    public int TickCount { get; set; }

    public DateTime Turn() => default;

    public override string ToString() => "wheel";
}

public static class WheelExtensions
{
    public static void Oil(this Wheel wheel)
    {
    }
}
""",
    "src/Shop/Services.cs": """\
namespace Shop;

using Shop.Time;

public class AlarmService
{
    private readonly IClock clock;

    public DateTime Next() => clock.Now();
}

public class MenuService
{
}

public static class Startup
{
    public static void Add(IServiceCollection services) => services.AddSingleton<Clock>();
}
""",
    "lib/bells.py": """\
class Bell(Part):  # type: ignore[misc]
    def ring(self, times):
        return times

    def _stop(self):
        return 0
""",
    "web/bells.ts": "export function ringAll(withTimes: number) {\n  return withTimes;\n}\n",
    "lib/gong.go": """\
package lib

// Gong is struck.
type Gong struct {
	mallet Mallet
}

type Mallet struct {
	weight int
}

func (g *Gong) Weight() int {
	return g.mallet.weight
}

func (g *Gong) Copy() *Gong {
	return g
}

func (m *Mallet) Strike(gong *Gong) int {
	return gong.Weight()
}
""",
    "lib/striker.ts": """\
export class Striker {
  constructor(private readonly store: Store<Mallet>) {}
}

export class Mallet {}
""",
    "docs/bells.md": "# Bells\n\n## TickCount\n\nHow often a wheel has turned.\n",
    "lib/Horn.java": """\
package lib;

public class Horn {
    @Override
    public String toString() {
        return "horn";
    }

    private int depth(int level) {
        return depth(level - 1);
    }
}
""",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("traits"), FILES, "traits") as index:
        yield index


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Is Clock sealed?", "**Clock** is **sealed** in src/Shop/Clock.cs:8"),
        ("Is Wheel a sealed class?", "**Wheel** is not **sealed** in src/Shop/Wheel.cs:3"),
        ("Is Clock internal?", "**Clock** is **internal**"),
        ("Is ReadAsync async?", "**Clock.ReadAsync** is **async** in src/Shop/Clock.cs:19"),
        ("Is IClock an interface?", "**IClock** is **an interface**"),
        ("Is Clock a singleton?", "**Clock** in src/Shop/Services.cs:18"),
        ("Is Bell._stop private?", "**Bell._stop** is **private**"),
        ("In which namespace is Clock?", "**Clock** belongs to **Shop.Time**"),
        ("Which project contains Wheel?", "**Wheel** belongs to **src/Shop/Shop.csproj**"),
        ("In which file is AlarmService defined?", "`AlarmService` in src/Shop/Services.cs:5"),
        ("How many lines does Wheel have?", "**Wheel** has **8 lines**"),
        ("How many methods does Bell have?", "**Bell** has **2 methods**"),
        ("How many parameters does ReadAsync take?", "**Clock.ReadAsync** has **2 parameters**"),
        ("What is the return type of ReadAsync?", "public async Task<Reading> ReadAsync(Wheel wheel"),
        ("Which methods take a CancellationToken?", "**Clock.ReadAsync**"),
        ("Which methods return Reading?", "**Clock.ReadAsync**"),
        ("Which classes have a property called TickCount?", "**Members called TickCount (2):**"),
        ("Which classes have a field of type Wheel?", "**Clock._wheel**"),
        ("What extension methods are there on Wheel?", "**WheelExtensions.Oil**"),
        ("Which classes override ToString?", "**Overrides of ToString (2):**"),
        ("Who overrides toString?", "**Horn.toString**"),
        ("Which classes are longer than 15 lines?", "**Classes by their lines (1):**"),
        ("What constants are defined in Clock?", "**Members of Clock (2):**"),
        ("Does Clock use Wheel?", "**Clock uses Wheel"),
        ("Does AlarmService call Clock?", "**AlarmService uses Clock"),
        (
            "Does MenuService depend on Clock?",
            "nothing that the graph knows of MenuService uses Clock or a member of it",
        ),
        ("Does Clock implement IClock?", "**Clock is declared as IClock"),
        ("Which services use the Clock?", "**1 that use Clock:**"),
        ("Which types end with Service?", "**Types whose names end with Service (2):**"),
        ("Which classes have Wheel in their name?", "**Classes whose names contain Wheel (2):**"),
        ("Which methods are called Turn?", "**Wheel.Turn** in src/Shop/Wheel.cs:7"),
        ("Which classes start with Zebra?", "there are no classes whose names start with Zebra in the product"),
        ("Which classes have a relation to Wheel?", "**Clock._wheel**"),
        ("Which interfaces are implemented by Clock?", "sealed class Clock : IClock"),
        ("What is the class hierarchy of IClock?", "**Clock** implements **IClock**"),
        ("Show me an example of how Wheel.Turn is used", "public DateTime Now() => _wheel.Turn();"),
        ("Where is the magic number 60 used?", "**Clock.Step** in src/Shop/Clock.cs:11"),
        ("Which constants have the value 61?", "no code of the product has 61"),
        ("Which methods are recursive?", "**Horn.depth**"),
        ("Is Horn.depth recursive?", "**Horn.depth** is **recursive**"),
        ("Is Horn.toString recursive?", "**Horn.toString** is not **recursive**"),
        ("Which methods are deprecated?", "**1 deprecated declaration:**"),
        ("Which classes have a field called _wheel?", "**Clock._wheel**"),
        ("Which functions take a withTimes?", "**bells.ringAll**"),
        ("Is Bell a class?", "**Bell** is **a class**"),
        ("What does the parameter wheel of ReadAsync mean?", '<param name="wheel">what turns while it reads'),
        ("What is the times parameter for?", "**Bell.ring**"),
        ("Which structs have a field of type Mallet?", "**Gong.mallet** in lib/gong.go:5"),
        ("Which classes have a property named tickcount?", "**Members called tickcount (2):**"),
        ("Which structs have a field called weight?", "**Members called weight (1):**"),
        ("Which methods return a Gong?", "**Methods that return Gong (1):**"),
        ("Which methods take a Gong?", "**Mallet.Strike**"),
        ("How many lines does Gong have?", "lib/gong.go:4"),
        ("Does Striker use Mallet?", "**Striker names Mallet:**"),
        ("Which public methods does Clock have?", "**3 public methods of Clock:**"),
        ("Could you tell me which methods of Clock are async?", "**Clock.ReadAsync** in src/Shop/Clock.cs:19"),
        ("I'd like to know which private fields Clock has", "**1 private field of Clock:**"),
        ("What methods does Gong have?", "**2 methods of Gong:**"),
        ("Which methods of Bell are not public?", "**1 method of Bell not public:**"),
        ("Which constructors does Striker have?", "**1 constructor of Striker:**"),
        ("Which methods are there?", "**17 methods:**"),
        ("Which methods are in Wheel.cs?", "**3 methods in Wheel.cs:**"),
        ("Which functions does lib/bells.py have?", "**2 functions in lib/bells.py:**"),
        ("Which classes are in the namespace Shop?", "**6 classes in Shop:**"),
        ("Which interfaces are in the namespace Shop.Time?", "**1 interface in Shop.Time:**"),
        ("Which virtual methods does Clock have?", "Clock has no virtual method"),
        ("Which dependencies does AlarmService have?", "**IClock**"),
        ("Show me the constructor of Striker", "constructor(private readonly store"),
        ("What attributes are on ReadAsync?", "[Obsolete]"),
        ("Do we have extension methods?", "**WheelExtensions.Oil**"),
        ("Give me a list of all the interfaces in this project, please", "**1 interface:**"),
        ("Which classes have a WindUp method?", "there are no members called WindUp in the product"),
    ],
)
def test_what_is_so_is_told(shop: Index, question: str, told: str) -> None:
    answer = shop.ask(question)
    assert told in f"{answer.text} {answer.notes} {answer.reason}", answer.text


@pytest.mark.parametrize(
    "question",
    [
        "Which methods do customers have?",
        "Which fields are there in the order form?",
        "Is the cart public?",
        "Is it a singleton?",
        "Is GET a safe method for orders?",
        "How many lines does an order have?",
        "Which classes of customers return Orders late?",
        "Which methods of payment does the shop accept?",
        "Does the customer use a coupon?",
        "Does the project use Redis?",
        "What is the type of the order?",
        "Which tests use the database?",
        "Which services use Redis and which do not?",
        "Which files change the price?",
        "Which classes start with an introduction?",
        "Which methods are called every night?",
        "Which orders are called Draft?",
        "Where is the number of orders shown?",
        "Which entities are related to the customer?",
        "What changes when the Price changes?",
        "Which endpoints return NotFound?",
        "In which folder are the logs of yesterday?",
    ],
)
def test_questions_of_people_and_things_are_left_to_others(question: str) -> None:
    parsers = (
        members_asked,
        trait_asked,
        declaration_asked,
        signature_asked,
        use_asked,
        users_asked,
        together_asked,
        number_asked,
    )
    found = [parse(question) for parse in parsers if parse(question)]
    assert not found


@pytest.mark.parametrize(
    ("question", "untold"),
    [
        ("How long is TickCount?", "1 line"),
        ("Does TickCount use Wheel?", "nothing that the graph knows"),
        ("Which methods return NotFound?", "there are no methods"),
    ],
)
def test_what_a_question_does_not_mean_is_not_told(shop: Index, question: str, untold: str) -> None:
    answer = shop.ask(question)
    assert untold not in f"{answer.text} {answer.reason}"


@pytest.mark.parametrize(
    ("question", "thing"),
    [
        ("Which files change together with src/Clock.cs?", "src/Clock.cs"),
        ("What else usually changes when I change ClockService?", "ClockService"),
        ("Which files are often changed with Clock.cs?", "Clock.cs"),
    ],
)
def test_what_changes_together_is_asked_in_many_ways(question: str, thing: str) -> None:
    assert together_asked(question) == thing


def test_that_no_other_file_changes_with_it_is_not_told_as_if_there_were_no_commits(shop: Index) -> None:
    answer = shop.ask("Which files change together with AlarmService?")
    assert "no two changed another file with AlarmService" in f"{answer.notes} {answer.reason}"
