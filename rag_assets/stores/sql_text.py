"""Text as every database takes it."""

from __future__ import annotations


def storable(text: str) -> str:
    """No NUL, no half of a surrogate pair."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")
