"""The lexer of SQL: what a token is, in any dialect, what hides one, and which words are keywords.

It reads at two depths. `tokens_of` gives each word and name, for the references of a statement. `structure_of` skips
all that ends no statement in one go, several times as fast, for the bounds of the objects of a script.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

_RESERVED = (
    "ADD AFTER ALL ALTER AND AS BEFORE BEGIN BY CASE CHECK COLUMN CONSTRAINT CREATE CROSS DEFAULT DELETE DISABLE "
    "DISTINCT DROP ELSE ENABLE END EXCEPT EXEC EXECUTE EXISTS FOR FOREIGN FROM FULL GO GRANT GROUP HAVING IF IN INDEX "
    "INNER INSERT INSTEAD INTERSECT INTO IS JOIN KEY LEFT LIKE LIMIT MERGE NOT NULL OF ON OR ORDER OUTER OUTPUT "
    "PRIMARY REFERENCES RETURN RETURNING RIGHT SELECT SET TABLE THEN TO TRIGGER UNION UNIQUE UPDATE USING VALUES "
    "VIEW WHEN WHERE WHILE WITH"
)
RESERVED = frozenset(_RESERVED.split())
"""Words that no unquoted name is: after them a clause goes on, a name would not begin."""

_AFTER_SOURCES = (
    "APPLY COMMIT DECLARE FETCH NATURAL OFFSET OPTION PIVOT PRINT RAISERROR TABLESAMPLE THROW UNPIVOT WINDOW"
)
NO_ALIAS = RESERVED | frozenset(_AFTER_SOURCES.split())
"""What may follow a table and is not its alias."""

_CONDITIONS = "ALL AND CASE DISTINCT ELSE END EXISTS IN IS LEFT LIKE NOT NULL OR RIGHT THEN WHEN"
CONDITION_ENDS = (NO_ALIAS | {"SELECT", ";"}) - frozenset(_CONDITIONS.split())
"""What ends the condition of a join; LEFT and RIGHT are functions too, and the JOIN after them ends it."""

ROWS_OF_TRIGGERS = frozenset({"inserted", "deleted", "new", "old", "dual"})
SYSTEM_SCHEMAS = frozenset({"sys", "information_schema", "pg_catalog", "performance_schema"})
SYSTEM_DATABASES = frozenset({"master", "model", "msdb", "tempdb"})
SYSTEM_PREFIXES = ("sp_", "xp_", "pg_")
SYSTEM_TABLE_PREFIXES = ("pg_", "sqlite_")
"""Reserved by PostgreSQL and SQLite."""

_SYSTEM_TABLES = (
    "syscolumns syscomments sysconstraints sysforeignkeys sysindexes sysobjects sysprocesses systypes sysusers"
)
SYSTEM_TABLES = frozenset(_SYSTEM_TABLES.split())
"""Catalogs that are written without the schema they are in."""

_TABLE_FUNCTIONS = (
    "changetable containstable freetexttable generate_series json_array_elements json_each json_table "
    "json_to_recordset jsonb_array_elements jsonb_each jsonb_to_recordset opendatasource openjson openquery openrowset "
    "openxml regexp_split_to_table string_split unnest xmltable"
)
TABLE_FUNCTIONS = frozenset(_TABLE_FUNCTIONS.split())
"""Functions of the system that stand where a table may."""

_METHODS = "exist getancestor modify nodes parse query tostring value write"
METHODS = frozenset(_METHODS.split())
"""Methods of XML, CLR and hierarchy columns: `x.value('…')` calls no function of the database."""

VALUE_FUNCTIONS = frozenset({"EXTRACT", "SUBSTRING", "TRIM", "OVERLAY", "POSITION"})
"""`EXTRACT(day FROM x)`: FROM is no clause in their parentheses."""

_WRITE_MODIFIERS = "DELAYED FROM HIGH_PRIORITY IGNORE INTO LOW_PRIORITY ONLY OVERWRITE QUICK TABLE TOP"
WRITE_MODIFIERS = frozenset(_WRITE_MODIFIERS.split())
"""What may stand between INSERT, UPDATE … and the table."""

_STATEMENTS = "COMMIT DECLARE DELETE EXEC EXECUTE IF INSERT MERGE RETURN ROLLBACK TRUNCATE UPDATE WHILE"
STATEMENTS = frozenset(_STATEMENTS.split())
"""Where the FROM of a statement before can no longer follow."""

BEFORE_EVENTS = frozenset({"AFTER", "BEFORE", "OF", "FOR", "KEY", "OR", ","})
"""Before UPDATE or DELETE: an event (`AFTER UPDATE`) or a part of another statement (`ON DUPLICATE KEY UPDATE`)."""

REFERENTIAL_ACTIONS = frozenset({"CASCADE", "RESTRICT", "NO", "SET", "CURRENT_TIMESTAMP", "NOW"})
"""After `ON UPDATE`: an action, while `SET NOCOUNT ON UPDATE t` begins a statement."""

_OBJECT_WORDS = "DATABASE FUNCTION INDEX PROC PROCEDURE SCHEMA SEQUENCE STATISTICS SYNONYM TABLE TRIGGER TYPE VIEW"
OBJECT_WORDS = frozenset(_OBJECT_WORDS.split())
"""What CREATE, ALTER and DROP may be followed by and may concern tables."""

ALTERED = frozenset({"EXTERNAL", "FOREIGN", "MATERIALIZED"})
"""What may stand between ALTER and the kind of the object: `ALTER COLUMN c TYPE int` alters no type."""

CONDITIONS = frozenset({"CONCURRENTLY", "EXISTS", "IF", "NOT", "ONLY"})
"""What may stand between the kind of an object and its name."""

PRINCIPALS = frozenset({"LOGIN", "USER"})
"""`CREATE LOGIN x FROM WINDOWS`: no table follows."""

NOT_TABLES = frozenset({"ALL", "DATABASE", "SCHEMA", "SERVER"})
"""`CREATE TRIGGER … ON DATABASE`."""

AFTER_VIEW = frozenset(
    {"ALTER", "COMMENT", "CREATE", "DENY", "DROP", "EXEC", "EXECUTE", "GRANT", "INSERT", "PRINT", "REVOKE", "USE"}
)
"""Statements that end a view before them, for which a query needs none of these words."""

STATEMENT_STARTS = AFTER_VIEW | {
    *("BEGIN", "COMMIT", "DECLARE", "DELETE", "END", "IF", "MERGE", "ROLLBACK", "SET", "TRUNCATE", "UPDATE"),
}
"""What may begin a statement where a line begins."""

BLOCKS = {"BEGIN": 1, "CASE": 1, "END": -1}
BLOCK_ENDS = frozenset({"IF", "LOOP", "WHILE", "REPEAT", "FOR"})
"""After END: `END IF` closes no BEGIN."""

ALTER_ACTIONS = frozenset({"COLUMN", "CONSTRAINT", "INDEX", "PARTITION", "PRIMARY", "FOREIGN", "PERIOD"})
"""After ALTER and DROP in an ALTER TABLE: clauses of it."""

SET_ACTIONS = frozenset({"NULL", "DEFAULT", "("})
"""After SET in a table: `ON DELETE SET NULL`."""


DEFAULT_SCHEMA = "dbo"
"""For a name written without schema. One rule for all dialects, so that files of one repository agree."""

LINE_COMMENT = r"--[^\r\n]*+"
CLOSED_BLOCK_COMMENT = r"/\*(?s:.*?)\*/"
COMMENT = rf"{LINE_COMMENT}|/\*(?s:.*?)(?:\*/|\Z)"
STRING = r"'(?:[^']++|'')*+'"
_TO_BRACKET = r"(?:[^\[\]\r\n]++|\]\])*+\]"
BRACKETED = rf"\[{_TO_BRACKET}"
DOLLAR_TAG = r"\$(?:[^\W\d]\w*+)?\$"
_ESCAPED = r"[eE]'(?:[^'\\]++|\\.|'')*+'"  # PostgreSQL
_BRACKETED_NAME = rf"\[(?=[^'\"\]\d]){_TO_BRACKET}"
"""The fragments of patterns. Quantifiers are possessive: no text makes them go back."""

FILLED_IN = (
    r"(?:(?<![\w@])@\w++(?::\w++)?@|\[?\$(?:\([\w.:-]++\)|\{[\w.:-]++\})\]?|\{\{\s*+[\w.]++\s*+\}\})[ \t]*+\.[ \t]*+"
)
"""A schema or a database that a tool writes into a name: `@extschema@.` of PostgreSQL's extensions, `$(Schema).` of
sqlcmd, `${schema}.` of Flyway, `{{ schema }}.` of templates. The name goes without it."""

LIST_TOKENS = 256
"""Beyond any list of key columns: keeps what is unclosed from being read to the end again and again."""

_TOKEN = re.compile(
    rf"""(?:\s++|{COMMENT}|{FILLED_IN}|[nN]?{STRING}?|{_ESCAPED}?|{DOLLAR_TAG}|\d[\w.]*+)*+(?:
      (?P<word>[^\W\d][\w$#@]*+)
    | (?P<quoted>
          \[(?=[^\]]|\]\])[^\]\r\n]{{0,260}}+(?:\]\][^\]\r\n]{{0,260}}+){{0,9}}+\]
        | "(?:[^"\r\n]|""){{1,260}}+" | `[^`\r\n]{{1,260}}+`)
    | (?P<variable>@{{1,2}}+[\w$#@]*+ | [#]{{1,2}}+[\w$#@]++)
    | (?P<sign>\S)
    | (?P<end>\Z)
    )""",
    re.VERBOSE | re.DOTALL,
)
"""Skipped are blanks, comments, what a tool fills in, strings, numbers and the marks around a dollar-quoted body."""


class Token(NamedTuple):  # one for each word of a script: a tuple is made three times as fast as a dataclass
    """`kind` is quoted, variable (`@x`, `#temp`), word or sign; `upper` is the text to compare words with; `start` is
    its offset."""

    kind: str
    text: str
    upper: str
    start: int = 0


@dataclass(frozen=True, slots=True)
class ObjectName:
    """A name with up to four parts, quotes removed; `end` is the index of the token after it."""

    parts: tuple[str, ...]
    end: int

    @property
    def symbol(self) -> str:
        """`schema.name`, `dbo` where no schema is written, as segments of SQL are called."""
        schema = ".".join(part for part in self.parts[:-1] if part) or DEFAULT_SCHEMA
        return f"{schema}.{self.parts[-1]}"

    @property
    def is_qualified(self) -> bool:
        return len(self.parts) > 1


def tokens_of(text: str) -> list[Token]:
    """The tokens of `text`, in order, those inside a dollar-quoted body too. Linear; malformed text becomes signs."""
    found = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "end"
        if kind == "end":  # matched, so that nothing that was skipped is looked at again
            break
        written = match[kind]
        found.append(Token(kind, written, written.upper() if kind in ("word", "sign") else "", match.start(kind)))
    return found


def upper_at(tokens: Sequence[Token], index: int) -> str:
    """What to compare words and signs with; '' for other tokens and beyond the ends."""
    return tokens[index].upper if 0 <= index < len(tokens) else ""


def name_at(tokens: Sequence[Token], index: int) -> ObjectName | None:
    """The dotted name that begins at a token; None for a variable, a sign or nothing. `db..table` has an empty part."""
    parts: list[str] = []
    while index < len(tokens):
        kind, text, upper, _ = tokens[index]
        if kind in ("word", "quoted"):
            parts.append(unquoted(text))
            index += 1
            if upper_at(tokens, index) != ".":
                break
        elif parts and upper == ".":
            parts.append("")
        else:
            return None
        index += 1
    return ObjectName(tuple(parts), index) if parts and parts[-1] else None


def unreserved_name_at(tokens: Sequence[Token], index: int) -> ObjectName | None:
    """The name at a token; None for a reserved word too."""
    return None if upper_at(tokens, index) in RESERVED else name_at(tokens, index)


def after_parenthesis(tokens: Sequence[Token], index: int) -> int:
    """The index after the parenthesis that closes the one at `index`, of a list of columns or values; where none does
    within LIST_TOKENS, the index where the search ended."""
    depth = 0
    stop = min(len(tokens), index + LIST_TOKENS)
    for position in range(index, stop):
        text = tokens[position].upper
        depth += (text == "(") - (text == ")")
        if depth == 0:
            return position + 1
    return stop


def unquoted(part: str) -> str:
    """A part of a name without its quotes: `[a]]b]` → `a]b`."""
    if part[:1] == "[":
        return part[1:-1].replace("]]", "]")
    if part[:1] == '"':
        return part[1:-1].replace('""', '"')
    return part.strip("`")


_FLAGS = re.IGNORECASE | re.VERBOSE | re.DOTALL
_KEYWORD = "|".join(sorted({*STATEMENT_STARTS, *BLOCKS, "GO", "DELIMITER"}, key=lambda word: (-len(word), word)))
_STRUCTURE_TEMPLATE = rf"""
    [ \t]*+ (?P<first>(?:{_KEYWORD})(?!%(letter)s))
  | (?:%(guard)s(?:
        [adf-z_\d\#] %(letter)s*+ [ \t,.=]*+
      | [^\w'"`\[/$();\r\n-]++
      | [\r\n](?![ \t]*+(?:{_KEYWORD})(?!%(letter)s))
      | (?!(?:BEGIN|CASE|END)(?!%(letter)s))(?!e')\w %(letter)s*+ [ \t,.=]*+
      | {STRING} | {_BRACKETED_NAME} | {_ESCAPED} | "(?:[^"]++|"")*+" | `[^`]*+`
      | \( (?:[^()'"`/$;\[-]++ | {STRING} | {_BRACKETED_NAME})*+ \)
      | -(?!-) | /(?!\*) | (?!{DOLLAR_TAG})\$ | \[
    ))*+
    (?: %(delimiter)s
      | [\r\n][ \t]*+(?P<word>(?:{_KEYWORD})(?!%(letter)s))
      | (?P<inner>BEGIN|CASE|END)
      | (?P<punct>[();])
      | (?P<comment>{LINE_COMMENT})
      | (?P<block>/\*)
      | (?P<dollar>{DOLLAR_TAG})
      | (?P<unclosed>[eE]?['"`]) )
"""
"""One match skips everything that decides nothing (names, closed strings, parentheses without parentheses) in one
go, then takes the next token that may. Statement keywords count where a line or statement begins only."""

_STRUCTURE = re.compile(_STRUCTURE_TEMPLATE % {"guard": "", "letter": r"[\w\#$]", "delimiter": "(?!)"}, _FLAGS)
_MAX_DELIMITERS = 8  # each is an alternative of a pattern; real scripts have one or two
_DELIMITER = re.compile(r"^[ \t]*DELIMITER[ \t]+(\S+)", re.IGNORECASE | re.MULTILINE)
_REST_OF_LINE = re.compile(r"[^\r\n]*+")
_AFTER_GO = r"[ \t]*+(?:\d++[ \t]*+)?;?[ \t]*+(?=[\r\n]|--|\Z)"
_REST_OF_GO = re.compile(_AFTER_GO)
_GO_LINE = re.compile(rf"^[ \t]*+GO{_AFTER_GO}", re.IGNORECASE | re.MULTILINE)
_BLOCK_COMMENT_EDGE = re.compile(r"/\*|\*/")
_MICROSOFT = re.compile(r"(?<![\w\]])\[[^\W\d]\w*+\]|(?<![\w@])@@?[^\W\d][\w:]*+(?!@)")
"""`[name]` or `@variable`: T-SQL, unless something else says otherwise."""


@dataclass(slots=True)
class Structure:
    """The tokens that may end a statement: (comment, delimiter, `(`, `)`, `;` or a keyword in upper case, start, end).

    `unclosed` is where the first string or comment without end begins, -1 without one. `has_go` is sure to be T-SQL,
    `is_foreign` (dollar quotes, DELIMITER) sure not to be.
    """

    tokens: list[tuple[str, int, int]] = field(default_factory=list)
    unclosed: int = -1
    has_go: bool = False
    is_foreign: bool = False

    def is_tsql(self, text: str) -> bool:
        return self.has_go or (not self.is_foreign and _MICROSOFT.search(text) is not None)


def structure_of(text: str) -> Structure:
    """The structure of a script. Linear. A string or comment that never ends does not hide the next batch of T-SQL."""
    delimiters = sorted({found[1] for found in _DELIMITER.finditer(text)} - {";"}, key=lambda d: (-len(d), d))
    found = Structure(is_foreign=bool(delimiters))
    _read_structure(text, found, _mysql_pattern(delimiters) if delimiters else _STRUCTURE, 0, len(text))
    if found.unclosed >= 0 and not found.is_foreign:
        found = Structure()
        for start, end in batches_of(text):
            _read_structure(text, found, _STRUCTURE, start, end)
    return found


def batches_of(text: str) -> list[tuple[int, int]]:
    """The batches of a T-SQL script, each with the GO before it; one without any GO. What never ends in one of them is
    not taken into the next: a GO alone on its line ends it."""
    starts = [found.start() for found in _GO_LINE.finditer(text)]
    return list(zip([0, *starts], [*starts, len(text)], strict=True))


def first_on_line(text: str, start: int) -> bool:
    """Whether only blanks stand before `start` on its line or after the last `;`."""
    position = start - 1
    while position >= 0 and text[position] in " \t":
        position -= 1
    return position < 0 or text[position] in "\r\n;"


def _mysql_pattern(delimiters: list[str]) -> re.Pattern[str]:
    """Statements of a script for the mysql client end with delimiters of their own, often `$$` or `//`."""
    own = "|".join(re.sub(r"(\W)", r"\\\1", delimiter) for delimiter in delimiters[:_MAX_DELIMITERS])
    parts = {"guard": f"(?!{own})", "letter": r"\w", "delimiter": f"(?P<delimiter>{own})"}
    return re.compile(_STRUCTURE_TEMPLATE % parts, _FLAGS)


def _read_structure(text: str, found: Structure, pattern: re.Pattern[str], position: int, stop: int) -> None:
    while match := pattern.match(text, position, stop):
        kind = match.lastgroup or ""
        start, position = match.span(kind)
        if kind in ("first", "word", "inner"):
            position = _add_word(text, found, start, position)
        elif kind == "punct":
            found.tokens.append((match[kind], start, position))
        elif kind in ("comment", "delimiter"):
            found.tokens.append((kind, start, position))
        elif kind == "block":
            end = _comment_end(text, position, stop)
            if end < 0 and found.unclosed < 0:
                found.unclosed = start
            position = end if end >= 0 else stop
            found.tokens.append(("comment", start, position))
        elif kind == "dollar":
            found.is_foreign = True
            end = text.find(match[kind], position, stop)
            position = end + len(match[kind]) if end >= 0 else position
        else:
            found.unclosed = start if found.unclosed < 0 else found.unclosed
            break  # nothing after it can be told apart from the string


def _add_word(text: str, found: Structure, start: int, end: int) -> int:
    """Adds a keyword; a GO counts only when it is alone on its line. Returns where to go on."""
    word = text[start:end].upper()
    if word == "GO":
        rest = _REST_OF_GO.match(text, end)
        if rest is not None and first_on_line(text, start):
            found.has_go |= not found.is_foreign
            found.tokens.append(("delimiter", start, rest.end()))
    elif word == "DELIMITER":
        line = _REST_OF_LINE.match(text, end)
        if line is not None and found.is_foreign and first_on_line(text, start):
            found.tokens.append(("delimiter", start, line.end()))
            return line.end()
    else:
        found.tokens.append((word, start, end))
    return end


def _comment_end(text: str, position: int, stop: int) -> int:
    """After the end of a block comment, -1 without one; they nest in T-SQL and PostgreSQL."""
    depth = 1
    for edge in _BLOCK_COMMENT_EDGE.finditer(text, position, stop):
        depth += 1 if edge[0] == "/*" else -1
        if depth == 0:
            return edge.end()
    return -1
