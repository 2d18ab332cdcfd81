"""Sections of texts: documents by heading path; SQL, configuration and unstructured code at their own breaks.

The chunk text under its heading path is itself the snippet (R4). E01 asks for chunks of 700–1000 tokens. An
embedder that reads 256 would ignore most of such a chunk, so the target is min(window, CHUNK_TOKENS), with the overlap
in the proportion of E01.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag_assets.contracts.identity import content_hash, unique_slugs
from rag_assets.contracts.section import EmbeddingWindow, SummarySection
from rag_assets.contracts.segment import LineIndex, Span, moved
from rag_assets.sections.snippet import Block, SectionSubject, section_of
from rag_assets.sections.splitter import (
    HEADER_SHARE,
    BlockRun,
    Chunk,
    Piece,
    budget_of,
    chunk_runs,
    count_lines,
    fit_lines,
    fit_pieces,
    paragraphs,
    split,
)

CHUNK_TOKENS = 1_000  # E01: at most
OVERLAP_SHARE = 0.15  # E01: 100–150 of 700–1000
PATH_SEPARATOR = " > "
"""Between the titles of a heading path, as segmentation writes it."""
MAX_KEY_CHARS = 120
"""Heading paths longer than this are cut and hashed in the section key; keys are parts of ids and URIs."""


@dataclass(frozen=True, slots=True)
class TextSection:
    """A run of a text: its heading path ('' before the first heading, or without headings) and its characters. It may
    be cut between `pieces`, or between paragraphs if there are none."""

    heading: str
    start: int
    end: int
    pieces: tuple[Piece, ...] = ()


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
class TextOutline:
    """A text ready for chunking. `origin` is the span of `text` in its file; all offsets are relative to `text`.

    `title` is the first header line, `default_key` the section key of text without a heading. `node_keys` gives the
    graph keys of a section key. `names` belong to the whole text, `declared` are (offset, name) of declarations inside.
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
    facts: str = ""
    stretches: Sequence[TextRange] = ()
    source_title: str = ""
    readable: Callable[[str], str] = str


@dataclass(frozen=True, slots=True)
class _Group:
    """Consecutive sections that share their chunks, under the heading and key of the first one."""

    sections: tuple[int, ...]
    pieces: tuple[Piece, ...]
    sizes: tuple[int, ...]


def text_sections(subject: SectionSubject, outline: TextOutline, window: EmbeddingWindow) -> list[SummarySection]:
    """The sections of one text, in order, parts numbered per section key (E01, E02, R18, R19). Pure."""
    target = min(budget_of(window), CHUNK_TOKENS)
    keys = section_keys([section.heading for section in outline.sections], outline.default_key)
    headers, header_tokens = _headers(outline, target, window)
    room = target - header_tokens
    pieces = [section.pieces or paragraphs(outline.text, section.start, section.end) for section in outline.sections]
    groups = _merged(outline.sections, fit_pieces(outline.text, pieces, room, window, outline.readable), room)
    if not groups:
        return [_blank_section(subject, outline, window)]
    runs = [BlockRun(headers[outline.sections[g.sections[0]].heading], g.pieces, g.sizes) for g in groups]
    overlap = math.floor(target * OVERLAP_SHARE)
    chunked = chunk_runs(
        outline.text, runs, target=target, room=room, overlap=overlap, window=window, readable=outline.readable
    )
    lines = LineIndex(outline.text)
    made: list[SummarySection] = []
    for group, chunks in zip(groups, chunked, strict=True):
        heading = outline.sections[group.sections[0]].heading
        for number, chunk in enumerate(chunks, start=1):
            block = _block(outline, group, chunk, keys, lines)
            artifact = f"# {outline.title}{f': {heading}' if heading else ''}\n\n{outline.facts}{block.text.strip()}\n"
            section = section_of(
                subject,
                keys[group.sections[0]],
                chunk.snippet,
                chunk.tokens,
                [block],
                artifact,
                (number, len(chunks)),
                html_anchor(heading),
            )
            made.append(_placed(section, outline, chunk))
    return made


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


def _headers(outline: TextOutline, target: int, window: EmbeddingWindow) -> tuple[dict[str, tuple[str, ...]], int]:
    """Heading path → header lines (title, path, empty line) within their share, and the tokens of the longest."""
    limit = math.floor(target * HEADER_SHARE)
    headings = list(dict.fromkeys(section.heading for section in outline.sections))
    title, empty, *counts = count_lines([outline.title, "", *headings], window)
    made: dict[str, tuple[str, ...]] = {}
    longest = 0
    for heading, tokens in zip(headings, counts, strict=True):
        lines = [(outline.title, title), *([(heading, tokens)] if heading else []), ("", empty)]
        fitted, used = fit_lines([line for line, _ in lines], [size for _, size in lines], limit, window)
        made[heading] = tuple(fitted)
        longest = max(longest, used)
    return made, longest


def _merged(sections: Sequence[TextSection], fitted: Sequence[Sequence[tuple[Piece, int]]], room: int) -> list[_Group]:
    """Joins neighbouring sections under one parent while they fit one chunk (E02)."""
    groups: list[_Group] = []
    for index, found in enumerate(fitted):
        if not found:
            continue
        pieces, sizes = tuple(piece for piece, _ in found), tuple(size for _, size in found)
        if groups:
            last = groups[-1]
            related = _related(sections[last.sections[0]].heading, sections[index].heading)
            if related and sum(last.sizes) + sum(sizes) <= room:
                groups[-1] = _Group((*last.sections, index), last.pieces + pieces, last.sizes + sizes)
                continue
        groups.append(_Group((index,), pieces, sizes))
    return groups


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
    )


def _blank_section(subject: SectionSubject, outline: TextOutline, window: EmbeddingWindow) -> SummarySection:
    """The section of a blank text, so that a search still finds the file by its name."""
    part = split([outline.title], [], window)[0]
    block = Block("", outline.origin, outline.names, outline.node_keys(outline.default_key))
    return section_of(
        subject, outline.default_key, part.text, part.tokens, [block], f"# {outline.title}\n{outline.facts}"
    )
