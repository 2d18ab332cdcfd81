"""`rag-assets pull`: serve here what another machine has built and published."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from rag_assets.cli.console import counted, short, size
from rag_assets.cli.options import AsJson, session_of
from rag_assets.cli.publish import LABEL_WAIT_SECONDS


def pull(
    context: typer.Context,
    label: Annotated[
        str | None,
        typer.Argument(
            metavar="LABEL", help="Its name where it was published. Default: the only one, or that of --commit."
        ),
    ] = None,
    commit: Annotated[
        str,
        typer.Option(
            "--commit",
            metavar="SHA",
            help="The published generation of this commit, or of its nearest ancestor that has one.",
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Fetch what a label serves in `stores.remote`, and serve it here. Only what is not here goes over the network.

    With --commit it is what was published of a commit. Which ancestor is the nearest says the repository around the
    current folder, or one that is indexed here; without one, only exact commits can be found.

    Example: rag-assets pull shop@main --commit HEAD
    """
    # Start-up budget: loaded when it runs, not for --help and completion.
    from rag_assets.pipeline.build import label_lock
    from rag_assets.pipeline.publish import nearest_published, published_label, pull_label

    session = session_of(context)
    home, output, settings = session.home(), session.output, session.settings()
    near = nearest_published(home, settings, commit, label, Path.cwd()) if commit else None
    generation_id = near.found.generation_id if near else ""
    label = near.found.label if near else published_label(settings, label)
    with label_lock(home, label, wait_seconds=LABEL_WAIT_SECONDS):
        done = pull_label(home, settings, label, generation_id)
    for problem in near.problems if near else ():
        output.warning(problem)
    if as_json:
        of_commit = {"commit": near.found.commit_sha, "wanted": near.wanted, "distance": near.distance} if near else {}
        output.json({**dataclasses.asdict(done), **of_commit})
        return
    if near:
        own = f"commit {short(near.found.commit_sha)}"
        before = f", {counted(near.distance, 'commit')} before {short(near.wanted)}" if near.distance else ""
        output.line((label, "path"), f" {own}{before}")
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
