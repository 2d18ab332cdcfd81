"""Sections of code: the overview of a symbol, the sections its kind names, and `{prefix}-members`. Source slices cover
the segment: every non-blank character lies in the header or in exactly one part.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_assets.contracts.embedder import EmbeddingWindow
from rag_assets.contracts.identity import slug
from rag_assets.contracts.section import SummarySection
from rag_assets.contracts.segment import MemberRange, Span
from rag_assets.sections.snippet import Block, SectionSubject, section_of
from rag_assets.sections.splitter import SectionPart, split, split_many, whole

_CLOSERS = re.compile(r"[\s})\];,]*")


def tile(segment: Span, leaves: list[MemberRange], text: str, *, fill_gaps: bool = True) -> tuple[Span, list[Span]]:
    """(header, one tile per leaf) of the segment whose source is `text`.

    The header reaches from the start of the segment to its first member. Members outside the segment keep their own
    span. Without `fill_gaps`, text between members belongs to none of them: in a module it holds the types of the
    file, which are segments of their own.
    """
    ranges = [[*_own_range(leaf)] for leaf in leaves]
    inside = [i for i, (start, end) in enumerate(ranges) if segment.char_start <= start <= end <= segment.char_end]
    if not inside:
        return segment, [leaf.member.span for leaf in leaves]
    offset = segment.char_start
    covered = ranges[inside[0]][0]
    header_end = offset + len(text[: covered - offset].rstrip())
    previous: int | None = None
    for index in inside:
        start, end = ranges[index]
        if fill_gaps and previous is not None and start > covered:
            gap = text[covered - offset : start - offset]
            if not gap.isspace():
                _share_gap(gap, covered, ranges[previous], ranges[index])
        if end > covered:
            covered, previous = end, index
        elif previous is None:
            previous = index
    tail = text[covered - offset :].rstrip() if fill_gaps else ""
    if tail and previous is not None:
        ranges[previous][1] = covered + len(tail)
    tiles = [_respanned(leaf.member.span, ranges[i], text, offset) for i, leaf in enumerate(leaves)]
    header = Span(
        segment.line_start,
        segment.line_start + _line_breaks(text[: header_end - offset]),
        segment.char_start,
        max(header_end, segment.char_start),
    )
    return header, tiles


def _own_range(leaf: MemberRange) -> tuple[int, int]:
    """The characters of a leaf, without those of its inner leaves."""
    span = leaf.member.span
    nested = [member.span.char_start for member in leaf.member.members]
    return span.char_start, min([span.char_end, *nested]) if nested else span.char_end


def _share_gap(gap: str, start: int, before: list[int], after: list[int]) -> None:
    """Divides the text between two leaves among them."""
    closed = _CLOSERS.match(gap)
    closers = closed.group().rstrip() if closed else ""
    if closers:
        before[1] = start + len(closers)
    rest = gap[len(closers) :]
    if rest.strip():
        after[0] = start + len(gap) - len(rest.lstrip())


def _respanned(span: Span, wanted: list[int], text: str, offset: int) -> Span:
    """`span` moved to the characters `wanted`, with the lines that follow from the move."""
    start, end = wanted
    if start == span.char_start and end == span.char_end:
        return span
    line_start = span.line_start - _line_breaks(text[start - offset : span.char_start - offset])
    content = text[start - offset : end - offset].rstrip()
    return Span(line_start, line_start + _line_breaks(content), start, max(start + len(content), start))


def _line_breaks(text: str) -> int:
    r"""Line ends in `text`: `\n`, `\r\n` and lone `\r`, as `LineIndex` counts them."""
    breaks = text.count("\n")
    if "\r" in text:
        breaks += text.count("\r") - text.count("\r\n")
    return breaks


OVERVIEW = "overview"
MEMBERS = "members"


@dataclass(frozen=True, slots=True)
class Outline:
    """A symbol ready for splitting.

    `prefix` starts the section keys. `header` holds the finder lines of the overview, `short_header` those that the
    other sections repeat. `self_block` is the declaration itself (without text, because the header has it), `blocks`
    are the members in text order. The `group` of a block names its section: `methods` → `{prefix}-methods`. Without
    one the block stays in the overview.
    """

    prefix: str
    header: Sequence[str]
    short_header: Sequence[str]
    self_block: Block
    blocks: Sequence[Block]


def kebab_case(kind: str) -> str:
    """`EfDataContext` → `ef-data-context`: the prefix of the section keys of a kind."""
    words = "".join(f"-{c}" if c.isupper() and i and not kind[i - 1].isupper() else c for i, c in enumerate(kind))
    return slug(words)


def code_sections(subject: SectionSubject, outline: Outline, window: EmbeddingWindow) -> list[SummarySection]:
    """The sections of one symbol (R18, A24): pure, deterministic, parts numbered 1..N (R19)."""
    groups = [name for name in dict.fromkeys(block.group for block in outline.blocks) if name]
    rest = [block for block in outline.blocks if not block.group]
    listed = [block for block in outline.blocks if block.group]
    complete = _complete_overview(subject, outline, rest, listed, window)
    sections = [complete] if complete is not None else [_overview(subject, outline, window)]
    for name in groups:
        sections += _parts(subject, outline, name, [block for block in listed if block.group == name], window)
    if complete is None and rest:
        sections += _parts(subject, outline, MEMBERS, rest, window)
    return sections


def _complete_overview(
    subject: SectionSubject, outline: Outline, rest: Sequence[Block], listed: Sequence[Block], window: EmbeddingWindow
) -> SummarySection | None:
    """The overview with all members that have no section of their own, and the names of the others.

    None if that does not fit, or if its slice would cover members of other sections.
    """
    if rest and listed and rest[-1].span.char_start > min(block.span.char_start for block in listed):
        return None
    names = _names(outline.self_block, listed)
    lines = [*(block.text for block in rest), *_names_line(names)]
    part = whole(outline.header, lines, window)
    if part is None and not rest:
        part = split(outline.header, lines, window)[0]
    if part is None:
        return None
    own = _placed(outline.self_block, outline.blocks)
    artifact = _artifact(own, [*(block.markdown for block in rest), *_name_items(names)])
    return section_of(subject, f"{outline.prefix}-{OVERVIEW}", part.text, part.tokens, [own, *rest], artifact)


def _overview(subject: SectionSubject, outline: Outline, window: EmbeddingWindow) -> SummarySection:
    """The declaration with as many member names as fit."""
    names = _names(outline.self_block, outline.blocks)
    part = split(outline.header, _names_line(names), window)[0]
    own = _placed(outline.self_block, outline.blocks)
    artifact = _artifact(own, _name_items(names))
    return section_of(subject, f"{outline.prefix}-{OVERVIEW}", part.text, part.tokens, [own], artifact)


def _placed(block: Block, blocks: Sequence[Block]) -> Block:
    """The declaration. If no text precedes the first member, as in a module, it takes the place of that member."""
    if block.span.char_start != block.span.char_end or not blocks:
        return block
    return replace(block, span=blocks[0].span)


def _names(own: Block, blocks: Sequence[Block]) -> list[str]:
    return [n for n in dict.fromkeys(name for block in blocks for name in block.names) if n not in own.names]


def _names_line(names: Sequence[str]) -> list[str]:
    return [f"Members: {', '.join(names)}"] if names else []


def _name_items(names: Sequence[str]) -> list[str]:
    return [f"- `{name}`" for name in names]


def _parts(
    subject: SectionSubject, outline: Outline, group: str, blocks: Sequence[Block], window: EmbeddingWindow
) -> list[SummarySection]:
    texts = [block.text for block in blocks]
    key = f"{outline.prefix}-{group}"
    parts: list[SectionPart] = split_many(outline.short_header, texts, window)
    sections = []
    for number, part in enumerate(parts, start=1):
        held = blocks[part.first : part.stop]
        title = f"# {subject.kind} {subject.symbol}: {group}, part {number} of {len(parts)}\n"
        artifact = "\n".join([title, *(block.markdown for block in held if block.markdown)])
        sections.append(section_of(subject, key, part.text, part.tokens, held, artifact, (number, len(parts))))
    return sections


def _artifact(own: Block, members: Sequence[str]) -> str:
    """The markdown of the declaration, and a list of its members."""
    items = [item for item in members if item]
    return "\n".join([own.markdown, *(["## Members", "", *items] if items else [])])
