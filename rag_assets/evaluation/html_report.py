"""The report as one HTML page, which needs nothing else: no script, no font, no link. Plots are inline SVG, and every
text is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from rag_assets.evaluation.metrics import CUT, NDCG, metric_name
from rag_assets.evaluation.report import Report, SetReport, subtitle, tables, title
from rag_assets.evaluation.risk_coverage import risk_curve, row_at
from rag_assets.evaluation.summary import summarise
from rag_assets.evaluation.tables import Row
from rag_assets.index.eval_records import CategorySummary, EvalRecord, EvalRun

if TYPE_CHECKING:
    from pandas import DataFrame

_WIDTH, _HEIGHT = 760, 240  # pixels; a column of text wide
_LEFT, _RIGHT, _TOP, _BOTTOM = 40, 150, 12, 34  # pixels around the plot; right is for the names of lines
_ROW, _NAMES = 22, 190  # pixels of a category, and of its name
_NAME_CHARS = 26
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_COLORS = ("#1d4ed8", "#b45309", "#047857", "#be123c", "#6d28d9", "#374151")
"""Dark enough to be told apart on white, also without colours by the name at their end."""
_TICK_COMMIT_DIGITS = 7
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
        body.append(f'<polygon points="{corners}" fill="{color}" opacity=".08"/>')
        points = " ".join(f"{x:.1f},{_y_of(one.value):.1f}" for x, one in zip(across, known, strict=True))
        body.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"/>')
        for x, one, record in zip(across, known, records, strict=True):
            told = f"{metric} {one.value:.3f} [{one.low:.3f}, {one.high:.3f}], {record.generation_id}"
            dot = f'<circle cx="{x:.1f}" cy="{_y_of(one.value):.1f}" r="3" fill="{color}">'
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
            f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke="{_COLORS[0]}" stroke-width="2"/>',
            f'<circle cx="{middle:.1f}" cy="{y:.1f}" r="4" fill="{_COLORS[0]}"/>',
            f'<text x="{_NAMES + wide + 12}" y="{y + 4:.1f}">{known.value:.3f} of {found.questions}</text>',
        ]
    return _svg(body, f"{metric} by category", height)


def risk_plot(curve: DataFrame, marks: Sequence[tuple[str, float]]) -> str:
    """Two lines over the share of the answerable questions that is answered: the share of the unanswerable that is
    answered too, and the share of wrong answers. `marks` are named thresholds, each at the coverage that it has."""
    body = [_grid(_WIDTH - _RIGHT)]
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
        body.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        ends.append((_y_of(points[0][1]), name, color))
    for name, threshold in marks:
        x, color = _x(curve["coverage"].iloc[row_at(curve, threshold)]), _color_of(-1)
        body.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_y_of(1):.1f}" y2="{_y_of(0):.1f}" stroke="{color}" '
            'stroke-dasharray="4 3"/>'
        )
        ends.append((_y_of(1), f"| {name} {threshold:.3f}", color))
    return _svg([*body, *_names(ends)], "risk over coverage")


def _color_of(number: int) -> str:
    return _COLORS[number % len(_COLORS)]


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
        made.append(f'<text x="{_WIDTH - _RIGHT + 10}" y="{free:.1f}" fill="{color}">{escape(name)}</text>')
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


_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""What a browser may load for the page: nothing. Questions are written by anybody, and one that came through as markup
could do no harm."""
_SHORT_CHARS = 24  # of a cell that stays on one line: numbers with their intervals
_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;color:#111827;background:#fff;max-width:960px;margin:2rem auto;padding:0 "
    "1rem}h1{font-size:1.6rem}h2{margin-top:2.5rem;border-bottom:1px solid #e5e7eb}h3{font-size:1rem}.wide{overflow-x:"
    "auto}.short{white-space:nowrap}"
    "table{border-collapse:collapse;font-size:13px}td,th{padding:.25rem .6rem;text-align:left;border-bottom:1px "
    "solid #e5e7eb;vertical-align:top}th{white-space:nowrap}svg{max-width:100%;height:auto}svg text{font:12px "
    "system-ui,sans-serif}.tick{fill:#6b7280;font-size:11px}.grid{stroke:#e5e7eb}.note{color:#6b7280}"
    "tr.lost td:first-child,tr.down td:first-child{color:#be123c}tr.gained td:first-child,tr.up td:first-child"
    "{color:#047857}"
)


def html(report: Report) -> str:
    """The report as an HTML document, UTF-8."""
    body = "".join(_section(found) for found in report.sets)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title(report))}</title><style>{_STYLE}</style></head>\n"
        f'<body><h1>{escape(title(report))}</h1><p class="note">{escape(subtitle(report))}</p>\n{body}</body></html>\n'
    )


def _section(found: SetReport) -> str:
    parts = [f"<h2>{escape(found.name)}</h2>\n"]
    if found.records:
        parts.append(metric_plot(found.comparable))
        others = len(found.records) - len(found.comparable)
        if others:
            said = f"{others} earlier runs asked other questions, or measured otherwise: they are in the table only."
            parts.append(f'<p class="note">{escape(said)}</p>')
    if found.run is not None:
        metric = metric_name(NDCG, CUT)
        parts.append(f"<h3>{escape(metric)} by category</h3>{category_plot(summarise(found.run), metric)}")
        parts.append(_risk(found.run))
    for heading, rows in tables(found):
        parts.append(f'<h3>{escape(heading)}</h3><div class="wide">{_table(rows)}</div>\n')
    return "".join(parts)


def _risk(run: EvalRun) -> str:
    """The curve of a run with answers, the threshold that was used and the calibrated one marked; else nothing."""
    curve = risk_curve(run)
    if run.answering is None or curve.empty:
        return ""
    marks = [("used", run.answering.threshold)]
    if run.calibration is not None:
        marks.append(("calibrated", run.calibration.threshold))
    said = "Across: the share of the answerable questions that is answered, as the threshold of confidence moves."
    return f'<h3>Risk over coverage</h3>{risk_plot(curve, marks)}<p class="note">{escape(said)}</p>\n'


def _table(rows: Sequence[Row]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in rows[0])
    lines = [f'<tr class="{escape(row.get("move", ""))}">{"".join(map(_cell, row.values()))}</tr>' for row in rows]
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _cell(text: str) -> str:
    short = ' class="short"' if len(text) <= _SHORT_CHARS else ""
    return f"<td{short}>{escape(text)}</td>"
