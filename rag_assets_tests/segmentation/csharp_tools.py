"""Tiny factories for the tests of C# segmentation."""

from __future__ import annotations

from rag_assets.contracts.segment import Member, ParseHealth, Segment, SegmentedFile
from rag_assets.languages.csharp.syntax import segment_csharp


def only(text: str) -> Segment:
    """The one segment of a text."""
    (segment,) = segment_csharp(text, "src/File.cs").segments
    return segment


def members_of(body: str, header: str = "class C") -> tuple[Member, ...]:
    """The members of a type with that body, from a file that parsed clean."""
    file = segment_csharp(f"{header}\n{{\n{body}\n}}\n")
    assert file.health in (ParseHealth.OK, ParseHealth.RESCUED), file.detail
    return file.segments[0].members


def member_of(body: str, header: str = "class C") -> Member:
    (found,) = members_of(body, header)
    return found


def symbols(file: SegmentedFile) -> list[str]:
    return [segment.symbol for segment in file.segments]


def names(found: Segment | Member) -> list[str]:
    return [member.name for member in found.members]
