"""Questions that take for granted what is not so, or that ask more than an index can tell, are not answered surely."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets.answer.question_analysis import asks_use
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "src/Berths.cs": """\
using System;

namespace Harbour;

public class BerthTakenException : Exception
{
}

public interface IBerth
{
    void Take(string ship);
}

public interface ILit
{
}

public sealed class StoneBerth : IBerth, ILit
{
    private readonly object _gate = new();

    public void Take(string ship)
    {
        lock (_gate)
        {
            Check(ship);
        }
    }

    private void Check(string ship)
    {
        if (ship.Length > 40)
            throw new BerthTakenException();
    }
}

public class WoodenBerth : IBerth
{
    public void Take(string ship) => Console.WriteLine(ship);
}

public class Buoy : ILit
{
    public void Float(IBerth berth) => berth.Take("buoy");
}

public class Office
{
    public void Close(WoodenBerth berth)
    {
        try
        {
            berth.Take("none");
        }
        catch (ArgumentException)
        {
        }
    }
}
""",
    "src/Registry.cs": """\
using System.Collections.Generic;

namespace Harbour;

public class Ship
{
    /// <summary>Who sails it; several pilots may have before.</summary>
    public Pilot Pilot { get; set; }

    public List<Cargo> Cargos { get; } = new();

    public bool HasPilots(Pilot pilot)
    {
        var pilots = new[] { pilot };
        return pilots.Length > 0;
    }
}

public class RouteConfig
{
    public string? TideId { get; init; }
}
""",
    "prisma/schema.prisma": """\
model Sailor {
  id    String  @id @map("sailor_id")
  rank  String  @db.VarChar(20)
  ships Ship[]
}
""",
    "src/Probes.cs": """\
namespace Harbour;

public class ProbeReader
{
    public ProbeConfig Read(ProbeSection section) => new ProbeConfig
    {
        Enabled = section.ReadBool(nameof(ProbeConfig.Enabled)),
        Policy = section["Policy"],
        Interval = section.ReadTimeSpan(nameof(ProbeConfig.Interval)),
        Fallback = new Rule { Policy = "Strict" },
    };
}
""",
    "src/tide.ts": """\
import bcrypt from 'bcryptjs';

export const schema = z.object({
  shipName: z.string().max(80),
  pilotCode: z.string().min(6),
});

export function hashCode(code: string) {
  return bcrypt.hashSync(code, 10);
}
""",
    "app/api/ships/route.ts": """\
export async function GET(request: Request) {
  const { auth, error } = await parseRequest(request);

  return json(await shipsOf(auth));
}

export async function POST(
  request: Request,
) {
  const { auth } = await parseRequest(request);

  if (!(await canAddShip(auth))) {
    return unauthorized();
  }

  return json({});
}
""",
    "app/api/tides/route.ts": """\
export async function GET(request: Request) {
  const { error } = await parseRequest(request, null, { skipAuth: true });

  return json({});
}
""",
    "app/api/alive/route.ts": "export async function GET() {\n  return json({ ok: true });\n}\n",
    "lib/request.ts": (
        "export async function parseRequest(request: Request) {\n"
        "  return checkAuth(request.headers.get('authorization'));\n}\n"
    ),
    "package.json": '{"dependencies": {"next": "14", "is-docker": "3"}}\n',
    "Dockerfile": "FROM node:22\n",
    "docs/berths.md": """\
# Booking a berth

A booking of a berth expires after 30 days, so that no berth stays empty. A ship may book two berths at once, and a
lost booking is looked for 5 times.
""",
    "deploy/dev.tfvars.json": '{\n  "lanterns": 1\n}\n',
    "deploy/prod.tfvars.json": '{\n  "lanterns": 4\n}\n',
    "src/Mooring.cs": """\
namespace Harbour;

public class MooringOptions
{
    public string? KnotStyle { get; set; }
}

public class MooringGateway
{
    public string Reach(string api) => api;
}
""",
    "src/Hold.cs": """\
namespace Harbour;

public class Hold
{
    private const int Crates = 12;

    public void Load(string[] crates)
    {
        if (crates.Length > 12)
            throw new HoldFullException("The hold of the ship is full of crates");
    }
}
""",
    "src/Mast.cs": """\
namespace Harbour;

public class Mast
{
    public string PaintOfMast(string colour) => colour;
}
""",
    "config/appsettings.json": '{"Mooring": {"Anchors": 2}}\n',
    "testassets/Quay/appsettings.json": '{"Mooring": {"KnotStyle": "Bowline"}}\n',
}


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("harbour"), FILES, "harbour") as index:
        yield index


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("Why does WoodenBerth throw a BerthTakenException?", "no line of WoodenBerth"),
        ("Why does StoneBerth catch BerthTakenException?", "catches BerthTakenException"),
        ("Where does Office throw an ArgumentException?", "no line of Office"),
        ("When does hashCode throw an error?", "no line of hashCode, or of what it calls, throws"),
        ("Why does WoodenBerth use Buoy?", "nothing that the graph knows of WoodenBerth uses Buoy"),
        ("Why does WoodenBerth use HttpClient?", "no line of WoodenBerth names HttpClient"),
        ("How does WoodenBerth use StoneBerth?", "nothing that the graph knows of WoodenBerth uses StoneBerth"),
        ("Which classes implement IBerth and IDisposable?", "derives from both IBerth and IDisposable"),
        ("How does hashCode use argon2?", "no line of hashCode names argon2"),
        ("Where does WoodenBerth use a lock?", "no lock of a known form is in WoodenBerth"),
        ("Who calls StoneBerth.Check without a ship?", "“without a ship”"),
        ("Which classes implement IBerth but are not sealed?", "“but are not sealed”"),
        ("Which berths do not call Check?", "which do not is not known"),
        ("Which gRPC services does the harbour offer?", "no line of a known form declares gRPC services"),
        ("What is the minimum length of a ship name?", "says no minimum"),
        ("What is the maximum length of a pilot code?", "says no maximum"),
        ("Why does a booking of a berth expire after 90 days?", "nothing that was found says 90 days"),
        ("Why may a ship book five berths at once?", "nothing that was found says five berths"),
        ("Why is a lost booking looked for 12 times?", "nothing that was found says 12 times"),
        ("How many lanterns are there in staging?", "is of staging, those there are of development and production"),
        ("How does a ship get a quota of berths?", "nothing that was found mentions quota"),
        ("How are crates loaded into the hold by a crane?", "nothing that was found mentions crane"),
        ("How is the mast painted with a sponge?", "nothing that was found mentions sponge"),
        ("How is a coupon for a berth booked?", "nothing that was found mentions coupon"),
        ("We moor a ship, and a pilot looks at it. How is a booking of a berth encrypted?", "mentions encrypted"),
        ("How does a ship get a mail when a booking of a berth expires?", "mentions a mail that is sent"),
        ("How many ships per hour may take a stone berth?", "mentions how many may be in a time"),
        ("How is the booking of a berth written into berths.toml?", "mentions berths.toml"),
        ("Which job checks the ship of a stone berth?", "mentions a job"),
        ("How do I block another ship from a stone berth?", "mentions block another"),
    ],
)
def test_what_is_not_so_is_said_and_never_answered_surely(harbour: Index, question: str, says: str) -> None:
    answer = harbour.ask(question)
    assert answer.unsure or answer.abstained, answer.text
    assert says in " ".join([answer.reason, *answer.notes]), (answer.reason, answer.notes)


def test_what_cannot_be_done_is_said_where_that_is_refused(harbour: Index) -> None:
    answer = harbour.ask("Which berths can not be taken?")
    assert "is not known" not in " ".join([answer.reason, *answer.notes])


@pytest.mark.parametrize(
    ("question", "has", "lacks"),
    [
        ("When does StoneBerth throw a BerthTakenException?", "**StoneBerth.Check** throws", "WoodenBerth"),
        ("Why does StoneBerth throw an exception?", "`throw new BerthTakenException();`", "WoodenBerth"),
        ("When does Buoy throw a BerthTakenException?", "**StoneBerth.Check** throws", "Made in"),
        ("Why does Buoy use IBerth?", "**Buoy uses IBerth:**", "StoneBerth"),
        ("Where does StoneBerth use a lock?", "**1 lock in StoneBerth:**", "WoodenBerth"),
        ("Which classes implement IBerth and ILit?", "**StoneBerth** implements **ILit**", "Buoy"),
        ("What is the maximum length of a ship name?", "z.string().max(80)", "min(6)"),
        ("What is the minimum length of a pilot code?", "z.string().min(6)", "max(80)"),
    ],
)
def test_what_is_so_is_told_of_that_alone(harbour: Index, question: str, has: str, lacks: str) -> None:
    answer = harbour.ask(question)
    assert not answer.unsure and not answer.abstained
    facts = answer.text.partition("\n\n")[0]
    assert has in facts
    assert lacks not in facts


@pytest.mark.parametrize(
    "question",
    [
        "Why does a booking of a berth expire after 30 days?",
        "Why does a booking of a berth expire after one month?",
        "Why may a ship book 2 berths at once?",
        "Why is a lost booking looked for five times?",
        "How is a lost booking looked for?",
        "How many crates may the hold of a ship have at most?",
        "How long is a booking of a berth kept?",
    ],
)
def test_what_is_taken_for_granted_and_is_so_hinders_no_answer(harbour: Index, question: str) -> None:
    answer = harbour.ask(question)
    assert not answer.unsure and not answer.abstained, (answer.notes, answer.text)


@pytest.mark.parametrize(
    ("question", "lines"),
    [
        ("Can a ship have several pilots?", ["public Pilot Pilot { get; set; }"]),
        ("Can a ship hold more than one cargo?", ["public List<Cargo> Cargos { get; } = new();"]),
        ("Can a route have multiple tides?", ["public string? TideId { get; init; }"]),
        ("Can a sailor have several ranks?", ["rank  String  @db.VarChar(20)"]),
        ("Can a sailor belong to many ships?", ["ships Ship[]"]),
    ],
)
def test_whether_there_may_be_several_is_what_the_type_declares(
    harbour: Index, question: str, lines: list[str]
) -> None:
    told = harbour.ask(question).text
    assert told.startswith("**What ")
    assert [line.split("`")[1] for line in told.splitlines() if line.startswith("- ")] == lines


def test_what_a_handler_asks_itself_is_who_may_call_it(harbour: Index) -> None:
    told = harbour.ask("Which endpoints need no login?").text
    assert "**Open to anybody:**\n- **GET /api/tides**" in told
    assert "**No line says who may call:**\n- **GET /api/alive**" in told
    assert "/api/ships" not in told, "which may ask who calls it"
    of_key = harbour.ask("Which endpoints need an API key?")
    assert of_key.unsure or of_key.abstained, of_key.text
    guarded = harbour.ask("Which endpoints need a login?").text
    assert "**POST /api/ships**" in guarded and "/api/tides" not in guarded


def test_settings_are_neither_jobs_nor_permissions(harbour: Index) -> None:
    assert "scheduled job" not in harbour.ask("Which cron jobs are there?").text
    assert "permission" not in harbour.ask("Which permissions are there?").text


def test_what_a_type_raises_is_no_error_where_events_are_asked_for(harbour: Index) -> None:
    assert "Thrown in" not in harbour.ask("Which events does StoneBerth raise?").text


def test_what_only_tests_set_is_no_default(harbour: Index) -> None:
    answer = harbour.ask("What is the default knot style?")
    assert answer.unsure and "Set in" not in answer.text


def test_a_thing_is_not_there_because_words_of_it_are(harbour: Index) -> None:
    answer = harbour.ask("Does the mooring gateway support the tidal clock?")
    assert answer.unsure or answer.abstained


def test_what_asks_whether_something_is_there_is_not_that(harbour: Index) -> None:
    told = harbour.ask("Is Docker used?").text
    assert "**Dockerfile**" in told and "is-docker" not in told


def test_a_limit_is_what_keeps_something_within_bounds_and_need_not_be_called_so(harbour: Index) -> None:
    kept = harbour.ask("Is there a maximum number of crates in the hold of a ship?")
    assert not kept.unsure and "crates.Length > 12" in kept.text
    free = harbour.ask("Is there a limit on the paint of the mast?")
    assert free.unsure and "PaintOfMast" in free.text


def test_how_we_decide_something_asks_for_the_code_that_does_and_not_for_its_use() -> None:
    assert not asks_use("how do we find the berth of a ship?")
    assert asks_use("how do I find the berth of a ship?") and asks_use("how do we moor a ship?")
