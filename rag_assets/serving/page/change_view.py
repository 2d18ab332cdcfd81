"""Changes: what the commits since another touch, and what differs between the graphs of two generations."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from rag_assets.graph.comparison import GraphDifference
from rag_assets.graph.lookup import short_name
from rag_assets.search.touched_nodes import Touched, TouchedNode
from rag_assets.serving.operations.compare import edge_line
from rag_assets.serving.page.rendering import url
from rag_assets.serving.page.viewing import Link, View, source_url
from rag_assets.serving.requests import GraphRequest, parsed

_LISTED = 200


def impact_page(view: View) -> str:
    since = view.said("since")
    if not since:
        return view.rendered("impact.html", title="Impact", since="", found=None, kinds=list(Touched))
    arguments = {"since": since, "label": view.label, "only": view.all_said("only"), "limit": _LISTED}
    reply = view.operations.impact(parsed(GraphRequest, arguments), since, view.caller)
    found = reply.found

    def row_of(node: TouchedNode) -> dict[str, Any]:
        return {
            "distance": node.distance,
            "link": Link(", ".join(node.tests) or short_name(node.key), _node(found.label, node.key)),
            "place": Link(f"{node.path}:{node.line}", source_url(found.label, node.path, node.line))
            if node.path
            else None,
            "because": Link(short_name(node.because), _node(found.label, node.because)) if node.steps else None,
            "doubt": "" if node.confidence == "resolved" else node.confidence,
        }

    groups = [(what.value, list(map(row_of, nodes))) for what, nodes in groupby(found.touched, lambda node: node.what)]
    title = f"What has changed since {since} touches"
    return view.rendered(
        "impact.html", title=title, since=since, found=found, age=reply.age, groups=groups, kinds=list(Touched)
    )


def compare_page(view: View) -> str:
    old, new = view.said("old") or "previous", view.said("new") or "active"
    reply = view.operations.compare(view.label, old, new, view.caller)

    def side(found: GraphDifference) -> dict[str, Any]:
        named = [Link(short_name(key), _node(reply.new.index_label, key), key) for key in found.named]
        return {
            "named": named,
            "nodes": found.nodes,
            "edges": found.edges,
            "listed": list(map(edge_line, found.listed)),
        }

    sides = {"came": side(reply.found.added), "went": side(reply.found.removed)}
    title = f"{reply.old.commit_sha[:7]} → {reply.new.commit_sha[:7]}"
    return view.rendered("compare.html", title=title, reply=reply, sides=sides)


def _node(label: str, key: str) -> str:
    return url("/graph", start=key, label=label)
