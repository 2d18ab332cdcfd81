"""Texts with pages between form feeds, as PDF comes out of discovery: one segment whose members are pages (E02)."""

from __future__ import annotations

from collections.abc import Iterator

from rag_assets.contracts.segment import LineIndex, Member, MemberKind, ParseHealth, Segment, SegmentedFile
from rag_assets.contracts.time_codes import PAGE_BREAK
from rag_assets.languages.path_names import file_stem
from rag_assets.languages.sliding_window import first_line


def segment_pages(text: str, path: str, language: str) -> SegmentedFile:
    """One document; a page without words is counted and no member."""
    lines = LineIndex(text)
    name = file_stem(path)
    segment = Segment(
        name=name,
        symbol=path or name,
        kind="document",
        span=lines.span(0, len(text)),
        language=language,
        ordinal=0,
        heading_path=(name,),
        members=tuple(_pages(text, lines)),
    )
    return SegmentedFile((segment,), ParseHealth.OK)


def _pages(text: str, lines: LineIndex) -> Iterator[Member]:
    start = 0
    for number, page in enumerate(text.split(PAGE_BREAK), start=1):
        end = start + len(page)
        if page.strip():
            yield Member(
                name=f"page {number}",
                kind=MemberKind.PAGE,
                signature=first_line(page.strip()),
                span=lines.span(start, end),
                type="page",
                value=str(number),
            )
        start = end + len(PAGE_BREAK)
