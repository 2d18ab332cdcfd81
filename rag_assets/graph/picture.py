"""The outcome of a walk as a picture: where boxes and lines lie. What leads to the nodes it began at is on their left,
what they lead to on their right, one column for each step. The same walk gives the same picture.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rag_assets.contracts.graph import Confidence, GraphEdge, NodeType, key_kind
from rag_assets.graph.impact import Impact
from rag_assets.graph.lookup import short_name, simple_name
from rag_assets.graph.neighbourhood import Neighbourhood
from rag_assets.graph.paths import GraphPath

MOST_NODES = 60
"""More boxes than that nobody reads."""
BOX_WIDTH, BOX_HEIGHT = 228, 40
_ACROSS, _DOWN = BOX_WIDTH + 76, BOX_HEIGHT + 12
_MARGIN = 12
_BULGE = 34  # of a line between two boxes of one column
_LONGEST = 25  # characters that fit in a box
_MEMBERS = (NodeType.METHOD, NodeType.PROPERTY)


@dataclass(frozen=True, slots=True)
class Reach:
    """A node and the edge that led to it, None for one where the walk began."""

    key: str
    via: GraphEdge | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Box:
    """A node. `x` and `y` are of its upper left corner; `note` says its kind and how it was reached."""

    key: str
    name: str
    kind: str
    note: str
    x: int
    y: int
    is_entry: bool


@dataclass(frozen=True, slots=True)
class Line:
    """An edge; `path` is that of an SVG path. The walk took it, or it is between two nodes that others led to."""

    edge: GraphEdge
    path: str
    is_taken: bool

    @property
    def is_sure(self) -> bool:
        return self.edge.confidence is Confidence.RESOLVED


@dataclass(frozen=True, slots=True)
class Picture:
    """`left_out` nodes were reached and are not drawn."""

    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    width: int
    height: int
    left_out: int = 0


def of_neighbourhood(found: Neighbourhood) -> Picture:
    return picture([Reach(node.key, node.via, node.name) for node in found.nodes], found.edges, found.left_out)


def of_paths(found: Sequence[GraphPath]) -> Picture:
    """All paths in one picture, from left to right."""
    reached: dict[str, Reach] = {}
    for path in found:
        edges = [None, *(step.edge for step in path.steps)]
        for key, edge in zip(path.keys, edges, strict=True):
            reached.setdefault(key, Reach(key, edge))
    edges = [step.edge for path in found for step in path.steps]
    return picture(list(reached.values()), edges, is_one_way=True)


def of_impact(found: Impact) -> Picture:
    reached = [*map(Reach, found.of), *(Reach(node.key, node.via, node.name) for node in found.reached)]
    return picture(reached, left_out=max(0, found.total - len(found.reached)))


def picture(
    reached: Sequence[Reach], edges: Iterable[GraphEdge | None] = (), left_out: int = 0, *, is_one_way: bool = False
) -> Picture:
    """The first nodes of those that were reached, nearest first, and the edges between them. `is_one_way`: all to the
    right, whichever way an edge reads."""
    shown = {reach.key: reach for reach in reached[:MOST_NODES]}
    for reach in list(shown.values()):  # what a step began at and nothing led to, as a part of where the walk began
        if reach.via is not None and len(shown) < MOST_NODES:
            shown.setdefault(_parent(reach), Reach(_parent(reach)))
    columns = _columns(shown, is_one_way)
    tops = _tops(shown, columns)
    left, highest = min(columns.values(), default=0), min(tops.values(), default=0)
    corners = {key: (_MARGIN + (columns[key] - left) * _ACROSS, _MARGIN + round(tops[key] - highest)) for key in shown}
    taken = {_arrow(reach.via) for reach in shown.values() if reach.via is not None}
    drawn: dict[tuple[str, str, str], GraphEdge] = {}
    for edge in (*(reach.via for reach in shown.values()), *edges):
        if edge is not None and edge.source in shown and edge.target in shown and edge.source != edge.target:
            drawn.setdefault(_arrow(edge), edge)
    lines = [
        Line(edge, _path(corners[edge.source], corners[edge.target]), arrow in taken) for arrow, edge in drawn.items()
    ]
    boxes = [_box(reach, corners[key]) for key, reach in shown.items()]
    return Picture(
        boxes=tuple(boxes),
        lines=tuple(lines),
        width=max((box.x for box in boxes), default=0) + BOX_WIDTH + _MARGIN,
        height=max((box.y for box in boxes), default=0) + BOX_HEIGHT + _MARGIN,
        left_out=left_out + max(0, len(reached) - MOST_NODES),
    )


def _columns(shown: Mapping[str, Reach], is_one_way: bool) -> dict[str, int]:
    """The column of each node: 0 for where the walk began, one more for each step."""
    found = {key: 0 for key, reach in shown.items() if reach.via is None}
    waiting = [reach for reach in shown.values() if reach.via is not None]
    while waiting:
        later = []
        for reach in waiting:
            before = found.get(_parent(reach))
            if before is None:
                later.append(reach)
            elif before:
                found[reach.key] = before + (1 if before > 0 else -1)
            else:
                is_right = is_one_way or (reach.via is not None and reach.via.target == reach.key)
                found[reach.key] = 1 if is_right else -1
        if len(later) == len(waiting):  # the nodes that led to them are not shown
            found |= dict.fromkeys((reach.key for reach in later), 0)
            break
        waiting = later
    return found


def _tops(shown: Mapping[str, Reach], columns: Mapping[str, int]) -> dict[str, float]:
    """The upper edge of each box: near that of the box that led to it, and none over another."""
    by_column: dict[int, list[str]] = {}
    for key in shown:
        by_column.setdefault(columns[key], []).append(key)
    tops = {key: float(at * _DOWN) for at, key in enumerate(by_column.pop(0, ()))}
    for column in sorted(by_column, key=lambda at: (abs(at), at)):
        wanted: dict[str, list[str]] = {}
        for key in by_column[column]:
            wanted.setdefault(_parent(shown[key]), []).append(key)
        free, shifts = float("-inf"), []
        for parent in sorted(wanted, key=lambda key: tops.get(key, 0.0)):
            children = wanted[parent]
            top = tops.get(parent, 0.0) - (len(children) - 1) * _DOWN / 2
            shifts.append(max(free - top, 0.0))
            free = max(free, top)
            for child in children:
                tops[child] = free
                free += _DOWN
        middle = sum(shifts) / len(shifts)
        for key in by_column[column]:
            tops[key] -= middle
    return tops


def _parent(reach: Reach) -> str:
    if reach.via is None:
        return ""
    return reach.via.source if reach.via.target == reach.key else reach.via.target


def _box(reach: Reach, corner: tuple[int, int]) -> Box:
    kind = key_kind(reach.key)
    name = reach.name if kind is NodeType.SECTION and reach.name else short_name(reach.key)
    name = " ".join(name.split())
    if len(name) > _LONGEST and kind in _MEMBERS:
        name = simple_name(reach.key)  # the end of a name tells more than its beginning
    note = kind.value.lower().replace("_", " ")
    if reach.via is not None:
        note += f" · {'→' if reach.via.target == reach.key else '←'} {reach.via.relation.value}"
    if len(name) > _LONGEST:
        name = f"{name[: _LONGEST - 1]}…"
    return Box(reach.key, name, kind.value, note, *corner, is_entry=reach.via is None)


def _path(start: tuple[int, int], end: tuple[int, int]) -> str:
    """From the side of a box to the nearer side of another."""
    (x1, y1), (x2, y2) = start, end
    y1, y2 = y1 + BOX_HEIGHT // 2, y2 + BOX_HEIGHT // 2
    if x1 == x2:
        x1, x2, bend = x1 + BOX_WIDTH, x2 + BOX_WIDTH, x1 + BOX_WIDTH + _BULGE
        return f"M{x1} {y1}C{bend} {y1} {bend} {y2} {x2} {y2}"
    if x1 < x2:
        x1 += BOX_WIDTH
    else:
        x2 += BOX_WIDTH
    middle = (x1 + x2) // 2
    return f"M{x1} {y1}C{middle} {y1} {middle} {y2} {x2} {y2}"


def _arrow(edge: GraphEdge) -> tuple[str, str, str]:
    return edge.source, edge.target, edge.relation.value
