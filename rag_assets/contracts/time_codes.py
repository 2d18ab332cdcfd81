"""Texts with times or pages: words of transcripts, times of cues, page breaks. Pure."""

from __future__ import annotations

import re

TRANSCRIPTS = frozenset({"vtt", "srt"})
"""The languages of transcripts."""

PAGE_BREAK = "\f"
"""Separates the pages of an extracted text, as in the output of `pdftotext`."""

_TIME = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{2})[.,](\d{1,3})"
TIMING = re.compile(rf"[ \t]*{_TIME}[ \t]*-->[ \t]*{_TIME}")
"""A timing line of WebVTT or SubRip: hours, minutes, seconds and fraction of its begin, then of its end."""

_TIMING_LINE = re.compile(r"^[^\n]*-->[^\n]*(?:\n|\Z)", re.MULTILINE)
_HEAD = re.compile(r"\A\ufeff?WEBVTT\b[^\n]*")
_NUMBER_LINE = re.compile(r"^[ \t]*\d+[ \t]*\r?\n(?=[^\n]*-->)", re.MULTILINE)
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^<>]+)>")
_TAG = re.compile(r"</?(?:[cibuv]|ruby|rt|lang|font)(?:[.\s][^<>]*)?>|<[\d:.]+>", re.IGNORECASE)


def spoken(text: str) -> str:
    """The words of a part of a transcript, line by line, without numbers, timing lines and tags."""
    words = _TAG.sub("", _TIMING_LINE.sub("", _NUMBER_LINE.sub("", _HEAD.sub("", text))))
    return "\n".join(line for line in words.split("\n") if line.strip())


def spoken_by(text: str) -> str:
    """The same with the speaker, if a tag names one: `Anna: …`."""
    return spoken(_VOICE.sub(r"\1: ", text))


def seconds_of(hours: str | None, minutes: str, seconds: str, fraction: str) -> float:
    """The parts of a time in a timing line as seconds."""
    return int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds) + int(fraction.ljust(3, "0")) / 1000


def begins_at(text: str, at: int, otherwise: int) -> int:
    """The whole seconds at which the cue at `text[at]` begins; `otherwise` if no timing line precedes it. A passage
    that starts with a timing line begins at that time."""
    line_end = text.find("\n", at)
    before = [*TIMING.finditer(text, 0, len(text) if line_end < 0 else line_end)]
    return int(seconds_of(*before[-1].groups()[:4])) if before else otherwise
