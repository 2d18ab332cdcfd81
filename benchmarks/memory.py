"""Peak memory of a process, and of a build with its workers."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

_SAMPLE_SECONDS = 0.1
_PROCESSES = Path("/proc")


def peak_mb() -> float:
    """Peak resident memory of this process in MB; 0 where the platform does not tell."""
    try:
        import resource
    except ImportError:
        return 0.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


class Together:
    """A context manager that samples the resident memory of this process and of all that it or they have started.

    `peak_mb` is the highest sum of one moment, `by_stage` the highest while each stage was the one that `stage` names;
    memory that several of them share counts for each. Empty where there is no /proc. What takes less than a tenth of
    a second may be missed. A sample takes .2 ms.
    """

    def __init__(self, stage: Callable[[], str] = str) -> None:
        self.by_stage: dict[str, float] = {}
        self._stage = stage
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    @property
    def peak_mb(self) -> float:
        return max(self.by_stage.values(), default=0.0)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._ended.wait(_SAMPLE_SECONDS):
            stage, found = self._stage(), sum(map(_resident_mb, family(os.getpid())))
            self.by_stage[stage] = max(self.by_stage.get(stage, 0.0), found)


def family(process: int) -> Iterator[int]:
    """A process and its descendants."""
    yield process
    for listed in _PROCESSES.glob(f"{process}/task/*/children"):
        with suppress(OSError):  # it has ended meanwhile
            for child in listed.read_text(encoding="ascii").split():
                yield from family(int(child))


def _resident_mb(process: int) -> float:
    with suppress(OSError):
        pages = (_PROCESSES / str(process) / "statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE") / 2**20
    return 0.0
