"""`rag-assets publish`: one machine builds, others serve."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from rag_assets.cli.console import counted, size
from rag_assets.cli.options import AsJson, LabelArgument, chosen_label, session_of

LABEL_WAIT_SECONDS = 10.0  # for a build of the same label to end


def publish(
    context: typer.Context,
    label: LabelArgument = None,
    force: Annotated[
        bool, typer.Option("--force", help="Send everything again, which repairs damaged objects.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be sent and deleted.")] = False,
    as_json: AsJson = False,
) -> None:
    """Publish what a label serves to `stores.remote`, where other machines pull it. Every successful `index` does, when
    a remote store is configured.

    Example: rag-assets publish shop@main --dry-run
    """
    # Start-up budget: loaded when it runs, not for --help and completion.
    from rag_assets.pipeline.build import label_lock
    from rag_assets.pipeline.publish import publish_label

    session = session_of(context)
    home, output = session.home(), session.output
    name = chosen_label(home, label, how="as rag-assets publish LABEL")
    with label_lock(home, name, wait_seconds=LABEL_WAIT_SECONDS):
        done = publish_label(home, session.settings(), name, force=force, dry_run=dry_run)
    if as_json:
        output.json({"dry_run": dry_run, **dataclasses.asdict(done)})
        return
    would = "would send" if dry_run else "sent"
    output.line(
        (name, "path"), f" {done.generation_id}: {would} {counted(done.sent, 'object')} ({size(done.sent_bytes)})"
    )
    output.note(f"{counted(done.reused, 'object')} there already")
    for gone in done.withdrawn:
        output.note(f"{'would withdraw' if dry_run else 'withdrawn'}: {gone}")
    if done.deleted:
        verb = "would delete" if dry_run else "deleted"
        output.note(f"{verb} {counted(done.deleted, 'object')} that nothing needs ({size(done.deleted_bytes)})")
