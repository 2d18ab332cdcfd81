"""C# files → segments: one per top-level type or delegate, one for top-level statements (A04–A07, R14).

Declarations that exist only in the `#if` branches that were not chosen are put beside the others. Text that no
declaration holds is a segment too: what a broken file loses otherwise, and files that declare nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_assets.contracts.segment import LineIndex, Member, MemberKind, ParseHealth, Segment, SegmentedFile, Span
from rag_assets.languages.csharp.syntax.declarations import FileDeclarations, read_declarations
from rag_assets.languages.csharp.syntax.error_recovery import Parsed, SourceView, parse_csharp
from rag_assets.languages.csharp.syntax.lexer import scan
from rag_assets.languages.csharp.syntax.xmldoc import is_documentation, plain_comment, plain_documentation
from rag_assets.languages.detection import file_stem
from rag_assets.languages.sliding_window import window_members, window_segment
from rag_assets.languages.treesitter.parsing import UnparseableError

SEGMENTER_VERSION = 2
"""Part of the cache key of segments: raise it with every change of what `segment_csharp` returns for some text."""

_BLANKS = " \t\r\n\f\v\u00a0\u3000\ufeff\x00"


def segment_csharp(text: str, path: str = "") -> SegmentedFile:
    """Segments of one C# file; `slice == text[span]` for every segment and member, in characters of `text`.

    Nested types are members of their type (A05). A file that declares nothing is one `file` segment, a file
    without text none. Text that does not parse ends in a `file` segment of windows, so that no line is lost.
    `path` names such segments only. Pure and deterministic (A07); never raises for malformed text.
    """
    if not text.strip(_BLANKS):
        return SegmentedFile((), ParseHealth.OK, "the file holds no text")
    try:
        parsed = parse_csharp(text)
    except UnparseableError as error:
        return _windows(text, path, str(error))
    found = read_declarations(parsed.view, len(text), parsed.health)
    detail = _detail(parsed)
    if parsed.health is ParseHealth.PARTIAL and _is_hopeless(parsed, found, len(text)):
        return _windows(text, path, detail)
    if parsed.alternative is not None:
        other = read_declarations(parsed.alternative, len(text), parsed.health)
        branches = branches_of(parsed.view, parsed.code)
        found.segments, added = merge_segments(found.segments, other.segments, branches)
        if added:
            count = f"{added} declaration{'s' if added > 1 else ''}"
            detail = f"{count} read from other #if branches" + (f"; {detail}" if detail else "")
    if parsed.code or found.text_left:
        code = parsed.code or scan(text).code
        left = leftover_segment(text, code, parsed.view.source.lines, path, found, parsed.health)
        if left is not None:
            found.segments.append(left)
    if not found.segments:
        found.segments.append(file_segment(text, path, found, parsed.health))
    return SegmentedFile(_numbered(found.segments), parsed.health, detail, parsed.masked)


def _windows(text: str, path: str, detail: str) -> SegmentedFile:
    segment = window_segment(text, path, "csharp", ParseHealth.TEXT_FALLBACK)
    return SegmentedFile((segment,), ParseHealth.TEXT_FALLBACK, detail)


def _is_hopeless(parsed: Parsed, found: FileDeclarations, length: int) -> bool:
    """Whether windows serve better than the tree: no type survived, and most of the text is error."""
    has_types = any(segment.kind != "program" for segment in found.segments)
    return not has_types and not found.strays and (not found.segments or parsed.view.damage * 2 > length)


def _detail(parsed: Parsed) -> str:
    errors = parsed.view.errors
    if not errors:
        return ""
    line = parsed.view.source.lines.line_of(errors[0][0])
    return f"{len(errors)} syntax error{'s' if len(errors) > 1 else ''}, the first at line {line}"


def _numbered(segments: list[Segment]) -> tuple[Segment, ...]:
    in_order = sorted(segments, key=lambda segment: (segment.span.char_start, segment.span.char_end))
    return tuple(
        segment if segment.ordinal == number else replace(segment, ordinal=number)
        for number, segment in enumerate(in_order)
    )


_SAYS_SOMETHING = re.compile(r"[^\s{};\ufeff]")  # closing braces and stray semicolons are no loss
_DECLARES_SOMETHING = re.compile(r"[;(=]")  # a modifier or namespace of a branch not taken is no loss either
_HEADER = re.compile(r"(?:[\s\ufeff]++|//[^\r\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/)*+")
_FIRST_COMMENTS = re.compile(r"\ufeff?\s*+((?://[^\r\n]*+(?:\r\n?|\n)?[ \t]*+)++|/\*.*?\*/)", re.DOTALL)


def leftover_segment(
    text: str, code: str, lines: LineIndex, path: str, found: FileDeclarations, health: ParseHealth
) -> Segment | None:
    """One `file` segment with all text outside of segments and file-level remains; None if nothing is left.

    Its members are the members that lost their type, and windows of the rest. `code`: of the Scan of `text`.
    """
    strays = list(found.strays)
    covered = sorted(
        [(segment.span.char_start, segment.span.char_end) for segment in found.segments]
        + [(member.span.char_start, member.span.char_end) for member in strays]
        + found.remains
    )
    # Where the tree is not to be trusted a lone comment may belong to what was lost; a file header does not.
    is_partial = health is ParseHealth.PARTIAL
    readable = text if is_partial else code
    says_something = _DECLARES_SOMETHING if health is ParseHealth.RESCUED else _SAYS_SOMETHING
    header = _HEADER.match(text) if is_partial else None
    position = header.end() if header else 0
    for start, end in [*covered, (len(text), len(text))]:
        gap = readable[position:start]
        if says_something.search(gap):
            first = position + len(gap) - len(gap.lstrip())
            strays += window_members(text, lines, first, position + len(gap.rstrip()))
        position = max(position, end)
    if not strays:
        return None
    strays.sort(key=lambda member: (member.span.char_start, member.span.char_end))
    name = file_stem(path)
    last = max(member.span.char_end for member in strays)
    return Segment(
        name=name,
        symbol=path or name,
        kind="file",
        span=lines.span(strays[0].span.char_start, last),
        language="csharp",
        ordinal=0,
        members=tuple(strays),
        usings=tuple(found.usings),
        health=health,
    )


def file_segment(text: str, path: str, found: FileDeclarations, health: ParseHealth) -> Segment:
    """A file without declarations (global usings, assembly attributes, comments) as one segment."""
    segment = window_segment(text, path, "csharp", health)
    return replace(segment, doc=_first_comment(text), attributes=tuple(found.attributes), usings=tuple(found.usings))


def _first_comment(text: str) -> str:
    found = _FIRST_COMMENTS.match(text)
    if found is None:
        return ""
    comment = found.group(1)
    if comment.startswith("/*"):
        return plain_documentation([comment]) if is_documentation(comment) else plain_comment([comment])
    lines = [line.strip() for line in comment.splitlines()]
    documentation = [line for line in lines if is_documentation(line)]
    return plain_documentation(documentation) if documentation else plain_comment(lines)


_CONTAINERS = frozenset({MemberKind.TYPE, MemberKind.EXTENSION})
_OVERLOADED = frozenset({MemberKind.METHOD, MemberKind.CONSTRUCTOR, MemberKind.OPERATOR, MemberKind.INDEXER})


@dataclass(frozen=True, slots=True)
class Branches:
    """The dropped ranges of a view that hold code."""

    starts: list[int]
    ends: list[int]
    lines: LineIndex
    text: str

    def part_of(self, span: Span) -> Span | None:
        """`span` if it lies in one dropped branch; its part there if it goes on outside; None if it is elsewhere.

        A declaration whose header alone is in the branch shares its body with the one that was chosen: it gets
        the header, so that no text has two owners.
        """
        after = bisect_right(self.ends, span.char_start)  # the first range that ends behind the start of `span`
        if after == len(self.ends):
            return None
        first, last = max(self.starts[after], span.char_start), min(self.ends[after], span.char_end)
        if first >= last:
            return None
        return span if (first, last) == (span.char_start, span.char_end) else self.lines.span(first, last)

    def declare(self, name: str, span: Span) -> bool:
        """Whether a type gets its name in `span`, not only a modifier or its namespace, which make no other type."""
        return re.search(rf"\b{re.escape(name.removeprefix('@'))}\b", span.slice(self.text)) is not None


def branches_of(view: SourceView, code: str) -> Branches:
    """`code`: of the Scan of the whole file."""
    starts, ends = [], []
    for start, end, _ in view.dropped:
        visible = code[start:end]
        stripped = visible.strip()
        if stripped:
            starts.append(start + len(visible) - len(visible.lstrip()))
            ends.append(starts[-1] + len(stripped))
    return Branches(starts, ends, view.source.lines, view.source.text)


def merge_segments(chosen: list[Segment], other: list[Segment], branches: Branches) -> tuple[list[Segment], int]:
    """`chosen` and what only `other` declares, in text order, and how many declarations that added."""
    merged = list(chosen)
    known: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for index, segment in enumerate(chosen):
        known[segment.symbol, segment.kind].append((segment.span.char_start, index))
    added = 0
    for segment in other:
        same = known[segment.symbol, segment.kind]
        before = bisect_left(same, (segment.span.char_end, -1)) - 1  # the last that begins before `segment` ends
        at = same[before][1] if before >= 0 else None
        if at is not None and chosen[at].span.char_end <= segment.span.char_start:
            at = None
        if at is not None:
            members, count = _merge_members(merged[at].members, segment.members, branches)
            if count:
                merged[at] = replace(merged[at], members=members)
                added += count
        elif (span := branches.part_of(segment.span)) is not None and branches.declare(segment.name, span):
            merged.append(replace(segment, span=span, members=_within(segment.members, span)))
            added += 1
    merged.sort(key=lambda segment: (segment.span.char_start, segment.span.char_end))
    return merged, added


def _merge_members(
    chosen: tuple[Member, ...], other: tuple[Member, ...], branches: Branches
) -> tuple[tuple[Member, ...], int]:
    merged = list(chosen)
    known = {_key(member): index for index, member in enumerate(merged)}
    added = 0
    for member in other:
        index = known.get(_key(member))
        if index is None:
            span = branches.part_of(member.span)
            if span is not None:
                merged.append(replace(member, span=span, members=_within(member.members, span)))
                added += 1
        elif member.kind in _CONTAINERS:
            members, count = _merge_members(merged[index].members, member.members, branches)
            if count:
                merged[index] = replace(merged[index], members=members)
                added += count
    merged.sort(key=lambda member: (member.span.char_start, member.span.char_end))
    return tuple(merged), added


def _key(member: Member) -> tuple[object, ...]:
    key = (member.kind, member.name, member.explicit_interface, len(member.type_parameters))
    if member.kind in _OVERLOADED:
        return (*key, *(parameter.type for parameter in member.parameters))
    return key


def _within(members: Sequence[Member], span: Span) -> tuple[Member, ...]:
    return tuple(m for m in members if span.char_start <= m.span.char_start and m.span.char_end <= span.char_end)
