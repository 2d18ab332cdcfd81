"""The sentences, list items and code blocks of an answer in Markdown. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FENCE = re.compile(r"^[ \t]*(```+|~~~+)")
_QUOTED_LINE = re.compile(r"^[ \t]*>")
_END = re.compile(
    r"(?<=[.!?])[\"”')*_`]*(?P<cites>(?:\s*\[chunk:[^\]\n]*\])*)(?P<gap>\s+)"
    r"(?=[\"'“`(*_]*[A-Z0-9À-Þ\"“`\[])"
)
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|approx|no|fig|incl)\.$", re.IGNORECASE)
_QUOTED = re.compile(r"“[^”]*”|\"[^\"\n]*\"|`[^`\n]*`")
_BULLET = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
_HEADING = re.compile(r"^\s*#{1,6}\s|^\s*\*\*[^*]+\*\*:?\s*$|^\s*(?:---+|\*\*\*+)\s*$")
_CITES_ONLY = re.compile(r"(?:\s*\[chunk:[^\]\n]*\][.;,]?)+\s*")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A claim of an answer, `text[start:end]` of it, with the code blocks that belong to it. `is_heading` claims
    nothing."""

    text: str
    start: int
    end: int
    is_heading: bool = False


def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of an answer in their order. A code block or block quote belongs to the sentence before it, and so
    does a line of nothing but citations."""
    found: list[Sentence] = []
    for start, end, joins in _pieces(text):
        piece = text[start:end]
        if not piece.strip():
            continue
        if joins and found and not found[-1].is_heading:
            last = found[-1]
            found[-1] = Sentence(text[last.start : end].strip(), last.start, end)
        else:
            found.append(Sentence(piece.strip(), start, end, _HEADING.match(piece) is not None))
    return tuple(found)


def _pieces(text: str) -> Iterator[tuple[int, int, bool]]:
    """(start, end, whether it joins what is before) of code blocks, quoted lines and the sentences between them."""
    at, paragraph = 0, 0
    fence = ""
    fence_at = 0
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence[:3]):
                yield fence_at, at + len(line), True
                fence, paragraph = "", at + len(line)
        elif mark:
            yield from _split(text, paragraph, at)
            fence, fence_at = mark[1], at
        elif _QUOTED_LINE.match(line):
            yield from _split(text, paragraph, at)
            yield at, at + len(line), True
            paragraph = at + len(line)
        elif not line.strip() or _BULLET.match(line) or _HEADING.match(line):
            yield from _split(text, paragraph, at)
            paragraph = at
            if _HEADING.match(line):
                yield at, at + len(line), False
                paragraph = at + len(line)
        at += len(line)
    if fence:
        yield fence_at, at, True
    else:
        yield from _split(text, paragraph, at)


def _split(text: str, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
    at = start
    quoted = [found.span() for found in _QUOTED.finditer(text, start, end)]
    for found in _END.finditer(text, start, end):
        inside = any(begin < found.start("gap") < stop for begin, stop in quoted)
        if inside or _ABBREVIATION.search(text[at : found.start()]):
            continue
        stop = found.end("cites")
        yield at, stop, _CITES_ONLY.fullmatch(text[at:stop]) is not None
        at = found.end()
    if at < end:
        yield at, end, _CITES_ONLY.fullmatch(text[at:end]) is not None
