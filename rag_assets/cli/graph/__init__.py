"""`rag-assets graph`: what is around a node, how two are connected, what a change affects, what a node needs."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from rag_assets.api import open_index
from rag_assets.cli.graph.render import (
    GraphFormat,
    footer,
    impact_object,
    neighbourhood_object,
    origin,
    overview_object,
    paths_object,
    show_impact,
    show_neighbourhood,
    show_overview,
    show_paths,
)
from rag_assets.cli.options import AsJson, LabelOption, chosen_label, session_of
from rag_assets.cli.render import NOTHING_FOUND, Output
from rag_assets.contracts.graph import NodeType
from rag_assets.graph.artifact import GRAPH_FOLDER, check
from rag_assets.graph.diagram import of_impact, of_neighbourhood, of_paths
from rag_assets.graph.impact import Effect, impact
from rag_assets.graph.lookup import NotFound, nodes_named
from rag_assets.graph.modules import area_map
from rag_assets.graph.neighbourhood import neighbourhood
from rag_assets.graph.paths import paths
from rag_assets.graph.relations import Direction, allow_list, check_against
from rag_assets.search.graph_context import counts_of, graph_of

if TYPE_CHECKING:
    from rag_assets.api import Index
    from rag_assets.graph.csr_graph import Graph


_DEFAULT = "around"
_MISTYPED = "rag_assets.graph.command"
_ALIKE = 0.75  # a letter too many, one missing, two swapped; words that are alike by chance stay below


class DefaultGroup(TyperGroup):
    """`graph SYMBOL` is `graph around SYMBOL`; a symbol that is called like a command needs the long form."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and not {"--help", "-h"} & set(args[:1]):
            ctx.meta[_MISTYPED] = difflib.get_close_matches(args[0], self.commands, n=1, cutoff=_ALIKE)
            args = [_DEFAULT, *args]
        return super().parse_args(ctx, args)


graph_app = typer.Typer(
    cls=DefaultGroup,
    no_args_is_help=True,
    help="Walk the dependency graph of an index. `graph SYMBOL` is `graph around SYMBOL`. Name a node by its key, "
    "or in short: OrderService, OrderService.Cancel, Cancel(int), dbo.Orders, 'GET /api/orders', src/Order.cs, "
    "src/Order.cs:12. `graph overview` shows what the graph contains.",
)

_NODE = "A key, or a symbol in short."
Relations = Annotated[
    list[str] | None,
    typer.Option(
        "--relations",
        "-r",
        help="Only these, such as Calls,ReadsFrom or CalledBy; comma-separated, repeatable. Default: all.",
    ),
]
Way = Annotated[Direction, typer.Option(help="Which way edges are followed.")]
AsMermaid = Annotated[bool, typer.Option("--mermaid", help="A Mermaid flowchart on stdout.")]
Depth = Annotated[int, typer.Option(min=1, max=20, help="How many steps.")]
Listed = Annotated[int, typer.Option("--nodes", min=1, max=10_000, help="How many nodes to list.")]
ListedOfEach = Annotated[int, typer.Option("--nodes", min=1, max=10_000, help="How many nodes of each group to list.")]


@graph_app.command(_DEFAULT)
def around(
    context: typer.Context,
    symbols: Annotated[
        list[str], typer.Argument(metavar="SYMBOL...", help=f"{_NODE} Several are starting points together.")
    ],
    label: LabelOption = None,
    depth: Depth = 2,
    relations: Relations = None,
    direction: Way = Direction.BOTH,
    nodes: Listed = 120,
    kinds: Annotated[
        list[str] | None, typer.Option("--kind", help="Walk to nodes of this kind only, such as METHOD; repeatable.")
    ] = None,
    as_json: AsJson = False,
    as_mermaid: AsMermaid = False,
) -> None:
    """Show what is around nodes, the most relevant first."""

    form = GraphFormat(as_json, as_mermaid)
    steps, wanted = allow_list(_split(relations), _restricting(direction)), _kinds(kinds)
    output = session_of(context).output
    with _opened(context, label) as (index, graph):
        try:
            entries = [graph.keys[node] for node in _named(graph, symbols)]
        except NotFound as error:
            command = next(iter(context.meta.get(_MISTYPED, ())), None)
            if command is None:
                raise
            raise NotFound(f"{error}\nor did you mean: rag-assets graph {command}?") from error
        found = neighbourhood(graph, entries, steps=steps, depth=depth, nodes=nodes, kinds=wanted)
        _warn(output, found.warnings)
        form.write(output, index, found, of_neighbourhood, neighbourhood_object, show_neighbourhood)


@graph_app.command()
def path(
    context: typer.Context,
    start: Annotated[str, typer.Argument(metavar="A", help=_NODE)],
    end: Annotated[str, typer.Argument(metavar="B", help=_NODE)],
    label: LabelOption = None,
    depth: Depth = 10,
    relations: Relations = None,
    direction: Way = Direction.BOTH,
    count: Annotated[int, typer.Option("--count", "-n", min=1, max=100, help="How many paths.")] = 3,
    as_json: AsJson = False,
    as_mermaid: AsMermaid = False,
) -> None:
    """Show how A leads to B, the most relevant paths first. Exit code 4 when there is no path."""

    form = GraphFormat(as_json, as_mermaid)
    steps = allow_list(_split(relations), _restricting(direction))
    output = session_of(context).output
    with _opened(context, label) as (index, graph):
        found = paths(graph, _named(graph, [start]), _named(graph, [end]), steps=steps, hops=depth, count=count)
        warnings = check_against(steps, graph.relations)
        _warn(output, warnings)
        form.write(output, index, found, of_paths, partial(paths_object, warnings=warnings), show_paths)
    if not found:
        output.note(f"nothing connects {start} and {end} within {depth} steps of these relations")
        raise typer.Exit(NOTHING_FOUND)


def _add_effect(name: str, effect: Effect, told: str) -> None:
    """Adds a command that follows an effect."""

    @graph_app.command(name, help=told)
    def follow(
        context: typer.Context,
        symbols: Annotated[list[str], typer.Argument(metavar="SYMBOL...", help=_NODE)],
        label: LabelOption = None,
        depth: Depth = 8,
        nodes: ListedOfEach = 200,
        as_json: AsJson = False,
        as_mermaid: AsMermaid = False,
    ) -> None:

        form = GraphFormat(as_json, as_mermaid)
        output = session_of(context).output
        with _opened(context, label) as (index, graph):
            found = impact(graph, _named(graph, symbols), effect=effect, depth=depth, limit=nodes)
            form.write(output, index, found, of_impact, impact_object, show_impact)


_add_effect(
    "impact", Effect.AFFECTED, "Show what a change affects: endpoints, tables, tests, documents and code, by distance."
)
_add_effect("uses", Effect.NEEDED, "Show what a node needs, from an HTTP route down to its tables, by distance.")


@graph_app.command()
def overview(
    context: typer.Context,
    label: LabelOption = None,
    as_json: AsJson = False,
) -> None:
    """Show what the graph consists of: kinds of nodes, relations, hubs, and which folders use which."""

    output = session_of(context).output
    with _opened(context, label) as (index, graph):
        (counts, whole), areas = counts_of(index), area_map(graph)
        if as_json:
            output.json(origin(index) | overview_object(counts, areas, whole))
        else:
            show_overview(output, counts, areas, footer(index), whole)


@contextmanager
def _opened(context: typer.Context, label: str | None) -> Iterator[tuple[Index, Graph]]:
    session = session_of(context)
    home = session.home()
    name = chosen_label(session, home, label)
    with open_index(name, home=home.root, config=session.config_option, clearance=session.clearance()) as index:
        graph = graph_of(index)
        try:
            yield index, graph
        except (IndexError, MemoryError, OverflowError, ValueError):  # as numbers out of range show themselves
            check(index.generation.directory / GRAPH_FOLDER)  # says which file is damaged, where one is
            raise


def _named(graph: Graph, symbols: Sequence[str]) -> list[int]:
    return list(dict.fromkeys(node for symbol in symbols for node in nodes_named(graph, symbol)))


def _split(relations: Sequence[str] | None) -> list[str]:
    """The names of `--relations`, none without the option. Raises BadParameter for a list without a name."""
    found = [name for listed in relations or () for name in listed.split(",") if name.strip()]
    if relations and not found:
        raise typer.BadParameter("it names no relation; leave it out to follow all of them", param_hint="--relations")
    return found


def _restricting(direction: Direction) -> Direction | None:
    return None if direction is Direction.BOTH else direction


def _kinds(names: Sequence[str] | None) -> list[NodeType]:
    known = {kind.value: kind for kind in NodeType}
    unknown = [name for name in names or () if name.upper() not in known]
    if unknown:
        raise typer.BadParameter(
            f"{unknown[0]!r} is not a kind of node; valid: {', '.join(known)}", param_hint="--kind"
        )
    return [known[name.upper()] for name in names or ()]


def _warn(output: Output, warnings: Sequence[str]) -> None:
    for warning in warnings:
        output.warning(warning)
