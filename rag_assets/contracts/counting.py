"""The one order of counts, for tables of Dagster, the command line and JSON."""

from __future__ import annotations

from collections.abc import Mapping


def by_count(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Highest count first, equal counts by name, so the order of counting does not matter."""
    return sorted(counts.items(), key=lambda found: (-found[1], found[0]))
