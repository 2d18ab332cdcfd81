"""SQL objects: columns, parameters, keys and references; sections of the text itself (R4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from rag_assets.contracts.description import SummaryFacts
from rag_assets.contracts.kinds import RagContentType
from rag_assets.descriptions.kinds.sql_object import SqlObjectDescription
from rag_assets.languages.sql.columns import SqlColumn
from rag_assets.sections.chunks import CHUNK_TOKENS
from rag_assets_tests.descriptions.label import expected, shop
from rag_assets_tests.descriptions.samples import described_file
from rag_assets_tests.sections.windows import window

TABLE = """\
-- What customers ordered.
CREATE TABLE [sales].[Orders]
(
    [Id]      uniqueidentifier NOT NULL CONSTRAINT PK PRIMARY KEY DEFAULT NEWID(),
    Number    bigint IDENTITY(1, 1) NOT NULL UNIQUE, -- as printed
    Customer  int NOT NULL REFERENCES sales.Customers (Id),
    Status    int NOT NULL CONSTRAINT DF DEFAULT ((10)),
    Note      nvarchar(max) NULL DEFAULT (N'a, (b'),
    Total     AS (Price * 2)
);
"""


def objects(text: str, path: str = "db/a.sql") -> list[SqlObjectDescription]:
    found = described_file(text, path).descriptions
    assert all(isinstance(one, SqlObjectDescription) for one in found)
    return [one for one in found if isinstance(one, SqlObjectDescription)]


def test_the_facts_of_a_table() -> None:
    (found,) = objects(TABLE)
    assert (found.object_type, found.schema, found.object_name) == ("table", "sales", "Orders")
    assert (found.doc, found.signature) == ("What customers ordered.", "CREATE TABLE [sales].[Orders]")
    assert found.columns == (
        SqlColumn("Id", "uniqueidentifier", False, "primary", "NEWID()"),
        SqlColumn("Number", "bigint", False, "unique", "", True, "as printed"),
        SqlColumn("Customer", "int", False, "foreign"),
        SqlColumn("Status", "int", False, "", "((10))"),
        SqlColumn("Note", "nvarchar(max)", True, "", "(N'a, (b')"),
        SqlColumn("Total", "", True),
    )
    assert [(key.columns, key.target) for key in found.foreign_keys] == [(("Customer",), "sales.Customers")]
    assert found.subtype_flavor == "Table"
    assert found.content_type is RagContentType.SCHEMA


def test_keys_of_the_table_are_keys_of_its_columns() -> None:
    (found,) = objects(
        "CREATE TABLE T (a int NULL, b int, c int, PRIMARY KEY (a, b), FOREIGN KEY (c) REFERENCES U (x))"
    )
    assert [(column.name, column.key, column.nullable) for column in found.columns] == [
        ("a", "primary", False),
        ("b", "primary", False),
        ("c", "foreign", True),
    ]
    assert found.primary_key == ("a", "b")


PROCEDURE = """\
/* Cancels. */
CREATE PROCEDURE dbo.Cancel @Id int, @Why nvarchar(20) = N'none', @Done bit OUTPUT AS
BEGIN UPDATE sales.Orders SET Status = 90 WHERE Id = @Id; EXEC dbo.Audit @Id; END
GO
"""


def test_the_facts_of_a_routine() -> None:
    (found,) = objects(PROCEDURE)
    assert [(p.name, p.type, p.default, p.modifiers) for p in found.parameters] == [
        ("@Id", "int", "", ()),
        ("@Why", "nvarchar(20)", "N'none'", ()),
        ("@Done", "bit", "", ("output",)),
    ]
    assert (found.writes, found.executes, found.reads) == (("sales.Orders",), ("dbo.Audit",), ())


RETURNS = [
    ("scalar", "CREATE FUNCTION a.F (@x int) RETURNS decimal(12, 2) AS BEGIN RETURN 1 END", "decimal(12, 2)"),
    ("table", "CREATE FUNCTION a.F () RETURNS TABLE AS RETURN (SELECT 1 AS x)", "TABLE"),
    ("set", "CREATE FUNCTION a.f() RETURNS SETOF a.t LANGUAGE sql AS $$ SELECT * FROM a.t $$", "SETOF a.t"),
    ("procedure", PROCEDURE, ""),
]


@pytest.mark.parametrize(("text", "returns"), [row[1:] for row in RETURNS], ids=[row[0] for row in RETURNS])
def test_what_a_function_returns(text: str, returns: str) -> None:
    assert objects(text)[0].returns == returns


def test_procedural_languages_assign_with_into() -> None:
    text = "CREATE FUNCTION a.f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN SELECT x INTO total FROM a.t; END $$;"
    (found,) = objects(text)
    assert (found.reads, found.writes) == (("a.t",), ())


def test_a_script_has_the_references_of_its_own_statements() -> None:
    """Objects between the statements of a file speak for themselves."""
    text = f"INSERT INTO a.First VALUES (1)\nGO\n{PROCEDURE}\nINSERT INTO a.Last SELECT 1 FROM a.Source\nGO\n"
    (script,) = [one for one in objects(text) if one.object_type == "script"]
    assert (script.writes, script.reads, script.executes) == (("a.First", "a.Last"), ("a.Source",), ())


@pytest.mark.rule("R4", "A22")
def test_the_section_is_the_text_under_a_title() -> None:
    found = objects(PROCEDURE)[0].use_window(window())
    (section,) = found.build_summary_sections()
    assert section.section_key == "sql-object-overview"
    body = PROCEDURE.removesuffix("GO\n").rstrip()
    assert section.finder_snippet == f"SqlObject: dbo.Cancel (procedure)\n\n{body}"
    assert section.graph_node_keys == ("dbo.Cancel|PROC",)
    assert "- Writes: `sales.Orders`\n- Executes: `dbo.Audit`\n\n/* Cancels. */" in section.backing_artifact


@pytest.mark.rule("R18", "R19")
def test_a_long_routine_is_split_and_each_part_names_it() -> None:
    body = "\n".join(f"UPDATE sales.Orders SET Status = {number} WHERE Id = {number};" for number in range(200))
    found = objects(f"CREATE PROCEDURE dbo.Long AS\nBEGIN\n{body}\nEND\n")[0].use_window(window())
    parts = found.build_summary_sections()
    assert len(parts) > 2
    assert [part.part_index for part in parts] == list(range(1, len(parts) + 1))
    assert all(part.finder_snippet.startswith("SqlObject: dbo.Long (procedure)\n") for part in parts)
    assert all((part.snippet_tokens or 0) <= CHUNK_TOKENS for part in parts)


@pytest.mark.rule("A11")
@pytest.mark.parametrize("text", [TABLE, PROCEDURE], ids=["table", "procedure"])
def test_it_survives_storage(text: str) -> None:
    (found,) = objects(text)
    again = msgspec.json.decode(msgspec.json.encode(found), type=SummaryFacts.type_named(type(found).__name__))
    assert again == found


BAD = [
    ("open-table", "CREATE TABLE T (a int, b"),
    ("open-string", "CREATE VIEW V AS SELECT 'x FROM a.T"),
    ("open-comment", "CREATE VIEW V AS SELECT 1 /* FROM a.T"),
    ("no-sql", "hello world"),
    ("only-create", "CREATE TABLE"),
]


@pytest.mark.rule("A13")
@pytest.mark.parametrize("text", [row[1] for row in BAD], ids=[row[0] for row in BAD])
def test_bad_sql_is_described_as_far_as_it_goes(text: str) -> None:
    for found in objects(text):
        assert found.use_window(window()).build_summary_sections()
        assert found.reads == ()


def shop_objects(symbol: str) -> Iterator[SqlObjectDescription]:
    """Every part of an object: an ALTER TABLE elsewhere is one of its own."""
    for found in shop().descriptions.values():
        yield from (one for one in found if isinstance(one, SqlObjectDescription) and one.fqn == symbol)


@pytest.mark.parametrize("entry", expected()["sql"], ids=lambda entry: entry["symbol"])
def test_the_shop_has_the_promised_objects(entry: dict[str, Any]) -> None:
    """EXPECTED.yaml: exactly these references, whatever their order."""
    parts = list(shop_objects(entry["symbol"]))
    assert parts

    def union(name: str) -> list[str]:
        return sorted({value for part in parts for value in getattr(part, name)})

    for name in ("reads", "writes", "executes", "uses"):
        assert union(name) == sorted(entry.get(name, union(name))), name
    if "columns" in entry:
        assert [column.name for part in parts for column in part.columns] == entry["columns"]
    if "parameters" in entry:
        assert [parameter.name for parameter in parts[0].parameters] == entry["parameters"]
    if "foreign_keys" in entry:
        assert sorted({key.target for part in parts for key in part.foreign_keys}) == sorted(entry["foreign_keys"])
    assert parts[0].synonym_for == entry.get("synonym_for", "")
    assert parts[0].on_table == entry.get("on_table", "")
    mentioned = {value.rpartition(".")[2] for name in ("reads", "writes", "executes", "uses") for value in union(name)}
    assert not mentioned.intersection(entry.get("not_objects", []))
