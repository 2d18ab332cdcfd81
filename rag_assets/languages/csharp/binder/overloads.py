"""Which overload a call means: by arity, then by what is known of arguments."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

import msgspec

from rag_assets.languages.csharp.binder.bcl_types import awaited, element_of, is_delegate, is_scalar
from rag_assets.languages.csharp.binder.binder import NAME_ONLY, PROBABLE, RESOLVED
from rag_assets.languages.csharp.binder.bound_types import TypeRef
from rag_assets.languages.csharp.binder.conversions import (
    LIKELY,
    NEVER,
    OPEN,
    UNLIKELY,
    assignable,
    is_more_special,
    signature_of,
)

if TYPE_CHECKING:
    from tree_sitter import Node

    from rag_assets.languages.csharp.binder.name_lookup import Names
    from rag_assets.languages.csharp.binder.symbols import MemberSymbol, ParameterSymbol

NO_LAMBDA = -1
"""As `lambda_arity`."""
ANY_NUMBER = -1
"""Of type arguments: where they cannot be counted, or count is not what is asked."""


class Argument(msgspec.Struct):
    """An argument of a call. `node` is its value; `type` what is known of it, None also for what is read only when the
    parameter is known (`waits`): lambdas, `new()`, `out var`. `lambda_arity` is -1 for what is no lambda and -2 for one
    that takes anything; `gives`: None where a lambda may or may not return a value; `returned`: what one returns that
    was read before its parameter was known (`is_read`). `group`: the methods that a method group names."""

    node: Node | None
    name: str = ""
    type: TypeRef | None = None
    waits: bool = False
    lambda_arity: int = NO_LAMBDA
    gives: bool | None = None
    is_async: bool = False
    is_read: bool = False
    returned: TypeRef | None = None
    group: tuple[MemberSymbol, ...] = ()

    @property
    def is_lambda(self) -> bool:
        return self.lambda_arity != NO_LAMBDA


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
    if len(candidates) == 1 or not all(map(_is_plain, arguments)):
        return _contenders(names, candidates, arguments, given, skip)
    asked = (tuple(candidates), tuple([argument.type for argument in arguments]), given, skip)
    known = names.contenders.get(asked)
    if known is None:
        known = names.contenders[asked] = _contenders(names, candidates, arguments, given, skip)
    return known


def _is_plain(argument: Argument) -> bool:
    """Whether nothing but its type says what an argument fits: the same types choose the same overloads."""
    return argument.lambda_arity == NO_LAMBDA and not argument.group and not argument.name


def _contenders(
    names: Names, candidates: Sequence[MemberSymbol], arguments: Sequence[Argument], given: int, skip: int
) -> tuple[list[MemberSymbol], bool]:
    exact = _exact(candidates, arguments, given) if len(candidates) > 1 and not skip else None
    if exact is not None:
        return [exact], True
    best: list[MemberSymbol] = []
    known: set[tuple[TypeRef, ...]] = set()  # the parameters of the best, where there are several
    top = 0
    owner = ""
    for candidate in candidates:
        if best and top > NEVER and candidate.owner != owner and not skip:
            break
        if given > 0 and len(candidate.type_parameters) != given:
            continue
        score = _score(names, candidate, arguments, skip, given == 0)
        if score is None:
            continue
        owner = candidate.owner
        if not best or score > top:
            best, top = [candidate], score
            known.clear()
        elif score == top:
            known = known or {best[0].shape.types}
            if candidate.shape.types not in known:  # else what it overrides or its other half
                known.add(candidate.shape.types)
                best.append(candidate)
    return _better(names, best, arguments, skip) if len(best) > 1 else best, top > NEVER


def _better(names: Names, equals: list[MemberSymbol], arguments: Sequence[Argument], skip: int) -> list[MemberSymbol]:
    """Of overloads that known arguments fit equally well the one whose parameters are more special, else those without
    type parameters."""
    for one in equals:
        if all(other is one or _is_more_special(names, one, other, arguments, skip) for other in equals):
            return [one]
    is_known = all(argument.type is not None or argument.returned is not None for argument in arguments)
    return [found for found in equals if is_known and not found.type_parameters] or equals


def _is_more_special(
    names: Names, one: MemberSymbol, other: MemberSymbol, arguments: Sequence[Argument], skip: int
) -> bool:
    """Whether a parameter of one overload is more special than that of another, and all others but those for lambdas
    are the same."""
    own, others = (pairs_for(found, arguments, skip) or () for found in (one, other))
    is_special = False
    for (argument, wanted), (_, known) in zip(own, others, strict=True):
        if argument.type is not None and is_more_special(names, wanted, known):
            is_special = True
        elif wanted != known and not argument.is_lambda:
            return False
    return is_special


def _exact(candidates: Sequence[MemberSymbol], arguments: Sequence[Argument], given: int) -> MemberSymbol | None:
    """The plain method of the nearest type whose parameters have the very types of the arguments: no other overload is
    better. Visitors have hundreds of overloads, and a call for each of them."""
    types = tuple(argument.type for argument in arguments)
    if given > 0 or None in types or any(argument.name or argument.is_lambda for argument in arguments):
        return None
    owner = candidates[0].owner
    return next(
        (
            found
            for found in candidates
            if found.shape.types == types
            and found.owner == owner
            and not found.type_parameters
            and not found.shape.expands
        ),
        None,
    )


def _score(
    names: Names, candidate: MemberSymbol, arguments: Sequence[Argument], skip: int, is_inferred: bool
) -> int | None:
    """How well the arguments fit, None where their number does not, or where nothing tells a type parameter that must
    be inferred; ten to one that fewer unused parameters win."""
    pairs = pairs_for(candidate, arguments, skip)
    if pairs is None:
        return None
    types, _, expands = candidate.shape
    if is_inferred and candidate.type_parameters:
        told = [wanted for _, wanted in pairs] + list(types[:skip])
        if not all(any(_mentions(wanted, name) for wanted in told) for name in candidate.type_parameters):
            return None
    total = 0
    for argument, wanted in pairs:
        total += fits(names, argument, wanted)
    if total <= NEVER // 2:
        return NEVER
    exact = len(types) - skip == len(arguments) and not expands
    return total * 10 + (5 if exact else 0)


def _mentions(found: TypeRef, parameter: str) -> bool:
    """Whether a type parameter is part of a type."""
    if found.parameter:
        return found.name == parameter
    return any(_mentions(argument, parameter) for argument in found.arguments)


_name = attrgetter("name")


def pairs_for(
    member: MemberSymbol, arguments: Sequence[Argument], skip: int = 0
) -> list[tuple[Argument, TypeRef]] | None:
    """Each argument with the type of its parameter, the first `skip` ones left out; None where they cannot be what the
    parameters want."""
    types, required, expands = member.shape
    last = skip + len(arguments)
    if not expands:
        if last > len(types):
            return None
        if not any(map(_name, arguments)):  # nine of ten calls
            return list(zip(arguments, types[skip:], strict=False)) if last >= required else None
    return _matched(member.parameters[skip:], arguments)


def _matched(
    parameters: Sequence[ParameterSymbol], arguments: Sequence[Argument]
) -> list[tuple[Argument, TypeRef]] | None:
    """`pairs_for` of named arguments and parameters that take any number."""
    count, given = len(parameters), len(arguments)
    expands = count > 0 and "params" in parameters[-1].modifiers
    if given > count and not expands:
        return None
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
    """How well an argument is what a parameter wants, `NEVER` if it cannot be."""
    if argument.is_lambda:
        return _lambda_fits(names, argument, wanted)
    if argument.group:
        return _group_fits(names, argument.group, wanted)
    return assignable(names, argument.type, wanted)


def _lambda_fits(names: Names, argument: Argument, wanted: TypeRef) -> int:
    if wanted.parameter or is_scalar(wanted) or wanted.is_array or wanted.is_tuple:
        return NEVER
    parameters, result = signature_of(names, wanted)
    if parameters is None:
        if wanted.declared:
            return NEVER
        return 0 if is_delegate(wanted) else UNLIKELY
    if argument.lambda_arity >= 0 and argument.lambda_arity != len(parameters):
        return NEVER
    if argument.returned is not None:
        return _returned_fits(names, argument, argument.returned, result)
    gives = result is not None and result.name not in ("", "void")
    if argument.is_async:
        waits = result is not None and awaited(result) != result
        if not waits:
            return UNLIKELY if not gives else NEVER
        has_value = result is not None and bool(result.arguments)
        return LIKELY if argument.gives is None or argument.gives == has_value else UNLIKELY
    if argument.gives is None:
        return OPEN
    return LIKELY if argument.gives == gives else NEVER


def _returned_fits(names: Names, argument: Argument, returned: TypeRef, result: TypeRef | None) -> int:
    """How well a lambda that was read returns what is wanted. That it gives a value which is not wanted does no harm if
    its body may stand as a statement; but where one is wanted, that overload is the better one."""
    if argument.is_async and result is not None:
        inner = awaited(result)
        result = inner if inner != result else TypeRef("void")
    if result is None or result.name in ("", "void"):
        return LIKELY if returned.name == "void" else NEVER if argument.gives else OPEN
    if returned.name == "void":
        return NEVER
    if result.parameter:
        return LIKELY
    fit = assignable(names, returned, result)
    return fit if fit <= UNLIKELY else fit + OPEN


def _group_fits(names: Names, group: Sequence[MemberSymbol], wanted: TypeRef) -> int:
    """How well one of the methods that a method group names is what a delegate wants."""
    if wanted.parameter or is_scalar(wanted) or wanted.is_array or wanted.is_tuple:
        return NEVER
    parameters, result = signature_of(names, wanted)
    if parameters is None:
        if wanted.declared:
            return NEVER
        return 0 if is_delegate(wanted) else UNLIKELY
    gives = result is not None and result.name not in ("", "void")
    return LIKELY if any(_becomes(names, member, parameters, result, gives) for member in group) else NEVER


def _becomes(
    names: Names, member: MemberSymbol, parameters: tuple[TypeRef, ...], result: TypeRef | None, gives: bool
) -> bool:
    """Whether a method can be made a delegate with these parameters and this result."""
    own = [entry.type for entry in member.parameters]
    if len(own) == len(parameters) + 1 and member.is_extension:
        own = own[1:]
    if len(own) != len(parameters) or gives == (member.type.name == "void"):
        return False
    if result is not None and gives and assignable(names, member.type, result) <= NEVER:
        return False
    return all(assignable(names, found, want) > NEVER for found, want in zip(parameters, own, strict=True))
