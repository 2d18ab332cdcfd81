"""The locks of a home beside the one that a build holds on its label (`pipeline.build.label_lock`), and scratch
folders.

The operating system releases locks when a process dies. Order: collection, label, pointer; whoever holds one takes
only those after it, or gives up at once. Whoever works in a scratch folder holds its lock, so a collection leaves it.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from rag_assets.errors import RagAssetsError
from rag_assets.index.layout import IndexHome

POINTER_WAIT_SECONDS = 10.0
"""A pointer is held for the milliseconds that its move takes, or the renames of a pruning."""
SERVING_WAIT_SECONDS = 300.0
"""The first copy of a large label takes minutes, later ones what a commit changed."""
COLLECTION_WAIT_SECONDS = 300.0
"""A build waits for a garbage collection: seconds usually, minutes where millions of documents go."""


class HomeBusy(RagAssetsError):
    """Another process changes the same part of a home; the text says which."""


@contextmanager
def collection_lock(home: IndexHome, *, wait_seconds: float = COLLECTION_WAIT_SECONDS) -> Iterator[None]:
    """The gate between builds and garbage collection; re-entrant in a thread.

    A build passes it for an instant each time it takes a label; a collection holds it from the first look to the last
    deletion. So while a collection that has all labels runs, nobody writes a document or relies on one. Raises
    HomeBusy.
    """
    home.root.mkdir(parents=True, exist_ok=True)
    try:
        held = FileLock(home.root / "gc.lock", is_singleton=True).acquire(timeout=wait_seconds)
    except Timeout:
        raise HomeBusy(
            f"the garbage of {home.root} is being collected by another process; nothing was changed. "
            "Wait for it, or stop it and run again"
        ) from None
    with held:
        yield


def pointer_lock(
    home: IndexHome, label: str, *, wait_seconds: float = POINTER_WAIT_SECONDS
) -> AbstractContextManager[None]:
    """Whoever reads what a label serves and keeps, to change it. Raises HomeBusy, or OSError for a read-only home."""
    return _lock_of_label(home, label, "pointer.lock", wait_seconds, f"moving the pointer of {label}")


def serving_lock(home: IndexHome, label: str) -> AbstractContextManager[None]:
    """Whoever brings a vector server to what a label serves, without holding the label. Raises HomeBusy, or OSError."""
    what = f"bringing the vector server to what {label} serves"
    return _lock_of_label(home, label, "serving.lock", SERVING_WAIT_SECONDS, what)


@contextmanager
def _lock_of_label(home: IndexHome, label: str, name: str, wait_seconds: float, what: str) -> Iterator[None]:
    folder = home.label(label)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        held = FileLock(folder / name).acquire(timeout=wait_seconds)
    except Timeout:
        raise HomeBusy(
            f"another process has been {what} for {wait_seconds:g} s; nothing was changed. Run again"
        ) from None
    with held:
        yield


_LOCK = "scratch.lock"


@contextmanager
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
    try:
        with FileLock(path, timeout=0):
            return False
    except Timeout:
        return True
    except OSError:
        return False  # who may only read cannot ask; or it ended in this moment
