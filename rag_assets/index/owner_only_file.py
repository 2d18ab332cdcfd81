"""Files for their owner only: people ask what they would not publish."""

from __future__ import annotations

from pathlib import Path

_OWNER_ONLY = 0o600
_FULL = ("is full", "disk I/O", "No space left")
"""How SQLite and the system say it; an I/O error of SQLite is a limit on the size of files, or a failing disk."""


NOT_WRITABLE = "the file cannot be written, which even reading it needs"
"""Said instead of SQLite's `attempt to write a readonly database`, of which nobody knows what was to be written."""


def ensure_private(path: Path) -> None:
    """Makes an empty file, and its folder, where there is none; files that SQLite puts beside it get its mode. Raises
    OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=_OWNER_ONLY)


def is_disk_full(said: str) -> bool:
    """Whether a message of SQLite or of the system means that there is no space."""
    return any(words in said for words in _FULL)
