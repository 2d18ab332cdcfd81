"""Which overload a call means, and what its type parameters become: by arity, then by what is known of arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_assets.graph.csharp.library import (
    CHAR,
    NULL,
    STRING,
    awaited,
    converts,
    delegate_parameters,
    delegate_result,
    element_of,
    is_delegate,
    is_scalar,
    plain_name,
)
from rag_assets.graph.csharp.references import TypeRef, substituted
from rag_assets.graph.csharp.walk import NAME_ONLY, PROBABLE, RESOLVED

if TYPE_CHECKING:
    from tree_sitter import Node

    from rag_assets.graph.csharp.model import MemberSymbol, ParameterSymbol
    from rag_assets.graph.csharp.names import Names

_NEVER = -1_000
"""A score that no number of fitting arguments makes up for."""
_SAME, _DERIVED, _LIKELY, _OPEN, _UNLIKELY = 4, 3, 2, 1, -1


@dataclass(slots=True)
class Argument:
    """An argument of a call. `node` is its value; `type` what is known of it, None also for what is read only when the
    parameter is known (`waits`): lambdas, `new()`, `out var`. `lambda_arity` is -1 for what is no lambda and -2 for one
    that takes anything; `gives`: None where a lambda may or may not return a value."""

    node: Node | None
    name: str = ""
    type: TypeRef | None = None
    waits: bool = False
    lambda_arity: int = -1
    gives: bool | None = None
    is_async: bool = False

    @property
    def is_lambda(self) -> bool:
        return self.lambda_arity != -1


def choose(
    names: Names, candidates: Sequence[MemberSymbol], arguments: Sequence[Argument], given: int = 0, skip: int = 0
) -> tuple[MemberSymbol, str] | None:
    """The overload for some arguments, with the confidence in it; None where none takes so many of them. Name-only: the
    number fits, but no overload takes arguments of such types, as far as they are known.

    `given`: how many type arguments are written; `skip`: 1 for extension methods called on their receiver. The
    candidates are in order of look-up: what a nearer type declares hides what fits as well further away.
    """
    best: tuple[int, MemberSymbol] | None = None
    rivals = 0
    owner = ""
    for candidate in candidates:
        if best is not None and best[0] > _NEVER and candidate.owner != owner and not skip:
            break
        if given and len(candidate.type_parameters) != given:
            continue
        score = _score(names, candidate, arguments, skip)
        if score is None:
            continue
        owner = candidate.owner
        if best is None or score > best[0]:
            best, rivals = (score, candidate), 0
        elif score == best[0] and not _same_parameters(candidate, best[1]):  # else what it overrides or its other half
            rivals += 1
    if best is None:
        return None
    if best[0] <= _NEVER:
        return best[1], NAME_ONLY
    return best[1], PROBABLE if rivals else RESOLVED


def _same_parameters(one: MemberSymbol, other: MemberSymbol) -> bool:
    return [entry.type for entry in one.parameters] == [entry.type for entry in other.parameters]


def _score(names: Names, candidate: MemberSymbol, arguments: Sequence[Argument], skip: int) -> int | None:
    """How well the arguments fit, None where their number does not; ten to one that fewer unused parameters win."""
    parameters = candidate.parameters[skip:]
    pairs = pairs_of(parameters, arguments)
    if pairs is None:
        return None
    total = sum(fits(names, argument, wanted) for argument, wanted in pairs)
    if total <= _NEVER // 2:
        return _NEVER
    exact = len(parameters) == len(arguments) and not (parameters and "params" in parameters[-1].modifiers)
    return total * 10 + (5 if exact else 0)


def pairs_of(
    parameters: Sequence[ParameterSymbol], arguments: Sequence[Argument]
) -> list[tuple[Argument, TypeRef]] | None:
    """Each argument with the type of its parameter; None where they cannot be what the parameters want."""
    count, given = len(parameters), len(arguments)
    expands = count > 0 and "params" in parameters[-1].modifiers
    if given > count and not expands:
        return None
    is_named = any(argument.name for argument in arguments)
    if not expands and not is_named:  # nine of ten calls
        if given < count and not all(parameter.optional for parameter in parameters[given:]):
            return None
        return [(argument, parameter.type) for argument, parameter in zip(arguments, parameters, strict=False)]
    taken: set[int] = set()
    pairs: list[tuple[Argument, TypeRef]] = []
    for number, argument in enumerate(arguments):
        at = number
        if argument.name:
            at = next((i for i, entry in enumerate(parameters) if entry.name == argument.name), -1)
            if at < 0:
                return None
        at = min(at, len(parameters) - 1)
        taken.add(at)
        wanted = parameters[at].type
        if expands and at == len(parameters) - 1 and not (argument.type is not None and argument.type.is_array):
            wanted = element_of(wanted) or wanted
        pairs.append((argument, wanted))
    for at, parameter in enumerate(parameters) if given < count or expands else ():
        if at not in taken and not parameter.optional and "params" not in parameter.modifiers:
            return None
    return pairs


def fits(names: Names, argument: Argument, wanted: TypeRef) -> int:
    """How well an argument is what a parameter wants, `_NEVER` if it cannot be."""
    if argument.is_lambda:
        return _lambda_fits(names, argument, wanted)
    return assignable(names, argument.type, wanted)


def assignable(names: Names, found: TypeRef | None, wanted: TypeRef) -> int:
    if found is None or not found.name or not wanted.name or found.name == "dynamic":
        return 0
    if wanted.parameter or found.parameter:
        return _SAME if found == wanted else _OPEN if wanted.parameter else 0
    if found == NULL:
        return _UNLIKELY if is_scalar(wanted) and wanted.name not in ("string", "String", "Uri", "Type") else 0
    if found.declared:
        return _declared_fits(names, found, wanted)
    if wanted.declared:
        return _UNLIKELY if is_converted_to(names, wanted) else _NEVER
    if plain_name(found) == plain_name(wanted):
        if len(found.arguments) != len(wanted.arguments):  # `Func<A>` and `Func<A, B>` are two types
            return _NEVER if is_delegate(wanted) else _OPEN
        return _SAME if _matching(found, wanted) else _LIKELY
    if plain_name(wanted) == "object":
        return 0
    if is_scalar(found) and is_scalar(wanted):
        return _OPEN if converts(found, wanted) else _NEVER
    if is_scalar(wanted) and (found.arguments or found.is_array):
        return _NEVER
    if is_scalar(found):
        is_text = found == STRING and bool(wanted.arguments) and wanted.arguments[0] == CHAR
        return _NEVER if wanted.arguments and not is_text and wanted.name != "IEquatable" else 0
    return _OPEN


def _matching(found: TypeRef, wanted: TypeRef) -> bool:
    """Whether the arguments of one generic type are those of the other, or may become them."""
    if found.arguments == wanted.arguments:
        return True
    pairs = zip(found.arguments, wanted.arguments, strict=False)
    return all(given == other or other.parameter for given, other in pairs)


def _declared_fits(names: Names, found: TypeRef, wanted: TypeRef) -> int:
    if wanted.declared:
        if found.name == wanted.name:
            return _SAME if _matching(found, wanted) else _LIKELY
        if wanted.name in names.above(found.name):
            return _DERIVED
        return _UNLIKELY if is_converted_to(names, wanted) else _NEVER
    if plain_name(wanted) == "object":
        return 0
    if is_scalar(wanted):
        return _NEVER
    if is_delegate(wanted):
        symbol = names.declared(found.name)
        return 0 if symbol is not None and symbol.kind == "delegate" else _NEVER
    bases = names.foreign_bases(found.name)
    if wanted.name in bases:
        return _DERIVED
    return 0 if bases else _UNLIKELY


def is_converted_to(names: Names, wanted: TypeRef) -> bool:
    """Whether a type of the label declares an implicit conversion to itself."""
    symbol = names.declared(wanted.name)
    if symbol is None or symbol.kind not in ("class", "struct", "record"):
        return False
    return any(
        found.parameters and not (found.parameters[0].type.declared and found.parameters[0].type.name == wanted.name)
        for written in (symbol.name, f"{symbol.name}<{', '.join(symbol.type_parameters)}>")
        for found in names.find(wanted.name, f"implicit operator {written}")
    )


def _lambda_fits(names: Names, argument: Argument, wanted: TypeRef) -> int:
    if wanted.parameter or is_scalar(wanted) or wanted.is_array or wanted.is_tuple:
        return _NEVER
    parameters, result = signature_of(names, wanted)
    if parameters is None:
        if wanted.declared:
            return _NEVER
        return 0 if is_delegate(wanted) else _UNLIKELY
    if argument.lambda_arity >= 0 and argument.lambda_arity != len(parameters):
        return _NEVER
    gives = result is not None and result.name not in ("", "void")
    if argument.is_async:
        waits = result is not None and awaited(result) != result
        if not waits:
            return _UNLIKELY if not gives else _NEVER
        has_value = result is not None and bool(result.arguments)
        return _LIKELY if argument.gives is None or argument.gives == has_value else _UNLIKELY
    if argument.gives is None:
        return _OPEN
    return _LIKELY if argument.gives == gives else _NEVER


def signature_of(names: Names, found: TypeRef) -> tuple[tuple[TypeRef, ...] | None, TypeRef | None]:
    """(parameters, result) of a delegate type, of the label or the library; (None, None) where it is none."""
    if not found.declared:
        return delegate_parameters(found), delegate_result(found)
    signature = names.symbols.signature(found.name)
    if signature is None:
        return None, None
    arguments = names.arguments_of(found)
    parameters = tuple(substituted(parameter.type, arguments) for parameter in signature.parameters)
    return parameters, substituted(signature.type, arguments)


def unify(names: Names, wanted: TypeRef, found: TypeRef | None, into: dict[str, TypeRef], depth: int = 0) -> None:
    """Reads off what the type parameters in `wanted` are for an argument of the type `found`."""
    if found is None or not found.name or depth > 8:
        return
    if wanted.parameter:
        if found != NULL:
            into.setdefault(wanted.name, found)
        return
    if not wanted.arguments:
        return
    if found.name != wanted.name:
        found = _as(names, found, wanted)
        if found is None:
            return
    for inner, argument in zip(wanted.arguments, found.arguments, strict=False):
        unify(names, inner, argument, into, depth + 1)


def _as(names: Names, found: TypeRef, wanted: TypeRef) -> TypeRef | None:
    """`found` seen as the base type `wanted`, with its arguments."""
    if found.declared:
        if wanted.declared:
            base = names.above(found.name).get(wanted.name)
            return substituted(base, names.arguments_of(found)) if base is not None else None
        return names.library_view(found)
    if wanted.declared:
        return None
    if len(wanted.arguments) == 1:
        element = element_of(found)
        return TypeRef(wanted.name, (element,)) if element is not None else None
    return found if len(found.arguments) == len(wanted.arguments) else None
