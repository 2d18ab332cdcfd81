"""Which projects use a package, by the manifests and project files that name it; what receives a message that the graph
knows no handler of; what is registered, or run by a schedule; and what a change of something reaches."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rag_assets.answer.graph_facts import MOST_FACTS, GraphFact, GraphFacts, fact_of, facts_at, named_nodes, seen_of
from rag_assets.answer.passages import CONFIGURATION
from rag_assets.answer.plans.code_lines import (
    MOST_LISTED,
    MOST_READ,
    by_place,
    code_of,
    facts_naming,
    lines_of,
    list_heading,
    points_naming,
    points_with,
    product_of,
    says,
)
from rag_assets.answer.question_analysis import QueryTerm
from rag_assets.contracts.graph import NodeType, Relation, key_kind
from rag_assets.contracts.outline import SectionMember
from rag_assets.graph.csr_graph import IN, RELATIONS, Graph, ResultReader
from rag_assets.graph.impact import ImpactGroup, Reached, impact, in_test_file
from rag_assets.graph.lookup import short_name
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
    " crontab AddFunc AddJob scheduleAtFixedRate scheduleWithFixedDelay RecurringJob"
)
_SCHEDULES = re.compile(
    r"^\s*@(?:\w+\.)*(?:Cron|Interval|Scheduled?|Schedules|scheduled_job|periodic_task|repeat_every)\s*\("
    r"|\[TimerTrigger\(|^\s*#\[(?:\w+::)*cron\b"
)
"""What runs a member by a schedule: `@Cron("0 * * * *")`, `@Scheduled(fixedRate = 60)`."""
_QUEUED_WORDS = "shared_task task celery dramatiq actor huey db_task tasks loop"
_QUEUED = re.compile(r"^\s*@(?:shared_task|db_task|dramatiq\.actor|tasks\.loop|\w+\.task)\b(?!\.)")
"""What has a worker run a function of Python: Celery, Huey, Dramatiq, Discord."""
_CONFIGURED_SCHEDULE = "schedule cron crontab cronExpression CronSchedule"
_CRON = (
    r"(?:@(?:hourly|daily|midnight|weekly|monthly|yearly|every \d\w*)\b"
    r"|[\d*][\d*/,-]*(?:\s+(?:[\dA-Z*?][\dA-Za-z*/,?#-]*|(?:mon|tue|wed|thu|fri|sat|sun)[a-z,-]*)){4,5})"
)
_IS_SCHEDULE = re.compile(
    rf"\s*(?:-\s*)?[\"']?(?P<key>[\w.-]*(?:cron|CRON|Cron|[sS]chedule|SCHEDULE)[\w.-]*)[\"']?\s*[:=]\s*[\"']?{_CRON}"
)
_GIVEN = re.compile(
    rf"[\"'`](?=[^\"'`]*[*@]){_CRON}[\"'`]|[\"']schedule[\"']:\s*\S|\bcrontab\(|\.Add(?:Func|Job)\((?=.*(?i:cron|schedul))"
    r"|\.schedule(?:AtFixedRate|WithFixedDelay)\(|\bschedule\.every\(|\bRecurringJob\.AddOrUpdate\b"
)
"""Where code gives a schedule itself: a cron expression, `crontab(minute=0)` of Celery, `AddFunc` of Go."""
_OF_A_SCHEDULE = re.compile(r"cron|schedul|period|\bbeat", re.IGNORECASE)
_OFFERED = re.compile(r"\b(?:examples?|hint|label|placeholder|title)\b[\"']?\s*[:=]", re.IGNORECASE)
"""A schedule that somebody may choose, and nothing has."""
_FIRST_TEXT = re.compile(r"\.Add(?:Func|Job)\(\"(?P<name>[A-Za-z][^\"]*)\"")
_OF_PAGES = frozenset(
    {"astro", "html", "jsx", "razor", "svelte", "tsx", "vue"}
)  # offer cron expressions to choose from
_NEAR = 12  # lines, of what has a schedule
_OF_INTEGRATION = re.compile(r"(?:^|/)(?:\.(?:circleci|github|gitlab|woodpecker)|azure-pipelines|renovate)[^/]*(?:/|$)")
"""What runs for those who develop a project, and not within it."""
_CRONTAB_LINE = re.compile(rf"\s*{_CRON}\s+\S")
_NAMED_ABOVE = re.compile(
    r"\s*(?:-\s*)?[\"']?name[\"']?\s*[:=]\s*[\"']?(?P<name>[^\"'#\n]*[^\"'#\s,])|\s*\[+(?P<section>[\w.-]+)\]+\s*$"
)
_RECEIVES = (
    r"\b(?:(?:Un)?[Ss]ubscribe|[Ll]isten|[Hh]andle|[Cc]onsume|[Rr]eceive|[Oo]n|[Ww]ait)\w*<(?:\w+\.)*{0}>"
    r"|\b(?:is|case|instanceof)\s+\(?(?:\w+\.)*{0}(?![\w.])"
    r"|\b(?:[Hh]andle|[Cc]onsume|[Rr]eceive|[Oo]n[A-Z]|Apply|When)\w*\((?:[\w.]+\s+\w+,\s*)*(?:\w+\.)*{0}\s+\w+"
)
"""What gets a message: `Subscribe<OrderPaid>(…)`, `if (message is OrderPaid)`, `Handle(OrderPaid paid)`."""
_CONNECTS = r"(?<!\w){0}\.connect(?:_via)?\(|^\s*@receiver\((?:[^)]*[\s.,\[(])?{0}(?!\w)"
"""What gets a signal of Django, Celery or Flask."""


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


def registrations(
    target: Searchable, subject: Sequence[QueryTerm], names: Sequence[str]
) -> tuple[GraphFacts, dict[GraphFact, str]]:
    """The lines of the product that give a service to a container, one of some names where there are some, of files
    about a subject, with their points."""
    found: dict[GraphFact, str] = {}
    for point, payload in product_of(points_with(_REGISTERING, target, MOST_READ), target).items():
        path, first = payload.get("Path", ""), payload.get("StartLine", 1)
        lines = code_of(payload, target).split("\n") if says(subject, path) else ()
        for number, line in enumerate(lines, first):
            known = _REGISTERS.search(line) if not line.lstrip().startswith(("//", "*")) else None
            if known and (not names or known["service"] in names):
                found[GraphFact(known["service"], "", "", path, number, True, is_comment=True)] = point
    shown = by_place(found, MOST_LISTED)
    return GraphFacts(tuple(shown), len(found), list_heading("registered service", len(found))), shown


def scheduled_members(target: Searchable, subject: Sequence[QueryTerm]) -> tuple[GraphFacts, dict[GraphFact, str]]:
    """The members of the product that an annotation has run by a schedule, and what code gives a schedule otherwise,
    with the line that says how often."""
    code = product_of(points_with(_SCHEDULING, target, MOST_READ), target)
    found = facts_naming(_SCHEDULES, code, target, ("", "", True)) | _given_schedules(code, target)
    return _about(subject, found, "scheduled job")


def queued_members(target: Searchable, subject: Sequence[QueryTerm]) -> tuple[GraphFacts, dict[GraphFact, str]]:
    """The functions of the product that a decorator has run by a worker."""
    code = product_of(points_with(_QUEUED_WORDS, target, MOST_READ), target)
    return _about(subject, facts_naming(_QUEUED, code, target, ("", "", True)), "background job")


def _about(
    subject: Sequence[QueryTerm], found: Mapping[GraphFact, str], noun: str
) -> tuple[GraphFacts, dict[GraphFact, str]]:
    about = {
        replace(one, is_comment=True): at for one, at in found.items() if says(subject, f"{one.source} {one.path}")
    }
    shown = by_place(about, MOST_LISTED)
    return GraphFacts(tuple(shown), len(about), list_heading(noun, len(about))), shown


def _given_schedules(code: Mapping[str, Mapping[str, Any]], target: Searchable) -> dict[GraphFact, str]:
    """The lines that give something a schedule, each called as a name beside it or shortly above it says, else as the
    member that it is in."""
    found: dict[tuple[str, int], tuple[GraphFact, str]] = {}
    for point, payload in sorted(code.items(), key=lambda one: one[1].get("EndLine", 0) - one[1].get("StartLine", 0)):
        path, first = payload.get("Path", ""), payload.get("StartLine", 1)
        if payload.get("CodeLanguage", "") in _OF_PAGES:
            continue
        symbol = str(payload.get("Symbol", "")).partition("~")[0].rpartition(".")[2]
        symbol = symbol if symbol.isidentifier() and payload.get("Symbol") != path else ""
        members = [SectionMember.decoded(text) for text in payload.get("Members", ())]
        lines = code_of(payload, target).split("\n")
        for at, line in enumerate(lines):
            if _GIVEN.search(line) is None or line.lstrip().startswith(("//", "*", "#")) or (path, first + at) in found:
                continue
            around = next((one.name for one in members if one.start_line <= first + at <= one.end_line), "")
            if not _OF_A_SCHEDULE.search(f"{line} {around}") or _OFFERED.search(line):
                continue
            near = [*filter(None, map(_NAMED_ABOVE.match, lines[at : max(0, at - _NEAR) : -1]))]
            texts = [one for one in near if one.end() < len(one.string) and one.string[one.end()] in "\"'"]
            named = _FIRST_TEXT.search(line) or next(iter(texts or near), None)
            own = ".".join(filter(None, (symbol, around))) or path.rpartition("/")[2]
            name = (named["name"] if named is not None else "") or own
            found[path, first + at] = GraphFact(name, "", "", path, first + at, True), point
    return dict(found.values())


def configured_schedules(
    index: LabelIndex, subject: Sequence[QueryTerm], *, of_integration: bool = True
) -> tuple[GraphFacts, dict[GraphFact, str]]:
    """What files of configuration run by a cron expression, each called as the nearest name above it says, else as its
    key; with the workflows of continuous integration or without them."""
    likely = product_of(points_with(_CONFIGURED_SCHEDULE, index, MOST_READ), index).values()
    paths = {one["Path"] for one in likely if one.get("CodeLanguage", "") in CONFIGURATION}
    paths = {one for one in paths if of_integration or not _OF_INTEGRATION.search(one)}
    found: list[GraphFact] = []
    for path, lines in sorted(lines_of(index, paths).items()):
        name, of_file = "", path.rpartition("/")[2]
        for number, text in lines.items():
            called = _NAMED_ABOVE.match(text)
            name = called["name"] or called["section"] if called is not None else name
            keyed = _IS_SCHEDULE.match(text) or (of_file.startswith("crontab") and _CRONTAB_LINE.match(text))
            own = name or (keyed and keyed.groupdict().get("key")) or of_file
            if keyed and says(subject, f"{path} {own}"):
                found.append(GraphFact(own, "", "", path, number, True, is_comment=True))
    at = facts_at(found[:MOST_LISTED], index)
    return GraphFacts(tuple(at), len(found), list_heading("scheduled job", len(found))), at


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
