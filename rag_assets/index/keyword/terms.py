"""What a keyword is: identifier-aware terms of code and prose, the same for documents and for queries; and the other
forms of a word, for queries alone.

Terms of the index keep their endings, because stemming joins unlike identifiers (`stem`). A question is short, so its
words are looked up with other endings instead, each with less weight than the word itself: who asks what "provides"
something looks for the `Provider`, which says so. Pure.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from itertools import product

from rag_assets.identifiers import OF_IE, identifier_words, word_set

_RUN = re.compile(r"\w+")
_LONGEST_RUN = 96  # the longest real identifiers are test names of ~90 characters; beyond it is base64
_CACHED_RUNS = 1 << 16  # distinct runs of a large repository; about 10 MB when full
_SHORTEST_PLURAL = 4  # `its`, `gas`, `ids` stay as they are

FUNCTION_WORD_WEIGHT = 0.2
"""Of a function word in a question. 1 costs prose (doc .604 → .567); 0 finds no `IsIn`, `ToBe` or `Has` at all."""

FUNCTION_WORDS = word_set(
    "a an and are as at be been but by can did do does for from has have how i if in into is it its not of on or",
    "should than that the their then there these this those to was we were what when where which while who why",
    "will with would you your",
)


FORM_WEIGHT = 0.3
"""Of another form of a word of the question. nDCG@10 as in `search.ranking`, before names of files
counted in part, with 0, .15, .3, .4 and .5: commits .540 .554 .564 .567 .571, doc summaries .716 .718 .721 .722 .717,
annotators .899 .908 .918 .918 .918; four other repositories: commits .275 .276 .275 .277, their doc summaries .673
.665 .659 .659."""

_SHORTEST_STEM = 4
"""Letters that stay. With 3 (`log` of `logging`) unlike words meet: commits .550 instead of .552; with 5, .548."""
_MOST_ENDINGS = 2  # after a stem: `builders` is `build`, `er`, `s`
_WRITTEN = tuple(
    ending
    for line in (
        "e es ed er ers s or ors ing ings ion ions ation ations able ment al ly ive y ies ity ance ence",
        "ise ize ized izing iser izer isation ization",
    )
    for ending in line.split()
)
"""Inflections, and derivations that names are made with. Twice as many (`ification`, `ness` …) change nothing."""
ENDINGS = tuple(sorted(_WRITTEN, key=lambda ending: (-len(ending), ending)))
"""The longest first, so that the first that fits is the longest."""

_SILENT_E = re.compile(r"([^\Waeiou\d_][aeiou][^\Waeiouwxy\d_])(?:ings?|ed)")
"""`voting` and `voted` of `vote`, whose `e` is too near its beginning to be dropped; after a short vowel a consonant is
doubled: `logging`."""
_LETTERS = re.compile(r"[a-z]+")
_TAILS = frozenset("".join(endings) for size in range(_MOST_ENDINGS + 1) for endings in product(ENDINGS, repeat=size))


def runs(text: str) -> list[str]:
    """The unbroken runs of letters, digits and `_`, in order; accents composed (NFC), so that one spelling finds
    the other."""
    return _RUN.findall(text if text.isascii() else unicodedata.normalize("NFC", text))


@lru_cache(maxsize=_CACHED_RUNS)
def word_terms(run: str) -> tuple[str, ...]:
    """The terms of a run where it is mentioned: the stems of its words. `GetOrders` → `get`, `order`."""
    if len(run) > _LONGEST_RUN:
        return ()
    return tuple(stem(word.lower()) for word in identifier_words(run))


@lru_cache(maxsize=_CACHED_RUNS)
def name_terms(run: str) -> tuple[str, ...]:
    """The terms of a run where it is declared or asked for: its words, and a compound also as a whole.
    `GetOrders` → `get`, `order`, `getorders`.

    Wholes stay out of running text: measured there, they cost .06 to .1 MRR on prose questions.
    """
    words = word_terms(run)
    return words if len(words) < 2 else (*words, run.replace("_", "").lower())


def query_terms(text: str) -> dict[str, float]:
    """The distinct terms of a question in order of first use, with the weight of each."""
    found = dict.fromkeys(term for run in runs(text) for term in name_terms(run))
    return {term: FUNCTION_WORD_WEIGHT if term in FUNCTION_WORDS else 1.0 for term in found}


def stem(word: str) -> str:
    """A plural or third person without its `s`, and nothing more: `queries` → `query`, `class` → `class`.

    Heavier stemmers (Porter, Snowball English) gained nothing measurable and join unlike identifiers.
    """
    if len(word) < _SHORTEST_PLURAL or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > _SHORTEST_PLURAL:
        return word[:-1] if word in OF_IE else word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    return word[:-1]


def word_forms(words: Iterable[str], starting: Callable[[str], Iterable[str]]) -> Mapping[str, str]:
    """Form → word of the question, of the terms of an index that differ from one of `words` (lower case) in its endings
    only. `starting` gives the terms that begin with a text. A form of two words is that of the first; a word that is
    asked for itself is no form."""
    asked = dict.fromkeys(words)
    found: dict[str, str] = {}
    for word in asked:
        if len(word) < _SHORTEST_STEM or not _LETTERS.fullmatch(word):
            continue
        stem = stem_of(word)
        for term in starting(stem):
            if term[len(stem) :] in _TAILS and term not in asked:
                found.setdefault(term, word)
    return found


def stem_of(word: str) -> str:
    """A word without its longest ending that leaves a stem: `serializer` → `serial`, `uses` → `uses`."""
    if (short := with_silent_e(word)) != word:
        return short
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: len(word) - len(ending)]
    return word


def with_silent_e(word: str) -> str:
    """`vote` of `voting` and `voted`; other words as they are."""
    return _SILENT_E.sub(r"\1e", word) if _SILENT_E.fullmatch(word) else word
