"""Text that no declaration holds: what a broken file loses otherwise, and files that declare nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from rag_assets.contracts.segment import LineIndex, ParseHealth, Segment
from rag_assets.languages.csharp.syntax.xmldoc import is_documentation, plain_comment, plain_documentation
from rag_assets.languages.detection import file_stem
from rag_assets.languages.sliding_window import window_members, window_segment

if TYPE_CHECKING:
    from rag_assets.languages.csharp.syntax.declarations import FileDeclarations

_SAYS_SOMETHING = re.compile(r"[^\s{};\ufeff]")  # closing braces and stray semicolons are no loss
_DECLARES_SOMETHING = re.compile(r"[;(=]")  # a modifier or namespace of a branch not taken is no loss either
_HEADER = re.compile(r"(?:[\s\ufeff]++|//[^\r\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/)*+")
_FIRST_COMMENTS = re.compile(r"\ufeff?\s*+((?://[^\r\n]*+(?:\r\n?|\n)?[ \t]*+)++|/\*.*?\*/)", re.DOTALL)


def leftover_segment(
    text: str, code: str, lines: LineIndex, path: str, found: FileDeclarations, health: ParseHealth
) -> Segment | None:
    """One `file` segment with all text outside of segments and file-level remains; None if nothing is left.

    Its members are the members that lost their type, and windows of the rest. `code`: of the Scan of `text`.
    """
    strays = list(found.strays)
    covered = sorted(
        [(segment.span.char_start, segment.span.char_end) for segment in found.segments]
        + [(member.span.char_start, member.span.char_end) for member in strays]
        + found.remains
    )
    # Where the tree is not to be trusted a lone comment may belong to what was lost; a file header does not.
    is_partial = health is ParseHealth.PARTIAL
    readable = text if is_partial else code
    says_something = _DECLARES_SOMETHING if health is ParseHealth.RESCUED else _SAYS_SOMETHING
    header = _HEADER.match(text) if is_partial else None
    position = header.end() if header else 0
    for start, end in [*covered, (len(text), len(text))]:
        gap = readable[position:start]
        if says_something.search(gap):
            first = position + len(gap) - len(gap.lstrip())
            strays += window_members(text, lines, first, position + len(gap.rstrip()))
        position = max(position, end)
    if not strays:
        return None
    strays.sort(key=lambda member: (member.span.char_start, member.span.char_end))
    name = file_stem(path)
    last = max(member.span.char_end for member in strays)
    return Segment(
        name=name,
        symbol=path or name,
        kind="file",
        span=lines.span(strays[0].span.char_start, last),
        language="csharp",
        ordinal=0,
        members=tuple(strays),
        usings=tuple(found.usings),
        health=health,
    )


def file_segment(text: str, path: str, found: FileDeclarations, health: ParseHealth) -> Segment:
    """A file without declarations (global usings, assembly attributes, comments) as one segment."""
    segment = window_segment(text, path, "csharp", health)
    return replace(segment, doc=_first_comment(text), attributes=tuple(found.attributes), usings=tuple(found.usings))


def _first_comment(text: str) -> str:
    found = _FIRST_COMMENTS.match(text)
    if found is None:
        return ""
    comment = found.group(1)
    if comment.startswith("/*"):
        return plain_documentation([comment]) if is_documentation(comment) else plain_comment([comment])
    lines = [line.strip() for line in comment.splitlines()]
    documentation = [line for line in lines if is_documentation(line)]
    return plain_documentation(documentation) if documentation else plain_comment(lines)
