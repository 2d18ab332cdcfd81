"""`rag-assets generations`: the builds of a label, how they differ, which one is served and which are kept."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from rag_assets.cli.console import Output, Style, aligned, counted, named_counts, short, size
from rag_assets.cli.options import AsJson, LabelArgument, complete_label, known_label, session_of
from rag_assets.cli.quality import measured
from rag_assets.index import generation_refs
from rag_assets.index.catalog import forget_stale, tell_served
from rag_assets.index.catalog.errors import CatalogError
from rag_assets.index.disk_files import size_on_disk
from rag_assets.index.generation_refs import ACTIVE, PREVIOUS, named_generation
from rag_assets.index.generations import (
    Generation,
    GenerationError,
    Manifest,
    all_generations,
    read_generation,
    read_pointer,
)
from rag_assets.index.inventory import GenerationEntry, inventory, prune_servers, serve_in_servers
from rag_assets.index.inventory import prune as pruned
from rag_assets.index.layout import IndexHome, label_named

if TYPE_CHECKING:
    from rag_assets.contracts.confidentiality import Confidentiality
    from rag_assets.graph.comparison import GraphComparison
    from rag_assets.index.promotion import Moved
    from rag_assets.pipeline.generation_diff import GenerationDiff, SymbolChange

DEFAULT_LISTED = 50
"""Symbols that `compare` lists: two screens. The counts are of all."""

generations_app = typer.Typer(
    no_args_is_help=True,
    help="List, compare, serve and keep the builds of a label. Name a generation by its id, a commit, the "
    "beginning of either, a tag, 'active' or 'previous'; LABEL:NAME also names the label.",
)
Label = Annotated[
    str | None, typer.Option("--label", "-l", help="Of which label. Default: any.", autocompletion=complete_label)
]
Name = Annotated[str, typer.Argument(metavar="ID", help="Id, commit, the beginning of either, tag, or 'previous'.")]
_STATE_STYLES: dict[str, Style] = {
    "active": "good",
    "set-aside": "warn",
    "candidate": "warn",
    "damaged": "bad",
    "refused": "bad",
}
_TITLES = ("STATE", "COMMIT", "DATE", "POINTS", "QUALITY", "SIZE", "GENERATION", "MODEL", "RUN", "TAGS")


@generations_app.command("list")
def list_generations(
    context: typer.Context,
    label: Annotated[
        str | None, typer.Argument(metavar="LABEL", help="Default: all labels.", autocompletion=complete_label)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List generations, newest commit first. Sizes do not include the documents, which generations share.

    Example: rag-assets generations list shop@main
    """
    from rag_assets.pipeline.build import label_holder  # start-up budget: loaded when it runs

    session = session_of(context)
    home = session.home()
    labels = home.known_labels() if label is None else [label_named(home.known_labels(), label)]
    found = {name: inventory(home, name) for name in labels}
    for name in labels:
        try:
            read_pointer(home, name)
        except GenerationError as error:
            session.output.warning(str(error))
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
        session.output.line(f"nothing is indexed in {home.root}; run: {session.command()} index")
    else:
        show_inventory(session.output, found)
        session.output.line((f"documents, shared by all: {size(shared)}", "dim"))


@generations_app.command()
def compare(
    context: typer.Context,
    old: Annotated[str, typer.Argument(metavar="A", help="The older one: id, commit, tag, 'previous', or a label.")],
    new: Annotated[str, typer.Argument(metavar="B", help="The newer one; may be of another label.")] = "active",
    label: Label = None,
    limit: Annotated[
        int, typer.Option(min=0, help="How many symbols, and edges each way, to list; 0 for all.")
    ] = DEFAULT_LISTED,
    graph: Annotated[
        bool, typer.Option("--graph", help="Also the routes, tables and edges that came and went.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show which points were added, changed, removed and moved from A to B, by file and symbol. Only files that
    --role may see count.

    Example: rag-assets generations compare previous active --graph
    """
    from rag_assets.pipeline.generation_diff import compare as compared  # start-up budget: loaded when it runs

    session = session_of(context)
    home, clearance = session.home(), session.clearance()
    first = read_generation(home, *_named(home, old, label))
    of_the_first = label or (first.manifest.index_label if new in ("active", "previous") else None)
    second = read_generation(home, *_named(home, new, of_the_first))
    found = compared(first, second, clearance=clearance, limit=limit or None)
    runs = {"old": measured(first.directory), "new": measured(second.directory)}
    graphs = _graphs(first, second, clearance, limit or None) if graph else None
    if as_json:
        told = {"graph": msgspec.to_builtins(graphs)} if graphs else {}
        session.output.json(comparison_object(found) | {"quality": runs} | told)
    else:
        show_comparison(session.output, found, quality_lines(runs["old"], runs["new"]))
        if graphs:
            show_graphs(session.output, graphs)


def _graphs(old: Generation, new: Generation, clearance: Confidentiality, limit: int | None) -> GraphComparison:
    # start-up budget: loaded for --graph
    from rag_assets.graph.comparison import compare_graphs
    from rag_assets.search.graph_context import graph_seen_in

    return compare_graphs(graph_seen_in(old, clearance), graph_seen_in(new, clearance), limit=limit)


@generations_app.command()
def activate(context: typer.Context, name: Name, label: Label = None, as_json: AsJson = False) -> None:
    """Serve this generation. The previous one is set aside: a later `index` of its commit does not serve it again.

    Example: rag-assets generations activate release-2.0
    """
    from rag_assets.index.promotion import activate as activated  # start-up budget: loaded when it runs

    session = session_of(context)
    home = session.home()
    _show_move(session.output, home, activated(home, *_named(home, name, label)), as_json)


@generations_app.command()
def rollback(context: typer.Context, label: LabelArgument = None, as_json: AsJson = False) -> None:
    """Serve the previous generation; repeat it to go back further. A later `index` of the same commit does not undo it;
    an `index` of a new commit, or with --force, serves what it builds.

    Example: rag-assets generations rollback shop@main
    """
    from rag_assets.index.promotion import roll_back  # start-up budget: loaded when it runs

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
    """Give a generation a name. A generation with a name is never pruned.

    Example: rag-assets generations tag active release-2.0
    """
    session = session_of(context)
    home = session.home()
    of_label, generation_id = _named(home, name, label)
    generation_refs.tag(home, of_label, generation_id, tag_name)
    session.output.line((of_label, "path"), f" {generation_id} is tagged {tag_name} and kept")


@generations_app.command()
def untag(
    context: typer.Context,
    tag_name: Annotated[str, typer.Argument(metavar="TAG", help="The name to remove.")],
    label: Label = None,
) -> None:
    """Remove a name. Its generation may then be pruned.

    Example: rag-assets generations untag release-2.0
    """
    session = session_of(context)
    home = session.home()
    of_label = known_label(home, label)
    generation_id = generation_refs.untag(home, of_label, tag_name)
    session.output.line((of_label, "path"), f" {generation_id} is no longer tagged {tag_name}")


@generations_app.command()
def prune(
    context: typer.Context,
    labels: Annotated[
        list[str] | None,
        typer.Argument(metavar="LABEL", help="Default: all labels.", autocompletion=complete_label),
    ] = None,
    served_only: Annotated[
        bool,
        typer.Option(
            "--served-only",
            help="Delete the previous one too, and those of retention.keep: for a text that must be gone for good.",
        ),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be deleted.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete old generations, as every successful `index` does: all but the `retention.keep` best of each label. The
    served, the previous and the tagged generations stay, and so does one that is being built.

    Example: rag-assets generations prune --dry-run
    """
    session = session_of(context)
    home = session.home()
    known = home.known_labels()
    chosen = known if not labels else [label_named(known, name) for name in labels]
    keep = session.settings().retention.keep
    found, skipped = _pruned(home, chosen, keep, served_only=served_only, dry_run=dry_run)
    if as_json:
        session.output.json({"dry_run": dry_run, "pruned": found, "skipped": skipped})
        return
    for gone in found:
        verb = "still in use" if gone["in_use"] else "would delete" if dry_run else "deleted"
        session.output.line(f"{verb}: ", (gone["label"], "path"), f" {gone['generation_id']} ({size(gone['bytes'])})")
    for reason in skipped:
        session.output.note(f"left alone: {reason}")
    if not found and not skipped:
        session.output.line("nothing to delete")
    elif found and not dry_run:
        session.output.note("their documents and cache entries go with: rag-assets gc")


def _pruned(
    home: IndexHome, labels: Sequence[str], keep: int, *, served_only: bool, dry_run: bool
) -> tuple[list[dict[str, Any]], list[str]]:
    """The deleted generations, and why other labels were skipped: a build prunes its own label at its end."""
    from rag_assets.pipeline.build import LabelBusy, label_lock  # start-up budget: loaded when it runs

    found: list[dict[str, Any]] = []
    skipped = []
    for label in labels:
        try:
            with nullcontext() if dry_run else label_lock(home, label, wait_seconds=0.5):
                done = pruned(home, label, keep, served_only=served_only, dry_run=dry_run)
                found += map(dataclasses.asdict, done)
                skipped += [] if dry_run else prune_servers(home, label)
                if not dry_run:
                    forget_stale(home, label, all_generations(home, label))
        except (LabelBusy, CatalogError) as error:
            skipped.append(str(error))
    return found, skipped


def _show_move(output: Output, home: IndexHome, moved: Moved, as_json: bool) -> None:
    manifest = moved.generation.manifest
    for problem in (*tell_served(home, manifest), *serve_in_servers(home, moved.label)):
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


def _named(home: IndexHome, word: str, label: str | None) -> tuple[str, str]:
    """(label, generation id) of a word. Raises CommandError or GenerationError with the known names."""
    of_label, _, rest = word.rpartition(":")
    if of_label:
        return named_generation(home, [label_named(home.known_labels(), of_label)], rest)
    if label is not None or word in (ACTIVE, PREVIOUS):
        return named_generation(home, [known_label(home, label)], word)
    return named_generation(home, home.known_labels(), word)


def show_inventory(output: Output, found: Mapping[str, Sequence[GenerationEntry]]) -> None:
    """One table per label."""
    for label, entries in found.items():
        output.line((label, "path"))
        for number, (state, *cells) in enumerate(aligned([_TITLES, *map(_cells, entries)])):
            plain: Style = "plain" if number else "dim"
            style = _STATE_STYLES.get(state.rstrip(), plain)
            output.line("  ", (state, style), "  ", ("  ".join(cells).rstrip(), plain))
        for entry in entries:
            if entry.problem:
                output.line(
                    (f"  {entry.generation_id}: {entry.problem}" if entry.metrics else f"  {entry.problem}", "warn")
                )


def show_comparison(output: Output, found: GenerationDiff, quality: Sequence[str] = ()) -> None:
    """Shows the counts, the lines about `quality`, then the symbols under their files."""
    output.line(_side(found.old), (" → ", "dim"), _side(found.new))
    output.line(
        f"  {found.added:,} points added, {found.changed:,} changed, {found.removed:,} removed, {found.moved:,} moved, "
        f"{found.unchanged:,} unchanged; {found.paths:,} files"
    )
    for note in found.notes:
        output.line((f"  note: {note}", "warn"))
    for line in quality:
        output.line(f"  {line}")
    for path, changes in groupby(found.changes, key=lambda change: change.path):
        output.line((path, "path"))
        for change in changes:
            output.line(f"  {_counts(change)}  {change.symbol}", (_origin(change), "dim"))
    left = found.groups - len(found.changes)
    if left:
        output.note(f"{left:,} more symbols; list them with --limit 0")


def show_graphs(output: Output, found: GraphComparison) -> None:
    """Shows the routes and tables that came and went, then the edges, those between what both have first."""
    output.line()
    output.line(("graph", "bold"))
    for sign, side in (("+", found.added), ("-", found.removed)):
        nodes, edges = sum(side.nodes.values()), sum(side.edges.values())
        kinds = ", ".join(filter(None, (named_counts(side.nodes), named_counts(side.edges))))
        output.line(f"  {sign} {counted(nodes, 'node')}, {counted(edges, 'edge')}", (f"  {kinds}", "dim"))
    for sign, side in (("+", found.added), ("-", found.removed)):
        for key in side.named:
            output.line(f"  {sign} ", (key, "bold"))
    for sign, side in (("+", found.added), ("-", found.removed)):
        for edge in side.listed:
            place = f"  {edge.path}:{edge.line}" if edge.path else ""
            output.line(f"  {sign} {edge.source} {edge.relation} {edge.target}", (place, "path"))
        left = sum(side.edges.values()) - len(side.listed)
        if left:
            output.note(f"{left:,} more edges ({sign}); list them with --limit 0")


def quality_lines(old: Sequence[dict[str, Any]], new: Sequence[dict[str, Any]]) -> list[str]:
    """Old → new metrics of every question set that both answered, or why the two cannot be compared."""
    before = {run["set"]: run for run in old}
    lines = []
    for run in new:
        was = before.get(run["set"])
        if was is None:
            continue
        if was["fingerprint"] != run["fingerprint"] or was["metrics"].keys() != run["metrics"].keys():
            lines.append(f"{run['set']}: asked different questions; ask both with: rag-assets eval --generation ID")
            continue
        if was["conditions"] != run["conditions"]:
            lines.append(f"{run['set']}: searched in different ways; ask both with: rag-assets eval --generation ID")
            continue
        changes = (f"{name} {was['metrics'][name]:.3f} → {value:.3f}" for name, value in run["metrics"].items())
        lines.append(f"{run['set']}: {', '.join(changes)}")
    return lines


def comparison_object(found: GenerationDiff) -> dict[str, Any]:
    """The object of `compare --json`."""
    counts = {name: getattr(found, name) for name in ("added", "changed", "removed", "moved", "unchanged")}
    return {
        "old": _object(found.old),
        "new": _object(found.new),
        "equal": found.equal,
        "points": counts,
        "files": found.paths,
        "symbols": found.groups,
        "changes": [dataclasses.asdict(change) for change in found.changes],
        "not_listed": found.groups - len(found.changes),
        "notes": list(found.notes),
    }


def _cells(entry: GenerationEntry) -> tuple[str, ...]:
    return (
        entry.state.value,
        short(entry.commit_sha),
        entry.commit_date,
        "" if entry.points is None else f"{entry.points:,}",
        _quality(entry),
        size(entry.bytes),
        entry.generation_id,
        entry.embedding_model,
        entry.run_id,
        ", ".join(entry.tags),
    )


def _quality(entry: GenerationEntry) -> str:
    """`recall@10 0.812`: the first metric of each question set; `compare` and `status` have all."""
    return ", ".join(f"{name} {value:.3f}" for found in entry.metrics.values() for name, value in [*found.items()][:1])


def _side(manifest: Manifest) -> str:
    return f"{manifest.index_label} {manifest.generation_id} (commit {short(manifest.commit_sha)})"


def _object(manifest: Manifest) -> dict[str, Any]:
    return {
        "label": manifest.index_label,
        "generation": manifest.generation_id,
        "commit": manifest.commit_sha,
        "commit_date": manifest.commit_date,
        "embedding_model": manifest.embedding_model,
        "dimension": manifest.dimension,
        "points": manifest.counts.get("points", 0),
    }


def _counts(change: SymbolChange) -> str:
    """`+2 ~1 -3` without zero counts."""
    signs = (("+", change.added), ("~", change.changed), ("-", change.removed), (">", change.moved))
    return " ".join(f"{sign}{count}" for sign, count in signs if count)


def _origin(change: SymbolChange) -> str:
    return f"  was in {change.moved_from}" if change.moved_from else ""
