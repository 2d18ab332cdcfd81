"""Diagrams: Mermaid that is valid for every key."""

from __future__ import annotations

import re

import pytest

from rag_assets.contracts.graph import Confidence, Relation
from rag_assets.graph.diagram import of_impact, of_neighbourhood, of_paths
from rag_assets.graph.impact import impact
from rag_assets.graph.neighbourhood import neighbourhood
from rag_assets.graph.paths import paths
from rag_assets_tests.graph.small_graphs import ROUTE, SERVICE, TABLE, edge, graph_of, method, node, of_edges, shop

A = method("A")
STRANGE = [
    "csharp:N.T.M(Dictionary<string,int>,(int,string))|METHOD",
    'dbo.<script>alert("x")</script>&amp;|TABLE',
    "dbo.`\"';#|}{]|TABLE",
    "dbo.line\nbreak\ttab|TABLE",
    "csharp:Größe.𝄞|TYPE",
    "csharp:N.end|TYPE",
    "dbo.%%{init}%%|TABLE",
    "dbo.\x00\x1b[31m\ufffe|TABLE",
    f"csharp:N.{'Long' * 500}|TYPE",
]
# One line of a flowchart as this module writes it: a box, an arrow, or the marking of entries.
_LINE = re.compile(
    r"  n\d+(\[\[|\[\(|\(\[|\[)\"[^\"\n]*\"(\]\]|\)\]|\]\)|\])"
    r"|  n\d+ (-->|-\.->)\|\"\w+\"\| n\d+"
    r"|  classDef entry stroke-width:3px|  class n\d+(,n\d+)* entry"
)

_BOX = re.compile(r"  (n\d+)[\[(]")
_ENDS = re.compile(r"n\d+(?= -)|(?<=\| )n\d+$")


def diagrams() -> list[str]:
    graph = shop()
    ends = graph.find(ROUTE), graph.find(TABLE)
    assert None not in ends
    return [
        of_neighbourhood(neighbourhood(graph, [SERVICE])),
        of_paths(paths(graph, [ends[0]], [ends[1]])),  # type: ignore[list-item]
        of_impact(impact(graph, [ends[1]])),  # type: ignore[list-item]
        of_neighbourhood(neighbourhood(graph, [])),
    ]


@pytest.mark.parametrize("number", range(4), ids=["neighbourhood", "paths", "impact", "nothing"])
def test_every_walk_can_be_drawn(number: int) -> None:
    first, *lines = diagrams()[number].splitlines()
    assert first == "flowchart LR"
    assert [line for line in lines if not _LINE.fullmatch(line)] == []
    boxes = [found[1] for line in lines if (found := _BOX.match(line))]
    assert len(set(boxes)) == len(boxes)
    assert {end for line in lines for end in _ENDS.findall(line)} <= set(boxes)


@pytest.mark.parametrize("key", STRANGE, ids=range(len(STRANGE)))
def test_no_key_breaks_a_diagram(key: str) -> None:
    lines = of_neighbourhood(neighbourhood(of_edges([edge(A, Relation.CALLS, key)]), [A])).splitlines()
    assert [line for line in lines[1:] if not _LINE.fullmatch(line)] == []
    assert [line for line in lines if re.search(r"[<>`]", line.replace("<br/>", "").replace("->", ""))] == []


def test_guesses_are_dashed() -> None:
    found = neighbourhood(of_edges([edge(A, Relation.CALLS, method("B"), Confidence.PROBABLE)]), [A])
    assert '-.->|"Calls"|' in of_neighbourhood(found)


def test_the_same_diagram_is_the_same_text() -> None:
    assert diagrams() == diagrams()


def label_in(drawn: str) -> str:
    """The label of the only box, as Mermaid shows it."""
    (written,) = re.findall(r'<br/>(.*)"', drawn)
    return re.sub(r"#(\d+);", lambda found: chr(int(found[1])), written)


@pytest.mark.parametrize(
    ("key", "label"),
    [
        (ROUTE, "GET /api/orders/{id}"),
        (SERVICE, "Orders"),
        (TABLE, "dbo.Orders"),
        (A, "T.A"),
        ("doc:docs/a.md#what-it-is|SECTION", "What it is"),
        ("file:src/a/B.cs|FILE", "B.cs"),
        ("nuget:A.B.C|PACKAGE", "A.B.C"),
        ("|TABLE", "|TABLE"),
    ],
)
def test_labels_are_short_and_tell_nodes_apart(key: str, label: str) -> None:
    graph = graph_of([node(key, name="  What it\n is ")], [])
    drawn = of_neighbourhood(neighbourhood(graph, [key]))
    assert label_in(drawn) == label
    assert drawn.endswith("  class n0 entry\n")


@pytest.mark.parametrize(
    ("key", "label"),
    [
        ('dbo.a]b|c<d>"e|TABLE', 'dbo.a]b|c<d>"e'),
        ("shop.dbo.Orders|TABLE", "dbo.Orders"),
        ("csharp:N.Box<T>.Put(T)|METHOD", "Box.Put"),
    ],
    ids=["strange-table", "database", "type-arguments"],
)
def test_labels(key: str, label: str) -> None:
    graph = graph_of([node(key)], [])
    assert label_in(of_neighbourhood(neighbourhood(graph, [key]))) == label
