"""Texts into segments: one per top-level symbol of a code file, one per text document (A04–A08)."""

from __future__ import annotations

import re
from collections.abc import Callable

from rag_assets.contracts.segment import ParseHealth, SegmentedFile
from rag_assets.contracts.time_codes import TRANSCRIPTS
from rag_assets.languages.csharp.syntax import SEGMENTER_VERSION as _CSHARP_VERSION
from rag_assets.languages.csharp.syntax import segment_csharp
from rag_assets.languages.detection import SourceType, source_type
from rag_assets.languages.documents.resx import segment_resx
from rag_assets.languages.documents.text import (
    segment_markdown,
    segment_pages,
    segment_rst,
    segment_text,
    segment_windows,
)
from rag_assets.languages.documents.transcripts import segment_transcript

_VERSION = 30
"""Version of all segmenters but that of C#. Raise it with any change of behaviour, because it keys cached segments."""

SEGMENTER_VERSION = f"{_VERSION}.{_CSHARP_VERSION}"
"""Part of the cache key of every segmented file."""


# What a repository of C# alone does not need is imported with its first file: start-up budget.


def _segment_code(text: str, path: str, language: str) -> SegmentedFile:
    from rag_assets.languages import other_code

    return other_code.segment(text, path, language)


def _segment_with_code(text: str, path: str, language: str) -> SegmentedFile:
    from rag_assets.languages.embedded_code import segment_with_code

    return segment_with_code(text, path, language)


def _segment_sql(text: str, path: str, language: str) -> SegmentedFile:
    from rag_assets.languages.sql.segments import segment_sql

    return segment_sql(text, path, language)


_SEGMENTERS: dict[str, Callable[[str, str, str], SegmentedFile]] = {
    **dict.fromkeys(TRANSCRIPTS, segment_transcript),
    "csharp": lambda text, path, _: segment_csharp(text, path),
    "docx": segment_markdown,  # discovery extracts Word documents as Markdown
    "markdown": segment_markdown,
    "pdf": segment_pages,
    **dict.fromkeys(("razor", "svelte", "vue"), _segment_with_code),
    "resx": segment_resx,
    "rst": segment_rst,
    "sql": _segment_sql,
}
"""Languages without an entry: documents become plain text, code what its grammar or patterns say, everything else
windows of lines."""


_OTHERS = {SourceType.DOCUMENT: segment_text, SourceType.CODE: _segment_code}

_CHARACTER = re.compile(r"[^\s\x00\ufeff]")
"""A character that makes a text more than blank: not white space, NUL or a byte order mark."""


def segment_file(text: str, path: str, language: str) -> SegmentedFile:
    """The segments of one file, in text order (A04–A08). Pure (A07), and never raises for any text.

    `path` is repository-relative with `/`, `language` a name of `rag_assets.languages.detection`. A blank file has
    no segments, and `detail` says so.
    """
    if not _CHARACTER.search(text):
        return SegmentedFile((), ParseHealth.OK, "only blanks" if text else "empty file")
    segmenter = _SEGMENTERS.get(language)
    if segmenter is None:
        segmenter = _OTHERS.get(source_type(language), segment_windows)
    return segmenter(text, path, language)
