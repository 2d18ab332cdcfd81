"""Source slices that cover a segment: every non-blank character lies in the header or in exactly one tile.

Members do not touch: closing braces, `#region` lines and loose comments lie between them. A closing brace belongs to
the member it closes, anything else to the next member.
"""

from __future__ import annotations

import re

from rag_assets.contracts.segment import Span
from rag_assets.languages.members import MemberRange

_CLOSERS = re.compile(r"[\s})\];,]*")


def tile(segment: Span, leaves: list[MemberRange], text: str, *, fill_gaps: bool = True) -> tuple[Span, list[Span]]:
    """(header, one tile per leaf) of the segment whose source is `text`.

    The header reaches from the start of the segment to its first member. Members outside the segment keep their own
    span. Without `fill_gaps`, text between members belongs to none of them: in a module it holds the types of the
    file, which are segments of their own.
    """
    ranges = [[*_own_range(leaf)] for leaf in leaves]
    inside = [i for i, (start, end) in enumerate(ranges) if segment.char_start <= start <= end <= segment.char_end]
    if not inside:
        return segment, [leaf.member.span for leaf in leaves]
    offset = segment.char_start
    covered = ranges[inside[0]][0]
    header_end = offset + len(text[: covered - offset].rstrip())
    previous: int | None = None
    for index in inside:
        start, end = ranges[index]
        if fill_gaps and previous is not None and start > covered:
            gap = text[covered - offset : start - offset]
            if not gap.isspace():
                _share_gap(gap, covered, ranges[previous], ranges[index])
        if end > covered:
            covered, previous = end, index
        elif previous is None:
            previous = index
    tail = text[covered - offset :].rstrip() if fill_gaps else ""
    if tail and previous is not None:
        ranges[previous][1] = covered + len(tail)
    tiles = [_respanned(leaf.member.span, ranges[i], text, offset) for i, leaf in enumerate(leaves)]
    header = Span(
        segment.line_start,
        segment.line_start + _line_breaks(text[: header_end - offset]),
        segment.char_start,
        max(header_end, segment.char_start),
    )
    return header, tiles


def _own_range(leaf: MemberRange) -> tuple[int, int]:
    """The characters of a leaf, without those of its inner leaves."""
    span = leaf.member.span
    nested = [member.span.char_start for member in leaf.member.members]
    return span.char_start, min([span.char_end, *nested]) if nested else span.char_end


def _share_gap(gap: str, start: int, before: list[int], after: list[int]) -> None:
    """Divides the text between two leaves among them."""
    closed = _CLOSERS.match(gap)
    closers = closed.group().rstrip() if closed else ""
    if closers:
        before[1] = start + len(closers)
    rest = gap[len(closers) :]
    if rest.strip():
        after[0] = start + len(gap) - len(rest.lstrip())


def _respanned(span: Span, wanted: list[int], text: str, offset: int) -> Span:
    """`span` moved to the characters `wanted`, with the lines that follow from the move."""
    start, end = wanted
    if start == span.char_start and end == span.char_end:
        return span
    line_start = span.line_start - _line_breaks(text[start - offset : span.char_start - offset])
    content = text[start - offset : end - offset].rstrip()
    return Span(line_start, line_start + _line_breaks(content), start, max(start + len(content), start))


def _line_breaks(text: str) -> int:
    r"""Line ends in `text`: `\n`, `\r\n` and lone `\r`, as `LineIndex` counts them."""
    breaks = text.count("\n")
    if "\r" in text:
        breaks += text.count("\r") - text.count("\r\n")
    return breaks
