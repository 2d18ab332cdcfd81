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
    cannot_become,
    converts,
    delegate_parameters,
    delegate_result,
    element_of,
    is_delegate,
    is_interface_name,
    is_scalar,
    is_task,
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
ANY_NUMBER = -1
"""Of type arguments: where they cannot be counted, or count is not what is asked."""
_SAME, _DERIVED, _LIKELY, _OPEN, _UNLIKELY = 4, 3, 2, 1, -1


@dataclass(slots=True)
class Argument:
    """An argument of a call. `node` is its value; `type` what is known of it, None also for what is read only when the
    parameter is known (`waits`): lambdas, `new()`, `out var`. `lambda_arity` is -1 for what is no lambda and -2 for one
    that takes anything; `gives`: None where a lambda may or may not return a value; `returned`: what one returns that
    was read before its parameter was known (`is_read`). `group`: the methods that a method group names."""

    node: Node | None
    name: str = ""
    type: TypeRef | None = None
    waits: bool = False
    lambda_arity: int = -1
    gives: bool | None = None
    is_async: bool = False
    is_read: bool = False
    returned: TypeRef | None = None
    group: tuple[MemberSymbol, ...] = ()

    @property
    def is_lambda(self) -> bool:
        return self.lambda_arity != -1


def choose(
    names: Names, candidates: Sequence[MemberSymbol], arguments: Sequence[Argument], given: int = 0, skip: int = 0
) -> tuple[MemberSymbol, str] | None:
    """The overload for some arguments, with the confidence in it; None where none takes so many of them. Name-only: the
    number fits, but no overload takes arguments of such types, as far as they are known. See `contenders`."""
    best, is_possible = contenders(names, candidates, arguments, given, skip)
    if not best:
        return None
    if not is_possible:
        return best[0], NAME_ONLY
    return best[0], PROBABLE if len(best) > 1 else RESOLVED


def contenders(
    names: Names, candidates: Sequence[MemberSymbol], arguments: Sequence[Argument], given: int = 0, skip: int = 0
) -> tuple[list[MemberSymbol], bool]:
    """The overloads that fit best, and whether they can be meant, as far as types are known.

    `given`: how many type arguments are written, `ANY_NUMBER` where that decides nothing; `skip`: 1 for extension
    methods called on their receiver. The candidates are in order of look-up: what a nearer type declares hides what
    fits as well further away.
    """
    best: list[MemberSymbol] = []
    top = 0
    owner = ""
    for candidate in candidates:
        if best and top > _NEVER and candidate.owner != owner and not skip:
            break
        if given > 0 and len(candidate.type_parameters) != given:
            continue
        score = _score(names, candidate, arguments, skip, given == 0)
        if score is None:
            continue
        owner = candidate.owner
        if not best or score > top:
            best, top = [candidate], score
        elif score == top and not any(_same_parameters(candidate, found) for found in best):
            best.append(candidate)  # else what it overrides or its other half
    return best, top > _NEVER


def _same_parameters(one: MemberSymbol, other: MemberSymbol) -> bool:
    return [entry.type for entry in one.parameters] == [entry.type for entry in other.parameters]


def _score(
    names: Names, candidate: MemberSymbol, arguments: Sequence[Argument], skip: int, is_inferred: bool
) -> int | None:
    """How well the arguments fit, None where their number does not, or where nothing tells a type parameter that must
    be inferred; ten to one that fewer unused parameters win."""
    parameters = candidate.parameters[skip:]
    pairs = pairs_of(parameters, arguments)
    if pairs is None:
        return None
    if is_inferred and candidate.type_parameters:
        told = [wanted for _, wanted in pairs] + [entry.type for entry in candidate.parameters[:skip]]
        if not all(any(_mentions(wanted, name) for wanted in told) for name in candidate.type_parameters):
            return None
    total = sum(fits(names, argument, wanted) for argument, wanted in pairs)
    if total <= _NEVER // 2:
        return _NEVER
    exact = len(parameters) == len(arguments) and not (parameters and "params" in parameters[-1].modifiers)
    return total * 10 + (5 if exact else 0)


def _mentions(found: TypeRef, parameter: str) -> bool:
    """Whether a type parameter is part of a type."""
    if found.parameter:
        return found.name == parameter
    return any(_mentions(argument, parameter) for argument in found.arguments)


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
    if argument.group:
        return _group_fits(names, argument.group, wanted)
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
            return _NEVER if is_delegate(wanted) or _are_other_tasks(found, wanted) else _OPEN
        return _SAME if _matching(found, wanted) else _LIKELY
    if plain_name(wanted) == "object":
        return 0
    if cannot_become(found, wanted):
        return _NEVER
    if is_scalar(found) and is_scalar(wanted):
        return _OPEN if converts(found, wanted) else _NEVER
    if is_scalar(wanted) and (found.arguments or found.is_array):
        return _NEVER
    if is_scalar(found):
        is_text = found == STRING and bool(wanted.arguments) and wanted.arguments[0] == CHAR
        if wanted.arguments:
            return 0 if is_text or wanted.name == "IEquatable" else _NEVER
        return 0 if is_interface_name(wanted.name) else _UNLIKELY  # but for a conversion that the type declares
    return _OPEN


def _are_other_tasks(found: TypeRef, wanted: TypeRef) -> bool:
    """Whether one of two tasks of the same name has a result and cannot be given for the other."""
    return is_task(found) and (not found.arguments or found.name != "Task")


def _matching(found: TypeRef, wanted: TypeRef) -> bool:
    """Whether the arguments of one generic type are those of the other, or may become them."""
    if found.arguments == wanted.arguments:
        return True
    pairs = zip(found.arguments, wanted.arguments, strict=False)
    return all(given == other or other.parameter for given, other in pairs)


def _declared_fits(names: Names, found: TypeRef, wanted: TypeRef) -> int:
    if wanted.declared:
        if found.name == wanted.name:
            return _SAME if _matching(found, wanted) else _LIKELY if _tells(names, found, wanted) else _UNLIKELY
        base = names.above(found.name).get(wanted.name)
        if base is not None:
            seen = substituted(base, names.arguments_of(found)) if base.arguments else base
            return _DERIVED if _tells(names, seen, wanted) else _UNLIKELY
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


def _tells(names: Names, found: TypeRef, wanted: TypeRef) -> bool:
    """Whether the arguments of a generic type tell the type parameters in those of `wanted`: `IPipe<Context>` does not
    for `IPipe<Context<T>>`. A type may have the same base with other arguments as well, so this is no proof."""
    for given, hope in zip(found.arguments, wanted.arguments, strict=False):
        if hope.parameter or given.parameter or not hope.arguments or not (hope.declared and given.declared):
            continue
        seen = given if given.name == hope.name else _as(names, given, hope)
        if seen is None or not _tells(names, seen, hope):
            return False
    return True


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
    if argument.returned is not None:
        return _returned_fits(names, argument, argument.returned, result)
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


def _returned_fits(names: Names, argument: Argument, returned: TypeRef, result: TypeRef | None) -> int:
    """How well a lambda that was read returns what is wanted. That it gives a value which is not wanted does no harm if
    its body may stand as a statement; but where one is wanted, that overload is the better one."""
    if argument.is_async and result is not None:
        inner = awaited(result)
        result = inner if inner != result else TypeRef("void")
    if result is None or result.name in ("", "void"):
        return _LIKELY if returned.name == "void" else _NEVER if argument.gives else _OPEN
    if returned.name == "void":
        return _NEVER
    if result.parameter:
        return _LIKELY
    fit = assignable(names, returned, result)
    return fit if fit <= _UNLIKELY else fit + _OPEN


def _group_fits(names: Names, group: Sequence[MemberSymbol], wanted: TypeRef) -> int:
    """How well one of the methods that a method group names is what a delegate wants."""
    if wanted.parameter or is_scalar(wanted) or wanted.is_array or wanted.is_tuple:
        return _NEVER
    parameters, result = signature_of(names, wanted)
    if parameters is None:
        if wanted.declared:
            return _NEVER
        return 0 if is_delegate(wanted) else _UNLIKELY
    gives = result is not None and result.name not in ("", "void")
    return _LIKELY if any(_becomes(names, member, parameters, result, gives) for member in group) else _NEVER


def _becomes(
    names: Names, member: MemberSymbol, parameters: tuple[TypeRef, ...], result: TypeRef | None, gives: bool
) -> bool:
    """Whether a method can be made a delegate with these parameters and this result."""
    own = [entry.type for entry in member.parameters]
    if len(own) == len(parameters) + 1 and member.is_extension:
        own = own[1:]
    if len(own) != len(parameters) or gives == (member.type.name == "void"):
        return False
    if result is not None and gives and assignable(names, member.type, result) <= _NEVER:
        return False
    return all(assignable(names, found, want) > _NEVER for found, want in zip(parameters, own, strict=True))


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
