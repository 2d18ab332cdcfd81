"""Source slices that cover a segment: every character that is not blank lies in the header or in one tile.

Members do not touch each other: between them stand closing braces, `#region` lines and loose comments. A
closing brace belongs to what it closes, anything else to the member that follows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag_assets.contracts.segment import Member, Span

_CLOSERS = re.compile(r"[\s})\];,]*")


@dataclass(frozen=True, slots=True)
class Leaf:
    """A member and the dotted names of the nested types around it. A nested type is a leaf too (its header)."""

    member: Member
    owner: str = ""


def leaves_of(members: tuple[Member, ...]) -> list[Leaf]:
    """All members in text order, those of nested types after their type. Without recursion: nesting has no limit."""
    found: list[Leaf] = []
    stack = [Leaf(member) for member in sorted(members, key=_start, reverse=True)]
    while stack:
        leaf = stack.pop()
        found.append(leaf)
        if leaf.member.members:
            owner = f"{leaf.owner}.{leaf.member.name}" if leaf.owner else leaf.member.name
            stack.extend(Leaf(member, owner) for member in sorted(leaf.member.members, key=_start, reverse=True))
    return found


def _start(member: Member) -> int:
    return member.span.char_start


def tile(segment: Span, leaves: list[Leaf], text: str, *, fill_gaps: bool = True) -> tuple[Span, list[Span]]:
    """(header, one tile per leaf) of the segment whose source is `text`.

    The header reaches from the start of the segment to its first member. Members outside of the segment keep
    their own span. Without `fill_gaps` what stands between members belongs to nobody: in a module these are the
    types of the file, segments of their own.
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


def _own_range(leaf: Leaf) -> tuple[int, int]:
    """The characters of a leaf without those of its own leaves."""
    span = leaf.member.span
    nested = [member.span.char_start for member in leaf.member.members]
    return span.char_start, min([span.char_end, *nested]) if nested else span.char_end


def _share_gap(gap: str, start: int, before: list[int], after: list[int]) -> None:
    """Gives what stands between two leaves to the one it belongs to."""
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
