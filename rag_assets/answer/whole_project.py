"""Which questions are about a project as a whole: what it is, what it is for, how it is built, and what many ask of any
project: what it is made with, its licence, versions and size, how it is run, what changed, what is tested. Pure.

Such a question is told by having no other words: `how is this project structured`, and not `how is the cache of this
project structured`; `which database does it use`, and not `which database is the order stored in`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache
from itertools import chain, pairwise

from rag_assets.identifiers import key_of_word, singular, word_set
from rag_assets.index.keyword.terms import FUNCTION_WORDS, stem

WHOLES = word_set(
    "project repo repository lib library tool product app application kit codebase solution framework system program",
    "software sample demo boilerplate starter",
)
"""What a project is called."""
_CALLED_THIS = WHOLES | word_set(
    "code package service template thing server site website bot engine gateway plugin extension client platform",
)
"""What it is called with `this` before it: `the service` may be one of its parts."""
_SAMPLES = word_set("sample demo example starter boilerplate template open source python java net")
"""What goes before such a name: `the sample application`."""
_IT = word_set("this it everything")
_PARTS = word_set(
    "part parts module modules component components layer layers projects folders feature features functionality",
    "capabilities",
)
_MADE_OF = word_set(
    "architecture stack structure structured organized organised organization laid layout layered designed design",
    "split work works fit fits together built made written composed reading understand",
)
"""What is asked of `it`, or of `the code`, only where the whole is meant."""
_ASKED = word_set(
    "about for good used use using meant supposed intended do does doing teach show demonstrate offer provide contain",
    "consist include solve based purpose goal idea problem problems technology technologies languages explain",
    "describe summarize summarise gain benefit benefits advantage advantages point better different special cases",
    *_PARTS,
    *_MADE_OF,
)
_GAINED = word_set("gain benefit")
_ASKED_OF_WHOLES_ALONE = word_set("architecture technologies stack")
_TOLD_OF_WHOLES_ALONE = word_set("overview tour introduction summary")
_BESIDE = FUNCTION_WORDS | word_set(
    "s m d re ll ve me us my our new here just please all any whole entire main major most important basic general",
    "overall high level big picture short brief briefly quick quickly one two three few sentence sentences word words",
    "hello hi give tell get getting started know want need like look looks looking come first actually exactly",
    "really kind out up under hood inside each other home team joined somebody someone could would may there base",
    "some so tech through them into consists makes than others similar roughly basically developers ours",
    "behind company business",
)
_STARTING = re.compile(r"\bhow (?:(?:do|can|should|could|would) (?:i|we|you|one)|to)\b", re.IGNORECASE)
_STARTED = word_set("run running start install build setup launch use try")
_BESIDE_STARTED = word_set(
    "development set sources own locally local myself mac macos linux windows computer laptop machine getting",
)
_LEADING = re.compile(
    r"\b(?:(?:show|give|tell) (?:me|us)|(?:start|begin)(?= (?:reading|to read))|set(?= up)"
    r"|key(?= (?:features|parts|components)))\b",
    re.IGNORECASE,
)
_WALK = re.compile(r"\bwalk (?:me|us) through\b", re.IGNORECASE)
_RATHER = re.compile(
    r"\b(?P<whole>this|it) (?:(?:instead of|rather than) .*|over (?=simply\b|just\b|\w+ing\b).*)", re.IGNORECASE
)
"""What one could do without the project, as in `why should I use this instead of writing it myself`."""
_SENTENCE = re.compile(r"[?!\n]+|\.(?:\s|$)")
_CLAUSE = re.compile(
    r"[;:,()`]+|\s[–—-]\s|\band (?=(?:what|how|which|why|where|who|is|does|do|can|into)\b)", re.IGNORECASE
)
_ASKS = word_set("and or what how which why where who is does do can into in")
"""What a clause begins with that asks for something else; others tell more of what stands before them."""
_BEFORE_ASKED = re.compile(
    r"(?:\A|(?<=[:?]))[^:?]*:\s+(?=(?:what|how|which|why|where|who|when|is|are|does|do|can)\b)", re.IGNORECASE
)
"""`Explain this to me please:` before a question of anything. Its start is anchored: searched from every character, a
text without a colon would take quadratic time."""
_TOKEN = re.compile(r"(?<![\w.+#])[\w.+#]*[\w+#]")
_MOST_OF_A_NAME = 3  # words
_SAYS_PART = _CALLED_THIS | _PARTS | _TOLD_OF_WHOLES_ALONE
_SEES_NO_WHOLE = word_set("is are when where")
_KNOWN = _CALLED_THIS | _ASKED | _TOLD_OF_WHOLES_ALONE | _BESIDE | _SAMPLES | _IT
_TERMS = frozenset(map(stem, _KNOWN | _STARTED | _BESIDE_STARTED))

NOUNS = "|".join(sorted(WHOLES))
_WHOLLY = re.compile(
    r"\W*(?:(?:hi|hello|i(?:'| a)m new(?: here)?)\W+)?(?:"
    rf"is (?:this|it) an? (?:\w+ )?(?:{NOUNS})(?:,? or (?:rather )?an? (?:\w+ )?(?:{NOUNS}))+"
    r"|(?:where|how|with what) (?:do|should|can|could) (?:i|we|you) (?:best )?(?:start|begin)"
    r"(?: to read| reading| first)?"
    rf"|when (?:do|should|would|could) (?:i|we|you) (?:use|need|want|choose) (?:this|it|(?:this|the) (?:{NOUNS}))"
    r"|wh(?:at|ich)(?: are|'s| is)? the"
    r" (?:big picture|(?:main|major|most important) (?:parts|features|components|modules)))\W*",
    re.IGNORECASE,
)
"""What is asked of nothing but a whole, in words that say something else elsewhere."""


def is_of_whole(term: str) -> bool:
    """Whether a question about a whole may have a word, as `stem` makes it, and is about nothing else for that."""
    return term in _TERMS


@lru_cache(maxsize=64)  # the analysis of a question asks, and its plan
def name_of_whole(question: str) -> str | None:
    """What a question about a whole project calls it: '' for `this project` and the like. A name, as in `what is
    Polly?`, may be that of something in it: the index has to say. None for every other question."""
    if _WHOLLY.fullmatch(question):
        return ""
    question = _BEFORE_ASKED.sub("", question, count=1)
    asked = _RATHER.sub(r"\g<whole>", _WALK.sub("explain", question))
    sentences = [
        [_TOKEN.findall(clause) for clause in _CLAUSE.split(_LEADING.sub(" ", sentence))]
        for sentence in _SENTENCE.split(asked)
    ]
    for at, clauses in enumerate(sentences):
        for number, written in enumerate(clauses):
            words = _lower(written)
            if _STARTING.search(" ".join(words)) and not _STARTED.isdisjoint(words):
                rest = chain(clauses[number:], *sentences[at + 1 :])
                said = set(_lower(chain.from_iterable(rest)))
                return "" if _says_whole(words) and said <= _KNOWN | _STARTED | _BESIDE_STARTED else None
            name = _name_in(words, written)
            if name is not None:
                later = map(_lower, clauses[number + 1 :])
                told_more = [clause for clause in later if clause and clause[0] not in _ASKS]
                return name if all(_KNOWN.issuperset(clause) for clause in told_more) else None
            if not _BESIDE.issuperset(words):
                return None
    return None


def _lower(words: Iterable[str]) -> list[str]:
    return [word.lower() for word in words]


def _name_in(words: Sequence[str], written: Sequence[str]) -> str | None:
    """As `name_of_whole`, of one clause."""
    if not words or (words[0] in _SEES_NO_WHOLE and "reading" not in words):
        return None
    whats = words[:2] in (["what", "is"], ["what", "s"], ["what", "was"], ["whats"])
    if not whats and _ASKED.isdisjoint(words) and _TOLD_OF_WHOLES_ALONE.isdisjoint(words) and "started" not in words:
        return None
    others = [at for at, word in enumerate(words) if word not in _KNOWN]
    if not others:
        return "" if _says_whole(words) or _needs_no_whole(words) else None
    first, last = others[0], others[-1]
    before, after = words[first - 1 : first], words[last + 1 : last + 2]
    if first == last and before in (["this"], ["our"]) and after and after[0] in _CALLED_THIS:
        return ""  # `this Python library`
    is_name = last - first + 1 == len(others) <= _MOST_OF_A_NAME
    return " ".join(written[first : last + 1]) if is_name else None


def _needs_no_whole(words: Sequence[str]) -> bool:
    """Whether nothing but a whole has what is asked for: `the architecture`, `a quick overview`, `getting started`."""
    told = not _TOLD_OF_WHOLES_ALONE.isdisjoint(words) and _BESIDE.issuperset({*words} - _TOLD_OF_WHOLES_ALONE)
    started = any(pair in (("getting", "started"), ("get", "started")) for pair in pairwise(words))
    of_part = not _PARTS.isdisjoint(words) or any(word in _CALLED_THIS for word in words)
    asks = words[0] in ("what", "how", "which", "who", "why")
    return not of_part and ((told and not asks) or started or not _ASKED_OF_WHOLES_ALONE.isdisjoint(words))


def _says_whole(words: Sequence[str]) -> bool:
    """Whether some of the words mean a project: `this library`, `the sample application`, `it`. With another noun
    behind it, as in `the application layer`, it is a part."""
    said, noun, after, before = 0, "", "", ""  # from the last word on: the noun behind a word, and what follows that
    is_made_of, is_asked_of_it = not _MADE_OF.isdisjoint(words), _is_asked_of_it(words)
    for word in reversed([one for one in words if one not in ("whole", "entire")]):
        if after not in _SAYS_PART:
            is_code = noun == "code" and (after == "base" or is_made_of)
            said += (word in ("this", "our") and noun in _CALLED_THIS) or (
                word == "the" and (noun in WHOLES or is_code)
            )
            said += word in _IT and not (word == "this" and noun in _PARTS | _CALLED_THIS) and is_asked_of_it
        if not (word in _SAMPLES and before in _CALLED_THIS | _SAMPLES):
            noun, after = word, before
        before = word
    return said == 1  # `how does the application use the library?` is about neither


def _is_asked_of_it(words: Sequence[str]) -> bool:
    """Of `it` alone a project is meant where it is asked for what it is, does or is made of, or how it is started."""
    does_with_it = words[:3] in (["what", "do", "i"], ["what", "do", "we"]) and _GAINED.isdisjoint(words)
    if does_with_it or {"services", "use"} <= {*words}:
        return False
    return not (_ASKED | _STARTED).isdisjoint(words) or words[0].startswith("what")


class Everyday(Enum):
    """What is asked. `CHANGE` is the last change of a file, `CHANGES` are all, `AUTHORS` who wrote it or when it was
    added, `EXPORTS` what others can use, `RELEASE` what a version brought."""

    TECHNOLOGY = auto()
    LICENCE = auto()
    RUNTIME = auto()
    VERSION = auto()
    SIZE = auto()
    STEPS = auto()
    COMMITS = auto()
    CHANGE = auto()
    CHANGES = auto()
    AUTHORS = auto()
    EXPORTS = auto()
    UNTESTED = auto()
    RELEASE = auto()


@dataclass(frozen=True, slots=True)
class EverydayQuestion:
    """`words` say more: what a question calls a technology, the language of a runtime, the action of steps, the thing
    that changed, that a size is wanted in lines. `within` are the words for a part of the project: of a technology,
    where it is used. `is_beside`: what is done with the technology is asked, which only where there is none of it is
    told."""

    about: Everyday
    words: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    is_beside: bool = False


LOGIN = "Login provider"
CALLED: Mapping[str, str] = {
    called: category
    for category, names in {
        "Authentication": "auth library, authentication library, authentication framework, identity provider",
        "Background jobs": "background job library, job library, job queue, job scheduler, scheduler, task queue",
        "CSS framework": "css framework, css library, styling library",
        "Cache": "cache, caching library, cache library, cache server, distributed cache",
        "Continuous integration": "ci, ci server, ci service, ci system, ci tool, continuous integration",
        "Database": "database, database engine, database server, database system, databases, datastore, db",
        "Dependency injection": "di container, di framework, di library, dependency injection, ioc container"
        ", dependency injection container, dependency injection framework, dependency injection library",
        "Frontend framework": "front-end framework, frontend framework, frontend library, javascript framework"
        ", js framework, spa framework, ui framework",
        "HTTP client": "http client, http client library, http library, rest client",
        "Linter": "code formatter, formatter, linter, linters, linting tool",
        "Logging": "logger, logging framework, logging library, logging package, log library, log framework",
        LOGIN: "authentication provider, authentication providers, external login provider, external login providers"
        ", external provider, external providers, login provider, login providers, oauth provider, oauth providers"
        ", sign-in provider, sign-in providers, social login, social logins",
        "Mapping": "mapper, mapping library, object mapper",
        "Message broker": "broker, event bus, message broker, message bus, message queue, messaging library"
        ", messaging system, queue, queueing system, service bus",
        "Migrations": "database migration tool, migration library, migration tool",
        "Mocking": "mock library, mocking framework, mocking library, mocks library",
        "MVVM framework": "mvvm framework, mvvm library, mvvm toolkit",
        "ORM": "data access library, orm, orm library, object relational mapper, object-relational mapper",
        "Search engine": "full text search engine, search engine, search server",
        "Serialization": "json library, json parser, serialization library, serializer",
        "State management": "state management, state management library",
        "Telemetry": "metrics library, monitoring library, monitoring system, monitoring tool, telemetry library"
        ", tracing library",
        "Template engine": "template engine, template language, templating engine, view engine",
        "Test framework": "test framework, test frameworks, test library, test runner, testing framework"
        ", testing library, testing tool, unit test framework, unit testing framework",
        "Validation": "validation framework, validation library, validator library",
        "Vector database": "vector database, vector databases, vector db, vector store",
        "Web framework": "api framework, backend framework, http framework, server framework, web framework"
        ", web library",
    }.items()
    for called in names.split(", ")
}
"""What a question calls a category."""

WORD = re.compile(r"[#@]?\w[\w.#+/@:-]*[\w#+]|[#@]?\w")
_ASKING = (
    FUNCTION_WORDS
    | WHOLES
    | word_set(
        "any current currently here kind list me my name our please s show sort tell they type us used using use uses",
        "actually all base code could service whole",
    )
)
_OF_TESTS = frozenset({"test", "tests"})
"""Where their packages are named, paths seldom tell."""
_TOOL = word_set("framework frameworks lib libraries library package packages technology tool tools")
_SPEAKING = frozenset(
    {"database", "db", "frontend framework", "message broker", "orm", "test framework", "web framework"}
)
"""Categories that no part of a program is called."""
_USED = word_set(
    "use uses used using need needs require requires rely relies depend depends have there run runs support supports",
    "supported",
)
_USERS = word_set("i we you one it be users people customers")
_CHOSEN = word_set("use used support supports supported sign log login available configured enabled exist")
_SIGNING = word_set("sign log login available configured enabled exist")
_TOWARDS = word_set("from in into on over through to via with")
"""What stands before that with which something is done: `does it publish events to Kafka?`"""
_WORKS_WITH = re.compile(r"\bworks? with\b")
_VERB = word_set("is are can could do does has have used in for of by to within are's")
_SPOKEN_FOR = key_of_word(
    {
        "Authentication": "auth authentication",
        "Background jobs": "background-jobs scheduling",
        "CSS framework": "css styles styling",
        "Cache": "caching",
        "Dependency injection": "dependency-injection di",
        "HTTP client": "http-calls http-requests",
        "Linter": "formatting linting",
        "Logging": "logging logs",
        "Mapping": "mapping object-mapping",
        "Message broker": "events messages messaging",
        "Migrations": "database-migrations migrations",
        "Mocking": "mocking mocks",
        "ORM": "data-access persistence",
        "Search engine": "full-text-search search",
        "State management": "state-management",
        "Telemetry": "metrics monitoring tracing",
        "Template engine": "templates templating",
        "Test framework": "testing tests unit-testing unit-tests",
        "Validation": "validation",
    }
)
"""What something `is used for`."""
_KINDS = ("kind of", "sort of", "type of", "kinds of")
_RUNTIMES = key_of_word(
    {
        "android": "android",
        "clojure": "clojure",
        "cpp": "c++ cpp",
        "dart": "dart",
        "elixir": "elixir",
        "flutter": "flutter",
        "go": "go golang",
        "godot": "godot",
        "ios": "ios",
        "java": "java jdk jre",
        "julia": "julia",
        "kotlin": "kotlin",
        "net": "c# csharp dotnet net sdk",
        "node": "node node.js nodejs",
        "php": "php",
        "powershell": "powershell pwsh",
        "python": "python",
        "ruby": "ruby",
        "rust": "rust rustc msrv",
        "scala": "scala",
        "swift": "swift",
        "unity": "unity unity3d",
        "terraform": "opentofu terraform",
        "zig": "zig",
    }
)
MIGRATE = "migrate"
"""Of the database; what else is migrated, as from one release to the next, has other words beside it."""
_OF_MIGRATIONS = word_set("add apply change changes core create database db ef entity generate make new schema update")
_ACTIONS = key_of_word(
    {
        "build": "build compile",
        "configure": "configure configured",
        "contribute": "contribute",
        "deploy": "deploy deployed host",
        "e2e": "e2e",
        "install": "install installed setup",
        "lint": "format lint",
        MIGRATE: "migrate migration migrations",
        "run": "launch run start",
        "test": "test tested tests",
    }
)
_PLATFORM_CALLED = key_of_word(
    {
        "aws": "amazon aws",
        "azure": "azure",
        "docker": "compose container containers docker docker-compose image",
        "heroku": "heroku",
        "iis": "iis",
        "kubernetes": "helm k8s kubernetes",
    }
)
_STEPS = frozenset({"command", "commands", "steps"})
KINDS_OF_TESTS = word_set("integration unit")
"""What people call all tests."""
_BESIDE_ACTIONS = word_set(
    "set up locally local myself mac macos linux windows computer laptop machine development environment dev unit",
    "everything",
    "suite source sources scratch command commands steps production backend server getting get started own only",
    "just alone",
    *KINDS_OF_TESTS,
)
_LICENCE = word_set("license licence licensed licensing under open source copyright legal terms released")
_VERSION = word_set("version versions latest release released number newest last")
_REQUIRED = word_set(
    "version versions minimum need needed required target targets targeted run runs runtime sdk on supported support"
)
_IN_IMAGES = word_set("base container containers docker dockerfile image images production use used uses")
"""Where a runtime is used, beside all else that demands one."""
_TO_START = word_set("run running build building install installed develop start use")
_OF_PLATFORMS = word_set(
    "platform platforms operating system systems os support supports supported target targets targeted run runs",
    "running work works available mobile desktop client device devices",
)
_IS_USED = re.compile(r" (?:is|are) (?:being )?used$|(?:does|do) \S+ (?:use|depend on)$|(?:is|are) (?:we|you) using$")
_VERSIONS, _DEMANDED = word_set("version versions"), word_set("minimum need needed required support supported")
_TARGETED = frozenset({"framework", "frameworks"})
"""What projects of .NET target."""
_SIZE = word_set(
    "big large size many files file languages language count programming written number implemented",
    "line lines code loc",
)
_COMMITS = word_set(
    "changed changes change lately recently recent latest last commit commits newest history git log updated modified",
    "done happened been most made were few subject subjects file files past week weeks month months day days today",
    "yesterday since two three four seven thirty ten 2 3 4 7 10 14 30 90",
)
_LATELY = word_set("lately recently recent latest last newest")
_RELEASED = word_set(
    "break breaks broke broken",
    "added breaking bug bugs bugfixes change changed changelog changes deprecated did does feature features fix fixed",
    "fixes get improvements introduce introduced new news note notes release released removed version what's with",
)
_OUT = word_set("when come came out published release released version did")
_RELEASE = re.compile(r"v?(\d+(?:\.\d+)+(?:-[\w.]+)?)|v(\d+)", re.IGNORECASE)
_RELEASE_CALLED = re.compile(r"\bin (?P<name>[a-z][\w.]*[#+]{0,2}) (?P<version>\d+(?:\.\d+)*)\W*$", re.IGNORECASE)
"""`what is new in C# 13?`"""
_MAJOR = re.compile(r"v?(\d+(?:\.\d+)*(?:-[\w.]+)?)()", re.IGNORECASE)
_TYPES = word_set("class classes type types")
_UNTESTED = word_set(
    "class classes type types untested tested tests test coverage covered unit yet",
    "no without lack lacks missing still",
)
_SORTS = word_set(
    "adapters builders consumers controllers converters decorators factories filters generators handlers helpers jobs",
    "listeners managers mappers middlewares parsers processors providers readers repositories services validators",
    "workers writers",
)
"""Of classes, by what their names end with."""
_LACKS = word_set("no not without lack lacks missing")
_EXPORTS = word_set("export exports exported public")
_EXPORTED = _EXPORTS | word_set(
    "api class classes file folder function functions interface list module package symbols"
)
_LETS_USE = word_set("api class classes function functions interface module symbols")
"""What `public` is said of that others use: there are public holidays too."""
_ADDED = word_set("created added introduced")
_CHANGED = word_set("changed modified updated touched edited written") | _ADDED
_OF_CHANGES = word_set(
    "all change changes commit commits did git give has have history is list log many me often over show tell time",
    "affected made touched",
)
_CHANGES_OF = re.compile(
    r"(?:which|what|how many|list|show) (?:\w+ ){0,2}commits (?:have |that )*(?:affected|changed|edited|modified"
    r"|touched)\b"
    r"|(?:history|git log|(?:all|last|latest|recent|the) (?:commits?|changes?)) (?:for|in|of|on|to)\b"
    r"|^how (?:did|has|often (?:did|has|is|was)) .*\bchanged?\b"
    r"|^what (?:has |was )?changed in .* (?:lately|recently)$"
)
_WROTE = word_set("wrote changed modified created added authored touched edited updated introduced")


_SHORT_FOR = {
    re.compile(short, re.IGNORECASE): name
    for short, name in {
        r"\bend[- ]to[- ]end\b": "e2e",
        r"(?<=version of )(?:ef|entity framework)(?: core)?\b": "Microsoft.EntityFrameworkCore",
        r"(?<=version of )asp\.net core\b": ".NET",
        r"(?<=changed )(?:in|within|over|during) (?:the )?(?:last|past)(?: \w+)? (?:commits?|days?|weeks?)\b": "lately",
        r"\bentity framework(?: core)?\b": "efcore",  # a framework is the whole, too
    }.items()
}
"""What people call what manifests call by a name."""


def everyday_question(question: str) -> EverydayQuestion | None:
    """What a question asks that many ask of any project; None for others."""
    for short, name in _SHORT_FOR.items():
        question = short.sub(name, question)
    written = WORD.findall(question)
    words = ["is" if word == "s" else word.lower() for word in written]  # `what's`
    if not words:
        return None
    said = frozenset(word for word in words if word not in _ASKING)
    return (
        _of_release(words, said, question) or _of_whole(words, said) or _of_one(words, written) or _of_technology(words)
    )


def _of_release(words: Sequence[str], said: frozenset[str], question: str) -> EverydayQuestion | None:
    """`What changed in 2.4.1`, `what is new in v8.0`, `which features were added in C# 13`."""
    called = _RELEASE_CALLED.search(question)
    if called is not None and (of_name := frozenset(WORD.findall(called[0].lower()))) <= set(words):
        beside = said - of_name
        if beside and beside <= _RELEASED and called["name"].lower() not in _RELEASED and words[0] in ("what", "which"):
            return EverydayQuestion(Everyday.RELEASE, (f"{called['name']} {called['version']}",))
    release = _MAJOR if {"version", "release"} & said else _RELEASE
    versions = [found[1] or found[2] for word in said if (found := release.fullmatch(word))]
    others = {word for word in said if not release.fullmatch(word)}
    if len(versions) == 1 and words[0] == "when" and others <= _OUT and words[-1] != "in":
        return EverydayQuestion(Everyday.RELEASE, (versions[0], "dated"))
    if len(versions) != 1 or not others or not others <= _RELEASED or words[0] in ("when", "who", "why"):
        return None
    return EverydayQuestion(Everyday.RELEASE, (versions[0],))


def _of_whole(words: Sequence[str], said: frozenset[str]) -> EverydayQuestion | None:
    everyday = EverydayQuestion
    of_another = words[0] in ("who", "where", "when") or (
        words[0] == "what" and words[1:2] == ["does"] and "do" in words
    )
    if not of_another and any(word.startswith("licen") for word in said) and said <= _LICENCE:
        return everyday(Everyday.LICENCE)
    runtimes = [_RUNTIMES[word] for word in words if word in _RUNTIMES]
    required = _REQUIRED | _IN_IMAGES | (_TO_START if said & _DEMANDED else frozenset())
    if runtimes and said - _RUNTIMES.keys() <= required and not said.isdisjoint(("version", "versions", "sdk")):
        return everyday(Everyday.RUNTIME, (runtimes[0],))
    if not _TARGETED.isdisjoint(said) and "target" in " ".join(said) and said <= _TARGETED | _REQUIRED | {"net"}:
        return everyday(Everyday.RUNTIME, ("net",))
    if words[0] in ("which", "what", "on") and {"platforms", "systems"} & {*words} and said <= _OF_PLATFORMS:
        return everyday(Everyday.RUNTIME, ("platform",))
    if not of_another and "version" in said and said <= _VERSION:
        return everyday(Everyday.VERSION)
    named = [] if runtimes else [word for word in words if word in said - _REQUIRED]
    if words[0] in ("which", "what") and said & _VERSIONS and 0 < len(named) <= _MOST_OF_A_NAME:
        if said & _DEMANDED:
            return everyday(Everyday.RUNTIME, (" ".join(named),))
        is_package = len(named) == 1 and words[words.index(named[0]) - 1] != "the"  # `the API` is no package
        if is_package and _IS_USED.search(" ".join(words)):
            return everyday(Everyday.RUNTIME, (named[0],), ("used",))
    lacks = "untested" in said or not _LACKS.isdisjoint(words)
    sort = tuple(word for word in words if word in _SORTS) if len(said & _SORTS) == 1 else ()
    about = said - {*sort}
    if lacks and about <= _UNTESTED and not about.isdisjoint(("untested", "test", "tests", "tested", "covered")):
        return everyday(Everyday.UNTESTED, (), sort)
    of_tests = "tests" in said and not {"have", "has", "with"}.isdisjoint(words)
    typed = _TYPES.union(sort)
    are_types = next((word in typed for word in words if word in typed | {"tests"}), False)  # and not the tests' own
    if not lacks and about <= _UNTESTED and are_types and (of_tests or said & {"tested", "covered"}):
        return everyday(Everyday.UNTESTED, ("tested",), sort)
    if said and said <= _SIZE and _asks_size(words):
        return everyday(Everyday.SIZE, ("lines",) if {"lines", "loc"} & said else ())
    if said <= _COMMITS and words[0] in ("what", "which", "show", "list", "when", "give", "tell"):
        if said & _LATELY and not said.isdisjoint(("commit", "commits", "changed", "changes", "change", "modified")):
            return everyday(Everyday.COMMITS)
        if "updated" in said and words[0] == "when":
            return everyday(Everyday.COMMITS)
    return _of_steps(words, said)


def _asks_size(words: Sequence[str]) -> bool:
    pairs = set(pairwise(words))
    return (
        (not {("how", "big"), ("how", "large")}.isdisjoint(pairs) and {"file", "files"}.isdisjoint(words))
        or (("how", "many") in pairs and not {"files", "languages", "lines", "loc"}.isdisjoint(words))
        or (
            ("language" in words or "languages" in words)
            and not {"written", "programming", "used", "use", "implemented"}.isdisjoint(words)
        )
    )


def _of_steps(words: Sequence[str], said: frozenset[str]) -> EverydayQuestion | None:
    """`How do I run the tests` is about tests, and `what is the command to build it` about building."""
    actions = dict.fromkeys(_ACTIONS[word] for word in words if word in _ACTIONS)
    actions |= {"install": None} if "set" in words and "up" in words else {}
    if said == {"update", "database"} or ("migrate" in words and said.isdisjoint(("database", "db", "schema"))):
        actions = {MIGRATE: None} if "update" in words else {}
    kinds = [one for one, of in pairwise(words) if of in ("test", "tests") and one in said - _ACTIONS.keys()]
    said -= set(kinds)
    asks = words[0] == "how" or (words[0] in ("what", "which") and not _STEPS.isdisjoint(words))
    beside = _BESIDE_ACTIONS | (_OF_MIGRATIONS if MIGRATE in actions else frozenset())
    if not asks or not actions or not said <= _ACTIONS.keys() | beside | _PLATFORM_CALLED.keys():
        return None
    if words[0] == "how" and words[1] not in ("do", "to", "can", "should", "could", "is"):
        return None
    if not {("dev", "container"), ("dev", "containers"), ("development", "container")}.isdisjoint(pairwise(words)):
        return None  # what an editor runs in, and not the project
    first = next((one for one in ("e2e", "test", MIGRATE) if one in actions), next(iter(actions)))
    platform = next((_PLATFORM_CALLED[word] for word in words if word in _PLATFORM_CALLED), "")
    return EverydayQuestion(Everyday.STEPS, (f"{first} {platform}".strip(),), tuple(kinds))


def _of_one(words: Sequence[str], written: Sequence[str]) -> EverydayQuestion | None:
    """`When was X last changed`, `which commits changed X`, `who wrote X`."""
    is_list = "public" not in words or not _LETS_USE.isdisjoint(words)
    exports = [word for word in written if word.lower() not in FUNCTION_WORDS | _EXPORTED]
    if (
        len(exports) == 1
        and "to" not in words
        and words[0] in ("what", "which", "list")
        and is_list
        and not _EXPORTS.isdisjoint(words)
    ):
        return EverydayQuestion(Everyday.EXPORTS, tuple(exports))
    beside = FUNCTION_WORDS | _LATELY | {"file", "class", "method", "first", "originally", "author", "time"}
    of_changes = words[0] not in ("when", "where", "who", "why") and _CHANGES_OF.search(" ".join(words))
    beside |= _OF_CHANGES if of_changes else frozenset()
    thing = tuple(word for word in written if word.lower() not in beside | _CHANGED | _WROTE)
    if len(thing) != 1 or not _is_of_code(thing[0], words):
        return None
    ends = [word for word in words if word not in _LATELY][-1]
    if words[0] in ("when", "why") and words[1:2] in (["was"], ["were"], ["did"]) and ends in _CHANGED | {"change"}:
        if ends not in _ADDED:
            return EverydayQuestion(Everyday.CHANGE, thing)
        return EverydayQuestion(Everyday.AUTHORS, thing) if words[0] == "when" else None
    if of_changes:
        return EverydayQuestion(Everyday.CHANGES, thing)
    if words[0] == "who" and (words[1] in _WROTE | {"last"} or "author" in words):
        return EverydayQuestion(Everyday.AUTHORS, thing)
    return None


def _is_of_code(thing: str, words: Sequence[str]) -> bool:
    """Whether a file or a name of code is meant: `the order`, and `an Order`, may be created by whoever buys."""
    if not {"file", "class"}.isdisjoint(words) or re.search(r"[/._]|[^\W\d_][A-Z]", thing):
        return True
    return thing[0].isupper() and words[words.index(thing.lower()) - 1] not in ("the", "a", "an")


def _of_technology(words: list[str]) -> EverydayQuestion | None:
    for kind in _KINDS:
        if f" {kind} " in f" {' '.join(words)} ":
            words = f" {' '.join(words)} ".replace(f" {kind} ", " ").split()
    words = _WORKS_WITH.sub("use", " ".join(words)).split()
    if words[0] in ("which", "what") and "for" in words and not _USED.isdisjoint(words):
        at = words.index("for")
        ends = next((end for end in range(at + 1, len(words)) if words[end] in ("in", "by", "on", "here")), len(words))
        category = _SPOKEN_FOR.get("-".join(words[at + 1 : ends]), "")
        if category and _TOOL.issuperset(set(words[1:at]) - _ASKING - _USED):
            return _technology((category,), words[ends:])
    if words[0] in ("which", "what"):
        at = next((at for at, word in enumerate(words) if at and word in _VERB), len(words))
        called, rest = " ".join(words[1:at]), words[at:]
        if not called and rest[:1] in (["is"], ["are"]):  # `what is the database`
            named = " ".join(word for word in rest[1:] if word not in FUNCTION_WORDS)
            return _technology((named,), ()) if named in _SPEAKING and "the" in rest else None
        if rest[:1] in (["can"], ["could"]) and _USERS.isdisjoint(rest[1:2]):  # `which cache can use a lock`
            return None
        one = singular(called)
        if one in CALLED and one != "queue" and not _CHOSEN.isdisjoint(rest):
            called = one  # `which brokers are supported`; queues have names of their own
        if CALLED.get(called) == LOGIN and not _SIGNING.isdisjoint(rest):
            return _technology((called,), ())
        if called in CALLED and (not rest or not _USED.isdisjoint(rest) or rest in (["is", "it"], ["is", "this"])):
            return _technology((called,), rest)
        return None
    if words[0] in ("does", "do", "is", "are") and not _USED.isdisjoint(words):
        from rag_assets.answer.plans.technologies import technologies_called  # start-up budget: few questions name one

        wanted = [word for word in words[1:] if word not in _ASKING | _USED]
        if " ".join(wanted) in CALLED or technologies_called(wanted):
            return EverydayQuestion(Everyday.TECHNOLOGY, tuple(wanted))
    if words[0] in ("does", "do", "is", "are", "can") and words[-2:-1] and words[-2] in _TOWARDS:
        from rag_assets.answer.plans.technologies import is_server  # start-up budget: as above

        if is_server(words[-1]):
            return EverydayQuestion(Everyday.TECHNOLOGY, tuple(words[-1:]), is_beside=True)
    return None


def _technology(called: tuple[str, ...], rest: Sequence[str]) -> EverydayQuestion:
    within = tuple(one for one in rest if one not in _ASKING | _USED | _OF_TESTS)
    return EverydayQuestion(Everyday.TECHNOLOGY, called, within)
