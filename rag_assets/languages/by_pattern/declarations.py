"""Declarations of a file by the lines that begin them: where each ends, and what stands inside what."""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby

from rag_assets.languages.by_pattern.comments import Masked
from rag_assets.languages.by_pattern.table import BlockEnd, LanguagePatterns, Role

_CONSTRUCTOR = "constructor"
_ARGUMENTS = "arguments"
_KINDS = ("kind", "kind2")
_NAMES = ("name", "name2", "name3", "name4", "name5", _CONSTRUCTOR, _ARGUMENTS)
_FIELDS = "fields"
_BRACKET = re.compile(r"[{}()\[\]]")
_MARK = re.compile(r"[{}()\[\];]")
_CLOSERS = re.compile(
    r"end(?:module|function|task|class|package|interface)?\b|[})\]]|fi\b|done\b|esac\b", re.IGNORECASE
)
_CONTINUES = re.compile(r"[{.)\]}]|->|(?:else|catch|finally|where)\b|:[ \t]|(?:\w+[ \t]+)?constructor\b")
_OLD_PARAMETERS = re.compile(r"\s*(?:[A-Za-z_][\w \t*,\[\]()]{0,200};\s{0,80}){1,16}(?=\{)")
_OBJC_END = re.compile(r"^[ \t]*@end\b", re.MULTILINE)
_NAME_AFTER = re.compile(r"(\w+)\s*;\Z")
_PARAMETERS = re.compile(r"[ \t]*\(")
_GENERIC = re.compile(r"<[^<>]*>")
_TYPE_WORD = re.compile(r"\w+(?=\W*$)")
_QUOTE = re.compile(r"[\"`]")
_SUITE_AND_CASE = re.compile(r"(\w+)\s*,\s*(\w+)")  # as the runner of GoogleTest calls it
_TAB = 4
_MAX_NESTED = 16  # deeper declarations belong to the text of what is around them
_MAX_HEAD_MARKS = 40  # brackets and semicolons there
_MAX_HEAD_CHARS = 2_000  # between a name and its body, parameters left out: what is longer is no declaration


@dataclass(slots=True)
class Declaration:
    """One declaration: `start` is where its documentation or attributes begin, `head` its own first character."""

    role: Role
    name: str
    kind: str
    start: int
    head: int
    head_end: int
    end: int = 0
    body: int = -1  # where the body begins, after its brace or its first line; -1 without one
    signature_end: int = 0
    is_field: bool = False
    is_constructor: bool = False
    is_test: bool = False  # by its macro
    inner: list[Declaration] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    end: int
    indent: int
    first: int  # the first character of code; `end` in a line without any

    @property
    def is_blank(self) -> bool:
        return self.first == self.end


class Layout:
    """The lines and brackets of a masked text."""

    def __init__(self, code: str) -> None:
        self.code = code
        self.lines: list[_Line] = []
        start = 0
        for text in code.split("\n"):
            stripped = text.lstrip()
            blanks = len(text) - len(stripped)
            tabs = text.count("\t", 0, blanks)
            end = start + len(text)
            self.lines.append(_Line(start, end, blanks + tabs * (_TAB - 1), start + blanks if stripped else end))
            start = end + 1
        self._starts = [line.start for line in self.lines]
        self.closing = _pairs(code)
        self._ends = [found.end() for found in _OBJC_END.finditer(code)]
        self._closing_lines: dict[int, list[int]] = {}  # indentation → lines that begin with a closing brace
        for number, line in enumerate(self.lines):
            if code.startswith("}", line.first):
                self._closing_lines.setdefault(line.indent, []).append(number)

    def number(self, position: int) -> int:
        """0-based number of the line of a character."""
        return bisect_right(self._starts, position) - 1

    def line(self, position: int) -> _Line:
        return self.lines[self.number(position)]

    def brace_below(self, number: int, indent: int) -> int | None:
        """The first closing brace after line `number` that begins a line of this indentation."""
        numbers = self._closing_lines.get(indent, [])
        at = bisect_right(numbers, number)
        return self.lines[numbers[at]].first if at < len(numbers) else None

    def objc_end(self, position: int) -> int:
        """Behind the `@end` after a position; -1 without one."""
        at = bisect_left(self._ends, position)
        return self._ends[at] if at < len(self._ends) else -1

    def opening_line(self, number: int) -> int:
        """The line of the bracket that the last character of line `number` closes; the line itself without one."""
        line = self.lines[number]
        last = line.start + len(self.code[line.start : line.end].rstrip()) - 1
        return self.number(self._opening[last]) if last in self._opening else number

    @cached_property
    def _opening(self) -> dict[int, int]:
        return {closing: opening for opening, closing in self.closing.items()}

    def next_code(self, number: int) -> _Line | None:
        """The first line after line `number` that has code."""
        return next((line for line in self.lines[number + 1 : number + 200] if not line.is_blank), None)

    def end_of_head(self, position: int) -> int:
        """The end of the line of a declaration, of its last line of parameters where they take several."""
        opening = position - 1 if self.code.startswith("(", position - 1) else position
        if parameters := _PARAMETERS.match(self.code, opening):
            position = self.closing.get(parameters.end() - 1, position)
        return self.line(position).end


def _pairs(code: str) -> dict[int, int]:
    """Opening bracket → the bracket that closes it; what closes none of its kind is passed over."""
    pairs: dict[int, int] = {}
    open_at: dict[str, list[int]] = {"}": [], ")": [], "]": []}
    closer = {"{": "}", "(": ")", "[": "]"}
    for found in _BRACKET.finditer(code):
        mark = found[0]
        if mark in closer:
            open_at[closer[mark]].append(found.start())
        elif open_at[mark]:
            begun = open_at[mark].pop()
            pairs[begun] = found.start()
            if mark == "}":  # parentheses that it left open never close
                for other in (")", "]"):
                    while open_at[other] and open_at[other][-1] > begun:
                        open_at[other].pop()
    return pairs


def declarations_in(text: str, masked: Masked, language: LanguagePatterns) -> list[Declaration]:
    """What the file declares in text order, each with what is inside of it; a package holds nothing."""
    layout = Layout(masked.code)
    heads: dict[int, Declaration] = {}
    for role in (*Role, _FIELDS):
        pattern = language.pattern(role)
        if pattern is None:
            continue
        for match in pattern.finditer(text):
            head = match.end("indent")
            if head in heads or masked.code[head : head + 1].isspace():
                continue
            group = next((name for name in _NAMES if name in match.re.groupindex and match[name]), 0)
            name = match[group] if group else ""
            kind = next((match[one] for one in _KINDS if one in match.re.groupindex and match[one]), "")
            is_callback = role == _FIELDS and masked.code.startswith(")", match.end(group))  # `void (*close)(int);`
            heads[head] = made = Declaration(
                Role.VALUE, name, kind, head, head, match.end(0 if group == _ARGUMENTS or is_callback else group)
            )
            made.is_field = role == _FIELDS
            made.is_constructor = group == _CONSTRUCTOR
            made.is_test = group == _ARGUMENTS
            if not made.is_field:
                made.role = Role(role)
    found = [heads[head] for head in sorted(heads)]
    for one in found:
        if one.role is Role.PACKAGE:
            one.end = layout.line(one.head_end).end
            continue
        _find_end(one, layout, language)
        if (
            language.bases
            and one.role is Role.TYPE
            and (below := re.compile(language.bases).match(layout.code, one.body))
        ):
            one.body = below.end()
        one.signature_end = min(one.end, layout.end_of_head(one.head_end) if one.body < 0 else one.body)
        if text.startswith("typedef", one.head) and (after := _NAME_AFTER.search(text, one.head, one.end)):
            one.name = after[1]  # typedef struct { … } name;
        if one.is_test:
            one.name = _SUITE_AND_CASE.sub(r"\1.\2", one.name)
        one.name = _owner_name(one.name) if one.role is Role.OWNER else _QUOTE.sub("", one.name).strip()
    found = [one for one in found if one.name or one.role is Role.CONTAINER]
    roots = _nested(found)
    _attach_documentation(roots, layout, text, language)
    return roots


def _find_end(one: Declaration, layout: Layout, language: LanguagePatterns) -> None:
    number = layout.number(one.head)
    is_objc = one.role in (Role.OWNER, Role.TYPE) and layout.code.startswith("@", one.head)
    if is_objc and (end := layout.objc_end(one.head_end)) >= 0:
        one.end = end
        one.body = layout.line(one.head_end).end
    elif language.block in (BlockEnd.INDENT, BlockEnd.END):
        one.end = _end_by_indent(layout, number, closes=language.block is BlockEnd.END)
        one.body = min(layout.line(one.head_end).end + 1, one.end)
    elif language.block is BlockEnd.LINES or one.is_field:
        one.end = _end_by_lines(one, layout, number)
    else:
        one.end = _end_by_brace(one, layout, number)


def _end_by_indent(layout: Layout, number: int, *, closes: bool) -> int:
    """Before the first line that is not deeper than line `number`; after it when it only closes."""
    head = layout.lines[number]
    goes_on = ("{", ")", "|") if closes else ("{", ")", "|", "}", "]")
    last = head
    for below in range(number + 1, len(layout.lines)):
        following = layout.lines[below]
        if following.is_blank:
            continue
        if following.indent > head.indent or (
            following.indent == head.indent and layout.code.startswith(goes_on, following.first)
        ):
            last = following
            continue
        if closes and following.indent == head.indent and _CLOSERS.match(layout.code, following.first):
            return following.end
        break
    return last.end


def _end_by_brace(one: Declaration, layout: Layout, number: int) -> int:
    """After the brace that closes it, at the first `;` or before what closes something around it."""
    position = one.head_end
    code = layout.code
    if code.startswith("#", one.head):  # a macro: as long as its lines end in a backslash
        if number and code.endswith("\\", 0, layout.lines[number - 1].end):
            return layout.lines[number].end  # a line of another
        while number + 1 < len(layout.lines) and code.endswith("\\", 0, layout.lines[number].end):
            number += 1
        return layout.lines[number].end
    limit = position + _MAX_HEAD_CHARS
    for _ in range(_MAX_HEAD_MARKS):
        if (found := _MARK.search(code, position, limit)) is None:
            break
        mark, at = found[0], found.start()
        if mark in "([":
            position = layout.closing.get(at, at) + 1
            limit += position - at - 1
            if one.role is Role.FUNCTION and mark == "(" and (old := _OLD_PARAMETERS.match(code, position)):
                position = old.end()
        elif mark == "{":
            one.body = at + 1
            return _after_body(one, layout, number, at)
        elif mark == ";":
            return at + 1
        else:
            return max(one.head_end, at)
    return layout.line(one.head_end).end


def _after_body(one: Declaration, layout: Layout, number: int, brace: int) -> int:
    closed = layout.closing.get(brace)
    by_indent = None
    head = layout.lines[number]
    opening = layout.line(brace)
    if one.role in (Role.FUNCTION, Role.TYPE) and (opening.first != brace or opening.indent == head.indent):
        # Branches of a preprocessor open more braces than they close: the brace below the head closes it.
        by_indent = layout.brace_below(layout.number(brace), head.indent)
        if by_indent is not None and closed is not None and by_indent > closed:
            by_indent = None
    end = by_indent if by_indent is not None else closed
    if end is None:
        return len(layout.code)
    line = layout.line(end)
    tail = layout.code[end + 1 : line.end]
    semicolon = tail.find(";")
    return end + 1 + (semicolon + 1 if semicolon >= 0 and one.role is Role.TYPE else 0)


def _end_by_lines(one: Declaration, layout: Layout, number: int) -> int:
    """At the end of the first line, all brackets closed, that the next line does not continue."""
    code = layout.code
    head = layout.lines[number]
    position = one.head_end
    while True:
        line = layout.line(position)
        stop = line.end
        while found := _MARK.search(code, position, stop):
            mark, at = found[0], found.start()
            if mark in "{([":
                if mark == "{" and one.body < 0:
                    one.body = at + 1
                position = layout.closing.get(at, at) + 1
                stop = layout.line(position - 1).end
            elif mark == ";":
                return at + 1
            else:
                return max(one.head_end, at)
        last = layout.number(stop)
        following = layout.next_code(last)
        if following is None or one.is_field:
            return stop
        deeper = following.indent > head.indent
        if not deeper and not (following.indent == head.indent and _CONTINUES.match(code, following.first)):
            return stop
        if one.body >= 0 and not deeper and code.startswith("{", following.first):
            return stop
        position = following.first
        if code[position] in "})]":
            return stop


def _nested(found: list[Declaration]) -> list[Declaration]:
    """Puts each into the declaration around it. What a function or value declares is its own business."""
    roots: list[Declaration] = []
    around: list[Declaration] = []
    for one in found:
        while around and around[-1].end <= one.head:
            around.pop()
        outer = around[-1] if around else None
        if outer is None:
            if not one.is_field and not one.is_constructor:
                roots.append(one)
                around.append(one)
            continue
        one.end = min(one.end, outer.end)
        is_of_module = outer.kind == "defmodule"  # of Elixir, whose fields no type is around
        if outer.role in (Role.FUNCTION, Role.VALUE) or (
            one.is_field and outer.role is not Role.TYPE and not is_of_module
        ):
            continue
        if one.is_constructor and one.name.lstrip("~") != outer.name:
            continue
        if len(around) < _MAX_NESTED:
            outer.inner.append(one)
            around.append(one)
    return roots


def _attach_documentation(roots: list[Declaration], layout: Layout, text: str, language: LanguagePatterns) -> None:
    """Moves each `start` up over the comments and attributes that stand directly above, never into what is before."""
    attribute = re.compile(language.attributes)
    floor = 0

    def attach(one: Declaration) -> None:
        nonlocal floor
        number = layout.number(one.head)
        start = layout.lines[number].start
        while number > 0:
            line = layout.lines[number - 1]
            if line.start < floor:
                break
            first = number - 1
            if line.is_blank:
                if not text[line.start : line.end].strip():
                    break
            elif not attribute.match(layout.code, line.first):
                first = layout.opening_line(first)  # of one on several lines
                line = layout.lines[first]
                if line.start < floor or not attribute.match(layout.code, line.first):
                    break
            number = first
            start = line.start
        one.start = max(floor, start)
        floor = max(floor, layout.line(one.head).start if one.inner else one.end)
        for inner in one.inner:
            attach(inner)
        floor = max(floor, one.end)

    for one in roots:
        attach(one)


def merged_clauses(
    declared: Iterable[Declaration], *, clauses: bool, most_chars: float = math.inf
) -> Iterator[Declaration]:
    """Clauses of one function, which stand one below the other, as one, where they are not longer."""
    if not clauses:
        yield from declared
        return
    for (role, _), group in groupby(declared, key=lambda one: (one.role, one.name)):
        first, *others = group
        if others and role is Role.FUNCTION and others[-1].end - first.start <= most_chars:
            first.end = others[-1].end
            yield first
        else:
            yield from (first, *others)


def comments_between(masked: Masked, start: int, end: int) -> list[tuple[int, int]]:
    """The comments that begin in a range."""
    first = bisect_left(masked.comments, (start, 0))
    last = bisect_left(masked.comments, (end, 0))
    return list(masked.comments[first:last])


def without_generics(text: str) -> str:
    """`Node<Vec<T>>` → `Node`."""
    while (shorter := _GENERIC.sub("", text)) != text:
        text = shorter
    return text


def _owner_name(head: str) -> str:
    """`<T: Ord> Display for tree::Node<T> where …` → `Node`."""
    text = re.split(r"\bwhere\b", without_generics(head))[0]
    text = re.split(r"\bfor\b", text)[-1]
    word = _TYPE_WORD.search(text)
    return word[0] if word else text.strip()
