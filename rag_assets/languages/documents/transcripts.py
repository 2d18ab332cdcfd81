"""Time-coded transcripts, WebVTT and SubRip: one segment whose members are cues with their time and speaker (E03).

Each member begins where the one before ends, with its number and timing line, which `spoken` leaves out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from rag_assets.contracts.segment import LineIndex, Member, MemberKind, ParseHealth, Segment, SegmentedFile
from rag_assets.contracts.time_codes import TIMING, seconds_of, spoken
from rag_assets.languages.detection import file_stem
from rag_assets.languages.sliding_window import first_line, numbered_lines, window_segment

_BLANKS = re.compile(r"\s*")
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]+)>")
_NAMED = re.compile(r"(?:>>\s*)?([^\W\d_][\w .'’-]{0,40}?):\s")
_TITLE = re.compile(r"\ufeff?WEBVTT[ \t]+(?:-[ \t]*)?(\S.*)")
_LEAST_NAMED = 2
"""How often `Anna:` must begin a cue to be a speaker: `Note:` and `Step one:` begin one once."""


@dataclass(frozen=True, slots=True)
class _Cue:
    start: int
    end: int
    begins: float
    ends: float


def segment_transcript(text: str, path: str, language: str) -> SegmentedFile:
    """One segment of kind `transcript`; a file without any cue is windows of lines."""
    cues = list(_cues(text))
    if not cues:
        segment = window_segment(text, path, language, ParseHealth.TEXT_FALLBACK, kind="transcript")
        return SegmentedFile((segment,), ParseHealth.TEXT_FALLBACK, "no cue with a time")
    lines = LineIndex(text)
    title = _TITLE.match(text)
    name = title[1].strip() if title else file_stem(path)
    segment = Segment(
        name=name,
        symbol=path or name,
        kind="transcript",
        span=lines.span(0, len(text)),
        language=language,
        ordinal=0,
        heading_path=(name,),
        members=tuple(_members(text, cues, lines)),
    )
    return SegmentedFile((segment,), ParseHealth.OK)


def _members(text: str, cues: list[_Cue], lines: LineIndex) -> Iterator[Member]:
    said = [text[cue.start : cue.end] for cue in cues]
    named = Counter(found[1] for words in said if (found := _NAMED.match(spoken(words).strip())))
    speaker, before = "", 0
    for cue, words in zip(cues, said, strict=True):
        end = len(text) if cue is cues[-1] else cue.end
        voice = _VOICE.search(words)
        name = _NAMED.match(spoken(words).strip())
        if voice is not None:
            speaker = " ".join(voice[1].split())
        elif name is not None and named[name[1]] >= _LEAST_NAMED:
            speaker = name[1]  # who does not say who speaks goes on
        yield Member(
            name=speaker,
            kind=MemberKind.CUE,
            signature=first_line(spoken(words).strip()),
            span=lines.span(_BLANKS.match(text, before).end(), end),  # type: ignore[union-attr] # matches nothing too
            type="cue",
            value=f"{cue.begins:g}-{cue.ends:g}",
        )
        before = end


def _cues(text: str) -> Iterator[_Cue]:
    """Cues that say something, in the order of the file."""
    timing: tuple[float, float] | None = None
    first = last = -1
    for start, line in [*numbered_lines(text), (len(text), "")]:
        found = TIMING.match(line) if "-->" in line else None
        if found is None and line.strip():
            if timing is not None:
                first, last = (start if first < 0 else first), start + len(line.rstrip())
            continue
        if timing is not None and first >= 0:
            yield _Cue(first, last, *timing)
        first = last = -1
        timing = (seconds_of(*found.groups()[:4]), seconds_of(*found.groups()[4:])) if found else None
