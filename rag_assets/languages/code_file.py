"""From the declarations of one code file to its segments: what every language shares.

A language reads the top level of a file and lists what it found in text order: a type (a `Segment` of its own,
A04), a function (`Member`), or the range of a statement. Functions and runs of statements become the members of
one `module` segment. Its span reaches from the first to the last of them and may therefore enclose types that
stand between; the members carry the exact ranges. No range is ever part of two members of a file's top level.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from rag_assets.contracts.segment import LineIndex, Member, MemberKind, ParseHealth, Segment, SegmentedFile
from rag_assets.languages.sliding_window import statement_members, window_members

MAX_SIGNATURE_CHARS = 1_000  # a default value may be a data table; names and types come first anyway

_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Statement:
    """A character range of the top level that declares no symbol."""

    start: int
    end: int


@dataclass(slots=True)
class CodeFile:
    """What a language found on the top level of a file, in text order.

    `passed` are the ranges that need no symbol (imports, the package clause); `symbol`, `namespace` and
    `doc` describe the module as a whole, `doc_range` is where its documentation stands.
    """

    name: str
    symbol: str
    namespace: str = ""
    doc: str = ""
    doc_range: Statement | None = None
    usings: list[str] = field(default_factory=list)
    items: list[Segment | Member | Statement] = field(default_factory=list)
    passed: list[Statement] = field(default_factory=list)


def assemble(
    found: CodeFile, text: str, lines: LineIndex, language: str, health: ParseHealth, detail: str = ""
) -> SegmentedFile:
    """The segments of a file in text order: its types, and the module of everything else."""
    usings = tuple(dict.fromkeys(found.usings))
    types = [item for item in found.items if isinstance(item, Segment)]
    members = list(_module_members(found.items, text, lines))
    segments = list(types)
    if members or found.doc or not types:
        segments.append(_module(found, members, text, lines, language))
    segments.sort(key=lambda segment: (segment.span.char_start, segment.span.char_end))
    numbered = (
        replace(segment, ordinal=i, usings=usings, health=health, members=_qualified(segment.members, segment.symbol))
        for i, segment in enumerate(segments)
    )
    return SegmentedFile(tuple(numbered), health, detail)


def _qualified(members: tuple[Member, ...], owner: str) -> tuple[Member, ...]:
    """Gives nested types their fully qualified name."""
    if not any(member.kind is MemberKind.TYPE for member in members):
        return members
    return tuple(
        replace(member, symbol=f"{owner}.{member.name}", members=_qualified(member.members, f"{owner}.{member.name}"))
        if member.kind is MemberKind.TYPE
        else member
        for member in members
    )


def _module(found: CodeFile, members: list[Member], text: str, lines: LineIndex, language: str) -> Segment:
    starts = [member.span.char_start for member in members]
    ends = [member.span.char_end for member in members]
    if found.doc_range is not None:
        starts.append(found.doc_range.start)
        ends.append(found.doc_range.end)
    if not starts:  # imports or comments only: the file itself, so that it is not silently absent
        members = list(window_members(text, lines))
        starts, ends = [0], [len(text)]
    return Segment(
        name=found.name,
        symbol=found.symbol,
        kind="module",
        span=lines.span(min(starts), max(ends)),
        language=language,
        ordinal=0,
        namespace=found.namespace,
        doc=found.doc,
        members=tuple(members),
    )


def _module_members(items: Iterable[Segment | Member | Statement], text: str, lines: LineIndex) -> Iterator[Member]:
    run: Statement | None = None
    for item in items:
        if isinstance(item, Statement):
            run = item if run is None else Statement(run.start, max(run.end, item.end))
            continue
        if run is not None:
            yield from statement_members(text, lines, run.start, run.end)
            run = None
        if isinstance(item, Member):
            yield item
    if run is not None:
        yield from statement_members(text, lines, run.start, run.end)


def rescue_gaps(found: CodeFile, text: str) -> None:
    """Every word that no item covers becomes a statement: nothing is lost of a file that is not wholly understood."""
    covered = [(statement.start, statement.end) for statement in found.passed]
    if found.doc_range is not None:
        covered.append((found.doc_range.start, found.doc_range.end))
    keyed: list[tuple[int, Segment | Member | Statement]] = []
    for item in found.items:
        extent = (item.start, item.end) if isinstance(item, Statement) else (item.span.char_start, item.span.char_end)
        covered.append(extent)
        keyed.append((extent[0], item))
    covered.sort()
    position = 0
    for start, end in [*covered, (len(text), len(text))]:
        if start > position and _WORD.search(text, position, start):
            gap = text[position:start]
            begin = start - len(gap.lstrip())
            keyed.append((begin, Statement(begin, position + len(gap.rstrip()))))
        position = max(position, end)
    keyed.sort(key=lambda pair: pair[0])
    found.items = [item for _, item in keyed]
