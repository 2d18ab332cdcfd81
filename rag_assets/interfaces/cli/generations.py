"""`rag-assets generations`: what builds there are, how they differ, and which one is served and kept."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag_assets.interfaces.cli.labels import complete_label, known_label, label_named
from rag_assets.interfaces.cli.output import Output, short, size
from rag_assets.interfaces.cli.session import Session, session_of

if TYPE_CHECKING:
    from rag_assets.stores.home import Home
    from rag_assets.stores.serving import Moved

DEFAULT_LISTED = 50
"""Symbols that `compare` lists: two screens. The counts are of all."""

generations_app = typer.Typer(
    no_args_is_help=True,
    help="List, compare, serve and keep the builds of a label. A generation is named by its id, a commit, the "
    "beginning of either, a tag, 'active' or 'previous'; LABEL:NAME says of which label.",
)
Label = Annotated[
    str | None, typer.Option("--label", "-l", help="Of which label. Default: any.", autocompletion=complete_label)
]
LabelArgument = Annotated[
    str | None, typer.Argument(metavar="LABEL", help="Default: the only one, or that of the current folder.")
]
Name = Annotated[str, typer.Argument(metavar="ID", help="Id, commit, the beginning of either, tag, or 'previous'.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]


@generations_app.command("list")
def list_generations(
    context: typer.Context,
    label: Annotated[
        str | None, typer.Argument(metavar="LABEL", help="Default: all labels.", autocompletion=complete_label)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List generations, newest commit first. Sizes are without the documents, which generations share."""
    from rag_assets.interfaces.cli.generation_tables import show_inventory
    from rag_assets.stages.build import label_holder
    from rag_assets.stores.disk import size_on_disk
    from rag_assets.stores.inventory import inventory

    session = session_of(context)
    home = session.home()
    labels = home.known_labels() if label is None else [label_named(home.known_labels(), label)]
    found = {name: inventory(home, name) for name in labels}
    shared = size_on_disk(home.blobs) if home.blobs.is_dir() else 0
    if as_json:
        listed = [
            {
                "label": name,
                "building_by": label_holder(home, name),
                "generations": [dataclasses.asdict(entry) for entry in entries],
            }
            for name, entries in found.items()
        ]
        session.output.json({"home": str(home.root), "documents_bytes": shared, "labels": listed})
    elif not found:
        session.output.line(f"nothing is indexed in {home.root}; run: rag-assets index")
    else:
        show_inventory(session.output, found)
        session.output.line((f"documents, shared by all: {size(shared)}", "dim"))


@generations_app.command()
def compare(
    context: typer.Context,
    old: Annotated[str, typer.Argument(metavar="A", help="The older one: id, commit, tag, 'previous', or a label.")],
    new: Annotated[str, typer.Argument(metavar="B", help="The newer one; may be of another label.")] = "active",
    label: Label = None,
    limit: Annotated[int, typer.Option(min=0, help="How many symbols to list; 0 for all.")] = DEFAULT_LISTED,
    as_json: AsJson = False,
) -> None:
    """Show which points were added, changed, removed and moved from A to B, by file and symbol: of the files that
    --role may see."""
    from rag_assets.interfaces.cli.generation_tables import comparison_object, quality_lines, show_comparison
    from rag_assets.interfaces.cli.quality import measured
    from rag_assets.stages.comparison import compare as compared
    from rag_assets.stores.generations import read_generation

    session = session_of(context)
    home, clearance = session.home(), session.clearance()
    first = read_generation(home, *_named(home, old, label))
    of_the_first = label or (first.manifest.index_label if new in ("active", "previous") else None)
    second = read_generation(home, *_named(home, new, of_the_first))
    found = compared(first, second, clearance=clearance, limit=limit or None)
    runs = {"old": measured(first.directory), "new": measured(second.directory)}
    if as_json:
        session.output.json(comparison_object(found) | {"quality": runs})
    else:
        show_comparison(session.output, found, quality_lines(runs["old"], runs["new"]))


@generations_app.command()
def activate(context: typer.Context, name: Name, label: Label = None, as_json: AsJson = False) -> None:
    """Serve this generation. The one before it is set aside: no later `index` of its commit serves it again."""
    from rag_assets.stores.serving import activate as activated

    session = session_of(context)
    home = session.home()
    _show_move(session.output, home, activated(home, *_named(home, name, label)), as_json)


@generations_app.command()
def rollback(context: typer.Context, label: LabelArgument = None, as_json: AsJson = False) -> None:
    """Serve what was served before; again, and it goes one further back. A later `index` of the same commit does not
    undo it; an `index` of a new commit, or with --force, serves what it builds."""
    from rag_assets.stores.serving import roll_back

    session = session_of(context)
    home = session.home()
    _show_move(
        session.output,
        home,
        roll_back(home, known_label(home, label, how="as rag-assets generations rollback LABEL")),
        as_json,
    )


@generations_app.command()
def tag(
    context: typer.Context,
    name: Name,
    tag_name: Annotated[str, typer.Argument(metavar="TAG", help="Letters, digits, dots, dashes, underscores.")],
    label: Label = None,
) -> None:
    """Give a generation a name. It is kept as long as it has one."""
    from rag_assets.stores import tags

    session = session_of(context)
    home = session.home()
    of_label, generation_id = _named(home, name, label)
    tags.tag(home, of_label, generation_id, tag_name)
    session.output.line((of_label, "path"), f" {generation_id} is tagged {tag_name} and kept")


@generations_app.command()
def untag(
    context: typer.Context,
    tag_name: Annotated[str, typer.Argument(metavar="TAG", help="The name to take away.")],
    label: Label = None,
) -> None:
    """Take a name away from its generation, which may then be pruned."""
    from rag_assets.stores import tags

    session = session_of(context)
    home = session.home()
    of_label = known_label(home, label)
    generation_id = tags.untag(home, of_label, tag_name)
    session.output.line((of_label, "path"), f" {generation_id} is no longer tagged {tag_name}")


@generations_app.command()
def prune(
    context: typer.Context,
    labels: Annotated[
        list[str] | None,
        typer.Argument(metavar="LABEL", help="Default: all labels.", autocompletion=complete_label),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete old generations, as after every successful `index`: all but the `retention.keep` best of each label.
    What is served, what was served before, what is tagged and what is being built always stays."""
    session = session_of(context)
    home = session.home()
    known = home.known_labels()
    chosen = known if not labels else [label_named(known, name) for name in labels]
    found, skipped = _pruned(session, home, chosen, dry_run)
    if as_json:
        session.output.json({"dry_run": dry_run, "pruned": found, "skipped": skipped})
        return
    for gone in found:
        verb = "in use, another time" if gone["in_use"] else "would delete" if dry_run else "deleted"
        session.output.line(f"{verb}: ", (gone["label"], "path"), f" {gone['generation_id']} ({size(gone['bytes'])})")
    for reason in skipped:
        session.output.note(f"left alone: {reason}")
    if not found and not skipped:
        session.output.line("nothing to delete")
    elif found and not dry_run:
        session.output.note("their documents and cache entries go with: rag-assets gc")


def _pruned(
    session: Session, home: Home, labels: Sequence[str], dry_run: bool
) -> tuple[list[dict[str, Any]], list[str]]:
    """What went, and why the rest of the labels was skipped: one that is being built prunes itself at its end."""
    from contextlib import nullcontext

    from rag_assets.stages.build import LabelBusy, label_lock
    from rag_assets.stores.catalog import CatalogError, forget_stale
    from rag_assets.stores.generations import all_generations
    from rag_assets.stores.retention import prune as pruned
    from rag_assets.stores.retention import prune_servers

    keep = session.settings().retention.keep
    found: list[dict[str, Any]] = []
    skipped = []
    for label in labels:
        try:
            with nullcontext() if dry_run else label_lock(home, label, wait_seconds=0.5):
                found += [dataclasses.asdict(gone) for gone in pruned(home, label, keep, dry_run=dry_run)]
                skipped += [] if dry_run else prune_servers(home, label)
                if not dry_run:
                    forget_stale(home, label, all_generations(home, label))
        except (LabelBusy, CatalogError) as error:
            skipped.append(str(error))
    return found, skipped


def _show_move(output: Output, home: Home, moved: Moved, as_json: bool) -> None:
    from rag_assets.stores.catalog import tell_served

    manifest = moved.generation.manifest
    for problem in tell_served(home, manifest):
        output.warning(problem)
    if as_json:
        output.json(
            {
                "label": moved.label,
                "active": manifest.generation_id,
                "commit": manifest.commit_sha,
                "left": moved.left,
                "changed": moved.changed,
            }
        )
    elif not moved.changed:
        output.line((moved.label, "path"), f" serves {manifest.generation_id} already")
    else:
        output.line(
            (moved.label, "path"), f" serves {manifest.generation_id} now (commit {short(manifest.commit_sha)})"
        )
        if moved.left:
            output.note(f"{moved.left} is set aside; it comes back with: rag-assets generations activate {moved.left}")


def _named(home: Home, word: str, label: str | None) -> tuple[str, str]:
    """(label, generation id) of a word. Raises CommandError or GenerationError naming what there is."""
    from rag_assets.stores.naming import named_generation
    from rag_assets.stores.tags import ACTIVE, PREVIOUS

    of_label, _, rest = word.rpartition(":")
    if of_label:
        return named_generation(home, [label_named(home.known_labels(), of_label)], rest)
    if label is not None or word in (ACTIVE, PREVIOUS):
        return named_generation(home, [known_label(home, label)], word)
    return named_generation(home, home.known_labels(), word)
