"""C# files → segments: one per top-level type or delegate, one for top-level statements (A04–A07, R14)."""

from __future__ import annotations

from dataclasses import replace

from rag_assets.contracts.segment import ParseHealth, Segment, SegmentedFile
from rag_assets.languages.csharp.syntax.declarations import FileDeclarations, read_declarations
from rag_assets.languages.csharp.syntax.error_recovery import Parsed, parse_csharp
from rag_assets.languages.csharp.syntax.lexer import scan
from rag_assets.languages.csharp.syntax.preprocessor_merge import branches_of, merge_segments
from rag_assets.languages.csharp.syntax.unparsed import file_segment, leftover_segment
from rag_assets.languages.sliding_window import window_segment
from rag_assets.languages.treesitter.parsing import UnparseableError

__all__ = ["SEGMENTER_VERSION", "segment_csharp"]

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
