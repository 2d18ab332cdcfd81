"""The workers of a Dask cluster as a worker pool: a cluster whose scheduler somebody started, or one on this machine.

Workers read and write the home, so they must see the same one: a shared file system. They open none of its SQLite
caches from another machine, which SQLite does not allow: what a task puts into a cache there travels back with its
result. Where a worker dies another one does its tasks again; a task is a pure function of the home, so no byte changes.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import importlib.metadata
import pickle
import platform
import re
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Future, InvalidStateError
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import distributed

from rag_assets.entry_points import offered
from rag_assets.errors import ClusterError, ClusterLost, WorkersDied
from rag_assets.index.cache import CacheEntries, keep_entries, set_entries_aside
from rag_assets.index.layout import IndexHome, write_atomically
from rag_assets.models.cpu_count import usable_cores
from rag_assets.pipeline.workers.process_pool import call_at_exit, collecting_seldom, main_left_out, may_die
from rag_assets.printable import abridged

R = TypeVar("R")

CONNECT_SECONDS = 15.0
"""For the scheduler, and then for its first worker: a pod that is being started takes some seconds."""

LONELY_SECONDS = 60.0
"""Without any worker: a nanny restarts one in 3 s, an autoscaler in half a minute."""

_ANY_PORT = "127.0.0.1:0"  # any that is free: 8787 may be taken, and None means it
_LOOK_SECONDS = 2.0  # between two looks at the workers
_MARKER = "workers.token"
_SHOWN = 5  # differences of one worker, and workers, in an error
_START = "dask worker {address} --nthreads 1"
_USE_PROCESSES = "or set execution.workers: processes"


class DaskPool:
    """A connection to a cluster; a `pipeline.workers.worker_pool.WorkerPool`. Safe to use from several threads."""

    def __init__(
        self, client: distributed.Client, scheduler: str, workers: int, local: distributed.LocalCluster | None
    ) -> None:
        self._client = client
        self._scheduler = scheduler
        self._workers = workers
        self._local = local
        self._address: str = client.scheduler.address
        self._admission: _Admission | None = None
        self._markers: dict[Path, str] = {}
        self._waiting: dict[str, tuple[distributed.Future, Future[Any]]] = {}
        self._closed = threading.Event()
        threading.Thread(target=self._watch, name="watch-dask-workers", daemon=True).start()
        atexit.register(self.close)
        self._at_exit = call_at_exit(self.close)

    @classmethod
    def open(cls, scheduler: str, workers: int) -> DaskPool:
        """Connects to the scheduler at this address; empty: starts a cluster of `workers` processes on this machine.
        Raises ClusterLost where nobody answers."""
        if scheduler:
            return cls(_connected(scheduler), scheduler, workers, None)
        with main_left_out():
            local = distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=_ANY_PORT)
        return cls(distributed.Client(local, set_as_default=False), scheduler, workers, local)

    def is_for(self, scheduler: str, workers: int) -> bool:
        """Whether this is the pool that `open` would make, and it can still be used."""
        same = self._scheduler == scheduler and (bool(scheduler) or self._workers == workers)
        return same and self._client.status == "running"

    @property
    def size(self) -> int:
        return max(1, len(self._client.nthreads()))

    @property
    def threads_of_a_task(self) -> int:
        """Of a model: the share of a worker in this machine; 0 on others, which know their cores themselves."""
        return max(1, usable_cores() // self._workers) if self._local is not None else 0

    def admit(self, home: IndexHome, label: str) -> None:
        """Makes sure that all workers see this home and have what is installed here; workers that join later are asked
        with their first task. Raises ClusterError naming the workers and what they lack."""
        marker = home.label(label) / _MARKER
        if marker in self._markers:
            return
        try:
            self._client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except (TimeoutError, OSError) as error:
            raise ClusterLost(self._no_workers()) from error
        token = uuid.uuid4().hex
        write_atomically(marker, token.encode())
        self._markers[marker] = token
        admission = _Admission(str(marker.absolute()), token, tuple(sorted(installed().items())), machine())
        try:
            self._check(admission)
        except BaseException:
            self._forget(marker)
            raise
        self._admission = admission

    def _check(self, admission: _Admission) -> None:
        try:
            of_scheduler = self._client.run_on_scheduler(installed)
        except Exception as error:
            raise ClusterError(
                f"the Dask scheduler {self._address} cannot load rag_assets: {error}; {_install_here()}"
            ) from error
        different = _differences(dict(admission.installed), of_scheduler)
        problems = {f"Dask scheduler {self._address}": different} if different else {}
        for worker, answer in self._client.run(admission.problem, on_error="return").items():
            if answer:
                no_answer = f"cannot load rag_assets: {answer}; {_install_here()}"
                problems[f"Dask worker {worker}"] = answer if isinstance(answer, str) else no_answer
        if problems:
            shown = [f"{who} {what}" for who, what in sorted(problems.items())][:_SHOWN]
            more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
            raise ClusterError("; ".join(shown) + more)

    def submit(self, tasks: Sequence[Callable[[], R]]) -> list[Future[R]]:
        assert self._admission is not None, "no task before the workers were asked"
        begun: list[Future[R]] = []
        for task in tasks:
            data = pickle.dumps(task, protocol=pickle.HIGHEST_PROTOCOL)  # what cannot be sent is raised as it is
            key = f"rag-assets-{uuid.uuid4().hex}"
            mine: Future[R] = Future()
            theirs = self._client.submit(run_task, self._admission, data, key=key, pure=False)
            self._waiting[key] = theirs, mine
            mine.add_done_callback(partial(self._cancel, key))
            theirs.add_done_callback(partial(self._ended, key))
            begun.append(mine)
        return begun

    def close(self) -> None:
        """Leaves the cluster; one of our own ends."""
        if self._closed.is_set():
            return
        self._closed.set()
        atexit.unregister(self.close)
        self._at_exit.cancel()
        for marker in list(self._markers):
            self._forget(marker)
        self._fail(f"the connection to the Dask scheduler {self._address} was closed")
        self._client.close()
        if self._local is not None:
            self._local.close()

    def _cancel(self, key: str, mine: Future[Any]) -> None:
        if mine.cancelled():
            found = self._waiting.pop(key, None)
            if found is not None:
                found[0].cancel()

    def _ended(self, key: str, theirs: distributed.Future) -> None:
        """In a thread of the client."""
        found = self._waiting.pop(key, None)
        if found is None:
            return
        mine = found[1]
        with contextlib.suppress(InvalidStateError):  # cancelled in this moment
            try:
                outcome: TaskResult = theirs.result()
                keep_entries(outcome.entries)
                mine.set_result(outcome.result)
            except CancelledError:
                why = (
                    f"the Dask scheduler {self._address} was lost during the work; finished buckets are kept; start it "
                    f"(dask scheduler), then run it again, {_USE_PROCESSES}"
                )
                mine.set_exception(ClusterLost(why))
            except distributed.scheduler.KilledWorker as error:
                why = (
                    f"one bucket ended {error.allowed_failures + 1} Dask workers of {self._address} one after the "
                    f"other, the last at {error.last_worker.address}, probably for want of memory; finished buckets "
                    f"are kept; start workers with more (dask worker --memory-limit), then run it again, "
                    f"{_USE_PROCESSES}"
                )
                mine.set_exception(WorkersDied(why))
            except Exception as error:
                mine.set_exception(error)

    def _watch(self) -> None:
        """Tasks wait for ever where no worker is left."""
        seen = time.monotonic()
        while not self._closed.wait(_LOOK_SECONDS):
            try:
                alone = bool(self._waiting) and not self._client.nthreads()
            except Exception:
                alone = bool(self._waiting)
            if not alone:
                seen = time.monotonic()
            elif time.monotonic() - seen > LONELY_SECONDS:
                self._fail(self._no_workers())

    def _fail(self, why: str) -> None:
        for key in list(self._waiting):
            found = self._waiting.pop(key, None)
            if found is not None:
                with contextlib.suppress(InvalidStateError):
                    found[1].set_exception(ClusterLost(why))

    def _forget(self, marker: Path) -> None:
        self._markers.pop(marker, None)
        marker.unlink(missing_ok=True)

    def _no_workers(self) -> str:
        return (
            f"the Dask scheduler {self._address} has no workers; finished buckets are kept; start workers that see the "
            f"same home ({_START.format(address=self._address)}), then run it again, {_USE_PROCESSES}"
        )


def _connected(scheduler: str) -> distributed.Client:
    try:
        return distributed.Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError) as error:
        raise ClusterLost(
            f"the Dask scheduler {scheduler} (execution.dask_scheduler) does not answer: {error}; start it (dask "
            f"scheduler) with workers ({_START.format(address=scheduler)}), {_USE_PROCESSES}"
        ) from error


@dataclass(frozen=True, slots=True)
class TaskResult:
    """What comes back from a worker: the result of a task, and what it put into caches."""

    result: Any
    entries: CacheEntries = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Admission:
    """What a worker must see and have: the file `marker` with `token` in it, and the packages that are `installed` on
    the `machine` which hands out the work."""

    marker: str
    token: str
    installed: tuple[tuple[str, str], ...]
    machine: str

    def problem(self) -> str:
        """Why this process must not work on tasks; empty: it may."""
        try:
            found = Path(self.marker).read_bytes().decode(errors="replace")
        except OSError:
            found = ""
        if found != self.token:
            return (
                f"(on {platform.node()}) does not see the same home: {self.marker} is not there or another file; "
                f"mount the home there under the same path (a shared file system), {_USE_PROCESSES}"
            )
        return _differences(dict(self.installed), installed())


_one_at_a_time = threading.Lock()
_admitted: set[_Admission] = set()


def run_task(admission: _Admission, data: bytes) -> TaskResult:
    """Runs on a Dask worker: one task at a time in each process, whatever its number of threads. Raises ClusterError
    where this worker joined later and may not work."""
    with _one_at_a_time:
        if admission not in _admitted:
            problem = admission.problem()
            if problem:
                raise ClusterError(f"a Dask worker {problem}")
            _admitted.add(admission)
            may_die()  # a nanny starts another one
        with collecting_seldom():
            if admission.machine == machine():
                return TaskResult(pickle.loads(data)())
            with set_entries_aside() as entries:
                return TaskResult(pickle.loads(data)(), entries)


@cache
def machine() -> str:
    """Equal for processes of one kernel, in whatever container: these may open the same SQLite files."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return platform.node()


@cache
def installed() -> Mapping[str, str]:
    """Name → version of all that decides the bytes of a build: Python, this package with a digest of its sources, what
    it requires, and the packages that add builders and rules to it."""
    own = importlib.metadata.distribution("rag-assets")
    required = [text for text in own.requires or () if "extra ==" not in text]
    names = {found[0] for text in required if (found := re.match(r"[\w.-]+", text))}
    plugins = {point.dist.name for group in _PLUGIN_GROUPS for point in offered(group) if point.dist is not None}
    versions = {name: _version(name) for name in names | plugins}
    digest = hashlib.sha256()
    root = Path(__file__).parents[2]  # of the package
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return versions | {
        "python": ".".join(platform.python_version_tuple()[:2]),
        "rag-assets": f"{own.version} (sources {digest.hexdigest()[:12]})",
    }


_PLUGIN_GROUPS = ("rag_assets.builders", "rag_assets.extractors", "rag_assets.rule_packs")


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "none"


def _differences(wanted: Mapping[str, str], found: Mapping[str, str]) -> str:
    different = [
        f"{name} {found.get(name, 'none')} instead of {wanted.get(name, 'none')}"
        for name in sorted(wanted.keys() | found.keys())
        if wanted.get(name) != found.get(name)
    ]
    if not different:
        return ""
    return f"has {abridged(different, _SHOWN)}; {_install_here()}"


def _install_here() -> str:
    version = importlib.metadata.version("rag-assets")
    return f"install there what is installed here (rag-assets[dask] {version}), or use one image, {_USE_PROCESSES}"
