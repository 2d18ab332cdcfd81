"""Texts without structure as windows of lines: the form that every language falls back to.

Windows tile the text: nothing is lost, nothing is in two of them. A cut goes where the text itself breaks (a
blank line, the outermost indentation); a line that is too long on its own is cut inside.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from rag_assets.contracts.segment import LineIndex, Member, MemberKind, ParseHealth, Segment
from rag_assets.languages.detection import file_stem

_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")


def numbered_lines(text: str) -> list[tuple[int, str]]:
    """(character offset, line without its end) for each line, which ends as LineIndex has it: LF, CRLF or lone CR."""
    if "\r" in text:
        return [(match.start(), match[1]) for match in _LINE.finditer(text)]
    found = []
    position = 0
    for line in text.split("\n"):
        found.append((position, line))
        position += len(line) + 1
    return found


TARGET_LINES = 60  # about a screen; at usual code widths 500–700 tokens, near the chunk size of E01
MIN_LINES = 30  # half the target, so that a good cut may come early without leaving crumbs
MAX_LINES = 90
MAX_CHARS = 6_000  # TARGET_LINES of 100 characters: bounds minified and single-line files too
_LINE_CUT_SLACK = 500  # how far back from MAX_CHARS a cut inside a line looks for a separator
_SIGNATURE_CHARS = 120

_INDENT = re.compile(r"[ \t]*")
_LAST_SEPARATOR = re.compile(r".*[\s,;>}\])|]", re.DOTALL)
_NOT_A_START = re.compile(r"[})\]{]|</|end\b|else\b|\Z", re.IGNORECASE)
"""A window should not begin with the closing (or, in Allman style, opening) of what the window before holds."""
_BYTE_ORDER_MARK = "\ufeff"  # no blank to Python, and nothing to a reader


def cut_windows(text: str, lines: LineIndex, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
    """Character ranges that tile `text[start:end]`, each of at most MAX_LINES lines and MAX_CHARS characters."""
    end = len(text) if end is None else end
    if start >= end:
        return []
    starts = _line_starts(lines, start, end)
    count = len(starts)
    starts.append(end)
    ranges: list[tuple[int, int]] = []
    line = 0
    while line < count:
        furthest = min(line + MAX_LINES, count)
        reach = bisect_right(starts, starts[line] + MAX_CHARS, line, furthest + 1) - 1
        if reach == line:
            ranges.extend(_cut_line(text, starts[line], starts[line + 1]))
            line += 1
            continue
        stop = count if reach == count else _best_cut(text, starts, line, reach)
        ranges.append((starts[line], starts[stop]))
        line = stop
    return ranges


def _line_starts(lines: LineIndex, start: int, end: int) -> list[int]:
    after_first = range(lines.line_of(start) + 1, lines.line_of(end - 1) + 1)
    return [start, *map(lines.start_of, after_first)]


def _best_cut(text: str, starts: list[int], line: int, reach: int) -> int:
    """The line the next window starts with: outermost indentation, then after a blank line, then near the target."""
    lowest = line + min(MIN_LINES, (reach - line + 1) // 2)
    target = min(line + TARGET_LINES, reach)
    best, best_cost = reach, (10_000, 0, 0)
    for candidate in range(max(lowest, line + 1), reach + 1):
        begin = starts[candidate]
        first = _INDENT.match(text, begin).end()  # type: ignore[union-attr] # matches the empty string
        if text[first : first + 1] in "\r\n" or _NOT_A_START.match(text, first):
            continue
        after_blank = not text[starts[candidate - 1] : begin].strip()
        cost = (first - begin, 0 if after_blank else 1, abs(candidate - target))
        if cost < best_cost:
            best, best_cost = candidate, cost
    return best


def _cut_line(text: str, start: int, end: int) -> list[tuple[int, int]]:
    ranges = []
    while end - start > MAX_CHARS:
        limit = start + MAX_CHARS
        separator = _LAST_SEPARATOR.match(text, limit - _LINE_CUT_SLACK, limit)
        stop = separator.end() if separator else limit
        ranges.append((start, stop))
        start = stop
    ranges.append((start, end))
    return ranges


def window_members(
    text: str,
    lines: LineIndex,
    start: int = 0,
    end: int | None = None,
    kind: MemberKind = MemberKind.WINDOW,
) -> tuple[Member, ...]:
    """The windows of `text[start:end]` as members; windows of blanks only are left out."""
    made = []
    for begin, stop in cut_windows(text, lines, start, end):
        content = text[begin:stop].strip()
        if content:
            span = lines.span(begin, stop)
            whole_lines = span.line_start < span.line_end
            name = f"lines {span.line_start}-{span.line_end}" if whole_lines else f"line {span.line_start}"
            if stop - begin > 1 and _inside_line(text, begin, stop):
                name += f" characters {begin}-{stop}"
            made.append(Member(name=name, kind=kind, signature=first_line(content), span=span))
    return tuple(made)


def _inside_line(text: str, begin: int, stop: int) -> bool:
    """Whether a range starts or stops in the middle of a line."""
    starts_inside = begin > 0 and text[begin - 1] not in "\r\n"
    stops_inside = stop < len(text) and text[stop - 1] not in "\r\n"
    return starts_inside or stops_inside


def statement_members(text: str, lines: LineIndex, start: int, end: int) -> tuple[Member, ...]:
    """A run of statements as members: one, or windows of it where it is long; none when it is blank."""
    if end - start > MAX_CHARS:
        return window_members(text, lines, start, end, MemberKind.STATEMENTS)
    content = text[start:end].strip()
    if not content.strip(_BYTE_ORDER_MARK):
        return ()
    span = lines.span(start, end)
    name = f"lines {span.line_start}-{span.line_end}"
    return (Member(name=name, kind=MemberKind.STATEMENTS, signature=first_line(content), span=span),)


def first_line(content: str) -> str:
    """The first line of a stripped text, white space collapsed, short enough for a list."""
    return " ".join(re.split(r"[\r\n]", content[: _SIGNATURE_CHARS * 2], maxsplit=1)[0].split())[:_SIGNATURE_CHARS]


def window_segment(text: str, path: str, language: str, health: ParseHealth, *, kind: str = "file") -> Segment:
    """The whole file as one segment whose members are its windows. `symbol` is the path."""
    lines = LineIndex(text)
    name = file_stem(path)
    return Segment(
        name=name,
        symbol=path or name,
        kind=kind,
        span=lines.span(0, len(text)),
        language=language,
        ordinal=0,
        members=window_members(text, lines),
        health=health,
    )
