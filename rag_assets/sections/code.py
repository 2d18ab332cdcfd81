"""Sections of code: the overview of a symbol, the sections its kind names, and `{prefix}-members` for the rest.

A kind without named sections is one `{prefix}-overview` if everything fits the window. The overview of a large type
lists its member names. The parts of the other sections repeat a short header and are cut between members (R18).
Together the slices cover the segment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.contracts.identity import slug
from rag_assets.contracts.section import EmbeddingWindow, SummarySection
from rag_assets.sections.blocks import Block, SectionSubject, section_of
from rag_assets.sections.splitter import SectionPart, split, split_many, whole

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
    return Block(block.text, blocks[0].span, block.names, block.node_keys, block.markdown)


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
