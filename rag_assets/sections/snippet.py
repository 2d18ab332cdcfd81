"""The finder snippet: `Key: value` lines in the fixed order of the domain reference §3; the subject and blocks of
sections.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag_assets.contracts.identity import GENERAL_DOMAIN
from rag_assets.contracts.outline import SectionMember, compact_signature
from rag_assets.contracts.section import SummarySection
from rag_assets.contracts.segment import Member, MemberKind, Span, first_paragraph, one_line
from rag_assets.sections.splitter import shortened


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
    backing artifact, the named section of its kind (`methods`; "" for none), and its lines in the outline."""

    text: str
    span: Span
    names: tuple[str, ...] = ()
    node_keys: tuple[str, ...] = ()
    markdown: str = ""
    group: str = ""
    members: tuple[SectionMember, ...] = ()


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
    """The section (part `part[0]` of `part[1]`) whose slice, names, members and keys are those of its blocks."""
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
        members=tuple(dict.fromkeys(member for block in blocks for member in block.members)),
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


PURPOSE_CHARS = 400
"""About 90 tokens, a third of the default window: two or three sentences of a summary."""
FACT_CHARS = 240
"""Per kind-specific line: some eight type names. More say little about the purpose of a type."""
MEMBER_DOC_CHARS = 240
SIGNATURE_CHARS = 320
"""A member line of both fills about half of the default window, so no member hides its neighbours."""

_CONTAINERS = frozenset({"src", "source", "lib", "app", "main", "."})
"""Folders that hold everything, so their names tell nothing."""

_ARITY = re.compile(r"`\d+")
_SENTENCE_END = re.compile(r"[.!?。！？](?=\s|$)")


def finder_header(
    *,
    kind: str,
    artifact: str,
    domain: str = "",
    domain_summary: str = "",
    primary_entity: str = "",
    facts: Iterable[tuple[str, str]] = (),
    purpose: str = "",
) -> list[str]:
    """The lines of a snippet in their fixed order, with an empty line between groups and without empty keys."""
    groups = (
        (("Domain", domain or GENERAL_DOMAIN), ("DomainSummary", domain_summary)),
        (("Kind", kind),),
        (("Artifact", artifact), ("PrimaryEntity", primary_entity), *facts),
        (("Purpose", shortened_sentences(purpose, PURPOSE_CHARS)),),
    )
    lines: list[str] = []
    for group in groups:
        found = [f"{key}: {shortened(one_line(value), _limit(key))}" for key, value in group if value]
        if found and lines:
            lines.append("")
        lines.extend(found)
    return lines


def _limit(key: str) -> int:
    return PURPOSE_CHARS if key in ("Purpose", "Artifact") else FACT_CHARS


def shortened_sentences(text: str, length: int) -> str:
    """At most `length` characters, ending after a sentence if that keeps at least half of them."""
    if len(text) <= length:
        return text
    ends = [found.end() for found in _SENTENCE_END.finditer(text, 0, length)]
    return text[: ends[-1]] if ends and ends[-1] >= length // 2 else shortened(text, length)


def path_words(path: str, artifact: str) -> str:
    """The folders and the stem of a path that the artifact name lacks: `tests/perf/Runner`."""
    known = f".{_ARITY.sub('', artifact).lower()}."
    *folders, name = path.split("/")
    stem = name.rpartition(".")[0] or name
    new = [p for p in (*folders, stem) if f".{p.lower()}." not in known and p.lower() not in _CONTAINERS]
    return "/".join(new)


def member_line(member: Member, owner: str = "") -> str:
    """One member as one line: `Task<Order> Create(Order order) — Creates the order.` `owner` names a nested type.

    An undocumented private field gives its name only: a constructor parameter already shows its type.
    """
    text = member.name if _is_private_state(member) else compact_signature(member.signature)
    if not text:
        text = f"{member.name} = {member.value}" if member.value else member.name
    text = shortened(one_line(text), SIGNATURE_CHARS)
    if owner:
        text = f"{owner}: {text}"
    doc = first_paragraph(member.doc)
    return f"{text} — {shortened_sentences(doc, MEMBER_DOC_CHARS)}" if doc else text


def _is_private_state(member: Member) -> bool:
    return member.kind is MemberKind.FIELD and not member.doc and "private" in member.modifiers
