"""What kind of answer a question wants, read off its words: a definition, who uses something, a route, a table. Pure.

It only decides which facts come first. A question that is misread still gets the best quotes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from rag_assets.search import Question, QuestionKind


class Intent(StrEnum):
    DEFINITION = "definition"
    USAGE = "usage"
    IMPLEMENTATIONS = "implementations"
    ROUTES = "routes"
    TABLES = "tables"
    EXPLANATION = "explanation"


_USAGE = re.compile(
    r"\bwho (?:calls|uses|invokes|creates|constructs)\b|\bcallers? of\b|\busages? of\b|\breferences? (?:to|of)\b"
    r"|\bwhere (?:is|are) .{1,80}? (?:used|called|invoked|created|constructed|injected|referenced)\b"
    r"|\bwhat (?:calls|uses|invokes|depends on)\b|\bused by\b|\bcalled by\b",
    re.IGNORECASE,
)
_IMPLEMENTATIONS = re.compile(
    r"\b(?:what|which|who)\b.{0,40}\b(?:implements?|inherits?|derives?|extends?|overrides?)\b|\bimplementations? of\b"
    r"|\bsub(?:classes|types) of\b|\bderived (?:classes|types)\b",
    re.IGNORECASE,
)
_ROUTES = re.compile(
    r"\b(?:GET|POST|PUT|DELETE|PATCH|HEAD)\s+/\S*|\bendpoints?\b|\broutes?\b|\bhttp (?:verb|method)s?\b|\bapi calls?\b",
)
_TABLES = re.compile(
    r"\b(?:which|what) (?:database )?tables?\b|\bwho (?:reads|writes)\b|\bdatabase tables?\b|\btable \w+"
    r"|\b(?:reads?|writes?|written|stored) (?:from|to|in|into) (?:the )?(?:database|table|dbo)|\bstored procedures?\b",
    re.IGNORECASE,
)
_DEFINITION = re.compile(
    r"^\s*(?:what (?:is|are|does)|define|definition of|explain|describe"
    r"|where (?:is|are) .{1,80}? (?:defined|declared))\b",
    re.IGNORECASE,
)
_QUOTED_NAME = re.compile(r"`([A-Za-z_][\w.]*)`")
_CAPITALISED = re.compile(r"(?<!^)(?<![.?!]\s)\b[A-Z][a-z0-9]{2,}\b")


@dataclass(frozen=True, slots=True)
class QueryIntent:
    """`names` are identifiers that the question writes as code is written; `guesses` capitalised words within it, which
    may be types of one word (`Basket`) or just names."""

    intent: Intent
    names: tuple[str, ...]
    guesses: tuple[str, ...] = ()


def intent_of(question: Question) -> QueryIntent:
    """The kind of answer and the names that a question is about."""
    text = question.typed
    names = tuple(dict.fromkeys((*question.symbols, *_QUOTED_NAME.findall(text))))
    if not names and question.kind is QuestionKind.SYMBOL:
        names = (question.text.strip(),)
    guesses = tuple(dict.fromkeys(word for word in _CAPITALISED.findall(text) if word not in names))
    return QueryIntent(_intent(text, question.kind, bool(names)), names, guesses)


def _intent(text: str, kind: QuestionKind, has_names: bool) -> Intent:
    for intent, pattern in (
        (Intent.IMPLEMENTATIONS, _IMPLEMENTATIONS),
        (Intent.USAGE, _USAGE),
        (Intent.ROUTES, _ROUTES),
        (Intent.TABLES, _TABLES),
    ):
        if pattern.search(text):
            return intent
    if has_names and (kind is QuestionKind.SYMBOL or _DEFINITION.search(text)):
        return Intent.DEFINITION
    return Intent.EXPLANATION
