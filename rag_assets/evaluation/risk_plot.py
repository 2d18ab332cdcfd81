"""The risk-coverage curve of a run as inline SVG, as the other plots of a report are made. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from rag_assets.evaluation.report_plots import LEFT, RIGHT, TICKS, WIDTH, bottom, color_of, grid, names, svg, y_of
from rag_assets.evaluation.risk import RiskPoint

_ACROSS = WIDTH - LEFT - RIGHT


def risk_plot(curve: Sequence[RiskPoint], marks: Sequence[tuple[str, float]]) -> str:
    """Two lines over the share of the answerable questions that is answered: the share of the unanswerable that is
    answered too, and the share of wrong answers. `marks` are named thresholds, each at the coverage that it has."""
    body = [grid(WIDTH - RIGHT)]
    body += [
        f'<text x="{_x(tick):.1f}" y="{bottom() + 16}" class="tick" text-anchor="middle">{tick:g}</text>'
        for tick in TICKS
    ]
    ends = []
    for number, (name, points) in enumerate(_lines(curve)):
        color = color_of(number)
        path = " ".join(f"{_x(x):.1f},{y_of(y):.1f}" for x, y in points)
        body.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        ends.append((y_of(points[0][1]), name, color))
    for name, threshold in marks:
        point = next((known for known in curve if known.threshold >= threshold), curve[-1])
        x, color = _x(point.coverage), color_of(-1)
        body.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y_of(1):.1f}" y2="{y_of(0):.1f}" stroke="{color}" '
            'stroke-dasharray="4 3"/>'
        )
        ends.append((y_of(1), f"| {name} {threshold:.3f}", color))
    return svg([*body, *names(ends)], "risk over coverage")


def _lines(curve: Sequence[RiskPoint]) -> list[tuple[str, list[tuple[float, float]]]]:
    """(name, its points from the lowest threshold on), of the lines that have any."""
    admitted = [(point.coverage, point.admitted) for point in curve if point.admitted is not None]
    risk = [(point.coverage, point.risk) for point in curve if point.risk is not None]
    found = (("unanswerable", admitted), ("wrong answers", risk))
    return [(name, points) for name, points in found if points]


def _x(coverage: float) -> float:
    return LEFT + _ACROSS * coverage
