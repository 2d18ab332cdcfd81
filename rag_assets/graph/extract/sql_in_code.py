"""SQL in the strings of languages without a resolver, as edges of the members that hold it.

A string is SQL by the structure of its statement, as in C#; strings that code joins are one. What is put in when the
program runs (`{table}`, `%s`, `${name}`) names nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from rag_assets.contracts.graph import GraphEdge
from rag_assets.graph.extract.endpoints import source_of
from rag_assets.graph.extract.sql_objects import edges_of_program, first_references, once
from rag_assets.languages.by_pattern.comments import masked, strings_in
from rag_assets.languages.call_syntax import syntax_of
from rag_assets.languages.parsed_file import ParsedFile
from rag_assets.languages.sql.label_objects import SqlSymbols
from rag_assets.languages.sql.lexer import ObjectName, tokens_of
from rag_assets.languages.sql.reference_reader import ObjectReference, SqlUse, is_procedural, references_in
from rag_assets.languages.sql.statement_detection import is_sql

_BEGINS = re.compile(
    r"[\s;(]{0,200}+(?:--[^\r\n]{0,200}+[\r\n]\s{0,200}+){0,20}+(?i:ALTER|CALL|CREATE|DELETE|DROP|EXEC|EXECUTE|INSERT|MERGE|REPLACE|SELECT"
    r"|TRUNCATE|UPDATE|WITH)\s"
)
_MAY_HOLD_SQL = re.compile(rf"(?:[\"'`]|\n(?!\s{{0,200}}+[wW]ith\s)){_BEGINS.pattern}")
"""On a line of its own a lower-case `with` is Python's."""
_MARKS = re.compile(r"(?:[A-Za-z@$#]{0,3}(?:\"\"\"|'''|[\"'`])|<<[<~-]?[\"']?\w+[^\n]*\n|\[=*\[)")
_JOINED = re.compile(r"[\s+&.\\_]*+")
"""What stands between two strings that are one: `"SELECT " + _` of Visual Basic, `\\` of Python, `.` of PHP."""
_PUT_IN = re.compile(r"[%${}?#]|_$")
"""What a name has that the running program fills in: "`%s`", `log_{year}`."""
_QUOTED_NAME = re.compile(r'\\"([^"\\]*)\\"')
_LONGEST_GAP, _LONGEST = 200, 400_000  # characters
_BEHIND = 120
_CALLED = re.compile(r"([A-Za-z_$][\w$]*)(?:<[^<>()]*>)?[\s(]*\Z|(\w+)\s*(?::[\w\s.|]*)?:?[+]?=\s*\(?\s*\Z")
_EXECUTING = re.compile(r"\w*(?:query|exec|prepare|sql|raw|fetch|cursor|statement|stmt|cmd|command)\w*", re.IGNORECASE)
"""What runs SQL, or holds it, is called."""
_TELLING = re.compile(r"(?:log|warn|info|debug|error|print|echo|assert|expect|describe|raise|throw|panic|format)\w*")
_OF_OBJECTS = re.compile(r"(?:\bcreateQuery|@(?:Named)?Query)\b(?=[^;{}]*\Z)")
"""Queries for objects: their tables are names of types, unless a script declares them."""
_BUILDS = re.compile(
    r"\b(?:Schema::(?:create|table)|create_table|change_table|add_column|createTable(?:IfNotExists)?|alterTable)\b"
    r"[\s(]{1,40}(?::|(?P<quote>[\"'`]))(?P<name>\w{1,128}(?:\.\w{1,128})?)(?(quote)(?<!_)(?P=quote)|\b)"
)
"""What creates or changes a table in Laravel, Rails, Alembic and Knex."""
_GOES_BACK = re.compile(r"[.:](?:down|downgrade)\|")
"""The member of a migration that takes it back."""
_ROOM = "androidx.room"
"""Whose `@Query` is SQL."""
_OF_TABLES = re.compile(r"[^@;{}]*\bnativeQuery\s*=\s*true")


def sql_in_code(file: ParsedFile, symbols: SqlSymbols) -> Iterator[GraphEdge]:
    """ReadsFrom, WritesTo, Executes and SchemaChange from the members whose strings are SQL. Linear; never raises."""
    syntax = syntax_of(file.language)
    if syntax is None or len(file.text) > _LONGEST:
        return
    made = list(_changed_by_builders(file, syntax.comments, symbols))
    if made or _MAY_HOLD_SQL.search(file.text) is not None:
        yield from once([*made, *_edges(file, syntax.comments, symbols)])


def _changed_by_builders(file: ParsedFile, style: str, symbols: SqlSymbols) -> Iterator[GraphEdge]:
    if _BUILDS.search(file.text) is None:
        return
    source_at, code = source_of(file), masked(file.text, style).code
    for found in _BUILDS.finditer(file.text):
        source = source_at(found.start())
        if not code[found.start()].isspace() and not _GOES_BACK.search(source):
            name = ObjectName(tuple(found["name"].split(".")), 0)
            made = ObjectReference(SqlUse.ALTERS, name, found.start("name"), "TABLE")
            line = file.lines.line_of(made.start)
            yield from edges_of_program(made, source, symbols, file.path, line, only_declared=False)


def _edges(file: ParsedFile, style: str, symbols: SqlSymbols) -> Iterator[GraphEdge]:
    source_at = source_of(file)
    is_room = _ROOM in file.text
    for parts in _joined(file.text, style):
        values = [_value(file.text[start:end]) for start, end in parts]
        text = " ".join(value for _, value in values)
        before = file.text[max(0, parts[0][0] - _BEHIND) : parts[0][0]]
        called = next(filter(None, found.groups()), "") if (found := _CALLED.search(before)) else ""
        is_run = _EXECUTING.fullmatch(called) is not None
        if _BEGINS.match(text) is None or (not is_run and _TELLING.match(called)):
            continue
        tokens = tokens_of(text)
        if not is_sql(tokens, trusted=is_run):
            continue
        source = source_at(parts[0][0])
        asked = file.text[parts[0][0] - len(before) : parts[-1][1] + _BEHIND]
        of_objects = [found.end() for found in _OF_OBJECTS.finditer(before)] if not is_room else []
        only_declared = bool(of_objects) and _OF_TABLES.match(asked, of_objects[-1]) is None
        begins, at = list[int](), 0
        for _, value in values:
            begins.append(at)
            at += len(value) + 1
        for one in first_references(references_in(tokens, assigns_into=is_procedural(text))):
            if any(map(_PUT_IN.search, one.name.parts)):
                continue
            part = bisect_right(begins, one.start) - 1
            line = file.lines.line_of(parts[part][0] + values[part][0] + one.start - begins[part])
            yield from edges_of_program(one, source, symbols, file.path, line, only_declared=only_declared)


def _joined(text: str, style: str) -> Iterator[list[tuple[int, int]]]:
    """The strings of a text, those together that code joins."""
    parts = list[tuple[int, int]]()
    for start, end in strings_in(text, style):
        gap = parts and start - parts[-1][1] <= _LONGEST_GAP and _JOINED.fullmatch(text, parts[-1][1], start)
        if parts and not gap:
            yield parts
            parts = []
        parts.append((start, end))
    if parts:
        yield parts


def _value(written: str) -> tuple[int, str]:
    """(what stands before it, the text between its marks) of a string, as long as it is written."""
    marks = _MARKS.match(written)
    begin = marks.end() if marks is not None else 0
    closing = written[begin - 3 : begin] if written[begin - 3 : begin] in ('"""', "'''") else written[begin - 1 : begin]
    inside = written[begin:].removesuffix(closing) if closing in ('"""', "'''", '"', "'", "`") else written[begin:]
    inside = _QUOTED_NAME.sub(r' "\1" ', inside).replace('\\"', ' "')
    return begin, inside.replace("\\n", "  ").replace("\\t", "  ").replace("\\r", "  ")
