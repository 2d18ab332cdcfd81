"""The places to cut a text: blank lines first, then line ends, sentence ends, blanks, and any character last."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from rag_assets.contracts.section import EmbeddingWindow
from rag_assets.sections.splitter import count_lines

Piece = tuple[int, int]
"""A range of characters of a text."""

_CUT_MARGIN = 0.9
"""Pieces are cut a little below the limit, because tokens are not spread evenly over characters."""
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_SENTENCE = re.compile(r"[.!?;。！？][\"')\]]*\s")


def paragraphs(text: str, start: int, end: int) -> list[Piece]:
    """Ranges of `text[start:end]` between blank lines; a fenced block is one paragraph. No range is blank."""
    found: list[Piece] = []
    first: int | None = None
    last = position = start
    fence = ""
    while position < end:
        stop = min(_LINE.match(text, position).end(), end)  # type: ignore[union-attr] # matches the empty string
        line = text[position:stop]
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark.group(1)
        elif mark and mark.group(1).startswith(fence) and not line[mark.end() :].strip():
            fence = ""
        if line.strip():
            first = position if first is None else first
            last = position + len(line.rstrip())
        elif first is not None and not fence:
            found.append((first, last))
            first = None
        position = stop
    if first is not None:
        found.append((first, last))
    return found


def cut_to(text: str, piece: Piece, length: int) -> list[Piece]:
    """Cuts `piece` into non-blank pieces of at most `length` characters."""
    start, end = piece
    found = []
    while end - start > length:
        stop = _break_before(text, start, start + length)
        found.append((start, stop))
        start = stop
    found.append((start, end))
    return [(a, b) for a, b in found if not text[a:b].isspace()]


def _break_before(text: str, start: int, limit: int) -> int:
    """The best place to cut in the second half of `text[start:limit]`: line end, sentence end, blank, else `limit`."""
    middle = (start + limit + 1) // 2
    line = max(text.rfind("\n", middle, limit), text.rfind("\r", middle, limit))
    if line >= 0:
        return line + 1
    sentence = 0
    for found in _SENTENCE.finditer(text, middle, limit):
        sentence = found.end()
    if sentence:
        return sentence
    blank = max(text.rfind(" ", middle, limit), text.rfind("\t", middle, limit))
    return blank + 1 if blank >= 0 else limit


def fit_pieces(
    text: str,
    pieces: Sequence[Sequence[Piece]],
    room: int,
    window: EmbeddingWindow,
    readable: Callable[[str], str] = str,
) -> list[list[tuple[Piece, int]]]:
    """The pieces of each section with the tokens of their `readable` text; pieces above `room` are cut. Usually takes
    one or two counting calls: every round cuts a piece to the length that its average token suggests, and at least in
    half."""
    sized = [(owner, piece, 0) for owner, found in enumerate(pieces) for piece in found]
    uncounted = list(range(len(sized)))
    while uncounted:
        counts = count_lines([readable(text[slice(*sized[index][1])]) for index in uncounted], window)
        for index, tokens in zip(uncounted, counts, strict=True):
            owner, piece, _ = sized[index]
            sized[index] = (owner, piece, tokens)
        fitted: list[tuple[int, Piece, int]] = []
        uncounted = []
        for owner, piece, tokens in sized:
            length = piece[1] - piece[0]
            if tokens <= room or length == 1:
                fitted.append((owner, piece, min(tokens, room)))
                continue
            step = max(1, min(math.floor(length * room * _CUT_MARGIN / tokens), length // 2))
            for part in cut_to(text, piece, step):
                uncounted.append(len(fitted))
                fitted.append((owner, part, 0))
        sized = fitted
    made: list[list[tuple[Piece, int]]] = [[] for _ in pieces]
    for owner, piece, tokens in sized:
        made[owner].append((piece, tokens))
    return made
