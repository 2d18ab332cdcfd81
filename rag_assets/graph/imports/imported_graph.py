"""What an import gives: nodes and edges, each once, with the places that the label knows; and its problems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter

from rag_assets.contracts.graph import Confidence, GraphEdge, GraphNode, NodeType, Relation, key_kind
from rag_assets.errors import RagAssetsError
from rag_assets.graph.imports.key_parser import LabelSymbols, key_parts

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


_SQL = "sql"

EDGE_ORDER = attrgetter("source", "relation", "target", "confidence", "path", "line")
"""The order of `GraphEdge` itself; as tuples a million of them are sorted in a third of the time."""


class ImportBuilder:
    def __init__(self, known: LabelSymbols) -> None:
        self.known = known
        self.counts: Counter[str] = Counter()
        self._nodes: dict[str, tuple[GraphNode, ...]] = {}
        self._edges: dict[tuple[str, Relation, str, str], GraphEdge] = {}

    def __bool__(self) -> bool:
        return bool(self._nodes or self._edges)

    @property
    def nodes(self) -> Mapping[str, tuple[GraphNode, ...]]:
        """The places of each key."""
        return self._nodes

    def paths_of(self, kinds: Iterable[NodeType]) -> tuple[frozenset[str], frozenset[str]]:
        """(keys, paths) of the nodes of these kinds that have a file."""
        wanted = frozenset(kinds)
        placed = [node for places in self._nodes.values() for node in places if node.kind in wanted and node.path]
        return frozenset(node.key for node in placed), frozenset(node.path for node in placed)

    def relations(self) -> frozenset[Relation]:
        return frozenset(edge.relation for edge in self._edges.values())

    def add_node(self, node: GraphNode) -> None:
        """The node itself, or the places that the label knows of its key: these have lines and signatures."""
        if node.key in self._nodes:
            return
        places = self.known.places(node.key)
        self.counts["nodes matched" if places else "nodes new"] += 1
        self._nodes[node.key] = places or (node,)

    def add_edge(self, edge: GraphEdge) -> None:
        """Of equal edges of a file the best confidence and the lowest line that is known."""
        place = (edge.source, edge.relation, edge.target, edge.path)
        before = self._edges.get(place)
        self._edges[place] = edge if before is None else better(before, edge)

    def graph(self, location: str, problems: Problems, coverage: Iterable[Coverage], commit: str) -> ImportedGraph:
        warning = commit_problem(commit, self.known.commit)
        said = problems.texts()
        self.counts["edges"] = len(self._edges)
        return ImportedGraph(
            nodes=tuple(sorted(node for places in self._nodes.values() for node in places)),
            edges=tuple(sorted(self._edges.values(), key=EDGE_ORDER)),
            problems=(f"{location}: {warning}", *said) if warning else said,
            counts=dict(sorted(self.counts.items())),
            coverage=tuple(coverage),
            commit=commit,
        )


_RANK = {Confidence.RESOLVED: 0, Confidence.PROBABLE: 1, Confidence.NAME_ONLY: 2}


def better(one: GraphEdge, other: GraphEdge) -> GraphEdge:
    """One edge of two that say the same: the higher confidence, and the lowest place that has a line."""
    confidence = min(one.confidence, other.confidence, key=_RANK.__getitem__)
    place = min(one, other, key=lambda edge: (edge.line == 0, edge.path == "", edge.path, edge.line))
    return GraphEdge(one.source, one.relation, one.target, confidence, place.path, place.line)


def is_higher(one: Confidence, other: Confidence) -> bool:
    return _RANK[one] < _RANK[other]


def new_node(key: str, name: str, path: str) -> GraphNode:
    """A node that the label does not declare."""
    parts = key_parts(key)
    return GraphNode(key, key_kind(key), name, path, language=(parts.language or _SQL) if parts is not None else "")
