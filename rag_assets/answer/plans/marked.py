"""Lists of what lines of their own tell of: connection strings, endpoints with a limit or a cache, resources of a
cloud, methods of gRPC, beans of Spring, middlewares, what handles errors that nothing else does, ports, users to begin
with."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from typing import TYPE_CHECKING

from rag_assets.answer.graph_facts import GraphFact, GraphFacts
from rag_assets.answer.passages import CONFIGURATION, PROSE
from rag_assets.answer.plans.code_lines import (
    code_of,
    facts_listed,
    from_the_root,
    points_with,
)
from rag_assets.answer.question_analysis import roots_of
from rag_assets.answer.whole_project import (
    Marked,
)
from rag_assets.contracts.outline import SectionMember
from rag_assets.search.ranking.penalties import product_or_samples

if TYPE_CHECKING:
    from rag_assets.search.index import LabelIndex

    Place = tuple[str, str, int]  # of a package, an image or a file: its name, path and line
    Lines = Mapping[str, Mapping[int, str]]

_NAMED = r"(?:\"(?P<name>[\w.:-]+)\"|'(?P<other>[\w.:-]+)')"
_SAID = (
    r"[*_`\"'“]*(?!(?:and|an?|are|as|by|correct|field\w*|for|from|in|is|left|not|of|on|or|the|to|with|you\w*)\b)"
    r"[\w.@!-]+[*_`\"'”]*"
)
"""A user or a password as a text names it."""
_MARKS: Mapping[Marked, tuple[str, re.Pattern[str], Container[str]]] = {
    Marked.CONNECTION_STRINGS: (
        "GetConnectionString ConnectionStrings AddConnectionString connectionString ConnectionString",
        re.compile(
            rf"\b(?:Get|Add)ConnectionString\(\s*{_NAMED}|\bConnectionStrings(?::|__|\[\")(?P<key>\w+)"
            r"|<add\b[^>]*\bname=\"(?P<added>[^\"]+)\"[^>]*\bconnectionString="
            r"|^\s*\"(?P<own>\w*ConnectionString)\"\s*:\s*\"(?!\")",
            re.IGNORECASE,
        ),
        PROSE,
    ),
    Marked.RATE_LIMITED: (
        "RequireRateLimiting EnableRateLimiting RateLimit Throttle throttle_classes limiter",
        re.compile(
            r"\.RequireRateLimiting\(|^\s*\[EnableRateLimiting\b|^\s*@(?:RateLimit|Throttle)\w*|@limiter\.limit\("
        ),
        PROSE | CONFIGURATION,
    ),
    Marked.CACHED: (
        "CacheOutput OutputCache ResponseCache Cacheable cache_page",
        re.compile(
            r"\.CacheOutput\(|^\s*\[(?:OutputCache|ResponseCache)\b(?!.*\bNoStore = true)"
            r"|^\s*@(?:Cacheable|cache_page)\b"
        ),
        PROSE | CONFIGURATION,
    ),
    Marked.RESOURCES: (
        "resource",
        re.compile(
            r"^\s*resource\s+(?:(?P<name>\w+)\s+'[\w./]+@[^']*'(?!\s+existing)|\"(?P<other>\w+)\"\s+\"(?P<key>\w+)\"\s*\{)"
        ),
        PROSE,
    ),
    Marked.BEANS: ("Bean Configuration", re.compile(r"^\s*@Bean\b"), PROSE | CONFIGURATION),
    Marked.MIDDLEWARES: (
        "Use use middleware Middleware MIDDLEWARE add_middleware apply",
        re.compile(
            r"\.Use\(\s*(?P<name>(?!async\b|func\b)[A-Za-z_][\w.]*)?|\bapp\.(?P<key>Use[A-Z]\w*)"
            r"|\b(?:\w*[aA]pp|\w*[rR]outer|api|express|fastify|hono|procedure|server)\.use\("
            r"\s*(?:[\"'`][^\"'`]*[\"'`],\s*)?(?P<other>(?!async\b|function\b)[A-Za-z_][\w.]*)?"
            r"|\badd_middleware\(\s*(?P<added>[\w.]+)?|^\s*[\"'](?P<listed>[\w.]+Middleware)[\"']"
            r"|\bconsumer\.apply\(\s*(?P<applied>[\w.]+)?"
        ),
        PROSE | CONFIGURATION,
    ),
    Marked.ERROR_HANDLERS: (
        "UseExceptionHandler AddExceptionHandler IExceptionFilter IExceptionHandler ExceptionFilterAttribute Exception"
        " Middleware UnhandledException ControllerAdvice ExceptionHandler exception_handler errorhandler"
        " setErrorHandler Catch rescue_from Recovery Recover HTTPErrorHandler uncaughtException excepthook filters",
        re.compile(
            r"\b(?:UseExceptionHandler|UseStatusCodePages\w*|AddExceptionHandler)\b"
            r"|\bUseMiddleware<(?P<key>\w*(?:Exception|Error)\w*)>|:\s*(?:[\w<>]+,\s*)*(?:I(?:Async)?Exception(?:Filter|Handler)|ExceptionFilterAttribute)\b"
            r"|\bclass (?P<name>\w*(?:Exception|Error)\w*(?:Behaviou?r|Filter|Middleware))\b"
            r"|\bFilters\.Add\w*(?:\(new |<|\(typeof\()(?P<other>\w*(?:Exception|Error)\w*)"
            r"|\.(?:\w*UnhandledException|UnobservedTaskException|ThreadException)\s*\+="
            r"|@(?:Rest)?ControllerAdvice\b|@ExceptionHandler\b|@Catch\(|@\w+\.(?:exception_handler|error_?handler)\("
            r"|\badd_exception_handler\(|\bsys\.excepthook\s*=|\bsetErrorHandler\("
            r"|\(err(?:or)?(?:: \w+)?, req\w*(?:: \w+)?, res"
            r"|\bprocess\.on\([\"']uncaughtException|\bconfig\.errorHandler\s*=|\brescue_from\b|\bset_exception_handler\("
            r"|\b(?:gin|middleware)\.(?:Custom)?Recover\w*\(|\bHTTPErrorHandler\s*=|\bpanic::set_hook\("
        ),
        PROSE | CONFIGURATION,
    ),
    Marked.PORTS: (
        "ports port applicationUrl EXPOSE listen ListenAndServe UseUrls ASPNETCORE_URLS",
        re.compile(
            r"\"applicationUrl\"\s*:\s*\"[^\"]*:\d|^\s*EXPOSE\s+\d"
            r"|^\s*-\s*[\"']?(?=.*(?:\d{3}|:80))(?:[\d.]+:)?\d{2,5}:\d{2,5}(?:/\w+)?[\"']?\s*$"
            r"|^\s*(?:-\s*)?(?:server\.)?port\s*[:=]\s*\d{2,5}\s*$|\.listen\(\s*(?:\d{2,5}\b|[^)]*\|\|\s*\d{2,5})"
            r"|\bListenAndServe\w*\(\s*\"[^\"]*:\d|\b(?:UseUrls|ListenAnyIP|ListenLocalhost)\(|\bASPNETCORE_URLS\b.*:\d"
        ),
        PROSE,
    ),
    Marked.USERS: (
        "UserName Username Password CreateAsync TestUser username password seed users admin",
        re.compile(
            r"\bCreateAsync\(\s*\w+,\s*(?:\"[^\"]+\"|[\w.]*[pP]assword)"
            r"|\b(?:[uU]ser_?[nN]ame|[lL]ogin|[pP]assword|[eE]mail)[\"']?\s*[=:]\s*[\"'][^\"']+[\"']"
        ),
        PROSE,
    ),
    Marked.LOGINS: (
        "default username user password login admin credentials account",
        re.compile(
            rf"^(?!.*\b(?:alter|create) user\b).*\b(?:user ?-?name|user|login|account|e-?mail)(?: is|:|=| of)? {_SAID}"
            rf"[,;/]?(?: (?:and|with|the|/|&))* ?password(?: is|:|=| of)? {_SAID}"
            rf"|\buser ?-?names? (?:and|/|&) password (?:are|is|:)(?: both)? {_SAID}",
            re.IGNORECASE,
        ),
        (),
    ),
    Marked.RPCS: ("rpc returns", re.compile(r"^\s*rpc\s+(?P<name>\w+)\s*\("), PROSE | CONFIGURATION),
}
"""The words of sections that have such a line, the line, and the languages in which it means something else."""
_MOST_READ = 1_000  # sections with these words, the likeliest: `use` is a word of many
_MOST_BETWEEN = 12  # lines, of other attributes and comments
_OF_ALL = frozenset({Marked.ERROR_HANDLERS, Marked.LOGINS, Marked.PORTS, Marked.USERS})
"""What is asked of a project as a whole, and is in what it is called as."""
_FILES = {Marked.USERS: re.compile(r"seed|test_?users|initiali|fixtures|demo|default_?(?:users|data)", re.IGNORECASE)}
"""What the files are called that alone have such lines: elsewhere a user is anybody."""


def marked_facts(index: LabelIndex, marked: Marked, asked: str) -> tuple[GraphFacts, dict[GraphFact, str]]:
    """The lines of the product that tell of something each, called as what they stand before or in, those whose files
    and members a question names the most, if it does; of a connection string, and of the copies of a file of gRPC, the
    first."""
    words, line_of, skipped = _MARKS[marked]
    likely = index.parts.shard().retrieve(sorted(points_with(words, index, _MOST_READ)), index.scope())
    of_files = _FILES.get(marked)
    likely = {at: one for at, one in likely.items() if of_files is None or of_files.search(one["Path"])}
    found: dict[str, GraphFact] = {}
    for one in sorted(
        likely.values(), key=lambda payload: (from_the_root(payload["Path"]), payload.get("StartLine", 1))
    ):
        path, first = one["Path"], one.get("StartLine", 1)
        members = [SectionMember.decoded(text) for text in one.get("Members", ())]
        members = [member for member in members if member.name.replace(".", "").isidentifier()]  # and no statements
        for at, line in enumerate(code_of(one, index, skipped).split("\n"), first):
            said = line_of.search(line)
            if said is None or line.lstrip().startswith(("//", "#", "*", "--")):
                continue
            if marked is Marked.LOGINS and one.get("CodeLanguage", "") not in PROSE:
                continue
            named = ".".join(filter(None, said.groupdict().values()))
            above = 0 if marked in _OF_ALL else _MOST_BETWEEN
            near = [member for member in members if member.start_line - above <= at <= member.end_line]
            below = min(near, key=lambda member: (abs(member.start_line - at), member.start_line), default=None)
            called = named or (below.name if below is not None else path.rpartition("/")[2])
            is_itself = marked is not Marked.BEANS  # an annotation alone tells less than what it is on
            fact = GraphFact(called, "", "", path, at, certain=True, is_comment=is_itself)
            once = {Marked.CONNECTION_STRINGS: named, Marked.RPCS: f"{named} of {path.rpartition('/')[2]}"}
            found.setdefault(once.get(marked, f"{path}:{at}"), fact)
    kept = product_or_samples(one.path for one in found.values())
    found = {key: one for key, one in found.items() if one.path in kept}
    asked_of = roots_of(asked) - roots_of(f"{marked.value} limit")
    own = {one: roots_of(f"{one.path.rpartition('/')[2].partition('.')[0]} {one.source}") for one in found.values()}
    most = max((len(roots & asked_of) for roots in own.values()), default=0)
    named_so = [one for one in found.values() if most and len(own[one] & asked_of) == most]
    facts = named_so if named_so and marked not in (Marked.CONNECTION_STRINGS, *_OF_ALL) else [*found.values()]
    return facts_listed(facts, marked.value, index)
