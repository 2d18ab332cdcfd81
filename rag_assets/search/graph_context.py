"""The graph of an open index as its reader may see it: what is around hits, and the texts of nodes (D19–D21)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from rag_assets.contracts.confidentiality import Confidentiality, may_see
from rag_assets.contracts.graph import GraphEdge, GraphNode
from rag_assets.contracts.identity import document_uri
from rag_assets.graph.artifact import GRAPH_FOLDER, HEADER, GraphError, open_graph, read_counts
from rag_assets.graph.csr_graph import Graph, GraphCounts, NodeLocation, ResultReader
from rag_assets.index.vectors.filters import PathClearance
from rag_assets.search import Hit
from rag_assets.search.index import LabelIndex


def visible_graph(directory: Path, levels: PathClearance, clearance: Confidentiality) -> Graph:
    """The graph of a generation without what `clearance` does not reach: the graph as it is stored where it reaches
    everywhere. Raises GraphError."""
    if _sees_all(levels, clearance):
        return open_graph(directory)
    return _reduced(directory, levels.default, tuple(sorted(levels.paths.items())), clearance)[0]


def visible_counts(directory: Path, levels: PathClearance, clearance: Confidentiality) -> tuple[GraphCounts, bool]:
    """The counts of `visible_graph`, and whether that is the whole graph: of a part nobody knows how many edges lead to
    what is not declared. Raises GraphError."""
    if _sees_all(levels, clearance):
        return read_counts(directory), True
    return _reduced(directory, levels.default, tuple(sorted(levels.paths.items())), clearance)[1], False


def _sees_all(levels: PathClearance, clearance: Confidentiality) -> bool:
    return all(may_see(clearance, level) for level in (levels.default, *levels.paths.values()))


@lru_cache(maxsize=4)  # making one takes seconds for a large label, and a server is asked again
def _reduced(
    directory: Path,
    default: Confidentiality,
    paths: tuple[tuple[str, Confidentiality], ...],
    clearance: Confidentiality,
) -> tuple[Graph, GraphCounts]:
    from rag_assets.graph.build import assemble  # loads Arrow, which a stored graph does not need

    graph = open_graph(directory)
    levels = PathClearance(default, dict(paths))
    seen = {path: levels.visible(path, clearance) for path in map(graph.paths.__getitem__, range(len(graph.paths)))}
    nodes, hidden = [], set()
    places = ResultReader(graph).places(np.arange(len(graph)))
    for number, parts in enumerate(places):
        visible = [part for part in parts if seen[part.path]]
        if parts and not visible:
            hidden.add(graph.keys[number])
        nodes += [
            GraphNode(
                key=graph.keys[number],
                kind=graph.kind(number),
                name=graph.names[number],
                path=part.path,
                line_start=part.line_start,
                line_end=part.line_end,
                language=graph.language(number),
                signature=graph.signature(number),
            )
            for part in visible
        ]
    edges = ResultReader(graph).edges(np.arange(graph.edge_count))
    made = assemble(nodes, [edge for edge in edges if _is_visible(edge, seen, hidden)])
    return Graph(made.arrays), made.counts


def _is_visible(edge: GraphEdge, seen: Mapping[str, bool], hidden: set[str]) -> bool:
    """Seen in a visible file, between two ends that are not hidden."""
    return seen.get(edge.path, True) and edge.source not in hidden and edge.target not in hidden


@dataclass(frozen=True, slots=True)
class NodeBody:
    """The text of one place of a node; several for a partial type."""

    key: str
    place: NodeLocation
    text: str


def graph_of(index: LabelIndex) -> Graph:
    """The graph of the generation that `index` reads, as far as its clearance reaches. Raises GraphError where there is
    none or a damaged one."""
    return visible_graph(_directory(index), index.manifest.levels, index.clearance)


def counts_of(index: LabelIndex) -> tuple[GraphCounts, bool]:
    """What that graph consists of, and whether it is the whole one. Raises GraphError as `graph_of`."""
    return visible_counts(_directory(index), index.manifest.levels, index.clearance)


def entries_of(index: LabelIndex, hits: Iterable[Hit]) -> dict[str, float]:
    """The graph nodes behind hits, each with the score of its best hit: the entries of a neighbourhood (D19). The keys
    are read from the payloads, so a hit whose section shows no node has none."""
    entries: dict[str, float] = {}
    for hit in hits:
        for key in index.get(hit.point_id).get("GraphNodeKeys", ()):
            entries[key] = max(hit.score, entries.get(key, 0.0))
    return {key: score for key, score in entries.items() if score > 0}


def bodies(index: LabelIndex, graph: Graph, keys: Sequence[str]) -> tuple[NodeBody, ...]:
    """The texts of nodes by key, in the order of the keys and of their places (D21). A key that the graph does not
    have, or that is declared nowhere, has none, nor has a place that the clearance does not reach. Raises ArtifactError
    where a text is not there any more."""
    documents: dict[str, list[str]] = {}
    found = []
    for key in dict.fromkeys(keys):
        node = graph.find(key)
        for place in graph.places(node) if node is not None else ():
            if not index.may_read(place.path):
                continue
            if place.path not in documents:
                documents[place.path] = index.resolve(document_uri(index.label, place.path)).split("\n")
            lines = documents[place.path][max(place.line_start - 1, 0) : place.line_end]
            found.append(NodeBody(key, place, "\n".join(lines)))
    return tuple(found)


def _directory(index: LabelIndex) -> Path:
    directory = index.generation.directory / GRAPH_FOLDER
    if not (directory / HEADER).is_file():
        raise GraphError(
            f"the index of {index.label} has no graph (generation {index.manifest.generation_id}); "
            f"run: rag-assets index {index.label} --force"
        )
    return directory
