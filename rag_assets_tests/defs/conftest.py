"""A home without a model, labels of real repositories in it, and runs of the job `index` on an instance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from dagster import (
    AssetKey,
    AssetRecordsFilter,
    DagsterInstance,
    ExecuteInProcessResult,
    TableMetadataValue,
    materialize,
)

from rag_assets.defs.observed_heads import last_observation
from rag_assets.defs.pipeline import configured_assets, pipeline_for
from rag_assets.defs.resources import Workspace
from rag_assets.defs.scope import REPOSITORY, scope_of
from rag_assets.index.labels import register_label, repository_of
from rag_assets.index.layout import IndexHome, index_label
from rag_assets.pipeline.progress import Silent
from rag_assets.pipeline.run_stages import run_stages
from rag_assets.pipeline.versions import STAGES
from rag_assets.settings import RepositorySettings, Settings, load_settings
from rag_assets_tests.git_repository import Repository

FILES = {
    "src/Order.cs": "namespace Shop;\n\npublic class Order { public int Id { get; set; } }\n",
    "README.md": "# Shop\n\nOrders and more.\n",
}


@pytest.fixture(autouse=True)
def without_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RAG_ASSETS__EMBEDDER__PROVIDER", "lexical-only")
    monkeypatch.setenv("RAG_ASSETS__HOME", str(tmp_path / "home"))
    monkeypatch.delenv("RAG_ASSETS_WEBHOOK_URL", raising=False)
    monkeypatch.chdir(tmp_path)


@dataclass
class Automated:
    """A configuration file with repositories, and the home and instance that its runs use."""

    folder: Path
    instance: DagsterInstance
    entries: list[dict[str, Any]] = field(default_factory=list)
    automation: dict[str, Any] = field(default_factory=dict)

    @property
    def workspace(self) -> Workspace:
        return Workspace(config_file=str(self.write()))

    @property
    def home(self) -> IndexHome:
        return IndexHome(self.folder / "home")

    @property
    def settings(self) -> Settings:
        return load_settings(self.write())

    def write(self) -> Path:
        path = self.folder / "rag_assets.yaml"
        values = {"repositories": self.entries, "automation": self.automation}
        path.write_text(yaml.safe_dump(values), encoding="utf-8")
        return path

    def repository(self, name: str, **entry: Any) -> Repository:
        """A new repository on disk, configured under its name."""
        made = Repository.new(self.folder / name, FILES)
        self.configure(name, str(made.path), **entry)
        return made

    def configure(self, name: str, location: str, **entry: Any) -> None:
        self.entries.append({"id": name, "location": location} | entry)

    def register(self, name: str, ref: str = "main") -> str:
        """What `rag-assets index` leaves: a label that is known by its name, and its partition."""
        (entry,) = [entry for entry in self.entries if entry["id"] == name]
        label = index_label(name, ref)
        register_label(self.home, label, RepositorySettings(**entry), ref)
        self.instance.add_dynamic_partitions("index_label", [label])
        return label

    def build(self, label: str) -> None:
        """What an earlier run leaves in the home, made by the stages alone: the instance knows nothing of it."""
        settings = self.settings.model_copy(update={"workers": 1})
        run_stages(settings, label, repository_of(self.home, settings, label), run_id="made-by-a-test")

    def run(self, *labels: str, **options: Any) -> ExecuteInProcessResult:
        """One label as one partition, several as the range that a backfill makes of them."""
        chosen: dict[str, Any] = {"partition_key": labels[0]}
        if len(labels) > 1:
            first, last = "dagster/asset_partition_range_start", "dagster/asset_partition_range_end"
            chosen = {"tags": {first: labels[0], last: labels[-1]}}
        return (
            pipeline_for(load_settings())
            .resolve_job_def("index")
            .execute_in_process(
                instance=self.instance,
                resources={"workspace": self.workspace, "progress": Silent()},
                raise_on_error=False,
                **(chosen | options),
            )
        )

    def run_alone(self, label: str | None, *assets: str, **options: Any) -> ExecuteInProcessResult:
        """Some assets, as the buttons of the UI materialize or observe them."""
        return materialize(
            configured_assets(scope_of(load_settings()), load_settings()),
            selection=[AssetKey(["rag", asset]) for asset in assets],
            partition_key=label,
            instance=self.instance,
            resources={"workspace": self.workspace, "progress": Silent()},
            raise_on_error=False,
            **options,
        )

    def data_version(self, asset: str, label: str) -> str | None:
        """Of the newest materialization; None where there is none."""
        return self.tags(asset, label).get("dagster/data_version")

    def tags(self, asset: str, label: str) -> dict[str, str]:
        """Of the newest materialization; none where there is none."""
        of_label = AssetRecordsFilter(asset_key=AssetKey(["rag", asset]), asset_partitions=[label])
        records = self.instance.fetch_materializations(of_label, limit=1).records
        made = records[0].asset_materialization if records else None
        return dict(made.tags or {}) if made else {}

    def observed(self, label: str) -> str | None:
        """The commit that the last observation of the repository has for a label."""
        seen = last_observation(self.instance, AssetKey(["rag", REPOSITORY]), label)
        event = seen.asset_observation if seen is not None else None
        return (event.tags or {})["dagster/data_version"] if event is not None else None

    def materialized(self, label: str) -> set[str]:
        return {stage for stage in STAGES if self.data_version(stage, label) is not None}


def cells(table: object) -> list[str | int | float | bool | None]:
    """Of a table in metadata, row by row."""
    assert isinstance(table, TableMetadataValue)
    return [cell for record in table.records for cell in record.data.values()]


@pytest.fixture
def automated(tmp_path: Path) -> Iterator[Automated]:
    with DagsterInstance.ephemeral() as instance:
        yield Automated(tmp_path, instance)


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[Automated]:
    """With an instance on disk: sensors and schedules look partitions up in one that others can open too."""
    folder = tmp_path / "dagster"
    folder.mkdir()
    with DagsterInstance.local_temp(str(folder), overrides={"telemetry": {"enabled": False}}) as instance:
        yield Automated(tmp_path, instance)


def failure_text(result: ExecuteInProcessResult) -> str:
    return "\n".join(str(event.event_specific_data) for event in result.all_events if event.is_step_failure)
