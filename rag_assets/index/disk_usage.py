"""What files take on the disk, and taking folders away so that nobody ever sees half of one."""

from __future__ import annotations

import errno
import os
import shutil
import threading
import uuid
from collections.abc import Iterator
from io import FileIO
from pathlib import Path

_BLOCK_BYTES = 512  # the unit of st_blocks, whatever the file system
_SEEKS_DATA = hasattr(os, "SEEK_DATA")  # elsewhere holes are read, as the zeros they are
_OPEN_FILES_HOLD_FOLDERS = os.name == "nt"  # elsewhere who has a file open goes on reading it


def size_on_disk(path: Path) -> int:
    """Bytes that a file, or all files below a folder, take on the disk; what vanishes while we look takes none.

    The vector store keeps sparse files, whose nominal size is a hundred times what they take.
    """
    total = 0
    for file in (path, *path.rglob("*")):
        try:
            if file.is_file():
                stat = file.stat()
                blocks = getattr(stat, "st_blocks", None)  # not on Windows
                total += stat.st_size if blocks is None else min(stat.st_size, blocks * _BLOCK_BYTES)
        except FileNotFoundError:
            continue
    return total


def written_blocks(path: Path, block_bytes: int) -> Iterator[tuple[int, bytes]]:
    """(offset, bytes) of every block of a file that is not all zeros. Holes of sparse files are not read where the
    system tells of them."""
    zeros = bytes(block_bytes)
    with path.open("rb", buffering=0) as file:
        offset = _next_data(file, 0, block_bytes)
        while True:
            file.seek(offset)
            data = file.read(block_bytes)
            if not data:
                return
            if data != zeros[: len(data)]:
                yield offset, data
            offset = _next_data(file, offset + len(data), block_bytes)


def _next_data(file: FileIO, offset: int, block_bytes: int) -> int:
    """The first block at or after `offset` that has data, or the end of the file."""
    if not _SEEKS_DATA:
        return offset
    try:
        return os.lseek(file.fileno(), offset, os.SEEK_DATA) // block_bytes * block_bytes
    except OSError as error:
        if error.errno == errno.ENXIO:  # only a hole is left
            return os.fstat(file.fileno()).st_size
        return offset  # a file system that does not tell


def discard(folder: Path, trash: Path, *, later: bool = False) -> bool:
    """Takes a folder away in one step, then deletes it. False where another process has a file of it open and the
    system does not allow that (Windows); nothing has changed then.

    `later` deletes beside what the caller does next; a process waits for it before it ends. A process killed in
    between, or what cannot be deleted then, leaves the rest in `trash`. Raises OSError for a read-only place.
    """
    trash.mkdir(parents=True, exist_ok=True)
    moved = trash / f"{folder.name}.{uuid.uuid4().hex}"
    try:
        folder.replace(moved)
    except PermissionError:
        if _OPEN_FILES_HOLD_FOLDERS:
            return False
        raise
    if later:
        threading.Thread(target=shutil.rmtree, args=(moved,), kwargs={"ignore_errors": True}, name="discard").start()
    else:
        shutil.rmtree(moved)
    return True
