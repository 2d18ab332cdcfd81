"""What the graph of an index says for each section of an artifact: projects and entry points, which folder uses which,
central types, endpoints, data, what is risky and what is left to do (E17).

Reads the graph as far as the clearance of the reader reaches. About a subject, nothing but what the subject touches:
what it needs, and what it affects.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from rag_assets.answer.artifact.findings import Finding, Survey, named, title
from rag_assets.answer.artifact.graph_columns import GraphColumns, Mask, nodes_of
from rag_assets.answer.artifact.structure import area_uses, central_types, entry_points, exposed_endpoints
from rag_assets.answer.artifact.templates import Material
from rag_assets.answer.plans.code_lines import readme_points
from rag_assets.contracts.evidence import Evidence
from rag_assets.contracts.graph import Confidence, NodeType, Relation
from rag_assets.graph.csr_graph import IN, KINDS, Graph, Numbers
from rag_assets.graph.diagram import of_folders
from rag_assets.graph.impact import Effect, ImpactGroup, impact, in_test_file
from rag_assets.graph.lookup import name_of, short_name
from rag_assets.index.vectors.filters import SearchFilters
from rag_assets.languages.detection import WITHOUT_RESOLVER
from rag_assets.search.index import LabelIndex

MOST_ENDPOINTS = 40
"""Of one list. An API of that many routes is still read through; the title says how many there are."""
_MOST_USES = 10
_MOST_TYPES = 8
_MOST_PROJECTS = 12
_MOST_ENTRY_POINTS = 6
_MOST_KINDS = 8
_MOST_MESSAGES = 12
_MOST_STORES = 8
_MOST_ACCESSES = 2  # writers, and readers, of one store
_MOST_RISKS = 8
_MOST_UNTESTED = 10
_MOST_TESTS = 10
_OF_A_CONTROLLER = 12
_OF_A_KIND = 3  # named examples
_OF_A_TYPE = 2  # risky members
_LOOKED_AT = 40
"""Members whose impact is computed, those with most callers first: 3 ms each."""
_ENDPOINTS_LOOKED_AT = 120
_TEST_FILES_READ = 400
"""Tests that call a route say it in a text, which no edge shows."""
_LEAST_DEPENDANTS = 2

_SAYS_PROJECT = re.compile(
    r"<Project\b.*Sdk=|<TargetFramework|^\s*\"name\"\s*:|^name\s*=|^module\s|<artifactId>|\bsetup\(|^\s*plugins\s*\{"
)
_PLAIN_KINDS = frozenset(
    {"Configuration", "Document", "Markdown", "Other", "Test", "Program", "ResourceFile", "Transcript", "SqlObject"}
)
"""Kinds of sections that say how a file is written, not what it is for."""

_STORES = (NodeType.TABLE, NodeType.VIEW, NodeType.TABLE_OR_VIEW, NodeType.ENTITY, NodeType.DBSET)
_TABLES = (NodeType.TABLE, NodeType.VIEW, NodeType.TABLE_OR_VIEW)
_MEMBERS = (NodeType.METHOD, NodeType.PROC, NodeType.FUNC)
_DEPENDANTS = (ImpactGroup.CODE, ImpactGroup.ENDPOINTS)
_RISKY = "Much depends on it, and no test is known"
_RISKY_WITHOUT_TESTS = "Much depends on it, and the index has no tests"
_NOT_PUBLIC = re.compile(r"\b(?:private|protected|internal)\b")
_PARAMETER = re.compile(r"[{:<\[*][^/]*")
_SHORTEST_ROUTE = 4  # characters of a route that are looked for in tests


def survey(index: LabelIndex, graph: Graph, subject: Sequence[Evidence] | None = None) -> Survey:
    """What the index says about everything, or about what a subject touches, which some evidence is about."""
    about = None if subject is None else nodes_of(graph, subject)
    columns = GraphColumns(index, graph, about)
    picture, uses = _folders(columns)
    features = [*_endpoints(columns), *_messages(columns)]
    findings = [*uses, *_central(columns), *features, *_data(columns)]
    findings += [*_risks(columns), *_untested(columns), *_tests(columns)]
    if about is None:
        findings += [] if features else _operations(columns)
        findings = [*_projects(columns), *_entry_points(columns), *_kinds(columns), *findings]
    else:
        findings = [*_declared(columns, about), *findings]
    readme = index.parts.shard().retrieve(readme_points(index) if about is None else [], index.scope()).values()
    also_read = [(one["Path"], one["StartLine"]) for one in readme] or [(path, 1) for path in columns.readmes]
    return Survey(tuple(findings), picture, tuple(also_read))


def _folders(columns: GraphColumns) -> tuple[str, list[Finding]]:
    """(the picture of projects or folders and how they use each other, the places that show it)."""
    areas, uses = area_uses(columns)
    if not uses:
        return "", []
    order = sorted({number for use in uses for number in (use.source, use.target)})
    numbers = {area: at for at, area in enumerate(order)}
    drawn = [(numbers[use.source], numbers[use.target], use.count) for use in uses]
    findings = []
    for use in uses[:_MOST_USES]:
        times = f"in {use.count:,} places" if use.count > 1 else "in one place"
        claim = f"{named(areas[use.source])} uses {named(areas[use.target])} {times}: "
        claim += f"{_maybe(use.confidence)}{_shown(columns, use.node)}"
        findings.append(Finding(Material.FOLDERS, claim, use.path, use.line, title("Who uses whom")))
    return of_folders([areas[area] for area in order], drawn), findings


def _central(columns: GraphColumns) -> Iterator[Finding]:
    for node, place in central_types(columns, _MOST_TYPES, _LEAST_DEPENDANTS):
        users, members = int(columns.users[node]), int(columns.members[node])
        of = f"used by {users:,} other files" if users > 1 else "used by one other file"
        claim = f"{_shown(columns, node)}, {of if users else f'{members:,} members'},"
        name = columns.graph.names[node]
        yield Finding(Material.CENTRAL, claim, place.path, place.line_start, title("Central types"), name=name)


def _declared(columns: GraphColumns, about: Collection[str]) -> Iterator[Finding]:
    """The types that the subject is declared in, those of the best evidence first."""
    nodes = [node for key in about if (node := columns.graph.find(key)) is not None]
    types = dict.fromkeys(int(columns.type_of[node]) for node in nodes)
    shown = [node for node in types if node >= 0 and columns.own[node]][:_MOST_TYPES]
    for node in shown:
        place = columns.place(node)
        if place is not None:
            name = columns.graph.names[node]
            heading = title("Where it is declared")
            yield Finding(Material.INVENTORY, _shown(columns, node), place.path, place.line_start, heading, name=name)


def _projects(columns: GraphColumns) -> Iterator[Finding]:
    heading = _counted("Projects", len(columns.projects), _MOST_PROJECTS)
    for path in sorted(columns.projects, key=lambda path: (path.count("/"), path))[:_MOST_PROJECTS]:
        folder, _, file = path.rpartition("/")
        name = file.rpartition(".")[0] if file.endswith("proj") else folder or file
        line = columns.line_of(path, _SAYS_PROJECT)
        yield Finding(Material.INVENTORY, f"Project {named(name)}", path, line or 1, heading)


def _entry_points(columns: GraphColumns) -> Iterator[Finding]:
    lines = entry_points(columns)
    heading = _counted("Entry points", len(lines), _MOST_ENTRY_POINTS)
    for path, line in lines[:_MOST_ENTRY_POINTS]:
        yield Finding(Material.INVENTORY, f"Entry point {named(path)}", path, line, heading)


def _kinds(columns: GraphColumns) -> Iterator[Finding]:
    """How many types of each kind there are, with the most used of them."""
    shard, scope = columns.index.parts.shard(), columns.index.scope()
    types = {name_of(columns.graph.keys[node]).symbol: node for node in columns.nodes(NodeType.TYPE).tolist()}
    found: list[tuple[int, str, list[int]]] = []
    for kind in shard.values("Kind", scope):
        if kind not in _PLAIN_KINDS:
            symbols = shard.values("Symbol", scope.narrowed(SearchFilters(kinds=(kind,))))
            known = [types[symbol] for symbol in symbols if symbol in types]
            placed = [node for node in reversed(columns.by_weight(known)) if columns.place(node)]
            by_name = {_shown(columns, node): node for node in placed}
            found += [(len(by_name), kind, list(by_name.values())[::-1])] if known else []
    for count, kind, known in sorted(found, key=lambda one: (-one[0], one[1]))[:_MOST_KINDS]:
        chosen = known[:_OF_A_KIND]
        places = [place for node in chosen if (place := columns.place(node)) is not None]
        if places:
            named = ", ".join(_shown(columns, node) for node in chosen)
            claim = f"{count:,} of kind {kind}: {named}{' and others' if count > len(chosen) else ''}"
            (path, line), *also = [(place.path, place.line_start) for place in places]
            yield Finding(Material.INVENTORY, claim, path, line, title("Kinds of types"), also=(*also, (path, line)))


def _endpoints(columns: GraphColumns) -> Iterator[Finding]:
    """The routes in the order of their places; where there are many, one line for each type or file that exposes them,
    so that the list stays complete."""
    found = exposed_endpoints(columns)
    if len(found) <= MOST_ENDPOINTS:
        for endpoint, source, path, line in found:
            claim = f"{_shown(columns, endpoint)} is exposed by {_shown(columns, source)}"
            yield Finding(Material.ROUTES, claim, path, line, title("Endpoints"))
        return
    groups: dict[str, list[tuple[int, str, int]]] = {}
    for endpoint, source, path, line in found:
        owner = int(columns.type_of[source])
        groups.setdefault(_shown(columns, owner if owner >= 0 else source), []).append((endpoint, path, line))
    heading = _counted(f"Endpoints ({len(found):,}) by what exposes them", len(groups), MOST_ENDPOINTS)
    for owner_name, routes in list(groups.items())[:MOST_ENDPOINTS]:
        told = ", ".join(_shown(columns, endpoint) for endpoint, *_ in routes[:_OF_A_CONTROLLER])
        more = f" and {len(routes) - _OF_A_CONTROLLER} more" if len(routes) > _OF_A_CONTROLLER else ""
        (path, line), *also = [(path, line) for _, path, line in routes[:_OF_A_CONTROLLER]]
        claim = f"{owner_name} exposes {told}{more}"
        yield Finding(Material.ROUTES, claim, path, line, heading, also=(*also, (path, line)))


def _operations(columns: GraphColumns) -> Iterator[Finding]:
    """What a library offers, which has neither routes nor messages: public methods of its central types."""
    graph = columns.graph
    owners = columns.by_weight(columns.nodes(NodeType.TYPE).tolist())[:_MOST_TYPES]
    methods: dict[str, list[int]] = {graph.keys[owner].rpartition("|")[0]: [] for owner in owners}
    for node in columns.nodes(NodeType.METHOD).tolist():
        symbol = graph.keys[node].rpartition("|")[0].partition("(")[0]
        owner, _, name = symbol.rpartition(".")
        if owner in methods and name != owner.rpartition(".")[2] and _is_public(graph, node):
            methods[owner].append(node)
    for nodes in methods.values():
        nodes.sort(key=lambda node: (-int(graph.degree[IN, node]), node))
        for name, node in list({graph.names[node]: node for node in reversed(nodes)}.items())[::-1][:_OF_A_TYPE]:
            place = columns.place(node)
            if place is not None:
                shown, heading = _shown(columns, node), title("Operations")
                yield Finding(Material.ROUTES, shown, place.path, place.line_start, heading, name=name)


def _is_public(graph: Graph, node: int) -> bool:
    """Whether others may call a method, by its modifiers, or by its name where that says it."""
    name = graph.names[node]
    hidden = name[:1].islower() if graph.language(node) == "go" else name.startswith("_")
    return not hidden and _NOT_PUBLIC.search(graph.signature(node)) is None


def _messages(columns: GraphColumns) -> Iterator[Finding]:
    wanted = columns.of(Relation.HANDLES) & columns.is_seen & columns.own[columns.source]
    found = columns.edges(wanted)
    heading = _counted("Commands, queries and events", len(found), _MOST_MESSAGES)
    for source, target, confidence, path, line in found[:_MOST_MESSAGES]:
        claim = f"{_shown(columns, source)} {_maybe(confidence)}handles {_shown(columns, target)}"
        yield Finding(Material.ROUTES, claim, path, line, heading)


def _data(columns: GraphColumns) -> Iterator[Finding]:
    """Each store (a table with its entity and its set) with who writes and reads it, those with most accesses first."""
    store_of = _stores(columns)
    reads = columns.of(Relation.READS_FROM, Relation.WRITES_TO) & columns.is_seen & columns.product[columns.source]
    reads &= (store_of[columns.target] >= 0) & (columns.touched[columns.source] & columns.touched[columns.target])
    maps = columns.of(Relation.MAPS_TO, Relation.FOREIGN_KEY) & columns.is_seen
    maps &= (store_of[columns.source] >= 0) & (store_of[columns.target] >= 0)
    accesses = np.bincount(store_of[columns.target[reads]], minlength=len(columns.graph))
    stores = sorted({int(one) for one in store_of[columns.own & (store_of >= 0)]})
    stores.sort(key=lambda one: (-int(accesses[one]), one))
    if columns.about is not None:  # what a context has beside the tables that the subject reads and writes
        stores = [one for one in stores if accesses[one]]
    for store in stores[:_MOST_STORES]:
        heading = title(short_name(columns.graph.keys[store]))
        yield from _mapped(columns, maps & (store_of[columns.source] == store), heading)
        for relation, verb in ((Relation.WRITES_TO, "writes to"), (Relation.READS_FROM, "reads from")):
            wanted = reads & columns.of(relation) & (store_of[columns.target] == store)
            told = {one[0]: one for one in reversed(columns.edges(wanted))}
            ranked = sorted(told.values(), key=lambda one: (list(Confidence).index(one[2]), one[3], one[4]))
            for source, target, confidence, path, line in ranked[:_MOST_ACCESSES]:
                claim = f"{_shown(columns, source)} {_maybe(confidence)}{verb} {_shown(columns, target)}"
                yield Finding(Material.DATA, claim, path, line, heading)


def _mapped(columns: GraphColumns, wanted: Mask, heading: str) -> Iterator[Finding]:
    told = set()
    for source, target, confidence, path, line in columns.edges(wanted):
        names = _shown(columns, source), _shown(columns, target)
        if names[0] != names[1] and names not in told:
            told.add(names)
            is_key = columns.graph.kind(source) in _TABLES
            is_kept, maybe = columns.graph.kind(target) in _TABLES, _maybe(confidence)
            verb = f"{maybe}refers to" if is_key else f"is {maybe}kept in" if is_kept else f"{maybe}holds"
            yield Finding(Material.DATA, f"{names[0]} {verb} {names[1]}", path, line, heading)


def _stores(columns: GraphColumns) -> Numbers:
    """The node that stands for the store of each node: the table of an entity and of a set where there is one; −1 for
    what is no store."""
    graph = columns.graph
    is_store = np.isin(graph.kinds, [KINDS.index(kind.value) for kind in _STORES])
    found = np.where(is_store, np.arange(len(graph)), -1)
    mapped = np.flatnonzero(columns.of(Relation.MAPS_TO) & is_store[columns.source] & is_store[columns.target])
    for _ in range(2):  # set → entity → table
        for row in mapped.tolist():
            found[columns.source[row]] = found[columns.target[row]]
    return found


def _risks(columns: GraphColumns) -> Iterator[Finding]:
    """Members on which most depends and that no test reaches, as far as the graph knows the calls of the language."""
    ranked = sorted(_members(columns).tolist(), key=lambda node: (-int(columns.graph.degree[IN, node]), node))
    found: list[tuple[int, int]] = []
    for node in ranked[:_LOOKED_AT]:
        if columns.graph.degree[IN, node] and _has_calls(columns, node) and not _is_tested(columns, [node]):
            groups = impact(columns.graph, [node], limit=1).groups
            found.append((sum(groups.get(group.value, 0) for group in _DEPENDANTS), node))
    by_type: dict[str, int] = {}
    told = 0
    for total, node in sorted(found, key=lambda one: (-one[0], one[1])):
        owner = ".".join(name_of(columns.graph.keys[node]).segments[:-1])
        place = columns.place(node)
        if total < _LEAST_DEPENDANTS or told == _MOST_RISKS:
            return
        if place is None or by_type.get(owner, 0) == _OF_A_TYPE:
            continue
        by_type[owner] = by_type.get(owner, 0) + 1
        told += 1
        reached = impact(columns.graph, [node], limit=len(columns.graph)).reached
        certain = sum(one.confidence is Confidence.RESOLVED for one in reached if one.group in _DEPENDANTS)
        sure = f"{certain:,} certain, {total - certain:,} probable" if certain < total else "all certain"
        untested = ", and no known test reaches it," if columns.has_tests else ""
        claim = f"{total:,} declarations depend on {_shown(columns, node)} ({sure}){untested}"
        heading = title(_RISKY if columns.has_tests else _RISKY_WITHOUT_TESTS)
        yield Finding(Material.IMPACT, claim, place.path, place.line_start, heading)


def _members(columns: GraphColumns) -> Numbers:
    """The members that are told of; of a subject those that it consists of."""
    if columns.seeds is None:
        return columns.nodes(*_MEMBERS)
    parts = np.zeros(len(columns.graph), bool)
    parts[columns.seeds] = True
    parts[columns.target[parts[columns.source] & columns.of(Relation.CONTAINS)]] = True
    kinds = [KINDS.index(kind.value) for kind in _MEMBERS]
    return np.flatnonzero(parts & columns.product & np.isin(columns.graph.kinds, kinds))


def _untested(columns: GraphColumns) -> Iterator[Finding]:
    """Endpoints that no test of the graph reaches and no text of a test names; none where there are no tests."""
    if not columns.has_tests:
        return
    exposed = exposed_endpoints(columns)[:_ENDPOINTS_LOOKED_AT]
    open_ones = [
        one
        for one in exposed
        if _has_calls(columns, one[1])
        and len(_route(columns, one[0])) >= _SHORTEST_ROUTE
        and not _is_tested(columns, [one[0], *([one[1]] if columns.graph.kind(one[1]) is NodeType.METHOD else [])])
    ]
    if not open_ones:
        return
    texts = _test_texts(columns)
    found = [one for one in open_ones if not any(_route(columns, one[0]) in text for text in texts)]
    heading = _counted("Endpoints without a known test", len(found), _MOST_UNTESTED)
    for endpoint, source, path, line in found[:_MOST_UNTESTED]:
        claim = f"No known test reaches {_shown(columns, endpoint)}, which {_shown(columns, source)} exposes,"
        yield Finding(Material.UNTESTED, claim, path, line, heading)


def _route(columns: GraphColumns, endpoint: int) -> str:
    """The beginning of a route up to its first parameter, as a test would call it."""
    route = name_of(columns.graph.keys[endpoint]).symbol
    return _PARAMETER.split(route, maxsplit=1)[0].partition("?")[0].strip("/").casefold()


def _test_texts(columns: GraphColumns) -> list[str]:
    """The texts of test files, without case."""
    graph = columns.graph
    paths = [graph.paths[number] for number in range(len(graph.paths)) if in_test_file(graph.paths[number])]
    return [columns.text(path).casefold() for path in sorted(paths)[:_TEST_FILES_READ]]


def _tests(columns: GraphColumns) -> Iterator[Finding]:
    """What each test class tests, the most used subjects first."""
    wanted = columns.of(Relation.TESTS) & columns.touched[columns.target]
    paths = columns.graph.arrays["edge_path"].astype(np.int64)
    found: dict[tuple[str, str], tuple[int, int, Confidence, str, int]] = {}
    for edge in columns.edges(wanted & columns.visible[paths]):
        found.setdefault((_shown(columns, edge[0]), _shown(columns, edge[1])), edge)
    types = [edge for edge in found.values() if columns.graph.kind(edge[0]) is NodeType.TYPE] or list(found.values())
    types.sort(key=lambda edge: (-int(columns.users[edge[1]]), edge[3], edge[4]))
    heading = _counted("What tests test", len(types), _MOST_TESTS)
    for source, target, confidence, path, line in types[:_MOST_TESTS]:
        claim = f"{_shown(columns, source)} {_maybe(confidence)}tests {_shown(columns, target)}"
        yield Finding(Material.TESTS, claim, path, line, heading)


def _is_tested(columns: GraphColumns, nodes: Sequence[int]) -> bool:
    return (
        columns.has_tests
        and ImpactGroup.TESTS.value in impact(columns.graph, nodes, effect=Effect.EXERCISED, limit=1).groups
    )


def _has_calls(columns: GraphColumns, node: int) -> bool:
    """Whether the graph knows who calls what in the language of a node."""
    key = columns.graph.keys[node]
    return name_of(key).prefix not in WITHOUT_RESOLVER and columns.graph.language(node) not in WITHOUT_RESOLVER


def _shown(columns: GraphColumns, node: int) -> str:
    return named(columns.called(node))


def _maybe(confidence: Confidence) -> str:
    return "" if confidence is Confidence.RESOLVED else "probably "


def _counted(said: str, total: int, most: int) -> str:
    return title(f"{said}: {most} of {total:,}" if total > most else said)
