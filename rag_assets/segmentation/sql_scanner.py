"""Where the objects of an SQL script begin and end: one linear pass over its tokens.

Not a parser. It knows what may hide a keyword (comments, strings, quoted names, dollar-quoted bodies), what ends
a statement (`;`, `GO`, a MySQL delimiter, the next statement at the start of a line) and that a T-SQL routine
reaches to the end of its batch. That holds for scripts that parsers of one dialect refuse.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rag_assets.segmentation.sql_copied_rows import without_copied_rows
from rag_assets.segmentation.sql_names import Header, read_header

ROUTINES = frozenset({"procedure", "function", "trigger"})
_MAX_DELIMITERS = 8  # each is an alternative of a pattern; real scripts have one or two
_OWN_BATCH = ROUTINES | {"view"}  # T-SQL allows none of them inside another object

_AFTER_VIEW = frozenset(
    {"ALTER", "COMMENT", "CREATE", "DENY", "DROP", "EXEC", "EXECUTE", "GRANT", "INSERT", "PRINT", "REVOKE", "USE"}
)
_STATEMENTS = _AFTER_VIEW | {
    *("BEGIN", "COMMIT", "DECLARE", "DELETE", "END", "IF", "MERGE", "ROLLBACK", "SET", "TRUNCATE", "UPDATE"),
}
_BLOCK = {"BEGIN": 1, "CASE": 1, "END": -1}
_BLOCK_ENDS = frozenset({"IF", "LOOP", "WHILE", "REPEAT", "FOR"})  # `END IF` closes no BEGIN
_ALTER_ACTIONS = frozenset({"COLUMN", "CONSTRAINT", "INDEX", "PARTITION", "PRIMARY", "FOREIGN", "PERIOD"})
_SET_ACTIONS = frozenset({"NULL", "DEFAULT", "("})

_KEYWORDS = "|".join(sorted({*_STATEMENTS, *_BLOCK, "GO", "DELIMITER"}, key=lambda word: (-len(word), word)))
_STRING = r"'(?:[^']++|'')*+'"
_ESCAPED = r"[eE]'(?:[^'\\]++|\\.|'')*+'"  # PostgreSQL
_BRACKET = r"\[(?=[^'\"\]\d])(?:[^\[\]\r\n]++|\]\])*+\]"
_DOLLAR = r"\$(?:[^\W\d]\w*+)?\$"
_TOKEN_TEMPLATE = rf"""
    [ \t]*+ (?P<first>(?:{_KEYWORDS})(?!%(letter)s))
  | (?:%(guard)s(?:
        [adf-z_\d\#] %(letter)s*+ [ \t,.=]*+
      | [^\w'"`\[/$();\r\n-]++
      | [\r\n](?![ \t]*+(?:{_KEYWORDS})(?!%(letter)s))
      | (?!(?:BEGIN|CASE|END)(?!%(letter)s))(?!e')\w %(letter)s*+ [ \t,.=]*+
      | {_STRING} | {_BRACKET} | {_ESCAPED} | "(?:[^"]++|"")*+" | `[^`]*+`
      | \( (?:[^()'"`/$;\[-]++ | {_STRING} | {_BRACKET})*+ \)
      | -(?!-) | /(?!\*) | (?!{_DOLLAR})\$ | \[
    ))*+
    (?: %(delimiter)s
      | [\r\n][ \t]*+(?P<word>(?:{_KEYWORDS})(?!%(letter)s))
      | (?P<inner>BEGIN|CASE|END)
      | (?P<punct>[();])
      | (?P<comment>--[^\r\n]*+)
      | (?P<block>/\*)
      | (?P<dollar>{_DOLLAR})
      | (?P<unclosed>[eE]?['"`]) )
"""
"""One match skips everything that decides nothing (names, closed strings, parentheses without parentheses) in one
go, then takes the next token that may. Statement keywords count where a line or statement begins only."""

_FLAGS = re.IGNORECASE | re.VERBOSE | re.DOTALL
_TOKEN = re.compile(_TOKEN_TEMPLATE % {"guard": "", "letter": r"[\w\#$]", "delimiter": "(?!)"}, _FLAGS)
_DELIMITER = re.compile(r"^[ \t]*DELIMITER[ \t]+(\S+)", re.IGNORECASE | re.MULTILINE)
_REST_OF_LINE = re.compile(r"[^\r\n]*+")
_REST_OF_GO = re.compile(r"[ \t]*+(?:\d++[ \t]*+)?;?[ \t]*+(?=[\r\n]|--|\Z)")
_GO_LINE = re.compile(r"^[ \t]*+GO[ \t]*+(?:\d++[ \t]*+)?;?[ \t]*+(?=[\r\n]|--|\Z)", re.IGNORECASE | re.MULTILINE)
_BLOCK_COMMENT_EDGE = re.compile(r"/\*|\*/")
_NEXT_WORD = re.compile(r"\s*+(\w*+|\()")
_MICROSOFT = re.compile(r"(?<![\w\]])\[[^\W\d]\w*+\]|(?<![\w@])@@?[^\W\d]")
"""`[name]` or `@variable`: T-SQL, unless something else says otherwise."""


@dataclass(slots=True)
class SqlObject:
    """A CREATE or ALTER statement: `start` with the comments above it, `head` at its keyword, `end` exclusive."""

    header: Header
    start: int
    head: int
    end: int = -1


@dataclass(frozen=True, slots=True)
class Script:
    """The objects of a script in text order, and where the first unclosed string or comment began (-1: none)."""

    objects: list[SqlObject]
    unclosed: int


def scan(text: str) -> Script:
    """Finds the objects of `text`. Linear in its length."""
    text = without_copied_rows(text)
    delimiters = sorted({found[1] for found in _DELIMITER.finditer(text)} - {";"}, key=lambda d: (-len(d), d))
    pattern = _mysql_pattern(delimiters) if delimiters else _TOKEN
    tokens = _Tokens(foreign=bool(delimiters))
    unclosed = _read_tokens(text, tokens, pattern, 0, len(text))
    if unclosed >= 0 and not tokens.foreign:
        tokens, unclosed = _read_batches(text)
    microsoft = tokens.go or (not tokens.foreign and _MICROSOFT.search(text) is not None)
    machine = _Machine(text, microsoft)
    for kind, start, end in tokens.found:
        machine.take(kind, start, end)
    machine.close(len(text))
    return Script(machine.objects, unclosed)


@dataclass(slots=True)
class _Tokens:
    """Comments, batch ends, `( ) ;` and keywords in upper case, and what they say about the dialect."""

    found: list[tuple[str, int, int]] = field(default_factory=list)
    go: bool = False  # sure to be T-SQL
    foreign: bool = False  # sure not to be: dollar quotes, DELIMITER


def batches_of(text: str) -> list[tuple[int, int]]:
    """The batches of a T-SQL script, each with the GO before it; one without any GO. What never ends in one of them is
    not taken into the next: a GO alone on its line ends it."""
    starts = [found.start() for found in _GO_LINE.finditer(text)]
    return list(zip([0, *starts], [*starts, len(text)], strict=True))


def _read_batches(text: str) -> tuple[_Tokens, int]:
    """The tokens of a script with a string or comment without end, and where the first of its batch begins."""
    tokens = _Tokens()
    unclosed = [_read_tokens(text, tokens, _TOKEN, start, end) for start, end in batches_of(text)]
    return tokens, next((start for start in unclosed if start >= 0), -1)


def _read_tokens(text: str, tokens: _Tokens, pattern: re.Pattern[str], position: int, stop: int) -> int:
    """Adds to `tokens`; returns where the first string or comment without end begins, -1 without."""
    unclosed = -1
    while match := pattern.match(text, position, stop):
        kind = match.lastgroup or ""
        start, position = match.span(kind)
        if kind in ("first", "word", "inner"):
            position = _add_word(text, tokens, start, position)
        elif kind == "punct":
            tokens.found.append((match[kind], start, position))
        elif kind == "comment" or kind == "delimiter":
            tokens.found.append((kind, start, position))
        elif kind == "block":
            position, closed = _comment_end(text, position, stop)
            unclosed = unclosed if closed or unclosed >= 0 else start
            tokens.found.append(("comment", start, position))
        elif kind == "dollar":
            tokens.foreign = True
            end = text.find(match[kind], position, stop)
            position = end + len(match[kind]) if end >= 0 else position
        elif kind == "unclosed":
            unclosed = unclosed if unclosed >= 0 else start
            break  # nothing after it can be told apart from the string
    return unclosed


def _mysql_pattern(delimiters: list[str]) -> re.Pattern[str]:
    """Statements of a script for the mysql client end with delimiters of their own, often `$$` or `//`."""
    own = "|".join(re.sub(r"(\W)", r"\\\1", delimiter) for delimiter in delimiters[:_MAX_DELIMITERS])
    parts = {"guard": f"(?!{own})", "letter": r"\w", "delimiter": f"(?P<delimiter>{own})"}
    return re.compile(_TOKEN_TEMPLATE % parts, _FLAGS)


def _add_word(text: str, tokens: _Tokens, start: int, end: int) -> int:
    """Adds a keyword; a GO counts only when it is alone on its line. Returns where to go on."""
    word = text[start:end].upper()
    if word == "GO":
        rest = _REST_OF_GO.match(text, end)
        if rest is not None and first_on_line(text, start):
            tokens.go |= not tokens.foreign
            tokens.found.append(("delimiter", start, rest.end()))
    elif word == "DELIMITER":
        line = _REST_OF_LINE.match(text, end)
        if line is not None and tokens.foreign and first_on_line(text, start):
            tokens.found.append(("delimiter", start, line.end()))
            return line.end()
    else:
        tokens.found.append((word, start, end))
    return end


def _comment_end(text: str, position: int, stop: int) -> tuple[int, bool]:
    """After the end of a block comment; they nest in T-SQL and PostgreSQL."""
    depth = 1
    for edge in _BLOCK_COMMENT_EDGE.finditer(text, position, stop):
        depth += 1 if edge[0] == "/*" else -1
        if depth == 0:
            return edge.end(), True
    return stop, False


class _Machine:
    """Takes the tokens in order; keeps the open object and the comments that lead to the next one."""

    def __init__(self, text: str, tsql: bool) -> None:
        self.objects: list[SqlObject] = []
        self._text = text
        self._tsql = tsql
        self._open: SqlObject | None = None
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
        follows = self._lead >= 0 and _blank_between(self._text, self._lead_end, start)
        if not follows:
            self._lead = start if first_on_line(self._text, start) else -1
        self._lead_end = end

    def _word(self, word: str, start: int, end: int) -> None:
        is_routine = self._open is not None and self._open.header.kind in ROUTINES
        if is_routine and not self._tsql and word in _BLOCK:
            follower = _next_word(self._text, end)
            if not (word == "END" and follower in _BLOCK_ENDS):
                self._blocks = max(0, self._blocks + _BLOCK[word])
        if word not in _STATEMENTS or not self._at_statement(start):
            return
        header = read_header(self._text, start) if word in ("CREATE", "ALTER") else None
        if self._open is not None:
            if not self._ends_before(self._open, word, end, header):
                return
            self.close(self._lead_before(start))
        if header is not None:
            self._parentheses = 0
            self._open = SqlObject(header, self._lead_before(start), start)

    def _ends_at_semicolon(self, current: SqlObject) -> bool:
        if current.header.kind not in ROUTINES:
            return True
        return not self._tsql and self._blocks == 0

    def _ends_before(self, current: SqlObject, word: str, end: int, header: Header | None) -> bool:
        if header is not None and header.kind in _OWN_BATCH:
            return True
        if current.header.kind in ROUTINES or (self._parentheses and word != "CREATE"):
            return False
        if current.header.kind == "view":
            return word in _AFTER_VIEW
        follower = _next_word(self._text, end)
        is_clause = (word in ("DROP", "ALTER") and current.header.alters and follower in _ALTER_ACTIONS) or (
            word == "SET" and follower in _SET_ACTIONS
        )
        return not is_clause

    def _at_statement(self, start: int) -> bool:
        """First on its line, after `;`, or after a comment that is."""
        if self._lead >= 0 and _blank_between(self._text, self._lead_end, start):
            return True
        return first_on_line(self._text, start)

    def _lead_before(self, start: int) -> int:
        """Where the comments directly before `start` begin; `start` without."""
        if self._lead >= 0 and _blank_between(self._text, self._lead_end, start):
            return self._lead
        return start


_BLANKS = re.compile(r"\s*+")


def _blank_between(text: str, start: int, end: int) -> bool:
    found = _BLANKS.match(text, start, end)
    return found is not None and found.end() == end


def first_on_line(text: str, start: int) -> bool:
    """Whether only blanks stand before `start` on its line or after the last `;`."""
    position = start - 1
    while position >= 0 and text[position] in " \t":
        position -= 1
    return position < 0 or text[position] in "\r\n;"


def _next_word(text: str, position: int) -> str:
    found = _NEXT_WORD.match(text, position)
    return found[1].upper() if found else ""
