"""Who is affected if something changes, and what something needs: everything that an effect reaches, by distance.

Unlike in a neighbourhood nothing is left out of hubs, for a caller that is not named is a caller that breaks. The
counts are of everything within the depth, the list is of the nearest. Code of tests is told apart.

The rules of which steps carry an effect are one table. A walk has a state, because not every step may follow every
other. A method that implements an interface affects the callers of the interface method, but not its other
implementations: it has reached the interface as the one who is behind it (BEHIND). What is affected or needed without
passing it on, such as a table that is written or a section that mentions a class, is an end (END).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rag_assets.contracts.graph import Confidence, GraphEdge, NodeType, Relation
from rag_assets.graph.csr_graph import (
    IN,
    KINDS,
    OUT,
    RELATIONS,
    Frontier,
    Graph,
    NodeLocation,
    Numbers,
    ResultReader,
    spans,
)
from rag_assets.graph.edge_weights import first_rows, permitted
from rag_assets.graph.neighbourhood import WalkError
from rag_assets.graph.relations import Direction, WalkStep
from rag_assets.languages.detection import WITHOUT_RESOLVER, detect_language


class EffectState(IntEnum):
    """How a node was reached, and so which steps may go on from it."""

    FLOW = 0
    BEHIND = 1  # an abstraction, or a message, by the one that implements or handles it
    END = 2
    START = 3  # what changes
    AROUND = 4  # the type of a member that changes: who makes one may run the member through a base or an interface
    NAMING = 5  # a method that names another one, as one that maps routes names the handler of each


def language_without_resolver(key: str, path: str = "") -> str:
    """The language of a declaration, a file or an endpoint that `path` declares, of which the graph has the calls that
    names and types tell, at most: what nothing reaches may be used all the same. '' for others."""
    language, _, rest = key.partition(":")
    if language in ("file", "http"):
        language = detect_language(rest.rpartition("|")[0] if language == "file" else path)
    return language if language in WITHOUT_RESOLVER else ""


def calls_known_note(language: str) -> str:
    """What the graph has of the calls of a language without a resolver, for the beginning of a note."""
    from rag_assets.languages.call_syntax import syntax_of  # start-up budget: of few answers

    has = "only the calls that names and declared types tell" if syntax_of(language) else "no calls"
    return f"of {language} the graph has {has}"


_CODE = (NodeType.METHOD, NodeType.PROPERTY)
_TABLES = (NodeType.TABLE, NodeType.VIEW, NodeType.TABLE_OR_VIEW)


@dataclass(frozen=True, slots=True)
class EffectRule:
    """A step from nodes of some kinds to nodes of some kinds (all where none is named), and the state it leads to."""

    relation: Relation
    side: int
    then: EffectState = EffectState.FLOW
    source: Collection[NodeType] = ()
    to: Collection[NodeType] = ()
    state: EffectState = EffectState.FLOW


def _in(*relations: Relation) -> tuple[EffectRule, ...]:
    return tuple(EffectRule(relation, IN) for relation in relations)


def _out(*relations: Relation) -> tuple[EffectRule, ...]:
    return tuple(EffectRule(relation, OUT) for relation in relations)


AFFECTED: tuple[EffectRule, ...] = (
    # Whoever is written in terms of it.
    *_in(
        Relation.CALLS,
        Relation.CONSTRUCTS,
        Relation.USES_TYPE,
        Relation.INJECTS,
        Relation.INHERITS,
        Relation.IMPLEMENTS,
        Relation.OVERRIDES,
        Relation.HANDLES,
    ),
    EffectRule(Relation.REFERENCES, IN, source=tuple(kind for kind in NodeType if kind is not NodeType.METHOD)),
    EffectRule(Relation.REFERENCES, IN, EffectState.NAMING, source=(NodeType.METHOD,)),
    *_in(
        Relation.READS_FROM,
        Relation.WRITES_TO,
        Relation.EXECUTES,
        Relation.FOREIGN_KEY,
        Relation.ON,
        Relation.SYNONYM_FOR,
    ),
    # An entity follows its table and its class; a service is served by the implementation that changes.
    EffectRule(Relation.MAPS_TO, IN, source=(*_TABLES, NodeType.ENTITY, NodeType.DBSET)),
    EffectRule(Relation.MAPS_TO, IN, source=(NodeType.TYPE,), to=(NodeType.ENTITY, NodeType.DBSET)),
    EffectRule(Relation.MAPS_TO, IN, EffectState.BEHIND, source=(NodeType.TYPE,), to=(NodeType.TYPE,)),
    # Through dispatch: callers of the interface or base method, senders of the message.
    EffectRule(Relation.IMPLEMENTS, OUT, EffectState.BEHIND, source=_CODE),
    EffectRule(Relation.OVERRIDES, OUT, EffectState.BEHIND, source=_CODE),
    EffectRule(Relation.HANDLES, OUT, EffectState.BEHIND),
    *(
        EffectRule(r, IN, state=EffectState.BEHIND)
        for r in (Relation.CALLS, Relation.CONSTRUCTS, Relation.REFERENCES, Relation.INJECTS)
    ),
    *(
        EffectRule(r, OUT, EffectState.BEHIND, state=EffectState.BEHIND)
        for r in (Relation.IMPLEMENTS, Relation.OVERRIDES)
    ),
    # Through a route: who sends requests to it, but not to all routes that are mapped beside it.
    EffectRule(Relation.EXPOSES, OUT),
    EffectRule(Relation.EXPOSES, OUT, EffectState.END, state=EffectState.NAMING),
    EffectRule(Relation.EXPOSES, OUT, state=EffectState.BEHIND),
    # What shows the effect without passing it on.
    *(EffectRule(r, IN, EffectState.END) for r in (Relation.TESTS, Relation.MENTIONS)),
    *(EffectRule(r, OUT, EffectState.END) for r in (Relation.WRITES_TO, Relation.SCHEMA_CHANGE)),
    EffectRule(Relation.MAPS_TO, OUT, EffectState.END, source=(NodeType.ENTITY, NodeType.DBSET)),
    EffectRule(Relation.TESTS, IN, EffectState.END, state=EffectState.BEHIND),
)
"""Who is affected if a node changes."""

EXERCISED: tuple[EffectRule, ...] = (
    *AFFECTED,
    EffectRule(Relation.CONTAINS, IN, EffectState.AROUND, source=_CODE, to=(NodeType.TYPE,), state=EffectState.START),
    EffectRule(Relation.CONSTRUCTS, IN, state=EffectState.AROUND),
    EffectRule(Relation.INHERITS, IN, EffectState.AROUND, state=EffectState.AROUND),
    EffectRule(Relation.TESTS, IN, EffectState.END, state=EffectState.AROUND),
)
"""Who is affected, and who may run a member without naming it: whoever makes its type, and the tests of the type. Not
who is given one: what a service is asked for has a name."""

NEEDED: tuple[EffectRule, ...] = (
    *_out(
        Relation.CALLS,
        Relation.CONSTRUCTS,
        Relation.EXECUTES,
        Relation.READS_FROM,
        Relation.WRITES_TO,
        Relation.SYNONYM_FOR,
        Relation.TESTS,
        Relation.ON,
    ),
    EffectRule(Relation.EXPOSES, IN),
    # From a service to what serves it, from a set to its entity and its table.
    EffectRule(Relation.MAPS_TO, OUT, source=(NodeType.TYPE,)),
    EffectRule(Relation.MAPS_TO, OUT, to=(*_TABLES, NodeType.ENTITY)),
    EffectRule(Relation.MAPS_TO, OUT, EffectState.END),
    # From an interface or base method to the bodies behind it, from a message to its handlers.
    EffectRule(Relation.IMPLEMENTS, IN, source=_CODE),
    EffectRule(Relation.OVERRIDES, IN, source=_CODE),
    EffectRule(Relation.HANDLES, IN),
    # A message that is sent, a specification with its entity; not the entities that an entity knows.
    EffectRule(Relation.REFERENCES, OUT, source=(*_CODE, NodeType.TYPE, NodeType.ENDPOINT)),
    EffectRule(Relation.INHERITS, OUT, EffectState.END),
    EffectRule(Relation.IMPLEMENTS, OUT, EffectState.END),
    EffectRule(Relation.INJECTS, OUT, EffectState.END),
    EffectRule(Relation.USES_TYPE, OUT, EffectState.END),
    EffectRule(Relation.FOREIGN_KEY, OUT, EffectState.END),
    EffectRule(Relation.MENTIONS, OUT, EffectState.END),
    EffectRule(Relation.SCHEMA_CHANGE, OUT, EffectState.END),
)
"""What a node needs to do its work, down to the tables."""


def transitions(rules: Iterable[EffectRule]) -> NDArray[np.int8]:
    """`[state, side, relation, kind from, kind to]`: the state that the step leads to, −1 where it is not allowed.
    Where several rules allow a step, the one that goes on furthest counts."""
    relations, kinds = tuple(Relation), {kind: code for code, kind in enumerate(KINDS)}
    table = np.full((len(EffectState), 2, len(relations), len(kinds), len(kinds)), -1, np.int8)
    everything = list(range(len(kinds)))
    for rule in sorted(rules, key=lambda rule: -rule.then):
        source = [kinds[kind.value] for kind in rule.source] or everything
        to = [kinds[kind.value] for kind in rule.to] or everything
        states = (rule.state, EffectState.START) if rule.state is EffectState.FLOW else (rule.state,)
        if rule.state is EffectState.FLOW and rule.relation is not Relation.EXPOSES:
            states = (*states, EffectState.NAMING)
        for state in states:
            cells = table[state, rule.side, relations.index(rule.relation)]
            cells[np.ix_(source, to)] = rule.then
    return table


_FOLDER = re.compile(
    r"(?:^|/)(?: (?:[^/]*[._-])?[tT]ests? | [^/]*[a-z\d]Tests? | [^/]+\.Specs | __tests__ )(?:[._-][^/]*)?/", re.VERBOSE
)
"""`tests/`, `src/test/`, `Shop.UnitTests/`, `Shop.Tests.Data/`, `Polly.Specs/`; not `latest/`, `Contest/` or `Specs/`,
which is where Ardalis' specifications are kept."""


_FILE = re.compile(
    r"(?:^|/)(?: test_[^/]+\.(?:cc?|cpp|exs|jl|lua|py|r|rb|rs|sh) | conftest\.py | [^/]+\.(?:test|spec)\.[cm]?[jt]sx?"
    r"| [^/]+_(?:tests?|spec)\.(?:cc?|cpp|dart|exs|go|jl|lua|py|rb|rs) | [^/]+\.Tests\.ps1"
    r"| [^/]+(?:Tests?|Spec)\.(?:hs|kt|php|scala|swift) )$",
    re.VERBOSE,
)
"""Files that runners take for tests by their names, wherever they lie."""


@lru_cache(maxsize=1 << 16)
def in_test_file(path: str) -> bool:
    """Whether a file is one of tests, by its folder or its name."""
    return _FOLDER.search(path) is not None or _FILE.search(path) is not None


_NESTED = 8
"""How deep a case stands in classes of a test class, and types in types: members of a type are changed with it."""

_AROUND = permitted((WalkStep(Relation.CONTAINS, Direction.IN),))


_TEST_MODULE = re.compile(r"rust:[^|(]*\.tests?\.[^|]*\|")


def in_test_module(key: str) -> bool:
    """Whether a declaration is in a module of tests of Rust, which stands in a file of the product."""
    return _TEST_MODULE.match(key) is not None


def of_tests(graph: Graph, nodes: Numbers) -> NDArray[np.bool_]:
    """Of each node whether it is code of tests: it has an edge Tests, a type around it has, or all its places lie in
    folders or files of tests. So builders and fixtures are, and a case whose subject is not known."""
    found = _in_folders(graph, nodes)
    for at in np.flatnonzero(graph.are_in("rust", nodes)).tolist():
        found[at] |= in_test_module(graph.keys[nodes[at]])
    testing = _testing(graph)
    around, member = nodes, np.arange(len(nodes))
    for _ in range(_NESTED):
        found[member[np.isin(around, testing)]] = True
        reach, _ = graph.reach(around, _AROUND)
        around, member = reach.node, member[reach.origin]
        if not len(around):
            break
    return found


def _testing(graph: Graph) -> Numbers:
    """The nodes with an edge Tests."""
    runs = np.flatnonzero(graph.arrays["out_relation"] == RELATIONS.index(Relation.TESTS))
    owners: Numbers = np.searchsorted(graph.arrays["out_runs"], runs, side="right") - 1
    return owners


def _in_folders(graph: Graph, nodes: Numbers) -> NDArray[np.bool_]:
    starts, ends = graph.arrays["node_places"][nodes], graph.arrays["node_places"][nodes + 1]
    at, which = spans(starts, ends)
    paths, path = np.unique(graph.arrays["place_path"][at], return_inverse=True)
    elsewhere = np.array([not in_test_file(graph.paths[number]) for number in paths.tolist()], bool)
    found: NDArray[np.bool_] = ends > starts
    found[which[elsewhere[path]]] = False
    return found


DEFAULT_DEPTH = 8
"""Steps: a route is that far from its table. Effects that arrive from further are of no use to a reader."""

DEFAULT_NODES = 200
"""Of each group."""


class Effect(StrEnum):
    AFFECTED = "affected"  # if this changes
    EXERCISED = "exercised"  # affected, or may run it without naming it
    NEEDED = "needed"  # for this to work


class ImpactGroup(StrEnum):
    """What a reader asks for first."""

    ENDPOINTS = "endpoints"
    TABLES = "tables"
    TESTS = "tests"
    DOCUMENTS = "documents"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Reached:
    """A node that an effect reaches in `distance` steps from the node that changes, or its nearest part. `confidence`
    is that of the weakest step on the way; `via` the last step, which the node at its other end passed on."""

    key: str
    kind: NodeType
    name: str
    group: ImpactGroup
    distance: int
    confidence: Confidence
    places: tuple[NodeLocation, ...]
    via: GraphEdge


@dataclass(frozen=True, slots=True)
class Impact:
    """`of` are the nodes that were asked about, `parts` how many declarations they contain. `reached` by distance,
    confidence, properties last, and key: as many of each group as were wanted, and the nodes by which they are reached;
    `counts` (by kind) and `groups` are of all within the depth."""

    of: tuple[str, ...]
    effect: Effect
    parts: int
    reached: tuple[Reached, ...]
    total: int
    counts: dict[str, int]
    groups: dict[str, int]


_RULES = {
    Effect.AFFECTED: transitions(AFFECTED),
    Effect.EXERCISED: transitions(EXERCISED),
    Effect.NEEDED: transitions(NEEDED),
}
_GROUPS = {
    NodeType.ENDPOINT: ImpactGroup.ENDPOINTS,
    NodeType.TABLE: ImpactGroup.TABLES,
    NodeType.VIEW: ImpactGroup.TABLES,
    NodeType.TABLE_OR_VIEW: ImpactGroup.TABLES,
    NodeType.SECTION: ImpactGroup.DOCUMENTS,
}
_GROUP = tuple(ImpactGroup)
_CONFIDENCE = tuple(Confidence)
_HANDLES = RELATIONS.index(Relation.HANDLES.value)
_CONTRACTS = [RELATIONS.index(one.value) for one in (Relation.IMPLEMENTS, Relation.OVERRIDES)]
_PROBABLE = _CONFIDENCE.index(Confidence.PROBABLE)


def impact(
    graph: Graph,
    nodes: Sequence[int],
    *,
    effect: Effect = Effect.AFFECTED,
    depth: int = DEFAULT_DEPTH,
    limit: int = DEFAULT_NODES,
    called_by_name: Collection[int] = (),
) -> Impact:
    """Everything that an effect reaches from `nodes` (numbers) and what they contain, within `depth` steps.

    The first `limit` of each group are listed, so that many fields do not hide one table, with all that leads to them.
    The rules are those of `graph.impact`: calls, use of types, data, dispatch through interfaces and messages.
    Of those nodes that are only `called_by_name`, nobody runs one by making its type.
    Raises WalkError for a bound below 1.
    """
    for name, value in (("depth", depth), ("limit", limit)):
        if value < 1:
            raise WalkError(f"{name} must be at least 1, got {value}")
    whole = _with_parts(graph, np.array(sorted(set(nodes)), np.int64))
    spread = _Spread(graph, whole, effect, np.array(sorted(called_by_name), np.int64))
    for distance in range(1, depth + 1):
        if not spread.go(distance):
            break
    found = spread.found()
    groups = _groups(graph, found)
    nearest = [found[groups == group][:limit] for group in range(len(_GROUP))]
    listed = np.isin(found, spread.with_origins(np.concatenate(nearest)))
    return Impact(
        of=tuple(graph.keys[node] for node in sorted(set(nodes))),
        effect=effect,
        parts=len(whole),
        reached=tuple(spread.reached(found[listed], groups[listed])),
        total=len(found),
        counts=_by_name(np.bincount(graph.kinds[found], minlength=len(KINDS)), KINDS),
        groups=_by_name(np.bincount(groups, minlength=len(_GROUP)), [group.value for group in _GROUP]),
    )


def _with_parts(graph: Graph, nodes: Numbers) -> Numbers:
    """The nodes and what they contain."""
    contained = permitted((WalkStep(Relation.CONTAINS, Direction.OUT),))
    whole = frontier = nodes
    for _ in range(_NESTED):
        reach, _ = graph.reach(frontier, contained)
        frontier = np.setdiff1d(reach.node, whole)
        if not len(frontier):
            break
        whole = np.union1d(whole, frontier)
    return whole


class _Spread:
    """One effect on its way. Per node and state: whether it was reached; per node: how, the first and surest time."""

    def __init__(self, graph: Graph, whole: Numbers, effect: Effect, called_by_name: Numbers) -> None:
        self._graph = graph
        self._rules = _RULES[effect]
        self._seen = np.zeros((len(EffectState), len(graph)), bool)
        self._seen[:, whole] = True  # what changes is not affected by its change
        self._distance = np.full(len(graph), -1, np.int32)
        self._doubt = np.zeros(len(graph), np.uint8)  # code of the weakest confidence on the way
        self._passed_on = np.zeros((len(EffectState), len(graph)), np.uint8)  # the same, of the way in each state
        self._via = np.zeros(len(graph), np.int64)
        self._origin = np.full(len(graph), -1, np.int64)  # where the step came from; -1 for what changes
        self._scratch = np.zeros(len(graph), np.int64)
        plain = np.isin(whole, called_by_name)
        self._frontiers = {EffectState.START: whole[~plain], EffectState.FLOW: whole[plain]}
        self._distance[whole] = 0

    def go(self, distance: int) -> bool:
        """One more step in every state; False where there was none."""
        steps = [self._steps(state, nodes) for state, nodes in self._frontiers.items()]
        made: dict[EffectState, list[Numbers]] = {}
        for doubt in range(len(_CONFIDENCE)):  # the surest way to a node first
            for reach, origin, then, doubts in steps:
                sure = doubts == doubt
                led_to = set(then[sure].tolist())  # most steps lead to one or two states
                for after in (state for state in EffectState if state in led_to):
                    rows = np.flatnonzero((then == after) & sure & ~self._seen[after, reach.node])
                    if len(rows):
                        rows = rows[first_rows(reach.node[rows], self._scratch)]
                        self._note(after, reach, origin, rows, doubt, distance)
                        made.setdefault(after, []).append(reach.node[rows])
        self._frontiers = {
            state: np.sort(np.concatenate(parts)) for state, parts in made.items() if state is not EffectState.END
        }
        return bool(self._frontiers)

    def _steps(
        self, state: EffectState, frontier: Numbers
    ) -> tuple[Frontier, Numbers, NDArray[np.int8], NDArray[np.uint8]]:
        """All steps from a frontier, with the node each begins at, the state it leads to, and the doubt it carries."""
        graph, rules = self._graph, self._rules[state]
        reach, _ = graph.reach(frontier, (rules >= 0).any(axis=(2, 3)))
        origin = frontier[reach.origin]
        then = rules[reach.side, reach.relation, graph.kinds[origin], graph.kinds[reach.node]]
        # Who sends a message runs its handlers, and not who calls the contract of all handlers.
        handling = np.unique(origin[(reach.side == OUT) & (reach.relation == _HANDLES)])
        then[(reach.side == OUT) & np.isin(reach.relation, _CONTRACTS) & np.isin(origin, handling)] = -1
        doubts = np.maximum(self._passed_on[state, origin], graph.confidence[reach.edge])
        doubts[(then == EffectState.AROUND) & (doubts < _PROBABLE)] = _PROBABLE
        return reach, origin, then, doubts

    def _note(
        self, state: EffectState, reach: Frontier, origin: Numbers, rows: Numbers, doubt: int, distance: int
    ) -> None:
        node = reach.node[rows]
        self._seen[state, node] = True
        self._passed_on[state, node] = doubt
        fresh = self._distance[node] < 0
        rows, node = rows[fresh], node[fresh]
        self._distance[node] = distance
        self._doubt[node] = doubt
        self._via[node] = reach.edge[rows]
        self._origin[node] = origin[rows]

    def found(self) -> Numbers:
        """What was reached, by distance, confidence, properties last, and key."""
        nodes = np.flatnonzero(self._distance > 0)
        is_property = self._graph.kinds[nodes] == KINDS.index(NodeType.PROPERTY.value)
        ordered: Numbers = nodes[np.lexsort((nodes, is_property, self._doubt[nodes], self._distance[nodes]))]
        return ordered

    def with_origins(self, nodes: Numbers) -> Numbers:
        """Nodes and all nodes on the way to them; each step of the way begins nearer to what changes."""
        whole = frontier = nodes
        while len(frontier):
            frontier = np.setdiff1d(self._origin[frontier], whole)
            frontier = frontier[frontier >= 0]
            whole = np.union1d(whole, frontier)
        return whole

    def reached(self, nodes: Numbers, groups: Numbers) -> Iterable[Reached]:
        graph, reading = self._graph, ResultReader(self._graph)
        columns = (nodes.tolist(), groups.tolist(), self._distance[nodes].tolist(), self._doubt[nodes].tolist())
        rows = zip(*columns, reading.places(nodes), reading.edges(self._via[nodes]), strict=True)
        for node, group, distance, doubt, places, via in rows:
            name, confidence = graph.names[node], _CONFIDENCE[doubt]
            yield Reached(reading.key(node), graph.kind(node), name, _GROUP[group], distance, confidence, places, via)


def _groups(graph: Graph, nodes: Numbers) -> Numbers:
    """The group of each node: by its kind, and what would be code is a test where it is code of tests."""
    of_kind = np.array([_GROUP.index(_GROUPS.get(NodeType(kind), ImpactGroup.CODE)) for kind in KINDS])
    found: Numbers = of_kind[graph.kinds[nodes]]
    code = np.flatnonzero(found == _GROUP.index(ImpactGroup.CODE))
    found[code[of_tests(graph, nodes[code])]] = _GROUP.index(ImpactGroup.TESTS)
    return found


def groups_of(graph: Graph, nodes: Sequence[int]) -> list[ImpactGroup]:
    """The group of each node."""
    return [_GROUP[group] for group in _groups(graph, np.array(nodes, np.int64)).tolist()]


def _by_name(counts: Numbers, names: Sequence[str]) -> dict[str, int]:
    return {name: count for name, count in zip(names, counts.tolist(), strict=True) if count}
