"""SQL scripts: one segment per object, in T-SQL and in the other dialects."""

from __future__ import annotations

import pytest

from rag_assets.contracts.segment import ParseHealth
from rag_assets.languages.sql.statements import read_header, split_name, without_commands
from rag_assets.segmentation import segment_file
from rag_assets_tests.segmentation.outline import check_invariants, member, named, outline, texts


def segments(text: str) -> list[tuple[str, str]]:
    """(kind, symbol) of each segment."""
    file = segment_file(text, "db/script.sql", "sql")
    check_invariants(text, file)
    return [(segment.kind, segment.symbol) for segment in file.segments]


@pytest.mark.parametrize(
    ("header", "kind", "symbol"),
    [
        ("CREATE TABLE Orders (a int)", "table", "dbo.Orders"),
        ("create table [sales].[Order Line] (a int)", "table", "sales.Order Line"),
        ('CREATE TABLE "s"."a ""b""" (a int)', "table", 's.a "b"'),
        ("CREATE TABLE `shop`.`orders` (a int)", "table", "shop.orders"),
        ("CREATE TABLE IF NOT EXISTS orders (a int)", "table", "dbo.orders"),
        ("CREATE UNLOGGED TABLE orders (a int)", "table", "dbo.orders"),
        ("CREATE TABLE Shop.dbo.Orders (a int)", "table", "Shop.dbo.Orders"),
        ("CREATE TABLE Shop..Orders (a int)", "table", "Shop.dbo.Orders"),
        ("CREATE PROC [a..b].[c ...] AS SELECT 1", "procedure", "a..b.c ..."),
        ("ALTER TABLE ONLY orders ADD a int", "table", "dbo.orders"),
        ("CREATE OR ALTER VIEW v AS SELECT 1", "view", "dbo.v"),
        ("CREATE MATERIALIZED VIEW v AS SELECT 1", "view", "dbo.v"),
        ("CREATE PROC p AS SELECT 1", "procedure", "dbo.p"),
        ("ALTER PROCEDURE p AS SELECT 1", "procedure", "dbo.p"),
        ("CREATE DEFINER=`a`@`b` PROCEDURE p() SELECT 1", "procedure", "dbo.p"),
        ("CREATE OR REPLACE FUNCTION f() RETURNS int AS 'x' LANGUAGE sql", "function", "dbo.f"),
        ("CREATE TRIGGER t ON o AFTER INSERT AS PRINT 1", "trigger", "dbo.t"),
        ("CREATE TYPE Ids AS TABLE (Id int)", "type", "dbo.Ids"),
        ("CREATE SEQUENCE s.n START WITH 1", "sequence", "s.n"),
        ("CREATE SYNONYM a FOR b.c", "synonym", "dbo.a"),
        ("CREATE ALGORITHM = MERGE DEFINER=root@localhost SQL SECURITY INVOKER VIEW v AS SELECT 1", "view", "dbo.v"),
        ("CREATE UNIQUE NONCLUSTERED INDEX ix ON sales.o (a)", "index", "sales.o.ix"),
        ("CREATE INDEX CONCURRENTLY IF NOT EXISTS ix ON o (a)", "index", "dbo.o.ix"),
        ("CREATE INDEX ON o (a)", "index", "dbo.o.index"),
        ("CREATE TABLE @extschema@.orders (a int)", "table", "dbo.orders"),
        ("CREATE TABLE [$(Shop)].[sales].[Orders] (a int)", "table", "sales.Orders"),
        ("CREATE OR REPLACE VIEW ${schema}.v AS SELECT 1", "view", "dbo.v"),
        ("CREATE INDEX ix ON {{ schema }}.o (a)", "index", "dbo.o.ix"),
    ],
)
def test_kinds_and_names(header: str, kind: str, symbol: str) -> None:
    """A04: one segment per object."""
    assert segments(header) == [(kind, symbol)]


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE #temp (a int)",
        "CREATE PROCEDURE tempdb..#temp AS SELECT 1",
        "CREATE TEMPORARY TABLE temp (a int)",
        "CREATE LOGIN x WITH PASSWORD = 'y'",
        "ALTER INDEX ix ON o REBUILD",
        "ALTER DATABASE x SET RECOVERY SIMPLE",
        "SELECT 'CREATE TABLE a (b int)'",
        "-- CREATE TABLE a (b int)",
        "/* CREATE TABLE a\n/* nested */ CREATE TABLE b */ SELECT 1",
        'SELECT "\nCREATE TABLE a (b int)\n"',
        "SELECT [\nCREATE",
        "CREATE",
        "CREATE TABLE",
    ],
)
def test_what_is_no_object_is_the_script(text: str) -> None:
    assert [kind for kind, _ in segments(text)] == ["script"]


TSQL = """USE [Shop]
GO
SET ANSI_NULLS ON
GO
-- ====================
-- Description: Orders of a customer
-- ====================
CREATE TABLE [dbo].[Order](
\t[Id] [int] IDENTITY(1,1) NOT NULL, -- the number
\t[CustomerId] [int] NOT NULL REFERENCES dbo.Customer(Id), Total decimal(10, 2) NOT NULL DEFAULT (0),
\tKey NVARCHAR(50), /* of the warehouse */ Sum AS (Total * 2),
 CONSTRAINT [PK_Order] PRIMARY KEY CLUSTERED ([Id] ASC)
) ON [PRIMARY]
GO
ALTER TABLE dbo.[Order] ADD CONSTRAINT FK_C FOREIGN KEY (CustomerId) REFERENCES Customer(Id)
ON DELETE
SET NULL
GO
CREATE INDEX IX_Total ON [Order] (Total)
GO
/* Makes an invoice; it's quick */
CREATE OR ALTER PROCEDURE dbo.Invoice_Create
  @OrderId int, @Note NVARCHAR(MAX) = N'a, b', -- a note
  @New AS bigint OUTPUT
AS
BEGIN
  SET NOCOUNT ON;
  CREATE TABLE #t (a int);
  INSERT INTO Invoice SELECT 'GO
CREATE TABLE x' FROM [Order] WHERE Id = @OrderId;
END
GO
INSERT INTO Setting VALUES (1)
INSERT INTO Setting VALUES (2)
GO
CREATE VIEW Open_Orders AS
SELECT a, CASE WHEN 1=1 THEN 2
END AS b FROM dbo.[Order]
GO
CREATE FUNCTION fn(@a int = 1) RETURNS int AS BEGIN RETURN 1; END
go
CREATE SEQUENCE s.Numbers START WITH 1
CREATE SYNONYM Foo FOR Other.dbo.Foo
"""


def test_a_tsql_script() -> None:
    file = segment_file(TSQL, "db/script.sql", "sql")
    check_invariants(TSQL, file)
    assert outline(file) == [
        "table dbo.Order",
        "  property Id",
        "  property CustomerId",
        "  property Total",
        "  property Key",
        "  property Sum",
        "procedure dbo.Invoice_Create",
        "script db/script.sql",
        "  statements lines 33-34",
        "view dbo.Open_Orders",
        "function dbo.fn",
        "sequence s.Numbers",
        "synonym dbo.Foo",
    ]
    assert file.health is ParseHealth.OK


def test_a_table_takes_its_comment_and_the_statements_on_it_that_follow() -> None:
    table = named(segment_file(TSQL, "db/script.sql", "sql"), "Order")
    source = table.span.slice(TSQL)
    assert source.startswith("-- ====")
    assert source.endswith("CREATE INDEX IX_Total ON [Order] (Total)")
    assert table.doc == "Description: Orders of a customer"
    assert table.signature == "CREATE TABLE [dbo].[Order]"
    assert table.namespace == "dbo"


def test_columns_of_a_table() -> None:
    table = named(segment_file(TSQL, "db/script.sql", "sql"), "Order")
    assert [(column.name, column.type) for column in table.members] == [
        ("Id", "int"),
        ("CustomerId", "int"),
        ("Total", "decimal(10, 2)"),
        ("Key", "NVARCHAR(50)"),
        ("Sum", ""),
    ]
    assert member(table, "Id").modifiers == ("IDENTITY", "NOT NULL")
    assert member(table, "Id").doc == "the number"
    assert member(table, "CustomerId").attributes == ("REFERENCES dbo.Customer(Id)",)
    assert texts(TSQL, table)[2] == "Total decimal(10, 2) NOT NULL DEFAULT (0)"


def test_parameters_of_a_procedure() -> None:
    procedure = named(segment_file(TSQL, "db/script.sql", "sql"), "Invoice_Create")
    assert [(p.name, p.type, p.default, p.modifiers) for p in procedure.parameters] == [
        ("@OrderId", "int", "", ()),
        ("@Note", "NVARCHAR(MAX)", "N'a, b'", ()),
        ("@New", "bigint", "", ("output",)),
    ]
    assert procedure.doc == "Makes an invoice; it's quick"
    assert procedure.signature.endswith("@Note NVARCHAR(MAX) = N'a, b', @New AS bigint OUTPUT")
    assert procedure.span.slice(TSQL).endswith("END")


POSTGRES = """CREATE TABLE shop.orders (
  id serial PRIMARY KEY, /* the number */
  at timestamp with time zone NOT NULL,
  tags text[], name character varying(20),
  note text DEFAULT E'a;b\\')'
);
CREATE INDEX ON shop.orders (at);
CREATE FUNCTION shop.total(o integer, OUT x numeric DEFAULT 3) RETURNS numeric AS $body$
BEGIN
  CREATE TABLE t AS SELECT 1;
  RETURN '$$';
END;
$body$ LANGUAGE plpgsql;
CREATE TRIGGER t AFTER INSERT ON shop.orders FOR EACH ROW EXECUTE FUNCTION f();
CREATE FUNCTION g() RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; SELECT 2; END;
CREATE VIEW v AS SELECT 1;
INSERT INTO a VALUES ('x');
"""


def test_a_postgres_script() -> None:
    file = segment_file(POSTGRES, "db/script.sql", "sql")
    check_invariants(POSTGRES, file)
    assert [(s.kind, s.symbol, s.span.line_start, s.span.line_end) for s in file.segments] == [
        ("table", "shop.orders", 1, 7),
        ("function", "shop.total", 8, 13),
        ("trigger", "dbo.t", 14, 14),
        ("function", "dbo.g", 15, 15),
        ("view", "dbo.v", 16, 16),
        ("script", "db/script.sql", 17, 17),
    ]
    orders, total = named(file, "orders"), named(file, "total")
    assert [column.type for column in orders.members] == [
        *("serial", "timestamp with time zone", "text[]", "character varying(20)", "text"),
    ]
    assert [(p.name, p.type, p.default, p.modifiers) for p in total.parameters] == [
        ("o", "integer", "", ()),
        ("x", "numeric", "3", ("out",)),
    ]


MYSQL = """CREATE TABLE `users` (`id` int NOT NULL AUTO_INCREMENT, PRIMARY KEY (`id`), KEY `ix` (`id`));
DELIMITER $$
CREATE PROCEDURE p(IN a INT)
BEGIN
  IF a THEN SELECT 1; END IF;
  SELECT 2;
END$$
CREATE PROCEDURE q() BEGIN SELECT 1; END $$
DELIMITER ;
CREATE TRIGGER tr BEFORE INSERT ON users FOR EACH ROW BEGIN
  UPDATE x SET y = 1;
END;
"""


def test_a_mysql_script_with_its_own_delimiter() -> None:
    found = [line for line in outline(segment_file(MYSQL, "a.sql", "sql")) if "statements" not in line]
    assert found == [
        "table dbo.users",
        "  property id",
        "script a.sql",
        "procedure dbo.p",
        "procedure dbo.q",
        "trigger dbo.tr",
    ]
    trigger = named(segment_file(MYSQL, "a.sql", "sql"), "tr")
    assert trigger.span.slice(MYSQL).endswith("UPDATE x SET y = 1;\nEND;")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CREATE TABLE a (b int)\nCREATE TABLE c (d int)", ["dbo.a", "dbo.c"]),
        ("CREATE TABLE a (b int); CREATE TABLE c (d int);", ["dbo.a", "dbo.c"]),
        ("CREATE TABLE a (b int\nCREATE TABLE c (d int)", ["dbo.a", "dbo.c"]),
        ("CREATE PROC p AS SELECT @x\nCREATE PROC q AS SELECT 1", ["dbo.p", "dbo.q"]),
        ("CREATE VIEW v AS\nSELECT 1\nGRANT SELECT ON v TO x", ["dbo.v", "db/script.sql"]),
        ("IF NOT EXISTS (SELECT 1)\nBEGIN\n  CREATE TABLE a (b int)\nEND", ["db/script.sql", "dbo.a"]),
        (
            "CREATE TABLE a (b int)\n  GO  \nCREATE INDEX i ON a (b)\nGO 5\nCREATE INDEX i ON c (b)",
            ["dbo.a", "dbo.c.i"],
        ),
        ("IF OBJECT_ID('p') IS NOT NULL\nBEGIN\n DROP PROCEDURE p\nEND\nGO\nCREATE PROC p AS SELECT 1", ["dbo.p"]),
        ("ALTER TABLE a\nDROP COLUMN b\nALTER TABLE c\nALTER COLUMN d int", ["dbo.a", "dbo.c"]),
    ],
    ids=[
        *("no-separator", "one-line", "lost-parenthesis", "routine-after-routine", "after-view", "guarded"),
        *("go-with-count", "drop-guard", "alter-clauses"),
    ],
)
def test_where_objects_end(text: str, expected: list[str]) -> None:
    assert [symbol for _, symbol in segments(text)] == expected


@pytest.mark.parametrize(
    ("text", "line"),
    [("SELECT 1\nSELECT 'open\nCREATE TABLE a (b int)", 2), ("/* open\nCREATE TABLE a (b int)", 1)],
    ids=["string", "comment"],
)
def test_an_unclosed_string_or_comment_is_reported(text: str, line: int) -> None:
    file = segment_file(text, "a.sql", "sql")
    assert (file.health, file.detail) == (ParseHealth.PARTIAL, f"unclosed string or comment at line {line}")
    assert [segment.kind for segment in file.segments] == ["script"]


@pytest.mark.parametrize("go", ["GO", "  go 5 ;", "Go -- next"])
@pytest.mark.parametrize(
    "damaged",
    ["PRINT 'open", "PRINT 'it's'", "/* open", 'SELECT "open', "CREATE TABLE b (x int) /* /* */"],
    ids=["string", "apostrophe", "comment", "quoted", "nested-comment"],
)
def test_what_never_ends_does_so_in_its_batch(damaged: str, go: str) -> None:
    text = f"CREATE TABLE a (x int)\nGO\n{damaged}\n{go}\nCREATE PROC p AS PRINT 'x'\nGO\nCREATE VIEW v AS SELECT 1"
    file = segment_file(text, "a.sql", "sql")
    check_invariants(text, file)
    assert (file.health, file.detail) == (ParseHealth.PARTIAL, "unclosed string or comment at line 3")
    assert {"dbo.a", "dbo.p", "dbo.v"} <= {segment.symbol for segment in file.segments}


@pytest.mark.parametrize("name", ["[b]]c]", '[b]]1"e]', "[a'b]", "[x]]]"])
def test_brackets_in_quoted_names_hide_nothing(name: str) -> None:
    text = f"CREATE TABLE {name} (x int)\nGO\nCREATE VIEW v AS SELECT 1"
    assert [segment.symbol for segment in segment_file(text, "a.sql", "sql").segments][1:] == ["dbo.v"]


@pytest.mark.parametrize(
    "text", ["CREATE PROC AS SELECT 1", "CREATE VIEW $(v) AS SELECT 1", "CREATE TRIGGER ON t FOR x"]
)
def test_an_object_without_a_name_is_none(text: str) -> None:
    assert [segment.kind for segment in segment_file(text, "a.sql", "sql").segments] == ["script"]


def test_spans_are_exact_for_windows_lines_and_wide_characters() -> None:
    text = "-- é𝄞\r\nCREATE TABLE [Größe] (\r\n  [Maß] int, -- ü\r\n  b int\r\n)\r\nGO\r\nPRINT 'ß'\r\n"
    file = segment_file(text, "a.sql", "sql")
    check_invariants(text, file)
    table = file.segments[0]
    assert table.span.slice(text) == text[: text.index("\r\nGO")]
    assert texts(text, table) == ["[Maß] int", "b int"]
    assert texts(text, file.segments[1]) == ["PRINT 'ß'"]


def test_a_long_run_of_statements_is_cut() -> None:
    text = "CREATE TABLE a (b int)\nGO\n" + "INSERT INTO a VALUES (1)\n" * 2_000
    script = segment_file(text, "a.sql", "sql").segments[1]
    assert len(script.members) > 5
    assert {found.kind for found in script.members} == {"statements"}


@pytest.mark.parametrize(
    "text",
    [
        *("'" * 200_001, "/*" * 100_000, "(" * 200_000, "[a" * 100_000, "CREATE TABLE " * 20_000, "$a$" * 100_000),
        *("CREATE TABLE a (" + "b int,\n" * 20_000, "DELIMITER //\n" * 20_000, "create function f(" + "(" * 100_000),
        *("CREATE" + " " * 200_000 + "TABLE a (b int)", "-- c\n" * 50_000 + "CREATE TABLE a (b int)"),
        "PRINT 1\n" + "GO\n" * 100_000,
        "CREATE PROCEDURE a AS " + "SET a " * 20_000 + "\n" * 100_000 + "/* a" + "-- b\n" * 20_000,
        "-- name: a\n" * 20_000 + "--" + " " * 100_000 + "name: ",
    ],
    ids=lambda text: text[:14],
)
def test_hostile_scripts_stay_linear(text: str) -> None:
    check_invariants(text, segment_file(text, "a.sql", "sql"))


def test_names_are_split_at_dots_outside_of_quotes() -> None:
    assert split_name("[a.b].[c]]d]") == ("a.b", "c]d")
    assert read_header("CREATE TABLE a", 0) is not None
    assert read_header("DROP TABLE a", 0) is None


def test_the_rows_of_a_dump_hide_nothing() -> None:
    """A quote in the data of PostgreSQL's COPY opens no string."""
    text = "COPY t (a) FROM stdin;\nO'Brien\n\\.\n\nCREATE TABLE u (a int);\n"
    found = segment_file(text, "a.sql", "sql")
    assert found.health is ParseHealth.OK
    assert [segment.symbol for segment in found.segments if segment.kind == "table"] == ["dbo.u"]


SQLPLUS = """\
SET FEEDBACK 1
SET ECHO OFF

REM **********
REM rows may change during business hours

CREATE OR REPLACE PROCEDURE secure_dml
IS
BEGIN
  NULL;
END secure_dml;
/

PROMPT *** it's done
GRANT CREATE TABLE,
      CREATE VIEW
  TO co;
UPDATE parcels
SET FEEDBACK = 1;
"""


def test_commands_of_the_client_of_oracle_are_no_statements() -> None:
    found = segment_file(SQLPLUS, "hr_code.sql", "sql").segments
    procedure, *others = [one for one in found if one.kind != "script"]
    assert (procedure.name, procedure.span.line_start, others) == ("secure_dml", 4, [])
    assert "rows may change during business hours" in procedure.doc and "FEEDBACK" not in procedure.signature
    assert without_commands(SQLPLUS).endswith("UPDATE parcels\nSET FEEDBACK = 1;\n")
    assert len(without_commands(SQLPLUS)) == len(SQLPLUS) and "it's" not in without_commands(SQLPLUS)


@pytest.mark.parametrize(
    ("first", "second"),
    [("-- name: GetBoat :one", "-- name: AddBoat :exec"), ("-- :name get-boat :? :1", "--name: add_boat!")],
)
def test_queries_that_code_calls_by_name_are_apart(first: str, second: str) -> None:
    text = (
        f"SET search_path = harbour;\nSELECT 0;\n\n{first}\nSELECT * FROM boats\nWHERE id = ?;\n\n{second}\n"
        "INSERT INTO boats (id) VALUES (?);\nCREATE TABLE boats (id int);\nSELECT 1;\n"
    )
    file = segment_file(text, "db/boats.sql", "sql")
    check_invariants(text, file)
    told = [
        (one.name.lower().replace("-", "").replace("_", ""), one.kind, one.span.line_start) for one in file.segments
    ]
    assert told == [("boats", "script", 1), ("getboat", "script", 4), ("addboat", "script", 8), ("boats", "table", 10)]


@pytest.mark.parametrize(
    ("body", "doc"),
    [
        (
            "AS\nBEGIN\n  SET NOCOUNT ON;\n  /* Moves boats to the quay by night. */\n  SELECT 1;\nEND",
            "Moves boats to the quay by night.",
        ),
        (
            "WITH RECOMPILE\nAS\n-- Moves boats to\n-- the quay by night.\nSELECT 1;",
            "Moves boats to\nthe quay by night.",
        ),
        ("AS\nBEGIN\n  /* Versions */\n  SELECT 1;\nEND", ""),
        ("AS\nBEGIN\n  SET @a = 1;\n  /* Moves boats to the quay by night. */\nEND", ""),
    ],
)
def test_a_comment_that_a_body_begins_with_tells_what_a_procedure_is_for(body: str, doc: str) -> None:
    (found,) = segment_file(f"CREATE PROCEDURE dbo.Move @a int\n{body}\nGO\n", "db/move.sql", "sql").segments
    assert found.doc == doc
