"""Files for their owner only: people ask what they would not publish."""

from __future__ import annotations

from pathlib import Path

_OWNER_ONLY = 0o600


def ensure_private(path: Path) -> None:
    """Makes an empty file, and its folder, where there is none; files that SQLite puts beside it get its mode. Raises
    OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=_OWNER_ONLY)
