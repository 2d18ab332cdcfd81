"""What the file around a segment tells of other types: their string constants, and the parts of parameter objects."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from tree_sitter import Node

from rag_assets.contracts.segment import Parameter
from rag_assets.languages.csharp.syntax.declaration_heads import NodeText, read_attributes, read_parameters
from rag_assets.languages.csharp.syntax.error_recovery import parse_csharp
from rag_assets.languages.csharp.web.route_templates import string_of
from rag_assets.languages.treesitter.parsing import UnparseableError

_CONSTANT = re.compile(r"\bconst\s++(?:string|String)\b")
_TYPES = ("class_declaration", "record_declaration", "struct_declaration", "record_struct_declaration")
_WITHOUT_TYPES = frozenset(
    {
        "attribute_list",
        "base_list",
        "comment",
        "constructor_declaration",
        "enum_declaration",
        "event_field_declaration",
        "field_declaration",
        "global_statement",
        "method_declaration",
        "modifier",
        "property_declaration",
        "using_directive",
    }
)
"""Most nodes of a tree are below these, where no type can be declared."""


class FileContext:
    """The types of one file, read when the first question is asked. A text beyond the parser has none. `elsewhere`
    gives the constants that other files declare."""

    __slots__ = ("_constants", "_elsewhere", "_reader", "_text", "_types")

    def __init__(self, text: str = "", elsewhere: Callable[[], Mapping[str, str]] = dict) -> None:
        self._text = text
        self._elsewhere = elsewhere
        self._constants: dict[str, str] | None = None
        self._reader: NodeText | None = None
        self._types: dict[str, list[Node]] | None = None

    def constants(self) -> dict[str, str]:
        """`Names.Route` → `"api/x"` as a literal; only what the file fully tells, of names declared once, and what
        others do."""
        if self._constants is None:
            own = dict(self._read_constants()) if _CONSTANT.search(self._text) else {}
            self._constants = {**self._elsewhere(), **own}
        return self._constants

    def _read_constants(self) -> Iterator[tuple[str, str]]:
        for name, nodes in self._read().items():
            if len(nodes) != 1:
                continue
            own = dict(self._constants_of(nodes[0]))
            for constant, expression in own.items():
                value, known = string_of(expression, own)
                if known and '"' not in value:
                    yield f"{name}.{constant}", f'@"{value}"'

    def parameters_of(self, type_name: str) -> tuple[Parameter, ...] | None:
        """What a request fills of a class or record: its primary constructor, else its settable properties. None for
        a type that the file does not declare, more than once, or
        as a generic one."""
        nodes = self._read().get(type_name, [])
        if len(nodes) != 1 or self._reader is None:
            return None
        if any(child.type == "type_parameter_list" for child in nodes[0].children):
            return None  # what its members are depends on the type arguments
        listed = next((child for child in nodes[0].children if child.type == "parameter_list"), None)
        found = read_parameters(self._reader, listed)
        return found or tuple(self._properties_of(nodes[0], self._reader)) or None

    def _read(self) -> dict[str, list[Node]]:
        if self._types is None:
            self._types = {}
            try:
                view = parse_csharp(self._text).view
            except UnparseableError:
                return self._types
            self._reader = NodeText(view, len(self._text))
            waiting = [view.tree.root_node]
            while waiting:
                node = waiting.pop()
                name = node.child_by_field_name("name") if node.type in _TYPES else None
                if name is not None:
                    self._types.setdefault(self._reader.text_of(name), []).append(node)
                waiting.extend(child for child in node.named_children if child.type not in _WITHOUT_TYPES)
        return self._types

    def _constants_of(self, node: Node) -> Iterator[tuple[str, str]]:
        reader = self._reader
        if reader is None:
            return
        for field in _members(node, "field_declaration"):
            if "const" not in _modifiers(reader, field):
                continue
            declared = next((child for child in field.named_children if child.type == "variable_declaration"), None)
            for child in declared.named_children if declared is not None else ():
                if child.type == "variable_declarator" and child.named_child_count > 1:
                    yield reader.text_of(child.named_children[0]), reader.text_of(child.named_children[-1])

    @staticmethod
    def _properties_of(node: Node, reader: NodeText) -> Iterator[Parameter]:
        for member in _members(node, "property_declaration"):
            name, written = member.child_by_field_name("name"), member.child_by_field_name("type")
            accessors = member.child_by_field_name("accessors")
            modifiers = _modifiers(reader, member)
            if name is None or written is None or accessors is None or "public" not in modifiers:
                continue
            if "static" in modifiers or not re.search(r"\b(?:set|init)\b", reader.text_of(accessors)):
                continue
            value = member.child_by_field_name("value")
            yield Parameter(
                name=reader.text_of(name),
                type=reader.one_line(written),
                default=reader.one_line(value) if value is not None else "",
                attributes=tuple(
                    text
                    for child in member.children
                    if child.type == "attribute_list"
                    for text in read_attributes(reader, child)
                ),
            )


def _members(node: Node, kind: str) -> Iterator[Node]:
    body = node.child_by_field_name("body")
    return (child for child in body.named_children if child.type == kind) if body is not None else iter(())


def _modifiers(reader: NodeText, node: Node) -> set[str]:
    return {reader.text_of(child) for child in node.children if child.type == "modifier"}
