"""What people ask of a business application of .NET: its error codes, repositories, registrations, entity sets and
endpoints, and what is tested, in their words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets import Index
from rag_assets.qa.ask_options import AskOptions
from rag_assets_tests.cli.conftest import opened_index

CODES = ["StampTorn", "StampWet", "LetterLost", "LetterLate", "BagFull", "BagOpen", "ScaleOff", "DoorShut", "NoInk"]
FILES = {
    "README.md": "# Post\n\nLetters and stamps.\n",
    "src/PostErrorCodes.cs": "namespace Post;\n\npublic class PostErrorCodes\n{\n"
    + "".join(
        f'    public static ErrorCode {name} => new ErrorCode() {{ Code = "PST{at:03}", Message = Texts.{name} }};\n'
        for at, name in enumerate(CODES, 1)
    )
    + "}\n",
    "src/Repos/StampRepo.cs": "namespace Post;\n\npublic class StampRepo : DocumentRepoBase<Stamp>, IStampRepo\n{\n"
    "    public Task AddStampAsync(Stamp stamp) => CreateDocumentAsync(stamp);\n}\n",
    "src/Repos/LetterBoxRepo.cs": "namespace Post.Repos;\n\npublic class LetterBoxRepo : TableBase<LetterBox>\n{\n"
    "    public Task SaveAsync(LetterBox box) => InsertAsync(box);\n}\n",
    "src/Repos/DocumentRepoBase.cs": "namespace Post;\n\npublic class DocumentRepoBase<TEntity>\n{\n"
    "    private static PostClient _client;\n\n    protected Task CreateDocumentAsync(TEntity item)\n    {\n"
    "        return Task.CompletedTask;\n    }\n}\n",
    "src/Models/LetterBox.cs": "namespace Post;\n\npublic class LetterBox\n{\n    public int Size { get; set; }\n}\n",
    "src/Models/Stamp.cs": "namespace Post;\n\npublic class Stamp\n{\n    public int Id { get; set; }\n}\n",
    "src/Managers/StampManager.cs": "namespace Post;\n\npublic class StampManager : ManagerBase, IStampManager\n{\n"
    "    private readonly IStampRepo _repo;\n\n    public StampManager(IStampRepo repo)\n    {\n        _repo = repo;\n"
    "    }\n}\n",
    "src/Startup.cs": "namespace Post;\n\npublic static class Startup\n{\n"
    "    public static void ConfigureServices(IServiceCollection services)\n    {\n"
    "        services.AddSingleton<IStampManager, StampManager>();\n"
    "        services.AddTransient<ILetterManager, LetterManager>();\n"
    "        services.AddTransient<IStampRepo, StampRepo>();\n    }\n}\n",
    "src/Data/PostOfficeContext.cs": "namespace Post;\n\npublic class PostOfficeContext : DbContext\n{\n"
    "    public DbSet<Stamp> Stamps { get; set; }\n    public DbSet<LetterBox> LetterBoxes { get; set; }\n}\n",
    "src/Controllers/LetterBoxController.cs": """\
namespace Post.Controllers;

[Authorize]
public class LetterBoxController : ControllerBase
{
    [HttpPost("/api/letterbox")]
    public Task AddLetterBoxAsync([FromBody] LetterBox box) => _manager.AddAsync(box);

    [HttpPut("/api/letterbox")]
    public Task UpdateLetterBoxAsync([FromBody] LetterBox box) => _manager.UpdateAsync(box);

    [HttpGet("/api/letterboxes")]
    public Task<List<LetterBox>> GetLetterBoxesAsync() => _manager.GetAllAsync();

    [HttpGet("/api/letterbox/{id}")]
    public Task<LetterBox> GetLetterBoxAsync(string id) => _manager.GetAsync(id);

    [HttpDelete("/api/letterbox/{id}")]
    public Task DeleteLetterBoxAsync(string id) => _manager.DeleteAsync(id);

    /// <summary>Letter box - get by number or street</summary>
    [HttpGet("/api/letterbox/search")]
    public Task<LetterBox> FindLetterBoxAsync(string number, string street)
    {
        if (!String.IsNullOrEmpty(number))
            return _manager.FindAsync(number);

        throw new InvalidOperationException("Must pass a number or a street on the query string.");
    }
}
""",
    "tests/LetterBoxValidation.cs": """\
namespace Post.Tests;

[TestClass]
public class LetterBoxValidation
{
    [TestMethod]
    public void LetterBox_has_a_size()
    {
        var box = new LetterBox();
        Assert.AreEqual(0, box.Size);
    }
}
""",
}


@pytest.fixture(scope="module")
def post(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("office"), FILES, "post") as index:
        yield index


def listed(index: Index, question: str) -> tuple[str, list[str]]:
    """The heading of a list, and the names in it."""
    lines = index.ask(question, options=AskOptions()).text.splitlines()
    return lines[0].strip("*:"), [line.split("**")[1] for line in lines if line.startswith("- **")]


def test_a_catalog_of_errors_is_listed_line_by_line_or_what_of_it_is_asked_for(post: Index) -> None:
    heading, names = listed(post, "which error codes are there and what do they mean?")
    assert heading == "9 error codes" and names == [f"PostErrorCodes.{name}" for name in CODES]
    assert '"PST003"' in post.ask("list the error codes", options=AskOptions()).text
    assert listed(post, "what error codes can a stamp have?")[1] == [
        "PostErrorCodes.StampTorn",
        "PostErrorCodes.StampWet",
    ]


def test_repositories_may_be_called_repos(post: Index) -> None:
    assert listed(post, "which repositories are there?") == ("2 repositories", ["LetterBoxRepo", "StampRepo"])


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Which repositories store their data in documents?", "StampRepo"),
        ("Which repos keep their records in a table?", "LetterBoxRepo"),
    ],
)
def test_what_is_kept_where_is_told_by_the_bases(post: Index, question: str, name: str) -> None:
    assert listed(post, question)[1] == [name]
    assert listed(post, "Which repositories store their data in a cupboard?")[1] == []


@pytest.mark.parametrize(
    ("question", "heading", "names"),
    [
        ("Which managers are registered for dependency injection?", "2 registered managers", "IStamp ILetter"),
        ("Which managers are registered as transient?", "1 registered manager", "ILetter"),
    ],
)
def test_what_is_registered_is_told_of_a_sort_and_of_a_lifetime(
    post: Index, question: str, heading: str, names: str
) -> None:
    assert listed(post, question) == (heading, [f"{name}Manager" for name in names.split()])


@pytest.mark.parametrize(
    "question",
    [
        "Where is StampRepo registered?",
        "where do we register IStampRepo?",
        "Where is StampRepo.AddStampAsync registered?",
        "with which lifetime is IStampRepo registered?",
        "what is the lifetime of IStampRepo?",
        "is StampRepo a singleton or scoped?",
    ],
)
def test_where_something_is_registered_is_the_line_that_does_it(post: Index, question: str) -> None:
    text = post.ask(question, options=AskOptions()).text
    assert text.startswith("**1 registered service:**\n- **IStampRepo** in src/Startup.cs:9")


@pytest.mark.parametrize(
    "question",
    [
        "Which tables does PostOfficeContext have?",
        "Which database tables does the post office context have?",
        "Which DbSets does the PostOfficeContext have?",
        "Which entities are in the post office context?",
    ],
)
def test_the_sets_of_a_context_are_those_that_it_declares(post: Index, question: str) -> None:
    assert listed(post, question) == ("2 entity sets", ["Stamps", "LetterBoxes"])


@pytest.mark.parametrize(
    ("question", "routes"),
    [
        ("Which endpoint saves a letter box?", ["POST /api/letterbox", "PUT /api/letterbox"]),
        ("What rest api deletes a letter box?", ["DELETE /api/letterbox/{id}"]),
        ("Which endpoint returns a letter box?", ["GET /api/letterbox/{id}"]),
        ("Which endpoint lists all letter boxes?", ["GET /api/letterboxes"]),
    ],
)
def test_the_endpoint_that_does_something_to_a_thing_is_known_by_its_method(
    post: Index, question: str, routes: list[str]
) -> None:
    assert listed(post, question)[1] == routes


def test_tests_are_known_by_what_they_test_whatever_they_are_called(post: Index) -> None:
    assert "**LetterBoxValidation** tests **LetterBox**" in post.ask("Which tests cover letter boxes?").text
    assert listed(post, "Is there a test for letter box validation?")[1] == ["LetterBoxValidation"]


def test_that_nothing_tests_something_is_said(post: Index) -> None:
    found = post.ask("Are there tests for the stamp manager?", options=AskOptions())
    assert "Not sure" in found.text and "no test of StampManager is known" in " ".join(found.notes)


def test_a_member_is_told_with_the_type_that_has_it(post: Index) -> None:
    thrown = post.ask("where is InvalidOperationException thrown?").text
    assert "**LetterBoxController.FindLetterBox** throws **InvalidOperationException**" in thrown
    assert "**DocumentRepoBase._client** names **PostClient**" in post.ask("where is PostClient used?").text


def test_a_name_in_the_plural_is_one_that_is_mentioned(post: Index) -> None:
    assert "enough information" not in post.ask("How are ErrorCodes made from a StampTorn?").text
    assert "enough information" in post.ask("What are the KafkaTopics for?").text


def test_the_commands_for_tests_are_also_those_of_the_readme_of_a_part(tmp_path: Path) -> None:
    files = {
        "README.md": "# Post\n\nLetters.\n",
        "MODEL.md": "# Model\n\n## 4 Test binding and evidence\n\nStatus: not started. Tests prove what is said.\n",
        "tests/Post.Tests/README.md": "# Post.Tests\n\nRun them:\n\n```\ndotnet test tests/Post.Tests\n```\n",
    }
    with opened_index(tmp_path, files, "post") as index:
        text = index.ask("How do I run the tests?", options=AskOptions()).text
    assert text.startswith("**Documents of parts:**\n- **README.md** in tests/Post.Tests/README.md:6: `dotnet test")


HARBOUR = {
    "README.md": "# Harbour\n\nMoorings and boats.\n",
    "docs/tides.md": "# Tides\n\nWhen the water is high.\n",
    "docs/berths.md": "# Berths\n\nWhere boats lie.\n",
    "src/Entities/Mooring.cs": "namespace Harbour;\n\n"
    '[Table(Name = "hb_mooring")]\npublic class Mooring : IEntity<string>\n{\n'
    '    [Column(Name = "id", StringLength = 36)]\n    public string Id { get; set; }\n}\n',
    "src/Entities/Buoy.cs": 'namespace Harbour;\n\n[Table(Name = "hb_buoy")]\npublic class Buoy : IEntity<string>\n{\n'
    "    public string Id { get; set; }\n}\n",
    "src/Limits.cs": "namespace Harbour;\n\npublic static class Limits\n{\n"
    "    public const int MaxNameLength = 64;\n}\n",
    "src/CreateBoatDto.cs": "namespace Harbour;\n\npublic class CreateBoatDto\n{\n"
    "    [StringLength(Limits.MaxNameLength)]\n    public string Name { get; set; }\n}\n",
    "src/BoatMap.cs": "namespace Harbour;\n\npublic class BoatMap : IEntityTypeConfiguration<Boat>\n{\n"
    "    public void Configure(EntityTypeBuilder<Boat> builder)\n    {\n"
    "        builder.HasIndex(boat => boat.Sail).IsUnique();\n    }\n}\n",
    "src/Setup.cs": """\
namespace Harbour;

public static class Setup
{
    private const int MAX_WRONG_TRIES = 7;

    public static void AddHarbour(IServiceCollection services)
    {
        services.AddMediator(options =>
        {
            options.PipelineBehaviors = [
                typeof(ValidationBehavior<,>),
                typeof(LoggingBehaviour<,>)
            ];
        });
        services.Configure<IdentityOptions>(options =>
        {
            options.Lockout.MaxFailedAccessAttempts = MAX_WRONG_TRIES;
        });
    }
}
""",
    "src/HarbourHub.cs": "namespace Harbour;\n\n// A hub of SignalR.\n"
    "public class HarbourHub : Hub<IHarbourClient>\n{\n"
    "    public Task Hoist(string flag) => Clients.All.Hoisted(flag);\n\n"
    "    public Task Sound(string horn) => Clients.All.Sounded(horn);\n}\n",
    "src/Program.cs": """\
var app = builder.Build();

RouteHandlerBuilder ApplyRateLimit(RouteHandlerBuilder route) => route;

app.MapGet("/api/tide/health", () =>
{
    var now = clock.Now;
    return Results.Ok(now);
}).AllowAnonymous();

ApplyRateLimit(app.MapPost("/api/tide/ask", (Question question) => tides.Ask(question)).RequireAuthorization());
app.MapGet("/api/tide/list", () => tides.All()).RequireAuthorization();
app.Run();
""",
    "src/Jobs/TideJob.cs": "namespace Harbour;\n\npublic class TideJob : AsyncBackgroundJob<TideArgs>\n{\n"
    "    public override Task ExecuteAsync(TideArgs args) => Task.CompletedTask;\n}\n",
    "src/Jobs/FogJob.cs": "namespace Harbour;\n\npublic class FogJob : AsyncBackgroundJob<FogArgs>\n{\n"
    "    public override Task ExecuteAsync(FogArgs args) => Task.CompletedTask;\n}\n",
    "services/pilot/BoatMooredEto.cs": "namespace Harbour.Pilot;\n\npublic class BoatMooredEto\n{\n"
    "    public CrewEto Crew { get; set; }\n}\n",
    "services/pilot/BoatLeaveCancelledEto.cs": "namespace Harbour.Pilot;\n\npublic class BoatLeaveCancelledEto\n{\n}\n",
    "services/pilot/CrewEto.cs": "namespace Harbour.Pilot;\n\npublic class CrewEto\n{\n}\n",
    "services/pilot/PilotManager.cs": "namespace Harbour.Pilot;\n\npublic class PilotManager\n{\n"
    "    private readonly IDistributedEventBus _bus;\n\n"
    "    public Task MoorAsync() => _bus.PublishAsync(new BoatMooredEto { Crew = new CrewEto() });\n\n"
    "    public Task CancelAsync() => _bus.PublishAsync(new BoatLeaveCancelledEto());\n}\n",
    "src/Bus/FlagController.cs": """\
namespace Harbour;

public class FlagController : ControllerBase
{
    private readonly IBus _bus;

    [HttpPost("/flags/raise")]
    public IActionResult RaiseFlag(string flag)
    {
        _bus.Fire(new FlagRaised(flag));
        return Ok();
    }
}
""",
    "src/Bus/FlagRaised.cs": "namespace Harbour;\n\npublic class FlagRaised : IEvent\n{\n"
    "    public FlagRaised(string flag)\n    {\n    }\n}\n",
    "src/Bus/IEventHandler.cs": "namespace Harbour;\n\npublic interface IEventHandler<T> where T : IEvent\n{\n"
    "    Task Handle(IEvent raised);\n}\n",
    "src/Bus/AnnounceFlag.cs": """\
namespace Harbour;

public class AnnounceFlag : IEventHandler<FlagRaised>
{
    public async Task Handle(IEvent raised)
    {
        var flag = raised as FlagRaised;
        await Announcer.Call(flag);
    }
}

public class RecordFlag : IEventHandler<FlagRaised>
{
    public async Task Handle(IEvent raised)
    {
        var flag = raised as FlagRaised;
        await Ledger.Write(flag);
    }
}
""",
    "src/Announcer.cs": "namespace Harbour;\n\npublic static class Announcer\n{\n"
    "    public static Task Call(FlagRaised flag)\n    {\n        return Task.CompletedTask;\n    }\n}\n",
    "src/Ledger.cs": "namespace Harbour;\n\npublic static class Ledger\n{\n"
    "    public static Task Write(FlagRaised flag)\n    {\n        return Task.CompletedTask;\n    }\n}\n",
    "src/Texts.cs": "namespace Harbour;\n\npublic static class Texts\n{\n"
    "    public static readonly Language[] SupportedLanguages =\n    {\n"
    '        new()\n        {\n            Code = "nl-NL",\n            Name = "Nederlands"\n        },\n'
    '        new()\n        {\n            Code = "da-DK",\n            Name = "Dansk"\n        },\n    };\n}\n',
    "src/Roles.cs": "namespace Harbour;\n\npublic static class Roles\n{\n"
    '    public const string Master = "master";\n    public const string Crew = "crew";\n}\n',
    "src/Permissions.cs": "namespace Harbour;\n\npublic static partial class Permissions\n{\n"
    "    public static class Roles\n    {\n"
    + "".join(f'        public const string P{at} = "roles.{at}";\n' for at in range(12))
    + "    }\n}\n",
    "src/Registration.cs": "namespace Harbour;\n\npublic class Registration\n{\n"
    "    public Task Register(User user) => _users.AddToRoleAsync(user, Roles.Crew);\n}\n",
    "src/Storage/RedisRopeRepository.cs": "namespace Harbour;\n\n"
    "public class RedisRopeRepository : IRopeRepository\n{\n"
    "    private readonly IDistributedCache _cache;\n\n"
    "    public Task<byte[]> GetAsync(string id) => _cache.GetAsync(id);\n}\n",
    "src/Storage/IRopeRepository.cs": "namespace Harbour;\n\npublic interface IRopeRepository\n{\n"
    "    Task<byte[]> GetAsync(string id);\n}\n",
    "src/Web/Pages/Boats.razor": '@page "/boats"\n\n<h1>Boats</h1>\n',
    "src/Web/Pages/Tides.razor": '@page "/tides"\n\n<h1>Tides</h1>\n',
    "src/Web/Pages/Pilots.razor": '@page "/pilots"\n\n<h1>Pilots</h1>\n',
    "src/Mail/SendTideTable.cs": "namespace Harbour;\n\npublic class SendTideTable\n{\n"
    '    public Task Handle(Boat boat) => _mailService.SendAsync(boat.Master, "Tides of today");\n}\n',
    "src/Mail/SendInvoice.cs": "namespace Harbour;\n\npublic class SendInvoice\n{\n"
    '    public Task Handle(Boat boat) => _mailService.SendAsync(boat.Master, "Your invoice");\n}\n',
    "src/BuoyActionOption.cs": "namespace Harbour;\n\npublic enum BuoyActionOption\n{\n    Light,\n    Ring\n}\n",
    "src/Radio.cs": """\
namespace Harbour;

public static class Radio
{
    private static readonly Pipeline Calls = new PipelineBuilder()
        .AddRetry(new RetryStrategyOptions
        {
            ShouldHandle = new Handling(() =>
            {
                return true;
            }),
            MaxRetryAttempts = 9,
        })
        .Build();

    public static int Channel
    {
        get { return 16; }
    }
}
""",
    "src/Berths/BerthAppService.cs": """\
namespace Harbour;

[Authorize(HarbourPermissions.Berths.Default)]
public class BerthAppService : ApplicationService
{
    [Authorize(HarbourPermissions.Berths.Release)]
    public Task ReleaseAsync(Guid id)
    {
        return Task.CompletedTask;
    }

    public Task<Berth> GetAsync(Guid id)
    {
        return _berths.GetAsync(id);
    }
}
""",
    "src/Seeding/SeedUsers.cs": "namespace Harbour;\n\npublic class SeedUsers\n{\n"
    '    public const string FirstPassword = "Anchor1!";\n\n'
    "    public Task Seed(User pilot) => _users.CreateAsync(pilot, SeedUsers.FirstPassword);\n}\n",
    "src/Probe.cs": "namespace Harbour;\n\npublic static class Probe\n{\n"
    '    public static void Use(WebApplication app) => app.MapHealthChecks("/alive");\n}\n',
    "web/src/app/app-routing.module.ts": "const routes: Routes = [\n  {\n    path: 'winches',\n"
    "    component: WinchComponent,\n  },\n  {\n    path: 'cranes',\n    component: CraneComponent,\n  },\n];\n",
    "db/Sweep.sql": "CREATE PROCEDURE dbo.Sweep\nAS\nDECLARE tanks CURSOR FOR SELECT TankId FROM dbo.Tank\n",
    "scripts/once.sql": "DECLARE old CURSOR FOR SELECT TankId FROM dbo.Tank\nOPEN old\n",
    "src/Marks.cs": "namespace Harbour;\n\npublic interface ICacheableRequest<T> { }\n\n"
    "public interface IAuditable { }\n\npublic abstract class AuditedBase : IAuditable { }\n",
    "src/Queries/GetTidesQuery.cs": "namespace Harbour;\n\npublic class GetTidesQuery : ICacheableRequest<Tides> { }\n",
    "src/Queries/GetFogQuery.cs": "namespace Harbour;\n\npublic class GetFogQuery : ICacheableRequest<Fog> { }\n",
    "src/Queries/GetCrewQuery.cs": "namespace Harbour;\n\npublic class GetCrewQuery : IRequest<Crew> { }\n",
    "src/Queries/GetCrewQueryValidator.cs": "namespace Harbour;\n\n"
    "public class GetCrewQueryValidator : AbstractValidator<GetCrewQuery> { }\n",
    "src/Queries/GetFogQueryValidator.cs": "namespace Harbour;\n\n"
    "public class GetFogQueryValidator : AbstractValidator<GetFogQuery> { }\n",
    "src/Office/AnchorForm.cs": "namespace Harbour;\n\npublic class AnchorForm : Form\n{\n}\n",
    "src/Office/AnchorWeights.cs": "namespace Harbour;\n\npublic class AnchorWeights\n{\n}\n",
    "web/src/pages/Ferries/index.tsx": "import React from 'react';\n\nconst Ferries = () => {\n"
    "  return <p>Ferries</p>;\n};\n\nexport default Ferries;\n",
    "src/Harbour.Pilot.Contracts/Harbour.Pilot.Contracts.csproj": "<Project>\n</Project>\n",
    "src/Harbour.Crew.Contracts/Harbour.Crew.Contracts.csproj": "<Project>\n</Project>\n",
    "src/Harbour.Host/Harbour.Host.csproj": "<Project>\n  <ItemGroup>\n"
    '    <ProjectReference Include="..\\Harbour.Pilot.Contracts\\Harbour.Pilot.Contracts.csproj" />\n'
    '    <ProjectReference Include="..\\Harbour.Crew.Contracts\\Harbour.Crew.Contracts.csproj" />\n'
    "  </ItemGroup>\n</Project>\n",
    "db/Tank.sql": "CREATE TABLE dbo.Tank (\n    TankId INT IDENTITY (1, 1) NOT NULL,\n    Volume BIGINT NOT NULL,\n"
    "    Used BIGINT NOT NULL,\n    Free AS (Volume - Used)\n);\n",
}


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("harbour"), HARBOUR, "harbour") as index:
        yield index


@pytest.mark.parametrize(
    ("question", "heading", "names"),
    [
        ("which tables are there?", "3 tables", "dbo.Tank hb_buoy hb_mooring"),
        (
            "which pipeline behaviors run and in what order?",
            "2 pipeline behaviors",
            "ValidationBehavior LoggingBehaviour",
        ),
        ("in which order do the behaviors run?", "2 pipeline behaviors", "ValidationBehavior LoggingBehaviour"),
        ("which methods does the SignalR hub offer?", "2 hub methods", "HarbourHub.Hoist HarbourHub.Sound"),
        ("which background jobs are there?", "2 background jobs", "FogJob TideJob"),
        ("which tide endpoints are rate limited?", "1 rate limited endpoint", "/api/tide/ask"),
        ("which events are there?", "3 events", "BoatLeaveCancelledEto BoatMooredEto FlagRaised"),
        ("which events does the pilot service publish?", "2 events", "BoatLeaveCancelledEto BoatMooredEto"),
        ("which languages does the UI support?", "2 languages", "nl-NL da-DK"),
        ("which columns have a unique index?", "1 unique constraint", "BoatMap.Configure"),
        ("which role do new users get?", "1 role assignment", "Register Roles.Crew"),
        ("which queries are cached?", "2 cached queries", "GetFogQuery GetTidesQuery"),
        ("which queries are validated?", "2 validated queries", "GetCrewQuery GetFogQuery"),
        ("which emails are sent?", "2 emails", "Handle Handle"),
        ("which events are raised when a boat leave is aborted?", "1 event", "BoatLeaveCancelledEto"),
    ],
)
def test_what_frameworks_of_net_have_is_listed(harbour: Index, question: str, heading: str, names: str) -> None:
    found = listed(harbour, question)
    assert (found[0], sorted(found[1])) == (heading, sorted(names.split()))
    assert "order" not in question or found[1] == names.split()


def test_nothing_is_listed_as_what_no_type_says(harbour: Index) -> None:
    assert "GetCrewQuery" not in harbour.ask("which queries are retried?").text.partition("\n")[0]
    assert listed(harbour, "which queries are logged?")[1] == []
    assert "page routes" not in harbour.ask("which Angular routes need a permission?").text


def test_the_one_page_about_something_is_a_list_of_one(harbour: Index) -> None:
    text = harbour.ask("which pages are there for tides?").text
    assert text.startswith("**1 page:**") and "Tides.razor:1" in text


def test_documents_of_a_sort_are_those_that_say_it(harbour: Index) -> None:
    assert "berths.md" in harbour.ask("which documentation pages are there?").text
    assert "berths.md" not in harbour.ask("which tide documents are there?").text.partition("See also")[0]


def test_a_limit_is_told_with_the_constant_that_it_is(harbour: Index) -> None:
    length = harbour.ask("how long may the name of a boat be?").text
    assert "`[StringLength(Limits.MaxNameLength)]`" in length and "`public const int MaxNameLength = 64;`" in length
    tries = harbour.ask("what is the maximum of failed access attempts before the lockout?").text
    assert "MaxFailedAccessAttempts = MAX_WRONG_TRIES" in tries and "MAX_WRONG_TRIES = 7;" in tries


def test_what_options_of_a_library_are_made_with_is_a_setting(harbour: Index) -> None:
    text = harbour.ask("how many retry attempts does the radio make?").text
    assert "**RetryStrategyOptions.MaxRetryAttempts** in src/Radio.cs:12: `MaxRetryAttempts = 9,`" in text


def test_an_enumeration_may_be_called_the_options_of_what_is_asked_for(harbour: Index) -> None:
    assert harbour.ask("which buoy actions are there?").text.startswith("`BuoyActionOption` in src/BuoyActionOption.cs")


def test_the_endpoint_that_needs_no_key_is_the_anonymous_one(harbour: Index) -> None:
    text = harbour.ask("which tide endpoint can be called without a key?").text
    assert "**GET /api/tide/health** in src/Program.cs:9: `}).AllowAnonymous();`" in text
    assert "/api/tide/list" not in text


def test_all_handlers_of_an_event_are_told_of_what_raises_it(harbour: Index) -> None:
    text = harbour.ask("what happens after a flag is raised?").text
    steps = [line.split("**")[1] for line in text.splitlines() if line.startswith("- **")]
    assert [one for one in steps if one.endswith(".Handle")] == ["AnnounceFlag.Handle", "RecordFlag.Handle"]
    assert steps.index("Announcer.Call") == steps.index("AnnounceFlag.Handle") + 1


def test_built_in_roles_are_the_constants_before_permissions_that_are_called_so(harbour: Index) -> None:
    text = harbour.ask("which roles are built in?").text
    assert text.startswith("`Roles` in src/Roles.cs") and 'Master = "master"' in text.partition("Permissions.cs")[0]


def test_what_has_no_table_is_kept_by_its_repository(harbour: Index) -> None:
    text = harbour.ask("where are ropes stored?").text
    assert text.startswith("`RedisRopeRepository` in src/Storage/RedisRopeRepository.cs") and "_cache" in text


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("which permission is needed to release a berth?", "**BerthAppService.ReleaseAsync** in"),
        ("which permission is needed to free a buoy?", ""),
        (
            "what is the default password of the pilot user?",
            "**SeedUsers.FirstPassword** sets **FirstPassword** in src/",
        ),
        (
            "at which url is the health check?",
            '`public static void Use(WebApplication app) => app.MapHealthChecks("/alive");`',
        ),
        (
            "which routes does the Angular app have?",
            "**2 page routes:**\n- **winches** in web/src/app/app-routing.module.ts:3",
        ),
        ("which stored procedures use a cursor?", "**1 SQL cursor:**\n- **Sweep** in db/Sweep.sql:3"),
        (
            "which projects reference the pilot contracts?",
            "**1 reference:**\n- **Harbour.Host** refers to **Harbour.Pilot.Contracts** in",
        ),
        ("where is the page for tides?", "**Shown by:**\n- **Tides.razor** in src/Web/Pages/Tides.razor:1"),
        ("which form shows the anchors?", "**Shown by:**\n- **AnchorForm** in src/Office/AnchorForm.cs:3"),
        (
            "which page shows the ferries, and what does it call?",
            "- **index.tsx** in web/src/pages/Ferries/index.tsx:3",
        ),
        (
            "which view reads the Tank table?",
            "**Read by, none of it a view:**\n- **dbo.Sweep** reads from **dbo.Tank**",
        ),
    ],
)
def test_what_one_line_says_is_told_with_it(harbour: Index, question: str, told: str) -> None:
    text = harbour.ask(question).text
    assert told in text and (told or "BerthAppService" not in text.partition("See also")[0])


def test_computed_columns_are_those_that_the_table_computes(harbour: Index) -> None:
    assert listed(harbour, "which column of Tank is computed?")[1] == ["dbo.Tank.Free"]
    assert listed(harbour, "which column of Tank is the identity?")[1] == ["dbo.Tank.TankId"]


def test_what_the_product_is_called_too_is_said_by_names_alone(tmp_path: Path) -> None:
    files = {
        f"src/Parcel.Api/{name}Controller.cs": f"namespace Parcel.Api;\n\n"
        f'[Route("api/{name.lower()}s")]\npublic class {name}Controller : ControllerBase\n{{\n'
        f"    [HttpGet]\n    public Task All() => Task.CompletedTask;\n\n"
        f"    [HttpPost]\n    public Task Add() => Task.CompletedTask;\n}}\n"
        for name in ("Parcel", "Label", "Stamp")
    }
    with opened_index(tmp_path, files, "parcel") as index:
        assert listed(index, "which endpoints are there for parcels?")[1] == ["GET /api/parcels", "POST /api/parcels"]
        assert len(listed(index, "which endpoints are there?")[1]) == 6
