"""What runs without being called, and how often: what code, an annotation or a file of configuration gives an interval
or a cron expression, what waits in a loop, what a worker takes from a queue, and what starts workflows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

from rag_assets.answer.graph_facts import Facts, FactsOrAbsent, GraphFact, GraphFacts, facts_at
from rag_assets.answer.passages import CONFIGURATION, PROSE
from rag_assets.answer.plans.code_lines import (
    MIGRATION,
    MOST_LISTED,
    MOST_READ,
    by_place,
    code_of,
    facts_listed,
    facts_naming,
    lines_of,
    list_heading,
    points_with,
    product_of,
    says,
)
from rag_assets.answer.question_analysis import QueryTerm, roots_of
from rag_assets.search import CodePlace
from rag_assets.search.index import LabelIndex, Searchable
from rag_assets.search.line_references import member_at, section_members

_WORDS = (
    "TimeSpan Interval Cron AddScheduledTask Scheduled ScheduledTask Recurring RecurringJob Periodic PeriodicTimer"
    " Every Schedule typeof Task Delay while BackgroundService"
)
_GIVEN = re.compile(
    r"\b\w*(?:Scheduled|Recurring|Periodic|Schedule|Every|Cron|AddOrUpdate)\w*<(?:\w+\.)*(?P<name>(?!T\b|T[A-Z])[A-Z]\w*)>\s*\([^;\n]*"
    r"(?:\bTimeSpan\b|\bCron|Every|Hourly|Daily|Weekly|Monthly|\"[\d*/,-]+(?: [\w*/,?#-]+){4,}\")"
)
_RECURRING = re.compile(
    r"\b\w*Recurring\w*\.AddOrUpdate\w*\([^;]*?=>\s*(?:await\s+)?(?:\w+\.)*(?P<name>[A-Z]\w*)\(", re.IGNORECASE
)
"""`RecurringJob.AddOrUpdate("backup", () => _backups.Run(), Cron.Daily)`, also over several lines."""
_MADE = re.compile(r"\bnew\s+[\w.]+\s*(?:\(\s*\))?\s*\{(?P<body>[^{}]*)\}")
_INTERVAL = re.compile(r"\b\w*(?:Interval|Period|Frequency|Schedule|Cron|CronExpression|Every)\s*=(?![=>])\s*\S")
_OF_TYPE = re.compile(r"\b(?:typeof\(\s*(?:\w+\.)*|nameof\(\s*)(?P<name>[A-Z]\w*)\s*\)")
"""The type that is run; `nameof(Options.Interval)` is the name of a setting."""
_WAITS = re.compile(
    r"\bnew PeriodicTimer\(\s*TimeSpan\.From|\b(?:Task\.Delay|Thread\.Sleep)\(\s*TimeSpan\.From\w+\(\s*[\d._]+\s*\)"
)
_WAITS_HELD = re.compile(r"\b(?:Task\.Delay|Thread\.Sleep|new PeriodicTimer)\(\s*(?P<held>_?[a-z]\w*)\s*[,)]")
_LOOP = re.compile(r"\bwhile\s*\(")
_OF_RUNNING = roots_of("async core do execute internal invoke loop main on process run start work worker")
"""What members are called that only run: the type says what that is."""
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
_GIVES_SCHEDULE = re.compile(
    rf"[\"'`](?=[^\"'`]*[*@]){_CRON}[\"'`]|[\"'](?:cron|schedule)[\"']:\s*(?!\w+\[)\S|\bcrontab\("
    r"|\.Add(?:Func|Job)\((?=.*(?i:cron|schedul))|\.Add(?:Func)?\(\s*[\w.]+,\s*func\("
    r"|\.schedule(?:AtFixedRate|WithFixedDelay)\(|\bschedule\.every\(|\bRecurringJob\.AddOrUpdate\b"
    r"|(?:\bSchedule::|\$schedule->)(?:call|command|exec|job)\("
)
"""Where code gives a schedule itself: a cron expression, `crontab(minute=0)` of Celery, `AddFunc` of Go, `Schedule` of
Laravel."""
_RUNS_NOTHING = re.compile(
    r"\s*(?://|\*|#|return\b)|.*\?.*:|.*\b(?:examples?|hint|label|placeholder|title)\b[\"']?\s*[:=]"
    r"|.*\b(?:minutely|hourly|daily|nightly|weekly|monthly|yearly|annually|midnight|every_?\w*)[\"']?\s*[:=]\s*[\"']",
    re.IGNORECASE,
)
"""Comments, and cron expressions to choose from: `public const string Daily = "0 0 * * *";`."""
_OF_A_SCHEDULE = re.compile(r"cron|schedul|period|\bbeat", re.IGNORECASE)
_FIRST_TEXT = re.compile(
    r"(?:\.Add(?:Func|Job)?\(\"|(?:::|->)(?:command|exec|job)\((?:new \w+\((?=['\"]))?(?:new )?['\"]?)"
    r"(?P<name>[A-Za-z_][^\"'(),\n]*)"
)
_RUN_WITHIN = re.compile(
    r"(?:\bfunc\(\)|=>)\s*\{?\s*(?:(?:\w+\.)?(?:fmt|log(?:ger)?|lo|slog|console)\.\w+\([^\n]*\);?\s*)*"
    r"(?:(?:await|return|\w+(?:, \w+)? :?=) )*(?:\w+\.)*(?P<name>[A-Za-z]\w*)\("
)
"""What a function without a name calls first, but for a log: it is run by the schedule."""
_ENTRY = re.compile(r"\s*[\"'](?P<name>[\w .:/-]+)[\"']\s*:\s*\{|\s*\{\s*$")
"""Where an entry of a table begins."""
_RUNS = re.compile(r"\s*[\"'](?:name|task|func|job)[\"']\s*:\s*[\"'](?P<name>[^\"'\n]+)")
_OWN_KEY = re.compile(
    r"(?:^\s*|[\"'])(?P<name>\w+_?(?:cron|schedule)|\w*(?:cron|schedule)_?\w+)[\"']?\s*[:=](?!=)", re.IGNORECASE
)
_OF_PAGES = frozenset(
    {"astro", "html", "jsx", "razor", "svelte", "tsx", "vue"}
)  # offer cron expressions to choose from
_NEAR = 12  # lines, of what has a schedule
_MOST_OF_CALL = 5  # lines, to what is called there
_OF_INTEGRATION = re.compile(
    r"(?:^|/)(?:\.(?:azdo|azure|circleci|github|gitlab|woodpecker)|azure-pipelines|renovate)[^/]*(?:/|$)"
)
"""What runs for those who develop a project, and not within it."""
_CRONTAB_LINE = re.compile(rf"\s*{_CRON}\s+\S")
_NAMED_ABOVE = re.compile(
    r"\s*(?:-\s*)?[\"']?name[\"']?\s*[:=]\s*[\"']?(?P<name>[^\"'#\n]*[^\"'#\s,])|\s*\[+(?P<section>[\w.-]+)\]+\s*$"
)


@dataclass(frozen=True, slots=True)
class Scheduled:
    """What is run, and the line that says how often, which it may only wait on."""

    name: str
    path: str
    line: int
    text: str
    waits: bool = False


_known: WeakKeyDictionary[LabelIndex, list[Scheduled]] = WeakKeyDictionary()
_known_of_all: WeakKeyDictionary[LabelIndex, list[Scheduled]] = WeakKeyDictionary()


def scheduled(index: LabelIndex) -> list[Scheduled]:
    """What code of the product runs by an interval or a schedule, by path and line."""
    if index not in _known:
        likely = product_of(points_with(_WORDS, index, MOST_READ), index).values()
        code = [(one, code_of(one, index)) for one in likely if one.get("CodeLanguage") == "csharp"]
        found = {one for payload, text in code for one in _scheduled_in(text, payload)}
        found |= {one for payload, text in code for one in _waiting_a_field(text, payload, code)}
        _known[index] = sorted(found, key=lambda one: (one.path, one.line, one.name))
    return _known[index]


def _scheduled_in(code: str, payload: Mapping[str, Any]) -> Iterator[Scheduled]:
    lines, first = code.split("\n"), payload["StartLine"]

    def at(start: int, name: str, *, waits: bool = False) -> Scheduled:
        line = code.count("\n", 0, start)
        return Scheduled(name, payload["Path"], first + line, lines[line].strip(), waits)

    for given in (*_GIVEN.finditer(code), *_RECURRING.finditer(code)):
        yield at(given.start(), given["name"])
    for made in _MADE.finditer(code):
        every, of_type = _INTERVAL.search(made["body"]), _OF_TYPE.search(made["body"])
        if every and of_type:
            yield at(made.start("body") + every.start(), of_type["name"])
    owner = _owner(payload)
    for wait in _WAITS.finditer(code) if owner and _LOOP.search(code) else ():
        around = member_at(first + code.count("\n", 0, wait.start()), section_members(payload))
        name = around.name.rpartition(".")[2] if around is not None else ""
        says_what = name and not roots_of(name) <= _OF_RUNNING
        yield at(wait.start(), f"{owner}.{name}" if says_what else owner, waits=True)


def _owner(payload: Mapping[str, Any]) -> str:
    """The type that a section is of, with its folder where many are called so: `Mail.Sender.Worker`."""
    owner = str(payload.get("Symbol", "")).partition("~")[0].partition("(")[0].rpartition(".")[2]
    folder = payload["Path"].rpartition("/")[0].rpartition("/")[2]
    return f"{folder}.{owner}" if folder and owner in ("Job", "Program", "Runner", "Service", "Worker") else owner


def _waiting_a_field(
    code: str, payload: Mapping[str, Any], others: Sequence[tuple[Mapping[str, Any], str]]
) -> Iterator[Scheduled]:
    """What waits in a loop for as long as a field says, at that field: `TimeSpan _delay = TimeSpan.FromHours(1)`."""
    for wait in _WAITS_HELD.finditer(code) if _LOOP.search(code) else ():
        held = re.compile(rf"(?<![\w.]){wait['held']}\s*=\s*TimeSpan\.From\w+\(")
        for other, text in others:
            if other["Path"] == payload["Path"] and (found := held.search(text)):
                line = text.count("\n", 0, found.start())
                said = text.split("\n")[line].strip()
                yield Scheduled(_owner(payload), other["Path"], other["StartLine"] + line, said, waits=True)


def scheduled_members(target: Searchable, subject: Sequence[QueryTerm]) -> Facts:
    """The members of the product that an annotation has run by a schedule, and what code gives a schedule otherwise,
    with the line that says how often."""
    code = product_of(points_with(_SCHEDULING, target, MOST_READ), target)
    found = facts_naming(_SCHEDULES, code, target, ("", "", True))
    for others in (_given_intervals(target), _given_schedules(code, target)):
        places = {(one.path, one.line) for one in found}
        found |= {one: at for one, at in others.items() if (one.path, one.line) not in places}
    return _about(subject, found, "scheduled job")


def queued_members(target: Searchable, subject: Sequence[QueryTerm]) -> Facts:
    """The functions of the product that a decorator has run by a worker."""
    code = product_of(points_with(_QUEUED_WORDS, target, MOST_READ), target)
    return _about(subject, facts_naming(_QUEUED, code, target, ("", "", True)), "background job")


def _about(subject: Sequence[QueryTerm], found: Mapping[GraphFact, str], noun: str) -> Facts:
    about = {
        replace(one, is_comment=True): at for one, at in found.items() if says(subject, f"{one.source} {one.path}")
    }
    shown = by_place(about, MOST_LISTED)
    return GraphFacts(tuple(shown), len(about), list_heading(noun, len(about))), shown


def _given_intervals(target: Searchable) -> dict[GraphFact, str]:
    """What `scheduled` knows of some indexes, but what only waits."""
    found: dict[GraphFact, str] = {}
    for index in target.members.values():
        runs = (one for one in scheduled(index) if not one.waits)
        found |= facts_at((GraphFact(one.name, "", "", one.path, one.line, True) for one in runs), index)
    return found


def _given_schedules(code: Mapping[str, Mapping[str, Any]], target: Searchable) -> dict[GraphFact, str]:
    """The lines that give something a schedule, each called as a name beside it or shortly above it says, else as the
    member that it is in."""
    found: dict[tuple[str, int], tuple[GraphFact, str]] = {}
    for point, payload in sorted(code.items(), key=lambda one: one[1].get("EndLine", 0) - one[1].get("StartLine", 0)):
        path, first = payload.get("Path", ""), payload.get("StartLine", 1)
        if payload.get("CodeLanguage", "") in _OF_PAGES or MIGRATION.search(path):
            continue
        symbol = str(payload.get("Symbol", "")).partition("~")[0].rpartition(".")[2]
        symbol = symbol if symbol.isidentifier() and payload.get("Symbol") != path else ""
        members = section_members(payload)
        lines = code_of(payload, target).split("\n")
        left_open = 0  # brackets of the statement that was found last: its schedule may stand on a line of its own
        for at, line in enumerate(lines):
            if left_open > 0:
                left_open += line.count("(") - line.count(")")
                continue
            is_told = (path, first + at) in found
            if is_told or _RUNS_NOTHING.match(line) or _GIVES_SCHEDULE.search(line) is None:
                continue
            around = next((one.name for one in members if one.start_line <= first + at <= one.end_line), "")
            if not _OF_A_SCHEDULE.search(f"{line} {around}"):
                continue
            own = ".".join(filter(None, (symbol, around))) or path.rpartition("/")[2]
            name = _name_of_scheduled(lines, at) or own
            found[path, first + at] = GraphFact(name, "", "", path, first + at, True), point
            left_open = line.count("(") - line.count(")")
    return dict(found.values())


def _name_of_scheduled(lines: Sequence[str], at: int) -> str:
    """What the line with a schedule, those around it in an entry of a table, or what it runs are called; '' where
    nothing is."""
    if (own := _OWN_KEY.search(lines[at])) is not None:
        return own["name"]
    above = lines[at : max(0, at - _NEAR) : -1]
    begin = next((number for number, line in enumerate(above) if number and _ENTRY.match(line)), len(above))
    near = [*filter(None, map(_NAMED_ABOVE.match, above[:begin]))]
    texts = [one for one in near if one.end() < len(one.string) and one.string[one.end()] in "\"'"]
    texts = texts or [*filter(None, map(_RUNS.match, above[:begin]))]
    entry = [*filter(None, map(_ENTRY.match, above[begin : begin + 1]))]
    within = _RUN_WITHIN.search("\n".join(lines[at : at + _MOST_OF_CALL]))
    named = _FIRST_TEXT.search(lines[at]) or next(iter(texts), None) or within or next(iter([*near, *entry]), None)
    return (named["name"] or "") if named is not None else ""


def all_scheduled(index: LabelIndex) -> list[Scheduled]:
    """As `scheduled`, with what code and annotations of other languages run by a schedule."""
    if index not in _known_of_all:
        own = scheduled(index)
        _, at = scheduled_members(index, ())
        told = {(one.path, one.line) for one in own}
        others = (Scheduled(one.source, one.path, one.line, "") for one in at if (one.path, one.line) not in told)
        _known_of_all[index] = [*own, *others]
    return _known_of_all[index]


def configured_schedules(index: LabelIndex, subject: Sequence[QueryTerm], *, of_integration: bool = True) -> Facts:
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
    return facts_listed(found, "scheduled job", index)


_TRIGGERS_ASKED = re.compile(
    r"^\W*(?P<when>when|how often|what triggers"
    r"|(?:at|by|on) (?:which|what) (?:branch(?:es)?|cron\w*(?: \w+)?|events?|schedules?|times?))\b(?P<said>.*)$",
    re.IGNORECASE,
)
_OF_WORKFLOWS = re.compile(r"\b(?:pipelines?|workflows?|github actions?)\b", re.IGNORECASE)
_OF_SCHEDULES = re.compile(r"how often|cron|schedule|times?$", re.IGNORECASE)
_TRIGGERS = re.compile(r"[\"']?on[\"']?:|(?:trigger|schedules|pr):")
_CALLED = re.compile(r"(?:\s*-)?\s*(?:displayName|name):\s*(?P<name>\S.*)")
_OF_TRIGGERS = roots_of(
    "action are be by ci do does execute get github is it job kick kicked on our pipeline run start started that the"
    " this to trigger triggered what when workflow automatically yaml yml of at night day week"
    " scheduled executed job task step"
)
_FEWEST_CALLED, _MOSTLY_CALLED = 2, 0.5


def triggers(index: LabelIndex, asked: str) -> tuple[list[CodePlace], str]:
    """Where the workflows say when they run that a question names: by the names of files, else by what is in them, and
    that none of them has the schedule that is asked for. Of a question that does not speak of workflows those with a
    schedule that are called as most of it says."""
    found = _TRIGGERS_ASKED.match(asked.strip())
    if found is None:
        return [], ""
    known = index.parts.shard().values("Path", index.scope())
    lines = lines_of(index, [path for path in known if re.search(r"\.ya?ml$", path) and _OF_INTEGRATION.search(path)])
    at = {
        path: next((number for number, line in sorted(text.items()) if _TRIGGERS.match(line)), 0)
        for path, text in lines.items()
    }
    runs = {
        path: next((one for one, line in sorted(lines[path].items()) if _IS_SCHEDULE.match(line)), 0) for path in at
    }
    said = roots_of(found["said"].lower()) - _OF_TRIGGERS
    of_schedules = _OF_SCHEDULES.search(found["when"]) is not None
    if _OF_WORKFLOWS.search(asked) is None:
        called = {path: len(said & _names_of(path, lines[path])) for path in at if at[path]}
        most = max(called.values(), default=0)
        is_said = re.search("cron|schedule", found["when"], re.IGNORECASE) is not None
        named = [path for path, count in called.items() if count == most and (runs[path] or is_said)]
        if most < max(min(_FEWEST_CALLED, len(said)), len(said) * _MOSTLY_CALLED) or not (named and said):
            return [], ""
    else:
        named = [path for path in at if said <= roots_of(path.lower())]
        named = named or [path for path in at if said <= roots_of(" ".join(lines[path].values()).lower())]
        if "ci" in roots_of(found["said"].lower()):  # all of them, or the one that is called so
            named = [path for path in named if "ci" in roots_of(path.rpartition("/")[2].lower())] or named
    named = sorted(path for path in named if at[path])
    if of_schedules and named and not any(map(runs.get, named)):
        return [], f"{' and '.join(named)} {'has' if len(named) == 1 else 'have'} no schedule"
    return [CodePlace(path, runs[path] if of_schedules and runs[path] else at[path]) for path in named], ""


def _names_of(path: str, lines: Mapping[int, str]) -> frozenset[str]:
    """What a workflow is called: its file, itself, and its jobs and steps."""
    called = (one["name"] for line in lines.values() if (one := _CALLED.match(line)))
    return roots_of(f"{path.rpartition('/')[2]} {' '.join(called)}".lower())


_KIND = r"(?P<{0}>[A-Za-z]+(?: [A-Za-z]+){{0,2}}?)"
_TRIGGERED = r"(?:fired|invoked|run|started|triggered)"
_FUNCTIONS_ASKED = re.compile(
    r"^\W*(?:which|what|list|show)\b(?: me| all| the| are| azure| cloud| serverless)* (?:"
    rf"functions? (?:(?:is|are|gets?|that are) {_TRIGGERED}|runs?|have|has|with)"
    rf" (?:by|from|on|via)?(?: ?(?:an?|each|every|the))? ?{_KIND.format('by')}(?: triggers?| messages?| bindings?)?"
    rf"|(?:(?:{_KIND.format('sort')}[- ](?:triggered )?)?functions|{_KIND.format('other')}[- ](?:listeners|triggers))"
    r"(?: (?:are there|exist|do we have|(?:(?:do|does|in|of|has) )?(?:the |our )?(?P<of>[\w ]+?)"
    r"(?: (?:call|have|run|use|contain)s?)?))?)\W*$",
    re.IGNORECASE,
)
_FUNCTION_TRIGGERS = re.compile(
    r"\[(?:\w+\.)*(?P<net>\w+?)Trigger\b|^\s*@(?P<java>[A-Z]\w+?)Trigger\(|^\s*@\w+\.(?P<python>\w+?)_trigger\("
    r"|\bapp\.(?P<js>http|timer|storageQueue|storageBlob|serviceBusQueue|serviceBusTopic|eventGrid|eventHub|cosmosDB)\("
    r"|\"type\"\s*:\s*\"(?P<json>\w+?)Trigger\""
)
"""How functions of Azure say what calls them, in C#, Java, Python, JavaScript and `function.json`."""
_TRIGGERING = (
    "HttpTrigger QueueTrigger TimerTrigger BlobTrigger EventGridTrigger EventHubTrigger ServiceBusTrigger"
    " CosmosDBTrigger ActivityTrigger OrchestrationTrigger EntityTrigger SqlTrigger KafkaTrigger RabbitMQTrigger"
    " SignalRTrigger queue_trigger timer_trigger blob_trigger storageQueue storageBlob"
)
_TIMED = dict.fromkeys(roots_of("cron schedule timer"), "timer")
_KINDS_TRIGGERING = roots_of(_TRIGGERING.lower()) | roots_of(_TRIGGERING) | _TIMED.keys()
_OF_FUNCTIONS = roots_of("app apps azure db function storage trigger triggered message event orchestrator")


def functions_triggered(index: LabelIndex, asked: str) -> FactsOrAbsent:
    """The functions that are called by what a question says, or all that something calls, of the part that it names;
    what to say where none is called so."""
    found = _FUNCTIONS_ASKED.match(asked.strip())
    if found is None:
        return GraphFacts(), {}, ""
    called = found["by"] or found["sort"] or found["other"] or ""
    wanted = {_TIMED.get(one, one) for one in roots_of(called.lower())}
    if wanted and not wanted <= _KINDS_TRIGGERING | _OF_FUNCTIONS:
        return GraphFacts(), {}, ""
    functions = list[tuple[frozenset[str], GraphFact]]()
    for one in product_of(points_with(_TRIGGERING, index, MOST_READ), index).values():
        path, first = one["Path"], one.get("StartLine", 1)
        members = section_members(one)
        for at, line in enumerate(code_of(one, index, PROSE).split("\n"), first):
            trigger = _FUNCTION_TRIGGERS.search(line)
            is_told = trigger is not None and not line.lstrip().startswith(("//", "*", "#"))
            if trigger is None or not is_told or (trigger["json"] and not path.endswith("/function.json")):
                continue
            around = [member for member in members if member.start_line <= at <= member.end_line and member.name]
            name = min(around, key=lambda member: member.end_line - member.start_line).name if around else ""
            kind = roots_of(next(filter(None, trigger.groups())))
            name = path.split("/")[-2] if trigger["json"] else name or path.rpartition("/")[2]
            functions.append((kind, GraphFact(name, "", "", path, at, certain=True)))
    of_kind = [fact for kind, fact in functions if wanted - _OF_FUNCTIONS <= kind]
    if functions and not of_kind and wanted:
        return (
            GraphFacts(),
            {},
            f"none of the {len(functions)} functions that something triggers has a {called} trigger",
        )
    about = roots_of((found["of"] or "").lower()) - _OF_FUNCTIONS
    own = [one for one in of_kind if about <= roots_of(one.path.rpartition("/")[0])]
    own = own or [one for one in of_kind if about <= roots_of(one.path)]
    facts = {(one.path, one.line): one for one in sorted(own, key=lambda one: (one.path, one.line))}
    return *facts_listed([*facts.values()], "function", index), ""
