"""A text document is one segment (A08); its members are the sections between headings, which tile it.

Sections are not split here: that needs the tokens of the embedding model and happens where sections are built.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rag_assets.contracts.segment import LineIndex, Member, MemberKind, ParseHealth, Segment, SegmentedFile
from rag_assets.languages.path_names import file_stem
from rag_assets.languages.sliding_window import window_members

PATH_SEPARATOR = " > "
"""Between the titles of a heading path in the signature of a section."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading line: where its section starts, its level from 1, its title as plain text."""

    start: int
    level: int
    title: str


def document(
    text: str, path: str, language: str, headings: Iterable[Heading], *, title: str = "", doc: str = ""
) -> SegmentedFile:
    """One segment of kind `document`; without headings its members are windows.

    `title` (front matter) wins over the first heading of the highest level found, and that over the file
    name. Each section is a member named by its heading, with the heading path as signature and `h1`…`h6` as
    type; text before the first heading is a section of type `preamble`.
    """
    found = list(headings)
    lines = LineIndex(text)
    name = title or _first_title(found) or file_stem(path)
    segment = Segment(
        name=name,
        symbol=path or name,
        kind="document",
        span=lines.span(0, len(text)),
        language=language,
        ordinal=0,
        doc=doc,
        heading_path=(name,),
        members=tuple(_sections(text, lines, found, name)) if found else window_members(text, lines),
    )
    return SegmentedFile((segment,), ParseHealth.OK)


def segment_text(text: str, path: str, language: str) -> SegmentedFile:
    """Plain text: paragraphs grouped to windows."""
    return document(text, path, language, ())


def _first_title(headings: list[Heading]) -> str:
    top = min((heading.level for heading in headings), default=0)
    return next((heading.title for heading in headings if heading.level == top and heading.title), "")


def _sections(text: str, lines: LineIndex, headings: list[Heading], name: str) -> Iterable[Member]:
    first = headings[0].start
    if text[:first].strip():
        yield Member(name=name, kind=MemberKind.SECTION, type="preamble", signature=name, span=lines.span(0, first))
    else:
        first = 0  # blank lines above the first heading belong to it, so that sections tile the text
    above: list[Heading] = []
    for position, heading in enumerate(headings):
        while above and above[-1].level >= heading.level:
            above.pop()
        above.append(heading)
        start = first if position == 0 else heading.start
        end = headings[position + 1].start if position + 1 < len(headings) else len(text)
        yield Member(
            name=heading.title or name,
            kind=MemberKind.SECTION,
            type=f"h{heading.level}",
            signature=PATH_SEPARATOR.join(h.title for h in above if h.title) or name,
            span=lines.span(start, end),
        )
