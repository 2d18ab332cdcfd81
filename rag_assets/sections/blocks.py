"""The nouns of section building: the subject of a section, and its indivisible pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.contracts.section import SummarySection
from rag_assets.contracts.segment import Span


@dataclass(frozen=True, slots=True)
class SectionSubject:
    """Fields that all sections of one description share. `symbol` is the final, unique one (R1)."""

    symbol: str
    symbol_type: str
    kind: str
    domain_key: str = ""
    primary_entity: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """A piece that is never split: its line in the snippet, its place, declared names, graph keys, markdown for the
    backing artifact, and the named section of its kind (`methods`; "" for none)."""

    text: str
    span: Span
    names: tuple[str, ...] = ()
    node_keys: tuple[str, ...] = ()
    markdown: str = ""
    group: str = ""


def section_of(
    subject: SectionSubject,
    key: str,
    snippet: str,
    tokens: int,
    blocks: Sequence[Block],
    artifact: str,
    part: tuple[int, int] = (1, 1),
    html_anchor: str = "",
) -> SummarySection:
    """The section (part `part[0]` of `part[1]`) whose slice, names and keys are those of its blocks, in order."""
    return SummarySection(
        section_key=key,
        symbol=subject.symbol,
        symbol_type=subject.symbol_type,
        finder_snippet=snippet,
        backing_artifact=artifact,
        span=covering([block.span for block in blocks]),
        part_index=part[0],
        part_total=part[1],
        kind=subject.kind,
        domain_key=subject.domain_key,
        primary_entity=subject.primary_entity,
        names=tuple(dict.fromkeys(name for block in blocks for name in block.names)),
        graph_node_keys=tuple(dict.fromkeys(key for block in blocks for key in block.node_keys)),
        html_anchor=html_anchor,
        snippet_tokens=tokens,
    )


def covering(spans: Sequence[Span]) -> Span:
    """The smallest span that holds all of `spans`. Raises ValueError for none."""
    return Span(
        min(span.line_start for span in spans),
        max(span.line_end for span in spans),
        min(span.char_start for span in spans),
        max(span.char_end for span in spans),
    )
