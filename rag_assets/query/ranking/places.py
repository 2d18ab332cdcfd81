"""What a candidate is of: the noun that all signals share."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """The file that a candidate is of."""

    label: str
    path: str
