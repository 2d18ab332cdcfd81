"""`rag-assets plan`: what `index` would do and cost, before it does."""

from __future__ import annotations

from typing import Annotated

import typer

from rag_assets.interfaces.cli.failures import FAILURE
from rag_assets.interfaces.cli.session import session_of

DEFAULT_LISTED = 10
"""Changed files under each plan; with the numbers above them they fit on half a screen."""


def plan(
    context: typer.Context,
    repositories: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="REPO",
            help="Configured ids, labels, paths, git URLs or source archives. Default: as for `rag-assets index`.",
        ),
    ] = None,
    ref: Annotated[str | None, typer.Option(help="Branch or tag. Default: as configured, else that of HEAD.")] = None,
    commit: Annotated[str | None, typer.Option(help="A commit of the ref. Default: its head.")] = None,
    identifier: Annotated[
        str | None, typer.Option("--id", help="Name for a repository that is not configured. Default: from its path.")
    ] = None,
    lexical_only: Annotated[
        bool, typer.Option("--lexical-only", help="Without the embedding model: keyword search only.")
    ] = False,
    files: Annotated[
        int, typer.Option("--files", min=0, help="How many changed files to list; 0 for all.")
    ] = DEFAULT_LISTED,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Show what `index` would do, before anything is spent: files, sections, tokens to embed, points that come and
    go, the price of priced models. No model is asked and no index is changed; what is read and parsed for the plan is
    kept for the build."""
    named = repositories or []
    if len(named) > 1:
        for option, value in (("--commit", commit), ("--id", identifier)):
            if value is not None:
                raise typer.BadParameter(f"{option} is about one repository: name exactly one")
    from rag_assets.interfaces.cli.indexing import Request
    from rag_assets.interfaces.cli.plan_page import plan_object, show_plan
    from rag_assets.interfaces.cli.planning import Failed, plan_all

    session = session_of(context)
    results = []
    for result in plan_all(session, named, Request(ref, commit, identifier, lexical_only=lexical_only)):
        results.append(result)
        if not as_json and not isinstance(result, Failed):
            show_plan(session.output, result, files or None)
    if as_json:
        session.output.json({"plans": [plan_object(result) for result in results]})
    if any(isinstance(result, Failed) for result in results):
        raise typer.Exit(FAILURE)
