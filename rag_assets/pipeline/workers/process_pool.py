"""The local processes that work on buckets, kept from stage to stage: to start them costs more than a small stage.

A stage decodes hundreds of thousands of records that live until it ends, and hardly ever makes a cycle. With Python's
own thresholds, which count what was made, the garbage collector walks all of them again and again: a twelfth of the
time of a small build. So processes that index look for cycles seldom, and give back memory after a stage.
"""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import Connection, Pipe, wait
from multiprocessing.util import Finalize
from types import ModuleType
from typing import Any, ClassVar, TypeVar

_THRESHOLDS = (50_000, 20, 50)  # objects of about 100 bytes: cycles of a few MB may wait
_IN_A_RUN = (500_000, 2, 50)
_ran = False


def collect_seldom(thresholds: tuple[int, int, int] = _THRESHOLDS) -> None:
    """For the rest of this process: what is loaded already is never walked again."""
    gc.freeze()
    gc.set_threshold(*thresholds)


@contextmanager
def collecting_seldom() -> Iterator[None]:
    """While the context lasts, for a process that goes on with something else."""
    before = gc.get_threshold()
    collect_seldom()
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


@contextmanager
def collecting_before_the_next() -> Iterator[None]:
    """The same for a run of Dagster, whose cycles are left to the next: a small one makes 100,000 objects in cycles, to
    collect them takes longer than a stage, and most processes end with their run."""
    global _ran
    if _ran:
        gc.collect()
    _ran, before = True, gc.get_threshold()
    collect_seldom(_IN_A_RUN)
    try:
        yield
    finally:
        gc.freeze()  # with the old objects, which are walked least
        gc.set_threshold(*before)
        gc.unfreeze()


def release_memory() -> None:
    """Returns to the system what is free: the next stage needs room for other things, and a peak is a sum of what was
    kept. A third of the peak of a large build; takes some milliseconds."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Any:
    """glibc's `malloc_trim`; None where the C library has none and gives back by itself."""
    return getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None


R = TypeVar("R")

_AFTER_SOCKETS = -100  # as `multiprocessing` removes its folder
_BEFORE_QUEUES = 100  # `multiprocessing` closes its queues with 10, and then no worker is told anything
_PRELOADED = ["rag_assets.pipeline.run_stages", "rag_assets.pipeline.workers.process_server"]
_COPYING = "forkserver"
_PR_SET_PDEATHSIG = 1
_ADDRESS_BYTES = 103
"""The longest path of a socket: macOS takes no more, Linux four more."""

_SOCKET = "/pymp-12345678/listener-12345678"
_SHORT_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm")
_hidden_main = threading.Lock()


@dataclass(frozen=True, slots=True)
class ProcessPool:
    """`size` processes of this machine; a `pipeline.workers.worker_pool.WorkerPool`. All objects share the processes
    of this process. Safe to use from several threads: submitted tasks are done, whoever closes the pool meanwhile."""

    size: int

    given_up: ClassVar[str] = ""
    """Why this process goes on alone: worker processes died of nothing known, or none can be started."""
    is_worker: ClassVar[bool] = False
    """Whether this process is one of those of another, which starts none and no cluster."""
    are_plain_copies: ClassVar[bool] = False
    """Whether the processes are copies of this one: they have all that this had when they were made."""

    _executor: ClassVar[ProcessPoolExecutor | None] = None
    _workers: ClassVar[int] = 0
    _are_copies: ClassVar[bool] = False
    _alive: ClassVar[tuple[Connection, Connection] | None] = None
    """Two ends of a pipe that nobody writes to: workers have the first and end when this process, which alone has the
    second, closes it or is killed. So does one that nobody knows of, because an exception of a signal came between its
    start and its record: it would keep the queue open that the thread of its executor waits for."""
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def start(self) -> None:
        """Starts the processes, if they are not there; returns when the first has imported everything. Raises
        BrokenProcessPool."""
        with self._lock:
            self._opened(self.size)

    def submit(self, tasks: Sequence[Callable[[], R]]) -> list[Future[R]]:
        """Begins the tasks in their order. Raises BrokenProcessPool."""
        with self._lock:
            return self._submitted(self._opened(self.size), tasks)

    @classmethod
    def is_ready(cls) -> bool:
        """Whether several processes are there, or can be as soon as they are wanted."""
        with cls._lock:  # while they start, the lock is taken: then they are wanted
            return (cls._executor is not None and cls._workers > 1) or cls._are_copies

    @classmethod
    def plain_copies(cls) -> ProcessPool | None:
        """Plain copies of this process, which begin a task at once; None where there are none."""
        with cls._lock:
            if cls.given_up or not cls.are_plain_copies:
                return None
            return cls(cls._workers) if cls._executor is not None or _is_easily_copied() else None

    @classmethod
    def renew_plain_copies(cls) -> bool:
        """Whether the next tasks are for new plain copies of this process; those before end. Others stay."""
        with cls._lock:
            if cls._executor is not None and cls.are_plain_copies:
                cls._closed(waits=True)
            return cls._executor is None and _is_easily_copied()

    @classmethod
    def close(cls) -> None:
        """Lets the processes end once they have done what was submitted; new ones start when they are wanted. Where
        they are copies of one that has imported everything already, that takes some hundredths of a second."""
        with cls._lock:
            cls._closed()

    @classmethod
    def give_up(cls, error: BaseException) -> None:
        cls.kill()
        cls.given_up = str(error)

    @classmethod
    def kill(cls) -> None:
        """What the processes work on is for nobody, or one of them died. Returns when none is left, for who does the
        rest writes the same files."""
        with cls._lock:  # a thread may be starting them
            if cls._alive is not None:
                cls._alive[1].close()
                cls._alive = None
            executor, cls._executor = cls._executor, None
            if executor is not None:
                for process in list((executor._processes or {}).values()):  # Python 3.14 has a method for it
                    process.kill()
                # Its thread may wait for the rest of what one of them was sending.
                vars(executor._result_queue)["_writer"].close()
                executor.shutdown(cancel_futures=True)

    @classmethod
    def rest(cls) -> None:
        """For a process that waits for its next build: the processes end, and that build has some again although these
        may have died."""
        cls.close()
        cls.given_up = ""

    @classmethod
    def _opened(cls, workers: int) -> ProcessPoolExecutor:
        if cls._executor is None or cls._workers != workers:
            cls._closed(waits=cls.are_plain_copies)  # its threads are in the way of other copies
            context = _context()
            cls.are_plain_copies = context.get_start_method() == "fork"
            cls._are_copies |= context.get_start_method() == _COPYING
            if cls._alive is None:
                cls._alive = Pipe(duplex=False)
                call_at_exit(cls.kill)  # what its workers still work on is for nobody
                _before_threads_are_joined(cls.kill)
            with cls._working_folder_left_out():  # its queues have a process that tracks them
                cls._executor = ProcessPoolExecutor(
                    workers, mp_context=context, initializer=_start_worker, initargs=cls._alive[:1]
                )
            cls._workers = workers
            cls._submitted(cls._executor, [os.getpid])  # a process is started with a task that finds none idle
        return cls._executor

    @classmethod
    def _submitted(cls, pool: ProcessPoolExecutor, tasks: Sequence[Callable[[], R]]) -> list[Future[R]]:
        begun: list[Future[R]] = []
        try:
            with (
                main_left_out(),
                cls._working_folder_left_out(),
                _children_allowed(),
                _signals_wait(),
                warnings.catch_warnings(),
            ):
                warnings.simplefilter("ignore", DeprecationWarning)  # a copy of a process with threads of libraries
                begun.extend(pool.submit(task) for task in tasks)
        except (OSError, EOFError) as error:  # no memory, no process left to this user, the server of processes is gone
            cls._executor = None
            for future in begun:
                future.cancel()
            pool.shutdown()  # waits: what a process has begun writes the files that the caller writes next
            raise BrokenProcessPool(f"no process could be started: {error}") from error
        return begun

    @classmethod
    @contextmanager
    def _working_folder_left_out(cls) -> Iterator[None]:
        """`multiprocessing` starts its servers with `python -c`, which takes modules from the working folder first:
        from a repository that has a `selectors.py`, and whose author nobody knows. Plain copies start nothing."""
        if cls.are_plain_copies or sys.flags.safe_path:
            yield
            return
        # Not by PYTHONSAFEPATH: another thread that copies the environment finds it gone halfway.
        known = vars(multiprocessing.util)
        arguments = known["_args_from_interpreter_flags"]
        known["_args_from_interpreter_flags"] = lambda: [*arguments(), "-P"]
        try:
            yield
        finally:
            known["_args_from_interpreter_flags"] = arguments

    @classmethod
    def _closed(cls, *, waits: bool = False) -> None:
        if cls._executor is not None:
            cls._executor.shutdown(wait=waits)
            cls._executor = None


def call_at_exit(end: Callable[[], None]) -> Finalize:
    """Has `end` called when this process ends, unless it is cancelled. A process that `multiprocessing` made, such as
    that of a Dagster run, joins its children before `atexit` and executors tell them to end: it would never exit."""
    return Finalize(None, end, exitpriority=_BEFORE_QUEUES)


@cache
def _before_threads_are_joined(end: Callable[[], None]) -> None:
    """Since Python 3.13 such a process joins its threads before anything else: an executor's, which waits for its
    workers, and would for ever for one that works on. Executors themselves are told to end in this way."""
    vars(threading)["_register_atexit"](end)


@contextmanager
def main_left_out() -> Iterator[None]:
    """A new process imports the main module of its parent: a script without a `__main__` guard would run again in it.
    The work of a stage is in modules of its own, so workers are told of an empty one."""
    with _hidden_main:  # two threads would give each other the empty one back
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main


@contextmanager
def _signals_wait() -> Iterator[None]:
    """Behind a copy Python calls functions of libraries and ignores what they raise. So Ctrl-C and SIGTERM, which raise
    wherever the main thread is, would get lost there, and this process would wait for work that nobody ends."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[int] = []
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    raising = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in raising:
        signal.signal(number, lambda number, _: waiting.append(number))
    try:
        yield
    finally:
        for number, handler in raising.items():
            signal.signal(number, handler)
        for known in waiting:
            signal.raise_signal(known)


@contextmanager
def _children_allowed() -> Iterator[None]:
    """`multiprocessing` lets a daemonic process, as a worker of Celery may be, start none: they would be left behind
    when it is killed. Ours end with it."""
    configuration = _configuration()
    before = configuration.get("daemon")
    configuration["daemon"] = False
    try:
        yield
    finally:
        configuration["daemon"] = before


def _configuration() -> dict[str, Any]:
    """What `multiprocessing` knows of this process."""
    found: dict[str, Any] = vars(multiprocessing.current_process())["_config"]
    return found


def _context() -> multiprocessing.context.BaseContext:
    """Workers are plain copies of this process (`fork`) where that has no other thread of Python's: they are there at
    once and have loaded all. pyarrow, SQLite and the allocators reset in a copy what their own threads hold, and tasks
    use no engine of models or vectors that this process has open. Else the copies are of a process that has imported
    what tasks need; for a first build that is started early, in a thread."""
    if _is_easily_copied():
        return multiprocessing.get_context("fork")
    if _COPYING not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    _shorten_addresses()
    context = multiprocessing.get_context(_COPYING)
    context.set_forkserver_preload(_PRELOADED)
    return context


def _is_easily_copied() -> bool:
    return sys.platform == "linux" and threading.active_count() == 1


def _shorten_addresses() -> None:
    """The server of processes listens at a path in the temporary folder. Where that is too long for a socket the folder
    of `multiprocessing` is made elsewhere, as Python 3.14 does it."""
    configuration = _configuration()
    if configuration.get("tempdir") or len(os.fsencode(tempfile.gettempdir() + _SOCKET)) <= _ADDRESS_BYTES:
        return
    for folder in _SHORT_FOLDERS:
        with suppress(OSError):
            made = configuration["tempdir"] = tempfile.mkdtemp(prefix="pymp-", dir=folder)
            Finalize(None, shutil.rmtree, args=(made, True), exitpriority=_AFTER_SOCKETS)
            return


def _start_worker(alive: Connection) -> None:
    """Ctrl-C is for the parent, which stops handing out work; a worker ends when its parent is gone."""
    may_die()
    _start_no_others()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    collect_seldom()
    if ProcessPool._alive is not None:
        ProcessPool._alive[1].close()  # a copy has both ends
    if sys.platform == "linux":
        _end_with_creator()
    threading.Thread(target=_end_with_parent, args=(alive,), name="end-with-parent", daemon=True).start()


def _start_no_others() -> None:
    """A copy has what its parent knows of the pool, with locks that nobody opens here."""
    global _hidden_main
    _of_parent.append(ProcessPool._executor)  # its end would wait for another such lock
    ProcessPool._executor, ProcessPool._lock, _hidden_main = None, threading.Lock(), threading.Lock()
    ProcessPool.given_up, ProcessPool.is_worker = "a worker starts no others", True


_of_parent: list[ProcessPoolExecutor | None] = []


def _end_with_creator() -> None:
    """Linux ends this process with the one that made it, even inside a parser that never returns to Python. The server
    of processes goes when no process has this pipe any more."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    server = sys.modules.get("multiprocessing.forkserver")
    pipe = getattr(getattr(server, "_forkserver", None), "_forkserver_alive_fd", None)
    if pipe is not None:
        os.close(pipe)


def _end_with_parent(alive: Connection) -> None:
    """A killed parent leaves the queue open, as its workers hold both ends of it: they would wait forever."""
    wait([alive])
    os._exit(1)


_expendable = False


def may_die() -> None:
    """This process works for another one, which survives it."""
    global _expendable
    _expendable = True


def is_expendable() -> bool:
    return _expendable
