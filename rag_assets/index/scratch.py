"""Folders for work that is thrown away at its end. Whoever works in one holds its lock, so a collection knows."""

from __future__ import annotations

import contextlib
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from rag_assets.index.layout import IndexHome
from rag_assets.index.locks import collection_lock

_LOCK = "scratch.lock"


@contextlib.contextmanager
def scratch_folder(home: IndexHome) -> Iterator[Path]:
    """A new, empty folder, gone when the context ends. While it lasts no collection removes documents or cache entries:
    the work may rely on them. Raises HomeBusy.

    A killed process leaves its folder to the next collection.
    """
    folder = home.scratch / uuid.uuid4().hex
    lock = FileLock(folder / _LOCK)
    with collection_lock(home):
        home.keep_out_of_git()
        folder.mkdir(parents=True)
        lock.acquire(timeout=0)
    try:
        yield folder
    finally:
        lock.release()
        shutil.rmtree(folder, ignore_errors=True)  # a file that a scanner holds open goes with the next collection


def scratch_in_use(home: IndexHome) -> list[Path]:
    """The folders that somebody works in."""
    return [folder for folder in _folders(home) if _is_held(folder)]


def abandoned_scratch(home: IndexHome) -> list[Path]:
    """The folders whose process is gone."""
    return [folder for folder in _folders(home) if not _is_held(folder)]


def _folders(home: IndexHome) -> list[Path]:
    return sorted(home.scratch.iterdir()) if home.scratch.is_dir() else []


def _is_held(folder: Path) -> bool:
    path = folder / _LOCK
    if not path.exists():
        return False
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    except OSError:
        return False  # who may only read cannot ask; or it ended in this moment
    lock.release()
    return False
