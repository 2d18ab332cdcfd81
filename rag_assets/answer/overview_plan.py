"""The overview plan: the projects or folders of a repository and which of them uses which, where its programs start,
its endpoints and its central types, as far as the graph knows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.answer.artifact.graph_columns import GraphColumns
from rag_assets.answer.artifact.structure import area_uses, central_types, entry_points, exposed_endpoints
from rag_assets.answer.graph_facts import GraphFact
from rag_assets.answer.plans import MOST_LISTED, code_of
from rag_assets.answer.whole_project import Listed
from rag_assets.contracts.graph import Confidence, NodeType
from rag_assets.graph.lookup import short_name
from rag_assets.index.keyword.vocabulary import KeywordIndexError
from rag_assets.search.ranking.penalties import non_product_code

if TYPE_CHECKING:
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.search.index import LabelIndex

_MOST_AREAS, _MOST_USES, _MOST_ENTRY_POINTS, _MOST_ENDPOINTS, _MOST_TYPES = 8, 4, 2, 3, 6
_MOST_CENTRAL = 12
_TASK_WORDS = "TODO FIXME HACK"
_TASK = re.compile(r"(?:^\s*(?:/?\*+|--|;)|//|#|<!--|/\*|@)\s*(?:TODO|FIXME|HACK)\b")
_MOST_READ = 500  # sections with these words
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
    yield from _entry_points(columns, _MOST_ENTRY_POINTS)
    routes = exposed_endpoints(columns)
    group = _counted("Endpoints", len(routes), _MOST_ENDPOINTS)
    for endpoint, _, path, line in routes[:_MOST_ENDPOINTS]:
        yield GraphFact(short_name(graph.keys[endpoint]), "", "", path, line, certain=True, group=group)
    yield from _central_types(columns, _MOST_TYPES)


def facts_listed(index: LabelIndex, graph: Graph, listed: Listed) -> list[GraphFact]:
    if listed is Listed.TASKS:
        return list(_tasks(index))
    columns = GraphColumns(index, graph, None)
    if listed is Listed.ENTRY_POINTS:
        return list(_entry_points(columns, MOST_LISTED))
    return list(_central_types(columns, _MOST_CENTRAL))


def _entry_points(columns: GraphColumns, most: int) -> Iterator[GraphFact]:
    starts = entry_points(columns)
    group = _counted("Entry points", len(starts), most)
    for path, line in starts[:most]:
        yield GraphFact(path.rpartition("/")[2], "", "", path, line, certain=True, group=group)


def _central_types(columns: GraphColumns, most: int) -> Iterator[GraphFact]:
    graph, told = columns.graph, set[str]()
    for node, place in central_types(columns, 2 * most, fewest=0):
        name = short_name(graph.keys[node])
        if name not in told and len(told) < most:
            told.add(name)
            group = "Types that most of it uses" if columns.users[node] else "Some of its types"
            yield GraphFact(name, "", "", place.path, place.line_start, certain=True, group=group)


def _tasks(index: LabelIndex) -> Iterator[GraphFact]:
    """The comments that say that something is left to do, of the sections that are likeliest to have some."""
    shard, scope = index.parts.shard(), index.scope()
    try:
        asked = index.parts.vocabulary().query_vector(_TASK_WORDS)
    except KeywordIndexError:  # which the search has said
        return
    likely = shard.retrieve([one.id for one in shard.sparse(asked.indices, asked.values, scope, _MOST_READ)], scope)
    found: set[tuple[str, int]] = set()
    for payload in likely.values():
        lines = enumerate(code_of(payload, index, ()).split("\n"), payload.get("StartLine", 1))
        found |= {(payload.get("Path", ""), number) for number, text in lines if _TASK.search(text)}
    places = sorted(found, key=lambda place: (non_product_code(place[0]) is not None, *place))
    group = _counted("Left to do", len(places), MOST_LISTED)
    for path, line in places[:MOST_LISTED]:
        yield GraphFact(path.rpartition("/")[2], "", "", path, line, certain=True, group=group, is_comment=True)


def _areas(columns: GraphColumns) -> Iterator[GraphFact]:
    """The projects, else folders, each with the type that most uses, or the function where it has no type."""
    areas, area_of = columns.areas
    best: dict[int, int] = {}
    for kind in (NodeType.TYPE, NodeType.METHOD):
        nodes = columns.nodes(kind)
        for node in columns.by_weight(nodes[~np.isin(area_of[nodes], list(best))].tolist()):
            best.setdefault(int(area_of[node]), node)
    found = [area for area, name in enumerate(areas) if area in best and name != "." and not name.endswith("…")]
    group = "Parts" if len(found) <= _MOST_AREAS else "The largest parts"
    for area in found[: _MOST_AREAS * (len(found) >= _FEWEST)]:
        place = columns.place(best[area])
        if place is not None:
            name = short_name(columns.graph.keys[best[area]])
            yield GraphFact(areas[area], "has", name, place.path, place.line_start, certain=True, group=group)


def _counted(said: str, total: int, most: int) -> str:
    return f"{said} ({most} of {total:,})" if total > most else said
