"""`rag-assets catalog`: what the durable store has, and looking words up in it."""

from __future__ import annotations

import dataclasses
from itertools import groupby
from typing import Annotated

import typer

from rag_assets.interfaces.cli.failures import NOTHING_FOUND
from rag_assets.interfaces.cli.labels import complete_label, known_label
from rag_assets.interfaces.cli.output import counted, short
from rag_assets.interfaces.cli.session import session_of

DEFAULT_LIMIT = 10

catalog_app = typer.Typer(no_args_is_help=True, help="Look into the catalog, where stores.catalog has one.")
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]


@catalog_app.command()
def status(context: typer.Context, as_json: AsJson = False) -> None:
    """List the generations in the catalog, by label."""
    from rag_assets.stores.catalog import open_catalog
    from rag_assets.stores.catalog.reading import entries, rows_and_documents

    session = session_of(context)
    output = session.output
    with open_catalog(session.settings()) as database:
        found, (rows, documents) = entries(database), rows_and_documents(database)
    if as_json:
        output.json(
            {
                "catalog": database.place.name,
                "rows": rows,
                "documents": documents,
                "generations": [dataclasses.asdict(entry) for entry in found],
            }
        )
        return
    output.line(
        f"{database.place.kind} {database.place.name}: {counted(rows, 'row')}, {counted(documents, 'document')}"
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
    query: Annotated[str, typer.Argument(metavar="WORDS", help="Words that a chunk must all have.")],
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
    """Look words up with the full-text index of the database. Questions are for `rag-assets search`, which ranks."""
    from rag_assets.stages.labels import repository_of
    from rag_assets.stores.catalog import open_catalog
    from rag_assets.stores.catalog.fulltext import search_text
    from rag_assets.stores.filters import SearchFilter

    session = session_of(context)
    settings, home = session.settings(), session.home()
    name = known_label(home, label)
    repository = repository_of(home, settings, name)
    scope = SearchFilter(
        org_id=repository.org,
        project_id=repository.project_id,
        label=name,
        paths=tuple(path or ()),
        kinds=tuple(kind or ()),
        clearance=session.clearance(),
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
        session.output.note("nothing has all of these words; ask with: rag-assets search")
        raise typer.Exit(NOTHING_FOUND)
