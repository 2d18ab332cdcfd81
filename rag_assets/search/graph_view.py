"""The graph as a reader of some clearance sees it: nothing of a file that is not for them, and no way through it.

A declaration in such a file is gone with its edges; what visible code says of it by name alone stays (a table without
its definition). A partial type keeps its visible parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np

from rag_assets.contracts.confidentiality import Confidentiality, may_see
from rag_assets.contracts.graph import GraphEdge, GraphNode
from rag_assets.graph.artifact import open_graph, read_counts
from rag_assets.graph.csr_graph import Graph, GraphCounts, ResultReader
from rag_assets.index.vectors.filters import PathClearance


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
