"""Parses the replies of the language model: the plan of the router, and the answer of the answerer or its wish for more
evidence.

A router says one line with one prefix, an answerer begins with one of two (D09, D10, D24, R13). The result
is typed, or it is a typed violation; `handle_prefix` decides what happens then (R11). Prefixes are never part of a
result, so no user sees them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from rag_assets.contracts.protocol_markers import ANSWER_WORDS, ANY_MARKER, ROUTER_WORDS
from rag_assets.contracts.retrieval import Mode, RetrievalPlan

MAX_QUERY_CHARS = 1_000
"""A query that is longer is no query: an embedding reads 512 tokens, and keywords drown."""

_ROUTER = re.compile(rf"\[(?P<word>{'|'.join(sorted(ROUTER_WORDS, key=len, reverse=True))}):\]")
_ANSWER = re.compile(rf"\[(?P<word>{'|'.join(map(re.escape, ANSWER_WORDS))}):\]")
_ANSWER_ANY_CASE = re.compile(_ANSWER.pattern, re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_MODES = {mode.name: mode for mode in Mode}


class InvalidReply(StrEnum):
    """How a reply violates its protocol."""

    EMPTY = "the reply is empty"
    ENDLESS = "the reply is far too long"
    NO_PREFIX = "the reply does not begin with a prefix of the protocol"
    SEVERAL_LINES = "the reply has several lines"
    SEVERAL_PREFIXES = "the reply has several prefixes"
    NO_QUERY = "there is nothing behind the prefix"
    TOO_LONG = "what is behind the prefix is too long"
    CONTROL = "the reply has control characters"


@dataclass(frozen=True, slots=True)
class Answered:
    text: str


@dataclass(frozen=True, slots=True)
class Requested:
    """More evidence is wanted: what for."""

    query: str


def parse_route(reply: str) -> RetrievalPlan | InvalidReply:
    """The plan of a router's reply: exactly one line, exactly one prefix, in exactly this spelling (D09, D10). Blanks
    around the line do not count."""
    line = reply.strip()
    broken = _broken_line(line)
    if broken is not None:
        return broken
    found = _ROUTER.match(line)
    if found is None:
        return InvalidReply.NO_PREFIX
    query = line[found.end() :].strip()
    mode = _MODES.get(found["word"])
    if mode is not None and not query:
        return InvalidReply.NO_QUERY
    return _query_broken(query) or RetrievalPlan(mode, query)


def parse_answer(reply: str, *, strict: bool = True) -> Answered | Requested | InvalidReply:
    """An answer, which may have many lines, or a request, which has one (D24). `strict` False takes the two prefixes in
    any case (R13)."""
    text = reply.strip()
    if not text:
        return InvalidReply.EMPTY
    if _CONTROL.search(text):
        return InvalidReply.CONTROL
    found = (_ANSWER if strict else _ANSWER_ANY_CASE).match(text)
    if found is None:
        return InvalidReply.NO_PREFIX
    rest = text[found.end() :].strip()
    if ANY_MARKER.search(rest):
        return InvalidReply.SEVERAL_PREFIXES
    if not rest:
        return InvalidReply.NO_QUERY
    if found["word"].casefold() == ANSWER_WORDS[0].casefold():
        return Answered(rest)
    return _broken_line(rest) or _query_broken(rest) or Requested(rest)


def _broken_line(line: str) -> InvalidReply | None:
    if not line:
        return InvalidReply.EMPTY
    if len(line.splitlines()) > 1:
        return InvalidReply.SEVERAL_LINES
    if _CONTROL.search(line):
        return InvalidReply.CONTROL
    if len(ANY_MARKER.findall(line)) > 1:
        return InvalidReply.SEVERAL_PREFIXES
    return None


def _query_broken(query: str) -> InvalidReply | None:
    return InvalidReply.TOO_LONG if len(query) > MAX_QUERY_CHARS else None
