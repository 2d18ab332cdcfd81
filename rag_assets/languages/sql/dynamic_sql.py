"""SQL that a script keeps in string literals to execute it: `EXEC('CREATE VIEW …')`, `sp_executesql N'…'`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rag_assets.languages.sql.lexer import BRACKETED, COMMENT, STRING

HOLE = "\ua66e"
"""Stands for what is only known when the program runs. A letter, so that it stays part of the name it is in; a rare
one, so that no name of a database has it."""

_LITERAL = rf"[nN]?{STRING}"
_VARIABLE = r"@[\w$#@]++"
_CALL = r"[^\W\d]\w*+\s*+\([^()']*+\)"
_EXPRESSION = rf"{_LITERAL}(?:\s*+\+\s*+(?:{_LITERAL}|{_VARIABLE}|{_CALL}))*+"
_DYNAMIC = re.compile(
    rf"""
      {COMMENT} | {BRACKETED} | "[^"]*+"
    | (?:(?<![\w$#@])EXEC(?:UTE)?(?:\s++IMMEDIATE)?\b\s*+\(?\s*+
        | (?<![\w$#@])sp_executesql\]?\s++(?:@\w++\s*+=\s*+)?
        | (?<![\w$#@])PREPARE\s++\w++\s++FROM\s++)
      (?: (?P<code>{_EXPRESSION}) | (?P<executed>{_VARIABLE})(?!\s*+=) )
    | (?P<variable>{_VARIABLE})(?:\s++(?:AS\s++)?n?varchar\s*+\([^()]*+\))?\s*+\+?=\s*+(?P<value>{_EXPRESSION})
    | {_LITERAL}
    """,
    re.IGNORECASE | re.VERBOSE,
)
_EXECUTES = re.compile(
    rf"(?<![\w$#@])(?:EXEC(?:UTE)?(?:\s++IMMEDIATE)?\s*+\(?\s*+(?:[nN]?'|{_VARIABLE}(?!\s*+=))|sp_executesql|PREPARE\s)",
    re.IGNORECASE,
)
"""Most scripts execute no text and are told apart by this alone."""

_PIECE = re.compile(rf"[nN]?'(?P<text>(?:[^']++|'')*+)'|{_VARIABLE}|{_CALL}")


@dataclass(frozen=True, slots=True)
class DynamicBatch:
    """Executed SQL, and where in the script its literal begins: offset and line (1-based). What is put together at run
    time is a HOLE; line ends are those of the script."""

    text: str
    start: int
    line: int


def literal_batches(text: str) -> tuple[DynamicBatch, ...]:
    """The SQL of the literals that `text` executes, directly or through a variable, in text order. Linear."""
    if "'" not in text or not _EXECUTES.search(text):
        return ()
    assigned: list[tuple[int, str, str]] = []  # offset, variable, expression
    executed: set[str] = set()
    for found in _DYNAMIC.finditer(text):
        if found["code"] is not None:
            assigned.append((found.start("code"), "", found["code"]))
        elif found["executed"] is not None:
            executed.add(found["executed"].lower())
        elif found["value"] is not None:
            assigned.append((found.start("value"), found["variable"].lower(), found["value"]))
    wanted = [(at, code) for at, variable, code in assigned if not variable or variable in executed]
    return tuple(_placed(text, wanted))


def _placed(text: str, wanted: list[tuple[int, str]]) -> Iterator[DynamicBatch]:
    line, counted = 1, 0
    for at, code in wanted:
        line += text.count("\n", counted, at)
        counted = at
        yield DynamicBatch("".join(_pieces(code)), at, line)


def _pieces(code: str) -> Iterator[str]:
    """The literals of a concatenation; line ends between them stay, so that lines still count."""
    last = 0
    for piece in _PIECE.finditer(code):
        yield "\n" * code.count("\n", last, piece.start())
        last = piece.end()
        yield piece["text"].replace("''", "'") if piece["text"] is not None else HOLE
