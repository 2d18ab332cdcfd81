"""SQL in C#: which literals are statements, and what they read, write and execute."""

from __future__ import annotations

import pytest

from rag_assets.contracts.graph import Confidence

from .made import in_method, of_csharp, shown, symbols_of

DATABASE = """
CREATE TABLE dbo.Orders (Id int);
CREATE TABLE sales.Lines (Id int);
GO
CREATE PROCEDURE dbo.Order_Create AS SELECT 1
GO
CREATE PROCEDURE dbo.Order_ReadByName AS SELECT 1
GO
CREATE VIEW dbo.OpenOrders AS SELECT 1 AS x
"""
KNOWN = symbols_of(DATABASE)
ORDERS = "ReadsFrom dbo.Orders|TABLE"
CREATE = "Executes dbo.Order_Create|PROC"

STATEMENTS = [
    ("dapper", 'connection.Query<Order>("SELECT * FROM Orders WHERE Id = @id");', ORDERS),
    ("dapper-async", 'await c.QueryAsync<Order>(sql: "select Id from orders");', ORDERS),
    ("verbatim", 'c.Execute(@"\n  UPDATE [dbo].[Orders]\n  SET Name = ""x""");', "WritesTo dbo.Orders|TABLE"),
    ("raw", 'c.Execute("""\n  -- all of them\n  DELETE FROM dbo.Orders\n  """);', "WritesTo dbo.Orders|TABLE"),
    ("concatenated", 'c.Execute("INSERT INTO " + "Orders (Id) " + "VALUES (1)");', "WritesTo dbo.Orders|TABLE"),
    ("interpolated", 'c.Query($"SELECT * FROM Orders WHERE Id = {id}");', ORDERS),
    ("interpolated-raw", 'c.Query($$"""SELECT \'{x}\' FROM Orders WHERE Id = {{ id }}""");', ORDERS),
    ("interpolated-schema", 'c.Query($"SELECT * FROM [{schema}].[Orders]");', ORDERS),
    ("formatted", 'c.Query(string.Format("SELECT * FROM {0}.Orders", schema));', ORDERS),
    ("escaped", 'c.Query("SELECT \\"Id\\"\\r\\nFROM \\"Orders\\"");', ORDERS),
    ("variable", 'var sql = "SELECT Id FROM Orders"; c.Query(sql);', ORDERS),
    ("constant", 'const string sql = @"SELECT Id FROM Orders";', ORDERS),
    ("entity-framework", 'db.Orders.FromSqlRaw("SELECT * FROM dbo.OpenOrders");', "ReadsFrom dbo.OpenOrders|VIEW"),
    (
        "interpolated-parameters",
        'db.Database.ExecuteSql($"DELETE FROM Orders WHERE Id={id}");',
        "WritesTo dbo.Orders|TABLE",
    ),
    ("ado", 'new SqlCommand("SELECT COUNT(*) FROM Orders", connection);', ORDERS),
    ("command-text", 'command.CommandText = "SELECT Id FROM Orders";', ORDERS),
    ("migration", 'migrationBuilder.Sql("DROP TABLE Orders");', "SchemaChange dbo.Orders|TABLE"),
    ("created", 'c.Execute("CREATE TABLE IF NOT EXISTS Cache (id int)");', "SchemaChange dbo.Cache|TABLE_OR_VIEW"),
    ("joins", 'c.Query("SELECT 1 FROM Orders o JOIN sales.Lines l ON 1=1");', f"{ORDERS}; ReadsFrom sales.Lines|TABLE"),
    (
        "two-statements",
        'c.Query("SELECT 1 FROM Orders; SELECT 1 FROM sales.Lines");',
        f"{ORDERS}; ReadsFrom sales.Lines|TABLE",
    ),
    ("after-a-declaration", 'c.Query("DECLARE @x int = 1; SELECT 1 FROM Orders");', ORDERS),
    ("with", 'c.Query("WITH x AS (SELECT 1 AS y FROM Orders) SELECT y FROM x");', ORDERS),
    ("executed", 'c.Execute("EXEC dbo.Order_Create @id");', CREATE),
    ("procedure", 'c.Execute("dbo.Order_Create", null, commandType: CommandType.StoredProcedure);', CREATE),
    (
        "procedure-of-a-command",
        'var c = new SqlCommand("[dbo].[Order_Create]", x) { CommandType = CommandType.StoredProcedure };',
        CREATE,
    ),
    ("procedure-in-a-variable", 'var p = "Order_Create"; c.Execute(p, type: CommandType.StoredProcedure);', CREATE),
    ("procedure-of-a-schema", 'Run($"[{Schema}].[Order_Create]", CommandType.StoredProcedure);', CREATE),
    (
        "procedure-by-convention",
        'Run($"[{S}].[{Table}_ReadByName]", CommandType.StoredProcedure);',
        "Executes dbo.Order_ReadByName|PROC",
    ),
    ("name-of", 'c.Query($"SELECT * FROM {nameof(Model.Orders)}");', ORDERS),
    ("bulk-copy", 'copy.DestinationTableName = "dbo.Orders";', "WritesTo dbo.Orders|TABLE"),
    ("undeclared", 'c.Query("SELECT * FROM crm.People");', "ReadsFrom crm.People|TABLE_OR_VIEW"),
]


@pytest.mark.parametrize(("body", "expected"), [row[1:] for row in STATEMENTS], ids=[row[0] for row in STATEMENTS])
def test_statements(body: str, expected: str) -> None:
    found = shown(of_csharp(in_method(body), KNOWN))
    assert "; ".join(edge.removeprefix("csharp:Shop.Orders.Run()|METHOD ") for edge in found) == expected


PROSE = [
    ("prose", 'Show("Select one from the list");'),
    ("lower-case-prose", 'Show("select an item from the list");'),
    ("a-command-in-prose", 'Show("Update the set of orders");'),
    ("delete-in-prose", 'Show("Delete from cart");'),
    ("no-list", 'Show("SELECT FROM Orders");'),
    ("words", 'Show("Execute"); Show("Call us"); Show("Drop table tennis"); Show("With kind regards");'),
    ("prose-to-a-query", 'Query("Select an order");'),
    ("logged", 'logger.LogInformation("SELECT * FROM Orders");'),
    ("thrown", 'throw new InvalidOperationException("DELETE FROM Orders failed");'),
    ("commented", '// c.Query("SELECT * FROM Orders");\n/* c.Query("SELECT * FROM Orders"); */'),
    ("linq", "var x = from o in Orders select o; Orders.Select(o => o.Update()).Where(y);"),
    ("unknown-table", 'c.Query($"SELECT * FROM {table}"); c.Query("SELECT * FROM " + table);'),
    ("part-of-a-name", 'c.Query($"SELECT * FROM Orders{year}");'),
    ("document-store", 'var q = new QueryDefinition("SELECT * FROM c WHERE c.id = @id");'),
    ("management", 'new ManagementObjectSearcher("SELECT * FROM Win32_Process");'),
    ("unknown-procedure", 'c.Execute("dbo.Unknown", commandType: CommandType.StoredProcedure);'),
    ("a-name-without-procedures", 'Show("Order_Create");'),
    ("temporary", 'c.Execute("CREATE TEMP TABLE t (id int); INSERT INTO t SELECT 1; INSERT INTO #u SELECT 1");'),
]


@pytest.mark.parametrize("body", [row[1] for row in PROSE], ids=[row[0] for row in PROSE])
def test_what_is_no_sql_or_names_nothing(body: str) -> None:
    assert of_csharp(in_method(body), KNOWN) == []


PREFIXED = symbols_of(
    "CREATE TABLE be_Posts (Id int); CREATE TABLE be_Settings (Id int); CREATE TABLE be_QuickSettings (Id int);"
    "CREATE TABLE Archive_Old (Id int);"
)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('c.CommandText = string.Format("INSERT INTO {0}Posts (Id) VALUES (1)", p);', ["WritesTo dbo.be_Posts|TABLE"]),
        ('c.Query($"SELECT * FROM {prefix}settings");', ["ReadsFrom dbo.be_Settings|TABLE"]),
        ('c.Query("SELECT * FROM " + prefix + "QuickSettings");', ["ReadsFrom dbo.be_QuickSettings|TABLE"]),
        ('c.Query($"SELECT * FROM {table}_Old");', []),
        ('c.Query($"SELECT * FROM {prefix}ts");', []),
        ('c.Query($"SELECT * FROM {prefix}Comments");', []),
    ],
    ids=["format", "of-several-the-shortest", "concatenated", "no-prefix-of-tables", "short", "undeclared"],
)
def test_a_table_behind_a_prefix_that_only_the_run_knows_is_probable(body: str, expected: list[str]) -> None:
    found = of_csharp(in_method(body), PREFIXED)
    assert {edge.confidence for edge in found} <= {Confidence.PROBABLE}
    assert [edge.removeprefix("csharp:Shop.Orders.Run()|METHOD ") for edge in shown(found)] == expected


CONSTANTS = """\
namespace Shop;
public class Orders
{
    private const string Table = "dbo." + "Orders";
    private static readonly string All = $"SELECT * FROM {Table}";
    private string Schema { get; } = "sales";

    public string Name => "x";

    public void Read() => c.Query(All);

    public void Write()
    {
        c.Execute("DELETE FROM " + Table);
        c.Query($"SELECT 1 FROM {Schema}.Lines");
    }

    public class Nested { void Read() { var All = 1; Use(All); } }
}
"""


def test_constants_of_the_type_are_put_in_and_followed() -> None:
    assert shown(of_csharp(CONSTANTS, KNOWN)) == [
        "csharp:Shop.Orders.All|PROPERTY ReadsFrom dbo.Orders|TABLE",
        "csharp:Shop.Orders.Read()|METHOD ReadsFrom dbo.Orders|TABLE",
        "csharp:Shop.Orders.Write()|METHOD ReadsFrom sales.Lines|TABLE",
        "csharp:Shop.Orders.Write()|METHOD WritesTo dbo.Orders|TABLE",
    ]


def test_lines_are_those_of_the_name_in_the_literal_and_of_the_use_of_a_constant() -> None:
    lines = {(edge.source, edge.relation.value): edge.line for edge in of_csharp(CONSTANTS, KNOWN)}
    assert lines["csharp:Shop.Orders.All|PROPERTY", "ReadsFrom"] == 5
    assert lines["csharp:Shop.Orders.Read()|METHOD", "ReadsFrom"] == 10
    text = in_method('c.Execute(@"\nSELECT\n  ""x""\nFROM\n  Orders");\nc.Query("SELECT 1 " +\n  "FROM sales.Lines");')
    assert {edge.target: edge.line for edge in of_csharp(text, KNOWN)} == {
        "dbo.Orders|TABLE": 10,
        "sales.Lines|TABLE": 12,
    }


def test_the_confidence_of_a_guessed_schema_is_lower() -> None:
    (sure,) = of_csharp(in_method('c.Execute("EXEC dbo.Order_Create");'), KNOWN)
    (unsure,) = of_csharp(in_method('c.Execute($"EXEC {schema}.Order_Create");'), KNOWN)
    assert (sure.confidence, unsure.confidence) == (Confidence.RESOLVED, Confidence.PROBABLE)


def test_top_level_statements_count_to_the_file() -> None:
    text = 'using Dapper;\nc.Query("SELECT * FROM Orders");\n'
    assert shown(of_csharp(text, KNOWN)) == ["FILE ReadsFrom dbo.Orders|TABLE"]


BAD = [
    ("unclosed", 'c.Query("SELECT * FROM Orders'),
    ("unclosed-then-more", 'var a = "oops;\nc.Query("SELECT * FROM Orders");'),
    ("unclosed-verbatim", 'c.Query(@"SELECT * FROM Orders'),
    ("unclosed-raw", 'c.Query("""SELECT * FROM Orders'),
    ("unclosed-hole", 'c.Query($"SELECT * FROM {x");'),
    ("only-quotes", 'c.Query("""""""""");\'"\';'),
    ("cut-escape", 'c.Query("SELECT \\'),
    ("holes-in-holes", 'c.Query($"SELECT {f($"{g("}")}")} FROM Orders");'),
]


@pytest.mark.rule("A13")
@pytest.mark.parametrize("body", [row[1] for row in BAD], ids=[row[0] for row in BAD])
def test_broken_code_is_read_as_far_as_it_goes(body: str) -> None:
    found = of_csharp(in_method(body), KNOWN)
    assert {edge.target for edge in found} <= {"dbo.Orders|TABLE"}
    assert found == of_csharp(in_method(body), KNOWN)
