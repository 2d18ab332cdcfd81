"""The embedded vector store, Qdrant Edge shards. Here is what their reader and writer share: calls of the engine, which
raise a VectorStoreError that says what to do, and the payload fields that all points of a shard have in common.

The engine raises plain Exception for what it refuses. Bytes that it did not expect end in a panic, of which it also
writes a line of its own to stderr.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from rag_assets.errors import REBUILD, is_panic
from rag_assets.index.vectors.vector_api import StoreNotWritable, VectorStoreError
from rag_assets.serialization import from_json

DIGEST = "Digest"
"""What a point has beside the fields it is filtered by: the digest of its content."""

COMMON = "rag_assets.common.json"
"""The file with the payload fields that all points share; read whenever a shard is opened."""

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


def common_of(directory: Path) -> dict[str, str]:
    """The fields that are the same in all points of a shard. Raises VectorStoreError where they are missing or damaged:
    without them the points would seem to belong to nobody."""
    note = directory / COMMON
    try:
        return from_json(note.read_bytes(), dict[str, str])
    except FileNotFoundError as error:
        raise VectorStoreError(f"{note} is missing; {REBUILD}") from error
    except msgspec.DecodeError as error:
        raise VectorStoreError(f"{note} is damaged: {error}; {REBUILD}") from error
