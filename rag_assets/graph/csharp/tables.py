"""The look-up tables behind the questions of `CSharpSymbols`: types by name and place, members, bases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

from rag_assets.contracts.segment import MemberKind
from rag_assets.graph.csharp.declarations import CSharpDeclarations, DeclaredMember, DeclaredParameter, DeclaredType
from rag_assets.graph.csharp.places import Projects, Usings, outwards, without_arity
from rag_assets.graph.csharp.references import TypeRef, substituted
from rag_assets.graph.csharp.written import ARRAY, TUPLE, Written, read_written

MAX_BASES = 100
"""How many types above one are looked at; real hierarchies stay below 30, with all their interfaces."""

_PREDEFINED = frozenset(
    {
        "bool", "byte", "sbyte", "char", "decimal", "double", "float", "int", "uint", "nint", "nuint", "long", "ulong",
        "short", "ushort", "object", "string", "void", "dynamic", "var",
    }
)  # fmt: skip


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


class Tables:
    """Indexes over all declarations. What they derive is remembered, and forgotten when pickled."""

    def __init__(self, declarations: Iterable[CSharpDeclarations]) -> None:
        given = list(declarations)
        self.projects = Projects(
            (project for entry in given for project in entry.projects),
            (found for entry in given for found in entry.usings),
        )
        types = sorted((found for entry in given for found in entry.types), key=_place)
        self._parts: dict[str, list[DeclaredType]] = {}
        self._ids: dict[str, list[str]] = {}  # symbol → ids
        self._homes: dict[str, str] = {}  # id → project
        self._by_name: dict[tuple[str, str], list[str]] = {}  # (container without arity, name) → symbols
        self._type_names: set[str] = set()  # a look-up ends early for the many names of libraries
        self._namespaces: set[str] = set()
        self._extensions: dict[str, list[tuple[str, DeclaredType, DeclaredMember]]] = {}
        self._named: dict[str, list[tuple[str, DeclaredType, DeclaredMember]]] | None = None
        by_symbol: dict[str, list[DeclaredType]] = {}
        for found in types:
            by_symbol.setdefault(found.symbol, []).append(found)
        for symbol, parts in by_symbol.items():
            self._add(symbol, parts)
        self._forget()

    def _add(self, symbol: str, parts: list[DeclaredType]) -> None:
        first = parts[0]
        container = without_arity(first.outer or first.namespace)
        self._by_name.setdefault((container, first.name), []).append(symbol)
        self._type_names.add(first.name)
        if first.namespace not in self._namespaces:
            self._namespaces.update(outwards(first.namespace))
        for type_id, home, members in self._identities(symbol, parts):
            self._ids.setdefault(symbol, []).append(type_id)
            self._parts[type_id] = members
            self._homes[type_id] = home
            for part in members:
                if "static" in part.modifiers:
                    for member in part.members:
                        if member.parameters and "this" in member.parameters[0].modifiers:
                            self._extensions.setdefault(member.name, []).append((type_id, part, member))

    def _identities(self, symbol: str, parts: list[DeclaredType]) -> Iterator[tuple[str, str, list[DeclaredType]]]:
        """(id, project, parts) of the types that carry one symbol: parts of a partial type belong together, also when
        projects link them from each other; whole declarations in several projects are types of their own."""
        homes: dict[str, list[DeclaredType]] = {}
        for part in parts:
            homes.setdefault(self.projects.home_of(part.path), []).append(part)
        if len(homes) == 1 or all("partial" in part.modifiers for part in parts):
            yield symbol, self.projects.home_of(parts[0].path), parts
            return
        for number, (home, members) in enumerate(sorted(homes.items())):
            yield f"{symbol}@{home}" if number else symbol, home, members

    def _forget(self) -> None:
        self._usings: dict[str, Usings] = {}
        self._symbols: dict[str, TypeSymbol] = {}
        self._resolved: dict[tuple[str, int, str, str], str] = {}
        self._bound: dict[tuple[str, str, str, tuple[str, ...]], TypeRef] = {}
        self._by_member: dict[str, dict[str, list[tuple[DeclaredType, DeclaredMember]]]] = {}
        self._members: dict[tuple[str, str], tuple[MemberSymbol, ...]] = {}
        self._bases: dict[str, tuple[TypeRef, ...]] = {}
        self._above: dict[str, tuple[TypeRef, ...]] = {}
        self._foreign: dict[str, bool] = {}
        self._nesting: dict[str, tuple[str, ...]] = {}
        self._found: dict[tuple[str, str], tuple[MemberSymbol, ...]] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in _DERIVED}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._forget()

    # names

    def symbol(self, type_id: str) -> TypeSymbol | None:
        known = self._symbols.get(type_id)
        if known is None and type_id in self._parts:
            parts = self._parts[type_id]
            main = next((part for part in parts if part.base_list), parts[0])
            known = self._symbols[type_id] = TypeSymbol(
                id=type_id,
                symbol=main.symbol,
                key=main.key,
                name=main.name,
                kind=main.kind,
                path=main.path,
                namespace=main.namespace,
                outer=main.outer,
                type_parameters=main.type_parameters,
                modifiers=tuple(sorted({word for part in parts for word in part.modifiers})),
            )
        return known

    def home_id(self, symbol: str, path: str) -> str:
        """The id of a symbol as the project of `path` sees it; '' for an unknown symbol."""
        ids = self._ids.get(symbol, ())
        if len(ids) < 2:
            return ids[0] if ids else ""
        home = self.projects.home_of(path)
        return min(ids, key=lambda type_id: (self.projects.distance(home, self._homes[type_id]), ids.index(type_id)))

    def resolve(self, name: str, arity: int, path: str, scope: str) -> str:
        """The id of the type that a dotted name means at a place, '' for none."""
        if name in _PREDEFINED:
            return ""
        asked = (name, arity, path, scope)
        known = self._resolved.get(asked)
        if known is None:
            known = self._resolved[asked] = self._resolve(name, arity, path, scope)
        return known

    def _resolve(self, name: str, arity: int, path: str, scope: str) -> str:
        head, _, rest = name.partition(".")
        if not rest:
            return self._simple(head, arity, path, scope)
        outer = self._simple(head, -1, path, scope)  # `Outer.Inner`, or an alias of a namespace
        if outer:
            found = self._inside(outer, rest, arity, path)
            if found:
                return found
        container, _, last = name.rpartition(".")
        namespace = self._namespace_of(scope)
        target = self._usings_of(path).alias(head)
        if target:
            container = f"{target}.{container.partition('.')[2]}".rstrip(".")
            return self._qualified(container, last, arity, path)
        for space in outwards(namespace):
            found = self._qualified(f"{space}.{container}" if space else container, last, arity, path)
            if found:
                return found
        return ""

    def _inside(self, outer: str, names: str, arity: int, path: str) -> str:
        parts = names.split(".")
        for number, part in enumerate(parts):
            outer = self._nested(outer, part, arity if number == len(parts) - 1 else -1, path)
            if not outer:
                return ""
        return outer

    def _qualified(self, container: str, name: str, arity: int, path: str) -> str:
        symbols = self._by_name.get((container, name))
        return self._pick(symbols, arity, path) if symbols else ""

    def _simple(self, name: str, arity: int, path: str, scope: str) -> str:
        """A name without dots; arity -1 for any."""
        if name not in self._type_names and not self._usings_of(path).alias(name):
            return ""
        around = self.home_id(scope, path)
        while around:
            found = self._nested(around, name, arity, path)
            if found:
                return found
            part = self._parts[around][0]
            if part.name == name and arity in (-1, len(part.type_parameters)):
                return around
            around = self.home_id(part.outer, path)
        for space in outwards(self._namespace_of(scope)):
            found = self._qualified(space, name, arity, path)
            if found:
                return found
        usings = self._usings_of(path)
        target = usings.alias(name)
        if target:
            written = read_written(target)
            container, _, last = written.name.rpartition(".")
            return self._qualified(container, last, written.arity, path) or self._global_type(written, path)
        candidates = [symbol for space in usings.namespaces for symbol in self._by_name.get((space, name), ())]
        if candidates:
            return self._pick(candidates, arity, path)
        for written_type in usings.statics:
            owner = self._global_type(read_written(written_type), path)
            found = self._nested(owner, name, arity, path) if owner else ""
            if found:
                return found
        return ""

    def _global_type(self, written: Written, path: str) -> str:
        container, _, last = written.name.rpartition(".")
        return self._qualified(container, last, written.arity, path)

    def _nested(self, outer: str, name: str, arity: int, path: str) -> str:
        """A type nested in a type or in one of the classes above it."""
        plain = without_arity(self._parts[outer][0].symbol)
        found = self._qualified(plain, name, arity, path)
        if found or (not self._parts[outer][0].base_list and len(self._parts[outer]) == 1):
            return found
        for base in self._nesting_bases(outer):
            found = self._qualified(without_arity(self._parts[base][0].symbol), name, arity, path)
            if found:
                return found
        return ""

    def _nesting_bases(self, type_id: str) -> tuple[str, ...]:
        """The classes above a type, found without looking into types, for that is what asks for them."""
        known = self._nesting.get(type_id)
        if known is None:
            known = self._nesting[type_id] = tuple(self._classes_above(type_id))
        return known

    def _classes_above(self, type_id: str) -> Iterator[str]:
        seen = {type_id}
        current = type_id
        while len(seen) < MAX_BASES:
            above = ""
            for part in self._parts[current]:
                for written in part.base_list:
                    base = read_written(written)
                    head = part.outer or part.namespace
                    made = self._outside(base, part.path, head)
                    if made and self._parts[made][0].kind != "interface":
                        above = made
                        break
                if above:
                    break
            if not above or above in seen:
                return
            seen.add(above)
            yield above
            current = above

    def _outside(self, written: Written, path: str, scope: str) -> str:
        """As `resolve`, but without what bases of the types around would add: a look-up that cannot run in circles."""
        name, arity = written.name, written.arity
        container, _, last = name.rpartition(".")
        if last not in self._type_names and not self._usings_of(path).alias(name):
            return ""
        for space in outwards(without_arity(scope)):
            joined = f"{space}.{container}".strip(".")
            found = self._qualified(joined, last, arity, path)
            if found:
                return found
        usings = self._usings_of(path)
        target = usings.alias(name)
        if target:
            return self._global_type(read_written(target), path)
        for space in usings.namespaces:
            found = self._qualified(f"{space}.{container}".rstrip("."), last, arity, path)
            if found:
                return found
        return ""

    def _pick(self, symbols: Iterable[str], arity: int, path: str) -> str:
        """The id of the best of some symbols of one name: of the right arity (a name without arguments may mean a
        generic type, as in `nameof(Repo)`), of the nearest project."""
        fitting = [symbol for symbol in symbols if arity < 0 or _arity_of(symbol) == arity]
        if not fitting:
            return ""
        if len(fitting) == 1:
            return self.home_id(fitting[0], path)
        ids = [self.home_id(symbol, path) for symbol in dict.fromkeys(fitting)]
        home = self.projects.home_of(path)
        return min(ids, key=lambda found: (self.projects.distance(home, self._homes[found]), _arity_of(found)))

    def _namespace_of(self, scope: str) -> str:
        ids = self._ids.get(scope)
        return self._parts[ids[0]][0].namespace if ids else scope

    def _usings_of(self, path: str) -> Usings:
        known = self._usings.get(path)
        if known is None:
            known = self._usings[path] = self.projects.usings_of(path)
        return known

    def is_namespace(self, name: str) -> bool:
        return name in self._namespaces

    # types of members

    def bind(self, written: str, path: str, scope: str, type_parameters: tuple[str, ...]) -> TypeRef:
        asked = (written, path, scope, type_parameters)
        known = self._bound.get(asked)
        if known is None:
            known = self._bound[asked] = self._ref(read_written(written), path, scope, type_parameters)
        return known

    def _ref(self, written: Written, path: str, scope: str, type_parameters: tuple[str, ...]) -> TypeRef:
        arguments = tuple(self._ref(part, path, scope, type_parameters) for part in written.arguments)
        name = written.name
        if name in (ARRAY, TUPLE):
            return TypeRef(name, arguments, labels=written.labels)
        if name in type_parameters:
            return TypeRef(name, parameter=True)
        if name and name not in _PREDEFINED:
            found = self.resolve(name, written.arity, path, scope)
            if found:
                return TypeRef(found, arguments, declared=True)
            target = self._usings_of(path).alias(name)
            if target and not written.arity:
                alias = read_written(target)
                inner = tuple(self._ref(part, path, "", ()) for part in alias.arguments)
                return TypeRef(alias.name.rpartition(".")[2], inner, labels=alias.labels)
        simple = name.rpartition(".")[2]
        if simple == "Nullable" and len(arguments) == 1:
            return arguments[0]
        return TypeRef(simple, arguments)

    # bases

    def bases(self, type_id: str) -> tuple[TypeRef, ...]:
        known = self._bases.get(type_id)
        if known is None:
            found: dict[TypeRef, None] = {}
            for part in self._parts.get(type_id, ()):
                parameters = self._parameters_around(part)
                for written in part.base_list:
                    # Bases are looked up from outside: what a type inherits is not in scope in its own base list.
                    found[self.bind(written, part.path, part.outer or part.namespace, parameters)] = None
            known = self._bases[type_id] = tuple(found)
        return known

    def _parameters_around(self, part: DeclaredType) -> tuple[str, ...]:
        if not part.outer:
            return part.type_parameters
        found = list(part.type_parameters)
        outer = part.outer
        while outer and (ids := self._ids.get(outer)):
            around = self._parts[ids[0]][0]
            found += around.type_parameters
            outer = around.outer
        return tuple(found)

    def above(self, type_id: str) -> tuple[TypeRef, ...]:
        """All types of the label above one, nearest first, in terms of its own type parameters. Cycles end."""
        known = self._above.get(type_id)
        if known is None:
            seen = {type_id}
            found: list[TypeRef] = []
            waiting = [(type_id, dict[str, TypeRef]())]
            for current, arguments in waiting:  # grows while it is read: breadth first
                if len(found) >= MAX_BASES:
                    break
                for base in self.bases(current):
                    if base.declared and base.name not in seen:
                        seen.add(base.name)
                        put_in = substituted(base, arguments)
                        found.append(put_in)
                        waiting.append((base.name, self._arguments(put_in)))
            known = self._above[type_id] = tuple(found)
        return known

    def _arguments(self, found: TypeRef) -> dict[str, TypeRef]:
        return dict(zip(self._parts[found.name][0].type_parameters, found.arguments, strict=False))

    def interfaces(self, type_id: str) -> tuple[TypeRef, ...]:
        return tuple(base for base in self.above(type_id) if self._is_interface(base.name))

    def base_classes(self, type_id: str) -> tuple[TypeRef, ...]:
        return tuple(base for base in self.above(type_id) if not self._is_interface(base.name))

    def has_foreign_base(self, type_id: str) -> bool:
        known = self._foreign.get(type_id)
        if known is None:
            types = (type_id, *(base.name for base in self.above(type_id)))
            known = any(not base.declared for current in types for base in self.bases(current))
            self._foreign[type_id] = known
        return known

    def _is_interface(self, type_id: str) -> bool:
        return self._parts[type_id][0].kind == "interface"

    # members

    def members(self, type_id: str, name: str) -> tuple[MemberSymbol, ...]:
        asked = (type_id, name)
        known = self._members.get(asked)
        if known is None:
            found = self._members_of(type_id).get(name, ())
            known = self._members[asked] = tuple(self._bound_member(type_id, part, member) for part, member in found)
        return known

    def _members_of(self, type_id: str) -> dict[str, list[tuple[DeclaredType, DeclaredMember]]]:
        known = self._by_member.get(type_id)
        if known is None:
            known = {}
            for part in self._parts.get(type_id, ()):
                if part.has_parameter_list:
                    known.setdefault(".ctor", []).append((part, _primary(part)))
                if part.kind == "record":
                    for property_ in _record_properties(part):
                        known.setdefault(property_.name, []).append((part, property_))
                for member in part.members:
                    name = ".ctor" if member.kind is MemberKind.CONSTRUCTOR else member.name
                    known.setdefault(name, []).append((part, member))
            self._by_member[type_id] = known
        return known

    def member_names(self, type_id: str) -> tuple[str, ...]:
        return tuple(sorted(self._members_of(type_id)))

    def _bound_member(self, type_id: str, part: DeclaredType, member: DeclaredMember) -> MemberSymbol:
        around = (*member.type_parameters, *self._parameters_around(part))
        return MemberSymbol(
            name=member.name,
            kind=member.kind,
            key=member.key,
            owner=type_id,
            owner_key=part.key,
            type=self.bind(member.type, part.path, part.symbol, around),
            parameters=self._bound_parameters(member.parameters, part, around),
            type_parameters=member.type_parameters,
            constraints=tuple(
                (name, self.bind(written, part.path, part.symbol, around)) for name, written in member.constraints
            ),
            modifiers=member.modifiers,
            explicit_interface=member.explicit_interface,
        )

    def _bound_parameters(
        self, parameters: tuple[DeclaredParameter, ...], part: DeclaredType, around: tuple[str, ...]
    ) -> tuple[ParameterSymbol, ...]:
        return tuple(
            ParameterSymbol(
                found.name, self.bind(found.type, part.path, part.symbol, around), found.modifiers, found.optional
            )
            for found in parameters
        )

    def find_members(self, type_id: str, name: str) -> tuple[MemberSymbol, ...]:
        asked = (type_id, name)
        known = self._found.get(asked)
        if known is None:
            known = self._found[asked] = tuple(self._find(type_id, name))
        return known

    def _find(self, type_id: str, name: str) -> Iterator[MemberSymbol]:
        if type_id not in self._parts:
            return
        yield from (found for found in self.members(type_id, name) if not found.explicit_interface)
        above = self.above(type_id) if self._is_interface(type_id) else self.base_classes(type_id)
        for base in above:
            if name in self._members_of(base.name):
                arguments = self._arguments(base)
                for found in self.members(base.name, name):
                    if not found.explicit_interface:
                        yield _put_in(found, arguments)

    def constraints(self, type_id: str) -> tuple[tuple[str, TypeRef], ...]:
        """(type parameter, constraint) of a generic type."""
        return tuple(
            (name, self.bind(written, part.path, part.symbol, self._parameters_around(part)))
            for part in self._parts.get(type_id, ())
            for name, written in part.constraints
        )

    def signature(self, type_id: str) -> MemberSymbol | None:
        parts = self._parts.get(type_id)
        if not parts or parts[0].kind != "delegate":
            return None
        part = parts[0]
        written = DeclaredMember(
            part.name, MemberKind.METHOD, part.key, 0, part.returns, part.parameters, modifiers=part.modifiers
        )
        return self._bound_member(type_id, part, written)

    def static_members(self, name: str, path: str) -> tuple[MemberSymbol, ...]:
        owners = (self._global_type(read_written(written), path) for written in self._usings_of(path).statics)
        return tuple(found for owner in owners if owner for found in self.find_members(owner, name) if found.is_static)

    def extension_methods(self, name: str, path: str, scope: str) -> tuple[MemberSymbol, ...]:
        declared = self._extensions.get(name)
        if not declared:
            return ()
        usings = self._usings_of(path)
        visible = {*outwards(self._namespace_of(scope)), *usings.namespaces}
        home = self.projects.home_of(path)
        found = [
            (self.projects.distance(home, self._homes[type_id]), number, type_id, part, member)
            for number, (type_id, part, member) in enumerate(declared)
            if part.namespace in visible or without_arity(part.symbol) in usings.statics
        ]
        found.sort(key=lambda entry: entry[:2])
        return tuple(self._bound_member(type_id, part, member) for _, _, type_id, part, member in found)

    def only_member(self, name: str) -> MemberSymbol | None:
        if self._named is None:
            self._named = {}
            for type_id, parts in self._parts.items():
                for part in parts:
                    for member in part.members:
                        if member.kind is not MemberKind.CONSTRUCTOR:
                            self._named.setdefault(member.name, []).append((type_id, part, member))
        found = self._named.get(name, [])
        owners = {type_id for type_id, _, _ in found}
        if len(owners) > 1:
            owners = {owner for owner in owners if not any(base.name in owners for base in self.above(owner))}
        if len(owners) != 1:
            return None
        type_id, part, member = next(entry for entry in found if entry[0] in owners)
        return self._bound_member(type_id, part, member)


_DERIVED = frozenset(
    {
        "_usings", "_symbols", "_resolved", "_bound", "_by_member", "_members", "_bases", "_above", "_foreign",
        "_nesting", "_found",
    }
)  # fmt: skip
"""What `_forget` empties."""
_place = attrgetter("path", "line_start", "line_end", "symbol")


def _arity_of(symbol: str) -> int:
    name = symbol.partition("@")[0].rpartition(".")[2]
    return int(name.partition("`")[2] or 0)


def _put_in(found: MemberSymbol, arguments: dict[str, TypeRef]) -> MemberSymbol:
    """A member of a generic base in terms of what the base is given; its own type parameters hide those of the type."""
    used = {name: value for name, value in arguments.items() if name not in found.type_parameters}
    if not used:
        return found
    return replace(
        found,
        type=substituted(found.type, used),
        parameters=tuple(replace(entry, type=substituted(entry.type, used)) for entry in found.parameters),
        constraints=tuple((name, substituted(constraint, used)) for name, constraint in found.constraints),
    )


def _primary(part: DeclaredType) -> DeclaredMember:
    return DeclaredMember(part.name, MemberKind.CONSTRUCTOR, "", part.line_start, "", part.parameters)


def _record_properties(part: DeclaredType) -> Iterator[DeclaredMember]:
    """The properties that a record makes of its parameters; they have no node of their own."""
    return (
        DeclaredMember(found.name, MemberKind.PROPERTY, "", part.line_start, found.type) for found in part.parameters
    )
