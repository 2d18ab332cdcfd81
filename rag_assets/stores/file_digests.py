"""What files hold, as digests: a file that stays as it is gets hashed once per process, however many ask."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path

_MOST_KNOWN = 100_000
_SETTLED_NS = 2_000_000_000
"""A file written that lately may be written again within one tick of its clock, unseen; git calls such entries racy."""

_known: dict[tuple[int, int, int, int], str] = {}


def sha256_of(path: Path) -> str:
    """The sha256 of a file's bytes, in hex. Raises OSError.

    A file is as it was where device, inode, size and the time of its last change are; links of one file are one file.
    """
    with path.open("rb") as file:
        about = path.stat()
        state = (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns)
        known = _known.get(state)
        if known is not None:
            return known
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if time.time_ns() - about.st_mtime_ns > _SETTLED_NS:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[state] = found
    return found
