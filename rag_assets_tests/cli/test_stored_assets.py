"""What Dagster stores of builds through the command line: the keys of the assets, their lineage and their metadata."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from dagster import (
    AssetCheckKey,
    AssetCheckSeverity,
    AssetKey,
    AssetMaterialization,
    AssetRecordsFilter,
    DagsterInstance,
    EventLogRecord,
    MetadataValue,
    TableColumnLineage,
    TableMetadataValue,
    TableSchema,
)

from rag_assets.defs.in_process import open_instance
from rag_assets.index.generations import active_generation
from rag_assets.index.layout import IndexHome
from rag_assets.pipeline.versions import STAGES
from rag_assets_tests.cli.conftest import CommandLine, new_repository
from rag_assets_tests.generation_history import copy_sparse
from rag_assets_tests.git_repository import Repository

LABEL = "shop@main"


@dataclass(frozen=True)
class Stored:
    """The instance of a home, and the repository that was indexed twice, at two commits."""

    instance: DagsterInstance
    repository: Repository
    commits: tuple[str, str]
    home: IndexHome

    @property
    def generation(self) -> Path:
        return active_generation(self.home, LABEL).directory

    def records(self, name: str, prefix: tuple[str, ...] = ("rag",)) -> list[EventLogRecord]:
        """The materializations of an asset, the newest first."""
        wanted = AssetRecordsFilter(AssetKey([*prefix, name]), asset_partitions=[LABEL])
        return list(self.instance.fetch_materializations(wanted, limit=10).records)

    def newest(self, name: str) -> AssetMaterialization:
        made = self.records(name)[0].asset_materialization
        assert made is not None
        return made

    def columns(self, stage: str) -> list[str]:
        schema = self.newest(stage).metadata["dagster/column_schema"].value
        assert isinstance(schema, TableSchema)
        return [column.name for column in schema.columns]

    def made_of(self, stage: str, column: str) -> list[tuple[str, str]]:
        """The columns, as (stage, column), that the lineage of a column names."""
        lineage = self.newest(stage).metadata.get("dagster/column_lineage")
        if lineage is None:
            return []
        assert isinstance(lineage.value, TableColumnLineage)
        found = lineage.value.deps_by_column.get(column, ())
        assert all(dep.asset_key.path[0] == "rag" for dep in found)
        return [(dep.asset_key.path[-1], dep.column_name) for dep in found]

    def observed(self) -> list[EventLogRecord]:
        wanted = AssetRecordsFilter(AssetKey(["rag", "repository"]), asset_partitions=[LABEL])
        return list(self.instance.fetch_observations(wanted, limit=10).records)


def configured(folder: Path, repository: Repository, **sections: object) -> CommandLine:
    """A command line that finds its configuration file in the folder it is called in."""
    settings = {"home": "home", "repositories": [{"id": "shop", "location": str(repository.path)}], **sections}
    (folder / "rag_assets.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    return CommandLine(IndexHome(folder / "home"), folder)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stored]:
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("RAG_ASSETS") or name == "DAGSTER_HOME"]:
            patch.delenv(name)
        folder = tmp_path_factory.mktemp("stored")
        repository = new_repository(folder / "shop")
        repository.git("remote", "add", "origin", "https://anna:s3cret-t0ken@github.com/acme/shop.git")
        commits = [repository.git("rev-parse", "HEAD")]
        cli = configured(folder, repository)
        done = cli.run("index", options=())
        assert done.code == 0, done.err
        commits.append(repository.commit({"src/Refund.cs": "namespace Shop;\n\npublic class Refund { }\n"}))
        assert cli.run("index", options=()).code == 0
        with open_instance(cli.home) as instance:
            yield Stored(instance, repository, (commits[0], commits[1]), cli.home)


def test_the_keys_have_the_prefix_of_the_configuration(stored: Stored, tmp_path: Path) -> None:
    assert {key.to_user_string() for key in stored.instance.all_asset_keys()} == {
        f"rag/{name}" for name in ("repository", *STAGES)
    }
    cli = configured(tmp_path, stored.repository, dagster={"key_prefix": "acme/search"})
    done = cli.run("index", options=())
    assert done.code == 0, done.err
    with open_instance(cli.home) as instance:
        keys = {key.to_user_string() for key in instance.all_asset_keys()}
    assert keys == {f"acme/search/{name}" for name in ("repository", *STAGES)}


def test_the_lineage_begins_at_the_commit(stored: Stored) -> None:
    seen = [record.asset_observation for record in stored.observed()]
    assert [event and (event.tags or {})["dagster/data_version"] for event in seen] == [*reversed(stored.commits)]
    tags = stored.newest("discovered_files").tags or {}
    assert tags["dagster/input_data_version/rag/repository"] == stored.commits[1]
    assert tags["dagster/input_event_pointer/rag/repository"] == str(stored.observed()[0].storage_id)
    assert stored.observed()[0].run_id == stored.records("discovered_files")[0].run_id


COUNTED = ("discovered_files", "segments", "descriptions", "summary_sections", "embeddings", "bm25_artifacts")


@pytest.mark.parametrize("stage", [*COUNTED, "qdrant_points"])
def test_metadata_describes_the_table_that_was_written(stored: Stored, stage: str) -> None:
    metadata = stored.newest(stage).metadata
    folder = stored.generation / stage
    written = [pq.ParquetFile(part) for part in folder.glob("*.parquet")]
    rows = sum(part.metadata.num_rows for part in written)
    assert rows > 0
    assert metadata["dagster/row_count"].value == metadata["dagster/partition_row_count"].value == rows
    schema = metadata["dagster/column_schema"].value
    assert isinstance(schema, TableSchema)
    assert [(column.name, column.type) for column in schema.columns] == [
        (field.name, str(field.type).replace("element: ", "")) for field in written[0].schema_arrow
    ]
    assert all(column.description for column in schema.columns), "what each column holds"
    if stage in COUNTED:
        assert metadata["dagster/uri"].value == folder.as_uri()
        assert metadata["dagster/storage_kind"].value == "parquet"


def test_metadata_says_where_the_vectors_and_the_index_are(stored: Stored) -> None:
    vectors, served = stored.newest("qdrant_points").metadata, stored.newest("active_index").metadata
    assert vectors["dagster/uri"].value == (stored.generation / "shard").as_uri()
    assert vectors["dagster/storage_kind"].value == "qdrant"
    assert served["dagster/uri"].value == stored.generation.as_uri()


def test_the_columns_of_a_point_lead_back_to_the_text_of_a_file(stored: Stored) -> None:
    """Every column that is named exists, and the lineage of the points ends in git."""
    columns = {stage: stored.columns(stage) for stage in (*COUNTED, "qdrant_points")}
    reached, todo = set[tuple[str, str]](), [("qdrant_points", name) for name in columns["qdrant_points"]]
    while todo:
        stage, column = todo.pop()
        assert column in columns[stage], (stage, column)
        if (stage, column) not in reached:
            reached.add((stage, column))
            todo += stored.made_of(stage, column)
    sources = {column for stage, column in reached if stage == "discovered_files"}
    assert sources == {"path", "text_sha256", "language", "commit_sha", "commit_date"}
    assert {stage for stage, _ in reached} == {*COUNTED, "qdrant_points"}
    assert ("discovered_files", "text_sha256") in stored.made_of("segments", "segment")


def test_tables_of_a_report_are_tables(stored: Stored) -> None:
    languages = stored.newest("discovered_files").metadata["languages"]
    assert isinstance(languages, TableMetadataValue)
    assert {"language": "csharp", "files": 3} in [record.data for record in languages.records]


def test_links_lead_to_the_commit_and_to_what_changed_and_hold_no_credential(stored: Stored) -> None:
    old, new = stored.commits
    for stage in ("discovered_files", "active_index"):
        first, second = (record.asset_materialization for record in reversed(stored.records(stage)))
        assert first is not None and second is not None
        assert first.metadata["commit page"] == MetadataValue.url(f"https://github.com/acme/shop/commit/{old}")
        assert "diff page" not in first.metadata
        assert second.metadata["diff page"] == MetadataValue.url(f"https://github.com/acme/shop/compare/{old}...{new}")
    seen = stored.observed()[0].asset_observation
    assert seen is not None
    assert seen.metadata["commit page"] == MetadataValue.url(f"https://github.com/acme/shop/commit/{new}")
    events = "".join(path.read_bytes().decode("latin-1") for path in stored.home.dagster.rglob("*.db*"))
    assert "acme/shop" in events and "s3cret-t0ken" not in events


THINGS = [f"src/Thing{number}Manager.cs" for number in range(120)]


def thing(number: int) -> str:
    return f"namespace Shop;\n\npublic class Thing{number}Manager {{ public int Get{number}() => {number}; }}\n"


@pytest.fixture(scope="module")
def of_120_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a repository, its configuration and its index."""
    folder = tmp_path_factory.mktemp("sizes")
    repository = new_repository(folder / "shop", {path: thing(number) for number, path in enumerate(THINGS)})
    here = {"id": "shop", "location": "shop"}  # beside the configuration, in a copy too
    cli = configured(folder, repository, embedder={"provider": "lexical-only"}, repositories=[here])
    assert cli.run("index", options=()).code == 0
    return folder


@pytest.mark.parametrize(
    ("gone", "skipped", "said"),
    [
        pytest.param(30, 0, [], id="a quarter less"),
        pytest.param(50, 0, ["sections: 240 → 140", "points: 240 → 140"], id="two fifths less"),
        pytest.param(0, 10, ["skipped percent: 0 → 8"], id="files that are skipped"),
    ],
)
def test_an_index_of_another_size_than_the_last_is_a_warning(
    of_120_files: Path, tmp_path: Path, gone: int, skipped: int, said: list[str]
) -> None:
    shutil.copytree(of_120_files, tmp_path, dirs_exist_ok=True, copy_function=copy_sparse)
    repository, cli = Repository(tmp_path / "shop"), CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    for path in THINGS[:gone]:
        (repository.path / path).unlink()
    repository.commit({f"image{number}.png": b"\x89PNG\0" for number in range(skipped)})
    done = cli.run("index", options=())
    assert done.code == 0, "nobody is stopped"
    with open_instance(cli.home) as instance:
        key = AssetCheckKey(AssetKey(["rag", "qdrant_points"]), "sizes_are_as_before")
        (last, first) = instance.event_log_storage.get_asset_check_execution_history(key, limit=2)
        assert last.event is not None and first.event is not None
        verdicts = [record.event.dagster_event.asset_check_evaluation_data for record in (first, last)]  # type: ignore[union-attr]
    assert verdicts[0].passed, "there was nothing to compare with"
    assert verdicts[1].passed is not bool(said)
    assert verdicts[1].severity is AssetCheckSeverity.WARN
    for line in said:
        assert line in str(verdicts[1].description) and line in done.out + done.err
    assert ("rag-assets generations compare" in str(verdicts[1].description)) is bool(said)
