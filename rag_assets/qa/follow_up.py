"""What a follow-up question without a model means: "who calls it?", "the second one", "and the tests?", "what about
InvoiceWriter instead?". It is read with the names of the question before and with what the answer before cited. Pure.

Rules and no understanding, so a question is only changed where it points at something and has no name of its own, and
never into something that was neither asked about nor cited. Whoever uses this says how a question was read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from rag_assets.answer.cited_lines import Citation, citations_of, numbered
from rag_assets.answer.passages import PROSE
from rag_assets.answer.question_analysis import (
    Intent,
    QueryIntent,
    intent_of,
    is_relation_or_manner,
    roots_of,
)
from rag_assets.contracts.evidence import Evidence
from rag_assets.contracts.kinds import SubtypeKind
from rag_assets.errors import QueryError
from rag_assets.identifiers import singular, word_set
from rag_assets.index.keyword.terms import FUNCTION_WORDS
from rag_assets.search.query_parser import understand

LONGEST = 300
"""Characters of a follow-up. Longer questions say themselves what they are about, and are often pasted."""

_LONGEST_NAME = 160


@dataclass(frozen=True, slots=True)
class CitedSymbol:
    """What an answer cited at `number` of its sources. `name` is as a question writes it (`OrderService.Cancel`,
    `GET /orders`), '' where the lines declare none that can be written so. `kinds` are what people call it."""

    number: int
    name: str
    kinds: frozenset[str]
    path: str

    @property
    def written(self) -> str:
        """As it stands in a question; '' for what cannot: a path with blanks would be words."""
        if self.name:
            return _as_code(self.name) if _NAME.fullmatch(self.name) else self.name
        return self.path if _PATH.fullmatch(self.path) else ""


@dataclass(frozen=True)
class Before:
    """What a follow-up can point at. `question` was asked last, `about` are the names that the conversation is about,
    and `look_up` finds what the last answer cited, when it is needed first."""

    question: str
    about: tuple[str, ...] = ()
    look_up: Callable[[], tuple[CitedSymbol, ...]] = field(default=tuple)

    @cached_property
    def cited(self) -> tuple[CitedSymbol, ...]:
        return self.look_up()

    @property
    def name(self) -> str:
        """The one name that the question was about; '' where it was about none, or about several."""
        return self.about[0] if len(self.about) == 1 else ""


@dataclass(frozen=True, slots=True)
class ReadAs:
    """A follow-up as it is read, and what it takes from where: `OrderService.Cancel is from the answer before`."""

    question: str
    because: str

    @property
    def tests_of(self) -> str:
        """The name whose tests it asks for; '' where it asks for something else."""
        asked = _wish(self.question)
        return asked.names[0] if asked.intent is Intent.TESTS and len(asked.names) == 1 else ""


def names_of(question: str) -> tuple[str, ...]:
    """The identifiers that a question writes as code is written; none of one that cannot be read."""
    return _wish(question).names


def _wish(question: str) -> QueryIntent:
    try:
        return intent_of(understand(question))
    except QueryError:
        return QueryIntent(Intent.EXPLANATION, ())


def read_follow_up(question: str, before: Before, is_known: Callable[[str], bool]) -> ReadAs | None:
    """The question with what it points at; None where it says all by itself, or nothing is there to point at.
    `is_known` tells whether the index declares a name that is written like a word (`Order`)."""
    if len(question) > LONGEST:
        return None
    own = names_of(question)
    for reading in (_instead, _tests, _related, _elsewhere, _more):
        if not own or reading is _instead:
            made = reading(question, before, is_known)
            if made is not None:
                return made
    return None if own else _pointing(question, before)


def cited_symbols(answer: str, evidence: Sequence[Evidence]) -> tuple[CitedSymbol, ...]:
    """What an answer cites of the evidence, with the numbers under which its sources are listed."""
    citations = citations_of(answer, evidence)
    numbers = numbered(citations)
    pieces = {identifier: piece for piece in evidence for identifier in piece.ids}
    first: dict[int, CitedSymbol] = {}
    for one in citations:
        number = numbers[one.rendered]
        first.setdefault(number, _symbol_of(number, one, pieces[one.id]))
    return tuple(first[number] for number in sorted(first))


def _has_no_filters(question: str) -> bool:
    """Whether a question can be asked again as it is: the filters of one turn do not hold for the next."""
    try:
        read = understand(question)
    except QueryError:
        return False
    return not (read.phrases or read.wanted or read.excluded)


_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_PATH = re.compile(r"[\w.@+-]+(?:/[\w.@+-]+){0,40}")
_ROUTE = re.compile(r"http:(?P<route>[A-Z]+ /[\w/{}.:-]*)\|ENDPOINT")
_ARITY = re.compile(r"`+\d+")

_OF_NODE = {
    "METHOD": "method function member",
    "PROPERTY": "property field member",
    "TABLE": "table",
    "VIEW": "view",
    "PROC": "procedure",
    "FUNC": "function procedure",
    "TRIGGER": "trigger",
    "TYPE": "type class",
}
_TYPE_WORDS = ("interface", "enum", "struct", "record")
_CLASSES = frozenset({"class", "type", *_TYPE_WORDS})
_FILES = frozenset({"file", "document", "page"})
_ROLES = frozenset(kind.value.lower() for kind in SubtypeKind) - {"other", "document", "program", "request"}
"""What people call a type by its role: `that controller`. Few say `request` of a type."""

_KINDS = sorted(
    {*" ".join(_OF_NODE.values()).split(), *_CLASSES, *_FILES, *_ROLES, "endpoint", "route", "test", "column"}
)
_KIND = "|".join(sorted(_KINDS, key=len, reverse=True))


def _symbol_of(number: int, cited: Citation, piece: Evidence) -> CitedSymbol:
    whole = piece.plain_symbol.partition("(")[0]
    symbol = cited.symbol.partition("(")[0] or whole  # lines of a type without its head are of it
    symbol = whole if whole.endswith(f".{symbol}") else symbol  # `Get` is many
    is_whole = symbol == whole
    node = _node_type(symbol, piece)
    kinds = set(_OF_NODE.get(node, "").split()) | {"file"}
    parts = symbol.split(".") if _NAME.fullmatch(symbol) else []
    if piece.language in PROSE:
        kinds, parts = set(_FILES), []
    elif node in ("METHOD", "PROPERTY") or (not node and not is_whole):
        parts = parts[-3:] if "prototype" in parts[-2:-1] else parts[-2:]
        kinds |= {"column"} if piece.language == "sql" else {"member"}
    elif piece.language != "sql":
        parts = parts[-1:]
    name = ".".join(parts)
    if is_whole and node != "PROPERTY":
        kinds |= {piece.kind.lower()} & _ROLES
        routes = [found["route"] for key in piece.node_keys if (found := _ROUTE.fullmatch(key))]
        if len(routes) == 1 and node != "TYPE":
            kinds |= {"endpoint", "route"}
            name = name if node else routes[0]
    if "type" in kinds:
        kinds |= {word for word in _TYPE_WORDS if re.search(rf"\b{word}\s+{re.escape(parts[-1])}\b", piece.text)}
    if piece.kind == SubtypeKind.TEST:
        kinds |= {"test"}
    is_name = len(name) <= _LONGEST_NAME and (_NAME.fullmatch(name) is not None or " /" in name)
    return CitedSymbol(number, name if is_name else "", frozenset(kinds), cited.path)


def _node_type(symbol: str, piece: Evidence) -> str:
    """What a symbol is in the graph, `METHOD` or `TABLE`; '' where the piece has no node of it."""
    for key in piece.node_keys:
        known, _, node = key.rpartition("|")
        if _ARITY.sub("", known.partition(":")[2] or known).partition("(")[0] == symbol:
            return node
    return ""


@lru_cache(maxsize=256)
def _as_code(name: str) -> str:
    """A name as a question has to write it so that it is read as one: `Order` is a word, too."""
    return name if names_of(f"what is {name}") == (name,) else f"`{name}`"


_LEAD = r"(?:(?:and|but|so|ok|okay|then|now|also|well|thanks|thank\s+you|great|yes|no|please)\b[\s,.!]*)"
_ABOUT = r"(?:(?:what|how)\s+about\s+)"
_END = r"\s*[?.!]*\s*"
_LEADING = re.compile(rf"\A\s*{_LEAD}+", re.IGNORECASE)
_INSTEAD = re.compile(
    rf"\s*(?P<lead>{_LEAD}*)(?P<about>{_ABOUT}|(?:the\s+)?same\s+(?:thing\s+|question\s+)?(?:for|with|of|about)\s+|"
    rf"(?:for|with|of)\s+)?(?:the\s+(?:{_KIND})\s+)?(?P<name>`[\w.]+`|[A-Za-z_][\w.]*\w(?:\(\))?)"
    rf"(?P<after>(?:\s+(?:instead|too|then|as\s+well|please))?){_END}",
    re.IGNORECASE,
)
_IT = r"(?:it|that|this|they|them)"
_ALL = r"(?:(?:any|all|the|its|their|unit|integration)\s+)*"
_ASKED = r"(?:(?:are\s+there|where\s+are|which|what\s+are|what|show(?:\s+me)?|list|find)\s+)?"
_TESTS = re.compile(
    rf"\s*(?:(?:{_LEAD}+{_ABOUT}?|{_ABOUT}|any\s+){_ALL}tests?"  # and the tests?
    rf"|{_LEAD}*{_ASKED}(?:its|their)\s+{_ALL}tests?"
    rf"|{_LEAD}*{_ASKED}{_ALL}tests?\s+(?:of|for|on|(?:that\s+)?cover|covering)\s+{_IT}"
    rf"|{_LEAD}*(?:(?:where|how)\s+)?(?:is|are)\s+{_IT}\s+tested"
    rf"|{_LEAD}*(?:who|what)\s+tests\s+{_IT}"
    rf"|{_LEAD}*(?:does|do)\s+{_IT}\s+have\s+{_ALL}tests?){_END}",
    re.IGNORECASE,
)
_RELATED = re.compile(
    rf"\s*{_LEAD}*{_ABOUT}?{_ASKED}{_ALL}(?:(?P<uses>callers|usages|users|references)|"
    rf"(?P<types>implementations|implementers|implementors|subclasses|subtypes))(?:\s+(?:of|to)\s+{_IT})?{_END}",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    rf"\s*{_LEAD}+{_ABOUT}?(?P<where>(?:in|from|at|outside|within|inside|under)\s+[\w./ -]{{1,60}}?){_END}",
    re.IGNORECASE,
)
_MORE = re.compile(
    rf"\s*{_LEAD}*(?:(?:(?:show|tell|give)\s+(?:me\s+)?)?(?:(?:a\s+bit|some)\s+)?more(?:\s+details?)?"
    r"(?:\s+(?:about|of|on)\s+(?:it|that|this|them))?|go\s+on|continue|(?:in\s+)?(?:more\s+)?details?|"
    r"show\s+(?:me\s+)?(?:the|its)\s+(?:code|source|implementation|body)(?:\s+of\s+(?:it|that|this))?|"
    rf"(?:explain|describe)\s+(?:it|that|this)\s+(?:further|more|(?:in\s+)?(?:more\s+)?detail))(?:\s*,?\s*please)?{_END}",
    re.IGNORECASE,
)


def _instead(question: str, before: Before, is_known: Callable[[str], bool]) -> ReadAs | None:
    """`what about InvoiceWriter instead?`: the question before, about that one."""
    found = _INSTEAD.fullmatch(question)
    if found is None or not (found["lead"] or found["about"] or found["after"].strip() == "instead"):
        return None
    name = found["name"].strip("`").removesuffix("()").strip(".")
    is_word = not found["name"].startswith("`") and _as_code(name) != name
    names = names_of(before.question) if _has_no_filters(before.question) else ()
    if len(names) != 1 or name == names[0] or (is_word and not (name[:1].isupper() and is_known(name))):
        return None
    old = re.compile(rf"`?(?<!\w){re.escape(names[0])}(?!\w)(?:\(\))?`?")
    made = old.sub(lambda _: _as_code(name), before.question)
    return ReadAs(made, f"the question before, about {name}") if made != before.question else None


def _tests(question: str, before: Before, _: Callable[[str], bool]) -> ReadAs | None:
    """`and the tests?`: those of what the conversation is about."""
    if not _TESTS.fullmatch(question):
        return None
    chosen = _chosen(before, lambda: [one for one in before.cited if "test" not in one.kinds])
    return None if chosen is None else ReadAs(f"which tests test {chosen.written}?", chosen.because)


def _related(question: str, before: Before, _: Callable[[str], bool]) -> ReadAs | None:
    """`and its callers?`"""
    found = _RELATED.fullmatch(question)
    if found is None:
        return None
    verb = "who calls" if found["uses"] else "what implements"
    chosen = _chosen(before, lambda: _preferred(verb, before.cited))
    return None if chosen is None else ReadAs(f"{verb} {chosen.written}?", chosen.because)


def _elsewhere(question: str, before: Before, _: Callable[[str], bool]) -> ReadAs | None:
    """`and in the tests?`: the question before, there."""
    found = _ELSEWHERE.fullmatch(question)
    if found is None or len(before.question) > LONGEST or _POINTER.search(found["where"]):
        return None
    if not _has_no_filters(before.question):
        return None
    asked = before.question.rstrip(" ?.!")
    where = " ".join(found["where"].split())
    if asked.casefold().endswith(where.casefold()):
        return None
    return ReadAs(f"{asked} {where}?", "the question before")


def _more(question: str, before: Before, _: Callable[[str], bool]) -> ReadAs | None:
    """`show me more`: how what the conversation is about works, with its source."""
    if not _MORE.fullmatch(question):
        return None
    chosen = _chosen(before, lambda: before.cited)
    return None if chosen is None else ReadAs(f"how does {chosen.written} work?", chosen.because)


_SAYS_MORE = 2  # words


@dataclass(frozen=True, slots=True)
class _Chosen:
    """What a pointer stands for, and where that is from."""

    written: str
    because: str


def _of_question(name: str) -> _Chosen:
    return _Chosen(_as_code(name), f"{name} is from the question before")


def _of_answer(one: CitedSymbol) -> _Chosen | None:
    return _Chosen(one.written, f"{one.name or one.path} is from the answer before") if one.written else None


def _chosen(before: Before, cited: Callable[[], Sequence[CitedSymbol]]) -> _Chosen | None:
    """The name that the question was about, else the first of those that were cited, or one that says clearly more of
    that question: `CalculateReadingTime` for how the reading time is calculated, whatever creates the post with it."""
    if before.name:
        return _of_question(before.name)
    named = [one for one in cited() if one.name]
    if not named:
        return None
    said = [len(roots_of(one.name) & roots_of(before.question)) for one in named]
    best = said.index(max(said))
    return _of_answer(named[best if said[best] - said[0] >= _SAYS_MORE else 0])


_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_AUXILIARY = (
    "is are was were does did do can could will would should has have of for to about with from by on in into call "
    "calls use uses explain describe"
).replace(" ", "|")
_BASE = (
    "do work return use call need throw mean depend happen handle store read write look log cost raise set done known "
    "written thrown caught set read run kept held sent built"
).replace(" ", "|")
_GOES_ON = rf"(?:{_BASE}|\w{{2,}}ed|and|or|in|from|at|with|without|by|for|to|as)\b"
_EXPLETIVE = (
    r"(?:possible|true|likely|necessary|allowed|safe|better|worth|ok|okay|important|common|enough|matter"
    r"|make\s+sense)\b"
)
_POINTER = re.compile(
    rf"^\s*(?P<alone>\d{{1,2}})(?={_END}$)"
    r"|(?:(?<=\s)|^)\[(?P<bracket>\d{1,3})\](?=[\s?.!,;:]|$)"
    r"|\b(?:number|no\.|citation|source|result|hit)\s+(?P<number>\d{1,3})\b"
    rf"|\bthe\s+(?P<ordinal>{'|'.join(_ORDINALS)}|last|\d{{1,2}}(?:st|nd|rd|th))"
    rf"(?:\s+(?:one|result|citation|source|place|hit|match|(?P<counted>{_KIND}))\b|(?={_END}$)|(?=\s+(?:does|do|is|and)\b))"
    rf"|\b(?:this|that|the\s+same)\s+(?:one|(?P<kind>{_KIND}))\b"
    rf"|(?P<before_kind>\b(?:call|calls|calling|use|uses|implements|of|in|from|for|to|about|test|tests)\s+)the\s+"
    rf"(?P<definite>{_KIND})(?={_END}$)"
    r"|\b(?P<owner>its|their)\b"
    r"|\b(?P<it_is>it['’]s)\b"
    rf"|\b(?P<it>it|them|they)\b(?!\s+(?:is\s+|was\s+)?{_EXPLETIVE})"  # "is it possible to …" is about nothing
    rf"|(?P<auxiliary>(?:\b(?:{_AUXILIARY})|['’]s)\s+)(?:this|that)(?=\s+{_GOES_ON})"
    rf"|\b(?:this|that)(?=(?:\s+(?:again|away|back|down|here|off|on|out|there))?{_END}$)",
    re.IGNORECASE,
)
_INSIDE = re.compile(
    r"\b(?:a|an|the|each|every|any|some|all|no)\s+\w+.*"
    r"(?:,|\b(?:when|if|after|before|once|while|and|or|because|since|that|which|until|unless|so)\b)",
    re.IGNORECASE | re.DOTALL,
)
"""Before `it`: a noun and a clause that ends. `what happens to the order when it is cancelled` is about the order."""

_OF_CODE = re.compile(
    r"\b(?:arguments?|async|breaks?|call\w*|catch\w*|caught|chang\w+|class\w*|configur\w+|declar\w+|defin\w+|depend\w*"
    r"|deriv\w+|describe|explain|extend\w*|implement\w*|inherit\w*|inject\w*|invok\w+|members?|methods?|more|overrid\w+"
    r"|parameters?|regist\w+|returns?|safe|show|signature|tell|test\w*|throw\w*|us(?:e|es|ed|ing)|works?)\b"
    rf"|\b(?:is|are|do){_END}$|\b(?:is|are)\s+(?:it|they){_END}$",
    re.IGNORECASE,
)
"""What is asked of code, and of nothing that a business has."""
_BEFORE_SUBJECT = re.compile(
    r"(?:\b(?P<verb>are|can|could|did|do|does|if|is|should|was|were|when|will)|['’]s)\s+(?:an?|the|each|every)\s+"
    r"(?P<rest>\w+(?:\s+\w+){0,5})",
    re.IGNORECASE,
)
_SEVERAL = re.compile(r"\b(?:are|can|could|did|do|should|were|will)\s+(?P<rest>\w+(?:\s+\w+){1,4})", re.IGNORECASE)
_PASSIVE = frozenset({"are", "is", "was", "were"})
_VERBS = word_set("become becomes fail fails get gets go goes happen happens need needs work works")
_PERSONS = word_set("admin administrator customer developer owner people user users visitor")
"""None of them is an `it`."""


def _thing(question: str) -> str:
    """What a question without names is about: `the invoice` of `how does an invoice get paid?`; '' for none."""
    found = _BEFORE_SUBJECT.search(question)
    if found is None:
        return _several_things(question)
    words: list[str] = []
    for word in found["rest"].lower().split():
        is_verb = word in _VERBS or is_relation_or_manner(word) or word.endswith("ed")
        if is_verb or word in FUNCTION_WORDS:
            break
        words.append(word)
    else:
        is_verb = False
    if not is_verb and (found["verb"] or "is").lower() not in _PASSIVE:
        words = words[:-1]  # `how does an order expire`
    return f"the {' '.join(words)}" if words and words[-1] not in _PERSONS else ""


def _several_things(question: str) -> str:
    """`the refresh tokens` of `where are refresh tokens stored?`; '' for another question."""
    found = _SEVERAL.search(question)
    words = found["rest"].lower().split() if found is not None else []
    at = next((at for at, word in enumerate(words) if singular(word) != word), len(words))
    if at >= len(words) - 1 or words[at] in _PERSONS or not FUNCTION_WORDS.isdisjoint(words[: at + 1]):
        return ""  # nothing is asked about them behind them
    return f"the {' '.join(words[: at + 1])}"


_PREFERRED = (
    (r"\b(?:calls?|called|calling|callers?|invoke[sd]?|overrid\w+)\b", {"method", "procedure"}),
    (r"\b(?:implement(?:s|ed|ations?)?|inherits?|derives?|extends?|subclass\w*)\b", _CLASSES),
    (r"\b(?:reads|writes)\b", {"table", "view"}),
)
"""What is meant by `it` of several places that were cited: nobody calls a property, nothing implements a method that is
listed beside its interface."""


def _pointing(question: str, before: Before) -> ReadAs | None:
    """The question with names in place of what points at them."""
    used: dict[str, None] = {}

    def named(found: re.Match[str]) -> str:
        chosen = _meant(found, before)
        if chosen is None:
            return found.group()
        used[chosen.because] = None
        if found.group() == asked.strip(" ?.!"):  # `the second one`, and nothing else
            return f"what is {'in ' if '/' in chosen.written else ''}{chosen.written}"
        kept = found["auxiliary"] or found["before_kind"] or ""
        owned = "'" if chosen.written.endswith("s") and " " in chosen.written else "'s"
        after = owned if found["owner"] else " is" if found["it_is"] else ""
        return f"{kept}{chosen.written}{after}"

    asked = _LEADING.sub("", question, count=1)
    made = _POINTER.sub(named, asked)
    return ReadAs(made, " and ".join(used)) if used else None


def _meant(found: re.Match[str], before: Before) -> _Chosen | None:
    number = found["alone"] or found["bracket"] or found["number"]
    if number:
        return next((_of_answer(one) for one in before.cited if one.number == int(number)), None)
    if found["ordinal"]:
        return _at(found["ordinal"].lower(), (found["counted"] or "").lower(), before)
    kind = (found["kind"] or found["definite"] or "").lower()
    if kind:
        return _of_kind(kind, before)
    if (found["it"] or found["it_is"] or found["owner"]) and _INSIDE.search(found.string, 0, found.start()):
        return None
    thing = "" if before.about or _OF_CODE.search(found.string) else _thing(before.question)
    is_many = thing.endswith("s") and not thing.endswith("ss")
    if thing and is_many == (found.group().lower() in ("they", "them", "their")) and (found["it"] or found["owner"]):
        return _Chosen(thing, f"{thing} is from the question before")
    return _chosen(before, lambda: _preferred(found.string, before.cited))


def _at(ordinal: str, kind: str, before: Before) -> _Chosen | None:
    cited = [one for one in before.cited if not kind or kind in one.kinds]
    if ordinal == "last":
        at = len(cited) - 1
    else:
        at = _ORDINALS.index(ordinal) if ordinal in _ORDINALS else int(ordinal[:-2]) - 1
    return _of_answer(cited[at]) if 0 <= at < len(cited) else None


def _of_kind(kind: str, before: Before) -> _Chosen | None:
    """`that method`: what the question was about, unless it is known to be something else and the answer cites one."""
    asked = next((one for one in before.cited if before.name and _same_name(one.name, before.name)), None)
    first = next(_of_that_kind(kind, before.cited if asked is None else (asked, *before.cited)), None)
    if before.name and kind not in _FILES and (asked is None or kind in asked.kinds or first is None):
        return _of_question(before.name)
    return first


def _of_that_kind(kind: str, cited: Sequence[CitedSymbol]) -> Iterator[_Chosen]:
    """The cited symbols of a kind; behind them, for a class, those around the cited members."""
    for one in cited:
        if kind in _FILES and _PATH.fullmatch(one.path):
            yield _Chosen(one.path, f"{one.path} is from the answer before")
        elif kind in one.kinds and (chosen := _of_answer(one)):
            yield chosen
    for one in cited:
        if kind in ("class", "type") and "member" in one.kinds and "." in one.name:
            owner = one.name.rpartition(".")[0]
            if owner[:1].isupper():  # else it is a module
                yield _Chosen(_as_code(owner), f"{owner} is from the answer before")


def _same_name(one: str, other: str) -> bool:
    shorter, longer = sorted((one.casefold(), other.casefold()), key=len)
    return bool(shorter) and f".{longer}".endswith(f".{shorter}")


def _preferred(question: str, cited: Sequence[CitedSymbol]) -> Sequence[CitedSymbol]:
    for verbs, kinds in _PREFERRED:
        fitting = [one for one in cited if one.kinds & kinds]
        if fitting and re.search(verbs, question, re.IGNORECASE):
            return fitting
    return cited
