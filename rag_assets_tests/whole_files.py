"""A file that was found whole, and has not changed, is not read again in a test process.

Whoever opens an index reads the smallest files of its shard to see that they are whole: a third of a search in a small
index, and tests search in the same ones thousands of times. A file that is written, replaced or touched has another
time of its last change, so one that a test damages is read again.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from rag_assets.index import generation_files
from rag_assets.index.generation_files import FileDigest

_SETTLED_NS = 20_000_000
"""Clocks of file systems have ticks of at most ten milliseconds: within one, a second change leaves the same time."""

_problem = generation_files._problem
_whole: dict[tuple[int, ...], FileDigest] = {}


def remember() -> None:
    """For the rest of this process."""
    if os.name == "posix":  # Windows does not tell when a file changed
        generation_files._problem = _problem_of_changed


def _problem_of_changed(path: Path | str, known: FileDigest) -> str:
    try:
        about = os.stat(path)  # noqa: PTH116 - a Path for each takes longer
    except OSError:
        return _problem(path, known)
    state = (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
    if _whole.get(state) == known:
        return ""
    found = _problem(path, known)
    if not found and time.time_ns() - about.st_ctime_ns > _SETTLED_NS:
        _whole[state] = known
    return found
