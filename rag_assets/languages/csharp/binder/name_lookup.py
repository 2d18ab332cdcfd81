"""What one file asks about names, each thing once: the questions of `CSharpSymbols` with a memory for the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rag_assets.contracts.segment import MemberKind
from rag_assets.languages.csharp.binder.bound_types import TypeRef, substituted

if TYPE_CHECKING:
    from rag_assets.languages.csharp.binder.label_symbols import CSharpSymbols
    from rag_assets.languages.csharp.binder.symbols import MemberSymbol, TypeSymbol

METHODS = frozenset({MemberKind.METHOD, MemberKind.FUNCTION})
VALUES = frozenset({MemberKind.PROPERTY, MemberKind.FIELD, MemberKind.EVENT, MemberKind.ENUM_VALUE, MemberKind.INDEXER})
BoundType = tuple[TypeRef, tuple[str, ...]]
"""A type and the keys of all types of the label that its text names."""


class Names:
    """Answers for one file. Not shared between files, so that each records its own questions."""

    __slots__ = (
        "_above", "_bound", "_constructors", "_declared", "_extensions", "_foreign", "_found", "_named", "_only",
        "_statics", "_views", "contenders", "path", "symbols",
    )  # fmt: skip

    def __init__(self, symbols: CSharpSymbols, path: str) -> None:
        self.symbols = symbols
        self.path = path
        self._declared: dict[str, TypeSymbol | None] = {}
        self._named: dict[tuple[str, int, str], TypeSymbol | None] = {}
        self._bound: dict[tuple[str, str, tuple[str, ...]], BoundType] = {}
        self._found: dict[tuple[str, str], tuple[MemberSymbol, ...]] = {}
        self._constructors: dict[str, tuple[MemberSymbol, ...]] = {}
        self._extensions: dict[tuple[str, str], tuple[MemberSymbol, ...]] = {}
        self._statics: dict[str, tuple[MemberSymbol, ...]] = {}
        self._only: dict[str, MemberSymbol | None] = {}
        self._above: dict[str, dict[str, TypeRef]] = {}
        self._views: dict[str, TypeRef | None] = {}
        self._foreign: dict[str, frozenset[str]] = {}
        self.contenders: dict[tuple[Any, ...], tuple[list[MemberSymbol], bool]] = {}  # as `overloads` asks for them

    def declared(self, type_id: str) -> TypeSymbol | None:
        try:
            return self._declared[type_id]
        except KeyError:
            found = self._declared[type_id] = self.symbols.declared(type_id)
            return found

    def named(self, name: str, arity: int, scope: str) -> TypeSymbol | None:
        asked = (name, arity, scope)
        try:
            return self._named[asked]
        except KeyError:
            found = self._named[asked] = self.symbols.named(name, arity, self.path, scope)
            return found

    def bind(self, text: str, scope: str, parameters: tuple[str, ...]) -> BoundType:
        """The type that `text` means, and the types of the label that it names."""
        asked = (text, scope, parameters)
        known = self._bound.get(asked)
        if known is None:
            found = self.symbols.bound(text, self.path, scope, parameters)
            known = self._bound[asked] = (found, self._keys(found))
        return known

    def _keys(self, found: TypeRef) -> tuple[str, ...]:
        keys: dict[str, None] = {}
        waiting = [found]
        for entry in waiting:  # grows while it is read
            symbol = self.declared(entry.name) if entry.declared else None
            if symbol is not None:
                keys[symbol.key] = None
            waiting.extend(entry.arguments)
        return tuple(keys)

    def find(self, type_id: str, name: str) -> tuple[MemberSymbol, ...]:
        asked = (type_id, name)
        known = self._found.get(asked)
        if known is None:
            known = self._found[asked] = self.symbols.find_members(type_id, name)
        return known

    def constructors(self, type_id: str) -> tuple[MemberSymbol, ...]:
        known = self._constructors.get(type_id)
        if known is None:
            found = self.symbols.members(type_id, ".ctor")
            known = self._constructors[type_id] = tuple(entry for entry in found if "static" not in entry.modifiers)
        return known

    def extensions(self, name: str, scope: str) -> tuple[MemberSymbol, ...]:
        asked = (name, scope)
        known = self._extensions.get(asked)
        if known is None:
            known = self._extensions[asked] = self.symbols.extension_methods(name, self.path, scope)
        return known

    def statics(self, name: str) -> tuple[MemberSymbol, ...]:
        known = self._statics.get(name)
        if known is None:
            known = self._statics[name] = self.symbols.static_members(name, self.path)
        return known

    def only(self, name: str) -> MemberSymbol | None:
        if name not in self._only:
            self._only[name] = self.symbols.only_member(name)
        return self._only[name]

    def above(self, type_id: str) -> dict[str, TypeRef]:
        """The types of the label above a type by id."""
        known = self._above.get(type_id)
        if known is None:
            bases = (*self.symbols.base_classes(type_id), *self.symbols.interfaces(type_id))
            known = self._above[type_id] = {base.name: base for base in bases}
        return known

    def arguments_of(self, found: TypeRef) -> dict[str, TypeRef]:
        """Type parameter → argument of a generic type of the label."""
        if not found.arguments or not found.declared:
            return {}
        symbol = self.declared(found.name)
        return dict(zip(symbol.type_parameters, found.arguments, strict=False)) if symbol is not None else {}

    def foreign_bases(self, type_id: str) -> frozenset[str]:
        """The simple names of the types of libraries above a type."""
        known = self._foreign.get(type_id)
        if known is None:
            types = (type_id, *self.above(type_id))
            bases = (base for current in types for base in self.symbols.bases(current))
            known = self._foreign[type_id] = frozenset(base.name for base in bases if not base.declared)
        return known

    def library_view(self, found: TypeRef) -> TypeRef | None:
        """`found` as the generic library type that it is or derives from: what LINQ and the like see of it."""
        if not found.declared:
            return found
        if found.name not in self._views:
            self._views[found.name] = self._foreign_base(found.name)
        view = self._views[found.name]
        return substituted(view, self.arguments_of(found)) if view is not None else None

    def _foreign_base(self, type_id: str) -> TypeRef | None:
        own = self.symbols.bases(type_id)
        inherited = (
            substituted(foreign, self.arguments_of(base))
            for base in self.above(type_id).values()
            for foreign in self.symbols.bases(base.name)
        )
        return next((base for base in (*own, *inherited) if not base.declared and base.arguments), None)
