"""Which projects use a package, by the manifests and project files that name it; what receives a message that the graph
knows no handler of; what is registered; and what a change of something reaches."""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice

import numpy as np

from rag_assets.answer.graph_facts import (
    MOST_FACTS,
    Facts,
    GraphFact,
    GraphFacts,
    fact_of,
    facts_at,
    named_nodes,
    seen_of,
)
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
from rag_assets.answer.plans.listing import MESSAGES, is_called, places_of
from rag_assets.answer.question_analysis import QueryTerm, is_relation_or_manner, name_roots, root, root_set
from rag_assets.contracts.graph import NodeType, Relation, key_kind
from rag_assets.graph.csr_graph import IN, Graph, steps_over
from rag_assets.graph.declared_types import of_kind
from rag_assets.graph.impact import ImpactGroup, Reached, impact, in_test_file, language_without_resolver
from rag_assets.graph.lookup import short_name
from rag_assets.identifiers import identifier_words, singular, word_set
from rag_assets.index.keyword.terms import FUNCTION_WORDS, stem
from rag_assets.search.index import LabelIndex, Searchable
from rag_assets.search.ranking.penalties import non_product_code, product_or_samples

_REGISTERING = (
    "AddScoped AddSingleton AddTransient AddHostedService AddHttpClient AddDbContext TryAddSingleton Decorate"
    " RegisterType RegisterGeneric RegisterInstance ContainerBuilder Registry Bind"
)
_REGISTERS = re.compile(
    r"(?:\.\s*(?:(?:Try)?Add(?:Keyed)?(?:Scoped|Singleton|Transient|HostedService|HttpClient|DbContext)|(?:Try)?Decorate"
    r"|Register(?=<[^<>]+,)|Register(?:Generic|Instance|Type))|\b(?:Component\.For|(?:Bind|For)(?=<[^;]{1,200}\)\s*\.(?:To|Use))))"
    r"(?:<|\(typeof\()(?:\w+\.)*(?P<service>(?!T\b|T[A-Z])\w+)"
)
"""What gives a service to a container: of .NET, or Autofac, Castle Windsor, Ninject, StructureMap, Unity."""
_LIVES = {"Singleton": "SingleInstance", "Scoped": "InstancePer", "Transient": "InstancePerDependency"}
"""What Autofac calls how long a service lives."""
_AS = re.compile(r"\.\s*As<(?:\w+\.)*(\w+)>")
_MOST_OF_REGISTRATION = 6  # lines
_RECEIVES = (
    r"\b(?:(?:Un)?[Ss]ubscribe|[Ll]isten|[Hh]andle|[Cc]onsume|[Rr]eceive|[Oo]n|[Ww]ait)\w*<(?:\w+\.)*{0}>"
    r"|\b(?:is|case|instanceof)\s+\(?(?:\w+\.)*{0}(?![\w.])|:.*\b\w*(?:Handler|Consumer)<\w+<(?:\w+\.)*{0}>"
    r"|\b(?:[Hh]andle|[Cc]onsume|[Rr]eceive|[Oo]n[A-Z]|Apply|When)\w*\((?:[\w.]+\s+\w+,\s*)*(?:\w+<)?(?:\w+\.)*{0}>?"
    r"\s+\w+"
)
"""What gets a message: `Subscribe<OrderPaid>(…)`, `if (message is OrderPaid)`, `Handle(OrderPaid paid)`."""
_CONNECTS = r"(?<!\w){0}\.connect(?:_via)?\(|^\s*@receiver\((?:[^)]*[\s.,\[(])?{0}(?!\w)"
"""What gets a signal of Django, Celery or Flask."""


_WORDS_SAID = r"[a-z][\w-]*(?: [a-z][\w-]*){0,6}"
_SAID = re.compile(
    r"\b(?:an?|its|our|the|this|are|is|from|of|on|to|(?:call|catche|cover|handle|implement|invoke|need|publishe|raise|read"
    r"|send|set|test|throw|use)s?|changed?|creates?|deleted?|drop|extends|injects?|modify|removed?|renamed?|writes) "
    rf"(?=(?P<said>{_WORDS_SAID}))",
    re.IGNORECASE,
)
_MEMBER_SAID = re.compile(
    rf"\b(?=(?:the |an? |our |call(?:s|ing) )(?P<member>{_WORDS_SAID}) (?:of|in|on)"
    rf" (?:the |an? |our )?(?P<owner>{_WORDS_SAID})"
    rf"|(?:the |an? |our )?(?P<whose>{_WORDS_SAID})['’]s (?P<its>{_WORDS_SAID}))",
    re.IGNORECASE,
)
"""`the total of an invoice`, `the order manager's place order method`."""
_PART_OF = re.compile(r"(\w+) of(?: (?:the|an?|our))? $", re.IGNORECASE)
_WHOLE_OF = root_set(
    "argument caller class column constructor consumer dependency field handler impact implementation member"
    " method parameter property publisher reference removal rename sender subclass subtype test type usage use"
    " user"
)
_OF_TYPES = root_set("class constructor subclass subtype")
"""What is asked of a whole: `the users of the order manager`. Another part of it, as `the discount of an order`, is not
the whole."""
_MOST_SAID = 24  # places where a question may say a name
_OF_MEMBERS = ("column", "event", "field", "function", "method", "operation", "property")
_SHORT = {
    "auth": "authentication",
    "config": "configuration",
    "ctx": "context",
    "database": "db",
    "info": "information",
    "repo": "repository",
    "spec": "specification",
}
"""Words that are said and written in two ways, as one of them."""
_KINDS_SAID = {
    **dict.fromkeys(("table",), (NodeType.TABLE, NodeType.TABLE_OR_VIEW)),
    **dict.fromkeys(("view",), (NodeType.VIEW, NodeType.TABLE_OR_VIEW)),
    **dict.fromkeys(("procedure", "proc", "sproc"), (NodeType.PROC,)),
    **dict.fromkeys(("method", "function"), (NodeType.METHOD, NodeType.FUNC)),
    **dict.fromkeys(
        word_set("class command dto entity enum event interface message model query record struct type"),
        (NodeType.TYPE,),
    ),
}
"""What somebody says behind a name. Of types it may be a part of the name as well."""
_OF_RAZOR = ("component", "control", "dialog", "form", "layout", "modal", "page", "view")  # or a part of it
_ROLES = ("component", "exception", "handler", "repository", "request", "service")
"""What is no kind but a part of a name: the order service is no `Order`."""


def endpoints_reaching(index: LabelIndex, graph: Graph, names: Sequence[str]) -> Facts:
    """The endpoints that lead to what some names mean, through whatever they call, each where its handler is."""
    nodes = [node for key in named_nodes(graph, names) if (node := graph.find(key)) is not None]
    reached = (graph.find(one.key) for one in impact(graph, nodes).reached if one.group is ImpactGroup.ENDPOINTS)
    places = places_of(graph, np.array(sorted(node for node in reached if node is not None), np.int64))
    found = seen_of(sorted(places, key=lambda one: (one.path, one.line)), index)
    kept = product_or_samples(one.path for one in found)
    return facts_listed([one.fact for one in found if one.path in kept], "endpoint", index)


_OF_CASES = re.compile(r"(?:test|spec)[^/]*$", re.IGNORECASE)
"""A file of test cases, and not of what they share."""


def tests_reaching(index: LabelIndex, graph: Graph, names: Sequence[str]) -> Facts:
    """The tests that run what some names mean through what uses it, where none names it."""
    nodes = [node for key in named_nodes(graph, names) if (node := graph.find(key)) is not None]
    reached = impact(graph, nodes).reached
    tests = [one.via for one in reached if one.group is ImpactGroup.TESTS and one.kind is NodeType.METHOD]
    keys = {one.key: one.name for one in reached}
    found = dict.fromkeys(fact_of(edge, keys) for edge in seen_of(tests, index))
    facts = tuple(fact for fact in found if _OF_CASES.search(fact.path)) or tuple(found)
    at = facts_at(facts[:MOST_FACTS], index)
    heading = "**No test names it; these run what uses it:**"
    return GraphFacts(tuple(at), len(facts), heading, f"graph impact {shlex.quote(names[0])}"), at


def with_names(graphs: Sequence[Graph], text: str) -> tuple[str, tuple[str, ...], tuple[str, str]]:
    """(a question with the first thing that it says in words, and that the graph has one of, as code writes it; what it
    is called; the words, and what stands for them): `who uses the order manager?` → `who uses the OrderManager?`. (the
    question, (), two '') where it has none."""
    called = [_Called(graph) for graph in graphs]
    for found in islice(_MEMBER_SAID.finditer(text), _MOST_SAID):
        of_owner = found["owner"] is not None
        group, last = ("owner" if of_owner else "its"), (found["owner"] or found["its"]).split()
        for end in range(len(last), 0, -1):
            other = (found["member"] if of_owner else found["whose"]).split()
            both = (last[:end], other) if of_owner else (other, last[:end])
            if name := next(filter(None, (one.member(*both) for one in called)), ""):
                start, stop = found.start("member" if of_owner else "whose"), found.start(group)
                said = text[start : stop + len(" ".join(last[:end]))]
                return text.replace(said, name), (name,), (said, name)
    for found in islice(_SAID.finditer(text), _MOST_SAID):
        part = _PART_OF.search(text[: found.start("said")])
        if part is not None and root(part[1]) not in _WHOLE_OF:
            continue
        how = "type" if part is not None and root(part[1]) in _OF_TYPES else ""
        how = "call" if found.group().lower().startswith(("call", "invoke")) else how
        words = found["said"].lower().split()
        for end in range(len(words), 0, -1):
            names, kind = next(
                filter(lambda known: known[0], (one.names(words[:end], how) for one in called)), ((), "")
            )
            if names and any(one.goes_on(words[end:]) for one in called):
                break
            if names:
                said, stands = " ".join(found["said"].split()[:end]), f"{names[0]} {kind}".rstrip()
                return (
                    text[: found.start("said")] + stands + text[found.start("said") + len(said) :],
                    names,
                    (said, stands),
                )
    return text, (), ("", "")


class _Called:
    """What a graph calls its types, by their names in one word and by their words without endings and short forms."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    @cached_property
    def _whole(self) -> dict[str, list[int]]:
        found = defaultdict[str, list[int]](list)
        for node in of_kind(self._graph, NodeType.TYPE):
            found[_bare(self._graph.names[node])].append(node)
        return found

    @cached_property
    def _by_words(self) -> dict[str, list[int]]:
        found = defaultdict[str, list[int]](list)
        for node in of_kind(self._graph, NodeType.TYPE):
            found[_joined(_words_of(self._graph.names[node]))].append(node)
        return found

    @cached_property
    def _last_words(self) -> set[str]:
        return {_joined(_words_of(self._graph.names[nodes[0]])[-1:]) for nodes in self._whole.values()}

    def goes_on(self, rest: Sequence[str]) -> bool:
        """Whether words behind a name are more of one: `the order item repository` is no `OrderItem`."""
        if not rest or singular(rest[0]) in (*_OF_MEMBERS, *_ROLES):
            return bool(rest)
        return not is_relation_or_manner(rest[0]) and _joined(rest[:1]) in self._last_words

    def names(self, words: Sequence[str], how: str = "") -> tuple[tuple[str, ...], str]:
        """(what the graph calls the one thing that some words mean, the kind that is said behind it); () for none or
        several. Of one word alone a kind says that it is a name, or what is asked of it, and of words of grammar too;
        what is called may be a method."""
        if len(words) > 1 and singular(words[-1]) in _OF_RAZOR:
            of_razor = (self._type(some) for some in (words, words[:-1]))
            if names := next((one for one in of_razor if one and self._is_component(one[0])), ()):
                return names, words[-1] if _bare(names[0]) != "".join(words) else ""
        kinds = _KINDS_SAID.get(singular(words[-1]), ())
        is_message = singular(words[-1]) in MESSAGES and len(words) < 3  # an order event is no `Order`
        bare = words[:-1] if kinds and not is_message else words
        if not bare or (len(words) == 1 and how != "type") or words[0] in FUNCTION_WORDS - _VERBS:
            return (), ""
        if kinds and NodeType.TYPE not in kinds:
            return self._others(bare, kinds), words[-1]
        if kinds or not FUNCTION_WORDS & {*words}:
            for some in (words, bare) if kinds else (words,):
                if names := self._type(some):
                    return names, words[-1] if kinds and some is bare else ""
        return (self._others(words, _CALLABLE) if how == "call" else ()), ""

    def _is_component(self, name: str) -> bool:
        places = (place for node in self._whole[_bare(name)] for place in self._graph.places(node))
        return any(place.path.endswith((".razor", ".razor.cs")) for place in places)

    def _type(self, words: Sequence[str]) -> tuple[str, ...]:
        """The class that is called so and its interface, which is what others are given."""
        for by, key in ((self._whole, "".join(words).replace("-", "")), (self._by_words, _joined(words))):
            if names := (*_one_name(self._graph, by.get(key, ())), *_one_name(self._graph, by.get(f"i{key}", ()))):
                return names
        return ()

    def _others(self, words: Sequence[str], kinds: Sequence[NodeType]) -> tuple[str, ...]:
        graph = self._graph
        wanted = name_roots(" ".join(words))
        nodes = [node for kind in kinds for node in of_kind(graph, kind)]
        named = [node for node in nodes if [root(word) for word in _words_of(graph.names[node])] == wanted]
        names = _one_name(graph, named)
        if NodeType.TABLE not in kinds:
            return names
        entities = {one for node in named for one in mapped_without_resolver(graph, node)}
        return (*names, *entities) if len(entities) == 1 else names

    def member(self, owner: Sequence[str], member: Sequence[str]) -> str:
        """`Order.Total` of the words of both; '' where the graph has no such member, or several."""
        bare = owner[:-1] if len(owner) > 1 and owner[-1] in _KINDS_SAID else ()
        names = self._type(owner) or (self._type(bare) if bare else ())
        if not names:
            return ""
        its = member[:-1] if len(member) > 1 and singular(member[-1]) in _OF_MEMBERS else member
        wanted = "".join(its).replace("-", "").lower()
        either = (wanted, f"{wanted}async")
        graph, kinds = self._graph, (*_CALLABLE, NodeType.PROPERTY)
        called = {
            graph.names[node]
            for kind in kinds
            for node in of_kind(graph, kind)
            if kind is not NodeType.PROPERTY or not language_without_resolver(graph.keys[node])
            if graph.names[node].casefold() in either and f".{names[0]}.{graph.names[node]}" in f".{graph.keys[node]}"
        }
        return f"{names[0]}.{called.pop()}" if len(called) == 1 else ""


_CALLABLE = (NodeType.METHOD, NodeType.FUNC)
_VERBS = frozenset({"can", "has", "have", "is", "to"})  # `IsOpen`, `HasEvents`, `ToUpper`


def mapped_without_resolver(graph: Graph, table: int) -> set[str]:
    """The types that are kept in a table, of languages of which the graph does not know who reads it."""
    found = graph.reach(np.array([table]), steps_over(IN, Relation.MAPS_TO))[0].node.tolist()
    return {graph.names[node] for node in found if language_without_resolver(graph.keys[node])}


def _bare(name: str) -> str:
    return name.rpartition(".")[2].replace("_", "").casefold()


def _joined(words: Sequence[str]) -> str:
    """Words as one without endings of plurals, in their short or long form alike."""
    parts = [part for word in words for part in word.lower().split("-")]
    return "".join(_SHORT.get(one, one) for one in map(stem, parts))


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


def receivers_of(target: Searchable, names: Sequence[str]) -> Facts:
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


_DECLARING = word_set("class def fun func function internal operator private protected public record")
_NO_CALL = "".join(f"(?<!{word} )" for word in sorted(_DECLARING))
CREATING = (
    (
        r"\bnew\s+(?:\w+\.)*{0}\b|(?<!\w){0}(?:::|\.)new\b|(?:&|(?<![=!<>])=|=>|\(|\breturn)\s*(?:\w+\.)?{0} ?\{{"
        r"|^\s+{0} \{{$|(?<![\w.:\[@])" + _NO_CALL + r"{0}\(",
        "creates",
    ),
)
"""What makes an object of a type, in most languages."""


def senders_of(
    target: Searchable, names: Sequence[str], ways: Sequence[tuple[str, str]] = ((_SENDS, "sends"), (_MAKES, "makes"))
) -> Facts:
    """Where code of the product sends some messages, or else makes them, with the points that show it: the first of the
    `ways`, a pattern and its verb, that some code has. A type may create itself, a message does not send itself."""
    at: dict[GraphFact, str] = {}
    for name in (one.rpartition(".")[2] for one in names):
        code = product_of(points_naming(name, target).ids, target)
        for says_it, verb in ways:
            written = re.compile(says_it.format(re.escape(name)))
            made = facts_naming(written, code, target, (verb, name, True), declares=ways is not CREATING)
            others = (one for one in made if ways is CREATING or one.source.partition(".")[0] != name)
            at |= {} if at else {one: made[one] for one in others}
    shown = by_place(at, MOST_FACTS)
    return GraphFacts(tuple(shown), len(at), leads=True), shown


def registrations(
    target: Searchable, subject: Sequence[QueryTerm], names: Sequence[str], noun: str = "", lifetime: str = ""
) -> Facts:
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


def users_of_package(index: LabelIndex, graph: Graph, name: str, *, is_package: bool) -> Facts:
    """The files that refer to a package: nothing if something else is called so, unless a package is asked for."""
    packages = named_nodes(graph, (f"{name}|{NodeType.PACKAGE}" if is_package else name,))
    if not is_package and name.isalpha() and name.islower():  # `core` ends many names, and is a word
        packages = tuple(key for key in packages if short_name(key).casefold() == name)
    if not packages or any(key_kind(key) is not NodeType.PACKAGE for key in packages):
        return GraphFacts(), {}
    nodes = np.array([node for key in packages if (node := graph.find(key)) is not None])
    edges = seen_of(graph.edges_of(nodes, IN, Relation.REFERENCES), index)
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


def reached_by_change(index: LabelIndex, graph: Graph, names: Sequence[str], direct: GraphFacts) -> Facts:
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
