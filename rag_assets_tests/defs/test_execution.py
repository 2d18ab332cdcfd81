"""The executor that the settings name, and the one asset that other executors spread over steps."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from dagster import AssetKey, Definitions, GraphDefinition
from pydantic import ValidationError

from rag_assets.config_file import ConfigError
from rag_assets.defs import execution
from rag_assets.defs.execution import BACKEND_VARIABLE, BROKER_VARIABLE, concurrent_steps, executor_for
from rag_assets.defs.pipeline import pipeline, pipeline_for
from rag_assets.defs.resources import Workspace
from rag_assets.settings import ExecutionSettings, load_settings

BROKER = {BROKER_VARIABLE: "redis://:geheim@localhost:6379/0", BACKEND_VARIABLE: "redis://:geheim@localhost:6379/1"}
ELSEWHERE = ["multiprocess", "dask", "celery", "k8s"]


def settings(executor: str, **options: Any) -> ExecutionSettings:
    return ExecutionSettings.model_validate({"executor": executor, **options})


@pytest.fixture(autouse=True)
def broker(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in BROKER.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("executor", ["in_process", *ELSEWHERE])
def test_every_executor_loads_with_the_whole_pipeline(executor: str) -> None:
    definitions = pipeline_for(settings(executor), refining=True)
    Definitions.validate_loadable(definitions)
    assert definitions.resolve_job_def("index").executor_def.name == executor


def test_the_default_is_one_process_and_the_definitions_that_were_there_before() -> None:
    assert pipeline_for(ExecutionSettings(), refining=True) is pipeline
    script = "import sys, rag_assets.defs.pipeline; print([m for m in sys.modules if m.endswith(('.fan_out', 'dask'))])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]", "what other executors need costs nothing"


def test_without_a_model_that_is_asked_only_embedding_is_shared_out() -> None:
    steps = pipeline_for(settings("multiprocess")).resolve_job_def("index").graph.node_dict
    assert {name for name, node in steps.items() if isinstance(node.definition, GraphDefinition)} == {"embeddings"}
    steps = pipeline_for(settings("multiprocess"), refining=True).resolve_job_def("index").graph.node_dict
    assert {name for name, node in steps.items() if isinstance(node.definition, GraphDefinition)} == {
        "embeddings",
        "descriptions",
    }
    script = (
        "import sys; from rag_assets.defs.pipeline import pipeline_for; from rag_assets.settings import *;"
        "pipeline_for(ExecutionSettings(executor='multiprocess')); print('rag_assets.llm.service' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False", "the client of the model is not loaded"


def test_the_assets_are_the_same_whoever_executes_them() -> None:
    spreading = pipeline_for(settings("multiprocess"), refining=True)
    plain = {spec.key: spec for spec in pipeline.resolve_all_asset_specs()}
    spread = {spec.key: spec for spec in spreading.resolve_all_asset_specs()}
    assert plain == spread, "key, dependencies, group, kinds, code version, condition, partitions, description"
    checks = [
        {
            key: (graph.get(key).blocking, graph.get(key).description)
            for graph in [definitions.resolve_job_def("index").asset_layer.asset_graph]
            for key in graph.asset_check_keys
        }
        for definitions in (pipeline, spreading)
    ]
    assert checks[0] == checks[1]
    policies = [
        [graph.get(AssetKey(name)).backfill_policy for name in ("descriptions", "embeddings")]
        for definitions in (pipeline, spreading)
        for graph in [definitions.resolve_job_def("index").asset_layer.asset_graph]
    ]
    assert policies[0] == policies[1] and None not in policies[0]


@pytest.mark.parametrize(
    ("options", "steps"),
    [
        ({"executor": "in_process", "max_concurrent": 8}, 1),
        ({"executor": "multiprocess", "max_concurrent": 3}, 3),
        ({"executor": "multiprocess"}, 2),
        ({"executor": "dask"}, 2),
        ({"executor": "dask", "dask_scheduler": "tcp://scheduler:8786"}, 0),
        ({"executor": "dask", "dask_scheduler": "tcp://scheduler:8786", "max_concurrent": 40}, 40),
        ({"executor": "celery"}, 0),
        ({"executor": "k8s"}, 0),
    ],
    ids=lambda value: str(value),
)
def test_steps_at_a_time(options: dict[str, Any], steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "usable_cores", lambda: 2)
    assert concurrent_steps(ExecutionSettings(**options)) == steps


@pytest.mark.parametrize(
    ("executor", "module", "missing"),
    [
        ("dask", "rag_assets.defs.dask_steps", "distributed"),
        ("celery", "dagster_celery", "dagster_celery"),
        ("k8s", "dagster_k8s", "dagster_k8s"),
    ],
)
def test_an_executor_without_its_extra_says_what_to_install(
    executor: str, module: str, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ConfigError, match=rf"needs {missing}; run: pip install 'rag-assets\[{executor}\]'"):
        pipeline_for(settings(executor))


def test_celery_without_a_broker_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=f"needs {BROKER_VARIABLE} and {BACKEND_VARIABLE} in the environment"):
        executor_for(settings("celery"), {})


def test_the_password_of_the_broker_is_in_no_definition() -> None:
    made = executor_for(settings("celery"))
    assert "geheim" not in repr(made.config_schema.__dict__) + repr(vars(made))


def test_pods_are_those_of_the_settings() -> None:
    options = {"k8s_image": "registry.example.org/rag:1", "k8s_namespace": "rag", "max_concurrent": 7}
    found = execution._k8s(settings("k8s", **options))
    assert found == {"job_image": "registry.example.org/rag:1", "job_namespace": "rag", "max_concurrent": 7}
    assert execution._k8s(settings("k8s")) == {}, "what is left out comes from the run launcher"


@pytest.mark.parametrize("address", ["scheduler:8786", "http://scheduler", "tcp://me:secret@scheduler:8786"])
def test_a_scheduler_that_cannot_be_one_is_refused(address: str) -> None:
    with pytest.raises(ValidationError, match="not the address of a Dask scheduler"):
        settings("dask", dask_scheduler=address)


def test_the_code_location_uses_the_executor_of_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rag_assets.yaml").write_text("execution: {executor: multiprocess, max_concurrent: 3}\n")
    monkeypatch.chdir(tmp_path)
    from rag_assets.definitions import defs

    assert load_settings().execution.max_concurrent == 3
    found = defs.load_fn() if hasattr(defs, "load_fn") else defs()
    assert found.resolve_job_def("index").executor_def.name == "multiprocess"


def _workers_here(answer: str) -> None:
    Path(answer).write_text(str(Workspace().settings().workers), encoding="utf-8")


@pytest.mark.parametrize(("daemonic", "workers"), [(True, "1"), (False, "3")], ids=["celery-worker", "process"])
def test_a_process_that_may_have_no_children_works_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, daemonic: bool, workers: str
) -> None:
    monkeypatch.setenv("RAG_ASSETS__WORKERS", "3")
    monkeypatch.chdir(tmp_path)
    answer = tmp_path / "answer"
    process = multiprocessing.get_context("spawn").Process(target=_workers_here, args=[str(answer)], daemon=daemonic)
    process.start()
    process.join()
    assert answer.read_text(encoding="utf-8") == workers
