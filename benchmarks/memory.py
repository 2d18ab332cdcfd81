"""Peak memory of a process and of the workers of a build. A module, because workers do not import scripts."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

_SAMPLE_SECONDS = 0.25
_PARENT = re.compile(r"^PPid:\s+(\d+)", re.MULTILINE)
_PEAK = re.compile(r"^VmHWM:\s+(\d+) kB", re.MULTILINE)
_SHARE = re.compile(r"^Pss:\s+(\d+) kB", re.MULTILINE)


def peak_of_worker(build: Any, bucket: int) -> tuple[int, float]:
    """(process, its peak memory in MB), asked of the workers once everything is done."""
    return os.getpid(), peak_mb()


def peak_mb() -> float:
    """Peak resident memory of this process in MB; 0 where the platform does not tell."""
    try:
        import resource
    except ImportError:
        return 0.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def family_peak_mb() -> float:
    """The sum of the peaks of this process and of all processes that it or they have started and that are still there;
    memory that they share counts for each. Where there is no /proc, the peak of this process alone."""
    found = sum(_number(_PEAK, Path(f"/proc/{process}/status")) for process in _family())
    return found / 1024 or peak_mb()


class Together:
    """A context manager that samples what this process and its descendants really take at one moment, shared memory
    counted once. `peak_mb` stays 0 where there is no /proc."""

    def __init__(self) -> None:
        self.peak_mb = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._ended.wait(_SAMPLE_SECONDS):
            now = sum(_number(_SHARE, Path(f"/proc/{process}/smaps_rollup")) for process in _family())
            self.peak_mb = max(self.peak_mb, now / 1024)


def _family() -> Iterator[int]:
    """This process and its descendants."""
    parents = {int(path.parent.name): int(_number(_PARENT, path)) for path in Path("/proc").glob("[0-9]*/status")}
    known = {os.getpid()}
    while more := {child for child, parent in parents.items() if parent in known} - known:
        known |= more
    yield from known


def _number(pattern: re.Pattern[str], path: Path) -> float:
    with suppress(OSError):  # the process has ended meanwhile, or there is no /proc
        found = pattern.search(path.read_text(encoding="ascii", errors="replace"))
        return float(found.group(1)) if found else 0.0
    return 0.0
