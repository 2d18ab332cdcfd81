"""Chains of calls in masked C# code: their names, their arguments, where they end. Every scan is bounded."""

from __future__ import annotations

import re

MAX_CHAIN_CHARS = 8_000
"""Of one chain of calls; what is longer is data, not a query."""

MAX_PATH = 8
"""Names of a path `a.b.c` before a member; longer ones are namespaces."""

LINK = re.compile(r"\.\s*([A-Za-z_]\w*)")
"""A member of something; begins with a literal, which is fast to look for."""

_NEXT = re.compile(r"\s*[?!]?\s*\.\s*([A-Za-z_]\w*)")
"""The next member of a chain."""
_SELVES = ("this", "base")
_BLANKS_AT_ONCE = 64
"""What is masked is blank: a comment between two links of a chain is long."""
_TYPE_ARGUMENTS = re.compile(r"\s*<([^;(){}=]{1,300}?)>(?=\s*[(.])")
_ARGUMENT_LIST = re.compile(r"\s*(?:<[^;(){}=]{1,300}?>)?\s*(?=\()")
_ARGUMENTS = re.compile(r"\s*[!]?\s*([(\[])")
_OPENERS, _CLOSERS = "([{", ")]}"
_BRACKET = re.compile(r"[()\[\]{};]")


def chain_from(code: str, at: int) -> tuple[str, ...]:
    """`Where`, `Select` of `Orders.Where(…).Select(…)`, from the offset after `Orders`; what is open ends there."""
    names: list[str] = []
    stop = min(len(code), at + MAX_CHAIN_CHARS)
    position = _after_arguments(code, at, stop)
    while position < stop and (link := _NEXT.match(code, position, stop)) is not None:
        names.append(link[1])
        position = _after_arguments(code, link.end(), stop)
    return tuple(names)


def path_before(code: str, at: int) -> tuple[tuple[str, ...], int]:
    """(`a`, `b`) of `a.b` that ends at the dot at `at`, without `this` and `base`, and the offset where it begins; ()
    where something else than names stands there, such as the result of a call."""
    names: list[str] = []
    while True:
        end = _back_over_blanks(code, at)
        if end and code[end - 1] in "?!":
            end = _back_over_blanks(code, end - 1)
        start = end
        while start and (code[start - 1].isalnum() or code[start - 1] == "_"):
            start -= 1
        if start == end or code[start].isdigit():
            return (), start
        names.append(code[start:end])
        before = _back_over_blanks(code, start)
        if not before or code[before - 1] != "." or len(names) > MAX_PATH:
            break
        at = before - 1
    names.reverse()
    return tuple(names[1:] if names[0] in _SELVES else names), start


def _back_over_blanks(code: str, at: int) -> int:
    while at and code[at - 1].isspace():
        first = max(0, at - _BLANKS_AT_ONCE)
        at = first + len(code[first:at].rstrip())
    return at


def type_argument_at(code: str, at: int) -> str:
    """`Order` of `Set<Order>()` from the offset after `Set`; '' without one."""
    found = _TYPE_ARGUMENTS.match(code, at)
    return " ".join(found[1].split()) if found else ""


def argument_list(code: str, at: int) -> int:
    """The offset of the `(` after the name of a call that ends at `at`; -1 where nothing is called."""
    found = _ARGUMENT_LIST.match(code, at)
    return found.end() if found else -1


def receiver_ends(code: str, at: int) -> tuple[int, int]:
    """The offsets where the receiver before the dot at `at` may end: with and without the `!` or `?` after it."""
    end = _back_over_blanks(code, at)
    return end, _back_over_blanks(code, end - 1) if end and code[end - 1] in "?!" else end


def statement_end(code: str, at: int) -> int:
    """The offset of the `;` that ends the expression at `at`, or of the bracket that closes around it."""
    depth = 0
    for found in _BRACKET.finditer(code, at, min(len(code), at + MAX_CHAIN_CHARS)):
        character = found[0]
        if character in _OPENERS:
            depth += 1
        elif character == ";":
            if depth == 0:
                return found.start()
        else:
            depth -= 1
            if depth < 0:
                return found.start()
    return min(len(code), at + MAX_CHAIN_CHARS)


def _after_arguments(code: str, at: int, stop: int) -> int:
    """The offset after type arguments, argument lists and indexers that directly follow."""
    generic = _TYPE_ARGUMENTS.match(code, at, stop)
    position = generic.end() if generic else at
    while True:
        opened = _ARGUMENTS.match(code, position, stop)
        if opened is None:
            return position
        closed = _closing(code, opened.start(1), stop)
        if closed < 0:
            return stop
        position = closed + 1


def _closing(code: str, at: int, stop: int) -> int:
    depth = 0
    for found in _BRACKET.finditer(code, at, stop):
        if found[0] in _OPENERS:
            depth += 1
        elif found[0] in _CLOSERS:
            depth -= 1
            if depth == 0:
                return found.start()
    return -1
