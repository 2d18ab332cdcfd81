"""The terms of a question: its words, their other forms, and its neighbouring words written as one name.

People ask for `order repository` where the code says `IOrderRepository` or `OrderRepository`. Names are in the index as
wholes, so words that make a known whole are looked for as that too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from rag_assets.stores.keyword.terms import query_terms, runs
from rag_assets.stores.keyword.word_forms import FORM_WEIGHT, word_forms
from rag_assets.text import identifier_words

if TYPE_CHECKING:
    from rag_assets.stores.keyword.vocabulary import KnownTerm

JOINED_WEIGHT = 0.3
"""Of a name made of some of the words. With 0, .3, .5 and 1 the doc summaries of `stores.keyword.fields` reach .694
.690 .689 .672, identifiers .940 .981 .982 .976: prose has such neighbours by chance."""
_LONGEST_JOINED = 4  # words; longer names are asked for as a whole, if at all
_LONGEST_NAME = 8  # words of a question that may be one name: method names of tests have more, but nobody splits them
_MOST_WORDS = 24  # with other forms, or joined: four look-ups a word; what a pasted text says after that, words find


class Terms(Protocol):
    """The terms of an index, of one label or of several."""

    def find(self, term: str) -> KnownTerm | None: ...

    def starting(self, beginning: str) -> Iterable[str]:
        """Those that begin with a text, in order."""


@dataclass(frozen=True, slots=True)
class QuestionTerms:
    """`weights` are those of the distinct terms, in order of first use; `forms` are those of them that only share a
    stem with a word of the question: form → word. `is_name`: the question is one identifier, as it is written or split
    into words, and nothing else."""

    weights: Mapping[str, float]
    forms: Mapping[str, str]
    is_name: bool


def question_terms(text: str, terms: Terms) -> QuestionTerms:
    """The terms of a question, given those of the index. A term that is not known there is one of its words. A name is
    asked for as it is, without other forms of its words."""
    weights = query_terms(text)
    written = runs(text)
    words = [word.lower() for run in written for word in identifier_words(run)]
    whole = "".join(words)
    is_split_name = 1 < len(words) <= _LONGEST_NAME and len(written) > 1 and terms.find(whole) is not None
    for joined in _neighbours(words[:_MOST_WORDS]):
        if joined not in weights and terms.find(joined) is not None:
            weights[joined] = JOINED_WEIGHT
    if is_split_name:
        weights[whole] = 1.0
    is_name = is_split_name or len(written) == 1
    telling = [] if is_name else islice((term for term, weight in weights.items() if weight == 1.0), _MOST_WORDS)
    forms = {form: word for form, word in word_forms(telling, terms.starting).items() if form not in weights}
    return QuestionTerms(weights | dict.fromkeys(forms, FORM_WEIGHT), forms, is_name)


def _neighbours(words: list[str]) -> list[str]:
    """Two to `_LONGEST_JOINED` neighbouring words as one."""
    made = [
        "".join(words[start : start + size])
        for size in range(2, _LONGEST_JOINED + 1)
        for start in range(len(words) - size + 1)
    ]
    return list(dict.fromkeys(made))
