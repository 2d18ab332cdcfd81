"""The assets on a real, ephemeral Dagster instance and real git repositories."""

from __future__ import annotations

import html
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dagster import (
    AssetKey,
    DagsterInstance,
    Definitions,
    ExecuteInProcessResult,
    JobDefinition,
    ReexecutionOptions,
    execute_job,
    materialize,
    reconstructable,
)
from markdown_it import MarkdownIt

from rag_assets.contracts.source_file import SkipReason
from rag_assets.definitions import defs
from rag_assets.defs import assets as segments_asset
from rag_assets.defs.assets import assets_of
from rag_assets.defs.pipeline import pipeline_for
from rag_assets.defs.resources import Workspace
from rag_assets.defs.scope import REPOSITORY, AssetScope
from rag_assets.defs.stage_metadata import markdown_list, table
from rag_assets.index.generations import active_pointer, set_pending_build
from rag_assets.index.labels import register_label
from rag_assets.index.layout import IndexHome
from rag_assets.pipeline.build import BuildError, IndexBuild, StageReport
from rag_assets.pipeline.checks.generation_checks import CHECKS
from rag_assets.pipeline.progress import Progress, Silent
from rag_assets.pipeline.segments import segment_files
from rag_assets.pipeline.versions import STAGES, stage_version
from rag_assets.settings import RepositorySettings, Settings
from rag_assets_tests.defs.conftest import cells
from rag_assets_tests.git_repository import Repository

RAG = AssetScope(("rag",))
FILES = {
    "src/Order.cs": "namespace Shop;\n\npublic class Order { public int Id { get; set; } }\n",
    "README.md": "# Shop\n\nOrders and more.\n",
    "tool.min.js": "var a=1;",
}


@pytest.fixture(autouse=True)
def without_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RAG_ASSETS__EMBEDDER__PROVIDER", "lexical-only")
    monkeypatch.setenv("RAG_ASSETS__HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def instance() -> Iterator[DagsterInstance]:
    with DagsterInstance.ephemeral() as made:
        yield made


@pytest.fixture
def home(tmp_path: Path) -> IndexHome:
    return IndexHome(tmp_path / "home")


def registered(tmp_path: Path, home: IndexHome, instance: DagsterInstance, name: str = "shop") -> Repository:
    source = Repository.new(tmp_path / name, FILES)
    settings = RepositorySettings(id=name, location=str(source.path))
    register_label(home, f"{name}@main", settings, "main")
    instance.add_dynamic_partitions("index_label", [f"{name}@main"])
    return source


def run(instance: DagsterInstance, home: IndexHome, **options: Any) -> ExecuteInProcessResult:
    options = {"partition_key": "shop@main"} | options
    return (
        pipeline_for(Settings())
        .resolve_job_def("index")
        .execute_in_process(
            instance=instance,
            resources={"workspace": Workspace(home=str(home.root)), "progress": Silent()},
            raise_on_error=False,
            **options,
        )
    )


def run_alone(instance: DagsterInstance, home: IndexHome, asset: str) -> ExecuteInProcessResult:
    return materialize(
        assets_of(RAG),
        selection=[AssetKey(["rag", asset])],
        instance=instance,
        partition_key="shop@main",
        resources={"workspace": Workspace(home=str(home.root)), "progress": Silent()},
        raise_on_error=False,
    )


def failure_text(result: ExecuteInProcessResult) -> str:
    return "\n".join(str(event.event_specific_data) for event in result.all_events if event.is_step_failure)


def metadata(result: ExecuteInProcessResult) -> dict[str, dict[str, Any]]:
    made = [event.materialization for event in result.all_events if event.is_step_materialization]
    return {m.asset_key.path[-1]: {key: value.value for key, value in m.metadata.items()} for m in made}


def test_the_definitions_load_and_name_every_stage() -> None:
    Definitions.validate_loadable(defs())
    specs = {spec.key.path[-1]: spec for spec in pipeline_for(Settings()).resolve_all_asset_specs()}
    assert set(specs) == {REPOSITORY, *STAGES}
    for stage, spec in specs.items():
        assert spec.description and spec.group_name in {"corpus", "index"} and spec.kinds
        assert spec.code_version == (stage_version(stage) if stage in STAGES else None)
        assert spec.partitions_def is not None and spec.partitions_def.name == "index_label"  # type: ignore[attr-defined]


def test_a_run_indexes_a_label_and_explains_itself(tmp_path: Path, home: IndexHome, instance: DagsterInstance) -> None:
    source = registered(tmp_path, home, instance)
    result = run(instance, home)
    assert result.success, failure_text(result)
    found = metadata(result)
    assert list(found) and set(found) == set(STAGES)
    assert found["discovered_files"]["commit"] == source.git("rev-parse", "HEAD")
    assert (found["discovered_files"]["indexed"], found["discovered_files"]["skipped"]) == (2, 1)
    assert "tool.min.js" in cells(found["discovered_files"]["skipped files"])
    assert "Model" in cells(found["descriptions"]["kinds"])
    pointer = active_pointer(home, "shop@main")
    assert pointer is not None and pointer.run_id == result.run_id, "the index names the run that made it"
    checks = {event.check_name: event.passed for event in result.get_asset_check_evaluations()}
    assert checks == dict.fromkeys(CHECKS, True)


def test_a_second_run_does_nothing_and_keeps_the_data_versions(
    tmp_path: Path, home: IndexHome, instance: DagsterInstance
) -> None:
    registered(tmp_path, home, instance)
    first, second = run(instance, home), run(instance, home)
    assert all(values["unchanged"] for values in metadata(second).values())
    assert metadata(second)["segments"]["parsed"] == 0

    def versions(result: ExecuteInProcessResult) -> dict[str, str | None]:
        made = [event.materialization for event in result.all_events if event.is_step_materialization]
        return {m.asset_key.path[-1]: (m.tags or {}).get("dagster/data_version") for m in made}

    assert versions(first) == versions(second)
    assert None not in versions(first).values()


def test_a_commit_can_be_chosen(tmp_path: Path, home: IndexHome, instance: DagsterInstance) -> None:
    source = registered(tmp_path, home, instance)
    old = source.git("rev-parse", "HEAD")
    source.commit({"src/New.cs": "class New { }\n"})
    result = run(instance, home, run_config={"ops": {"discovered_files": {"config": {"commit": old}}}})
    assert result.success
    assert metadata(result)["discovered_files"]["commit"] == old


def test_one_asset_can_be_materialized_alone(tmp_path: Path, home: IndexHome, instance: DagsterInstance) -> None:
    registered(tmp_path, home, instance)
    assert run(instance, home).success
    result = run_alone(instance, home, "summary_sections")
    assert result.success, failure_text(result)
    assert set(metadata(result)) == {"summary_sections"}


def test_an_asset_without_its_upstream_names_it(tmp_path: Path, home: IndexHome, instance: DagsterInstance) -> None:
    registered(tmp_path, home, instance)
    result = run_alone(instance, home, "segments")
    assert not result.success
    assert "materialize discovered_files first" in failure_text(result)


def test_a_missing_ref_is_named_and_not_retried(tmp_path: Path, home: IndexHome, instance: DagsterInstance) -> None:
    source = registered(tmp_path, home, instance)
    gone = RepositorySettings(id="shop", location=str(source.path), ref="mian")
    register_label(home, "shop@mian", gone, "mian")
    instance.add_dynamic_partitions("index_label", ["shop@mian"])
    result = run(instance, home, partition_key="shop@mian")
    assert not result.success
    assert "mian" in failure_text(result) and "main" in failure_text(result)
    assert active_pointer(home, "shop@mian") is None
    assert not [event for event in result.all_events if event.is_step_up_for_retry]


def test_tables_in_metadata_are_bounded_and_keep_the_kinds_of_their_values() -> None:
    rows = [
        {"path": f"a|{i}.cs", "files": i, "share": 0.5, "is_old": True, "kind": SkipReason.BINARY} for i in range(60)
    ]
    made = table(rows)
    assert {type(cell) for record in made.records for cell in record.data.values()} == {str, int, float, bool}
    assert [(column.name, column.type) for column in made.schema.columns] == [
        ("path", "string"),
        ("files", "int"),
        ("share", "float"),
        ("is_old", "bool"),
        ("kind", "string"),
    ]
    assert len(made.records) == 50
    assert made.records[1].data == rows[1]
    assert type(made.records[1].data["kind"]) is str, "Dagster refuses to store an enum of ours"


def test_one_row_of_many_columns_is_shown_line_by_line() -> None:
    made = table([{"verdict": "refused", "reason": "recall@10 is 0.812", "active": None, "set": "shop"}])
    said = [record.data for record in made.records]
    assert said[0] == {"what": "verdict", "value": "refused"} and said[2] == {"what": "active", "value": ""}
    assert len(said) == 4


def test_a_run_does_not_mix_its_commit_with_that_of_another(
    tmp_path: Path, home: IndexHome, instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    registered(tmp_path, home, instance)

    def taken_over(build: IndexBuild, progress: Progress) -> StageReport:
        report = segment_files(build, progress)
        set_pending_build(home, "shop@main", build.spec.generation_id, "another-run")
        return report

    monkeypatch.setattr(segments_asset, "segment_files", taken_over)
    result = run(instance, home)
    assert "run another-run has taken this label over" in failure_text(result)


def test_a_failed_run_goes_on_from_the_step_that_failed(
    tmp_path: Path, home: IndexHome, instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    registered(tmp_path, home, instance)

    def breaks(build: IndexBuild, progress: Progress) -> StageReport:
        raise BuildError("damaged")

    with monkeypatch.context() as patch:
        patch.setattr(segments_asset, "segment_files", breaks)
        first = run(instance, home)
    assert not first.success
    options = ReexecutionOptions.from_failure(first.run_id, instance)
    again = execute_job(
        reconstructable(_index_job),
        instance=instance,
        reexecution_options=options,
        tags={"dagster/partition": "shop@main"},  # the UI copies them
        raise_on_error=False,
    )
    assert again.success
    assert active_pointer(home, "shop@main") is not None


def _index_job() -> JobDefinition:
    return pipeline_for(Settings()).resolve_job_def("index")


HOSTILE = (
    "<img src=x onerror=alert(1)>.cs",
    "![a](http://evil.example/a.png) [b](http://evil.example)",
    "https://evil.example/?secret www.evil.example",
    "a|b `code` **bold** __init__ &lt; &#60; \\",
    "# heading",
    "- entry\n\n<script>alert(1)</script>",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_of_the_ui_shows_texts_of_a_repository_as_they_are(text: str) -> None:
    render = MarkdownIt("commonmark", {"html": True}).enable("table").render
    shown = html.escape(text)
    assert table([{"path": text}]).records[0].data == {"path": text}, "cells are text for the UI"
    listed = str(markdown_list([text]).value)
    assert render(listed) == f"<ul>\n<li>{shown}</li>\n</ul>\n"
    assert html.unescape(listed) == f"- {text}"
    assert "http:" not in listed and "https:" not in listed and "www." not in listed, "no renderer makes links of it"
