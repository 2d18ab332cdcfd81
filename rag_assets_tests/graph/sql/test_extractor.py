"""Nodes and edges of SQL files."""

from __future__ import annotations

import pytest

from rag_assets.contracts.graph import Confidence, NodeType, Relation, declaration_key
from rag_assets.dependency_trace import trace
from rag_assets.graph.extract.sql_objects import objects_of

from .made import NOTHING, edges, file_of, nodes, of_csharp, of_sql, shown, symbols_of

OBJECTS = [
    ("table", "CREATE TABLE [dbo].[T] (i int)", "dbo.T|TABLE"),
    ("altered-table", "ALTER TABLE dbo.T ADD i int", "dbo.T|TABLE"),
    ("view", "CREATE OR ALTER VIEW a.V AS SELECT 1 AS x", "a.V|VIEW"),
    ("replaced-view", "CREATE OR REPLACE VIEW a.v AS SELECT 1 AS x;", "a.v|VIEW"),
    ("materialized-view", "CREATE MATERIALIZED VIEW a.v AS SELECT 1 AS x;", "a.v|VIEW"),
    ("procedure", "CREATE PROC P AS SELECT 1", "dbo.P|PROC"),
    ("altered-procedure", "ALTER PROCEDURE a.P AS SELECT 1", "a.P|PROC"),
    ("function", "CREATE FUNCTION a.F () RETURNS int AS BEGIN RETURN 1 END", "a.F|FUNC"),
    ("postgres-function", "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$;", "dbo.f|FUNC"),
    ("trigger", "CREATE TRIGGER a.R ON a.T AFTER INSERT AS SELECT 1", "a.R|TRIGGER"),
    ("type", "CREATE TYPE a.Ids AS TABLE (i int)", "a.Ids|TYPE"),
    ("sequence", "CREATE SEQUENCE a.S START WITH 1", "a.S|SEQUENCE"),
    ("synonym", "CREATE SYNONYM a.S FOR b.T", "a.S|SYNONYM"),
    ("mysql-table", "CREATE TABLE IF NOT EXISTS `T` (`i` int) ENGINE=InnoDB;", "dbo.T|TABLE"),
    ("sqlite-table", 'CREATE TABLE "T" ("i" INTEGER PRIMARY KEY);', "dbo.T|TABLE"),
    ("database", "CREATE TABLE shop.dbo.T (i int)", "shop.dbo.T|TABLE"),
    ("unusual-name", "CREATE TABLE [a].[b c|x].[d]]e,'f] (i int)", "a.b c|x.d]e,'f|TABLE"),
    ("unicode", "CREATE TABLE dbo.[Größe 表] (i int)", "dbo.Größe 表|TABLE"),
    ("in-a-literal", "IF 1 = 1 EXEC('CREATE VIEW a.V AS SELECT 1 AS x')", "a.V|VIEW"),
    ("in-a-variable", "DECLARE @s nvarchar(max) = N'CREATE TABLE a.T (i int)'; EXEC sp_executesql @s", "a.T|TABLE"),
]


@pytest.mark.rule("D20")
@pytest.mark.parametrize(("text", "key"), [row[1:] for row in OBJECTS], ids=[row[0] for row in OBJECTS])
def test_objects_become_nodes(text: str, key: str) -> None:
    found = [node for node in nodes(of_sql(text)) if node.kind is not NodeType.FILE]
    assert [node.key for node in found] == [key]
    assert found[0].line_start == found[0].line_end == 1


def test_an_alter_table_of_a_sequence_or_a_view_makes_no_table() -> None:
    text = (
        "CREATE SEQUENCE a.s;\nALTER TABLE a.s OWNER TO x;\nCREATE VIEW a.v AS SELECT 1;\nALTER TABLE a.v OWNER TO x;"
    )
    assert [node.kind for node in nodes(of_sql(text))] == [NodeType.FILE, NodeType.SEQUENCE, NodeType.VIEW]


def test_a_schema_that_a_tool_fills_in_is_no_part_of_a_name() -> None:
    text = "CREATE FUNCTION @extschema@.f() RETURNS int LANGUAGE sql AS $$ SELECT 1 FROM @extschema@.orders $$;"
    known = of_sql(f"CREATE TABLE @extschema@.orders (i int);\n{text}")
    assert shown(known) == ["dbo.f|FUNC ReadsFrom dbo.orders|TABLE"]


NO_OBJECTS = [
    ("temporary", "CREATE TABLE #t (i int); CREATE TEMP TABLE u (i int);"),
    ("in-a-comment", "-- CREATE TABLE a.T (i int)\n/* GO\nCREATE TABLE a.U (i int) */"),
    ("in-a-string", "SELECT 'x'\nINSERT INTO a.L VALUES ('\nCREATE TABLE a.T (i int)\n')"),
    ("not-executed", "DECLARE @s nvarchar(max) = N'CREATE TABLE a.T (i int)'; PRINT @s"),
    ("executed-in-a-comment", "-- EXEC('CREATE TABLE a.T (i int)')"),
    ("index", "CREATE INDEX i ON a.T (x)"),
    ("named-at-run-time", "EXEC('ALTER TABLE ' + @name + ' ADD i int')"),
]


@pytest.mark.parametrize("text", [row[1] for row in NO_OBJECTS], ids=[row[0] for row in NO_OBJECTS])
def test_what_is_no_object(text: str) -> None:
    assert [node.kind for node in nodes(of_sql(text))] == [NodeType.FILE]


def test_node_keys_are_those_of_the_points() -> None:
    file = file_of("".join(f"{text}\nGO\n" for _, text, _ in OBJECTS[:12]))
    keys = {declaration_key("sql", segment.symbol, segment.kind, file.path) for segment in file.segments}
    assert keys <= {node.key for node in nodes(of_sql(file.text))}


def test_a_table_says_its_columns_and_keys() -> None:
    text = (
        "CREATE TABLE a.T (\n  Id int PRIMARY KEY,\n  UId int NOT NULL REFERENCES a.U (Id),\n  N nvarchar(20) NULL\n)"
    )
    (table,) = (node for node in nodes(of_sql(text)) if node.kind is NodeType.TABLE)
    assert table.signature == "CREATE TABLE a.T (Id int primary, UId int not null foreign → a.U, N nvarchar(20))"
    assert (table.line_start, table.line_end, table.name, table.language) == (1, 5, "T", "sql")


TABLES = "CREATE TABLE a.T (i int);\nCREATE TABLE a.U (i int);\nCREATE TABLE Log (i int);\n"
ROUTINES = "CREATE FUNCTION a.F () RETURNS int AS BEGIN RETURN 1 END\nGO\nCREATE PROC a.Q AS SELECT 1\n"
KNOWN = symbols_of(
    TABLES, ROUTINES, "CREATE TYPE a.Ids AS TABLE (i int)", "CREATE SEQUENCE a.S", "CREATE VIEW a.V AS SELECT 1"
)

EDGES = [
    (
        "reads",
        "CREATE PROC a.P AS SELECT 1 FROM a.T JOIN Log ON 1=1",
        "a.P|PROC ReadsFrom a.T|TABLE; a.P|PROC ReadsFrom dbo.Log|TABLE",
    ),
    ("reads-a-view", "CREATE PROC a.P AS SELECT 1 FROM a.V", "a.P|PROC ReadsFrom a.V|VIEW"),
    ("case", "CREATE PROC a.P AS SELECT 1 FROM A.t", "a.P|PROC ReadsFrom a.T|TABLE"),
    ("undeclared", "CREATE PROC a.P AS SELECT 1 FROM b.X", "a.P|PROC ReadsFrom b.X|TABLE_OR_VIEW"),
    (
        "writes",
        "CREATE PROC a.P AS BEGIN INSERT a.T VALUES (1); TRUNCATE TABLE a.U END",
        "a.P|PROC WritesTo a.T|TABLE; a.P|PROC WritesTo a.U|TABLE",
    ),
    (
        "writes-by-alias",
        "CREATE PROC a.P AS DELETE x FROM a.T x",
        "a.P|PROC ReadsFrom a.T|TABLE; a.P|PROC WritesTo a.T|TABLE",
    ),
    (
        "merge",
        "CREATE PROC a.P AS MERGE a.T t USING @x s ON 1=1 WHEN MATCHED THEN DELETE;",
        "a.P|PROC WritesTo a.T|TABLE",
    ),
    (
        "executes",
        "CREATE PROC a.P AS BEGIN EXEC a.Q; SELECT a.F() END",
        "a.P|PROC Executes a.F|FUNC; a.P|PROC Executes a.Q|PROC",
    ),
    ("executes-nothing-known", "CREATE PROC a.P AS EXEC a.Unknown; EXEC sp_who", ""),
    (
        "uses",
        "CREATE PROC a.P @x a.Ids READONLY AS SELECT NEXT VALUE FOR a.S",
        "a.P|PROC References a.S|SEQUENCE; a.P|PROC UsesType a.Ids|TYPE",
    ),
    ("locals", "CREATE PROC a.P AS WITH c AS (SELECT 1 x) SELECT 1 FROM c, #t, @v; INSERT INTO #t SELECT 1", ""),
    ("foreign-key", "CREATE TABLE a.W (i int REFERENCES a.T (i))", "a.W|TABLE ForeignKey a.T|TABLE"),
    (
        "foreign-key-added",
        "ALTER TABLE a.U ADD CONSTRAINT F FOREIGN KEY (i) REFERENCES a.T (i)",
        "FILE SchemaChange a.U|TABLE; a.U|TABLE ForeignKey a.T|TABLE",
    ),
    ("foreign-key-to-itself", "CREATE TABLE a.T (i int, p int REFERENCES a.T (i))", "a.T|TABLE ForeignKey a.T|TABLE"),
    ("view", "CREATE VIEW a.W AS SELECT i FROM a.T", "a.W|VIEW ReadsFrom a.T|TABLE"),
    (
        "trigger",
        "CREATE TRIGGER a.R ON a.T AFTER UPDATE AS INSERT a.U SELECT i FROM inserted",
        "a.R|TRIGGER On a.T|TABLE; a.R|TRIGGER WritesTo a.U|TABLE",
    ),
    ("index", "CREATE UNIQUE INDEX i ON a.T (i)", "FILE On a.T|TABLE"),
    ("synonym", "CREATE SYNONYM dbo.Z FOR a.Q", "dbo.Z|SYNONYM SynonymFor a.Q|PROC"),
    (
        "synonym-for-something",
        "CREATE SYNONYM dbo.Z FOR srv.db.a.X",
        "dbo.Z|SYNONYM SynonymFor srv.db.a.X|TABLE_OR_VIEW",
    ),
    ("altered", "ALTER TABLE a.T ADD x int", "FILE SchemaChange a.T|TABLE"),
    (
        "dropped",
        "DROP TABLE IF EXISTS a.T, a.Gone;\nDROP PROCEDURE a.Q",
        "FILE SchemaChange a.Gone|TABLE_OR_VIEW; FILE SchemaChange a.Q|PROC; FILE SchemaChange a.T|TABLE",
    ),
    ("renamed", "EXEC sp_rename 'a.T', 'S'", "FILE SchemaChange a.T|TABLE"),
    (
        "renamed-column",
        "EXEC sp_rename N'[a].[T].[i]', 'j', 'COLUMN'; -- sp_rename 'a.U', ''",
        "FILE SchemaChange a.T|TABLE",
    ),
    ("renamed-in-a-string", "PRINT 'sp_rename ''a.T'', x'; EXEC sp_rename 'a.Gone', 'x'", ""),
    ("dropped-to-be-created", "DROP PROCEDURE a.Q\nGO\nCREATE PROCEDURE a.Q AS SELECT 1", ""),
    ("loose-statements", "INSERT INTO a.T VALUES (1)\nGO\nEXEC a.Q", "FILE Executes a.Q|PROC; FILE WritesTo a.T|TABLE"),
    ("dynamic", "CREATE PROC a.P AS EXEC('DELETE FROM a.T WHERE n = ''x''')", "a.P|PROC WritesTo a.T|TABLE"),
    ("dynamic-and-loose", "EXEC('ALTER TABLE a.T DROP CONSTRAINT ' + @name)", "FILE SchemaChange a.T|TABLE"),
    ("dynamic-name", "EXEC('DELETE FROM a.' + @name + ' WHERE 1=1')", ""),
    ("created-dynamically", "EXEC('CREATE VIEW a.W AS SELECT i FROM a.T')", "a.W|VIEW ReadsFrom a.T|TABLE"),
]


@pytest.mark.rule("D20")
@pytest.mark.parametrize(("text", "expected"), [row[1:] for row in EDGES], ids=[row[0] for row in EDGES])
def test_edges(text: str, expected: str) -> None:
    assert "; ".join(shown(of_sql(text, KNOWN))) == expected


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("WITH t AS (SELECT * FROM a.T WHERE i = 1) DELETE FROM t;", ["a.T"]),
        (
            "WITH t AS (SELECT * FROM a.T) MERGE t USING @new AS s ON s.i = t.i WHEN MATCHED THEN UPDATE SET n = 1;",
            ["a.T"],
        ),
        ("WITH t AS (SELECT x.* FROM a.T x JOIN a.U u ON u.i = x.i) UPDATE t SET n = 1;", []),
        ("WITH t AS (SELECT * FROM a.T) INSERT INTO a.U SELECT * FROM t;", ["a.U"]),
    ],
)
def test_who_changes_an_expression_of_one_table_changes_the_table(text: str, written: list[str]) -> None:
    found = edges(
        of_sql(f"CREATE PROC a.P AS {text}", symbols_of("CREATE TABLE a.T (i int)", "CREATE TABLE a.U (i int)"))
    )
    writes = [one.target.partition("|")[0] for one in found if one.relation is Relation.WRITES_TO]
    assert writes == written


def test_a_file_contains_what_it_defines() -> None:
    changes = "ALTER TABLE b.X ADD i int\nGO\nALTER VIEW a.V AS SELECT 1 AS x\nGO\n"
    text = f"{TABLES}\n{changes}EXEC('CREATE VIEW a.W AS SELECT 1 AS x')"
    targets = [edge.target for edge in edges(of_sql(text)) if edge.relation == "Contains"]
    assert targets == ["a.T|TABLE", "a.U|TABLE", "dbo.Log|TABLE", "a.V|VIEW", "a.W|VIEW"]


SCRIPT = """\
CREATE TABLE a.T (i int);
GO

CREATE PROC a.P AS

SELECT 1
FROM a.T
WHERE 1 = (SELECT 1 FROM a.T)
GO
EXEC('
DELETE FROM
a.T')
"""


def test_lines_are_those_of_the_reference() -> None:
    found = [(edge.relation.value, edge.target, edge.line) for edge in edges(of_sql(SCRIPT))]
    assert sorted(found) == [
        ("Contains", "a.P|PROC", 4),
        ("Contains", "a.T|TABLE", 1),
        ("ReadsFrom", "a.T|TABLE", 7),
        ("WritesTo", "a.T|TABLE", 12),
    ]


def test_confidence_tells_declared_from_guessed() -> None:
    found = {edge.target: edge.confidence for edge in edges(of_sql("SELECT 1 FROM a.T, b.X, V", KNOWN))}
    assert found == {
        "a.T|TABLE": Confidence.RESOLVED,
        "b.X|TABLE_OR_VIEW": Confidence.PROBABLE,
        "a.V|VIEW": Confidence.PROBABLE,
    }


def test_the_objects_of_the_file_itself_are_meant_before_others_of_the_name() -> None:
    mine = "CREATE TABLE public.films (i int);\nCREATE VIEW public.v AS SELECT i FROM films;"
    everybody = symbols_of(mine, "CREATE TABLE films (i int)")
    assert shown(of_sql(mine, everybody)) == ["public.v|VIEW ReadsFrom public.films|TABLE"]
    assert shown(of_sql("SELECT i FROM films", everybody)) == [
        "FILE ReadsFrom dbo.films|TABLE",
        "FILE ReadsFrom public.films|TABLE",
    ]


def test_an_object_of_the_file_in_another_schema_is_not_preferred() -> None:
    mine = "CREATE TABLE sales.Orders (i int);\nCREATE VIEW sales.v AS SELECT i FROM Orders;"
    assert shown(of_sql(mine, symbols_of(mine, "CREATE TABLE Orders (i int)"))) == [
        "sales.v|VIEW ReadsFrom dbo.Orders|TABLE"
    ]


def test_what_a_file_declares_itself_is_no_question_about_others() -> None:
    with trace() as questions:
        of_sql("CREATE TABLE a.T (i int);\nCREATE VIEW a.V AS SELECT i FROM a.T JOIN b.X ON 1=1;", KNOWN)
    assert {arguments[:2] for _, arguments in questions} == {("X", "b")}


def test_equal_edges_are_one_at_the_first_line() -> None:
    (edge,) = edges(of_sql("SELECT 1 FROM a.T\nSELECT 2 FROM a.T\nSELECT 3 FROM A.T", KNOWN))
    assert edge.line == 1


def test_the_target_is_written_as_declared_and_the_source_as_its_points() -> None:
    found = of_sql("create proc A.p as select 1 from a.t", KNOWN)
    assert shown(found) == ["A.p|PROC ReadsFrom a.T|TABLE"]


def test_other_languages_have_no_sql_objects() -> None:
    assert list(objects_of(file_of("CREATE TABLE a.T (i int)", "readme.md", "markdown"), NOTHING)) == []
    assert of_csharp("CREATE TABLE a.T (i int)") == []


def test_the_same_text_gives_the_same_in_the_same_order() -> None:
    text = TABLES + ROUTINES + "".join(row[1] + "\nGO\n" for row in EDGES)
    assert of_sql(text, KNOWN) == of_sql(text, KNOWN)


DUMP = """\
CREATE TABLE public.people (id int, name text);
COPY public.people (id,
    name) FROM stdin;
1\tO'Brien
2\tDROP TABLE x;
\\.

CREATE VIEW public.names AS
 SELECT name FROM public.people;
"""


def test_the_rows_of_a_dump_are_no_sql() -> None:
    found = of_sql(DUMP)
    assert [node.key for node in nodes(found)][1:] == ["public.people|TABLE", "public.names|VIEW"]
    assert shown(found) == ["FILE WritesTo public.people|TABLE", "public.names|VIEW ReadsFrom public.people|TABLE"]
    cut = DUMP[: DUMP.index("\\.")]
    assert shown(of_sql(cut)) == ["FILE WritesTo public.people|TABLE"]
