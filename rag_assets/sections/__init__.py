"""From facts to summary sections: finder snippets, token-aware splitting, source slices. Pure (A26)."""

from rag_assets.sections.code import Outline, code_sections, kebab_case
from rag_assets.sections.documents import TextOutline, TextRange, TextSection, text_sections
from rag_assets.sections.snippet import Block, SectionSubject
from rag_assets.sections.splitter import SectionPart, split

SECTION_VERSION = 2
"""Raise it when the same description would give other sections."""

__all__ = [
    "SECTION_VERSION",
    "Block",
    "Outline",
    "SectionPart",
    "SectionSubject",
    "TextOutline",
    "TextRange",
    "TextSection",
    "code_sections",
    "kebab_case",
    "split",
    "text_sections",
]
