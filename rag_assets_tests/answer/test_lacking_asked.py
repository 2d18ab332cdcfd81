"""What lacks something is told with how many there are: messages without handlers, endpoints without tests, objects of
databases and settings that nothing uses; what is written twice, and forms of code that are asked for by purpose."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets import Index, open_indexes
from rag_assets.answer.structure.constructs import construct_asked
from rag_assets.answer.structure.hosts import asks_hosts
from rag_assets.answer.structure.lacking import lack_asked
from rag_assets.answer.structure.listed_questions import listed_of_whole
from rag_assets.answer.structure.patterns import pattern_asked
from rag_assets.answer.structure.questions import contributors_asked, diagram_asked
from rag_assets.answer.structure.ranked import ranking_asked
from rag_assets.index.layout import IndexHome
from rag_assets_tests.cli.conftest import index_without_dagster, new_repository, opened_index
from rag_assets_tests.effort import ends_within

REPEATED = """\
    {
        var total = 0m;
        foreach (var line in lines)
            total += line.Price;
        if (total < 0)
            throw new InvalidOperationException();
        return Math.Round(total, 2);
    }
"""
FILES = {
    "src/Orders.cs": f"""\
using System;

namespace Shop;

public record OrderPaidEvent(int Id);

public record OrderLostEvent(int Id);

public class Mailer : IHandle<OrderPaidEvent>, IDisposable
{{
    public void Handle(OrderPaidEvent paid) => Console.Out.Flush();

    public void Dispose()
    {{
    }}
}}

public class Customer
{{
    public string Email {{ get; set; }} = "";

    public string Colour {{ get; set; }} = "";
}}

public class OrdersController : ControllerBase
{{
    [HttpGet("/orders")]
    public IActionResult All() => Ok(config["Shop:PageSize"]);

    [HttpGet("/orders/{{id}}/lines")]
    public IActionResult Lines(int id) => Ok();

    [HttpGet("/orders/lost")]
    public IActionResult Lost()
    {{
        Response.Cookies.Append("seen", Guid.NewGuid().ToString());
        // return Ok(config["Old"]);
        db.Execute($"DELETE FROM Orders WHERE Id = {{id}}");
        db.Execute("EXEC dbo.CloseOrders");
        return Ok();
    }}

    private decimal Total(Line[] lines)
{REPEATED}
    private decimal Sum(Line[] lines)
{REPEATED}}}
""",
    "appsettings.json": """\
{
  "Logging": {
    "LogLevel": {
      "Default": "Warning"
    }
  },
  "Shop": {
    "PageSize": 10,
    "page_size": 10,
    "Forgotten": 5
  }
}
""",
    "db/orders.sql": """\
CREATE TABLE dbo.Orders (Id INT PRIMARY KEY, Code NVARCHAR(10) NOT NULL UNIQUE);
GO
CREATE TABLE dbo.Attic (Id INT PRIMARY KEY);
GO
CREATE PROCEDURE dbo.CloseOrders AS UPDATE dbo.Orders SET Code = '';
GO
CREATE PROCEDURE dbo.Unloved AS SELECT 1;
GO
""",
    "db/migrations/20260101_newest/migration.sql": "ALTER TABLE dbo.Orders\n  ADD Newest NVARCHAR(10) NULL;\n",
    "src/Migrations/20240102_First.cs": "public class First : Migration\n{\n}\n",
    "src/Migrations/20250304_Later.cs": "public class Later : Migration\n{\n}\n",
    "src/Migrations/20270304_Later.resx": "<root />\n",
    "src/Migrations/20250304_Later.Designer.cs": "partial class Later\n{\n}\n",
    "src/host.rs": "#[cfg(windows)]\nfn host() -> String {\n    name()\n}\n",
    "src/Colours.cs": """\
public static class Palette
{
    public static readonly string[] Colours = ["red", "green"];
}
""",
    "src/Forms.cs": """\
public class Form
{
    [MaxLength(40)]
    [Display(Name = "The colour")]
    public string Colour { get; set; }

    [MaxLength(90)]
    public string Name { get; set; }
}
""",
    "tests/DeskTests.cs": """\
public class DeskTests
{
    [Fact]
    public void Is_lost() => new Desk().Lost();
}
""",
    "tests/OrdersTests.cs": """\
public class OrdersTests
{
    [Fact]
    public void Lists_all() => new OrdersController().All();

    [Fact]
    public void Lists_lines() => client.Get($"/orders/{order.Id}/lines");

    [Fact(Skip = "Slow")]
    public void Waits() => Thread.Sleep(1);
}
""",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("lacking"), FILES, "lacking") as index:
        yield index


@pytest.mark.parametrize(
    ("question", "told", "untold"),
    [
        ("Which events have no handlers?", ["1 event of 2", "**OrderLostEvent**"], ["OrderPaidEvent**"]),
        ("which endpoints are not tested?", ["1 endpoint of 3", "GET /orders/lost"], ["GET /orders**", "{id}"]),
        ("which stored procedures are never called?", ["1 procedure of 2", "Unloved"], ["CloseOrders**"]),
        ("list all unused tables", ["1 table of 2", "Attic"], ["Orders**"]),
        (
            "Which settings are never read?",
            ["1 setting of 3", "**Forgotten**"],
            ["PageSize**", "page_size**", "Default**"],
        ),
        ("is there duplicated code?", ["The same 7 lines, 2 times", "OrdersController.Sum"], ["Lost**"]),
        ("which classes are disposable?", ["**Mailer** derives from **IDisposable**"], ["OrdersController"]),
        ("which tests are skipped?", ["1 skipped test", "OrdersTests.Waits"], ["Lists_all"]),
        ("Which fields contain personal data?", ["1 personal-data field", "**Customer.Email**"], ["Colour**"]),
        ("which code is platform-specific?", ["1 platform check", "src/host.rs:1"], []),
        ("where are cookies set?", ["1 cookie", "OrdersController.Lost"], []),
        ("where are GUIDs generated?", ["1 generated identifier"], []),
        ("are there SQL injection risks?", ["1 interpolated SQL statement", "DELETE FROM Orders"], ["EXEC dbo"]),
        ("is there commented-out code?", ["1 commented-out line"], []),
        ("where are amounts rounded?", ["2 roundings"], []),
        ("which columns are unique?", ["1 unique constraint"], []),
        ("which classes have too many properties?", ["Most properties of classes", "**Customer** has **2 prop"], []),
        ("which methods have the most parameters?", ["Most parameters of methods", "**Mailer.Handle** has **1 p"], []),
        ("which controllers are too big?", ["**OrdersController** has **38 lines**"], ["Customer"]),
        ("which table has the most columns?", ["Most columns of tables", "**dbo.Orders** has **2 columns**"], []),
        ("which endpoint has the most code?", ["**OrdersController.Lost** has **9 lines**"], ["Total"]),
        ("which endpoints set cookies?", ["1 cookie", "OrdersController.Lost"], []),
        ("what does the latest migration do?", ["ADD Newest NVARCHAR"], ["class Later"]),
        ("show me the first migration", ["public class First : Migration"], ["class Later"]),
        ("what is the maximum length of a name?", ["MaxLength(90)"], ["MaxLength(40)"]),
    ],
)
def test_what_lacks_something_or_has_a_form_is_counted_and_told(
    shop: Index, question: str, told: list[str], untold: list[str]
) -> None:
    answer = shop.ask(question)

    assert not answer.abstained and not answer.unsure, answer.reason
    assert [one for one in told if one not in answer.text] == [], answer.text
    assert [one for one in untold if one in answer.text] == [], answer.text


@pytest.mark.parametrize(
    ("question", "absent"),
    [
        ("which views are never used?", "no view of a database is in the index"),
        ("draw a class diagram of Customer", "rag-assets graph around Customer --mermaid"),
        ("who are the main contributors?", "git shortlog -sn HEAD"),
        ("where are files uploaded?", "no upload of a known form is in the code of the product"),
    ],
)
def test_that_there_is_none_is_said(shop: Index, question: str, absent: str) -> None:
    answer = shop.ask(question)
    assert absent in f"{answer.notes} {answer.reason}"


@pytest.mark.parametrize(
    ("question", "told", "untold"),
    [
        ("path:appsettings.json which settings are never read?", "1 setting of 3", "PageSize**"),
        ("path:db which procedures are never called?", "1 procedure of 2", "CloseOrders**"),
        ("path:src/Events.cs which events have no handlers?", "1 event of 2", "ShopOpenedEvent**"),
        ("path:src/Closing.cs which exceptions are never caught?", "", "throws **DoorException**"),
    ],
)
def test_what_is_outside_of_a_filter_may_handle_use_and_catch_what_is_inside(
    tmp_path: Path, question: str, told: str, untold: str
) -> None:
    events = "public record ShopOpenedEvent(int Id);\n\npublic record ShopClosedEvent(int Id);\n"
    closing = "public class Door\n{\n    void Handle(ShopOpenedEvent opened) => throw new DoorException();\n}\n"
    catching = "public class House\n{\n    void Leave()\n    {\n        try { } catch (DoorException) { }\n    }\n}\n"
    files = {"src/Events.cs": events, "src/Closing.cs": closing, "src/House.cs": catching}
    with opened_index(tmp_path, {**FILES, **files}, "filtered") as index:
        text = index.ask(question).text
    assert told in text and untold not in text, text


GATES = """\
[ApiController]
public class GateController : ControllerBase
{
    [HttpGet("/gate")]
    [ProducesResponseType(
        200)]
    [NeedsTicket("in")]
    public IActionResult In() => Ok();

    /// <summary>Not for NeedsTicket.</summary>
    [HttpGet("/gate/out")]
    public IActionResult Out() => Ok();
}

[ApiController, NeedsTicket("all")]
public class ToiletController : ControllerBase
{
    [HttpGet("/toilet")]
    public IActionResult Sit() => Ok(tickets[0]);
}
"""


@pytest.mark.parametrize(
    ("question", "told", "untold"),
    [
        (
            "Which endpoints have no NeedsTicket attribute?",
            ["1 endpoint of 3", "GET /gate/out"],
            ["/toilet", "/gate**"],
        ),
        ("which actions are not marked with [NeedsTicket]?", ["1 endpoint of 3", "GET /gate/out"], []),
        ("which controllers lack [NeedsTicket]?", ["1 controller of 2", "GateController"], ["Toilet"]),
    ],
)
def test_endpoints_and_controllers_without_an_attribute(
    tmp_path: Path, question: str, told: list[str], untold: list[str]
) -> None:
    with opened_index(tmp_path, {"src/Gates.cs": GATES}, "gates") as index:
        answer = index.ask(question)
        assert "NeedsSeat" not in index.ask("which endpoints have no NeedsSeat attribute?").text.partition(":**")[0]
    assert [one for one in told if one not in answer.text] == [], answer.text
    assert [one for one in untold if one in answer.text] == [], answer.text


ORDERS = {
    "src/Orders/Messages.cs": """\
namespace Shop.Orders;

public abstract record OrderEvent(int Id);

public record OrderPaid(int Id) : OrderEvent(Id);

public record OrderForgotten(int Id) : OrderEvent(Id);

public record PlaceOrder(int Id) : ICommand<int>;

public class ShipOrderCommand : ICommand<int>
{
    public ShipOrderCommand(int id)
    {
    }
}

public class RenameOrderCommand : ICommand<int>
{
    [Required]
    public string Name { get; set; }
}

public enum OrderState { Open, Paid }

public enum OrderMood { Good }

public record OrderDto(int Id);

public record MoodDto(int Id);

public class OrderLateException : Exception
{
    public OrderLateException(int id)
    {
    }
}

public class OrderEarlyException : Exception;

public interface IShelf;

public interface IDoor;

public abstract class Shelf : IShelf;

public abstract class Board;

public class OakBoard : Board;
""",
    "src/Orders/Shop.Orders.csproj": '<Project Sdk="Microsoft.NET.Sdk">\n</Project>\n',
    "src/Wood/Shop.Wood.csproj": '<Project Sdk="Microsoft.NET.Sdk">\n</Project>\n',
    "tests/Orders.Tests/Orders.Tests.csproj": """\
<Project Sdk="Microsoft.NET.Sdk">
  <ItemGroup>
    <ProjectReference Include="..\\..\\src\\Orders\\Shop.Orders.csproj" />
  </ItemGroup>
</Project>
""",
    "src/Orders/Handlers.cs": """\
namespace Shop.Orders;

public class PlaceOrderHandler : ICommandHandler<PlaceOrder, int>
{
    private OrderState state;

    public int Handle(PlaceOrder command)
    {
        if (command.Id == 0)
            throw new OrderEarlyException();
        bus.Publish(new OrderPaid(command.Id));
        return new OrderDto(command.Id).Id;
    }
}

public class PlaceOrderValidator : AbstractValidator<PlaceOrder>
{
    public PlaceOrderValidator() => RuleFor(one => one.Id).GreaterThan(0);
}

public class PaidMails : INotificationHandler<OrderPaid>
{
    public void Handle(OrderPaid paid) => mails.Send(paid.Id);
}

public class PaidStock : INotificationHandler<OrderPaid>
{
    public void Handle(OrderPaid paid) => stock.Take(paid.Id);
}

public class ForgottenMails : INotificationHandler<OrderForgotten>
{
    public void Handle(OrderForgotten forgotten) => mails.Send(forgotten.Id);
}

public class OrdersController : ControllerBase
{
    [HttpPost("/orders")]
    public int Place([FromBody] PlaceOrder command) => sender.Send(command);

    [HttpPut("/orders")]
    public int Rename([FromBody] RenameOrderCommand command) => sender.Send(command);
}
""",
    "db/orders.sql": """\
CREATE TABLE dbo.Orders (Id INT PRIMARY KEY);
GO
CREATE TABLE dbo.Lines (Id INT PRIMARY KEY, OrderId INT NOT NULL REFERENCES dbo.Orders (Id));
GO
CREATE TABLE dbo.Moods (Id INT PRIMARY KEY);
GO
""",
}


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("orders"), ORDERS, "orders") as index:
        yield index


@pytest.mark.parametrize(
    ("question", "told", "untold"),
    [
        ("Which events are never published?", ["1 event of 2", "**OrderForgotten**"], ["**OrderPaid**"]),
        ("which commands are never sent?", ["1 command of 3", "**ShipOrderCommand**"], ["Rename", "Place"]),
        ("Which commands have no validator?", ["1 command of 3", "**ShipOrderCommand**"], ["Rename", "PlaceOrder"]),
        ("path:src/Orders/Messages.cs which commands have no validator?", ["1 command of 3"], ["PlaceOrder"]),
        ("path:src/Orders/Messages.cs which events are never published?", ["1 event of 2"], ["OrderPaid"]),
        ("path:src/Orders/Messages.cs which enums are never used?", ["1 enum of 2"], ["OrderState"]),
        ("which commands aren't validated?", ["1 command of 3", "**ShipOrderCommand**"], []),
        ("which exceptions are never thrown?", ["1 exception of 2", "**OrderLateException**"], ["Early"]),
        ("which enums are never used?", ["1 enum of 2", "**OrderMood**"], ["OrderState"]),
        ("are there unused DTOs?", ["1 DTO of 2", "**MoodDto**"], ["OrderDto"]),
        ("which interfaces have no implementation?", ["1 interface that no type", "**IDoor**"], ["IShelf"]),
        ("are there any unimplemented interfaces?", ["1 interface that no type", "**IDoor**"], []),
        ("which abstract classes have no subclasses?", ["1 abstract class that no type", "**Shelf**"], ["Board"]),
        ("which events have more than one handler?", ["1 such event", "**OrderPaid**"], ["OrderForgotten"]),
        ("which tables have no foreign keys?", ["1 table of 3", "Moods"], ["Lines", "Orders**"]),
        ("which projects have no tests?", ["1 project of 2", "**Shop.Wood**"], ["Shop.Orders**"]),
        ("which events does PlaceOrderHandler publish?", ["1 event of PlaceOrderHandler", "**OrderPaid**"], ["Forgot"]),
        ("what is the base class of OakBoard?", ["class OakBoard : Board"], []),
        ("which test projects are there?", ["1 test project", "**Orders.Tests**"], ["Shop.Wood"]),
    ],
)
def test_what_nothing_sends_checks_uses_or_derives_from(
    orders: Index, question: str, told: list[str], untold: list[str]
) -> None:
    answer = orders.ask(question)

    assert not answer.abstained and not answer.unsure, answer.reason
    assert [one for one in told if one not in answer.text] == [], answer.text
    assert [one for one in untold if one in answer.text] == [], answer.text


@pytest.mark.parametrize(
    "question",
    [
        "which orders have no command?",
        "which handlers have more than two orders?",
        "which orders are never shipped?",
        "which orders are not registered?",
        "which paid mails exist?",
    ],
)
def test_no_quote_is_a_sure_answer_to_what_many_lack(orders: Index, question: str) -> None:
    answer = orders.ask(question)
    assert answer.abstained or answer.unsure, answer.text


@pytest.mark.parametrize(
    "question", ["which endpoints have no authorization?", "which routes have no parameters?", "endpoints " * 9_000]
)
def test_what_names_no_attribute_asks_for_none(question: str) -> None:
    with ends_within(1):
        assert lack_asked(question) is None


def test_what_lacks_something_is_counted_over_all_labels(tmp_path: Path) -> None:
    home = IndexHome(tmp_path / "home")
    of_each = ("Paid", "Lost"), ("Won", "Gone")
    for number, (handled, waiting) in enumerate(of_each):
        events = f"record {waiting}Event(int Id);\nrecord {handled}Event(int Id);\n"
        code = f"{events}class A {{ void Handle({handled}Event one) {{ }} }}\n"
        index_without_dagster(home, new_repository(tmp_path / f"shop{number}", {"A.cs": code}), f"shop{number}")
    with open_indexes(["shop0@main", "shop1@main"], home=home.root) as both:
        text = both.ask("which events are never handled?").text
    assert "**2 events of 4 that nothing is known to handle:**" in text, text


def test_each_host_of_a_file_is_counted(tmp_path: Path) -> None:
    hosts = "".join(f'  "Host{at}": "https://h{at}.acme.io/x",\n' for at in range(6))
    with opened_index(tmp_path, {"appsettings.json": f"{{\n{hosts}}}\n"}, "hosts") as index:
        text = index.ask("which external services does it call?").text
    assert "**6 hosts that code and settings name:**" in text, text


def test_a_file_of_thousands_of_methods_takes_no_time(tmp_path: Path) -> None:
    methods = "".join(f"    public int M{at}(int a)\n{REPEATED}" for at in range(3_000))
    with opened_index(tmp_path, {"Big.cs": f"public class Big\n{{\n{methods}}}\n"}, "big") as index:
        index.ask("what is Big?")
        with ends_within(4):
            assert "0 of 3,000 public methods" in index.ask("which public methods have no comments?").text


def test_a_list_that_knows_nothing_of_what_lacks_does_not_answer_with_all(shop: Index) -> None:
    answer = shop.ask("which events have no customer?")
    assert "2 events" not in answer.text
    answer = shop.ask("which colours are never used?")
    assert "2 colours" not in answer.text
    answer = shop.ask("which events are never used?")
    assert "of a database" not in f"{answer.notes} {answer.reason}"


@pytest.mark.parametrize(
    ("question", "written", "beside"),
    [
        (
            "where are cookies set?",
            [
                "return response([])->cookie('beta', 'false');",
                "await setSignedCookie(c, name, token);",
                "c.SetCookie(name)",
            ],
            ["the baker sells cookies"],
        ),
        (
            "are there SQL injection risks?",
            ['"UPDATE #{table_name} set #{column_list}"', '"SELECT * FROM " + table', 'f"select * from {table}"'],
            ['"Update or create " . $name', '$"Please select {name}"', "`Select ${name}`", '$"Pick where {name}"'],
        ),
        (
            "where are UUIDs generated?",
            ["uuid.uuid4()", "Uuid::new_v4()", "uuid.NewString()"],
            ["$table->uuid('id')->primary();", "Uuid::isValid($id)"],
        ),
        ("which columns are unique?", ["$table->string('email')->unique();"], ["collect($ids)->unique('id')"]),
        ("where are calls retried?", ["@retry(times=3)"], ['<Wait @retry="begin()" />', "HEALTHCHECK --retries=10"]),
        (
            "which HTTP headers are set?",
            ["header('Location: /');", "$r->header('ETag')"],
            ["header('reply_type', 'a')"],
        ),
        (
            "which timeouts are set?",
            ["timeout: 5s"],
            [
                "timeout = setTimeout(tick, 3)",
                "let timeout: ReturnType<typeof f>",
                'case "timeout":\n  a',
                "timeout=Deliver timeout",
            ],
        ),
        (
            "where are files uploaded?",
            ["$request->file('photo')", "= form.file_field :photo"],
            ["file.read()", "response()->file($path)"],
        ),
        ("which fields contain personal data?", ["$table->string('first_name')"], ["$table->string('title')"]),
    ],
)
def test_a_form_of_code_is_what_says_it_in_each_language(question: str, written: list[str], beside: list[str]) -> None:
    wanted = construct_asked(question)
    assert wanted is not None
    assert [line for line in written if not wanted.written.search(line)] == []
    assert [line for line in beside if wanted.written.search(line)] == []


@pytest.mark.parametrize(
    "question",
    [
        "which events are handled?",
        "which customer has the most orders?",
        "which types of payment have the most fees?",
        "which records are too old?",
        "what is the biggest table that a restaurant has?",
        "which orders have no customer?",
        "which tables are reserved?",
        "is the code duplicated when an order is copied?",
        "which cookies does the baker sell?",
        "show me a picture of the cat that the user uploaded",
        "where is the uploaded file stored?",
        "what happens when the order is stopped?",
        "how are amounts rounded?",
        "who developed the payment feature of Shop?",
        "show me the chart component",
        "show the graph class",
        "which files were not changed in a commit?",
        "which members have comments?",
        "what is the oldest part?",
        "which private fields are there?",
        "which headers are required?",
        "which domains are used?",
        "which other services are there?",
        "what is the options pattern?",
    ],
)
def test_questions_that_only_sound_so_are_none(question: str) -> None:
    assert lack_asked(question) is None
    assert ranking_asked(question) is None
    assert construct_asked(question) is None
    assert listed_of_whole(question) is None
    assert not contributors_asked(question)
    assert not diagram_asked(question)
    assert not asks_hosts(question)
    assert pattern_asked(question) is None
