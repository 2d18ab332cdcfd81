"""What happens when something is done: the member that is called so, and what it comes to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.answer.artifact.graph_columns import GraphColumns
from rag_assets.answer.graph_facts import GraphFacts, facts_at
from rag_assets.answer.plans.request_flow import DOUBLE, IN_ORDER, steps_at, way_of
from rag_assets.answer.question_analysis import name_roots, root, root_set, telling_words
from rag_assets.answer.structure.actions import MEANS, name_said, with_phrasal_verbs
from rag_assets.contracts.graph import NodeType, Relation
from rag_assets.graph.lookup import short_name
from rag_assets.identifiers import identifier_words, singular, word_set

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
    r"(?:(?:,|;| -)? (?:and|or|but) (?:what|which|who|where|how|is|are|does|do|can|when|why)\b.*|(?<=\w)\W*)$",
    re.IGNORECASE,
)
_ACTORS = root_set(
    "admin administrator anybody application buyer client customer employee guest member person people shopper",
    "somebody someone system user visitor",
)
"""Who does something: the names of code seldom say it."""
_OF_ACTORS = _ACTORS - root_set("application client system")
_SAYS_LITTLE = root_set("another existing given new other own same step")
_OF_METHODS = root_set(
    "as async at by core do endpoint execute from handle handler in internal into invoke new of on or perform post",
    "process run sync to try with",
)
"""What the names of methods have beside what they do."""
_OF_TYPES = root_set(
    "action aggregate api app application async base business command consumer controller core default domain endpoint",
    "entity event facade feature grain handler helper impl integration internal job listener logic manager message",
    "model mutation notification operation page process processing processor provider repository request resolver",
    "resource root saga service state store task use case view workflow",
)
_NO_DOERS = root_set("builder configuration dto mapper mapping options profile settings test validator")
"""Last words of types that only describe what others do."""
_SUFFERS = re.compile(
    r"(?:^(?:(?:an?|the|our|each|every|new|existing|own) )*|\b)(?P<who>\w+)"
    r"(?: (?:is|are|gets?|was|were|ha[sv]e? been|being))?(?: \w+ly)? (?P<verb>\w+(?:ed|en))\b"
    r"|(?<=s) (?:an?|another|existing|the) (?P<whom>\w+)\W*$",
    re.IGNORECASE,
)
"""Something is done to somebody: the user who is deleted does nothing, and whom the admin bans does neither."""
_DONE_BY_ONESELF = root_set("authenticated logged registered signed")
_DENIES = re.compile(
    r"\b(?:cannot|never|no longer|not|without)\b|n['’]t\b|\b(?:that|which|who) (?:are|ha(?:s|ve) been|is|was|were)\b",
    re.IGNORECASE,
)
"""Of what is not done, or is done to what is so already, which no name says."""
_TELLS = re.compile(r"\?$|^(?i:are|can|has|is|should|was)(?=[A-Z_])")
"""Of a member that says whether something is so."""
_MAKES = re.compile(r"[Nn]ew[A-Z]")
"""How Go calls a function that makes a value of a type."""
_PAST = re.compile(r"ed$|^(?:bought|built|given|held|kept|lost|paid|sent|sold|taken|written)$", re.IGNORECASE)
_NOUNS = word_set("setting")
_FAILS = root_set("error exception")
"""Of a method that makes what is thrown."""
_CALLS_OTHERS = re.compile(r"(?:^|/)(?:[\w.-]*[.-])?(?:client|sdk)s?/|Client\.\w+$", re.IGNORECASE)
"""Of a library that sends to the product what the product then does."""
_MOST_WORDS, _MOST_EXTRA = 4, 1
_MOST_STARTS, _MOST_APART = 12, 4
_IS_CONTRACT = re.compile(r"\b(?:interface|protocol|trait)\b")
_DOES_NOTHING = re.compile(
    r"\babstract\b|\b(?:IServiceCollection|ContainerBuilder|IApplicationBuilder|IEndpointRouteBuilder|ModelBuilder)\b"
)
"""Of a method without a body, and of one that only puts an application together."""


@dataclass(frozen=True, slots=True)
class Happening:
    """The roots of the words for what is done, and of those for who does it; the words as they are `said`, in the
    singular, and whether it is asked how that is done, and not what happens then."""

    done: tuple[str, ...]
    actors: frozenset[str]
    said: frozenset[str]
    is_how: bool


def happening_asked(question: str) -> Happening | None:
    """What a question wants to know the course of; None for another question."""
    found = _ASKED.match(" ".join(question.split()))
    said = next(filter(None, found.groups())) if found is not None else ""
    wanted = happening_of(said, is_how=found["how"] is not None) if found is not None else None
    is_told = wanted is not None and len(wanted.done) + len(wanted.actors) > 1 and _DENIES.search(said) is None
    return wanted if is_told else None


def happening_of(said: str, *, is_how: bool = True) -> Happening | None:
    """What some words say is done; None where they say nothing, or too much for a name."""
    told = with_phrasal_verbs(said)
    roots = dict.fromkeys(root(word) for word, _ in telling_words(told))
    suffers = [one for one in _SUFFERS.finditer(told) if root(one["verb"] or "") not in _DONE_BY_ONESELF]
    actors = _ACTORS - {root(one["who"] or one["whom"]) for one in suffers}
    done = tuple(one for one in roots if one not in actors | _SAYS_LITTLE)
    words = frozenset(singular(word) for word in said.lower().split())
    return Happening(done, frozenset(roots) & actors, words, is_how) if 0 < len(done) <= _MOST_WORDS else None


def behaviour_facts(index: LabelIndex, graph: Graph, wanted: Happening) -> tuple[str, Facts, str]:
    """The method that is called as what is done, of several one of an endpoint, or that which comes to most of the
    others, with what it comes to and the point that shows it; nothing where too many that are apart are called so."""
    columns = GraphColumns(index, graph, None)
    exposing = frozenset(columns.source[columns.of(Relation.EXPOSES)].tolist())
    starts = _starts(columns, wanted, exposing)
    if not 0 < len(starts) <= _MOST_STARTS:
        return "", (GraphFacts(), {}), ""
    ways = {node: way_of(graph, graph.keys[node]) for node in starts}
    met = {node: {graph.keys[one] for one in starts} & {graph.keys[node], *way} for node, way in ways.items()}
    first = max(starts, key=lambda node: (len(met[node]), node in exposing, len(ways[node])))
    outside = [node for node in starts if node in exposing]
    if len(starts) - len(met[first]) > _MOST_APART and 0 < len(outside) <= _MOST_APART:
        first = max(outside, key=lambda node: len(ways[node]))
    begin = facts_at(steps_at(graph, [graph.keys[first]]), index)
    if not begin or (len(starts) - len(met[first]) > _MOST_APART and first not in outside):
        return "", (GraphFacts(), {}), ""
    at = facts_at(steps_at(graph, ways[first]), index)
    heading = IN_ORDER if at else ""
    return short_name(graph.keys[first]), (GraphFacts(tuple(at), len(at), heading), at), next(iter(begin.values()))


def _starts(columns: GraphColumns, wanted: Happening, exposing: frozenset[int]) -> list[int]:
    """The methods that do something and are called as what is done, those whose names say the least beside it, of
    overloads the longest. A word alone is that of the method itself; of a customer who registers also that of an
    endpoint, of a name that says who does it, or of a type that says it too."""
    graph = columns.graph
    contains = columns.of(Relation.CONTAINS)
    owners, members = columns.source[contains], columns.target[contains]
    abstract = [owner for owner in set(owners.tolist()) if _IS_CONTRACT.search(graph.signature(owner))]
    contracts = set(members[np.isin(owners, abstract)].tolist())
    meant = [*_meant(wanted)]
    telling = frozenset().union(*(each for words in meant for each in words))
    best: dict[str, tuple[int, int, int]] = {}
    for node in columns.nodes(NodeType.METHOD).tolist():
        name, owner = _called(graph.keys[node])
        extra = _extra(name, owner, meant, wanted)
        if extra is None or name == owner.rpartition(".")[2] or node in contracts or _TELLS.search(name):
            continue
        if _DOES_NOTHING.search(graph.signature(node)):
            continue
        own, around = name_said(name), name_said(owner)
        is_of_actor = node in exposing or not (_OF_ACTORS | telling).isdisjoint(around) or _OF_ACTORS & own
        if len(wanted.done) == 1 and not (is_of_actor if wanted.actors else telling & own):
            continue
        place = columns.place(node)
        if place is not None and place.path.endswith(".go") and _MAKES.match(name):
            continue
        extra += 4 * name.startswith(("On", "on_"))  # which hears of it
        extra += 4 * (DOUBLE.search(f"{owner}.{name}") is not None)
        extra += 2 * (_CALLS_OTHERS.search(f"{place.path if place else ''} {owner}.{name}") is not None)
        found = (extra, -columns.length(node), node)
        called = graph.keys[node].partition("(")[0]
        best[called] = min(found, best.get(called, found))
    least = min((extra for extra, *_ in best.values()), default=0)
    return [node for extra, _, node in best.values() if extra == least]


def _called(key: str) -> tuple[str, str]:
    """What a method and its type are called, a type that says nothing with what is around it: `CreateOrder.Handler`."""
    parts = key.partition(":")[2].rpartition("|")[0].partition("(")[0].split(".")
    name, owner = parts[-1], parts[-2] if len(parts) > 1 else ""
    if len(parts) > 2 and {*name_said(name), *name_said(owner)} <= _OF_METHODS | _OF_TYPES:
        owner = f"{parts[-3]}.{owner}"
    return name, owner


def _meant(wanted: Happening) -> Iterator[list[frozenset[str]]]:
    """The words as they are said, then as code may call them."""
    yield [frozenset({one}) for one in wanted.done]
    wider = [MEANS.get(one, frozenset({one})) for one in wanted.done]
    if any(len(one) > 1 for one in wider):
        yield wider


def _extra(name: str, owner: str, meant: Sequence[Sequence[frozenset[str]]], asked: Happening) -> int | None:
    """How far a method and its type are called from what is done: twice the words beside it, after one of its own, one
    more where only what code may call it is said, which has none beside, neither has a word alone as it is said: `hat`
    of `hat_text`, and not `sanitizer` of `SanitizeText`; None where it is called otherwise, as `TeamGroup.CreateTeam`
    is for a group that is created. What is called as what has been done, `OrderPaidHandler`, hears of it, and does not
    tell how it is done."""
    if not _NO_DOERS.isdisjoint(name_roots(owner)[-1:]):
        return None
    if any(one not in f"{owner}{name}".lower() for one in _NOUNS & asked.said):  # a setting is nothing that is set
        return None
    for at, words in enumerate(meant):
        wanted = frozenset().union(*words)
        own, around = name_said(name) - (_OF_METHODS - wanted), name_said(owner) - (_OF_TYPES - wanted)
        own = own if own - _OF_METHODS or at == 0 else frozenset[str]()  # `post` of HTTP creates no post
        if any(each.isdisjoint(own | around) for each in words) or (own and own.isdisjoint(wanted)):
            continue
        if not _FAILS.isdisjoint(own - wanted):
            continue
        is_own = all(not each.isdisjoint(own) for each in words)
        last = next((one for one in reversed(name_roots(owner)) if one in wanted), "")
        if not is_own and not own.isdisjoint(around & wanted) and last not in own:
            continue
        beside = len((own if is_own else own | around) - wanted - asked.actors)
        is_first = not own or next(one for one in name_roots(name) if one in own) in wanted
        is_past = any(
            _PAST.search(one) and root(one.lower()) in wanted for one in identifier_words(name if own else owner)
        )
        if is_past and (own - wanted if own else asked.is_how):
            continue
        called = [one.lower() for one in identifier_words(name)]
        is_noun = len(words) == 1 and next((one for one in called if root(one) in own), "") in asked.said
        if len(words) == 1 and called[:1] == ["new"]:
            continue
        if beside <= _MOST_EXTRA * (is_first and at == 0 and not is_noun):
            return 2 * beside + at
    return None
