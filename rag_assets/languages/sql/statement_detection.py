"""Whether a text is SQL: by the structure of a statement, strictly enough that prose is none."""

from __future__ import annotations

from collections.abc import Sequence

from rag_assets.languages.sql.lexer import (
    CONDITIONS,
    OBJECT_WORDS,
    WRITE_MODIFIERS,
    Token,
    after_parenthesis,
    name_at,
    unreserved_name_at,
    upper_at,
)

_BEFORE_STATEMENTS = frozenset({"BEGIN", "DECLARE", "IF", "SET", "USE", "PRAGMA", "LOCK", "EXPLAIN"})
"""A script may begin with these; then one of its later statements must be evident."""

_LOOKED_AT_TOKENS = 400
"""Where a statement shows what it is. Lists of columns are shorter."""

_ASSIGNED_TOKENS = 12
"""After SET: the column, perhaps with quoted parts, and `=`."""

_SELECT_ONE_FROM = len("SELECT 1 ")
"""Numbers and strings are no tokens: that something is selected shows in the distance."""

_SIGNS = frozenset("*=@[;?")
"""What prose does not have and nearly every statement has."""


def is_sql(tokens: Sequence[Token], *, trusted: bool) -> bool:
    """Whether `tokens` begin like a statement: `SELECT … FROM x`, `INSERT INTO x (`, `UPDATE x SET y =` …

    `trusted`: the text goes to something that executes SQL. Otherwise its keywords must be written alike, and in upper
    case unless a sign of SQL is among the tokens: "Select one from the list" is none.
    """
    start = 0
    while upper_at(tokens, start) in (";", "("):
        start += 1
    if upper_at(tokens, start) not in _BEFORE_STATEMENTS:
        return _is_plausible(tokens, _statement(tokens, start), trusted)
    statements = (_statement(tokens, index) for index in range(start + 1, min(len(tokens), _LOOKED_AT_TOKENS)))
    return any(_is_plausible(tokens, (start, *found), trusted) for found in statements if found)


def _is_plausible(tokens: Sequence[Token], keywords: Sequence[int], trusted: bool) -> bool:
    if trusted or not keywords:
        return bool(keywords)
    words = [tokens[index].text for index in keywords]
    if all(word.isupper() for word in words):
        return True
    alike = all(word.islower() for word in words) or all(word.istitle() for word in words)
    return alike and any(token.kind in ("variable", "quoted") or token.upper in _SIGNS for token in tokens)


def _statement(tokens: Sequence[Token], index: int) -> tuple[int, ...]:
    """The indexes of the keywords that make a statement of what begins at `index`; () when it is none."""
    word = upper_at(tokens, index)
    if word == "SELECT":
        return _select(tokens, index)
    if word in ("INSERT", "DELETE", "UPDATE", "REPLACE"):
        return _write(tokens, index, word)
    if word == "MERGE":
        using = _find(tokens, index + 1, "USING")
        return (index, using) if using else ()
    if word in ("EXEC", "EXECUTE", "CALL"):
        return _execution(tokens, index)
    if word == "TRUNCATE":
        return (index, index + 1) if upper_at(tokens, index + 1) == "TABLE" else ()
    if word in ("CREATE", "ALTER", "DROP"):
        return _definition(tokens, index)
    if word == "WITH":
        return _with(tokens, index)
    return ()


def _select(tokens: Sequence[Token], index: int) -> tuple[int, ...]:
    """`SELECT list FROM name`; the list is not empty, and no other statement begins in it."""
    source = _find(tokens, index + 1, "FROM")
    if not source or tokens[source].start - tokens[index].start < _SELECT_ONE_FROM:
        return ()
    after = tokens[source + 1] if source + 1 < len(tokens) else None
    is_source = after is not None and (after.upper == "(" or after.kind == "variable")
    return (index, source) if is_source or unreserved_name_at(tokens, source + 1) is not None else ()


def _write(tokens: Sequence[Token], index: int, word: str) -> tuple[int, ...]:
    position = index + 1
    while upper_at(tokens, position) in WRITE_MODIFIERS or upper_at(tokens, position) in ("OR", "REPLACE", "("):
        position = after_parenthesis(tokens, position) if upper_at(tokens, position) == "(" else position + 1
    name = unreserved_name_at(tokens, position)
    if name is None:
        return ()
    between = tuple(range(index, position))
    follows = upper_at(tokens, name.end)
    if word == "UPDATE":
        settings = _find(tokens, name.end, "SET")
        assigns = any(upper_at(tokens, i) == "=" for i in range(settings + 1, settings + _ASSIGNED_TOKENS))
        return (index, settings) if 0 < settings <= name.end + 2 and assigns else ()
    if word == "DELETE":
        return between if "FROM" in {upper_at(tokens, i) for i in between} or follows in ("WHERE", "FROM") else ()
    return between if follows in ("(", "VALUES", "SELECT", "DEFAULT", "EXEC", "EXECUTE", "WITH", "SET", "AS") else ()


def _execution(tokens: Sequence[Token], index: int) -> tuple[int, ...]:
    """The name is one of a procedure by its form, or nothing but arguments follow it."""
    name = unreserved_name_at(tokens, index + 1)
    if name is None:
        return ()
    follows = tokens[name.end] if name.end < len(tokens) else None
    has_arguments = follows is None or follows.kind == "variable" or follows.upper in ("(", ";", "?", ":", ",")
    return (index,) if name.is_qualified or "_" in name.parts[-1] or has_arguments else ()


def _definition(tokens: Sequence[Token], index: int) -> tuple[int, ...]:
    for position in range(index + 1, min(index + 6, len(tokens))):
        if upper_at(tokens, position) in OBJECT_WORDS:
            after = position + 1
            while upper_at(tokens, after) in CONDITIONS:
                after += 1
            name = name_at(tokens, after)
            if name is None:
                return ()
            shows = upper_at(tokens, name.end) not in ("", ".", ",") or upper_at(tokens, index) == "DROP"
            return tuple(range(index, position + 1)) if shows else ()
    return ()


def _with(tokens: Sequence[Token], index: int) -> tuple[int, ...]:
    name = name_at(tokens, index + 1 + (upper_at(tokens, index + 1) == "RECURSIVE"))
    if name is None:
        return ()
    position = after_parenthesis(tokens, name.end) if upper_at(tokens, name.end) == "(" else name.end
    opens = "(" in (upper_at(tokens, position + 1), upper_at(tokens, position + 2))
    return (index, position) if upper_at(tokens, position) == "AS" and opens else ()


def _find(tokens: Sequence[Token], start: int, word: str) -> int:
    """The index of `word` outside of parentheses that open after `start`; 0 when it is not near."""
    depth = 0
    for index in range(start, min(len(tokens), start + _LOOKED_AT_TOKENS)):
        upper = tokens[index].upper
        depth += (upper == "(") - (upper == ")")
        if depth == 0 and upper in (word, ";"):
            return index if upper == word else 0
    return 0
