"""`rag-assets reset`: removes labels with everything that only they needed, and says what that freed."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Annotated

import typer

from rag_assets.cli.console import Output, counted, size
from rag_assets.cli.options import complete_label, session_of
from rag_assets.index.catalog import forget_label
from rag_assets.index.disk_files import size_on_disk
from rag_assets.index.generations import delete_label, generations_directory
from rag_assets.index.layout import IndexHome, label_named
from rag_assets.index.locks import collection_lock
from rag_assets.index.vectors import forget_points


def reset(
    context: typer.Context,
    labels: Annotated[
        list[str] | None,
        typer.Argument(metavar="LABEL", help="Which indexes to remove.", autocompletion=complete_label),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Remove every index.")] = False,
    cache: Annotated[
        bool, typer.Option("--cache", help="Also remove caches and mirrors; they come back when needed.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Remove indexes: their generations, their documents and their Dagster partitions. Repositories stay untouched.

    Example: rag-assets reset shop@main --yes
    """
    session = session_of(context)
    home = session.home()
    known = home.known_labels()
    if every and labels:
        raise typer.BadParameter("give labels or --all, not both")
    if not every and not labels and not cache:
        raise typer.BadParameter(f"name the labels to remove, or --all; there are: {', '.join(known) or 'none'}")
    chosen = known if every else list(dict.fromkeys(label_named(known, name) for name in labels or []))
    _confirm(chosen, cache, yes)
    freed = remove_labels(home, chosen, session.output)
    if cache:
        freed += _remove_caches(home)
    session.output.line(f"freed {size(freed)} in {home.root}")
    remote = session.settings().stores.remote
    if chosen and remote:
        session.output.note(f"what was published stays in {remote}: delete labels/<label> there, or it comes back")


def remove_labels(home: IndexHome, labels: Sequence[str], output: Output) -> int:
    """Removes labels, and the blobs that only they need; returns the freed bytes. Raises LabelBusy before it
    removes any."""
    from rag_assets.pipeline.build import label_lock  # start-up budget: loaded when it runs

    freed = 0
    with ExitStack() as locks:
        for label in labels:
            locks.enter_context(label_lock(home, label))
        for label in labels:
            freed += size_on_disk(home.label(label))
            (home.label(label) / "active.json").unlink(missing_ok=True)  # first, so that no reader is misled
            forget_label(home, label)
            generations = generations_directory(home, label)
            if generations.exists():
                forget_points(generations)
                shutil.rmtree(generations)
    for label in labels:
        delete_label(home, label)  # with its lock file, which Windows does not delete while it is held
        output.line(f"removed {label}")
    if labels:
        from rag_assets.defs.in_process import delete_partitions  # start-up budget: nothing else needs Dagster

        delete_partitions(home, list(labels))
        freed += _sweep(home, output)
    return freed


def _sweep(home: IndexHome, output: Output) -> int:
    """Removes the documents that no label needs; returns the freed bytes."""
    # Start-up budget: loaded when it runs, not for --help and completion.
    from rag_assets.index.gc import sweep_documents
    from rag_assets.pipeline.build import LabelBusy, label_lock

    with ExitStack() as locks:
        locks.enter_context(collection_lock(home))  # no label comes up meanwhile whose documents nobody knows yet
        try:
            for label in home.known_labels():
                locks.enter_context(label_lock(home, label))
        except LabelBusy as busy:
            output.note(f"documents were kept for now: {busy}")
            return 0
        gone = sweep_documents(home)
    if gone.count:
        output.line(f"removed {counted(gone.count, 'document')} that no other index needs")
    return gone.bytes


def _remove_caches(home: IndexHome) -> int:
    """Removes caches and mirrors; returns the freed bytes. Raises LabelBusy while a build uses them."""
    from rag_assets.pipeline.build import label_lock  # start-up budget: loaded when it runs

    freed = 0
    with ExitStack() as locks:
        for label in home.known_labels():
            locks.enter_context(label_lock(home, label))
        for folder in (home.cache, home.mirrors):
            if folder.exists():
                freed += size_on_disk(folder)
                shutil.rmtree(folder)
    return freed


def _confirm(labels: Sequence[str], cache: bool, yes: bool) -> None:
    if yes:
        return
    what = " and ".join(filter(None, [", ".join(labels), "caches and mirrors" if cache else ""])) or "nothing"
    if not sys.stdin.isatty():
        raise typer.BadParameter(f"this would remove {what}; say so with --yes")
    if not typer.confirm(f"Remove {what}?", err=True):
        raise typer.Exit(1)
