"""Texts into segments: one per top-level symbol of a code file, one per text document (A04–A08)."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

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
from rag_assets.languages.sql.segments import segment_sql
from rag_assets.languages.treesitter.code_segments import segment_code
from rag_assets.languages.treesitter.go import read_go
from rag_assets.languages.treesitter.java import read_java
from rag_assets.languages.treesitter.python import read_python
from rag_assets.languages.treesitter.typescript import typescript_reader

_VERSION = 7
"""Version of all segmenters but that of C#. Raise it with any change of behaviour, because it keys cached segments."""

SEGMENTER_VERSION = f"{_VERSION}.{_CSHARP_VERSION}"
"""Part of the cache key of every segmented file."""


_SEGMENTERS: dict[str, Callable[[str, str, str], SegmentedFile]] = {
    **dict.fromkeys(TRANSCRIPTS, segment_transcript),
    "csharp": lambda text, path, _: segment_csharp(text, path),
    "docx": segment_markdown,  # discovery extracts Word documents as Markdown
    "go": partial(segment_code, read=read_go),
    "java": partial(segment_code, read=read_java),
    "javascript": partial(segment_code, read=typescript_reader("javascript")),
    "markdown": segment_markdown,
    "pdf": segment_pages,
    "python": partial(segment_code, read=read_python),
    "resx": segment_resx,
    "rst": segment_rst,
    "sql": segment_sql,
    "tsx": partial(segment_code, read=typescript_reader("tsx")),
    "typescript": partial(segment_code, read=typescript_reader("typescript")),
}
"""Languages without an entry: documents become plain text, everything else windows of lines."""


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
        segmenter = segment_text if source_type(language) is SourceType.DOCUMENT else segment_windows
    return segmenter(text, path, language)
