"""What a question asks: the words that tell something, and the kind of answer it wants (a definition, a use, a route, a
table).

The kind only decides which facts come first: a question that is misread still gets the best quotes. Pure but for the
vocabulary it is given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from rag_assets.answer.whole_project import name_of_whole
from rag_assets.identifiers import OF_IE, identifier_words, key_of_word, singular, word_set
from rag_assets.index.keyword.terms import ENDINGS, FUNCTION_WORDS, runs, stem, with_silent_e, word_forms, word_terms
from rag_assets.index.keyword.vocabulary import KeywordIndexError, Terms, inverse_document_frequency
from rag_assets.search import CodePlace, Question, QuestionKind

if TYPE_CHECKING:
    from rag_assets.search.retrieve import SearchResources

_ASKING = word_set(
    "about all any explain find give happen happens list me mean means my please show tell used uses use using",
    "code class method function file files implemented implementation work works describe whose i we our us",
    "there here get exactly define defined project repository codebase",
    "across after against before between during through under until via within without",
    "call called caller implement implements inherit derive derived extend override invoke invoked reference",
    "also although am anybody anyone anything anywhere because both could couldn didn doesn don either even every",
    "everybody everyone everything everywhere hasn haven he her him his isn itself just may me might must neither",
    "no nobody none nor nothing one or otherwise per quite rather really right several shall she since so somebody",
    "someone something somewhere such them themselves they together too unless very wasn well were weren whatever",
    "whether whole whose won wouldn yes yet being doing done goes going gone got having went",
    "differ differs difference differences versus vs",
    "herself himself myself oneself ourselves yourself yourselves",
)
"""Words of asking, of talking about code in general, and of no content: that a section has them says nothing about the
question."""
_COARSER = ("ate", "ates", "ated", "ating", "ied")
"""Beside the endings of the keyword index, where `valid` and `validate` are two words, as names are. With a list of
its own 98.3 % of the answerable questions of `benchmarks/abstention.py` were answered and 94.0 % of the others refused,
with this one 98.9 and 94.2 (three labels, keywords only)."""
_ENDINGS = sorted((*ENDINGS, *_COARSER), key=len, reverse=True)
_SHORTEST_ROOT = 4
_IRREGULAR = key_of_word(
    {
        "add": "added adding adds",
        "ask": "asked asking asks",
        "ban": "banned banning bans",
        "begin": "began begun",
        "break": "broke broken",
        "build": "built",
        "buy": "bought",
        "choose": "chose chosen",
        "come": "came coming",
        "die": "died dying",
        "find": "found",
        "fix": "fixed fixes fixing",
        "forget": "forgot forgotten",
        "give": "gave given giving",
        "hide": "hid hidden",
        "hold": "held",
        "keep": "kept",
        "know": "knew known",
        "leave": "leaving left",
        "lose": "losing lost",
        "make": "made making",
        "map": "mapped mapping maps",
        "mean": "meant",
        "move": "moved moving",
        "pay": "paid",
        "rewrite": "rewritten rewrote",
        "run": "ran",
        "save": "saved saving",
        "say": "said",
        "send": "sent",
        "show": "shown",
        "spend": "spent",
        "stick": "stuck",
        "tag": "tagged tagging tags",
        "take": "taken taking took",
        "tell": "told",
        "throw": "threw thrown",
        "try": "tried tries",
        "use": "used using",
        "win": "won",
        "write": "writing written wrote",
    }
) | {word: word[:-1] for word in OF_IE}
"""Forms of verbs that no ending makes, or whose root would be too short (`tried`)."""
_MOST_ENDINGS = 3  # `transferred` → `transferr` → `transfer` → `transf`, as `transfer`
_DOUBLED = re.compile(r"([bdfglmnprt])\1$")
SAYS_NOTHING = FUNCTION_WORDS | _ASKING
_RUN_OR_STOP = re.compile(r"(?P<run>\w+)|[.!?:\n]")
_HYPHENATED = re.compile(r"(?<![\w-])[A-Za-z_]\w*(?:-\w+)+")
_NAME_OR_STOP = re.compile(r"(?P<run>\w+(?:\.\w+)*)|[.!?:\n]")
_RELATIONS = word_set(
    "add affect allow apply avoid become begin belong break build calculate change check choose clear compute",
    "configure contain create decide declare delete depend determine do end ensure exist fetch finish generate",
    "give go handle have hold include insert keep know let live load locate look make modify need occur offer",
    "pass perform persist pick prevent print process produce provide put raise read receive register remove",
    "require return run save say see select send set setup sit start stop store support take touch trigger try",
    "turn update validate verify wait want write",
    "behave deal deny detect govern guarantee react recognise recognize refuse respond",
)
"""What is asked about a subject. That no section says `calculated` is no sign that none calculates."""
_MANNER = word_set(
    "actually again all already always another any anything big both by different each else ever every exactly",
    "fast first kind large last limit long many maximum minimum much never new next nothing often old once only",
    "other own part place possible same second single some something sort still thing time two twice type value",
    "way while default data ago ahead around away back behind down forever inside instead off out outside over",
    "quickly slowly soon up advantage con disadvantage downside drawback pro anybody anyone anywhere certain correctly",
    "currently easily enough entire everybody everyone everything few itself lot myself nicely nobody particular",
    "properly really several simply somebody someone sometimes somewhere specific themselves various whole",
    "algorithm approach basis cause consequence criteria criterion frequently gracefully logic mechanism moment",
    "outcome piece reason sure",
)
"""How, how much and when something is: answers seldom say it in the words of the question."""
_ASKED_SHARE = 0.4
"""Of the weight of a word that is not what a question is about."""
_TOLD_SHARE = 0.5
"""Of the weight of a word that only the sentences beside a question have: of "Readers keep articles. Where do I shrink
their pictures?" `keep`."""
_SENTENCE = re.compile(
    r"[^.!?]+(?:(?:(?<=\be\.g)|(?<=\bi\.e)|(?<=\betc)|(?<=\bvs))\.[^.!?]*|[.!](?!\s|$)[^.!?]*)*[.!?]*"
)
_PARAGRAPH = re.compile(r"\n\s*\n")
_ASKS = re.compile(
    r"\W*(?:(?:and|but|so) )?(?:what|how|which|where|who|why|when|is|are|does|do|can|could|list)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """A word of a question: its root, how much it counts (how rare it is in the index, of a subject; less of what is
    asked about it), whether the index has it at all, and whether it is written with a capital, as names are."""

    word: str
    root: str
    weight: float
    known: bool
    is_name: bool = False


@lru_cache(maxsize=1 << 16)
def root(word: str) -> str:
    """`transferred`, `transfers` and `transfer` have one root, as far as dropping an ending makes it.

    Coarser than the terms of the keyword index, because it never finds anything: it only says whether words of texts
    that were found already are words of the question."""
    lower = with_silent_e(_IRREGULAR.get(word.lower(), word.lower()))
    for _ in range(_MOST_ENDINGS):
        lower = _DOUBLED.sub(r"\1", lower)
        ending = next((one for one in _ENDINGS if lower.endswith(one) and len(lower) - len(one) >= _SHORTEST_ROOT), "")
        if not ending:
            break
        lower = lower.removesuffix(ending)
    return lower


def root_set(*lines: str) -> frozenset[str]:
    """The roots of the words of some lines."""
    return frozenset(map(root, word_set(*lines)))


def name_roots(name: str) -> list[str]:
    """The roots of the words of an identifier, or of several, in order; without the mark of a table, `tblOrders`."""
    words = identifier_words(name)
    return (
        [root(word) for word in words if word.lower() != "tbl"] if "tbl" in name[:3].lower() else list(map(root, words))
    )


_ROLE_OF_ROOT = dict.fromkeys(map(root, _RELATIONS), "relation") | dict.fromkeys(map(root, _MANNER), "manner")


@lru_cache(maxsize=512)  # a question looks at the same passages several times
def roots_of(text: str) -> frozenset[str]:
    """The roots of the words of a text, identifiers split."""
    return frozenset().union(*map(roots_of_run, set(runs(text))))


@lru_cache(maxsize=1 << 16)  # source says the same identifiers over and over
def roots_of_run(run: str) -> tuple[str, ...]:
    return tuple(map(root, word_terms(run)))


def words_asked_of(parts: SearchResources, text: str, names: Sequence[str] = ()) -> tuple[QueryTerm, ...]:
    """`query_terms_of` with the vocabulary of `parts`. Where that cannot be read, which the search has said or refused
    to go on with, nobody knows which words are rare, or in no section at all: all weigh the same, and all are known."""
    try:
        vocabulary = parts.vocabulary()
    except KeywordIndexError:
        return tuple(
            QueryTerm(word, root(word), _share(word), True, named) for word, named in telling_words(text, names)
        )
    return query_terms_of(text, vocabulary, vocabulary.sections, names)


def sections_of_vocabulary(parts: SearchResources) -> int:
    """How many sections the keyword index of `parts` has; 0 where it cannot be read."""
    try:
        return parts.vocabulary().sections
    except KeywordIndexError:
        return 0


_NUMBER_OF = re.compile(
    r"\b(?:default|greatest|highest|largest|least|lowest|max(?:imum)?|min(?:imum)?|smallest|the|total) number of\b",
    re.IGNORECASE,
)
"""How many, and no `phone number of a customer`."""


def query_terms_of(text: str, terms: Terms, sections: int, names: Sequence[str] = ()) -> tuple[QueryTerm, ...]:
    """The telling words of a question in order of first use. A word that no section has weighs as much as one that a
    single section has: it is the rarest of all, and no evidence for it can exist."""
    made = []
    asked = asking_roots(text)
    for term, is_name in telling_words(text, names):
        holding = max((known.sections for form in _forms(term, terms) if (known := terms.find(form))), default=0)
        weight = inverse_document_frequency(sections, max(holding, 1)) * _share(term)
        weight *= 1.0 if root(term) in asked or not asked else _TOLD_SHARE
        weight *= _ASKED_SHARE if term == "number" and _NUMBER_OF.search(text) else 1.0
        made.append(QueryTerm(term, root(term), weight, holding > 0, is_name))
    return tuple(made)


def asking_roots(text: str) -> frozenset[str]:
    """The roots of the sentences of a text that ask; none where it has no sentences beside these."""
    return roots_of(" ".join(asking_sentences(text)))


def asking_sentences(text: str) -> list[str]:
    """The sentences of a text that ask; none where it has none beside these."""
    sentences = [one.strip() for part in _PARAGRAPH.split(text) for one in _SENTENCE.findall(part)]
    asking = [one for one in sentences if one.endswith("?")] or [one for one in sentences if _ASKS.match(one)]
    return asking if len(asking) < len(sentences) else []


def _share(word: str) -> float:
    return _ASKED_SHARE if is_relation_or_manner(word) else 1.0


def telling_words(text: str, names: Sequence[str] = ()) -> Iterable[tuple[str, bool]]:
    """The words that tell something, each root once: the first that has it; and whether it is written as a name is,
    with a capital that no beginning of a sentence explains. What is one of the `names` tells something, whatever it
    says elsewhere: a `Repository`."""
    found: dict[str, tuple[str, bool]] = {}
    starts = True
    for match in _RUN_OR_STOP.finditer(text):
        run = match["run"]
        if run is None:
            starts = True
            continue
        is_name = run[0].isupper() and not starts
        starts = False
        for word in map(str.lower, identifier_words(run)):
            term = stem(word)
            if (run in names or not {word, term} & SAYS_NOTHING) and (len(term) > 1 or term.isdigit()):
                found.setdefault(root(term), (term, is_name))
    return found.values()


def _forms(term: str, terms: Terms) -> Iterable[str]:
    """A word as the index has it: itself, its root, and what differs from it in endings only, as a search finds it."""
    return term, root(term), *word_forms([term], terms.starting)


def covered(words: tuple[QueryTerm, ...], roots: frozenset[str]) -> float:
    """Which share of the weight of some words a text has, 0 to 1; 0 for no words."""
    total = sum(word.weight for word in words)
    return sum(word.weight for word in words if word.root in roots) / total if total else 0.0


def recognizer(pattern: str) -> Callable[[str], bool]:
    """Whether a question has a pattern, in any letter case."""
    search = re.compile(pattern, re.IGNORECASE).search
    return lambda question: search(question) is not None


class Intent(StrEnum):
    DEFINITION = "definition"
    USAGE = "usage"
    DEPENDENCIES = "dependencies"
    TESTS = "tests"
    IMPLEMENTATIONS = "implementations"
    HANDLERS = "handlers"
    ROUTES = "routes"
    TABLES = "tables"
    OVERVIEW = "overview"
    LIST = "list"
    PLACE = "place"
    STEPS = "steps"
    RELEASE = "release"
    EXPLANATION = "explanation"


_DEPENDENCIES = re.compile(
    r"^\W*(?:what|who|(?:what|which) (?:other )?(?:types|classes|interfaces|services|methods|members|repositories))"
    r" (?:does|do) (?:the )?\S+ (?:[a-z]+ )?"
    r"(?:depend on|call|invoke|use|need|require|rely on|inject|create|construct)\W*$"
    r"|\b(?:what|which) (?:are|is) (?:the )?(?:(?:direct|key|main|most important) )?dependenc(?:ies|y) of \S+\W*$"
    r"|^\W*(?:what|which) dependencies (?:does|do) (?:the )?\S+ have\W*$",
    re.IGNORECASE,
)
"""What a type or a method itself needs: the other way round than usage. Nothing may follow that asks for more."""
_ONE_NAMED = (
    r"(?:the )?\S+(?: (?:attribute|class|component|filter|function|handler|interface|method|procedure|service|table"
    r"|type|view))?"
)
_TESTS = re.compile(
    r"\btests? (?:(?:are )?there )?(?:that |which )?(?:tests?|covers?|checks?|of|for|exercises?|uses?|calls?)"
    rf" {_ONE_NAMED}\W*$"
    rf"|^\W*(?:what|who) tests {_ONE_NAMED}\W*$|^\W*(?:does|do) {_ONE_NAMED} have (?:any |unit )?tests\W*$"
    rf"|^\W*(?:where |how |by what )?(?:is|are) {_ONE_NAMED} tested\W*$",
    re.IGNORECASE,
)
_IMPACT = (
    r"\bwh(?:at|ich|o)\b.{0,60}\b(?:breaks|break(?=\W*$| (?:after|because|by|if|when|without)\b)|affected|impacted)\b"
    r"|\bimpact of\b"
    r"|\bif (?:i|we|you|somebody) (?:change|remove|rename|delete|drop|edit|modify|touch|threw|throw)\b"
)
_NAMED = (
    r"(?:the )?(?-i:`?(?=[\w.]*(?:[a-z][A-Z]|\w[._]\w)|[A-Z])[\w.]++`?)(?: (?:class|component|entity|function|interface"
    r"|method|property|record|service|table|type|view))?"
)
"""One thing as code writes it, with what it is."""
_USAGE = re.compile(
    r"\bwho (?:else )?(?:calls|executes|uses|invokes|creates|constructs|is (?:calling|using|invoking))\b"
    r"|\b(?:callers?|usages?) of\b|\breferences? (?:to|of)\b"
    r"|\bwhere (?:is|are) .{1,80}? (?:used|called|invoked|created|constructed|injected|referenced)\b"
    r"|^\W*where (?:is|are) (?:the (?:\w+ ){0,2})?(?-i:`?(?=[\w.]*(?:[a-z][A-Z]|\w[._]\w))[\w.]++`?) "
    r"(?:read|checked|enforced|evaluated|required|verified)\W*$"
    r"|\bwhat (?:calls|executes|uses|invokes|depends on)\b|\b(?:used|called|executed) by\b"
    r"|^\W*(?:which|what) (?:c# |sql )?(?:code|methods?|classe?s?|jobs?|procedures?) "
    r"(?:calls?|executes?|invokes?|runs?|uses?) "
    r"(?-i:(?=[\w.]*(?:[a-z][A-Z]|\w_\w))[\w.]++)\W*$"
    r"|^\W*(?:which|what) [a-z]\w+s (?:call|use|invoke|create|construct|inject|depend on|reference)"
    rf" {_ONE_NAMED}\W*$|\bwh(?:at|ich|o)\b.{{0,60}}\bdepends? on\b|{_IMPACT}"
    rf"|^\W*(?:who|what|(?:what|which) [a-z]\w+) (?:call|inject|mention|reference|use)s? {_NAMED}\W*$"
    rf"|^\W*(?:what|which) [a-z]\w+ (?:gets?|(?:are|is) given|has|have) {_NAMED}(?: injected)?\W*$"
    rf"|^\W*(?:is|are) {_NAMED} (?:even |ever |still )?(?:called|referenced|used)(?: anywhere| at all| somewhere)?\W*$"
    rf"|^\W*where (?:do|does) (?:it|we|you) (?:call|create|inject|reference|use) {_NAMED}\W*$"
    rf"|^\W*where (?:is|are) {_NAMED}(?:(?<=Dialog)|(?<=Modal)|(?<=component)| (?:dialog|modal|popup))"
    r" (?:displayed|embedded|opened|rendered|shown)\W*$",
    re.IGNORECASE,
)
_REQUESTED = re.compile(r"\b(?:calls|called|consumes?|consumed|fetch(?:es|ed)|requested)\b", re.IGNORECASE)
"""What asks for those who send requests to a route, where one is named."""
_IMPLEMENTATIONS = re.compile(
    r"\b(?:what|which|who)\b.{0,40}\b(?:implements?|inherits?|derives?|extends?|overrides?|conforms? to)\b"
    r"|\bimplementations? (?:(?:are there|exist|is there) )?(?:of|for)\b"
    r"|\bimplementations? (?:is|are|gets?) (?:chosen|injected|registered|resolved|used) (?:as|for)\b"
    r"|\bsub(?:classes|types) of\b|\bderived (?:classes|types)\b",
    re.IGNORECASE,
)
_VERBS = "GET|POST|PUT|DELETE|PATCH|HEAD|OPTIONS"
_ROUTES = re.compile(
    rf"\b(?:{_VERBS})\s+/\S*|\bendpoints?\b|\broutes?\b|\bhttp (?:verb|method)s?\b|\bapi calls?\b"
    r"|\b(?:url|path|request)s? (?:to )?/[\w{:<]|(?<!\S)/\S+ (?:is )?(?:handled|served|answered)\b",
)
_OF_ANY_ROUTE = re.compile(
    r"^\W*how (?:can|could|do|should|would) (?:i|we|you|one) (?!(?:call|invoke|reach|request)\b)\w+ (?:.* )?"
    r"(?:an?|all|any|each|every|my|own|some)(?: \w+)? (?:endpoints?|routes?)\b",
    re.IGNORECASE,
)
"""Asks how something is done with whatever route, as users of a framework do, and for none that is here."""
_TABLES = re.compile(
    r"\b(?:which|what) (?:database )?tables?\b|\bwho (?:reads|writes)\b|\bdatabase tables?\b"
    r"|\btable (?!(?:an?|and|are|as|at|be|by|can|comes?|contain\w*|do|does|for|from|gets?|grow\w*|has|have|if|in|is|may"
    r"|must|need\w*|of|on|or|should|so|than|that|the|to|was|when|where|which|will|with|without"
    r"|columns?|config\w*|data|definitions?|names?|rows?|schemas?|settings?|sizes?|statistics|structures?)\b)\w+"
    r"|\b(?:reads?|writes?|written|stored) (?:from|to|in|into) (?:the )?(?:database|table|dbo)"
    r"|\bstored procedures? (?:are|do|does|is)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Z]{2,}\d*(?:s|ed|es|ing)?|NuGet")
"""`DTOs`, `URLs`, `POSTed`: words, however they are written."""
_DEFINITION = re.compile(
    r"^\s*(?:what (?:is|are|does)|define|definition of|explain|describe"
    r"|where (?:is|are) .{1,80}? (?:defined|declared))\b",
    re.IGNORECASE,
)
_PLACED = re.compile(
    rf"^\W*where (?:is|are) (?:our )?{_ONE_NAMED}\W*$"
    r"|^\W*(?:what|which) (?:assembly|file|folder|layer|module|namespace|package|project)"
    rf" (?:is|are|does|do|contains|has|holds) {_ONE_NAMED}"
    r"(?: (?:belong to|(?:declared |defined |live |located |part )?(?:in|of)))?\W*$",
    re.IGNORECASE,
)
_DECLARED = r"(?:table|view|class|type|interface|record|struct|entity|model|expose|have|offer|provide)"
_OWNER = rf"(?:(?:the|an?) )?(?P<{{0}}>\w+(?: (?!{_DECLARED}\b)\w+)?(?= {_DECLARED}\b)|[\w.]+)(?: {_DECLARED})*"
_MEMBERS = re.compile(
    r"^\W*(?:(?:what|which|list|show|the|all)\b(?: are| the| me| all)* )?"
    r"(?:columns|fields|properties|members|(?:g?rpc )?methods|g?rpcs|settings|options)"
    rf" (?:are in|in|of|does|do|has|have) {_OWNER.format('owner')}(?: in the (?:database|db))?\W*$"
    rf"|^\W*what does {_OWNER.format('model')} (?:store|contain|hold|consist of)\W*$"
    r"|^\W*what does (?:the |an? )?(?P<seen>\w+(?: \w+)??)"
    r"(?: (?:aggregate|class|dto|entity|enum|interface|model|record|struct|table|type))? look like\W*$"
    rf"|^\W*what is (?:stored|kept|saved|recorded) in (?=.* table\b){_OWNER.format('table')}\W*$",
    re.IGNORECASE,
)
"""What a declaration says itself. Nothing may follow that asks for more."""
_OF_DECLARATION = (
    r"(?:source(?: code)?|code|body|signature|declaration|definition|constructor|base (?:class|type)|parameter"
    r"|return type)s?"
)
_SHOWN = re.compile(
    rf"^\W*(?:show|give|print)(?: me| us)?(?: the| full| whole)*(?: {_OF_DECLARATION}(?: of| for)?)? \S+\W*$"
    rf"|^\W*(?:what(?: is|'s| are) )?(?:the )?{_OF_DECLARATION} (?:of|for) \S+\W*$"
    r"|^\W*(?:what|which)(?: (?:parameters|arguments|interfaces?|base (?:class|type)))? does (?:the )?\S+"
    r" (?:take|expect|accept|return|implement|inherit(?: from)?|derive from|extend)\W*$"
    r"|^\W*(?:what|which)(?: \w+)? does (?:the )?(?:constructor of (?:the )?\S+(?: [a-z]+)?|\S+ constructor)"
    r" (?:accept|expect|get|have|need|require|take)\W*$"
    r"|^\W*(?:what|which) constructor (?:argument|parameter)s does (?:the )?\S+ (?:[a-z]+ )?"
    r"(?:expect|have|need|take)\W*$",
    re.IGNORECASE,
)
"""Who asks for a declaration, or for what it says before its body."""
_QUOTED_NAME = re.compile(r"`([A-Za-z_][\w.]*)`")
_OPTION_NAME = re.compile(
    r"\b(?:of|does|do|set|use) (?:the |an? )?"
    r"(?:(?:option|setting|flag|switch|parameter|argument|key|property|variable) [`'\"]?(?:--)?|[`'\"]?--)"
    r"(?P<name>[a-z]\w*(?:-\w+)+)"
)
"""A setting that is written with hyphens: elsewhere such words are English."""
_KEY_PATH = re.compile(r"(?<![\w:/.])[A-Z]\w+(?::[A-Z]\w+)+(?![\w:/])")
"""A setting below its sections, as .NET writes it: `Login:CookieName`."""
_PROTOCOL = re.compile(r"(?<![\w/.-])[A-Z]{2,}/\d(?:\.\d)?(?![\w/])")
"""With its version, which is a name: `HTTP/2`."""
_DOES = re.compile(
    r"^\W*what (?:does|do) (?:the )?\S+(?: \w+)? (?:do|check|validate|handle|decide|verify)\b", re.IGNORECASE
)
_CASE = re.compile(
    r"^\W*(?:what|which|how)\b.*?\b(?:when|if|unless|in case|without|after|before|once|while|do (?:about|to|with))"
    r" (?P<case>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_NAMED_IN_CASE = re.compile(
    r"\b(?:when|if|unless|in case|once|while) (?:the )?(?P<name>(?-i:[A-Z])\w+)"
    r" (?:is|are|isn['’]t|was|has|have|does|doesn['’]t|gets?|returns?|throws?|fails?)\b"
    r"|^\W*what does (?:the )?(?P<subject>(?-i:[A-Z])\w+) (?:\w+ ){1,3}(?:when|if|unless|in case|once|while)\b",
    re.IGNORECASE,
)
_OF_OWNER = re.compile(
    r"(?<!\w)(?P<of>[A-Z]\w++)`?(?:\(\))?(?: (?:method|property|function|constructor))?"
    r" (?:of|in|on) (?:the )?`?(?P<owner>[A-Z]\w+)"
    r"|(?<!\w)(?P<whose>[A-Z]\w++)`?['’]s `?(?P<its>[A-Z]\w+)"
)
_CAPITAL = r"(?:the )?[`'\"]?(?P<{0}>(?-i:[A-Z])\w+)[`'\"]?"
_COMPARED = re.compile(
    rf"\b(?:differences? between|compare) {_CAPITAL.format('one')}(?: \w+)??"
    rf" (?:and|from|to|with|vs\.?|versus) {_CAPITAL.format('other')}"
    rf"|\bhow (?:does|is) {_CAPITAL.format('first')}(?: \w+)?? differ(?:ent)? (?:from|to) {_CAPITAL.format('second')}"
    rf"|\bwhen (?:do|should|would) (?:i|we|you) (?:use|take|choose) {_CAPITAL.format('used')}"
    rf" (?:or|instead of|over|rather than) {_CAPITAL.format('left')}",
    re.IGNORECASE,
)
_WORDS = r"(?:an? |the )?(?P<{}>[a-z]\w*(?: \w+){{0,3}}?)"
_COMPARED_WORDS = re.compile(
    rf"^\W*(?:(?:what|which|explain|is|are|the) )*(?:differences? between|compare) {_WORDS.format('one')}"
    rf" (?:and|to|with|vs\.?|versus) {_WORDS.format('other')}\W*$"
    rf"|^\W*how (?:does|do|is|are) {_WORDS.format('first')} differ(?:ent)? from {_WORDS.format('second')}\W*$",
    re.IGNORECASE,
)
_ROUTE_PATH = re.compile(rf"(?<![\w.:/])(?:(?:{_VERBS}) +)?/[^\s?,;\"'`]+")


@dataclass(frozen=True, slots=True)
class QueryIntent:
    """`names` are identifiers that the question writes as code is written, `places` the files and lines that a path or
    a stack trace is, `routes` paths of HTTP. `does`: it asks what something does, which its body says. `choice`: the
    names are those of the enumeration whose values it asks for. `declared`: it asks for the declarations of the names
    and nothing more. `compared`: it asks how the names differ. `case`: it asks for what comes of them in one case,
    which some lines of a body say. `action`: what is to be done, of a question for the steps; the version, of one for a
    release."""

    intent: Intent
    names: tuple[str, ...]
    places: tuple[CodePlace, ...] = ()
    routes: tuple[str, ...] = ()
    does: bool = False
    choice: bool = False
    declared: bool = False
    case: bool = False
    compared: bool = False
    action: str = ""


def intent_of(question: Question) -> QueryIntent:
    """The kind of answer and the names that a question is about."""
    text = question.asking
    symbols = [one for one in question.symbols if not _WORD.fullmatch(one)]
    names = tuple(dict.fromkeys((*symbols, *_QUOTED_NAME.findall(text))))
    if not names and question.kind is QuestionKind.SYMBOL:
        names = (question.text.strip(),)
    of_places = question.kind in (QuestionKind.PATH, QuestionKind.ERROR)
    places = question.places if of_places else tuple(place for place in question.places if place.line)
    intent = _intent(text, question.kind, bool(names) or bool(places))
    if intent is Intent.OVERVIEW and places:
        intent = Intent.EXPLANATION
    routes = tuple(_ROUTE_PATH.findall(text)) if intent in (Intent.ROUTES, Intent.USAGE) and not names else ()
    if routes and (_USAGE.search(text) or _REQUESTED.search(text)):
        intent = Intent.USAGE
    options = tuple(
        one
        for one in dict.fromkeys((*_OPTION_NAME.findall(text), *_KEY_PATH.findall(text), *_PROTOCOL.findall(text)))
        if one not in names
    )
    declared = intent is Intent.DEFINITION and any(one.search(text) for one in (_SHOWN, _MEMBERS, _PLACED))
    does, case = _DOES.match(text) is not None, _CASE.match(text) is not None
    return QueryIntent(intent, names + options, places, routes, does, declared=declared, case=case)


_OF_NAMES = (Intent.USAGE, Intent.DEPENDENCIES, Intent.TESTS, Intent.IMPLEMENTATIONS, Intent.TABLES)
_OBJECT_FIRST = re.compile(
    r"\W*[A-Z]\w* (?:is|are|gets?) (?:used|called|invoked|created|constructed|injected|referenced|tested|implemented)\b"
)
_OF_TYPE = re.compile(
    r"^\W*(?i:what (?:is|does(?: the)?)) (?:(?P<name>[A-Z]\w*)"
    r"|(?:the )?(?P<type>[A-Z]\w*) (?:class|enum|interface|record|struct|trait|type))(?: used)?(?: do| for)?\W*$"
)
"""`What does License do?` may be about that class. What `a License` is, documents say too."""


def member_named(question: str) -> tuple[str, str]:
    """(what may be a member, what may be its type) of `SendAsync of MailSender` and `MailSender's SendAsync`; two ''
    without such."""
    found = _OF_OWNER.search(question)
    return (found["of"] or found["its"], found["owner"] or found["whose"]) if found is not None else ("", "")


def compared_names(question: str) -> tuple[str, ...]:
    """The two names, or words with a capital, of which a question asks how they differ, words without one as names have
    them: `an order item` as `OrderItem`; none for another question."""
    if (found := _COMPARED.search(question)) is not None:
        return tuple(filter(None, found.groups()))
    words = _COMPARED_WORDS.match(question)
    said = filter(None, words.groups()) if words is not None else ()
    return tuple("".join(word[:1].upper() + word[1:] for word in singular(one).split()) for one in said)


def members_asked(question: str) -> tuple[str, ...]:
    """The words of what has the columns, fields or other members that a question asks for; none for others."""
    found = _MEMBERS.search(question)
    said = re.findall(r"\w+", next(filter(None, found.groups()))) if found is not None else ()
    return tuple(name_roots(" ".join(said)))


def words_as_names(question: Question) -> QueryIntent | None:
    """A question of what calls, needs, tests, implements or stores something, as one about its capitalised words, one
    of what a single such word is or does as one about that type, and one of members as one about what has them: whether
    they are names, as `Basket` is one, the index has to say, and of words with a dot or hyphen, as `job.cancel` and
    `Get-GitStatus`, in any question.
    None for others, and without such a word."""
    text = question.asking
    intent = _intent(text, question.kind, True)
    members = _MEMBERS.search(text)
    if members:  # `a catalog item` may be `CatalogItem`
        said = next(filter(None, members.groups())).split()
        owner = "".join(word[:1].upper() + word[1:] for word in said)
        return QueryIntent(Intent.DEFINITION, (owner, " ".join(said)), declared=True)
    if choices := _choices(text):
        return QueryIntent(Intent.DEFINITION, choices, choice=True)
    if one := _OF_TYPE.match(text):
        return QueryIntent(Intent.DEFINITION, (one["type"] or one["name"],), does=_DOES.match(text) is not None)
    if intent in (Intent.EXPLANATION, Intent.DEFINITION) and (one := _NAMED_IN_CASE.search(text)):
        return QueryIntent(intent, (one["name"] or one["subject"],), case=_CASE.match(text) is not None)
    starts = _OBJECT_FIRST.match(text) is None
    names: dict[str, None] = dict.fromkeys(_HYPHENATED.findall(text))
    before = ""
    for match in _NAME_OR_STOP.finditer(text):
        run = match["run"]
        of_one = run and intent in _OF_NAMES and not starts and run[0].isupper()
        if before and _WORD.fullmatch(before):  # `SQL Server`
            of_one = False
        if (of_one and not (run.lower() in FUNCTION_WORDS or _WORD.fullmatch(run))) or (run and "." in run):
            names[run] = None
        starts, before = run is None, run or ""
    return QueryIntent(intent, tuple(names)) if names else None


asks_how = recognizer(
    r"\b(?:how|why|when|code|source|implement\w*|algorithm|calculat\w*|comput\w*|happens?|lines?|logic|show|snippet|steps?)\b"
)
"""Whether a question is about how something works or wants to see code: then sources matter, else what is said of
    them."""
asks_how_made = recognizer(
    r"\bhow (?:is|are|does|do)\b.*\b(?:calculat\w*|comput\w*|deriv\w*|determin\w*|generat\w*|work(?:ed)? out)\b"
)
"""Whether the answer is what makes a value, which no declaration alone says."""
asks_amount = recognizer(
    r"\bhow (?:many|much|long|often|big|large|far|fast|old)\b"
    r"|\b(?:limits?|defaults?|maximum|minimum|at (?:most|least)|(?:which|what) (?:size|length|amount|percentage))\b"
)
"""Whether the answer is likely to be a number."""
_LIST = re.compile(
    r"^\W*(?:which|what(?! (?:happens|becomes)\b)|list|show|enumerate|name|how many|give)\b"
    r"(?:\s+(?:me|a|list|all|the|of|kinds?|sorts?|different|"
    r"available|existing|built-?in|predefined|custom|own|various|http|rest|api|web|database|db|sql|nuget|npm|public|"
    r"stored|are|is|there))*\s+(?:(?P<sort>[A-Za-z]+)\s+)??(?P<noun>[A-Za-z]+)\b"
    r"(?P<rest>\W*(?:$|(?:are|below|can|do|does|exist|for|has|have|in|is|of|that|there|to|under|was|were)\b"
    r"|run\b(?=\W*$)).*)$",
    re.IGNORECASE | re.DOTALL,
)
_OF_CONFIGURATION = r"(?:config(?:uration)? (?:keys|options|parameters|settings|values)|settings)"
_SETTINGS_ABOUT = re.compile(
    r"^\W*(?:which|what|list|show)\b(?: (?:me|are|all|the|of))* "
    rf"(?:(?P<kind>[\w-]+(?: [\w-]+)?) {_OF_CONFIGURATION}"
    r"(?: (?:exist|are (?:there|available|supported)|do (?:we|you) have"
    r"|can (?:be (?:set|changed)|(?:i|we|you) (?:set|use|change))))?"
    rf"|{_OF_CONFIGURATION} (?:(?:exist|are (?:available|needed|required|there)|can be set) )?"
    r"(?:for|about|control|configure|affect)"
    r" (?:the )?(?P<of>.+?))\W*$",
    re.IGNORECASE,
)
"""A list of what settings are about one thing. Nothing may follow that asks for more."""


def settings_subject(question: str) -> str:
    """What the settings that a question wants a list of are about; '' for another question."""
    found = _SETTINGS_ABOUT.match(question.strip())
    return "" if found is None else found["kind"] or found["of"] or ""


_NAME = r"`?(?P<{0}>[A-Za-z_][\w.]*\w)`?"
_WRITING = r"(?:writ(?:e|es|ten)|assign(?:s|ed)?|sets?|chang(?:e|es|ed)|modif(?:y|ies|ied)|updat(?:e|es|ed))"
_WRITES = re.compile(
    r"^(?!.*\b(?:if|when|breaks?|affected)\b)"
    rf"(?:\W*(?:where|who|what|which \w+)\b[^?]*? {_WRITING}(?: to| into)?(?: the)? {_NAME.format('object')}"
    r"(?: (?:for|in|of|on) (?:an?|all|each|every|the) \w+(?: \w+)?)?\W*$"
    rf"|\W*where (?:is|are|was|does|do)(?: the)? {_NAME.format('subject')}(?: \w+)?(?: gets?)? {_WRITING}\W*$)",
    re.IGNORECASE,
)
_AS_CODE = re.compile(r"[._]|[a-z0-9][A-Z]")


def written_name(question: str) -> str:
    """The variable, field or property of which a question asks where it is written; '' for another question."""
    found = _WRITES.match(question.strip())
    name = found["object"] or found["subject"] if found is not None else ""
    return name if _AS_CODE.search(name) else ""


_KEY = r"(?:setting|option|flag|switch|variable|key)"
asks_purpose = recognizer(
    r"^\W*what (?:is|are|does|do)\b.* (?:used for|good for|for|control|configure|affect|influence)\W*$"
    rf"|^\W*what does (?:the )?(?:{_KEY} \S+|\S+ (?:feature )?{_KEY}|`?(?-i:[A-Z][A-Z0-9_]{{3,}})`?) do\W*$"
    r"|^\W*(?:how|where) (?:is|are)\b.* (?:used|read|needed|applied|evaluated|checked)\W*$"
)
"""Whether a question is about what something is for: of a setting the code that reads it says so."""
_HOW_MANY_AT_MOST = re.compile(
    r"^\W*how many(?: times\b|\b.*\b(?:can|could|may|might|should|must|will|by default|allowed"
    r"|at (?:most|least|once|a time)|at the same time|per|every|each|in (?:a single|one)"
    r"|(?:are|is|get) (?:deleted|displayed|fetched|kept|loaded|processed|read|removed|retried|returned|sent|shown))\b)",
    re.IGNORECASE | re.DOTALL,
)
"""An amount that is set somewhere, and no count of what there is."""
_TESTS_LISTED = re.compile(
    r"^\W*(?:which|what|list|show|(?:is|are) there)(?: me| all| any| an?| the| are)*"
    r" (?:unit |integration |acceptance )?tests? (?:that |which )?"
    r"(?:covers?|covering|checks?|tests?|exercises?|verify|(?:are there |exist )?(?:for|of))\b(?P<rest>.+)$",
    re.IGNORECASE | re.DOTALL,
)
WHAT_TESTED = re.compile(
    r"^\W*what (?:is|gets) (?:unit |integration )?tested (?:about|around|for|in|of|with)\b(?P<rest>.+)$"
    r"|^\W*what do (?:the |our )?(?:unit |integration )?tests (?:about|for|of) (?P<of>.+)"
    r" (?:check|cover|test|verify)\W*$",
    re.IGNORECASE | re.DOTALL,
)
HOW_OFTEN = "how often"
_HOW_OFTEN_RUN = re.compile(
    r"^\W*(?:how often|when) (?:do|does|are) (?:all |our |the )*"
    r"(?P<sort>background|cron|hosted|periodic|recurring|scheduled) (?P<noun>jobs|services|tasks|workers)"
    r" (?:run|executed|started|triggered)\W*$",
    re.IGNORECASE,
)
_RUN_BY_A_SCHEDULE = re.compile(
    r"^\W*(?:which|what) (?:(?P<sort>background|celery|cron|periodic|recurring|scheduled) )?"
    r"(?P<noun>jobs|tasks|workers) (?:are |get )?(?:scheduled\W*$|(?:run|executed|started|triggered)"
    r" (?:(?:on|by) (?:an? )?(?:cron|(?:cron |fixed )?schedules?|timers?)|regularly|periodically|every \w+)\b)",
    re.IGNORECASE,
)
_RUN_IN = re.compile(
    r"\b(?P<what>(?:background|hosted|periodic|recurring|scheduled) (?:jobs|services|tasks)) (?:are )?run(?:ning|s)? "
    r"(?=in(?:side)?\b|within\b)",
    re.IGNORECASE,
)
"""Other jobs run in the pipeline of a build."""
_OF_OTHERS = re.compile(
    r"\b(?:(?:third|3rd)[- ]party|external|open[- ]source) (?=(?:dependenc|librar|packages)\w*)", re.I
)
"""What all packages are that a project refers to."""
_IN_BACKGROUND = re.compile(
    r"\b(?P<noun>jobs|processes|services|tasks|workers) (?:(?:are|get|that) )*(?:run(?:ning)?|executed|work(?:ing)?)"
    r" in (?:the )?background\b",
    re.IGNORECASE,
)
_SCHEMA = re.compile(
    r"^\W*(?:(?:what|how)(?:'s| is| does)?|show|describe|explain|give)(?: me| us)?(?: the| our| its| whole)*"
    r" (?:(?:database|db|sql) (?:schema|structure|layout|model)|data model|schema of the (?:database|db))"
    r"(?: (?:is|look|looks|like|structured|made up|organi[sz]ed))*\W*$",
    re.IGNORECASE,
)
_VALUE_OF = re.compile(
    r"^\W*(?:what|which)(?: values)? (?:can|could|may|might) the (?P<noun>\w+) of (?P<of>(?:an?|the) .+?)"
    r" (?:be|have|take)\W*$",
    re.IGNORECASE,
)


def listed_noun(question: str) -> tuple[str, str]:
    """(what a question wants a list of, in the singular and lower case, as `event` or `integration event`; the rest of
    the question); two '' for none."""
    if _SCHEMA.match(question.strip()):
        return "table", ""
    if (tests := _TESTS_LISTED.match(question.strip())) is not None:
        return "test", tests["rest"]
    if (tested := WHAT_TESTED.match(question.strip())) is not None:
        return "test", tested["rest"] or tested["of"]
    if (scheduled := _HOW_OFTEN_RUN.match(question.strip())) is not None:
        return f"{scheduled['sort']} {singular(scheduled['noun'])}".lower(), HOW_OFTEN
    if (scheduled := _RUN_BY_A_SCHEDULE.match(question.strip())) is not None:
        return f"{scheduled['sort'] or 'scheduled'} {singular(scheduled['noun'])}".lower(), HOW_OFTEN
    if (value := _VALUE_OF.match(question.strip())) is not None and singular(value["noun"].lower()) in ENUMERATED:
        return singular(value["noun"].lower()), f" can {value['of']} have?"
    said = _IN_BACKGROUND.sub(r"background \g<noun> are there", _OF_OTHERS.sub("", question.strip()))
    found = _LIST.match(_RUN_IN.sub(r"\g<what> are ", said))
    if found is None or _HOW_MANY_AT_MOST.match(question):
        return "", ""
    noun, sort = found["noun"].lower(), (found["sort"] or "").lower()
    single = singular(noun)
    if (noun == single and noun != "middleware") or (sort and question.strip().lower().startswith("how many")):
        return "", ""
    sort = "" if (sort, single) == ("unit", "test") else sort  # most tests are such, and few are called so
    return f"{sort} {single}".strip(), found["rest"]


ENUMERATED = {
    "state": "Status State Stage",
    "status": "Status State",
    "stage": "Stage Status",
    "kind": "Kind Type",
    "type": "Type Kind",
    "cause": "Cause Reason",
} | {one: one.capitalize() for one in ("category", "level", "mode", "phase", "priority", "reason", "role", "severity")}
"""What a question calls the values of an enumeration, and what the enumeration may be called."""
_MOST_OF_NAME = 3  # words


def owner_said(noun: str, rest: str) -> str:
    """What has the things that a question wants a list of, as code calls it; '' where it says too much for a name."""
    words = [one for one, _ in telling_words(f"{noun.rpartition(' ')[0]} {rest}") if not is_relation_or_manner(one)]
    return "".join(singular(word.lower()).capitalize() for word in words) if len(words) <= _MOST_OF_NAME else ""


_KINDS_OF = re.compile(
    r"^\W*(?:(?:which|what|list|show|all|are|the|different)\b ?)*(?:kinds|sorts|types) of\b", re.IGNORECASE
)
_ARE = r"\b(?:are there|do (?:we|you) have|exists?|(?:is|are) (?:available|defined|supported))\W*$"
_THERE_ARE = re.compile(_ARE, re.IGNORECASE)
_SORTS = re.compile(
    rf"^\W*(?:which|what)(?: are)?(?: the)? (?P<of>[a-z]+(?: [a-z]+){{1,2}}) (?P<noun>[a-z]+s)(?: {_ARE}|\W*$)",
    re.IGNORECASE,
)


def _choices(question: str) -> tuple[str, ...]:
    """What an enumeration may be called whose values a question asks for: `OrderStatus` for the states of an order."""
    noun, rest = listed_noun(question)
    if kinds := _KINDS_OF.search(question):
        noun, rest = ("type", _THERE_ARE.sub("", question[kinds.end() :])) if not noun else (f"{noun} type", rest)
    elif not noun and (sorts := _SORTS.match(question)) is not None:
        noun, rest = singular(sorts["noun"].lower()), sorts["of"]
    last = noun.rpartition(" ")[2]
    owner = owner_said(noun, rest) if last in ENUMERATED else ""
    if not owner:
        return ()
    of_reasons = ["Type"] if last in ("cause", "reason") and len(identifier_words(owner)) > 1 else []
    return tuple(f"{owner}{one}" for one in (*ENUMERATED[last].split(), *of_reasons))


SHOWN = frozenset({"control", "dialog", "form", "page", "popup", "prefab", "scene", "screen", "view", "window"})
"""What a question calls what a program shows."""
asks_about_failure = recognizer(
    r"\b(?:fail\w*|errors?|exceptions?|thrown?|throws|invalid|wrong|crash\w*|reject\w*|refus\w*|missing|unknown|forget"
    r"|forgot\w*|not (?:exist|found|there)|no such|when there (?:is|are) no"
    r"|too (?:big|few|large|late|long|many|old|short|small))\b|n't (?:exist|there)\b"
)
"""Whether a question is about what goes wrong, which is where something is thrown."""
asks_about_broken_rule = recognizer(
    r"\b(?:exceed\w*|over the (?:limit|maximum)|more(?: [\w-]+){1,4} than .*\b(?:allow|accept|fit|permit|support)\w*"
    r"|already|twice|duplicat\w*|expired|denied|not allowed|unauthori[sz]ed|without)\b"
)
"""Whether a question is about what some rule does not allow, which may be where something is thrown."""
_WHAT_HAPPENS = re.compile(
    r"\bwhat (?:happens|if)\b|\bwhat (?:do|does|will|would|answer|status)\b.* (?:get|see|return|back)\b|\bstatus code\b"
    r"|\bwhat is returned\b|\bhttp status\b",
    re.IGNORECASE,
)


def asks_what_happens(question: str) -> bool:
    """Whether an error may be the answer."""
    return asks_about_failure(question) or _WHAT_HAPPENS.search(question) is not None


asks_impact = recognizer(_IMPACT)
"""Whether a question is for what a change reaches, and not for direct users alone."""
asks_how_to = recognizer(
    r"\bhow (?:do|can|should) (?:i|we|you)\b|\bcan (?:i|we)\b|\bis there\b|\bdo (?:i|we) (?:have|need)\b"
)
"""Whether somebody wants to know what to do, which documents say."""
asks_use = recognizer(
    r"^\W*(?:how (?:(?:can|could|should) (?:i|one|we|you)|do (?:i|one|you|we(?! (?:avoid|calculate|check|choose|compute"
    r"|count|decide|detect|determine|find|get|guarantee|handle|know|log|make sure|parse|prevent|recogni[sz]e|retry"
    r"|store|tell|validate|verify)\b))|can (?!(?:an?|the) ).{1,60}\bbe \w+ed|to)|can (?:i|we)"
    r"|is (?:it possible|there (?:a|any) way))\b"
)
"""Whether it wants to do something itself, with what is offered for it."""
asks_in_english = recognizer(r"\b(?:what|how|which|where|who|why|when|does)\b")
"""Whether a text has a word that only English questions have."""


def is_relation_or_manner(word: str) -> bool:
    """Whether a word says what is asked about something, or how, how much and when it is."""
    return root(word) in _ROLE_OF_ROOT


def role_of(word: QueryTerm) -> str:
    """What a word is in its question: `subject`, `manner`, or `relation`, which is asked about the subject."""
    return _ROLE_OF_ROOT.get(root(word.word), "subject")


_THING_FOR = re.compile(
    r"^\W*what (?:is|are) the (?!.*\b(?:class|handler|implementation|interface|need|purpose|reason|role|service|type"
    r"|use|values?)\b)(?:[\w-]+ ){1,3}for (?:the )?[\w.]+\W*$",
    re.IGNORECASE,
)
"""Of something that a name has, and not of what the name declares: `what is the default port for MySQL?`"""


def _intent(text: str, kind: QuestionKind, has_names: bool) -> Intent:
    if name_of_whole(text) == "":
        return Intent.OVERVIEW
    of_names = (Intent.DEPENDENCIES, Intent.TESTS, Intent.DEFINITION)
    for intent, pattern in (
        (Intent.DEFINITION, _SHOWN),
        (Intent.DEFINITION, _MEMBERS),
        (Intent.IMPLEMENTATIONS, _IMPLEMENTATIONS),
        (Intent.DEPENDENCIES, _DEPENDENCIES),
        (Intent.TESTS, _TESTS),
        (Intent.USAGE, _USAGE),
        (Intent.ROUTES, _ROUTES),
        (Intent.TABLES, _TABLES),
    ):
        is_of_any = intent is Intent.ROUTES and _OF_ANY_ROUTE.match(text) is not None
        if (has_names or intent not in of_names) and not is_of_any and pattern.search(text):
            return intent
    is_of_it = (kind is QuestionKind.SYMBOL or _DEFINITION.search(text)) and _THING_FOR.match(text) is None
    if has_names and (is_of_it or _PLACED.search(text)):
        return Intent.DEFINITION
    return Intent.EXPLANATION
