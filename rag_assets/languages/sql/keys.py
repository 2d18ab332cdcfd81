"""The keys of SQL tables: foreign keys with their columns, and the primary key that is declared for several columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.languages.sql.keywords import RESERVED
from rag_assets.languages.sql.lexer import LIST_TOKENS, Token, after_parenthesis, name_at, upper_at


@dataclass(frozen=True, slots=True)
class SqlForeignKey:
    """`columns` of the table that refer to `target_columns` of the table `target` (`schema.name`)."""

    columns: tuple[str, ...]
    target: str
    target_columns: tuple[str, ...] = ()


def foreign_keys_of(tokens: Sequence[Token]) -> tuple[SqlForeignKey, ...]:
    """The foreign keys of CREATE and ALTER TABLE statements, of columns and of the table, in order."""
    found: dict[SqlForeignKey, None] = {}
    for index, token in enumerate(tokens):
        name = name_at(tokens, index + 1) if token.upper == "REFERENCES" else None
        if name is None:
            continue
        targets: tuple[str, ...] = ()
        if upper_at(tokens, name.end) == "(":
            targets = _names_in(tokens, name.end, after_parenthesis(tokens, name.end))
        found[SqlForeignKey(_columns_before(tokens, index), name.symbol, targets)] = None
    return tuple(found)


def primary_key_of(tokens: Sequence[Token]) -> tuple[str, ...]:
    """The columns of `PRIMARY KEY (a, b)`; the key of a single column may stand at the column instead."""
    for index, token in enumerate(tokens):
        if token.upper == "KEY" and upper_at(tokens, index - 1) == "PRIMARY":
            position = index + 1
            while upper_at(tokens, position) in ("CLUSTERED", "NONCLUSTERED"):
                position += 1
            if upper_at(tokens, position) == "(":
                return _names_in(tokens, position, after_parenthesis(tokens, position))
    return ()


def _columns_before(tokens: Sequence[Token], index: int) -> tuple[str, ...]:
    """The columns of `FOREIGN KEY (a, b) REFERENCES`, or the column whose definition has the REFERENCES."""
    depth = 0
    for position in range(index - 1, max(-1, index - LIST_TOKENS), -1):
        word = upper_at(tokens, position)
        depth += (word == ")") - (word == "(")
        if word == "(" and depth == 0:
            before = upper_at(tokens, position - 1)
            named = before not in RESERVED and upper_at(tokens, position - 2) == "KEY"  # MySQL: FOREIGN KEY name (a)
            if before == "KEY" or named:
                return _names_in(tokens, position, index)
        if depth < 0 or (depth == 0 and word == ","):
            column = name_at(tokens, position + 1)
            return column.parts[-1:] if column is not None else ()
    return ()


def _names_in(tokens: Sequence[Token], start: int, end: int) -> tuple[str, ...]:
    """The names in a parenthesised list, sort orders left out."""
    names = (name_at(tokens, i + 1) for i in range(start, end) if upper_at(tokens, i) in ("(", ","))
    return tuple(name.parts[-1] for name in names if name is not None)
