"""What a model may say: the router one line with one prefix, the answerer one of two prefixes (D09, D10, D24, R13).

Parsed strictly, into a typed result or a typed violation; what to do about a violation is the business of
`handle_prefix` (R11). Prefixes are never part of a result, so no user sees them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from rag_assets.contracts.protocol_markers import ANSWER_WORDS, ROUTER_WORDS
from rag_assets.contracts.retrieval import Mode

MAX_QUERY_CHARS = 1_000
"""A query that is longer is no query: an embedding reads 512 tokens, and keywords drown."""

_ROUTER = re.compile(rf"\[(?P<word>{'|'.join(sorted(ROUTER_WORDS, key=len, reverse=True))}):\]")
_ANSWER = re.compile(rf"\[(?P<word>{'|'.join(map(re.escape, ANSWER_WORDS))}):\]")
_ANSWER_ANY_CASE = re.compile(_ANSWER.pattern, re.IGNORECASE)
_ANY = re.compile(
    rf"\[(?:{'|'.join(map(re.escape, sorted((*ROUTER_WORDS, *ANSWER_WORDS), key=len, reverse=True)))}):\]",
    re.IGNORECASE,
)
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_MODES = {mode.name: mode for mode in Mode}


class Broken(StrEnum):
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
class RetrievalPlan:
    """What to retrieve, and how (D11); `mode` None is DIRECT: without retrieval (D12). `query` may then be empty."""

    mode: Mode | None
    query: str


@dataclass(frozen=True, slots=True)
class Answered:
    text: str


@dataclass(frozen=True, slots=True)
class Requested:
    """More evidence is wanted: what for."""

    query: str


def parse_route(reply: str) -> RetrievalPlan | Broken:
    """The plan of a router's reply: exactly one line, exactly one prefix, in exactly this spelling (D09, D10). Blanks
    around the line do not count."""
    line = reply.strip()
    broken = _broken_line(line)
    if broken is not None:
        return broken
    found = _ROUTER.match(line)
    if found is None:
        return Broken.NO_PREFIX
    query = line[found.end() :].strip()
    mode = _MODES.get(found["word"])
    if mode is not None and not query:
        return Broken.NO_QUERY
    return _query_broken(query) or RetrievalPlan(mode, query)


def parse_answer(reply: str, *, strict: bool = True) -> Answered | Requested | Broken:
    """An answer, which may have many lines, or a request, which has one (D24). `strict` False takes the two prefixes in
    any case (R13)."""
    text = reply.strip()
    if not text:
        return Broken.EMPTY
    if _CONTROL.search(text):
        return Broken.CONTROL
    found = (_ANSWER if strict else _ANSWER_ANY_CASE).match(text)
    if found is None:
        return Broken.NO_PREFIX
    rest = text[found.end() :].strip()
    if _ANY.search(rest):
        return Broken.SEVERAL_PREFIXES
    if not rest:
        return Broken.NO_QUERY
    if found["word"].casefold() == ANSWER_WORDS[0].casefold():
        return Answered(rest)
    return _broken_line(rest) or _query_broken(rest) or Requested(rest)


def _broken_line(line: str) -> Broken | None:
    if not line:
        return Broken.EMPTY
    if len(line.splitlines()) > 1:
        return Broken.SEVERAL_LINES
    if _CONTROL.search(line):
        return Broken.CONTROL
    if len(_ANY.findall(line)) > 1:
        return Broken.SEVERAL_PREFIXES
    return None


def _query_broken(query: str) -> Broken | None:
    return Broken.TOO_LONG if len(query) > MAX_QUERY_CHARS else None
