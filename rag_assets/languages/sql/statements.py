"""The statement reader: where the objects of an SQL script begin and end, by one linear pass over its structure.

Not a parser. It knows what ends a statement (`;`, `GO`, a MySQL delimiter, the next statement at the start of a line)
and that a T-SQL routine reaches to the end of its batch. That holds for scripts that parsers of one dialect refuse.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rag_assets.languages.sql.keywords import (
    AFTER_VIEW,
    ALTER_ACTIONS,
    BLOCK_ENDS,
    BLOCKS,
    SET_ACTIONS,
    STATEMENT_STARTS,
)
from rag_assets.languages.sql.lexer import COMMENT, first_on_line, structure_of
from rag_assets.languages.sql.object_header import Header, read_header
from rag_assets.languages.sql.pg_copy import without_copied_rows

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
    """A CREATE or ALTER statement: `start` with the comments above it, `head` at its keyword, `end` exclusive."""

    header: Header
    start: int
    head: int
    end: int = -1


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
