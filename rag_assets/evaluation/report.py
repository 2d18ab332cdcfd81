"""The report of how well an index answers its questions, as markdown and as plain JSON: metrics over generations,
categories and lost questions. The same numbers give the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from rag_assets.contracts.confidentiality import Confidentiality, may_see
from rag_assets.errors import RagAssetsError
from rag_assets.evaluation.summary import (
    ANSWER_METRICS,
    DECLINED,
    PARTLY,
    RECALL,
    UNSURE,
    WRONG,
    outcome_counts,
    summarise,
)
from rag_assets.evaluation.tables import (
    Row,
    answer_rows,
    answerable_rows,
    category_rows,
    format_estimate,
    format_moves,
    format_rank,
    judged_rows,
    markdown_rows,
    markdown_text,
    move_rows,
    risk_rows,
    threshold_rows,
    unanswerable_rows,
    wrong_rows,
)
from rag_assets.index.eval_records import Estimate, EvalRecord, EvalRun, merged, read_history, read_runs
from rag_assets.index.generations import Generation, Manifest
from rag_assets.index.layout import IndexHome

if TYPE_CHECKING:
    from rag_assets.settings import Settings

MOST_RECORDS = 30
"""Generations in the table and in the plot, the newest: a month of nights."""
MOST_QUESTIONS = 100  # of a list; the table of the run has them all
_COMMIT_DIGITS = 10
_DATE_CHARS = 10
_OF_THE_RUN_ONLY = (PARTLY, UNSURE, DECLINED, WRONG, RECALL)
"""Metrics of answers that the table over generations has no room for."""


class NothingMeasured(RagAssetsError):
    """A label whose questions were never asked; the text says how to ask them."""


@dataclass(frozen=True, slots=True)
class SetReport:
    """One question set. `records` are of all generations that were asked, oldest first, `run` is that of the generation
    the report is about; None where it was not asked this set."""

    name: str
    records: tuple[EvalRecord, ...]
    run: EvalRun | None

    @property
    def comparable(self) -> tuple[EvalRecord, ...]:
        """The records of the same questions, searched and measured alike, as the newest one."""
        return tuple(known for known in self.records if _measure(known) == _measure(self.records[-1]))


@dataclass(frozen=True, slots=True)
class Report:
    """The sets that a label was asked, by name, and the generation that it is about."""

    manifest: Manifest
    sets: tuple[SetReport, ...]


def make_report(
    generation: Generation,
    records: Sequence[EvalRecord],
    only: str = "",
    clearance: Confidentiality = Confidentiality.RESTRICTED,
) -> Report:
    """The report about a generation, from its stored runs and the records of its label; of one set with `only`. Single
    questions of a run that saw more than `clearance` does are left out, as if it had not been asked (E12). Raises
    NothingMeasured."""
    runs = {
        run.set: run
        for run in read_runs(generation.directory)
        if may_see(clearance, Confidentiality(run.conditions.clearance))
    }
    names = sorted({record.set for record in records} | runs.keys())
    chosen = [name for name in names if only in ("", name)]
    label = generation.manifest.index_label
    if not chosen:
        known = f"; there are: {', '.join(names)}" if names else ""
        said = f"set {only!r} was never asked of {label}{known}" if only else f"nothing was ever asked of {label}"
        raise NothingMeasured(f"{said}; ask it with: rag-assets eval run {label} --set FILE")
    made = []
    for name in chosen:
        own = tuple(record for record in records if record.set == name)[-MOST_RECORDS:]
        made.append(SetReport(name, own, runs.get(name)))
    return Report(generation.manifest, tuple(made))


def known_records(home: IndexHome, manifest: Manifest, settings: Settings) -> tuple[list[EvalRecord], str]:
    """The records of a home about a label, and those that only the catalog has: other homes write to it too; then why
    these are missing, '' where they are not."""
    own = read_history(home, manifest.index_label)
    if settings.stores.catalog == "none":
        return own, ""
    from rag_assets.index.catalog import open_catalog
    from rag_assets.index.catalog.errors import CatalogError
    from rag_assets.index.catalog.eval_runs import read_records
    from rag_assets.index.catalog.history import Tenant

    tenant = Tenant.of(manifest)
    try:
        with open_catalog(settings) as database:
            return merged(own, read_records(database, tenant)), ""
    except CatalogError as error:
        return own, f"without the numbers that only the catalog has: {error}"


def markdown(report: Report) -> str:
    """The report as a markdown document."""
    lines = [f"# {markdown_text(title(report))}", "", markdown_text(subtitle(report)), ""]
    for found in report.sets:
        lines += [f"## {markdown_text(found.name)}", ""]
        for heading, rows in tables(found):
            lines += [f"### {markdown_text(heading)}", "", markdown_rows(rows)]
    return "\n".join(lines)


def as_object(report: Report) -> dict[str, Any]:
    """The report as plain JSON. Of each set: its `records`, oldest first, with metrics and their intervals by category,
    which of them are `comparable` with the newest, and the same tables as the document."""
    known = report.manifest
    return {
        "label": known.index_label,
        "generation": known.generation_id,
        "commit": known.commit_sha,
        "sets": [
            {
                "set": found.name,
                "records": [asdict(record) for record in found.records],
                "comparable": [record.generation_id for record in found.comparable],
                "tables": dict(tables(found)),
            }
            for found in report.sets
        ],
    }


def title(report: Report) -> str:
    return f"Answers of {report.manifest.index_label}"


def subtitle(report: Report) -> str:
    known = report.manifest
    model = "keywords only" if known.lexical_only else known.embedding_model
    return (
        f"Generation {known.generation_id}, commit {known.commit_sha[:_COMMIT_DIGITS]} of {known.commit_date}, {model}"
    )


def tables(found: SetReport) -> list[tuple[str, list[Row]]]:
    """(heading, rows) of everything that is known of a set; tables without rows are left out."""
    made = [("Over generations", _generation_rows(found))]
    if found.run is not None:
        made.append(("Categories, with what each lies between at 95 %", category_rows(summarise(found.run))))
        if found.run.against is not None:
            against = found.run.against
            heading = f"Against {against.generation_id}: {format_moves(against)}"
            made.append((heading, move_rows(against)[:MOST_QUESTIONS]))
        made.append(("Not answered first", _missed_rows(found.run)))
        made.append(("Answers", answer_rows(found.run)))
        counts = outcome_counts(found.run.answers)
        made.append(("What became of the answerable questions", answerable_rows(counts)))
        made.append(("What became of the unanswerable questions", unanswerable_rows(counts)))
        made.append(("Three outcomes", threshold_rows(found.run)))
        made.append(("Risk over coverage", risk_rows(found.run)))
        made.append(("Answered wrongly, not answered or failed", wrong_rows(found.run)[:MOST_QUESTIONS]))
        made.append(("Judged, the worst first", judged_rows(found.run)[:MOST_QUESTIONS]))
    return [(heading, rows) for heading, rows in made if rows]


def _generation_rows(found: SetReport) -> list[Row]:
    """A row per generation. The cell of a metric that a generation does not have, because of another k or because it
    was not asked for answers, is empty."""
    from rag_assets.evaluation.frames import history  # pandas takes 0.2 s and 76 MB, which only a report needs

    known = history(replace(record, categories=(record.total,)) for record in found.records)
    known = known[~known["metric"].isin(_OF_THE_RUN_ONLY)]
    bounds = zip(known["value"], known["low"], known["high"], strict=True)
    texts = ["" if math.isnan(value) else format_estimate(Estimate(value, low, high)) for value, low, high in bounds]
    cells = known.assign(text=texts).pivot(index="generation_id", columns="metric", values="text").fillna("")
    names = sorted(known["metric"].unique(), key=ANSWER_METRICS.__contains__)  # those of the search first
    shown = {generation: dict(zip(names, row, strict=True)) for generation, *row in cells[names].itertuples()}
    comparable = found.comparable
    return [
        {
            "commit": record.commit_sha[:_COMMIT_DIGITS],
            "date": record.commit_date[:_DATE_CHARS],
            "generation": record.generation_id,
            "questions": str(record.total.questions),
            "search": record.mode,
            "ranking": str(record.conditions.ranking),
        }
        | shown[record.generation_id]
        | {"p50 ms": f"{record.p50_ms:.1f}", "comparable": "yes" if record in comparable else "no"}
        for record in found.records
    ]


def _missed_rows(run: EvalRun) -> list[Row]:
    """The questions whose first answer is not the first file, those without any first."""
    late = [result for result in run.results if result.first_rank != 1]
    late.sort(key=lambda result: (-(result.first_rank or 1 << 31), result.id))
    return [
        {
            "question": f"{result.id}: {result.question}",
            "rank": format_rank(result.first_rank),
            "not in this commit": ", ".join(result.absent),
        }
        for result in late[:MOST_QUESTIONS]
    ]


def _measure(record: EvalRecord) -> tuple[object, ...]:
    return record.fingerprint, record.k, record.version, record.conditions
