"""Where an application sets up what it is made of: CORS, authentication, health checks, a mapper, its container. The
calls that give such parts to a host are called after them, as `AddCors`, `UseRateLimiter` and `app.use(helmet())` are,
which is how one that no table has is found too."""

from __future__ import annotations

import re
from functools import partial

from rag_assets.answer.asked import Asked, Planned, listed_or_absent
from rag_assets.answer.graph_facts import Facts, GraphFacts
from rag_assets.answer.plans.code_lines import MOST_LISTED, facts_naming, lines_listed, product_of
from rag_assets.search.index import Searchable

_DONE = (
    r"(?:configured|set[- ]?up|registered|enabled|enforced|served|initiali[sz]ed|bootstrapped|wired(?: up)?|turned on)"
)
_PLACE = (
    r"(?: (?:in|with|by|for|at|on) (?:(?:the|this|our|a) )?(?:di|ioc|container|dependency injection|start-?up"
    r"|app(?:lication)?|code(?: ?base)?|project|repo(?:sitory)?|solution|service collection|api))?"
)
_ASKED = re.compile(
    r"\W*(?:(?:(?P<manner>how)|where)"
    r" (?:is|are|do(?:es)? (?:we|it|the app(?:lication)?) (?:configure|set up|register|enable))"
    r"|(?P<exists>(?:is|are) there(?: an?y?)?)|is|are) (?:(?:the|our|all|app(?:lication)?(?:'s)?) )*"
    rf"(?P<part>[\w.#-]+(?: [\w.#-]+){{0,2}}?)(?: (?:{_DONE}|and|or|actually|here|used))*{_PLACE}\W*",
    re.IGNORECASE,
)
_OF_SET_UP = re.compile(rf"\b(?:{_DONE}|configure|set up|register|enable|registrations?)\b", re.IGNORECASE)
_LIFETIME = r"(?:Keyed)?(?:Scoped|Transient|Singleton)"
_KNOWN = {
    r"services?|dependenc\w+|(?:di|ioc|service|container|dependency injection) registrations?|container": (
        rf"\.(?:Try)?Add{_LIFETIME}\b|\.Register(?:Type|Instance|Assembly)\w*\s*[<(]"
    ),
    r"middlewares?(?: pipeline)?|(?:request |http )*pipeline": (
        r"\bapp\w*\s*\.(?:Use|Map)\w*\s*[<(]|\bapp\.use\(|\badd_middleware\("
    ),
    r"https?(?: redirect\w*)?|ssl|tls|hsts": (
        r"\b(?:Use|Add)(?:HttpsRedirection|Hsts)\(|\bRequireHttps\w*|\bSECURE_SSL_REDIRECT\b|\bforce_ssl\b"
        r"|\brequiresSecure\("
    ),
    r"static (?:files?|assets?)": (
        r"\b(?:Use|Map)(?:Spa)?(?:Static\w+|FileServer|DefaultFiles)\(|\bexpress\.static\(|\bStaticFiles\("
        r"|\bhttp\.FileServer\("
    ),
    r"swagger\w*|open ?api(?: docs?)?|api doc\w*": (
        r"\.(?:Add|Use|Map)\w*(?:Swagger|OpenApi|Scalar|Redoc)\w*\s*\(|\bswagger-?[uU]i\w*\.\w+\(|\bSwaggerModule\."
    ),
    r"(?:open ?)?telemetry|tracing|metrics|observability": (
        r"\.(?:Add|Use|With|Configure)\w*(?:Telemetry|Tracing|Metrics|Otlp|ApplicationInsights|Prometheus|Sentry)\w*"
        r"\s*[<(]|\bSentry\.init\("
    ),
    r"logg(?:ing|ers?)|logs": (
        r"\.(?:Add|Use|Configure)\w*(?:Logging|Serilog|NLog|Log4Net|EventLog|LoggerProvider)\s*[<(]|\bLogging\.\w+\("
        r"|\bnew LoggerConfiguration\(|\.ClearProviders\(|\blogging\.(?:basicConfig|config)\b|\bwinston\.createLogger\("
        r"|\bstructlog\.configure\("
    ),
    r"(?:ef(?: core)?|entity framework(?: core)?|database|db)(?: (?:context|provider)s?)?|db ?contexts?": (
        r"\.Add\w*DbContext\w*\s*[<(]|\boverride void OnConfiguring\("
        r"|\.Use(?:Sql\w*|Npgsql|Postgre\w*|MySql|MariaDb|Oracle|Cosmos|InMemoryDatabase)\("
    ),
    r"(?:json )?seriali[sz]\w+|json(?: options)?": r"\.(?:Add|Configure)\w*Json(?!File)\w*\s*[<(]",
    r"(?:api )?versioning": r"\.AddApiVersioning\(|\.(?:Add|With|Has|Use)\w*ApiVersion\w*\s*\(",
    r"(?:model |request |input )?validation": r"\.(?:Add|Use)\w*Validat\w*\s*[<(]",
    r"cors|cross-origin requests?": (
        r"\.(?:Add|Use)Cors\w*\s*\(|\bcors\(|\bCORSMiddleware\b|\bCORS\(app|\baddCorsMappings\("
    ),
    r"rate limit\w*|throttling": (
        r"\.(?:Add|Use|Require)\w*Rate\w{0,2}Limit\w*\s*[<(]|\brateLimit\(|\bRack::Attack\b|\brate\.NewLimiter\("
    ),
}
"""How parts are set up for which there is more than one name, or that are called otherwise than questions do."""
_SAID_SO = re.compile(
    r"cors|rate limit\w*|swagger\w*|(?:response )?compression|locali[sz]ation|signal ?r|auto ?mapper|mediatr|hangfire"
    r"|quartz|mass ?transit|serilog|antiforgery|(?:output|response) caching|health ?checks?",
    re.IGNORECASE,
)
"""Parts that no other words say: of one that no code says it is sure that it is not set up."""
_OF_PEOPLE = re.compile(r"\bregister(?:ed)?\b")
"""What is done with a user too."""
_CALLED = (
    r"(?:^[ \t]*|\b\w*(?i:services?|builder|app|application|host|config|configuration|options?|endpoints?|collection"
    r"|container)(?:\(\))?|[)\]}}])\s*\.(?:Try)?(?:Add|Use){0}\w*\s*[<(]"
    r"|\b(?:app|endpoints?|routes?|builder|group|\w*[aA]pi)\s*\.Map{0}\w*\s*[<(]"
    r"|\bstatic\b[^\n]{{0,160}}\b(?:Add|Use|Map){0}\w*\s*(?:<[^<>]{{0,80}}>)?\(\s*this\b"
    r"|(?<!\[)(?<!new )\b(?:Configure|Register|Set[Uu]p|Init|Initiali[sz]e){0}\w*\s*\("
    r"|\bapp\.(?:use|register)\(\s*{0}|\badd_middleware\(\s*{0}"
)
_CALLS = r"(?:Add|Use|Map|Configure|Register|Set[Uu]p|Init|use|register|middleware)\w*\W{{0,3}}?{0}"
"""What is quick to look for, of what has the other."""
_ENDS = re.compile(r"(?:ations?|ings?|ers?|ors?|ions?|ed|s)$")
_FEWEST_LETTERS = 4  # of the beginning of a word that is compared
_OF_NO_PART = re.compile(r"it|this|that|they|you|we|any\w*|some\w*|every\w*|all|an?|not|what|so", re.IGNORECASE)


def set_up_plan(asked: Asked) -> Planned | None:
    """The lines that set up the part of an application that a question names, those that declare how included; of a
    part that many have, else the lines that say it, else that none does."""
    question = asked.question.asking
    found = set_up_asked(question)
    if found is None:
        return None
    part = found["part"]
    known = next((written for called, written in _KNOWN.items() if re.fullmatch(called, part, re.IGNORECASE)), "")
    said_so = _SAID_SO.fullmatch(part) is not None
    if _OF_NO_PART.fullmatch(part.split()[0]) or any(asked.declared[name] for name in asked.names):
        return None
    maybe_other = found["exists"] or found["manner"]  # which settings and bodies tell better of what is the project's
    if not (known or said_so) and (maybe_other or (part.islower() and " " not in part and _OF_PEOPLE.search(question))):
        return None
    facts, is_sure = _set_ups(part, known, _called(part), asked.target, says=said_so)
    return listed_or_absent(asked, facts, f"nothing that sets up {part} is in the code" if is_sure else "")


def set_up_asked(question: str) -> re.Match[str] | None:
    """The `part` that a question asks the set-up of, or, maybe of another, whether it `exists`."""
    found = _ASKED.fullmatch(question)
    return found if found is not None and (found["exists"] or _OF_SET_UP.search(question)) else None


def _set_ups(part: str, known: str, called: str, target: Searchable, *, says: bool) -> tuple[Facts, bool]:
    """The lines that set up a part, else if wanted those that say it; and whether it is sure that there are none."""
    code = product_of(target.parts.shard().ids(target.scope()), target)
    named = partial(facts_naming, target=target, said=("", "", True), each_line=True)
    some = code if known else {point: code[point] for point in named(re.compile(_CALLS.format(called)), code).values()}
    found = named(re.compile(known or _CALLED.format(called), re.MULTILINE), some)
    does = "set up"
    if says and not found:
        found, does = named(re.compile(called), code), "name"
        if len(found) > MOST_LISTED:  # a word of everything
            return (GraphFacts(), {}), False
    lines = "line" if len(found) == 1 else "lines"
    heading = f"**{len(found):,} {lines} to {does} {part}:**"
    return lines_listed(found, heading), says and bool(code)


def _called(part: str) -> str:
    words = (re.sub(r"i[sz](?=$|ation|e|ing)", "i[sz]", _beginning(word)) for word in re.findall(r"\w+", part))
    return r"\w*?(?i:" + r"\w{0,5}?".join(words) + ")"


def _beginning(word: str) -> str:
    short = _ENDS.sub("", word.lower())
    return short if len(short) >= _FEWEST_LETTERS else word.lower()
