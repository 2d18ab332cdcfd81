"""Other forms of a word: who asks what "provides" something looks for the `Provider`, which says so.

Terms of the index keep their endings, because stemming joins unlike identifiers (`stores.keyword.terms.stem`). A
question is short, so its words are looked up with other endings instead, each for less than the word itself. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import product

FORM_WEIGHT = 0.3
"""Of another form of a word of the question. nDCG@10 as in `query.ranking.files`, before names of files counted in
part, with 0, .15, .3, .4 and .5: commits .540 .554 .564 .567 .571, doc summaries .716 .718 .721 .722 .717, annotators
.899 .908 .918 .918 .918; four other repositories: commits .275 .276 .275 .277, their doc summaries .673 .665 .659
.659."""

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

_LETTERS = re.compile(r"[a-z]+")
_TAILS = frozenset("".join(endings) for size in range(_MOST_ENDINGS + 1) for endings in product(ENDINGS, repeat=size))


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
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: len(word) - len(ending)]
    return word
