"""The import of one repository: read, translated, and merged into the graph of the label."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from msgspec.structs import replace

from rag_assets.contracts.graph import GraphEdge, GraphNode, Relation
from rag_assets.graph.imports.artifact_files import read_artifacts
from rag_assets.graph.imports.imported_graph import EDGE_ORDER, ImportedGraph, is_higher
from rag_assets.graph.imports.key_parser import LabelSymbols, key_parts
from rag_assets.settings.repositories import GraphImportSettings, ImportFormat, ImportMode


def load_graph(path: Path, form: ImportFormat, known: LabelSymbols | None = None) -> ImportedGraph:
    """The graph at `path`: a folder, an archive, or a SCIP index. Raises UnusableImport naming file and cause."""
    artifacts = read_artifacts(path, form)
    if form == "scip":
        from rag_assets.graph.imports.scip import scip_graph  # protobuf only where it is needed

        return scip_graph(artifacts, known)
    from rag_assets.graph.imports.roslyn_indexer import roslyn_graph

    return roslyn_graph(artifacts, known)


def import_fingerprint(path: Path, form: ImportFormat) -> str:
    """64 hex digits of what an import of `path` reads, for the key of the stage. Raises UnusableImport."""
    return read_artifacts(path, form).fingerprint()


def configured_fingerprint(settings: GraphImportSettings | None) -> str:
    """What an import makes of a graph: its format, its mode and all that is read of it; '' for none. Raises
    UnusableImport."""
    if settings is None:
        return ""
    return f"{settings.format} {settings.mode} {import_fingerprint(settings.path, settings.format)}"


def unread_parts(settings: GraphImportSettings | None) -> tuple[str, ...]:
    """What of an import cannot be read, as sentences; the rest would be used. Raises UnusableImport where nothing is
    left."""
    if settings is None:
        return ()
    found = read_artifacts(settings.path, settings.format)
    return tuple(f"{found.location}: {text}" for text in found.unread)


_CACHED_KEYS = 1 << 17  # the targets of a large label

_Triple = tuple[str, Relation, str]


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
) -> Iterable[GraphEdge]:
    stated = {_triple(edge): edge for edge in reversed(imported.edges)}
    rivals: dict[_Triple, list[GraphEdge]] = defaultdict(list)
    if mode == "merge":
        for edge in imported.edges:
            rivals[(edge.source, edge.relation, _simple_name(edge.target))].append(edge)
    agreed: set[_Triple] = set()
    for edge in edges:
        triple = _triple(edge)
        same = stated.get(triple)
        if same is not None:
            counts["agreed"] += 1
            agreed.add(triple)
            is_upgraded = is_higher(same.confidence, edge.confidence)
            counts["upgraded"] += is_upgraded
            if is_upgraded or not edge.line:
                edge = replace(
                    edge,
                    confidence=same.confidence if is_upgraded else edge.confidence,
                    line=edge.line or (same.line if same.path == edge.path else 0),
                )
            yield edge
            continue
        if any(coverage.holds(edge) for coverage in imported.coverage):
            if mode == "replace":
                counts["replaced"] += 1
                continue
            other = rivals.get((edge.source, edge.relation, _simple_name(edge.target)))
            if other:
                is_lost = any(is_higher(rival.confidence, edge.confidence) for rival in other)
                counts["conflicts won" if is_lost else "conflicts open"] += 1
                if is_lost:
                    continue
        yield edge
    for edge in imported.edges:
        if _triple(edge) not in agreed:
            counts["added"] += 1
            yield edge


def _triple(edge: GraphEdge) -> _Triple:
    return edge.source, edge.relation, edge.target


@lru_cache(maxsize=_CACHED_KEYS)
def _simple_name(key: str) -> str:
    parts = key_parts(key)
    return parts.name if parts is not None else key
