"""The three commands of docker-compose.yml as processes of this machine: code location, webserver, daemon.

They differ from the compose file in addresses, and in the storage, which is SQLite here.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
import yaml

from rag_assets_tests.deploy.test_compose import SERVICES
from rag_assets_tests.deploy.test_instance_files import DEPLOY, instance_file
from rag_assets_tests.processes import free_port, running, until

_QUESTION = """{
  workspaceOrError { ... on Workspace { locationEntries { loadStatus locationOrLoadError {
    __typename
    ... on RepositoryLocation { repositories { jobs { name } schedules { name } sensors { name } } }
    ... on PythonError { message }
  } } } }
  instance { daemonHealth { allDaemonStatuses { daemonType healthy required } } }
}"""


@dataclass(frozen=True)
class Server:
    """The running processes, and where the webserver answers."""

    address: str
    environment: dict[str, str]

    def ask(self) -> dict[str, object]:
        body = json.dumps({"query": _QUESTION}).encode()
        request = urllib.request.Request(f"{self.address}/graphql", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=20) as reply:
            found: dict[str, object] = json.loads(reply.read())["data"]
            return found


def adapted(words: list[str], ports: dict[str, int], workspace: Path) -> list[str]:
    """A command of the compose file on loopback, at free ports."""
    places = {"0.0.0.0": "127.0.0.1", "/etc/rag-assets/workspace.yaml": str(workspace)}
    words = [places.get(word, str(ports.get(word, word))) for word in words]
    return [str(Path(sys.executable).with_name(words[0])), *words[1:]]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("deploy")
    ports = {"4000": free_port(), "3000": free_port()}
    instance = instance_file("postgres")
    del instance["storage"]
    (folder / "dagster").mkdir()
    (folder / "dagster" / "dagster.yaml").write_text(yaml.safe_dump(instance), encoding="utf-8")
    workspace = yaml.safe_load((DEPLOY / "workspace.yaml").read_text(encoding="utf-8"))
    workspace["load_from"][0]["grpc_server"] |= {"host": "127.0.0.1", "port": ports["4000"]}
    (folder / "workspace.yaml").write_text(yaml.safe_dump(workspace), encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAG_ASSETS")}
    environment |= {
        "DAGSTER_HOME": str(folder / "dagster"),
        "RAG_ASSETS_CONFIG": str(DEPLOY / "rag_assets.example.yaml"),
        "RAG_ASSETS__HOME": str(folder / "home"),
        "PYTHONPATH": str(DEPLOY.parent),
    }
    with ExitStack() as processes:
        for service in ("code", "webserver", "daemon"):
            log = processes.enter_context((folder / f"{service}.log").open("wb"))
            command = adapted(SERVICES[service]["command"], ports, folder / "workspace.yaml")
            options = {"env": environment, "cwd": folder, "stdout": log, "stderr": subprocess.STDOUT}
            processes.enter_context(running(command, **options))
            if service == "code":  # the others wait until it is healthy
                check = adapted(SERVICES["code"]["healthcheck"]["test"][1:], ports, folder / "workspace.yaml")
                until(lambda: answers(ports["4000"]), "the code location listens")  # to ask it takes a process
                until(partial(succeeds, check, environment), "the code location is healthy")
        yield Server(f"http://127.0.0.1:{ports['3000']}", environment)


def answers(port: int) -> bool:
    with socket.create_connection(("127.0.0.1", port), timeout=5):
        return True


def succeeds(command: list[str], environment: dict[str, str]) -> bool:
    return subprocess.run(command, env=environment, capture_output=True, check=False).returncode == 0


def test_the_code_location_is_loaded_and_has_its_jobs(server: Server) -> None:
    def loaded() -> bool:
        (entry,) = server.ask()["workspaceOrError"]["locationEntries"]  # type: ignore[index]
        return bool(entry["loadStatus"] == "LOADED" and entry["locationOrLoadError"])

    until(loaded, "the webserver has loaded the code location")
    (entry,) = server.ask()["workspaceOrError"]["locationEntries"]  # type: ignore[index]
    found = entry["locationOrLoadError"]
    assert found["__typename"] == "RepositoryLocation", found
    (repository,) = found["repositories"]
    assert "index" in {job["name"] for job in repository["jobs"]}
    assert "nightly" in {schedule["name"] for schedule in repository["schedules"]}
    assert "commits" in {sensor["name"] for sensor in repository["sensors"]}


def test_every_daemon_is_healthy_and_the_health_check_of_the_compose_file_says_so(server: Server) -> None:
    def healthy() -> bool:
        statuses = server.ask()["instance"]["daemonHealth"]["allDaemonStatuses"]  # type: ignore[index]
        return all(status["healthy"] for status in statuses if status["required"])

    until(healthy, "all daemons have sent a heartbeat")
    check = adapted(SERVICES["daemon"]["healthcheck"]["test"][1:], {}, Path())
    assert succeeds(check, server.environment)
