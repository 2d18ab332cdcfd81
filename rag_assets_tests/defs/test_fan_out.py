"""Embedding shared out over processes gives what one process gives; whoever fails leaves the work to the last step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from dagster import AssetKey, DagsterEventType, DagsterInstance, JobExecutionResult, execute_job, reconstructable

from rag_assets.defs.pipeline import pipeline_for
from rag_assets.models import open_embedder
from rag_assets.settings import ExecutionSettings, RepositorySettings, Settings
from rag_assets.stages.build import IndexBuild
from rag_assets.stages.descriptions import describe_files
from rag_assets.stages.discovered_files import discover_files
from rag_assets.stages.embeddings import embed_sections
from rag_assets.stages.fan_out.exchange import exchange_folder
from rag_assets.stages.labels import register_label
from rag_assets.stages.progress import Silent
from rag_assets.stages.segments import segment_files
from rag_assets.stages.summary_sections import build_sections
from rag_assets.stores.home import Home
from rag_assets_tests.defs.spread_jobs import spread_index_job
from rag_assets_tests.git_repository import Repository

FILES = 100  # two buckets
GROUPS = 2


@pytest.fixture(autouse=True)
def without_model() -> None:
    """Unlike the other tests of this folder, these want the model."""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    made = Repository(tmp_path_factory.mktemp("many"))
    made.git("init", "--quiet", "--initial-branch=main")
    made.commit({f"docs/note{number}.md": f"Note {number} about orders.\n" for number in range(FILES)})
    return made


def with_sections(source: Repository, home: Path, name: str = "many") -> IndexBuild:
    """A label whose sections are ready to be embedded."""
    settings = Settings(home=home, workers=1)
    repository = RepositorySettings(id=name, location=str(source.path), ref="main")
    label = f"{name}@main"
    register_label(Home(home), label, repository, "main")
    build, _ = discover_files(Home(home), settings, label, repository, Silent())
    for stage in (segment_files, describe_files, build_sections):
        stage(build, Silent())
    return build


def tables(build: IndexBuild) -> dict[str, bytes]:
    parts = {path.name: path.read_bytes() for path in sorted((build.directory / "embeddings").iterdir())}
    return parts | {"data version": build.required("embeddings").output.encode()}


@dataclass(frozen=True)
class Expected:
    tables: dict[str, bytes]
    sections: int


@pytest.fixture(scope="module")
def expected(source: Repository, tmp_path_factory: pytest.TempPathFactory) -> Expected:
    """What one process makes of it."""
    build = with_sections(source, tmp_path_factory.mktemp("alone"))
    report = embed_sections(build, open_embedder(build.settings.embedder, build.home.cache), Silent())
    return Expected(tables(build), report.counts["vectors"])


@pytest.fixture
def build(source: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> IndexBuild:
    monkeypatch.chdir(tmp_path)
    return with_sections(source, tmp_path / "home")


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[DagsterInstance]:
    (tmp_path / "dagster").mkdir()
    with DagsterInstance.local_temp(str(tmp_path / "dagster"), {"telemetry": {"enabled": False}}) as made:
        made.add_dynamic_partitions("index_label", ["many@main"])
        yield made


def configured(executor: str, **options: Any) -> ExecutionSettings:
    """Settings for this process, and for those of the steps, which read the file."""
    values = {"executor": executor, "fan_out": GROUPS, "fan_out_texts": 20, "max_concurrent": 2} | options
    Path("rag_assets.yaml").write_text(yaml.safe_dump({"home": "home", "workers": 1, "execution": values}))
    return ExecutionSettings.model_validate(values)


def elsewhere(instance: DagsterInstance) -> JobExecutionResult:
    """The steps by the configured executor."""
    return execute_job(
        reconstructable(spread_index_job),
        instance=instance,
        asset_selection=[AssetKey("embeddings")],
        tags={"dagster/partition": "many@main"},
        raise_on_error=False,
    )


def here(instance: DagsterInstance, execution: ExecutionSettings, *labels: str) -> Any:
    """The steps of the fanned-out asset, one after the other in this process."""
    first, last = "dagster/asset_partition_range_start", "dagster/asset_partition_range_end"
    chosen: dict[str, Any] = (
        {"tags": {first: labels[0], last: labels[-1]}} if labels else {"partition_key": "many@main"}
    )
    job = pipeline_for(execution).resolve_job_def("index")
    return job.execute_in_process(
        instance=instance,
        **chosen,
        asset_selection=[AssetKey("embeddings")],
        raise_on_error=False,
    )


def metadata(events: Any) -> dict[str, Any]:
    (made,) = [event.materialization for event in events if event.is_step_materialization]
    return {name: value.value for name, value in made.metadata.items()}


def groups(events: Any) -> list[dict[str, str]]:
    """The rows of the table that names who did what."""
    names, _, *rows = metadata(events)["groups"].splitlines()
    header = names.strip("| ").split(" | ")
    return [dict(zip(header, row.strip("| ").split(" | "), strict=False)) for row in rows]


@pytest.mark.parametrize("executor", ["multiprocess", "dask"])
def test_two_processes_share_the_work_and_the_tables_are_the_same(
    executor: str, build: IndexBuild, instance: DagsterInstance, expected: Expected
) -> None:
    configured(executor)
    result = elsewhere(instance)
    events = result.all_events
    assert result.success, [event.message for event in events if event.is_failure]
    shared = groups(events)
    assert len(shared) == GROUPS and sum(int(row["texts"]) for row in shared) == expected.sections
    assert len({row["process"] for row in shared}) >= 2, "several processes did some"
    assert metadata(events)["embedded"] == expected.sections and metadata(events)["from_cache"] == 0
    assert tables(build) == expected.tables, "and nobody can tell from the result"
    assert not exchange_folder(build.home, "many@main", "embeddings", build.spec.generation_id).exists()
    kind = DagsterEventType.ASSET_CHECK_EVALUATION
    (check,) = [event.asset_check_evaluation_data for event in events if event.event_type is kind]
    assert (check.check_name, check.passed) == ("vectors_are_sound", True)


def test_few_texts_are_not_shared_out(build: IndexBuild, instance: DagsterInstance, expected: Expected) -> None:
    result = here(instance, configured("multiprocess", fan_out_texts=expected.sections))
    assert result.success
    assert "groups" not in metadata(result.all_events)
    assert tables(build) == expected.tables


def test_fan_out_is_the_most_groups(build: IndexBuild, instance: DagsterInstance, expected: Expected) -> None:
    result = here(instance, configured("multiprocess", fan_out=1))
    assert result.success and "groups" not in metadata(result.all_events), "one group would only be a detour"
    again = here(instance, configured("multiprocess"))
    assert again.success and metadata(again.all_events)["unchanged"] is True
    assert "groups" not in metadata(again.all_events), "what is there is not planned again"


def test_a_group_that_fails_is_done_by_the_last_step(
    build: IndexBuild, instance: DagsterInstance, expected: Expected, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rag_assets.defs import shared_embeddings

    real = shared_embeddings.embed_group

    def breaks_once(folder: Path, name: str, embedder: Any) -> Any:
        if name == "part-000001-000001":
            raise KeyError("a defect")
        return real(folder, name, embedder)

    monkeypatch.setattr(shared_embeddings, "embed_group", breaks_once)
    result = here(instance, configured("multiprocess"))
    assert result.success
    assert "part-000001-000001: KeyError: 'a defect'" in metadata(result.all_events)["problems"]
    assert tables(build) == expected.tables


def test_a_label_that_has_nothing_to_embed_fails_where_it_always_did(
    tmp_path: Path, instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = here(instance, configured("multiprocess"))
    (failed,) = [event for event in result.all_events if event.is_step_failure]
    assert failed.step_key == "embeddings.gather_embeddings"
    assert "materialize discovered_files first" in str(failed.step_failure_data.user_failure_data.description)


def test_a_run_of_several_labels_loses_the_one_that_fails_and_no_other(
    source: Repository, build: IndexBuild, instance: DagsterInstance, expected: Expected
) -> None:
    instance.add_dynamic_partitions("index_label", ["more@main", "none@main"])
    more = with_sections(source, build.home.root, "more")
    result = here(instance, configured("multiprocess"), "many@main", "none@main")
    (failed,) = [event for event in result.all_events if event.is_step_failure]
    said = str(failed.step_failure_data.user_failure_data.description)
    assert said.startswith("none@main: nothing has been discovered yet") and "(stage embeddings)" in said
    assert instance.get_materialized_partitions(AssetKey("embeddings")) == {"many@main", "more@main"}
    assert tables(build) == expected.tables
    assert more.required("embeddings").counts["vectors"] == expected.sections
