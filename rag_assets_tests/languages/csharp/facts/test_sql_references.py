"""What SQL reads, writes, executes and uses, over dialects and styles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.descriptions.kinds.sql_object import SqlReferences, sql_references
from rag_assets.languages.sql.columns import SqlForeignKey
from rag_assets.languages.sql.reference_reader import is_procedural

# name, text, reads, writes, executes, uses
STATEMENTS = [
    ("select", "SELECT * FROM a.T AS t JOIN [b].[U] u ON u.x = t.x", "a.T b.U", "", "", ""),
    ("comma-list", "SELECT 1 FROM a.T t, U, (SELECT 2 FROM a.V) v", "a.T dbo.U a.V", "", "", ""),
    (
        "after-a-condition",
        "SELECT 1 FROM a.T t JOIN a.U u ON f(t.x, 1) = u.x AND 1=1, a.V v",
        "a.T a.U a.V",
        "",
        "",
        "",
    ),
    (
        "after-nested-joins",
        "SELECT 1 FROM a.T JOIN a.U JOIN a.V ON 1=1 ON 2=2, a.W ORDER BY x, y",
        "a.T a.U a.V a.W",
        "",
        "",
        "",
    ),
    (
        "after-a-derived-table",
        "SELECT 1 FROM (SELECT 1 FROM a.T JOIN a.U ON 1=1, a.V) v JOIN a.W ON 1=1, a.X",
        "a.T a.U a.V a.W a.X",
        "",
        "",
        "",
    ),
    (
        "no-source-after-a-condition",
        "SELECT 1 FROM a.T JOIN a.U ON a=b GROUP BY x, y; SELECT (SELECT 1 FROM a.T JOIN a.U ON a=b), y",
        "a.T a.U",
        "",
        "",
        "",
    ),
    ("after-using-columns", "SELECT 1 FROM a.T JOIN a.U USING (x, y), a.V", "a.T a.U a.V", "", "", ""),
    ("join-in-an-update", "UPDATE a.T JOIN a.U ON x = y SET p = 1, q = 2", "a.U", "a.T", "", ""),
    (
        "options-that-are-on",
        "SELECT 1 FROM a.T JOIN a.U USING (x); CREATE TABLE a.V (i int) WITH (P = ON, Q = ON)",
        "a.T a.U",
        "",
        "",
        "",
    ),
    ("three-parts", "SELECT 1 FROM db.dbo.T, db..U", "db.dbo.T db.U", "", "", ""),
    ("quoted-dots", 'SELECT 1 FROM [a].[T.x] JOIN "b"."U"', "a.T.x b.U", "", "", ""),
    ("insert-select", "INSERT INTO a.T (x, y) SELECT x, y FROM a.U", "a.U", "a.T", "", ""),
    ("insert-without-into", "INSERT a.T VALUES (1)", "", "a.T", "", ""),
    ("update-alias", "UPDATE t SET x = 1 FROM a.T AS t JOIN a.U u ON 1=1", "a.T a.U", "a.T", "", ""),
    ("update-alias-after-case", "UPDATE t SET x = CASE WHEN 1=1 THEN 2 END FROM a.T t", "a.T", "a.T", "", ""),
    ("update-after-a-setting", "SET NOCOUNT ON UPDATE a.T SET x = 1", "", "a.T", "", ""),
    ("delete-alias", "DELETE d FROM a.T d WHERE 1=1", "a.T", "a.T", "", ""),
    ("delete-from", "DELETE FROM a.T WHERE x IN (SELECT x FROM a.U)", "a.U", "a.T", "", ""),
    ("delete-top", "DELETE TOP (10) FROM a.T", "", "a.T", "", ""),
    ("merge", "MERGE INTO a.T AS t USING a.S AS s ON 1=1 WHEN MATCHED THEN UPDATE SET x = 1;", "a.S", "a.T", "", ""),
    ("truncate", "TRUNCATE TABLE a.T", "", "a.T", "", ""),
    ("select-into", "SELECT * INTO a.T FROM a.U", "a.U", "a.T", "", ""),
    ("output-into", "DELETE a.T OUTPUT deleted.* INTO a.Log", "", "a.T a.Log", "", ""),
    ("exec", "EXEC a.P @x = 1; EXECUTE @r = P2; CALL a.P3(1)", "", "", "a.P dbo.P2 a.P3", ""),
    ("exec-dynamic", "EXEC (@sql); EXEC sp_executesql @sql; WITH EXECUTE AS OWNER", "", "", "", ""),
    ("function-in-expression", "SELECT a.Total(o.Id) FROM a.T o WHERE dbo.Ok(1) = 1", "a.T", "", "a.Total dbo.Ok", ""),
    ("table-function", "SELECT 1 FROM a.Orders(1) f CROSS APPLY a.Lines(f.Id) l", "", "", "a.Orders a.Lines", ""),
    ("xml-method", "SELECT x.value('.', 'int') FROM a.T CROSS APPLY c.nodes('/a') AS n(x)", "a.T", "", "", ""),
    ("system-table-function", "SELECT 1 FROM OPENJSON(@x) j JOIN STRING_SPLIT(@a, ',') s ON 1=1", "", "", "", ""),
    (
        "cte",
        "WITH a (x) AS (SELECT 1 FROM s.T), b AS (SELECT * FROM a) SELECT * FROM b JOIN a ON 1=1",
        "s.T",
        "",
        "",
        "",
    ),
    (
        "recursive-cte",
        "WITH RECURSIVE r AS (SELECT 1 FROM s.T UNION SELECT 1 FROM r) SELECT * FROM r",
        "s.T",
        "",
        "",
        "",
    ),
    ("hints", "SELECT 1 FROM a.T WITH (NOLOCK) JOIN a.U (NOLOCK) ON 1=1", "a.T a.U", "", "", ""),
    ("temporary", "SELECT 1 INTO #t FROM ##g JOIN @v v ON 1=1; INSERT INTO #t SELECT 1", "", "", "", ""),
    ("trigger-rows", "SELECT 1 FROM inserted i JOIN deleted d ON 1=1", "", "", "", ""),
    ("system", "SELECT 1 FROM sys.objects, INFORMATION_SCHEMA.TABLES, db.sys.tables", "", "", "", ""),
    (
        "comments-and-strings",
        "-- FROM a.X\n/* FROM a.Y */ SELECT 'FROM a.Z', N'it''s FROM a.W' FROM a.T",
        "a.T",
        "",
        "",
        "",
    ),
    ("comment-at-the-end", "SELECT 1 FROM a.T -- FROM a.X", "a.T", "", "", ""),
    ("backslash-in-a-string", r"SELECT 'C:\' FROM a.T", "a.T", "", "", ""),
    (
        "extract",
        "SELECT EXTRACT(day FROM d), TRIM(BOTH ' ' FROM n) FROM a.T WHERE x IS DISTINCT FROM y",
        "a.T",
        "",
        "",
        "",
    ),
    ("fetch", "FETCH NEXT FROM cur INTO @x", "", "", "", ""),
    ("sequence", "SELECT NEXT VALUE FOR a.Numbers", "", "", "", "a.Numbers"),
    ("user-type", "DECLARE @t a.Lines; DECLARE @u AS a.Lines", "", "", "", "a.Lines"),
    (
        "postgres-upsert",
        "INSERT INTO a.T AS t (x) VALUES (1) ON CONFLICT DO UPDATE SET x = 2 RETURNING x",
        "",
        "a.T",
        "",
        "",
    ),
    ("postgres-delete-using", "DELETE FROM ONLY a.T USING a.U WHERE 1=1", "a.U", "a.T", "", ""),
    ("mysql", "INSERT IGNORE INTO `a`.`T` VALUES (1); UPDATE LOW_PRIORITY a.U SET x = 1", "", "a.T a.U", "", ""),
    ("grants", "GRANT SELECT, INSERT, UPDATE, DELETE ON a.T TO x", "", "", "", ""),
    ("for-update", "SELECT 1 FROM a.T FOR UPDATE OF x", "a.T", "", "", ""),
    ("derived-table-in-a-list", "SELECT 1 FROM (SELECT 1 FROM a.T) t (x, y), a.U u", "a.T a.U", "", "", ""),
    (
        "joins-in-parentheses",
        "SELECT 1 FROM (a.T t INNER JOIN a.U u ON 1=1) LEFT JOIN a.V ON 1=1",
        "a.T a.U a.V",
        "",
        "",
        "",
    ),
    ("using-columns", "DELETE FROM a.T; SELECT 1 FROM a.T JOIN a.U USING (id)", "a.T a.U", "a.T", "", ""),
    ("using-of-an-index", "CREATE INDEX i ON a.T USING btree (x)", "", "", "", ""),
    ("using-of-a-conversion", "ALTER TABLE a.T ALTER COLUMN x TYPE int USING y::int", "", "", "", ""),
    ("alias-of-a-variable", "UPDATE u SET x = 1 FROM @users u JOIN a.T ON 1=1", "a.T", "", "", ""),
    ("alias-of-a-derived-table", "DELETE d FROM (SELECT 1 FROM a.T) AS d", "a.T", "", "", ""),
    ("update-of-an-expression", "WITH c AS (SELECT 1 FROM a.T) UPDATE c SET x = 1", "a.T", "a.T", "", ""),
    ("expression-ends", "WITH U AS (SELECT 1 FROM a.T) SELECT 1 FROM U; SELECT 1 FROM U", "a.T dbo.U", "", "", ""),
    ("temporary-by-word", "CREATE TEMPORARY TABLE t (a int); INSERT INTO t SELECT 1 FROM a.T", "a.T", "", "", ""),
    ("type-from", "CREATE TYPE a.Phone FROM varchar(20) NOT NULL", "", "", "", ""),
    ("revoke", "REVOKE SELECT ON a.T FROM reader; SELECT 1 FROM a.U", "a.U", "", "", ""),
    ("restore", "RESTORE DATABASE shop FROM DISK = 'x'; SELECT 1 FROM a.U", "a.U", "", "", ""),
    ("login", "CREATE LOGIN x FROM WINDOWS", "", "", "", ""),
    ("copy", "COPY a.T (x, y) FROM stdin; COPY a.U TO 'f'", "a.U", "a.T", "", ""),
    ("mysql-upsert", "INSERT INTO a.T VALUES (1) ON DUPLICATE KEY UPDATE x = 1", "", "a.T", "", ""),
    ("sqlite-replace", "INSERT OR REPLACE INTO a.T VALUES (1)", "", "a.T", "", ""),
    ("system-tables", "SELECT 1 FROM sysobjects, dbo.sysindexes, master..x, sqlite_master, pg_trigger", "", "", "", ""),
    ("statistics", "CREATE STATISTICS s ON a.T (x)", "", "", "", ""),
    ("drop", "DROP TABLE IF EXISTS a.T, a.U; DROP INDEX i ON a.T", "", "", "", ""),
    ("first-spelling-stays", "SELECT 1 FROM a.T; SELECT 1 FROM A.t", "a.T", "", "", ""),
    ("nothing", "", "", "", "", ""),
]


@pytest.mark.parametrize(
    ("text", "reads", "writes", "executes", "uses"), [row[1:] for row in STATEMENTS], ids=[row[0] for row in STATEMENTS]
)
def test_references(text: str, reads: str, writes: str, executes: str, uses: str) -> None:
    found = sql_references(text)
    assert [" ".join(f) for f in (found.reads, found.writes, found.executes, found.uses)] == [
        reads,
        writes,
        executes,
        uses,
    ]


def test_an_object_does_not_refer_to_itself() -> None:
    text = "CREATE PROCEDURE dbo.Walk AS BEGIN SELECT 1 FROM a.T; EXEC Walk; END"
    assert sql_references(text, "dbo.Walk") == SqlReferences(reads=("a.T",))


def test_select_into_a_variable_is_no_write() -> None:
    text = "SELECT sum(x) INTO total FROM a.T"
    assert sql_references(text, assigns_into=True).writes == ()
    assert sql_references(text).writes == ("dbo.total",)


PROCEDURAL = [
    ("dollar-quotes", "CREATE FUNCTION f() AS $$ BEGIN END $$", True),
    ("delimiter", "DELIMITER //\nCREATE PROCEDURE p() BEGIN END//", True),
    ("package", "CREATE PACKAGE BODY p AS v t.x%TYPE; END;", True),
    ("t-sql", "CREATE PROCEDURE p AS SELECT 1 INTO t", False),
]


@pytest.mark.parametrize(("text", "expected"), [row[1:] for row in PROCEDURAL], ids=[row[0] for row in PROCEDURAL])
def test_procedural_languages(text: str, expected: bool) -> None:
    assert is_procedural(text) is expected


ON = [
    ("trigger", "CREATE TRIGGER a.R ON a.T AFTER INSERT, UPDATE AS INSERT INTO a.Log SELECT 1 FROM inserted", "a.T"),
    ("postgres-trigger", "CREATE TRIGGER r BEFORE INSERT OR UPDATE ON a.T FOR EACH ROW EXECUTE FUNCTION a.f()", "a.T"),
    ("index", "CREATE UNIQUE NONCLUSTERED INDEX IX ON [a].[T] (x) INCLUDE (y)", "a.T"),
    ("dropped-trigger", "DROP TRIGGER a.R; SELECT 1 FROM a.T JOIN a.U ON a.T.x = a.U.x", ""),
    ("database-trigger", "CREATE TRIGGER R ON DATABASE FOR CREATE_TABLE AS SELECT 1", ""),
    ("join-is-no-target", "CREATE VIEW a.V AS SELECT 1 FROM a.T JOIN a.U ON a.T.x = a.U.x", ""),
]


@pytest.mark.parametrize(("text", "table"), [row[1:] for row in ON], ids=[row[0] for row in ON])
def test_the_table_of_triggers_and_indexes(text: str, table: str) -> None:
    assert sql_references(text).on_table == table


def test_synonyms() -> None:
    assert sql_references("CREATE SYNONYM dbo.S FOR [db].[a].[T]").synonym_for == "db.a.T"


KEYS = [
    ("column", "CREATE TABLE a.T (Id int, UId int NULL REFERENCES a.U (Id))", SqlForeignKey(("UId",), "a.U", ("Id",))),
    ("column-after-a-type", "CREATE TABLE T (p decimal(9, 2) REFERENCES U)", SqlForeignKey(("p",), "dbo.U")),
    (
        "constraint",
        "CREATE TABLE T (CONSTRAINT F FOREIGN KEY (a, b) REFERENCES a.U (x, y) ON UPDATE CASCADE ON DELETE RESTRICT)",
        SqlForeignKey(("a", "b"), "a.U", ("x", "y")),
    ),
    (
        "named-by-mysql",
        "ALTER TABLE T ADD FOREIGN KEY fk_t (a) REFERENCES U (x)",
        SqlForeignKey(("a",), "dbo.U", ("x",)),
    ),
    (
        "altered",
        "ALTER TABLE a.T ADD CONSTRAINT F FOREIGN KEY (a) REFERENCES a.T (b)",
        SqlForeignKey(("a",), "a.T", ("b",)),
    ),
]


@pytest.mark.parametrize(("text", "key"), [row[1:] for row in KEYS], ids=[row[0] for row in KEYS])
def test_foreign_keys(text: str, key: SqlForeignKey) -> None:
    found = sql_references(text)
    assert found.foreign_keys == (key,)
    assert (found.reads, found.writes, found.executes) == ((), (), ())


def test_primary_keys_of_several_columns() -> None:
    text = "CREATE TABLE T (a int, b int, CONSTRAINT P PRIMARY KEY CLUSTERED (a ASC, [b] DESC))"
    assert sql_references(text).primary_key == ("a", "b")
    assert sql_references("CREATE TABLE T (a int PRIMARY KEY)").primary_key == ()


WORDS = "FROM JOIN INTO UPDATE DELETE WITH AS ( ) , . a.b ' [ @x REFERENCES KEY ON FOR $$ CREATE -- /*"


@given(st.lists(st.sampled_from(WORDS.split())))
def test_any_text_is_read(words: list[str]) -> None:
    """A13: never an exception, and the same result each time (A07)."""
    text = " ".join(words)
    assert sql_references(text) == sql_references(text)
