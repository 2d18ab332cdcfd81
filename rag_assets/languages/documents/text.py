"""A text document is one segment (A08). Its members are the sections between headings, or its pages (E02).

Sections are not split here: that needs the tokens of the embedding model and happens where sections are built.
Markdown headings are found as CommonMark sees them, line by line without building a tree: front matter, code, HTML
blocks and comments hide headings; what lies inside a list or a quote is no section. reStructuredText titles get their
levels in order of first appearance, as in docutils. Configuration and markup are windows of lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

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
    """One document; a page without words is counted and no member."""
    lines = LineIndex(text)
    name = file_stem(path)
    segment = Segment(
        name=name,
        symbol=path or name,
        kind="document",
        span=lines.span(0, len(text)),
        language=language,
        ordinal=0,
        heading_path=(name,),
        members=tuple(_pages(text, lines)),
    )
    return SegmentedFile((segment,), ParseHealth.OK)


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


_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
_BREAK = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|(?:-[ \t]*){3,})$")
_ITEM = re.compile(r"( {0,3}(?:[-*+]|(\d{1,9})[.)]))(?:[ \t]|$)( {0,3}(?=\S))?")
_QUOTE_OR_TABLE = re.compile(r" {0,3}[>|]")
_LINK_DEFINITION = re.compile(r" {0,3}\[[^\]]{1,999}\]:")
_LONE_TAG = re.compile(r" {0,3}(?:</[A-Za-z][\w-]*\s*>|<[A-Za-z][\w-]*(?:\s[^<>]*)?>)\s*$")
"""Start condition 7 of CommonMark's HTML blocks; it cannot interrupt a paragraph."""

_RAW_HTML = re.compile(r" {0,3}<(?:(script|pre|style|textarea)(?=[\s>]|$)|(!--)|(\?)|(!\[CDATA\[)|(![A-Za-z]))", re.I)
_RAW_END = ("", "-->", "?>", "]]>", ">")  # by group of _RAW_HTML; the first ends with its own closing tag
_HTML_BLOCK = re.compile(
    r" {0,3}</?(?:address|article|aside|blockquote|body|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|"
    r"fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|"
    r"menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|"
    r"title|tr|track|ul)(?=[\s/>]|$)",
    re.IGNORECASE,
)
"""Start condition 6 of CommonMark's HTML blocks: ends at a blank line."""

_MARKERS = "#=-`~<>|*+_[0123456789"  # a line that starts otherwise is text (or blank, or indented)
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
_CLOSING_HASHES = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")
_META = re.compile(r"(title|description|summary)[ \t]*[:=][ \t]*(\S.*)$", re.IGNORECASE)


def segment_markdown(text: str, path: str, language: str) -> SegmentedFile:
    """One document with a section per heading. Title and description of front matter are used when present."""
    lines = numbered_lines(text)
    matter = _front_matter(lines)
    facts = _facts(lines[1:matter])
    doc = facts.get("description") or facts.get("summary", "")
    return document(text, path, language, _headings(lines, matter), title=facts.get("title", ""), doc=doc)


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


def _facts(lines: list[tuple[int, str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for _, line in lines:
        if entry := _META.match(line):
            value = entry[2].strip().strip("\"'").strip()
            if value not in ("", "|", ">", "|-", ">-"):  # block scalars go on below: not worth a YAML parser
                found.setdefault(entry[1].lower(), value[:_MAX_TITLE_CHARS])
    return found


@dataclass(slots=True)
class _Block:
    """What the scanner is inside of. `paragraph` is the start of text that an underline would make a heading."""

    fence: str = ""  # the opening run of ``` or ~~~
    raw_end: str = ""  # what ends an HTML block that blank lines do not
    html: bool = False  # an HTML block that a blank line ends
    item: int = 0  # where the text of the outermost list item begins; lines indented so far belong to it
    nested: bool = False  # text of a list item, quote or table that a line of text would continue
    paragraph: int | None = None

    def text_ends(self) -> None:
        """At a blank line: a list item goes on with the indented lines after it."""
        self.html = self.nested = False
        self.paragraph = None

    def block_begins(self) -> None:
        self.text_ends()
        self.item = 0

    def text_begins(self, start: int) -> None:
        self.paragraph = start
        self.item = 0

    def holds(self, line: str) -> bool:
        """Whether a line that is not blank is indented as text of the list item."""
        inside = self.item > 0 and not line[: self.item].strip()
        self.nested |= inside
        return inside


def _headings(lines: list[tuple[int, str]], first: int) -> Iterator[Heading]:
    block = _Block()
    texts: list[str] = []  # of the open paragraph
    for start, line in lines[first:]:
        if block.fence or block.raw_end:
            _inside(block, line)
            continue
        head = line[:1]
        if head not in _MARKERS and head != " ":
            if not line.strip():
                block.text_ends()
            elif not (block.nested or block.html) and head != "\t":
                if block.paragraph is None:
                    block.text_begins(start)
                    texts.clear()
                texts.append(line)
            continue
        if not line.strip():
            block.text_ends()
        elif block.html or block.holds(line):
            continue
        elif block.paragraph is not None and (underline := _SETEXT.match(line)):
            yield Heading(block.paragraph, 1 if underline[1][0] == "=" else 2, plain_title(" ".join(texts)))
            block.block_begins()
        elif line.startswith("    "):
            if block.paragraph is not None:
                texts.append(line)
        elif atx := _ATX.match(line):
            yield Heading(start, len(atx[1]), plain_title(_CLOSING_HASHES.sub("", atx[2] or "")))
            block.block_begins()
        elif not _opens(block, line):
            if block.paragraph is None and not block.nested:
                block.text_begins(start)
                texts.clear()
            texts.append(line)


def _inside(block: _Block, line: str) -> None:
    """Whether the fence or raw HTML block ends on this line."""
    if block.raw_end:
        if block.raw_end in line.lower():
            block.raw_end = ""
        return
    closing = _FENCE.match(line)
    if closing and closing[1].startswith(block.fence) and not closing[2].strip():
        block.fence = ""


def _opens(block: _Block, line: str) -> bool:
    """Whether the line begins a block that is not a paragraph."""
    fence = _FENCE.match(line)
    if fence and not (fence[1][0] == "`" and "`" in fence[2]):
        block.block_begins()
        block.fence = fence[1]
        return True
    if _BREAK.match(line):
        block.block_begins()
        return True
    raw = _RAW_HTML.match(line)
    if raw:
        block.block_begins()
        group = raw.lastindex or 1
        end = f"</{raw[1].lower()}>" if group == 1 else _RAW_END[group - 1]
        if end not in line[raw.end() :].lower():
            block.raw_end = end
        return True
    if _HTML_BLOCK.match(line) or (block.paragraph is None and not block.nested and _LONE_TAG.match(line)):
        block.block_begins()
        block.html = True
        return True
    item = _ITEM.match(line)
    if item and not (block.paragraph is not None and item[2] not in (None, "1")):  # `1986. …` continues a text
        block.block_begins()
        block.nested = True
        block.item = len(item[1]) + 1 + len(item[3] or "")
        return True
    if _QUOTE_OR_TABLE.match(line):
        block.block_begins()
        block.nested = True
        return True
    return block.paragraph is None and _LINK_DEFINITION.match(line) is not None


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
