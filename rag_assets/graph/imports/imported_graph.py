"""What an import gives: nodes and edges, each once, with the places that the label knows; its problems; and the merge
with the built-in graph."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter

from msgspec.structs import replace

from rag_assets.contracts.graph import Confidence, GraphEdge, GraphNode, NodeType, Relation, key_kind
from rag_assets.errors import RagAssetsError
from rag_assets.graph.imports.key_parser import LabelSymbols, key_parts
from rag_assets.settings.repositories import ImportMode

MISSING = "missing"
"""The reason told of a file that is not there: none is required."""

SHOWN_PER_REASON = 5
"""A file that is wrong in every row says so five times and then how often, not a million times."""

_SHOWN_CHARS = 120  # a line in a terminal; what is shown may come from a damaged file
_CACHED_KEYS = 1 << 17  # the targets of a large label
_RANK = {Confidence.RESOLVED: 0, Confidence.PROBABLE: 1, Confidence.NAME_ONLY: 2}

EDGE_ORDER = attrgetter("source", "relation", "target", "confidence", "path", "line")
"""The order of `GraphEdge` itself; as tuples a million of them are sorted in a third of the time."""


class UnusableImport(RagAssetsError):
    """Nothing of the import can be used. The text names the file, the cause and what to do."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """For which edges an import speaks: of these relations, seen in these files, it states all there are.

    `sources` restricts that to edges that begin there; empty: whatever the source. No compiler knows of requests.
    """

    relations: frozenset[Relation]
    paths: frozenset[str]
    sources: frozenset[str] = frozenset()

    def holds(self, edge: GraphEdge) -> bool:
        is_source = not self.sources or edge.source in self.sources
        is_request = edge.relation is Relation.CALLS and key_kind(edge.target) is NodeType.ENDPOINT
        return edge.relation in self.relations and edge.path in self.paths and is_source and not is_request


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
        self._times[file, reason] += 1
        if self._times[file, reason] <= SHOWN_PER_REASON:
            where = f"{file}, row {row}" if row is not None else file
            self._said.append(f"{where}: {reason}{f' ({_shown(detail)})' if detail else ''}")

    def texts(self) -> tuple[str, ...]:
        more = (
            f"{file}: {times - SHOWN_PER_REASON:,} more: {reason}"
            for (file, reason), times in self._times.items()
            if times > SHOWN_PER_REASON
        )
        return (*self._said, *more)

    def unusable(self, location: str) -> UnusableImport:
        """The error for an import without any usable part. Damaged files are named before missing ones."""
        worst = sorted(self.texts(), key=lambda text: text.endswith(f": {MISSING}"))[:3]
        told = "; ".join(worst) or "its files are empty"
        return UnusableImport(f"{location}: nothing of it can be used: {told}; make the import again")


def _shown(text: str) -> str:
    plain = "".join(char if char.isprintable() else " " for char in text[: _SHOWN_CHARS + 1])
    return plain if len(plain) <= _SHOWN_CHARS else plain[:_SHOWN_CHARS] + " …"


def _commit_problem(made_for: str, label_commit: str) -> str:
    """A warning where both commits are known and differ as far as both go; '' otherwise."""
    length = min(len(made_for), len(label_commit))
    if made_for[:length].lower() == label_commit[:length].lower():
        return ""
    return (
        f"made for commit {made_for[:12]}, the label is at {label_commit[:12]}: what changed between them is missing "
        "or stale in the import; make it again"
    )


class ImportBuilder:
    """Collects the nodes and edges of an import. `nodes` has the places of each key."""

    def __init__(self, known: LabelSymbols, problems: Problems) -> None:
        self.known = known
        self.problems = problems
        self.counts: Counter[str] = Counter()
        self.nodes: dict[str, tuple[GraphNode, ...]] = {}
        self._edges: dict[tuple[str, Relation, str, str], GraphEdge] = {}

    def __bool__(self) -> bool:
        return bool(self.nodes or self._edges)

    def relations(self) -> frozenset[Relation]:
        return frozenset(edge.relation for edge in self._edges.values())

    def add_node(self, node: GraphNode) -> None:
        """The node itself, or the places that the label knows of its key: these have lines and signatures."""
        if node.key not in self.nodes:
            places = self.known.places(node.key)
            self.counts["nodes matched" if places else "nodes new"] += 1
            self.nodes[node.key] = places or (node,)

    def add_new(self, key: str, name: str, path: str) -> None:
        """Adds a node with nothing but its key, name and path."""
        parts = key_parts(key)
        self.add_node(GraphNode(key, key_kind(key), name, path, language=(parts.language or "sql") if parts else ""))

    def add_edge(self, edge: GraphEdge) -> None:
        """Of equal edges of a file the best confidence and the lowest line that is known."""
        place = (edge.source, edge.relation, edge.target, edge.path)
        known = self._edges.get(place, edge)
        confidence = min(known.confidence, edge.confidence, key=_RANK.__getitem__)
        line = min(known.line, edge.line) or max(known.line, edge.line)
        self._edges[place] = replace(edge, confidence=confidence, line=line)

    def graph(self, location: str, coverage: Iterable[Coverage], commit: str = "") -> ImportedGraph:
        """Raises UnusableImport where nothing was found."""
        if not self:
            raise self.problems.unusable(location)
        warning = _commit_problem(commit, self.known.commit)
        said = self.problems.texts()
        self.counts["edges"] = len(self._edges)
        return ImportedGraph(
            nodes=tuple(sorted(node for places in self.nodes.values() for node in places)),
            edges=tuple(sorted(self._edges.values(), key=EDGE_ORDER)),
            problems=(f"{location}: {warning}", *said) if warning else said,
            counts=dict(sorted(self.counts.items())),
            coverage=tuple(coverage),
            commit=commit,
        )


@dataclass(frozen=True, slots=True)
class Merged:
    """One graph. `counts`: what both say (`agreed`, of it `upgraded` to a higher confidence), what only the import says
    (`added`), what of the built-in graph was dropped (`replaced`), and where the two contradict each other (`conflicts
    won` by the import, `conflicts open`: both kept)."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    counts: Mapping[str, int]


def merge(built_in: Iterable[GraphNode | GraphEdge], imported: ImportedGraph, mode: ImportMode) -> Merged:
    """Joins the two; the order of `built_in` does not matter.

    Nodes are a union in both modes: the points of the label carry the built-in keys, and their places have lines.
    *replace*: edges that the import speaks for (`ImportedGraph.coverage`) are those of the import only. *merge*: the
    union, of an edge that both state the higher confidence; where the import speaks for an edge and states another
    member of that name instead (another overload, another type), the higher confidence wins and equal ones are kept.
    An imported edge takes the line of the built-in one that says the same, where it has none.
    """
    nodes: set[GraphNode] = set()
    edges: list[GraphEdge] = []
    for item in built_in:
        if isinstance(item, GraphNode):
            nodes.add(item)
        else:
            edges.append(item)
    counts: Counter[str] = Counter({"built-in edges": len(edges), "imported edges": len(imported.edges)})
    own_keys = {node.key for node in nodes}
    added = [node for node in imported.nodes if node.key not in own_keys]
    counts["nodes added"] = len(added)
    joined = _joined(sorted(edges, key=EDGE_ORDER), imported, mode, counts)
    return Merged(tuple(sorted({*nodes, *added})), tuple(sorted(joined, key=EDGE_ORDER)), dict(sorted(counts.items())))


def _joined(
    edges: Iterable[GraphEdge], imported: ImportedGraph, mode: ImportMode, counts: Counter[str]
) -> Iterator[GraphEdge]:
    stated = {_triple(edge): edge for edge in reversed(imported.edges)}
    rivals: dict[tuple[str, Relation, str], list[GraphEdge]] = defaultdict(list)
    for edge in imported.edges if mode == "merge" else ():
        rivals[edge.source, edge.relation, _simple_name(edge.target)].append(edge)
    agreed: set[tuple[str, Relation, str]] = set()
    for edge in edges:
        same = stated.get(_triple(edge))
        if same is not None:
            agreed.add(_triple(edge))
            counts["agreed"] += 1
            counts["upgraded"] += _is_higher(same, edge)
            yield _agreed(edge, same)
        elif not any(coverage.holds(edge) for coverage in imported.coverage):
            yield edge
        elif mode == "replace":
            counts["replaced"] += 1
        else:
            others = rivals.get((edge.source, edge.relation, _simple_name(edge.target)), ())
            is_lost = any(_is_higher(other, edge) for other in others)
            if others:
                counts["conflicts won" if is_lost else "conflicts open"] += 1
            if not is_lost:
                yield edge
    added = [edge for edge in imported.edges if _triple(edge) not in agreed]
    counts["added"] = len(added)
    yield from added


def _agreed(own: GraphEdge, imported: GraphEdge) -> GraphEdge:
    """The built-in edge with the higher confidence of both, and the line of the imported one where it has none."""
    confidence = imported.confidence if _is_higher(imported, own) else own.confidence
    line = own.line or (imported.line if imported.path == own.path else 0)
    return own if (confidence, line) == (own.confidence, own.line) else replace(own, confidence=confidence, line=line)


def _triple(edge: GraphEdge) -> tuple[str, Relation, str]:
    return edge.source, edge.relation, edge.target


def _is_higher(one: GraphEdge, other: GraphEdge) -> bool:
    return _RANK[one.confidence] < _RANK[other.confidence]


@lru_cache(maxsize=_CACHED_KEYS)
def _simple_name(key: str) -> str:
    parts = key_parts(key)
    return parts.name if parts is not None else key
