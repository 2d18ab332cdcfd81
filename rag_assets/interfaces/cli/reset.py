"""`rag-assets reset`: removes labels with everything that only they needed, and says what that freed."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from rag_assets.interfaces.cli.labels import complete_label, label_named
from rag_assets.interfaces.cli.output import Output, counted, size
from rag_assets.interfaces.cli.session import session_of
from rag_assets.stores.disk import size_on_disk

if TYPE_CHECKING:
    from rag_assets.stores.home import Home


def reset(
    context: typer.Context,
    labels: Annotated[
        list[str] | None,
        typer.Argument(metavar="LABEL", help="Which indexes to remove.", autocompletion=complete_label),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Remove every index.")] = False,
    cache: Annotated[
        bool, typer.Option("--cache", help="Also remove caches and mirrors; they are made again when needed.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Remove indexes: their generations, their documents and their Dagster partitions. Repositories stay untouched."""
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


def remove_labels(home: Home, labels: Sequence[str], output: Output) -> int:
    """Removes labels and the blobs nobody else needs; returns the bytes. Raises LabelBusy before anything is lost."""
    from rag_assets.stages.build import label_lock
    from rag_assets.stores.catalog import forget_label
    from rag_assets.stores.generations import delete_label, generations_directory
    from rag_assets.stores.vector_store import forget_points

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
        from rag_assets.interfaces.cli.dagster_run import delete_partitions

        delete_partitions(home, list(labels))
        freed += _sweep(home, output)
    return freed


def _sweep(home: Home, output: Output) -> int:
    """The bytes of the documents that went with the labels."""
    from rag_assets.stages.build import LabelBusy, label_lock
    from rag_assets.stores.locks import collection_lock
    from rag_assets.stores.sweep import sweep_blobs

    with ExitStack() as locks:
        locks.enter_context(collection_lock(home))  # no label comes up meanwhile whose documents nobody knows yet
        try:
            for label in home.known_labels():
                locks.enter_context(label_lock(home, label))
        except LabelBusy as busy:
            output.note(f"documents were kept for now: {busy}")
            return 0
        count, freed = sweep_blobs(home)
    if count:
        output.line(f"removed {counted(count, 'document')} that no other index needs")
    return freed


def _remove_caches(home: Home) -> int:
    """Raises LabelBusy while a build uses them."""
    from rag_assets.stages.build import label_lock

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
