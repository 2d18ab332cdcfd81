"""Expressions: names, accesses, operators, casts: which type each has, and what is referred to on the way."""

from __future__ import annotations

from collections.abc import Sequence

from tree_sitter import Node

from rag_assets.languages.csharp.binder import bcl_types
from rag_assets.languages.csharp.binder.binder import (
    NAME_ONLY,
    PROBABLE,
    REFERENCES,
    USES_TYPE,
    Binder,
    Handler,
    Value,
)
from rag_assets.languages.csharp.binder.member_access import (
    SPACE,
    VALUE,
    access,
    accessed,
    is_method,
    keyword_receiver,
    receiver_of,
    refer,
    simple_name,
    views,
)
from rag_assets.languages.csharp.binder.overloads import Argument, choose
from rag_assets.languages.csharp.binder.type_syntax import TypeRef, substituted

_COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">=", "&&", "||"})
_KEEPING = frozenset({"+", "-", "~", "++", "--"})
"""Signs before a value of the language's own types that give a value of the same type."""


def identifier(walk: Binder, node: Node, wanted: Value) -> Value:
    """A simple name as a value."""
    name = walk.text(node)
    if name in walk.locals:
        return walk.locals[name]
    members = walk.members_around(name) or (walk.names.statics(name) if name not in walk.functions else ())
    if members:
        return refer(walk, members, node, wanted)
    if name in walk.functions:
        return None
    symbol = walk.names.named(name, 0, walk.type.symbol)  # `nameof(Order)`, `case Order:`, `not Order`
    if symbol is not None:
        walk.edge(USES_TYPE, symbol.key, node)
        return TypeRef(symbol.id, declared=True)
    return None


def member_access(walk: Binder, node: Node, wanted: Value) -> Value:
    children = node.named_children
    if not children:
        return None
    if len(children) == 1:
        return access(walk, keyword_receiver(walk, node), walk.text(children[0]), children[0], wanted)
    name_node = children[-1]
    before, mode, dotted = receiver_of(walk, children[0], name_node)
    if mode == VALUE:
        name = walk.text(name_node)
        return access(walk, before, name, name_node, wanted)
    if mode == SPACE:
        static = bcl_types.static_result(dotted, walk.text(name_node))
        if static is not None:
            return static
    found, mode, _ = accessed(walk, (before, mode, dotted), name_node)
    return found if mode != SPACE else None


def conditional_access(walk: Binder, node: Node, wanted: Value) -> Value:
    """`a?.b`, `a?[i]`."""
    children = node.named_children
    if len(children) < 2:
        return None
    receiver, binding = walk.ev(children[0]), children[-1]
    inner = binding.named_children
    if binding.type == "member_binding_expression" and inner:
        walk.access(children[0], inner[0], receiver)
        name, _ = simple_name(walk, inner[0])
        return access(walk, receiver, name, inner[0], wanted)
    if binding.type == "element_binding_expression":
        walk.each(binding)
        return element(walk, receiver, binding)
    return walk.ev(binding, wanted)


def element_access(walk: Binder, node: Node, wanted: Value) -> Value:
    children = node.named_children
    receiver = walk.ev(children[0])
    for child in children[1:]:
        walk.each(child)
    return element(walk, receiver, node)


def element(walk: Binder, receiver: Value, node: Node) -> Value:
    """What `receiver[…]` is."""
    for found in views(walk, receiver):
        indexers = walk.names.find(found.name, "this[]")
        if indexers:
            return refer(walk, indexers, node, None, found)
    return (
        bcl_types.indexed(walk.names.library_view(receiver))
        if receiver is not None and not receiver.parameter
        else None
    )


def binary(walk: Binder, node: Node, wanted: Value) -> Value:
    """Left-recursive chains (`a + b + …`) are read in a loop: there is no limit to their length."""
    spine = [node]
    left = node.named_children[0]
    while left.type == "binary_expression" and left.named_child_count:
        spine.append(left)
        left = left.named_children[0]
    found = walk.ev(left)
    for current in reversed(spine):
        operator = current.child_by_field_name("operator")
        sign = operator.type if operator is not None else ""
        right = walk.ev(current.named_children[-1], found if sign in ("??", "==", "!=") else None)
        given = operator_call(walk, sign, (found, right), operator or current)
        if given is not None:
            found = given
        elif sign in _COMPARISONS:
            found = bcl_types.BOOL
        elif sign == "??":
            found = found or right
        elif right == bcl_types.STRING:
            found = right
        elif found is None or bcl_types.is_scalar(found):
            found = found if right is None or not right.declared else right
    return found


def operator_call(walk: Binder, sign: str, operands: Sequence[Value], node: Node) -> Value:
    """What the operator that the types of some operands declare gives for them; None where they declare none that takes
    them. Its edge is a References, as that of a property, whose code runs unseen as well; it is probable where not all
    operands are known."""
    declared = [operand for operand in operands if operand is not None and operand.declared]
    candidates = tuple(
        dict.fromkeys(found for operand in declared for found in walk.names.find(operand.name, f"operator {sign}"))
    )
    if sign == "+" and bcl_types.STRING in operands:  # else texts are put together
        candidates = tuple(
            found for found in candidates if any(entry.type == bcl_types.STRING for entry in found.parameters)
        )
    if not candidates:
        return None
    chosen = choose(walk.names, candidates, [Argument(None, type=operand) for operand in operands])
    if chosen is None or chosen[1] == NAME_ONLY:
        return None
    member, confidence = chosen
    walk.edge(REFERENCES, member.key, node, PROBABLE if None in operands else confidence)
    owner = next((operand for operand in declared if operand.name == member.owner), None)
    known = walk.names.arguments_of(owner) if owner is not None else {}
    result = substituted(member.type, known)
    return result if result.name else None


def prefixed(walk: Binder, node: Node, wanted: Value) -> Value:
    """`-a`, `!a`, `++a`."""
    sign, found = _parts(walk, node, None)
    given = operator_call(walk, sign, (found,), node)
    if given is not None:
        return given
    if sign == "!":
        return bcl_types.BOOL
    return found if sign in _KEEPING and found is not None and bcl_types.is_scalar(found) else None


def postfixed(walk: Binder, node: Node, wanted: Value) -> Value:
    """`a++`, and `a!`, which changes nothing."""
    sign, found = _parts(walk, node, wanted)
    if sign != "!":
        operator_call(walk, sign, (found,), node)
    return found


def _parts(walk: Binder, node: Node, wanted: Value) -> tuple[str, Value]:
    """The sign of a unary expression, and the type of its operand, which is read."""
    sign = next((child.type for child in node.children if not child.is_named), "")
    operand = next((child for child in node.named_children if child.type != "comment"), None)
    return sign, walk.ev(operand, wanted) if operand is not None else None


def conditional(walk: Binder, node: Node, wanted: Value) -> Value:
    children = node.named_children
    walk.ev(children[0])
    found = [walk.ev(child, wanted) for child in children[1:]]
    return next((value for value in found if value is not None and value != bcl_types.NULL), None)


def inner(walk: Binder, node: Node, wanted: Value) -> Value:
    """Parentheses, `ref x`, `checked(x)`: what is inside."""
    found = None
    for child in node.named_children:
        found = walk.ev(child, wanted)
    return found


def awaiting(walk: Binder, node: Node, wanted: Value) -> Value:
    found = inner(walk, node, None)
    return bcl_types.awaited(found) or (bcl_types.VOID if found is not None else None)


def cast(walk: Binder, node: Node, wanted: Value) -> Value:
    children = node.named_children
    found = walk.use(children[0])
    walk.ev(children[-1], found)
    return found


def as_type(walk: Binder, node: Node, wanted: Value) -> Value:
    children = node.named_children
    walk.ev(children[0])
    return walk.use(children[-1])


def is_type(walk: Binder, node: Node, wanted: Value) -> Value:
    as_type(walk, node, wanted)
    return bcl_types.BOOL


def type_of(walk: Binder, node: Node, wanted: Value) -> Value:
    for child in node.named_children:
        walk.use(child)
    return TypeRef("Type")


def default(walk: Binder, node: Node, wanted: Value) -> Value:
    found: Value = None
    for child in node.named_children:
        found = walk.use(child)
    return found or wanted


def type_name(walk: Binder, node: Node, wanted: Value) -> Value:
    """A type where an expression may stand: `Foo<int>` in `nameof`, a pattern, a method group with arguments."""
    if node.type == "generic_name":
        name = walk.text(node.named_children[0])
        members = walk.members_around(name)
        if members and is_method(members[0]):
            simple_name(walk, node)
            return refer(walk, members, node, wanted)
    return walk.use(node)


HANDLERS: dict[str, Handler] = {
    "identifier": identifier,
    "member_access_expression": member_access,
    "conditional_access_expression": conditional_access,
    "element_access_expression": element_access,
    "binary_expression": binary,
    "prefix_unary_expression": prefixed,
    "postfix_unary_expression": postfixed,
    "conditional_expression": conditional,
    "parenthesized_expression": inner,
    "checked_expression": inner,
    "ref_expression": inner,
    "await_expression": awaiting,
    "cast_expression": cast,
    "as_expression": as_type,
    "is_expression": is_type,
    "typeof_expression": type_of,
    "sizeof_expression": type_of,
    "default_expression": default,
    "generic_name": type_name,
    "qualified_name": type_name,
    "nullable_type": type_name,
    "array_type": type_name,
    "tuple_type": type_name,
}
