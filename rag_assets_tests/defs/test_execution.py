"""The executor that the settings name: one of Dagster's own, which executes whole stages."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from dagster import AssetsDefinition, Definitions, GraphDefinition
from pydantic import ValidationError

from rag_assets.defs.pipeline import BACKEND_VARIABLE, BROKER_VARIABLE, executor_for, pipeline_for
from rag_assets.defs.resources import Workspace
from rag_assets.settings import ExecutionSettings, Settings, load_settings
from rag_assets.settings.config_file import ConfigError

BROKER = {BROKER_VARIABLE: "redis://:geheim@localhost:6379/0", BACKEND_VARIABLE: "redis://:geheim@localhost:6379/1"}


def settings(executor: str, **options: Any) -> ExecutionSettings:
    return ExecutionSettings.model_validate({"executor": executor, **options})


@pytest.fixture(autouse=True)
def broker(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in BROKER.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("executor", ["in_process", "multiprocess", "docker", "celery", "k8s"])
def test_every_executor_loads_with_the_whole_pipeline(executor: str) -> None:
    definitions = pipeline_for(Settings(), executor_for(settings(executor)))
    Definitions.validate_loadable(definitions)
    assert definitions.resolve_job_def("index").executor_def.name == executor


def test_the_default_is_one_process() -> None:
    assert pipeline_for(Settings()).resolve_job_def("index").executor_def.name == "in_process"
    script = (
        "import sys, rag_assets.definitions as made; made.defs.load_fn() if hasattr(made.defs, 'load_fn') else None;"
        "heavy = {'distributed', 'dagster_celery', 'dagster_k8s', 'openai', 'httpx2'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]", "what others need costs nothing"


def test_every_stage_is_one_step() -> None:
    pipeline = pipeline_for(Settings())
    steps = pipeline.resolve_job_def("index").graph.node_dict.values()
    assert not [node.name for node in steps if isinstance(node.definition, GraphDefinition)]
    assert all(isinstance(made, AssetsDefinition) for made in pipeline.assets or [])


@pytest.mark.parametrize(
    ("executor", "missing"),
    [("docker", "dagster_docker"), ("celery", "dagster_celery"), ("k8s", "dagster_k8s")],
)
def test_an_executor_without_its_extra_says_what_to_install(
    executor: str, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ConfigError, match=rf"needs {missing}; run: pip install 'rag-assets\[{executor}\]'"):
        executor_for(settings(executor))


def test_celery_without_a_broker_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in BROKER:
        monkeypatch.delenv(name)
    with pytest.raises(ConfigError, match=f"needs {BROKER_VARIABLE} and {BACKEND_VARIABLE} in the environment"):
        executor_for(settings("celery"))


def test_the_password_of_the_broker_is_in_no_definition() -> None:
    made = executor_for(settings("celery"))
    assert "geheim" not in repr(made.config_schema.__dict__) + repr(vars(made))


@pytest.mark.parametrize("address", ["scheduler:8786", "http://scheduler", "tcp://me:secret@scheduler:8786"])
def test_a_scheduler_that_cannot_be_one_is_refused(address: str) -> None:
    with pytest.raises(ValidationError, match="not the address of a Dask scheduler"):
        settings("in_process", workers="dask", dask_scheduler=address)


def test_the_code_location_uses_the_executor_of_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rag_assets.yaml").write_text("execution: {executor: multiprocess, workers: dask}\n")
    monkeypatch.chdir(tmp_path)
    from rag_assets.definitions import defs

    assert load_settings().execution.workers == "dask"
    found = defs.load_fn() if hasattr(defs, "load_fn") else defs()
    assert found.resolve_job_def("index").executor_def.name == "multiprocess"


def _workers_here(answer: str) -> None:
    found = Workspace().settings()
    Path(answer).write_text(f"{found.workers} {found.execution.workers}", encoding="utf-8")


def _wants_dask(monkeypatch: pytest.MonkeyPatch, scheduler: str) -> None:
    monkeypatch.setenv("RAG_ASSETS__WORKERS", "3")
    monkeypatch.setenv("RAG_ASSETS__EXECUTION__WORKERS", "dask")
    monkeypatch.setenv("RAG_ASSETS__EXECUTION__DASK_SCHEDULER", scheduler)


@pytest.mark.parametrize(
    ("daemonic", "scheduler", "workers"),
    [
        (True, "", "1 processes"),
        (True, "tcp://scheduler:8786", "1 dask"),
        (False, "", "3 dask"),
    ],
    ids=["celery-worker", "celery-worker-of-a-cluster", "process"],
)
def test_a_process_that_may_have_no_children_works_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, daemonic: bool, scheduler: str, workers: str
) -> None:
    _wants_dask(monkeypatch, scheduler)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(vars(multiprocessing.current_process())["_config"], "daemon", daemonic)
    _workers_here("answer")
    assert Path("answer").read_text(encoding="utf-8") == workers


def test_a_daemonic_process_is_one_that_may_have_no_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _wants_dask(monkeypatch, "")
    monkeypatch.chdir(tmp_path)
    process = multiprocessing.get_context("spawn").Process(target=_workers_here, args=["answer"], daemon=True)
    process.start()
    process.join()
    assert Path("answer").read_text(encoding="utf-8") == "1 processes"
