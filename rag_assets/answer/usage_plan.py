"""Which projects use a package, by the manifests and project files that name it; what receives a message that the graph
knows no handler of; what a program takes on its command line and by its keys, and which windows it shows; who may call
an endpoint; and what a change of something reaches."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

import numpy as np

from rag_assets.answer.everyday_plan import lines_of
from rag_assets.answer.graph_facts import MOST_FACTS, GraphFact, GraphFacts, fact_of, facts_at, named_nodes, seen_of
from rag_assets.answer.passages import CONFIGURATION, PROSE
from rag_assets.answer.plans import (
    CONTAINERS,
    MOST_LISTED,
    code_of,
    facts_naming,
    list_heading,
    nodes_listed,
    points_naming,
    points_with,
    product_of,
    says,
)
from rag_assets.answer.question_analysis import QueryTerm, root, roots_of
from rag_assets.contracts.graph import NodeType, Relation, key_kind
from rag_assets.contracts.outline import SectionMember
from rag_assets.graph.csr_graph import IN, KINDS, RELATIONS, Graph, ResultReader
from rag_assets.graph.impact import ImpactGroup, Reached, impact, in_test_file
from rag_assets.graph.lookup import short_name
from rag_assets.identifiers import identifier_words
from rag_assets.languages.command_line import (
    COMMAND_WORDS,
    OPTION_WORDS,
    arguments_declared,
    commands_declared,
    options_declared,
)
from rag_assets.languages.desktop import KEY_WORDS, keys_declared, laid_out
from rag_assets.search.index import LabelIndex, Searchable
from rag_assets.search.ranking.penalties import non_product_code

_REGISTERING = (
    "AddScoped AddSingleton AddTransient AddHostedService AddHttpClient AddDbContext TryAddSingleton Decorate"
)
_REGISTERS = re.compile(
    r"\.\s*(?:(?:Try)?Add(?:Keyed)?(?:Scoped|Singleton|Transient|HostedService|HttpClient|DbContext)|(?:Try)?Decorate)"
    r"(?:<|\(typeof\()(?:\w+\.)*(?P<service>(?!T\b|T[A-Z])\w+)"
)
_SCHEDULING = (
    "Cron Scheduled Schedule Schedules Interval fixedRate scheduled_job periodic_task repeat_every TimerTrigger"
)
_SCHEDULES = re.compile(
    r"^\s*@(?:\w+\.)*(?:Cron|Interval|Scheduled?|Schedules|scheduled_job|periodic_task|repeat_every)\s*\("
    r"|\[TimerTrigger\(|^\s*#\[(?:\w+::)*cron\b"
)
"""What runs a member by a schedule: `@Cron("0 * * * *")`, `@Scheduled(fixedRate = 60)`."""
_CONFIGURED_SCHEDULE = "schedule cron crontab cronExpression CronSchedule"
_CRON = r"(?:@(?:hourly|daily|midnight|weekly|monthly|yearly)\b|[\d*][\d*/,-]*(?:\s+[\dA-Z*?][\dA-Za-z*/,?#-]*){4,5})"
_IS_SCHEDULE = re.compile(
    rf"\s*(?:-\s*)?[\"']?(?P<key>[\w.-]*(?:[cC]ron|[sS]chedule)[\w.-]*)[\"']?\s*[:=]\s*[\"']?{_CRON}"
)
_CRONTAB_LINE = re.compile(rf"\s*{_CRON}\s+\S")
_NAMED_ABOVE = re.compile(r"\s*(?:-\s*)?[\"']?name[\"']?\s*[:=]\s*[\"']?(?P<name>[^\"'#\n]*[^\"'#\s,])")
_ACCESS = re.compile(
    r"^\s*\[.*?\b\w*(?:Authorize|AllowAnonymous|Permission)\w*\b"
    r"|\.(?:AllowAnonymous|RequireAuthorization|Require\w*(?:Permission|Policy|Role)\w*)\("
    r"|@(?:DenyAll|PermitAll|PreAuthorize|RolesAllowed|Secured|login_required|permission_required)\b"
)
"""Who may call an endpoint, at it or its type."""
_OPEN = re.compile(r"AllowAnonymous")
_RESTRICTED = re.compile(
    r"(?:Roles?|Polic(?:y|ies)|Permissions?|Scopes?|Claims?)(?![a-z])|hasA?\w*(?:Role|Authority)|Roles|permission_"
    r"|Authoriz\w+\(\s*(?:\"|\w+\.)"
)
"""With a role, a policy or the like."""
_MAPS = re.compile(
    r"(?:(?<!\w)(?P<on>\w+)\s*)?\.Map(?:Delete|Get|Methods|Patch|Post|Put)\b[^\"]*(?:\"(?P<route>[^\"]*)\")?"
)
"""What maps an endpoint of ASP.NET, or of a group of them, to a handler."""
_HANDLER = re.compile(r"(\w+)\s*(?:<[^<>()]*>)?\(")
_GROUPED = r"(?<!\w){0}\s*=.*\bMapGroup\b"
_FOR_OTHERS = re.compile(
    r"\bAddFallbackPolicy\(|\bFallbackPolicy\s*=(?!=)|\bSetFallbackPolicy\(|\bnew AuthorizeFilter\("
    r"|\bMap(?:Controllers|RazorPages)\(\)\s*\.RequireAuthorization\("
)
"""Who may call the endpoints that say nothing themselves."""
_SAYING_FOR_OTHERS = "AddFallbackPolicy FallbackPolicy SetFallbackPolicy AuthorizeFilter MapControllers MapRazorPages"
_MOST_OF_STATEMENT = 12  # lines
_TYPE = re.compile(r"^[^/*\"]*\b(?:class|interface|record|object)\s+\w+")
_FAILS = r".*\b(?:throw|raise|panic|bail|fail|fatal|[eE]rrorf?|abort|exit|die)\b"
_COMMENTS = ("//", "*", "# ", "<!--")
_MOST_OF_A_HEAD = 30  # lines, in which a file of XAML says what it lays out
_MOST_ENDPOINTS = 40  # that a question can mean
_MOST_READ = 300  # sections with these words, the likeliest
_RECEIVES = (
    r"\b(?:(?:Un)?[Ss]ubscribe|[Ll]isten|[Hh]andle|[Cc]onsume|[Rr]eceive|[Oo]n|[Ww]ait)\w*<(?:\w+\.)*{0}>"
    r"|\b(?:is|case|instanceof)\s+\(?(?:\w+\.)*{0}(?![\w.])"
    r"|\b(?:[Hh]andle|[Cc]onsume|[Rr]eceive|[Oo]n[A-Z]|Apply|When)\w*\((?:[\w.]+\s+\w+,\s*)*(?:\w+\.)*{0}\s+\w+"
)
"""What gets a message: `Subscribe<OrderPaid>(…)`, `if (message is OrderPaid)`, `Handle(OrderPaid paid)`."""


def receivers_of(target: Searchable, names: Sequence[str]) -> tuple[GraphFacts, dict[GraphFact, str]]:
    """Where code of the product subscribes to some messages, or takes them, with the points that show it."""
    at: dict[GraphFact, str] = {}
    for name in (one.rpartition(".")[2] for one in names):
        code = product_of(points_naming(name, target).ids, target)
        at |= facts_naming(re.compile(_RECEIVES.format(re.escape(name))), code, target, ("receives", name, True))
    shown = _by_place(at, MOST_FACTS)
    command = f"search {shlex.quote(next(iter(shown)).target)}" if shown else ""
    return GraphFacts(tuple(shown), len(at), command=command, leads=True), shown


def _by_place(at: Mapping[GraphFact, str], most: int) -> dict[GraphFact, str]:
    """The first of some facts, in the order of files and lines, with their points."""
    return {one: at[one] for one in sorted(at, key=lambda one: (one.path, one.line))[:most]}


def registrations(
    target: Searchable, subject: Sequence[QueryTerm], names: Sequence[str]
) -> tuple[GraphFacts, dict[GraphFact, str]]:
    """The lines of the product that give a service to a container, one of some names where there are some, of files
    about a subject, with their points."""
    found: dict[GraphFact, str] = {}
    for point, payload in product_of(points_with(_REGISTERING, target, _MOST_READ), target).items():
        path, first = payload.get("Path", ""), payload.get("StartLine", 1)
        lines = code_of(payload, target).split("\n") if says(subject, path) else ()
        for number, line in enumerate(lines, first):
            known = _REGISTERS.search(line) if not line.lstrip().startswith(("//", "*")) else None
            if known and (not names or known["service"] in names):
                found[GraphFact(known["service"], "", "", path, number, True, is_comment=True)] = point
    shown = _by_place(found, MOST_LISTED)
    return GraphFacts(tuple(shown), len(found), list_heading("registered service", len(found))), shown


def scheduled_members(target: Searchable, subject: Sequence[QueryTerm]) -> tuple[GraphFacts, dict[GraphFact, str]]:
    """The members of the product that an annotation has run by a schedule, with the line that says how often."""
    code = product_of(points_with(_SCHEDULING, target, _MOST_READ), target)
    found = facts_naming(_SCHEDULES, code, target, ("", "", True))
    about = {
        replace(one, is_comment=True): at for one, at in found.items() if says(subject, f"{one.source} {one.path}")
    }
    shown = _by_place(about, MOST_LISTED)
    return GraphFacts(tuple(shown), len(about), list_heading("scheduled job", len(about))), shown


def configured_schedules(index: LabelIndex, subject: Sequence[QueryTerm]) -> tuple[GraphFacts, dict[GraphFact, str]]:
    """What files of configuration run by a cron expression, each called as the nearest name above it says, else as its
    key."""
    likely = product_of(points_with(_CONFIGURED_SCHEDULE, index, _MOST_READ), index).values()
    paths = {one["Path"] for one in likely if one.get("CodeLanguage", "") in CONFIGURATION}
    found: list[GraphFact] = []
    for path, lines in sorted(lines_of(index, paths).items()):
        name, of_file = "", path.rpartition("/")[2]
        for number, text in lines.items():
            called = _NAMED_ABOVE.match(text)
            name = called["name"] if called is not None else name
            keyed = _IS_SCHEDULE.match(text) or (of_file.startswith("crontab") and _CRONTAB_LINE.match(text))
            own = name or (keyed and keyed.groupdict().get("key")) or of_file
            if keyed and says(subject, f"{path} {own}"):
                found.append(GraphFact(own, "", "", path, number, True, is_comment=True))
    at = facts_at(found[:MOST_LISTED], index)
    return GraphFacts(tuple(at), len(found), list_heading("scheduled job", len(found))), at


def command_line_facts(
    index: LabelIndex, noun: str, subject: Sequence[QueryTerm]
) -> tuple[GraphFacts, dict[GraphFact, str]]:
    """The commands, or the options, that the product takes on its command line, those about a subject, each where it is
    declared, with its point: an option of several commands once for each."""
    is_command = noun == "command"
    points = facts_at(_typed(index, noun), index)
    if subject:
        payloads = index.parts.shard().retrieve(sorted(set(points.values())), index.scope())
        said = {one: f"{one.path} {_member_at(payloads[point], one.line)}" for one, point in points.items()}
        points = {one: point for one, point in points.items() if says(subject, said[one])}
    heading = list_heading("command" if is_command else f"command line {noun}", len(points))
    shown = dict(list(points.items())[:MOST_LISTED])
    return GraphFacts(tuple(shown), len(points), heading), shown


def option_facts(index: LabelIndex, names: Container[str]) -> tuple[GraphFacts, dict[GraphFact, str]]:
    """Where the product declares options of its command line that are called so, with the points that show it."""
    found = facts_at([one for one in _typed(index, "option") if one.source in names], index)
    shown = _by_place(found, MOST_FACTS)
    return GraphFacts(tuple(shown), len(found)), shown


def refusals(target: Searchable, names: Collection[str]) -> tuple[GraphFacts, dict[GraphFact, str]]:
    """The lines of the product that fail with a message that has all of some options, with their points."""
    said = "".join(rf"(?=.*(?<![\w-]){re.escape(name)}(?![\w-]))" for name in names)
    code = product_of(points_naming(max(names, key=len).lstrip("-"), target).ids, target)
    shown = _by_place(facts_naming(re.compile(f"^{said}{_FAILS}"), code, target, ("", "", True)), MOST_FACTS)
    return GraphFacts(tuple(shown), len(shown), leads=True), shown


def _typed(index: LabelIndex, noun: str) -> list[GraphFact]:
    """The commands, options or arguments that the product declares, those of the files nearest to the root first."""
    is_command = noun == "command"
    of_options = options_declared if noun == "option" else arguments_declared
    words = COMMAND_WORDS if is_command else OPTION_WORDS
    likely = product_of(points_with(words, index, _MOST_READ), index).values()
    languages = {one["Path"]: one.get("CodeLanguage", "") for one in likely}
    paths = [path for path, language in languages.items() if language not in PROSE | CONFIGURATION]
    found: list[GraphFact] = []
    for path, lines in sorted(lines_of(index, paths).items(), key=lambda one: (one[0].count("/"), one[0])):
        text, numbers = "\n".join(lines.values()), [*lines]
        declared = commands_declared(text, languages[path]) if is_command else of_options(text)
        for name, at in sorted(declared, key=itemgetter(1)):
            line = numbers[text.count("\n", 0, at)]
            if not lines[line].lstrip().startswith(_COMMENTS):
                found.append(GraphFact(name, "", "", path, line, True, is_comment=True))  # or an attribute
    return found


def shortcut_facts(index: LabelIndex, subject: Sequence[QueryTerm]) -> tuple[GraphFacts, dict[GraphFact, str]]:
    """The lines of the product that give a key something to do, by the members that they lie in, those about a subject,
    with their points."""
    likely = product_of(points_with(KEY_WORDS, index, _MOST_READ), index).values()
    lines = lines_of(index, {one["Path"] for one in likely if one.get("CodeLanguage", "") not in PROSE})
    found = [
        GraphFact("", "", "", path, [*known][text.count("\n", 0, at)], True, is_comment=True)
        for path, known in lines.items()
        if (text := "\n".join(known.values()))
        for at in keys_declared(text)
    ]
    points = facts_at(found, index)
    payloads = index.parts.shard().retrieve(sorted(set(points.values())), index.scope())
    named: dict[GraphFact, str] = {}
    all_said: dict[GraphFact, str] = {}
    for one, point in points.items():
        file, line = one.path.rpartition("/")[2], lines[one.path][one.line]
        name = _member_at(payloads[point], one.line).rpartition(" ")[2].rpartition("/")[2] or file
        said = f"{name} {file} {line}"
        if says(subject, said) and not line.lstrip().startswith(_COMMENTS):
            named[replace(one, source=name)] = point
            if {word.root for word in subject} <= roots_of(said):
                all_said[replace(one, source=name)] = point
    named = all_said or named
    shown = _by_place(named, MOST_LISTED)
    return GraphFacts(tuple(shown), len(named), list_heading("shortcut", len(named))), shown


def window_facts(
    index: LabelIndex, graph: Graph, noun: str, subject: Sequence[QueryTerm]
) -> tuple[GraphFacts, dict[GraphFact, str]]:
    """The windows, pages or the like about a subject that XAML lays out, with the types of code that are called so and
    are no bases of them; nothing where no XAML does."""
    subject = [word for word in subject if word.root not in CONTAINERS]
    paths = [path for path in index.parts.shard().values("Path", index.scope()) if path.endswith((".xaml", ".axaml"))]
    wanted = [root(word) for word in noun.split()]
    facts: dict[str, GraphFact] = {}
    tags: set[str] = set()
    for path, lines in lines_of(index, [one for one in paths if non_product_code(one) is None]).items():
        known = laid_out("\n".join(list(lines.values())[:_MOST_OF_A_HEAD]))
        if known is None or [root(word) for word in identifier_words(known[1])][-len(wanted) :] != wanted:
            continue
        name, tag, at = known
        tags.add(tag)
        if says(subject, f"{name} {path}"):
            line = [*lines]["\n".join(lines.values()).count("\n", 0, at)]
            facts[name] = GraphFact(name, "", "", path, line, True, is_comment=True)
    for one in nodes_listed(graph, noun, subject) if facts else ():
        is_contract = re.match(r"I[A-Z]", one.name) is not None or one.name in tags
        if non_product_code(one.path) is None and not is_contract:
            facts.setdefault(one.name, one.fact)
    found = facts_at(facts.values(), index)
    shown = _by_place(found, MOST_LISTED)
    return GraphFacts(tuple(shown), len(found), list_heading(noun, len(found))), shown


def _member_at(payload: Mapping[str, Any], line: int) -> str:
    """The names of the symbol and of the member of a section that a line lies in."""
    members = map(SectionMember.decoded, payload.get("Members", ()))
    around = [one.name for one in members if one.start_line <= line <= one.end_line]
    return " ".join((str(payload.get("Symbol", "")).partition("~")[0], *around))


def access_facts(
    index: LabelIndex, graph: Graph, asks: str, subject: Sequence[QueryTerm]
) -> tuple[GraphFacts, dict[GraphFact, str]]:
    """The lines that say who may call the endpoints about a subject, of themselves or else of the type around them:
    `open` those that anybody may call, `what` those that name a role, a policy or the like."""
    nodes = np.flatnonzero(graph.kinds == KINDS.index(NodeType.ENDPOINT.value))
    wanted = {word.root for word in subject}
    if not wanted and asks != "open":
        return GraphFacts(), {}
    naming = points_naming("AllowAnonymous", index).ids if asks == "open" else ()
    open_paths = {one.get("Path") for one in product_of(naming, index).values()}
    found = [
        (graph.names[node], place)
        for node, places in zip(nodes.tolist(), ResultReader(graph).places(nodes), strict=True)
        for place in places
        if non_product_code(place.path) is None
        and (asks != "open" or place.path in open_paths)
        and wanted
        <= (said := roots_of(f"{graph.keys[node]} {graph.signature(node).partition('(')[0]}")) | roots_of(place.path)
        and (not wanted or wanted & said)
    ]
    if asks != "open" and len(found) > _MOST_ENDPOINTS:
        return GraphFacts(), {}
    telling = _OPEN if asks == "open" else _RESTRICTED if asks == "what" else _ACCESS
    lines = lines_of(index, {place.path for _, place in found})
    facts: dict[tuple[str, int], GraphFact] = {}
    silent: list[str] = []
    for name, place in found:
        known = lines.get(place.path, {})
        mapped, on = _mapped_at(known, name, place.line_start)
        within = [
            at
            for at in dict.fromkeys((*range(place.line_start, place.line_end + 1), *mapped))
            if _ACCESS.search(known.get(at, ""))
        ]
        own = [*_above(known, place.line_start), *within]
        around = _above(known, _type_around(known, place.line_start))
        saying = own or _of_group(known, on, place.line_start if not mapped else mapped[0]) or around
        silent += [place.path] * (not saying)
        for at in saying:
            if telling.search(known[at]):
                facts.setdefault((name, at), GraphFact(name, "", "", place.path, at, True, is_comment=True))
    kept = sorted(facts.values(), key=lambda one: (one.path, one.line, one.source))
    at_points = facts_at(kept[:MOST_LISTED], index)
    if asks != "open" and silent:
        at_points |= _said_for_others(index, silent)
    return GraphFacts(tuple(at_points), len(kept), "**Who may call it:**"), at_points


def _mapped_at(lines: Mapping[int, str], endpoint: str, line: int) -> tuple[list[int], str]:
    """(the lines of the statement that maps an endpoint, what it is mapped on): `app.MapPost("/orders", AddAsync)`
    where its handler `AddAsync` stands at a line; nothing of what attributes map."""
    begin, found = line, _MAPS.search(lines.get(line, ""))
    if found is None and (handler := _HANDLER.search(lines.get(line, ""))):
        named = re.compile(rf"(?<![\w\"]){re.escape(handler[1])}(?![\w(\"])")
        maps = {at: one for at, text in lines.items() if named.search(text) and (one := _MAPS.search(text))}
        begin = max(
            maps, key=lambda at: len(maps[at]["route"] or "") * endpoint.endswith(maps[at]["route"] or ""), default=0
        )
        found = maps.get(begin)
    return ([*_statement(lines, begin)], found["on"] or "") if found is not None else ([], "")


def _statement(lines: Mapping[int, str], begin: int) -> Iterator[int]:
    for at in range(begin, begin + _MOST_OF_STATEMENT):
        yield at
        if lines.get(at, ";").rstrip().endswith(";"):
            return


def _of_group(lines: Mapping[int, str], group: str, line: int) -> list[int]:
    """The lines that say who may call the endpoints of a group above a line."""
    made = re.compile(_GROUPED.format(re.escape(group))) if group else None
    begin = max((at for at, text in lines.items() if made and at < line and made.search(text)), default=0)
    of_group = [at for at in lines if begin and at > begin and lines[at].lstrip().startswith(f"{group}.")]
    begins = [begin, *(at for at in of_group if not _MAPS.search(lines[at]))] if begin else []
    return [at for start in begins for at in _statement(lines, start) if _ACCESS.search(lines.get(at, ""))]


def _said_for_others(index: LabelIndex, paths: Sequence[str]) -> dict[GraphFact, str]:
    """Who may call the endpoints of some files that say nothing themselves: by the project that is nearest to them."""
    code = product_of(points_with(_SAYING_FOR_OTHERS, index, _MOST_READ), index)
    found = facts_naming(_FOR_OTHERS, code, index, ("", "", True))
    above = {
        one: at
        for one, at in found.items()
        if any(path.startswith(f"{one.path.rpartition('/')[0]}/") for path in paths)
    }
    kept = above or (found if len(found) == 1 else {})
    return {replace(one, source="every other endpoint", is_comment=True): at for one, at in kept.items()}


def _type_around(lines: Mapping[int, str], line: int) -> int:
    return next((at for at in range(line, 0, -1) if _TYPE.search(lines.get(at, ""))), 0)


def _above(lines: Mapping[int, str], line: int) -> list[int]:
    """The attributes right above a line that say who may call what stands there."""
    begin = line
    while lines.get(begin - 1, "").strip()[:1] in ("[", "@"):
        begin -= 1
    return [at for at in range(begin, line) if _ACCESS.search(lines[at])]


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
