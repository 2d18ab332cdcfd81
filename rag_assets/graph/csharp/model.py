"""Types and members of a label as answers give them: bound, small, without places that other edits would move."""

from __future__ import annotations

from dataclasses import dataclass

from rag_assets.contracts.segment import MemberKind
from rag_assets.graph.csharp.references import TypeRef

_OPENING = frozenset({"public", "internal", "protected", "file"})


def is_private(modifiers: tuple[str, ...]) -> bool:
    """Whether the modifiers of a member of a class or struct leave it to the type itself."""
    return _OPENING.isdisjoint(modifiers)


@dataclass(frozen=True, slots=True)
class TypeSymbol:
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


@dataclass(frozen=True, slots=True)
class ParameterSymbol:
    name: str
    type: TypeRef
    modifiers: tuple[str, ...] = ()
    optional: bool = False


@dataclass(frozen=True, slots=True)
class MemberSymbol:
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

    @property
    def is_extension(self) -> bool:
        return bool(self.parameters) and "this" in self.parameters[0].modifiers
