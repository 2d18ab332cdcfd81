"""`rag-assets graph`: what is around a node, how two are connected, who is affected by a change, what is needed, and
what there is at all."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from rag_assets.graph.relations import Direction, allow_list
from rag_assets.interfaces.cli.failures import NOTHING_FOUND
from rag_assets.interfaces.cli.graph_form import Form, footer, origin, write_picture
from rag_assets.interfaces.cli.labels import chosen_label, complete_label
from rag_assets.interfaces.cli.output import Output
from rag_assets.interfaces.cli.session import session_of

if TYPE_CHECKING:
    from rag_assets.contracts.graph import NodeType
    from rag_assets.graph.adjacency import Graph
    from rag_assets.query import Index

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
    help="Walk the dependency graph of an index. `graph SYMBOL` is `graph around SYMBOL`. A node is named by its key, "
    "or in short: OrderService, OrderService.Cancel, Cancel(int), dbo.Orders, 'GET /api/orders', src/Order.cs, "
    "src/Order.cs:12. `graph overview` says what there is.",
)

_NODE = "A key, or a symbol in short."
Label = Annotated[
    str | None,
    typer.Option("--label", "-l", help="Which index. Default: as for search.", autocompletion=complete_label),
]
Relations = Annotated[
    list[str] | None,
    typer.Option(
        "--relations",
        "-r",
        help="Only these, such as Calls,ReadsFrom or CalledBy; comma-separated, repeatable. Default: all.",
    ),
]
Way = Annotated[Direction, typer.Option(help="Which way edges are followed.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]
AsMermaid = Annotated[bool, typer.Option("--mermaid", help="A Mermaid flowchart on stdout.")]
Svg = Annotated[Path | None, typer.Option("--svg", metavar="FILE", help="Also draw it into this file.")]
Depth = Annotated[int, typer.Option(min=1, max=20, help="How many steps.")]
Listed = Annotated[int, typer.Option("--nodes", min=1, max=10_000, help="How many nodes to list.")]
ListedOfEach = Annotated[int, typer.Option("--nodes", min=1, max=10_000, help="How many nodes of each group to list.")]


@graph_app.command(_DEFAULT)
def around(
    context: typer.Context,
    symbols: Annotated[list[str], typer.Argument(metavar="SYMBOL...", help=f"{_NODE} Several are entries alike.")],
    label: Label = None,
    depth: Depth = 2,
    relations: Relations = None,
    direction: Way = Direction.BOTH,
    nodes: Listed = 120,
    kinds: Annotated[
        list[str] | None, typer.Option("--kind", help="Walk to nodes of this kind only, such as METHOD; repeatable.")
    ] = None,
    as_json: AsJson = False,
    as_mermaid: AsMermaid = False,
    svg: Svg = None,
) -> None:
    """What is around nodes, the most relevant first."""
    from rag_assets.graph.diagram import of_neighbourhood
    from rag_assets.graph.lookup import NotFound
    from rag_assets.graph.neighbourhood import neighbourhood
    from rag_assets.interfaces.cli.graph_output import neighbourhood_object, show_neighbourhood

    form = Form(as_json, as_mermaid, svg)
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
    label: Label = None,
    depth: Depth = 10,
    relations: Relations = None,
    direction: Way = Direction.BOTH,
    count: Annotated[int, typer.Option("--count", "-n", min=1, max=100, help="How many ways.")] = 3,
    as_json: AsJson = False,
    as_mermaid: AsMermaid = False,
    svg: Svg = None,
) -> None:
    """How A leads to B: the most telling ways. Exit code 4 when there is none."""
    from rag_assets.graph.diagram import of_paths
    from rag_assets.graph.paths import paths
    from rag_assets.graph.relations import check_against
    from rag_assets.interfaces.cli.graph_output import paths_object, show_paths

    form = Form(as_json, as_mermaid, svg)
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


def _add_effect(name: str, effect: str, told: str) -> None:
    """A command that follows an effect; `effect` is the value of an `Effect`, which is imported when it runs."""

    @graph_app.command(name, help=told)
    def follow(
        context: typer.Context,
        symbols: Annotated[list[str], typer.Argument(metavar="SYMBOL...", help=_NODE)],
        label: Label = None,
        depth: Depth = 8,
        nodes: ListedOfEach = 200,
        as_json: AsJson = False,
        as_mermaid: AsMermaid = False,
        svg: Svg = None,
    ) -> None:
        from rag_assets.graph.diagram import of_impact
        from rag_assets.graph.impact import Effect, impact
        from rag_assets.interfaces.cli.graph_output import impact_object, show_impact

        form = Form(as_json, as_mermaid, svg)
        output = session_of(context).output
        with _opened(context, label) as (index, graph):
            found = impact(graph, _named(graph, symbols), effect=Effect(effect), depth=depth, limit=nodes)
            form.write(output, index, found, of_impact, impact_object, show_impact)


_add_effect(
    "impact", "affected", "Who is affected if this changes: endpoints, tables, tests, documents and code, by distance."
)
_add_effect("uses", "needed", "What this needs to do its work, from an HTTP route down to its tables, by distance.")


@graph_app.command()
def overview(
    context: typer.Context,
    label: Label = None,
    as_json: AsJson = False,
    svg: Annotated[
        Path | None, typer.Option("--svg", metavar="FILE", help="Also draw which folders use which into this file.")
    ] = None,
) -> None:
    """What an index consists of: kinds of nodes, relations, hubs, and which folders use which."""
    from rag_assets.graph.areas import area_map
    from rag_assets.interfaces.cli.graph_output import overview_object, show_overview
    from rag_assets.query.graph import counts_of

    output = session_of(context).output
    with _opened(context, label) as (index, graph):
        (counts, whole), areas = counts_of(index), area_map(graph)
        if svg is not None:
            from rag_assets.graph.area_picture import area_svg

            write_picture(output, svg, area_svg(areas))
        if as_json:
            output.json(origin(index) | overview_object(counts, areas, whole))
        else:
            show_overview(output, counts, areas, footer(index), whole)


@contextmanager
def _opened(context: typer.Context, label: str | None) -> Iterator[tuple[Index, Graph]]:
    from rag_assets.graph.artifact import GRAPH_FOLDER, check
    from rag_assets.query import open_index
    from rag_assets.query.graph import graph_of

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
    from rag_assets.graph.lookup import nodes_named

    return list(dict.fromkeys(node for symbol in symbols for node in nodes_named(graph, symbol)))


def _split(relations: Sequence[str] | None) -> list[str]:
    """The names of `--relations`; none where it was not given. A list without a name is an error, not all of them."""
    found = [name for listed in relations or () for name in listed.split(",") if name.strip()]
    if relations and not found:
        raise typer.BadParameter("it names no relation; leave it out for all of them", param_hint="--relations")
    return found


def _restricting(direction: Direction) -> Direction | None:
    return None if direction is Direction.BOTH else direction


def _kinds(names: Sequence[str] | None) -> list[NodeType]:
    from rag_assets.contracts.graph import NodeType

    known = {kind.value: kind for kind in NodeType}
    unknown = [name for name in names or () if name.upper() not in known]
    if unknown:
        raise typer.BadParameter(f"{unknown[0]!r} is no kind of node; valid: {', '.join(known)}", param_hint="--kind")
    return [known[name.upper()] for name in names or ()]


def _warn(output: Output, warnings: Sequence[str]) -> None:
    for warning in warnings:
        output.warning(warning)
