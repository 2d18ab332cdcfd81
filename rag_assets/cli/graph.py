"""`rag-assets graph`: what is around a node, how two are connected, what a change affects, what a node needs."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperGroup

from rag_assets.api import Index, open_index
from rag_assets.cli.console import NOTHING_FOUND, Output, Part, counted, named_counts, said_graph, short
from rag_assets.cli.options import AsJson, LabelOption, chosen_label, named_in, session_of
from rag_assets.contracts.graph import Confidence, GraphEdge, NodeType, key_kind
from rag_assets.graph import picture
from rag_assets.graph.artifact import check
from rag_assets.graph.callers import callers as callers_of
from rag_assets.graph.csr_graph import KINDS, Graph, GraphCounts, NodeLocation, by_count
from rag_assets.graph.diagram import of_impact, of_neighbourhood, of_paths
from rag_assets.graph.impact import (
    Effect,
    Impact,
    ImpactGroup,
    Reached,
    calls_known_note,
    impact,
    language_without_resolver,
)
from rag_assets.graph.lookup import NotFound, nodes_named, short_name
from rag_assets.graph.modules import AreaMap, area_map
from rag_assets.graph.neighbourhood import Neighbour, Neighbourhood, neighbourhood
from rag_assets.graph.paths import GraphPath, paths
from rag_assets.graph.picture import Picture
from rag_assets.graph.relations import Direction, allow_list, check_against
from rag_assets.identifiers import singular
from rag_assets.printable import abridged
from rag_assets.search.graph_context import counts_of, graph_of
from rag_assets.search.result_objects import edge_object, place_object

T = TypeVar("T")
_NAMES_NOTHING = "it names no relation; leave it out to follow all of them"
_SHOWN_CUT = 5
_SHOWN_USES = 4
_SHOWN_HUBS = 8
_TITLES = {Effect.AFFECTED: "affected if it changes", Effect.NEEDED: "needed by it"}


@dataclass(frozen=True, slots=True)
class GraphFormat:
    """The output format: text for people, JSON, Mermaid or SVG. Raises BadParameter for two of them."""

    as_json: bool
    as_mermaid: bool
    as_svg: bool

    def __post_init__(self) -> None:
        wanted = {"--json": self.as_json, "--mermaid": self.as_mermaid, "--svg": self.as_svg}
        if sum(wanted.values()) > 1:
            raise typer.BadParameter(f"choose one of {' and '.join(name for name, is_set in wanted.items() if is_set)}")

    def write(
        self,
        output: Output,
        index: Index,
        found: T,
        as_mermaid: Callable[[T], str],
        as_picture: Callable[[T], Picture],
        as_object: Callable[[T], dict[str, Any]],
        show: Callable[[Output, T, str], None],
    ) -> None:
        """Writes what was found in `index`."""
        if self.as_mermaid:
            output.text(as_mermaid(found))
        elif self.as_svg:
            from rag_assets.serving.page.rendering import graph_svg  # start-up budget: only for a picture

            output.text(graph_svg(as_picture(found)))
        elif self.as_json:
            output.json(origin(index) | as_object(found))
        else:
            show(output, found, footer(index))


def origin(index: Index) -> dict[str, Any]:
    """The first keys of every JSON object: the source of its graph."""
    known = index.manifest
    return {"label": index.label, "generation": known.generation_id, "commit": known.commit_sha}


def footer(index: Index) -> str:
    """The same as the last line for people."""
    return f"{index.label}  commit {short(index.manifest.commit_sha)}  generation {index.manifest.generation_id}"


def neighbourhood_object(found: Neighbourhood) -> dict[str, Any]:
    """The object of `graph around --json`."""
    return {
        "nodes": [_node_object(node) for node in found.nodes],
        "edges": [edge_object(edge) for edge in found.edges],
        "left_out": found.left_out,
        "cut": [
            {
                "key": cut.key,
                "relation": cut.relation.value,
                "direction": cut.direction.value,
                "followed": cut.followed,
                "total": cut.total,
            }
            for cut in found.cut
        ],
        "warnings": list(found.warnings),
    }


def paths_object(found: Sequence[GraphPath], warnings: Sequence[str]) -> dict[str, Any]:
    """The object of `graph path --json`."""
    return {
        "paths": [
            {
                "cost": round(path.cost, 6),
                "nodes": list(path.keys),
                "edges": [edge_object(step.edge) | {"forward": step.forward} for step in path.steps],
            }
            for path in found
        ],
        "warnings": list(warnings),
    }


def impact_object(found: Impact) -> dict[str, Any]:
    """The object of `graph impact --json` and `graph uses --json`."""
    return {
        "of": list(found.of),
        "effect": found.effect.value,
        "parts": found.parts,
        "total": found.total,
        "kinds": found.counts,
        "groups": found.groups,
        "nodes": [
            {
                "key": node.key,
                "kind": node.kind.value,
                "name": node.name,
                "group": node.group.value,
                "distance": node.distance,
                "confidence": node.confidence.value,
                "places": [place_object(place) for place in node.places],
                "via": edge_object(node.via),
            }
            for node in found.reached
        ],
    }


def _node_object(node: Neighbour) -> dict[str, Any]:
    return {
        "key": node.key,
        "kind": node.kind.value,
        "name": node.name,
        "distance": node.distance,
        "score": round(node.score, 6),
        "signature": node.signature,
        "places": [place_object(place) for place in node.places],
        "via": None if node.via is None else edge_object(node.via),
    }


def show_neighbourhood(output: Output, found: Neighbourhood, footer: str) -> None:
    """Shows a tree: every node below the node that led to it, the most relevant first."""
    below: dict[str, list[Neighbour]] = {}
    for node in found.nodes:
        below.setdefault("" if node.via is None else _other_end(node.via, node.key), []).append(node)
    waiting = [(0, node) for node in reversed(below.get("", ()))]
    while waiting:
        level, node = waiting.pop()
        output.line(*_tree_line(level, node))
        waiting += [(level + 1, child) for child in reversed(below.get(node.key, ()))]
    output.line((f"{said_graph(len(found.nodes), len(found.edges))} between them", "dim"), *_left_out(found))
    for cut in found.cut[:_SHOWN_CUT]:
        output.line((f"hub: {cut.followed} of {cut.total} {cut.relation} ({cut.direction}) of {cut.key}", "dim"))
    if len(found.cut) > _SHOWN_CUT:
        output.line((f"and {len(found.cut) - _SHOWN_CUT} more hubs", "dim"))
    output.line((footer, "dim"))


def _left_out(found: Neighbourhood) -> list[Part]:
    return [(f"; {found.left_out} less relevant ones left out, see --nodes", "dim")] if found.left_out else []


def _tree_line(level: int, node: Neighbour) -> list[Part]:
    line: list[Part] = ["  " * level]
    if node.via is not None:
        line.append((f"{_arrow(node.via, node.key)}  ", "dim"))
    return [*line, (node.key, "bold"), *_where(node.places), (f"  {node.score:.2f}{_doubt(node.via)}", "dim")]


def show_paths(output: Output, found: Sequence[GraphPath], footer: str) -> None:
    for number, path in enumerate(found, 1):
        output.line((f"{number}  {counted(len(path.steps), 'step')}, cost {path.cost:.1f}", "dim"))
        output.line("   ", (path.start, "bold"))
        for step in path.steps:
            arrow = _arrow(step.edge, step.leads_to)
            where = f"  {step.edge.path}:{step.edge.line}" if step.edge.path else ""
            output.line((f"   {arrow}  ", "dim"), (step.leads_to, "bold"), (where, "path"), (_doubt(step.edge), "dim"))
    output.line((footer, "dim"))


def show_impact(output: Output, found: Impact, footer: str) -> None:
    parts = f" and the {found.parts - len(found.of)} declarations in it" if found.parts > len(found.of) else ""
    output.line((", ".join(found.of), "bold"), (f"{parts}: {found.total} {_TITLES[found.effect]}", "dim"))
    for group in ImpactGroup:
        members = [node for node in found.reached if node.group is group]
        total = found.groups.get(group.value, 0)
        if not total:
            continue
        listed = f", {len(members)} listed" if len(members) < total else ""
        output.line()
        output.line((f"{group.value} ({total}{listed})", "bold"))
        for node in members:
            output.line(*_impact_line(node))
    output.line()
    output.line((f"{named_counts(found.counts) or 'nothing'}", "dim"))
    _note_calls(output, found.of[0])
    output.line((footer, "dim"))


def _note_calls(output: Output, key: str) -> None:
    """That there may be more, of a language whose calls the graph does not all have."""
    if language := language_without_resolver(key):
        question = output.told(f'rag-assets ask "who uses {short_name(key)}?"')
        output.line((f"{calls_known_note(language)}; where else code names it: {question}", "dim"))


def overview_object(counts: GraphCounts, found: AreaMap) -> dict[str, Any]:
    """The object of `graph overview --json`."""
    return {
        "nodes": counts.nodes,
        "edges": counts.edges,
        "kinds": dict(by_count(counts.kinds)),
        "relations": dict(by_count(counts.relations)),
        "confidences": dict(by_count(counts.confidences)),
        "undeclared": dict(by_count(counts.undeclared)),
        "unresolved_share": round(counts.unresolved_share, 6),
        "hubs": [{"key": hub.key, "kind": hub.kind, "edges": hub.degree} for hub in counts.hubs],
        "areas": [{"path": area.path, "nodes": area.nodes} for area in found.areas],
        "uses": [{"source": source, "target": target, "edges": edges} for source, target, edges in found.uses],
    }


def show_overview(output: Output, counts: GraphCounts, found: AreaMap, footer: str) -> None:
    unresolved = f"; {counts.unresolved_share:.1%} of all edges lead to what is not declared, or by name only"
    output.line(
        (f"{counted(counts.nodes, 'node')}, {counted(counts.edges, 'edge')}", "bold"),
        (unresolved if counts.edges else "", "dim"),
    )
    for title, listed in (("kinds", counts.kinds), ("relations", counts.relations), ("certainty", counts.confidences)):
        if listed:
            output.line((f"{title:<10}", "dim"), named_counts({name: f"{n:,}" for name, n in by_count(listed)}))
    _show_areas(output, found)
    if counts.hubs:
        output.line()
        output.line(("hubs", "bold"))
    for hub in counts.hubs[:_SHOWN_HUBS]:
        output.line((f"{hub.degree:>8,}  ", "dim"), hub.key)
    output.line((footer, "dim"))


def _show_areas(output: Output, found: AreaMap) -> None:
    if not found.areas:
        return
    output.line()
    output.line(("folders, users above what they use", "bold"))
    width = max(len(area.path) for area in found.areas)
    for area in found.areas:
        uses = [f"{target} {edges:,}" for source, target, edges in found.uses if source == area.path]
        arrow = f"  → {abridged(uses, _SHOWN_USES)}" if uses else ""
        output.line((f"{area.path:<{width}}", "path"), (f"{area.nodes:>8,} nodes", "dim"), arrow)


def _impact_line(node: Reached) -> list[Part]:
    doubt = "" if node.confidence is Confidence.RESOLVED else f"  {node.confidence}"
    via = f"  {_arrow(node.via, node.key)} {short_name(_other_end(node.via, node.key))}"
    return [(f"{node.distance:>3}  ", "dim"), node.key, *_where(node.places), (f"{via}{doubt}", "dim")]


def _arrow(edge: GraphEdge, reached: str) -> str:
    """`→ Calls` where the edge leads to the node that was reached, `← Calls` where it comes from there."""
    return f"→ {edge.relation}" if edge.target == reached else f"← {edge.relation}"


def _other_end(edge: GraphEdge, key: str) -> str:
    return edge.source if edge.target == key else edge.target


def _where(places: Sequence[NodeLocation]) -> list[Part]:
    if not places:
        return []
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    return ["  ", (f"{places[0].path}:{places[0].line_start}-{places[0].line_end}", "path"), (more, "dim")]


def _doubt(edge: GraphEdge | None) -> str:
    return "" if edge is None or edge.confidence is Confidence.RESOLVED else f"  {edge.confidence}"


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
AsSvg = Annotated[bool, typer.Option("--svg", help="A picture on stdout, of the 60 nearest nodes.")]
Depth = Annotated[int, typer.Option(min=1, max=20, help="How many steps.")]
Listed = Annotated[int, typer.Option("--nodes", min=1, max=10_000, help="How many nodes to list.")]
ListedOfEach = Annotated[int, typer.Option("--nodes", min=1, max=10_000, help="How many nodes of each group to list.")]


@graph_app.command(_DEFAULT)
def around(
    context: typer.Context,
    symbols: Annotated[
        list[str], typer.Argument(metavar="SYMBOL", help=f"{_NODE} Several are starting points together.")
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
    as_svg: AsSvg = False,
) -> None:
    """Show what is around nodes, the most relevant first.

    Example: rag-assets graph around RefundManager --relations Calls,CalledBy --depth 3
    """
    form = GraphFormat(as_json, as_mermaid, as_svg)
    steps = allow_list(named_in(relations, "--relations", _NAMES_NOTHING), _restricting(direction))
    wanted = _kinds(kinds)
    output = session_of(context).output
    with _opened(context, label) as (index, graph):
        try:
            entries = [graph.keys[node] for node in _named(graph, symbols)]
        except NotFound as error:
            command = next(iter(context.meta.get(_MISTYPED, ())), None)
            if command is None:
                raise
            raise NotFound(f"{error}\nor did you mean: rag-assets graph {command}?") from error
        most = nodes + len(entries) - 1  # the overloads of one name count as one
        found = neighbourhood(graph, entries, steps=steps, depth=depth, nodes=most, kinds=wanted)
        _warn(output, found.warnings)
        form.write(
            output, index, found, of_neighbourhood, picture.of_neighbourhood, neighbourhood_object, show_neighbourhood
        )


@graph_app.command()
def callers(
    context: typer.Context,
    symbols: Annotated[list[str], typer.Argument(metavar="SYMBOL", help=_NODE)],
    label: LabelOption = None,
    depth: Depth = 2,
    nodes: Listed = 200,
    as_json: AsJson = False,
    as_mermaid: AsMermaid = False,
    as_svg: AsSvg = False,
) -> None:
    """Show who calls, makes, reads or sets something, also through what it implements; of a type who is given it,
    derives from it or declares something of it.

    Example: rag-assets graph callers RefundManager.RefundAsync
    """
    form = GraphFormat(as_json, as_mermaid, as_svg)
    output = session_of(context).output
    with _opened(context, label) as (index, graph):
        entries = [graph.keys[node] for node in _named(graph, symbols)]
        found = callers_of(graph, entries, depth=depth, nodes=nodes + len(entries))
        form.write(
            output, index, found, of_neighbourhood, picture.of_neighbourhood, neighbourhood_object, show_neighbourhood
        )
        if not (as_json or as_mermaid or as_svg):
            _note_calls(output, entries[0])


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
    as_svg: AsSvg = False,
) -> None:
    """Show how A leads to B, the most relevant paths first. Exit code 4 when there is no path.

    Example: rag-assets graph path 'POST /api/refunds' dbo.Refunds
    """
    form = GraphFormat(as_json, as_mermaid, as_svg)
    steps = allow_list(named_in(relations, "--relations", _NAMES_NOTHING), _restricting(direction))
    output = session_of(context).output
    with _opened(context, label) as (index, graph):
        found = paths(graph, _named(graph, [start]), _named(graph, [end]), steps=steps, hops=depth, count=count)
        warnings = check_against(steps, graph.relations)
        _warn(output, warnings)
        form.write(
            output, index, found, of_paths, picture.of_paths, partial(paths_object, warnings=warnings), show_paths
        )
    if not found:
        output.note(f"nothing connects {start} and {end} within {depth} steps of these relations")
        raise typer.Exit(NOTHING_FOUND)


def _add_effect(name: str, effect: Effect, told: str) -> None:
    """Adds a command that follows an effect."""

    @graph_app.command(name, help=told)
    def follow(
        context: typer.Context,
        symbols: Annotated[list[str], typer.Argument(metavar="SYMBOL", help=_NODE)],
        label: LabelOption = None,
        depth: Depth = 8,
        nodes: ListedOfEach = 200,
        as_json: AsJson = False,
        as_mermaid: AsMermaid = False,
        as_svg: AsSvg = False,
    ) -> None:

        form = GraphFormat(as_json, as_mermaid, as_svg)
        output = session_of(context).output
        with _opened(context, label) as (index, graph):
            found = impact(graph, _named(graph, symbols), effect=effect, depth=depth, limit=nodes)
            form.write(output, index, found, of_impact, picture.of_impact, impact_object, show_impact)


_add_effect(
    "impact",
    Effect.AFFECTED,
    "Show what a change affects: endpoints, tables, tests, documents and code, by distance.\n\n"
    "Example: rag-assets graph impact RefundManager.RefundAsync",
)
_add_effect(
    "uses",
    Effect.NEEDED,
    "Show what a node needs, from an HTTP route down to its tables, by distance.\n\n"
    "Example: rag-assets graph uses 'POST /api/refunds'",
)


@graph_app.command()
def overview(
    context: typer.Context,
    label: LabelOption = None,
    as_json: AsJson = False,
) -> None:
    """Show what the graph consists of: kinds of nodes, relations, hubs, and which folders use which.

    Example: rag-assets graph overview
    """
    output = session_of(context).output
    with _opened(context, label) as (index, graph):
        counts, areas = counts_of(index), area_map(graph)
        if as_json:
            output.json(origin(index) | overview_object(counts, areas))
        else:
            show_overview(output, counts, areas, footer(index))


@graph_app.command("list")
def list_nodes(
    context: typer.Context,
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="endpoint, table, view, entity, procedure, trigger, migration, package; or the last words of the "
            "names of types, such as handler, or of what they derive from; or a kind of node in capitals, such as "
            "METHOD.",
        ),
    ],
    about: Annotated[
        str, typer.Option(metavar="WORDS", help="Only those whose name or path has most of these words.")
    ] = "",
    label: LabelOption = None,
    as_json: AsJson = False,
) -> None:
    """List all nodes of a kind, the product first, each with its place. Exit code 4 when there are none.

    Example: rag-assets graph list endpoint --about orders
    """
    from rag_assets.answer.plans.listing import nodes_listed, parts_named
    from rag_assets.answer.question_analysis import words_asked_of

    output = session_of(context).output
    noun = kind if kind in KINDS else singular(kind.strip().lower())
    with _opened(context, label) as (index, graph):
        found = nodes_listed(graph, noun, words_asked_of(index.parts, about), parts_named(graph, about))
        if as_json:
            nodes = [
                {
                    "key": one.key,
                    "kind": key_kind(one.key).value,
                    "name": one.name,
                    "path": one.path,
                    "line": one.line,
                }
                for one in found
            ]
            output.json(origin(index) | {"of": noun, "total": len(found), "nodes": nodes})
        else:
            for one in found:
                output.line((one.name, "bold"), "  ", (f"{one.path}:{one.line}", "path"))
            output.line((f"{len(found):,} in all", "dim"))
            output.line((footer(index), "dim"))
    if not found:
        output.note(f"nothing is called {noun}; what there is: rag-assets graph overview")
        raise typer.Exit(NOTHING_FOUND)


@contextmanager
def _opened(context: typer.Context, label: str | None) -> Iterator[tuple[Index, Graph]]:
    session = session_of(context)
    home = session.home()
    name = chosen_label(home, label)
    with open_index(name, home=home.root, config=session.config_option, clearance=session.clearance()) as index:
        graph = graph_of(index)
        try:
            yield index, graph
        except (IndexError, MemoryError, OverflowError, ValueError):  # as numbers out of range show themselves
            directory = index.generation.seen_by(index.clearance, index.generation.graph)
            if directory is not None:
                check(directory)  # says which file is damaged, where one is
            raise


def _named(graph: Graph, symbols: Sequence[str]) -> list[int]:
    if not all(symbol.strip() for symbol in symbols):
        raise typer.BadParameter("a name is empty; see what there is with: rag-assets graph overview")
    return list(dict.fromkeys(node for symbol in symbols for node in nodes_named(graph, symbol)))


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
