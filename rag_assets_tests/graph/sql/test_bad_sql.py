"""SQL that is broken, enormous or written to be difficult: never an exception, never more than linear time."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_assets.contracts.graph import NodeType
from rag_assets.graph.extract.embedded_sql import inline_sql_of
from rag_assets.languages.parsed_file import ParsedFile
from rag_assets_tests.effort import ends_within, lines_run

from .made import NOTHING, in_method, nodes, of_csharp, of_sql, shown

BROKEN = [
    ("open-string", "CREATE VIEW a.V AS SELECT 'x FROM a.T"),
    ("open-comment", "CREATE VIEW a.V AS SELECT 1 /* FROM a.T"),
    ("open-parenthesis", "CREATE TABLE a.T (i int, b"),
    ("open-bracket", "CREATE VIEW a.V AS SELECT [x FROM"),
    ("open-literal", "EXEC('CREATE VIEW a.V AS"),
    ("only-keywords", "CREATE ALTER DROP TABLE FROM JOIN INTO UPDATE DELETE MERGE EXEC ON FOR REFERENCES COPY"),
    ("only-signs", "().,;[]\"`'@#$"),
    ("no-sql", "hello world\0\ufffd\ud800"),
    ("nothing", ""),
]


@pytest.mark.rule("A13")
@pytest.mark.parametrize("text", [row[1] for row in BROKEN], ids=[row[0] for row in BROKEN])
def test_broken_scripts(text: str) -> None:
    found = of_sql(text)
    assert all(node.path == "db/a.sql" for node in nodes(found))
    assert shown(found) == []


def test_what_stands_before_the_damage_stays() -> None:
    text = "CREATE PROC a.P AS SELECT 1 FROM a.T\nGO\nCREATE PROC a.Q AS SELECT 'x"
    assert shown(of_sql(text)) == ["a.P|PROC ReadsFrom a.T|TABLE_OR_VIEW"]


@pytest.mark.parametrize("damaged", ["PRINT 'x", "PRINT 'it's'", "/* x"], ids=["string", "apostrophe", "comment"])
def test_what_stands_after_the_damaged_batch_stays(damaged: str) -> None:
    text = f"{damaged}\nGO\nINSERT a.L VALUES ('x')\nGO\nCREATE PROC a.P AS SELECT 'x' FROM a.T\nGO\nDELETE a.U"
    assert shown(of_sql(text)) == [
        "FILE WritesTo a.L|TABLE_OR_VIEW",
        "FILE WritesTo a.U|TABLE_OR_VIEW",
        "a.P|PROC ReadsFrom a.T|TABLE_OR_VIEW",
    ]


def test_a_batch_separator_in_a_comment_or_string_separates_nothing() -> None:
    text = "CREATE PROC a.P AS BEGIN\n/*\nGO\n*/\nINSERT INTO a.T VALUES ('\nGO\n')\nEND\nGO\n"
    assert shown(of_sql(text)) == ["a.P|PROC WritesTo a.T|TABLE_OR_VIEW"]


WORDS = (
    "FROM JOIN INTO UPDATE DELETE WITH AS ( ) , . a.b ' [ ] @x = #t REFERENCES KEY ON FOR $$ CREATE ALTER DROP TABLE "
    "PROC INDEX TRIGGER -- /* */ EXEC sp_executesql + ; \n GO USING MERGE COPY TYPE"
)


@given(st.lists(st.sampled_from(WORDS.split(" "))))
@settings(deadline=None)
def test_any_script_is_read(words: list[str]) -> None:
    text = " ".join(words)
    assert of_sql(text, NOTHING) == of_sql(text, NOTHING)


CODE = '" """ $" @" \' { } {{ }} + ( ) ; = SELECT * FROM x \\ \n const string s // /* */ StoredProcedure nameof(x)'


@given(st.lists(st.sampled_from(CODE.split(" "))))
@settings(deadline=None)
def test_any_code_is_read(words: list[str]) -> None:
    text = in_method('c.Query("SELECT 1 FROM t");' + " ".join(words))
    assert of_csharp(text) == of_csharp(text)


SIZE = 160_000  # characters; long enough that a backtracking pattern takes minutes
_PART = 1_000
LONG = [
    ("values", "INSERT INTO a.T VALUES " + "(1, 'x'), " * (SIZE // 10)),
    ("one-line", "SELECT a, b FROM a.T WHERE x = 1; " * (SIZE // 34)),
    ("opened", "(" * SIZE),
    ("from-opened", "FROM (" * (SIZE // 6)),
    ("expressions", "WITH a AS (SELECT 1 " * (SIZE // 20)),
    ("updates", "UPDATE u SET x = 1 " * (SIZE // 19)),
    ("update-and-commas", "UPDATE u SET x = 1" + ", y" * (SIZE // 3)),
    ("creates", "CREATE TABLE " * (SIZE // 13)),
    ("references", "CREATE TABLE a.T (" + "a int REFERENCES b (c), " * (SIZE // 24) + "x int)"),
    ("execs", "EXEC('x' + " * (SIZE // 11)),
    ("quotes", "'" * (SIZE + 1)),
    ("brackets", "[" * SIZE),
    ("open-batches", "PRINT 'x\nGO\n/* y\nGO\n" * (SIZE // 24) + "'"),
    ("joins", "SELECT 1 FROM a.T" + " JOIN a.U ON (x = y), a.V" * (SIZE // 25)),
    ("joins-opened", "JOIN a.U ON (" * (SIZE // 13)),
    ("joins-first", "JOIN a.U " * (SIZE // 20) + "ON x, " * (SIZE // 20)),
    ("names", "a." * (SIZE // 2)),
    ("comments", "-- x\n" * (SIZE // 5)),
    ("declared", "DECLARE @s nvarchar(max) = N'x'; EXEC(@s); " * (SIZE // 43)),
]


@pytest.mark.parametrize("text", [row[1] for row in LONG], ids=[row[0] for row in LONG])
def test_work_is_linear(text: str) -> None:
    one, eight = (lines_run(partial(of_sql, text[:size], NOTHING)) for size in (_PART, 8 * _PART))
    assert eight < 12 * one + 1_000  # quadratic would be 64 times
    with ends_within(60):
        of_sql(text, NOTHING)


LONG_CODE = [
    ("one-literal", 'c.Query("SELECT ' + "a, " * 100_000 + 'b FROM t");'),
    ("literals", 'c.Query("SELECT 1 FROM t"); ' * 4_000),
    ("concatenated", 's = "SELECT 1" ' + '+ " FROM t" ' * 20_000),
    ("escapes", 's = "SELECT ' + "\\n" * 100_000 + '";'),
    ("holes", 's = $"SELECT ' + "{x}" * 30_000 + '";'),
    ("open-holes", 's = $"SELECT ' + "{" * 50_000),
    ("quotes", '"' * 100_000 + '"SELECT '),
]


@pytest.mark.parametrize("body", [row[1] for row in LONG_CODE], ids=[row[0] for row in LONG_CODE])
def test_long_code_is_read_in_bounded_time(body: str) -> None:
    with ends_within(60):
        list(inline_sql_of(ParsedFile("a.cs", "csharp", body), NOTHING))


def test_a_file_without_nodes_of_its_own_is_still_one() -> None:
    assert [node.kind for node in nodes(of_sql(""))] == [NodeType.FILE]


def test_five_megabytes_on_one_line() -> None:
    """As tools write data: the values are long, the statements many."""
    value = "it''s; " * 100
    text = "CREATE TABLE a.T (i int); " + f"INSERT INTO a.T VALUES (1, N'{value}'); " * 8_000
    assert len(text) > 5_000_000 and "\n" not in text
    with ends_within(120):
        assert shown(of_sql(text)) == ["FILE WritesTo a.T|TABLE"]
