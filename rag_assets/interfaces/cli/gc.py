"""`rag-assets gc`: frees what no generation needs any more."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from rag_assets.interfaces.cli.output import size
from rag_assets.interfaces.cli.session import session_of

_SHOWN_NAMES = 5


def gc(
    context: typer.Context,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Remove what nothing needs: documents and cache entries of deleted generations, builds and mirrors that nobody
    uses, and what killed processes left. Labels that are being indexed are left alone; new builds wait."""
    from rag_assets.stages.collection import collect_garbage

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
