"""A text document is one segment (A08). Its members are the sections between headings, its pages, or both (E02).

Sections are not split here: that needs the tokens of the embedding model and happens where sections are built.
Markdown headings are found as CommonMark sees them: front matter, code, HTML blocks and comments hide headings, and
what lies inside a list or a quote is no section. reStructuredText titles get their
levels in order of first appearance, as in docutils. Configuration and markup are windows of lines.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import yaml
from markdown_it import MarkdownIt

from rag_assets.contracts.segment import LineIndex, Member, MemberKind, ParseHealth, Segment, SegmentedFile
from rag_assets.contracts.time_codes import PAGE_BREAK
from rag_assets.languages.detection import SourceType, file_stem, source_type
from rag_assets.languages.sliding_window import first_line, numbered_lines, window_members, window_segment

_KINDS = {
    SourceType.CONFIG: "config",
    SourceType.MARKUP: "markup",
    SourceType.RESOURCE: "resource",
}


def segment_windows(text: str, path: str, language: str) -> SegmentedFile:
    """The file as one segment; its kind says what it holds, `file` for code that has no grammar here."""
    kind = _KINDS.get(source_type(language), "file")
    segment = window_segment(text, path, language, ParseHealth.NO_GRAMMAR, kind=kind)
    return SegmentedFile((segment,), ParseHealth.NO_GRAMMAR)


def segment_pages(text: str, path: str, language: str) -> SegmentedFile:
    """One document of pages, and of the sections between its headings where it has any; a page without words is counted
    and no member."""
    lines = LineIndex(text)
    numbered = numbered_lines(text)
    matter = _front_matter(numbered)
    name = _facts(numbered[1:matter]).get("title") or file_stem(path)
    headings = [Heading(found.start(1), len(found[1]), found[2].strip()) for found in _PAGE_HEADING.finditer(text)]
    sections = _sections(text, lines, headings, name, _start_of(numbered, matter, text)) if headings else ()
    return _one_document(text, path, language, name, members=(*_pages(text, lines), *sections))


_PAGE_HEADING = re.compile(rf"^{PAGE_BREAK}?(#{{1,6}}) (\S.*)$", re.MULTILINE)


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


PATH_SEPARATOR = " > "
"""Between the titles of a heading path in the signature of a section."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading line: where its section starts, its level from 1, its title as plain text."""

    start: int
    level: int
    title: str


def document(
    text: str, path: str, language: str, headings: Iterable[Heading], *, title: str = "", doc: str = "", body: int = 0
) -> SegmentedFile:
    """One segment of kind `document`; without headings its members are windows.

    `title` (front matter) wins over the first heading of the highest level found, and that over the file
    name. Each section is a member named by its heading, with the heading path as signature and `h1`…`h6` as
    type; text before the first heading is a section of type `preamble`. Front matter, which ends at `body`, goes with
    what follows it.
    """
    found = list(headings)
    lines = LineIndex(text)
    name = title or _first_title(found) or file_stem(path)
    members = tuple(_sections(text, lines, found, name, body)) if found else window_members(text, lines)
    return _one_document(text, path, language, name, members, doc)


def _one_document(
    text: str, path: str, language: str, name: str, members: tuple[Member, ...], doc: str = ""
) -> SegmentedFile:
    segment = Segment(
        name=name,
        symbol=path or name,
        kind="document",
        span=LineIndex(text).span(0, len(text)),
        language=language,
        ordinal=0,
        doc=doc,
        heading_path=(name,),
        members=members,
    )
    return SegmentedFile((segment,), ParseHealth.OK)


def segment_text(text: str, path: str, language: str) -> SegmentedFile:
    """Plain text: paragraphs grouped to windows."""
    return document(text, path, language, ())


def _first_title(headings: list[Heading]) -> str:
    top = min((heading.level for heading in headings), default=0)
    return next((heading.title for heading in headings if heading.level == top and heading.title), "")


def _sections(text: str, lines: LineIndex, headings: list[Heading], name: str, body: int) -> Iterable[Member]:
    first = headings[0].start
    if text[body:first].replace("\ufeff", "").strip():
        yield Member(name=name, kind=MemberKind.SECTION, type="preamble", signature=name, span=lines.span(0, first))
    else:
        first = 0  # blank lines and byte order marks above the first heading belong to it: sections tile the text
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


_MAX_TITLE_CHARS = 300
_FRONT_MATTER_LINES = 200  # an opening `---` without end nearby is a thematic break

_IMAGE_OR_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])")
_TAG = re.compile(
    r"</?(?:a|abbr|b|big|br|center|code|del|div|em|font|i|img|ins|kbd|mark|p|picture|s|samp|small|source|span|strike|"
    r"strong|sub|sup|tt|u|var)(?:\s[^<>]*)?/?>|<!--.*?-->"
)
"""Tags that people put into titles; `IRepository<T>` is no tag to its reader."""
_ATTRIBUTES = re.compile(r"\s*\{[#.:][^{}]*\}\s*$")
_EMPHASIS_OR_ESCAPE = re.compile(
    r"\\([!-/:-@\[-`{-~])|\*\*|~~|`|(?<!\w)__?(?=\S)|(?<=\S)__?(?!\w)|(?<!\w)\*(?=\S)|(?<=\S)\*(?!\w)"
)
_META = re.compile(r"(title|description|summary)[ \t]*[:=][ \t]*(\S.*)$", re.IGNORECASE)


def segment_markdown(text: str, path: str, language: str) -> SegmentedFile:
    """One document with a section per heading. Title and description of front matter are used when present."""
    lines = numbered_lines(text)
    matter = _front_matter(lines)
    facts = _facts(lines[1:matter])
    doc = facts.get("description") or facts.get("summary", "")
    headings, body = _headings(text, lines, matter), _start_of(lines, matter, text)
    return document(text, path, language, headings, title=facts.get("title", ""), doc=doc, body=body)


def _front_matter(lines: list[tuple[int, str]]) -> int:
    """The number of lines of YAML (`---`) or TOML (`+++`) front matter, 0 without."""
    mark = lines[0][1].rstrip()
    if mark not in ("---", "+++"):
        return 0
    for number in range(1, min(len(lines), _FRONT_MATTER_LINES)):
        line = lines[number][1].rstrip()
        if line == mark or (mark == "---" and line == "..."):
            return number + 1
    return 0


def front_matter(text: str) -> Mapping[str, Any]:
    """Keys and values of YAML or TOML front matter, keys as they are written; empty without, or where it cannot be
    read."""
    if not text.startswith(("---", "+++")):
        return {}
    lines = numbered_lines(text)
    body = "\n".join(line for _, line in lines[1 : _front_matter(lines) - 1])
    try:
        found = tomllib.loads(body) if text.startswith("+") else yaml.load(body, yaml.CSafeLoader)
    except (yaml.YAMLError, tomllib.TOMLDecodeError, ValueError, RecursionError):
        return {}
    return {str(key): value for key, value in found.items()} if isinstance(found, dict) else {}


def _start_of(lines: list[tuple[int, str]], number: int, text: str) -> int:
    return lines[number][0] if number < len(lines) else len(text)


def _facts(lines: list[tuple[int, str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for _, line in lines:
        if entry := _META.match(line):
            value = entry[2].strip().strip("\"'").strip()
            if value not in ("", "|", ">", "|-", ">-"):  # block scalars go on below: not worth a YAML parser
                found.setdefault(entry[1].lower(), value[:_MAX_TITLE_CHARS])
    return found


@cache
def _parser() -> MarkdownIt:
    """CommonMark with tables, whose rows are no titles. Blocks only: what stands in a paragraph is not parsed."""
    made = MarkdownIt("commonmark").enable("table")
    made.core.ruler.enableOnly(["normalize", "block"])
    return made


def _headings(text: str, lines: list[tuple[int, str]], first: int) -> Iterator[Heading]:
    """The headings from line `first` on, in text order; those in lists and quotes are none."""
    tokens = _parser().parse(text[lines[first][0] :]) if first < len(lines) else []
    for opening, title in pairwise(tokens):
        if opening.type == "heading_open" and opening.level == 0 and opening.map is not None:
            start, _ = lines[first + opening.map[0]]
            yield Heading(start, int(opening.tag.removeprefix("h")), plain_title(title.content))


def plain_title(raw: str) -> str:
    """A heading without its markup: links and images as their text, emphasis, code marks and `{#id}` removed."""
    title = _ATTRIBUTES.sub("", raw.strip()[:_MAX_TITLE_CHARS])
    if "[" in title:
        title = _IMAGE_OR_LINK.sub(r"\1", _IMAGE_OR_LINK.sub(r"\1", title))  # twice: an image inside a link
    if "<" in title:
        title = _TAG.sub("", title)
    title = _EMPHASIS_OR_ESCAPE.sub(lambda found: found[1] or "", title)
    return " ".join(title.split())


_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*[ \t]*$")
_ROLE = re.compile(r":[\w:.-]+:`([^`<]*?)\s*(?:<[^`>]*>)?`")
_SHORTEST = 4  # docutils accepts an underline shorter than its title from four characters on


def segment_rst(text: str, path: str, language: str) -> SegmentedFile:
    """One document with a section per title."""
    return document(text, path, language, _rst_headings(numbered_lines(text)))


def _rst_headings(lines: list[tuple[int, str]]) -> Iterator[Heading]:
    levels: dict[tuple[str, bool], int] = {}
    number = 0
    while number < len(lines):
        found = _overlined(lines, number) or _underlined(lines, number)
        if found is None:
            number += 1
            continue
        style, title, used = found
        level = levels.setdefault(style, len(levels) + 1)
        yield Heading(lines[number][0], level, _plain(title))
        number += used


def _overlined(lines: list[tuple[int, str]], number: int) -> tuple[tuple[str, bool], str, int] | None:
    if number + 2 >= len(lines):
        return None
    over, title, under = (lines[number + i][1].rstrip() for i in range(3))
    if not title or over != under or not _adorns(over, title.strip()) or _ADORNMENT.match(title):
        return None
    return (over[0], True), title, 3


def _underlined(lines: list[tuple[int, str]], number: int) -> tuple[tuple[str, bool], str, int] | None:
    if number + 1 >= len(lines) or (number > 0 and lines[number - 1][1].strip()):
        return None
    title, under = lines[number][1].rstrip(), lines[number + 1][1].rstrip()
    if not title or title[0].isspace() or title.startswith(".. ") or not _adorns(under, title):
        return None
    if _ADORNMENT.match(title):
        return None
    return (under[0], False), title, 2


def _adorns(line: str, title: str) -> bool:
    return bool(_ADORNMENT.match(line)) and len(line) >= min(len(title), _SHORTEST)


def _plain(title: str) -> str:
    return " ".join(_ROLE.sub(r"\1", title.strip()[:300]).replace("``", "").replace("**", "").split())
