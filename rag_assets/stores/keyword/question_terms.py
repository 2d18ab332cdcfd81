"""The terms of a question: its words, and its neighbouring words written as one name.

People ask for `order repository` where the code says `IOrderRepository` or `OrderRepository`. Names are in the index as
wholes, so words that make a known whole are looked for as that too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_assets.stores.keyword.terms import query_terms, runs
from rag_assets.text import identifier_words

if TYPE_CHECKING:
    from rag_assets.stores.keyword.vocabulary import KnownTerm

JOINED_WEIGHT = 0.3
"""Of a name made of some of the words. With 0, .3, .5 and 1 the doc summaries of `stores.keyword.fields` reach .694
.690 .689 .672, identifiers .940 .981 .982 .976: prose has such neighbours by chance."""
_LONGEST_JOINED = 4  # words; longer names are asked for as a whole, if at all
_LONGEST_NAME = 8  # words of a question that may be one name: method names of tests have more, but nobody splits them
_MOST_WORDS = 24  # that are joined: three look-ups a word; what a pasted text says after that, words alone find


@dataclass(frozen=True, slots=True)
class QuestionTerms:
    """`weights` are those of the distinct terms, in order of first use. `is_name`: the question is one identifier, as
    it is written or split into words, and nothing else."""

    weights: dict[str, float]
    is_name: bool


def question_terms(text: str, find: Callable[[str], KnownTerm | None]) -> QuestionTerms:
    """The terms of a question; `find` knows those of the index. A term that is not known there is one of its words."""
    weights = query_terms(text)
    written = runs(text)
    words = [word.lower() for run in written for word in identifier_words(run)]
    whole = "".join(words)
    is_split_name = 1 < len(words) <= _LONGEST_NAME and len(written) > 1 and find(whole) is not None
    for joined in _neighbours(words[:_MOST_WORDS]):
        if joined not in weights and find(joined) is not None:
            weights[joined] = JOINED_WEIGHT
    if is_split_name:
        weights[whole] = 1.0
    return QuestionTerms(weights, is_split_name or len(written) == 1)


def _neighbours(words: list[str]) -> list[str]:
    """Two to `_LONGEST_JOINED` neighbouring words as one."""
    made = [
        "".join(words[start : start + size])
        for size in range(2, _LONGEST_JOINED + 1)
        for start in range(len(words) - size + 1)
    ]
    return list(dict.fromkeys(made))
