"""What files hold, as digests: a file that stays as it is gets hashed once per process, however many ask."""

from __future__ import annotations

import hashlib
import os
import time
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
    with path.open("rb") as file:
        about = os.fstat(file.fileno())
        known = _known.get(_state(about))
        if known is not None:
            return known
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
