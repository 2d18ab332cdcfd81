"""The tokens of SQL that can name an object: words, quoted names, brackets; comments and strings are left out.

Dialects are not told apart. The body of a dollar-quoted routine is read like the rest of it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rag_assets.segmentation.sql_names import DEFAULT_SCHEMA, unquoted

_SKIPPED = (
    r"(?:\s++|--[^\r\n]*+|/\*(?s:.*?)(?:\*/|\Z)|[nN]?'(?:[^']++|'')*+'?|[eE]'(?:[^'\\]++|\\.|'')*+'?"
    r"|\$(?:[^\W\d]\w*+)?\$|\d[\w.]*+)*+"
)
_TOKEN = re.compile(
    rf"""{_SKIPPED}(?:
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
"""What is skipped decides nothing: blanks, comments, strings, numbers, the marks around a dollar-quoted body."""


LIST_TOKENS = 256
"""Beyond any list of key columns: keeps what is unclosed from being read to the end again and again."""


class Token(NamedTuple):  # one for each word of a script: a tuple is made three times as fast as a dataclass
    """`kind` is quoted, variable (`@x`, `#temp`), word or sign; `upper` is the text to compare words with; `start` is
    its offset."""

    kind: str
    text: str
    upper: str
    start: int = 0


@dataclass(frozen=True, slots=True)
class Name:
    """A name with up to four parts, quotes removed; `end` is the index of the token after it."""

    parts: tuple[str, ...]
    quoted: bool
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
    """The tokens of `text`, in order. Linear; whatever is malformed becomes signs."""
    found = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "end"
        if kind == "end":  # matched, so that nothing that was skipped is looked at again
            break
        written = match[kind]
        found.append(Token(kind, written, written.upper() if kind in ("word", "sign") else "", match.start(kind)))
    return found


def name_at(tokens: Sequence[Token], index: int) -> Name | None:
    """The dotted name that begins at a token; None for a variable, a sign or nothing. `db..table` has an empty part."""
    parts: list[str] = []
    quoted = False
    while index < len(tokens):
        token = tokens[index]
        if token.kind in ("word", "quoted"):
            parts.append(unquoted(token.text) if token.kind == "quoted" else token.text)
            quoted |= token.kind == "quoted"
            index += 1
            if upper_at(tokens, index) != ".":
                break
            index += 1
        elif parts and upper_at(tokens, index) == ".":
            parts.append("")
            index += 1
        else:
            return None
    return Name(tuple(parts), quoted, index) if parts and parts[-1] else None


def matching(tokens: Sequence[Token], index: int) -> int:
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


def upper_at(tokens: Sequence[Token], index: int) -> str:
    """What to compare words and signs with; '' for other tokens and beyond the ends."""
    return tokens[index].upper if 0 <= index < len(tokens) else ""


def expressions_of(tokens: Sequence[Token]) -> dict[str, list[tuple[int, int]]]:
    """Common table expressions (`WITH a AS (…), b (x) AS (…)`): name in lower case → ranges of the tokens where it
    means one, from its WITH to the end of the statement as far as a `;` or GO tells."""
    found: dict[str, list[tuple[int, int]]] = {}
    after = _after_parentheses(tokens)
    ends = [index for index, token in enumerate(tokens) if token.upper in (";", "GO")]
    for index in range(len(tokens)):
        if upper_at(tokens, index) == "WITH":
            start = index + 2 if upper_at(tokens, index + 1) == "RECURSIVE" else index + 1
            next_end = bisect_right(ends, index)
            end = ends[next_end] if next_end < len(ends) else len(tokens)
            for name in _expressions(tokens, start, after):
                found.setdefault(name, []).append((index, end))
    return found


def _expressions(tokens: Sequence[Token], index: int, after: dict[int, int]) -> Iterator[str]:
    while True:
        name = name_at(tokens, index)
        if name is None:
            return
        position = after.get(name.end, name.end)
        if upper_at(tokens, position) != "AS":
            return
        while upper_at(tokens, position) in ("AS", "NOT", "MATERIALIZED"):
            position += 1
        if upper_at(tokens, position) != "(":
            return
        yield name.parts[-1].lower()
        position = after.get(position, len(tokens))
        if upper_at(tokens, position) != ",":
            return
        index = position + 1


def _after_parentheses(tokens: Sequence[Token]) -> dict[int, int]:
    """For each parenthesis that is closed, the index after the one that closes it."""
    found: dict[int, int] = {}
    openers: list[int] = []
    for index, token in enumerate(tokens):
        if token.upper == "(":
            openers.append(index)
        elif token.upper == ")" and openers:
            found[openers.pop()] = index + 1
    return found
