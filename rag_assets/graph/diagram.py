"""A part of a graph as boxes and arrows, from any of the walks, and as Mermaid text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag_assets.contracts.graph import Confidence, GraphEdge, NodeType
from rag_assets.graph.impact import Impact
from rag_assets.graph.lookup import short_name, simple_name
from rag_assets.graph.neighbourhood import Neighbourhood
from rag_assets.graph.paths import GraphPath

_LONGEST_LABEL = 60
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ._-/:+*=,@")
"""Characters that mean nothing to Mermaid inside quotes. All others are written as `#code;`."""

_SHAPES = {
    NodeType.TABLE: ("[(", ")]"),
    NodeType.VIEW: ("[(", ")]"),
    NodeType.TABLE_OR_VIEW: ("[(", ")]"),
    NodeType.ENDPOINT: ("([", "])"),
    NodeType.TYPE: ("[[", "]]"),
}


@dataclass(frozen=True, slots=True)
class Box:
    """One node; `entry` where the walk began at it."""

    key: str
    kind: NodeType
    label: str
    entry: bool = False


@dataclass(frozen=True, slots=True)
class Arrow:
    """One edge between boxes; `certain` where it is resolved."""

    source: str
    target: str
    label: str
    certain: bool = True


@dataclass(frozen=True, slots=True)
class Diagram:
    """Boxes in the order they are to be read in, each key once, and arrows between them."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]


def of_neighbourhood(found: Neighbourhood) -> Diagram:
    boxes = (_box(node.key, node.kind, node.name, node.distance) for node in found.nodes)
    return Diagram(tuple(boxes), _arrows(found.edges))


def of_paths(found: Sequence[GraphPath]) -> Diagram:
    """All paths in one diagram; a node has the distance of the first path with it."""
    distances: dict[str, int] = {}
    for path in found:
        for distance, key in enumerate(path.keys):
            distances.setdefault(key, distance)
    boxes = (
        _box(key, NodeType(key.rpartition("|")[2]), simple_name(key), distance) for key, distance in distances.items()
    )
    return Diagram(tuple(boxes), _arrows(step.edge for path in found for step in path.steps))


def of_impact(found: Impact) -> Diagram:
    """What an effect reaches, with the step that it came by. What the node contains is drawn where a step begins at
    it, so every arrow has both ends."""
    reached = {node.key: _box(node.key, node.kind, node.name, node.distance) for node in found.reached}
    edges = [node.via for node in found.reached]
    ends = dict.fromkeys((*found.of, *(end for edge in edges for end in (edge.source, edge.target))))
    parts = (_box(key, NodeType(key.rpartition("|")[2]), simple_name(key), 0) for key in ends if key not in reached)
    return Diagram((*parts, *reached.values()), _arrows(edges))


def mermaid(diagram: Diagram) -> str:
    """A Mermaid flowchart (https://mermaid.js.org/syntax/flowchart.html); valid for every key."""
    ids = {box.key: f"n{number}" for number, box in enumerate(diagram.boxes)}
    lines = ["flowchart LR"]
    for box in diagram.boxes:
        opening, closing = _SHAPES.get(box.kind, ("[", "]"))
        lines.append(f'  {ids[box.key]}{opening}"{_escaped(box.kind.value)}<br/>{_escaped(box.label)}"{closing}')
    for arrow in diagram.arrows:
        line = "-->" if arrow.certain else "-.->"
        lines.append(f'  {ids[arrow.source]} {line}|"{_escaped(arrow.label)}"| {ids[arrow.target]}')
    entries = [ids[box.key] for box in diagram.boxes if box.entry]
    if entries:
        lines += ["  classDef entry stroke-width:3px", f"  class {','.join(entries)} entry"]
    return "\n".join(lines) + "\n"


def _box(key: str, kind: NodeType, name: str, distance: int) -> Box:
    label = " ".join((name if kind is NodeType.SECTION and name else short_name(key)).split())
    if len(label) > _LONGEST_LABEL:
        label = f"{label[: _LONGEST_LABEL - 1]}…"
    return Box(key, kind, label, entry=distance == 0)


def _arrows(edges: Iterable[GraphEdge]) -> tuple[Arrow, ...]:
    made = (
        Arrow(edge.source, edge.target, edge.relation.value, edge.confidence is Confidence.RESOLVED) for edge in edges
    )
    return tuple(dict.fromkeys(made))


def _escaped(text: str) -> str:
    return "".join(char if char in _PLAIN else f"#{ord(char)};" for char in text)
