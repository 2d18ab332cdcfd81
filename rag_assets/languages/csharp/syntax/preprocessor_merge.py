"""Declarations that exist only in the `#if` branches that were not chosen, put beside the others."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rag_assets.contracts.segment import LineIndex, Member, MemberKind, Segment, Span

if TYPE_CHECKING:
    from rag_assets.languages.csharp.syntax.error_recovery import SourceView

_CONTAINERS = frozenset({MemberKind.TYPE, MemberKind.EXTENSION})
_OVERLOADED = frozenset({MemberKind.METHOD, MemberKind.CONSTRUCTOR, MemberKind.OPERATOR, MemberKind.INDEXER})


@dataclass(frozen=True, slots=True)
class Branches:
    """The dropped ranges of a view that hold code."""

    starts: list[int]
    ends: list[int]
    lines: LineIndex
    text: str

    def part_of(self, span: Span) -> Span | None:
        """`span` if it lies in one dropped branch; its part there if it goes on outside; None if it is elsewhere.

        A declaration whose header alone is in the branch shares its body with the one that was chosen: it gets
        the header, so that no text has two owners.
        """
        after = bisect_right(self.ends, span.char_start)  # the first range that ends behind the start of `span`
        if after == len(self.ends):
            return None
        first, last = max(self.starts[after], span.char_start), min(self.ends[after], span.char_end)
        if first >= last:
            return None
        return span if (first, last) == (span.char_start, span.char_end) else self.lines.span(first, last)

    def declare(self, name: str, span: Span) -> bool:
        """Whether a type gets its name in `span`, not only a modifier or its namespace, which make no other type."""
        return re.search(rf"\b{re.escape(name.removeprefix('@'))}\b", span.slice(self.text)) is not None


def branches_of(view: SourceView, code: str) -> Branches:
    """`code`: of the Scan of the whole file."""
    starts, ends = [], []
    for start, end, _ in view.dropped:
        visible = code[start:end]
        stripped = visible.strip()
        if stripped:
            starts.append(start + len(visible) - len(visible.lstrip()))
            ends.append(starts[-1] + len(stripped))
    return Branches(starts, ends, view.source.lines, view.source.text)


def merge_segments(chosen: list[Segment], other: list[Segment], branches: Branches) -> tuple[list[Segment], int]:
    """`chosen` and what only `other` declares, in text order, and how many declarations that added."""
    merged = list(chosen)
    known: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for index, segment in enumerate(chosen):
        known[segment.symbol, segment.kind].append((segment.span.char_start, index))
    added = 0
    for segment in other:
        same = known[segment.symbol, segment.kind]
        before = bisect_left(same, (segment.span.char_end, -1)) - 1  # the last that begins before `segment` ends
        at = same[before][1] if before >= 0 else None
        if at is not None and chosen[at].span.char_end <= segment.span.char_start:
            at = None
        if at is not None:
            members, count = _merge_members(merged[at].members, segment.members, branches)
            if count:
                merged[at] = replace(merged[at], members=members)
                added += count
        elif (span := branches.part_of(segment.span)) is not None and branches.declare(segment.name, span):
            merged.append(replace(segment, span=span, members=_within(segment.members, span)))
            added += 1
    merged.sort(key=lambda segment: (segment.span.char_start, segment.span.char_end))
    return merged, added


def _merge_members(
    chosen: tuple[Member, ...], other: tuple[Member, ...], branches: Branches
) -> tuple[tuple[Member, ...], int]:
    merged = list(chosen)
    known = {_key(member): index for index, member in enumerate(merged)}
    added = 0
    for member in other:
        index = known.get(_key(member))
        if index is None:
            span = branches.part_of(member.span)
            if span is not None:
                merged.append(replace(member, span=span, members=_within(member.members, span)))
                added += 1
        elif member.kind in _CONTAINERS:
            members, count = _merge_members(merged[index].members, member.members, branches)
            if count:
                merged[index] = replace(merged[index], members=members)
                added += count
    merged.sort(key=lambda member: (member.span.char_start, member.span.char_end))
    return tuple(merged), added


def _key(member: Member) -> tuple[object, ...]:
    key = (member.kind, member.name, member.explicit_interface, len(member.type_parameters))
    if member.kind in _OVERLOADED:
        return (*key, *(parameter.type for parameter in member.parameters))
    return key


def _within(members: Sequence[Member], span: Span) -> tuple[Member, ...]:
    return tuple(m for m in members if span.char_start <= m.span.char_start and m.span.char_end <= span.char_end)
