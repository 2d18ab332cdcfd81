"""Sections of code: one `{kind}-overview` where everything fits the window, else the overview and `{kind}-members`.

The overview of a large type lists its member names; the parts of `{kind}-members` repeat a short header and are
cut between members (R18). Together the slices cover the segment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.contracts.identity import slug
from rag_assets.contracts.section import EmbeddingWindow, SummarySection
from rag_assets.sections.blocks import Block, SectionSubject, section_of
from rag_assets.sections.splitting import Part, split, split_many, whole

OVERVIEW = "overview"
MEMBERS = "members"


@dataclass(frozen=True, slots=True)
class Outline:
    """A symbol ready for splitting.

    `header` are the finder lines of the overview, `short_header` those that the members' parts repeat; `self_block`
    is the declaration itself (no text of its own: the header says it), `blocks` the members in text order.
    """

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
    prefix = kebab_case(subject.kind)
    texts = [block.text for block in outline.blocks]
    single = whole(outline.header, texts, window)
    if single is None and not texts:
        single = split(outline.header, texts, window)[0]
    if single is not None:
        blocks = [outline.self_block, *outline.blocks]
        return [section_of(subject, f"{prefix}-{OVERVIEW}", single.text, single.tokens, blocks, _artifact(blocks))]
    overview = _overview(subject, outline, f"{prefix}-{OVERVIEW}", window)
    parts = split_many(outline.short_header, texts, window)
    return [overview, *_parts(subject, outline, f"{prefix}-{MEMBERS}", parts)]


def _overview(subject: SectionSubject, outline: Outline, key: str, window: EmbeddingWindow) -> SummarySection:
    """The declaration and as many member names as there is room for."""
    own = outline.self_block.names
    names = [n for n in dict.fromkeys(name for block in outline.blocks for name in block.names) if n not in own]
    part = split(outline.header, [f"Members: {', '.join(names)}"] if names else [], window)[0]
    block = outline.self_block
    if block.span.char_start == block.span.char_end:  # nothing stands before the first member, as in a module
        block = Block(block.text, outline.blocks[0].span, block.names, block.node_keys, block.markdown)
    listed = "\n".join(["", "## Members", "", *(f"- `{name}`" for name in names)]) if names else ""
    return section_of(subject, key, part.text, part.tokens, [block], f"{_artifact([block])}{listed}\n")


def _parts(subject: SectionSubject, outline: Outline, key: str, parts: Sequence[Part]) -> list[SummarySection]:
    sections = []
    for number, part in enumerate(parts, start=1):
        blocks = outline.blocks[part.first : part.stop]
        title = f"# {subject.kind} {subject.symbol}: members, part {number} of {len(parts)}\n\n"
        sections.append(
            section_of(subject, key, part.text, part.tokens, blocks, title + _artifact(blocks), (number, len(parts)))
        )
    return sections


def _artifact(blocks: Sequence[Block]) -> str:
    return "\n".join(block.markdown for block in blocks if block.markdown)
