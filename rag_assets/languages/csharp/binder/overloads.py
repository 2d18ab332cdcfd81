"""Which overload a call means: by arity, then by its arguments.

An argument is read at once, or, where it needs its parameter to be understood, when that is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

import msgspec

from rag_assets.languages.csharp.binder import bcl_types
from rag_assets.languages.csharp.binder.bcl_types import awaited, element_of, is_delegate, is_scalar
from rag_assets.languages.csharp.binder.binder import NAME_ONLY, PROBABLE, RESOLVED, Binder, Value
from rag_assets.languages.csharp.binder.conversions import (
    LIKELY,
    NEVER,
    OPEN,
    UNLIKELY,
    assignable,
    is_more_special,
    signature_of,
    unify,
)
from rag_assets.languages.csharp.binder.lambdas import arity_of, gives_value, is_async, read_lambda
from rag_assets.languages.csharp.binder.type_syntax import TypeRef, substituted

if TYPE_CHECKING:
    from tree_sitter import Node

    from rag_assets.languages.csharp.binder.label_symbols import Names
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
    if not (argument.is_lambda or argument.group):
        return assignable(names, argument.type, wanted)
    if wanted.parameter or is_scalar(wanted) or wanted.is_array or wanted.is_tuple:
        return NEVER
    parameters, result = signature_of(names, wanted)
    if parameters is None:
        if wanted.declared:
            return NEVER
        return 0 if is_delegate(wanted) else UNLIKELY
    if argument.is_lambda:
        return _lambda_fits(names, argument, parameters, result)
    return _group_fits(names, argument.group, parameters, result)


def _lambda_fits(names: Names, argument: Argument, parameters: tuple[TypeRef, ...], result: TypeRef | None) -> int:
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


def _group_fits(
    names: Names, group: Sequence[MemberSymbol], parameters: tuple[TypeRef, ...], result: TypeRef | None
) -> int:
    """How well one of the methods that a method group names is what a delegate wants."""
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
