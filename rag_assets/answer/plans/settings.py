"""The configuration plan: which settings a question means, and where each has its default, is set and is read.

A setting is a property of what is called options, settings or constants, or is itself called a default, a limit, a
timeout; of Go, Python and TypeScript also a constant outside of types. Which of them is meant is decided by their
names: words that mean about the same count in part.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, pairwise, takewhile
from posixpath import commonpath
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from rag_assets.answer.graph_facts import Facts, GraphFact, GraphFacts, facts_at, named_nodes, points_at
from rag_assets.answer.passage_ranking import name_scores
from rag_assets.answer.passages import CONFIGURATION, PROSE, indent_of
from rag_assets.answer.plans.code_lines import (
    MIGRATION,
    MOST_LISTED,
    code_of,
    facts_naming,
    lines_of,
    list_heading,
    points_naming,
    points_with,
    product_of,
)
from rag_assets.answer.plans.schedules import all_scheduled
from rag_assets.answer.plans.services import defaults_declared
from rag_assets.answer.question_analysis import QueryTerm, name_roots, root, roots_of
from rag_assets.answer.question_kinds import asks_default, asks_when_run, is_subject
from rag_assets.contracts.graph import NodeType, key_kind
from rag_assets.graph.csr_graph import KINDS, Graph, ResultReader
from rag_assets.graph.declared_types import bases_of, of_kind
from rag_assets.identifiers import identifier_words
from rag_assets.languages.command_line import DEFAULT_WORDS, defaults_given
from rag_assets.languages.configuration_keys import configuration_keys
from rag_assets.models.static_code.embedder import StaticEmbedder
from rag_assets.search.index import LabelIndex
from rag_assets.search.line_references import sections_of
from rag_assets.search.ranking.penalties import has_shown_texts, non_product_code

_OWNER = re.compile(r"(?:Options?|Settings?|Config(?:uration)?s?|Constants?|Defaults?|Policy)(?:`\d+)?$", re.IGNORECASE)
_OPTIONS = re.compile(r"(?:Options?|Settings?|Config(?:uration)?s?)(?:`\d+)?$", re.IGNORECASE)
"""Of settings of one name these tell: a constant may be what the setting is called elsewhere."""
_CONTRACT = re.compile(r"I[A-Z][a-z]")
_NAME = re.compile(
    r"^_?(?:default|max|min)|(?:timeout|interval|limit|threshold|ttl|retries|expiry|expiration|lifespan|lifetime|duration|retention|(?:delete|expire|prune|purge|remove)_?after)"
    r"(?:s|(?:in)?_?(?:ms|milli(?:second)?s|seconds|minutes|hours|days))?$",
    re.IGNORECASE,
)
_OF_ONE = re.compile(r"(?:Dto|Event|Response|Result|State|Stat(?:istic)?s|ViewModel)(?:`\d+)?$", re.IGNORECASE)
"""What tells of one thing, or of what happened, has amounts and no settings."""
_CONSTANT_AMOUNT = re.compile(r"\b(?:const|readonly|final)\b[^=]*=\s*\d[\d_.]*[a-zA-Z]{0,2}\s*;?$")
"""A constant is set once for all, whatever its type and itself are called: `WindowCount = 10`."""
_KEPT = re.compile(r"(?:\w+ )*?private\b[^=]*$")
"""A field without a value of its own keeps what is set elsewhere."""
_FLUENT = re.compile(r"\(this (?P<owner>[A-Z]\w*)(?:<[^()]*?>)? (?P<given>\w+)[,)]")
"""The head of a method that sets up what it is called on: `Limit(this Press press, int limit)`."""
_SHOWN = re.compile(
    r"(?!.*\b(?:const|static|readonly)\b)(?:.*\b(?:byte|double|float|int|long|uint) \w+ = -?\d[\d_.]*[a-zA-Z]?$"
    r"|public (?:double|float|int) \w+ \{ get; set; \}$)"
)
_OF_GAMES = re.compile(
    r"\b(?:MonoBehaviour|NetworkBehaviour|ScriptableObject|Control|Node|Resource|(?:Area|Camera|\w+Body|Node)[23]D)\b"
)
"""An amount of what the editors of Unity and Godot show, who sets it there."""
_IS_CONSTANT = re.compile(r"(?:=>?|\breturn\b|\bDefaultValue\()\s*((?:[A-Z]\w*\.)*[A-Z]\w*)\s*[;,)\]]*\s*$")
_GIVEN_CONSTANT = re.compile(r"[(,]\s*((?:[A-Z]\w*\.)+[A-Z]\w*|[A-Z][A-Z\d]*_[A-Z\d_]+)\s*[,)]")
_DEFAULT_NAME = re.compile(r"_?default", re.IGNORECASE)
_ASKING = re.compile(r"(?:Command|Input|Query|Request)(?:Dto|Model)?(?:`\d+)?$", re.IGNORECASE)
"""Who asks for something gives amounts each time; those with a default are settings."""
_OF_MANNER = tuple(
    (re.compile(manner, re.IGNORECASE), re.compile(names))
    for manner, names in (
        (
            r"\bhow (?:long|often|late|old|fast|soon)\b|\bwhen\b",
            "after|age|days|delay|duration|expir(?:ation|es|y)|frequency|hours|interval|lifespan|lifetime|minutes|period"
            "|retention|seconds|threshold|timeout|ttl|wait",
        ),
        (r"^(?!\W*where\b).*\b(?:kept|stored|retained)\b", "expir(?:ation|es|y)|lifespan|lifetime|retention|ttl"),
        (r"\bhow (?:many|much|big|large)\b", "attempts|count|length|limit|max|maximum|min|minimum|retries|size"),
    )
)
"""The words of the names of settings that answer a question of this manner, which has no such word itself."""
_ASKS_KEY = re.compile(
    r"^(?!\W*why\b).*\b(?:change|configur\w+|defaults?|how (?:big|large|long|many|much|often)|intervals?|limits?|set"
    r"|settings?|time-?outs?)\b",
    re.IGNORECASE | re.DOTALL,
)
"""Who asks why, or which policies exist, wants no key of a file."""
_AMOUNT = re.compile(r"\bhow (?:big|fast|large|late|long|many|much|often|old|soon)\b", re.IGNORECASE)
_COUNTED = re.compile(r"\b(?:how many|number of) (?:\w+ )??(\w+s)\b", re.IGNORECASE)
"""What there are so many of: what is called by it is meant before what else the question says."""
_AMOUNT_NAMED = re.compile(
    r"\b(?:time-?out|interval|limit|threshold|ttl|expiry|lifespan|lifetime|duration|retention|length|size|delay|period)s?\b"
    r"|\bports?\b.*\bdefault|\bdefault ports?\b"
    r"|\b(?:highest|largest|lowest|max(?:imum)?|min(?:imum)?|smallest) number of\b",
    re.IGNORECASE,
)
_OF_NO_AMOUNT = re.compile(r"\b(?:[Bb]ool(?:ean)?|Action|Func)\b")
"""The types of what is no amount: yes or no, and what is called."""
_OF_ANOTHER = (
    (
        re.compile(
            r"^(?!.*(?:\bhow (?:late|long|often|old|soon)|\bintervals?|\b(?:milli)?seconds|\bminutes|\bhours|\bdays)\b)"
            r".*\bhow many\b",
            re.IGNORECASE | re.DOTALL,
        ),
        re.compile(r"\b(?:TimeSpan|[Dd]uration|timedelta|DateTime\w*)\b"),
    ),
    (
        re.compile(r"^(?!.*\bhow (?:many|often)\b).*\bhow (?:late|long|old|soon)\b", re.IGNORECASE | re.DOTALL),
        re.compile(r"\b(?:int|long|uint|short|byte)\?? \w*(?:Count|Size|Attempts|Retries)\b"),
    ),
)
"""What is no amount of what a question asks for: a time where it counts, a number where it is for a time."""
_OF_ITS_OWN = re.compile(r"(?!.*default)(?:.*\bconst\b|private\b.*=\s*-?\d)", re.IGNORECASE)
"""A constant that is not called a default is nothing that may be another."""
_YES_OR_NO = re.compile(r"\b[Bb]ool(?:ean)?\b|(?:^|=)\s*[\"']?(?:[Tt]rue|[Ff]alse)\W*$")
_DEFAULT_THING = re.compile(
    r"\bdefault (?!(?:of|for|value)\b)(?P<thing>[\w -]*?\w)(?: (?:for|if|in|of|on|used|when|with)\b|\W*$)"
    r"|^\W*(?:which|what) (?P<used>[\w -]+?) (?:is|are|does|do|gets?|will)\b",
    re.IGNORECASE,
)
_OF_ANY_NAME = roots_of("default defaults id name type value")
_OF_TEXT = re.compile(r"^[^=(]*\b(?:[Ss]tring|str)\b")
"""That of what is one only where its name says so: `Timeout`."""
_TEXT = re.compile(r"=\s*[\"'][^\"'\d]*[\"']\s*;?$")
"""The value of what is none either."""
_OF_MANNER_BONUS = 1.0
"""About what a quarter of the question's words in the name gives."""
_LOOKED_AT = 40
_FEWEST_SAID = 0.2
"""Of a question's weight, by the name of a setting. Of 40 questions of fifteen repositories that ask for an amount or a
setting that is there 19 have one that says so much, of 21 for what is not there none."""
_FEWEST_NAMED = 0.35
"""By the name alone, where neither an amount nor the default is asked for: what is like a few words of a question is
then mostly another's."""
_BY_DEFAULT = re.compile(r"\bby default\b", re.IGNORECASE)
_THE_DEFAULT = re.compile(r"(?<!\bby )\bdefaults?\b", re.IGNORECASE)
_DEFAULT_ROOT = root("default")
_SAYS_LIMIT = re.compile(
    r"\b(?:at (?:least|most)|bounds?|caps?|highest|largest|limit\w*|low(?:er|est)|m(?:ax|in)\w*|upper)\b", re.I
)
_LIMIT = re.compile(r"_?(?:[Mm](?:ax|in)(?:imum)?(?=[A-Z_])|M(?:AX|IN)(?:IMUM)?_)")
_MOSTLY_SAID = 0.6  # by the name: then it is told before what was found
_NEARLY_AS_GOOD = 0.75  # of the best score
_MOST_SETTINGS, _MOST_EACH = 3, 2
_READING, _MOST_READING = "get value default", 20
"""The words of code that reads a setting with its default, and how many sections with them and a name are read where
too many name it."""
_MOST_SECTIONS = 150
"""That name a setting: of a name that more have, others have their own, and to read all takes a quarter of a second."""
_VALUE = (
    r"^(?!.*\bis \{{).*(?<!\w){0}[\"']?\s*(?:\{{[^{{}}]*\}}\s*)?(?:\??:\s*[\w<>?\[\]., |]+?\s*|As\s+[\w.]+\s*)?"
    r"(?::?=(?![=>])|:(?!:)|=>(?=\s*(?:-?\d|[\"']|TimeSpan\.|true\b|false\b)))"
    r"(?!\s*[\w.]+\(\s*{0}\s*[,)]|\s*(?:\w+\.)*{0}\W*$|\s*[\"'](?i:{0})[\"']|\s*[\w.]*\bParse\w*\((?![\"']))\s*"
    r"(?=[\d\"'-]|[A-Z]\w*\.[A-Z]\w*\s*[,;]?\s*$"
    r"|[Tt]rue|[Ff]alse|(?:new\s+)?[\w.]+(?:<[\w.?]+>)?\(|(?:\w+\.)*_?(?:[Dd]efault|DEFAULT|[A-Z]+_)\w*)"
)
"""Where code gives a value to a property, a field, a parameter or a key: a literal, what a call makes, a constant; what
is made of itself (`ttl = parse(ttl)`), is its own name or is parsed of another is none."""
_SET_DEFAULT = r"\b[sS]et_?[dD]efault\(\s*[\"'](?:[\w-]+[.:])*{0}[\"']\s*,"
"""Where code gives a key of a configuration its default, whatever declares it."""
_READ_WITH_DEFAULT = (
    r"\b(?i:get|read|find|fetch)\w*(?:<[\w.?]+>)?\(\s*[\"'](?:[\w-]+[.:])*(?i:{2}{0})[\"']\s*,\s*"
    r"(?=[\d\"'-]|[Tt]rue\b|[Ff]alse\b|\(?(?:\w+\.)+[A-Z]\w*)"
)
"""Where a helper of the product reads a setting and says what it is where nothing sets it: `GetInt("Port", 80)`.
Its key may say its owner too: `LogOptions.Level` is `LogLevel`."""
_ROW = (
    r"\(\s*N?[\"']{0}[\"']\s*,\s*N?(?=[\d\"'])"
    r"|[\"']{0}[\"']\)?\s*[,{{].*?\b[vV]alue[\"']?\s*[:=]\s*(?=[\d\"'])"
)
"""A row of a table of settings, with its key and its value."""
_GIVEN = re.compile(
    r"(?<=[(,])\s*(?:[^(),:=]*[\s*])?(?P<name>\w+)\s*(?::[^(),=]*)?=\s*"
    r"(?:-?\d|[Tt]rue\b|[Ff]alse\b|[\"'](?![\"'])|[A-Z]\w*\.\w)[^,)]*"
)
"""A parameter of a type or a constructor with its default."""
_MAKING = frozenset({"__init__", "constructor"})
_CONFIGURING = "options TimeSpan Configure"
_MOST_CONFIGURING = 200  # sections with these words
_ASSIGNED = re.compile(
    r"[ \t]*(?:(?P<to>[a-z_]\w*)\.)?(?P<name>(?:[A-Z]\w*\.)*[A-Z]\w*)[ \t]*=[ \t]*"
    r"(?P<value>-?\d|\"[^\"]*\"|true\b|false\b|(?:new[ ]+)?[A-Z][\w.]*(?:<[\w.?]+>)?\(|(?:\w+\.)*[A-Z]\w*;)"
)
_MADE = re.compile(
    r"\bnew\s+(?P<type>\w+(?:Options|Settings))(?:\(\))?\s*\{?\s*$"
    r"|\b(?P<declared>\w+(?:Options|Settings))\??\s+\w+\s*(?:\{\s*get;[^{}]*\}\s*)?=\s*new\(\)\s*\{?\s*$"
)
_LAMBDA = re.compile(r"(?<!\w)([a-z_]\w*)\)?\s*=>")
_CALL = re.compile(r"(\w+)(?:<(?:[^()]*?(\w+Options)>|[^()]*>))?\(")
_CONFIGURES = re.compile(
    r"(?:^|/)(?:appsettings[\w.-]*\.json|(?:application|bootstrap)[\w.-]*\.(?:properties|ya?ml)|\.env[\w.-]*"
    r"|config(?:uration)?[\w.-]*\.(?:ini|json|toml|ya?ml)|settings[\w.-]*\.(?:ini|json|toml|ya?ml)"
    r"|values[\w.-]*\.ya?ml)$",
    re.IGNORECASE,
)
_FLAGS = re.compile(r"(?:^|[:_-])(?:feature[-_]?(?:flags?|management|toggles?)|features|flags)$", re.IGNORECASE)
_OF_CHARTS, _OF_VALUES = roots_of("chart helm"), roots_of("values")
"""The file of a chart of Helm that says what holds where nobody sets it."""
_OF_ANY_FILE = roots_of("app appsettings application bootstrap config configuration env settings")
_SCALAR = re.compile(r"(?<=[:=])\s*[^\s{\[|>].*")
"""The value of a key, and nothing that more keys are below."""
_COMMENT = re.compile(r"\s*(?://|/?\*|#|\[[A-Z]|@[A-Z])")
_SAYS_DEFAULT = re.compile(
    r"\bdefaults?(?:\s*[:=]|\s+(?:is|to|value|true|false|null|none|\d+)\b)|\bby default\b|\bthe default\)"
    r"|\bDefaultValue\(",
    re.IGNORECASE,
)
_OF_DEFAULTS = re.compile(r"(?:^|[/_.-])defaults?[/_.-]", re.IGNORECASE)
"""A file or a folder that is called so: `lib/defaults/index.js`, `config/defaults.py`."""
_FILES = frozenset({"json", "yaml", "toml", "ini", "xml", "xaml"})
_IDENTIFIER = re.compile(r"(?<!\w)[A-Za-z_]\w{2,}")
_CONSTANT = re.compile(r"\b(?:const|readonly|final|Final|let)\b")
_USED = "Where its values come from"
_RUN, _DEFAULT, _SET_IN, _DECLARED, _READ_IN = _GROUPS = ("How often", "Default", "Set in", "Setting", "Read in")
_OFTEN = re.compile(r"\bhow (?:often|frequently)\b|\bintervals?\b|\bschedules?\b", re.IGNORECASE)
_KEY = r"^\s*(?:-\s*)?[\"'<]?(?:[\w-][\w.:-]*[.:_])?{0}(?:[\"']?\s*[:=]\s*[^\s{{\[]|>)|^\s*<[\w:]+ x:Key=\"{0}\">"
_KEY += r"|^\s*<(?:add|setting)\b[^>]*\b(?:key|name)=\"{0}\""  # of .NET Framework
_READ_BARE = r"^(?!\s*(?:{0},?|\"{0}\",|'{0}',)\s*$).*(?<!\w){1}{0}(?!\w)(?!\s*(?::[^=\n]*)?(?:[-+*/|&?]|:)?=(?![=>]))"
"""Of a constant, which stands alone; alone on a line it is imported, and in quotes it is one of a list, as of what a
module exports."""
_READ = r"(?<=[\w)\]]\.){1}{0}(?!\w)(?!\s*(?:[-+*/|&?]?=(?![=>])|\())"


@dataclass(frozen=True, slots=True)
class Setting:
    """`said` is the share of the question's weight that its name says; `others` are the types that declare something
    else of this name. Outside of types it `is_of_module`; what a library declares `is_assigned` on its line,
    without an owner where code gives an option, or a key, its default."""

    owner: str
    name: str
    path: str
    line: int
    said: float
    others: tuple[str, ...] = ()
    is_of_module: bool = False
    is_assigned: bool = False
    is_run: bool = False

    @property
    def group(self) -> str:
        if self.is_run:
            return _RUN
        if self.is_assigned and self.owner:
            return _SET_IN
        is_called_default = self.is_of_module and self.name.lower().startswith("default")
        return _DEFAULT if self.is_assigned or is_called_default else _DECLARED


@dataclass(frozen=True, slots=True)
class _Known:
    """A setting as it is declared at a node of the graph, or assigned at a place; of a list in a file what its entry
    says beside it."""

    owner: str
    name: str
    declared: str
    words: frozenset[str]
    node: int
    place: tuple[str, int] | None = None
    is_run: bool = False
    beside: frozenset[str] | None = None

    def is_called(self, names: Collection[str]) -> bool:
        return self.name in names or f"{self.owner}.{self.name}" in names


def settings_meant(
    index: LabelIndex,
    graph: Graph,
    question: str,
    words: Sequence[QueryTerm],
    model: StaticEmbedder | None,
    owners: Container[str] = (),
    called: Collection[str] = (),
) -> list[Setting]:
    """The settings of the product, of some `owners` where there are any, that a question names in its own words, the
    nearest first; of those that are `called` so, `Options.Limit` or `Limit`, all."""
    said_roots = roots_of(question)
    is_of_keys = _ASKS_KEY.search(question) is not None
    configured = _of_environment(_configured(index, graph), said_roots) if is_of_keys else []
    when = asks_when_run(question)
    known = _run(index) if when or _OFTEN.search(question) else []
    known += [] if when else [*_settings(graph), *_assigned(index, graph), *_given(index, graph), *configured]
    known = _properties_of(graph, owners) if owners else known
    if called:
        known = [one for one in known if one.is_called(called)]
        known = known or [one for one in _properties_of(graph) if one.is_called(called)]
    if not known or not words:
        return []
    if _BY_DEFAULT.search(question):  # says how, and not of what
        words = [word for word in words if word.root != _DEFAULT_ROOT] or words
    asks = question.lower()
    alone = [f"{one.name} {_written_as_one(one.name, asks)}".rstrip() if one.is_run else one.name for one in known]
    owned = [
        f"{name} Interval" if one.is_run else f"{one.owner} {name}" for one, name in zip(known, alone, strict=True)
    ]
    score, said = name_scores(question, words, owned, model)
    named = words
    if _THE_DEFAULT.search(question):  # `DefaultName` is no default of a colour, and `Level.Default` is that of a level
        named = [word for word in words if word.root != _DEFAULT_ROOT] or words
        alone = [one.name if one.words != {"default"} else f"{one.owner} {one.name}" for one in known]
    _, by_name = name_scores(question, named, alone, model)
    asked = [of for manner, of in _OF_MANNER if manner.search(question)]
    fits = np.array([sum(any(map(of.fullmatch, one.words)) for of in asked) for one in known], np.float32)
    counted = _COUNTED.search(question)
    noun = root(counted[1].lower()) if counted is not None else ""
    score = score + _OF_MANNER_BONUS * np.array([noun in map(root, one.words) for one in known], np.float32)
    asked_of = {word.root for word in words if is_subject(word)} - {_DEFAULT_ROOT}
    wholly = [len(asked_of) > 1 and {*name_roots(one.name)} - {_DEFAULT_ROOT} == asked_of for one in known]
    is_enough = np.array([not one.is_run for one in known]) & (fits > 0)  # what is run has a name of its own
    score, by_name = score + _OF_MANNER_BONUS * fits, np.maximum(by_name, _FEWEST_SAID / 2 * is_enough)
    is_amount = _AMOUNT.search(question) is not None
    of_amount = is_amount or _AMOUNT_NAMED.search(question) is not None

    def is_no_amount(one: _Known, fit: float) -> bool:
        is_named = any(root(word.lower()) in said_roots for word in identifier_words(one.name)[-1:])
        is_text = of_amount and not is_named and _TEXT.search(one.declared) is not None
        is_text = is_text or (is_amount and not fit and _OF_TEXT.search(one.declared) is not None)
        is_text = is_text or any(asks.search(question) and of.search(one.declared) for asks, of in _OF_ANOTHER)
        if asks_default(question) and not of_amount:
            is_text = is_text or _OF_ITS_OWN.match(one.declared) is not None
            is_text = is_text or (_YES_OR_NO.search(one.declared) is not None and not is_default_of(question, one))
        return is_text or (is_amount and _OF_NO_AMOUNT.search(one.declared) is not None)

    least = _FEWEST_SAID / 2 if of_amount or _THE_DEFAULT.search(question) else _FEWEST_NAMED
    likely = [
        at
        for at in np.argsort(-score, kind="stable")[:_LOOKED_AT].tolist()
        if said[at] >= _FEWEST_SAID and by_name[at] >= least and not is_no_amount(known[at], fits[at])
    ]
    likely = [at for at in likely if wholly[at]] or likely  # the owners of others say words of it too
    is_default = _THE_DEFAULT.search(question) is not None or asks_default(question)
    if is_default and _SAYS_LIMIT.search(question) is None:  # `MaxPort` is no default port
        likely = [at for at in likely if _LIMIT.match(known[at].name) is None] or likely
    declared = [at for at in likely if known[at].place is None]
    reader = ResultReader(graph).places(np.array([known[at].node for at in declared], np.int64))
    places = {at: (where[0].path, where[0].line_start) for at, where in zip(declared, reader, strict=True) if where}
    found: dict[str, Setting] = {}
    entries = _entries_meant([known[at] for at in likely], said_roots)
    for at in likely:
        if score[at] < _NEARLY_AS_GOOD * score[likely[0]]:
            break
        one, place = known[at], known[at].place or places.get(at)
        if place is None or non_product_code(place[0]) is not None or (one.beside is not None and place not in entries):
            continue
        if one.place is not None:
            name = f"{one.owner}.{one.name}".lstrip(".")
            found[f"{name} {place[0]} {place[1] if one.is_run else ''}"] = Setting(
                one.owner, one.name, place[0], place[1], float(said[at]), is_assigned=True, is_run=one.is_run
            )
            continue
        of_name = one.name.replace("_", "").casefold()
        before = found.get(of_name)
        if before is None or _told_by(one.owner) > _told_by(before.owner):
            found[of_name] = _declared(graph, one, place, float(said[at]))
    return [_beside(known, one) for one in [*found.values()][:_MOST_SETTINGS]]


def _written_as_one(name: str, question: str) -> str:
    """The two words of a name that a question writes as one: `cleanup` of `clean_up_db`."""
    words = identifier_words(name)
    return " ".join(both for both in map("".join, pairwise(words)) if both.lower() in question)


def _entries_meant(known: Iterable[_Known], said: frozenset[str]) -> set[tuple[str, int]]:
    """The places of keys in lists whose entries alone say the most of a question: another entry has another value."""
    of_key: dict[tuple[str, str], list[tuple[int, tuple[str, int]]]] = {}
    for one in known:
        if one.beside is not None and one.place is not None:
            shared = len(said & (one.beside - roots_of(one.name)))
            of_key.setdefault((f"{one.owner}:{one.name}", one.place[0]), []).append((shared, one.place))
    best = [[place for shared, place in entries if shared == max(entries)[0] > 0] for entries in of_key.values()]
    return {places[0] for places in best if len(places) == 1}


def _declared(graph: Graph, one: _Known, place: tuple[str, int], said: float) -> Setting:
    """A setting with a node of its own."""
    key = graph.keys[one.node]
    around = f"{key.partition('(')[0].rpartition('.')[0]}|{NodeType.TYPE.value}"
    is_of_module = key_kind(key) is not NodeType.TYPE and graph.find(around) is None
    return Setting(one.owner, one.name, *place, said, is_of_module=is_of_module)


def _beside(known: Sequence[_Known], setting: Setting) -> Setting:
    """With the other types that declare something of its name."""
    return replace(setting, others=tuple({one.owner for one in known if one.name == setting.name} - {setting.owner}))


def settings_used(
    index: LabelIndex, graph: Graph, question: str, code: Sequence[str], shown: tuple[str, int, int]
) -> Facts:
    """Where the settings and constants have their values that some pieces of code name and a question asks for, by a
    word of its own or as what its manner wants, and what the first piece does nothing but set; those apart that the
    `shown` lines (path, first, last) declare themselves."""
    named = frozenset(name for piece in code for name in _IDENTIFIER.findall(piece))
    set_up = _set_fluently(graph, code[0])
    known = [*_constants(graph, named), *_settings(graph), *set_up]
    at_node = {one.node: one for one in known if one.name in named}
    said, manners = roots_of(question), [of for manner, of in _OF_MANNER if manner.search(question)]
    score = {
        node: len(said & {*name_roots(one.name)}) + any(any(map(of.fullmatch, one.words)) for of in manners)
        for node, one in at_node.items()
    }
    score |= {one.node: len(said) for one in set_up}  # all that the code does is to set these
    least = max(1, max(score.values(), default=0) / 2)
    wanted = sorted((node for node, points in score.items() if points >= least), key=lambda node: -score[node])
    places = ResultReader(graph).places(np.array(wanted, np.int64))
    found: dict[str, list[Setting]] = {}
    for node, where in zip(wanted, places, strict=True):
        if where and non_product_code(where[0].path) is None:
            place = where[0].path, where[0].line_start
            found.setdefault(at_node[node].name, []).append(_declared(graph, at_node[node], place, 0.0))
    settings = []
    for of_name in found.values():
        near = [one for one in of_name if one.path == shown[0]] or [one for one in of_name if one.owner in named]
        one = next(iter(near or (of_name if len(of_name) == 1 else ())), None)
        if one is not None and not (one.path == shown[0] and shown[1] <= one.line <= shown[2]):
            settings.append(_beside([*at_node.values()], one))
    if not settings:
        return GraphFacts(), {}
    _, at = setting_facts(index, settings[:_MOST_SETTINGS])
    valued = {
        replace(fact, group=_USED): point
        for fact, point in at.items()
        if fact.group in (_DEFAULT, _SET_IN) and not (fact.path == shown[0] and shown[1] <= fact.line <= shown[2])
    }
    return GraphFacts(tuple(valued), len(valued)), valued


def _set_fluently(graph: Graph, code: str) -> list[_Known]:
    """The properties that a method sets on what it is called on."""
    head = _FLUENT.search(code)
    if head is None:
        return []
    names = frozenset(re.findall(rf"\b{head['given']}\.(\w+) = ", code))
    return [one for one in _properties_of(graph, {head["owner"]}) if one.name in names]


def settings_about(index: LabelIndex, graph: Graph, subject: str) -> Facts:
    """The settings of the product, of types or modules of settings, whose names say all words of a subject, where they
    are declared, with the points that show them; none where they are so few that each is told with its readers."""
    wanted = roots_of(subject)
    known = [
        one
        for one in _settings(graph)
        if _OPTIONS.search(one.owner) and wanted and wanted <= {*name_roots(f"{one.owner} {one.name}")}
    ]
    places = ResultReader(graph).places(np.array([one.node for one in known], np.int64))
    found = {
        GraphFact(f"{one.owner}.{one.name}", "", "", where[0].path, where[0].line_start, True)
        for one, where in zip(known, places, strict=True)
        if where and non_product_code(where[0].path) is None
    }
    if len(found) <= _MOST_SETTINGS:
        return GraphFacts(), {}
    at = facts_at(sorted(found, key=lambda one: (one.path, one.line)), index)
    facts = tuple(at)[:MOST_LISTED]
    return GraphFacts(facts, len(at), list_heading("setting", len(at))), {fact: at[fact] for fact in facts}


def is_default_of(question: str, setting: _Known | Setting) -> bool:
    """Whether a setting is called as that whose default a question asks for, by the last word: `DB_PORT` for a port."""
    thing = _DEFAULT_THING.search(question)
    said = (thing["thing"] or thing["used"]).split()[-1] if thing is not None else ""
    named = name_roots(f"{setting.owner} {setting.name}")
    told = [word for word in named if word not in _OF_ANY_NAME]
    return not said or root(said.lower()) in (*told[-1:], *named[-1:])


def _told_by(owner: str) -> tuple[bool, bool]:
    """How much a type tells of a setting that others have too: a contract, as front ends have of what a server keeps,
    has no values."""
    return _OPTIONS.search(owner) is not None, _CONTRACT.match(owner) is None


_settings_of: WeakKeyDictionary[Graph, list[_Known]] = WeakKeyDictionary()
_assigned_of: WeakKeyDictionary[LabelIndex, list[_Known]] = WeakKeyDictionary()
_given_of: WeakKeyDictionary[LabelIndex, list[_Known]] = WeakKeyDictionary()
_keys_of: WeakKeyDictionary[LabelIndex, list[_Known]] = WeakKeyDictionary()
"""The next question asks the same graph, and a large one has 10,000 properties."""


def _settings(graph: Graph) -> list[_Known]:
    """All settings that the graph has. Of a parameter with a default the node is the type, or the constructor, that has
    it."""
    if graph not in _settings_of:
        found: dict[tuple[int, str, str], str] = {}
        kinds = {KINDS.index(kind.value): kind for kind in (NodeType.PROPERTY, NodeType.TYPE, NodeType.METHOD)}
        for node in np.flatnonzero(np.isin(graph.kinds, [*kinds])).tolist():
            kind, called = kinds[graph.kinds[node]], graph.names[node]
            if kind is NodeType.METHOD and not (called in _MAKING or f".{called}.{called}(" in graph.keys[node]):
                continue
            if graph.language(node) == "resx" or (kind is NodeType.TYPE and graph.language(node) == "python"):
                continue  # a text for people; bases
            owner, name = _owner_and_name(graph, node)
            owner = called.rpartition(".")[2].partition("`")[0] if kind is NodeType.TYPE else owner
            if kind is NodeType.PROPERTY:
                declared = graph.signature(node)
                is_given = not ("=" in declared or _DEFAULT_NAME.match(name)) and _ASKING.search(owner) is not None
                if _KEPT.match(declared) and graph.language(node) == "csharp":
                    continue
                is_one = _OWNER.search(owner) or _CONSTANT_AMOUNT.search(declared) or _is_shown(graph, node, declared)
                if is_one or (_NAME.search(name) and not (is_given or _OF_ONE.search(owner))):
                    found[node, owner, name] = declared
            elif "=" in (signature := graph.signature(node)):
                for given in _GIVEN.finditer(signature):
                    found[node, owner, given["name"]] = given[0]
        _settings_of[graph] = [
            _Known(owner, name, declared, _words_of(name), node) for (node, owner, name), declared in found.items()
        ]
    return _settings_of[graph]


def _is_shown(graph: Graph, node: int, declared: str) -> bool:
    """Whether a member is an amount that the editor of an engine shows."""
    if not _SHOWN.match(declared):
        return False
    owner = graph.find(f"{graph.keys[node].rpartition('.')[0]}|{NodeType.TYPE.value}")
    return owner is not None and _OF_GAMES.search(bases_of(graph, owner)) is not None


def _owner_and_name(graph: Graph, node: int) -> tuple[str, str]:
    """The type of a member, without its type parameters, and what the member is called."""
    owner, _, name = graph.keys[node].rpartition("|")[0].partition("(")[0].rpartition(":")[2].rpartition(".")
    return owner.rpartition(".")[2].partition("`")[0], name


def _properties_of(graph: Graph, owners: Container[str] = ()) -> list[_Known]:
    """All properties, of some types or of all, however they are called."""
    named = ((node, *_owner_and_name(graph, node)) for node in of_kind(graph, NodeType.PROPERTY))
    return [
        _Known(owner, name, graph.signature(node), _words_of(name), node)
        for node, owner, name in named
        if not owners or owner in owners
    ]


def _constants(graph: Graph, names: Container[str]) -> list[_Known]:
    """What is called so and keeps the value that it is declared with."""
    called = [node for node in of_kind(graph, NodeType.PROPERTY) if graph.names[node].rpartition(".")[2] in names]
    found = [(node, *_owner_and_name(graph, node), graph.signature(node)) for node in called]
    return [
        _Known(owner, name, declared, _words_of(name), node)
        for node, owner, name, declared in found
        if name.isupper() or _CONSTANT.search(declared)
    ]


def _assigned(index: LabelIndex, graph: Graph) -> list[_Known]:
    """The properties of options of libraries that code of the product gives a value: `options.Lockout.MaxTries = 5`
    below `AddIdentity(options =>`."""
    if index not in _assigned_of:
        likely = product_of(points_with(_CONFIGURING, index, _MOST_CONFIGURING), index)
        code = [one for one in likely.values() if one["CodeLanguage"] == "csharp"]
        found = {
            place: _Known(owner, name, value, _words_of(name), -1, place)
            for payload in code
            for place, owner, name, value in _assigned_in(code_of(payload, index), payload)
        }
        declared = set(graph.names)
        _assigned_of[index] = [one for one in found.values() if one.name.rpartition(".")[2] not in declared]
    return _assigned_of[index]


def _given(index: LabelIndex, graph: Graph) -> list[_Known]:
    """The options of the product, and the keys of its configuration, that code gives a default: `SetDefault("port",
    80)`, and the variables of Terraform and Bicep with one; none that is declared as a setting."""
    if index not in _given_of:
        declared = {one.name.replace("_", "").casefold() for one in _settings(graph)}
        found: dict[str, _Known] = {}
        for payload in product_of(points_with(DEFAULT_WORDS, index, _MOST_CONFIGURING), index).values():
            code = code_of(payload, index)
            for key, at in defaults_given(code):
                name = re.sub(r"[-.:]", "_", key)
                last = re.split(r"[.:]", key)[-1].replace("_", "").replace("-", "").casefold()
                place = (payload["Path"], payload["StartLine"] + code.count("\n", 0, at))
                if last not in declared:
                    found.setdefault(key, _Known("", key, code[at:].partition("\n")[0], _words_of(name), -1, place))
        for fact, text in defaults_declared(index):
            of_variable = _Known("", fact.source, text, _words_of(fact.source), -1, (fact.path, fact.line))
            found.setdefault(fact.source, of_variable)
        _given_of[index] = [*found.values()]
    return _given_of[index]


def _run(index: LabelIndex) -> list[_Known]:
    """What code runs by an interval or a schedule."""
    return [
        _Known("", one.name, one.text, frozenset({"interval"}), -1, (one.path, one.line), is_run=True)
        for one in all_scheduled(index)
    ]


def _configured(index: LabelIndex, graph: Graph) -> list[_Known]:
    """The keys of the files that configure an application and that no code declares: `TokenCleanupInterval`."""
    declared = {name.rpartition(".")[2].casefold() for name in graph.names}
    return [one for one in _keys(index) if one.name.casefold() not in declared]


def _keys(index: LabelIndex) -> list[_Known]:
    """All keys of the files that configure an application, with a value."""
    if index not in _keys_of:
        found = []
        paths = [path for path in index.parts.shard().values("Path", index.scope()) if _CONFIGURES.search(path)]
        for path, lines in lines_of(index, sorted(paths)).items():
            text = "\n".join(lines.get(at, "") for at in range(1, max(lines) + 1))
            entries: dict[str, list[dict[str, _Known]]] = {}  # a name again begins the next one of a list
            for key in configuration_keys(text):
                above, _, name = key.name.rpartition(".")
                if value := _SCALAR.search(key.line):
                    place = path, text.count("\n", 0, key.start) + 1
                    of_owner = entries.setdefault(above, [{}])
                    of_owner += [{}] if name in of_owner[-1] else []
                    of_owner[-1][name] = _Known(above.replace(".", ":"), name, value[0], _words_of(name), -1, place)
            for several in entries.values():
                for entry in several:
                    said = roots_of(" ".join(one.declared for one in entry.values())) if len(several) > 1 else None
                    found += [replace(one, beside=said) for one in entry.values()]
        _keys_of[index] = found
    return _keys_of[index]


def flag_facts(index: LabelIndex, said: str) -> Facts:
    """The feature flags below a section of configuration that is called so, of the files for an environment where a
    text says one, with the points that show them."""
    flags = [
        one for one in _keys(index) if _FLAGS.search(one.owner) and one.place and not non_product_code(one.place[0])
    ]
    flags = _of_environment(flags, roots_of(said))
    facts = [GraphFact(one.name, "", "", *one.place, True, is_comment=True) for one in flags if one.place]
    at = facts_at(facts[:MOST_LISTED], index)
    return GraphFacts(tuple(at), len(facts), list_heading("feature flag", len({one.name for one in flags}))), at


def _of_environment(known: Sequence[_Known], said: frozenset[str]) -> list[_Known]:
    """Those alone of the files whose names say what a question does, where some do: `appsettings.Production.json`."""
    wanted = (said - _OF_ANY_FILE) | (_OF_VALUES if said & _OF_CHARTS else frozenset())
    of_file = [one for one in known if one.place and wanted & roots_of(one.place[0].rpartition("/")[2])]
    return of_file or [*known]


def _assigned_in(code: str, payload: Mapping[str, Any]) -> Iterator[tuple[tuple[str, int], str, str, str]]:
    """(place, what the lambda or the type around it is for, name, value) of all that code assigns to the parameter of a
    lambda, to options where it makes them, or within a type of options to what it derives from."""
    symbol = str(payload.get("Symbol", "")).partition("~")[0].partition("(")[0]
    own = next((part for part in reversed(symbol.split(".")) if _OPTIONS.search(part)), "")
    given, made_at = {"": own, "this": own, "base": own} if own else dict[str, str](), -1
    for number, line in enumerate(code.split("\n"), payload["StartLine"]):
        if (made := _MADE.search(line)) is not None:
            given[""], made_at = made["type"] or made["declared"], indent_of(line)
        elif made_at >= 0 and line.lstrip().startswith("}") and indent_of(line) <= made_at:
            given, made_at = {**given, "": own} if own else {to: of for to, of in given.items() if to}, -1
        elif "=>" in line and (one := _LAMBDA.search(line)):
            call = [*_CALL.finditer(line, 0, one.start())][-1:]
            given[one[1]] = next((of[2] or of[1] for of in call), "")
        elif "=" in line and (one := _ASSIGNED.match(line)) and (one["to"] or "") in given:
            value = "bool" if one["value"] in ("true", "false") else f"={one['value']}"
            yield (payload["Path"], number), given[one["to"] or ""], one["name"], value


def _words_of(name: str) -> frozenset[str]:
    words = [word.lower() for word in identifier_words(name)]
    return frozenset((*words, *map("".join, pairwise(words))))  # `TimeOut`, `time_out`


def setting_facts(index: LabelIndex, settings: Sequence[Setting], graph: Graph | None = None) -> Facts:
    """Where each setting has its default, also by a constant of the `graph`, is set and is read, with the points that
    show it. Beside one with a default what has none, and is no option, is what a thing has: its duration."""
    of_setting: list[tuple[Setting, dict[GraphFact, str]]] = []
    found: dict[GraphFact, str] = {}
    shard, scope = index.parts.shard(), index.scope()
    declared = points_at([(setting.path, setting.line) for setting in settings], shard, scope)
    for setting in settings:
        made = {} if setting.is_assigned else _facts_of(setting, index)
        point = declared.get((setting.path, setting.line))
        if point is not None and not any(fact.group == _DEFAULT for fact in made):
            name = f"{setting.owner}.{setting.name}".lstrip(".")
            made[GraphFact(name, "", "", setting.path, setting.line, True, setting.group, setting.is_run)] = point
            if line := 0 if setting.is_assigned else _default_told(index, setting):
                made[GraphFact(name, "", "", setting.path, line, True, _DEFAULT, is_comment=True)] = point
        of_setting.append((setting, made))
    defaults = [any(fact.group == _DEFAULT for fact in made) for _, made in of_setting]
    for (setting, made), has_default in zip(of_setting, defaults, strict=True):
        if has_default or setting.is_assigned or _OWNER.search(setting.owner) or not any(defaults):
            found |= made
    found = _each_line_once(found)
    if graph is not None:
        found |= {one: at for one, at in _constants_behind(index, graph, found).items() if one not in found}
    facts = tuple(sorted(found, key=lambda fact: _GROUPS.index(fact.group)))
    return GraphFacts(facts, len(facts), leads=settings[0].said >= _MOSTLY_SAID), found


def _each_line_once(found: Mapping[GraphFact, str]) -> dict[GraphFact, str]:
    """Without what a line says again of another setting that it names: `LogSizeLimit => options.SizeLimit ?? 1` is the
    default of the first one."""
    of_line: dict[tuple[str, int, str], GraphFact] = {}
    for fact in sorted(found, key=lambda one: not one.source.endswith(f".{one.target}")):
        of_line.setdefault((fact.path, fact.line, fact.group), fact)
    kept = set(of_line.values())
    return {fact: at for fact, at in found.items() if fact in kept}


def _constants_behind(index: LabelIndex, graph: Graph, found: Iterable[GraphFact]) -> dict[GraphFact, str]:
    """What declares the constants that settings are by default, or are set to: of `Timeout = Defaults.Wait` the value
    of `Wait`."""
    return _declared_behind(index, graph, [one for one in found if one.group in (_DEFAULT, _SET_IN)], _IS_CONSTANT)


def constants_given(index: LabelIndex, graph: Graph, found: Iterable[GraphFact]) -> Facts:
    """What declares the constants that the lines of some facts give a call or an attribute: of
    `[StringLength(Limits.Name)]` the value of `Name`."""
    at = _declared_behind(index, graph, list(found), _GIVEN_CONSTANT)
    return GraphFacts(tuple(at), len(at)), at


def _declared_behind(
    index: LabelIndex, graph: Graph, found: Sequence[GraphFact], written: re.Pattern[str]
) -> dict[GraphFact, str]:
    """The declarations of the constants that the lines of some facts have: of a constant without its type that of the
    fact, or the only one of its file."""
    lines = lines_of(index, {fact.path for fact in found})
    made: list[GraphFact] = []
    for fact in found:
        value = written.search(lines.get(fact.path, {}).get(fact.line, ""))
        if value is None:
            continue
        owner = fact.source.partition(".")[0]
        for name in dict.fromkeys((value[1], f"{owner}.{value[1]}")):
            keys = named_nodes(graph, (name,))
            known = [node for key in keys if (node := graph.find(key)) is not None and "=" in graph.signature(node)]
            if "." not in name:
                known = [node for node in known if graph.places(node)[0].path == fact.path]
            at = graph.places(known[0])[:1] if len(known) == 1 else ()
            if at and non_product_code(at[0].path) is None:
                owner, name = _owner_and_name(graph, known[0])
                group = fact.group and (_SET_IN if fact.group == _SET_IN else _DEFAULT)
                made.append(GraphFact(f"{owner}.{name}", "sets", name, at[0].path, at[0].line_start, True, group))
                break
    told = {(fact.path, fact.line) for fact in found}
    return facts_at([one for one in dict.fromkeys(made) if (one.path, one.line) not in told], index)


def _default_told(index: LabelIndex, setting: Setting) -> int:
    """The line of the comment at a setting that says its default; 0 for none, and of a parameter with a default."""
    lines = lines_of(index, [setting.path]).get(setting.path, {})
    first = setting.line
    while _COMMENT.match(lines.get(first - 1, "")):
        first -= 1
    comment = list(takewhile(lambda at: _COMMENT.match(lines.get(at, "")), count(first)))
    if f"{setting.name} = " in lines.get(first + len(comment), ""):
        return 0
    return next((at for at in comment if _SAYS_DEFAULT.search(lines[at])), 0)


def key_facts(index: LabelIndex, name: str) -> Facts:
    """Where files of configuration set a key that no code declares, as a feature flag is."""
    found = _facts_of(Setting("", name, "", 0, 1.0), index)
    found = {} if all(one.group == _READ_IN for one in found) else found  # a table is read too
    return GraphFacts(tuple(found), len(found), leads=True), found


def constant_facts(index: LabelIndex, graph: Graph, name: str) -> Facts:
    """Where the constant of the product that is called so has its value, is set and is read: `ALLOW_SIGNUP`."""
    at = [node for node in of_kind(graph, NodeType.PROPERTY) if graph.names[node].rpartition(".")[2] == name]
    places = [where[0] for where in ResultReader(graph).places(np.array(at, np.int64)) if where]
    places = [one for one in places if non_product_code(one.path) is None]
    if len({one.path for one in places}) != 1:
        return GraphFacts(), {}
    return setting_facts(index, [Setting("", name, places[0].path, places[0].line_start, 1.0, is_of_module=True)])


def _facts_of(setting: Setting, index: LabelIndex) -> dict[GraphFact, str]:
    named = points_naming(setting.name, index, _MOST_SECTIONS)
    own = sections_of([setting.path], index.parts.shard(), index.scope()).keys() if named.cut else ()
    reading = points_with(f"{setting.owner} {setting.name} {_READING}", index, _MOST_READING) if named.cut else ()
    code = {at: one for at, one in product_of(own or named.ids, index).items() if not has_shown_texts(one["Path"])}
    files = {point: one for point, one in code.items() if one.get("CodeLanguage", "") in _FILES}
    code = {point: one for point, one in code.items() if not MIGRATION.search(one.get("Path", ""))}
    name, made = _written(setting.name), dict[GraphFact, str]()
    stem = f"(?:{re.escape(_OWNER.sub('', setting.owner))})?"
    of_others = "".join(rf"(?<!\b{re.escape(other)}\.)" for other in setting.others)
    told: set[tuple[str, int]] = set()
    read = _READ_BARE if setting.is_of_module else _READ
    reading_code = {**code, **product_of(reading, index)}
    given = (("sets", _SET_DEFAULT, code), ("sets", _READ_WITH_DEFAULT, reading_code))
    ways = (*given, ("sets", _VALUE, code), ("sets", _ROW, code), ("sets", _KEY, files), ("reads", read, code))
    for verb, pattern, of in ways:
        written = re.compile(pattern.format(name, of_others, stem))
        skipped = () if of is files else PROSE | CONFIGURATION
        facts = facts_naming(written, of, index, (verb, setting.name, True), skipped)
        new = [
            one
            for one in facts
            if (one.path, one.line) not in told
            and not (verb == "sets" and pattern is not _READ_WITH_DEFAULT and _declares_another(one, setting))
        ]
        new = sorted(new, key=partial(_order, setting))[:_MOST_EACH]
        told |= {(one.path, one.line) for one in new}
        for one in new:
            is_default = pattern in (_SET_DEFAULT, _READ_WITH_DEFAULT) or one.path == setting.path
            is_default = is_default or _OF_DEFAULTS.search(one.path) is not None or _is_of_defaults(one)
            group = _READ_IN if verb == "reads" else _DEFAULT if is_default else _SET_IN
            is_itself = verb == "sets" and one.source == setting.name
            made[replace(one, group=group, verb="" if is_itself else verb, target="" if is_itself else one.target)] = (
                facts[one]
            )
    return made


def _written(name: str) -> str:
    """How code writes a setting: as it is called, or as the field behind its property."""
    field = f"_{name[:1].lower()}{name[1:]}"
    return f"(?:{re.escape(name)}|(?i:{re.escape(field)}))" if name[:1].isupper() else re.escape(name)


def _declares_another(fact: GraphFact, setting: Setting) -> bool:
    """Whether it is the declaration of something else that is called as the setting is."""
    return fact.path != setting.path and fact.source.endswith(f".{setting.name}") and not _is_of_defaults(fact)


def _is_of_defaults(fact: GraphFact) -> bool:
    """Whether it is in a type that has the defaults of others: `DefaultOptionsProvider`, `ShopDefaults`."""
    return re.match(r"Default(?:Options|Settings|Config|s?\.)|\w*Defaults\.", fact.source) is not None


def _order(setting: Setting, fact: GraphFact) -> tuple[bool, bool, bool, int, str, int]:
    """What is of the type itself first, then what is called defaults, of the folders nearest to the setting."""
    is_other = setting.owner.casefold() not in fact.source.casefold()
    is_default, near = _OF_DEFAULTS.search(fact.path) is not None, commonpath((fact.path, setting.path)).count("/")
    return fact.path != setting.path, is_other, not is_default, -near, fact.path, fact.line
