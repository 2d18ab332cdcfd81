"""What SQL procedures read, write, execute and make is told whole, of the definition that counts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets import Index, open_index
from rag_assets.index.layout import IndexHome
from rag_assets.index.vectors.filters import SearchFilters
from rag_assets.qa.ask_options import AskOptions
from rag_assets_tests.cli.conftest import index_without_dagster, new_repository

TABLES = [f"Shelf{number}" for number in range(12)]
FILES = {
    "db/tables.sql": "GO\n".join(f"CREATE TABLE dbo.{name} (Id int, Kept bit);\n" for name in (*TABLES, "Attic")),
    "db/changes/2020-01-01_Clear.sql": "CREATE PROCEDURE dbo.Hall_Clear AS\nDELETE FROM dbo.Attic;\n",
    "db/drafts.sql": "CREATE PROCEDURE dbo.Hall_Clear AS\nBEGIN\nDELETE FROM dbo.Attic;\nDELETE FROM dbo.Shelf0;\n"
    "END\n",
    "db/procedures/Hall_Clear.sql": "CREATE PROCEDURE dbo.Hall_Clear AS\nBEGIN\n"
    + "".join(f"    DELETE FROM dbo.{name};\n" for name in TABLES)
    + "    EXEC sp_CountShelves 1;\n    EXEC sp_executesql N'SELECT 1';\nEND\n",
    "db/procedures/sp_CountShelves.sql": """\
CREATE PROCEDURE dbo.sp_CountShelves @Days int AS
BEGIN
    /* not INTO #dust */
    CREATE TABLE
        #found (Id int);
    SELECT Id INTO #kept FROM dbo.Shelf0 WHERE Kept = 1;
    SELECT COUNT(*) FROM dbo.Shelf1;
END
""",
    "db/procedures/Rack_DeleteIfEmpty.sql": "CREATE PROCEDURE dbo.Rack_DeleteIfEmpty AS\nSELECT 1;\n",
    "db/procedures/Rack_DeleteById.sql": "CREATE PROCEDURE dbo.Rack_DeleteById @Id int AS\nSELECT 1;\n",
    "db/changes/2021-01-01_Racks.sql": """\
IF OBJECT_ID('dbo.Rack_DeleteById') IS NOT NULL
    DROP PROCEDURE dbo.Rack_DeleteById;
GO
CREATE PROCEDURE dbo.Rack_DeleteById @Id int AS
BEGIN TRANSACTION Rack_DeleteById;
COMMIT TRANSACTION Rack_DeleteById;
""",
    "db/procedures/Rack_Find.sql": "CREATE PROCEDURE dbo.Rack_Find\n    @Name nvarchar(9), /* or give @Row */\n"
    "    @Row int = NULL\nAS\nSELECT @Row;\n",
    "db/Hall_Air.sql": "CREATE PROCEDURE dbo.Hall_Air\n"
    + ",\n".join(f"    @Window{at} int = NULL" for at in range(30))
    + "\nAS\nBEGIN\n    SET NOCOUNT ON;\n    /*\n    Lets in the wind before guests come.\n    */\n    SELECT 1\nEND\n",
    "db/Dust.sql": "CREATE PROCEDURE dbo.Hall_Sweep AS\nSELECT Id FROM other.dbo.OldDust;\n",
    "db/Log.sql": """\
CREATE PROCEDURE dbo.Hall_Log AS
BEGIN
    IF OBJECT_ID('dbo.HallLog') IS NULL
    BEGIN
        CREATE TABLE dbo.HallLog
        (
            Id int NOT NULL,
            Told nvarchar(400) NULL
        );
    END;
    INSERT dbo.HallLog (Id) SELECT 1;
END
""",
    "src/Store.cs": """\
namespace Halls;

public abstract class Store<T>(SqlConnection connection)
{
    protected string Table => typeof(T).Name;

    public Task DeleteAsync(int id) =>
        connection.ExecuteAsync($"[dbo].[{Table}_DeleteById]", new { id }, commandType: CommandType.StoredProcedure);
}
""",
    "src/ShelfKeeper.cs": "namespace Halls;\n\npublic class ShelfKeeper(SqlConnection connection)\n{\n"
    + "".join(
        f'    public Task Fill{at}() => connection.ExecuteAsync("INSERT INTO dbo.Shelf{at} (Id) VALUES (1)");\n'
        f'    public Task Refill{at}() => connection.ExecuteAsync("INSERT INTO dbo.Shelf{at} (Id) VALUES (2)");\n'
        for at in range(10)
    )
    + "}\n",
    "src/Hall.cs": """\
namespace Halls;

public class Hall(SqlConnection connection)
{
    public Task Clear() => connection.ExecuteAsync("dbo.Hall_Clear", commandType: CommandType.StoredProcedure);
}
""",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("routines")
    index_without_dagster(IndexHome(base / "home"), new_repository(base / "hall", FILES), "hall")
    return base / "home"


@pytest.fixture(scope="module")
def hall(home: Path) -> Iterator[Index]:
    with open_index("hall@main", home=home) as index:
        yield index


def told_of(index: Index, question: str) -> list[str]:
    text = index.ask(question, options=AskOptions()).text.partition("```")[0]
    return re.findall(r"^(?:- )?\*\*([^*]+)\*\*", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (
            "which tables does Hall_Clear touch?",
            ["Writes to:", *(f"dbo.{name}" for name in TABLES), "Executes:", "dbo.sp_CountShelves"],
        ),
        ("which procedures does dbo.Hall_Clear call?", ["Executes:", "dbo.sp_CountShelves"]),
        ("what does the procedure Hall_Clear execute?", ["Executes:", "dbo.sp_CountShelves"]),
        ("which tables does sp_CountShelves read?", ["Reads from:", "dbo.Shelf0", "dbo.Shelf1"]),
        ("which temp tables does sp_CountShelves create?", ["Temporary tables:", "#found", "#kept"]),
        ("what is the default row of Rack_Find?", ["@Row"]),
        ("which stored procedure removes empty racks?", ["1 procedure:", "dbo.Rack_DeleteIfEmpty"]),
    ],
)
def test_all_that_a_procedure_does_is_told(hall: Index, question: str, told: list[str]) -> None:
    assert [one for one in told_of(hall, question) if not one.startswith("Of dbo.")] == told


def test_what_an_older_definition_did_too_is_told_where_the_one_that_counts_does_it(hall: Index) -> None:
    text = hall.ask("which tables does Hall_Clear write to?", options=AskOptions()).text
    assert "**dbo.Shelf0** in db/procedures/Hall_Clear.sql:3" in text and "Attic" not in text


def test_the_file_that_is_called_as_a_procedure_is_what_is_told_of_it(hall: Index) -> None:
    for question in ("what does Rack_DeleteById do?", "what does Hall_Clear do with Shelf3?"):
        text = hall.ask(question, options=AskOptions()).text
        assert " in db/procedures/" in text.partition("\n")[0], text


def test_who_executes_a_procedure_is_told_whatever_its_name_begins_with(hall: Index) -> None:
    text = hall.ask("who executes sp_CountShelves?", options=AskOptions()).text
    assert "**Hall_Clear** executes **sp_CountShelves** in db/procedures/Hall_Clear.sql:15" in text
    text = hall.ask("which code executes Hall_Clear?", options=AskOptions()).text
    assert "executes **Hall_Clear** in src/Hall.cs:5" in text


def test_code_that_makes_the_name_of_a_procedure_is_told_and_scripts_that_define_it_again_are_not(hall: Index) -> None:
    text = hall.ask("who calls Rack_DeleteById?", options=AskOptions()).text
    assert text.startswith("**No line names it; code puts names that end so together in:**\n- **Store.DeleteAsync** ")
    assert "db/changes" not in text.partition("```")[0]


def test_the_columns_of_a_table_that_a_procedure_creates_are_told(hall: Index) -> None:
    told = ["dbo.HallLog.Id", "dbo.HallLog.Told"]
    assert told_of(hall, "which columns does HallLog have?") == told
    assert told_of(hall, "which columns of HallLog are nullable?") == told[1:]


def test_that_a_procedure_writes_no_table_is_said(hall: Index) -> None:
    answer = str(hall.ask("which tables does sp_CountShelves write to?", options=AskOptions()))
    assert "no statement of dbo.sp_CountShelves is known to write to a table" in answer


@pytest.mark.parametrize(
    "question", ["which tables does sp_CountShelves write to?", "which stored procedure removes empty racks?"]
)
def test_an_index_of_a_part_says_nothing_of_procedures_elsewhere(home: Path, question: str) -> None:
    with open_index("hall@main", home=home, view=SearchFilters(paths=("src/",))) as index:
        answer = str(index.ask(question, options=AskOptions()))
    assert "no statement of" not in answer
    assert "Rack_DeleteIfEmpty" not in answer


def test_a_parameter_is_not_where_a_comment_tells_of_it(hall: Index) -> None:
    text = hall.ask("which parameters does Rack_Find have?", options=AskOptions()).text
    assert re.findall(r"\*\*(@\w+)\*\* in db/procedures/Rack_Find.sql:(\d+)", text) == [("@Name", "2"), ("@Row", "3")]


def test_a_table_that_something_reads_is_no_setting(hall: Index) -> None:
    assert "**Read in:**" not in hall.ask("how long are OldDust rows kept?", options=AskOptions()).text


def test_each_table_that_a_class_writes_is_told_once(hall: Index) -> None:
    text = hall.ask("which tables does ShelfKeeper write to?", options=AskOptions()).text.partition("```")[0]
    assert [text.count(f"writes to **Shelf{at}**") for at in range(10)] == [1] * 10


def test_stored_procedures_that_write_a_table_are_told_all(hall: Index) -> None:
    assert told_of(hall, "which stored procedures write to Shelf3?") == ["Written by:", "dbo.Hall_Clear"]


def test_what_no_procedure_is_called_is_not_told(hall: Index) -> None:
    assert "procedure:" not in " ".join(told_of(hall, "which procedure removes dusty shelves?"))
    assert told_of(hall, "which tables does Hall_Brush touch?") == []


def test_what_a_procedure_of_many_parameters_is_for_is_told_first(hall: Index) -> None:
    text = hall.ask("what does Hall_Air do?", options=AskOptions()).text
    assert 0 < text.index("Lets in the wind") < text.index("@Window0 int")
    assert "db/Hall_Air.sql:35-37" in text
