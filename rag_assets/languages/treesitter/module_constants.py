"""Constants and variables outside of types: what the statements of a module give a value by a name.

They are part of the statements and no members: a section would list hundreds of them. What is asked for by its name is
found all the same: the default of a setting, the lines of a constant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_assets.contracts.segment import Member, MemberKind, Segment

if TYPE_CHECKING:
    from tree_sitter import Node

    from rag_assets.languages.treesitter.parsing import SourceText

_UPPER = re.compile(r"[A-Z_][A-Z0-9_]{2,}")
_LINE_END = re.compile(r"[\r\n]")
_MOST_OF_LINE = (
    400  # characters: a line of a minified script has thousands of names, each of which tells the rest of it
)
_LITERAL = re.compile(r"[\d\"'`\[{-]|(?:true|false)\b")
"""What the value of a constant of a script begins with, unless its name is in capitals: other variables are imports and
functions."""


@dataclass(frozen=True, slots=True)
class ModuleConstant:
    """The name, the lines and the first line of a constant. Lines are 1-based and inclusive. They are those of the name
    and the value, and of a Python docstring directly below."""

    name: str
    line_start: int
    line_end: int
    declaration: str


@dataclass(frozen=True, slots=True)
class _Named:
    """A name that has a value, and the nodes that it begins and ends with."""

    name: str
    first: Node
    last: Node


def module_constants(segment: Segment, text: str) -> Iterator[ModuleConstant]:
    """Those of the module of a file, in text order."""
    read = _READERS.get(segment.language)
    if read is None or segment.kind != "module":
        return
    from rag_assets.languages.treesitter.parsing import SourceText, UnparseableError, parse  # start-up budget

    for start, end, above in _runs(segment.members, text):
        source = SourceText(text[start:end])
        try:
            root = parse(segment.language, source).root_node
        except UnparseableError:
            continue
        for one in read(root, source):
            begin, stop = source.char(one.first.start_byte), source.char(one.last.end_byte)
            lines = source.lines.span(begin, stop)
            declaration = " ".join(_LINE_END.split(source.text[begin : begin + _MOST_OF_LINE], 1)[0].split())
            yield ModuleConstant(one.name, above + lines.line_start, above + lines.line_end, declaration)


def _runs(members: Iterable[Member], text: str) -> Iterator[tuple[int, int, int]]:
    """Where statements without a gap begin and end, and how many lines are above them. A long run is several members,
    whose borders may be inside a string."""
    run: tuple[int, int, int] | None = None
    for member in members:
        if member.kind is not MemberKind.STATEMENTS:
            continue
        span = member.span
        if run is not None and not text[run[1] : span.char_start].strip():
            run = (run[0], max(run[1], span.char_end), run[2])
            continue
        if run is not None:
            yield run
        run = (span.char_start, span.char_end, span.line_start - 1)
    if run is not None:
        yield run


_PATTERNS = frozenset({"pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern"})


def _python(root: Node, source: SourceText) -> Iterator[_Named]:
    statements = root.named_children
    for number, statement in enumerate(statements):
        if statement.type != "expression_statement" or not statement.named_children:
            continue
        below = statements[number + 1] if number + 1 < len(statements) else None
        last = below if below is not None and _is_docstring_below(statement, below) else statement
        node: Node | None = statement.named_children[0]
        while node is not None and node.type == "assignment":
            value = node.child_by_field_name("right")
            if value is not None:  # else a type alone
                for name in _identifiers(node.child_by_field_name("left")):
                    if _UPPER.fullmatch(source.text_of(name)):
                        yield _Named(source.text_of(name), statement, last)
            node = value  # of `A = B = 1`


def _is_docstring_below(statement: Node, below: Node) -> bool:
    is_text = below.type == "expression_statement" and [one.type for one in below.named_children] == ["string"]
    return is_text and below.start_point.row == statement.end_point.row + 1


def _identifiers(target: Node | None) -> Iterator[Node]:
    """The names of `A`, of `A, B` and of `(A, *B)`."""
    left = [target] if target is not None else []
    while left:
        node = left.pop()
        if node.type == "identifier":
            yield node
        elif node.type in _PATTERNS:
            left.extend(reversed(node.named_children))


def _go(root: Node, source: SourceText) -> Iterator[_Named]:
    for statement in root.named_children:
        if statement.type not in ("const_declaration", "var_declaration"):
            continue
        specs = [spec for one in statement.named_children for spec in _specs(one)]
        is_list = any(one.type in ("(", "var_spec_list") for one in statement.children)
        for spec in specs:
            if spec.type == "const_spec" or spec.child_by_field_name("value") is not None:
                first = spec if is_list else statement
                for name in spec.children_by_field_name("name"):
                    if name.type == "identifier" and source.text_of(name) != "_":
                        yield _Named(source.text_of(name), first, spec)


def _specs(node: Node) -> list[Node]:
    listed = node.named_children if node.type == "var_spec_list" else [node]
    return [one for one in listed if one.type in ("const_spec", "var_spec")]


def _script(root: Node, source: SourceText) -> Iterator[_Named]:
    for statement in root.named_children:
        is_export = statement.type == "export_statement"
        node = statement.child_by_field_name("declaration") if is_export else statement
        if node is None or node.type not in ("lexical_declaration", "variable_declaration"):
            continue
        declared = [one for one in node.named_children if one.type == "variable_declarator"]
        for one in declared:
            name, value = one.child_by_field_name("name"), one.child_by_field_name("value")
            if name is None or name.type != "identifier" or value is None:
                continue
            called = source.text_of(name)
            if _UPPER.fullmatch(called) or _LITERAL.match(source.text, source.char(value.start_byte)):
                yield _Named(called, statement if one == declared[0] else one, one)


_READERS = {
    "python": _python,
    "go": _go,
    **dict.fromkeys(("javascript", "tsx", "typescript"), _script),
}
