"""`rag-assets eval report`: what is known of how well a label answers, as markdown and as an HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rag_assets.cli.options import (
    AsJson,
    GenerationOption,
    LabelArgument,
    check_new_file,
    known_label,
    session_of,
)
from rag_assets.index.generations import read_generation
from rag_assets.index.layout import as_user_shares


def report(
    context: typer.Context,
    label: LabelArgument = None,
    generation: GenerationOption = "active",
    question_set: Annotated[str, typer.Option("--set", metavar="NAME", help="Only this set. Default: all.")] = "",
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write a page with plots, which needs no network."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show metrics over generations, categories with their intervals, and the questions that were lost, as markdown.

    Example: rag-assets eval report shop@main --html report.html
    """
    from rag_assets.evaluation.report import as_object, known_records, make_report, markdown
    from rag_assets.index.generation_refs import named_generation

    if html is not None:
        check_new_file(html, "--html", force=True)
    session = session_of(context)
    home = session.home()
    name = known_label(home, label, how="as rag-assets eval report LABEL")
    about = read_generation(home, *named_generation(home, [name], generation))
    records, problem = known_records(home, about.manifest, session.settings())
    if problem:
        session.output.warning(problem)
    made = make_report(about, records, question_set, session.clearance())
    if as_json:
        session.output.json(as_object(made))
    else:
        session.output.text(markdown(made))
    if html is not None:
        from rag_assets.serving.page.eval_report import html as page

        with as_user_shares():
            html.write_text(page(made), encoding="utf-8", newline="\n")
        session.output.note(f"written: {html}")
