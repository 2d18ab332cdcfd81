"""The C# declarations of a label and what written names mean: the questions that extractors of the graph ask.

    symbols = CSharpSymbols([declared_in(files), …])
    place = Place("src/Orders.cs", "Shop.Orders.OrderService")   # scope: symbol of the type around, or the namespace
    order = symbols.resolve_type("IReadOnlyList<Order?>", place)  # None: the list is not of this label
    bound = symbols.bind("IReadOnlyList<Order?>", place)          # TypeRef of the list; .arguments[0] is Order's
    symbols.find_members(bound.arguments[0].name, "Total")        # declared there or in a base, types bound

Names are looked up as the compiler does: type parameters, types nested in the types around and in their bases, the
namespaces outwards, aliases and using directives, global ones of the project too. Where several projects declare a
name, the own project is preferred, then those that it refers to. A `TypeSymbol.id` is what other questions want; it is
the symbol unless several projects declare the same one. Everything that is answered is small, has no place in a file
that other edits would move, and is equal whatever the order of the declarations.

What one file asks about names, each thing once: the questions of `CSharpSymbols` with a memory for the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import msgspec

from rag_assets.dependency_trace import tracked
from rag_assets.languages.csharp.binder.declarations import CSharpDeclarations, declared_in
from rag_assets.languages.csharp.binder.member_table import Hierarchy, MemberTable
from rag_assets.languages.csharp.binder.symbols import MemberSymbol, ParameterSymbol, TypeSymbol
from rag_assets.languages.csharp.binder.type_syntax import TypeRef, read_type_syntax, substituted
from rag_assets.languages.csharp.binder.type_table import TypeTable
from rag_assets.serialization import from_msgpack

__all__ = [
    "CSharpDeclarations",
    "CSharpSymbols",
    "MemberSymbol",
    "NamePosition",
    "ParameterSymbol",
    "TypeRef",
    "TypeSymbol",
    "declared_in",
]


@dataclass(frozen=True, slots=True)
class NamePosition:
    """Where a name stands. `scope`: the symbol (with arity) of the innermost type around, or the namespace;
    `type_parameters`: those of the method and the types around, which hide types of the label."""

    path: str
    scope: str = ""
    type_parameters: tuple[str, ...] = ()


class CSharpSymbols:
    """The declarations of a label by name. Picklable; equal declarations in any order give equal answers."""

    __slots__ = ("_declarations", "_hierarchy", "_members", "_types")

    def __init__(self, declarations: Iterable[CSharpDeclarations] = ()) -> None:
        self._declarations = tuple(declarations)
        self._types = TypeTable(self._declarations)
        self._hierarchy = Hierarchy(self._types)
        self._members = MemberTable(self._types, self._hierarchy)

    def __reduce__(self) -> tuple[Callable[[bytes], CSharpSymbols], tuple[bytes]]:
        """Pickled as its declarations, packed: making the tables again is faster than moving them, and a pickler would
        remember each of half a million texts."""
        return _unpacked, (msgspec.msgpack.encode(self._declarations),)

    def resolve_type(self, written: str, place: NamePosition) -> TypeSymbol | None:
        """The type of the label that a type expression names at a place; None for a type parameter, an array, a tuple
        and what the label does not declare. Arguments do not matter, their number does."""
        found = read_type_syntax(written)
        if not found.name or found.name in place.type_parameters:
            return None
        return self.named(found.name, found.arity, place.path, place.scope)

    def bind(self, written: str, place: NamePosition) -> TypeRef:
        """The type expression with every name of the label in it resolved; `TypeRef("")` for no type."""
        return self.bound(written, place.path, place.scope, place.type_parameters)

    @tracked("csharp.named")
    def named(self, name: str, arity: int, path: str, scope: str) -> TypeSymbol | None:
        """The type that a dotted name with `arity` type arguments means at a place."""
        return self._types.symbol(self._types.resolve(name, arity, path, scope))

    @tracked("csharp.bound")
    def bound(self, written: str, path: str, scope: str, type_parameters: tuple[str, ...]) -> TypeRef:
        """See `bind`."""
        return self._hierarchy.bind(written, path, scope, tuple(type_parameters))

    @tracked("csharp.declared")
    def declared(self, type_id: str) -> TypeSymbol | None:
        """The type of an id."""
        return self._types.symbol(type_id)

    @tracked("csharp.declared_at")
    def declared_at(self, symbol: str, path: str) -> TypeSymbol | None:
        """The type that the file declares under this symbol: where several projects do, its own one."""
        return self._types.symbol(self._types.home_id(symbol, path))

    @tracked("csharp.component")
    def component(self, name: str, path: str) -> TypeSymbol | None:
        """The component of Razor that a tag means in a file, of its own name itself."""
        return self._types.symbol(self._types.component(name, path))

    @tracked("csharp.bases")
    def bases(self, type_id: str) -> tuple[TypeRef, ...]:
        """The base list of all parts, bound, in the order written; also types of libraries."""
        return self._hierarchy.bases(type_id)

    @tracked("csharp.interfaces")
    def interfaces(self, type_id: str) -> tuple[TypeRef, ...]:
        """All interfaces of the label that a type implements, those of its bases and of its interfaces too, in terms
        of its own type parameters."""
        return self._hierarchy.interfaces(type_id)

    @tracked("csharp.base_classes")
    def base_classes(self, type_id: str) -> tuple[TypeRef, ...]:
        """The classes of the label above a type, nearest first, in terms of its own type parameters."""
        return self._hierarchy.base_classes(type_id)

    @tracked("csharp.has_foreign_base")
    def has_foreign_base(self, type_id: str) -> bool:
        """Whether members may come from a type that the label does not declare."""
        return self._hierarchy.has_foreign_base(type_id)

    @tracked("csharp.members")
    def members(self, type_id: str, name: str) -> tuple[MemberSymbol, ...]:
        """The members of this name that the type itself declares, in order of their places; constructors have the name
        `.ctor`, indexers `this[]`. Explicit implementations are among them."""
        return self._members.members(type_id, name)

    @tracked("csharp.find_members")
    def find_members(self, type_id: str, name: str) -> tuple[MemberSymbol, ...]:
        """The members of this name that an expression of the type has: declared there, then in its bases (of an
        interface, in its bases), nearest first, with type arguments of the bases put in. No explicit implementations.
        Ends for cyclic bases."""
        return self._members.find_members(type_id, name)

    @tracked("csharp.member_names")
    def member_names(self, type_id: str) -> tuple[str, ...]:
        """The names of the members that a type itself declares, sorted: for interfaces and what implements them."""
        return self._members.member_names(type_id)

    @tracked("csharp.constraints")
    def constraints(self, type_id: str) -> tuple[tuple[str, TypeRef], ...]:
        """(type parameter, what it is constrained to) of a generic type; only constraints that are types."""
        return self._members.constraints(type_id)

    @tracked("csharp.signature")
    def signature(self, type_id: str) -> MemberSymbol | None:
        """What a delegate takes and returns; None for any other type."""
        return self._members.signature(type_id)

    @tracked("csharp.static_members")
    def static_members(self, name: str, path: str) -> tuple[MemberSymbol, ...]:
        """The static members of a name that `using static` brings into a file."""
        return self._members.static_members(name, path)

    @tracked("csharp.extension_methods")
    def extension_methods(self, name: str, path: str, scope: str) -> tuple[MemberSymbol, ...]:
        """The extension methods of a name whose class is in scope, nearest project first; the first parameter is the
        receiver."""
        return self._members.extension_methods(name, path, scope)

    @tracked("csharp.sees")
    def sees(self, path: str, type_id: str) -> bool:
        """Whether a file may use a type: its project is the one of the type or refers to it; True without projects."""
        return self._types.sees(path, type_id)

    @tracked("csharp.only_member")
    def only_member(self, name: str) -> MemberSymbol | None:
        """The member (no constructor) of this name if exactly one type of the label has such; of overloads the first.
        What implements or overrides another one does not count beside it."""
        return self._members.only_member(name)


def _unpacked(declarations: bytes) -> CSharpSymbols:
    return CSharpSymbols(from_msgpack(declarations, tuple[CSharpDeclarations, ...]))


BoundType = tuple[TypeRef, tuple[str, ...]]
"""A type and the keys of all types of the label that its text names."""


class Names:
    """Answers for one file. Not shared between files, so that each records its own questions."""

    def __init__(self, symbols: CSharpSymbols, path: str) -> None:
        self.symbols = symbols
        self.path = path
        self.contenders: dict[tuple[Any, ...], tuple[list[MemberSymbol], bool]] = {}  # as `overloads` asks for them
        self._bound: dict[tuple[str, str, tuple[str, ...]], BoundType] = {}
        self._views: dict[str, TypeRef | None] = {}
        self.declared = cache(symbols.declared)
        self.find = cache(symbols.find_members)
        self.only = cache(symbols.only_member)
        self.named = cache(lambda name, arity, scope: symbols.named(name, arity, path, scope))
        self.extensions = cache(lambda name, scope: symbols.extension_methods(name, path, scope))
        self.statics = cache(lambda name: symbols.static_members(name, path))
        self.constructors = cache(partial(_constructors, symbols))
        self.above = cache(partial(_above, symbols))
        self.foreign_bases = cache(partial(_foreign_bases, symbols, self.above))

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

    def arguments_of(self, found: TypeRef) -> dict[str, TypeRef]:
        """Type parameter → argument of a generic type of the label."""
        if not found.arguments or not found.declared:
            return {}
        symbol = self.declared(found.name)
        return dict(zip(symbol.type_parameters, found.arguments, strict=False)) if symbol is not None else {}

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


def _constructors(symbols: CSharpSymbols, type_id: str) -> tuple[MemberSymbol, ...]:
    return tuple(found for found in symbols.members(type_id, ".ctor") if "static" not in found.modifiers)


def _above(symbols: CSharpSymbols, type_id: str) -> dict[str, TypeRef]:
    """The types of the label above a type by id."""
    return {base.name: base for base in (*symbols.base_classes(type_id), *symbols.interfaces(type_id))}


def _foreign_bases(symbols: CSharpSymbols, above: Callable[[str], dict[str, TypeRef]], type_id: str) -> frozenset[str]:
    """The simple names of the types of libraries above a type."""
    bases = (base for current in (type_id, *above(type_id)) for base in symbols.bases(current))
    return frozenset(base.name for base in bases if not base.declared)
