"""The two locks of a home beside the one that a build holds on its label (`pipeline.build.label_lock`).

The operating system releases them when a process dies. Order: collection, label, pointer; whoever holds one takes
only those after it, or gives up at once.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rag_assets.errors import RagAssetsError

if TYPE_CHECKING:
    from rag_assets.index.layout import IndexHome

POINTER_WAIT_SECONDS = 10.0
"""A pointer is held for the milliseconds that its move takes, or the renames of a pruning."""
COLLECTION_WAIT_SECONDS = 300.0
"""A build waits for a garbage collection: seconds usually, minutes where millions of documents go."""


class HomeBusy(RagAssetsError):
    """Another process changes the same part of a home; the text says which."""


@contextlib.contextmanager
def collection_lock(home: IndexHome, *, wait_seconds: float = COLLECTION_WAIT_SECONDS) -> Iterator[None]:
    """The gate between builds and garbage collection; re-entrant in a thread.

    A build passes it for an instant each time it takes a label; a collection holds it from the first look to the last
    deletion. So while a collection that has all labels runs, nobody writes a document or relies on one. Raises
    HomeBusy.
    """
    from filelock import FileLock, Timeout  # not at the top: a search imports this module and takes no lock

    home.root.mkdir(parents=True, exist_ok=True)
    lock = FileLock(home.root / "gc.lock", is_singleton=True)
    try:
        lock.acquire(timeout=wait_seconds)
    except Timeout:
        raise HomeBusy(
            f"the garbage of {home.root} is being collected by another process; nothing was changed. "
            "Wait for it, or stop it and run again"
        ) from None
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def pointer_lock(home: IndexHome, label: str, *, wait_seconds: float = POINTER_WAIT_SECONDS) -> Iterator[None]:
    """Whoever reads what a label serves and keeps, to change it. Raises HomeBusy, or OSError for a read-only home."""
    from filelock import FileLock, Timeout

    folder = home.label(label)
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / "pointer.lock")
    try:
        lock.acquire(timeout=wait_seconds)
    except Timeout:
        raise HomeBusy(
            f"another process has been moving the pointer of {label} for {wait_seconds:g} s; nothing was changed. "
            "Run again"
        ) from None
    try:
        yield
    finally:
        lock.release()
