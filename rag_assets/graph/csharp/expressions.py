"""Expressions: what a name or an access means, which type an expression has, what is referred to on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_assets.contracts.segment import MemberKind
from rag_assets.graph.csharp import library
from rag_assets.graph.csharp.conversions import signature_of
from rag_assets.graph.csharp.model import is_private
from rag_assets.graph.csharp.references import TypeRef, substituted
from rag_assets.graph.csharp.walk import REFERENCES, USES_TYPE, Handler, Value, Walk

if TYPE_CHECKING:
    from tree_sitter import Node

    from rag_assets.graph.csharp.model import MemberSymbol

VALUE, TYPE, SPACE = range(3)
"""What stands before a dot: a value, the name of a type, or a name that may be of a namespace or a library type."""

Receiver = tuple[Value, int, str]
"""(type, VALUE/TYPE/SPACE, dotted name of a SPACE)."""

_COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">=", "&&", "||"})


def is_method(member: MemberSymbol) -> bool:
    return member.kind is MemberKind.METHOD or member.kind is MemberKind.FUNCTION


def accessible(walk: Walk, members: tuple[MemberSymbol, ...]) -> tuple[MemberSymbol, ...]:
    """The methods or constructors that the code may call: no private ones of other types. All where none is."""
    if len(members) < 2:
        return members
    around = walk.type.around
    return tuple(entry for entry in members if entry.owner in around or not _is_private(walk, entry)) or members


def _is_private(walk: Walk, member: MemberSymbol) -> bool:
    """Whether only the type itself may use a member; a primary constructor has no modifiers and is open."""
    if not member.key or not is_private(member.modifiers):
        return False
    if "private" in member.modifiers:
        return True
    owner = walk.names.declared(member.owner)
    return owner is not None and owner.kind != "interface"


def identifier(walk: Walk, node: Node, wanted: Value) -> Value:
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


def refer(walk: Walk, members: tuple[MemberSymbol, ...], node: Node, wanted: Value, receiver: Value = None) -> Value:
    """A member used as a value: a References edge, and its type."""
    member = members[0]
    if is_method(member):
        walk.group = members
        member = _method_group(walk, members, wanted)
        walk.edge(REFERENCES, member.key, node)
        return None
    walk.edge(REFERENCES, member.key or member.owner_key, node)
    if member.kind is MemberKind.ENUM_VALUE:
        return TypeRef(member.owner, declared=True)
    return seen_through(walk, member.type, receiver)


def seen_through(walk: Walk, found: TypeRef, receiver: Value) -> Value:
    """The type of a member in terms of the arguments of the receiver."""
    if receiver is not None and receiver.arguments:
        found = substituted(found, walk.names.arguments_of(receiver))
    return found if found.name else None


def _method_group(walk: Walk, members: tuple[MemberSymbol, ...], wanted: Value) -> MemberSymbol:
    """The overload that a method group means where a delegate is wanted."""
    if len(members) == 1 or wanted is None:
        return members[0]
    parameters, _ = signature_of(walk.names, wanted)
    if parameters is None:
        return members[0]
    same = [member for member in members if len(member.parameters) == len(parameters)]
    exact = [member for member in same if tuple(entry.type for entry in member.parameters) == parameters]
    return (exact or same or list(members))[0]


def receiver_of(walk: Walk, node: Node) -> Receiver:
    """What stands before a dot."""
    kind = node.type
    if kind == "identifier":
        return _named_receiver(walk, node)
    if kind == "member_access_expression":
        inner = node.named_children
        if len(inner) < 2:  # `this.x`, `base.x`
            return walk.ev(node), VALUE, ""
        before: Receiver = (None, VALUE, "")
        if walk.descend():
            before = receiver_of(walk, inner[0])
        else:
            walk.defer(inner[0])
        walk.ascend()
        return _accessed(walk, before, inner[-1])
    if kind in ("generic_name", "qualified_name", "predefined_type", "nullable_type", "array_type"):
        return walk.use(node), TYPE, ""
    if kind == "alias_qualified_name":
        alias, _, name = walk.text(node).partition("::")
        dotted = name.strip() if alias.strip() == "global" else f"{alias.strip()}.{name.strip()}"
        return _type_or_space(walk, node, dotted, 0)
    return walk.ev(node), VALUE, ""


def _named_receiver(walk: Walk, node: Node) -> Receiver:
    name = walk.text(node)
    if name in walk.locals:
        return walk.locals[name], VALUE, ""
    members = walk.members_around(name)
    if members and not is_method(members[0]):
        return refer(walk, members, node, None), VALUE, ""
    symbol = walk.names.named(name, 0, walk.type.symbol) if name not in walk.parameters else None
    if symbol is not None:
        walk.edge(USES_TYPE, symbol.key, node)
        return TypeRef(symbol.id, declared=True), TYPE, ""
    if name in walk.parameters:
        return TypeRef(name, parameter=True), TYPE, ""
    static = walk.names.statics(name)
    if static and not is_method(static[0]):
        return refer(walk, static, node, None), VALUE, ""
    return None, SPACE, name


def _type_or_space(walk: Walk, node: Node, dotted: str, arity: int) -> Receiver:
    symbol = walk.names.named(dotted, arity, walk.type.symbol)
    if symbol is None:
        return None, SPACE, dotted
    walk.edge(USES_TYPE, symbol.key, node)
    return TypeRef(symbol.id, declared=True), TYPE, ""


def _accessed(walk: Walk, before: Receiver, name_node: Node) -> Receiver:
    """What `before.name` is where a dot follows."""
    found, mode, dotted = before
    name, given = simple_name(walk, name_node)
    if mode == SPACE:
        static = library.static_result(dotted, name)
        if static is not None:
            return static, VALUE, ""
        receiver = _type_or_space(walk, name_node, f"{dotted}.{name}", len(given))
        if receiver[1] == TYPE and given and receiver[0] is not None:
            return TypeRef(receiver[0].name, given, True), TYPE, ""
        return receiver
    if mode == TYPE and found is not None and library.is_scalar(found):  # `int.MaxValue`
        return library.static_result(found.name, name), VALUE, ""
    if mode == TYPE and found is not None and found.declared and not walk.names.find(found.name, name):
        outer = walk.names.declared(found.name)
        nested = walk.names.named(name, len(given), outer.symbol) if outer is not None else None
        if nested is not None and nested.outer:
            walk.edge(USES_TYPE, nested.key, name_node)
            return TypeRef(nested.id, given, True), TYPE, ""
    return access(walk, found, name, name_node, None), VALUE, ""


def access(walk: Walk, receiver: Value, name: str, node: Node, wanted: Value) -> Value:
    """The type of `receiver.name`, which is no call."""
    for found in views(walk, receiver):
        members = walk.names.find(found.name, name)
        if members:
            return refer(walk, members, node, wanted, found)
    if receiver is None or receiver.parameter:
        return None
    view = walk.names.library_view(receiver)
    return library.member_type(view, name) if view is not None else None


def views(walk: Walk, receiver: Value) -> tuple[TypeRef, ...]:
    """The types of the label whose members a receiver has: its own, or what its type parameter is constrained to."""
    if receiver is None:
        return ()
    if receiver.declared:
        return (receiver,)
    if receiver.parameter:
        return tuple(found for found in walk.constraints.get(receiver.name, ()) if found.declared)
    return ()


def simple_name(walk: Walk, node: Node) -> tuple[str, tuple[TypeRef, ...]]:
    """The name of a name node and its type arguments."""
    if node.type != "generic_name":
        return walk.text(node), ()
    name, *rest = node.named_children
    given = tuple(
        walk.use(part) for entry in rest if entry.type == "type_argument_list" for part in entry.named_children
    )
    return walk.text(name), given


def member_access(walk: Walk, node: Node, wanted: Value) -> Value:
    children = node.named_children
    if not children:
        return None
    if len(children) == 1:
        return access(walk, keyword_receiver(walk, node), walk.text(children[0]), children[0], wanted)
    before, mode, dotted = receiver_of(walk, children[0])
    name_node = children[-1]
    if mode == VALUE:
        name = walk.text(name_node)
        return access(walk, before, name, name_node, wanted)
    if mode == SPACE:
        static = library.static_result(dotted, walk.text(name_node))
        if static is not None:
            return static
    found, mode, _ = _accessed(walk, (before, mode, dotted), name_node)
    return found if mode != SPACE else None


def keyword_receiver(walk: Walk, node: Node) -> Value:
    """`this.` or `base.`."""
    first = node.children[0].type if node.child_count else ""
    return base_of(walk) if first == "base" else walk.type.this


def base_of(walk: Walk) -> Value:
    """The class above the type whose code is read."""
    this = walk.type.this
    if this is None:
        return None
    bases = walk.names.symbols.bases(this.name)
    for base in bases:
        symbol = walk.names.declared(base.name) if base.declared else None
        if symbol is None or symbol.kind != "interface":
            return base
    return None


def conditional_access(walk: Walk, node: Node, wanted: Value) -> Value:
    """`a?.b`, `a?[i]`."""
    children = node.named_children
    if len(children) < 2:
        return None
    receiver = walk.ev(children[0])
    return bound_access(walk, receiver, children[-1], wanted)


def bound_access(walk: Walk, receiver: Value, binding: Node, wanted: Value) -> Value:
    inner = binding.named_children
    if binding.type == "member_binding_expression" and inner:
        name, _ = simple_name(walk, inner[0])
        return access(walk, receiver, name, inner[0], wanted)
    if binding.type == "element_binding_expression":
        walk.each(binding)
        return element(walk, receiver, binding)
    return walk.ev(binding, wanted)


def element_access(walk: Walk, node: Node, wanted: Value) -> Value:
    children = node.named_children
    receiver = walk.ev(children[0])
    for child in children[1:]:
        walk.each(child)
    return element(walk, receiver, node)


def element(walk: Walk, receiver: Value, node: Node) -> Value:
    """What `receiver[…]` is."""
    for found in views(walk, receiver):
        indexers = walk.names.find(found.name, "this[]")
        if indexers:
            return refer(walk, indexers, node, None, found)
    return (
        library.indexed(walk.names.library_view(receiver)) if receiver is not None and not receiver.parameter else None
    )


def element_type(walk: Walk, found: Value) -> Value:
    """What a `foreach` over a value gives."""
    if found is None:
        return None
    if found.declared:
        enumerators = walk.names.find(found.name, "GetEnumerator")
        if enumerators:
            return library.element_of(seen_through(walk, enumerators[0].type, found))
    return library.element_of(walk.names.library_view(found))


def binary(walk: Walk, node: Node, wanted: Value) -> Value:
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
        if sign in _COMPARISONS:
            found = library.BOOL
        elif sign == "??":
            found = found or right
        elif right == library.STRING:
            found = right
        elif found is None or library.is_scalar(found):
            found = found if right is None or not right.declared else right
    return found


def conditional(walk: Walk, node: Node, wanted: Value) -> Value:
    children = node.named_children
    walk.ev(children[0])
    found = [walk.ev(child, wanted) for child in children[1:]]
    return next((value for value in found if value is not None and value != library.NULL), None)


def inner(walk: Walk, node: Node, wanted: Value) -> Value:
    """Parentheses, `x!`, `ref x`, `checked(x)`: what is inside."""
    found = None
    for child in node.named_children:
        found = walk.ev(child, wanted)
    return found


def awaiting(walk: Walk, node: Node, wanted: Value) -> Value:
    found = inner(walk, node, None)
    return library.awaited(found) or (library.VOID if found is not None else None)


def cast(walk: Walk, node: Node, wanted: Value) -> Value:
    children = node.named_children
    found = walk.use(children[0])
    walk.ev(children[-1], found)
    return found


def as_type(walk: Walk, node: Node, wanted: Value) -> Value:
    children = node.named_children
    walk.ev(children[0])
    return walk.use(children[-1])


def is_type(walk: Walk, node: Node, wanted: Value) -> Value:
    as_type(walk, node, wanted)
    return library.BOOL


def type_of(walk: Walk, node: Node, wanted: Value) -> Value:
    for child in node.named_children:
        walk.use(child)
    return TypeRef("Type")


def default(walk: Walk, node: Node, wanted: Value) -> Value:
    found: Value = None
    for child in node.named_children:
        found = walk.use(child)
    return found or wanted


def type_name(walk: Walk, node: Node, wanted: Value) -> Value:
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
    "conditional_expression": conditional,
    "parenthesized_expression": inner,
    "postfix_unary_expression": inner,
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
