"""Arguments of calls: read at once, or, where they need their parameter to be understood, when it is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rag_assets.graph.csharp import library
from rag_assets.graph.csharp.lambdas import arity_of, gives_value, is_async, read_lambda
from rag_assets.graph.csharp.overloads import Argument, signature_of, unify
from rag_assets.graph.csharp.references import TypeRef, substituted
from rag_assets.graph.csharp.walk import Value, Walk

if TYPE_CHECKING:
    from tree_sitter import Node

_LAMBDAS = frozenset({"lambda_expression", "anonymous_method_expression"})
_WAITING = _LAMBDAS | {
    "implicit_object_creation_expression",
    "collection_expression",
    "default_expression",
    "declaration_expression",
}
"""Arguments that are read when their parameter is known."""


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
        if kind == "string_literal":
            found.append(Argument(value, name, library.STRING))
        elif kind not in _WAITING:
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


def read_waiting(
    walk: Walk,
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


def read_with(walk: Walk, argument: Argument, wanted: TypeRef, known: dict[str, TypeRef]) -> None:
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
