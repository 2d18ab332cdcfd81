"""Extracts text from files that are not text: PDF, Word, transcripts as JSON (E02, E03).

Each format becomes a plain form that segmentation reads: pages between form feeds, Markdown, WebVTT. Lines and offsets
of every later stage refer to this text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rag_assets.sources.extraction.refusal import ExtractionRefused

EXTRACTION_VERSION = 2
"""Part of the fingerprint of discovery. Raise it when the text of a format changes."""

TRANSCRIPT_JSON = ".transcript.json"


def extraction_of(name: str) -> Callable[[bytes, float], str | ExtractionRefused] | None:
    """The extractor for a file of this name; None for text files. It takes the bytes and the time (`time.monotonic`) to
    stop at."""
    low = name.lower()
    return next((made for ending, made in _FORMATS.items() if low.endswith(ending)), None)


def _pdf(data: bytes, deadline: float) -> str | ExtractionRefused:
    from rag_assets.sources.extraction.pdf import pdf_text

    return pdf_text(data, deadline)


def _docx(data: bytes, _: float) -> str | ExtractionRefused:
    from rag_assets.sources.extraction.docx import docx_text

    return docx_text(data)


def _transcript(data: bytes, _: float) -> str | ExtractionRefused:
    from rag_assets.sources.extraction.transcript_json import transcript_text

    return transcript_text(data)


_FORMATS: Mapping[str, Callable[[bytes, float], str | ExtractionRefused]] = {
    ".pdf": _pdf,
    ".docx": _docx,
    TRANSCRIPT_JSON: _transcript,
}
