"""Text out of files that are not text: PDF, Word, transcripts as JSON (E02, E03).

Each format becomes the plain form that segmentation knows: pages between form feeds, Markdown, WebVTT. Lines and
offsets of every later stage are those of this text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rag_assets.contracts.source_file import SkipReason

EXTRACTION_VERSION = 1
"""Part of the fingerprint of discovery: raise it when a format comes out otherwise."""

TRANSCRIPT_JSON = ".transcript.json"


@dataclass(frozen=True, slots=True)
class Refused:
    """A file that gives no text, and what helps."""

    reason: SkipReason
    detail: str


def extraction_of(name: str) -> Callable[[bytes, float], str | Refused] | None:
    """What takes the text out of a file of this name, given its bytes and the time (`time.monotonic`) to stop at; None
    for files that are text."""
    low = name.lower()
    return next((made for ending, made in _FORMATS.items() if low.endswith(ending)), None)


def _pdf(data: bytes, deadline: float) -> str | Refused:
    from rag_assets.sources.extraction.pdf import pdf_text

    return pdf_text(data, deadline)


def _docx(data: bytes, _: float) -> str | Refused:
    from rag_assets.sources.extraction.docx import docx_text

    return docx_text(data)


def _transcript(data: bytes, _: float) -> str | Refused:
    from rag_assets.sources.extraction.transcript_json import transcript_text

    return transcript_text(data)


_FORMATS: Mapping[str, Callable[[bytes, float], str | Refused]] = {
    ".pdf": _pdf,
    ".docx": _docx,
    TRANSCRIPT_JSON: _transcript,
}
