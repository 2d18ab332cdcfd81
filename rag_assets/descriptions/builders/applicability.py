"""What the builders of behaving kinds can read: types that a parser understood."""

from __future__ import annotations

from rag_assets.contracts.segment import Segment
from rag_assets.contracts.source_file import IndexFileContext
from rag_assets.descriptions.builders.general import layout_of
from rag_assets.languages import source_type

TYPES = frozenset({"class", "struct", "record", "record class", "record struct"})
"""Declarations that behave; interfaces, enums, delegates, functions and modules have builders of their own."""


def is_code(file_context: IndexFileContext, segment: Segment) -> bool:
    """Whether the segment has a syntax tree behind it."""
    return layout_of(segment, source_type(file_context.language_hint or segment.language)) == "code"


def is_type(file_context: IndexFileContext, segment: Segment) -> bool:
    """Whether the segment is a type with members that were read."""
    return segment.kind in TYPES and is_code(file_context, segment)
