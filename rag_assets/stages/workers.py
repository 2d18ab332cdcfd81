"""Buckets of a stage worked on by several processes: Python parses on one core at a time, a repository has many files.

Every bucket reads its own parts and writes its own, so order and number of workers change no byte of the result.
"""

from __future__ import annotations

import gc
import logging
import pickle
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from rag_assets.models.cores import usable_cores
from rag_assets.stages.build import IndexBuild
from rag_assets.stages.memory import give_back
from rag_assets.stages.worker_pool import WorkerPool
from rag_assets.stores.tables import part_path

R = TypeVar("R")
T = TypeVar("T")

MAX_WORKERS = 4
"""A worker takes 150 to 250 MB; with more than four the embedding model, not the parser, is what a build waits for."""

_WORTH_STARTING = 4  # buckets: processes take a second to start, a bucket of a stage a fifth of it

_LARGE_BROADCAST = 4 << 20
"""Bytes. Processes that had more are replaced: of a label of 10,000 files each keeps 120 MB that it does not need, in
arenas that a few long-lived objects hold, and 600 MB of one of 100,000."""

_log = logging.getLogger(__name__)


def map_buckets(
    work: Callable[..., R],
    build: IndexBuild,
    *arguments: Any,
    sizes: Sequence[int] | None = None,
    buckets: Sequence[int] | None = None,
) -> Iterator[R]:
    """`work(build, bucket, *arguments)` of every bucket, or of `buckets`; results in that order.

    With `sizes`, one per bucket of the build, the largest is begun first, so that no worker ends long after the others.
    In worker processes when there are several buckets and cores, so `work` is a module's function and what it
    takes and returns can be pickled; else here. What it raises is raised here. Where worker processes die (out of
    memory, killed) the rest is done here, one bucket at a time.
    """
    wanted = build.buckets if buckets is None else buckets
    done = 0
    if _worth_processes(build, len(wanted)):
        try:
            for result in _in_processes(work, build, arguments, sizes, wanted):
                done += 1
                yield result
        except BrokenProcessPool as error:
            _log.warning("worker processes ended early (%s); going on with one process", error)
            WorkerPool.give_up()
    for bucket in wanted[done:]:
        yield work(build, bucket, *arguments)


def in_worker(work: Callable[..., R], build: IndexBuild, *arguments: Any) -> R:
    """`work(build, *arguments)` in a worker process where one is ready, so that other threads of this one go on
    meanwhile; else here. As of `map_buckets`, and what it raises is raised here."""
    if workers_for(build) > 1 and WorkerPool.is_ready():
        try:
            (future,) = WorkerPool.submit(workers_for(build), [partial(_worked, work, build, *arguments)])
            return future.result()
        except BrokenProcessPool as error:
            _log.warning("a worker process ended early (%s); going on with one process", error)
            WorkerPool.give_up()
    return work(build, *arguments)


def _worth_processes(build: IndexBuild, buckets: int) -> bool:
    """A few buckets are done before processes have started."""
    return workers_for(build) > 1 and buckets > 1 and (buckets >= _WORTH_STARTING or WorkerPool.is_ready())


def part_sizes(build: IndexBuild, table: str) -> list[int]:
    """Bytes of each part of a table: how much work its buckets are, about."""
    return [part_path(build.directory, table, bucket).stat().st_size for bucket in build.buckets]


def start_workers(build: IndexBuild) -> None:
    """Starts the processes that the next stages will want, while this one goes on."""
    workers = workers_for(build)
    if workers > 1:  # a thread, because starting waits until the first process has imported everything
        threading.Thread(target=_start, args=(workers,), name="start-workers", daemon=True).start()


def _start(workers: int) -> None:
    with suppress(BrokenProcessPool):  # the stage that wants them tries again, and says so
        WorkerPool.start(workers)


def workers_for(build: IndexBuild) -> int:
    """How many processes work on the buckets of `build`; 1 is this one."""
    if WorkerPool.given_up:
        return 1
    return min(build.settings.workers or min(usable_cores(), MAX_WORKERS), len(build.buckets))


def _in_processes(
    work: Callable[..., R],
    build: IndexBuild,
    arguments: tuple[Any, ...],
    sizes: Sequence[int] | None,
    buckets: Sequence[int],
) -> Iterator[R]:
    order = list(buckets)
    if sizes is not None:
        order.sort(key=lambda bucket: -sizes[bucket])
    tasks = [partial(_worked, work, build, bucket, *arguments) for bucket in order]
    begun = dict(zip(order, WorkerPool.submit(workers_for(build), tasks), strict=True))
    futures = [begun[bucket] for bucket in buckets]
    try:
        for future in futures:
            yield future.result()
    finally:
        for future in futures:
            future.cancel()


class Broadcast(Generic[T]):
    """A value for all buckets. Where it goes to other processes it is pickled once, into a file that each of them
    reads once, and this process lets go of it; without a `folder` it stays here."""

    def __init__(self, folder: Path | None, value: T) -> None:
        self._kept: tuple[T] | None = (value,)
        self._folder = folder
        self._path: Path | None = None
        self._large = False

    @property
    def value(self) -> T:
        kept = self._kept
        return kept[0] if kept is not None else cast(T, _unpickled(cast(Path, self._path)))

    def __reduce__(self) -> tuple[type[_Received[T]], tuple[Path]]:
        if self._folder is None:
            raise TypeError("this value is for one process")
        if self._path is None:
            path = self._folder / f"broadcast-{uuid.uuid4().hex}.pickle"
            try:
                with path.open("wb") as file:
                    pickle.dump(self.value, file, protocol=pickle.HIGHEST_PROTOCOL)
                    self._large = file.tell() > _LARGE_BROADCAST
            except BaseException:
                path.unlink(missing_ok=True)  # the disk is full: each task tries it, and half a file of each would stay
                raise
            self._path, self._kept = path, None
            if self._large:
                _make_room()
        return _Received, (self._path,)

    def forget(self) -> None:
        self._kept = None  # the queue of the workers holds on to the last task it was given, and to this with it
        _received.clear()
        if self._path is not None:
            self._path.unlink(missing_ok=True)
        if self._large:
            WorkerPool.close()


class _Received(Generic[T]):
    """A broadcast in a worker process."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def value(self) -> T:
        return cast(T, _unpickled(self._path))


@contextmanager
def broadcast(build: IndexBuild, value: T) -> Iterator[Broadcast[T]]:
    """`value` as an argument for `map_buckets`, while the context lasts."""
    made = Broadcast(build.directory, value)
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
    give_back()


def _unpickled(path: Path) -> Any:
    """The value in a file of ours that the parent wrote a moment ago. That of the stage before makes room first."""
    if path not in _received:
        _make_room()
        with path.open("rb") as file:
            _received[path] = pickle.load(file)
    return _received[path]
