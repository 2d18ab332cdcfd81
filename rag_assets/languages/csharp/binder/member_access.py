"""What a dot leads to: what stands before it, which members a value has, and what one of them gives."""

from __future__ import annotations

from tree_sitter import Node

from rag_assets.contracts.segment import MemberKind
from rag_assets.languages.csharp.binder import bcl_types
from rag_assets.languages.csharp.binder.binder import REFERENCES, USES_TYPE, Binder, Value
from rag_assets.languages.csharp.binder.conversions import signature_of
from rag_assets.languages.csharp.binder.symbols import MemberSymbol, is_private
from rag_assets.languages.csharp.binder.type_syntax import TypeRef, substituted

VALUE, TYPE, SPACE = range(3)
"""What stands before a dot: a value, the name of a type, or a name that may be of a namespace or a library type."""

Receiver = tuple[Value, int, str]
"""(type, VALUE/TYPE/SPACE, dotted name of a SPACE)."""


def is_method(member: MemberSymbol) -> bool:
    return member.kind is MemberKind.METHOD or member.kind is MemberKind.FUNCTION


def methods_among(members: tuple[MemberSymbol, ...]) -> tuple[MemberSymbol, ...]:
    """Those of some members of one name that can be called, which are all of them as a rule."""
    return members if all(map(is_method, members)) else tuple(filter(is_method, members))


def accessible(walk: Binder, members: tuple[MemberSymbol, ...]) -> tuple[MemberSymbol, ...]:
    """The methods or constructors that the code may call: no private ones of other types. All where none is."""
    if len(members) < 2:
        return members
    known = walk.type.accessible.get(members)
    if known is None:
        open_to = tuple(entry for entry in members if may_use(walk, entry))
        known = walk.type.accessible[members] = open_to or members
    return known


def may_use(walk: Binder, member: MemberSymbol) -> bool:
    """Whether the code may use a member: it is of a type around, or not private."""
    return member.owner in walk.type.around or not _is_private(walk, member)


def _is_private(walk: Binder, member: MemberSymbol) -> bool:
    """Whether only the type itself may use a member; a primary constructor has no modifiers and is open."""
    if not member.key or not is_private(member.modifiers):
        return False
    if "private" in member.modifiers:
        return True
    owner = walk.names.declared(member.owner)
    return owner is not None and owner.kind != "interface"


def refer(walk: Binder, members: tuple[MemberSymbol, ...], node: Node, wanted: Value, receiver: Value = None) -> Value:
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


def seen_through(walk: Binder, found: TypeRef, receiver: Value) -> Value:
    """The type of a member in terms of the arguments of the receiver."""
    if receiver is not None and receiver.arguments:
        found = substituted(found, walk.names.arguments_of(receiver))
    return found if found.name else None


def _method_group(walk: Binder, members: tuple[MemberSymbol, ...], wanted: Value) -> MemberSymbol:
    """The overload that a method group means where a delegate is wanted."""
    if len(members) == 1 or wanted is None:
        return members[0]
    parameters, _ = signature_of(walk.names, wanted)
    if parameters is None:
        return members[0]
    same = [member for member in members if len(member.parameters) == len(parameters)]
    exact = [member for member in same if tuple(entry.type for entry in member.parameters) == parameters]
    return (exact or same or list(members))[0]


def receiver_of(walk: Binder, node: Node, name: Node) -> Receiver:
    """What stands before a dot and a name; the binder keeps the access."""
    found = _receiver_of(walk, node)
    walk.access(node, name, found[0] if found[1] == VALUE else None)
    return found


def _receiver_of(walk: Binder, node: Node) -> Receiver:
    kind = node.type
    if kind == "identifier":
        return _named_receiver(walk, node)
    if kind == "member_access_expression":
        inner = node.named_children
        if len(inner) < 2:  # `this.x`, `base.x`
            return walk.ev(node), VALUE, ""
        before: Receiver = (None, VALUE, "")
        if walk.descend():
            before = receiver_of(walk, inner[0], inner[-1])
        else:
            walk.defer(inner[0])
        walk.ascend()
        return accessed(walk, before, inner[-1])
    if kind in ("generic_name", "qualified_name", "predefined_type", "nullable_type", "array_type"):
        return walk.use(node), TYPE, ""
    if kind == "alias_qualified_name":
        alias, _, name = walk.text(node).partition("::")
        dotted = name.strip() if alias.strip() == "global" else f"{alias.strip()}.{name.strip()}"
        return _type_or_space(walk, node, dotted, 0)
    return walk.ev(node), VALUE, ""


def _named_receiver(walk: Binder, node: Node) -> Receiver:
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


def _type_or_space(walk: Binder, node: Node, dotted: str, arity: int) -> Receiver:
    symbol = walk.names.named(dotted, arity, walk.type.symbol)
    if symbol is None:
        return None, SPACE, dotted
    walk.edge(USES_TYPE, symbol.key, node)
    return TypeRef(symbol.id, declared=True), TYPE, ""


def accessed(walk: Binder, before: Receiver, name_node: Node) -> Receiver:
    """What `before.name` is where a dot follows."""
    found, mode, dotted = before
    name, given = simple_name(walk, name_node)
    if mode == SPACE:
        static = bcl_types.static_result(dotted, name)
        if static is not None:
            return static, VALUE, ""
        receiver = _type_or_space(walk, name_node, f"{dotted}.{name}", len(given))
        if receiver[1] == TYPE and given and receiver[0] is not None:
            return TypeRef(receiver[0].name, given, True), TYPE, ""
        return receiver
    if mode == TYPE and found is not None and bcl_types.is_scalar(found):  # `int.MaxValue`
        return bcl_types.static_result(found.name, name), VALUE, ""
    if mode == TYPE and found is not None and found.declared and not walk.names.find(found.name, name):
        outer = walk.names.declared(found.name)
        nested = walk.names.named(name, len(given), outer.symbol) if outer is not None else None
        if nested is not None and nested.outer:
            walk.edge(USES_TYPE, nested.key, name_node)
            return TypeRef(nested.id, given, True), TYPE, ""
    return access(walk, found, name, name_node, None), VALUE, ""


def access(walk: Binder, receiver: Value, name: str, node: Node, wanted: Value) -> Value:
    """The type of `receiver.name`, which is no call."""
    for found in views(walk, receiver):
        members = walk.names.find(found.name, name)
        if members:
            return refer(walk, members, node, wanted, found)
    if receiver is None or receiver.parameter:
        return None
    view = walk.names.library_view(receiver)
    return bcl_types.member_type(view, name) if view is not None else None


def views(walk: Binder, receiver: Value) -> tuple[TypeRef, ...]:
    """The types of the label whose members a receiver has: its own, or what its type parameter is constrained to."""
    if receiver is None:
        return ()
    if receiver.declared:
        return (receiver,)
    if receiver.parameter:
        return tuple(found for found in walk.constraints.get(receiver.name, ()) if found.declared)
    return ()


def simple_name(walk: Binder, node: Node) -> tuple[str, tuple[TypeRef, ...]]:
    """The name of a name node and its type arguments."""
    if node.type != "generic_name":
        return walk.text(node), ()
    name, *rest = node.named_children
    given = tuple(
        walk.use(part) for entry in rest if entry.type == "type_argument_list" for part in entry.named_children
    )
    return walk.text(name), given


def keyword_receiver(walk: Binder, node: Node) -> Value:
    """`this.` or `base.`."""
    first = node.children[0].type if node.child_count else ""
    return base_of(walk) if first == "base" else walk.type.this


def base_of(walk: Binder) -> Value:
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


def element_type(walk: Binder, found: Value) -> Value:
    """What a `foreach` over a value gives."""
    if found is None:
        return None
    if found.declared:
        enumerators = walk.names.find(found.name, "GetEnumerator")
        if enumerators:
            return bcl_types.element_of(seen_through(walk, enumerators[0].type, found))
    return bcl_types.element_of(walk.names.library_view(found))
