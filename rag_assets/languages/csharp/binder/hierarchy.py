"""What types derive from, and what written types mean in terms of the label: names bound, arguments put in."""

from __future__ import annotations

import re

from rag_assets.languages.csharp.binder.bound_types import TypeRef, substituted
from rag_assets.languages.csharp.binder.cache import BoundedCache
from rag_assets.languages.csharp.binder.declarations import TypeHead
from rag_assets.languages.csharp.binder.type_syntax import ARRAY, TUPLE, TypeSyntax, read_type_syntax
from rag_assets.languages.csharp.binder.type_table import MAX_BASES, PREDEFINED, TypeTable


class Hierarchy:
    """Binds types and knows the types above each one. What it derives is remembered."""

    def __init__(self, types: TypeTable) -> None:
        self._types = types
        self._bound: BoundedCache[tuple[str, str, str, tuple[str, ...]], TypeRef] = BoundedCache()
        self._bases: BoundedCache[str, tuple[TypeRef, ...]] = BoundedCache()
        self._above: BoundedCache[str, tuple[TypeRef, ...]] = BoundedCache()
        self._classes: BoundedCache[str, tuple[TypeRef, ...]] = BoundedCache()
        self._foreign: BoundedCache[str, bool] = BoundedCache()

    def bind(self, written: str, path: str, scope: str, type_parameters: tuple[str, ...]) -> TypeRef:
        asked = (written, path, scope, type_parameters)
        known = self._bound.get(asked)
        if known is None:
            known = self._bound[asked] = self._ref(read_type_syntax(written), path, scope, type_parameters)
        return known

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

    def bases(self, type_id: str) -> tuple[TypeRef, ...]:
        known = self._bases.get(type_id)
        if known is None:
            found: dict[TypeRef, None] = {}
            for part in self._types.parts.get(type_id, ()):
                parameters = self.parameters_around(part)
                for written in part.base_list:
                    # Bases are looked up from outside: what a type inherits is not in scope in its own base list.
                    found[self.bind(written, part.path, part.outer or part.namespace, parameters)] = None
            known = self._bases[type_id] = tuple(found)
        return known

    def parameters_around(self, part: TypeHead) -> tuple[str, ...]:
        if not part.outer:
            return part.type_parameters
        found = list(part.type_parameters)
        outer = part.outer
        while outer and (around := self._types.around(outer)):
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
                        waiting.append((base.name, self.arguments(put_in)))
            known = self._above[type_id] = tuple(found)
        return known

    def arguments(self, found: TypeRef) -> dict[str, TypeRef]:
        return dict(zip(self._types.parts[found.name][0].type_parameters, found.arguments, strict=False))

    def interfaces(self, type_id: str) -> tuple[TypeRef, ...]:
        return tuple(base for base in self.above(type_id) if self.is_interface(base.name))

    def base_classes(self, type_id: str) -> tuple[TypeRef, ...]:
        known = self._classes.get(type_id)
        if known is None:
            above = self.above(type_id)
            known = self._classes[type_id] = tuple(base for base in above if not self.is_interface(base.name))
        return known

    def has_foreign_base(self, type_id: str) -> bool:
        known = self._foreign.get(type_id)
        if known is None:
            types = (type_id, *(base.name for base in self.above(type_id)))
            known = any(
                not base.declared and (self.is_interface(current) or not _INTERFACE_NAME.match(base.name))
                for current in types
                for base in self.bases(current)
            )
            self._foreign[type_id] = known
        return known

    def is_interface(self, type_id: str) -> bool:
        return self._types.parts[type_id][0].kind == "interface"


_INTERFACE_NAME = re.compile(r"I[A-Z]")
"""What a class inherits from an interface of a library it must declare itself."""
