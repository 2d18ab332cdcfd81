"""Pictures of walks: no box over another, every line between two boxes, the same picture for the same walk."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from rag_assets.contracts.graph import Relation
from rag_assets.graph.impact import impact
from rag_assets.graph.neighbourhood import neighbourhood
from rag_assets.graph.paths import paths
from rag_assets.graph.picture import (
    BOX_HEIGHT,
    BOX_WIDTH,
    MOST_NODES,
    Picture,
    Reach,
    of_impact,
    of_neighbourhood,
    of_paths,
    picture,
)
from rag_assets.serving.page.rendering import graph_svg
from rag_assets_tests.graph.small_graphs import ROUTE, SERVICE, TABLE, edge, method, of_edges, shop
from rag_assets_tests.graph.test_diagram import STRANGE

HUB = method("Hub")


def pictures() -> dict[str, Picture]:
    graph = shop()
    start, end = graph.find(ROUTE), graph.find(TABLE)
    assert start is not None and end is not None
    many = of_edges([edge(method(f"Caller{number}"), Relation.CALLS, HUB) for number in range(300)])
    found = many.find(HUB)
    assert found is not None
    return {
        "neighbourhood": of_neighbourhood(neighbourhood(graph, [SERVICE])),
        "paths": of_paths(paths(graph, [start], [end])),
        "impact": of_impact(impact(graph, [end])),
        "hub": of_impact(impact(many, [found])),
        "nothing": of_neighbourhood(neighbourhood(graph, [])),
    }


@pytest.mark.parametrize("name", ["neighbourhood", "paths", "impact", "hub", "nothing"])
def test_boxes_do_not_touch_and_stay_inside(name: str) -> None:
    drawn = pictures()[name]
    assert drawn == pictures()[name] and len(drawn.boxes) <= MOST_NODES
    for box in drawn.boxes:
        assert 0 < box.x <= drawn.width - BOX_WIDTH and 0 < box.y <= drawn.height - BOX_HEIGHT
        assert not [
            other
            for other in drawn.boxes
            if other is not box and abs(other.x - box.x) < BOX_WIDTH and abs(other.y - box.y) < BOX_HEIGHT
        ]
    shown = {box.key for box in drawn.boxes}
    assert all({line.edge.source, line.edge.target} <= shown for line in drawn.lines)


def test_a_hub_says_how_many_are_not_drawn() -> None:
    drawn = pictures()["hub"]
    assert len(drawn.boxes) == MOST_NODES and drawn.left_out == 241


def test_callers_are_on_the_left_and_what_is_called_on_the_right() -> None:
    a, b, c = method("A"), method("B"), method("C")
    into, out = edge(a, Relation.CALLS, b), edge(b, Relation.CALLS, c)
    found = {box.key: box for box in picture([Reach(b), Reach(a, into), Reach(c, out)]).boxes}
    assert found[a].x < found[b].x < found[c].x and found[b].is_entry
    assert found[a].note == "method · ← Calls" and found[c].note == "method · → Calls"


@pytest.mark.parametrize("key", STRANGE)
def test_every_key_makes_a_valid_picture(key: str) -> None:
    step = edge(HUB, Relation.CALLS, key)
    root = ElementTree.fromstring(graph_svg(picture([Reach(HUB), Reach(key, step)])))
    assert {"script", "b"}.isdisjoint(element.tag.rpartition("}")[2] for element in root.iter())
    assert sum(element.tag.endswith("rect") for element in root.iter()) == 2
