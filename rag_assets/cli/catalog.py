"""`rag-assets catalog`: what the durable store has, and looking words up in it."""

from __future__ import annotations

import dataclasses
from itertools import groupby
from typing import Annotated

import typer

from rag_assets.cli.console import NOTHING_FOUND, counted, short
from rag_assets.cli.options import AsJson, complete_label, known_label, session_of
from rag_assets.index.catalog import open_catalog
from rag_assets.index.vectors.filters import SearchFilters, SearchScope

DEFAULT_LIMIT = 10

catalog_app = typer.Typer(no_args_is_help=True, help="Look into the catalog, if stores.catalog configures one.")


@catalog_app.command()
def status(context: typer.Context, as_json: AsJson = False) -> None:
    """List the generations in the catalog, by label.

    Example: rag-assets catalog status
    """
    from rag_assets.index.catalog.reader import entries, rows_and_documents  # start-up budget: loaded when it runs

    session = session_of(context)
    output = session.output
    with open_catalog(session.settings()) as database:
        found, (rows, documents) = entries(database), rows_and_documents(database)
    if as_json:
        output.json(
            {
                "catalog": database.location.name,
                "rows": rows,
                "documents": documents,
                "generations": [dataclasses.asdict(entry) for entry in found],
            }
        )
        return
    output.line(
        f"{database.location.kind} {database.location.name}: {counted(rows, 'row')}, {counted(documents, 'document')}"
    )
    for (org, project, label), group in groupby(
        found, lambda entry: (entry.org_id, entry.project_id, entry.index_label)
    ):
        output.line((label, "path"), (f"  {org}/{project}", "dim"))
        for entry in group:
            state = "active" if entry.active else entry.state
            output.line(
                f"  {state:<9} {entry.generation_id}  {counted(entry.points, 'point')}  ",
                (short(entry.commit_sha), "dim"),
            )


@catalog_app.command()
def search(
    context: typer.Context,
    query: Annotated[str, typer.Argument(metavar="WORDS", help="The words; a chunk must contain all of them.")],
    label: Annotated[
        str | None,
        typer.Option(
            "--label",
            "-l",
            help="Which index. Default: the only one, or that of the current folder.",
            autocompletion=complete_label,
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many chunks.")] = DEFAULT_LIMIT,
    path: Annotated[list[str] | None, typer.Option(help="Only these files, folders or globs.")] = None,
    kind: Annotated[list[str] | None, typer.Option(help="Only these kinds.")] = None,
    as_json: AsJson = False,
) -> None:
    """Find chunks by words with the full-text index of the database. For ranked results use `rag-assets search`.

    Example: rag-assets catalog search "refund limit" --limit 20
    """
    # Start-up budget: loaded when it runs, not for --help and completion.
    from rag_assets.index.catalog.fulltext import search_text
    from rag_assets.index.labels import repository_of

    session = session_of(context)
    settings, home = session.settings(), session.home()
    name = known_label(home, label)
    repository = repository_of(home, settings, name)
    scope = SearchScope(
        org_id=repository.org,
        project_id=repository.project_id,
        label=name,
        clearance=session.clearance(),
        required=(SearchFilters(paths=tuple(path or ()), kinds=tuple(kind or ())),),
    )
    with open_catalog(settings) as database:
        hits = search_text(database, query, scope, limit)
    if as_json:
        session.output.json({"query": query, "label": name, "hits": [dataclasses.asdict(hit) for hit in hits]})
    else:
        for hit in hits:
            place = f"{hit.path}:{hit.start_line}-{hit.end_line}"
            session.output.line((place, "path"), "  ", (hit.symbol, "bold"), (f"  {hit.kind}", "dim"))
    if not hits:
        session.output.note("no chunk contains all of these words; for a ranked search: rag-assets search")
        raise typer.Exit(NOTHING_FOUND)
