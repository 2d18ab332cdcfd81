"""The report of how well an index answers, as a page of the server and as a file that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from rag_assets.evaluation.charts import category_plot, metric_plot, risk_plot
from rag_assets.evaluation.metrics import CUT, NDCG, metric_name
from rag_assets.evaluation.report import Report, SetReport, subtitle, tables, title
from rag_assets.evaluation.risk_coverage import risk_curve, three_outcomes
from rag_assets.evaluation.summary import summarise
from rag_assets.evaluation.tables import Row, threshold_marks
from rag_assets.index.eval_records import EvalRun
from rag_assets.serving.page.rendering import rendered


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture under its heading; `note` says what it cannot say itself."""

    heading: str
    svg: Markup
    note: str = ""


@dataclass(frozen=True, slots=True)
class ReportSection:
    """What a report shows of one question set."""

    name: str
    charts: tuple[Chart, ...]
    tables: tuple[tuple[str, list[Row]], ...]


def sections(report: Report) -> list[ReportSection]:
    return [ReportSection(found.name, tuple(_charts(found)), tuple(tables(found))) for found in report.sets]


def html(report: Report) -> str:
    """The report as an HTML document without a script and without anything to load, UTF-8."""
    return rendered("report.html", title=title(report), subtitle=subtitle(report), sections=sections(report))


def _charts(found: SetReport) -> Iterator[Chart]:
    if found.records:
        others = len(found.records) - len(found.comparable)
        said = f"{others} earlier runs asked other questions, or measured otherwise: they are in the table only."
        yield Chart("Metrics over generations", Markup(metric_plot(found.comparable)), said if others else "")
    if found.run is not None:
        metric = metric_name(NDCG, CUT)
        yield Chart(f"{metric} by category", Markup(category_plot(summarise(found.run), metric)))
        yield from _risk(found.run)


def _risk(run: EvalRun) -> Iterator[Chart]:
    """The curve of a run with answers, with the thresholds that were used and the calibrated ones; else nothing."""
    curve = risk_curve(run)
    if run.answering is None or curve.empty:
        return
    said = (
        "Across: the answerable questions, those of the highest confidence first. The lines say what a threshold there "
        "would let pass of the unanswerable, and how much of all that passes would be wrong."
    )
    used = three_outcomes(run)[0]
    yield Chart("Risk over coverage", Markup(risk_plot(curve, threshold_marks(run), used.answerable)), said)
