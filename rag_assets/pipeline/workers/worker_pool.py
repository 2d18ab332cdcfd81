"""Buckets of a stage worked on by a pool: Python parses on one core at a time, a repository has many files.

The setting `execution.workers` chooses the pool: processes of this machine, or the workers of a Dask cluster. Every
bucket reads its own parts and writes its own, so pool, order and number of workers change no byte of the result.
"""

from __future__ import annotations

import functools
import gc
import logging
import pickle
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Protocol, Self, TypeVar, cast

from rag_assets.errors import WorkersDied
from rag_assets.index.parquet_parts import bucket_count, part_path
from rag_assets.models.cpu_count import usable_cores
from rag_assets.pipeline.build import IndexBuild
from rag_assets.pipeline.workers.file_guard import Attempts
from rag_assets.pipeline.workers.process_pool import ProcessPool, release_memory
from rag_assets.settings import Settings
from rag_assets.settings.config_file import ConfigError

if TYPE_CHECKING:
    from rag_assets.pipeline.workers.dask_pool import DaskPool

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

MAX_WORKERS = 4
"""A worker takes 150 to 250 MB; with more than four the embedding model, not the parser, is what a build waits for."""

_NOTICED_WITHIN = 0.5  # seconds: Ctrl-C, by a process that waits for others
_WORTH_STARTING = 4  # buckets: for fewer one process beside this one is enough

WORTH_WORKERS = 256
"""New files: what parsing and describing them takes is several times what processes take to start."""

_LARGE_BROADCAST = 4 << 20
"""Bytes. Processes that had more are replaced: of a label of 10,000 files each keeps 120 MB that it does not need, in
arenas that a few long-lived objects hold, and 600 MB of one of 100,000."""

_log = logging.getLogger(__name__)


class WorkerPool(Protocol):
    """Who works on tasks. A task is a function without arguments that can be pickled, as can its result."""

    @property
    def size(self) -> int:
        """How many tasks are worked on at a time."""

    def submit(self, tasks: Sequence[Callable[[], R]]) -> list[Future[R]]:
        """Begins the tasks in their order."""


def _begun(make: Callable[P, Iterator[R]]) -> Callable[P, Iterator[R]]:
    """Lets a generator come to its first `yield`, which gives nothing, when it is made."""

    @functools.wraps(make)
    def begun(*args: P.args, **kwargs: P.kwargs) -> Iterator[R]:
        made = make(*args, **kwargs)
        next(made)
        return made

    return begun


@_begun
def map_buckets(
    work: Callable[..., R],
    build: IndexBuild,
    *arguments: Any,
    sizes: Callable[[int], int] | None = None,
    buckets: Sequence[int] | None = None,
    attempts: Attempts | None = None,
) -> Iterator[R]:
    """`work(build, bucket, *arguments)` of every bucket, or of `buckets`; results in that order.

    With the `sizes` of buckets, the largest is begun first, so that no worker ends long after the others.
    In a pool when there are several buckets and workers, so `work` is a module's function and what it takes and returns
    can be pickled; else here. What it raises is raised here. Where local processes die (out of memory, killed) the rest
    is done here, one bucket at a time. Raises ClusterError for a Dask cluster that cannot do it.

    Where it is done elsewhere it has begun when this returns. With `attempts`, `work` guards its files (`file_guard`)
    and is always done elsewhere, for one may end its process.
    """
    wanted = build.buckets if buckets is None else buckets
    cluster = cluster_of(build) if len(wanted) > 1 else None
    if attempts is not None:
        pool = cluster or guarded_pool(build, len(wanted))
        if wanted and isinstance(pool, ProcessPool):
            for shared in arguments:
                if isinstance(shared, Broadcast):
                    shared.offer()
        with GuardedTasks[R](pool, attempts) as tasks:
            for bucket in _largest_first(wanted, sizes):
                tasks.begin(bucket, partial(_worked, work, build, bucket, *arguments))
            yield cast(R, None)
            for bucket in wanted:
                yield tasks.result(bucket)
        return
    pool, done = cluster or _pool_for(build, len(wanted), arguments), 0
    begun = _in_pool(pool, work, build, arguments, sizes, wanted) if pool is not None else iter(())
    yield cast(R, None)
    try:
        for result in begun:
            done += 1
            yield result
    except BrokenProcessPool as error:
        _log.warning("worker processes ended early (%s); going on with one process", error)
        ProcessPool.give_up(error)
    for bucket in wanted[done:]:
        yield work(build, bucket, *arguments)


def beside(task: Callable[[], R]) -> Callable[[], R]:
    """Begins a task in a plain copy of this process, if one is at hand, else does it now; and gives what gives its
    result. What it raises is raised by one of the two."""
    pool = ProcessPool.plain_copies()
    begun: Future[R] | None = None
    if pool is not None:
        with suppress(BrokenProcessPool):
            (begun,) = pool.submit([partial(_worked, task)])
    done = task() if begun is None else None

    def result() -> R:
        if begun is None:
            return cast(R, done)
        try:
            return _result_of(begun)
        except (BrokenProcessPool, CancelledError) as error:
            _log.warning("a worker process ended early (%s); its task is done here", error or "cancelled")
            ProcessPool.kill()
            return task()

    return result


def _result_of(future: Future[R]) -> R:
    """What comes of a task. A signal that arrives right before the main thread begins to wait is noticed when it has
    waited, so it waits again and again."""
    while True:
        try:
            return future.result(_NOTICED_WITHIN)
        except TimeoutError:
            if future.done():  # by now, or the task's own error
                return future.result()


def as_completed(pool: WorkerPool, tasks: Iterable[Callable[[], R]], *, at_once: int) -> Iterator[tuple[int, R]]:
    """(number of the task, its result) as tasks end. At most `at_once` are begun and not yielded, and `tasks` are made
    when it is their turn. What a task raises is raised here; the others are cancelled."""
    waiting = enumerate(tasks)
    running: dict[Future[R], int] = {}
    try:
        while True:
            for number, task in islice(waiting, at_once - len(running)):
                running[pool.submit([partial(_worked, task)])[0]] = number
            if not running:
                return
            for future in wait(running, _NOTICED_WITHIN, FIRST_COMPLETED).done:
                number = running.pop(future)
                yield number, future.result()
    finally:
        for future in running:
            future.cancel()


def _pool_for(build: IndexBuild, buckets: int, arguments: Sequence[Any]) -> ProcessPool | None:
    """The local processes for so many buckets; None where they are done here before processes have started, or before
    one of them has what is broadcast."""
    workers = workers_for(build)
    if workers > 1 and buckets > 1 and (buckets >= _WORTH_STARTING or ProcessPool.is_ready()):
        return ProcessPool(workers)
    sends = any(isinstance(argument, Broadcast) for argument in arguments)
    return ProcessPool.plain_copies() if buckets and not sends else None


def part_sizes(build: IndexBuild, table: str) -> Callable[[int], int]:
    """By bucket, the bytes of a part of a table: how much work it is, about."""
    return lambda bucket: part_path(build.directory, table, bucket).stat().st_size


def start_workers(build: IndexBuild) -> None:
    """Starts the local processes that the next stages will want, while this one goes on."""
    if not _uses_dask(build):
        _start_beside(workers_for(build))


def start_workers_for(settings: Settings, files: int) -> None:
    """The same before there is a build, of so many files that nothing is known of yet."""
    if files >= WORTH_WORKERS and settings.execution.workers != "dask":
        _start_beside(_processes(settings, bucket_count(files)))


def _start_beside(workers: int) -> None:
    if workers > 1:
        # A thread, because starting waits until the first process has imported everything.
        threading.Thread(target=_start, args=(workers,), name="start-workers", daemon=True).start()


def _start(workers: int) -> None:
    with suppress(BrokenProcessPool):  # the stage that wants them tries again, and says so
        ProcessPool(workers).start()


def workers_for(build: IndexBuild) -> int:
    """How many local processes work on the buckets of `build`; 1 is this one."""
    return _processes(build.settings, len(build.buckets))


def _processes(settings: Settings, buckets: int) -> int:
    return 1 if ProcessPool.given_up else min(settings.workers or min(usable_cores(), MAX_WORKERS), buckets)


def _uses_dask(build: IndexBuild) -> bool:
    """A plan (`build.folder`) works in a folder that other machines need not see."""
    return build.settings.execution.workers == "dask" and build.folder is None


_cluster: DaskPool | None = None
_cluster_lock = threading.Lock()


def cluster_of(build: IndexBuild) -> DaskPool | None:
    """The Dask cluster of the settings, whose workers see the home of `build` and have this package; None where local
    processes are wanted, and in one of these. Connected once per process. Raises ConfigError where the extra is not
    installed, ClusterError where the cluster cannot be used."""
    if not _uses_dask(build) or ProcessPool.is_worker:
        return None
    global _cluster
    try:
        dask_pool = import_module("rag_assets.pipeline.workers.dask_pool")  # an extra, and 0.5 s
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"execution.workers dask needs {error.name}; run: pip install 'rag-assets[dask]', "
            "or set execution.workers: processes"
        ) from None
    scheduler = build.settings.execution.dask_scheduler
    size = build.settings.workers or min(usable_cores(), MAX_WORKERS)
    with _cluster_lock:
        if _cluster is None or not _cluster.is_for(scheduler, size):
            _close_cluster()
            _cluster = dask_pool.DaskPool.open(scheduler, size)
        _cluster.admit(build.home, build.spec.index_label)
        return _cluster


def rest_workers() -> None:
    """For a process that waits for its next build: local processes end, and a cluster is left."""
    ProcessPool.rest()
    with _cluster_lock:
        _close_cluster()


def _close_cluster() -> None:
    global _cluster
    if _cluster is not None:
        _cluster.close()
        _cluster = None


def guarded_pool(build: IndexBuild, tasks: int) -> ProcessPool | None:
    """The local processes for so many tasks on files, one at least; None where such processes died of nothing known."""
    if ProcessPool.given_up:
        return None
    several = workers_for(build) > 1 and (tasks >= _WORTH_STARTING or ProcessPool.is_ready())
    return ProcessPool(workers_for(build) if several else 1)


class GuardedTasks(Generic[R]):
    """Begins tasks on files, by the names of their records, and gives their results in any order. A context manager.

    A task whose process died while it worked on a file is done again, with no other beside it, until its guard refuses
    what it died of. Where processes die of something else, or none can be started, tasks are done here.
    """

    def __init__(self, pool: WorkerPool | None, attempts: Attempts) -> None:
        attempts.forget()
        self._pool = pool
        self._attempts = attempts
        self._tasks: dict[int, Callable[[], R]] = {}
        self._futures: dict[int, Future[R]] = {}

    def begin(self, name: int, task: Callable[[], R]) -> None:
        self._tasks[name] = task
        self._submit([name])

    def result(self, name: int) -> R:
        """Raises what the task raised."""
        while name in self._futures:
            try:
                made = _result_of(self._futures[name])
                break
            except (BrokenProcessPool, CancelledError) as error:
                self._recover(error)
            except WorkersDied:
                if not self._attempts.died_on_a_file(name):
                    raise
                self._submit([name])
        else:
            made = self._tasks[name]()
        del self._tasks[name]
        self._futures.pop(name, None)
        return made

    def _submit(self, names: list[int]) -> None:
        if self._pool is None:
            return
        try:
            self._futures.update(zip(names, self._pool.submit([self._tasks[name] for name in names]), strict=True))
        except BrokenProcessPool as error:
            self._give_up(error)

    def _recover(self, error: BaseException) -> None:
        """After the death of one process: a pool ends all others with it."""
        lost = self._lost()
        suspects = [name for name in lost if self._attempts.died_on_a_file(name)]
        if not suspects:
            self._give_up(error)
        for name in suspects:
            _log.info("a worker process ended early; its task is done again")
            while self._pool is not None and (name not in self._futures or name in self._lost()):
                if not self._attempts.died_on_a_file(name):
                    self._give_up(error)
                self._submit([name])
        self._submit([name for name in lost if name not in suspects])

    def _lost(self) -> list[int]:
        """Waits for what was begun, and lets go of what died."""
        wait(self._futures.values())
        lost = [name for name, future in self._futures.items() if _is_lost(future)]
        for name in lost:
            del self._futures[name]
        if lost:
            ProcessPool.kill()
        return lost

    def _give_up(self, error: BaseException) -> None:
        _log.warning("worker processes ended early (%s); going on with one process", error)
        ProcessPool.give_up(error)
        self._pool = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        running = [future for future in self._futures.values() if not future.cancel() and not future.done()]
        if running and isinstance(self._pool, ProcessPool):
            ProcessPool.kill()  # nobody waits for these any more, and one may never end
        self._attempts.forget()


def _is_lost(future: Future[R]) -> bool:
    return future.cancelled() or isinstance(future.exception(), BrokenProcessPool)


def _largest_first(buckets: Sequence[int], sizes: Callable[[int], int] | None) -> list[int]:
    return sorted(buckets, key=lambda bucket: -sizes(bucket) if sizes is not None else 0)


@_begun
def _in_pool(
    pool: WorkerPool,
    work: Callable[..., R],
    build: IndexBuild,
    arguments: tuple[Any, ...],
    sizes: Callable[[int], int] | None,
    buckets: Sequence[int],
) -> Iterator[R]:
    order = _largest_first(buckets, sizes)
    tasks = [partial(_worked, work, build, bucket, *arguments) for bucket in order]
    try:
        begun = dict(zip(order, pool.submit(tasks), strict=True))
    except BrokenProcessPool as error:
        yield cast(R, None)
        raise error
    futures = [begun[bucket] for bucket in buckets]
    try:
        yield cast(R, None)
        for future in futures:
            yield _result_of(future)
    finally:
        for future in futures:
            future.cancel()


class Broadcast(Generic[T]):
    """A value for all buckets. Where it goes to other processes it is pickled once, into a file that each of them
    reads once, and this process lets go of it; without a `folder` it stays here. A `large` one they get by
    being made anew as copies of this one, where they can be."""

    def __init__(self, folder: Path | None, value: T, *, large: bool = False) -> None:
        self._large = large
        self._kept: tuple[T] | None = (value,)
        self._path = folder / f"broadcast-{uuid.uuid4().hex}.pickle" if folder is not None else None
        self._replaced = False

    @property
    def value(self) -> T:
        kept = self._kept
        return kept[0] if kept is not None else cast(T, _unpickled(cast(Path, self._path)))

    def offer(self) -> None:
        """Puts a large value where copies of this process find it, and has the next tasks done by such, if they can
        be."""
        if self._large and self._kept is not None and self._path is not None and ProcessPool.renew_plain_copies():
            _received[self._path] = self._kept[0]
            self._replaced = True

    def __reduce__(self) -> tuple[type[_Received[T]], tuple[Path]]:
        if self._path is None:
            raise TypeError("this value is for one process")
        if self._kept is not None and not (self._path in _received and ProcessPool.are_plain_copies):
            self._write(self._path)
        return _Received, (self._path,)

    def _write(self, path: Path) -> None:
        try:
            with path.open("wb") as file:
                pickle.dump(self.value, file, protocol=pickle.HIGHEST_PROTOCOL)
                self._replaced = file.tell() > _LARGE_BROADCAST
        except BaseException:
            path.unlink(missing_ok=True)  # the disk is full: each task tries it, and half a file of each would stay
            raise
        self._kept = None
        if self._replaced:
            _make_room()

    def forget(self) -> None:
        self._kept = None  # the queue of the workers holds on to the last task it was given, and to this with it
        _received.clear()
        if self._path is not None:
            self._path.unlink(missing_ok=True)
        if self._replaced:
            ProcessPool.close()


class _Received(Generic[T]):
    """A broadcast in a worker process."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def value(self) -> T:
        return cast(T, _unpickled(self._path))


@contextmanager
def broadcast(build: IndexBuild, value: T, *, large: bool = False) -> Iterator[Broadcast[T]]:
    """`value` as an argument for `map_buckets`, while the context lasts."""
    made = Broadcast(build.directory, value, large=large)
    try:
        yield made
    finally:
        made.forget()


_received: dict[Path, Any] = {}


def _worked(work: Callable[..., R], *arguments: Any) -> R:
    """Runs in a worker process. What was broadcast for an earlier stage makes room first: the label of 10,000 files is
    80 MB."""
    if _received and not any(isinstance(argument, _Received) for argument in arguments):
        _make_room()
    return work(*arguments)


def _make_room() -> None:
    """Lets go of what was broadcast."""
    _received.clear()
    gc.collect()  # a label has cycles, and builds look for them seldom
    release_memory()


def _unpickled(path: Path) -> Any:
    """The value in a file of ours that the parent wrote a moment ago. That of the stage before makes room first."""
    if path not in _received:
        _make_room()
        with path.open("rb") as file:
            _received[path] = pickle.load(file)
    return _received[path]
