"""Texts and times in forms that every database accepts."""

from __future__ import annotations

from datetime import UTC, datetime


def storable(text: str) -> str:
    """The text without NUL, with lone surrogates replaced."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


def stamp(moment: datetime) -> str:
    """A time as rows store it: `2026-01-31T12:00:00.000Z`. These sort as text."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
