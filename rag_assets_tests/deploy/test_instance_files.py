"""The Dagster instances of deploy/: launchers take their configuration; the rest is that of the Postgres variant."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from dagster import Field
from dagster._config import process_config

from rag_assets_tests.deploy.test_compose import COMPOSE, SERVICES

DEPLOY = Path(__file__).parents[2] / "deploy"
LAUNCHERS = {"docker": "dagster_docker", "k8s": "dagster_k8s"}


def instance_file(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / f"dagster.{name}.yaml").read_text(encoding="utf-8"))
    return found


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_ASSETS_IMAGE", "registry.example.org/rag-assets:1")


@pytest.mark.parametrize("name", LAUNCHERS)
def test_a_launcher_takes_its_configuration(name: str) -> None:
    pytest.importorskip(LAUNCHERS[name], reason=f"pip install 'rag-assets[{name}]'")
    described = instance_file(name)["run_launcher"]
    launcher = getattr(import_module(described["module"]), described["class"])
    schema = Field(launcher.config_type()).config_type
    done = process_config(schema, described["config"])
    assert done.success, [error.message for error in done.errors or []]
    image = done.value["image" if name == "docker" else "job_image"]
    assert image == "registry.example.org/rag-assets:1"
    assert not process_config(schema, described["config"] | {"imagee": "x"}).success, "a misspelled key is refused"


def test_runs_in_containers_reach_the_databases_and_the_world_outside() -> None:
    launcher = instance_file("docker")["run_launcher"]["config"]
    networks = {name.removeprefix(f"{COMPOSE['name']}_"): name for name in launcher["networks"]}
    declared = COMPOSE["networks"]
    assert networks.keys() <= declared.keys()
    for service in ("postgres", "qdrant"):
        assert networks.keys() & set(SERVICES[service]["networks"]), service
    assert any(not (declared[name] or {}).get("internal") for name in networks), "git and object stores are outside"


def test_runs_in_containers_have_the_environment_and_the_files_of_the_code_location() -> None:
    launcher = instance_file("docker")["run_launcher"]["config"]
    code = SERVICES["code"]
    assert {entry.partition("=")[0] for entry in launcher["env_vars"]} == set(code["environment"])
    inside = {mount.split(":")[1] for mount in launcher["container_kwargs"]["volumes"]}
    wanted = {mount.split(":")[1] for mount in code["volumes"]}
    assert wanted - inside == {"/srv/dagster/dagster.yaml", "/etc/rag-assets/workspace.yaml"}, "of daemon and webserver"


@pytest.mark.parametrize("name", LAUNCHERS)
def test_all_but_the_launcher_is_the_same(name: str) -> None:
    found = instance_file(name)
    del found["run_launcher"]
    assert found == instance_file("postgres")


def test_the_worker_file_of_celery_has_the_levels_that_it_looks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    executor = pytest.importorskip("dagster_celery.executor", reason="pip install 'rag-assets[celery]'")
    monkeypatch.setenv("RAG_ASSETS_CELERY_BROKER", "redis://localhost:6379/0")
    monkeypatch.setenv("RAG_ASSETS_CELERY_BACKEND", "redis://localhost:6379/1")
    found = yaml.safe_load((DEPLOY / "celery.yaml").read_text(encoding="utf-8"))["execution"]["config"]
    done = process_config(executor.CELERY_CONFIG, found)
    assert done.success and done.value["broker"] == "redis://localhost:6379/0"
