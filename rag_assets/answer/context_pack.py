"""Everything that an answer is made from: hits, definitions of the names in the question, facts of the graph, as
evidence that the reader may see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rag_assets.answer.abstention import Signals, confidence, has_known_cosines, signals_of
from rag_assets.answer.fetch import FetchRequest, fetch_evidence
from rag_assets.answer.graph_facts import GraphFact, GraphFacts, facts_about, named_nodes, near_names, points_at
from rag_assets.answer.intent import Intent, QueryIntent, intent_of
from rag_assets.answer.terms import QueryTerm, words_asked_of
from rag_assets.contracts.evidence import Evidence, Origin, short_name

if TYPE_CHECKING:
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.search import Hit, SearchResult
    from rag_assets.search.index import LabelIndex, Searchable

_DEFINITIONS = 6
"""Points that are read for one name of the question: the sections of a type, or of the parts of a partial one."""
_MOST_NAMES = 4
_GRAPH_ENTRIES = 4  # hits whose nodes a question about routes or tables starts from
_ABOVE_HITS = 1.05  # what declares a name of the question comes before what only mentions it


@dataclass(frozen=True, slots=True)
class AnswerInputs:
    """Everything that an answer is made from. `signals` say how well it fits the question; `warnings` are those of the
    search and of reading; those that are also `lost` name files that were found and cannot be read. `is_open` says
    that nothing narrowed it."""

    search: SearchResult
    wish: QueryIntent
    words: tuple[QueryTerm, ...]
    evidence: tuple[Evidence, ...]
    facts: GraphFacts
    at: Mapping[GraphFact, Evidence]
    unknown: tuple[str, ...]
    near: tuple[str, ...]
    warnings: tuple[str, ...]
    signals: Signals
    is_open: bool
    lost: tuple[str, ...] = ()

    @property
    def confidence(self) -> float:
        """How likely it answers the question, 0 to 1, on the scale that the threshold of abstention is on."""
        return confidence(self.signals)


def graph_or_reason(index: LabelIndex) -> Graph | str:
    """The graph of an index, or why it has none."""
    from rag_assets.graph.artifact import GraphError
    from rag_assets.search.graph_context import graph_of

    try:
        return graph_of(index)
    except GraphError as error:
        return str(error)


def read(
    result: SearchResult, target: Searchable, graph_of: Callable[[LabelIndex], Graph | str] = graph_or_reason
) -> AnswerInputs:
    """The evidence for a question: what its search found, and where the caller did not narrow it, what declares its
    names and what the graph says of them. Never more than the scope of `target` lets be seen. `graph_of` is for
    those who keep graphs open."""
    wish = intent_of(result.question)
    words = words_asked_of(target.parts, result.question.text)
    measured = all(has_known_cosines(known.embedding_model) for known in target.manifests.values())
    wanted = [
        FetchRequest(hit.point_id, hit.score, dense=hit.scores.get("dense") if measured else None)
        for hit in result.hits
    ]
    is_open = not _narrowed(result)
    names = wish.names[:_MOST_NAMES]
    declared = {name: _declaring(name, target) for name in names}
    facts, at_points, near = GraphFacts(), dict[GraphFact, str](), dict[str, None]()
    warnings: list[str] = []
    if is_open:
        best = max((hit.score for hit in result.hits), default=1.0)
        for points in declared.values():
            wanted += [FetchRequest(point, best * _ABOVE_HITS, Origin.DEFINITION) for point in points]
        undeclared = [name for name in names if not declared[name]]
        facts, at_points, near = _from_graphs(wish, undeclared, target, result.hits, warnings, graph_of)
        wanted += [FetchRequest(point, 0.0, Origin.GRAPH) for point in at_points.values()]
    gathered = fetch_evidence(wanted, target.parts, target.manifests, target.scope())
    by_point = {known: piece for piece in gathered.evidence for known in piece.point_ids}
    at = {fact: by_point[point] for fact, point in at_points.items() if point in by_point}
    evidence = tuple(_with_facts(piece, [fact for fact in at if at[fact] is piece]) for piece in gathered.evidence)
    at = {fact: evidence[gathered.evidence.index(piece)] for fact, piece in at.items()}
    unknown = tuple(name for name in names if not declared[name] and not _is_mentioned(name, gathered.evidence))
    signals = signals_of(words, wish.names, unknown, evidence, len(at))
    lost = tuple(dict.fromkeys(gathered.warnings))
    warned = (*result.warnings, *warnings, *lost)
    return AnswerInputs(result, wish, words, evidence, facts, at, unknown, tuple(near), warned, signals, is_open, lost)


def _with_facts(piece: Evidence, facts: Sequence[GraphFact]) -> Evidence:
    """Evidence that also says what the graph knows of it."""
    said = "; ".join(f"{fact.source} {fact.verb} {fact.target}" for fact in facts)
    return replace(piece, via=said) if said else piece


def _narrowed(result: SearchResult) -> bool:
    """Whether options of the caller narrow the search: then nothing else than its hits is evidence."""
    return any(
        name.lstrip("-") in ("path", "kind", "lang", "source_type", "symbol", "since", "before")
        for name in result.filters
    )


def _declaring(name: str, target: Searchable) -> list[str]:
    """The points that declare a name, those first whose symbol it is."""
    shard, scope = target.parts.shard(), replace(target.scope(), names=(name,))
    payloads = shard.retrieve(sorted(shard.ids(scope)), scope)
    last = name.rpartition(".")[2].casefold()
    sizes = Counter(known.get("Path", "") for known in payloads.values())

    def order(identifier: str) -> tuple[bool, bool, int, str, int, str]:
        known = payloads[identifier]
        own = short_name(str(known.get("Symbol", ""))).casefold() == last
        path = known.get("Path", "")
        return not own, known.get("Kind") == "Test", -sizes[path], path, known.get("StartLine", 0), identifier

    return sorted(payloads, key=order)[:_DEFINITIONS]


def _from_graphs(
    wish: QueryIntent,
    undeclared: Sequence[str],
    target: Searchable,
    hits: Sequence[Hit],
    warnings: list[str],
    graph_of: Callable[[LabelIndex], Graph | str],
) -> tuple[GraphFacts, dict[GraphFact, str], dict[str, None]]:
    """Facts about the names of a question, or about its best hits, with the points that show them; and names like the
    `undeclared` ones."""
    from rag_assets.search.graph_context import entries_of

    if wish.intent in (Intent.EXPLANATION, Intent.DEFINITION) and not undeclared:
        return GraphFacts(), {}, {}
    found: list[GraphFact] = []
    total = 0
    points: dict[GraphFact, str] = {}
    near: dict[str, None] = {}
    for index in target.members.values():
        graph = graph_of(index)
        if isinstance(graph, str):
            warnings.append(graph)
            continue
        keys = named_nodes(graph, wish.names)
        near |= dict.fromkeys(other for name in undeclared for other in near_names(graph, name))
        if not keys and wish.intent in (Intent.ROUTES, Intent.TABLES):
            own = [hit for hit in hits if hit.label == index.label][:_GRAPH_ENTRIES]
            keys = tuple(entries_of(index, own))
        facts = facts_about(graph, keys, wish.intent)
        located = points_at([(fact.path, fact.line) for fact in facts.facts], index.parts.shard(), index.scope())
        points |= {fact: located[fact.path, fact.line] for fact in facts.facts if (fact.path, fact.line) in located}
        found += facts.facts
        total += facts.total
    return GraphFacts(tuple(found), total), points, near


def _is_mentioned(name: str, evidence: Sequence[Evidence]) -> bool:
    """Whether an identifier that nothing declares is at least written in the evidence, as library names are."""
    last = name.rpartition(".")[2].casefold()
    return any(last in known.text.casefold() for known in evidence)
