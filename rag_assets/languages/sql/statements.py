"""The statement reader: where the objects of an SQL script begin and end, by one linear pass over its structure.

Not a parser. It knows what ends a statement (`;`, `GO`, a MySQL delimiter, the next statement at the start of a line)
and that a T-SQL routine reaches to the end of its batch. That holds for scripts that parsers of one dialect refuse.
The rows of a PostgreSQL dump are data: a quote in them opens no string.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rag_assets.languages.sql.lexer import (
    AFTER_VIEW,
    ALTER_ACTIONS,
    BLOCK_ENDS,
    BLOCKS,
    COMMENT,
    DEFAULT_SCHEMA,
    FILLED_IN,
    SET_ACTIONS,
    STATEMENT_STARTS,
    first_on_line,
    structure_of,
    unquoted,
)

_COPY = re.compile(r"^[ \t]*COPY\b[^;]{1,4000}?\bFROM[ \t]+stdin\b[^;\r\n]*;[ \t]*\r?\n", re.IGNORECASE | re.MULTILINE)
"""`COPY t (a, b) FROM stdin;`; its list of columns may go over lines."""

_END = re.compile(r"^\\\.[ \t]*$", re.MULTILINE)
_VISIBLE = re.compile(r"[^\r\n]")


def without_copied_rows(text: str) -> str:
    """`text` with the rows after each `COPY … FROM stdin;` blanked up to the line `\\.`, as long as before. Linear."""
    if "stdin" not in text and "STDIN" not in text:
        return text
    pieces: list[str] = []
    done = 0
    while (copy := _COPY.search(text, done)) is not None:
        end = _END.search(text, copy.end())
        stop = end.end() if end is not None else len(text)
        pieces.append(text[done : copy.end()])
        pieces.append(_VISIBLE.sub(" ", text[copy.end() : stop]))
        done = stop
    pieces.append(text[done:])
    return "".join(pieces)


_PART = r'(?:\[(?:[^\]]|\]\])++\]|"(?:[^"]|"")++"|`[^`]++`|[^\W\d][\w$#@]*+)'
_NAME = rf"{_PART}(?:(?:\s*+\.){{1,2}}\s*+{_PART}){{0,3}}"
"""`shop..Order` leaves out the schema."""
_SET = (
    r"SET[ \t]+(?:COLSEP|DEFINE|ECHO|FEED(?:BACK)?|HEADING|LINES(?:IZE)?|LONG|NUMWIDTH|PAGES(?:IZE)?|SCAN|SERVEROUTPUT"
    r"|SQLBLANKLINES|TAB|TERMOUT|TIMING|TRIMSPOOL|VERIFY|WRAP)\b[^\r\n=]*(?=\r|$)"
)
_OF_SQLPLUS = re.compile(rf"^(?:REM\b|WHENEVER[ \t]+SQLERROR\b|{_SET})", re.IGNORECASE | re.MULTILINE)
_COMMAND = re.compile(
    rf"^(?:(?P<remark>REM(?:ARK)?)(?!\S)|(?:ACCEPT|PAUSE|PROMPT|SPOOL|UNDEFINE|WHENEVER)\b[^\r\n]*|{_SET})",
    re.IGNORECASE | re.MULTILINE,
)
"""What a line tells SQL*Plus, the client of Oracle: no `;` ends it."""


def without_commands(text: str) -> str:
    """A script for SQL*Plus with its remarks as comments and its other commands blanked, as long as before."""
    if _OF_SQLPLUS.search(text) is None:
        return text
    return _COMMAND.sub(lambda found: ("--" if found["remark"] else "").ljust(len(found[0])), text)


_HEADER = re.compile(
    rf"""
    (?:(?P<alter>ALTER)|CREATE(?:\s++OR\s++(?:ALTER|REPLACE))?)\s++
    (?:ALGORITHM\s*+=\s*+\w++\s++)?(?:DEFINER\s*+=\s*+\S++\s++)?(?:SQL\s++SECURITY\s++\w++\s++)?
    (?:(?:UNIQUE|CLUSTERED|NONCLUSTERED|COLUMNSTORE|FULLTEXT|SPATIAL|BITMAP|UNLOGGED|EXTERNAL|FOREIGN|MATERIALIZED|
        RECURSIVE|CONSTRAINT|AGGREGATE|EDITIONABLE|NONEDITIONABLE|PRIMARY|XML|GLOBAL|LOCAL|TEMPORARY|TEMP)\s++)*+
    (?P<kind>TABLE|VIEW|PROCEDURE|PROC|FUNCTION|TRIGGER|TYPE|SEQUENCE|SYNONYM|INDEX)\b\s*+
    (?:CONCURRENTLY\s++)?(?:IF\s++(?:NOT\s++)?EXISTS\s++)?(?:ONLY\s++)?(?:{FILLED_IN})*+
    (?P<name>{_NAME}(?!\s*+\.))?
    """,
    re.IGNORECASE | re.VERBOSE,
)
_TEMPORARY = re.compile(r"(?<!GLOBAL )\bTEMP(?:ORARY)?\b", re.IGNORECASE)
"""Gone with the session; what Oracle calls GLOBAL TEMPORARY stays, only its rows go."""
_INDEXED_TABLE = re.compile(rf"\s*+ON\s++(?:ONLY\s++)?(?:{FILLED_IN})*+({_NAME})", re.IGNORECASE)
_PARTS = re.compile(_PART)
_KINDS = {"PROC": "procedure"}
_NO_NAMES = frozenset({"AS", "BEGIN", "FOR", "FROM", "IS", "ON", "RETURNS", "SELECT", "TO"})
"""What follows a name: read in its place, it was left out, filled in by a tool (`CREATE PROC $(name) AS`), or the right
to create it is granted."""


@dataclass(frozen=True, slots=True)
class Header:
    """`schema` may hold a database too: `shop.dbo`. `table` is the symbol of the table that an index is on."""

    kind: str
    schema: str
    name: str
    alters: bool
    end: int  # offset after the name
    table: str = ""

    @property
    def symbol(self) -> str:
        return f"{self.table or self.schema}.{self.name}"


def read_header(text: str, position: int) -> Header | None:
    """The header of the CREATE or ALTER at `position`; None for objects that are not indexed on their own.

    Those are temporary tables, `ALTER INDEX` and server objects (logins, schemas, databases …).
    """
    found = _HEADER.match(text, position)
    if found is None or _TEMPORARY.search(text, found.start(), found.start("kind")):
        return None
    kind = _KINDS.get(found["kind"].upper(), found["kind"].lower())
    alters = found["alter"] is not None
    if kind == "index":
        return None if alters else _index(text, found)
    if found["name"] is None or found["name"].upper() in _NO_NAMES:
        return None
    schema, name = split_name(found["name"])
    return Header(kind, schema, name, alters, found.end())


def _index(text: str, found: re.Match[str]) -> Header | None:
    name, end = found["name"], found.end()
    if name is not None and name.upper() == "ON":  # PostgreSQL may leave the name to the server
        name, end = None, found.start("name")
    on = _INDEXED_TABLE.match(text, end)
    if on is None:
        return None
    schema, table = split_name(on[1])
    own = split_name(name)[1] if name else "index"
    return Header("index", schema, own, False, on.end(), f"{schema}.{table}")


def split_name(written: str) -> tuple[str, str]:
    """(schema, name) of a name as written, quotes removed: `[dbo].[Order]` → `dbo`, `Order`; `shop..Order` is in the
    default schema of `shop`."""
    parts, end = list[str](), 0
    for found in _PARTS.finditer(written):
        if written.count(".", end, found.start()) > 1:
            parts.append(DEFAULT_SCHEMA)
        parts.append(unquoted(found.group()))
        end = found.end()
    return ".".join(parts[:-1]) or DEFAULT_SCHEMA, parts[-1]


ROUTINES = frozenset({"procedure", "function", "trigger"})
_OWN_BATCH = ROUTINES | {"view"}  # T-SQL allows none of them inside another object

_BLANKS = re.compile(r"\s*+")
_NEXT_WORD = re.compile(r"\s*+(\w*+|\()")
_COMMENTS = re.compile(COMMENT)
_GO = r"(?<!\w)GO\b[ \t]*+(?:\d++[ \t]*+)?(?=[\r\n;]|\Z)"
_SEPARATORS = re.compile(rf"(?:[\s;]++|{_GO})*+", re.IGNORECASE)
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


@dataclass(slots=True)
class ObjectStatement:
    """A CREATE or ALTER statement: `start` with the comments above it, `head` at its keyword, `end` exclusive;
    `head_end` where the declaration ends, if no SQL says it (-1)."""

    header: Header
    start: int
    head: int
    end: int = -1
    head_end: int = -1


@dataclass(frozen=True, slots=True)
class Script:
    """The objects of a script in text order, and where the first unclosed string or comment began (-1: none)."""

    objects: list[ObjectStatement]
    unclosed: int


def read_script(text: str) -> Script:
    """Finds the objects of `text`. Linear in its length."""
    text = without_copied_rows(text)
    structure = structure_of(text)
    reader = _Reader(text, structure.is_tsql(text))
    for kind, start, end in structure.tokens:
        reader.take(kind, start, end)
    reader.close(len(text))
    return Script(reader.objects, structure.unclosed)


def grouped(text: str, objects: list[ObjectStatement]) -> Iterator[list[ObjectStatement]]:
    """Each object alone, but a table together with the statements on it that directly follow."""
    group: list[ObjectStatement] = []
    for found in objects:
        if group and not _continues(text, group, found):
            yield group
            group = []
        group.append(found)
    if group:
        yield group


def loose_statements(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The range of the statements in `text[start:end]`, separators around them left out; None where nothing but
    session settings and the like stands."""
    separators = _SEPARATORS.match(text, start, end)
    start = start if separators is None else separators.end()
    code = _COMMENTS.sub("", text[start:end])
    settings = _NO_CONTENT.match(code)
    if settings is not None and settings.end() == len(code):
        return None
    return start, _without_last_go(text, start, end)


def _continues(text: str, group: list[ObjectStatement], found: ObjectStatement) -> bool:
    table, header = group[0].header, found.header
    is_on_table = header.table == table.symbol or (
        header.kind == "table" and header.alters and header.symbol == table.symbol
    )
    return table.kind == "table" and is_on_table and _SEPARATORS.fullmatch(text, group[-1].end, found.start) is not None


def _without_last_go(text: str, start: int, end: int) -> int:
    """Where a run of statements ends: before the blanks and GO lines after it."""
    while True:
        while end > start and text[end - 1].isspace():
            end -= 1
        last_line = max(start, text.rfind("\n", start, end) + 1)
        if not _SEPARATORS.fullmatch(text, last_line, end) or last_line == start:
            return end
        end = last_line


class _Reader:
    """Takes the tokens in order; keeps the open object and the comments that lead to the next one."""

    def __init__(self, text: str, tsql: bool) -> None:
        self.objects: list[ObjectStatement] = []
        self._text = text
        self._tsql = tsql
        self._open: ObjectStatement | None = None
        self._parentheses = 0
        self._blocks = 0
        self._lead = -1  # start of a run of comments, each first on its line
        self._lead_end = -1

    def take(self, kind: str, start: int, end: int) -> None:
        if kind == "comment":
            self._comment(start, end)
        elif kind == "delimiter":
            self.close(start)
        elif kind == "(":
            self._parentheses += 1
        elif kind == ")":
            self._parentheses = max(0, self._parentheses - 1)
        elif kind == ";":
            self._parentheses = 0  # never inside parentheses: the script has lost one
            if self._open is not None and self._ends_at_semicolon(self._open):
                self.close(end)
        else:
            self._word(kind, start, end)

    def close(self, end: int) -> None:
        """Ends the open object at `end`, trailing blanks left out."""
        self._parentheses = self._blocks = 0
        if self._open is not None:
            trimmed = len(self._text[self._open.head : end].rstrip())
            self._open.end = self._open.head + trimmed
            self.objects.append(self._open)
            self._open = None

    def _comment(self, start: int, end: int) -> None:
        if not self._follows_comments(start):
            self._lead = start if first_on_line(self._text, start) else -1
        self._lead_end = end

    def _word(self, word: str, start: int, end: int) -> None:
        is_routine = self._open is not None and self._open.header.kind in ROUTINES
        if is_routine and not self._tsql and word in BLOCKS:
            follower = _next_word(self._text, end)
            if not (word == "END" and follower in BLOCK_ENDS):
                self._blocks = max(0, self._blocks + BLOCKS[word])
        if word not in STATEMENT_STARTS or not self._at_statement(start):
            return
        header = read_header(self._text, start) if word in ("CREATE", "ALTER") else None
        if self._open is not None:
            if not self._ends_before(self._open, word, end, header):
                return
            self.close(self._lead_before(start))
        if header is not None:
            self._parentheses = 0
            self._open = ObjectStatement(header, self._lead_before(start), start)

    def _ends_at_semicolon(self, current: ObjectStatement) -> bool:
        if current.header.kind not in ROUTINES:
            return True
        return not self._tsql and self._blocks == 0

    def _ends_before(self, current: ObjectStatement, word: str, end: int, header: Header | None) -> bool:
        if header is not None and header.kind in _OWN_BATCH:
            return True
        if current.header.kind in ROUTINES or (self._parentheses and word != "CREATE"):
            return False
        if current.header.kind == "view":
            return word in AFTER_VIEW
        follower = _next_word(self._text, end)
        is_clause = (word in ("DROP", "ALTER") and current.header.alters and follower in ALTER_ACTIONS) or (
            word == "SET" and follower in SET_ACTIONS
        )
        return not is_clause

    def _at_statement(self, start: int) -> bool:
        """First on its line, after `;`, or after a comment that is."""
        return self._follows_comments(start) or first_on_line(self._text, start)

    def _lead_before(self, start: int) -> int:
        """Where the comments directly before `start` begin; `start` without."""
        return self._lead if self._follows_comments(start) else start

    def _follows_comments(self, start: int) -> bool:
        return self._lead >= 0 and _BLANKS.fullmatch(self._text, self._lead_end, start) is not None


def _next_word(text: str, position: int) -> str:
    found = _NEXT_WORD.match(text, position)
    return found[1].upper() if found else ""
