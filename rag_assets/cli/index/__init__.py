"""`rag-assets index`: from repositories to active indexes, as Dagster runs in this process."""

from __future__ import annotations

from typing import Annotated

import typer

from rag_assets.cli.console import FAILURE, GATE_FAILED, INTERRUPTED
from rag_assets.cli.options import AsJson, LexicalOnly, NewId, OneCommit, OneRef, one_repository, session_of


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
    ref: OneRef = None,
    commit: OneCommit = None,
    identifier: NewId = None,
    force: Annotated[bool, typer.Option("--force", help="Build again, even if the index is up to date.")] = False,
    lexical_only: LexicalOnly = False,
    as_json: AsJson = False,
) -> None:
    """Index repositories. Only changes are computed, and a stopped run continues where it stopped. Exit code 3 when the
    promotion gate refuses a build: the previous generation stays active.

    Example: rag-assets index ../shop --ref release/2.0
    """
    named = repositories or []
    one_repository(named, commit, identifier)
    # Start-up budget: loaded when it runs, not for --help and completion.
    from rag_assets.cli.index.runs import IndexRequest, index_all
    from rag_assets.cli.index.summary import show_summary

    session = session_of(context)
    request = IndexRequest(ref, commit, identifier, force, lexical_only)
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
