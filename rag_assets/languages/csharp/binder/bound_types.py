"""Types as they are known after resolution: what a declared member returns, what an expression is."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from rag_assets.languages.csharp.binder.type_syntax import ARRAY, TUPLE

MAX_SUBSTITUTED_DEPTH = 16
"""How deep arguments are replaced: a type that contains itself in its own arguments would grow without end."""


class TypeRef(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """A type with its arguments; a struct, because nothing is made, compared and hashed as often.

    `declared`: `name` is the id of a type of the label (see `TypeSymbol.id`). Otherwise it is the simple name of a
    type of a library (`Task`), of a type parameter in scope (`parameter`), `[]` (array) or `()` (tuple, whose element
    names are `labels`).
    """

    name: str
    arguments: tuple[TypeRef, ...] = ()
    declared: bool = False
    parameter: bool = False
    labels: tuple[str, ...] = ()

    @property
    def is_array(self) -> bool:
        return self.name == ARRAY

    @property
    def is_tuple(self) -> bool:
        return self.name == TUPLE


def substituted(found: TypeRef, arguments: Mapping[str, TypeRef], depth: int = 0) -> TypeRef:
    """`found` with type parameters replaced by `arguments`; parameters without one stay."""
    if found.parameter:
        return arguments.get(found.name, found)
    if not found.arguments or depth > MAX_SUBSTITUTED_DEPTH:
        return found
    inner = tuple(substituted(argument, arguments, depth + 1) for argument in found.arguments)
    return found if inner == found.arguments else TypeRef(found.name, inner, found.declared, False, found.labels)
