"""What people in a role ask first: an operator, a security reviewer, a tester, an architect."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets import Index
from rag_assets.answer.plans.marked import Marked, marked_asked
from rag_assets.qa.ask_options import AskOptions
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "README.md": "# Harbour\n\nBerths for ships.\n\n## First steps\n\n* `chief` user's password is `Anchor1`.\n",
    "src/Harbour.Api/Program.cs": """\
using Microsoft.EntityFrameworkCore;

namespace Harbour.Api;

public class Program
{
    public static async Task<int> Main(string[] args)
    {
        try
        {
            var builder = WebApplication.CreateBuilder(args);
            builder.Configuration.AddAzureKeyVault(new Uri(builder.Configuration["KEY_VAULT_Endpoint"]!));
            builder.Services.AddHostedService<TideClock>();
            //builder.Services.AddMetrics(builder.Configuration["OLD_METRICS_URL"]);
            builder.Services.AddCors();
            var level = Environment.GetEnvironmentVariable("TIDE_LEVEL");
            var app = builder.Build();
            await app.MigrateBerthsAsync();
            await app.RunAsync();
            return 0;
        }
        catch (Exception)
        {
            return 3;
        }
    }

    public static int Depth(int berth)
    {
        return 7;
    }
}
""",
    "src/Harbour.Api/Gate.cs": """\
namespace Harbour.Api;

public static class Gate
{
    public static void AddGate(this IServiceCollection services)
    {
        services.AddAuthentication("Bearer")
            .AddJwtBearer(options => options.Audience = "harbour");
    }
}
""",
    "src/Harbour.Api/Harbour.Api.csproj": '<Project Sdk="Microsoft.NET.Sdk.Web">\n  <ItemGroup>\n'
    '    <ProjectReference Include="..\\Harbour.Domain\\Harbour.Domain.csproj" />\n  </ItemGroup>\n</Project>\n',
    "src/Harbour.Clock/Harbour.Clock.csproj": '<Project Sdk="Microsoft.NET.Sdk.Worker" />\n',
    "src/Harbour.Domain/Harbour.Domain.csproj": '<Project Sdk="Microsoft.NET.Sdk" />\n',
    "tests/Harbour.FunctionalTests/Harbour.FunctionalTests.csproj": '<Project Sdk="Microsoft.NET.Sdk" />\n',
    "src/Harbour.Api/Berths.cs": """\
namespace Harbour.Api;

public static class Berths
{
    public static void MapBerths(this WebApplication app)
    {
        app.MapGet("/berths", () => 1).RequireAuthorization();
        app.MapGet("/tide", () => 2).AllowAnonymous();
        app.MapIdentityApi<Captain>();
        app.MapHub<TideHub>("/hub").RequireAuthorization();
    }

    public static void MapPiers(RouteGroupBuilder piers)
    {
        piers.RequireAuthorization();
        piers.MapGet("/piers", () => 3);
    }
}
""",
    "src/Harbour.Domain/Events.cs": """\
namespace Harbour.Domain;

public abstract class HarbourEvent { }

public class BerthTakenEvent : HarbourEvent { }

public class ShipLeftEto { }

public class Berth
{
    public void Take()
    {
        AddDomainEvent(new BerthTakenEvent());
        AddDistributedEvent(new ShipLeftEto());
    }
}

public class Bell : INotificationHandler<BerthTakenEvent>
{
    public Task Handle(BerthTakenEvent taken, CancellationToken token) => Task.CompletedTask;
}

public class Customs : IDistributedEventHandler<ShipLeftEto>
{
    public Task HandleEventAsync(ShipLeftEto left) => Task.CompletedTask;
}
""",
    "src/Harbour.Domain/Pier.cs": """\
namespace Harbour.Domain;

public interface IAggregate { }

public abstract class Aggregate : IAggregate { }

public class Pier : Aggregate { }
""",
    "src/Harbour.Domain/Permits.cs": """\
namespace Harbour.Domain;

public class PermitStore
{
    /// <summary>Keeps the landing permits of ships valid.</summary>
    public void KeepPermitValid(LandingPermit permit)
    {
        permits.Add(permit);
    }
}
""",
    "src/Harbour.Clock/TideWorker.cs": """\
namespace Harbour.Clock;

public class TideWorker : AsyncPeriodicBackgroundWorkerBase
{
    public TideWorker(AbpAsyncTimer timer) : base(timer)
    {
        Timer.Period = 90_000;
    }
}

public class LampWorker : HangfireBackgroundWorkerBase { }
""",
    "tests/Harbour.Tests/BerthTests.cs": """\
namespace Harbour.Tests;

public class FakeTide : ITide { }

public class BerthTests
{
    [Fact]
    [Trait("Ships", "all")]
    public void Berth_is_free_after_departure()
    {
        var first = new Mock<IPilot>();
        var second = new Mock<IPilot>();
    }
}

public class FakeTideTests { }
""",
}


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("roles"), FILES, "harbour") as index:
        yield index


def listed(index: Index, question: str) -> list[tuple[str, str]]:
    return re.findall(r"- \*\*(.+?)\*\* in [\w/.]*?([\w.]+:\d+)", index.ask(question, options=AskOptions()).text)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Where are secrets kept in production?", [("AddAzureKeyVault", "Program.cs:12")]),
        ("What exit code does the api return when it fails?", [("Main", "Program.cs:20"), ("Main", "Program.cs:24")]),
        (
            "What happens when the application starts?",
            [("TideClock", "Program.cs:13"), ("MigrateBerthsAsync", "Program.cs:18")],
        ),
        ("Which fakes or mocks do the tests use?", [("FakeTide", "BerthTests.cs:3"), ("IPilot", "BerthTests.cs:11")]),
        (
            "Which environment variables does the application read?",
            [("KEY_VAULT_Endpoint", "Program.cs:12"), ("TIDE_LEVEL", "Program.cs:16")],
        ),
        ("What is tested about berths?", [("Berth_is_free_after_departure", "BerthTests.cs:9")]),
        (
            "Which background workers are there and how often do they run?",
            [("TideWorker", "TideWorker.cs:7"), ("LampWorker", "TideWorker.cs:11")],
        ),
        (
            "Which applications does the solution consist of?",
            [("Harbour.Api", "Harbour.Api.csproj:1"), ("Harbour.Clock", "Harbour.Clock.csproj:1")],
        ),
        (
            "Which layers are there?",
            [(f"Harbour.{one}", f"Harbour.{one}.csproj:1") for one in ("Api", "Clock", "Domain")],
        ),
        ("Which layers does the clock service have?", []),
        ("How do I run only the functional tests?", [("Harbour.FunctionalTests", "Harbour.FunctionalTests.csproj:1")]),
        ("How do I run only the unit tests?", []),
        (
            "Which endpoints can be called without logging in?",
            [("GET /tide", "Berths.cs:8"), ("MapIdentityApi<Captain>", "Berths.cs:9")],
        ),
        ("Which endpoints need a login?", [("GET /berths", "Berths.cs:7"), ("GET /piers", "Berths.cs:15")]),
    ],
)
def test_what_lines_of_a_program_say_is_listed(harbour: Index, question: str, told: list[tuple[str, str]]) -> None:
    assert listed(harbour, question) == told


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (
            "Which domain events are raised and who handles them?",
            ["**Berth.Take** makes **BerthTakenEvent**", "**Bell.Handle** handles **BerthTakenEvent**"],
        ),
        (
            "Which distributed events are published and who handles them?",
            ["**Berth.Take** makes **ShipLeftEto**", "**Customs.HandleEventAsync** handles **ShipLeftEto**"],
        ),
        (
            "Which layers are there and how do they depend on each other?",
            ["**Harbour.Api** refers to **Harbour.Domain**"],
        ),
    ],
)
def test_events_are_told_with_who_makes_and_handles_them_and_layers_with_their_references(
    harbour: Index, question: str, told: list[str]
) -> None:
    text = harbour.ask(question, options=AskOptions()).text
    assert re.findall(r"^- (.*?) in ", text, re.MULTILINE) == told


def test_where_tokens_are_checked_is_shown(harbour: Index) -> None:
    told = harbour.ask("Where are access tokens validated?", options=AskOptions()).text
    assert "Gate.cs" in told.split("\n")[0]
    assert 'options.Audience = "harbour"' in told


def test_passages_without_a_time_are_no_answer_to_how_long(harbour: Index) -> None:
    told = harbour.ask("How long is a landing permit valid?", options=AskOptions()).text
    assert told.startswith("**Not sure.")
    assert "KeepPermitValid" in told


def test_the_password_of_the_administrator_is_what_a_document_says(harbour: Index) -> None:
    told = harbour.ask("What is the password of the admin user?", options=AskOptions()).text
    assert "`chief` user's password is" in told


@pytest.mark.parametrize(
    ("question", "marked"),
    [
        ("On which port does the api listen when I start it locally?", Marked.PORTS),
        ("What happens to the database at start-up?", Marked.STARTUP),
        ("What happens when a game starts?", None),
        ("Where are refresh tokens stored?", None),
        ("How is a secret message sent?", None),
        ("Which exit code does my build see when a berth is taken?", None),
    ],
)
def test_other_questions_in_these_words_are_none_of_them(question: str, marked: Marked | None) -> None:
    assert marked_asked(question) is marked


def test_namespaces_are_told_of_the_project_that_a_question_names(harbour: Index) -> None:
    assert listed(harbour, "Which namespaces are in the domain project?") == [("Harbour.Domain", "Events.cs:3")]
    assert listed(harbour, "Which namespaces does the domain have?") == [("Harbour.Domain", "Events.cs:3")]
    assert [name for name, _ in listed(harbour, "Which namespaces are there in the solution?")] == [
        *("Harbour.Api", "Harbour.Clock", "Harbour.Domain"),
    ]


def test_a_question_for_two_lists_has_both(harbour: Index) -> None:
    told = harbour.ask("Which permits and workers are there?", options=AskOptions()).text
    assert re.findall(r"^\*\*(Which .*)\*\*$", told, re.MULTILINE) == [
        *("Which permits are there?", "Which workers are there?"),
    ]
    assert "**TideWorker** in" in told


def test_the_base_of_aggregates_is_none_of_them(harbour: Index) -> None:
    assert listed(harbour, "Which aggregates are there?") == [("Pier", "Pier.cs:7")]


def test_a_base_that_nothing_derives_from_is_no_event_that_is_handled(tmp_path: Path) -> None:
    files = {"src/Base.cs": "namespace Post;\n\npublic abstract class EventBase : IDomainEvent { }\n"}
    with opened_index(tmp_path, files, "post") as index:
        assert listed(index, "Which events are published and who handles them?") == []
