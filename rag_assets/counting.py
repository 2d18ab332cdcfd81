"""How counts are told: in tables of Dagster, on the command line and as JSON alike."""

from __future__ import annotations

from collections.abc import Mapping


def by_count(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Most first, equal counts by name, whatever the order in which they were counted."""
    return sorted(counts.items(), key=lambda found: (-found[1], found[0]))
