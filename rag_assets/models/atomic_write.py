"""Writing a file of the cache whole or not at all."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterable
from pathlib import Path


def write_whole(path: Path, parts: Iterable[bytes]) -> None:
    """Writes `parts` to `path`; readers see the old file or the new one. Raises OSError, and leaves nothing then.

    Processes that write the same content at once do not disturb each other.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("wb") as file:
            file.writelines(parts)
        try:
            temporary.replace(path)
        except PermissionError:
            # Windows refuses to replace a file that another process has mapped: it has just written the same.
            if not path.exists():
                raise
    finally:
        with contextlib.suppress(OSError):  # gone after the replacement; else the first error is the one to hear
            temporary.unlink()
