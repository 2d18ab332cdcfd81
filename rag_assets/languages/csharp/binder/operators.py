"""Operators that types of the label declare: where they are used, and what they give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rag_assets.languages.csharp.binder import bcl_types
from rag_assets.languages.csharp.binder.binder import NAME_ONLY, PROBABLE, REFERENCES, Binder, Handler, Value
from rag_assets.languages.csharp.binder.overloads import Argument, choose
from rag_assets.languages.csharp.binder.type_syntax import substituted

if TYPE_CHECKING:
    from tree_sitter import Node

_KEEPING = frozenset({"+", "-", "~", "++", "--"})
"""Signs before a value of the language's own types that give a value of the same type."""


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


HANDLERS: dict[str, Handler] = {"prefix_unary_expression": prefixed, "postfix_unary_expression": postfixed}
