"""A diagram as one SVG file without scripts, fonts or links: columns by distance, rows so that few lines cross.

Drawn here and not by a library: layout engines in Python are either unmaintained or bindings to a program that has to
be installed apart, and columns by distance are what a reader of a walk expects.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from xml.sax.saxutils import escape, quoteattr

from rag_assets.contracts.graph import NodeType
from rag_assets.graph.diagram import Arrow, Box, Diagram

_BOX_HEIGHT, _ROW, _GAP, _MARGIN = 30, 42, 130, 20  # pixels; the gap has room for the name of a relation
_CHARACTER = 6.7  # pixels of the mean character at 12 px
_LEAST_WIDTH = 90
_SWEEPS = 4  # of ordering rows; more change little
_LABELLED = 40  # arrows; the names of more would cover each other, and stay in the tooltips

_COLORS = {
    NodeType.TYPE: "#dbeafe",
    NodeType.METHOD: "#ecfdf5",
    NodeType.PROPERTY: "#f0fdf4",
    NodeType.ENDPOINT: "#fef3c7",
    NodeType.ENTITY: "#fce7f3",
    NodeType.DBSET: "#fce7f3",
    NodeType.TABLE: "#ffe4e6",
    NodeType.VIEW: "#ffe4e6",
    NodeType.TABLE_OR_VIEW: "#ffe4e6",
    NodeType.PROC: "#ede9fe",
    NodeType.FUNC: "#ede9fe",
    NodeType.SECTION: "#f5f5f4",
    NodeType.FILE: "#f5f5f4",
}
_STYLE = (
    "text{font:12px sans-serif;fill:#111827}.kind{font-size:9px;fill:#6b7280}.relation{font-size:9px;fill:#4b5563;"
    "text-anchor:middle;paint-order:stroke;stroke:#fff;stroke-width:3px}.box{stroke:#6b7280}.entry{stroke:#111827;"
    "stroke-width:2.5}.arrow{fill:none;stroke:#6b7280;stroke-width:1.2}.guess{stroke-dasharray:4 3}"
)

_Point = tuple[float, float]


def svg(diagram: Diagram) -> str:
    """The diagram as SVG text. All texts of the repository are escaped; the same diagram gives the same bytes."""
    columns = _columns(diagram)
    places, sizes, width, height = _placed(columns)
    arrows = _merged(diagram.arrows)
    body = [_arrow(arrow, places, sizes, len(arrows) <= _LABELLED) for arrow in arrows]
    body += [_drawn(box, places[box.key], sizes[box.key]) for column in columns for box in column]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img">\n<style>{_STYLE}</style>\n'
        '<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" fill="#6b7280"/></marker></defs>\n'
        f'<rect width="100%" height="100%" fill="#fff"/>\n{"".join(body)}</svg>\n'
    )


def _merged(arrows: Iterable[Arrow]) -> list[Arrow]:
    """One arrow from a box to another, with the names of all relations, certain where any of them is."""
    between: dict[tuple[str, str], list[Arrow]] = {}
    for arrow in arrows:
        between.setdefault((arrow.source, arrow.target), []).append(arrow)
    return [
        Arrow(
            source, target, ", ".join(dict.fromkeys(arrow.label for arrow in several)), any(a.certain for a in several)
        )
        for (source, target), several in between.items()
    ]


def _columns(diagram: Diagram) -> list[list[Box]]:
    """Boxes by level, each column in the order of the mean row of its neighbours in other columns."""
    levels = sorted({box.level for box in diagram.boxes})
    columns = [[box for box in diagram.boxes if box.level == level] for level in levels]
    neighbours: dict[str, list[str]] = {box.key: [] for box in diagram.boxes}
    for arrow in diagram.arrows:
        neighbours[arrow.source].append(arrow.target)
        neighbours[arrow.target].append(arrow.source)
    rows = {box.key: float(row) for column in columns for row, box in enumerate(column)}
    level_of = {box.key: box.level for box in diagram.boxes}

    def mean_row(box: Box) -> float:
        others = [rows[key] for key in neighbours[box.key] if level_of[key] != box.level]
        return sum(others) / len(others) if others else rows[box.key]

    for sweep in range(_SWEEPS):
        for column in columns if sweep % 2 == 0 else reversed(columns):
            column.sort(key=mean_row)
            rows.update({box.key: float(row) for row, box in enumerate(column)})
    return columns


def _placed(columns: list[list[Box]]) -> tuple[dict[str, _Point], dict[str, float], float, float]:
    """Upper left corners, widths, and the size of the whole, with room for arrows beside the last column."""
    tallest = max((len(column) for column in columns), default=0)
    places: dict[str, _Point] = {}
    sizes: dict[str, float] = {}
    left = float(_MARGIN)
    for column in columns:
        widest = max(_width(box) for box in column)
        top = _MARGIN + (tallest - len(column)) * _ROW / 2
        for row, box in enumerate(column):
            places[box.key] = (left, top + row * _ROW)
            sizes[box.key] = widest
        left += widest + _GAP
    return places, sizes, left - _GAP / 2 + _MARGIN, 2 * _MARGIN + tallest * _ROW


def _width(box: Box) -> float:
    return max(_LEAST_WIDTH, len(box.label) * _CHARACTER + 16)


def _drawn(box: Box, place: _Point, width: float) -> str:
    left, top = place
    color = _COLORS.get(box.kind, "#f9fafb")
    css = "box entry" if box.entry else "box"
    return (
        f"<g><title>{svg_text(box.key)}</title>"
        f'<rect class="{css}" x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{_BOX_HEIGHT}" rx="4" '
        f'fill="{color}"/><text class="kind" x="{left + 8:.1f}" y="{top + 11:.1f}">{svg_text(box.kind.value)}</text>'
        f'<text x="{left + 8:.1f}" y="{top + 24:.1f}">{svg_text(box.label)}</text></g>\n'
    )


def _arrow(arrow: Arrow, places: Mapping[str, _Point], sizes: Mapping[str, float], labelled: bool) -> str:
    (x1, y1), (x2, y2) = places[arrow.source], places[arrow.target]
    y1, y2 = y1 + _BOX_HEIGHT / 2, y2 + _BOX_HEIGHT / 2
    if x1 < x2:
        x1, bend1, bend2 = x1 + sizes[arrow.source], _GAP / 2, -_GAP / 2
    elif x1 > x2:
        x2, bend1, bend2 = x2 + sizes[arrow.target], -_GAP / 2, _GAP / 2
    else:  # within a column: around its right side
        x1, x2 = x1 + sizes[arrow.source], x2 + sizes[arrow.target]
        bend1 = bend2 = _GAP / 3
    css = "arrow" if arrow.certain else "arrow guess"
    line = f"M{x1:.1f} {y1:.1f}C{x1 + bend1:.1f} {y1:.1f} {x2 + bend2:.1f} {y2:.1f} {x2:.1f} {y2:.1f}"
    made = f"<g><title>{svg_text(f'{arrow.source} {arrow.label} {arrow.target}')}</title>"
    made += f"<path class={quoteattr(css)} d={quoteattr(line)} marker-end={quoteattr('url(#head)')}/>"
    if labelled:
        x, y = (x1 + x2) / 2 + (bend1 + bend2) * 3 / 8, (y1 + y2) / 2 - 3
        made += f'<text class="relation" x="{x:.1f}" y="{y:.1f}">{svg_text(arrow.label)}</text>'
    return made + "</g>\n"


def svg_text(text: str) -> str:
    """Escaped, and without the characters that XML 1.0 has no way to write."""
    return escape("".join(char if _in_xml(ord(char)) else "�" for char in text))


def _in_xml(code: int) -> bool:
    return code in (0x9, 0xA, 0xD) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000
