"""`rag-assets watch`: indexes every new commit, without the Dagster daemon, for one developer or for cron."""

from __future__ import annotations

from typing import Annotated

import typer

from rag_assets.interfaces.cli.failures import FAILURE, INTERRUPTED
from rag_assets.interfaces.cli.session import session_of

DEFAULT_INTERVAL_SECONDS = 60.0
"""As often as the commit sensor asks."""

_SHORTEST_INTERVAL_SECONDS = 1.0


def watch(
    context: typer.Context,
    repositories: Annotated[
        list[str] | None,
        typer.Argument(metavar="REPO", help="As in `rag-assets index`. Default: all configured, or the one here."),
    ] = None,
    interval: Annotated[
        float, typer.Option(min=_SHORTEST_INTERVAL_SECONDS, help="Seconds between two looks at a repository.")
    ] = DEFAULT_INTERVAL_SECONDS,
    once: Annotated[bool, typer.Option("--once", help="Look once, index what is new, and end: for cron.")] = False,
    lexical_only: Annotated[
        bool, typer.Option("--lexical-only", help="Without the embedding model: keyword search only.")
    ] = False,
) -> None:
    """Index new commits as they appear, one line per event. Ctrl-C ends it; what was not finished goes on next time."""
    from rag_assets.interfaces.cli.watching import Watch, watch_lock

    session = session_of(context)
    watching = Watch(session, repositories or [], interval, lexical_only=lexical_only)
    with watch_lock(session.home()):
        if once:
            watching.look()
        else:
            watching.until_interrupted()
    if watching.interrupted_a_build:
        raise typer.Exit(INTERRUPTED)
    if once and watching.failed:
        raise typer.Exit(FAILURE)
