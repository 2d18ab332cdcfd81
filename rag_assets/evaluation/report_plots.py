"""Plots of a report as inline SVG, without scripts, fonts or links. The same numbers give the same bytes. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from rag_assets.stores.eval_history import CategorySummary, EvalRecord

WIDTH, _HEIGHT = 760, 240  # pixels; a column of text wide
LEFT, RIGHT, _TOP, _BOTTOM = 40, 150, 12, 34  # pixels around the plot; right is for the names of lines
_ROW, _NAMES = 22, 190  # pixels of a category, and of its name
_NAME_CHARS = 26
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_COLORS = ("#1d4ed8", "#b45309", "#047857", "#be123c", "#6d28d9", "#374151")
"""Dark enough to be told apart on white, also without colours by the name at their end."""
_COMMIT_DIGITS = 7
_NAME_GAP = 13  # pixels between two names at the end of lines


def over_generations(records: Sequence[EvalRecord]) -> str:
    """A line per metric over records of the same questions, oldest first, with the band of its interval."""
    metrics = list(records[-1].total.metrics)
    step = (WIDTH - LEFT - RIGHT) / max(1, len(records) - 1)
    across = [LEFT + step * number for number in range(len(records))]
    body = [grid(across[-1] if len(records) > 1 else WIDTH - RIGHT)]
    ends = []
    for number, metric in enumerate(metrics):
        color = color_of(number)
        known = [record.total.metrics[metric] for record in records]
        band = [*zip(across, (one.high for one in known), strict=True)]
        band += reversed([*zip(across, (one.low for one in known), strict=True)])
        corners = " ".join(f"{x:.1f},{y_of(value):.1f}" for x, value in band)
        body.append(f'<polygon points="{corners}" fill="{color}" opacity=".08"/>')
        points = " ".join(f"{x:.1f},{y_of(one.value):.1f}" for x, one in zip(across, known, strict=True))
        body.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"/>')
        for x, one, record in zip(across, known, records, strict=True):
            told = f"{metric} {one.value:.3f} [{one.low:.3f}, {one.high:.3f}], {record.generation_id}"
            dot = f'<circle cx="{x:.1f}" cy="{y_of(one.value):.1f}" r="3" fill="{color}">'
            body.append(f"{dot}<title>{escape(told)}</title></circle>")
        ends.append((y_of(known[-1].value), f"{metric} {known[-1].value:.3f}", color))
    body += names(ends)
    body += [
        f'<text x="{x:.1f}" y="{_HEIGHT - _BOTTOM + 16}" class="tick" text-anchor="middle">'
        f"{escape(record.commit_sha[:_COMMIT_DIGITS])}</text>"
        for x, record in _labelled(across, records)
    ]
    return svg(body, "metrics over generations")


def of_categories(categories: Sequence[CategorySummary], metric: str) -> str:
    """A row per category: the metric, and the line of what it lies between."""
    height = _TOP + _ROW * len(categories) + _BOTTOM
    wide = WIDTH - _NAMES - RIGHT
    low_edge = height - _BOTTOM
    body = []
    for tick in TICKS:
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
            f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke="{_COLORS[0]}" stroke-width="2"/>',
            f'<circle cx="{middle:.1f}" cy="{y:.1f}" r="4" fill="{_COLORS[0]}"/>',
            f'<text x="{_NAMES + wide + 12}" y="{y + 4:.1f}">{known.value:.3f} of {found.questions}</text>',
        ]
    return svg(body, f"{metric} by category", height)


def color_of(number: int) -> str:
    return _COLORS[number % len(_COLORS)]


def bottom() -> int:
    """Where the plot ends and what is below it begins."""
    return _HEIGHT - _BOTTOM


def y_of(value: float) -> float:
    """Where a value between 0 and 1 is."""
    return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - value)


def grid(right: float) -> str:
    """Lines across the plot, with their values."""
    lines = [
        f'<line x1="{LEFT}" x2="{right:.1f}" y1="{y_of(tick):.1f}" y2="{y_of(tick):.1f}" class="grid"/>'
        f'<text x="{LEFT - 6}" y="{y_of(tick) + 4:.1f}" class="tick" text-anchor="end">{tick:g}</text>'
        for tick in TICKS
    ]
    return "".join(lines)


def names(ends: Sequence[tuple[float, str, str]]) -> list[str]:
    """The names of lines at their ends, pushed down where they would cover each other."""
    made, free = [], 0.0
    for y, name, color in sorted(ends):
        free = max(y + 4, free + _NAME_GAP)
        made.append(f'<text x="{WIDTH - RIGHT + 10}" y="{free:.1f}" fill="{color}">{escape(name)}</text>')
    return made


def _labelled(across: Sequence[float], records: Sequence[EvalRecord]) -> list[tuple[float, EvalRecord]]:
    """The records whose commit is written below: not so many that the words touch."""
    every = max(1, -(-len(records) // 10))
    return [pair for number, pair in enumerate(zip(across, records, strict=True)) if number % every == 0]


def svg(body: Sequence[str], name: str, height: int = _HEIGHT) -> str:
    """A picture with a name for those who cannot see it."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" aria-label="{escape(name)}">{"".join(body)}</svg>'
    )
