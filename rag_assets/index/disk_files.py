"""Files on the disk: their digests, what they take, and taking folders away so that nobody ever sees half of one.

What files hold, as digests: a file that stays as it is gets hashed once per process, however many ask.

What files take on the disk, and taking folders away so that nobody ever sees half of one.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
import time
import uuid
import zlib
from pathlib import Path

_MOST_KNOWN = 100_000
_SETTLED_NS = 2_000_000_000
"""A file written that lately may be written again within one tick of its clock, unseen; git calls such entries racy."""
_CHUNK = 1 << 20

_known: dict[tuple[int, int, int, int], str] = {}


def sha256_of(path: Path) -> str:
    """The sha256 of a file's bytes, in hex. Raises OSError.

    A file is as it was where device, inode, size and the time of its last change are; links of one file are one file.
    """
    known = _known.get(_state(path.stat()))
    if known is not None:
        return known
    with path.open("rb") as file:
        about = os.fstat(file.fileno())
        found = hashlib.file_digest(file, "sha256").hexdigest()
    _remember(about, found)
    return found


def is_intact(path: Path, sha256: str, crc32: int) -> bool:
    """Whether a file still is what it was when it had these digests, told by the cheaper one: damage, not malice, is
    looked for, and sha256 takes ten times as long. From then on `sha256_of` knows it. Raises OSError."""
    about = path.stat()
    if crc32_of(path) != crc32:
        return False
    _remember(about, sha256)
    return True


def crc32_of(path: Path) -> int:
    """Raises OSError."""
    found = 0
    with path.open("rb") as file:
        while data := file.read(_CHUNK):
            found = zlib.crc32(data, found)
    return found


def _state(about: os.stat_result) -> tuple[int, int, int, int]:
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns


def _remember(about: os.stat_result, sha256: str) -> None:
    if time.time_ns() - about.st_mtime_ns > _SETTLED_NS:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[_state(about)] = sha256


_BLOCK_BYTES = 512  # the unit of st_blocks, whatever the file system
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
