"""Which questions are about a project as a whole: what it is, what it is for, how it is built, how it is started. Pure.

Such a question is told by having no other words: `how is this project structured`, and not `how is the cache of this
project structured`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_assets.identifiers import word_set
from rag_assets.index.keyword.terms import FUNCTION_WORDS, stem

_WHOLES = word_set(
    "project repo repository lib library tool product app application kit package code codebase solution framework",
    "service system program software template sample demo boilerplate starter thing",
)
"""What a project is called."""
_CALLED_THIS = _WHOLES | word_set("server site website bot engine gateway plugin extension client platform")
"""What it is called with `this` before it: `the server` may be a part."""
_WITHOUT_NOUN = word_set("this it everything")
_PARTS = word_set(
    "part parts module modules component components layer layers services projects folders feature features",
    "functionality capabilities",
)
_ASKED = _PARTS | word_set(
    "about for good used use meant supposed intended do does doing teach show demonstrate offer provide contain",
    "consist include solve made built written based composed work works fit fits purpose goal idea problem problems",
    "technology technologies stack languages structure structured organized organised organization laid layout",
    "designed design explain describe summarize summarise understand reading",
)
_ASKED_OF_WHOLES_ALONE = word_set("architecture overview tour introduction summary started")
_BESIDE = FUNCTION_WORDS | word_set(
    "s m d re ll ve me us my our new here just please all any whole entire main major most important key basic general",
    "overall high level big picture short brief briefly quick quickly one two three few sentence sentences word words",
    "hello hi give tell get getting know want need like look looks looking come first actually exactly really kind out",
    "up under hood inside each other open source home team joined somebody someone could would may there base some so",
    "tech together walk through them split into consists",
)
_STARTING = re.compile(r"\bhow (?:(?:do|can|should|could|would) (?:i|we|you|one)|to)\b", re.IGNORECASE)
_STARTED = word_set("run running start install build set setup launch use try")
_BESIDE_STARTED = word_set(
    "development sources own locally local myself mac macos linux windows computer laptop machine getting",
)
_LEADING = re.compile(r"\b(?:(?:show|give|tell) (?:me|us)|(?:start|begin)(?= (?:reading|to read)))\b", re.IGNORECASE)
_CLAUSE = re.compile(
    r"[?!;:,()\n]+|\.(?:\s|$)|\s[–—-]\s|\band (?=(?:what|how|which|why|where|who|is|does|do|can|into)\b)", re.IGNORECASE
)
_TOKEN = re.compile(r"[\w.+#]*[\w+#]")
_MOST_OF_A_NAME = 3  # words
_TERMS = frozenset(
    map(stem, _CALLED_THIS | _ASKED | _ASKED_OF_WHOLES_ALONE | _BESIDE | _STARTED | _BESIDE_STARTED | _WITHOUT_NOUN)
)


_HERE = r"(?: (?:here|left|open|are there|there|exist|in|of|to|for|does|has)\b.*)?\W*$"
_LISTED = {
    "entry point": re.compile(
        r"^\W*where do(?:es)? (?:(?:the|this|our|its) )?(?:\w+ )?(?:it|everything|app|application|program|code"
        r"|execution|service|server|process|project)s? (?:start|begin)s?(?: up)?\W*$"
        rf"|^\W*(?:wh\w+ |list |show |is |are |me |all |the |main )*entry ?points?{_HERE}",
        re.IGNORECASE,
    ),
    "central type": re.compile(
        r"^\W*(?:what |which |list |show |are |is |me |the |all |most )+(?:important|central|main|key|core|used)"
        rf" (?:class|type|interface|struct|model)e?s?{_HERE}",
        re.IGNORECASE,
    ),
    "task": re.compile(
        r"^\W*(?:what|which|list|show|where|are|is|any|how many)\b[^?]*(?-i:\b(?:TODO|FIXME|HACK)s?\b)"
        rf"(?: comments?)?{_HERE}",
        re.IGNORECASE,
    ),
}


def listed_of_whole(question: str) -> str:
    """What a question wants a list of that only a project as a whole has: `entry point`, `central type`, or `task`, as
    comments call them; '' for another question."""
    return next((noun for noun, pattern in _LISTED.items() if pattern.search(question)), "")


def is_of_whole(term: str) -> bool:
    """Whether a question about a whole may have a word, as `stem` makes it, and is about nothing else for that."""
    return term in _TERMS


def name_of_whole(question: str) -> str | None:
    """What a question about a whole project calls it: '' for `this project` and the like. A name, as in `what is
    Polly?`, may be that of something in it: the index has to say. None for every other question."""
    clauses = [_TOKEN.findall(_LEADING.sub(" ", one)) for one in _CLAUSE.split(question)]
    for at, written in enumerate(clauses):
        words = [word.lower() for word in written]
        if _STARTING.search(" ".join(words)) and not _STARTED.isdisjoint(words):
            known = _WHOLES | _ASKED | _BESIDE | _STARTED | _BESIDE_STARTED
            later = [word.lower() for clause in clauses[at:] for word in clause]
            return "" if _says_whole(words) and known.issuperset(later) else None
        name = _name_in(words, written)
        if name is not None or not _BESIDE.issuperset(words):
            return name
    return None


def _name_in(words: Sequence[str], written: Sequence[str]) -> str | None:
    """As `name_of_whole`, of one clause."""
    whats = words[:2] in (["what", "is"], ["what", "s"], ["what", "was"], ["whats"])
    if not (whats or not _ASKED.isdisjoint(words) or not _ASKED_OF_WHOLES_ALONE.isdisjoint(words)):
        return None
    known = _CALLED_THIS | _ASKED | _ASKED_OF_WHOLES_ALONE | _BESIDE | _WITHOUT_NOUN
    others = [at for at, word in enumerate(words) if word not in known]
    if not others:
        return "" if _says_whole(words) or not _ASKED_OF_WHOLES_ALONE.isdisjoint(words) else None
    first, last = others[0], others[-1]
    before, after = words[first - 1 : first], words[last + 1 : last + 2]
    if first == last and before in (["this"], ["our"]) and after and after[0] in _CALLED_THIS:
        return ""  # `this Python library`
    is_name = last - first + 1 == len(others) <= _MOST_OF_A_NAME
    return " ".join(written[first : last + 1]) if is_name else None


def _says_whole(words: Sequence[str]) -> bool:
    """Whether some of the words mean a project: `this library`, `the whole code base`, `it`."""
    for at, word in enumerate(words):
        following = next((one for one in words[at + 1 :] if one not in _BESIDE), "")
        if (word in ("this", "our") and following in _CALLED_THIS) or (word == "the" and following in _WHOLES):
            return True
        if word in _WITHOUT_NOUN and not (word == "this" and following in _PARTS | _CALLED_THIS):
            return True
    return False
