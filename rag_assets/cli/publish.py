"""`rag-assets publish` and `rag-assets pull`: one machine builds, others serve."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from rag_assets.cli.console import counted, size
from rag_assets.cli.options import AsJson, LabelArgument, chosen_label, session_of

_WAIT_SECONDS = 10.0  # for a build of the same label to end


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
    with label_lock(home, name, wait_seconds=_WAIT_SECONDS):
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


def pull(
    context: typer.Context,
    label: Annotated[str, typer.Argument(metavar="LABEL", help="Its name where it was published.")],
    as_json: AsJson = False,
) -> None:
    """Fetch what a label serves in `stores.remote`, and serve it here. Only what is not here goes over the network.

    Example: rag-assets pull shop@main
    """
    # Start-up budget: loaded when it runs, not for --help and completion.
    from rag_assets.pipeline.build import label_lock
    from rag_assets.pipeline.publish import pull_label, remote_of

    session = session_of(context)
    home, output, settings = session.home(), session.output, session.settings()
    remote_of(settings)  # before a folder is made for the label
    with label_lock(home, label, wait_seconds=_WAIT_SECONDS):
        done = pull_label(home, settings, label)
    if as_json:
        output.json(dataclasses.asdict(done))
        return
    if done.unchanged:
        output.line((label, "path"), f" {done.generation_id} is here already")
    else:
        fetched = f"fetched {counted(done.fetched, 'object')} ({size(done.fetched_bytes)})"
        output.line((label, "path"), f" {done.generation_id}: {fetched}")
    if done.serving != done.generation_id:
        output.note(
            f"{label} serves {done.serving}, which a person chose; serve the pulled one with: "
            f"rag-assets generations activate {done.generation_id}"
        )
