"""Arguments of calls: read at once, or, where they need their parameter to be understood, when it is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rag_assets.languages.csharp.binder import bcl_types
from rag_assets.languages.csharp.binder.binder import NAME_ONLY, PROBABLE, RESOLVED, Binder, Value
from rag_assets.languages.csharp.binder.bound_types import TypeRef, substituted
from rag_assets.languages.csharp.binder.conversions import signature_of, unify
from rag_assets.languages.csharp.binder.lambdas import arity_of, gives_value, is_async, read_lambda
from rag_assets.languages.csharp.binder.overloads import Argument, choose, contenders, pairs_for

if TYPE_CHECKING:
    from tree_sitter import Node

    from rag_assets.languages.csharp.binder.symbols import MemberSymbol

_LAMBDAS = frozenset({"lambda_expression", "anonymous_method_expression"})
_WAITING = _LAMBDAS | {
    "implicit_object_creation_expression",
    "collection_expression",
    "default_expression",
    "declaration_expression",
}
"""Arguments that are read when their parameter is known."""
_GROUPS = frozenset({"identifier", "member_access_expression"})
"""What may name a method without calling it."""


def read_arguments(walk: Binder, argument_list: Node) -> list[Argument]:
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
        if kind == "string_literal":
            found.append(Argument(value, name, bcl_types.STRING))
        elif kind in _GROUPS:
            walk.group = ()
            known = walk.ev(value)
            found.append(Argument(value, name, known, group=walk.group if known is None else ()))
        elif kind not in _WAITING:
            found.append(Argument(value, name, walk.ev(value)))
        elif kind in _LAMBDAS:
            arity = arity_of(value)
            found.append(Argument(value, name, None, True, arity, gives_value(value), is_async(walk, value)))
        else:
            known = walk.use(value.named_children[0]) if _is_typed(value) else None
            found.append(Argument(value, name, known if known is not None and known.name else None, True))
    first = found[0].type if found else None
    if first is not None:
        walk.arguments[argument_list.start_byte] = first
    return found


def _is_typed(value: Node) -> bool:
    """`out Order found` and `default(Order)` say their type themselves."""
    children = value.named_children
    says = value.type in ("declaration_expression", "default_expression")
    return says and bool(children) and children[0].type != "implicit_type"


def read_waiting(
    walk: Binder,
    arguments: Sequence[Argument],
    parameters: Sequence[TypeRef],
    receiver: Value = None,
    name: str = "",
    given: tuple[TypeRef, ...] = (),
) -> list[Value]:
    """Reads what waited without a declared method to tell; gives what each lambda returns."""
    returned: list[Value] = []
    for number, argument in enumerate(arguments):
        if not argument.waits or argument.node is None:
            continue
        hope = parameters[number] if number < len(parameters) else None
        if argument.is_read:
            returned.append(argument.returned)
        elif argument.is_lambda:
            inner, result = signature_of(walk.names, hope) if hope is not None else (None, None)
            if inner is None:
                guessed = bcl_types.lambda_parameters(receiver, name, given)
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


def decide(
    walk: Binder,
    candidates: Sequence[MemberSymbol],
    arguments: Sequence[Argument],
    given: int = 0,
    receiver: Value = None,
    skip: int = 0,
) -> tuple[MemberSymbol, str] | None:
    """As `choose`; but where overloads differ in what a lambda returns, it is read first. `receiver`: what the call is
    made on, the first argument of an extension method where `skip` is 1."""
    best, is_possible = contenders(walk.names, candidates, arguments, given, skip)
    if len(best) > 1 and is_possible:
        waiting = [argument for argument in arguments if argument.is_lambda and not argument.is_read]
        for argument in waiting:
            _read_ahead(walk, argument, best, arguments, receiver, skip)
        if any(argument.is_read for argument in waiting):
            return choose(walk.names, candidates, arguments, given, skip)
    if not best:
        return None
    return best[0], NAME_ONLY if not is_possible else PROBABLE if len(best) > 1 else RESOLVED


def _read_ahead(
    walk: Binder,
    argument: Argument,
    overloads: Sequence[MemberSymbol],
    arguments: Sequence[Argument],
    receiver: Value,
    skip: int,
) -> None:
    """Reads a lambda that gets the same from all of some overloads, else leaves it for later."""
    given: set[tuple[TypeRef, ...]] = set()
    for overload in overloads:
        known = walk.names.arguments_of(receiver) if receiver is not None and not skip else {}
        if skip:
            unify(walk.names, overload.parameters[0].type, receiver, known)
        hope: TypeRef | None = None
        for other, wanted in pairs_for(overload, arguments, skip) or ():
            if other is argument:
                hope = wanted
            elif not other.waits:
                unify(walk.names, wanted, other.type, known)
        parameters = signature_of(walk.names, substituted(hope, known))[0] if hope is not None else None
        if parameters is None:
            return
        given.add(parameters)
    if len(given) == 1 and argument.node is not None:
        argument.returned = read_lambda(walk, argument.node, given.pop(), None)
        argument.is_read = True


def read_with(walk: Binder, argument: Argument, wanted: TypeRef, known: dict[str, TypeRef]) -> None:
    """Reads an argument that waited for its parameter; what a lambda returns may tell a type parameter."""
    if argument.node is None:
        return
    hope = substituted(wanted, known)
    if not argument.is_lambda:
        found = walk.ev(argument.node, hope)
        unify(walk.names, wanted, found, known)
        return
    returned = argument.returned
    if not argument.is_read:
        parameters, result = signature_of(walk.names, hope)
        returned = read_lambda(walk, argument.node, parameters or (), result)
    _, open_result = signature_of(walk.names, wanted)
    if open_result is not None and returned is not None:
        unify(walk.names, bcl_types.awaited(open_result) or open_result, bcl_types.awaited(returned) or returned, known)
