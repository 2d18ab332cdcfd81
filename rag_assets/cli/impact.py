"""`rag-assets impact`: what the changes between two commits touch, and the tests worth running."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer

from rag_assets.api import open_index
from rag_assets.cli.console import NOTHING_FOUND, Output, Part, counted, short
from rag_assets.cli.options import AsJson, LabelOption, chosen_label, named_in, session_of
from rag_assets.contracts.graph import Confidence
from rag_assets.graph.impact import DEFAULT_DEPTH
from rag_assets.graph.lookup import short_name
from rag_assets.printable import abridged
from rag_assets.search.touched_nodes import (
    ASKED_FOR,
    DEFAULT_LISTED,
    ChangeImpact,
    Touched,
    TouchedNode,
    TouchingFile,
    touched_kinds,
)

_ALL = 1_000_000
_SHOWN_NAMES = 4
_NAMES_NOTHING = "it names nothing; leave it out for all of them"


def impact(
    context: typer.Context,
    since: Annotated[str, typer.Option(help="The changes after this branch, tag or commit; also main~3.")],
    until: Annotated[str, typer.Option(help="The last of the changes. Default: the indexed commit.")] = "",
    label: LabelOption = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            help=f"Only these of {', '.join(Touched)}; comma-separated, repeatable. Default: {', '.join(ASKED_FOR)}.",
        ),
    ] = None,
    tests: Annotated[
        bool, typer.Option("--tests", help="Only the names of the tests, nearest first, one a line, for a runner.")
    ] = False,
    depth: Annotated[int, typer.Option(min=1, max=20, help="How many steps.")] = DEFAULT_DEPTH,
    limit: Annotated[
        int | None,
        typer.Option("--limit", "-n", min=1, help=f"How many of each. Default: {DEFAULT_LISTED}; tests all."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what the changes since a commit touch: tests worth running, routes, tables, documents, each with the way
    from the change. Exit code 4 when they touch nothing.

    Example: rag-assets impact --since main --only test,endpoint
    """
    if tests and (as_json or only):
        raise typer.BadParameter("it says what is wanted and how; leave out --json and --only", param_hint="--tests")
    wanted = touched_kinds([Touched.TEST] if tests else named_in(only, "--only", _NAMES_NOTHING))
    session = session_of(context)
    home = session.home()
    name = chosen_label(home, label)
    with open_index(name, home=home.root, config=session.config_option, clearance=session.clearance()) as index:
        found = index.impact(
            since, until=until, only=wanted, depth=depth, limit=limit or (_ALL if tests else DEFAULT_LISTED)
        )
    output = session.output
    if as_json:
        output.json(impact_object(found))
    elif tests:
        for runner in dict.fromkeys(runner for node in found.touched for runner in node.tests):
            output.line(runner)
    else:
        show_change_impact(output, found, wanted)
    if not found.touched:
        kinds = ", ".join(f"{kind}s" if kind is not Touched.CODE else kind for kind in wanted)
        output.note(f"the changes touch none of: {kinds}")
        raise typer.Exit(NOTHING_FOUND)


def impact_object(found: ChangeImpact) -> dict[str, Any]:
    """The object of `impact --json`."""
    return asdict(found)


def show_change_impact(output: Output, found: ChangeImpact, wanted: Sequence[Touched]) -> None:
    """Shows the files of the diff, then what they touch under each kind, each node above the way to it."""
    declared = sum(len(file.declarations) for file in found.files)
    gone = sum(len(file.removed) for file in found.files)
    output.line(
        (f"{short(found.base_commit)} → {short(found.until_commit)}", "bold"),
        f": {counted(len(found.files), 'file')}, {counted(declared, 'changed declaration')}",
        f", {gone:,} gone" if gone else "",
    )
    for note in found.notes:
        output.line((f"note: {note}", "warn"))
    for file in found.files:
        output.line(*_file_line(file))
    for kind in wanted:
        nodes, total = found.of(kind), found.totals.get(kind.value, 0)
        if not total:
            continue
        listed = f", {len(nodes)} listed; all with --limit {total}" if len(nodes) < total else ""
        output.line()
        output.line((f"{kind.value if kind is Touched.CODE else f'{kind.value}s'} ({total}{listed})", "bold"))
        for node in nodes:
            output.line(*_node_line(node))
            if node.steps:
                output.line((f"       {''.join(_way(node))}", "dim"))
    output.line()
    output.line((f"{found.label}  commit {short(found.indexed_commit)}  generation {found.generation}", "dim"))


def _file_line(file: TouchingFile) -> list[Part]:
    moved = f" (was {file.old_path})" if file.old_path not in ("", file.path) else ""
    names = [short_name(key) for key in file.declarations] + [f"{short_name(key)} (gone)" for key in file.removed]
    told = f"  {abridged(names, _SHOWN_NAMES)}" if names else ""
    outside = f"  not in the graph: {file.outside}" if file.outside else ""
    return [f"  {file.change:<9} ", (file.path, "path"), moved, (told, "dim"), (outside, "warn")]


def _node_line(node: TouchedNode) -> list[Part]:
    doubt = "" if node.confidence == Confidence.RESOLVED else f"  {node.confidence}"
    name = ", ".join(node.tests) or node.key
    whole = "  all its cases" if node.is_suite else ""
    place = f"  {node.path}:{node.line}" if node.path else ""
    changed = "  changed itself" if not node.steps else ""
    return [(f"{node.distance:>3}  ", "dim"), name, (place, "path"), (f"{whole}{changed}{doubt}", "dim")]


def _way(node: TouchedNode) -> Iterator[str]:
    """`Order.Total ← Calls OrderService.Refund (OrderService.cs:12) → Exposes POST /api/refunds`."""
    begin = node.steps[0].begin
    yield short_name(node.because)
    yield f" is gone; {short_name(begin)}" if begin != node.because else ""
    for step in node.steps:
        yield f" {'→' if step.forward else '←'} {step.relation} {short_name(step.end)}"
        yield f" ({step.path.rpartition('/')[2]}:{step.line})" if step.path else ""
