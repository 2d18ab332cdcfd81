"""TypeScript, TSX and JavaScript: a segment per top-level type; functions and statements make up the module."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from rag_assets.contracts.segment import Member, MemberKind
from rag_assets.languages.path_names import file_stem, without_extension
from rag_assets.languages.treesitter.code_segments import (
    CodeFile,
    DeclaredNode,
    Statement,
    declarations,
    extent,
    field_text,
    type_segment,
)
from rag_assets.languages.treesitter.typescript_members import (
    FUNCTION_VALUES,
    TYPE_KINDS,
    MemberContext,
    function_member,
    type_member,
    unquoted,
)

if TYPE_CHECKING:
    from tree_sitter import Node

    from rag_assets.languages.treesitter.parsing import SourceText

_WRAPPERS = ("export_statement", "ambient_declaration", "expression_statement")
_FUNCTIONS = ("function_declaration", "generator_function_declaration", "function_signature")
_VARIABLES = ("lexical_declaration", "variable_declaration")


def typescript_reader(language: str) -> Callable[[Node, SourceText, str], CodeFile]:
    """The reader for `typescript`, `tsx` or `javascript`: three grammars, one shape."""
    return partial(_read, language)


def _read(language: str, root: Node, source: SourceText, path: str) -> CodeFile:
    """The top level of a file; `symbol` is its path without extension."""
    module = without_extension(path)
    found = CodeFile(name=file_stem(path), symbol=module, namespace=module)
    for declared in declarations(root.named_children):
        origin = declared.node.child_by_field_name("source")  # of an import or a re-export
        if origin is not None:
            found.usings.append(unquoted(source.text_of(origin)))
        if declared.node.type == "import_statement":
            found.passed.append(extent(source, declared.node))
        elif declared.node.type != "hash_bang_line":
            for item in _items(declared, source):
                if isinstance(item, Member) and item.kind is MemberKind.TYPE:
                    found.items.append(type_segment(item, f"{module}.{item.name}", module, language))
                else:
                    found.items.append(item)
    return found


def _items(declared: DeclaredNode, source: SourceText) -> Iterator[Member | Statement]:
    """The symbols of one top-level statement, or its range when it declares none."""
    place = MemberContext(source, declared.start, declared.node.end_byte, declared)
    node = _unwrapped(declared.node)
    if node.type in TYPE_KINDS:
        yield type_member(node, place, _name(node, source))
    elif node.type in _FUNCTIONS:
        yield function_member(node, place, _name(node, source))
    elif node.type in _VARIABLES:
        yield from _variables(node, place)
    elif node.type == "assignment_expression":
        yield from _assigned(node, place)
    elif declared.node.type == "export_statement" and node.type in FUNCTION_VALUES:
        yield function_member(node, place, "default")
    else:
        yield place.statement


def _unwrapped(node: Node) -> Node:
    """What `export`, `declare` and the expression statement around a namespace or assignment hold."""
    while node.type in _WRAPPERS:
        inner = node.child_by_field_name("declaration") or node.child_by_field_name("value")
        if inner is None and node.type != "export_statement":
            named = [child for child in node.named_children if "comment" not in child.type]
            inner = named[0] if named else None
        if inner is None:
            return node
        node = inner
    return node


def _name(node: Node, source: SourceText) -> str:
    return unquoted(field_text(source, node, "name")) or "default"


def _variables(node: Node, place: MemberContext) -> Iterator[Member | Statement]:
    """`const f = () => …` declares a function, `const C = class …` a type; other variables are statements."""
    declarators = [child for child in node.named_children if child.type == "variable_declarator"]
    symbols = [declarator for declarator in declarators if _value_type(declarator) is not None]
    if not symbols:
        yield place.statement
        return
    for declarator in declarators:
        own = place if len(declarators) == 1 else place.within(declarator)
        yield from _valued(declarator, "name", "value", own)


def _assigned(node: Node, place: MemberContext) -> Iterator[Member | Statement]:
    """`exports.f = function …`, `A.prototype.m = …`, `module.exports = class …`."""
    yield from _valued(node, "left", "right", place)


def _value_type(holder: Node, field: str = "value") -> str | None:
    value = holder.child_by_field_name(field)
    return value.type if value is not None and (value.type in FUNCTION_VALUES or value.type in TYPE_KINDS) else None


def _valued(holder: Node, name_field: str, value_field: str, place: MemberContext) -> Iterator[Member | Statement]:
    value = holder.child_by_field_name(value_field)
    if value is None or _value_type(holder, value_field) is None:
        yield place.statement
        return
    name = field_text(place.source, holder, name_field).removeprefix("module.").removeprefix("exports.")
    if value.type in TYPE_KINDS:
        yield type_member(value, place, field_text(place.source, value, "name") or name)
    else:
        yield function_member(value, place, name)
