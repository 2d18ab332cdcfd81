"""Where an entity is stored, who writes and who reads it, is told of the class, its set and its table together."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets import Index, open_index
from rag_assets.answer.citations import Support
from rag_assets.answer.question_analysis import Intent, root
from rag_assets.answer.question_kinds import READ, STORED, WRITTEN, DataAsked, data_asked
from rag_assets.qa.ask_options import AskOptions
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "README.md": "# Shop\n\nSells things. Where it keeps them is up to you.\n",
    "src/Orders/SalesOrder.cs": "namespace Shop;\n\npublic class SalesOrder { public int Id { get; set; } }\n",
    "src/Data/ShopContext.cs": """\
namespace Shop;

public class ShopContext : DbContext
{
    public DbSet<SalesOrder> Orders => Set<SalesOrder>();

    protected override void OnModelCreating(ModelBuilder builder)
    {
        builder.Entity<SalesOrder>().ToTable("OrderBook", "sales");
    }
}
""",
    "src/Orders/Checkout.cs": """\
namespace Shop;

public class Checkout
{
    private readonly ShopContext _context;

    public async Task PlaceAsync(SalesOrder order)
    {
        _context.Orders.Add(order);
        await _context.SaveChangesAsync();
    }
}
""",
    "src/Orders/History.cs": """\
namespace Shop;

public class History
{
    private readonly ShopContext _context;

    public Task<List<SalesOrder>> AllAsync() => _context.Orders.ToListAsync();
}
""",
    "src/Refunds/Routes.cs": """\
using Microsoft.EntityFrameworkCore;

namespace Shop;

public class Refund { public int Id { get; set; } }

public class RefundContext : DbContext { public DbSet<Refund> Refunds => Set<Refund>(); }

public static class Routes
{
    public static void Map(IEndpointRouteBuilder app)
    {
        app.MapPost("/refunds", (RefundContext db, Refund made) =>
        {
            db.Refunds.Add(made);
        });
    }
}
""",
    "db/vouchers.sql": "CREATE TABLE dbo.Vouchers (Id int NOT NULL, Code nvarchar(20) NOT NULL);\n",
}
ORDERS = {
    STORED: ["src/Data/ShopContext.cs:5", "src/Data/ShopContext.cs:9"],
    WRITTEN: ["src/Orders/Checkout.cs:9"],
    READ: ["src/Orders/History.cs:7"],
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("data-plan"), FILES, "shop") as index:
        yield index


@pytest.mark.rule("E19")
@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("where are sales orders stored?", [STORED, WRITTEN, READ]),
        ("who writes the order book?", [WRITTEN, STORED, READ]),
        ("who writes to the table OrderBook?", [WRITTEN, STORED, READ]),
        ("who reads SalesOrder?", [READ, STORED, WRITTEN]),
        ("which table holds the orders?", [STORED, WRITTEN, READ]),
    ],
)
def test_an_entity_by_its_class_its_set_and_its_table(shop: Index, question: str, told: list[str]) -> None:
    answer = shop.ask(question, options=AskOptions())
    assert answer.intent is Intent.TABLES and {one.support for one in answer.checks} == {Support.SUPPORTED}
    found: dict[str, list[str]] = {}
    for line in answer.text.splitlines():
        if line.startswith("**"):
            found[line.strip("*:")] = []
        elif line.startswith("- **"):
            found[[*found][-1]].append(line.rpartition(" in ")[2].partition(": ")[0])
    assert [*found][:3] == told
    assert {group: sorted(found[group]) for group in told} == ORDERS


def test_what_a_route_writes_is_told_of_the_route(shop: Index) -> None:
    assert (
        "- **POST /refunds** writes to **Refunds** in src/Refunds/Routes.cs:15: "
        in shop.ask("who writes refunds?").text
    )


def test_a_table_that_only_a_script_knows(shop: Index) -> None:
    assert "- **dbo.Vouchers** in db/vouchers.sql:1: " in shop.ask("where are vouchers kept?").text


@pytest.mark.parametrize("question", ["where are customers stored?", "who writes vouchers?"])
def test_what_the_graph_does_not_know_is_not_told(shop: Index, question: str) -> None:
    text = shop.ask(question, options=AskOptions(threshold=0.0)).text
    assert not any(f"**{group}" in text for group in ORDERS)


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("where is a sales order stored?", DataAsked(("sales", "order"), STORED)),
        ("in which table are the vouchers?", DataAsked(("voucher",), STORED)),
        ("who updates the order table", DataAsked(("order",), WRITTEN)),
        ("what writes to the database table be_posts?", DataAsked(("be", "post"), WRITTEN)),
        ("which jobs read from dbo.Vouchers?", DataAsked(("voucher",), READ)),
        ("where is a config saved that I sent to the gateway", None),
        ("who writes the log line at the end of each call, and which values does it carry?", None),
        ("how are orders stored?", DataAsked(("order",), STORED)),
        ("how are orders stored and read again?", None),
    ],
)
def test_questions_for_data(question: str, asked: DataAsked | None) -> None:
    found = data_asked(question)
    assert found == (asked and DataAsked(tuple(map(root, asked.words)), asked.first))


LIMITED = {
    "src/Customer.cs": """\
namespace Shop;

public class Customer
{
    [Required]
    [StringLength(40)]
    [Display(Name = "surname")]
    public string LastName { get; set; }

    public bool IsEmpty => LastName.Length == 0;
}
""",
    "src/CustomerMap.cs": """\
namespace Shop;

public class OrderMap : IEntityTypeConfiguration<Order>
{
    public void Configure(EntityTypeBuilder<Order> builder)
    {
        builder.Property(order => order.Reference)
            .IsRequired()
            .HasMaxLength(12);
        builder.Property(order => order.Remark).HasMaxLength(500);
    }
}
""",
    "web/note.dto.ts": "export class NoteDto {\n  @MaxLength(512)\n  @IsOptional()\n  subject?: string;\n}\n",
    "api/users.ts": "export const userSchema = z.object({\n  nickname: z.string().min(2).max(255),\n});\n",
    "shop/models.py": "class Voucher(Base):\n    secret = sa.Column(sa.String(64), unique=True)\n",
    "rpc/rating.go": 'package rpc\n\ntype Rating struct {\n\tComment string `validate:"required,max=900"`\n}\n',
    "core/tag.rs": "pub struct Tag {\n    #[validate(length(min = 1, max = 30))]\n    pub label: String,\n}\n",
    "db/parcels.sql": "CREATE TABLE dbo.Parcels\n(\n    Id int,\n    Street nvarchar(80) NOT NULL\n);\n",
    "db/FindStamp.sql": "CREATE PROCEDURE dbo.FindStamp\n    @Motif NVARCHAR(60),\n    @Hint NVARCHAR(MAX) = NULL\nAS\n"
    "BEGIN\n    SELECT @Motif;\nEND\n",
}


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("how long may the surname of a customer be?", "- **Customer.LastName** in src/Customer.cs:6: `[StringLength"),
        ("what is the maximum length of an order's reference?", "- **OrderMap.Reference** in src/CustomerMap.cs:9: "),
        ("how many characters can the remark of an order have?", "- **OrderMap.Remark** in src/CustomerMap.cs:10: "),
        ("what is the max length of a parcel's street?", "- **Parcels.Street** in db/parcels.sql:4: `Street nvar"),
        (
            "how long may the motif of FindStamp be?",
            "- **FindStamp.@Motif** in db/FindStamp.sql:2: `@Motif NVARCHAR(60)",
        ),
        ("how long may the hint of FindStamp be?", ""),
        ("what is the max length of a note's subject?", "- **NoteDto.subject** in web/note.dto.ts:2: `@MaxLength(512)"),
        (
            "how long may the nickname of a user be",
            "- **api/users** in api/users.ts:2: `nickname: z.string()",
        ),
        (
            "how long may the secret of a voucher be",
            "- **Voucher** in shop/models.py:2: `secret = sa.Column(sa.String(64)",
        ),
        ("what is the max length of a rating's comment", "- **Rating** in rpc/rating.go:4: `"),
        ("how long can the label of a tag be", "- **Tag.label** in core/tag.rs:2: `#[validate(length"),
        ("how long may the colour of an order be?", ""),
    ],
)
def test_how_long_something_may_be_is_told_by_the_line_that_limits_it(
    tmp_path_factory: pytest.TempPathFactory, question: str, told: str
) -> None:
    with opened_index(tmp_path_factory.mktemp("limited"), LIMITED, "shop") as index:
        found = index.ask(question, options=AskOptions())
    assert found.text.startswith(told) if told else found.intent is not Intent.LIST


MIGRATED = {
    "db/migrations/V2__tasks.sql": "CREATE TABLE TASK\n(\n    ID int,\n    NAME text\n);\n",
    "db/migrations/V3__remade.sql": 'CREATE TABLE "new_TASK"\n(\n    ID int,\n    TITLE text\n);\n'
    'DROP TABLE "TASK";\nALTER TABLE "new_TASK" RENAME TO "TASK";\n',
    "db/migrations/V10__owner.sql": "ALTER TABLE TASK ADD COLUMN OWNER text;\n",
    "db/migrations/V10__owner.down.sql": "ALTER TABLE TASK DROP COLUMN OWNER;\n",
    "db/migrations/V4__teams.sql": "CREATE TABLE TEAM\n(\n    ID int\n);\n",
    "src/Task.kt": "sealed class Task(val priority: Int) {\n  fun run() = priority\n}\n",
}


@pytest.mark.parametrize("question", ["list the columns of the TASK table", "which columns does the task table have?"])
def test_columns_are_those_of_the_last_script_that_creates_a_table_and_of_what_follows(
    tmp_path: Path, question: str
) -> None:
    with opened_index(tmp_path, MIGRATED, "shop") as index:
        found = index.ask(question, options=AskOptions())
    assert [one.path.partition("__")[2] for one in found.citations] == ["remade.sql", "owner.sql"]
    assert "TITLE text" in found.text and "ADD COLUMN OWNER" in found.text and "NAME text" not in found.text
    with open_index("shop@main", home=tmp_path / "home") as index:
        assert index.ask("which tables are there?", options=AskOptions()).text.startswith("**2 tables:**")


SCRIPTS = {
    "db/Purge.sql": """\
IF OBJECT_ID('dbo.Purge') IS NULL
  EXEC ('CREATE PROCEDURE dbo.Purge AS RETURN 0;');
GO
ALTER PROCEDURE dbo.Purge
  @Days int = 30, -- older rows go
  @Mode nvarchar(20) = N'SOFT',
  @Removed int = NULL OUTPUT
AS
BEGIN
  SET @Days = 7;
  DELETE FROM dbo.Parcels WHERE Age > @Days;
END
GO
""",
    "db/Archive.sql": "CREATE PROCEDURE dbo.Archive (@Days int = 365) AS\nSELECT 1;\nGO\n",
    "db/tables.sql": """\
CREATE TABLE dbo.Customers (Id int PRIMARY KEY);
GO
CREATE TABLE dbo.Parcels
(
  Id int PRIMARY KEY,
  CustomerId int REFERENCES dbo.Customers (Id)
);
GO
""",
}


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("scripts"), SCRIPTS, "shop") as index:
        yield index


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (
            "which parameters does Purge have?",
            ["**3 parameters of dbo.Purge:**", "@Days** in db/Purge.sql:5", "@Mode**", "@Removed** in db/Purge.sql:7"],
        ),
        (
            "what is the default of @Mode?",
            ["@Mode** of **dbo.Purge** in db/Purge.sql:6: `@Mode nvarchar(20) = N'SOFT',`"],
        ),
        ("what is the default of @Days?", ["dbo.Archive** in db/Archive.sql:1", "dbo.Purge** in db/Purge.sql:5: "]),
        ("what is the default value of Days in Archive?", ["dbo.Archive** in db/Archive.sql:1"]),
        ("which tables reference Customers?", ["**dbo.Parcels** refers to **dbo.Customers** in db/tables.sql:6: "]),
        ("which foreign keys does the parcel table have?", ["refers to **dbo.Customers** in db/tables.sql:6: "]),
        ("which stored procedures are there?", ["**2 procedures:**", "**dbo.Purge** in db/Purge.sql:4: `ALTER PROC"]),
    ],
)
def test_what_scripts_declare_of_procedures_and_tables(scripts: Index, question: str, told: list[str]) -> None:
    text = scripts.ask(question, options=AskOptions()).text
    facts = [line for line in text.splitlines() if line.startswith(("- ", "**"))]
    assert len(facts) == max(len(told), 3 if "stored" in question else 0)
    assert all(any(one in line for line in facts) for one in told)
    assert "Description of" not in text


def test_a_parameter_or_a_key_that_nothing_declares_is_not_told(scripts: Index) -> None:
    for question in ("what is the default of @Region?", "which tables reference Vouchers?"):
        assert "refers to" not in (text := scripts.ask(question, options=AskOptions()).text) and "- **@" not in text


def test_a_table_is_shown_by_its_statement_and_not_by_the_comment_before_it(tmp_path: Path) -> None:
    files = {"db/a.sql": "/******\n  Create Tables\n******/\nCREATE TABLE Parcels (Id int);\n"}
    with opened_index(tmp_path, files, "shop") as index:
        told = index.ask("which tables are there?").text
    assert "- **Parcels** in db/a.sql:4: `CREATE TABLE Parcels (Id int);`" in told  # and no schema that nobody wrote


@pytest.mark.parametrize("question", ["which sequences are there?", "which sequences does the schema have?"])
def test_sequences_are_listed(tmp_path: Path, question: str) -> None:
    files = {
        "db/a.sql": "REM numbers of parcels\nCREATE SEQUENCE parcel_seq;\nGRANT CREATE TABLE, CREATE VIEW TO shop;\n"
    }
    with opened_index(tmp_path, files, "shop") as index:
        assert index.ask(question).text.startswith("**1 sequence:**\n- **parcel_seq** in db/a.sql:2: `CREATE SEQUENCE")
        assert "view" not in index.ask("which views are there?").text.lower().partition("[chunk")[0]


def test_the_one_table_that_code_creates_is_listed_with_its_columns_where_it_does(tmp_path: Path) -> None:
    files = {
        "api/page.js": "function tally(client) {\n  client.query('SELECT colour FROM ballots');\n}\n",
        "worker/Store.cs": "namespace Polls;\n\npublic class Store\n{\n"
        "    public void Open(NpgsqlConnection connection)\n"
        "    {\n        var command = connection.CreateCommand();\n"
        '        command.CommandText = @"CREATE TABLE IF NOT EXISTS ballots (\n'
        '            colour VARCHAR(20) NOT NULL\n        )";\n        command.ExecuteNonQuery();\n    }\n}\n',
    }
    with opened_index(tmp_path, files, "polls") as index:
        assert "**ballots** in worker/Store.cs:8" in index.ask("which tables are there?").text
        assert "colour VARCHAR(20) NOT NULL" in index.ask("which columns does the ballots table have?").text
