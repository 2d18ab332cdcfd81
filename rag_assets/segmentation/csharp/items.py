"""The declarations inside a node, in order, each with the comments that belong to it.

`#if` nodes and error nodes are opened in place: what is declared in them is declared in the list around them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from rag_assets.segmentation.csharp.xmldoc import is_documentation, plain_comment, plain_documentation

if TYPE_CHECKING:
    from tree_sitter import Node

    from rag_assets.segmentation.csharp.reader import Reader

TYPES = {
    "class_declaration": "class",
    "struct_declaration": "struct",
    "interface_declaration": "interface",
    "enum_declaration": "enum",
    "record_declaration": "record",
    "delegate_declaration": "delegate",
}
"""Node type → kind of a type declaration; a record is a record whether class or struct (the signature tells)."""

MEMBERS = frozenset(
    [
        "method_declaration",
        "constructor_declaration",
        "destructor_declaration",
        "property_declaration",
        "indexer_declaration",
        "field_declaration",
        "event_declaration",
        "event_field_declaration",
        "operator_declaration",
        "conversion_operator_declaration",
        "enum_member_declaration",
    ]
)
FILE_LEVEL = frozenset(
    [
        "using_directive",
        "extern_alias_directive",
        "global_attribute",
        "namespace_declaration",
        "file_scoped_namespace_declaration",
        "global_statement",
        "shebang_directive",
    ]
)
_STATEMENTS = frozenset({"block"})  # and every type that ends in _statement: bare inside `#if` at top level

_OPENED = frozenset({"preproc_if", "preproc_elif", "preproc_else", "ERROR"})
_TRANSPARENT = frozenset(
    [
        "#if",
        "preproc_region",
        "preproc_endregion",
        "preproc_pragma",
        "preproc_nullable",
        "preproc_line",
        "preproc_error",
        "preproc_warning",
        "preproc_define",
        "preproc_undef",
    ]
)
"""Nodes that do not part a documentation comment from its declaration."""


class Item:
    """A declaration or statement with its comments. `end` is a byte offset, after a `,` or comment on the same line."""

    __slots__ = ("comments", "end", "in_error", "kind", "node", "start", "trailing")

    def __init__(self, kind: str, node: Node, comments: list[str], start: int, end: int, in_error: bool) -> None:
        self.kind = kind
        self.node = node
        self.comments = comments
        self.start = start  # character offset of the first comment, or of the node
        self.end = end  # character offset
        self.in_error = in_error
        self.trailing = ""

    @property
    def is_statement(self) -> bool:
        return self.kind.endswith("_statement") or self.kind in _STATEMENTS

    def doc(self, use_trailing: bool = False) -> str:
        """Plain text of the documentation comment, else of the ordinary one above, else of the one that follows."""
        documentation = [comment for comment in self.comments if is_documentation(comment)]
        if documentation:
            return plain_documentation(documentation)
        if self.comments:
            return plain_comment(self.comments)
        if self.trailing and use_trailing:
            return (
                plain_documentation([self.trailing])
                if is_documentation(self.trailing)
                else plain_comment([self.trailing])
            )
        return ""


def items(reader: Reader, parent: Node) -> list[Item]:
    """All declarations and top-level statements directly in `parent`."""
    text, char = reader.text, reader.char
    found: list[Item] = []
    pending: list[tuple[int, int, str]] = []
    current: Item | None = None
    for kind, node, in_error in _flattened(parent):
        if kind == "comment":
            start, end = char(node.start_byte), char(node.end_byte)
            if current is not None and not pending and _same_line(text, current.end, start):
                current.end = end
                current.trailing = text[start:end]
            else:
                pending.append((start, end, text[start:end]))
        elif kind in TYPES or kind in MEMBERS or kind in FILE_LEVEL or kind.endswith("_statement") or kind == "block":
            start = char(node.start_byte)
            comments = _attached(text, pending, start) if pending else []
            first = comments[0][0] if comments else start
            current = Item(kind, node, [comment for _, _, comment in comments], first, char(node.end_byte), in_error)
            found.append(current)
            pending = []
        elif kind == ",":
            if current is not None and current.kind == "enum_member_declaration":
                current.end = char(node.end_byte)
        elif kind not in _TRANSPARENT:
            pending = []
            current = None
    return found


def _flattened(parent: Node) -> Iterator[tuple[str, Node, bool]]:
    """Children of `parent`, those of `#if` branches and error nodes in their place. No recursion."""
    open_lists: list[tuple[Iterator[Node], bool]] = [(iter(parent.children), parent.type == "ERROR")]
    while open_lists:
        children, in_error = open_lists[-1]
        for node in children:
            kind = node.type
            if kind in _OPENED:
                skipped = 2 if kind in ("preproc_if", "preproc_elif") else 1 if kind == "preproc_else" else 0
                if kind == "preproc_elif" or kind == "preproc_else":
                    yield "#else", node, in_error  # comments do not cross from one branch to the next
                open_lists.append((islice(node.children, skipped, None), in_error or kind == "ERROR"))
                break
            yield kind, node, in_error
        else:
            open_lists.pop()


def _same_line(text: str, end: int, start: int) -> bool:
    return "\n" not in (gap := text[end:start]) and "\r" not in gap


def _attached(text: str, pending: list[tuple[int, int, str]], start: int) -> list[tuple[int, int, str]]:
    """The comments that belong to what starts at `start`: documentation, or no blank line between."""
    first = len(pending)
    while first:
        comment_start, comment_end, comment = pending[first - 1]
        gap = text[comment_end:start]
        if max(gap.count("\n"), gap.count("\r")) > 1 and not is_documentation(comment):
            break
        start = comment_start
        first -= 1
    return pending[first:]
