"""What code of languages without a resolver calls and makes, as far as names and declared types tell.

A call means what its file, its imports or the declared type of its receiver say; resolved, where only one declaration
fits such a reason. Without one, the only declaration of a telling name is probable, and a common name means nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rag_assets.contracts.graph import (
    Confidence,
    DeclaredCallable,
    GraphEdge,
    Relation,
)
from rag_assets.identifiers import identifier_words, word_set
from rag_assets.languages.call_syntax import (
    CallSyntax,
    GivenType,
    WrittenCall,
    arguments_at,
    calls_in,
    syntax_of,
    values_in,
)
from rag_assets.languages.callables import CallableIndex, Namesakes, is_type, key_symbol, simple_name
from rag_assets.languages.calling_file import CallHolder, CallingFile
from rag_assets.languages.code_imports import ALL, CodeImport, go_package, may_be_in
from rag_assets.languages.parsed_file import ParsedFile

_SELF = frozenset({"self", "this", "cls", "Self", "static", "@", "$this", "me", "Me"})
_SUPER = frozenset({"super()", "super", "base", "parent", "MyBase"})
_OF_LIBRARIES = word_set(
    "addAll endsWith ends_with forEach for_each getClass hasOwnProperty hashCode indexOf isEmpty is_empty startsWith",
    "starts_with toArray toJSON toList toLowerCase toString toUpperCase to_list to_string valueOf",
)
"""Names of several words that the types of most standard libraries have."""
_MOST_BASES = 6
"""Levels of types that a type derives from: deeper ones are cycles."""
_MOST_TYPES = 20
_MOST_COMPARED = 200
"""Declarations that one call compares: what more types than that have is not told apart by names."""
_BEFORE_FIELD = re.compile(r"(?<![\w.)\]])(?P<name>\w+)\s{0,40}[?!]?\.\s{0,40}\w+\s{0,40}[?!]?\.\s{0,40}\Z")
_LONGEST_BEFORE = 200
_MOST_MEANT = 16
"""Overloads that one call may mean."""


def calls_of(file: ParsedFile, known: CallableIndex) -> Iterator[GraphEdge]:
    """The edges of the calls of a file, and of functions that it gives away as values, each caller and callee once
    where it stands first; and what its methods override or implement."""
    syntax = syntax_of(file.language)
    if syntax is None:
        return
    within = CallingFile(file, syntax)
    for holder in within.holders:
        yield from _overridden(holder, within, known, file)
    yield from dict.fromkeys(_satisfied(within, known, file) if syntax.family == "go" else ())
    told = set[tuple[str, str]]()
    for key, call, meant, confidence in call_sites(within, known):
        for one in meant:
            if (key, one.key) not in told:
                told.add((key, one.key))
                relation = Relation.CONSTRUCTS if is_type(one) else Relation.CALLS
                if call.is_value:
                    relation, confidence = Relation.REFERENCES, Confidence.PROBABLE
                line = file.lines.line_of(call.at)
                yield GraphEdge(key, relation, one.key, confidence, file.path, line)


_TELLING = re.compile(r"\b(?!Context\b)[A-Z]")
"""A type that not every method takes."""
_MADE_BY = word_set("__init__ __new__ constructor init initialize new")


def _overridden(holder: CallHolder, within: CallingFile, known: CallableIndex, file: ParsedFile) -> Iterator[GraphEdge]:
    """The methods of the nearest bases that are called like a method and may take as much."""
    if not (holder.name and holder.bases) or holder.name in {*_MADE_BY, *holder.types[-1:]}:
        return
    of_super = WrittenCall(holder.name, "super", holder.start, holder.end)
    found = _Meaning(of_super, holder, within, known, deeper=False).of_named_types(holder.bases)
    own = next((one.parameters for one in known.named(holder.name, within.syntax.family) if one.key == holder.key), -1)
    fitting = {one.key: one for one in found if one.key != holder.key and (own < 0 or one.parameters in (-1, own))}
    taken = holder.key.partition("(")[2]
    above = [one for key, one in fitting.items() if key.partition("(")[2] == taken] or list(fitting.values())
    confidence = Confidence.RESOLVED if len(above) == 1 else Confidence.PROBABLE
    for one in above[:_MOST_MEANT]:
        owners = [found for found in known.named(one.owner, one.family).types if found.path == one.path]
        is_contract = any(not owner.is_callable for owner in owners)
        relation = Relation.IMPLEMENTS if is_contract else Relation.OVERRIDES
        yield GraphEdge(holder.key, relation, one.key, confidence, file.path, file.lines.line_of(holder.start))


def _satisfied(within: CallingFile, known: CallableIndex, file: ParsedFile) -> Iterator[GraphEdge]:
    """The interfaces of Go all of whose methods a type has, by their names and what they take, and its methods that
    they are about."""

    def of_folder(found: Iterable[DeclaredCallable]) -> list[DeclaredCallable]:
        return [one for one in found if one.path.rpartition("/")[0] == within.folder]

    def has(owner: str, name: str, contract: DeclaredCallable) -> bool:
        methods = known.named(name, "go").methods
        wanted = {one.takes for one in methods.get(contract.name, ()) if one.path == contract.path}
        return any(one.takes in wanted for one in of_folder(methods.get(owner, ())))

    for holder in within.holders:
        owner = holder.types[0] if holder.signature.startswith("func (") and holder.types else ""
        own = of_folder(known.named(owner, "go").types) if owner else []
        named = known.named(holder.name, "go").methods if own and own[0].is_callable else {}
        for method in [one for found in named.values() for one in found if one.key != holder.key][:_MOST_COMPARED]:
            types = known.named(method.owner, "go").types
            contract = next((one for one in types if one.path == method.path and not one.is_callable), None)
            wanted = [name[1:] for name in contract.types if name.startswith(".")] if contract else []
            if len(wanted) < 2 and len(identifier_words(holder.name)) < 2 and not _TELLING.search(method.takes):
                continue  # many have a `Get`
            if contract and all(has(owner, name, contract) for name in wanted):
                line = file.lines.line_of(holder.start)
                declared = [
                    (own[0].key, contract.key, one.span.line_start) for one in file.segments if one.name == owner
                ]
                for source, target, at in ((holder.key, method.key, line), *declared):
                    yield GraphEdge(source, Relation.IMPLEMENTS, target, Confidence.PROBABLE, file.path, at)


def call_sites(
    within: CallingFile, known: CallableIndex
) -> Iterator[tuple[str, WrittenCall, Sequence[DeclaredCallable], Confidence]]:
    """Each call of a file, then each function that it gives away: the key of the declaration around it, what is
    written, what that means, and how sure it is."""
    syntax = within.syntax
    declared = set[str]()  # holders whose own name has been seen: where it is declared
    for call in calls_in(within.code, syntax):
        holder = within.holder(call.at)
        if holder is not None and call.name == holder.name and holder.key not in declared:
            declared.add(holder.key)
        elif holder is not None and not call.is_declared:
            yield holder.key, call, *_meant(call, holder, within, known)
    for value in values_in(within.code, syntax):
        holder = within.holder(value.at)
        if holder is not None and (value.of or value.name not in within.locals(holder)):
            yield holder.key, value, _given_away(value, holder, within, known), Confidence.PROBABLE


def _given_away(
    value: WrittenCall, holder: CallHolder, file: CallingFile, known: CallableIndex
) -> list[DeclaredCallable]:
    """The functions that a value means: none where a field is called so, nor those that a file exports of its own."""
    named = known.named(value.name, file.syntax.family)
    if not holder.name and file.path in named.by_file:
        return []
    fields = {one.owner for one in named.properties}
    meant, _ = _meant(value, holder, file, known)
    return [one for one in meant if one.owner not in fields and one.key != holder.key and not is_type(one)]


Meant = tuple[Sequence[DeclaredCallable], Confidence]
_NOTHING: Meant = ((), Confidence.PROBABLE)


def _meant(
    call: WrittenCall, holder: CallHolder, file: CallingFile, known: CallableIndex, *, deeper: bool = True
) -> Meant:
    """What a call means, and how sure it is."""
    meant = _Meaning(call, holder, file, known, deeper)
    return meant.of_name() if call.of is None else meant.of_receiver()


@dataclass(frozen=True, slots=True)
class _Meaning:
    """What a call means, looked for by one reason after the other. `deeper`: what another call returns may be asked."""

    call: WrittenCall
    holder: CallHolder
    file: CallingFile
    known: CallableIndex
    deeper: bool

    def named(self, name: str) -> Namesakes:
        return self.known.named(name, self.file.syntax.family)

    def callables(self, found: Iterable[DeclaredCallable]) -> list[DeclaredCallable]:
        """Functions and types; where something is made types alone, and without parentheses no types."""
        wanted = {True} if self.call.is_new else {False, self.call.has_list}
        return [one for one in found if not one.owner and one.is_callable and is_type(one) in wanted]

    def nearest(self, found: Sequence[DeclaredCallable], confidence: Confidence) -> Meant:
        return _nearest(found, self.call, self.file, confidence)

    # a name alone

    def of_name(self) -> Meant:
        """Of the type around it, of the file, of an import, of the package."""
        name, file, syntax = self.call.name, self.file, self.file.syntax
        if name in file.locals(self.holder):
            return _NOTHING
        if syntax.own_members and not self.call.is_new and (own := self.of_own(name, self.holder.types)):
            return self.nearest(own, Confidence.RESOLVED)
        named = self.named(name)
        here = self.callables(named.by_file.get(file.path, ()))
        if here:
            return self.nearest(here, Confidence.RESOLVED)
        for one in file.imports.get(name, ()):
            given = self.named(one.name or name)
            behind = self.callables(found for found in given if _is_imported(one, found, syntax))
            if behind:
                return self.nearest(behind, Confidence.PROBABLE if one.is_default else Confidence.RESOLVED)
        if syntax.packaged:
            return self.nearest([one for one in self.callables(named) if self.is_beside(one)], Confidence.RESOLVED)
        if name in file.imports:
            return _NOTHING
        for one in file.imports.get(ALL, ()):
            if behind := self.callables(found for found in named if _is_imported(one, found, syntax)):
                return self.nearest(behind, Confidence.RESOLVED)
        if syntax.imported:
            return self.nearest([one for one in self.callables(named) if self.is_beside(one)], Confidence.RESOLVED)
        if not (self.call.has_list or len(identifier_words(name)) > 1):
            return _NOTHING
        return self.nearest(self.callables(named), Confidence.PROBABLE)

    def is_beside(self, one: DeclaredCallable) -> bool:
        """Whether a file need not import what another one of its package declares."""
        if self.file.syntax.packaged:
            return one.path.rpartition("/")[0] == self.file.folder
        return self.file.syntax.family == "jvm" and one.module == self.file.module

    # a name behind a dot

    def of_receiver(self) -> Meant:
        """Of the type around it, of what is named before the dot, of the type that this has."""
        written, holder = self.call.of or "", self.holder
        of = written.lstrip("@$")
        named = self.named(self.call.name)
        if not (named.methods or named.functions):
            return _NOTHING
        if written in _SUPER:
            return self.nearest(self.of_named_types(holder.bases), Confidence.RESOLVED)
        if written in _SELF or (of and of == holder.receiver):
            syntax = self.file.syntax
            types = holder.types[-1:] if syntax.imported and syntax.family != "jvm" else holder.types
            own = self.of_own(self.call.name, types) or self.of_named_types(holder.bases)
            return self.nearest(own, Confidence.RESOLVED) if own else self.telling(named)
        if of.endswith("()"):
            return self.of_result(of.removesuffix("()"), named)
        return self.of_variable(of, named) if of else self.telling(named)

    def of_result(self, maker: str, named: Namesakes) -> Meant:
        """Of what the constructor or function before the dot gives."""
        if maker[:1].isupper() and maker not in self.file.locals(self.holder):
            if behind := self.of_what_is_named(maker, named):
                return self.nearest(behind, Confidence.RESOLVED)
            if maker in self.file.imports and self.file.syntax.family != "python":
                return _NOTHING
        types = self.types_behind(one for one in self.named(maker) if one.is_callable)
        found = self.of_declared(types)
        return self.nearest(found, Confidence.PROBABLE) if found else self.telling(named)

    def of_variable(self, of: str, named: Namesakes) -> Meant:
        """Of the module or type that is called so, else of the type that a variable, a parameter or a field has."""
        file, holder = self.file, self.holder
        is_local, given = of in file.locals(holder), file.given(of, holder)
        if not is_local:
            if behind := self.of_what_is_named(of, named):
                return self.nearest(behind, Confidence.RESOLVED)
            family = file.syntax.family
            if of in file.imports and (family == "javascript" or (family != "python" and not given)):
                return _NOTHING  # of elsewhere; in Python it may be an object, in Go a field
        if not is_local and (of_field := self.of_field_before(of)):
            return self.nearest(of_field, Confidence.RESOLVED)
        if given:
            return self.nearest(*self.of_given(given))
        if not is_local:
            fields = self.named(of).properties
            own = [one for one in fields if one.owner in holder.types]
            if types := self.types_behind(own or fields):
                return self.nearest(self.of_declared(types), Confidence.RESOLVED if own else Confidence.PROBABLE)
        words = [] if of[:1].isupper() else identifier_words(of)
        alike = [owner for owner in named.methods if words and identifier_words(owner)[-len(words) :] == words]
        return self.nearest(named.methods[alike[0]], Confidence.PROBABLE) if len(alike) == 1 else self.telling(named)

    def of_what_is_named(self, result: str, named: Namesakes) -> list[DeclaredCallable]:
        """What a module or a type has that the file calls so."""
        file, syntax = self.file, self.file.syntax
        for one in file.imports.get(result, ()):
            of_module = [found for found in named.functions if _is_imported(one, found, syntax, is_module=True)]
            if of_module:
                return of_module
        if found := self.of_declared(self.types_called(result)):
            return found
        if syntax.imported or syntax.packaged or syntax.family == "lua":
            return []
        return [one for one in named.functions if simple_name(one.module) == result]

    def of_field_before(self, of: str) -> list[DeclaredCallable]:
        """What the field `of` has of the type, or of the variable of a told type, before it: `Order.all.find()`."""
        found = _BEFORE_FIELD.search(self.file.code, max(0, self.call.at - _LONGEST_BEFORE), self.call.at)
        if found is None or found["name"] in _SELF or found["name"] == self.holder.receiver:
            return []
        given = [] if self.types_called(found["name"]) else self.file.given(found["name"], self.holder)
        types = self.types_called(found["name"]) or self.types_given(given)[0]
        fields: dict[str, list[DeclaredCallable]] = {}
        for one in self.named(of).properties:
            fields.setdefault(one.owner, []).append(one)
        return self.of_declared(self.types_behind(self.of_declared(types, fields))) if types and fields else []

    def of_given(self, given: Sequence[GivenType]) -> tuple[list[DeclaredCallable], Confidence]:
        """What the types have that a name is told to have."""
        types, confidence = self.types_given(given)
        return self.of_declared(types), confidence

    def types_given(self, given: Sequence[GivenType]) -> tuple[list[DeclaredCallable], Confidence]:
        """The types that a name is told to have."""
        types: dict[str, DeclaredCallable] = {}
        confidence = Confidence.RESOLVED
        for one in given:
            if not one.is_made:
                types |= {found.key: found for found in self.types_called(one.name, one.of)}
            elif self.deeper:
                made = WrittenCall(one.name, one.of, one.at, one.at)
                makers, sure = _meant(made, self.holder, self.file, self.known, deeper=False)
                found = self.types_behind(maker for maker in makers if not is_type(maker))
                types |= {one.key: one for one in found}
                confidence = sure if found else confidence
        if len({one.name for one in types.values()}) > 1:
            confidence = Confidence.PROBABLE
        return list(types.values()), confidence

    def types_called(self, name: str, of: str | None = None) -> list[DeclaredCallable]:
        """The types that a file means by a name, which may stand behind that of a module."""
        file, syntax = self.file, self.file.syntax
        imports = file.imports.get(of or name, ())
        if of and syntax.packaged and not imports:
            return []
        if imports:
            return [
                found
                for one in imports
                for found in self.named(name if of else one.name or name).types
                if _is_imported(one, found, syntax, is_module=bool(of))
            ]
        types = self.named(name).types
        here = [one for one in types if one.path == file.path or (syntax.packaged and self.is_beside(one))]
        if here or syntax.packaged:
            return here
        if syntax.imported:
            beside = [one for one in types if self.is_beside(one)]
            behind = [found for one in file.imports.get(ALL, ()) for found in types if _is_imported(one, found, syntax)]
            return beside or behind
        return types

    def types_behind(self, declared: Iterable[DeclaredCallable]) -> list[DeclaredCallable]:
        """The type that functions return, or properties have, as their files mean it; none where they differ."""
        known = dict.fromkeys((name, one.path) for one in declared for name in one.types)
        if len(known) > _MOST_TYPES:
            return []
        found = {one.key: one for name, path in known for one in _nearest_types(self.named(name).types, path)}
        return list(found.values()) if len({one.name for one in found.values()}) == 1 else []

    def of_own(self, name: str, types: Sequence[str]) -> list[DeclaredCallable]:
        """What the types around the call have, the innermost first."""
        methods = self.named(name).methods
        for owner in reversed(types):
            own = methods.get(owner, ())
            if found := [one for one in own if one.path == self.file.path] or list(own):
                return found
        return []

    def of_named_types(self, names: Iterable[str]) -> list[DeclaredCallable]:
        return self.of_declared([one for name in names for one in self.types_called(name)])

    def of_declared(
        self, types: Sequence[DeclaredCallable], members: Mapping[str, Sequence[DeclaredCallable]] | None = None
    ) -> list[DeclaredCallable]:
        """What the first of some types has that is called so, else the types that they derive from. `members` by the
        types that have them; default: the methods of the name that is called."""
        methods = self.named(self.call.name).methods if members is None else members
        level = list(types[:_MOST_TYPES])
        for _ in range(_MOST_BASES):
            for one in level:
                own = methods.get(one.name, ())
                if found := [method for method in own if _belongs(method, one)] or self.of_impls(own, one):
                    return found
            names = dict.fromkeys((base, one.path) for one in level for base in one.types)
            level = [above for base, path in names for above in _nearest_types(self.named(base).types, path)]
            level = level[:_MOST_TYPES]
            if not level:
                break
        return []

    def of_impls(self, methods: Sequence[DeclaredCallable], of_type: DeclaredCallable) -> list[DeclaredCallable]:
        """Of methods of Rust those that other files of the crate declare, which have no type that is called so."""
        if of_type.family != "rust":
            return []
        declaring = {one.path for one in self.named(of_type.name).types}
        return [one for one in methods if one.path not in declaring and _crate(one.path) == _crate(of_type.path)]

    def telling(self, named: Namesakes) -> Meant:
        """What a name of several words means, if one type alone has it."""
        if self.call.name in _OF_LIBRARIES or len(identifier_words(self.call.name)) < 2 or len(named.methods) != 1:
            return _NOTHING
        return self.nearest(next(iter(named.methods.values())), Confidence.PROBABLE)


def _is_imported(one: CodeImport, found: DeclaredCallable, syntax: CallSyntax, *, is_module: bool = False) -> bool:
    """Whether a declaration may be what an import names, or with `is_module` in the module that it names."""
    if syntax.packaged:
        folder = tuple(filter(None, found.path.split("/")[:-1]))
        if not folder:
            return len(one.path) > 2 and found.module in (one.path[-1], go_package(one.path))
        return len(one.path) > len(folder) and one.path[len(one.path) - len(folder) :] == folder
    if syntax.family == "jvm":
        path = ".".join(one.path)
        return found.module == path or f"{found.module}." == f"{path}."[: len(found.module) + 1]
    return may_be_in(one, found.path, is_module=is_module)


def _belongs(method: DeclaredCallable, of_type: DeclaredCallable) -> bool:
    """Whether a method is of this type, and not of another one that is called so: a type of C++ or Go has some in other
    files."""
    if method.family == "c":
        return True
    if method.family == "go":
        return method.path.rpartition("/")[0] == of_type.path.rpartition("/")[0]
    return method.path == of_type.path or (method.module == of_type.module and bool(method.module))


def _crate(path: str) -> str:
    return f"/{path}".partition("/src/")[0]


def _nearest_types(types: Sequence[DeclaredCallable], path: str) -> list[DeclaredCallable]:
    """Of several types of a name those of the nearest files."""
    if len(types) < 2 or len(types) > _MOST_COMPARED:
        return list(types[:1])
    return _of_nearest_files(types, path)


def _of_nearest_files(found: Sequence[DeclaredCallable], path: str) -> list[DeclaredCallable]:
    near = [(_in_common(one.path, path), one) for one in found]
    best = max(distance for distance, _ in near)
    return [one for distance, one in near if distance == best]


def _nearest(found: Sequence[DeclaredCallable], call: WrittenCall, file: CallingFile, confidence: Confidence) -> Meant:
    """Of several declarations those that take so many arguments, then those of the nearest file; nothing where two are
    as near. Overloads are probable."""
    if len(found) > _MOST_COMPARED:
        return _NOTHING
    fitting = found
    if len(found) > 1 and any(one.parameters >= 0 for one in found):
        count = arguments_at(file.code, call.end)
        fitting = [one for one in found if count < 0 or one.parameters in (-1, count)] or found
    if len({_what(one) for one in fitting}) > 1:
        fitting = _of_nearest_files(fitting, file.path)
        confidence = Confidence.PROBABLE
        if len({_what(one) for one in fitting}) > 1:
            return _NOTHING
    is_one = len({one.key for one in fitting}) == 1 or not any(one.parameters >= 0 for one in fitting)
    return fitting[:_MOST_MEANT], confidence if is_one else Confidence.PROBABLE


def _what(one: DeclaredCallable) -> str:
    """What a callable is called with all that is around it, the same for overloads, and in C++ for a member in the file
    that declares it and the one that defines it."""
    return f"{one.owner}.{one.name}" if one.family == "c" and one.owner else key_symbol(one.key)


def _in_common(path: str, other: str) -> float:
    """How many folders two paths share; the same file is nearer than any."""
    if path == other:
        return float("inf")
    count = 0
    for one, two in zip(path.split("/")[:-1], other.split("/")[:-1], strict=False):
        if one != two:
            break
        count += 1
    return count
