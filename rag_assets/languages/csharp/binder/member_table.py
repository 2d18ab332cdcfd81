"""The members of types: declared, inherited with type arguments put in, added by extension methods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from types import MethodType
from weakref import proxy

from msgspec.structs import replace

from rag_assets.contracts.segment import MemberKind
from rag_assets.languages.csharp.binder.declarations import (
    DeclaredMember,
    DeclaredParameter,
    LabelType,
    TypeHead,
    record_properties,
)
from rag_assets.languages.csharp.binder.symbols import MemberSymbol, ParameterSymbol, is_private
from rag_assets.languages.csharp.binder.type_syntax import (
    ARRAY,
    TUPLE,
    TypeRef,
    TypeSyntax,
    is_interface_name,
    read_type_syntax,
    substituted,
)
from rag_assets.languages.csharp.binder.type_table import (
    MAX_BASES,
    PREDEFINED,
    TypeTable,
    outwards,
    remembered,
    without_arity,
)


class Hierarchy:
    """Binds types and knows the types above each one. What it derives is remembered."""

    def __init__(self, types: TypeTable) -> None:
        self._types = types

    @remembered
    def bind(self, written: str, path: str, scope: str, type_parameters: tuple[str, ...]) -> TypeRef:
        return self._ref(read_type_syntax(written), path, scope, type_parameters)

    def _ref(self, written: TypeSyntax, path: str, scope: str, type_parameters: tuple[str, ...]) -> TypeRef:
        arguments = tuple(self._ref(part, path, scope, type_parameters) for part in written.arguments)
        name = written.name
        if name in (ARRAY, TUPLE):
            return TypeRef(name, arguments, labels=written.labels)
        if name in type_parameters:
            return TypeRef(name, parameter=True)
        if name and name not in PREDEFINED:
            found = self._types.resolve(name, written.arity, path, scope)
            if found:
                return TypeRef(found, arguments, declared=True)
            target = self._types.usings_of(path).alias(name)
            if target and not written.arity:
                alias = read_type_syntax(target)
                inner = tuple(self._ref(part, path, "", ()) for part in alias.arguments)
                return TypeRef(alias.name.rpartition(".")[2], inner, labels=alias.labels)
        simple = name.rpartition(".")[2]
        if simple == "Nullable" and len(arguments) == 1:
            return arguments[0]
        return TypeRef(simple, arguments)

    @remembered
    def bases(self, type_id: str) -> tuple[TypeRef, ...]:
        found: dict[TypeRef, None] = {}
        for part in self._types.parts.get(type_id, ()):
            parameters = self.parameters_around(part)
            for written in part.base_list:
                # Bases are looked up from outside: what a type inherits is not in scope in its own base list.
                found[self.bind(written, part.path, part.outer or part.namespace, parameters)] = None
        return tuple(found)

    def parameters_around(self, part: TypeHead) -> tuple[str, ...]:
        if not part.outer:
            return part.type_parameters
        found = list(part.type_parameters)
        outer = part.outer
        while outer and (around := self._types.around(outer)):
            found += around.type_parameters
            outer = around.outer
        return tuple(found)

    @remembered
    def above(self, type_id: str) -> tuple[TypeRef, ...]:
        """All types of the label above one, nearest first, in terms of its own type parameters. Cycles end."""
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
                    waiting.append((base.name, self.arguments(put_in)))
        return tuple(found)

    def arguments(self, found: TypeRef) -> dict[str, TypeRef]:
        return dict(zip(self._types.parts[found.name][0].type_parameters, found.arguments, strict=False))

    def interfaces(self, type_id: str) -> tuple[TypeRef, ...]:
        return tuple(base for base in self.above(type_id) if self.is_interface(base.name))

    @remembered
    def base_classes(self, type_id: str) -> tuple[TypeRef, ...]:
        return tuple(base for base in self.above(type_id) if not self.is_interface(base.name))

    @remembered
    def has_foreign_base(self, type_id: str) -> bool:
        # What a class inherits from an interface of a library it must declare itself.
        return any(
            not base.declared and (self.is_interface(current) or not is_interface_name(base.name))
            for current in (type_id, *(base.name for base in self.above(type_id)))
            for base in self.bases(current)
        )

    def is_interface(self, type_id: str) -> bool:
        return self._types.parts[type_id][0].kind == "interface"


_Placed = tuple[str, LabelType, DeclaredMember]
"""(id of the type, the part of it that declares the member, the member)."""

_MOST_UNPACKED = 1 << 11  # types: some kilobytes each


class MemberTable:
    """The members of a label by type and name. What it derives is remembered."""

    def __init__(self, types: TypeTable, hierarchy: Hierarchy) -> None:
        self._types = types
        self._hierarchy = hierarchy
        self._bind = hierarchy.bind
        self._members_of = lru_cache(_MOST_UNPACKED)(
            MethodType(MemberTable._unpacked, proxy(self))
        )  # as in `remembered`
        self._owners: dict[str, list[str]] | None = None
        self._extensions: dict[str, list[_Placed]] = {}
        for type_id, parts in types.parts.items():
            for part in parts:
                if "static" in part.modifiers:
                    for member in part.members:
                        if member.parameters and "this" in member.parameters[0].modifiers:
                            self._extensions.setdefault(member.name, []).append((type_id, part, member))

    @remembered
    def members(self, type_id: str, name: str) -> tuple[MemberSymbol, ...]:
        found = self._members_of(type_id).get(name, ())
        return tuple(self._bound_member(type_id, part, member) for part, member in found)

    def _unpacked(self, type_id: str) -> dict[str, list[tuple[LabelType, DeclaredMember]]]:
        found: dict[str, list[tuple[LabelType, DeclaredMember]]] = {}
        for part in self._types.parts.get(type_id, ()):
            if part.has_parameter_list:
                found.setdefault(".ctor", []).append((part, _primary(part)))
            for property_ in record_properties(part):
                found.setdefault(property_.name, []).append((part, property_))
            for member in part.members:
                name = ".ctor" if member.kind is MemberKind.CONSTRUCTOR else member.name
                found.setdefault(name, []).append((part, member))
        return found

    def member_names(self, type_id: str) -> tuple[str, ...]:
        return tuple(sorted(self._members_of(type_id)))

    def _bound_member(self, type_id: str, part: LabelType, member: DeclaredMember) -> MemberSymbol:
        around = (*member.type_parameters, *self._hierarchy.parameters_around(part))
        return MemberSymbol(
            name=member.name,
            kind=member.kind,
            key=member.key,
            owner=type_id,
            owner_key=part.key,
            type=self._bind(member.type, part.path, part.symbol, around),
            parameters=self._bound_parameters(member.parameters, part, around),
            type_parameters=member.type_parameters,
            constraints=tuple(
                (name, self._bind(written, part.path, part.symbol, around)) for name, written in member.constraints
            ),
            modifiers=member.modifiers,
            explicit_interface=member.explicit_interface,
        )

    def _bound_parameters(
        self, parameters: tuple[DeclaredParameter, ...], part: LabelType, around: tuple[str, ...]
    ) -> tuple[ParameterSymbol, ...]:
        return tuple(
            ParameterSymbol(
                found.name,
                self._bind(found.type, part.path, part.symbol, around),
                found.modifiers,
                found.optional,
            )
            for found in parameters
        )

    @remembered
    def find_members(self, type_id: str, name: str) -> tuple[MemberSymbol, ...]:
        return tuple(self._find(type_id, name))

    def _find(self, type_id: str, name: str) -> Iterator[MemberSymbol]:
        if type_id not in self._types.parts:
            return
        if name in self._members_of(type_id):
            yield from (found for found in self.members(type_id, name) if not found.explicit_interface)
        above = (
            self._hierarchy.above(type_id)
            if self._hierarchy.is_interface(type_id)
            else self._hierarchy.base_classes(type_id)
        )
        for base in above:
            if name in self._members_of(base.name):
                arguments = self._hierarchy.arguments(base)
                for found in self.members(base.name, name):
                    if not found.explicit_interface:
                        yield _put_in(found, arguments)

    def constraints(self, type_id: str) -> tuple[tuple[str, TypeRef], ...]:
        """(type parameter, constraint) of a generic type."""
        return tuple(
            (name, self._bind(written, part.path, part.symbol, self._hierarchy.parameters_around(part)))
            for part in self._types.parts.get(type_id, ())
            for name, written in part.constraints
        )

    def signature(self, type_id: str) -> MemberSymbol | None:
        parts = self._types.parts.get(type_id)
        if not parts or parts[0].kind != "delegate":
            return None
        part = parts[0]
        written = DeclaredMember(
            part.name, MemberKind.METHOD, part.key, 0, part.returns, part.parameters, modifiers=part.modifiers
        )
        return self._bound_member(type_id, part, written)

    def static_members(self, name: str, path: str) -> tuple[MemberSymbol, ...]:
        owners = (
            self._types.global_type(read_type_syntax(written), path, "")
            for written in self._types.usings_of(path).statics
        )
        return tuple(found for owner in owners if owner for found in self.find_members(owner, name) if found.is_static)

    def extension_methods(self, name: str, path: str, scope: str) -> tuple[MemberSymbol, ...]:
        declared = self._extensions.get(name)
        if not declared:
            return ()
        usings = self._types.usings_of(path)
        namespace = self._types.namespace_of(scope)
        visible = {*outwards(namespace), *self._types.spaces(path, namespace)}
        found = [
            (self._types.distance(path, type_id), number, type_id, part, member)
            for number, (type_id, part, member) in enumerate(declared)
            if (part.namespace in visible or without_arity(part.symbol) in usings.statics)
            and self._is_open_to(type_id, part, member, path, scope)
        ]
        found.sort(key=lambda entry: entry[:2])
        return tuple(self._bound_member(type_id, part, member) for _, _, type_id, part, member in found)

    def _is_open_to(self, type_id: str, part: LabelType, member: DeclaredMember, path: str, scope: str) -> bool:
        """Whether an extension method may be used at a place: a private one by its own type only, one that is internal
        by projects that can see its project."""
        if is_private(member.modifiers):
            return scope == part.symbol
        if "public" in member.modifiers and "public" in part.modifiers:
            return True
        return self._types.sees(path, type_id)

    def only_member(self, name: str) -> MemberSymbol | None:
        owners = {*self._owners_of(name)}
        if len(owners) > 1:
            owners = {
                owner for owner in owners if not any(base.name in owners for base in self._hierarchy.above(owner))
            }
        if len(owners) != 1:
            return None
        (type_id,) = owners
        part, member = next(placed for placed in self._called(type_id) if placed[1].name == name)
        return self._bound_member(type_id, part, member)

    def _owners_of(self, name: str) -> Sequence[str]:
        """The types with a member of a name; each type is unpacked once for all names."""
        if self._owners is None:
            self._owners = {}
            for type_id in self._types.parts:
                for own in {member.name for _, member in self._called(type_id)}:
                    self._owners.setdefault(own, []).append(type_id)
        return self._owners.get(name, ())

    def _called(self, type_id: str) -> Iterator[tuple[LabelType, DeclaredMember]]:
        """What can be called by its name, constructors not, with the part of the type that declares it."""
        for part in self._types.parts[type_id]:
            for member in part.members:
                if member.kind is not MemberKind.CONSTRUCTOR:
                    yield part, member


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


def _primary(part: LabelType) -> DeclaredMember:
    return DeclaredMember(part.name, MemberKind.CONSTRUCTOR, "", part.line_start, "", part.parameters)
