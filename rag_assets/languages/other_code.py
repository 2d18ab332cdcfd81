"""Segments of code that is not C#: by the grammar of its language, or by patterns where there is none here."""

from __future__ import annotations

from rag_assets.contracts.segment import SegmentedFile
from rag_assets.languages.by_pattern.segments import segment_by_pattern
from rag_assets.languages.treesitter.code_segments import segment_code
from rag_assets.languages.treesitter.go import read_go
from rag_assets.languages.treesitter.java import read_java
from rag_assets.languages.treesitter.python import read_python
from rag_assets.languages.treesitter.typescript import typescript_reader

_READERS = {
    "go": read_go,
    "java": read_java,
    "python": read_python,
    **{language: typescript_reader(language) for language in ("javascript", "tsx", "typescript")},
}
"""What a grammar needs to become segments; without one a language is read by patterns."""


def segment(text: str, path: str, language: str) -> SegmentedFile:
    """The segments of one file of code, in text order (A04)."""
    reader = _READERS.get(language)
    return segment_code(text, path, language, reader) if reader else segment_by_pattern(text, path, language)
