"""Calls and constructions: which method or constructor is meant, and what the call gives."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from rag_assets.graph.csharp import library
from rag_assets.graph.csharp.expressions import (
    SPACE,
    TYPE,
    VALUE,
    base_of,
    element_type,
    is_method,
    keyword_receiver,
    receiver_of,
    refer,
    seen_through,
    simple_name,
    views,
)
from rag_assets.graph.csharp.lambdas import arity_of, gives_value, is_async, read_lambda
from rag_assets.graph.csharp.overloads import Argument, assignable, choose, pairs_of, signature_of, unify
from rag_assets.graph.csharp.references import TypeRef, substituted
from rag_assets.graph.csharp.walk import (
    CALLS,
    CONSTRUCTS,
    NAME_ONLY,
    PROBABLE,
    REFERENCES,
    RESOLVED,
    USES_TYPE,
    Handler,
    Value,
    Walk,
)

if TYPE_CHECKING:
    from tree_sitter import Node

    from rag_assets.graph.csharp.tables import MemberSymbol

_LAMBDAS = frozenset({"lambda_expression", "anonymous_method_expression"})
_WAITING = _LAMBDAS | {
    "implicit_object_creation_expression",
    "collection_expression",
    "default_expression",
    "declaration_expression",
}
"""Arguments that are read when their parameter is known."""

_HUMP = re.compile(r"[A-Z][a-z0-9]+|[A-Z]+(?![a-z])")
_TELLING_HUMPS = 3
"""A name of so many words is no usual name of a library: `AddInfrastructureServices`, not `Add`, `ToList`, `GetAsync`.
`Async` does not count."""

Given = tuple[TypeRef, ...]


@lru_cache(maxsize=16_384)  # the names that the code of a label calls
def _humps(name: str) -> int:
    """The words in a name, `Async` not counted."""
    return sum(hump != "Async" for hump in _HUMP.findall(name))


def invocation(walk: Walk, node: Node, wanted: Value) -> Value:
    children = node.named_children
    if len(children) < 2:
        walk.each(node)
        return None
    function, argument_list = children[0], children[-1]
    kind = function.type
    if kind == "identifier" or kind == "generic_name":
        return _simple_call(walk, function, argument_list)
    if kind == "member_access_expression":
        inner = function.named_children
        if len(inner) == 1:
            receiver = keyword_receiver(walk, function)
            return _member_call(walk, receiver, VALUE, inner[0], argument_list, is_keyword=True)
        if len(inner) > 1:
            found, mode, dotted = receiver_of(walk, inner[0])
            return _member_call(walk, found, mode, inner[-1], argument_list, dotted)
    if kind == "conditional_access_expression":
        inner = function.named_children
        binding = inner[-1].named_children if inner else []
        if len(inner) > 1 and binding and inner[-1].type == "member_binding_expression":
            return _member_call(walk, walk.ev(inner[0]), VALUE, binding[0], argument_list)
    found = walk.ev(function)
    return _delegate_call(walk, found, argument_list)


# calls by a simple name


def _simple_call(walk: Walk, function: Node, argument_list: Node) -> Value:
    name, given = simple_name(walk, function)
    if name == "nameof":
        walk.each(argument_list)
        return library.STRING
    if name in walk.locals:
        return _delegate_call(walk, walk.locals[name], argument_list)
    if name in walk.functions:
        returned, key, parameters = walk.functions[name]
        arguments = read_arguments(walk, argument_list)
        _read_waiting(walk, arguments, parameters)
        if key:
            walk.edge(CALLS, key, function)
            walk.counts.resolved += 1
        return returned if returned.name else None
    members = walk.members_around(name) or walk.names.statics(name)
    if members and not is_method(members[0]):
        return _delegate_call(walk, refer(walk, members, function, None), argument_list)
    arguments = read_arguments(walk, argument_list)
    methods = tuple(member for member in members if is_method(member))
    if not methods:
        walk.counts.external += 1
        walk.counts.miss(walk.line(function), name, "simple name")
        _read_waiting(walk, arguments, (), given=given)
        return given[0] if len(given) == 1 else None
    chosen = choose(walk.names, methods, arguments, len(given)) or choose(walk.names, methods, arguments)
    if chosen is None or chosen[1] == NAME_ONLY:
        this = walk.type.this
        if this is not None and walk.names.symbols.has_foreign_base(this.name):  # an overload of a library's base
            walk.counts.external += 1
            _read_waiting(walk, arguments, (), given=given)
            return None
        chosen = (chosen[0] if chosen is not None else methods[0], PROBABLE)
    return _called(walk, chosen, None, arguments, given, function)


def _delegate_call(walk: Walk, found: Value, argument_list: Node) -> Value:
    """The call of a value: of a delegate in a local, a field, what another call gave."""
    arguments = read_arguments(walk, argument_list)
    parameters, result = signature_of(walk.names, found) if found is not None else (None, None)
    _read_waiting(walk, arguments, parameters or ())
    return result if result is not None and result.name else None


# calls on a receiver


def _member_call(
    walk: Walk,
    receiver: Value,
    mode: int,
    name_node: Node,
    argument_list: Node,
    dotted: str = "",
    is_keyword: bool = False,
) -> Value:
    name, given = simple_name(walk, name_node)
    arguments = read_arguments(walk, argument_list)
    if mode == SPACE:  # a class of a library
        walk.counts.external += 1
        _read_waiting(walk, arguments, (), given=given)
        return library.static_result(dotted, name) or library.call_result(None, name, given, (), ())
    if mode == TYPE and receiver is not None and library.is_scalar(receiver):
        walk.counts.external += 1
        _read_waiting(walk, arguments, ())
        return library.static_result(receiver.name, name)
    methods: tuple[MemberSymbol, ...] = ()
    chosen: tuple[MemberSymbol, str] | None = None
    seen_as: Value = None
    for view in views(walk, receiver):
        members = walk.names.find(view.name, name)
        if members and not is_method(members[0]):
            found = refer(walk, members, name_node, None, view)
            parameters, result = signature_of(walk.names, found) if found is not None else (None, None)
            _read_waiting(walk, arguments, parameters or ())
            return result if result is not None and result.name else None
        methods = tuple(member for member in members if is_method(member))
        seen_as = view
        if methods:
            break
    if methods:
        if mode == TYPE:
            methods = tuple(member for member in methods if member.is_static) or methods
        chosen = choose(walk.names, methods, arguments, len(given)) or choose(walk.names, methods, arguments)
        if chosen is not None and chosen[1] != NAME_ONLY:
            return _called(walk, chosen, seen_as, arguments, given, name_node)
    if mode == VALUE:
        extension = _extension(walk, receiver, name, arguments, given)
        if extension is not None:
            return _called(walk, extension, receiver, arguments, given, name_node, is_extension=True)
    if methods:
        foreign = seen_as is not None and walk.names.symbols.has_foreign_base(seen_as.name)
        if not foreign:
            likely = chosen[0] if chosen is not None else methods[0]
            return _called(walk, (likely, PROBABLE), seen_as, arguments, given, name_node)
    if receiver is None and mode == VALUE and not is_keyword:
        only = _only_candidate(walk, name, arguments)
        if only is not None:
            return _called(walk, (only, PROBABLE), None, arguments, given, name_node)
        walk.counts.unresolved += 1
        walk.counts.miss(walk.line(name_node), name, "receiver")
    else:
        walk.counts.external += 1
        if receiver is not None and receiver.declared:
            walk.counts.miss(walk.line(name_node), name, f"no member of {receiver.name}")
    return _library_call(walk, receiver, name, arguments, given)


def _only_candidate(walk: Walk, name: str, arguments: Sequence[Argument]) -> MemberSymbol | None:
    """What a call on a receiver of unknown type means when the label has one member of this name, and the name is too
    long to be a usual one of a library."""
    if _humps(name) < _TELLING_HUMPS:
        return None
    found = walk.names.only(name)
    if found is None or not is_method(found):
        return None
    skip = 1 if found.is_extension else 0
    return (
        found
        if not (found.is_static and not skip) and pairs_of(found.parameters[skip:], arguments) is not None
        else None
    )


def _extension(
    walk: Walk, receiver: Value, name: str, arguments: Sequence[Argument], given: Given
) -> tuple[MemberSymbol, str] | None:
    """The extension method for a receiver. Of an unknown receiver it is only probable."""
    candidates = walk.names.extensions(name, walk.type.symbol)
    if not candidates:
        return None
    scored = [(_receives(walk, candidate, receiver), candidate) for candidate in candidates]
    fitting = [(score, candidate) for score, candidate in scored if score >= 0]
    fitting.sort(key=lambda entry: -entry[0])
    for best in sorted({score for score, _ in fitting}, reverse=True):
        same = [candidate for score, candidate in fitting if score == best]
        chosen = choose(walk.names, same, arguments, len(given), skip=1)
        chosen = chosen or (choose(walk.names, same, arguments, skip=1) if given else None)
        if chosen is not None and chosen[1] != NAME_ONLY:
            return chosen if best > 0 else (chosen[0], PROBABLE)
    return None


def _receives(walk: Walk, candidate: MemberSymbol, receiver: Value) -> int:
    """How well an extension method fits its receiver; negative if it cannot be."""
    wanted = candidate.parameters[0].type
    if receiver is None:
        # Any type may have a method of a usual name itself; then only a receiver of a type of its own tells enough.
        is_usual = wanted.parameter or library.is_usual(wanted)
        return -1 if is_usual and _humps(candidate.name) < 2 else 0
    if wanted.parameter:
        bounds = [bound for name, bound in candidate.constraints if name == wanted.name]
        if receiver.parameter:
            receiver = next(iter(walk.constraints.get(receiver.name, ())), None)
        return min([1, *(assignable(walk.names, receiver, bound) for bound in bounds)])
    if receiver.parameter:
        known = walk.constraints.get(receiver.name, ())
        return max([0, *(assignable(walk.names, bound, wanted) for bound in known)])
    return assignable(walk.names, receiver, wanted)


def _library_call(walk: Walk, receiver: Value, name: str, arguments: Sequence[Argument], given: Given) -> Value:
    """A call of what the label does not declare."""
    view = walk.names.library_view(receiver) if receiver is not None and not receiver.parameter else None
    if receiver is not None and view is None and not given:
        # An extension method of a library, which most often gives its receiver back: `service.Received(1)`.
        _read_waiting(walk, arguments, (), TypeRef("", (receiver,)), name)
        return library.OBJECT_METHODS.get(name, receiver)
    if name == "SelectMany" and view is not None:
        returned = _read_waiting(walk, arguments, (), view, name, given)
        first = element_type(walk, returned[0]) if returned else None
        return TypeRef("IEnumerable", (first,)) if first is not None else None
    returned = _read_waiting(walk, arguments, (), view, name, given)
    return library.call_result(view, name, given, tuple(entry.type for entry in arguments), tuple(returned))


# what a chosen method means


def _called(
    walk: Walk,
    chosen: tuple[MemberSymbol, str],
    receiver: Value,
    arguments: Sequence[Argument],
    given: Given,
    node: Node,
    is_extension: bool = False,
) -> Value:
    """The edge of a call, and what it returns: type parameters as given, or read off the arguments."""
    member, confidence = chosen
    walk.edge(CALLS, member.key, node, confidence)
    if confidence == RESOLVED:
        walk.counts.resolved += 1
    else:
        walk.counts.probable += 1
    known: dict[str, TypeRef] = {}
    if receiver is not None and not is_extension and receiver.arguments:
        known.update(walk.names.arguments_of(receiver))
    if len(given) == len(member.type_parameters):
        known.update(zip(member.type_parameters, given, strict=True))
    skip = (
        1
        if is_extension or (member.is_extension and receiver is None and len(arguments) < len(member.parameters))
        else 0
    )
    if is_extension and member.parameters:
        unify(walk.names, member.parameters[0].type, receiver, known)
    pairs = pairs_of(member.parameters[skip:], arguments)
    if pairs is None:
        _read_waiting(walk, arguments, ())
    else:
        if member.type_parameters:
            for argument, wanted in pairs:
                if not argument.waits:
                    unify(walk.names, wanted, argument.type, known)
        for argument, wanted in pairs:
            if argument.waits:
                _read_with(walk, argument, wanted, known)
    result = substituted(member.type, known)
    return result if result.name else None


def _read_with(walk: Walk, argument: Argument, wanted: TypeRef, known: dict[str, TypeRef]) -> None:
    """Reads an argument that waited for its parameter; what a lambda returns may tell a type parameter."""
    if argument.node is None:
        return
    hope = substituted(wanted, known)
    if not argument.is_lambda:
        found = walk.ev(argument.node, hope)
        unify(walk.names, wanted, found, known)
        return
    parameters, result = signature_of(walk.names, hope)
    returned = read_lambda(walk, argument.node, parameters or (), result)
    _, open_result = signature_of(walk.names, wanted)
    if open_result is not None and returned is not None:
        unify(walk.names, library.awaited(open_result) or open_result, library.awaited(returned) or returned, known)


def read_arguments(walk: Walk, argument_list: Node) -> list[Argument]:
    """The arguments of a call; what needs its parameter to be read waits."""
    found: list[Argument] = []
    for child in argument_list.named_children:
        if child.type != "argument":
            if child.type not in ("comment",):
                walk.ev(child)
            continue
        inside = child.named_children
        if not inside:
            found.append(Argument(None, type=walk.type.this))
            continue
        value = inside[-1]
        name = walk.text(inside[0]) if len(inside) > 1 and inside[0].type == "identifier" else ""
        kind = value.type
        if kind not in _WAITING:
            found.append(Argument(value, name, walk.ev(value)))
        elif kind in _LAMBDAS:
            arity = arity_of(value)
            found.append(Argument(value, name, None, True, arity, gives_value(value), is_async(walk, value)))
        else:
            known = walk.use(value.named_children[0]) if _is_typed(value) else None
            found.append(Argument(value, name, known if known is not None and known.name else None, True))
    return found


def _is_typed(value: Node) -> bool:
    """`out Order found` says its type itself."""
    children = value.named_children
    return value.type == "declaration_expression" and bool(children) and children[0].type != "implicit_type"


def _read_waiting(
    walk: Walk,
    arguments: Sequence[Argument],
    parameters: Sequence[TypeRef],
    receiver: Value = None,
    name: str = "",
    given: Given = (),
) -> list[Value]:
    """Reads what waited without a declared method to tell; gives what each lambda returns."""
    returned: list[Value] = []
    for number, argument in enumerate(arguments):
        if not argument.waits or argument.node is None:
            continue
        hope = parameters[number] if number < len(parameters) else None
        if argument.is_lambda:
            inner, result = signature_of(walk.names, hope) if hope is not None else (None, None)
            if inner is None:
                guessed = library.lambda_parameters(receiver, name, given)
                returned.append(read_lambda(walk, argument.node, guessed, None))
            else:
                returned.append(read_lambda(walk, argument.node, inner, result))
        else:
            if hope is None and receiver is not None and receiver.arguments:
                # `TryGetValue(key, out var value)`, `list.Add(new(…))`, `map.Add(key, new(…))`
                at = -1 if argument.node.type == "declaration_expression" else min(number, len(receiver.arguments) - 1)
                hope = receiver.arguments[at]
            walk.ev(argument.node, hope)
    return returned


# constructions


def creation(walk: Walk, node: Node, wanted: Value) -> Value:
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


def implicit_creation(walk: Walk, node: Node, wanted: Value) -> Value:
    """`new(…) { … }`: of the type that is wanted."""
    arguments: list[Argument] = []
    initializer: Node | None = None
    for child in node.named_children:
        if child.type == "argument_list":
            arguments = read_arguments(walk, child)
        elif child.type == "initializer_expression":
            initializer = child
    return constructed(walk, wanted, arguments, initializer, node)


def constructed(walk: Walk, found: Value, arguments: Sequence[Argument], initializer: Node | None, node: Node) -> Value:
    """The edges of a construction: to the type, and to the constructor where one is written."""
    symbol = walk.names.declared(found.name) if found is not None and found.declared else None
    if symbol is None or found is None:
        parameters, _ = (None, None) if found is None else signature_of(walk.names, found)
        _read_waiting(walk, arguments, parameters or ())
        if found is None:
            walk.counts.unresolved += 1
            walk.counts.miss(walk.line(node), "new", "target type")
        else:
            walk.counts.external += 1
    elif symbol.kind == "delegate":
        _read_waiting(walk, arguments, (found,))
    else:
        walk.edge(CONSTRUCTS, symbol.key, node)
        construct(walk, found, arguments, node, CONSTRUCTS)
    if initializer is not None:
        initialize(walk, initializer, found)
    return found


def construct(walk: Walk, found: TypeRef, arguments: Sequence[Argument], node: Node, relation: str) -> None:
    """The edge to the constructor for some arguments, if one is written; reads the arguments that wait."""
    constructors = walk.names.constructors(found.name)
    chosen = choose(walk.names, constructors, arguments) if constructors else None
    if chosen is None:
        if not constructors or arguments:
            walk.counts.resolved += 1
        _read_waiting(walk, arguments, ())
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
    for argument, wanted in pairs_of(member.parameters, arguments) or ():
        if argument.waits:
            _read_with(walk, argument, wanted, known)


def chained(walk: Walk, node: Node, wanted: Value) -> Value:
    """`: base(…)` and `: this(…)`."""
    argument_list = next((child for child in node.named_children if child.type == "argument_list"), None)
    if argument_list is None:
        return None
    arguments = read_arguments(walk, argument_list)
    is_base = any(child.type == "base" for child in node.children)
    chain_to(walk, base_of(walk) if is_base else walk.type.this, arguments, node)
    return None


def chain_to(walk: Walk, target: Value, arguments: Sequence[Argument], node: Node) -> None:
    if target is not None and target.declared:
        construct(walk, target, arguments, node, CALLS)
    else:
        walk.counts.external += 1
        _read_waiting(walk, arguments, ())


def initialize(walk: Walk, node: Node, found: Value) -> None:
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


def _initialize_member(walk: Walk, node: Node, found: Value) -> None:
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
            wanted = library.indexed(walk.names.library_view(found))
    if right.type == "initializer_expression":
        if walk.descend():
            initialize(walk, right, wanted)
        else:
            walk.defer(right, wanted)
        walk.ascend()
    else:
        walk.ev(right, wanted)


def with_copy(walk: Walk, node: Node, wanted: Value) -> Value:
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


def attribute(walk: Walk, node: Node, wanted: Value) -> Value:
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
    "invocation_expression": invocation,
    "object_creation_expression": creation,
    "implicit_object_creation_expression": implicit_creation,
    "constructor_initializer": chained,
    "with_expression": with_copy,
    "attribute": attribute,
}

__all__ = ["HANDLERS", "chain_to", "read_arguments", "seen_through"]
