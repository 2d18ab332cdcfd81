"""Lambdas, anonymous methods and local functions: code that counts to the member around it."""

from __future__ import annotations

from collections.abc import Sequence

from tree_sitter import Node

from rag_assets.languages.csharp.binder.bcl_types import awaited
from rag_assets.languages.csharp.binder.binder import Binder, Handler, Value
from rag_assets.languages.csharp.binder.conversions import signature_of
from rag_assets.languages.csharp.binder.type_syntax import TypeRef

ANY_ARITY = -2
_STATEMENTS = frozenset(
    {
        "invocation_expression",
        "assignment_expression",
        "await_expression",
        "object_creation_expression",
        "postfix_unary_expression",
        "prefix_unary_expression",
        "conditional_access_expression",
        "throw_expression",
    }
)
"""Bodies that may be a statement as well as a value."""


def arity_of(node: Node) -> int:
    """How many parameters a lambda has; `ANY_ARITY` for `delegate { }`."""
    parameters = node.child_by_field_name("parameters")
    if parameters is None:
        return ANY_ARITY
    if parameters.type != "parameter_list":
        return 1
    return sum(child.type == "parameter" for child in parameters.named_children)


def is_async(walk: Binder, node: Node) -> bool:
    return walk.reader.text.startswith(("async ", "async(", "static async "), walk.reader.char(node.start_byte))


def gives_value(node: Node) -> bool | None:
    """Whether a lambda returns a value; None where it may be either."""
    body = node.child_by_field_name("body") or (node.named_children[-1] if node.named_child_count else None)
    if body is None:
        return None
    if body.type != "block":
        return None if body.type in _STATEMENTS else True
    returns = _returns_in(body)
    if returns is None and body.named_child_count and body.named_children[-1].type == "throw_statement":
        return None
    return bool(returns)


def _returns_in(block: Node) -> bool | None:
    """Whether the first `return` of a block has a value, None without one. Does not look into inner functions."""
    waiting = [block]
    while waiting:
        node = waiting.pop()
        for child in node.named_children:
            kind = child.type
            if kind == "return_statement":
                return child.named_child_count > 0
            if kind.endswith(("_statement", "block", "_clause", "switch_body", "switch_section")) and kind not in (
                "local_function_statement",
                "expression_statement",
                "local_declaration_statement",
            ):
                waiting.append(child)
    return None


def read_lambda(walk: Binder, node: Node, parameters: Sequence[Value], result: Value) -> Value:
    """Reads a lambda whose parameters have these types; gives what it returns."""
    mark = walk.mark()
    _declare_parameters(walk, node, parameters)
    body = node.child_by_field_name("body")
    if body is None and node.named_child_count:
        body = node.named_children[-1]
    found: Value = None
    if body is not None:
        wanted = awaited(result) if result is not None and is_async(walk, node) else result
        if body.type == "block":
            outer, walk.returned = walk.returned, []
            hope, walk.wanted = walk.wanted, wanted
            walk.ev(body)
            found = next((value for value in walk.returned if value is not None and value.name != "null"), None)
            walk.returned, walk.wanted = outer, hope
        else:
            found = walk.ev(body, wanted)
    walk.leave(mark)
    return found


def _declare_parameters(walk: Binder, node: Node, types: Sequence[Value]) -> None:
    parameters = node.child_by_field_name("parameters")
    if parameters is None:
        return
    if parameters.type != "parameter_list":
        walk.declare(walk.text(parameters), types[0] if types else None)
        return
    number = 0
    for child in parameters.named_children:
        if child.type == "parameter":
            name, written = parameter_parts(walk, child)
            found = written if written is not None else types[number] if number < len(types) else None
            if name:
                walk.declare(name, found)
            number += 1


def parameter_parts(walk: Binder, node: Node) -> tuple[str, Value]:
    """(name, type) of a parameter node; reads its attributes and default value."""
    name = node.child_by_field_name("name")
    written = node.child_by_field_name("type")
    found = walk.use(written) if written is not None else None
    for child in node.named_children:
        if child.type == "attribute_list":
            walk.each(child)
        elif name is not None and child.start_byte > name.start_byte:
            walk.ev(child, found)
    return walk.text(name) if name is not None else "", found


def lambda_value(walk: Binder, node: Node, wanted: Value) -> Value:
    """A lambda that is no argument: assigned, returned, cast."""
    parameters, result = signature_of(walk.names, wanted) if wanted is not None else (None, None)
    read_lambda(walk, node, parameters or (), result)
    return wanted


def local_function(walk: Binder, node: Node, wanted: Value) -> Value:
    mark = walk.mark()
    own = type_parameters_of(walk, node)
    outer = walk.parameters
    walk.parameters = (*own, *outer)
    found: Value = None
    written = node.child_by_field_name("type")
    if written is not None:
        found = walk.use(written)
    hope, walk.wanted = walk.wanted, awaited(found) if is_async_function(walk, node) else found
    collected, walk.returned = walk.returned, None
    for child in node.named_children:
        kind = child.type
        if kind == "parameter_list":
            declare_parameters(walk, child)
        elif kind in ("block", "arrow_expression_clause"):
            walk.ev(child, walk.wanted)
        elif kind == "attribute_list":
            walk.each(child)
    walk.wanted, walk.returned, walk.parameters = hope, collected, outer
    walk.leave(mark)
    return None


def declare_parameters(walk: Binder, node: Node) -> None:
    """Puts the parameters of a function in scope; a `params` array has no node of its own."""
    loose: Node | None = None
    for child in node.named_children:
        if child.type == "parameter":
            name, found = parameter_parts(walk, child)
            if name:
                walk.declare(name, found)
        elif child.type == "attribute_list":
            walk.each(child)
        elif child.type == "identifier" and loose is not None:
            walk.declare(walk.text(child), walk.use(loose))
            loose = None
        elif child.type != "comment":
            loose = child


def is_async_function(walk: Binder, node: Node) -> bool:
    return any(child.type == "modifier" and walk.text(child) == "async" for child in node.named_children)


def type_parameters_of(walk: Binder, node: Node) -> tuple[str, ...]:
    written = node.child_by_field_name("type_parameters")
    if written is None:
        return ()
    names = (child.child_by_field_name("name") for child in written.named_children)
    return tuple(walk.text(name) for name in names if name is not None)


def function_result(walk: Binder, node: Node) -> tuple[str, TypeRef, tuple[TypeRef, ...]]:
    """(name, what it returns, its parameters) of a local function, known before it is read: it may be called above."""
    name, written = node.child_by_field_name("name"), node.child_by_field_name("type")
    if name is None or written is None:
        return "", TypeRef(""), ()
    around = (*type_parameters_of(walk, node), *walk.parameters)
    listed = node.child_by_field_name("parameters")
    types = [
        child.child_by_field_name("type")
        for child in (listed.named_children if listed is not None else ())
        if child.type == "parameter"
    ]
    bound = [walk.names.bind(walk.text(entry or written), walk.type.symbol, around)[0] for entry in [written, *types]]
    return walk.text(name), bound[0], tuple(bound[1:])


HANDLERS: dict[str, Handler] = {
    "lambda_expression": lambda_value,
    "anonymous_method_expression": lambda_value,
    "local_function_statement": local_function,
}
