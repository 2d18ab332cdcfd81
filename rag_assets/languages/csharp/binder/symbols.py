"""Types and members of a label as answers give them: bound, small, without places that other edits would move."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import msgspec

from rag_assets.contracts.segment import MemberKind
from rag_assets.languages.csharp.binder.type_syntax import TypeRef

_OPENING = frozenset({"public", "internal", "protected", "file"})


def is_private(modifiers: tuple[str, ...]) -> bool:
    """Whether the modifiers of a member of a class or struct leave it to the type itself."""
    return _OPENING.isdisjoint(modifiers)


class TypeSymbol(msgspec.Struct, frozen=True, gc=False):
    """A type of the label. `key` is its graph node, `path` where it (its first part with a base list) is declared;
    `id` is what questions about it want: the symbol, made unique where several projects declare the same."""

    id: str
    symbol: str
    key: str
    name: str
    kind: str
    path: str
    namespace: str = ""
    outer: str = ""
    type_parameters: tuple[str, ...] = ()
    modifiers: tuple[str, ...] = ()

    @property
    def is_static(self) -> bool:
        return "static" in self.modifiers


class ParameterSymbol(msgspec.Struct, frozen=True, gc=False):
    name: str
    type: TypeRef
    modifiers: tuple[str, ...] = ()
    optional: bool = False


class Shape(NamedTuple):
    """What a member takes: the types of its parameters, how many of them must be given, and whether the last one takes
    any number."""

    types: tuple[TypeRef, ...]
    required: int
    expands: bool


class MemberSymbol(msgspec.Struct, frozen=True, cache_hash=True, dict=True):
    """A member with its types bound. `key` is its graph node, '' for enum values and primary constructors; `owner`
    the id of its type and `owner_key` the node of that."""

    name: str
    kind: MemberKind
    key: str
    owner: str
    owner_key: str
    type: TypeRef
    parameters: tuple[ParameterSymbol, ...] = ()
    type_parameters: tuple[str, ...] = ()
    constraints: tuple[tuple[str, TypeRef], ...] = ()
    modifiers: tuple[str, ...] = ()
    explicit_interface: str = ""

    @property
    def is_static(self) -> bool:
        return "static" in self.modifiers or "const" in self.modifiers or self.kind is MemberKind.ENUM_VALUE

    @cached_property
    def shape(self) -> Shape:
        """Worked out once: the choice between overloads asks it of each of them at every call."""
        required = [number for number, entry in enumerate(self.parameters, start=1) if not entry.optional]
        return Shape(
            tuple(entry.type for entry in self.parameters),
            max(required, default=0),
            bool(self.parameters) and "params" in self.parameters[-1].modifiers,
        )

    @property
    def is_extension(self) -> bool:
        return bool(self.parameters) and "this" in self.parameters[0].modifiers
