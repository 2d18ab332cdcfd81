"""Sections of texts: documents by heading path; SQL, configuration and unstructured code at their own breaks.

The chunk text under its heading path is itself the snippet (R4). A chunk does not depend on the window of the embedder:
an embedder that reads less of it pools the vectors of its parts (R32).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rag_assets.contracts.embedder import EmbeddingWindow
from rag_assets.contracts.identity import content_hash, unique_slugs
from rag_assets.contracts.outline import SectionMember
from rag_assets.contracts.section import SummarySection
from rag_assets.contracts.segment import LineIndex, Span, moved
from rag_assets.sections.chunks import CHUNK_TOKENS, Chunk, Run, Unit, below_heading, chunk_runs, counted, units_of
from rag_assets.sections.snippet import Block, SectionSubject, section_of
from rag_assets.sections.splitter import count_lines, fit_lines, split

HEADER_TOKENS = 100
"""Title and heading path, which every chunk repeats: a tenth of it."""
PATH_SEPARATOR = " > "
"""Between the titles of a heading path, as segmentation writes it."""
MAX_KEY_CHARS = 120
"""Heading paths longer than this are cut and hashed in the section key; keys are parts of ids and URIs."""


@dataclass(frozen=True, slots=True)
class TextSection:
    """A run of a text: its heading path ('' before the first heading, or without headings) and its characters. It may
    be cut between `units`, or where its text breaks if there are none."""

    heading: str
    start: int
    end: int
    units: tuple[Unit, ...] = ()


@dataclass(frozen=True, slots=True)
class TextRange:
    """The place of `text[start:end]` in the original: a page from 1, or seconds of a recording and speaker (E03)."""

    start: int
    end: int
    page: int = 0
    begins: float = 0.0
    ends: float = 0.0
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class TextMember:
    """What stands at `text[start:end]`: a heading with what is below it, a column, a key of a configuration."""

    start: int
    end: int
    name: str
    signature: str


@dataclass(frozen=True, slots=True)
class TextOutline:
    """A text ready for chunking. `origin` is the span of `text` in its file; all offsets are relative to `text`.

    `title` is the first header line, `default_key` the section key of text without a heading. `node_keys` gives the
    graph keys of a section key. `names` belong to the whole text, `declared` are (offset, name) of declarations inside,
    `members` the lines of the outlines of its chunks.
    `facts` is the markdown below the title of every artifact. `stretches` are pages or cues in text order. `readable`
    gives the part of a slice that is embedded.
    """

    title: str
    text: str
    origin: Span
    sections: Sequence[TextSection]
    default_key: str
    node_keys: Callable[[str], tuple[str, ...]]
    names: tuple[str, ...] = ()
    declared: Sequence[tuple[int, str]] = ()
    members: Sequence[TextMember] = ()
    facts: str = ""
    stretches: Sequence[TextRange] = ()
    source_title: str = ""
    readable: Callable[[str], str] = str


@dataclass(frozen=True, slots=True)
class _Group:
    """Consecutive sections that share their chunks, under one heading and key."""

    sections: tuple[int, ...]
    heading: str
    key: str
    units: tuple[Unit, ...]

    @property
    def tokens(self) -> int:
        return sum(unit.tokens for unit in self.units)


def text_sections(subject: SectionSubject, outline: TextOutline, window: EmbeddingWindow) -> list[SummarySection]:
    """The sections of one text, in order, parts numbered per section key (E01, E02, R18, R19). Pure."""
    keys = section_keys([section.heading for section in outline.sections], outline.default_key)
    headers, header_tokens = _headers(outline, window)
    room = CHUNK_TOKENS - header_tokens
    units = counted(outline.text, [_units(outline.text, found) for found in outline.sections], window, outline.readable)
    groups = _merged(outline, keys, units, room)
    if not groups:
        return [_blank_section(subject, outline, window)]
    runs = [Run(headers[group.heading], group.units) for group in groups]
    chunked = chunk_runs(outline.text, runs, room=room, window=window, readable=outline.readable)
    lines = LineIndex(outline.text)
    made: list[SummarySection] = []
    for group, chunks in zip(groups, chunked, strict=True):
        for number, chunk in enumerate(chunks, start=1):
            block = _block(outline, group, chunk, keys, lines)
            heading = f": {group.heading}" if group.heading else ""
            artifact = f"# {outline.title}{heading}\n\n{outline.facts}{block.text.strip()}\n"
            section = section_of(
                subject,
                group.key,
                chunk.snippet,
                chunk.tokens,
                [block],
                artifact,
                (number, len(chunks)),
                html_anchor(group.heading),
            )
            section.overlap_tokens = chunk.overlap
            made.append(_placed(section, outline, chunk))
    return made


def _units(text: str, section: TextSection) -> Sequence[Unit]:
    if section.units:
        return section.units
    found = units_of(text, section.start, section.end)
    return below_heading(text, found) if section.heading else found


def _placed(section: SummarySection, outline: TextOutline, chunk: Chunk) -> SummarySection:
    """The section with its pages or times."""
    inside = [found for found in outline.stretches if found.start < chunk.end and chunk.start < found.end]
    if not inside:
        return section
    section.source_title = outline.source_title
    section.pages = tuple(dict.fromkeys(found.page for found in inside if found.page))
    if not section.pages:
        section.media_start, section.media_end = inside[0].begins, max(found.ends for found in inside)
        section.speakers = tuple(dict.fromkeys(found.speaker for found in inside if found.speaker))
    return section


def section_keys(headings: Sequence[str], default: str) -> list[str]:
    """One unique key per section: the slug of its heading path; repeated paths are numbered (R1)."""
    seen: dict[str, int] = {}
    texts = []
    for heading in headings:
        text = _key_text(heading) if heading else default
        seen[text] = seen.get(text, 0) + 1
        # The NUL keeps a repeated "Example" apart from a heading that reads "Example 2".
        texts.append(text if seen[text] == 1 else f"{text} \0{seen[text]}")
    return unique_slugs(texts)


def _key_text(heading: str) -> str:
    if len(heading) <= MAX_KEY_CHARS:
        return heading
    return f"{heading[:MAX_KEY_CHARS]} {content_hash(heading)[:8]}"


def html_anchor(heading: str) -> str:
    """The anchor that markdown renderers give to the last heading of a path: lower case, blanks as `-`."""
    last = heading.rsplit(PATH_SEPARATOR, 1)[-1].strip().lower()
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", last))


def _headers(outline: TextOutline, window: EmbeddingWindow) -> tuple[dict[str, tuple[str, ...]], int]:
    """Heading path → header lines (title, path, empty line) within their share, and the tokens of the longest."""
    headings = list(dict.fromkeys(section.heading for section in outline.sections))
    title, empty, *counts = count_lines([outline.title, "", *headings], window)
    made: dict[str, tuple[str, ...]] = {}
    longest = 0
    for heading, tokens in zip(headings, counts, strict=True):
        lines = [(outline.title, title), *([(heading, tokens)] if heading else []), ("", empty)]
        fitted, used = fit_lines([line for line, _ in lines], [size for _, size in lines], HEADER_TOKENS, window)
        made[heading] = tuple(fitted)
        longest = max(longest, used)
    return made, longest


def _merged(
    outline: TextOutline, keys: Sequence[str], counted_units: Sequence[Sequence[Unit]], room: int
) -> list[_Group]:
    """Joins neighbouring sections under one parent while they fit one chunk (E02). A heading without text of its own
    goes with the section below it, else with the one before."""
    groups: list[_Group] = []
    for index, (section, units) in enumerate(zip(outline.sections, counted_units, strict=True)):
        if not units:
            continue
        new = _Group((index,), section.heading, keys[index], tuple(units))
        if groups:
            last = groups[-1]
            is_related = _related(last.heading, section.heading)
            if is_related and last.tokens + new.tokens <= room:
                groups[-1] = _Group((*last.sections, index), last.heading, last.key, last.units + new.units)
                continue
            if _is_heading_only(outline, last):
                if is_related or len(groups) == 1:
                    groups[-1] = _Group((*last.sections, index), new.heading, new.key, last.units + new.units)
                    continue
                _join_last(groups)
        groups.append(new)
    if len(groups) > 1 and _is_heading_only(outline, groups[-1]):
        _join_last(groups)
    return groups


def _join_last(groups: list[_Group]) -> None:
    """Puts the last group under the heading of the one before."""
    last = groups.pop()
    before = groups[-1]
    groups[-1] = _Group(before.sections + last.sections, before.heading, before.key, before.units + last.units)


def _is_heading_only(outline: TextOutline, group: _Group) -> bool:
    """Whether nothing stands in these sections but their headings."""
    for index in group.sections:
        section = outline.sections[index]
        lines = [line for line in outline.text[section.start : section.end].splitlines() if any(map(str.isalnum, line))]
        if section.units or not section.heading or len(lines) > 1:
            return False
    return True


def _related(first: str, other: str) -> bool:
    """Whether `other` is a sibling of `first` or lies below it or below a sibling."""
    parent = first.split(PATH_SEPARATOR)[:-1]
    return other.split(PATH_SEPARATOR)[: len(parent)] == parent


def _block(outline: TextOutline, group: _Group, chunk: Chunk, keys: Sequence[str], lines: LineIndex) -> Block:
    """The block of a chunk: its source, the headings and declarations inside, its graph keys."""
    start, end = chunk.start, chunk.end
    inside = [i for i in group.sections if outline.sections[i].start < end and start < outline.sections[i].end]
    headings = [outline.sections[i].heading.rsplit(PATH_SEPARATOR, 1)[-1] for i in inside]
    declared = [name for offset, name in outline.declared if start <= offset < end]
    return Block(
        outline.text[start:end],
        moved(lines.span(start, end), outline.origin),
        names=tuple(name for name in (*outline.names, *headings, *declared) if name),
        node_keys=tuple(key for i in inside for key in outline.node_keys(keys[i])),
        members=tuple(_listed(outline, start, end, lines)),
    )


def _listed(outline: TextOutline, start: int, end: int, lines: LineIndex) -> Iterator[SectionMember]:
    """The members that lie in a chunk, as far as they do."""
    for member in outline.members:
        first, last = max(start, member.start), min(end, member.end)
        content = outline.text[first:last].rstrip() if first < last else ""
        if content:
            place = moved(lines.span(first, first + len(content)), outline.origin)
            yield SectionMember(member.name, member.signature, place.line_start, place.line_end)


def _blank_section(subject: SectionSubject, outline: TextOutline, window: EmbeddingWindow) -> SummarySection:
    """The section of a blank text, so that a search still finds the file by its name."""
    part = split([outline.title], [], window)[0]
    block = Block("", outline.origin, outline.names, outline.node_keys(outline.default_key))
    return section_of(
        subject, outline.default_key, part.text, part.tokens, [block], f"# {outline.title}\n{outline.facts}"
    )
