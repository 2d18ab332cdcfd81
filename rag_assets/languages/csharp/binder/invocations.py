"""Calls: which method is meant, and what the call gives."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from tree_sitter import Node

from rag_assets.languages.csharp.binder import bcl_types
from rag_assets.languages.csharp.binder.binder import (
    CALLS,
    NAME_ONLY,
    PROBABLE,
    RESOLVED,
    Binder,
    Handler,
    Value,
)
from rag_assets.languages.csharp.binder.conversions import assignable, signature_of, unify
from rag_assets.languages.csharp.binder.member_access import (
    SPACE,
    TYPE,
    VALUE,
    accessible,
    element_type,
    is_method,
    keyword_receiver,
    methods_among,
    receiver_of,
    refer,
    simple_name,
    views,
)
from rag_assets.languages.csharp.binder.overloads import (
    ANY_NUMBER,
    Argument,
    choose,
    decide,
    pairs_for,
    read_arguments,
    read_waiting,
    read_with,
)
from rag_assets.languages.csharp.binder.symbols import MemberSymbol
from rag_assets.languages.csharp.binder.type_syntax import TUPLE, TypeRef, substituted

_HUMP = re.compile(r"[A-Z][a-z0-9]+|[A-Z]+(?![a-z])")
_TELLING_HUMPS = 3
"""A name of so many words is no usual name of a library: `AddInfrastructureServices`, not `Add`, `ToList`, `GetAsync`.
`Async` does not count."""

_TYPE_INFO = ("TypeInfo", "Type")
"""The only type of simple values with a derived type; the others are sealed."""

Given = tuple[TypeRef, ...]


@lru_cache(maxsize=16_384)  # the names that the code of a label calls
def _humps(name: str) -> int:
    """The words in a name, `Async` not counted."""
    return sum(hump != "Async" for hump in _HUMP.findall(name))


def invocation(walk: Binder, node: Node, wanted: Value) -> Value:
    children = node.named_children
    if len(children) < 2:
        walk.each(node)
        return None
    function, argument_list = children[0], children[-1]
    kind = function.type
    if kind == "identifier" or kind == "generic_name":
        walk.calls.append((function, function))
        return _simple_call(walk, function, argument_list)
    if kind == "member_access_expression":
        inner = function.named_children
        if len(inner) == 1:
            walk.calls.append((function, inner[0]))
            receiver = keyword_receiver(walk, function)
            return _member_call(walk, receiver, VALUE, inner[0], argument_list, is_keyword=True)
        if len(inner) > 1:
            found, mode, dotted = receiver_of(walk, inner[0], inner[-1])
            return _member_call(walk, found, mode, inner[-1], argument_list, dotted)
    if kind == "conditional_access_expression":
        inner = function.named_children
        binding = inner[-1].named_children if inner else []
        if len(inner) > 1 and binding and inner[-1].type == "member_binding_expression":
            receiver = walk.ev(inner[0])
            walk.access(inner[0], binding[0], receiver)
            return _member_call(walk, receiver, VALUE, binding[0], argument_list)
    found = walk.ev(function)
    return _delegate_call(walk, found, argument_list)


# calls by a simple name


def _simple_call(walk: Binder, function: Node, argument_list: Node) -> Value:
    name, given = simple_name(walk, function)
    if name == "nameof":
        walk.each(argument_list)
        return bcl_types.STRING
    if name in walk.locals:
        return _delegate_call(walk, walk.locals[name], argument_list)
    if name in walk.functions:
        returned, key, parameters = walk.functions[name]
        arguments = read_arguments(walk, argument_list)
        read_waiting(walk, arguments, parameters)
        if key:
            walk.edge(CALLS, key, function)
            walk.counts.resolved += 1
        return returned if returned.name else None
    members = walk.members_around(name) or walk.names.statics(name)
    if members and not is_method(members[0]):
        return _delegate_call(walk, refer(walk, members, function, None), argument_list)
    arguments = read_arguments(walk, argument_list)
    methods = methods_among(members)
    if not methods:
        walk.counts.external += 1
        walk.counts.miss(function.start_byte, name, "simple name")
        read_waiting(walk, arguments, (), given=given)
        return given[0] if len(given) == 1 else None
    methods = accessible(walk, methods)
    chosen = decide(walk, methods, arguments, len(given)) or choose(walk.names, methods, arguments, ANY_NUMBER)
    if chosen is None or chosen[1] == NAME_ONLY:
        is_objects = name in bcl_types.OBJECT_METHODS
        if is_objects or _inherits_unknown(walk):  # an overload of a base: of `object`, or of another one of a library
            walk.counts.external += 1
            read_waiting(walk, arguments, (), given=given)
            return None
        chosen = (chosen[0] if chosen is not None else methods[0], PROBABLE)
    return _called(walk, chosen, None, arguments, given, function)


def _delegate_call(walk: Binder, found: Value, argument_list: Node) -> Value:
    """The call of a value: of a delegate in a local, a field, what another call gave."""
    return _invoked(walk, found, read_arguments(walk, argument_list))


def _invoked(walk: Binder, found: Value, arguments: list[Argument]) -> Value:
    parameters, result = signature_of(walk.names, found) if found is not None else (None, None)
    read_waiting(walk, arguments, parameters or ())
    return result if result is not None and result.name else None


# calls on a receiver


def _member_call(
    walk: Binder,
    receiver: Value,
    mode: int,
    name_node: Node,
    argument_list: Node,
    dotted: str = "",
    is_keyword: bool = False,
) -> Value:
    name, given = simple_name(walk, name_node)
    arguments = read_arguments(walk, argument_list)
    if mode == SPACE:  # a class of a library, or what the type has from a base class of one
        inherited = _extension_of_inherited(walk, dotted, name, arguments, given)
        if inherited is not None:
            return _called(walk, inherited, None, arguments, given, name_node, is_extension=True)
        walk.counts.external += 1
        read_waiting(walk, arguments, (), given=given)
        return bcl_types.static_result(dotted, name) or bcl_types.call_result(None, name, given, ())
    if mode == TYPE and receiver is not None and bcl_types.is_scalar(receiver):
        walk.counts.external += 1
        read_waiting(walk, arguments, ())
        return bcl_types.static_result(receiver.name, name)
    methods: tuple[MemberSymbol, ...] = ()
    chosen: tuple[MemberSymbol, str] | None = None
    seen_as: Value = None
    for view in views(walk, receiver):
        members = walk.names.find(view.name, name)
        if members and not is_method(members[0]):
            found = refer(walk, members, name_node, None, view)
            return _invoked(walk, found, arguments)
        methods = methods_among(members)
        seen_as = view
        if methods:
            break
    if methods:
        if mode == TYPE:
            methods = tuple(member for member in methods if member.is_static) or methods
        methods = accessible(walk, methods)
        chosen = decide(walk, methods, arguments, len(given), seen_as)
        chosen = chosen or choose(walk.names, methods, arguments, ANY_NUMBER)
        if chosen is not None and chosen[1] != NAME_ONLY:
            return _called(walk, chosen, seen_as, arguments, given, name_node)
    elif mode == TYPE and receiver is not None and receiver.declared and _inherits_unknown(walk):
        # `User.GetId()` in a controller: a property of its base, not the type of that name.
        receiver, mode = None, VALUE
    if mode == VALUE:
        extension = _extension(walk, receiver, name, arguments, given)
        if extension is not None:
            return _called(walk, extension, receiver, arguments, given, name_node, is_extension=True)
    if methods:
        foreign = seen_as is not None and walk.names.symbols.has_foreign_base(seen_as.name)
        if not foreign and name not in bcl_types.OBJECT_METHODS:
            likely = chosen[0] if chosen is not None else methods[0]
            return _called(walk, (likely, PROBABLE), seen_as, arguments, given, name_node)
    if receiver is None and mode == VALUE and not is_keyword:
        only = _only_candidate(walk, name, arguments)
        if only is not None:
            return _called(walk, (only, PROBABLE), None, arguments, given, name_node)
        walk.counts.unresolved += 1
        walk.counts.miss(name_node.start_byte, name, "receiver")
    else:
        walk.counts.external += 1
        if receiver is not None and receiver.declared:
            walk.counts.miss(name_node.start_byte, name, f"no member of {receiver.name}")
    return _library_call(walk, receiver, name, arguments, given)


def _only_candidate(walk: Binder, name: str, arguments: Sequence[Argument]) -> MemberSymbol | None:
    """What a call on a receiver of unknown type means when the label has one member of this name, and the name is too
    long to be a usual one of a library."""
    if _humps(name) < _TELLING_HUMPS:
        return None
    found = walk.names.only(name)
    if found is None or not is_method(found) or not walk.names.symbols.sees(walk.names.path, found.owner):
        return None
    skip = 1 if found.is_extension else 0
    return found if not (found.is_static and not skip) and pairs_for(found, arguments, skip) is not None else None


def _extension(
    walk: Binder, receiver: Value, name: str, arguments: Sequence[Argument], given: Given
) -> tuple[MemberSymbol, str] | None:
    """The extension method for a receiver; only probable where the type of the receiver is unknown."""
    candidates = walk.names.extensions(name, walk.type.symbol)
    if not candidates:
        return None
    scored = [(_receives(walk, candidate, receiver), candidate) for candidate in candidates]
    fitting = [(score, candidate) for score, candidate in scored if score >= 0]
    fitting.sort(key=lambda entry: -entry[0])
    for best in sorted({score for score, _ in fitting}, reverse=True):
        same = [candidate for score, candidate in fitting if score == best]
        chosen = decide(walk, same, arguments, len(given), receiver, skip=1)
        chosen = chosen or (choose(walk.names, same, arguments, ANY_NUMBER, skip=1) if given else None)
        if chosen is not None and chosen[1] != NAME_ONLY:
            return chosen if best > 0 else (chosen[0], PROBABLE)
    return None


def _extension_of_inherited(
    walk: Binder, dotted: str, name: str, arguments: Sequence[Argument], given: Given
) -> tuple[MemberSymbol, str] | None:
    """The extension method of a telling name on what may be a property of a library's base class: `Url.OrderLink(id)`
    in a controller."""
    if "." in dotted or _humps(name) < _TELLING_HUMPS or not _inherits_unknown(walk):
        return None
    return _extension(walk, None, name, arguments, given)


def _inherits_unknown(walk: Binder) -> bool:
    """Whether a simple name may be a member of a base class that a library declares."""
    this = walk.type.this
    return this is not None and walk.names.symbols.has_foreign_base(this.name)


def _receives(walk: Binder, candidate: MemberSymbol, receiver: Value) -> int:
    """How well an extension method fits its receiver; negative if it cannot be."""
    wanted = candidate.parameters[0].type
    if receiver is None:
        # What is unknown is mostly of a library, and any type of one may have a method of a usual name itself.
        return 0 if _humps(candidate.name) >= (_TELLING_HUMPS if wanted.declared else 2) else -1
    if bcl_types.is_scalar(wanted) and not receiver.parameter and bcl_types.plain_name(receiver) != wanted.name:
        return 0 if (receiver.name, wanted.name) == _TYPE_INFO else -1
    if wanted.parameter:
        bounds = [bound for name, bound in candidate.constraints if name == wanted.name]
        if receiver.parameter:
            receiver = next(iter(walk.constraints.get(receiver.name, ())), None)
        return min([1, *(assignable(walk.names, receiver, bound) for bound in bounds)])
    if receiver.parameter:
        known = walk.constraints.get(receiver.name, ())
        return max([0, *(assignable(walk.names, bound, wanted) for bound in known)])
    return assignable(walk.names, receiver, wanted)


def _library_call(walk: Binder, receiver: Value, name: str, arguments: Sequence[Argument], given: Given) -> Value:
    """A call of what the label does not declare."""
    view = walk.names.library_view(receiver) if receiver is not None and not receiver.parameter else None
    if receiver is not None and view is None and not given:
        # An extension method of a library, which most often gives its receiver back: `service.Received(1)`.
        read_waiting(walk, arguments, (), TypeRef("", (receiver,)), name)
        return bcl_types.OBJECT_METHODS.get(name, receiver)
    if name == "Zip" and view is not None and len(arguments) == 1:
        pair = (bcl_types.element_of(view) or TypeRef(""), element_type(walk, arguments[0].type) or TypeRef(""))
        return TypeRef("IEnumerable", (TypeRef(TUPLE, pair, labels=("First", "Second")),))
    if name == "SelectMany" and view is not None:
        returned = read_waiting(walk, arguments, (), view, name, given)
        first = element_type(walk, returned[0]) if returned else None
        return TypeRef("IEnumerable", (first,)) if first is not None else None
    returned = read_waiting(walk, arguments, (), view, name, given)
    return bcl_types.call_result(view, name, given, returned)


# what a chosen method means


def _called(
    walk: Binder,
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
    pairs = pairs_for(member, arguments, skip)
    if pairs is None:
        read_waiting(walk, arguments, ())
    else:
        if member.type_parameters:
            for argument, wanted in pairs:
                if not argument.waits:
                    unify(walk.names, wanted, argument.type, known)
        for argument, wanted in pairs:
            if argument.waits:
                read_with(walk, argument, wanted, known)
    result = substituted(member.type, known)
    return result if result.name else None


HANDLERS: dict[str, Handler] = {"invocation_expression": invocation}
