"""The overview plan: the projects or folders of a repository and which of them uses which, where its programs start,
its endpoints and its central types, as far as the graph knows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.answer.artifact.graph_columns import GraphColumns
from rag_assets.answer.artifact.structure import area_uses, central_types, entry_points, exposed_endpoints
from rag_assets.answer.graph_facts import GraphFact
from rag_assets.contracts.graph import Confidence, NodeType
from rag_assets.graph.lookup import short_name

if TYPE_CHECKING:
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.search.index import LabelIndex

_MOST_AREAS, _MOST_USES, _MOST_ENTRY_POINTS, _MOST_ENDPOINTS, _MOST_TYPES = 8, 4, 2, 3, 6
_FEWEST = 2  # areas, and uses of one by another: one alone is no structure


def overview_facts(index: LabelIndex, graph: Graph) -> Iterator[GraphFact]:
    """What a newcomer wants to know of the product, tests and samples apart."""
    columns = GraphColumns(index, graph, None)
    yield from _areas(columns)
    areas, uses = area_uses(columns)
    for use in uses[: _MOST_USES * (len(uses) >= _FEWEST)]:
        certain = use.confidence is Confidence.RESOLVED
        source, target = areas[use.source], areas[use.target]
        yield GraphFact(source, "uses", target, use.path, use.line, certain, group="Who uses whom")
    starts = entry_points(columns)
    group = _counted("Entry points", len(starts), _MOST_ENTRY_POINTS)
    for path, line in starts[:_MOST_ENTRY_POINTS]:
        yield GraphFact(path.rpartition("/")[2], "", "", path, line, certain=True, group=group)
    routes = exposed_endpoints(columns)
    group = _counted("Endpoints", len(routes), _MOST_ENDPOINTS)
    for endpoint, _, path, line in routes[:_MOST_ENDPOINTS]:
        yield GraphFact(short_name(graph.keys[endpoint]), "", "", path, line, certain=True, group=group)
    types = central_types(columns, 2 * _MOST_TYPES)
    by_name = {short_name(graph.keys[node]): (node, place) for node, place in reversed(types)}
    for name, (node, place) in list(by_name.items())[: -_MOST_TYPES - 1 : -1]:
        group = "Types that most of it uses" if columns.users[node] else "Some of its types"
        yield GraphFact(name, "", "", place.path, place.line_start, certain=True, group=group)


def _areas(columns: GraphColumns) -> Iterator[GraphFact]:
    """The projects, else folders, each with the type that most uses, or the function where it has no type."""
    areas, area_of = columns.areas
    best: dict[int, int] = {}
    for kind in (NodeType.TYPE, NodeType.METHOD):
        nodes = columns.nodes(kind)
        for node in columns.by_weight(nodes[~np.isin(area_of[nodes], list(best))].tolist()):
            best.setdefault(int(area_of[node]), node)
    found = [area for area, name in enumerate(areas) if area in best and name != "."]
    group = _counted("Parts", len(found), _MOST_AREAS)
    for area in found[: _MOST_AREAS * (len(found) >= _FEWEST)]:
        place = columns.place(best[area])
        if place is not None:
            name = short_name(columns.graph.keys[best[area]])
            yield GraphFact(areas[area], "has", name, place.path, place.line_start, certain=True, group=group)


def _counted(said: str, total: int, most: int) -> str:
    return f"{said} ({most} of {total:,})" if total > most else said
