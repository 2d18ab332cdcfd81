"""`rag-assets index`: from repositories to active indexes, as Dagster runs in this process."""

from __future__ import annotations

from typing import Annotated

import typer

from rag_assets.interfaces.cli.failures import FAILURE, GATE_FAILED, INTERRUPTED
from rag_assets.interfaces.cli.session import session_of


def index(
    context: typer.Context,
    repositories: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="REPO",
            help="Configured ids, labels, paths, git URLs or source archives. Default: all configured repositories, "
            "or the git repository of the current folder when none is configured.",
        ),
    ] = None,
    ref: Annotated[str | None, typer.Option(help="Branch or tag. Default: as configured, else that of HEAD.")] = None,
    commit: Annotated[str | None, typer.Option(help="A commit of the ref. Default: its head.")] = None,
    identifier: Annotated[
        str | None, typer.Option("--id", help="Name for a repository that is not configured. Default: from its path.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Build again what is up to date.")] = False,
    lexical_only: Annotated[
        bool, typer.Option("--lexical-only", help="Without the embedding model: keyword search only.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Index repositories. What has not changed is not computed again; a stopped run continues where it was. Exit code 3
    when the promotion gate refused a build: what was served before is still served."""
    named = repositories or []
    if len(named) > 1:
        for option, value in (("--commit", commit), ("--id", identifier)):
            if value is not None:
                raise typer.BadParameter(f"{option} is about one repository: name exactly one")
    from rag_assets.interfaces.cli.indexing import Request, index_all
    from rag_assets.interfaces.cli.summary import show_summary

    session = session_of(context)
    request = Request(ref, commit, identifier, force, lexical_only)
    results = []
    for result in index_all(session, named, request):
        results.append(result)
        if not as_json:
            show_summary(session.output, result)
    if as_json:
        session.output.json({"results": results})
    statuses = {result["status"] for result in results}
    if "interrupted" in statuses:
        raise typer.Exit(INTERRUPTED)
    if "failed" in statuses:
        raise typer.Exit(FAILURE)
    if "refused" in statuses:
        raise typer.Exit(GATE_FAILED)
