"""What the tests of segmentation read instead of whole segments: outlines, and the invariants every file keeps."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_assets.contracts.segment import LineIndex, Member, Segment, SegmentedFile, Span

CHARACTER = re.compile(r"[^\s\x00\ufeff]")


def outline(file: SegmentedFile) -> list[str]:
    """`kind symbol` of each segment, `  kind name` of each member, nested members further in."""
    lines = []
    for segment in file.segments:
        lines.append(f"{segment.kind} {segment.symbol}")
        lines.extend(_members(segment.members, "  "))
    return lines


def _members(members: tuple[Member, ...], indent: str) -> Iterator[str]:
    for member in members:
        yield f"{indent}{member.kind.value} {member.name}"
        yield from _members(member.members, indent + "  ")


def named(file: SegmentedFile, name: str) -> Segment:
    return next(segment for segment in file.segments if segment.name == name)


def member(segment: Segment | Member, name: str) -> Member:
    return next(found for found in segment.members if found.name == name)


def texts(text: str, segment: Segment) -> list[str]:
    """The source of each member."""
    return [found.span.slice(text) for found in segment.members]


def check_invariants(text: str, file: SegmentedFile) -> None:
    """Ordinals in text order; spans in range, with the lines of their characters; members inside, apart, in order."""
    lines = LineIndex(text)
    starts = [segment.span.char_start for segment in file.segments]
    assert starts == sorted(starts)
    assert [segment.ordinal for segment in file.segments] == list(range(len(starts)))
    for segment in file.segments:
        assert segment.name
        assert segment.symbol
        assert segment.health is file.health
        _check_span(text, lines, segment.span, Span(1, lines.line_of(len(text)), 0, len(text)))
        _check_members(text, lines, segment.members, segment.span)


def _check_members(text: str, lines: LineIndex, members: tuple[Member, ...], within: Span) -> None:
    end = within.char_start
    for found in members:
        _check_span(text, lines, found.span, within)
        assert found.span.char_start >= end, f"{found.name} overlaps the member before"
        end = found.span.char_end
        _check_members(text, lines, found.members, found.span)


def _check_span(text: str, lines: LineIndex, span: Span, within: Span) -> None:
    assert within.char_start <= span.char_start < span.char_end <= within.char_end
    assert span == lines.span(span.char_start, span.char_end)
    assert CHARACTER.search(text, span.char_start, span.char_end) or "\x00" in span.slice(text)


def check_covers_text(text: str, file: SegmentedFile) -> None:
    """Every character that is not blank lies in a member of the (only) segment."""
    (segment,) = file.segments
    position = 0
    for found in segment.members:
        assert not text[position : found.span.char_start].strip(), "text between two members"
        position = found.span.char_end
    assert not text[position:].strip(), "text after the last member"
