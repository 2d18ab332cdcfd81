"""The areas of a graph as a picture: a dependency structure matrix (Steward 1981), as one SVG without scripts or fonts.

A row uses the columns. Users stand above what they use, so marks above the diagonal follow the order of the layers, and
marks below it, in another colour, go against it. Arrows between a dozen boxes that all use each other show neither.
"""

from __future__ import annotations

import math

from rag_assets.graph.areas import AreaMap
from rag_assets.graph.svg import svg_text

_CELL_WIDTH, _CELL, _HEAD, _MARGIN = 44, 24, 30, 12  # pixels
_CHARACTER = 6.9  # pixels of the mean character at 12 px
_LONGEST = 48  # characters of a path; of a longer one the end is shown
_WITH, _AGAINST = (37, 99, 235), (217, 119, 6)  # blue and amber: told apart by those who do not see red or green
_STYLE = (
    "text{font:12px sans-serif;fill:#111827}.count{font-size:10px;text-anchor:middle}.number{fill:#6b7280;"
    "text-anchor:middle}.nodes{fill:#6b7280;text-anchor:end}.own{fill:#e5e7eb}"
)


def area_svg(found: AreaMap) -> str:
    """The matrix as SVG text; the same areas give the same bytes."""
    names = [area.path for area in found.areas]
    left = _MARGIN + 24 + max((len(_shown(name)) for name in names), default=0) * _CHARACTER + 60
    width = left + len(names) * _CELL_WIDTH + _MARGIN
    height = _HEAD + len(names) * _CELL + 26 + _MARGIN
    most = max((edges for _, _, edges in found.uses), default=1)
    row_of = {name: row for row, name in enumerate(names)}
    body = [
        f'<text class="number" x="{left + (row + 0.5) * _CELL_WIDTH:.1f}" y="{_HEAD - 8}">{row + 1}</text>'
        f'<rect class="own" x="{left + row * _CELL_WIDTH:.1f}" y="{_HEAD + row * _CELL}" width="{_CELL_WIDTH - 1}" '
        f'height="{_CELL - 1}"/>\n'
        for row in range(len(names))
    ]
    body += [_cell(left, row_of[source], row_of[target], edges, most, f"{source} → {target}: {edges:,} edges")
             for source, target, edges in found.uses]  # fmt: skip
    for row, area in enumerate(found.areas):
        y = _HEAD + row * _CELL + 16
        body.append(
            f'<text class="number" x="{_MARGIN + 10}" y="{y}">{row + 1}</text>'
            f'<text x="{_MARGIN + 24}" y="{y}">{svg_text(_shown(area.path))}<title>{svg_text(area.path)}</title></text>'
            f'<text class="nodes" x="{left - 8:.1f}" y="{y}">{area.nodes:,}</text>\n'
        )
    legend = "a row uses the columns; amber: against the order of the layers"
    body.append(f'<text class="nodes" x="{width - _MARGIN:.1f}" y="{height - _MARGIN}">{legend}</text>\n')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img">\n<style>{_STYLE}</style>\n'
        f'<rect width="100%" height="100%" fill="#fff"/>\n{"".join(body)}</svg>\n'
    )


def _cell(left: float, row: int, column: int, edges: int, most: int, title: str) -> str:
    """Shaded by the logarithm: one folder may use another a thousand times as much as a third."""
    share = math.log1p(edges) / math.log1p(most)
    red, green, blue = (round(255 - (255 - part) * 0.7 * share) for part in (_WITH if row < column else _AGAINST))
    x, y = left + column * _CELL_WIDTH, _HEAD + row * _CELL
    return (
        f'<g><title>{svg_text(title)}</title><rect x="{x:.1f}" y="{y}" width="{_CELL_WIDTH - 1}" height="{_CELL - 1}" '
        f'fill="#{red:02x}{green:02x}{blue:02x}"/>'
        f'<text class="count" x="{x + _CELL_WIDTH / 2:.1f}" y="{y + 16}">{_short(edges)}</text></g>\n'
    )


def _short(number: int) -> str:
    """`950`, `1.2k`, `34k`: what fits a cell."""
    if number < 1_000:
        return str(number)
    return f"{number / 1_000:.1f}k" if number < 10_000 else f"{number / 1_000:.0f}k"


def _shown(path: str) -> str:
    return path if len(path) <= _LONGEST else f"…{path[1 - _LONGEST :]}"
