"""A real `dagster dev`, and runs launched through its GraphQL API as the UI does it.

Used by tests and by `benchmarks/dagster_runs.py`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from rag_assets_tests.processes import MARKER, free_port, marked, parent_of, running, until

ENDED = ("SUCCESS", "FAILURE", "CANCELED")
QUEUE, DIRECT = "queue", "default launcher"
"""Who launches a run: the daemon from its queue, or at once the webserver."""

_NOT_QUEUED = {"module": "dagster._core.run_coordinator.default_run_coordinator", "class": "DefaultRunCoordinator"}
_TRACKER = "multiprocessing.resource_tracker"  # one of a code server, for all of its runs
_FORKED = "multiprocessing.forkserver"
_RUN = "multiprocessing.spawn"
_READY = "{workspaceOrError{... on Workspace{locationEntries{locationOrLoadError{__typename}}}}}"
_LABELS = "{assetNodes{partitionKeys}}"
_REPOSITORY = "{repositoriesOrError{... on RepositoryConnection{nodes{name location{name}}}}}"
_LAUNCH = """mutation($run: ExecutionParams!) { launchRun(executionParams: $run) {
    __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message } } }"""
_STATUS = "query($run: ID!) { runOrError(runId: $run) { ... on Run { status } } }"
_TERMINATE = "mutation($run: String!) { terminateRun(runId: $run) { __typename } }"


@dataclass(frozen=True)
class DagsterDev:
    """A running `dagster dev` with the repository `shop`."""

    process: subprocess.Popen[bytes]
    log: Path
    port: int
    marker: str
    own: set[int] = field(default_factory=set)
    """Its processes when it had started."""

    def ask(self, query: str, **variables: Any) -> dict[str, Any]:
        body = json.dumps({"query": query, "variables": variables}).encode()
        address = f"http://127.0.0.1:{self.port}/graphql"
        request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as reply:
            found: dict[str, Any] = json.loads(reply.read())["data"]
            return found

    def wait_until_ready(self, label: str) -> None:
        """Until the code location is loaded, and its sensor has added the label to the partitions."""

        def loaded() -> bool:
            entries = self.ask(_READY)["workspaceOrError"].get("locationEntries", [])
            return [(entry["locationOrLoadError"] or {}).get("__typename") for entry in entries] == [
                "RepositoryLocation"
            ]

        until(loaded, "the code location is loaded")
        until(lambda: label in self.ask(_LABELS)["assetNodes"][0]["partitionKeys"], f"{label} is a partition")
        self.own.update(marked(self.marker))

    def launch(self, label: str) -> str:
        """Starts a run of the job `index` that takes nothing from earlier builds; its id."""
        (repository,) = self.ask(_REPOSITORY)["repositoriesOrError"]["nodes"]
        selector = {
            "repositoryName": repository["name"],
            "repositoryLocationName": repository["location"]["name"],
            "jobName": "index",
        }
        config = {"ops": {"discovered_files": {"config": {"force": True}}}}
        tags = [{"key": "dagster/partition", "value": label}]
        run = {"selector": selector, "runConfigData": config, "mode": "default", "executionMetadata": {"tags": tags}}
        found = self.ask(_LAUNCH, run=run)["launchRun"]
        assert found["__typename"] == "LaunchRunSuccess", found
        return str(found["run"]["runId"])

    def status(self, run: str) -> str:
        return str(self.ask(_STATUS, run=run)["runOrError"]["status"])

    def end_of(self, run: str) -> str:
        """Waits for the end of a run; its status."""
        until(lambda: self.status(run) in ENDED, "the run ends")
        return self.status(run)

    def terminate(self, run: str) -> None:
        """What the button *Terminate* does."""
        found = self.ask(_TERMINATE, run=run)["terminateRun"]
        assert found["__typename"] == "TerminateRunSuccess", found

    def of_runs(self) -> dict[int, str]:
        """The processes that runs have started, and theirs."""
        return {
            process: command
            for process, command in marked(self.marker).items()
            if process not in self.own and not (_TRACKER in command and self._is_own(process))
        }

    def wait_until_nothing_is_left(self, seconds: float) -> None:
        until(lambda: not self.of_runs(), f"the processes of the run have ended: {self.of_runs()}", seconds)

    def worked_on(self) -> int:
        """Waits until worker processes of a run are there; the process of that run."""
        until(lambda: sum(_FORKED in command for command in self.of_runs().values()) > 1, "workers have started")
        runs = {process for process, command in self.of_runs().items() if _RUN in command}
        (found,) = (process for process in runs if not self._is_child_of(process, runs))  # a copy reads files
        return found

    def _is_own(self, process: int) -> bool:
        return self._is_child_of(process, self.own)

    @staticmethod
    def _is_child_of(process: int, others: set[int]) -> bool:
        """True also of a process that has ended meanwhile."""
        try:
            return parent_of(process) in others
        except OSError:
            return True


@contextmanager
def dagster_dev(
    folder: Path, repository: Path, launched_by: str = QUEUE, *, with_ours: bool = False
) -> Iterator[DagsterDev]:
    """`dagster dev`, or `rag-assets dev` which starts it, with its files in `folder`, until the context ends."""
    instance = yaml.safe_load(files("rag_assets.defs").joinpath("dagster.yaml").read_text(encoding="utf-8"))
    instance["run_retries"] = {"enabled": False}  # a run that was killed shall not come back
    if launched_by == DIRECT:
        del instance["concurrency"]
        instance["run_coordinator"] = _NOT_QUEUED
    home, configuration = folder / "home", folder / "rag_assets.yaml"
    (home / "dagster").mkdir(parents=True, exist_ok=True)
    (home / "dagster" / "dagster.yaml").write_text(yaml.safe_dump(instance), encoding="utf-8")
    entry = {"id": "shop", "location": str(repository), "ref": "main"}
    settings = {"repositories": [entry], "embedder": {"provider": "lexical-only"}, "workers": 2}
    configuration.write_text(yaml.safe_dump(settings), encoding="utf-8")
    port, marker = free_port(), uuid.uuid4().hex
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("RAG_ASSETS", "DAGSTER"))}
    environment[MARKER] = marker
    if with_ours:
        command = ["-P", "-m", "rag_assets", "--home", str(home), "--config", str(configuration), "dev"]
    else:
        command = ["-m", "dagster", "dev", "-m", "rag_assets.definitions"]
        environment |= {
            "DAGSTER_HOME": str(home / "dagster"),
            "RAG_ASSETS_CONFIG": str(configuration),
            "RAG_ASSETS__HOME": str(home),
        }
    with ExitStack() as stack:
        log = stack.enter_context((folder / "dev.log").open("wb"))
        command = [sys.executable, *command, "--port", str(port)]
        process = stack.enter_context(running(command, env=environment, cwd=folder, stdout=log, stderr=log))
        found = DagsterDev(process, folder / "dev.log", port, marker)
        found.wait_until_ready("shop@main")
        yield found
