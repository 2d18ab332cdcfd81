"""Which projects use a package, by the manifests and project files that name it; what receives a message that the graph
knows no handler of; what is registered; and what a change of something reaches."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

import numpy as np

from rag_assets.answer.graph_facts import MOST_FACTS, GraphFact, GraphFacts, fact_of, facts_at, named_nodes, seen_of
from rag_assets.answer.plans.code_lines import (
    MOST_LISTED,
    MOST_READ,
    by_place,
    code_of,
    facts_listed,
    facts_naming,
    list_heading,
    points_naming,
    points_with,
    product_of,
    says,
)
from rag_assets.answer.plans.listing import is_called, of_kind, places_of
from rag_assets.answer.question_analysis import QueryTerm, root
from rag_assets.contracts.graph import NodeType, Relation, key_kind
from rag_assets.graph.csr_graph import IN, RELATIONS, Graph, ResultReader
from rag_assets.graph.impact import ImpactGroup, Reached, impact, in_test_file
from rag_assets.graph.lookup import short_name
from rag_assets.identifiers import identifier_words
from rag_assets.index.keyword.terms import FUNCTION_WORDS
from rag_assets.search.index import LabelIndex, Searchable
from rag_assets.search.ranking.penalties import non_product_code, product_or_samples

_REGISTERING = (
    "AddScoped AddSingleton AddTransient AddHostedService AddHttpClient AddDbContext TryAddSingleton Decorate"
    " RegisterType RegisterGeneric RegisterInstance ContainerBuilder Registry Bind"
)
_REGISTERS = re.compile(
    r"(?:\.\s*(?:(?:Try)?Add(?:Keyed)?(?:Scoped|Singleton|Transient|HostedService|HttpClient|DbContext)|(?:Try)?Decorate"
    r"|Register(?=<[^<>]+,)|Register(?:Generic|Instance|Type))|\b(?:Component\.For|(?:Bind|For)(?=<[^;]+\)\s*\.(?:To|Use))))"
    r"(?:<|\(typeof\()(?:\w+\.)*(?P<service>(?!T\b|T[A-Z])\w+)"
)
"""What gives a service to a container: of .NET, or Autofac, Castle Windsor, Ninject, StructureMap, Unity."""
_LIVES = {"Singleton": "SingleInstance", "Scoped": "InstancePer", "Transient": "InstancePerDependency"}
"""What Autofac calls how long a service lives."""
_AS = re.compile(r"\.\s*As<(?:\w+\.)*(\w+)>")
_MOST_OF_REGISTRATION = 6  # lines
_RECEIVES = (
    r"\b(?:(?:Un)?[Ss]ubscribe|[Ll]isten|[Hh]andle|[Cc]onsume|[Rr]eceive|[Oo]n|[Ww]ait)\w*<(?:\w+\.)*{0}>"
    r"|\b(?:is|case|instanceof)\s+\(?(?:\w+\.)*{0}(?![\w.])"
    r"|\b(?:[Hh]andle|[Cc]onsume|[Rr]eceive|[Oo]n[A-Z]|Apply|When)\w*\((?:[\w.]+\s+\w+,\s*)*(?:\w+\.)*{0}\s+\w+"
)
"""What gets a message: `Subscribe<OrderPaid>(…)`, `if (message is OrderPaid)`, `Handle(OrderPaid paid)`."""
_CONNECTS = r"(?<!\w){0}\.connect(?:_via)?\(|^\s*@receiver\((?:[^)]*[\s.,\[(])?{0}(?!\w)"
"""What gets a signal of Django, Celery or Flask."""


_SAID = re.compile(
    r"\b(?:an?|its|our|the|this|are|is|of|on|calls?|changed?|covers?|deleted?|drop|implements?|invokes?|modify|needs?"
    r"|removed?|renamed?|tests?|uses?) (?=(?P<said>[a-z][\w-]*(?: [a-z][\w-]*){0,4}))",
    re.IGNORECASE,
)
_KINDS_SAID = {
    **dict.fromkeys(("table",), (NodeType.TABLE, NodeType.TABLE_OR_VIEW)),
    **dict.fromkeys(("view",), (NodeType.VIEW, NodeType.TABLE_OR_VIEW)),
    **dict.fromkeys(("procedure", "proc", "sproc"), (NodeType.PROC,)),
    **dict.fromkeys(("method", "function"), (NodeType.METHOD, NodeType.FUNC)),
    **dict.fromkeys(
        [
            "class",
            "command",
            "component",
            "dto",
            "entity",
            "enum",
            "event",
            "exception",
            "interface",
            "message",
            "model",
            "query",
            "record",
            "request",
            "service",
            "struct",
            "type",
        ],
        (NodeType.TYPE,),
    ),
}
"""What somebody says behind a name. Of types it may be a part of the name as well."""


def endpoints_reaching(
    index: LabelIndex, graph: Graph, names: Sequence[str]
) -> tuple[GraphFacts, dict[GraphFact, str]]:
    """The endpoints that lead to what some names mean, through whatever they call, each where its handler is."""
    nodes = [node for key in named_nodes(graph, names) if (node := graph.find(key)) is not None]
    reached = (graph.find(one.key) for one in impact(graph, nodes).reached if one.group is ImpactGroup.ENDPOINTS)
    places = places_of(graph, np.array(sorted(node for node in reached if node is not None), np.int64))
    found = seen_of(sorted(places, key=lambda one: (one.path, one.line)), index)
    kept = product_or_samples(one.path for one in found)
    return facts_listed([one.fact for one in found if one.path in kept], "endpoint", index)


def with_names(graphs: Sequence[Graph], text: str) -> tuple[str, tuple[str, ...]]:
    """(a question with the first thing that it says in words, and that the graph has one of, as code writes it; what it
    is called): `who uses the order manager?` → `who uses the OrderManager?`; a class goes with its interface, which is
    what others are given. (the question, ()) where it has none."""
    for found in _SAID.finditer(text):
        words = list(takewhile(lambda word: word not in FUNCTION_WORDS, found["said"].lower().split()))
        for end in range(len(words), 0, -1):
            if names := next(filter(None, (_called(graph, words[:end]) for graph in graphs)), ()):
                kind = f" {words[end - 1]}" if words[end - 1] in _KINDS_SAID else ""
                last = found.start("said") + len(" ".join(found["said"].split()[:end]))
                return f"{text[: found.start('said')]}{names[0]}{kind}{text[last:]}", names
    return text, ()


def _called(graph: Graph, words: Sequence[str]) -> tuple[str, ...]:
    """What the graph calls the one thing that some words mean; () for none or several. Of one word alone a kind says
    that it is a name."""
    kinds = _KINDS_SAID.get(words[-1], ())
    bare = words[:-1] if kinds else words
    if not bare or len(words) == 1:
        return ()
    if kinds and NodeType.TYPE not in kinds:
        wanted = [root(part) for word in bare for part in identifier_words(word)]
        nodes = [node for kind in kinds for node in of_kind(graph, kind)]
        named = [node for node in nodes if [root(word) for word in _words_of(graph.names[node])] == wanted]
        return _one_name(graph, named)
    wholes = ["".join(some).replace("-", "") for some in ((words, bare) if kinds else (words,))]
    called: dict[str, list[int]] = {}
    for node in of_kind(graph, NodeType.TYPE):
        called.setdefault(graph.names[node].rpartition(".")[2].casefold(), []).append(node)
    for whole in wholes:
        found = (_one_name(graph, called.get(name, ())) for name in (whole, f"i{whole}"))
        if names := tuple(name for one in found for name in one):
            return names
    return ()


def _one_name(graph: Graph, nodes: Sequence[int]) -> tuple[str, ...]:
    """What some nodes are called, those of the product where there are some, if that is one name."""
    names = {graph.names[node] for node in nodes if not _is_beside(graph, node)} or {
        graph.names[node] for node in nodes
    }
    return tuple(names) if len(names) == 1 else ()


def _words_of(name: str) -> list[str]:
    return [word.lower() for word in identifier_words(name.rpartition(".")[2])]


def _is_beside(graph: Graph, node: int) -> bool:
    places = graph.places(node)
    return bool(places) and non_product_code(places[0].path) is not None


def receivers_of(target: Searchable, names: Sequence[str]) -> tuple[GraphFacts, dict[GraphFact, str]]:
    """Where code of the product subscribes to some messages, or takes them, with the points that show it."""
    at: dict[GraphFact, str] = {}
    for name in (one.rpartition(".")[2] for one in names):
        code, said = product_of(points_naming(name, target).ids, target), ("receives", name, True)
        at |= facts_naming(re.compile(_RECEIVES.format(re.escape(name))), code, target, said)
        connects = re.compile(_CONNECTS.format(re.escape(name)))
        signals = facts_naming(connects, code, target, said, each_line=True)
        at |= {replace(one, is_comment=True): point for one, point in signals.items()}
    shown = by_place(at, MOST_FACTS)
    command = f"search {shlex.quote(next(iter(shown)).target)}" if shown else ""
    return GraphFacts(tuple(shown), len(at), command=command, leads=True), shown


_SENDS = (
    r"\b(?:(?:[Pp]ublish|[Ss]end|[Rr]aise|[Ee]mit|[Ee]nqueue|[Dd]ispatch|[Pp]roduce|[Rr]espond|[Rr]equest|[Ss]chedule|Init)\w*"
    r"(?:<(?:\w+\.)*{0}>|\((?:[\w.]+,\s*)*(?:new )?(?:\w+\.)*{0}\b)|[Tt]ell\((?:new )?(?:\w+\.)*{0}\b)"
)
_MAKES = r"\bnew (?:\w+\.)*{0}\s*[({{]|(?<![\w.>\]]){0}\.[A-Z]\w*\("
"""What makes a message: `new OrderPaid(…)`, `OrderPaid.For(order)`."""


def senders_of(target: Searchable, names: Sequence[str]) -> tuple[GraphFacts, dict[GraphFact, str]]:
    """Where code of the product sends some messages, or else makes them, with the points that show it."""
    at: dict[GraphFact, str] = {}
    for name in (one.rpartition(".")[2] for one in names):
        code = product_of(points_naming(name, target).ids, target)
        for says_it, verb in ((_SENDS, "sends"), (_MAKES, "makes")):
            made = facts_naming(re.compile(says_it.format(re.escape(name))), code, target, (verb, name, True))
            at |= {} if at else {one: point for one, point in made.items() if one.source.partition(".")[0] != name}
    shown = by_place(at, MOST_FACTS)
    return GraphFacts(tuple(shown), len(at), leads=True), shown


def registrations(
    target: Searchable, subject: Sequence[QueryTerm], names: Sequence[str], noun: str = "", lifetime: str = ""
) -> tuple[GraphFacts, dict[GraphFact, str]]:
    """The lines of the product that give a service to a container, one of some names where there are some, of files
    about a subject, with their points: those alone that are called as a noun, or live as long as it is said."""
    found: dict[GraphFact, str] = {}
    meant = "|".join(re.escape(part) for name in names for part in name.split("."))
    given = re.compile(rf"(?:<|typeof\()[^()]*\b(?:{meant})\b|\bnew (?:\w+\.)*(?:{meant})\(")
    for point, payload in product_of(points_with(_REGISTERING, target, MOST_READ), target).items():
        path, first = payload.get("Path", ""), payload.get("StartLine", 1)
        lines = code_of(payload, target).split("\n") if says(subject, path) else ()
        for number, line in enumerate(lines, first):
            known = _REGISTERS.search(line) if not line.lstrip().startswith(("//", "*")) else None
            if known is None:
                continue
            at = number - first
            said = "".join(lines[at : at + _MOST_OF_REGISTRATION])[known.start() :].partition(";")[0]
            lives = not lifetime or lifetime in known.group() or _LIVES[lifetime] in said
            if lives and (not names or given.search(said)) and (not noun or is_called(known["service"], noun)):
                served = _AS.search(said)
                verb, contract = ("as", served[1]) if served is not None else ("", "")
                found[GraphFact(known["service"], verb, contract, path, number, True, is_comment=True)] = point
    shown = by_place(found, MOST_LISTED)
    return GraphFacts(tuple(shown), len(found), list_heading(f"registered {noun or 'service'}", len(found))), shown


def users_of_package(
    index: LabelIndex, graph: Graph, name: str, *, is_package: bool
) -> tuple[GraphFacts, dict[GraphFact, str]]:
    """The files that refer to a package: nothing if something else is called so, unless a package is asked for."""
    packages = named_nodes(graph, (f"{name}|{NodeType.PACKAGE}" if is_package else name,))
    if not is_package and name.isalpha() and name.islower():  # `core` ends many names, and is a word
        packages = tuple(key for key in packages if short_name(key).casefold() == name)
    if not packages or any(key_kind(key) is not NodeType.PACKAGE for key in packages):
        return GraphFacts(), {}
    referring = np.zeros((2, len(RELATIONS)), np.bool_)
    referring[IN, RELATIONS.index(Relation.REFERENCES.value)] = True
    nodes = np.array([node for key in packages if (node := graph.find(key)) is not None])
    edges = seen_of(ResultReader(graph).edges(graph.reach(nodes, referring)[0].edge), index)
    edges.sort(key=lambda one: (non_product_code(one.path) is not None, one.path, one.line))
    names = {edge.source: edge.path for edge in edges}
    facts = tuple(replace(fact_of(edge, names), target=short_name(edge.target)) for edge in edges)
    at = facts_at(facts[:MOST_FACTS], index)
    return GraphFacts(tuple(at), len(facts), command=f"graph impact {shlex.quote(name)}"), at


_MOST_OF_GROUP = 4
_TOLD = {
    ImpactGroup.ENDPOINTS: "Endpoints that reach it",
    ImpactGroup.TESTS: "Tests that run it",
    ImpactGroup.CODE: "Code further away",
}


def reached_by_change(
    index: LabelIndex, graph: Graph, names: Sequence[str], direct: GraphFacts
) -> tuple[GraphFacts, dict[GraphFact, str]]:
    """What a change of some names reaches, in groups: the `direct` users of the product, the endpoints and tests behind
    them, and where no endpoint is, the code. Only the direct users where they are all."""
    nodes = [node for key in named_nodes(graph, names) if (node := graph.find(key)) is not None]
    found = impact(graph, nodes)
    users = [fact for fact in direct.facts if not in_test_file(fact.path)]
    told = dict.fromkeys(users or direct.facts, "Used by")
    lines = {(fact.path, fact.line) for fact in told}
    groups: dict[ImpactGroup, list[Reached]] = {}
    for one in found.reached:
        groups.setdefault(one.group, []).append(one)
    keys = {one.key: one.name for one in found.reached}
    further = groups.get(ImpactGroup.CODE, [])
    groups[ImpactGroup.CODE] = [one for one in further if one.distance > 1 and one.kind is NodeType.METHOD]
    for group, heading in _TOLD.items():
        if group is ImpactGroup.CODE and ImpactGroup.ENDPOINTS in groups:
            continue
        vias = [one.via for one in groups.get(group, ()) if (one.via.path, one.via.line) not in lines]
        vias.sort(key=lambda edge: edge.relation in (Relation.IMPLEMENTS, Relation.OVERRIDES))  # doubles of tests last
        facts = [fact_of(edge, keys) for edge in seen_of(vias[: _MOST_OF_GROUP * 4], index)]
        if facts:
            heading = f"{heading} ({len(groups[group])})"
            told |= dict.fromkeys(list(dict.fromkeys(facts))[:_MOST_OF_GROUP], heading)
    if len(set(told.values())) < 2:
        return direct, facts_at(direct.facts, index)
    listed = tuple(replace(fact, group=group) for fact, group in told.items())
    command = direct.command or f"graph impact {shlex.quote(names[0])}"
    return replace(direct, facts=listed, total=max(found.total, direct.total), command=command), facts_at(listed, index)
