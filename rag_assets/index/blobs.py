"""Content-addressed texts: the full documents behind every point, stored once for all labels (C03, C06)."""

from __future__ import annotations

import hashlib
import os
import uuid
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from io import FileIO
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Self

from rag_assets.contracts.identity import content_hash
from rag_assets.errors import RagAssetsError


class BlobError(RagAssetsError):
    """A blob is absent or not what its address says."""


_WRITER = uuid.uuid4().hex  # with the process id (workers are forked): names of unfinished files are nobody else's
_NUMBERS = count()
_WRITERS = 2  # more do not finish earlier: the file system takes its turns
_MOST_PENDING = 64  # texts in memory, each at most `sources.max_file_bytes`


@dataclass(frozen=True, slots=True)
class BlobStore:
    """Texts by the sha256 of their UTF-8 bytes, in `root/ab/abcd…`."""

    root: Path

    def path(self, sha256: str) -> Path:
        return self.root / sha256[:2] / sha256

    def has(self, sha256: str) -> bool:
        """Whether there is a file of that address; asked for every file of a repository, so without a Path."""
        return os.path.isfile(f"{self.root}/{sha256[:2]}/{sha256}")  # noqa: PTH113 - ten times as fast

    def is_whole(self, sha256: str) -> bool:
        """Whether the text of an address is there as it was written; as often asked. Raises OSError."""
        try:
            with FileIO(f"{self.root}/{sha256[:2]}/{sha256}") as file:
                return hashlib.sha256(file.readall()).hexdigest() == sha256
        except FileNotFoundError:
            return False

    def put(self, text: str) -> str:
        """Stores a text and returns its address. A text that is already there is not written again."""
        address = content_hash(text)
        self.put_as(address, text)
        return address

    def put_as(self, address: str, text: str) -> None:
        """Stores a text of which the caller knows the address."""
        if not self.has(address):
            self._write(self.path(address), text.encode())

    def _write(self, path: Path, data: bytes) -> None:
        # No fsync per blob: a torn file cannot pass for whole, because `get` checks the address.
        temporary = f"{path}.{_WRITER}.{os.getpid()}.{next(_NUMBERS)}.tmp"
        try:
            try:
                _write_file(temporary, data)
            except FileNotFoundError:  # there are 256 folders, and most texts find theirs
                path.parent.mkdir(parents=True, exist_ok=True)
                _write_file(temporary, data)
            os.replace(temporary, path)  # noqa: PTH105 - as below
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise

    def get(self, sha256: str) -> str:
        """The text of an address. Raises BlobError where it is absent or damaged."""
        path = self.path(sha256)
        try:
            text = path.read_bytes().decode()
        except FileNotFoundError:
            raise BlobError(f"document {sha256} is not in the blob store; run: rag-assets index --force") from None
        except UnicodeDecodeError as error:
            raise self._damaged(path, sha256) from error
        if content_hash(text) != sha256:
            raise self._damaged(path, sha256)
        return text

    def _damaged(self, path: Path, sha256: str) -> BlobError:
        path.unlink(missing_ok=True)  # the next build writes it again
        return BlobError(f"document {sha256} was damaged on disk and has been removed; run: rag-assets index --force")


def _write_file(path: str, data: bytes) -> None:
    with open(path, "wb") as file:  # noqa: PTH123 - a Path costs as much as the file
        file.write(data)


class BlobWriter:
    """Writes many texts while the caller goes on: to make a file takes the kernel longer than Python the next text.

    A context manager; leaving it waits for all writes. What a write raises is raised by a later `put_as` or on leaving.
    """

    def __init__(self, store: BlobStore) -> None:
        self._store = store
        self._threads = ThreadPoolExecutor(_WRITERS, thread_name_prefix="blobs")
        self._pending: deque[Future[None]] = deque()

    def put_as(self, address: str, text: str) -> None:
        """Stores a text of which the caller knows the address."""
        if len(self._pending) >= _MOST_PENDING:
            self._pending.popleft().result()
        self._pending.append(self._threads.submit(self._store.put_as, address, text))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._threads.shutdown(cancel_futures=kind is not None)
        if kind is None:
            for future in self._pending:
                future.result()
