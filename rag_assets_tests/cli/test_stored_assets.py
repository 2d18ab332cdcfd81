"""What Dagster stores of builds through the command line: the keys of the assets, their lineage and their metadata."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from dagster import AssetKey, AssetMaterialization, AssetRecordsFilter, DagsterInstance, EventLogRecord

from rag_assets.defs.in_process import open_instance
from rag_assets.index.layout import IndexHome
from rag_assets.pipeline.versions import STAGES
from rag_assets_tests.cli.conftest import CommandLine, new_repository
from rag_assets_tests.git_repository import Repository

LABEL = "shop@main"


@dataclass(frozen=True)
class Stored:
    """The instance of a home, and the repository that was indexed twice, at two commits."""

    instance: DagsterInstance
    repository: Repository
    commits: tuple[str, str]

    def records(self, name: str, prefix: tuple[str, ...] = ("rag",)) -> list[EventLogRecord]:
        """The materializations of an asset, the newest first."""
        wanted = AssetRecordsFilter(AssetKey([*prefix, name]), asset_partitions=[LABEL])
        return list(self.instance.fetch_materializations(wanted, limit=10).records)

    def newest(self, name: str) -> AssetMaterialization:
        made = self.records(name)[0].asset_materialization
        assert made is not None
        return made

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
            yield Stored(instance, repository, (commits[0], commits[1]))


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
