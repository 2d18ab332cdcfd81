"""Extracts text from files that are not text: PDF, Word, transcripts as JSON (E02, E03).

Each format becomes a plain form that segmentation reads: pages between form feeds, Markdown, WebVTT. Lines and offsets
of every later stage refer to this text. Other packages add formats (`rag_assets.extractors`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from rag_assets.entry_points import offered
from rag_assets.sources.extraction.refusal import ExtractionRefused

EXTRACTION_VERSION = 2
"""Part of the fingerprint of discovery. Raise it when the text of a format changes."""

EXTRACTORS = "rag_assets.extractors"
"""The entry points of other packages: the ending of a file name without its dot, and its Extract."""

TRANSCRIPT_JSON = ".transcript.json"
_PLAIN_TRANSCRIPTS = (".vtt", ".srt")

Extract = Callable[[bytes], str | ExtractionRefused]
"""Gives the text of a file, or why there is none. It may raise, crash or never end: then the file is skipped."""


def extraction_of(name: str) -> Extract | None:
    """The extractor for a file of this name; None for text files."""
    low = name.lower()
    for ending, made in _FORMATS.items():
        if low.endswith(ending):
            return made
    for point in offered(EXTRACTORS):
        if low.endswith(f".{point.name.lower()}"):
            return cast(Extract, point.load())
    return None


def is_document(name: str) -> bool:
    """Whether a file of this name is a document or a transcript, which may be larger than a source file."""
    return name.lower().endswith(_PLAIN_TRANSCRIPTS) or extraction_of(name) is not None


def extractors_description() -> str:
    """The formats of other packages with the versions of these."""
    versions = ((point, point.dist.version if point.dist else "") for point in offered(EXTRACTORS))
    return "\n".join(sorted(f"{point.name} {point.value} {version}" for point, version in versions))


def _pdf(data: bytes) -> str | ExtractionRefused:
    from rag_assets.sources.extraction.pdf import pdf_text

    return pdf_text(data)


def _docx(data: bytes) -> str | ExtractionRefused:
    from rag_assets.sources.extraction.docx import docx_text

    return docx_text(data)


def _transcript(data: bytes) -> str | ExtractionRefused:
    from rag_assets.sources.extraction.transcript_json import transcript_text

    return transcript_text(data)


_FORMATS: Mapping[str, Extract] = {
    ".pdf": _pdf,
    ".docx": _docx,
    TRANSCRIPT_JSON: _transcript,
}
