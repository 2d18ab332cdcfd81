"""Turns JSON transcripts, as tools that fetch captions write them, into WebVTT (E03).

Three shapes: a list of `{"text", "start", "duration"}`; the same list under `segments`, `transcript` or `captions`
of an object that may have a `title`; and YouTube's own `{"events": [{"tStartMs", "dDurationMs", "segs"}]}`. Times are
seconds, or milliseconds if the name ends with `Ms`. `end` may stand for `duration`, `offset` for `start`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from rag_assets.contracts.source_file import SkipReason
from rag_assets.sources.extraction.refusal import ExtractionRefused

_LISTS = ("segments", "transcript", "captions")
_TITLES = ("title", "videoTitle", "video_title")
_MOST_SECONDS = 360_000.0  # 100 hours: no video is longer, so larger numbers are not seconds


def transcript_text(data: bytes) -> str | ExtractionRefused:
    """A WebVTT file with one cue per entry with a time and words."""
    try:
        found: Any = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        return ExtractionRefused(SkipReason.UNREADABLE, f"no transcript: {error}")
    title = next((_flat(found[key]) for key in _TITLES if key in found), "") if isinstance(found, dict) else ""
    cues = list(_cues(found))
    if not cues:
        return ExtractionRefused(
            SkipReason.UNREADABLE, "no transcript: expected a list of objects with text, start and duration"
        )
    blocks = [f"{clock(start)} --> {clock(max(start, end))}\n{text}" for start, end, text in cues]
    return "\n\n".join([f"WEBVTT - {title}" if title else "WEBVTT", *blocks]) + "\n"


def clock(seconds: float) -> str:
    """`01:02:03.450`, as WebVTT writes a time."""
    whole, milliseconds = divmod(round(seconds * 1000), 1000)
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}.{milliseconds:03d}"


def _cues(found: Any) -> Iterator[tuple[float, float, str]]:
    entries: list[Any]
    if isinstance(found, dict) and isinstance(found.get("events"), list):
        entries = [_of_event(event) for event in found["events"] if isinstance(event, dict)]
    elif isinstance(found, dict):
        entries = next((found[key] for key in _LISTS if isinstance(found.get(key), list)), [])
    else:
        entries = found if isinstance(found, list) else []
    for entry in entries:
        if not isinstance(entry, dict):
            continue
        start = _seconds(entry.get("start", entry.get("offset")))
        text = _flat(entry.get("text"))
        if start is None or not text:
            continue
        length, end = _seconds(entry.get("duration", entry.get("dur"))), _seconds(entry.get("end"))
        speaker = _flat(entry.get("speaker"))
        yield start, end if end is not None else start + (length or 0.0), f"<v {speaker}>{text}" if speaker else text


def _of_event(event: dict[str, Any]) -> dict[str, Any]:
    parts = event.get("segs")
    said = [part.get("utf8", "") for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    start, length = _seconds(event.get("tStartMs"), 1000), _seconds(event.get("dDurationMs"), 1000)
    return {"text": "".join(one for one in said if isinstance(one, str)), "start": start, "duration": length}


def _seconds(value: Any, parts: int = 1) -> float | None:
    """The seconds of a number or a number as text; None for anything else, and for impossible times."""
    try:
        seconds = float(value) / parts
    except (TypeError, ValueError):
        return None
    return seconds if 0 <= seconds <= _MOST_SECONDS else None


def _flat(value: Any) -> str:
    """One line, without characters that would end a cue or a tag."""
    if not isinstance(value, str):
        return ""
    return " ".join(value.replace("-->", "→").replace("<", "‹").replace(">", "›").split())
