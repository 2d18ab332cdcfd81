"""What an import gives: nodes, edges, what was wrong with it, and for what it speaks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from rag_assets.contracts.graph import GraphEdge, GraphNode, Relation
from rag_assets.errors import RagAssetsError

MISSING = "missing"
"""The reason told of a file that is not there: none is required."""

SHOWN_PER_REASON = 5
"""A file that is wrong in every row says so five times and then how often, not a million times."""


class UnusableImport(RagAssetsError):
    """Nothing of the import can be used. The text names the file, the cause and what to do."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """For which edges an import speaks: of these relations, seen in these files, it states all there are.

    `sources` restricts that to edges that begin there; empty: whatever the source.
    """

    relations: frozenset[Relation]
    paths: frozenset[str]
    sources: frozenset[str] = frozenset()

    def holds(self, edge: GraphEdge) -> bool:
        return (
            edge.relation in self.relations
            and edge.path in self.paths
            and (not self.sources or edge.source in self.sources)
        )


@dataclass(frozen=True, slots=True)
class ImportedGraph:
    """Nodes and edges in our keys, each once and sorted. `problems` are sentences for people, warnings included;
    `counts` says what was read and what became of it; `commit` is the one the import was made for, '' if unsaid."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    problems: tuple[str, ...]
    counts: Mapping[str, int]
    coverage: tuple[Coverage, ...] = ()
    commit: str = ""


class Problems:
    """Collects what is wrong, with file and row, and keeps the list short."""

    def __init__(self, said: tuple[str, ...] = ()) -> None:
        self._said = list(said)
        self._times: Counter[tuple[str, str]] = Counter()

    def add(self, file: str, reason: str, *, row: int | None = None, detail: str = "") -> None:
        """`row` is a line (CSV, JSON lines) or the position of an entry (JSON), from 1; `detail` the case."""
        self._times[(file, reason)] += 1
        if self._times[(file, reason)] <= SHOWN_PER_REASON:
            where = f"{file}, row {row}" if row is not None else file
            self._said.append(f"{where}: {reason}{f' ({_shown(detail)})' if detail else ''}")

    def count(self, file: str, reason: str) -> int:
        return self._times[(file, reason)]

    def worst(self, count: int) -> tuple[str, ...]:
        """The first `count` sentences, those about files that are not there behind those about what is wrong."""
        return tuple(sorted(self.texts(), key=lambda text: text.endswith(f": {MISSING}"))[:count])

    def texts(self) -> tuple[str, ...]:
        more = [
            f"{file}: {times - SHOWN_PER_REASON:,} more: {reason}"
            for (file, reason), times in self._times.items()
            if times > SHOWN_PER_REASON
        ]
        return (*self._said, *more)


_SHOWN_CHARS = 120  # a line in a terminal; what is shown may come from a damaged file


def _shown(text: str) -> str:
    plain = "".join(char if char.isprintable() else " " for char in text[: _SHOWN_CHARS + 1])
    return plain if len(plain) <= _SHOWN_CHARS else plain[:_SHOWN_CHARS] + " …"


def commit_problem(made_for: str, label_commit: str) -> str:
    """A warning where both commits are known and differ; '' otherwise. Abbreviated commits are compared as far as
    they go."""
    length = min(len(made_for), len(label_commit))
    if not length or made_for[:length].lower() == label_commit[:length].lower():
        return ""
    return (
        f"made for commit {made_for[:12]}, the label is at {label_commit[:12]}: what changed between them is missing "
        "or stale in the import; make it again"
    )
