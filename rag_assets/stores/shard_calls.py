"""Calls of the embedded engine: whatever goes wrong in it is a VectorStoreError that says what to do.

The engine raises plain Exception for what it refuses. Bytes that it did not expect end in a panic, of which it also
writes a line of its own to stderr.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rag_assets.contracts.errors import is_panic
from rag_assets.stores.points import StoreNotWritable, VectorStoreError

_TOUCHES = "the embedded engine writes into its files when it opens them"
_OF_THE_SYSTEM = (
    ("Permission denied", f"{_TOUCHES}: make that folder writable for whoever searches, or search a copy of the home"),
    ("os error 28", "the disk is full, and opening needs some space: free some"),
    ("os error 30", f"{_TOUCHES}, and this is a read-only file system: copy the home to where it may be written"),
)
"""What is said of the system instead of the engine's own words: it is no damage."""


@contextmanager
def engine_call(failed: str, *, repair: str = "") -> Iterator[None]:
    """Raises VectorStoreError `failed: what the engine says; what to do` for whatever the engine raises inside.

    `repair` is what to do about damage of what is read; StoreNotWritable says that there is none. What ends the
    program, as Ctrl-C does, passes.
    """
    try:
        yield
    except VectorStoreError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        remedy = next((known for words, known in _OF_THE_SYSTEM if words in str(error)), "")
        if remedy and repair:
            raise StoreNotWritable(f"{failed}: {remedy}") from error
        raise VectorStoreError("; ".join(filter(None, (f"{failed}: {error}", repair)))) from error
