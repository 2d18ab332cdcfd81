"""Chunks of running text: 700 to 1,000 tokens that end where the text breaks and begin with the end of the one before.

A text is a list of units: sentences, lines, or parts of them of at most `UNIT_TOKENS`. What precedes a unit says how
well a chunk can begin with it. Small units make every size and every overlap of the contract (E01, R32) reachable.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import accumulate, takewhile

from rag_assets.contracts.embedder import EmbeddingWindow
from rag_assets.sections.splitter import SENTENCE_END, Piece, count_lines, cut_to, fit_each, join, paragraphs

CHUNK_TOKENS = 1_000  # E01: at most
LEAST_TOKENS = 700  # E01: at least, where the section has as many
OVERLAP_TOKENS = (100, 150)  # E01
UNIT_TOKENS = OVERLAP_TOKENS[1] - OVERLAP_TOKENS[0]
"""The longest unit: adding one to less than the least overlap never exceeds the greatest."""

_CUT_MARGIN = 0.9
"""Units are cut a little below the limit, because tokens are not spread evenly over characters."""
_LINE_END = re.compile(r"\r\n|\r|\n")


class Break(IntEnum):
    """What precedes a unit, the better the higher."""

    NONE = 0
    LINE = 1
    SENTENCE = 2
    PARAGRAPH = 3


@dataclass(frozen=True, slots=True)
class Unit:
    """`text[start:end]`, not to be cut, and the break before it."""

    start: int
    end: int
    before: Break = Break.PARAGRAPH
    tokens: int = 0


def units_of(text: str, start: int, end: int) -> list[Unit]:
    """The sentences and lines of `text[start:end]`, uncounted. None is blank."""
    found: list[Unit] = []
    for first, last in paragraphs(text, start, end):
        cuts = {first: Break.PARAGRAPH}
        cuts |= {stop.end(): Break.LINE for stop in _LINE_END.finditer(text, first, last)}
        cuts |= {stop.end(): Break.SENTENCE for stop in SENTENCE_END.finditer(text, first, last)}
        places = sorted(cuts)
        for place, stop in zip(places, [*places[1:], last], strict=True):
            if not text[place:stop].isspace() and place < stop:
                found.append(Unit(place, stop, cuts[place]))
    return found


def below_heading(text: str, units: Sequence[Unit]) -> list[Unit]:
    """The units of a section that begins with its heading: no chunk ends between the heading and what follows it."""
    made = list(units)
    for at in range(1, len(made)):
        made[at] = replace(made[at], before=Break.NONE)
        if _says_something(text, made[at]):
            break
    return made


def _says_something(text: str, unit: Unit) -> bool:
    return any(map(str.isalnum, text[unit.start : unit.end]))


def counted(
    text: str,
    sections: Sequence[Sequence[Unit]],
    window: EmbeddingWindow,
    readable: Callable[[str], str] = str,
) -> list[list[Unit]]:
    """The units of each section with the tokens of their `readable` text; those above UNIT_TOKENS are cut. Usually
    takes two or three counting calls: every round cuts a unit to the length that its average token suggests, and at
    least in half."""
    sized = [(owner, unit) for owner, found in enumerate(sections) for unit in found]
    uncounted = list(range(len(sized)))
    while uncounted:
        counts = count_lines([readable(text[sized[i][1].start : sized[i][1].end]) for i in uncounted], window)
        for index, tokens in zip(uncounted, counts, strict=True):
            owner, unit = sized[index]
            sized[index] = (owner, replace(unit, tokens=tokens))
        fitted: list[tuple[int, Unit]] = []
        uncounted = []
        for owner, unit in sized:
            length = unit.end - unit.start
            if unit.tokens <= UNIT_TOKENS or length == 1:
                fitted.append((owner, unit))
                continue
            step = max(1, min(math.floor(length * UNIT_TOKENS * _CUT_MARGIN / unit.tokens), length // 2))
            for number, (start, end) in enumerate(cut_to(text, (unit.start, unit.end), step)):
                uncounted.append(len(fitted))
                fitted.append((owner, Unit(start, end, Break.NONE if number else unit.before)))
        sized = fitted
    made: list[list[Unit]] = [[] for _ in sections]
    for owner, unit in sized:
        made[owner].append(unit)
    return made


@dataclass(frozen=True, slots=True)
class Run:
    """Units that share one header and are chunked together."""

    header: tuple[str, ...]
    units: tuple[Unit, ...]


@dataclass(frozen=True, slots=True)
class Chunk:
    """`text[start:end]` under its header, as embedded; `overlap` of its tokens are also the end of the one before."""

    start: int
    end: int
    snippet: str
    tokens: int
    overlap: int


@dataclass(frozen=True, slots=True)
class _Range:
    """A chunk of a run: units `first` to `stop` are new, the `back` units before them are repeated."""

    run: int
    first: int
    stop: int
    back: int = 0


def chunk_runs(
    text: str, runs: Sequence[Run], *, room: int, window: EmbeddingWindow, readable: Callable[[str], str] = str
) -> list[list[Chunk]]:
    """The chunks of each run in order, each of at most CHUNK_TOKENS. `room` is what a header leaves of them;
    `readable` gives the part of a slice that is embedded.

    The new units of the chunks cover the run. If a tokenizer counts more for the whole than for its units, the
    overlap is dropped first, then the chunk is halved.
    """
    pending = [_Range(number, *found) for number, run in enumerate(runs) for found in chunk_ranges(run.units, room)]
    made: list[list[Chunk]] = [[] for _ in runs]
    while pending:
        places = [_place(runs[r.run].units[r.first - r.back : r.stop]) for r in pending]
        snippets = [
            join(runs[r.run].header, [readable(text[start:end]).rstrip()])
            for r, (start, end) in zip(pending, places, strict=True)
        ]
        again: list[_Range] = []
        for r, (start, end), snippet, tokens in zip(pending, places, snippets, window.count(snippets), strict=True):
            if tokens <= CHUNK_TOKENS:
                overlap = sum(unit.tokens for unit in runs[r.run].units[r.first - r.back : r.first])
                made[r.run].append(Chunk(start, end, snippet, tokens, overlap))
            elif r.back:
                again.append(_Range(r.run, r.first, r.stop))
            elif r.stop - r.first > 1:
                middle = (r.first + r.stop) // 2
                again += [_Range(r.run, r.first, middle), _Range(r.run, middle, r.stop)]
            else:
                cut, counts = fit_each([snippet], [tokens], CHUNK_TOKENS, window)
                made[r.run].append(Chunk(start, end, cut[0], counts[0], 0))
        pending = again
    return [sorted(chunks, key=lambda chunk: (chunk.end, chunk.start)) for chunks in made]


def _place(units: Sequence[Unit]) -> Piece:
    return units[0].start, units[-1].end


def chunk_ranges(units: Sequence[Unit], room: int) -> list[tuple[int, int, int]]:
    """(first, stop, back) of each chunk: its new units, and how many before them it repeats.

    A chunk ends at the best break between the least size and `room`; of equal ones, at that which shares out what is
    left most evenly.
    """
    ends = [0, *accumulate(unit.tokens for unit in units)]
    made: list[tuple[int, int, int]] = []
    first = back = 0
    while ends[-1] - ends[first - back] > room:
        used = ends[first - back]
        stop = _stop(units, ends, first, used, room)
        made.append((first, stop, back))
        first, back = stop, stop - _overlap_start(units, ends, first, stop)
    made.append((first, len(units), back))
    return made


def _stop(units: Sequence[Unit], ends: Sequence[int], first: int, used: int, room: int) -> int:
    """Where the chunk ends whose new units begin with `first`; `ends[at] - used` is its size up to unit `at`."""
    fitting = list(takewhile(lambda at: ends[at] - used <= room, range(first + 1, len(units))))
    least = max(room - (CHUNK_TOKENS - LEAST_TOKENS), 1)
    large = [at for at in fitting if ends[at] - used >= least]
    if not large:
        return max(fitting, default=first + 1)
    repeated = sum(OVERLAP_TOKENS) // 2
    rest = ends[-1] - used
    even = repeated + (rest - repeated) / max(math.ceil((rest - repeated) / (room - repeated)), 1)
    return max(large, key=lambda at: (units[at].before, -abs(ends[at] - used - even)))


def _overlap_start(units: Sequence[Unit], ends: Sequence[int], first: int, stop: int) -> int:
    """The unit that the next chunk begins with: the best break within OVERLAP_TOKENS before `stop`, at the latest."""
    least, most = OVERLAP_TOKENS
    starts = []
    for at in range(stop - 1, first, -1):
        repeated = ends[stop] - ends[at]
        if repeated > most:
            break
        if repeated >= least:
            starts.append(at)
    return max(starts, key=lambda at: (units[at].before, at), default=stop)
