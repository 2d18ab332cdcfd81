"""Several questions in one text. Pure but for the words that it is given."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag_assets.answer.question_analysis import QueryTerm, asks_in_english
from rag_assets.answer.question_form import asked_alone
from rag_assets.answer.question_kinds import is_subject, says_something
from rag_assets.search import Question, QuestionKind
from rag_assets.search.query_parser import understood_or_plain

_QUESTION = re.compile(r"[^?]+\?+")
_LEADING = re.compile(r"^\W*(?:(?:and|also|but|or|then)\b\s*(?:,\s*)?)*", re.IGNORECASE)
_TWO_LISTS = re.compile(
    r"^\W*(?P<asks>(?:which|what|list|show)(?: all| the| different)*) (?P<one>[a-z]+s) and (?P<other>[a-z]+s)"
    r"(?P<rest> (?:are (?:there|defined)|exist|(?:do|does) .+ have))\W*$",
    re.IGNORECASE,
)
_MOST = 3
_MOST_CHARS = 300


@dataclass(frozen=True, slots=True)
class Part:
    """One of several questions: as it was typed, and as it is searched for."""

    said: str
    question: Question


def parts_of(asked: Question, words: Callable[[str], Sequence[QueryTerm]]) -> tuple[Part, ...]:
    """The questions of a text, each with the subject of the first where it has none of its own; of one for two lists
    one for each. None of another single question, of a long text, and of more than an answer has room for."""
    text = asked.asks or asked_alone(asked.typed) or asked.typed
    if asked.pasted or asked.kind is not QuestionKind.PROSE or len(text) > _MOST_CHARS:
        return ()
    said = [_LEADING.sub("", found.group().strip()) for found in _QUESTION.finditer(text)]
    if (two := _TWO_LISTS.match(text)) is not None:
        said = [f"{two['asks']} {noun}{two['rest']}?" for noun in (two["one"], two["other"])]
    if not 1 < len(said) <= _MOST or not says_something(said[0]):
        return ()
    subject = " ".join(word.word for word in words(said[0]) if is_subject(word))
    made = []
    for one in said:
        has_own = any(is_subject(word) for word in words(one))
        if not (has_own or asks_in_english(one)):
            return ()  # "Is it retried?" says more of the question before it
        made.append(Part(one, understood_or_plain(one if has_own else f"{one} {subject}")))
    return tuple(made)
