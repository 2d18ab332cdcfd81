"""A report as one HTML file that needs nothing else: no script, no font, no link. Every text is escaped. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from rag_assets.evaluation.metrics import CUT, NDCG, metric_name
from rag_assets.evaluation.report import Report, SetReport, subtitle, tables, title
from rag_assets.evaluation.report_plots import of_categories, over_generations, risk_plot
from rag_assets.evaluation.risk_coverage import risk_curve
from rag_assets.evaluation.summary import summarise
from rag_assets.evaluation.tables import Row
from rag_assets.index.eval_records import EvalRun

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
        parts.append(over_generations(found.comparable))
        others = len(found.records) - len(found.comparable)
        if others:
            said = f"{others} earlier runs asked other questions, or measured otherwise: they are in the table only."
            parts.append(f'<p class="note">{escape(said)}</p>')
    if found.run is not None:
        metric = metric_name(NDCG, CUT)
        parts.append(f"<h3>{escape(metric)} by category</h3>{of_categories(summarise(found.run), metric)}")
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
