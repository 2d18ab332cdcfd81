"""Which declared object a name means."""

from __future__ import annotations

import pickle

import msgspec
import pytest

from rag_assets.contracts.graph import Confidence, NodeType
from rag_assets.dependency_trace import replay_lookups, trace
from rag_assets.languages.sql.label_objects import (
    HOLE,
    ROUTINES,
    TABLES,
    SqlDeclarations,
    SqlObject,
    SqlSymbols,
    declared_in,
    targets_of,
)

from .made import NOTHING, file_of, symbols_of

SCRIPT = """
CREATE TABLE Orders (Id int);
GO
CREATE TABLE [sales].[Orders] (Id int);
GO
CREATE VIEW archive.Old AS SELECT 1 AS x
GO
CREATE TABLE shop.dbo.Prices (Id int);
GO
CREATE PROCEDURE dbo.Cancel AS SELECT 1
GO
CREATE TYPE dbo.Ids AS TABLE (Id int)
GO
CREATE TABLE public.users (id int);
"""

NAMES = [
    # name, schema, keys
    ("default-schema-first", "Orders", "", "dbo.Orders|TABLE"),
    ("written-schema", "orders", "SALES", "sales.Orders|TABLE"),
    ("unknown-schema", "Orders", "hr", ""),
    ("only-elsewhere", "old", "", "archive.Old|VIEW"),
    ("public-is-a-default", "users", "", "public.users|TABLE"),
    ("defaults-are-alike", "Users", "dbo", "public.users|TABLE"),
    ("database-in-declaration", "Prices", "dbo", "shop.dbo.Prices|TABLE"),
    ("database-in-reference", "Orders", "shop.sales", "sales.Orders|TABLE"),
    ("database-without-schema", "Orders", "shop.", "dbo.Orders|TABLE"),
    ("another-database", "Prices", "other.dbo", ""),
    ("unknown-until-run", "Orders", HOLE, "dbo.Orders|TABLE"),
    ("nothing", "Nothing", "", ""),
]


@pytest.mark.parametrize(("name", "schema", "keys"), [row[1:] for row in NAMES], ids=[row[0] for row in NAMES])
def test_named(name: str, schema: str, keys: str) -> None:
    assert " ".join(made.key for made in symbols_of(SCRIPT).named(name, schema)) == keys


def test_kinds_narrow_the_answer() -> None:
    symbols = symbols_of("CREATE TABLE a.X (i int);\nCREATE SYNONYM a.X FOR b.X;\nCREATE VIEW a.Y AS SELECT 1 AS x;")
    assert [made.kind for made in symbols.named("X", "a")] == [NodeType.SYNONYM, NodeType.TABLE]
    assert [made.kind for made in symbols.named("X", "a", (NodeType.TABLE,))] == [NodeType.TABLE]
    assert symbols.named("Y", "a", (NodeType.TABLE,)) == ()


def test_of_two_spellings_the_written_one_is_meant() -> None:
    symbols = symbols_of("CREATE TABLE dbo.Orders (i int)", "CREATE TABLE dbo.ORDERS (i int)")
    assert [made.key for made in symbols.named("Orders")] == ["dbo.Orders|TABLE"]
    assert [made.key for made in symbols.named("ORDERS")] == ["dbo.ORDERS|TABLE"]
    assert len(symbols.named("orders")) == 1


def test_only_sql_files_declare_objects() -> None:
    file = file_of('class A { string s = "CREATE TABLE dbo.T (i int)"; }', "a.cs", "csharp")
    assert declared_in([file]) == SqlDeclarations()


def test_literal_dynamic_sql_declares_objects() -> None:
    text = "EXEC('CREATE VIEW dbo.V AS SELECT ''x'' AS y');\nEXEC sp_executesql N'CREATE TABLE dbo.T (i int)'"
    assert [made.key for made in declared_in([file_of(text)]).objects] == ["dbo.T|TABLE", "dbo.V|VIEW"]


def test_the_order_of_files_does_not_matter() -> None:
    files = [file_of(f"CREATE TABLE s{n}.T (i int)", f"{n}.sql") for n in range(4)]
    parts = [declared_in([file]) for file in files]
    forwards, backwards = SqlSymbols(parts), SqlSymbols(reversed(parts))
    assert declared_in(files) == declared_in(files[::-1])
    assert (
        forwards.named("T") == backwards.named("T") == tuple(SqlObject(f"s{n}", "T", NodeType.TABLE) for n in range(4))
    )


@pytest.mark.rule("A12")
def test_declarations_and_symbols_can_be_stored_and_sent() -> None:
    declared = declared_in([file_of(SCRIPT)])
    assert msgspec.json.decode(msgspec.json.encode(declared), type=SqlDeclarations) == declared
    again = pickle.loads(pickle.dumps(SqlSymbols([declared])))
    assert again.named("Orders", "sales") == SqlSymbols([declared]).named("Orders", "sales")


def test_an_answer_changes_only_with_what_was_asked_about() -> None:
    with trace() as questions:
        symbols_of(SCRIPT).named("Orders", "sales")
    assert replay_lookups([symbols_of(SCRIPT, "CREATE TABLE hr.People (i int)")], questions) == questions
    assert replay_lookups([NOTHING], questions) != questions


TARGETS = [
    # parts, key, confidence
    ("declared", ("sales", "Orders"), "sales.Orders|TABLE", Confidence.RESOLVED),
    ("no-schema", ("Orders",), "dbo.Orders|TABLE", Confidence.RESOLVED),
    ("only-in-another-schema", ("Old",), "archive.Old|VIEW", Confidence.PROBABLE),
    ("another-database-perhaps", ("crm", "dbo", "Orders"), "dbo.Orders|TABLE", Confidence.PROBABLE),
    ("undeclared", ("hr", "People"), "hr.People|TABLE_OR_VIEW", Confidence.PROBABLE),
    ("undeclared-without-schema", ("People",), "dbo.People|TABLE_OR_VIEW", Confidence.PROBABLE),
    ("undeclared-in-a-database", ("db", "", "People"), "db.People|TABLE_OR_VIEW", Confidence.PROBABLE),
]


@pytest.mark.parametrize(("parts", "key", "confidence"), [row[1:] for row in TARGETS], ids=[row[0] for row in TARGETS])
def test_targets(parts: tuple[str, ...], key: str, confidence: Confidence) -> None:
    (found,) = targets_of(parts, TABLES, symbols_of(SCRIPT))
    assert (found.key, found.confidence) == (key, confidence)


def test_several_candidates_are_name_only_and_many_are_none() -> None:
    few, many = (symbols_of(*(f"CREATE TABLE s{n}.T (i int)" for n in range(count))) for count in (3, 4))
    assert [found.confidence for found in targets_of(("T",), TABLES, few)] == [Confidence.NAME_ONLY] * 3
    assert targets_of(("T",), TABLES, many) == ()


def test_routines_are_not_guessed() -> None:
    assert targets_of(("dbo", "Nothing"), ROUTINES, symbols_of(SCRIPT)) == ()
    assert targets_of(("dbo", f"Order{HOLE}"), TABLES, symbols_of(SCRIPT)) == ()
