"""What applications of the .NET Framework, sagas and actors have is listed: pages, modules, services, states, seeds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets.answer.plans.marked import Marked, marked_asked
from rag_assets.answer.question_analysis import listed_noun
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "src/Ferry.Office/Web.config": """\
<configuration>
  <connectionStrings>
    <add name="Crossings" connectionString="Server=office;Database=Ferry" providerName="System.Data.SqlClient" />
  </connectionStrings>
  <appSettings>
    <add key="UsePaperTickets" value="true" />
  </appSettings>
  <system.web>
    <httpModules>
      <add name="Fog" type="Ferry.Office.FogModule, Ferry.Office" />
    </httpModules>
  </system.web>
  <system.webServer>
    <modules>
      <add name="Fog" type="Ferry.Office.FogModule, Ferry.Office" preCondition="integratedMode" />
    </modules>
    <handlers>
      <add name="Tickets" path="tickets.axd" verb="GET" type="Ferry.Office.TicketHandler, Ferry.Office" />
    </handlers>
  </system.webServer>
</configuration>
""",
    "src/Ferry.Office/Default.aspx": '<%@ Page Title="Crossings" CodeBehind="Default.aspx.cs" %>\n<p></p>\n',
    "src/Ferry.Office/Boats/Edit.aspx": '<%@ Page Title="Boat" Language="C#" CodeBehind="Edit.aspx.cs" %>\n<p></p>\n',
    "src/Ferry.Office/Switcher.ascx": '<%@ Control Language="C#" CodeBehind="Switcher.ascx.cs" %>\n<p></p>\n',
    "src/Ferry.Office/TicketConfiguration.cs": """\
namespace Ferry.Office
{
    public static class TicketConfiguration
    {
        public static bool UsePaperTickets
        {
            get { return bool.Parse(ConfigurationManager.AppSettings["UsePaperTickets"]); }
        }
    }
}
""",
    "deploy/a.yml": "services:\n  office:\n    environment:\n      - UsePaperTickets=False\n",
    "deploy/b.yml": "services:\n  office:\n    environment:\n      - UsePaperTickets=False\n",
    "src/Ferry.Office/RouteConfig.cs": """\
namespace Ferry.Office
{
    public static class RouteConfig
    {
        public static void RegisterRoutes(RouteCollection routes)
        {
            routes.MapPageRoute(
                "Boat",
                "boats/{id}",
                "~/Boats/Edit.aspx");
        }
    }
}
""",
    "src/Ferry.Office/HomeController.cs": """\
namespace Ferry.Office
{
    public class HomeController : Controller
    {
        public ActionResult Index()
        {
            return View();
        }

        [Authorize]
        public ActionResult Cancel()
        {
            return View();
        }
    }
}
""",
    "src/Ferry.Office/CrossingsInitializer.cs": """\
namespace Ferry.Office
{
    public class CrossingsInitializer : CreateDatabaseIfNotExists<CrossingsContext>
    {
        protected override void Seed(CrossingsContext context)
        {
            context.Boats.Add(new Boat());
        }
    }
}
""",
    "src/Ferry.Service/Web.config": """\
<configuration>
  <connectionStrings>
    <add name="Timetable" connectionString="Server=service;Database=Times" providerName="System.Data.SqlClient" />
  </connectionStrings>
  <system.serviceModel>
    <services>
      <service name="Ferry.Service.TimetableService">
        <endpoint address="" binding="basicHttpBinding" contract="Ferry.Service.ITimetableService" />
        <endpoint address="mex" binding="mexHttpBinding" contract="IMetadataExchange" />
      </service>
    </services>
  </system.serviceModel>
</configuration>
""",
    "src/Ferry.Service/ITimetableService.cs": """\
namespace Ferry.Service
{
    [ServiceContract]
    public interface ITimetableService
    {
        [OperationContract]
        Crossing NextCrossing(string harbour);

        [OperationContract]
        void Postpone(int crossing);
    }
}
""",
    "src/Ferry.Booking/BookingStateMachine.cs": """\
namespace Ferry.Booking
{
    public class BookingStateMachine : MassTransitStateMachine<BookingState>
    {
        public BookingStateMachine()
        {
            Initially(When(Booked).TransitionTo(Waiting));
        }

        public State Waiting { get; }
        public State Aboard { get; }
        public Event<SeatBooked> Booked { get; }
        public Schedule<BookingState, SeatLost> Deadline { get; }
    }
}
""",
    "src/Ferry.Booking/BookingModule.cs": """\
namespace Ferry.Booking
{
    public class BookingModule : Module
    {
        protected override void Load(ContainerBuilder builder)
        {
            builder.RegisterType<PaperManifest>()
                .As<IManifest>()
                .SingleInstance();

            builder.RegisterType<Lantern>();
            Bind<IHorn>().To<SteamHorn>();
            For<IAnchor>().Use<IronAnchor>();
            box.Register<SeatLost>(this);
        }
    }
}
""",
    "src/Ferry.Booking/Manifest.cs": "namespace Ferry.Booking;\n\npublic interface IManifest { }\n\n"
    "public class PaperManifest : IManifest { }\n",
    "src/Ferry.Booking/Seats.cs": """\
namespace Ferry.Booking
{
    public record SeatBooked(int Seat);

    public record SeatLost(int Seat)
    {
        public static SeatLost Any() => new SeatLost(0);
    }

    public class Seats
    {
        public void Book(int seat)
        {
            bus.Publish(new SeatBooked(seat));
        }

        public void Count()
        {
            var booked = new SeatBooked(1);
        }

        public void Lose()
        {
            var lost = SeatLost.Any();
        }
    }
}
""",
    "src/Ferry.Booking/Features/Parcel/Edit.cs": """\
namespace Ferry.Booking.Features.Parcel
{
    public class Edit
    {
        public class Validator : AbstractValidator<Command>
        {
            public Validator()
            {
                RuleFor(m => m.Weight).NotNull();
            }
        }
    }
}
""",
    "src/Ferry.Booking/Features/Parcel/LabelValidator.cs": """\
namespace Ferry.Booking.Features.Parcel
{
    public class LabelValidator : AbstractValidator<Label>
    {
        public LabelValidator()
        {
            RuleFor(m => m.Colour).NotNull();
        }
    }
}
""",
    "src/Ferry.Booking/Lookout.cs": "namespace Ferry.Booking;\n\npublic class Lookout : ReceiveActor { }\n\n"
    "public class Purser : UntypedActor { }\n\npublic class HarbourMap : ShapeWithActor { }\n",
    "src/Ferry.Booking/Jobs.cs": "namespace Ferry.Booking;\n\npublic interface INightly : IJob { }\n\n"
    "public class NightWatch : INightly { }\n\npublic class DayWatch : INightly { }\n",
    "src/Ferry.Booking/Deck.cs": "namespace Ferry.Booking;\n\npublic enum Deck { Car, Sun }\n",
    "src/Ferry.Web/Views/Boats/Index.cshtml": "@model Boat\n<h1>Boats</h1>\n",
    "src/Ferry.Web/Views/Boats/_Row.cshtml": "@model Boat\n<p>One</p>\n",
    "src/Ferry.Web/Views/Shared/Layout.cshtml": "<html>@RenderBody()</html>\n",
    "Ferry.sln": "Microsoft Visual Studio Solution File\n",
    "src/Ferry.Office/Ferry.Office.csproj": '<Project ToolsVersion="15.0">\n</Project>\n',
    "src/Ferry.Service/Ferry.Service.csproj": '<Project ToolsVersion="15.0">\n  <ItemGroup>\n'
    '    <PackageReference Include="Ferry" Version="4.2.0" />\n  </ItemGroup>\n</Project>\n',
    "Directory.Build.props": "<Project>\n  <PropertyGroup>\n    <VersionPrefix>0.1.0</VersionPrefix>\n"
    "    <TargetFramework>net48</TargetFramework>\n  </PropertyGroup>\n</Project>\n",
}


@pytest.fixture(scope="module")
def ferry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("framework"), FILES, "ferry") as index:
        yield index


@pytest.mark.parametrize(
    ("question", "told", "untold"),
    [
        ("Which pages does the office have?", ["2 pages", "Default.aspx", "Boats/Edit.aspx:1"], ["Switcher"]),
        ("Which screens are there?", ["3 screens", "Edit.aspx", "Index.cshtml"], ["_Row", "Layout.cshtml"]),
        ("Which user controls are there?", ["1 user control:", "Switcher.ascx"], ["Edit.aspx"]),
        ("Which HTTP modules are configured?", ["1 HTTP module:", "**Fog**"], ["Tickets"]),
        ("Which HTTP handlers are there?", ["1 HTTP handler:", "**Tickets**"], ["Fog"]),
        (
            "Which operations does the WCF service offer?",
            ["NextCrossing(string harbour)", "Postpone(int"],
            ["Contract]"],
        ),
        ("Which WCF services are there?", ["1 service contract:", "interface ITimetableService"], ["Postpone"]),
        ("Which endpoints does the WCF service declare?", ["basicHttpBinding", "mexHttpBinding"], ["HomeController"]),
        ("Where is the connection string of the office?", ["**Crossings**"], ["Timetable"]),
        ("Which connection string is used?", ["**Crossings**", "**Timetable**"], []),
        ("Which page routes are there?", ['"boats/{id}"'], ["HomeController"]),
        (
            "How is the database seeded?",
            ["CrossingsInitializer.cs:3", "Seed(CrossingsContext context)"],
            ["HomeController"],
        ),
        ("Which database initializer is used?", ["CreateDatabaseIfNotExists"], []),
        ("Which actions need a signed-in user?", ["[Authorize]", "Cancel"], []),
        ("Which projects are in the solutions?", ["2 projects", "Ferry.Office.csproj"], []),
        ("Which states can a booking have?", ["2 states", "Waiting", "Aboard"], ["Deadline"]),
        ("Which events does the BookingStateMachine handle?", ["2 events", "Booked", "Deadline"], ["Aboard {"]),
        ("Which actors are there?", ["2 actors", "Lookout", "Purser"], ["HarbourMap"]),
        ("Which services are registered?", ["4 registered", "IHorn", "IAnchor", "**Lantern**"], ["SeatLost"]),
        ("Which implementation is used for IManifest?", ["**PaperManifest** as **IManifest**"], ["Lantern"]),
        ("Which services are registered as singletons?", ["1 registered", "PaperManifest"], ["Lantern"]),
        ("Who publishes SeatBooked?", ["**Seats.Book** sends **SeatBooked**"], ["**Seats.Count** makes"]),
        ("Who sends SeatLost?", ["**Seats.Lose** makes **SeatLost**"], ["**SeatLost.Any** makes"]),
        ("Which validation rules does a parcel have?", ["1 rule:", "m.Weight"], ["Colour"]),
        ("Which jobs are there?", ["2 jobs", "NightWatch", "DayWatch"], ["interface INightly"]),
        ("How do I switch to paper tickets?", ["Set in", "Office/Web.config:6"], []),
        ("Which version of Ferry is used?", ['Include="Ferry" Version="4.2.0"'], []),
        ("Which version of Ferry is this?", ["0.1.0"], ["4.2.0"]),
        ("Which .NET framework version does it run on?", ["net48"], ["4.2.0"]),
        ("Which decks exist?", ["enum Deck", "Sun"], []),
    ],
)
def test_what_such_an_application_has_is_listed(
    ferry: Index, question: str, told: list[str], untold: list[str]
) -> None:
    answer = ferry.ask(question)

    assert all(one in answer.text for one in told), answer.text
    assert not any(one in answer.text for one in untold), answer.text


@pytest.mark.parametrize("question", ["Which database views are there?", "Which states can a lighthouse have?"])
def test_what_it_has_none_of_is_not_listed(ferry: Index, question: str) -> None:
    text = ferry.ask(question).text

    assert " views:" not in text and " states:" not in text


@pytest.mark.parametrize(
    ("question", "marked"),
    [
        ("How is the database seeded?", Marked.SEEDS),
        ("Where does the initial data come from?", Marked.SEEDS),
        ("Where is the sample data?", Marked.SEEDS),
        ("How is the random generator seeded?", None),
        ("What is the default route?", Marked.MAPPED_ROUTES),
        ("Which routes does the order service have?", None),
        ("Which service endpoints are called by the client?", None),
        ("Which bindings are configured?", Marked.SERVICE_ENDPOINTS),
        ("Which modules are there?", None),
        ("Where is the connection string for the catalog database?", Marked.CONNECTION_STRINGS),
    ],
)
def test_what_lines_tell_of_is_asked_in_words_for_it(question: str, marked: Marked | None) -> None:
    assert marked_asked(question) is marked


def test_third_party_libraries_are_libraries() -> None:
    assert listed_noun("Which third-party libraries are used?")[0] == "library"
