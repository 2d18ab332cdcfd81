"""Text and times as every database takes them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any


def storable(text: str) -> str:
    """No NUL, no half of a surrogate pair."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


def storable_row(row: dict[str, Any]) -> dict[str, Any]:
    return {name: storable(value) if isinstance(value, str) else value for name, value in row.items()}


def stamp(moment: datetime) -> str:
    """A time as rows have it: `2026-01-31T12:00:00.000Z`. They sort as text."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
