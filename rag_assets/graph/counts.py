"""What a graph consists of, in numbers.

The one order of counts, for tables of Dagster, the command line and JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Hub:
    """A node with many edges, in and out."""

    key: str
    kind: str
    degree: int


@dataclass(frozen=True, slots=True)
class GraphCounts:
    """Counts of an assembled graph; all mappings are by the value of their enum, without zeros.

    `undeclared` counts the edges of each relation that lead to what the label does not declare; they are not part of
    the graph. `hubs` are the nodes with most edges, the largest first.
    """

    nodes: int
    edges: int
    kinds: dict[str, int] = field(default_factory=dict)
    relations: dict[str, int] = field(default_factory=dict)
    confidences: dict[str, int] = field(default_factory=dict)
    undeclared: dict[str, int] = field(default_factory=dict)
    hubs: tuple[Hub, ...] = ()

    @property
    def unresolved_share(self) -> float:
        """The share of all edges whose target is not certain to exist: known by name only, or not declared."""
        outside = sum(self.undeclared.values())
        found = self.edges + outside
        return (self.confidences.get("name-only", 0) + outside) / found if found else 0.0


def by_count(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Highest count first, equal counts by name, so the order of counting does not matter."""
    return sorted(counts.items(), key=lambda found: (-found[1], found[0]))
