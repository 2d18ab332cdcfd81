"""What a program lets people do: the commands and options of its command line, its keys, its windows, the commands of
their view models, and what clients call of its hubs and ask of its GraphQL."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

import numpy as np

from rag_assets.answer.graph_facts import MOST_FACTS, Facts, GraphFact, GraphFacts, facts_at, named_nodes
from rag_assets.answer.passages import CONFIGURATION, PROSE
from rag_assets.answer.plans.code_lines import (
    MOST_LISTED,
    MOST_READ,
    by_place,
    facts_listed,
    facts_naming,
    from_the_root,
    lines_of,
    list_heading,
    points_naming,
    points_with,
    product_of,
    says,
)
from rag_assets.answer.plans.listing import EITHER, LISTED_KINDS, nodes_listed, places_of
from rag_assets.answer.question_analysis import QueryTerm, covered, name_roots, root, root_set, roots_of
from rag_assets.answer.question_kinds import CONTAINERS
from rag_assets.contracts.graph import NodeType, key_kind
from rag_assets.graph.csr_graph import Graph
from rag_assets.graph.declared_types import bases_of, held_by, of_kind
from rag_assets.graph.lookup import short_name
from rag_assets.identifiers import identifier_words, singular
from rag_assets.languages.command_line import (
    COMMAND_WORDS,
    OPTION_WORDS,
    arguments_declared,
    commands_declared,
    options_declared,
)
from rag_assets.languages.desktop import KEY_WORDS, keys_declared, laid_out
from rag_assets.search.index import LabelIndex, Searchable
from rag_assets.search.line_references import meant, section_members
from rag_assets.search.ranking.penalties import non_product_code

_FAILS = r".*\b(?:throw|raise|panic|bail|fail|fatal|[eE]rrorf?|abort|exit|die)\b"
_COMMENTS = ("//", "/*", "*", "# ", "<!--")
_MOST_OF_A_HEAD = 30  # lines, in which a file of XAML says what it lays out


_OF_COMMANDS = root_set("cli command group subcommand")
"""What a question calls that which has commands and options."""
_DECORATOR = re.compile(r"@(\w+)(?:\(\))?\s*")


def command_line_facts(index: LabelIndex, noun: str, subject: Sequence[QueryTerm]) -> Facts:
    """The commands, or the options, that the product takes on its command line, those about a subject, each where it is
    declared, with its point: an option of several commands once for each."""
    is_command = noun == "command"
    points = facts_at(_typed(index, noun), index)
    if subject := [word for word in subject if word.root not in _OF_COMMANDS]:
        payloads = index.parts.shard().retrieve(sorted(set(points.values())), index.scope())
        lines = lines_of(index, {one.path for one in points})
        members = {one: _member_at(payloads[point], one.line) for one, point in points.items()}
        above = lines if is_command else {}  # a command says its group there, a line of an option what else it is for
        said = {one: f"{one.path} {members[one]} {above.get(one.path, {}).get(one.line, '')}" for one in points}
        itself = {singular(word.word.lower()) for word in subject} if is_command and len(subject) == 1 else frozenset()
        about = {
            one: points[one]
            for one in points
            if says(subject, said[one]) and singular(one.source.lower()) not in itself  # and not `seed` of the seeder
        }
        shared = _decorators(lines, [] if is_command else [*about])
        about = {
            one: point
            for one, point in points.items()
            if one in about or (one.path, members[one].rpartition(" ")[2]) in shared
        }
        is_whole = all(word.root in CONTAINERS for word in subject)  # `the server` may be all that there is
        points = about or (points if is_whole else {})
    heading = list_heading("command" if is_command else f"command line {noun}", len(points))
    shown = dict(list(points.items())[:MOST_LISTED])
    return GraphFacts(tuple(shown), len(points), heading), shown


def _decorators(lines: Mapping[str, Mapping[int, str]], options: Sequence[GraphFact]) -> set[tuple[str, str]]:
    """(file, name) of what stands above the same functions of Python as some options, which may bring more of them."""
    found = set[tuple[str, str]]()
    for path in {one.path for one in options}:
        at = [one.line for one in options if one.path == path]
        within = (lines[path].get(number, "") for number in range(min(at), max(at) + 1))
        found |= {(path, one[1]) for line in within if (one := _DECORATOR.fullmatch(line)) is not None}
    return found


def option_facts(index: LabelIndex, names: Container[str]) -> Facts:
    """Where the product declares options of its command line that are called so, with the points that show it."""
    found = facts_at([one for one in _typed(index, "option") if one.source in names], index)
    shown = by_place(found, MOST_FACTS)
    return GraphFacts(tuple(shown), len(found)), shown


def refusals(target: Searchable, names: Collection[str]) -> Facts:
    """The lines of the product that fail with a message that has all of some options, with their points."""
    said = "".join(rf"(?=.*(?<![\w-]){re.escape(name)}(?![\w-]))" for name in names)
    code = product_of(points_naming(max(names, key=len).lstrip("-"), target).ids, target)
    shown = by_place(facts_naming(re.compile(f"^{said}{_FAILS}"), code, target, ("", "", True)), MOST_FACTS)
    return GraphFacts(tuple(shown), len(shown), leads=True), shown


def _typed(index: LabelIndex, noun: str) -> list[GraphFact]:
    """The commands, options or arguments that the product declares, those of the files nearest to the root first."""
    is_command = noun == "command"
    of_options = options_declared if noun == "option" else arguments_declared
    words = COMMAND_WORDS if is_command else OPTION_WORDS
    likely = product_of(points_with(words, index, MOST_READ), index).values()
    languages = {one["Path"]: one.get("CodeLanguage", "") for one in likely}
    paths = [path for path, language in languages.items() if language not in PROSE | CONFIGURATION]
    found: list[GraphFact] = []
    for path, lines in sorted(lines_of(index, paths).items(), key=lambda one: from_the_root(one[0])):
        text, numbers = "\n".join(lines.values()), [*lines]
        declared = commands_declared(text, languages[path]) if is_command else of_options(text)
        for name, at in sorted(declared, key=itemgetter(1)):
            line = numbers[text.count("\n", 0, at)]
            if not lines[line].lstrip().startswith(_COMMENTS):
                found.append(GraphFact(name, "", "", path, line, True, is_comment=True))  # or an attribute
    return found


_RESOURCE = re.compile(r"\bx:Key=\"([^\"]+)\"")
_MOST_OF_A_KEY = 4  # lines of XAML from what has a key down to the key
_MOST_ABOUT = 80  # sections


def _saying_most(
    facts: Iterable[GraphFact], said: Mapping[GraphFact, frozenset[str]], words: Sequence[QueryTerm]
) -> list[GraphFact]:
    """The facts of which most of some words are said; none where none is."""
    count = {one: sum(word.root in said[one] for word in words) for one in facts}
    most = max(count.values(), default=0)
    return [one for one, times in count.items() if most and times == most]


def shortcut_facts(index: LabelIndex, subject: Sequence[QueryTerm], does: Sequence[QueryTerm], question: str) -> Facts:
    """The lines of the product that give a key something to do, by the members, or the resources of XAML, that they lie
    in, with their points: those that say the most of what is done, and of a subject, or one of several."""
    about = " ".join(("shortcut", *(word.word for word in (*does, *subject))))  # also in defaults
    points = points_with(KEY_WORDS, index, MOST_READ) + points_with(about, index, _MOST_ABOUT)
    likely = product_of({*points}, index).values()
    lines = lines_of(index, {one["Path"] for one in likely if one.get("CodeLanguage", "") not in PROSE})
    found = [
        GraphFact("", "", "", path, [*known][text.count("\n", 0, at)], True, is_comment=True)
        for path, known in lines.items()
        if (text := "\n".join(known.values()))
        for at in keys_declared(text)
    ]
    at = facts_at(found, index)
    payloads = index.parts.shard().retrieve(sorted(set(at.values())), index.scope())
    named: dict[GraphFact, str] = {}
    said: dict[GraphFact, frozenset[str]] = {}
    for one, point in at.items():
        file, line = one.path.rpartition("/")[2], lines[one.path][one.line]
        above = (lines[one.path].get(at, "") for at in range(one.line, one.line - _MOST_OF_A_KEY, -1))
        resource = next((key[1] for text in above if (key := _RESOURCE.search(text))), "")
        name = resource or _member_at(payloads[point], one.line).rpartition(" ")[2].rpartition("/")[2] or file
        if not line.lstrip().startswith(_COMMENTS):
            named[known := replace(one, source=name)] = point
            said[known] = roots_of(f"{name} {line.replace('new ', '')}")  # a word of code
    if EITHER.search(question) and subject:
        named = {one: point for one, point in named.items() if said[one] & {word.root for word in subject}}
    else:
        best = _saying_most(named, said, does)
        if not best or len(best) == len(named):
            said = {one: said[one] | roots_of(one.path.rpartition("/")[2]) for one in named}
            best = [one for one in named if says(subject, " ".join(said[one]))]
        named = {one: named[one] for one in _saying_most(best, said, subject) or best}
    shown = by_place(named, MOST_LISTED)
    return GraphFacts(tuple(shown), len(named), list_heading("shortcut", len(named))), shown


_MARK = re.compile(
    r"\s*(?:#?\[|@|(?P<next>,))\s*(?:\w+(?:\.|::|:\s*))*(?P<name>\w++)"
    r"(?P<said>(?:<[^<>]*>)?(?:\s*\((?:[^()]++|\((?:[^()]++|\([^()]*+\))*+\))*+\))?)\s*(?P<end>\]?)"
)
_MOST_MARKS = 30  # lines
_MARK_WORDS = root_set("attribute mapping")  # `@QueryMapping`
_MAY_BE_MARKED = frozenset({NodeType.TYPE, NodeType.METHOD, NodeType.PROPERTY})
_OPERATIONS = frozenset({"mutation", "query", "subscription"})
_OF_GRAPHQL = root_set("api browser call client exposed graphql listen schema server subscribe")
"""What a question says of all operations of GraphQL alike."""
_OF_A_THING = root_set(
    "argument category claim column comment description group header index label name option parameter"
    " permission policy priority property role scope status tag title value version"
)
"""What a mark says that a thing has, and not that it is: `@click.option("--force")`, `[Category("slow")]`."""
_PUBLIC = re.compile(r"public (?!(?:\w+ )*(?:class|const|enum|interface|record|struct)\b)")


_SORTS_MARKED = {
    "class(?:es)?|enums|interfaces|records|structs|types": NodeType.TYPE,
    "functions|methods": NodeType.METHOD,
    "properties": NodeType.PROPERTY,
}
_MARKED_WITH = r"(?:are |is )?(?:annotated|decorated|marked|tagged) (?:as|by|with)"
_HAS_MARK = re.compile(
    rf"^\W*(?:which|what|list|show)\b(?: me| all| the)*(?: \w+){{0,2}} (?:{_MARKED_WITH}|carr(?:y|ies)|ha(?:s|ve))"
    r" (?:an? |the )?(?:@(?:\w+\.)*(?P<at>\w+)(?:\(\))?|\[(?P<within>\w+)\]"
    r"|[`']?(?P<named>\w+)[`']? (?:annotation|attribute|decorator))\W*$"
    rf"|^\W*(?:which|what|list|show)\b(?: me| all| the)*(?: \w+){{0,2}} {_MARKED_WITH}"
    r" (?:an? |the )?[`']?(?P<bare>\w+)\W*$",
    re.IGNORECASE,
)


def mark_asked(question: str) -> tuple[str, Collection[NodeType]]:
    """The attribute, annotation or decorator whose declarations a question wants, in words, and which sorts of them;
    '' for another one."""
    found = _HAS_MARK.search(question.strip())
    if found is None:
        return "", _MAY_BE_MARKED
    name = next(filter(None, found.groups()))
    kind = next((kind for said, kind in _SORTS_MARKED.items() if re.search(rf"\b(?:{said})\b", found[0], re.I)), None)
    mark = " ".join(identifier_words(name.removesuffix("Attribute"))).lower()
    return mark, _MAY_BE_MARKED if kind is None else (kind,)


def marked_members(
    index: LabelIndex,
    graph: Graph,
    noun: str,
    subject: Sequence[QueryTerm],
    said: str,
    named: Sequence[GraphFact],
    *,
    is_mark: bool = False,
    kinds: Collection[NodeType] = _MAY_BE_MARKED,
) -> Facts:
    """The members that are marked as what a noun says, `[DataLoader]` or `@Query`, and the fields of the operations of
    GraphQL, as code or else a schema has them; none where types are `named` so that are no holders of these. What has a
    mark and is of some `kinds`, where `is_mark` says that the noun is one."""
    of_graphql = noun in _OPERATIONS and not is_mark
    is_meant = of_graphql and not _OF_GRAPHQL.isdisjoint(roots_of(said))
    is_held = all(one.source.endswith("s") or one.source.lower() == noun for one in named)
    is_other = noun in LISTED_KINDS or not (is_meant or is_held) or root(noun.rpartition(" ")[2]) in _OF_A_THING
    if is_other and not is_mark:
        return GraphFacts(), {}
    capital = "".join(map(str.capitalize, noun.split()))
    points = set(points_naming(capital, index).ids)
    if of_graphql:
        words = f"{noun} {capital} {capital}Type {capital}Mapping ExtendObjectType Add{capital}Type"
        points |= {*points_with(words, index, MOST_READ)}
    likely = product_of(points, index).values()
    lines = lines_of(index, {one["Path"] for one in likely})
    registered = re.compile(rf"\bAdd{capital}Type<(?:\w+\.)*(\w+)>")
    holding = {one for known in lines.values() for line in known.values() for one in registered.findall(line)}
    found, held = list[int](), list[int]()
    keys = {key for one in likely for key in one.get("GraphNodeKeys", ()) if key_kind(key) in kinds}
    for node in (node for key in keys if (node := graph.find(key)) is not None):
        marks = _marks_of(graph, node, lines)
        if not of_graphql or graph.kind(node) is not NodeType.TYPE:
            found += [node] * any(_is_mark(name, noun) for name, _ in marks)
        elif graph.names[node] in holding or any(_holds(graph.names[node], *mark, capital) for mark in marks):
            held.append(node)
    members = held_by(graph, held) if held else ()
    found += [one for one in members if graph.language(one) != "csharp" or _PUBLIC.match(graph.signature(one))]
    own = [one for one in found if any(name == "Subscribe" for name, _ in _marks_of(graph, one, lines))]
    found = own if noun == "subscription" and own else found  # and not what these subscribe with
    if of_graphql and not found:
        schema = [one for one in of_kind(graph, NodeType.TYPE) if graph.keys[one].startswith(f"graphql:{capital}|")]
        found = held_by(graph, schema)
    telling = [word for word in subject if word.root not in CONTAINERS | _OF_GRAPHQL]
    said_of = {graph.keys[one]: f"{graph.keys[one]} {_marks_of(graph, one, lines)}" for one in found}
    places = [one for one in places_of(graph, np.array(sorted({*found}), np.int64)) if says(telling, said_of[one.key])]
    places = [one for one in places if telling and says(telling, one.path)] or places  # of a part, by its folder
    told = (_at_mark(one.fact, capital, lines.get(one.path, {})) for one in places)
    return facts_listed(sorted(told, key=lambda one: (one.path, one.line)), noun, index)


def _at_mark(fact: GraphFact, mark: str, lines: Mapping[int, str]) -> GraphFact:
    """What is marked, at its mark where that is given something, which tells more."""
    at = fact.line
    while (text := lines.get(at, "").lstrip()).startswith(("[", "@")):
        if re.search(rf"[\[@]{mark}\([^)]", text):
            return replace(fact, line=at, is_comment=True)
        at += 1
    return fact


def _marks_of(graph: Graph, node: int, files: Mapping[str, Mapping[int, str]]) -> list[tuple[str, str]]:
    """(name, what it is given) of the attributes, annotations or decorators that a declaration begins with, of several
    on a line each."""
    found = []
    for place in graph.places(node):
        lines = files.get(place.path, {})
        begin = [lines.get(at, "") for at in range(place.line_start, place.line_start + _MOST_MARKS)]
        text = "\n".join(line for line in begin if not line.lstrip().startswith(_COMMENTS))
        mark, is_ended = _MARK.match(text), True
        while mark is not None and not (mark["next"] and is_ended):
            found.append((mark["name"], mark["said"]))
            is_ended = bool(mark["end"])
            mark = _MARK.match(text, mark.end())
    return found


def _is_mark(name: str, noun: str) -> bool:
    """Whether an attribute says what a noun does, beside what attributes are called."""
    said = name_roots(name)
    return [word for word in said if word not in _MARK_WORDS] == [root(word) for word in noun.split()]


def _holds(type_name: str, mark: str, said: str, operation: str) -> bool:
    """Whether a mark says that a type has the fields of an operation of GraphQL: of Hot Chocolate, or Strawberry."""
    of_type = mark in ("type", "ObjectType") and type_name == operation
    extends = mark == "ExtendObjectType" and re.search(rf"\b{operation}\W*$", said) is not None
    return mark == f"{operation}Type" or extends or of_type


_SORT_OF_MEMBERS = re.compile(
    r"^\W*(?:which|what|list|show)\b(?: me| are| all| the| of)* (?P<noun>commands|events|properties)\b"
    r"(?: (?:does|do|are (?:there )?(?:in|on|of)|of|in|has|have))? (?:an? |the )?(?P<owner>\w[\w'’ ]*?)"
    r"(?P<does> (?:define|expose|fire|have|notify|offer|provide|publish|raise|trigger)s?"
    r"| (?:is|are) (?:bindable|observable)| raise\w* (?:property ?changed|changes?))?"
    r"(?: (?:about|for|itself|of))*\W*$",
    re.IGNORECASE,
)
_MEMBERS_MARKED = re.compile(
    r"^\W*(?:which|what|list|show)\b(?: me| are| all| the| of)* (?P<mark>[a-z]+ed) (?:fields|members|properties)"
    r"(?: (?:does|do|are (?:there )?(?:in|on|of)|of|in|on|has|have))? (?:an? |the )?(?P<owner>\w[\w'’ ]*?)"
    r"(?: (?:define|expose|have)s?)?\W*$"
    r"|^\W*(?:which|what) (?:fields|members|properties|values)(?: (?:of|in|on))? (?:an? |the )?(?P<of>\w[\w'’ ]*?)"
    r" (?:are (?P<is>[a-z]+ed)|(?:can be|can (?:i|we|you)|are) (?:changed?|edit(?:ed)?|set|shown|visible)"
    r" (?:from|in) the (?P<editor>editor|inspector))\W*$",
    re.IGNORECASE,
)
_OF_INSPECTORS = roots_of("Export SerializeField")
"""What marks in Godot and Unity which members their editors show."""
_GENERIC = re.compile(r"<[^<>]*(?:<[^<>]*>[^<>]*)*>")
_PROPERTY = root("property")
_NOTIFIES = re.compile(
    r"\b(?:SetProperty|SetAndRaise|Set(?:Field|Value)?|(?:Raise|On|Notify\w*)PropertyChanged\w*|NotifyOfPropertyChange"
    r"|(?:this\.)?RaiseAndSetIfChanged)\("
)


def sort_of_members(index: LabelIndex, graph: Graph, question: str) -> Facts:
    """The commands, or the events, of the type that a question names, in words too: `the editor's view model`; and of
    its properties those that tell of their changes. By their names, their types or what they are marked with."""
    asked = _SORT_OF_MEMBERS.match(question.strip())
    noun, does = (root(asked["noun"].lower()), asked["does"] or "") if asked is not None else ("", "")
    if asked is None or (noun == _PROPERTY and not does.lower().startswith((" notify", " raise", " is ", " are "))):
        return GraphFacts(), {}
    types = _types_said(graph, asked["owner"])
    members = {place: one for one in held_by(graph, types) for place in graph.places(one)}
    lines = lines_of(index, {place.path for place in members})
    found = []
    for place, one in members.items():
        marks = [root(identifier_words(name)[-1]) for name, _ in _marks_of(graph, one, lines)]
        declared, _, _ = _GENERIC.sub("", graph.signature(one)).rpartition(f" {graph.names[one].rpartition('.')[2]}")
        last = identifier_words(declared.rpartition(" ")[2]) or [""]
        if noun == _PROPERTY:
            body = range(place.line_start, place.line_end + 1)
            is_of_it = any(_NOTIFIES.search(lines.get(place.path, {}).get(at, "")) for at in body)
        else:
            named = identifier_words(graph.names[one])[-1:] if noun == "command" else []  # of events a collection
            is_of_it = noun in map(str.lower, (*named, *last[-1:], *declared.split())) and "private" not in declared
        if noun in marks or (is_of_it and key_kind(graph.keys[one]) is NodeType.PROPERTY):
            found.append(GraphFact(graph.names[one], "", "", place.path, place.line_start, True))
    return facts_listed(sorted(found, key=lambda one: (one.path, one.line)), singular(asked["noun"].lower()), index)


def members_marked(index: LabelIndex, graph: Graph, question: str) -> Facts:
    """The members of the type that a question names which are marked as what it says: `[SerializeField]` of the
    serialized fields, and of what an inspector shows."""
    asked = _MEMBERS_MARKED.match(question.strip())
    if asked is None:
        return GraphFacts(), {}
    wanted = _OF_INSPECTORS - {root("field")} if asked["editor"] else roots_of(asked["mark"] or asked["is"])
    types = _types_said(graph, asked["owner"] or asked["of"], is_short=True)
    members = {place: one for one in held_by(graph, types) for place in graph.places(one)}
    lines = lines_of(index, {place.path for place in members})
    found = [
        GraphFact(graph.names[one], "", "", place.path, place.line_start, True)
        for place, one in members.items()
        if any(wanted & roots_of(name) for name, _ in _marks_of(graph, one, lines))
    ]
    return facts_listed(sorted(found, key=lambda one: (one.path, one.line)), "member", index)


def _types_said(graph: Graph, said: str, *, is_short: bool = False) -> list[int]:
    """The types of the product that some words call, those whose names say the most of them: `EditorViewModel` of `the
    editor page's view model`. Where none is and these may be short, the one that ends with all of them: `the wave
    spawner` is `ServerWaveSpawner`."""
    words = name_roots(said)
    found: dict[int, int] = {}
    longer = list[int]()
    for node in of_kind(graph, NodeType.TYPE):
        own = name_roots(graph.names[node])
        if words and own[-1:] == words[-1:] and words[:1] == own[:1] and set(own) <= set(words):
            found[node] = len(own)
        elif len(words) > 1 and own[-len(words) :] == words:
            longer.append(node)
    best = [node for node, count in found.items() if count == max(found.values())]
    best = best or longer * (is_short and len(longer) == 1)
    return [one for one in best if any(non_product_code(place.path) is None for place in graph.places(one))]


_IS_HUB = re.compile(r"\b\w*Hub\b")
_CALLABLE = re.compile(r"public (?!.*\b(?:override|static)\b)[^(]*\(")


def hub_facts(index: LabelIndex, graph: Graph, subject: Sequence[QueryTerm]) -> Facts:
    """The methods that a client can call: of the hubs of SignalR whose names say most of a subject, of themselves and
    not of their bases; of all hubs without one."""
    hubs = [node for node in of_kind(graph, NodeType.TYPE) if _IS_HUB.search(bases_of(graph, node))]
    named = [(node, covered(tuple(subject), roots_of(graph.keys[node]))) for node in hubs] if subject else []
    best = max((said for _, said in named), default=0.0)
    if subject and best:
        hubs = [node for node, said in named if said == best]
    places = places_of(graph, np.array(sorted(held_by(graph, hubs)), np.int64))
    called = {short_name(graph.keys[node]) for node in hubs}
    found = [
        one.fact
        for one in places
        if non_product_code(one.path) is None
        and (node := graph.find(one.key)) is not None
        and _CALLABLE.match(graph.signature(node))
        and graph.names[node] not in called
    ]
    if subject and not best:  # what one of them does may say it
        meant = {one.source.partition(".")[0] for one in found if says(subject, one.source)}
        found = [one for one in found if one.source.partition(".")[0] in meant]
    return facts_listed(sorted(found, key=lambda one: (one.path, one.line)), "hub method", index)


def window_facts(index: LabelIndex, graph: Graph, noun: str, subject: Sequence[QueryTerm]) -> Facts:
    """The windows, pages or the like about a subject that XAML lays out, with the types of code that are called so and
    are no bases of them; nothing where no XAML does."""
    subject = [word for word in subject if word.root not in CONTAINERS]
    paths = [path for path in index.parts.shard().values("Path", index.scope()) if path.endswith((".xaml", ".axaml"))]
    wanted = [root(word) for word in noun.split()]
    own = {one.name for one in nodes_listed(graph, noun)}  # a base of several
    facts: dict[str, GraphFact] = {}
    tags: set[str] = set()
    for path, lines in lines_of(index, [one for one in paths if non_product_code(one) is None]).items():
        name, tag, at = laid_out("\n".join(list(lines.values())[:_MOST_OF_A_HEAD])) or ("", "", 0)
        if not name or (tag not in own and name_roots(tag)[-len(wanted) :] != wanted):
            continue
        tags.add(tag)
        if says(subject, f"{name} {path}"):
            line = [*lines]["\n".join(lines.values()).count("\n", 0, at)]
            facts[name] = GraphFact(name, "", "", path, line, True, is_comment=True)
    for one in nodes_listed(graph, noun, subject) if facts else ():
        is_contract = re.match(r"I[A-Z]", one.name) is not None or one.name in tags
        if non_product_code(one.path) is None and not is_contract:
            facts.setdefault(one.name, one.fact)
    found = facts_at(facts.values(), index)
    shown = by_place(found, MOST_LISTED)
    return GraphFacts(tuple(shown), len(found), list_heading(noun, len(found))), shown


_WEB_PAGES = {"page": (".aspx", ".cshtml", ".vbhtml"), "control": (".ascx",), "master page": (".master",)}
_WEB_PAGES |= dict.fromkeys(("screen", "view", "web page"), _WEB_PAGES["page"]) | {"user control": (".ascx",)}
_WEB_PAGES |= {"scene": (".unity", ".tscn", ".escn"), "prefab": (".prefab",)}  # of games
_NO_PAGE = re.compile(r"/_|/(?:Components|DisplayTemplates|EditorTemplates|Layouts?|Shared)/")
"""Of Razor: what is shown as a part of pages, and around them."""


def web_pages(index: LabelIndex, noun: str, subject: Sequence[QueryTerm]) -> Facts:
    """The files that ASP.NET shows as pages, of Web Forms first, or as what else a noun means, about a subject."""
    subject = [word for word in subject if word.root not in CONTAINERS and word.root != "game"]
    ends = _WEB_PAGES.get(noun, ())
    paths = [path for path in index.parts.shard().values("Path", index.scope()) if path.lower().endswith(ends or "\0")]
    paths = [path for path in paths if non_product_code(path) is None and says(subject, path)]
    pages = [path for path in paths if not (path.endswith("html") and _NO_PAGE.search(path))]
    pages.sort(key=lambda path: (path.endswith("html"), path))
    facts = [GraphFact(path.rpartition("/")[2], "", "", path, 1, True, is_comment=True) for path in pages]
    return facts_listed(facts, noun, index) if facts else (GraphFacts(), {})


_OF_SCREENS = re.compile(
    r"(?:\.(?:razor|cshtml|vbhtml|aspx|ascx|a?xaml|vue|svelte|tsx|jsx)|\.component\.(?:ts|html))$", re.IGNORECASE
)
_IS_SCREEN = re.compile(r"\b(?:\w*(?:Form|Dialog|Window|UserControl|Page)|ComponentBase)\b")
_BEGINS_SCREEN = re.compile(r"^\W*@page\b|\bclass \w|\bexport default\b|=>|\bfunction\b|^\s*<\w")
_WHOLE_FOLDER = re.compile(r"^(?:index|page|main)$", re.IGNORECASE)
_MOST_SHOWN = 2


def shown_in(index: LabelIndex, graph: Graph, noun: str, said: str) -> Facts:
    """The files and types of the user interface whose names say all of what is shown, those first that say
    the noun, and the least beside it; of `Clients/index.tsx` the name of the folder."""
    wanted, kind = roots_of(said), root(noun)
    found: dict[GraphFact, tuple[bool, int]] = {}
    for path in index.parts.shard().values("Path", index.scope()):
        if _OF_SCREENS.search(path) and non_product_code(path) is None:
            folder, _, name = path.rpartition("/")
            stem = _OF_SCREENS.sub("", name)
            stem = folder.rpartition("/")[2] if _WHOLE_FOLDER.match(stem) else stem
            if wanted and wanted <= (own := roots_of(stem)):
                found[_first_telling(index, path)] = kind not in own, len(own - wanted)
    for node in of_kind(graph, NodeType.TYPE):
        if wanted and wanted <= (own := roots_of(graph.names[node])) and _IS_SCREEN.search(bases_of(graph, node)):
            name, beside = graph.names[node], (kind not in own, len(own - wanted))
            places = [place for place in graph.places(node) if non_product_code(place.path) is None]
            found |= {
                GraphFact(name, "", "", one.path, one.line_start, True, is_comment=True): beside for one in places
            }
    best = [fact for fact, beside in found.items() if beside == min(found.values())]
    if len({fact.path.rpartition("/")[0] for fact in best}) > _MOST_SHOWN:
        return GraphFacts(), {}
    at = facts_at(best, index)
    return GraphFacts(tuple(at), len(at), "**Shown by:**", leads=True), at


def _first_telling(index: LabelIndex, path: str) -> GraphFact:
    """A file of the user interface at the line that says its address or begins what it shows."""
    lines = sorted(lines_of(index, [path]).get(path, {}).items())
    first = next((at for at, text in lines if _BEGINS_SCREEN.search(text)), lines[0][0] if lines else 1)
    return GraphFact(path.rpartition("/")[2], "", "", path, first, True, is_comment=True)


def _member_at(payload: Mapping[str, Any], line: int) -> str:
    """The names of the symbol and of the member of a section that a line lies in."""
    members = section_members(payload)
    around = [one.name for one in members if one.start_line <= line <= one.end_line]
    return " ".join((str(payload.get("Symbol", "")).partition("~")[0], *around))


_CMDLET = re.compile(r"(?<![\w./-])[A-Za-z]\w*-[A-Za-z]\w*(?![\w-]*\.)")
_SCRIPT = re.compile(r"(?<![\w./-])[\w./-]+\.ps1\b", re.IGNORECASE)
_PARAM = re.compile(r"(?:\bparam|^\s*function\s+[\w:-]+)\s*\((?!\s*\))", re.IGNORECASE)
_OF_SCRIPT = re.compile(r"<#.*?(?:#>|\Z)|#[^\n]*|\"(?:`.|[^\"`])*+\"?|'[^']*'", re.DOTALL)
"""Comments and texts of PowerShell, whose brackets mean nothing."""
_MANDATORY = re.compile(r"\bMandatory\b(?!\s*=\s*(?:\$false|0))", re.IGNORECASE)
_ONLY_MANDATORY = re.compile(
    r"^\W*(?:(?:which|what|list|the|are|all) )*(?:required|mandatory)\b"
    r"|\bparameters\b(?!.* and ).*\b(?:required|mandatory)\b",
    re.IGNORECASE,
)


def script_parameters(index: LabelIndex, graph: Graph, asked: str) -> Facts:
    """The parameters of the function, or the script, of PowerShell that a question names; those that are mandatory
    say so, and are all where a question asks for them alone."""
    known = index.parts.shard().values("Path", index.scope())
    places = [(path, 1, "") for written in _SCRIPT.findall(asked) for path in meant(written, known)]
    for name in _CMDLET.findall(asked):
        nodes = (graph.find(key) for key in named_nodes(graph, (name,)))
        of_scripts = [node for node in nodes if node is not None and graph.language(node) == "powershell"]
        places += [(at.path, at.line_start, name) for node in of_scripts for at in graph.places(node)]
    for path, start, name in places:
        lines = lines_of(index, [path]).get(path, {})
        text = "\n".join(lines.get(at, "") for at in range(start, max(lines, default=0) + 1))
        text = _OF_SCRIPT.sub(lambda one: re.sub(r"[^\n]", " ", one[0]), text)
        begin = _PARAM.search(text)
        if begin is None or (not name and "function" in begin[0].lower()):
            continue
        facts = [
            GraphFact(
                called, "is" if mandatory else "", "mandatory" if mandatory else "", path, start + line, True, "", True
            )
            for called, line, mandatory in _parameters_in(text, begin.end())
        ]
        if _ONLY_MANDATORY.search(asked):
            facts = [one for one in facts if one.verb]
        told, at = facts_listed(facts, "parameter", index)
        owner = name or path.rpartition("/")[2]
        return replace(told, heading=told.heading.replace(":**", f" of {owner}:**")), at
    return GraphFacts(), {}


def _parameters_in(text: str, start: int) -> Iterator[tuple[str, int, bool]]:
    """(name, line from 0, whether it is mandatory) of what a list of parameters declares that begins at a place."""
    depth, begin = 0, start
    for at in range(start, len(text)):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth < 0 or (depth == 0 and text[at] == ","):
            bare = re.sub(r"\[(?:[^\[\]]|\[[^\[\]]*\])*\]", lambda one: " " * len(one[0]), text[begin:at])
            if (named := re.search(r"\$(\w+)", bare)) is not None:
                mandatory = _MANDATORY.search(text, begin, begin + named.start()) is not None
                yield named[1], text.count("\n", 0, begin + named.start()), mandatory
            begin = at + 1
        if depth < 0:
            return
