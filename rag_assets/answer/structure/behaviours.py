"""What happens when something is done: the member that is called so, and what it comes to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_assets.answer.artifact.graph_columns import GraphColumns
from rag_assets.answer.graph_facts import GraphFacts, facts_at
from rag_assets.answer.plans.request_flow import steps_at, way_of
from rag_assets.answer.question_analysis import asks_about_failure, root, root_set, telling_words
from rag_assets.answer.structure.actions import MEANS, name_said, with_phrasal_verbs
from rag_assets.contracts.graph import NodeType, Relation
from rag_assets.graph.lookup import short_name

if TYPE_CHECKING:
    from rag_assets.answer.graph_facts import Facts
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.search.index import LabelIndex

_WHEN = "(?:when(?:ever)?|once|after|as soon as|if|while)"
_ASKED = re.compile(
    r"^\W*(?:(?:please|explain|describe|show|tell|me|us|exactly|to) )*"
    r"(?:what(?: exactly| all| else)? (?:happens|is done|goes on|is triggered)"
    rf"(?: exactly| next| internally| behind the scenes| step by step| in (?:the )?\w+(?: \w+)?)? {_WHEN}"
    r" (?P<happens>.+?)"
    rf"|what does (?:it|the \w+(?: \w+)?) do {_WHEN} (?P<does>.+?)"
    r"|how (?:(?:is|are|gets?) |(?:does|do|can|would) (?=(?:an?|the|our|my) ))(?P<how>.+?)"
    r"|(?:walk (?:me|us) through|what (?:is|are) the (?:flow|process|steps?|work ?flow) (?:of|for|when|to)"
    r"|(?:the )?(?:flow|process|steps?|work ?flow) (?:of|for|when)) (?P<flow>.+?))"
    r"(?:(?:,|;| -)? (?:and|or|but) (?:what|which|who|where|how|is|are|does|do|can|when|why)\b.*)?\W*$",
    re.IGNORECASE,
)
_ACTORS = root_set(
    "admin administrator anybody application buyer client customer employee guest member person people shopper",
    "somebody someone system user visitor",
)
"""Who does something: the names of code seldom say it."""
_OF_METHODS = root_set(
    "apply async begin core do endpoint execute handle handler internal invoke new on perform post process run sync try"
)
"""What the names of methods have beside what they do."""
_OF_TYPES = root_set(
    "action aggregate api app application async base business command consumer controller core default domain endpoint",
    "entity event facade feature grain handler helper impl integration internal job listener logic manager message",
    "model mutation notification operation page process processing processor provider repository request resolver",
    "resource root saga service state store task use case view workflow",
)
_MOST_WORDS, _MOST_EXTRA = 4, 1
_MOST_STARTS, _MOST_APART = 12, 4


@dataclass(frozen=True, slots=True)
class Happening:
    """The roots of the words for what is done, and of those for who does it."""

    done: tuple[str, ...]
    actors: frozenset[str]


def happening_asked(question: str) -> Happening | None:
    """What a question wants to know the course of; None for another question."""
    found = _ASKED.match(" ".join(question.split()))
    if found is None or asks_about_failure(question):
        return None
    said = with_phrasal_verbs(next(filter(None, found.groups())))
    roots = dict.fromkeys(root(word) for word, _ in telling_words(said))
    done = tuple(one for one in roots if one not in _ACTORS)
    is_short = 0 < len(done) <= _MOST_WORDS and len(roots) > 1
    return Happening(done, frozenset(roots) & _ACTORS) if is_short else None


def behaviour_facts(index: LabelIndex, graph: Graph, wanted: Happening) -> tuple[str, Facts, str]:
    """The method that is called as what is done, of several that which comes to most of the others, with what it comes
    to and the point that shows it; nothing where too many that are apart are called so."""
    columns = GraphColumns(index, graph, None)
    starts = _starts(columns, wanted)
    if not 0 < len(starts) <= _MOST_STARTS:
        return "", (GraphFacts(), {}), ""
    ways = {node: way_of(graph, graph.keys[node]) for node in starts}
    exposed = _exposing(columns)
    met = {node: {graph.keys[one] for one in starts} & {graph.keys[node], *way} for node, way in ways.items()}
    first = max(starts, key=lambda node: (len(met[node]), node in exposed, len(ways[node])))
    apart = [node for node in starts if graph.keys[node] not in met[first]]
    begin = facts_at(steps_at(graph, [graph.keys[first]]), index)
    if not begin or len(apart) > _MOST_APART:
        return "", (GraphFacts(), {}), ""
    at = facts_at(steps_at(graph, ways[first]), index)
    heading = "**It comes to, in this order:**" if at else ""
    return short_name(graph.keys[first]), (GraphFacts(tuple(at), len(at), heading), at), next(iter(begin.values()))


def _exposing(columns: GraphColumns) -> frozenset[int]:
    return frozenset(columns.source[columns.of(Relation.EXPOSES)].tolist())


def _starts(columns: GraphColumns, wanted: Happening) -> list[int]:
    """The methods that go on to something and are called as what is done, those whose names say the least beside it. A
    word alone, as of a customer who registers, is that of an endpoint, or of a name that says who does it."""
    graph, contains, exposing = columns.graph, columns.of(Relation.CONTAINS), _exposing(columns)
    going = set(columns.source[columns.of(Relation.CALLS, Relation.CONSTRUCTS)].tolist())
    owners = dict(zip(columns.target[contains].tolist(), columns.source[contains].tolist(), strict=True))
    named = {
        node: (graph.names[node], graph.names[owners[node]] if node in owners else "")
        for node in columns.nodes(NodeType.METHOD).tolist()
        if node in going
    }
    if len(wanted.done) == 1:
        named = {
            at: one for at, one in named.items() if at in exposing or not _ACTORS.isdisjoint(name_said("".join(one)))
        }
    for meant in _meant(wanted.done):
        extra = {
            node: beside
            for node, (name, owner) in named.items()
            if name != owner and (beside := _extra(name, owner, meant, wanted.actors)) is not None
        }
        if extra:
            return [node for node, beside in extra.items() if beside == min(extra.values())]
    return []


def _meant(done: Sequence[str]) -> Iterator[list[frozenset[str]]]:
    """The words as they are said, then as code may call them."""
    yield [frozenset({one}) for one in done]
    wider = [MEANS.get(one, frozenset({one})) for one in done]
    if any(len(one) > 1 for one in wider):
        yield wider


def _extra(name: str, owner: str, meant: Sequence[frozenset[str]], actors: frozenset[str]) -> int | None:
    """How many words a method and its type are called by beside all that is meant; None where they do not say that, or
    only what it is done to."""
    wanted = frozenset().union(*meant)
    own, around = name_said(name) - (_OF_METHODS - wanted), name_said(owner) - (_OF_TYPES - wanted)
    is_said = all(not each.isdisjoint(own | around) for each in meant)
    if not is_said or (own and own.isdisjoint(wanted)):
        return None
    is_own = all(not each.isdisjoint(own) for each in meant)
    beside = len((own if is_own else own | around) - wanted - actors)
    return beside if beside <= _MOST_EXTRA else None
