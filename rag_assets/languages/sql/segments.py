"""SQL: a segment per object (table, view, routine …); the remaining statements are one `script` segment."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rag_assets.contracts.segment import LineIndex, Member, MemberKind, ParseHealth, Segment, SegmentedFile
from rag_assets.languages.detection import file_stem
from rag_assets.languages.doc_comments import plain_comments
from rag_assets.languages.sliding_window import statement_members, window_members
from rag_assets.languages.sql.columns import column_definitions, declared_head, parameters
from rag_assets.languages.sql.dbt import is_of_dbt, objects_of_template, without_tags
from rag_assets.languages.sql.lexer import COMMENT
from rag_assets.languages.sql.statements import (
    ROUTINES,
    ObjectStatement,
    grouped,
    loose_statements,
    read_script,
    without_commands,
)

_COMMENTS = re.compile(COMMENT)
_FEWEST_WORDS = 5
"""With its marks, of a comment that tells what a procedure is for: `Versioning details` is about a statement."""
_BLANKS = re.compile(r"\s*")
_LEADS_IN = re.compile(r"(?:\s|;|\b(?:AS|BEGIN)\b|\bSET\s[^;\n=@]{1,200}(?:;|$))*+", re.IGNORECASE | re.MULTILINE)
"""What stands before the first statement of a body: `AS BEGIN SET NOCOUNT ON;`."""
_NAMED_QUERY = re.compile(r"^--[ \t]*(?:name[ \t]*:|:name\b)[ \t]*(?P<name>[A-Za-z_][\w-]*)[^\n]*", re.MULTILINE)
"""How sqlc, aiosql, HugSQL and yesql name the statement below: `-- name: GetOrder :one`."""


def segment_sql(text: str, path: str, language: str) -> SegmentedFile:
    """Segments of a script in text order. Symbols are `schema.name`, `dbo` where no schema is written.

    Statements on one table that follow each other (CREATE TABLE, ALTER TABLE, CREATE INDEX) form one segment.
    Health is PARTIAL when a string or comment never ends: what follows it is not looked into.
    """
    lines, text = LineIndex(text), without_commands(text)
    if is_of_dbt(text):
        return _segment_template(text, path, language, lines)
    script = read_script(text)
    health, detail = ParseHealth.OK, ""
    if script.unclosed >= 0:
        health = ParseHealth.PARTIAL
        detail = f"unclosed string or comment at line {lines.line_of(script.unclosed)}"
    segments = [_segment(text, lines, group, language) for group in grouped(text, script.objects)]
    segments.extend(_rest(text, lines, path, language, segments))
    segments.sort(key=lambda segment: (segment.span.char_start, segment.span.char_end))
    numbered = (replace(segment, ordinal=number, health=health) for number, segment in enumerate(segments))
    return SegmentedFile(tuple(numbered), health, detail)


def _segment_template(text: str, path: str, language: str, lines: LineIndex) -> SegmentedFile:
    segments = [_segment(text, lines, [found], language) for found in objects_of_template(text, path)]
    segments.extend(_rest(without_tags(text), lines, path, language, segments))
    segments.sort(key=lambda segment: (segment.span.char_start, segment.span.char_end))
    numbered = (replace(segment, ordinal=number) for number, segment in enumerate(segments))
    return SegmentedFile(tuple(numbered), ParseHealth.OK)


def _segment(text: str, lines: LineIndex, group: list[ObjectStatement], language: str) -> Segment:
    found = group[0]
    header = found.header
    signature, head_end = declared_head(text, found)
    doc = plain_comments(_COMMENTS.findall(text[found.start : found.head]))
    if not doc and header.kind in ROUTINES:
        start, end = comment_inside(text, head_end, group[-1].end)
        doc = plain_comments(_COMMENTS.findall(text[start:end]))
    return Segment(
        name=header.name,
        symbol=header.symbol,
        kind=header.kind,
        span=lines.span(found.start, group[-1].end),
        language=language,
        ordinal=0,
        namespace=header.schema,
        doc=doc,
        signature=signature,
        parameters=parameters(text, found, head_end) if header.kind in ROUTINES else (),
        members=tuple(_columns(text, lines, found)) if header.kind in ("table", "type") else (),
    )


def comment_inside(text: str, start: int, end: int) -> tuple[int, int]:
    """The range of the comments that a body begins with, behind its settings: where T-SQL tells what a procedure is
    for. Empty where they tell nothing of that."""
    leading = _LEADS_IN.match(text, start, end)
    first = position = stop = leading.end() if leading is not None else start
    while (comment := _COMMENTS.match(text, position, end)) is not None:
        stop = comment.end()
        blanks = _BLANKS.match(text, stop, end)
        position = blanks.end() if blanks is not None else stop
    tells = len(text[first:stop].split()) >= _FEWEST_WORDS
    return (first, stop) if tells else (first, first)


def _columns(text: str, lines: LineIndex, found: ObjectStatement) -> Iterator[Member]:
    for column in column_definitions(text, found):
        yield Member(
            name=column.name,
            kind=MemberKind.PROPERTY,
            signature=column.text,
            span=lines.span(column.start, column.end),
            doc=plain_comments(column.comments),
            type=column.type,
            modifiers=column.modifiers,
            attributes=column.references,
        )


def _rest(text: str, lines: LineIndex, path: str, language: str, objects: Sequence[Segment]) -> list[Segment]:
    """The statements that declare no object, those that code calls by a name apart; a file without any object is here
    as a whole."""
    members: list[Member] = []
    queries: list[Segment] = []
    start = 0
    for begin, end in [*((found.span.char_start, found.span.char_end) for found in objects), (len(text), len(text))]:
        named = list(_NAMED_QUERY.finditer(text, start, begin))
        stops = [*(one.start() for one in named[1:]), begin]
        for found, stop in zip(named, stops, strict=False):  # without a name there is no end of one
            of_query = statement_members(text, lines, found.start(), stop)
            span = lines.span(found.start(), of_query[-1].span.char_end)
            windows = of_query if len(of_query) > 1 else ()
            queries.append(Segment(found["name"], found["name"], "script", span, language, 0, members=windows))
        statements = loose_statements(text, start, named[0].start() if named else begin)
        members.extend(statement_members(text, lines, *statements) if statements is not None else ())
        start = max(start, end)
    if not members and not objects and not queries:
        members.extend(window_members(text, lines))
    if not members:
        return queries
    name = file_stem(path)
    span = lines.span(members[0].span.char_start, members[-1].span.char_end)
    return [Segment(name, path or name, "script", span, language, 0, members=tuple(members)), *queries]
