"""What a keyword is: identifier-aware terms of code and prose, the same for documents and for queries."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from rag_assets.text import identifier_words

_RUN = re.compile(r"\w+")
_LONGEST_RUN = 96  # the longest real identifiers are test names of ~90 characters; beyond it is base64
_CACHED_RUNS = 1 << 16  # distinct runs of a large repository; about 10 MB when full
_SHORTEST_PLURAL = 4  # `its`, `gas`, `ids` stay as they are

FUNCTION_WORD_WEIGHT = 0.2
"""Of a function word in a question. 1 costs prose (doc .604 → .567); 0 finds no `IsIn`, `ToBe` or `Has` at all."""

FUNCTION_WORDS = frozenset(
    word
    for line in (
        "a an and are as at be been but by can did do does for from has have how i if in into is it its not of on or",
        "should than that the their then there these this those to was we were what when where which while who why",
        "will with would you your",
    )
    for word in line.split()
)


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
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    return word[:-1]
