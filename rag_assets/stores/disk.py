"""What files take on the disk, and taking folders away so that nobody ever sees half of one."""

from __future__ import annotations

import os
import shutil
import threading
import uuid
from pathlib import Path

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
