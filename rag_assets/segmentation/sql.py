"""SQL: a segment per object (table, view, routine …); the remaining statements are one `script` segment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from rag_assets.contracts.segment import LineIndex, Member, ParseHealth, Segment, SegmentedFile
from rag_assets.segmentation.doc_comments import plain_comments
from rag_assets.segmentation.names import file_stem
from rag_assets.segmentation.sql_parts import columns, declared_head, parameters
from rag_assets.segmentation.sql_scanner import ROUTINES, SqlObject, scan
from rag_assets.segmentation.windows import statement_members, window_members

_GO = r"(?<!\w)GO\b[ \t]*+(?:\d++[ \t]*+)?(?=[\r\n;]|\Z)"
_SEPARATORS = re.compile(rf"(?:[\s;]++|{_GO})*+", re.IGNORECASE)
_COMMENTS = re.compile(r"--[^\r\n]*+|/\*(?s:.*?)(?:\*/|\Z)")
_NO_CONTENT = re.compile(
    rf"""(?: [\s;]++
      | {_GO}
      | SET \s [^\r\n;'=]+? \s (?:ON|OFF)\b
      | USE \s++ [^\s;]++
      | IF \s++ OBJECT_ID \s*+ \([^()]*+\) \s++ IS \s++ (?:NOT\s++)? NULL\b
      | (?:BEGIN|END)\b (?!\s++TRAN)
      | DROP \s++ (?:PROC|PROCEDURE|VIEW|FUNCTION|TRIGGER) \s++ (?:IF\s++EXISTS\s++)? [^\s;]++
    )*+""",
    re.IGNORECASE | re.VERBOSE,
)
"""What tools write around the definition of an object: batches, session settings, "drop it if it exists"."""


def segment_sql(text: str, path: str, language: str) -> SegmentedFile:
    """Segments of a script in text order. Symbols are `schema.name`, `dbo` where no schema is written.

    Statements on one table that follow each other (CREATE TABLE, ALTER TABLE, CREATE INDEX) form one segment.
    Health is PARTIAL when a string or comment never ends: what follows it is not looked into.
    """
    lines = LineIndex(text)
    script = scan(text)
    health, detail = ParseHealth.OK, ""
    if script.unclosed >= 0:
        health = ParseHealth.PARTIAL
        detail = f"unclosed string or comment at line {lines.line_of(script.unclosed)}"
    groups = list(_groups(text, script.objects))
    segments = [_segment(text, lines, group, language) for group in groups]
    segments.extend(_rest(text, lines, path, language, groups))
    segments.sort(key=lambda segment: (segment.span.char_start, segment.span.char_end))
    numbered = (replace(segment, ordinal=number, health=health) for number, segment in enumerate(segments))
    return SegmentedFile(tuple(numbered), health, detail)


def _groups(text: str, objects: list[SqlObject]) -> Iterator[list[SqlObject]]:
    """Each object alone, but a table together with the statements on it that directly follow."""
    group: list[SqlObject] = []
    for found in objects:
        if group and _continues(text, group, found):
            group.append(found)
            continue
        if group:
            yield group
        group = [found]
    if group:
        yield group


def _continues(text: str, group: list[SqlObject], found: SqlObject) -> bool:
    table, header = group[0].header, found.header
    is_on_table = header.table == table.symbol or (
        header.kind == "table" and header.alters and header.symbol == table.symbol
    )
    between = _SEPARATORS.match(text, group[-1].end, found.start)
    return table.kind == "table" and is_on_table and between is not None and between.end() == found.start


def _segment(text: str, lines: LineIndex, group: list[SqlObject], language: str) -> Segment:
    found = group[0]
    header = found.header
    signature, head_end = declared_head(text, found)
    return Segment(
        name=header.name,
        symbol=header.symbol,
        kind=header.kind,
        span=lines.span(found.start, group[-1].end),
        language=language,
        ordinal=0,
        namespace=header.schema,
        doc=plain_comments(_COMMENTS.findall(text[found.start : found.head])),
        signature=signature,
        parameters=parameters(text, found, head_end) if header.kind in ROUTINES else (),
        members=columns(text, lines, found) if header.kind in ("table", "type") else (),
    )


def _rest(text: str, lines: LineIndex, path: str, language: str, groups: list[list[SqlObject]]) -> Iterator[Segment]:
    """The statements that declare no object; a file without any object is here as a whole."""
    members: list[Member] = []
    start = 0
    for begin, end in [*((group[0].start, group[-1].end) for group in groups), (len(text), len(text))]:
        members.extend(_statements(text, lines, start, begin))
        start = max(start, end)
    if not members and not groups:
        members.extend(window_members(text, lines))
    if members:
        name = file_stem(path)
        yield Segment(
            name=name,
            symbol=path or name,
            kind="script",
            span=lines.span(members[0].span.char_start, members[-1].span.char_end),
            language=language,
            ordinal=0,
            members=tuple(members),
        )


def _statements(text: str, lines: LineIndex, start: int, end: int) -> Iterator[Member]:
    separators = _SEPARATORS.match(text, start, end)
    start = start if separators is None else separators.end()
    content = text[start:end]
    code = _COMMENTS.sub("", content)
    settings = _NO_CONTENT.match(code)
    if settings is not None and settings.end() == len(code):
        return
    yield from statement_members(text, lines, start, _without_last_go(text, start, end))


def _without_last_go(text: str, start: int, end: int) -> int:
    """Where a run of statements ends: before the blanks and GO lines after it."""
    while True:
        while end > start and text[end - 1].isspace():
            end -= 1
        last_line = max(start, text.rfind("\n", start, end) + 1)
        if not _SEPARATORS.fullmatch(text, last_line, end) or last_line == start:
            return end
        end = last_line
