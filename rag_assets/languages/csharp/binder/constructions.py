"""Constructions: which constructor is meant, what initialisers set, what a constructor calls of its base."""

from __future__ import annotations

from collections.abc import Sequence

from tree_sitter import Node

from rag_assets.languages.csharp.binder import bcl_types
from rag_assets.languages.csharp.binder.binder import (
    CALLS,
    CONSTRUCTS,
    PROBABLE,
    REFERENCES,
    RESOLVED,
    USES_TYPE,
    Binder,
    Handler,
    Value,
)
from rag_assets.languages.csharp.binder.conversions import signature_of
from rag_assets.languages.csharp.binder.member_access import accessible, base_of, element_type, refer, views
from rag_assets.languages.csharp.binder.overloads import (
    ANY_NUMBER,
    Argument,
    decide,
    pairs_for,
    read_arguments,
    read_waiting,
    read_with,
)
from rag_assets.languages.csharp.binder.type_syntax import TypeRef


def creation(walk: Binder, node: Node, wanted: Value) -> Value:
    """`new Order(…) { … }`."""
    found: Value = None
    arguments: list[Argument] = []
    initializer: Node | None = None
    first = True
    for child in node.named_children:
        kind = child.type
        if kind == "argument_list":
            arguments = read_arguments(walk, child)
        elif kind == "initializer_expression":
            initializer = child
        elif first and kind != "comment":
            found = walk.use(child)
            first = False
    return constructed(walk, found, arguments, initializer, node)


def implicit_creation(walk: Binder, node: Node, wanted: Value) -> Value:
    """`new(…) { … }`: of the type that is wanted."""
    arguments: list[Argument] = []
    initializer: Node | None = None
    for child in node.named_children:
        if child.type == "argument_list":
            arguments = read_arguments(walk, child)
        elif child.type == "initializer_expression":
            initializer = child
    return constructed(walk, wanted, arguments, initializer, node)


def constructed(
    walk: Binder, found: Value, arguments: Sequence[Argument], initializer: Node | None, node: Node
) -> Value:
    """The edges of a construction: to the type, and to the constructor where one is written."""
    symbol = walk.names.declared(found.name) if found is not None and found.declared else None
    if symbol is None or found is None:
        parameters, _ = (None, None) if found is None else signature_of(walk.names, found)
        read_waiting(walk, arguments, parameters or ())
        if found is None:
            walk.counts.unresolved += 1
            walk.counts.miss(node.start_byte, "new", "target type")
        else:
            walk.counts.external += 1
    elif symbol.kind == "delegate":
        read_waiting(walk, arguments, (found,))
    else:
        walk.edge(CONSTRUCTS, symbol.key, node)
        construct(walk, found, arguments, node, CONSTRUCTS)
    if initializer is not None:
        initialize(walk, initializer, found)
    return found


def construct(walk: Binder, found: TypeRef, arguments: Sequence[Argument], node: Node, relation: str) -> None:
    """The edge to the constructor for some arguments, if one is written; reads the arguments that wait."""
    constructors = walk.names.constructors(found.name)
    chosen = decide(walk, accessible(walk, constructors), arguments, ANY_NUMBER, found) if constructors else None
    if chosen is None:
        if not constructors or arguments:
            walk.counts.resolved += 1
        read_waiting(walk, arguments, ())
        return
    member, confidence = chosen
    if confidence == RESOLVED:
        walk.counts.resolved += 1
    else:
        confidence = PROBABLE
        walk.counts.probable += 1
    if member.key:
        walk.edge(relation, member.key, node, confidence)
    elif relation == CALLS:  # a primary constructor is the type itself
        walk.edge(CONSTRUCTS, member.owner_key, node, confidence)
    known = walk.names.arguments_of(found)
    for argument, wanted in pairs_for(member, arguments) or ():
        if argument.waits:
            read_with(walk, argument, wanted, known)


def chained(walk: Binder, node: Node, wanted: Value) -> Value:
    """`: base(…)` and `: this(…)`."""
    argument_list = next((child for child in node.named_children if child.type == "argument_list"), None)
    if argument_list is None:
        return None
    arguments = read_arguments(walk, argument_list)
    is_base = any(child.type == "base" for child in node.children)
    chain_to(walk, base_of(walk) if is_base else walk.type.this, arguments, node)
    return None


def chain_to(walk: Binder, target: Value, arguments: Sequence[Argument], node: Node) -> None:
    if target is not None and target.declared:
        construct(walk, target, arguments, node, CALLS)
    else:
        walk.counts.external += 1
        read_waiting(walk, arguments, ())


def initialize(walk: Binder, node: Node, found: Value) -> None:
    """`{ Name = x, Inner = { … }, [key] = y }` of an object, or the elements of a collection."""
    hope: Value = None
    for child in node.named_children:
        if child.type == "assignment_expression":
            _initialize_member(walk, child, found)
        elif child.type == "initializer_expression":  # `{ key, value }` of a map
            hopes = walk.names.library_view(found) if found is not None and not found.parameter else None
            for number, inner in enumerate(child.named_children):
                arguments = hopes.arguments if hopes is not None else ()
                walk.ev(inner, arguments[number] if number < len(arguments) else None)
        else:
            hope = hope or element_type(walk, found)
            walk.ev(child, hope)


def _initialize_member(walk: Binder, node: Node, found: Value) -> None:
    children = node.named_children
    left, right = children[0], children[-1]
    wanted: Value = None
    if left.type == "identifier":
        name = walk.text(left)
        for view in views(walk, found):
            members = walk.names.find(view.name, name)
            if members:
                wanted = refer(walk, members, left, None, view)
                break
    else:
        walk.each(left)
        if found is not None and not found.parameter:
            wanted = bcl_types.indexed(walk.names.library_view(found))
    if right.type == "initializer_expression":
        if walk.descend():
            initialize(walk, right, wanted)
        else:
            walk.defer(right, wanted)
        walk.ascend()
    else:
        walk.ev(right, wanted)


def with_copy(walk: Binder, node: Node, wanted: Value) -> Value:
    """`order with { Total = … }`."""
    children = node.named_children
    found = walk.ev(children[0])
    for child in children[1:]:
        inner = child.named_children
        if child.type != "with_initializer" or not inner:
            walk.ev(child)
            continue
        hope: Value = None
        for view in views(walk, found):
            members = walk.names.find(view.name, walk.text(inner[0]))
            if members:
                hope = refer(walk, members, inner[0], None, view)
        walk.ev(inner[-1], hope)
    return found


def attribute(walk: Binder, node: Node, wanted: Value) -> Value:
    """`[Name(…)]`: refers to the class of the attribute, whose name may be written without `Attribute`."""
    name = node.child_by_field_name("name")
    if name is not None:
        written = walk.text(name)
        for text in (f"{written}Attribute", written):
            found, keys = walk.names.bind(text, walk.type.symbol, ())
            if found.declared:
                walk.edge(REFERENCES, keys[0], name)
                break
        if name.type == "generic_name":
            found, keys = walk.names.bind(written, walk.type.symbol, ())
            for key in keys:
                walk.edge(USES_TYPE, key, name)
    for child in node.named_children:
        if child.type == "attribute_argument_list":
            for argument in child.named_children:
                inside = argument.named_children
                if inside:
                    walk.ev(inside[-1])
    return None


HANDLERS: dict[str, Handler] = {
    "object_creation_expression": creation,
    "implicit_object_creation_expression": implicit_creation,
    "constructor_initializer": chained,
    "with_expression": with_copy,
    "attribute": attribute,
}
