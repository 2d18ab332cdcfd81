"""Runs launched from the UI of a real `dagster dev` leave no process, however they end."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator

import pytest

from rag_assets_tests.cli.test_private_home import readable_by_others
from rag_assets_tests.deploy.dagster_dev import DIRECT, QUEUE, DagsterDev, dagster_dev
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.isolation.test_working_folder import SHADOWS, imported, write_shadows
from rag_assets_tests.processes import marked

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")

_FILES = {
    f"src/Area{n % 9}/Order{n}.cs": f"namespace Shop.Area{n % 9};\n\npublic class Order{n}\n{{\n"
    + "".join(f"    public int Count{m}(int before) => before + {m};\n" for m in range(8))
    + "}\n"
    for n in range(300)
}


@pytest.fixture(scope="module", params=[QUEUE, DIRECT])
def dev(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DagsterDev]:
    """The queue in `rag-assets dev`, started as a shell without job control does it: Ctrl-C is ignored. It works in a
    folder with modules that leave a trace where they are imported, and so is its home, which a clone may bring."""
    folder = tmp_path_factory.mktemp("dev") / "hostile"
    (folder / "home" / "dagster").mkdir(parents=True)
    repository = Repository.new(folder / "shop", _FILES)
    queue = request.param == QUEUE
    for shadowed in (folder, folder / "home" / "dagster") if queue else ():
        write_shadows(shadowed, folder.parent)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if queue else None
    with dagster_dev(folder, repository.path, request.param, with_ours=queue) as running:
        signal.signal(signal.SIGINT, before or signal.default_int_handler)
        yield running


@pytest.mark.parametrize("dev", [QUEUE], indirect=True)
def test_a_run_that_succeeds(dev: DagsterDev) -> None:
    run = dev.launch("shop@main")
    dev.worked_on()
    assert dev.end_of(run) == "SUCCESS"
    dev.wait_until_nothing_is_left(60)


def test_a_run_that_is_told_to_end_while_its_workers_work(dev: DagsterDev) -> None:
    run = dev.launch("shop@main")
    os.kill(dev.worked_on(), signal.SIGTERM)
    dev.wait_until_nothing_is_left(60)
    assert dev.end_of(run) == "FAILURE"


@pytest.mark.parametrize("dev", [QUEUE], indirect=True)
def test_a_run_that_is_terminated_in_the_ui(dev: DagsterDev) -> None:
    run = dev.launch("shop@main")
    dev.worked_on()
    dev.terminate(run)
    dev.wait_until_nothing_is_left(60)
    assert dev.end_of(run) == "CANCELED"


@pytest.mark.parametrize("dev", [QUEUE], indirect=True)
def test_a_run_whose_process_is_killed(dev: DagsterDev) -> None:
    run = dev.launch("shop@main")
    os.kill(dev.worked_on(), signal.SIGKILL)
    dev.wait_until_nothing_is_left(60)
    assert dev.end_of(run) == "FAILURE"


@pytest.mark.parametrize("dev", [QUEUE], indirect=True)
def test_rag_assets_dev_ends_with_everything_that_it_started(dev: DagsterDev) -> None:
    dev.launch("shop@main")
    dev.worked_on()
    dev.process.terminate()
    assert dev.process.wait(60) == 0
    assert marked(dev.marker) == {}
    said = dev.log.read_text(encoding="utf-8").splitlines()
    assert said[0].startswith(f"Dagster is at http://127.0.0.1:{dev.port}; Ctrl-C ends it.")
    assert said[1:] == ["stopping Dagster and its runs", "stopped"]
    home = dev.log.parent / "home"
    files = ("dagster.yaml", *(f"{name}.py" for name in SHADOWS))
    made_before = [f"drwxr-xr-x {folder}" for folder in (".", "dagster")] + [f"-rw-r--r-- dagster/{f}" for f in files]
    assert (home / "dagster" / "history").is_dir()
    assert set(readable_by_others(home)) <= set(made_before), "what it writes is for its owner alone"
    assert imported(dev.log.parent) == [], "neither of the folder it works in, nor of that of Dagster"
