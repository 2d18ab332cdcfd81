"""Metrics as pictures: SVG that takes its colours from the page it stands on (`chart.css`). Every text is escaped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from rag_assets.evaluation.risk_coverage import row_at
from rag_assets.index.eval_records import CategorySummary, EvalRecord

if TYPE_CHECKING:
    from pandas import DataFrame

_WIDTH, _HEIGHT = 760, 240  # pixels; a column of text wide
_LEFT, _RIGHT, _TOP, _BOTTOM = 40, 150, 12, 34  # pixels around the plot; right is for the names of lines
_ROW, _NAMES = 22, 190  # pixels of a category, and of its name
_NAME_CHARS = 26
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_COLORS = 6  # classes `of0` to `of5`; lines are told apart without them too, by the names at their ends
_TICK_COMMIT_DIGITS = 7
_BAND_NAME = 80  # pixels: a narrower band has its name as a hint only
_NAME_GAP = 13  # pixels between two names at the end of lines


def metric_plot(records: Sequence[EvalRecord]) -> str:
    """A line per metric over records of the same questions, oldest first, with the band of its interval."""
    metrics = list(records[-1].total.metrics)
    step = (_WIDTH - _LEFT - _RIGHT) / max(1, len(records) - 1)
    across = [_LEFT + step * number for number in range(len(records))]
    body = [_grid(across[-1] if len(records) > 1 else _WIDTH - _RIGHT)]
    ends = []
    for number, metric in enumerate(metrics):
        color = _color_of(number)
        known = [record.total.metrics[metric] for record in records]
        band = [*zip(across, (one.high for one in known), strict=True)]
        band += reversed([*zip(across, (one.low for one in known), strict=True)])
        corners = " ".join(f"{x:.1f},{_y_of(value):.1f}" for x, value in band)
        body.append(f'<polygon points="{corners}" class="band {color}"/>')
        points = " ".join(f"{x:.1f},{_y_of(one.value):.1f}" for x, one in zip(across, known, strict=True))
        body.append(f'<polyline points="{points}" class="line {color}"/>')
        for x, one, record in zip(across, known, records, strict=True):
            told = f"{metric} {one.value:.3f} [{one.low:.3f}, {one.high:.3f}], {record.generation_id}"
            dot = f'<circle cx="{x:.1f}" cy="{_y_of(one.value):.1f}" r="3" class="dot {color}">'
            body.append(f"{dot}<title>{escape(told)}</title></circle>")
        ends.append((_y_of(known[-1].value), f"{metric} {known[-1].value:.3f}", color))
    body += _names(ends)
    body += [
        f'<text x="{x:.1f}" y="{_HEIGHT - _BOTTOM + 16}" class="tick" text-anchor="middle">'
        f"{escape(record.commit_sha[:_TICK_COMMIT_DIGITS])}</text>"
        for x, record in _labelled(across, records)
    ]
    return _svg(body, "metrics over generations")


def category_plot(categories: Sequence[CategorySummary], metric: str) -> str:
    """A row per category: the metric, and the line of what it lies between."""
    height = _TOP + _ROW * len(categories) + _BOTTOM
    wide = _WIDTH - _NAMES - _RIGHT
    low_edge = height - _BOTTOM
    body = []
    for tick in _TICKS:
        x = _NAMES + wide * tick
        body.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{low_edge}" class="grid"/>')
        body.append(f'<text x="{x:.1f}" y="{low_edge + 16}" class="tick" text-anchor="middle">{tick:g}</text>')
    for number, found in enumerate(categories):
        y, known = _TOP + _ROW * (number + 0.5), found.metrics[metric]
        low, middle, high = (_NAMES + wide * value for value in (known.low, known.value, known.high))
        name = found.name if len(found.name) <= _NAME_CHARS else f"{found.name[: _NAME_CHARS - 1]}…"
        body += [
            f'<text x="{_NAMES - 10}" y="{y + 4:.1f}" text-anchor="end">{escape(name)}'
            f"<title>{escape(found.name)}</title></text>",
            f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y:.1f}" y2="{y:.1f}" class="line of0"/>',
            f'<circle cx="{middle:.1f}" cy="{y:.1f}" r="4" class="dot of0"/>',
            f'<text x="{_NAMES + wide + 12}" y="{y + 4:.1f}">{known.value:.3f} of {found.questions}</text>',
        ]
    return _svg(body, f"{metric} by category", height)


def risk_plot(
    curve: DataFrame, marks: Sequence[tuple[str, float]], outcomes: tuple[float, float, float] | None = None
) -> str:
    """Two lines over the share of the answerable questions that a threshold lets pass: the share of the unanswerable
    that passes too, and the share of wrong ones. `marks` are named thresholds, each at the coverage that it has;
    `outcomes` are the shares of the answerable that are answered, not sure and refused: three bands, from the left."""
    body = [*_bands(outcomes or ()), _grid(_WIDTH - _RIGHT)]
    body += [
        f'<text x="{_x(tick):.1f}" y="{_HEIGHT - _BOTTOM + 16}" class="tick" text-anchor="middle">{tick:g}</text>'
        for tick in _TICKS
    ]
    ends = []
    columns = {"unanswerable": "admitted", "wrong answers": "risk"}
    lines = {name: curve[["coverage", column]].dropna().to_numpy().tolist() for name, column in columns.items()}
    for number, (name, points) in enumerate((name, points) for name, points in lines.items() if points):
        color = _color_of(number)
        path = " ".join(f"{_x(x):.1f},{_y_of(y):.1f}" for x, y in points)
        body.append(f'<polyline points="{path}" class="line {color}"/>')
        ends.append((_y_of(points[0][1]), name, color))
    for name, threshold in marks:
        x, color = _x(curve["coverage"].iloc[row_at(curve, threshold)]), _color_of(-1)
        body.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_y_of(1):.1f}" y2="{_y_of(0):.1f}" class="mark {color}"/>')
        ends.append((_y_of(1), f"| {name} {threshold:.3f}", color))
    return _svg([*body, *_names(ends)], "risk over coverage")


def _bands(outcomes: Sequence[float]) -> Iterator[str]:
    """An area for each outcome, with its name and share below the top."""
    start = 0.0
    areas = (("answered", 2), ("not sure", 1), ("refused", 5))[: len(outcomes)]
    for (name, number), share in zip(areas, outcomes, strict=True):
        left, wide = _x(start), _x(start + share) - _x(start)
        start += share
        told = f"{name} {share:.0%}"
        yield (
            f'<rect x="{left:.1f}" y="{_TOP}" width="{wide:.1f}" height="{_y_of(0) - _TOP:.1f}" '
            f'class="band {_color_of(number)}"><title>{told}</title></rect>'
        )
        if wide >= _BAND_NAME:
            yield f'<text x="{left + wide / 2:.1f}" y="{_TOP + 14}" class="tick" text-anchor="middle">{told}</text>'


def _color_of(number: int) -> str:
    """The class of a line."""
    return f"of{number % _COLORS}"


def _y_of(value: float) -> float:
    """Where a value between 0 and 1 is."""
    return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - value)


def _grid(right: float) -> str:
    """Lines across the plot, with their values."""
    lines = [
        f'<line x1="{_LEFT}" x2="{right:.1f}" y1="{_y_of(tick):.1f}" y2="{_y_of(tick):.1f}" class="grid"/>'
        f'<text x="{_LEFT - 6}" y="{_y_of(tick) + 4:.1f}" class="tick" text-anchor="end">{tick:g}</text>'
        for tick in _TICKS
    ]
    return "".join(lines)


def _names(ends: Sequence[tuple[float, str, str]]) -> list[str]:
    """The names of lines at their ends, pushed down where they would cover each other."""
    made, free = [], 0.0
    for y, name, color in sorted(ends):
        free = max(y + 4, free + _NAME_GAP)
        made.append(f'<text x="{_WIDTH - _RIGHT + 10}" y="{free:.1f}" class="name {color}">{escape(name)}</text>')
    return made


def _labelled(across: Sequence[float], records: Sequence[EvalRecord]) -> list[tuple[float, EvalRecord]]:
    """The records whose commit is written below: not so many that the words touch."""
    every = max(1, -(-len(records) // 10))
    return [pair for number, pair in enumerate(zip(across, records, strict=True)) if number % every == 0]


def _svg(body: Sequence[str], name: str, height: int = _HEIGHT) -> str:
    """A picture with a name for those who cannot see it."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" '
        f'role="img" aria-label="{escape(name)}">{"".join(body)}</svg>'
    )


def _x(coverage: float) -> float:
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * coverage
