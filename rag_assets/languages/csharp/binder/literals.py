"""Values that are written down: literals, tuples, arrays, collections, anonymous objects."""

from __future__ import annotations

from tree_sitter import Node

from rag_assets.languages.csharp.binder import bcl_types
from rag_assets.languages.csharp.binder.binder import Binder, Handler, Value, each_part
from rag_assets.languages.csharp.binder.member_access import element_type
from rag_assets.languages.csharp.binder.type_syntax import ARRAY, TUPLE, TypeRef


def tuple_value(walk: Binder, node: Node, wanted: Value) -> Value:
    parts: list[TypeRef] = []
    labels: list[str] = []
    hopes = wanted.arguments if wanted is not None and wanted.is_tuple else ()
    for number, entry in enumerate(child for child in node.named_children if child.type == "argument"):
        inside = entry.named_children
        label = walk.text(inside[0]) if len(inside) > 1 else ""
        value = inside[-1] if inside else None
        hope = hopes[number] if number < len(hopes) else None
        found = walk.ev(value, hope) if value is not None else walk.type.this
        if not label and value is not None and value.type in ("identifier", "member_access_expression"):
            label = walk.text(value).rpartition(".")[2]
        parts.append(found or TypeRef(""))
        labels.append(label)
    return TypeRef(TUPLE, tuple(parts), labels=tuple(labels))


def anonymous(walk: Binder, node: Node, wanted: Value) -> Value:
    """`new { o.Name, Total = … }`: a tuple with these labels, as far as its members are asked for."""
    parts: list[TypeRef] = []
    labels: list[str] = []
    label = ""
    children = node.children
    for number, child in enumerate(children):
        if not child.is_named or child.type == "comment":
            continue
        if number + 1 < len(children) and children[number + 1].type == "=":
            label = walk.text(child)
            continue
        parts.append(walk.ev(child) or TypeRef(""))
        labels.append(label or walk.text(child).rpartition(".")[2])
        label = ""
    return TypeRef(TUPLE, tuple(parts), labels=tuple(labels))


def new_array(walk: Binder, node: Node, wanted: Value) -> Value:
    found: Value = None
    for child in node.named_children:
        if child.type == "array_type":
            written = child.child_by_field_name("type")
            found = walk.use(written) if written is not None else None
            for part in child.named_children[1:]:
                walk.each(part)
        elif child.type == "initializer_expression":
            first = [walk.ev(entry, found) for entry in child.named_children]
            found = found or next((value for value in first if value is not None), None)
        else:
            walk.ev(child)
    return TypeRef(ARRAY, (found,)) if found is not None else wanted


def collection(walk: Binder, node: Node, wanted: Value) -> Value:
    """`[a, ..b]`, and `{ a, b }` where a collection is made."""
    hope = element_type(walk, wanted)
    for child in node.named_children:
        walk.ev(child, hope)
    return wanted


def always(value: Value) -> Handler:
    """The handler of what has this type, whatever stands in it."""
    return lambda walk, node, wanted: value


def everything(walk: Binder, node: Node, wanted: Value) -> Value:
    for child in node.named_children:
        walk.ev(child)
    return None


def interpolated(walk: Binder, node: Node, wanted: Value) -> Value:
    for child in node.named_children:
        if child.type == "interpolation":
            walk.each(child)
    return bcl_types.STRING


HANDLERS: dict[str, Handler] = {
    "expression_element": each_part,
    "collection_element": each_part,
    "spread_element": everything,
    "tuple_expression": tuple_value,
    "anonymous_object_creation_expression": anonymous,
    "array_creation_expression": new_array,
    "implicit_array_creation_expression": new_array,
    "collection_expression": collection,
    "initializer_expression": collection,
    "string_literal": always(bcl_types.STRING),
    "verbatim_string_literal": always(bcl_types.STRING),
    "raw_string_literal": always(bcl_types.STRING),
    "interpolated_string_expression": interpolated,
    "integer_literal": always(bcl_types.INT),
    "real_literal": always(bcl_types.DOUBLE),
    "boolean_literal": always(bcl_types.BOOL),
    "character_literal": always(bcl_types.CHAR),
    "null_literal": always(bcl_types.NULL),
    "predefined_type": always(None),
    "implicit_type": always(None),
    "comment": always(None),
    "modifier": always(None),
    "discard": always(None),
    "goto_statement": always(None),
    "break_statement": always(None),
    "continue_statement": always(None),
    "empty_statement": always(None),
    "type_parameter_list": always(None),
}
