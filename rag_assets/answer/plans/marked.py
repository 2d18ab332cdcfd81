"""Lists of what lines of their own tell of: connection strings, endpoints with a limit or a cache, methods of gRPC,
beans of Spring, middlewares, what handles errors that nothing else does, ports, users to begin with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import TYPE_CHECKING

from rag_assets.answer.asked import Asked, Planned, at_declarations, first_of
from rag_assets.answer.graph_facts import Facts, GraphFact, GraphFacts
from rag_assets.answer.passages import CONFIGURATION, PROSE
from rag_assets.answer.plans.code_lines import (
    FEWEST_LISTED,
    code_of,
    facts_listed,
    from_the_root,
    lines_of,
    points_with,
)
from rag_assets.answer.plans.listing import types_called
from rag_assets.answer.question_analysis import Intent, QueryTerm, covered, root, roots_of, telling_words
from rag_assets.search import CodePlace
from rag_assets.search.line_references import section_members
from rag_assets.search.ranking.penalties import is_test_path, product_or_samples

if TYPE_CHECKING:
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.search.index import LabelIndex


class NamedBy(Enum):
    """What a question says of some lines of a kind, where it does not ask for all."""

    FILE = auto()
    FOLDER = auto()  # of a part of the project
    NOTHING = auto()  # what is asked of a project as a whole, and is in what it is called as
    PART = auto()  # all of what a question calls a part of the project, or nothing is told


@dataclass(frozen=True, slots=True)
class MarkedLines:
    """Lines that tell of something that a `noun` calls. With words `beside` a subject, the lines or their files have to
    say all of it, and there have to be the `fewest` of these."""

    noun: str
    asked: str
    lines: str
    in_settings: bool = False  # of files of configuration, too
    files: str = ""  # what these files alone are called
    by: NamedBy = NamedBy.FILE
    above: bool = False  # what they are called as, with others between
    annotation: bool = False  # which alone tells less than what it is on
    once: str = "{path}:{at}"  # what only the first of some lines is told for
    beside: frozenset[str] | None = None
    fewest: int = 1


_ERROR = r"(?:(?:all|api|application|global|runtime|the|uncaught|unexpected|unhandled) )*(?:errors|exceptions)"
_UNCAUGHT = r"(?:an? )?(?:uncaught|unexpected|unhandled) (?:errors?|exceptions?)"
_KEPT = r"(?:configured|found|handled|held|injected|kept|loaded|managed|passed|provided|read|set|stored)"
_TOKENS = r"(?:(?:access|api|auth|bearer|id|jwt|the|json web|incoming) )*(?:tokens?|jwts?)"
_RUNNABLE = (
    r"(?:(?:an?|all|each|its|our|the) )?(?:[\w-]+ ){0,2}"
    r"(?:apis?|app|application|container|gateway|host|it|\w*migrator|process|program|server|services?|site|system|worker)"
)
_FIRST_DATA = r"(?:initial|sample|seed|demo|reference|starting) (?:data|records|rows|values)"
_DOUBLE = r"(?:test[- ]doubles?|doubles|fakes?|mocks?|stubs?|spies)"
_OF_MODELS = r"(?:(?:active ?record|controller|database|entity|life-?cycle|models?|mongoose|orm|sequelize|the) )*"
_FRONT_END = r"(?:angular|client(?:[- ]side)?|front[- ]?end|react|single[- ]page|spa|svelte|ui|vue)"
_BACK_END = r"(?:(?:its|our|rest|the) )*(?:apis?|back[- ]?ends?|endpoints|servers?)(?: (?:api|server|endpoints))?"
_IN_A_LIST = r"^\W*(?:which|what|list|show)\b(?: me| all| the| are| is)* "
_NAMED = r"(?:\"(?P<name>[\w.:-]+)\"|'(?P<other>[\w.:-]+)')"
_SAID = (
    r"[*_`\"'“]*(?!(?:and|an?|are|as|by|correct|field\w*|for|from|in|is|left|not|of|on|or|the|to|with|you\w*)\b)"
    r"[\w.@!-]+[*_`\"'”]*"
)
"""A user or a password as a text names it."""


def _listed(said: str) -> str:
    return rf"{_IN_A_LIST}(?:{said})"


class Marked(Enum):
    """What a line of its own tells of, each time that a project has one; a question asks for the first that fits."""

    MIDDLEWARES = MarkedLines(
        "middleware",
        asked=_listed(r"middlewares?\b(?=.*\b(?:chain|each|every|order|pipeline|requests?|runs?)\b)(?!.*\bdoes\b).*$")
        + r"|^\W*(?:in )?(?:which|what)(?: is the)? order\b(?: (?:are|do|does|is|of|the|all))* middlewares?\b.*$",
        lines=(
            r"\.Use\(\s*(?P<name>(?!async\b|func\b)[A-Za-z_][\w.]*)?|\bapp\.(?:Use\w*<(?P<typed>[\w.]+)>|(?P<key>Use[A-Z]\w*))"
            r"|\.UseMiddleware<(?P<type>[\w.]+)>"
            r"|\b(?:\w*[aA]pp|\w*[rR]outer|api|express|fastify|hono|procedure|server)\.use\("
            r"\s*(?:[\"'`][^\"'`]*[\"'`],\s*)?(?P<other>(?!async\b|function\b)[A-Za-z_][\w.]*)?"
            r"|\badd_middleware\(\s*(?P<added>[\w.]+)?"
            r"|^\s*[\"'](?P<listed>[\w.]+(?:Middleware|\.middleware\.\w+))[\"']|\bMIDDLEWARE\.(?:append|insert)\((?:\d+,\s*)?[\"'](?P<more>[\w.]+)"
            r"|\bmiddleware\.(?:use|insert_before|insert_after) (?:[\w:]+, )?(?P<rack>[A-Z][\w:]+)"
            r"|\bconsumer\.apply\(\s*(?P<applied>[\w.]+)?"
        ),
        by=NamedBy.NOTHING,
    )
    BEHAVIORS = MarkedLines(
        "pipeline behavior",
        asked=_listed(r"(?:\w+ ){0,2}?behaviou?rs\b(?=.*\b(?:order|pipeline|registered)\b).*$")
        + r"|^\W*(?:in )?(?:which|what)(?: is the)? order\b"
        r"(?: (?:are|do|does|is|of|the|all|mediatr|pipeline))* behaviou?rs\b.*$",
        lines=(
            r"\btypeof\((?:\w+\.)*(?P<name>(?!I[A-Z]\w*Behavior\b)\w*(?:Behaviou?r|P(?:re|ost)Processor)\w*)<,*>\)"
            r"|\.Add(?:Open)?(?:Behavior|RequestP(?:re|ost)Processor)<(?:[^<>]*(?:<[^<>]*>)?[^<>]*, *)?(?P<key>\w+)"
        ),
        by=NamedBy.NOTHING,
    )
    CALLBACKS = MarkedLines(
        "callback",
        asked=_listed(
            rf"{_OF_MODELS}(?:(?:callbacks|(?:before|after|around) (?:actions|filters))"
            r"|(?<=model )hooks|hooks(?= (?:are called|are there|does|do|fire|get called|has|have|of|on|run|will)\b))\b"
            r"(?!.*\b(?:commits?|effects?|git|push|react|web)\b).*$"
        ),
        lines=(
            r"^\s*(?P<name>(?:before|after|around)_(?:action|commit|create|create_commit|destroy|destroy_commit|filter|find|initialize"
            r"|rollback|save|save_commit|touch|update|update_commit|validation))\b(?!\s*[=.])"
            r"|\b\w*[sS]chema\.(?P<key>pre|post)\(|^\s*(?P<own>(?:before|after)(?:Bulk)?(?:Create|Destroy|Find|Restore|Save|Update"
            r"|Upsert|Validate|Validation))(?=\s*[:(])|\.(?:addHook|hook)\(\s*[\"'](?P<added>\w+)"
            r"|\w\.(?P<other>(?:before|after)(?:Bulk)?(?:Create|Destroy|Save|Update|Validate))\("
            r"|^\s*@(?P<js>(?:Before|After)(?:Insert|Update|Remove|Load|SoftRemove|Recover))\("
            r"|^\s*@(?P<java>(?:Pre|Post)(?:Persist|Update|Remove|Load))\b"
            r"|\b(?:static|self)::(?P<php>creating|created|updating|updated|saving|saved|deleting|deleted)\("
        ),
        by=NamedBy.FOLDER,
        beside=roots_of(
            "action after around before call callback create delete destroy document entity filter fire hook lifecycle"
            " model mongoose record run save sequelize update validate"
        ),
    )
    SIGNALS = MarkedLines(
        "signal handler",
        asked=_listed(
            r"signals?(?: (?:handlers|receivers|listeners))?\W*(?:$"
            r"|(?:are|is|do|does|get|exist|gets|has|have)\b(?!.*\b(?:emit|fir|rais|send|sent|produc)\w*).*$)"
        ),
        lines=(
            r"^\s*@receiver\(|\b(?P<name>(?:(?:pre|post)_(?:delete|init|migrate|save)|m2m_changed|request_(?:started|finished|exception)"
            r"|got_request_exception|user_(?:logged_in|logged_out|login_failed)|(?:task|worker|beat|before_task)_\w+"
            r"|[\w.]*signals?\.\w+))\.connect(?:_via)?\b"
            r"|\bsignal\.(?:signal|Notify)\(|\bprocess\.(?:on|once)\(\s*[\"'](?P<js>SIG\w+)|\bSignal\.trap\b"
        ),
        above=True,
        beside=roots_of("app application connect exist handle handler listen project receive receiver signal"),
    )
    EMAILS = MarkedLines(
        "email",
        asked=_listed(r"e?-?mails? (?:are|do|does|gets?|is|will)\b.*\b(?:deliver|mail|send|sent)\w*\b.*$"),
        lines=(
            r"(?<![\w.])mail\((?!\))|\bsend_(?:mass_)?mail\(|\bEmail(?:Multi\w+|Message)\(|\bnew MailMessage\("
            r"|\b_?\w*[mM]ail\w*\.Send\w*\(\s*(?!message\b)"
            r"|->subject\("
            r"|(?<![\w.])(?:const |let |var )?subject\s*[:=](?!=)\s*[\"'`f$]|\bSubject\s*=(?!=)\s*[$@]*\""
        ),
        by=NamedBy.FOLDER,
        once="{called} of {path}",
        beside=roots_of("email mail notification sent send"),
        fewest=FEWEST_LISTED,
    )
    CONNECTION_STRINGS = MarkedLines(
        "connection string",
        asked=_listed(r"connection ?strings?\W*(?:$|(?:are|can|does|do|exist|has|have|must|to|is|in)\b.*$)")
        + (
            r"|^\W*where (?:is|are|do (?:i|we|you) (?:change|configure|find|put|set)) (?:the )?"
            r"(?:(?:database|db|sql|server) )*connection strings?"
            r"(?: (?:for|in|of|to) (?:(?:our|the) )?[\w.-]+(?: [\w.-]+){0,3}?)?"
            r"(?: (?:configured|defined|found|kept|set|stored))?\W*$"
        ),
        lines=(
            rf"(?i)\b(?:Get|Add)ConnectionString\(\s*{_NAMED}|\bConnectionStrings(?::|__|\[\")(?P<key>\w+)"
            r"|<add\b(?=[^<>]*\bconnectionString=)[^<>]*?\bname=\"(?P<added>[^\"]+)\""
            r"|^\s*\"(?P<own>\w*ConnectionString)\"\s*:\s*\"(?!\")"
        ),
        in_settings=True,
        by=NamedBy.FOLDER,
        once="{called} of {path}",
    )
    LOG_LEVELS = MarkedLines(
        "log level",
        asked=(
            r"^\W*(?:(?:at|on|with) )?(?:which|what)(?: are| is| the| current| default| minimum)*"
            r" (?:log(?:ging)? ?levels?|level of (?:the )?log(?:s|ging)?)\b"
            r"(?!.*\b(?:are there|available|exist|support\w*)\b).*$"
            r"|^\W*(?:where|how) (?:is|can i|do (?:i|we|you)|change|set)\b.*\blog(?:ging)? ?levels?"
            rf"(?: {_KEPT}| in \w+)?\W*$"
        ),
        lines=(
            r"^\s*\"(?P<name>(?!(?:level|severity|type)\")[\w.]+)\"\s*:\s*\""
            r"(?:Trace|Verbose|Debug|Information|Info|Warning|Warn|Error|Critical|Fatal|None)\""
            r"|^\s*(?:-\s+|export )?(?P<key>\w*LOG_?LEVEL\w*)[\"']?\s*[:=]\s*\S"
            r"|^\s*logging\.level\.(?P<added>[\w.-]+)\s*[=:]"
            r"|^\s+(?P<java>root|\w+(?:\.\w+)+):\s*[\"']?(?:TRACE|DEBUG|INFO|WARN|ERROR|OFF)\b"
            r"|<logger\b[^>]*\bname=\"(?:\*|(?P<own>[^\"]+))\"[^>]*\b(?:min)?[lL]evel="
            r"|<(?P<xml>root|level)\b[^>]*\b(?:level|value)=\""
            r"|\.MinimumLevel\.(?P<other>[A-Z]\w*)|\.(?P<set>SetMinimumLevel)\(|\.AddFilter\([^)]*LogLevel\."
            r"|\blogging\.basicConfig\(.*\blevel="
        ),
        in_settings=True,
        by=NamedBy.FOLDER,
    )
    RATE_LIMITED = MarkedLines(
        "rate limited endpoint",
        asked=_listed(
            r"(?:\w+ ){0,2}?(?:apis?|endpoints?|routes?) (?:is|are|has|have|with) (?:a )?"
            r"(?:rate[- ]?limit\w*|throttl\w+)\W*$"
            r"|rate[- ]limits?(?: (?:apply|are|do|does|exist|for|has|have|of|on)\b.*)?$"
        ),
        lines=(
            r"\b\w*RateLimit\w*\(\s*\w+\.Map(?:Delete|Get|Patch|Post|Put)\(\s*\"(?P<name>[^\"]+)"  # by a helper
            r"|\.RequireRateLimiting\(|^\s*\[EnableRateLimiting\b|^\s*@(?:RateLimit|Throttle)\w*|@limiter\.limit\("
        ),
        above=True,
    )
    CACHED = MarkedLines(
        "cached endpoint",
        asked=_listed(
            r"(?:\w+ ){0,2}?(?:apis?|endpoints?|responses?|routes?) (?:is|are) (?:output |response )?cached\W*$"
        ),
        lines=(
            r"\.CacheOutput\(|^\s*\[(?:OutputCache|ResponseCache)\b(?!.*\bNoStore = true)"
            r"|^\s*@(?:Cacheable|cache_page)\b"
        ),
        above=True,
    )
    BEANS = MarkedLines(
        "bean",
        asked=_listed(r"(?:spring )?beans\W*(?:$|(?:are|does|do|exist)\b(?! .*\b(?:need|needs|use|uses|used)\b).*$)"),
        lines=(r"^\s*@Bean\b"),
        above=True,
        annotation=True,
    )
    RPC_SERVICES = MarkedLines(
        "gRPC service",
        asked=_listed(r"g?rpc services\b(?!.*\b(?:call|consume|need|use)s?\W*$).*$"),
        lines=(r"^\s*service\s+(?P<name>\w+)\s*(?:\{|$)"),
        by=NamedBy.FOLDER,
        once="{named} of {file}",
    )
    RPCS = MarkedLines(
        "gRPC method",
        asked=_listed(r"(?:\w+ ){0,2}?g?rpc (?:calls|endpoints|methods|procedures)\b.*$|g?rpcs\b.*$"),
        lines=(r"^\s*rpc\s+(?P<name>\w+)\s*\("),
        above=True,
        once="{named} of {file}",
    )
    SCRIPT_CALLS = MarkedLines(
        "JavaScript function",
        asked=_listed(
            r"(?:java ?script|js) (?:code|functions|interop|methods|modules)\b(?: \w+)*"
            r" (?:calls?|called|imported|interop|invoked?|used?)\b.*$"
        ),
        lines=(r"\b(?i:\w*js\w*|\w*module)\s*[!?]?\.Invoke(?:Void)?(?:Async)?(?:<.*>)?\(\s*(?:\"(?P<name>[^\"]+)|$)"),
        in_settings=True,
        by=NamedBy.NOTHING,
        once="{named}",
    )
    HUB_MESSAGES = MarkedLines(
        "hub message handler",
        asked=_listed(
            r"(?=.*\b(?:hub|signalr)\b).*\b(?:events|messages|methods|notifications)\b.*"
            r"\b(?:client|browser|front-?end|page|ui)\b.*\b(?:handle|listen|react|receive|subscribe)\w*\b.*$"
        ),
        lines=(r"(?i:(?:hub|connection)\w*[!?]?\.on(?:<[^()]*>)?\(\s*[\"']?(?:\w+\.)*(?P<name>\w+))"),
        in_settings=True,
        by=NamedBy.NOTHING,
    )
    HTTP_MODULES = MarkedLines(
        "HTTP module",
        asked=_listed(r"(?:http|iis|asp\.net) modules\b.*$"),
        lines=(
            r"<add\b(?=[^<>]*\btype=\"[\w.]*Module(?:Async)?[,\"])[^<>]*?\bname=\"(?P<name>[^\"]+)\""
            r"|^(?=.*\bIHttpModule\b).*?\bclass (?P<key>\w+)"
        ),
        in_settings=True,
        by=NamedBy.FOLDER,
        once="{called} of {path}",
    )
    HTTP_HANDLERS = MarkedLines(
        "HTTP handler",
        asked=_listed(r"(?:http|iis|asp\.net) handlers\b.*$"),
        lines=(
            r"<add\b(?=[^<>]*\btype=\"[\w.]*Handler\w*[,\"])[^<>]*?\b(?:name|path)=\"(?P<name>[^\"]+)\""
            r"|^(?=.*\bIHttp(?:Async)?Handler\b).*?\bclass (?P<key>\w+)"
        ),
        in_settings=True,
        by=NamedBy.FOLDER,
        once="{called} of {path}",
    )
    OPERATIONS = MarkedLines(
        "service operation",
        asked=_listed(r"(?:(?:asmx|service|soap|wcf|web) )*(?:operation contracts|operations|service methods)\b.*$"),
        lines=(r"^\s*\[(?:OperationContract|WebMethod)\b"),
        by=NamedBy.FOLDER,
        above=True,
        annotation=True,
    )
    CONTRACTS = MarkedLines(
        "service contract",
        asked=_listed(r"(?:(?:soap|wcf|asmx) (?:services|contracts|web services)|service contracts)\b.*$"),
        lines=(r"^\s*\[(?:ServiceContract|WebService(?=[\](]))\b"),
        by=NamedBy.FOLDER,
        above=True,
        annotation=True,
    )
    SERVICE_ENDPOINTS = MarkedLines(
        "service endpoint",
        asked=_listed(
            r"(?:(?:service|client) )*(?:(?:soap|wcf) endpoints|bindings"
            r"|endpoints\b.*\b(?:(?:app|web)\.config|soap|wcf))\b.*$"
        ),
        lines=(r"<endpoint\b[^<>]*\bbinding=\"(?P<name>\w+)\""),
        in_settings=True,
        by=NamedBy.FOLDER,
    )
    MAPPED_ROUTES = MarkedLines(
        "mapped route",
        asked=_listed(
            r"(?:(?:conventional|default|mvc|page|web ?forms) )+routes?\b.*$|route tables?\b.*$"
            r"|routes\b.*\b(?:mvc|web ?forms)\b.*$"
        ),
        lines=(r"\b(?:app|context|endpoints|[rR]outes)\.Map\w*Route\("),
        by=NamedBy.FOLDER,
    )
    PAGE_ROUTES = MarkedLines(
        "page route",
        asked=(
            rf"(?!.*\b(?:needs?|permission\w*|protect\w*|guard\w*|lazy|require\w*)\b)"
            rf"(?:{_IN_A_LIST}(?:{_FRONT_END} )?routes\b(?=.*\b{_FRONT_END}\b).*$|{_IN_A_LIST}{_FRONT_END} routes\b.*$)"
            r"|^\W*(?:(?:at|on|under) (?:which|what)|what(?:'s| is) the) (?:address|path|route|url) (?:is|of|for)\b"
            r".*\bpage\W*$"
        ),
        lines=(
            r"^\W*path:\s*[\"'`](?P<name>[^\"'`]+)[\"'`]|<Route\b[^>]*\bpath=[{\"'`]+(?P<key>[^\"'`}]+)"
            r"|^\s*path=[{\"'`]+(?P<own>[^\"'`}]+)"
        ),
        by=NamedBy.FOLDER,
    )
    HEALTH = MarkedLines(
        "health check endpoint",
        asked=(
            r"^\W*(?:(?:at|on|under) )?(?:which|what|where)(?: is| are| the)* "
            r"(?:(?:address|endpoint|path|route|url)\b.*\bhealth[- ]?checks?\b.*"
            r"|health[- ]?check (?:endpoint|route|url|path)s?\b.*)$"
        ),
        lines=(
            r"\.(?:Map|Use)HealthChecks\w*\(|^\s*@(?:Get|Request)Mapping\(\"[^\"]*/health"
            r"|\b(?:app|router|r|e|mux)\.(?:get|GET|Get|HandleFunc|route)\(\s*[\"'`][^\"'`]*/health"
        ),
        by=NamedBy.NOTHING,
    )
    HUBS = MarkedLines(
        "hub address",
        asked=(
            r"^\W*(?:(?:at|on|under) )?(?:which|what)(?: is the)? (?:address|endpoint|path|route|url)\b.*\bhubs?\b"
            rf"|{_IN_A_LIST}(?:signalr )?hubs\b(?!.*\b(?:call|method|message|event)s?\b)"
        ),
        lines=(r"\.MapHub<(?P<name>[\w.]+)>\("),
        by=NamedBy.NOTHING,
    )
    SEEDS = MarkedLines(
        "seeding step",
        asked=(
            rf"^\W*(?:how|when|where)\b(?!.*\b(?:generator|hash|random|rng)\b).*\b(?:seeded|(?:{_FIRST_DATA})"
            r" (?:added|comes?|created|defined|filled|inserted|is|kept|loaded|made|put))\b.*$"
            rf"|^\W*(?:how|when|where) (?:are|do|does|is|what) (?:it|the (?:app|application|database|db|program"
            rf"|service))"
            rf" (?:get|load|seed)s? (?:its |the )?(?:{_FIRST_DATA}|data(?:base)?)\W*$"
            rf"|^\W*where (?:are|is) (?:the |our )?(?:{_FIRST_DATA})\W*$"
            r"|^\W*(?:which|what|where|list)(?: is| are| the| all)* "
            r"(?:(?:data|database|db|ef) (?:initiali[sz]er|seed(?:er|ing))|seeder)s?\b.*$"
        ),
        lines=(
            r"\b(?:void|Task(?:<\w+>)?) (?P<name>\w*Seed(?!ed)\w*)\(|\.(?P<key>HasData|Use(?:Async)?Seeding)\("
            r"|^(?=[^:]*:.*\b(?:CreateDatabaseIfNotExists|DropCreateDatabase\w+|DbMigrationsConfiguration|IDataSeed\w*)\b)"
            r"[^:]*?\bclass (?P<own>\w+)|\.(?P<added>SetInitializer)\b"
            r"|^\s*(?:async )?def (?P<py>seed\w*|\w+_seed)\(|\bfunction (?P<js>seed\w*)\(|\bexports\.(?P<knex>seed)\b"
            r"|\bfunc (?:\([^)]*\) )?(?P<go>[sS]eed[A-Z]\w*)\(|\bvoid (?P<java>seed\w*)\("
            r"|\bclass (?P<php>\w+) extends Seeder\b"
        ),
        by=NamedBy.FOLDER,
    )
    ERROR_HANDLERS = MarkedLines(
        "error handler",
        asked=(
            rf"^\W*(?:how|where) (?:are {_ERROR} (?:caught|converted|handled|mapped|processed|reported|returned|shown"
            rf"|translated|turned)|(?:does (?:it|the \w+)|do (?:you|we)) handle {_ERROR})"
            r"(?: (?:globally|centrally|here|everywhere|(?:in|by) (?:this|the|our) \w+"
            r"|(?:in)?to (?:(?:an?|the|api|error|http|json) )*(?:answers?|clients?|problem details|responses?"
            r"|results?))"
            r")*\W*$"
            r"|^\W*(?:which|what) (?:class|code|component|filter|middleware|type)(?:es|s)? (?:handles?|translates?) "
            rf"{_ERROR}\W*$"
            rf"|^\W*what happens (?:to|when|if|on|with|after) {_UNCAUGHT}"
            r"(?: (?:is|are|gets?|occurs?|happens?|thrown|in the api))*\W*$"
            r"|^\W*(?:how does (?:the )?(?:global )?(?:error|exception)[- ]handling work"
            r"|(?:which|what|where)\b(?: is| are| the| all| global)* (?:error|exception)[- ](?:handlers?|handling))\W*$"
        ),
        lines=(
            r"\b(?:UseExceptionHandler|UseStatusCodePages\w*|AddExceptionHandler|(?:Use|Add)ProblemDetails)\b"
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
        by=NamedBy.NOTHING,
    )
    LOGINS = MarkedLines(
        "first login",
        asked=(
            r"^\W*(?:what|which|(?:with|as) (?:what|which|whom)|how)\b"
            r"(?=.*\b(?:passwords?|credentials?|logins?|(?:log|sign) in)\b)"
            r"(?=.*\b(?:default|first|initial|after (?:the )?install\w*|out of the box)\b)"
            r"(?=.*\b(?:users?|user ?names?|accounts?|admin\w*|log ?in|logins?|sign in|credentials?)\b)"
            r"(?!.*\b(?:chang\w+|created?|encod\w*|expir\w*|hash\w*|length|polic\w+|provider|redirect\w*|require\w*|role"
            r"|rules?|strength|time-?out|works?)\b)"
            r"|^\W*what(?:'s| is| are) the (?:admin\w*(?: user)?(?:'s)? (?:credentials|password|log ?in)"
            r"|(?:credentials|password|log ?in) (?:for|of) (?:the )?admin\w*(?: (?:account|user))?)\W*$"
        ),
        lines=(
            rf"(?i)^(?!.*\b(?:alter|create) user\b).*\b(?:user ?-?name|user|login|account|e-?mail)(?: is|:|="
            rf"| of)? {_SAID}"
            rf"[,;/]?(?: (?:and|with|the|/|&))* ?password(?: is|:|=| of)? {_SAID}"
            rf"|\buser ?-?names? (?:and|/|&) password (?:are|is|:)(?: both)? {_SAID}"
            rf"|{_SAID} user['’]s password(?: is|:|=) {_SAID}"
        ),
        by=NamedBy.NOTHING,
    )
    USERS = MarkedLines(
        "user entry",
        asked=(
            r"^\W*(?:which|what|list|show)(?: me| all| the| are| is)*"
            r" (?:(?:built-?in|default|demo|example|initial|sample|seed(?:ed)?|test) )+"
            r"(?:(?:admin|user) )?(?:accounts?|admins?|credentials|logins?|passwords?|users?)\b"
            r"(?: (?:and|are|can|created|credentials|do|exist|for|have|i|in|is|log|login|passwords?|seeded|the|their"
            r"|there"
            r"|to|use|we|what|with|you))*\W*$"
            r"|^\W*(?:with )?(?:which|what) (?:account|credentials|login|user(?:name)?|password) (?:can|do|should|must)"
            r" (?:i|we|you) (?:use )?(?:to )?(?:log|sign) in(?: with)?\W*$"
        ),
        lines=(
            r"\bCreateAsync\(\s*\w+,\s*(?:\"[^\"]+\"|[\w.]*[pP]assword)"
            r"|\b(?:[uU]ser_?[nN]ame|[lL]ogin|[pP]assword|[eE]mail)[\"']?\s*[=:]\s*[\"'][^\"']+[\"']"
        ),
        in_settings=True,
        by=NamedBy.NOTHING,
        files=r"(?i)seed|test_?users|initiali|fixtures|demo|default_?(?:users|data)",  # elsewhere a user is anybody
    )
    PORTS = MarkedLines(
        "port",
        asked=(
            r"^\W*(?:(?:on|at|under) )?(?:which|what)(?: is| are| the| network| tcp)* ports?"
            r"(?: (?:do|does|is|are|will|can|it|they|everything|all|each|of|our|the|this|different|various|on|to|in"
            r"|there"
            r"|by|apis?|apps?|applications?|back-?ends?|containers?|gateways?|hosts?|micro-?services?|samples?|servers?|services?"
            r"|sites?|i|we|you|when|by default|in development"
            r"|listen\w*|run\w*|use[ds]?|using|serve|start\w*|expose[ds]?|open\w*|reachable|available|bind|locally))*\W*$"
            r"|^\W*(?:(?:on|at|under) )?(?:which|what)(?: is| the| network| tcp)* ports?"
            r" (?:does|do|is|are|will|can|for)(?: the)? (?P<part>[\w.-]+(?: [\w.-]+){0,2}?)"
            r"(?: (?:listen\w*|run\w*|use[ds]?|serve|start|expose|bind|reachable|available|on|to|at"
            r"|in development|by default|locally))*\W*$"
        ),
        lines=(
            r"\"applicationUrl\"\s*:\s*\"[^\"]*:\d|^\s*EXPOSE\s+\d"
            r"|^\s*-\s*[\"']?(?=.*(?:\d{3}|:80))(?:[\d.]+:)?\d{2,5}:\d{2,5}(?:/\w+)?[\"']?\s*$"
            r"|^\s*(?:-\s*)?(?:server\.)?port\s*[:=]\s*\d{2,5}\s*$|\.listen\(\s*(?:\d{2,5}\b|[^)]*\|\|\s*\d{2,5})"
            r"|\b(?:const|final|readonly)\b[^=;(]*\b\w*(?:Api|Default|Grpc|Https?|Listen|Server|Web)Port\s*=\s*\d{2,5}\b"
            r"|\bu?(?:int|short)\?? (?:(?:Api|Default|Grpc|Https?|Listen|Server|Ssl|Web)?Port)"
            r" ?(?:=>|=|\{[^{}\n]{0,80}\} ?=)[^;\n]{0,200}\b\d{2,5}\b"
            r"|\bListenAndServe\w*\(\s*\"[^\"]*:\d|\b(?:UseUrls\(\s*[$@]?\"|ListenAnyIP\(|ListenLocalhost\()"
            r"|\bASPNETCORE_URLS\b.*:\d"
        ),
        in_settings=True,
        by=NamedBy.PART,
    )
    API_CLIENTS = MarkedLines(
        "API client",
        asked=(
            r"^\W*(?:how|where) (?:can|does|do|is|are) (?:(?:its|our|the) )*(?:\w+ )?"
            rf"(?:{_FRONT_END}|web ?app|browser|dashboard)"
            r"(?: (?:app|application|code|components?|part|side))*(?: (?:actually|get|its|make|send|the))*"
            r" (?:access|calls?|communicate|connect|data|fetch|http|invoke|load|query|reach|requests?"
            r"|sends?|talk|use)\w*"
            rf"(?: (?:calls?|data|http|messages|requests?|with|from|to|information))* {_BACK_END}\W*$"
            rf"|^\W*(?:how|where) (?:is|are) {_BACK_END} (?:accessed|called|invoked|queried|reached|used)"
            rf" (?:by|from|in|within) (?:the )?{_FRONT_END}(?: (?:app|code))?\W*$"
            rf"|^\W*where does (?:the )?{_FRONT_END} (?:make|send) (?:its )?(?:api|http)? ?(?:calls|requests)\W*$"
        ),
        lines=(
            r"\b(?:axios|ky|ofetch|\$fetch)\.(?P<name>create|extend)\(|\b(?P<key>fetchBaseQuery|createTRPC\w*)\("
            r"|\bnew (?P<made>ApolloClient|HubConnectionBuilder|WebSocket)\b|\bOpenAPI\.BASE\s*=(?!=)"
            r"|\b\w*[cC]lient\.setConfig\(|\baxios\.defaults\.baseURL\s*=(?!=)"
        ),
        by=NamedBy.FOLDER,
    )
    API_REQUESTS = MarkedLines(
        "API request",
        asked=r"(?!)",  # what is told where no client is made once for all
        lines=(
            r"\baxios(?:\.(?:delete|get|patch|post|put|request)(?:<[^()]*>)?)?\(|(?<![\w.])fetch\(|\$\.(?:ajax|getJSON)\("
            r"|\b(?:this\.|\$|_)?http(?:Client)?\.(?:delete|get|patch|post|put)(?:<[^()]*>)?\("
            r"|\b_?[hH]ttp(?:Client)?\.(?:Delete|Get|Patch|Post|Put)\w*Async\b"
        ),
        by=NamedBy.FOLDER,
        once="{path}",
    )
    SECRETS = MarkedLines(
        "secret store",
        asked=(
            r"^\W*(?:where|how) (?:are|is|do (?:i|we|you)|does (?:it|the \w+))"
            rf"(?: (?:the|all|its|our|{_KEPT}|configure|get|keep|load|manage|put|read|set|store))* (?:\w+ )?secrets?"
            rf"(?: (?:and|api keys|come|credentials|from|locally|here|(?:in|for) (?:\w+ )?(?:\w+)|{_KEPT}))*\W*$"
        ),
        lines=(
            r"\.(?P<key>Add(?:UserSecrets|KeyPerFile|SystemsManager|\w*Secrets(?:Manager|Json)|\w*Vault\w*))\b"
            r"|<UserSecretsId>|\bnew (?:SecretClient|VaultClient|AmazonSecretsManagerClient)\b|\bhvac\.Client\("
            r"|\b(?P<name>(?:get_secret_value|access_secret_version|GetSecretAsync|GetSecretValueAsync))\("
            r"|\bAddJsonFile\(\s*\$?\"[^\"]*secrets?[^\"]*\"|^\s*kind: (?:External|Sealed)?Secret\s*$"
            r"|^\s*-?\s*secretKeyRef:|^\s*type: secretstores\.|^secrets:|Microsoft\.KeyVault/vaults@"
            r"|\"(?:azurerm_key_vault|aws_secretsmanager_secret|google_secret_manager_secret)\""
        ),
        in_settings=True,
        by=NamedBy.NOTHING,
    )
    TOKENS = MarkedLines(
        "token check",
        asked=(
            rf"^\W*(?:where|how) (?:is|are) {_TOKENS} (?:authenticated|checked|validated|verified)\b.*$"
            rf"|^\W*(?:where|how) does (?:it|the [\w ]+?) (?:check|validate|verify) {_TOKENS}\W*$"
            r"|^\W*where is (?:the )?authentication (?:configured|registered|set ?up)\b.*$"
        ),
        lines=(
            r"\.(?P<key>Add(?:\w*JwtBearer|MicrosoftIdentityWeb\w+|\w*OpenIdConnect|OAuth2Introspection|BearerToken"
            r"|IdentityServerAuthentication|IdentityCookies|Keycloak\w*Authentication))\b"
            r"|\bnew TokenValidationParameters\b|\.ValidateToken(?:Async)?\(|\b(?:jwt|jsonwebtoken)\.(?:verify"
            r"|decode)\("
            r"|\bjwtVerify\(|\bjwt\.Parse(?:WithClaims)?\(|\bparse(?:Signed)?Claims(?:Jws)?\(|\bJwtDecoders?\b.*[({]"
            r"|\boauth2ResourceServer\b|\bnew JwtStrategy\(|\bextends PassportStrategy\(|\bexpress_?[jJ]wt\("
        ),
        by=NamedBy.FOLDER,
    )
    ACCESS_RULES = MarkedLines(
        "access rule",
        asked=r"(?!)",  # what is told where no endpoint says who may call it
        lines=(
            r"\bpermitAll\b|\bauthorize(?:Http)?Requests\b|\b(?:skip_)?before_action :(?:auth|require)\w*"
            r"|\bDEFAULT_PERMISSION_CLASSES\b|(?:::|->)middleware\(\[?[\"']auth|\bdependencies=\[Depends\("
            r"|\.(?:Group|Use|With|Mount)\(.*\b\w*(?:[aA]uth|Login)\w*|\bpipe_through\b.*auth"
        ),
        by=NamedBy.NOTHING,
    )
    EXITS = MarkedLines(
        "exit code",
        asked=(
            r"^\W*(?:with )?(?:which|what)(?: is| are| the| different| possible)* exit (?:codes?|status(?:es)?)"
            rf"(?: (?:are there|exist|(?:can|does|do|will) {_RUNNABLE} (?:exit|give|have|return|set|use)\b.*))?\W*$"
            rf"|^\W*what does {_RUNNABLE} exit with\b.*$"
        ),
        lines=(
            r"\bEnvironment\.(?:Exit\(|ExitCode\s*=)|\b(?:sys|os|process|System)\.[eE]xit\(|\bprocess::exit\("
            r"|\bprocess\.exitCode\s*=|\braise SystemExit\b|(?P<main>^\s*return\s+-?\d+;)"
        ),
        by=NamedBy.FOLDER,
    )
    STARTUP = MarkedLines(
        "start-up step",
        asked=(
            rf"^\W*what (?:happens|is (?:done|executed|run)|gets (?:done|executed|run)|runs)(?: (?:to|with) .+?)?"
            rf" (?:(?:at|during|on) (?:the )?(?:{_RUNNABLE} )?start-? ?up(?: of {_RUNNABLE})?"
            rf"|(?:when|while|after) {_RUNNABLE}"
            r" (?:boots?(?: up)?|comes up|is (?:booted|launched|started)|runs|starts?(?: up)?))\W*$"
        ),
        lines=(
            r"\b(?:app(?:lication)?|host|builder|services)(?:\.Services)?\.(?P<key>\w*(?:Migrat|Seed|Initiali[sz]|Populate"
            r"|WarmUp|EnsureDatabase)\w*)(?:<(?P<made>\w+)>)?\("
            r"|\.Database\.(?P<name>(?:Migrate|EnsureCreated|EnsureDeleted)(?:Async)?)\("
            r"|\bAdd(?:HostedService|BackgroundWorker(?:Async)?)<(?P<other>\w+)>|\bApplicationStarted\.Register\("
            r"|:[^:]*\bIStartupFilter\b|@PostConstruct\b|\bimplements\b.*\b(?:Application|CommandLine)Runner\b"
            r"|@\w+\.on_event\(\"startup\"\)|\blifespan\s*=|\boverride\b.*\bOnApplicationInitialization(?:Async)?\("
        ),
        by=NamedBy.FOLDER,
    )
    ENTRIES = MarkedLines(
        "entry point",
        asked=r"(?!)",  # what a program begins with, where no line tells of a step
        lines=(
            r"^func main\(\)|^(?:pub )?(?:async )?fn main\(|^(?:suspend )?fun main\(|\bstatic void main\("
            r"|\bdef ready\(self|(?<![\w.])(?:\w*[aA]pp|\w*[sS]erver)\.listen\("
        ),
        by=NamedBy.FOLDER,
    )
    DOUBLES = MarkedLines(
        "test double",
        asked=(
            rf"^\W*(?:which|what|list|show)(?: me| all| the| are| is)* (?:{_DOUBLE}(?:,? (?:and|or) )?)+"
            r"(?: (?:are|do|does|exist|for|have|here|in|of|our|tests?|the|there|to|use[ds]?|we|you))*\W*$"
            r"|^\W*(?:what|which \w+) (?:is|are|gets?) (?:faked|mocked|stubbed)(?: (?:by"
            r"|in) (?:the )?(?:\w+ )?tests)?\W*$"
        ),
        lines=(
            r"\bnew Mock<(?P<name>[\w<>]+)>\(|\bMock\.Of<(?P<other>[\w<>]+)>|\bSubstitute\.For<(?P<key>[\w<>]+)>"
            r"|\bA\.Fake<(?P<added>[\w<>]+)>"
            r"|\b(?:class|record|struct|type) (?P<own>(?:Dummy|Fake|InMemory|Mock|Stub)[A-Z]\w*+(?<!Test)(?<!Tests))"
            r"|\b(?:jest|vi)\.mock\(\s*[\"'](?P<js>[^\"']+)[\"']|\bmock\((?P<java>\w+)\.class\)"
            r"|(?:@(?:mock\.)?|\bmocker\.|\bmock\.)patch(?:\.object)?\(\s*[\"']?(?P<py>[\w.]+)|\bNewMock(?P<go>\w+)\("
        ),
        by=NamedBy.NOTHING,
        once="{named}",
    )
    ROLES_GIVEN = MarkedLines(
        "role assignment",
        asked=(
            r"^\W*(?:which|what) roles? (?:do|does|is|are|will|gets?) (?:(?:an?|the|every|each|all) )?"
            r"(?:(?:new(?:ly)?|registered|created) )*(?:users?|accounts?|customers?|members?)"
            r" (?:assigned|get|given|have|receive)\b(?!.*\bneeds?\b).*$"
            r"|^\W*(?:where|when|how) (?:is|are|does|do) (?:(?:an?|the|new|user) )*(?:roles? (?:assigned|given|granted)"
            r"|(?:users?|accounts?) (?:assigned|get|given) (?:an? |the |their )?roles?)\b.*$"
        ),
        lines=(
            r"\.Add(?:User)?ToRoles?(?:Async)?\(|\bAssignRoles?(?:Async)?\(|->assignRole\(|\.add_role\("
            r"|\.Roles\.Add\(|\bnew \w*UserRole\b"
        ),
        by=NamedBy.NOTHING,
    )
    NAVIGATION = MarkedLines(
        "navigation route",
        asked=(
            r"^\W*(?:which|what|where|list|show)\b(?=.*\b(?:navigation|shell)\b)(?=.*\broutes?\b)(?!.*\b(?:api|http)\b)"
        ),
        lines=(
            r"\bRouting\.RegisterRoute\(\s*(?:nameof\((?P<name>[\w.]+)\)|\$?\"(?P<other>[^\"]+)\")"
            r"|\bRegisterForNavigation<(?P<key>\w+)|^(?!.*\bhref).*\bRoute=\"(?P<own>[\w/]+)\""
        ),
        by=NamedBy.NOTHING,
    )


_NO_WORD = re.compile(r"\(\?P<\w+>|\\[A-Za-z]")
"""Of a pattern: sections with its words are looked through."""
_MOST_READ = 1_000  # sections with these words, the likeliest: `use` is a word of many
_MOST_QUOTED = 3
_ENTRY_FILES = ("app", "index", "main", "server")
_OF_SERVERS = re.compile(r"(?:^|/)(?:api|back-?end|open-?api|server|swagger)/", re.IGNORECASE)
_OF_FRONT_ENDS = roots_of("angular app browser client dashboard frontend front react spa svelte ui vue web")
_MOST_BETWEEN = 12  # lines, of other attributes and comments
_DELETING = roots_of("delete destroy remove")
_OF_ANY_PART = "app application data database db host limit process program server service startup system"
_STREAMED = {  # what people call a method of gRPC whose request, or whose answer, is a stream
    r"bi-?direction|duplex|both (?:directions|ways)": (True, True),
    r"client[- ](?:side[- ])?stream": (True, False),
    r"server[- ](?:side[- ])?stream": (False, True),
    r"\bunary\b": (False, False),
}
_MAIN = "main"  # the group of a line that tells something in the entry point alone


def marked_asked(question: str) -> Marked | None:
    asked = question.strip()
    return next((one for one in Marked if re.search(one.value.asked, asked, re.IGNORECASE)), None)


def marked_lines_plan(asked: Asked) -> Planned | None:
    """The lines that a question asks for; those that begin what says more are quoted with it."""
    text, indexes = asked.question.asking, asked.target.members.values()
    marked = marked_asked(text)
    if marked is None:
        return None
    facts, at = first_of(marked_facts(index, marked, text) for index in indexes)
    if marked is Marked.LOGINS:  # what a sentence says, and no line; else what is seeded
        if told := at_declarations(asked, [CodePlace(fact.path, fact.line) for fact in at][:_MOST_QUOTED]):
            return told
        facts, at = first_of(marked_facts(index, Marked.USERS, text) for index in indexes)
    if marked in (Marked.LOGINS, Marked.USERS, Marked.ROLES_GIVEN):
        from rag_assets.answer.plans.settings import constants_given

        behind = [constants_given(index, graph, at) for index, graph in asked.graphs]
        facts, at = (
            replace(facts, facts=(*facts.facts, *(one for _, more in behind for one in more))),
            {**at, **{one: point for _, more in behind for one, point in more.items()}},
        )
    if marked is Marked.STARTUP and not at:
        facts, at = first_of(marked_facts(index, Marked.ENTRIES, text) for index in indexes)
        first = sorted(at, key=lambda fact: _stem(fact.path) not in _ENTRY_FILES)
        places = [CodePlace(fact.path, fact.line) for fact in first if _stem(fact.path) != "build"]
        return at_declarations(asked, places[:_MOST_QUOTED])
    if marked is Marked.API_CLIENTS and not at:
        facts, at = first_of(marked_facts(index, Marked.API_REQUESTS, text) for index in indexes)
    elif marked in (Marked.TOKENS, Marked.MAPPED_ROUTES, Marked.API_CLIENTS):  # and what below it says how
        return at_declarations(asked, [CodePlace(fact.path, fact.line) for fact in at][:_MOST_QUOTED])
    if marked is Marked.EXITS:
        places = [place for index, graph in asked.graphs for place in exit_codes_at(index, graph)]
        if told := at_declarations(asked, places):  # with the numbers, which no list of calls has
            return replace(told, wish=replace(told.wish, intent=Intent.PLACE))
    is_how = marked is Marked.ERROR_HANDLERS  # which code tells
    wish = replace(asked.wish, intent=Intent.EXPLANATION if is_how else Intent.LIST, names=())
    return Planned(wish, replace(facts, leads=is_how), at, decides=True) if at else None


def marked_facts(index: LabelIndex, marked: Marked, asked: str) -> Facts:
    """The lines of the product that tell of something each, called as what they stand before or in, those whose files
    and members a question names the most, if it does; of a connection string, and of the copies of a file of gRPC, the
    first."""
    kind = marked.value
    of_rpcs = (both for said, both in _STREAMED.items() if marked is Marked.RPCS and re.search(said, asked, re.I))
    streamed = next(of_rpcs, None)
    found = _lines_telling(index, marked, streamed)
    paths = [one.path for one in found]
    kept = set(filter(is_test_path, paths)) if marked is Marked.DOUBLES else product_or_samples(paths)
    found = [one for one in found if one.path in kept]
    if marked is Marked.PAGE_ROUTES:  # and not those of an interface that a description has
        found = [one for one in found if not _OF_SERVERS.search(one.path)] or found
    of_path = kind.by in (NamedBy.FOLDER, NamedBy.PART)
    own = {one: roots_of(f"{one.path if of_path else _stem(one.path)} {one.source}") for one in found}
    if kind.by is NamedBy.PART:
        said = re.match(kind.asked, asked.strip(), re.IGNORECASE)
        part = roots_of((said and said["part"]) or "") - roots_of(f"{_OF_ANY_PART} project")
        named = [one for one in found if part <= own[one]]
        if not named:
            return GraphFacts(), {}
    elif kind.beside is not None:
        subject = {root(word) for word, _ in telling_words(asked)} - kind.beside
        named = [one for one in found if subject <= own[one]]
        if marked is Marked.CALLBACKS and subject:  # of a user, not of the languages of users
            named = [one for one in named if roots_of(_stem(one.path)) <= roots_of(asked)]
        if marked is Marked.CALLBACKS and _DELETING & roots_of(asked):
            named = [one for one in named if _DELETING & roots_of(one.source)]
        if len(named) < kind.fewest:
            return GraphFacts(), {}
    else:
        asked_of = roots_of(asked) - roots_of(f"{kind.noun} {_OF_ANY_PART} configured defined found set settings")
        asked_of &= _OF_FRONT_ENDS if marked in (Marked.API_CLIENTS, Marked.API_REQUESTS) else asked_of
        asked_of -= roots_of("bidirectional client duplex stream streaming unary") if streamed else frozenset()
        most = max((len(roots & asked_of) for roots in own.values()), default=0)
        named = [one for one in found if most and len(own[one] & asked_of) == most]
    facts = named if named and kind.by is not NamedBy.NOTHING else found
    if marked is Marked.CONNECTION_STRINGS:
        facts = [*{one.source: one for one in reversed(facts)}.values()][::-1]
    return facts_listed(facts, kind.noun, index)


def rules_at(index: LabelIndex) -> list[CodePlace]:
    """Where code says of many endpoints at once who may call them, the first of each file."""
    return _first_of_files(index, Marked.ACCESS_RULES)


def checked_at(index: LabelIndex) -> list[CodePlace]:
    """Where code checks the tokens by which it knows who calls it, the first of each file."""
    return _first_of_files(index, Marked.TOKENS)


def _first_of_files(index: LabelIndex, marked: Marked) -> list[CodePlace]:
    _, at = marked_facts(index, marked, "")
    first = {one.path: one.line for one in reversed([*at])}
    return [CodePlace(*one) for one in first.items()][::-1][:_MOST_QUOTED]


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def _lines_telling(index: LabelIndex, marked: Marked, streamed: tuple[bool, bool] | None) -> list[GraphFact]:
    """The lines that tell of something, of all files; of methods of gRPC those that stream so."""
    kind = marked.value
    line_of = re.compile(kind.lines)
    words = " ".join(re.findall(r"[A-Za-z]\w{2,}", _NO_WORD.sub(" ", kind.lines)))
    of_text = marked is Marked.LOGINS
    skipped = () if of_text else PROSE if kind.in_settings else PROSE | CONFIGURATION
    sections = index.parts.shard().retrieve(sorted(points_with(words, index, _MOST_READ)), index.scope()).values()
    likely = [one for one in sections if re.search(kind.files, one["Path"])]
    likely = [one for one in likely if not of_text or one.get("CodeLanguage", "") in PROSE]
    found: dict[str, GraphFact] = {}
    for one in sorted(likely, key=lambda payload: (from_the_root(payload["Path"]), payload.get("StartLine", 1))):
        path, first = one["Path"], one.get("StartLine", 1)
        members = [
            member for member in section_members(one) if member.name.replace(".", "").isidentifier()
        ]  # no statements
        lines = code_of(one, index, skipped).split("\n")
        for at, line in enumerate(lines, first):
            goes_on = line.endswith("(") and at - first + 1 < len(lines)  # and says on the next line what it is given
            said = line_of.search(f"{line}{lines[at - first + 1].strip()}" if goes_on else line)
            if said is None or (not of_text and line.lstrip().startswith(("//", "#", "*", "--", "<!--"))):
                continue
            if streamed is not None and streamed != tuple("stream " in part for part in line.split("returns", 1)):
                continue
            groups = said.groupdict()
            of_main = groups.pop(_MAIN, None) is not None
            named = ".".join(filter(None, groups.values()))
            above = _MOST_BETWEEN if kind.above else 0
            near = [member for member in members if member.start_line - above <= at <= member.end_line]
            below = min(near, key=lambda member: (abs(member.start_line - at), member.start_line), default=None)
            file = path.rpartition("/")[2]
            called = named or (below.name if below is not None else file)
            if of_main and called.rpartition(".")[2].lower() not in ("main", "cs"):  # or `Program.cs`
                continue
            once = kind.once.format(path=path, at=at, file=file, named=named, called=called) or f"{path}:{at}"
            found.setdefault(once, GraphFact(called, "", "", path, at, certain=True, is_comment=not kind.annotation))
    return [*found.values()]


_EXIT_CODES = frozenset({"exitcode", "exitcodes", "exitstatus", "exitstatuses", "returncode", "returncodes"})
_GIVES_CODE = re.compile(r"\b(?:Exit|Return)(?:Code|Status)\w*(?:::|\.)\w+(?:\([^()]*\))?\s*(?:=>|->)\s*-?\d")


def exit_codes_at(index: LabelIndex, graph: Graph) -> list[CodePlace]:
    """Where the product declares a type of exit codes, and where its file says the numbers of them."""
    declared = types_called(graph, _EXIT_CODES)
    lines = lines_of(index, {one.path for one in declared})
    given = [
        CodePlace(path, at)
        for path in sorted(lines)
        for at in sorted(lines[path])
        if _GIVES_CODE.search(lines[path][at])
    ]
    return [*declared, *given[:1]]


_MARKS_CASE = re.compile(r"^\s*(?:\[(?:Fact|Theory|Test|TestCase|TestMethod|\w*Fact|\w*Theory)\b|@(?:\w*Test)\b)")
_CASE = re.compile(
    r"^\s*(?:async )?def (?P<py>test_\w+)|^func (?P<go>Test\w+)\("
    r"|^\s*(?:it|test|specify)(?:\.\w+)*\(\s*[\"'`](?P<js>[^\"'`]+)"
)
_METHOD = re.compile(r"(?P<name>`[^`]+`|\w+)\s*(?:<[^<>]*>)?\(")
_MOST_ATTRIBUTES = 12  # lines between the mark of a case and its name


def cases_in(index: LabelIndex, tests: Sequence[GraphFact], subject: Sequence[QueryTerm]) -> Facts:
    """The cases in the files of some tests, each by its name: those that say the most of a subject."""
    found = []
    for path, lines in sorted(lines_of(index, {one.path for one in tests}).items()):
        until = 0
        for at, text in sorted(lines.items()):
            if (case := _CASE.match(text)) is not None:
                found.append(GraphFact(case[case.lastgroup or 0], "", "", path, at, certain=True))
            elif _MARKS_CASE.match(text):
                until = at + _MOST_ATTRIBUTES
            elif at <= until and not text.lstrip().startswith(("[", "@", "//")) and (named := _METHOD.search(text)):
                found.append(GraphFact(named["name"], "", "", path, at, certain=True))
                until = 0
    said = [covered(tuple(subject), roots_of(f"{one.path} {one.source}")) for one in found]
    return facts_listed([one for one, share in zip(found, said, strict=True) if share == max(said)], "test case", index)
