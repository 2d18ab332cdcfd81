"""Whose code stands where: from a position in a file to the type and the member that segmentation found there."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from rag_assets.languages.csharp.binder.declarations import DeclaredMember, PlacedType, TypeDeclaration


class EnclosingMembers:
    """The types and members of one file by character offset. So keys are those of the points, also for what the
    grammar misreads and segmentation puts right."""

    __slots__ = ("_member_ends", "_member_starts", "_members", "_type_ends", "_type_starts", "_types")

    def __init__(self, placed: Iterable[PlacedType]) -> None:
        types: list[tuple[int, int, int, TypeDeclaration]] = []
        members: list[tuple[int, int, int, DeclaredMember]] = []
        for entry in placed:
            span = entry.source.span
            types.append((span.char_start, -span.char_end, len(types), entry.declared))
            for declared, source in zip(entry.declared.members, entry.members, strict=True):
                members.append((source.span.char_start, source.span.char_end, len(members), declared))
        types.sort(key=lambda found: found[:3])
        members.sort(key=lambda found: found[:3])
        self._type_starts = [start for start, _, _, _ in types]
        self._type_ends = [-end for _, end, _, _ in types]
        self._types = [declared for _, _, _, declared in types]
        self._member_starts = [start for start, _, _, _ in members]
        self._member_ends = [end for _, end, _, _ in members]
        self._members = [declared for _, _, _, declared in members]

    def type_at(self, char: int) -> TypeDeclaration | None:
        """The innermost type around a character."""
        at = bisect_right(self._type_starts, char) - 1
        while at >= 0 and self._type_ends[at] <= char:
            at -= 1
        return self._types[at] if at >= 0 else None

    def member_at(self, char: int) -> DeclaredMember | None:
        """The member that a character belongs to; members do not overlap."""
        at = bisect_right(self._member_starts, char) - 1
        return self._members[at] if at >= 0 and self._member_ends[at] > char else None
