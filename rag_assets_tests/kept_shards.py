"""A shard that was closed is there again when a test opens it, as long as nobody has changed a file of it.

To open a small shard the engine reads twenty megabytes of flags, most of them zeros: a tenth of a search in a small
index, and tests search in the same ones thousands of times.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from rag_assets.index.vectors import qdrant_edge

_KEPT = 3
"""Shards that nobody uses and that stay open: each takes 25 MB."""

_open = qdrant_edge.opened_shard
_closed: OrderedDict[tuple[object, ...], Any] = OrderedDict()
_of_parent: list[Any] = []


@contextmanager
def kept() -> Iterator[None]:
    """While the context lasts: for tests that ask, not for those of the store or of a disk that is full."""
    if os.name != "posix":  # an open file could not be removed on Windows
        yield
        return
    _leave_to_parent()
    qdrant_edge.opened_shard = _opened
    try:
        yield
    finally:
        qdrant_edge.opened_shard = _open
        while _closed:
            _closed.popitem()[1].close()


@cache
def _leave_to_parent() -> None:
    os.register_at_fork(after_in_child=_left)


def _left() -> None:
    """A copy of this process has no threads of the engine: it can neither use nor close what is open."""
    _of_parent.extend(_closed.values())
    _closed.clear()


class _Shard:
    """An open shard that is kept when it is closed."""

    def __init__(self, shard: Any, directory: Path) -> None:
        self._engine, self._directory = shard, directory

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def close(self) -> None:
        shard, self._engine = self._engine, _Closed()
        state = _state(self._directory)
        if state is None or state in _closed:
            shard.close()
            return
        _closed[state] = shard
        while len(_closed) > _KEPT:
            _closed.popitem(last=False)[1].close()


class _Closed:
    def close(self) -> None:
        """Nothing is left to close."""


def _opened(directory: Path) -> Any:
    state = _state(directory)
    kept = _closed.pop(state, None) if state is not None else None
    return _Shard(_open(directory) if kept is None else kept, directory)


def _state(directory: Path) -> tuple[object, ...] | None:
    """Which files there are, and when each was changed; None where they cannot be seen."""
    found: list[object] = []
    try:
        for folder, _, names in os.walk(directory):
            found.append(os.stat(folder).st_mode)  # noqa: PTH116 - a Path for each takes longer
            for name in names:
                about = os.stat(f"{folder}/{name}")  # noqa: PTH116 - as above
                found.append((about.st_ino, about.st_size, about.st_mtime_ns, about.st_mode))
    except OSError:
        return None
    return (*found,) or None
