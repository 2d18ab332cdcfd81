"""`#if` groups of a C# text: which there are, which the grammar can read whole, and which branch to keep otherwise.

A group whose branches are complete declarations, statements or list items is *whole*: with its directive lines
blanked all branches parse one after the other and nothing is lost. A group that splits a construct (a base list,
a signature, an if-else chain) needs a choice. Branches are chosen by evaluating the conditions with every symbol
defined, or with none: both are consistent configurations, which "the first branch everywhere" is not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TypeAlias

from rag_assets.languages.csharp.syntax.lexer import Directive, Scan, code_directives

_CODE_BRACKET = re.compile(r"[(){}\[\]]")
_OPENERS = frozenset("([{")
_BLANKS = " \t\r\n\f\v\u00a0\u3000\ufeff"  # what the grammar skips, the byte order mark included
_STATEMENT_BEFORE = frozenset({"", ";", "{", "}"})  # what stands before a complete statement or declaration
_STATEMENT_LAST = frozenset({";", "}"})
_CONTINUES = frozenset(".,:?)]&|+-=<>%^*/")  # a piece that starts so goes on with what stands before the group
_CONDITION_TOKEN = re.compile(r"\|\||&&|==|!=|!|\(|\)|\w++")
_PRECEDENCE = {"!": 4, "==": 3, "!=": 3, "&&": 2, "||": 1, "(": 0}


@dataclass(frozen=True, slots=True)
class Branch:
    """One branch: its condition as written (`else` for the last), the offsets of its directive line and of its text."""

    word: str
    condition: str
    directive: Directive
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ConditionalGroup:
    """`#if … #endif`. `whole`: all branches can stay. `parent`: index of the enclosing group and branch, if any."""

    branches: tuple[Branch, ...]
    end: Directive | None  # None: the file ends before `#endif`
    whole: bool
    parent: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Choice:
    """Which text goes: character ranges in text order, the dropped ones with their branch."""

    directives: tuple[tuple[int, int], ...]
    dropped: tuple[tuple[int, int, Branch], ...]


def find_groups(found: Scan) -> tuple[ConditionalGroup, ...]:
    """All `#if` groups in the order of their `#if`. A stray `#else` is ignored; an open group ends with the text."""
    return _Finder(found.code).groups(found)


def choose(groups: tuple[ConditionalGroup, ...], defined: bool) -> Choice:
    """What to blank when every symbol is `defined` or none is.

    Whole groups keep all branches. A nested group in a dropped branch goes with it.
    """
    directives: list[tuple[int, int]] = []
    dropped: list[tuple[int, int, Branch]] = []
    kept: list[frozenset[int]] = []  # of each group, the branches that stay
    for group in groups:
        if group.parent is not None and group.parent[1] not in kept[group.parent[0]]:
            kept.append(frozenset())
            continue
        stays = frozenset(range(len(group.branches))) if group.whole else _taken(group, defined)
        kept.append(stays)
        for number, branch in enumerate(group.branches):
            directives.append((branch.directive.start, branch.directive.end))
            if number not in stays and branch.start < branch.end:
                dropped.append((branch.start, branch.end, branch))
        if group.end is not None:
            directives.append((group.end.start, group.end.end))
    return Choice(tuple(sorted(directives)), tuple(sorted(dropped, key=lambda entry: entry[0])))


def _taken(group: ConditionalGroup, defined: bool) -> frozenset[int]:
    for number, branch in enumerate(group.branches):
        if branch.word == "else" or evaluate(branch.condition, defined):
            return frozenset({number})
    return frozenset()


def evaluate(condition: str, defined: bool) -> bool:
    """The value of a `#if` condition when every symbol is `defined` or none is. A malformed condition is `defined`.

    Two stacks instead of recursion: conditions nest without limit.
    """
    values: list[bool] = []
    operators: list[str] = []
    try:
        for token in _CONDITION_TOKEN.findall(condition):
            if token in ("(", "!"):
                operators.append(token)
            elif token == ")":
                while operators[-1] != "(":
                    _apply(operators.pop(), values)
                operators.pop()
            elif token in _PRECEDENCE:
                while operators and _PRECEDENCE[operators[-1]] >= _PRECEDENCE[token]:
                    _apply(operators.pop(), values)
                operators.append(token)
            else:
                values.append({"true": True, "false": False}.get(token, defined))
        while operators:
            _apply(operators.pop(), values)
    except IndexError:
        return defined
    return values[0] if len(values) == 1 else defined


def _apply(operator: str, values: list[bool]) -> None:
    right = values.pop()
    if operator == "!":
        values.append(not right)
    elif operator != "(":
        left = values.pop()
        values.append({"&&": left and right, "||": left or right, "==": left == right, "!=": left != right}[operator])
    else:
        values.append(right)


# Open brackets as a linked list of (character, depth, what is below): a branch restores the state before it at no
# cost. Plain tuples, because there is one per bracket of the file.
_Stack: TypeAlias = "tuple[str, int, _Stack] | None"


@dataclass(slots=True)
class _Open:
    """A group whose `#endif` has not come yet, with the state of the code before it and of the branch around it."""

    index: int
    parent: tuple[int, int] | None
    stack: _Stack
    last: str
    outer_first: str
    outer_lowest: int
    directive: Directive  # of the current branch
    branches: list[Branch] = field(default_factory=list)
    whole: bool = True
    first: str = ""
    lowest: int = 0
    after_first: tuple[_Stack, str] = (None, "")


class _Finder:
    """One pass over the conditional directives that tracks open brackets and the visible characters at the edges."""

    def __init__(self, code: str) -> None:
        self._code = code
        self._stack: _Stack = None
        self._last = ""
        self._first = ""  # of the current branch
        self._lowest = 0  # depth of brackets, at its lowest since the current branch began
        self._open: list[_Open] = []
        self._closed: dict[int, ConditionalGroup] = {}

    def groups(self, found: Scan) -> tuple[ConditionalGroup, ...]:
        position, count = 0, 0
        for directive in code_directives(found):
            self._read(position, directive.start)
            position = directive.end
            if directive.word == "if":
                self._open_group(count, directive)
                count += 1
            elif self._open:
                self._finish_branch(directive.start)
                if directive.word == "endif":
                    self._close(directive)
                else:
                    self._begin_branch(directive)
        self._read(position, len(self._code))
        while self._open:
            self._finish_branch(len(self._code))
            self._open[-1].whole = False
            self._close(None)
        return tuple(self._closed[index] for index in range(count))

    def _read(self, start: int, end: int) -> None:
        piece = self._code[start:end].strip(_BLANKS)
        if not piece:
            return
        self._first = self._first or piece[0]
        self._last = piece[-1]
        stack = self._stack
        for character in _CODE_BRACKET.findall(piece):
            if character in _OPENERS:
                stack = (character, stack[1] + 1 if stack else 1, stack)
            elif stack:
                stack = stack[2]
                depth = stack[1] if stack else 0
                if depth < self._lowest:
                    self._lowest = depth
            else:
                self._lowest = -1
        self._stack = stack

    def _open_group(self, index: int, directive: Directive) -> None:
        parent = (self._open[-1].index, len(self._open[-1].branches)) if self._open else None
        depth = _depth(self._stack)
        self._open.append(
            _Open(index, parent, self._stack, self._last, self._first, self._lowest, directive, lowest=depth)
        )
        self._begin_branch(directive)

    def _begin_branch(self, directive: Directive) -> None:
        group = self._open[-1]
        group.directive = directive
        self._stack, self._last, self._first, self._lowest = group.stack, group.last, "", _depth(group.stack)

    def _finish_branch(self, end: int) -> None:
        group = self._open[-1]
        directive = group.directive
        if not group.branches:
            group.after_first = (self._stack, self._last)
        group.branches.append(Branch(directive.word, directive.rest, directive, directive.end, end))
        group.whole = group.whole and self._is_complete(group)
        group.first = group.first or self._first
        group.lowest = min(group.lowest, self._lowest)

    def _close(self, end: Directive | None) -> None:
        group = self._open.pop()
        self._closed[group.index] = ConditionalGroup(tuple(group.branches), end, group.whole, group.parent)
        self._stack, self._last = group.after_first
        self._first = group.outer_first or group.first
        self._lowest = min(group.outer_lowest, group.lowest)

    def _is_complete(self, group: _Open) -> bool:
        """Whether the branch just read can stay beside its siblings."""
        before = _depth(group.stack)
        if _depth(self._stack) != before or self._lowest < before:
            return False
        if not self._first:
            return True
        if self._first in _CONTINUES:
            return False
        if group.last in _STATEMENT_BEFORE and self._last in _STATEMENT_LAST:
            return True
        if self._first == "[" and self._last == "]":  # attributes
            return group.last in _STATEMENT_BEFORE or group.last == "]"
        in_braces = group.stack is not None and group.stack[0] == "{"
        return in_braces and group.last in (",", "{") and self._last == ","  # enum values, initialisers


def _depth(stack: _Stack) -> int:
    return stack[1] if stack else 0
