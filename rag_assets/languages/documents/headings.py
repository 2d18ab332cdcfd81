"""Where the headings of a text are, by its lines alone: for what is read of an index, where parts of documents lie.

Segmentation sees Markdown as CommonMark does; a part of a document has no beginning that could be parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

_UNDER = r"[=\-~^\"'`*+:._#]"
_HEADING = re.compile(
    r"^(?P<marks>#{1,6})[ \t]+(?P<title>\S.*)$"
    rf"|^(?:(?P<over>{_UNDER})(?P=over){{2,}}[ \t]*\r?\n[ \t]?)?(?P<name>(?!{_UNDER}{{3,}}[ \t\r]*$)\S.*)\n"
    rf"(?P<line>(?P<under>{_UNDER})(?P=under){{2,}})[ \t\r]*$",
    re.MULTILINE,
)
"""`## Build`, or `Build` with a line of one mark below it, as reStructuredText, Markdown and plain texts write it."""
_OF_ASCIIDOC = re.compile(r"^(?P<marks>={1,6})[ \t]+(?P<title>\S.*)$", re.MULTILINE)
_FENCE_LINE = re.compile(r"^[ \t]*```", re.MULTILINE)
_FENCED = re.compile(r"^[ \t]*```.*?(?:^[ \t]*```[ \t]*(?=\r?$)|\Z)", re.DOTALL | re.MULTILINE)
_SHORTEST = 4  # an underline may be shorter than its title from here on


class HeadingLines(NamedTuple):
    """A heading at `text[start:end]`; the `level` of a title with a line below it goes by when such a line is first
    there."""

    start: int
    end: int
    level: int
    title: str


@lru_cache(maxsize=64)  # each passage of a text asks
def headings_in(text: str, language: str) -> tuple[HeadingLines, ...]:
    """The headings of a text outside of fenced code; a text with one fence too many begins inside of such."""
    return tuple(_headings(text, language))


def _headings(text: str, language: str) -> Iterator[HeadingLines]:
    inside, at = len(_FENCE_LINE.findall(text)) % 2, 0
    if inside and (first := _FENCE_LINE.search(text)) is not None:
        at = first.end()
    fenced = [found.span() for found in _FENCED.finditer(text, at)]
    levels: dict[str, int] = {}
    for found in (_OF_ASCIIDOC if language == "asciidoc" else _HEADING).finditer(text, at):
        if any(start <= found.start() < end for start, end in fenced):
            continue
        end = found.start() + len(found.group().rstrip())
        if found["marks"]:
            yield HeadingLines(found.start(), end, len(found["marks"]), found["title"].rstrip().rstrip("#=").rstrip())
        elif len(found["line"]) >= min(len(found["name"].strip()), _SHORTEST):
            level = levels.setdefault(found["under"] + (found["over"] or ""), len(levels) + 1)
            yield HeadingLines(found.start(), end, level, found["name"].strip())
