"""Graph: what is around a node, as a picture to walk and as a list."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from rag_assets.contracts.graph import NodeType
from rag_assets.graph.lookup import name_of, short_name
from rag_assets.graph.picture import MOST_NODES, Picture, Reach, picture
from rag_assets.search.touched_nodes import Touched
from rag_assets.serving.operations.graph import GraphReply, GraphRow, edge_of, place_of
from rag_assets.serving.page.rendering import url
from rag_assets.serving.page.viewing import Link, View, source_url
from rag_assets.serving.requests import GraphQuery, GraphRequest, parsed

_LISTED = 200
_FEW, _MANY = 29, MOST_NODES - 1
"""Nodes around one: as many as a reader takes in at once, and as many as a picture has."""
_DECLARED = frozenset(kind.value for kind in (NodeType.TYPE, NodeType.METHOD, NodeType.PROPERTY, NodeType.ENTITY))
_GROUPS = (Touched.ENDPOINT, Touched.TABLE, Touched.TEST, Touched.DOCUMENT, Touched.CODE)
"""In the order of the list: what a change shows at first."""
_SAYS = {
    GraphQuery.AROUND: "what is around it",
    GraphQuery.CALLERS: "who calls it",
    GraphQuery.USES: "what it needs",
    GraphQuery.IMPACT: "what breaks if it changes",
    GraphQuery.PATH: "how it leads to",
}


def graph_page(view: View) -> str:
    start, to = view.said("start"), view.said("to")
    relation = view.said("relation") or (GraphQuery.PATH if to else GraphQuery.AROUND)
    form = {"start": start, "to": to, "relation": str(relation), "relations": _SAYS}
    if not start or (relation == GraphQuery.PATH and not to):
        hubs = view.operations.hubs(view.label, view.caller) if not start and view.labels else []
        links = [Link(short_name(key), url("/graph", start=key, label=view.label), kind.lower()) for key, kind in hubs]
        return view.rendered("graph.html", title="Graph", reply=None, hubs=links, **form)
    is_whole = relation in (GraphQuery.USES, GraphQuery.IMPACT)
    arguments: dict[str, Any] = {"start": start, "relation": relation, "label": view.label}
    arguments["to"] = to if relation == GraphQuery.PATH else None
    few = _MANY if view.said("all") else _FEW
    arguments["limit"] = _LISTED if is_whole else few
    arguments |= {name: view.said(name) for name in ("depth",) if view.said(name)}
    request = parsed(GraphRequest, arguments | {"only": view.all_said("only")})
    reply = view.operations.walk(request, view.caller)

    def node_url(key: str, how: str = str(relation), end: str = "") -> str:
        how = GraphQuery.AROUND if how == GraphQuery.PATH and not end else how
        return url("/graph", start=key, relation=how, to=end, label=reply.label)

    def row_of(row: GraphRow) -> dict[str, Any]:
        first = row.places[0] if row.places else None
        return {
            "link": Link(short_name(row.key), node_url(row.key), row.key),
            "place": Link(place_of(first), source_url(reply.label, first.path, first.line_start, first.line_end))
            if first
            else None,
            "via": edge_of(row.via, row.key, first.path if first else "") if row.via else "",
            "doubt": "" if row.confidence.value == "resolved" else row.confidence.value,
            "distance": row.distance,
            "path": url("/graph", start=reply.found.starts[0], relation="path", to=row.key, label=reply.label),
        }

    rows = sorted(reply.found.rows, key=lambda row: _GROUPS.index(row.group))
    shown = {
        "reply": reply,
        "name": short_name(reply.found.starts[0]),
        "groups": [(group, list(map(row_of, of))) for group, of in groupby(rows, key=lambda row: row.group.value)],
        "paths": [list(map(row_of, path)) for path in reply.found.paths],
        "picture": picture_of(reply),
        "node_url": node_url,
        "declared": [link for key in reply.found.starts if (link := _declaration(reply.label, key))],
        "more": view.here(all=1) if not is_whole and few == _FEW else "",
        "left": reply.found.total - len(reply.found.rows),
    }
    return view.rendered("graph.html", title=f"{shown['name']}: {_SAYS[request.relation]}", **form, **shown)


def picture_of(reply: GraphReply) -> Picture:
    found = reply.found
    if found.paths:
        reached = {row.key: Reach(row.key, row.via) for path in reversed(found.paths) for row in path}
        edges = [row.via for path in found.paths for row in path]
        return picture(list(reached.values()), edges, is_one_way=True)
    rows = [Reach(row.key, row.via) for row in found.rows]
    return picture([*map(Reach, found.starts), *rows], found.edges, found.total - len(found.rows))


def _declaration(label: str, key: str) -> Link | None:
    """Where a node is declared, as the source view finds it."""
    known = name_of(key)
    if known.kind in _DECLARED:
        return Link(known.symbol, url("/source", label=label, place=known.symbol))
    if known.kind in (NodeType.FILE.value, NodeType.SECTION.value):
        path = known.symbol.partition("#")[0]
        return Link(path, source_url(label, path))
    return None
