"""Configuration, markup and languages without a grammar: one segment of windows."""

from __future__ import annotations

from rag_assets.contracts.segment import ParseHealth, SegmentedFile
from rag_assets.languages.detection import SourceType, source_type
from rag_assets.languages.sliding_window import window_segment

_KINDS = {
    SourceType.CONFIG: "config",
    SourceType.MARKUP: "markup",
    SourceType.RESOURCE: "resource",
}


def segment_windows(text: str, path: str, language: str) -> SegmentedFile:
    """The file as one segment; its kind says what it holds, `file` for code that has no grammar here."""
    kind = _KINDS.get(source_type(language), "file")
    segment = window_segment(text, path, language, ParseHealth.NO_GRAMMAR, kind=kind)
    return SegmentedFile((segment,), ParseHealth.NO_GRAMMAR)
