"""Graph: what is around a node, who calls it, what it needs, what a change of it affects, how it leads to another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from typing import Any

from rag_assets.contracts.evidence import as_place, lines_of
from rag_assets.contracts.graph import Confidence, GraphEdge, NodeType, Relation
from rag_assets.errors import WrongQuestion
from rag_assets.graph.callers import callers
from rag_assets.graph.csr_graph import Graph, NodeLocation
from rag_assets.graph.impact import Effect, Reached, calls_known_note, groups_of, impact, language_without_resolver
from rag_assets.graph.lookup import NotFound, NothingCalled, name_of, named, nodes_named, short_name, simple_name
from rag_assets.graph.neighbourhood import neighbourhood
from rag_assets.graph.paths import DEFAULT_HOPS, paths
from rag_assets.graph.relations import ALL_STEPS, WalkStep
from rag_assets.identifiers import identifier_words
from rag_assets.printable import abridged
from rag_assets.search.graph_context import graph_of
from rag_assets.search.index import LabelIndex
from rag_assets.search.result_objects import edge_object, place_object
from rag_assets.search.source_lines import SourceReader, TextVersion
from rag_assets.search.touched_nodes import TOUCHED, Touched
from rag_assets.serving.budget import joined_within
from rag_assets.serving.index_age import IndexAge
from rag_assets.serving.requests import GraphQuery, GraphRequest

_NO_NEED = "neither needs the other; this is what else connects them"
_SHOWN_PLACES = 5
_MOST_WRITTEN = 8
_MOST_FILES = 30
_MOST_OF_ONE = 4
_MEMBERS = frozenset({NodeType.METHOD, NodeType.PROPERTY})
_DISPATCH = (WalkStep(Relation.IMPLEMENTS), WalkStep(Relation.OVERRIDES))
_DECLARED = frozenset({NodeType.TYPE, NodeType.METHOD, NodeType.PROPERTY})


_NOTHING_TOLD: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class GraphRow:
    """A node that was reached, by the edge that led to it. `group` is what kind of thing it is to a reader, `more` how
    many others of its group and file are not listed."""

    key: str
    group: Touched
    distance: int
    confidence: Confidence
    places: tuple[NodeLocation, ...]
    via: GraphEdge | None = None
    more: int = 0

    @property
    def path(self) -> str:
        return self.places[0].path if self.places else ""

    def line(self, before: str = "", told: Mapping[str, str] = _NOTHING_TOLD) -> str:
        """`2  Orders.Cancel  src/Orders.cs:12-30  → Calls at src/Api.cs:8  probable`; without the path where it is that
        of the line `before`, and with the file name alone of an edge in a file that was `told`, by path."""
        said = [f"{self.distance:>2}", short_name(self.key)]
        if self.places:
            more = f" and {len(self.places) - 1} more" if len(self.places) > 1 else ""
            place = place_of(self.places[0])
            said.append(f"{place.removeprefix(self.path) if self.path == before else place}{more}")
        if self.via is not None:
            said.append(edge_of(self.via, self.key, self.path, told))
        if self.confidence is not Confidence.RESOLVED:
            said.append(self.confidence.value)
        if self.more:
            said.append(f"and {self.more} more of this file")
        return "  ".join(said)


@dataclass(frozen=True, slots=True)
class GraphFound:
    """What a walk found. `paths` are those of a path, whose rows are its nodes; `total` is of all that was reached, of
    which `rows` are some of each group, and `totals` are of the groups; `unknown` says why there may be more than was
    found, '' where all is, and `written` where the name is written then. `moved` are files of rows that the work
    tree has changed, `declared` the places of the first start. `edges` are those between what is around a node,
    besides those that led there."""

    starts: tuple[str, ...]
    rows: tuple[GraphRow, ...]
    total: int
    paths: tuple[tuple[GraphRow, ...], ...] = ()
    totals: Mapping[Touched, int] = field(default_factory=dict)
    unknown: str = ""
    written: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    declared: tuple[NodeLocation, ...] = ()
    edges: tuple[GraphEdge, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphReply:
    """What a walk found, and how old it is."""

    request: GraphRequest
    label: str
    found: GraphFound
    age: IndexAge

    def as_object(self) -> dict[str, Any]:
        found = self.found
        return {
            "label": self.label,
            "commit": self.age.freshness.indexed,
            "start": list(found.starts),
            "relation": self.request.relation.value,
            "total": found.total,
            "totals": {group.value: count for group, count in found.totals.items()},
            "unknown": found.unknown or None,
            "written": list(found.written),
            "moved": list(found.moved),
            "nodes": [_row_object(row) for row in found.rows],
            "paths": [[_row_object(row) for row in path] for path in found.paths],
        }

    def text(self, max_tokens: int) -> str:
        found = self.found
        at = "".join(f"  {place_of(place)}" for place in found.declared[:1])
        head = [self.age.line(self.label), f"{self.request.relation.value} of {', '.join(found.starts)}{at}"]
        if found.paths and found.unknown:
            head.append(found.unknown)
        if not found.rows:
            head.append(f"unknown, because {found.unknown}" if found.unknown else "none")
        body: list[str] = []
        more = "+" if found.total > sum(found.totals.values()) else ""  # what was left out is of no known group
        own = {place.path for place in found.declared[:1]}
        names = _file_names({row.path for row in found.rows} | own)
        told = {path: names[path] for path in own & names.keys()}
        for row in chain(*found.paths):
            body.append(row.line(told=told))
            told |= {row.path: names[row.path]} if row.path in names else {}
        if not found.paths:
            for group, rows in groupby(sorted(found.rows, key=lambda row: row.group), key=lambda row: row.group):
                listed, before = list(rows), ""
                total = found.totals.get(group, 0)
                body.append(f"{group.value} ({f'{len(listed)} of ' * (total > len(listed))}{total}{more})")
                for row in listed:
                    body.append(row.line(before, told))
                    before = row.path
                    told |= {before: names[before]} if before in names else {}
        left = found.total - len(found.rows)
        foot = [f"{left} more; raise limit, or narrow with only"] if left > 0 else []
        foot += [f"not all, because {found.unknown}"] if found.rows and found.unknown and not found.paths else []
        also = "also " * bool(found.rows)
        foot += [f"{also}written in {abridged(found.written, _MOST_WRITTEN)}"] if found.written else []
        moved = abridged(found.moved, _SHOWN_PLACES)
        foot += [f"the work tree has changed {moved}: its lines may have moved"] if found.moved else []
        return joined_within(head, body, foot, max_tokens, "… {} more lines; raise max_tokens, or narrow with only")


def _file_names(paths: Collection[str]) -> dict[str, str]:
    """The names of the files that no other path ends with."""
    count = Counter(path.rpartition("/")[2] for path in paths)
    return {path: name for path in paths if count[name := path.rpartition("/")[2]] == 1}


def walk(index: LabelIndex, request: GraphRequest) -> GraphFound:
    """Raises GraphError where there is no graph, NotFound with the candidates for a name that is none or several, and
    WrongQuestion for a path without its end."""
    if request.start is None:
        raise WrongQuestion("start is missing: name a symbol, table, route, file or line; or since, a commit")
    if (request.to is None) == (request.relation is GraphQuery.PATH):
        said = "a path needs `to`, where it ends" if request.to is None else "`to` is the end of a path only"
        raise WrongQuestion(said)
    graph = graph_of(index)
    starts = _named(index, graph, request.start)
    keys = tuple(graph.keys[node] for node in starts)
    if request.to is not None:
        return _paths(graph, request, starts, keys)
    edges: tuple[GraphEdge, ...] = ()
    if request.relation in (GraphQuery.IMPACT, GraphQuery.USES):
        rows, left_out = _effect(graph, request, starts), 0
    else:
        rows, edges, left_out = _around(graph, request, keys)
    wanted = [row for row in rows if not request.only or row.group in request.only]
    unknown = _why_unknown(graph, starts, request, is_empty=not wanted)
    rows_now = _of_each_group(wanted, request.limit)
    return GraphFound(
        keys,
        rows_now,
        len(wanted) + (0 if request.only else left_out),
        totals=Counter(row.group for row in wanted),
        unknown=unknown,
        written=() if left_out else _written(index, graph, starts, rows, request, unknown),
        edges=edges,
        moved=_moved(index, rows_now),
        declared=graph.places(starts[0]),
    )


def _named(index: LabelIndex, graph: Graph, start: str) -> tuple[int, ...]:
    """What a start means, a line as the work tree has it. Raises NotFound."""
    place = _now_at(index, start)
    try:
        return nodes_named(graph, place or start)
    except NothingCalled as error:
        reader = SourceReader(index)
        declared = [one for one in reader.declaring(start) if one[0].version is TextVersion.WORK_TREE]
        said = str(error)
        if place or declared:
            at = "".join(f" in {lines_of(file.path, one.start_line, one.end_line)}" for file, one in declared[:1])
            said = f"{start} is declared{at} in the work tree; the graph is that of the indexed commit"
        name = start.rpartition(".")[2] if declared else start
        places = reader.lines_naming(simple_name(place) if place else name)
        if places:  # it is there, so what is called like it is not meant
            said = f"{said.partition('; the nearest')[0]}\nit is written in {abridged(places, _MOST_WRITTEN)}"
        raise NothingCalled(said) from None
    except NotFound:
        candidates = named(graph, start).candidates
        if not _is_one_contract(graph, candidates):
            raise
        return candidates


def _is_one_contract(graph: Graph, nodes: Sequence[int]) -> bool:
    """Whether members are those of an interface and of what implements it, which are called one for the other."""
    if len(nodes) > _MOST_OF_ONE or not all(graph.kind(node) in _MEMBERS for node in nodes):
        return False
    around = neighbourhood(graph, [graph.keys[nodes[0]]], steps=_DISPATCH, depth=len(nodes))
    return {graph.keys[node] for node in nodes} <= {node.key for node in around.nodes}


def _now_at(index: LabelIndex, start: str) -> str:
    """The key of what is declared around a line of a file that is another one in the work tree; '' for others."""
    path, _, lines = as_place(start).replace("\\", "/").rpartition(":")
    number = lines.partition("-")[0]
    if index.overlay is None or not number.isdecimal():
        return ""
    file = index.overlay.files.get(path.removeprefix("./"))
    if file is None:
        return ""
    from rag_assets.graph.changed_nodes import declared_spans, keys_at  # an agent waits for the start of its server

    return next(iter(keys_at(list(declared_spans(file.segments, file.path)), [int(number)], file.path)))


def _moved(index: LabelIndex, rows: Sequence[GraphRow]) -> tuple[str, ...]:
    """The files of rows that the work tree has changed."""
    changed = index.overlay.masked if index.overlay is not None else frozenset[str]()
    return tuple(dict.fromkeys(row.path for row in rows if row.path in changed))


def _of_each_group(rows: Sequence[GraphRow], limit: int) -> tuple[GraphRow, ...]:
    """As many rows of each group as there is room for: 60 tests must not hide the code. Of equally distant ones some of
    each file; the last row of a file says how many more it has."""
    in_file, behind = Counter[tuple[int, str]](), Counter[Touched]()
    level, spread = 0, []
    for at, row in enumerate(rows):
        level += at > 0 and row.distance != rows[at - 1].distance
        spread.append((level, in_file[level, row.path], at))
        in_file[level, row.path] += 1
    turns = []
    for _, _, at in sorted(spread):
        turns.append((behind[rows[at].group], at))
        behind[rows[at].group] += 1
    listed = {at for _, at in sorted(turns)[:limit]}
    left = Counter((row.group, row.path) for at, row in enumerate(rows) if at not in listed and row.path)
    last = {(rows[at].group, rows[at].path): at for at in sorted(listed)}
    return tuple(
        replace(row, more=left[row.group, row.path]) if last[row.group, row.path] == at else row
        for at, row in enumerate(rows)
        if at in listed
    )


def _written(
    index: LabelIndex,
    graph: Graph,
    starts: Sequence[int],
    rows: Sequence[GraphRow],
    request: GraphRequest,
    unknown: str,
) -> tuple[str, ...]:
    """Where the name of what is called is written in files that no row is of: a template, a binding, settings, a
    document, code whose types are not known. Where the graph knows its users, not of a word that says little, nor of
    one that is everywhere."""
    is_asked = request.relation in (GraphQuery.CALLERS, GraphQuery.IMPACT)
    name = simple_name(graph.keys[starts[0]])
    is_telling = graph.kind(starts[0]) in _DECLARED and len(identifier_words(name)) > 1
    is_complete = request.relation is GraphQuery.IMPACT or bool(request.only) or not is_telling
    if not is_asked or (is_complete and not unknown):
        return ()
    known = {row.path for row in rows} | {row.via.path for row in rows if row.via is not None}
    if not unknown:
        known |= {place.path for node in starts for place in graph.places(node)}
    known -= index.overlay.masked if index.overlay is not None else set()
    lines = [line for line in SourceReader(index).lines_naming(name) if line.rpartition(":")[0] not in known]
    return tuple(lines) if (unknown and not rows) or (is_telling and len(lines) <= _MOST_FILES) else ()


def _paths(graph: Graph, request: GraphRequest, starts: Sequence[int], keys: tuple[str, ...]) -> GraphFound:
    """How the start comes to need the end, or the end the start; where neither does, what else connects them."""
    assert request.to is not None
    hops = max(request.depth, DEFAULT_HOPS)
    ends = nodes_named(graph, request.to)
    needed = _needed_by(graph, starts, ends, hops) or _needed_by(graph, ends, starts, hops)[::-1]
    if needed:
        return GraphFound(keys, needed, len(needed), (needed,))
    found = paths(graph, starts, ends, steps=ALL_STEPS, hops=hops, count=1)
    made = []
    for path in found:
        edges = [None, *(step.edge for step in path.steps)]
        groups = _groups(graph, path.keys)
        made.append(
            tuple(
                GraphRow(key, groups[key], distance, _confidence(edge), graph.places(graph.keys.find(key)), edge)
                for distance, (key, edge) in enumerate(zip(path.keys, edges, strict=True))
            )
        )
    rows = made[0] if made else ()
    unknown = f"nothing connects them within {hops} steps; what is called by reflection has no edge"
    return GraphFound(keys, rows, len(rows), tuple(made), unknown=_NO_NEED if made else unknown)


def _needed_by(graph: Graph, starts: Sequence[int], ends: Sequence[int], hops: int) -> tuple[GraphRow, ...]:
    """The shortest way on which nodes, or what they contain, need one of the ends; none where they do not."""
    found = impact(graph, starts, effect=Effect.NEEDED, depth=hops, limit=len(graph))
    reached = {node.key: node for node in found.reached}
    wanted = [reached[key] for key in (graph.keys[node] for node in ends) if key in reached]
    if not wanted:
        return ()
    at: Reached | None = min(wanted, key=lambda node: node.distance)
    way, begin = list[Reached](), ""
    while at is not None:
        way.append(at)
        begin = at.via.source if at.via.target == at.key else at.via.target
        at = reached.get(begin)
    first = GraphRow(begin, Touched.CODE, 0, Confidence.RESOLVED, graph.places(graph.keys.find(begin)))
    rest = (
        GraphRow(node.key, TOUCHED[node.group], distance, node.via.confidence, node.places, node.via)
        for distance, node in enumerate(reversed(way), 1)
    )
    return (first, *rest)


def _effect(graph: Graph, request: GraphRequest, starts: Sequence[int]) -> list[GraphRow]:
    effect = Effect.AFFECTED if request.relation is GraphQuery.IMPACT else Effect.NEEDED
    depth = max(request.depth, 6) if request.relation is GraphQuery.IMPACT else request.depth
    reached = impact(graph, starts, effect=effect, depth=depth).reached
    if effect is Effect.NEEDED:  # what a method reads of its request must not hide what handles it
        reached = tuple(sorted(reached, key=lambda node: node.kind is NodeType.PROPERTY))
    made = {
        (node.via.path, node.via.line, name_of(node.key).segments) for node in reached if node.kind is NodeType.TYPE
    }
    return [
        GraphRow(node.key, TOUCHED[node.group], node.distance, node.confidence, node.places, node.via)
        for node in reached
        if (node.via.path, node.via.line, name_of(node.key).segments[:-1])
        not in made  # the constructor beside its type
    ]


def _around(
    graph: Graph, request: GraphRequest, keys: Sequence[str]
) -> tuple[list[GraphRow], tuple[GraphEdge, ...], int]:
    """What is around nodes, the edges between, and how many more were reached."""
    most = len(keys) + max(request.limit * 4, 200)  # the overloads that are asked for leave room for the others
    if request.relation is GraphQuery.CALLERS:
        found = callers(graph, keys, depth=request.depth, nodes=most)
    else:
        found = neighbourhood(graph, keys, steps=ALL_STEPS, depth=request.depth, nodes=most)
    groups = _groups(graph, [node.key for node in found.nodes])
    inside = {(Relation.CONTAINS, key) for key in keys}
    rows = [
        GraphRow(
            node.key,
            groups[node.key],
            node.distance,
            _confidence(node.via),
            node.places,
            node.via,
        )
        for node in found.nodes
        if node.distance
    ]
    if request.relation is GraphQuery.CALLERS:
        rows.sort(key=lambda row: row.distance)
    elif all(key.endswith(f"|{NodeType.TYPE.value}") for key in keys):  # the tool for a symbol lists its members
        rows = [row for row in rows if row.via is None or (row.via.relation, row.via.source) not in inside]
    return rows, found.edges, found.left_out


def _groups(graph: Graph, keys: Sequence[str]) -> dict[str, Touched]:
    groups = groups_of(graph, [graph.keys.find(key) for key in keys])
    return {key: TOUCHED[group] for key, group in zip(keys, groups, strict=True)}


def _why_unknown(graph: Graph, starts: Sequence[int], request: GraphRequest, *, is_empty: bool) -> str:
    """Why there may be more than was found: of some languages no use is known, and of what is only referred to nothing;
    '' where the index has all."""
    if is_empty and not any(graph.places(node) for node in starts):
        return "it is declared outside of this index"
    path = next((place.path for place in graph.places(starts[0])), "")
    language = language_without_resolver(graph.keys[starts[0]], path)
    if request.relation is GraphQuery.AROUND or not language:
        return ""
    return calls_known_note(language)


def _confidence(edge: GraphEdge | None) -> Confidence:
    return Confidence.RESOLVED if edge is None else edge.confidence


def place_of(place: NodeLocation) -> str:
    return lines_of(place.path, place.line_start, place.line_end)


def edge_of(edge: GraphEdge, reached: str, path: str = "", told: Mapping[str, str] = _NOTHING_TOLD) -> str:
    """`→ Calls at src/Api.cs:8` where the edge leads to what was reached, `← …` where it comes from there; of a `path`
    that was named before only the line, of another that was `told` what it is called there."""
    arrow = "→" if edge.target == reached else "←"
    at = f":{edge.line}" if edge.path == path else f"{told.get(edge.path, edge.path)}:{edge.line}"
    return f"{arrow} {edge.relation.value}" + (f" at {at}" if edge.path else "")


def _row_object(row: GraphRow) -> dict[str, Any]:
    return {
        "key": row.key,
        "group": row.group.value,
        "distance": row.distance,
        "confidence": row.confidence.value,
        "places": [place_object(place) for place in row.places],
        "via": None if row.via is None else edge_object(row.via),
    }
