"""A file that was found whole, and has not changed, is not read again in a test process.

Whoever opens an index reads the smallest files of its shard to see that they are whole: a third of a search in a small
index, and tests search in the same ones thousands of times. Who builds it has just read them to note what they hold.
And each home wants to know once that the table of the embedder is that of the package. A file that is written, replaced
or touched has another time of its last change, so one that a test damages is read again.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from rag_assets.index import generation_files
from rag_assets.index.generation_files import FileDigest
from rag_assets.models.static_code import embedder

_SETTLED_NS = 20_000_000
"""Clocks of file systems have ticks of at most ten milliseconds: within one, a second change leaves the same time."""

_problem = generation_files._problem
_digest = generation_files.digest_of_file
_verify = embedder.verify_file
_whole: dict[tuple[int, ...], FileDigest] = {}
_verified: set[tuple[object, ...]] = set()


def remember() -> None:
    """For the rest of this process."""
    if os.name == "posix":  # Windows does not tell when a file changed
        generation_files._problem = _problem_of_changed
        generation_files.digest_of_file = _remembered_digest
        embedder.verify_file = _verify_changed


def _problem_of_changed(path: Path | str, known: FileDigest) -> str:
    try:
        state, _ = _state(path)
    except OSError:
        return _problem(path, known)
    return "" if _whole.get(state) == known else _problem(path, known)


def _remembered_digest(path: Path | str) -> FileDigest:
    state, is_settled = _state(path)
    found = _digest(path)
    if is_settled:
        _whole[state] = found
    return found


def _verify_changed(file: Path, expected: str, cache: Path, *, repair: str) -> None:
    state, is_settled = _state(file)
    if (state, expected) in _verified:
        return
    _verify(file, expected, cache, repair=repair)
    if is_settled:
        _verified.add((state, expected))


def _state(path: Path | str) -> tuple[tuple[int, ...], bool]:
    """Which file it is and when it was changed, and whether a change from now on will have another time."""
    about = os.stat(path)  # noqa: PTH116 - a Path for each takes longer
    state = (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
    return state, time.time_ns() - about.st_ctime_ns > _SETTLED_NS
