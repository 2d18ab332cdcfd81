"""`rag-assets gc`: frees what no generation needs any more."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from rag_assets.cli.console import size
from rag_assets.cli.options import AsJson, session_of

_SHOWN_NAMES = 5


def gc(
    context: typer.Context,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be removed.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove what nothing needs any more: documents and cache entries of deleted generations, unused builds, mirrors
    and tables of train-embedder, and leftovers of killed processes. Skips labels that are being indexed; new builds
    wait.

    Example: rag-assets gc --dry-run
    """
    from rag_assets.pipeline.collect_garbage import collect_garbage  # start-up budget: loaded when it runs

    session = session_of(context)
    home, output = session.home(), session.output
    found = collect_garbage(home, session.settings(), dry_run=dry_run)
    if as_json:
        output.json({"home": str(home.root), "dry_run": dry_run, "bytes": found.bytes, **dataclasses.asdict(found)})
        return
    for swept in found.swept:
        if swept.count:
            verb = "would remove" if dry_run else "removed"
            more = ", …" if swept.count > _SHOWN_NAMES else ""
            names = f": {', '.join(swept.names[:_SHOWN_NAMES])}{more}" if swept.names else ""
            output.line(f"{verb} {swept.count:,} {swept.kind}, {size(swept.bytes)}", (names, "dim"))
    for reason in found.kept:
        output.note(f"left alone: {reason}")
    output.line(f"{'would free' if dry_run else 'freed'} {size(found.bytes)} in {home.root}")
