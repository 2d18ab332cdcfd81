"""Buckets in worker processes: order, errors, dying workers, a killed parent, and the same bytes as in one process."""

from __future__ import annotations

import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from multiprocessing import forkserver, get_context
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from rag_assets.index import parquet_parts
from rag_assets.pipeline import run_stages
from rag_assets.pipeline.build import BuildError, IndexBuild, StageReport
from rag_assets.pipeline.eval_runs import evaluate
from rag_assets.pipeline.progress import Silent
from rag_assets.pipeline.workers import worker_pool
from rag_assets.pipeline.workers.file_guard import Attempts
from rag_assets.pipeline.workers.process_pool import ProcessPool
from rag_assets.pipeline.workers.worker_pool import Broadcast, beside, broadcast, map_buckets, workers_for
from rag_assets_tests import one_process
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.pipeline.bucket_work import (
    Unpicklable,
    bucket_and_process,
    build_of_buckets,
    daemonic_process,
    dying_in_a_worker,
    failing_on_two,
    hanging_in_a_worker,
    size_and_process,
    stopped_while_it_sends,
    task_beside,
    workers_with_a_large_value,
    working_process,
)
from rag_assets_tests.pipeline.conftest import Built, built, lexical
from rag_assets_tests.pipeline.test_rebuilds import tables as digests
from rag_assets_tests.processes import until

BuildOf = Callable[[Mapping[str, str | bytes]], Built]


@pytest.fixture(autouse=True)
def own_pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(ProcessPool, "given_up", "")
    monkeypatch.setattr(ProcessPool, "_are_copies", False)
    monkeypatch.setattr(ProcessPool, "are_plain_copies", False)
    monkeypatch.setattr(
        worker_pool._log, "disabled", False
    )  # a logging configuration of an earlier test may have done it
    with one_process.one_worker():
        yield
    ProcessPool.close()


def test_results_come_in_bucket_order_from_other_processes(tmp_path: Path) -> None:
    found = list(map_buckets(bucket_and_process, build_of_buckets(tmp_path, 6), "now"))
    assert [bucket for bucket, _, _ in found] == list(range(6))
    assert os.getpid() not in {process for _, process, _ in found}
    assert {started for _, _, started in found} == {"now"}


@pytest.mark.parametrize(("buckets", "processes"), [(1, 2), (6, 1)], ids=["one bucket", "one worker"])
def test_small_work_stays_here(tmp_path: Path, buckets: int, processes: int) -> None:
    found = list(map_buckets(bucket_and_process, build_of_buckets(tmp_path, buckets, processes), ""))
    assert {process for _, process, _ in found} == {os.getpid()}


def test_workers_are_bounded(tmp_path: Path) -> None:
    assert workers_for(build_of_buckets(tmp_path, 3, 8)) == 3
    assert workers_for(build_of_buckets(tmp_path, 100, 0)) <= worker_pool.MAX_WORKERS


def test_what_a_worker_raises_is_raised_here(tmp_path: Path) -> None:
    found = map_buckets(failing_on_two, build_of_buckets(tmp_path, 5))
    assert [next(found), next(found)] == [0, 1]
    with pytest.raises(BuildError, match="bucket 2 cannot be read"):
        next(found)
    assert list(map_buckets(bucket_and_process, build_of_buckets(tmp_path, 2), "")), "the pool goes on"


def test_dying_workers_lose_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whoever configures logging in this process before, as migrations of Dagster's storage do, disables known loggers.
    monkeypatch.setattr(logging.getLogger(worker_pool.__name__), "disabled", False)
    build = build_of_buckets(tmp_path, 5)
    assert list(map_buckets(dying_in_a_worker, build, os.getpid())) == [0, 1, 2, 3, 4]
    assert "going on with one process" in caplog.text
    assert workers_for(build) == 1, "they would die again"


def test_work_on_files_has_begun_before_a_result_is_asked_for(tmp_path: Path) -> None:
    build = build_of_buckets(tmp_path, 1)
    found = map_buckets(hanging_in_a_worker, build, os.getpid(), attempts=Attempts(build.directory, "any"))
    until((tmp_path / "begun").exists, "nothing has begun")
    found.close()  # type: ignore[attr-defined] # nobody waits for it, and its process ends


@pytest.mark.skipif(sys.platform == "win32", reason="processes are started without a server there")
def test_where_no_process_can_be_started_the_work_is_done_here(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    ProcessPool.close()
    first = _kill_the_server_of_processes_while_it_starts_one()
    worker_pool._start(2)
    os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)  # seen as dead: else the next one is taken for it
    _kill_the_server_of_processes_while_it_starts_one()
    found = list(map_buckets(bucket_and_process, build_of_buckets(tmp_path, 5), ""))
    assert [(bucket, process) for bucket, process, _ in found] == [(bucket, os.getpid()) for bucket in range(5)]
    assert "going on with one process" in caplog.text
    assert "Traceback" not in capfd.readouterr().err


def _kill_the_server_of_processes_while_it_starts_one() -> int:
    forkserver.ensure_running()
    server: int = forkserver._forkserver._forkserver_pid  # type: ignore[attr-defined]
    os.kill(server, signal.SIGSTOP)
    threading.Timer(0.3, os.kill, (server, signal.SIGKILL)).start()
    return server


PARENT = """
import os
import sys
from pathlib import Path
from rag_assets_tests.pipeline.bucket_work import bucket_and_process, build_of_buckets
from rag_assets.pipeline.workers.worker_pool import map_buckets
found = list(map_buckets(bucket_and_process, build_of_buckets(Path(sys.argv[1]), 6), ""))
print(*sorted({process for _, process, _ in found} - {os.getpid()}), flush=True)
sys.stdin.read()
"""


def test_a_script_without_a_guard_runs_once(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(PARENT, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path)], input="", capture_output=True, text=True, env=environment
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1
    assert done.stdout.split(), "worked on by other processes"


@pytest.mark.skipif(sys.platform == "win32", reason="asks for processes with signal 0")
def test_workers_do_not_outlive_a_killed_parent(tmp_path: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    alive = {int(process) for process in parent.stdout.readline().split()}
    assert alive
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 20
    while alive and time.monotonic() < deadline:
        alive = {process for process in alive if _is_running(process)}
        time.sleep(0.05)
    assert not alive


@pytest.mark.parametrize(
    ("workers", "hang"),
    [("processes", False), ("processes", True), ("dask", True)],
    ids=["done", "told to end while workers work", "told to end while workers of Dask work"],
)
def test_a_process_that_multiprocessing_made_ends_with_its_workers(tmp_path: Path, workers: str, hang: bool) -> None:
    process = get_context("spawn").Process(target=working_process, args=(tmp_path, workers, hang))
    process.start()
    try:
        if hang:
            until((tmp_path / "begun").exists, "a worker has begun")
            process.terminate()
        process.join(10 if hang else 60)
        assert process.exitcode == (3 if hang else 0)
    finally:
        process.kill()


def test_a_worker_ends_with_the_others_although_its_start_was_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dagster raises in the run's thread when that is told to end, wherever it is."""
    started, start = [], BaseProcess.start

    def interrupted(process: BaseProcess) -> None:
        start(process)
        started.append(process)
        if len(started) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(BaseProcess, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ProcessPool(2).submit([partial(time.sleep, 600)] * 2)
    ProcessPool.kill()
    for process in started:
        process.join(20)
    assert [process.is_alive() for process in started] == [False, False]


TOLD_WHILE_COPIED = """\
import os, signal, sys
from rag_assets.pipeline.workers.process_pool import ProcessPool
def told(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGTERM, told)
os.register_at_fork(after_in_parent=lambda: os.kill(os.getpid(), signal.SIGTERM))
try:
    ProcessPool(1).submit([os.getpid])
except KeyboardInterrupt:
    ProcessPool.kill()
    print(ProcessPool.are_plain_copies, signal.getsignal(signal.SIGTERM) is told)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only there workers are copies of the process")
def test_who_is_told_to_end_while_it_copies_itself_ends() -> None:
    done = subprocess.run([sys.executable, "-c", TOLD_WHILE_COPIED], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("True True\n", "")


@pytest.mark.skipif(sys.platform == "win32", reason="stops a process by a signal")
def test_a_worker_is_killed_in_the_middle_of_its_result(tmp_path: Path) -> None:
    ProcessPool(2).submit([partial(stopped_while_it_sends, tmp_path / "stopped")])
    until((tmp_path / "stopped").exists, "a worker sends its result")
    killing = threading.Thread(target=ProcessPool.kill, daemon=True)
    killing.start()
    killing.join(20)
    assert not killing.is_alive()


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_the_number_of_workers_changes_no_byte(
    tmp_path: Path, shop_source: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_parts, "FILES_PER_BUCKET", 6)
    one, several = (
        built(shop_source, lexical(tmp_path / str(number)).model_copy(update={"workers": number})) for number in (1, 3)
    )
    assert one.build.spec.bucket_count > 3
    assert digests(one.build.directory) == digests(several.build.directory)
    for stage, report in one.reports.items():
        other = several.reports[stage]
        assert (report.work.pop("milliseconds", None) is None) == (other.work.pop("milliseconds", None) is None)
        assert replace(report, tables={}) == replace(other, tables={})


def test_a_daemonic_process_has_its_files_worked_on_by_another_one(tmp_path: Path) -> None:
    answer = tmp_path / "answer"
    process = get_context("spawn").Process(target=daemonic_process, args=(tmp_path, answer), daemon=True)
    process.start()
    process.join(60)
    assert (process.exitcode, answer.read_text(encoding="utf-8")) == (0, "True True")


def test_a_build_without_worker_processes_says_what_that_means(
    build_of: BuildOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ProcessPool, "given_up", "no process could be started: no memory")
    made = build_of({"src/A.cs": "class A { }"})
    (said,) = made.reports["active_index"].problems
    assert "without the limits of time and memory for each file" in said and said.endswith("started: no memory")


def test_a_value_that_went_to_workers_is_read_back_here_where_they_die(tmp_path: Path) -> None:
    value = {"a": 1}
    made = Broadcast(tmp_path, value)
    assert made.value is value
    copy = pickle.loads(pickle.dumps(made))
    assert copy.value == made.value == value and made.value is not value
    made.forget()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="plain copies of a process")
@pytest.mark.parametrize(
    ("buckets", "beside", "name"),
    [(2, False, "Unpicklable"), (2, True, "dict"), (6, False, "Unpicklable"), (6, True, "dict")],
    ids=["one worker", "one, another thread", "several workers", "several, another thread"],
)
def test_workers_have_a_large_value_without_pickling_also_after_a_death(
    tmp_path: Path, buckets: int, beside: bool, name: str
) -> None:
    """With another thread the process is not copied as it is: the value is pickled then."""
    answer = tmp_path / "answer"
    target = workers_with_a_large_value
    process = get_context("spawn").Process(target=target, args=(tmp_path, answer, buckets, beside), daemon=True)
    process.start()
    process.join(60)
    said, _, are_two = answer.read_text(encoding="utf-8").rpartition(" ")
    assert (process.exitcode, said) == (0, f"{[name] * buckets} False")
    assert buckets > 2 or are_two == "True", "one worker, and the one after its death; of several one may do all"


@pytest.mark.skipif(sys.platform != "linux", reason="plain copies of a process")
@pytest.mark.parametrize("dies", [False, True], ids=["alive", "killed"])
def test_a_task_is_done_beside_this_process_or_here_where_that_dies(tmp_path: Path, dies: bool) -> None:
    """And within a worker there is no other."""
    answer = tmp_path / "answer"
    process = get_context("spawn").Process(target=task_beside, args=(tmp_path, answer, dies), daemon=True)
    process.start()
    process.join(60)
    assert (process.exitcode, answer.read_text(encoding="utf-8")) == (0, f"{not dies} {not dies} True")


def test_a_task_is_done_here_where_no_process_is_at_hand() -> None:
    assert beside(os.getpid)() == os.getpid()


def test_a_value_that_cannot_be_sent_leaves_no_file(tmp_path: Path) -> None:
    made = Broadcast(tmp_path, [bytes(100_000), Unpicklable()])
    for _ in range(2):
        with pytest.raises(OSError, match="No space left"):
            pickle.dumps(made)
    made.forget()
    assert list(tmp_path.iterdir()) == []


def test_what_killed_processes_sent_to_workers_is_in_no_generation(
    tmp_path: Path, build_of: BuildOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed_in_between(build: IndexBuild, *_: object) -> StageReport:
        (build.directory / "broadcast-1.pickle").write_bytes(b"of a stage that died after discovery")
        return evaluate(build, Silent(), "")  # the run is repeated from there

    monkeypatch.setattr(run_stages, "evaluate", killed_in_between)
    made = build_of({"src/A.cs": "class A { }"})
    assert made.build.is_finished
    assert list(made.build.directory.glob("*.pickle")) == []


def processes_that_had(build: IndexBuild, size: int) -> set[int]:
    with broadcast(build, bytes(size)) as shared:
        found = list(map_buckets(size_and_process, build, shared))
    assert {length for length, _ in found} == {size}
    return {process for _, process in found}


def test_processes_that_had_a_large_value_are_replaced(tmp_path: Path) -> None:
    build = build_of_buckets(tmp_path, 6)
    build.directory.mkdir(parents=True)
    first = processes_that_had(build, 1000)
    large = processes_that_had(build, worker_pool._LARGE_BROADCAST + 1)
    assert large & first, "a small one is no reason"
    assert not processes_that_had(build, 1000) & large


def test_what_was_submitted_is_done_although_the_pool_is_closed_meanwhile(tmp_path: Path) -> None:
    found = map_buckets(bucket_and_process, build_of_buckets(tmp_path, 6), "")
    first = next(found)
    ProcessPool.close()
    list(map_buckets(bucket_and_process, build_of_buckets(tmp_path, 6, 3), ""))  # as many as another label wants
    assert [bucket for bucket, _, _ in (first, *found)] == list(range(6))
