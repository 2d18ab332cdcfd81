"""What a value may be given for: how well a type fits where another is wanted, and which type arguments that tells."""

from __future__ import annotations

from rag_assets.languages.csharp.binder.bcl_types import (
    CHAR,
    NULL,
    STRING,
    cannot_become,
    converts,
    delegate_parameters,
    delegate_result,
    element_of,
    is_delegate,
    is_scalar,
    is_task,
    plain_name,
)
from rag_assets.languages.csharp.binder.label_symbols import Names
from rag_assets.languages.csharp.binder.type_syntax import TypeRef, is_interface_name, substituted

NEVER = -1_000
"""A score that no number of fitting arguments makes up for."""
SAME, DERIVED, LIKELY, OPEN, UNLIKELY = 4, 3, 2, 1, -1
"""How well a value fits; 0 where nothing is known."""


def assignable(names: Names, found: TypeRef | None, wanted: TypeRef) -> int:
    """How well a value of the type `found` (None: unknown) may be given where `wanted` is; `NEVER` if it cannot be."""
    if found is None or not found.name or not wanted.name or found.name == "dynamic":
        return 0
    if wanted.parameter or found.parameter:
        return SAME if found == wanted else OPEN if wanted.parameter else 0
    if found == NULL:
        return UNLIKELY if is_scalar(wanted) and wanted.name not in ("string", "String", "Uri", "Type") else 0
    if found.declared:
        return _declared_fits(names, found, wanted)
    if wanted.declared:
        return UNLIKELY if is_converted_to(names, wanted) else NEVER
    if plain_name(found) == plain_name(wanted):
        if len(found.arguments) != len(wanted.arguments):  # `Func<A>` and `Func<A, B>` are two types
            return NEVER if is_delegate(wanted) or _are_other_tasks(found) else OPEN
        return SAME if _matching(found, wanted) else LIKELY
    if plain_name(wanted) == "object":
        return 0
    if cannot_become(found, wanted):
        return NEVER
    if is_scalar(found) and is_scalar(wanted):
        return OPEN if converts(found, wanted) else NEVER
    if is_scalar(wanted) and (found.arguments or found.is_array):
        return NEVER
    if is_scalar(found):
        is_text = found == STRING and bool(wanted.arguments) and wanted.arguments[0] == CHAR
        if wanted.arguments:
            return 0 if is_text or wanted.name == "IEquatable" else NEVER
        return 0 if is_interface_name(wanted.name) else UNLIKELY  # but for a conversion that the type declares
    return OPEN


def _are_other_tasks(found: TypeRef) -> bool:
    """Whether one of two tasks of the same name has a result and cannot be given for the other."""
    return is_task(found) and (not found.arguments or found.name != "Task")


def _matching(found: TypeRef, wanted: TypeRef) -> bool:
    """Whether the arguments of one generic type are those of the other, or may become them."""
    if found.arguments == wanted.arguments:
        return True
    pairs = zip(found.arguments, wanted.arguments, strict=False)
    return all(given == other or other.parameter or _is_alike(given, other) for given, other in pairs)


def _is_alike(found: TypeRef, wanted: TypeRef) -> bool:
    """Whether an argument is the same generic type: `Func<Order, int>` for `Func<A, B>`, not for `Func<A>`."""
    same = found.name == wanted.name and len(found.arguments) == len(wanted.arguments) > 0
    return same and _matching(found, wanted)


def is_more_special(names: Names, one: TypeRef, other: TypeRef) -> bool:
    """Whether a type of the label is below another one."""
    return one.declared and other.declared and other.name in names.above(one.name)


def _declared_fits(names: Names, found: TypeRef, wanted: TypeRef) -> int:
    if wanted.declared:
        if found.name == wanted.name:
            return SAME if _matching(found, wanted) else LIKELY if _tells(names, found, wanted) else UNLIKELY
        base = names.above(found.name).get(wanted.name)
        if base is not None:
            seen = substituted(base, names.arguments_of(found)) if base.arguments else base
            return DERIVED if _tells(names, seen, wanted) else UNLIKELY
        return UNLIKELY if is_converted_to(names, wanted) else NEVER
    if plain_name(wanted) == "object":
        return 0
    if is_scalar(wanted):
        return NEVER
    if is_delegate(wanted):
        symbol = names.declared(found.name)
        return 0 if symbol is not None and symbol.kind == "delegate" else NEVER
    bases = names.foreign_bases(found.name)
    if wanted.name in bases:
        return DERIVED
    return 0 if bases else UNLIKELY


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


def signature_of(names: Names, found: TypeRef) -> tuple[tuple[TypeRef, ...] | None, TypeRef | None]:
    """(parameters, result) of a delegate type of the label or a library; (None, None) for any other type."""
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
