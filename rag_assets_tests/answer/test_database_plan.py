"""What SQL scripts say line by line: objects that are no nodes, columns, keys and grants."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets import Index, open_index
from rag_assets.index.layout import IndexHome
from rag_assets.index.vectors.filters import SearchFilters
from rag_assets.qa.ask_options import AskOptions
from rag_assets_tests.cli.conftest import index_without_dagster, new_repository, opened_index

FILES = {
    "README.md": "# Depot\n\nKeeps parcels.\n",
    "src/Role.cs": "namespace Depot;\n\npublic class Shelf { public string Label { get; set; } }\n",
    "db/security.sql": """\
CREATE SCHEMA depot;
GO
CREATE SCHEMA audit AUTHORIZATION dbo;
GO
CREATE ROLE Clerks;
CREATE ROLE Auditors;
GO
/* Grant what is needed on everything to everybody */
GRANT SELECT ON SCHEMA::audit TO Auditors;
GRANT EXECUTE ON SCHEMA::depot TO Clerks;
GRANT INSERT, UPDATE
    ON OBJECT::[depot].[Drives] TO [Clerks];
""",
    "db/scales.sql": """\
CREATE TABLE [depot].[Scales](
    [ScaleId] [int] NOT NULL,
 CONSTRAINT [PK_Scales] PRIMARY KEY CLUSTERED
(
    [ScaleId] ASC
)WITH (PAD_INDEX = OFF, STATISTICS_NORECOMPUTE = OFF, IGNORE_DUP_KEY = OFF, ALLOW_ROW_LOCKS = ON, ALLOW_PAGE_LOCKS = ON)
)
""",
    "db/runs.sql": """\
CREATE TABLE depot.Runs (
    RunId int PRIMARY KEY,
    State varchar(10) NOT NULL CHECK (State IN ('waiting', 'running', 'done')),
    FaultCode int NULL,
    FaultText nvarchar(400) NULL,
    EndedAt datetime2 NULL
);
GO
ALTER TABLE depot.Runs ADD CONSTRAINT CK_Weekday CHECK (FaultCode IN (1, 2, 3));
GO
CREATE INDEX IX_Runs_Ended ON depot.Runs (EndedAt, State);
GO
CREATE INDEX IX_Runs_Fault ON depot.Runs (FaultCode);
""",
    "db/parcels.sql": """\
CREATE TABLE [dbo].[tblParcel](
    [ParcelId] [int] NOT NULL PRIMARY KEY,
    [Kind] [char](1) NOT NULL,
    [ParcelState] [tinyint] NULL,
    [Fragile] [bit] NULL DEFAULT ((0))
)
GO
CREATE TABLE [dbo].[tblKind](
    [Kind] [char](1) NOT NULL PRIMARY KEY,
    [Told] [nvarchar](40) NULL
)
GO
ALTER TABLE [dbo].[tblParcel] ADD  CONSTRAINT [DF_tblParcel_ParcelState]  DEFAULT ((2)) FOR [ParcelState]
GO
""",
    "db/tables.sql": """\
CREATE TYPE depot.size AS ENUM ('small', 'large');
GO
CREATE TABLE depot.Drives (
    DriveId int NOT NULL,
    Capacity decimal(20, 0) NULL,
    AddedOn datetime2 NOT NULL CONSTRAINT DF_Drives_AddedOn DEFAULT (SYSUTCDATETIME()),
    CONSTRAINT PK_Drives PRIMARY KEY CLUSTERED (DriveId)
);
GO
CREATE UNIQUE NONCLUSTERED INDEX IX_Drives_AddedOn ON depot.Drives (AddedOn);
GO
CREATE TABLE depot.Drivers (
    DriverId int NOT NULL,
    Nickname nvarchar(40) NULL
);
GO
CREATE TABLE audit.Log (
    LogId int NOT NULL,
    Told nvarchar(max) NULL -- no PRIMARY KEY here
);
GO
ALTER TABLE depot.Drivers
    ADD CONSTRAINT PK_Drivers PRIMARY KEY (DriverId);
GO
CREATE INDEX IX_Log ON audit.Log (LogId);
GO
CREATE VIEW depot.FullDrives AS SELECT DriveId FROM depot.Drives WHERE Capacity = 0;
GO
CREATE PROCEDURE depot.DropDrive @DriveId int AS DELETE FROM depot.Drives WHERE DriveId = @DriveId;
GO
CREATE PROCEDURE depot.CountDrives AS SELECT COUNT(*) FROM depot.Drives;
GO
CREATE PROCEDURE depot.DropDriver @DriverId int AS DELETE FROM depot.Drivers WHERE DriverId = @DriverId;
GO
CREATE FUNCTION depot.DatabaseAge() RETURNS int AS BEGIN RETURN 1 END;
GO
CREATE FUNCTION depot.Volume(@DriveId int) RETURNS int AS BEGIN RETURN 2 END;
""",
}


@pytest.fixture(scope="module")
def depot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("depot"), FILES, "depot") as index:
        yield index


def facts_of(index: Index, question: str) -> list[str]:
    text = index.ask(question, options=AskOptions()).text
    return [line for line in text.splitlines() if line.startswith(("- ", "**"))]


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (
            "which schemas does the database have?",
            ["**2 schemas:**", "- **depot** in db/security.sql:1", "- **audit**"],
        ),
        ("which database roles are there?", ["**2 roles:**", "- **Clerks** in db/security.sql:5", "- **Auditors**"]),
        ("which enum types does the database have?", ["**1 enum type:**", "- **depot.size** in db/tables.sql:1"]),
        ("which indexes are on depot.Drives?", ["**1 index:**", "- **IX_Drives_AddedOn** in db/tables.sql:10"]),
        (
            "which tables have no primary key?",
            ["**1 table without a primary key:**", "- **audit.Log** in db/tables.sql"],
        ),
        ("what is the primary key of the Drivers table?", ["- **depot.Drivers** in db/tables.sql:23: `ADD CONSTRAINT"]),
        (
            "what is the primary key of Scales?",
            ["- **depot.Scales** in db/scales.sql:3-6: `CONSTRAINT [PK_Scales] PRIMARY KEY CLUSTERED ([ScaleId] ASC"],
        ),
        ("what type is the column Capacity of Drives?", ["- **depot.Drives.Capacity** in db/tables.sql:5: `Capacity"]),
        ("what is the default of the AddedOn column?", ["- **depot.Drives.AddedOn** in db/tables.sql:6: `AddedOn"]),
        ("which columns of Drivers are required?", ["- **depot.Drivers.DriverId** in db/tables.sql:13: "]),
        ("which tables have a column called Nickname?", ["**1 table:**", "- **depot.Drivers** in db/tables.sql:14: "]),
        ("who may execute what is in the depot schema?", ["**1 grant:**", "- **Clerks** in db/security.sql:10: "]),
        ("who can update depot.Drives?", ["**1 grant:**", "- **Clerks** in db/security.sql:12: `ON OBJECT::"]),
        (
            "in which columns does Runs record faults?",
            ["- **depot.Runs.FaultCode** in db/runs.sql:4: ", "- **depot.Runs.FaultText** in db/runs.sql:5: "],
        ),
        (
            "which values may the column State of Runs have?",
            ["- **depot.Runs** in db/runs.sql:3: `State varchar(10) NOT NULL CHECK (State IN"],
        ),
        ("which values are allowed in the FaultCode column?", ["- **depot.Runs** in db/runs.sql:9: `ALTER TABLE"]),
        (
            "which values does the enum type size have?",
            ["- **depot.size** in db/tables.sql:1: `CREATE TYPE depot.size"],
        ),
        ("which index is on the column EndedAt of Runs?", ["**1 index:**", "- **IX_Runs_Ended** in db/runs.sql:11: "]),
        ("is there an index on the FaultCode column?", ["**1 index:**", "- **IX_Runs_Fault** in db/runs.sql:13: "]),
        (
            "what is the default state of a new parcel?",
            ["- **dbo.tblParcel.ParcelState** in db/parcels.sql:13: `ALTER TABLE [dbo].[tblParcel] ADD"],
        ),
        (
            "which table stores the parcels?",
            ["**Stored in:**", "- **dbo.tblParcel** in db/parcels.sql:1: ", "**See also:**"],
        ),
        ("what type is the nickname of a driver?", ["- **depot.Drivers.Nickname** in db/tables.sql:14: "]),
        (
            "which columns does the table tblKind have?",
            ["- **dbo.tblKind.Kind** in db/parcels.sql:9: ", "- **dbo.tblKind.Told** in db/parcels.sql:10: "],
        ),
        ("what is the default of ParcelState?", ["- **dbo.tblParcel.ParcelState** in db/parcels.sql:13: "]),
        (
            "what is the default of the column Kind of tblParcel?",
            ["**Declared without a default:**", "- **dbo.tblParcel.Kind** in db/parcels.sql:3: "],
        ),
        (
            "which columns of tblParcel have a default?",
            [
                "- **dbo.tblParcel.Fragile** in db/parcels.sql:5: ",
                "- **dbo.tblParcel.ParcelState** in db/parcels.sql:13",
            ],
        ),
        ("which functions does the database define?", ["**2 functions:**", "- **depot.DatabaseAge**", "- **depot.Vol"]),
    ],
)
def test_what_scripts_say_of_objects_columns_and_grants(depot: Index, question: str, told: list[str]) -> None:
    facts = facts_of(depot, question)
    assert len(facts) == len(told), facts
    assert all(any(line.startswith(one) for line in facts) for one in told), facts


def test_what_is_stored_in_a_table_is_its_columns(depot: Index) -> None:
    text = depot.ask("what is stored in the runs table?", options=AskOptions()).text
    assert "CREATE TABLE depot.Runs (" in text and "FaultText nvarchar(400)" in text


def test_who_reads_a_table_is_of_the_kind_that_is_asked_for(depot: Index) -> None:
    facts = facts_of(depot, "which view reads the Drives table?")
    read = [line for line in facts if "reads from" in line]
    assert read and all("FullDrives" in line for line in read)


def test_tables_of_nearly_the_same_name_are_told_apart(depot: Index) -> None:
    facts = facts_of(depot, "which procedures write to depot.Drives?")
    assert any("DropDrive**" in line for line in facts) and not any("Driver" in line for line in facts)


@pytest.mark.parametrize(
    "question",
    [
        "what type is the column Salary?",
        "who may delete from audit.Log?",
        "which extensions does the database need?",
        "which indexes are on depot.Drivers?",
        "what role does the index play?",
        "what does the index IX_Log do?",
        "why does one have to type in the PK of Drives?",
        "which index is on the column FaultText of Runs?",
        "which columns of Runs hold the colour?",
        "which values may the column EndedAt of Runs have?",
    ],
)
def test_what_no_script_says_is_not_told(depot: Index, question: str) -> None:
    assert not any(" in db/" in line and line.startswith("- ") for line in facts_of(depot, question))


@pytest.mark.parametrize(
    ("question", "absent"),
    [
        ("which triggers are on depot.Drivers?", "no script creates a trigger on depot.Drivers"),
        ("which indexes are on depot.Drivers?", "no script creates an index on depot.Drivers"),
        ("which trigger notes the weather?", "nothing here creates a trigger of a database"),
        (
            "which index is on the column FaultText of Runs?",
            "no script creates an index on the column FaultText of depot.Runs",
        ),
    ],
)
def test_that_no_script_creates_a_trigger_or_an_index_on_a_table_is_said(
    depot: Index, question: str, absent: str
) -> None:
    assert absent in str(depot.ask(question, options=AskOptions()))


def test_an_index_of_a_part_does_not_say_what_no_script_creates(tmp_path: Path) -> None:
    files = {
        "db/a.sql": "CREATE TABLE Parcels (Id int);\n",
        "db/b.sql": "CREATE TRIGGER T ON Parcels AFTER INSERT AS\nSELECT 1;\n",
    }
    index_without_dagster(IndexHome(tmp_path / "home"), new_repository(tmp_path / "depot", files), "depot")
    with open_index("depot@main", home=tmp_path / "home", view=SearchFilters(paths=("db/a.sql",))) as index:
        assert "no script creates" not in str(index.ask("which triggers are on Parcels?", options=AskOptions()))


def test_where_each_table_has_a_primary_key_that_is_said(tmp_path: Path) -> None:
    files = {"db/a.sql": "CREATE TABLE Parcels (Id int PRIMARY KEY);\n\nCREATE VIEW Keys AS SELECT Id FROM Parcels;\n"}
    with opened_index(tmp_path, files, "depot") as index:
        answer = index.ask("which tables have no primary key?", options=AskOptions())
    assert "a table without a primary key was not found among the 1 that scripts create" in str(answer)


MIGRATED = {
    "migrations/1_init/migration.sql": (
        'CREATE TABLE "barge" (\n    "barge_id" UUID NOT NULL,\n    "pennant" VARCHAR(20) NOT NULL,\n'
        '    "draught" DECIMAL,\n    CONSTRAINT "barge_pkey" PRIMARY KEY ("barge_id")\n);\n'
        'CREATE INDEX "barge_pennant_idx" ON "barge"("pennant");\n'
        'CREATE INDEX "barge_draught_idx" ON "barge"("draught");\n'
        'CREATE TABLE "lock" (\n    "lock_id" UUID NOT NULL,\n    "pennant" VARCHAR(20)\n);\n'
    ),
    "migrations/2_owners/migration.sql": (
        'ALTER TABLE "barge" ADD COLUMN     "owner_id" UUID NOT NULL,\nADD COLUMN     "notes" TEXT;\n'
    ),
    "migrations/10_flags/migration.sql": (
        'DROP INDEX IF EXISTS "barge_pennant_idx";\nALTER TABLE "barge" DROP COLUMN "pennant";\n'
        'CREATE INDEX "barge_owner_id_idx" ON "barge"("owner_id");\n'
    ),
    "migrations/11_undone/migration.sql": (
        'CREATE INDEX "barge_notes_idx" ON "barge"("notes");\n-- +goose Down\nDROP INDEX "barge_notes_idx";\n'
    ),
}


@pytest.mark.parametrize(
    ("question", "has", "lacks"),
    [
        ("which indexes does the barge table have?", ["**3 indexes:**", "owner_id", "draught", "notes"], "pennant"),
        ("which columns of the barge table are required?", ["barge.barge_id", "barge.owner_id"], "pennant"),
        ("which columns of the barge table are optional?", ["barge.draught", "barge.notes"], "barge_id"),
        ("which tables have a column pennant?", ["**1 table:**", "**lock**"], "barge"),
        ("which tables have a column notes?", ["**1 table:**", "**barge**"], "lock"),
    ],
)
def test_what_migrations_add_is_told_and_what_later_ones_drop_is_not(
    tmp_path: Path, question: str, has: list[str], lacks: str
) -> None:
    with opened_index(tmp_path, MIGRATED, "canal") as index:
        told = index.ask(question).text
    assert all(one in told for one in has), told
    assert lacks not in told
