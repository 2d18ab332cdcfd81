"""`rag-assets pull`: serve here what another machine has built and published."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from rag_assets.cli.console import counted, size
from rag_assets.cli.options import AsJson, session_of
from rag_assets.cli.publish import LABEL_WAIT_SECONDS


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
    with label_lock(home, label, wait_seconds=LABEL_WAIT_SECONDS):
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
