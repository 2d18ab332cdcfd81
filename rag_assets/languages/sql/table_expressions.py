"""Common table expressions: `WITH a AS (…), b (x) AS (…)`, and where their names mean them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from rag_assets.languages.sql.lexer import Token, name_at, upper_at


def table_expressions(tokens: Sequence[Token]) -> dict[str, list[tuple[int, int]]]:
    """Name in lower case → ranges of the tokens where it means an expression, from its WITH to the end of the
    statement as far as a `;` or GO tells."""
    starts = [index for index, token in enumerate(tokens) if token.upper == "WITH"]
    found: dict[str, list[tuple[int, int]]] = {}
    if not starts:
        return found
    after = _after_parentheses(tokens)
    ends = [index for index, token in enumerate(tokens) if token.upper in (";", "GO")]
    for start in starts:
        next_end = bisect_right(ends, start)
        end = ends[next_end] if next_end < len(ends) else len(tokens)
        for name in _expressions(tokens, start + 1 + (upper_at(tokens, start + 1) == "RECURSIVE"), after):
            found.setdefault(name, []).append((start, end))
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
