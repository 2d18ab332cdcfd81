"""What the work on one file may cost: some time, some memory, and itself, but never the build.

Stages work on files in processes that may die. Such a process notes in a record which file it begins, and the kernel
ends it when a file takes too long, even inside a parser that is written in C. Who does the same task next reads in the
record what became of the last one: it refuses that file and goes on with the others. A file that raises, for want of
memory or because it is nested too deep, needs no new process. What is refused stays refused under a key of the stage,
the content and the limits, so equal builds leave out equal files.
"""

from __future__ import annotations

import faulthandler
import logging
import os
import re
import signal
import sys
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from rag_assets.contracts.identity import cache_key
from rag_assets.contracts.source_file import RefusedFile, SkipReason
from rag_assets.errors import RagAssetsError, is_panic
from rag_assets.index.cache import Cache
from rag_assets.pipeline.build import IndexBuild
from rag_assets.pipeline.workers.process_pool import is_expendable
from rag_assets.serialization import from_msgpack
from rag_assets.sources.secrets import masked

T = TypeVar("T")

REFUSED_FILES = "refused_files"
"""The cache of refusals by key."""

_ASLEEP = 6
"""Times the limit of a file by the clock on the wall: one that computes is ended by its processor time, which does not
depend on what else the machine does."""

_STRIKES = 2
"""Deaths without a known cause. A process may be killed for want of memory that others took."""

_CAN_TIME = hasattr(signal, "setitimer")
_log = logging.getLogger(__name__)


class Refusal(msgspec.Struct, frozen=True):
    """Why a stage does not work on a file."""

    reason: SkipReason
    detail: str


REFUSED_BEFORE = Refusal(SkipReason.UNREADABLE, "an earlier stage refused it")


@dataclass(frozen=True, slots=True)
class Attempts:
    """The records of the tasks of one step of a build: a task has one while it is done, and when it died."""

    directory: Path
    step: str

    def record(self, task: object) -> Path:
        return self.directory / f"attempt-{self.step}-{task}.log"

    def died_on_a_file(self, task: object) -> bool:
        try:
            return _deaths(self.record(task).read_bytes())[-1] is not None
        except (FileNotFoundError, IndexError):
            return False

    def forget(self) -> None:
        """Removes the records. Only while nobody works on these tasks."""
        for left in self.directory.glob(f"attempt-{self.step}-*.log"):
            left.unlink(missing_ok=True)


# --- while files are worked on ----------------------------------------------------------------------------------------


@contextmanager
def guard_files(
    build: IndexBuild, attempts: Attempts, task: object, version: str, lost: frozenset[str] = frozenset()
) -> Iterator[FileGuard]:
    """Guards the files of one task, of a step in this `version` of its code. The `lost` ones were refused before."""
    guard = FileGuard(build, attempts.step, version, lost)
    try:
        if not (is_expendable() and _CAN_TIME):
            yield guard
            return
        path = attempts.record(task)
        path.parent.mkdir(parents=True, exist_ok=True)
        record = os.open(path, os.O_CREAT | os.O_APPEND | os.O_RDWR, 0o600)
        try:
            guard.learn(record)
            with _ended_with_a_trace(record):
                yield guard
        finally:
            os.close(record)
        path.unlink(missing_ok=True)
    finally:
        guard.close()


class FileGuard:
    """Does the work on files, one after the other, and knows which ones to refuse. Made by `guard_files`."""

    def __init__(self, build: IndexBuild, stage: str, version: str, lost: frozenset[str]) -> None:
        limits = build.settings.sources
        self.refused: list[RefusedFile] = []
        self._stage = stage
        self._lost = lost
        self._seconds = limits.file_time_limit_seconds
        self._most_memory = limits.file_memory_limit_bytes
        self._memory = _Memory()
        self._inputs = cache_key(REFUSED_FILES, stage, version, f"{self._seconds:g}", str(self._most_memory)).hex()
        self._cache_folder = build.home.cache
        self._may_be_known = not build.spec.fresh and (build.home.cache / f"{REFUSED_FILES}.sqlite").exists()
        self._record: int | None = None
        self._learned: dict[bytes, Refusal] = {}
        self._cache: Cache | None = None

    def run(self, path: str, content: str, work: Callable[[], T]) -> T | Refusal:
        """What `work` makes of a file, or why it is refused. `content` is an id of what it reads.

        Errors that are not the fault of the file are raised: those of the file system, and RagAssetsError.
        """
        if path in self._lost:
            return REFUSED_BEFORE
        key = cache_key(self._inputs, path, content)
        refusal = self._known(key)
        if refusal is None:
            self._note(b"> " + key.hex().encode())
            try:
                with self._limited():
                    return work()
            except (RagAssetsError, OSError):
                raise
            except MemoryError:
                refusal = self._out_of_memory()
            except BaseException as error:
                if not isinstance(error, Exception) and not is_panic(error):
                    raise
                _log.debug("%s of %s", self._stage, path, exc_info=True)
                refusal = _raised(error)
            finally:
                self._note(b".")
            self._keep(key, refusal)
        self.refused.append(RefusedFile(path, refusal.reason, refusal.detail, key.hex()))
        return refusal

    def learn(self, record: int) -> None:
        """Reads what became of earlier attempts at the same task, and begins the next one."""
        deaths = [death for death in _deaths(_content(record)) if death is not None]
        unexplained = Counter(key for key, cause in deaths if not cause)
        for key, cause in deaths:
            if cause == _TIME:
                detail = f"it takes over {self._seconds:g} s (sources.file_time_limit_seconds)"
                self._keep(key, Refusal(SkipReason.TIMED_OUT, detail))
            elif cause:
                self._keep(key, Refusal(SkipReason.CRASHED, f"it crashes its parser: {cause}"))
            elif unexplained[key] >= _STRIKES:
                self._keep(key, Refusal(SkipReason.CRASHED, f"it ended {unexplained[key]} processes"))
        self._record = record
        self._note(_BEGIN)

    def close(self) -> None:
        self._memory.close()
        if self._cache is not None:
            self._cache.close()

    def _known(self, key: bytes) -> Refusal | None:
        if key in self._learned or not self._may_be_known:
            return self._learned.get(key)
        stored = self._opened().get_many([key]).get(key)
        return from_msgpack(stored, Refusal) if stored is not None else None

    def _keep(self, key: bytes, refusal: Refusal) -> None:
        self._learned[key] = refusal
        self._opened().replace_many([(key, msgspec.msgpack.encode(refusal))])

    def _opened(self) -> Cache:
        if self._cache is None:
            self._cache = Cache(self._cache_folder, REFUSED_FILES)
        return self._cache

    def _note(self, line: bytes) -> None:
        if self._record is not None:
            os.write(self._record, line + b"\n")

    @contextmanager
    def _limited(self) -> Iterator[None]:
        if not _CAN_TIME or self._record is None:
            yield
            return
        self._memory.bound(self._most_memory)
        signal.setitimer(signal.ITIMER_PROF, self._seconds)
        signal.setitimer(signal.ITIMER_REAL, self._seconds * _ASLEEP)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
            self._memory.bound(None)

    def _out_of_memory(self) -> Refusal:
        detail = f"it takes over {self._most_memory:,} bytes of memory (sources.file_memory_limit_bytes)"
        return Refusal(SkipReason.OUT_OF_MEMORY, detail)


def _raised(error: BaseException) -> Refusal:
    if isinstance(error, RecursionError):
        return Refusal(SkipReason.UNREADABLE, "it is nested too deep")
    return Refusal(SkipReason.UNREADABLE, masked(f"{type(error).__name__}: {error}"))


# --- records ----------------------------------------------------------------------------------------------------------

_BEGIN = b"@"
_TIME = "time"
_EVENT = re.compile(rb"^(?:> (?P<key>[0-9a-f]{64})|\.)$", re.MULTILINE)
_FATAL = re.compile(rb"^Fatal Python error: (.+)$", re.MULTILINE)
_TRACE = b"(most recent call first)"


def _deaths(record: bytes) -> list[tuple[bytes, str] | None]:
    """Of each attempt that died: the key of the file and the cause, '' where it is not known; None: on no file."""
    found: list[tuple[bytes, str] | None] = []
    for attempt in record.split(_BEGIN + b"\n")[1:]:
        event = deque(_EVENT.finditer(attempt), maxlen=1)
        if not event or event[0]["key"] is None:
            found.append(None)
            continue
        left = attempt[event[0].end() :]
        fatal = _FATAL.search(left)
        cause = fatal[1].decode(errors="replace") if fatal else _TIME if _TRACE in left else ""
        found.append((bytes.fromhex(event[0]["key"].decode()), cause))
    return found


def _content(record: int) -> bytes:
    os.lseek(record, 0, os.SEEK_SET)  # what is written is appended
    return os.read(record, os.fstat(record).st_size)


# --- limits of the kernel ---------------------------------------------------------------------------------------------


@contextmanager
def _ended_with_a_trace(record: int) -> Iterator[None]:
    """A process that crashes or whose time is over writes where it was, also from within a parser that never returns
    to Python."""
    ending = (signal.SIGPROF, signal.SIGALRM)
    faulthandler.enable(record, all_threads=False)
    for number in ending:
        faulthandler.register(number, record, all_threads=False, chain=True)
    try:
        yield
    finally:
        for number in ending:
            faulthandler.unregister(number)
        faulthandler.disable()


class _Memory:
    """What this process may take. Only Linux counts that. Where other threads work too, as in a worker of a cluster,
    there is a limit for all of them."""

    def __init__(self) -> None:
        self._counter: int | None = None
        if sys.platform == "linux" and threading.current_thread() is threading.main_thread():
            self._counter = os.open("/proc/self/statm", os.O_RDONLY)  # opened once: that takes as long as the rest

    def bound(self, allowance: int | None) -> None:
        """Beside what it has; None: as before."""
        if sys.platform != "linux" or self._counter is None:
            return
        import resource  # not there on Windows

        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        wanted = most if allowance is None else self._taken(self._counter) + allowance
        if most in (-1, resource.RLIM_INFINITY) or wanted < most:
            resource.setrlimit(resource.RLIMIT_DATA, (wanted, most))

    def close(self) -> None:
        if self._counter is not None:
            os.close(self._counter)

    @staticmethod
    def _taken(counter: int) -> int:
        return int(os.pread(counter, 128, 0).split()[5]) * os.sysconf("SC_PAGE_SIZE")
