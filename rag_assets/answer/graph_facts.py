"""What the graph says about the names of a question: who calls, implements, reads or writes what, and where that is
written (D19, D20)."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from rag_assets.answer.question_analysis import Intent, roots_of
from rag_assets.contracts.evidence import short_name
from rag_assets.index.vectors.filters import SearchScope
from rag_assets.search.line_references import sections_of
from rag_assets.search.ranking.penalties import non_product_code

if TYPE_CHECKING:
    from rag_assets.contracts.graph import GraphEdge
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.graph.relations import WalkStep
    from rag_assets.index.vectors.vector_api import PointReader
    from rag_assets.search.index import LabelIndex

_MOST_PARAMETERS = 4  # of a type
MOST_FACTS = 8
"""Of one answer: what fits a screen. The count says how many there are; `rag-assets graph` lists all."""
_MOST_DERIVED = 40  # as many as a list has

_LOOKED_AT = 60
"""Members, and what implements them: a type with more of them says no more."""
_NEIGHBOURS_LOOKED_AT = 1_000
"""Those that facts are made of: of a hub most are tests, which come last, and a filter leaves out most of them."""

GIVEN = "is given"
_VERBS: Mapping[str, str] = {
    "Contains": "contains",
    "Inherits": "inherits",
    "Implements": "implements",
    "Overrides": "overrides",
    "Calls": "calls",
    "Constructs": "creates",
    "Injects": GIVEN,
    "UsesType": "uses",
    "ReadsFrom": "reads from",
    "WritesTo": "writes to",
    "Executes": "executes",
    "ForeignKey": "refers to",
    "On": "is on",
    "SynonymFor": "stands for",
    "MapsTo": "maps to",
    "SchemaChange": "changes",
    "Handles": "handles",
    "Exposes": "exposes",
    "Tests": "tests",
    "References": "refers to",
    "Mentions": "mentions",
}


@dataclass(frozen=True, slots=True)
class GraphFact:
    """`source verb target`, seen at `path:line`; `certain` where the graph proved it from declared types. Without a
    verb only that `source` is there. Facts of one `group` are told together below its name.
    `is_comment`: that very line is meant, and not the code below it."""

    source: str
    verb: str
    target: str
    path: str
    line: int
    certain: bool
    group: str = ""
    is_comment: bool = False


@dataclass(frozen=True, slots=True)
class GraphFacts:
    """The best facts, how many there are of the kind that was asked for, and what to call them in an answer. `command`
    lists them all. `leads`: they are told before the best quote."""

    facts: tuple[GraphFact, ...] = ()
    total: int = 0
    heading: str = ""
    command: str = ""
    leads: bool = False


Facts = tuple[GraphFacts, dict[GraphFact, str]]
"""Facts of an answer, and for each that is shown the point that shows it."""
FactsOrAbsent = tuple[GraphFacts, dict[GraphFact, str], str]
"""The same, and where there are none what was looked for in vain."""


def named_nodes(graph: Graph, names: Iterable[str]) -> tuple[str, ...]:
    """The keys of the nodes that some names mean; a name that means several declarations means all of them, up to a
    few (overloads and namesakes)."""
    from rag_assets.graph.lookup import named

    keys: dict[str, None] = {}
    for name in names:
        match = named(graph, name)
        for node in (*match.nodes, *match.candidates[:4]):
            keys[graph.keys[node]] = None
    return tuple(keys)


def with_generic_forms(graph: Graph, keys: Sequence[str]) -> tuple[str, ...]:
    """With the types of the same names that have type parameters: `IStore<T>` beside `IStore`."""
    plain = [key.rpartition("|") for key in keys if "`" not in key]
    forms = (f"{symbol}`{count}|{kind}" for symbol, _, kind in plain for count in range(1, _MOST_PARAMETERS + 1))
    return (*keys, *(key for key in forms if graph.find(key) is not None))


def declares(graph: Graph, name: str, *, only_types: bool = False) -> bool:
    """Whether a type or a member has exactly this name, or with a dot one that ends with it."""
    from rag_assets.contracts.graph import NodeType, key_kind

    kinds = (NodeType.TYPE,) if only_types else (NodeType.TYPE, NodeType.METHOD, NodeType.PROPERTY)
    keys = [key for key in named_nodes(graph, (name,)) if key_kind(key) in kinds]
    symbols = (key.rpartition("|")[0].partition("(")[0].partition(":")[2] for key in keys)
    return any(short_name(one) == name or ("." in name and f".{one}".endswith(f".{name}")) for one in symbols)


_ALIKE = 0.8
"""Share of letters that a slip of typing leaves."""


def near_names(graph: Graph, name: str) -> tuple[str, ...]:
    """The names in the graph that are most like one that it does not have: that have words with half of its letters, or
    nearly all of these."""
    from rag_assets.graph.lookup import find, simple_name

    words, last = roots_of(name), name.rpartition(".")[2].casefold()

    def is_alike(other: str) -> bool:
        same = sum(map(len, words & roots_of(other)))
        return 2 * same >= len(last) or difflib.SequenceMatcher(None, other.casefold(), last).ratio() >= _ALIKE

    near = dict.fromkeys(simple_name(key) for key in find(graph, name).near)
    return tuple(filter(is_alike, near))[:3]


def facts_about(index: LabelIndex, graph: Graph, keys: Sequence[str], intent: Intent) -> GraphFacts:
    """What a question of this intent wants to know of some nodes: of a type its members too. The most telling come
    first, by the relevance of the other end and then by place."""
    from rag_assets.contracts.graph import NodeType, Relation, key_kind
    from rag_assets.graph.impact import in_test_file, in_test_module, language_without_resolver
    from rag_assets.graph.neighbourhood import neighbourhood
    from rag_assets.graph.relations import Direction, WalkStep

    steps = _steps(intent)
    entries = [key for key in keys if graph.find(key) is not None]
    is_of_tests = intent is Intent.TESTS and any(map(language_without_resolver, entries))
    if is_of_tests:  # of these, what calls it in a file of tests
        steps = (*steps, *_steps(Intent.USAGE))
    if not steps or not entries:
        return GraphFacts()
    if intent is Intent.USAGE and any(key_kind(key) in (NodeType.PROPERTY, NodeType.METHOD) for key in entries):
        steps = (*steps, WalkStep(Relation.REFERENCES, Direction.IN))  # of a type, what uses it says that with its verb
    # what implements the members of a type is what the types that implement it have
    if intent is Intent.IMPLEMENTATIONS:
        asked_for = _bases_below(graph, entries) | dict.fromkeys(entries, 1.0)
    else:
        asked_for = _with_members(graph, entries)
    if intent is Intent.USAGE:
        asked_for = _contracts(graph, entries) | asked_for
    # the nodes that are asked for count too, and a type of many members would leave no room
    most = len(asked_for) + _NEIGHBOURS_LOOKED_AT
    found = neighbourhood(graph, asked_for, steps=steps, depth=1, nodes=most, hub_edges=_NEIGHBOURS_LOOKED_AT)
    order = {node.key: at for at, node in enumerate(found.nodes)}
    asked = {node.key for node in found.nodes if node.distance == 0}
    calls = (NodeType.METHOD, NodeType.PROPERTY)
    contracts = (Relation.IMPLEMENTS, Relation.OVERRIDES)  # what is asked for does not use its own
    directions = {step.direction for step in steps}
    inwards, outwards = directions == {Direction.IN}, directions == {Direction.OUT}
    edges = [
        edge
        for edge in found.edges
        if edge.path
        and (
            not is_of_tests or edge.relation is Relation.TESTS or in_test_file(edge.path) or in_test_module(edge.source)
        )
        and ((edge.target in asked and not outwards) or (edge.source in asked and not inwards))
        and (
            intent is Intent.IMPLEMENTATIONS or not _is_within(edge, entries)
        )  # cases are in the type that they are of
        and not (intent is Intent.USAGE and edge.source in asked and edge.relation in contracts)
        and (edge.relation is not Relation.MAPS_TO or key_kind(edge.target) is not NodeType.TYPE)  # of services
    ]

    def telling(edge: GraphEdge) -> tuple[object, ...]:
        maps = edge.relation is Relation.MAPS_TO and edge.source in entries  # the table of a type, not what reads it
        calls_nothing = (
            intent is Intent.USAGE and edge.relation is Relation.IMPLEMENTS and key_kind(edge.source) in calls
        )
        nearest = max(order[edge.source], order[edge.target])
        is_far = intent is Intent.IMPLEMENTATIONS and edge.target not in entries
        return non_product_code(edge.path) is not None, calls_nothing, not maps, is_far, nearest, edge

    edges.sort(key=telling)
    if any(edge.relation is not Relation.OVERRIDES for edge in edges):  # types tell more than each of their members
        edges = [edge for edge in edges if edge.relation is not Relation.OVERRIDES]
    names = {node.key: node.name for node in found.nodes}
    if outwards:  # what a method implements is its contract, and nothing that it needs
        is_contract = Relation.IMPLEMENTS, NodeType.METHOD
        edges = [edge for edge in edges if (edge.relation, key_kind(edge.source)) != is_contract]

    def ends(edge: GraphEdge) -> object:
        return _shown(edge.target, names) if outwards else (edge.source, edge.target)

    # what creates a type runs its constructor: two edges, and one fact
    told = _each_once(seen_of(edges, index), ends, by_any=outwards)
    of_types = intent is Intent.TABLES and all(key_kind(key) is NodeType.TYPE for key in entries)
    if of_types:  # each table of a repository once, and not for each of its methods
        ways = [(one.relation, one.target, "" if one.source in asked else one.source) for one in told]
        told = [edge for at, edge in enumerate(told) if ways[at] not in ways[:at]]
    facts = tuple(dict.fromkeys(fact_of(edge, names) for edge in told))
    shown = facts[: _MOST_DERIVED if of_types or intent is Intent.IMPLEMENTATIONS else MOST_FACTS]
    return GraphFacts(shown, len(facts) + (0 if index.is_narrowed else found.left_out))


def _each_once(edges: Sequence[GraphEdge], ends: Callable[[GraphEdge], object], *, by_any: bool) -> list[GraphEdge]:
    """The edges without those that say again what another one says of the same `ends`. What creates a type, or is given
    one, uses it too, and so does the line that calls one of its members; `by_any`: whatever the relation is, as with
    what a type needs."""
    from rag_assets.contracts.graph import Relation

    told: set[object] = set()
    kept: set[int] = set()
    for number in sorted(range(len(edges)), key=lambda at: edges[at].relation is Relation.USES_TYPE):
        edge = edges[number]
        both, line, is_use = ends(edge), (edge.source, edge.path, edge.line), edge.relation is Relation.USES_TYPE
        is_known = (by_any or is_use) and both in told
        if (both, edge.relation) not in told and not is_known and not (is_use and not by_any and line in told):
            kept.add(number)
        told |= {both, (both, edge.relation), line}
    return [edge for number, edge in enumerate(edges) if number in kept]


def points_at(places: Iterable[tuple[str, int]], shard: PointReader, scope: SearchScope) -> dict[tuple[str, int], str]:
    """(path, line) → the id of the smallest section around it; places that no section of the scope has are absent. One
    look-up for all files: each costs as much as reading some dozen sections."""
    wanted = dict.fromkeys(places)
    if not wanted:
        return {}
    sections: dict[str, list[tuple[int, int, str]]] = {}
    for identifier, payload in sections_of({path for path, _ in wanted}, shard, scope).items():
        lines = payload.get("StartLine", 0), payload.get("EndLine", -1)
        sections.setdefault(payload.get("Path", ""), []).append((*lines, identifier))
    found: dict[tuple[str, int], str] = {}
    for path, line in wanted:
        known = sections.get(path, ())
        around = [(end - start, identifier) for start, end, identifier in known if start <= line <= end]
        if around:
            found[path, line] = min(around)[1]
    return found


class _Placed(Protocol):
    @property
    def path(self) -> str: ...
    @property
    def line(self) -> int: ...


_P = TypeVar("_P", bound=_Placed)


def seen_of(found: Iterable[_P], index: LabelIndex) -> list[_P]:
    """Of what was found all; of a narrowed index what a section of it shows, so that only this is counted and cut."""
    known = list(found)
    if not index.is_narrowed:
        return known
    located = points_at([(one.path, one.line) for one in known], index.parts.shard(), index.scope())
    return [one for one in known if (one.path, one.line) in located]


def facts_at(facts: Iterable[GraphFact], index: LabelIndex) -> dict[GraphFact, str]:
    """Those that a section of the index shows, each with the point of the smallest one."""
    known = list(facts)
    located = points_at([(one.path, one.line) for one in known], index.parts.shard(), index.scope())
    return {one: located[one.path, one.line] for one in known if (one.path, one.line) in located}


def _steps(intent: Intent) -> tuple[WalkStep, ...]:
    from rag_assets.contracts.graph import Relation
    from rag_assets.graph.relations import Direction, WalkStep

    needs = (
        *(Relation.CALLS, Relation.CONSTRUCTS, Relation.INJECTS, Relation.USES_TYPE, Relation.EXECUTES),
        *(Relation.READS_FROM, Relation.WRITES_TO, Relation.INHERITS, Relation.IMPLEMENTS),
    )
    wanted: Mapping[Intent, tuple[tuple[Relation, ...], Direction]] = {
        Intent.USAGE: (needs, Direction.IN),
        Intent.DEPENDENCIES: (needs, Direction.OUT),
        Intent.TESTS: ((Relation.TESTS,), Direction.IN),
        Intent.IMPLEMENTATIONS: ((Relation.IMPLEMENTS, Relation.INHERITS, Relation.OVERRIDES), Direction.IN),
        Intent.HANDLERS: ((Relation.HANDLES,), Direction.IN),
        Intent.ROUTES: ((Relation.HANDLES, Relation.EXPOSES), Direction.BOTH),
        Intent.TABLES: (
            (Relation.READS_FROM, Relation.WRITES_TO, Relation.EXECUTES, Relation.MAPS_TO, Relation.FOREIGN_KEY),
            Direction.BOTH,
        ),
    }
    relations, direction = wanted.get(intent, ((), Direction.BOTH))
    if intent is Intent.TABLES:  # what executes a procedure is none of its tables
        return tuple(
            WalkStep(relation, Direction.OUT if relation is Relation.EXECUTES else direction) for relation in relations
        )
    return tuple(WalkStep(relation, direction) for relation in relations)


def _with_members(graph: Graph, keys: Sequence[str]) -> dict[str, float]:
    """The nodes, and what they contain with less weight: to use a type is to call its members."""
    from rag_assets.contracts.graph import Relation
    from rag_assets.graph.neighbourhood import neighbourhood
    from rag_assets.graph.relations import Direction, WalkStep

    inside = neighbourhood(graph, keys, steps=(WalkStep(Relation.CONTAINS, Direction.OUT),), depth=1, nodes=_LOOKED_AT)
    return {node.key: 1.0 if node.distance == 0 else 0.5 for node in inside.nodes}


def _bases_below(graph: Graph, keys: Sequence[str]) -> dict[str, float]:
    """What derives from types and has types that derive from it: these derive from the first ones too."""
    from rag_assets.contracts.graph import NodeType, key_kind
    from rag_assets.graph.declared_types import derived_from

    types = [graph.find(key) for key in keys if key_kind(key) is NodeType.TYPE]
    bases = derived_from(graph, [node for node in types if node is not None])[1] if types else ()
    return {graph.keys[node]: 0.5 for node in sorted(bases)}


def _contracts(graph: Graph, keys: Sequence[str]) -> dict[str, float]:
    """The members that methods implement or override, and the interfaces that no other type of the product implements,
    with their members: who calls an interface calls what is behind it."""
    from rag_assets.contracts.graph import NodeType, Relation, key_kind
    from rag_assets.graph.neighbourhood import neighbourhood
    from rag_assets.graph.relations import Direction, WalkStep

    steps = tuple(WalkStep(relation, Direction.OUT) for relation in (Relation.IMPLEMENTS, Relation.OVERRIDES))
    behind = WalkStep(Relation.IMPLEMENTS, Direction.IN)

    def is_of_one(contract: str) -> bool:
        found = neighbourhood(graph, (contract,), steps=(behind,), depth=1, nodes=_LOOKED_AT)
        return sum(edge.target == contract and non_product_code(edge.path) is None for edge in found.edges) == 1

    of = {kind: [key for key in keys if key_kind(key) is kind] for kind in (NodeType.METHOD, NodeType.TYPE)}
    members = neighbourhood(graph, of[NodeType.METHOD], steps=steps, depth=1, nodes=_LOOKED_AT).nodes
    types = neighbourhood(graph, of[NodeType.TYPE], steps=steps[:1], depth=1, nodes=_LOOKED_AT).nodes
    alone = [node.key for node in types if node.distance and is_of_one(node.key)]
    return dict.fromkeys((node.key for node in members), 0.5) | (_with_members(graph, alone) if alone else {})


def _is_within(edge: GraphEdge, entries: Sequence[str]) -> bool:
    """That a type uses its own members is no usage."""
    return any(_is_of(edge.source, key) and _is_of(edge.target, key) for key in entries)


def _is_of(key: str, owner: str) -> bool:
    """Whether a node is a type or declared in it."""
    symbol = owner.rpartition("|")[0]
    return key == owner or key.startswith(f"{symbol}.")


def fact_of(edge: GraphEdge, names: Mapping[str, str]) -> GraphFact:
    from rag_assets.contracts.graph import Confidence

    return GraphFact(
        _shown(edge.source, names),
        _VERBS[edge.relation.value],
        _shown(edge.target, names),
        edge.path,
        edge.line,
        edge.confidence is Confidence.RESOLVED,
    )


_COMPONENT = re.compile(r"\.(?=(?:vue|svelte|razor|cshtml)\.)")
"""Where the file of a component is named before what it declares: `Orders.vue.load`."""


def _shown(key: str, names: Mapping[str, str]) -> str:
    """`OrderService.Cancel` of `csharp:Shop.Orders.OrderService.Cancel(int)|METHOD`, `dbo.Orders` of a table."""
    symbol, _, kind = key.rpartition("|")
    _language, colon, bare = symbol.partition(":")
    if not colon or kind in ("ENDPOINT", "FILE", "SECTION"):
        return names.get(key, symbol)
    parts = _COMPONENT.sub("\0", bare.partition("(")[0]).split(".")
    shown = [
        short_name(part).rpartition("/")[2].replace("\0", ".")
        for part in parts[-2 if kind in ("METHOD", "PROPERTY") else -1 :]
    ]
    return ".".join(dict.fromkeys(shown))  # a constructor is its type to whoever reads of it
