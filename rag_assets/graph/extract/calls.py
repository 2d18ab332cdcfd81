"""What code of languages without a resolver calls and makes, as far as names and declared types tell.

A call means what its file, its imports or the declared type of its receiver say; resolved, where only one declaration
fits such a reason. Without one, the only declaration of a telling name is probable, and a common name means nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from rag_assets.contracts.graph import (
    Confidence,
    DeclaredCallable,
    GraphEdge,
    NodeType,
    Relation,
    declaration_key,
    file_key,
    key_kind,
    member_keys,
)
from rag_assets.contracts.segment import leaves_of
from rag_assets.identifiers import identifier_words, word_set
from rag_assets.languages.callables import CallableIndex, Namesakes, key_symbol, simple_name, written_outside
from rag_assets.languages.calls import (
    CallSyntax,
    GivenType,
    WrittenCall,
    arguments_at,
    calls_in,
    code_of,
    syntax_of,
    types_of_names,
    values_in,
)
from rag_assets.languages.code_imports import ALL, CodeImport, imports_of, may_be_in
from rag_assets.languages.parsed_file import ParsedFile

_SELF = frozenset({"self", "this", "cls", "Self", "static", "@", "$this", "me", "Me"})
_SUPER = frozenset({"super()", "super", "base", "parent", "MyBase"})
_NAMES = re.compile(r"\w+")
_ASSIGNED = re.compile(r"(?<![\w$.])([\w$]++)\s{0,8}(?::[^\n=;]{0,80})?(?::?=(?![={])|\b(?:in|of)\b|=>)")
_TUPLE = re.compile(
    r"^[ \t]*(?:(?:const|let|var|for)[ \t]+)?[(\[{]?(\w+(?:,[ \t]*\w+)+)[)\]}]?[ \t]*(?::?=(?!=)|in\b)", re.MULTILINE
)
_RECEIVER = re.compile(r"func\s*\(\s*(\w+)\s+\*?(\w+)")
_OF_LIBRARIES = word_set(
    "addAll endsWith ends_with forEach for_each getClass hasOwnProperty hashCode indexOf isEmpty is_empty startsWith",
    "starts_with toArray toJSON toList toLowerCase toString toUpperCase to_list to_string valueOf",
)
"""Names of several words that the types of most standard libraries have."""
_MOST_BASES = 6
_MOST_TYPES = 20
_MOST_COMPARED = 200
_MOST_MEANT = 16
"""Overloads that one call may mean."""
_IS_TYPE = f"|{NodeType.TYPE}"


@dataclass(frozen=True, slots=True)
class _Holder:
    """A declaration that calls stand in: its key, its own name, the names of the types around it and of their bases."""

    start: int
    end: int
    key: str
    name: str
    types: tuple[str, ...]
    bases: tuple[str, ...]
    receiver: str = ""
    signature: str = ""


class _File:
    """A file whose calls are looked for."""

    def __init__(self, file: ParsedFile, syntax: CallSyntax) -> None:
        self._text = file.text
        self.path, self.syntax, self.code = file.path, syntax, code_of(file.text, file.language)
        self.holders = _holders(file)
        self._starts = [one.start for one in self.holders]
        self._around = _enclosing(self.holders)
        self._locals: dict[int, frozenset[str]] = {}
        self.folder = file.path.rpartition("/")[0]
        self.module = next((one.namespace for one in file.segments if one.namespace), "")

    def holder(self, at: int) -> _Holder | None:
        """The innermost declaration around an offset."""
        number = bisect_right(self._starts, at) - 1
        while number >= 0 and at >= self.holders[number].end:
            number = self._around[number]
        return self.holders[number] if number >= 0 else None

    @cached_property
    def imports(self) -> Mapping[str, list[CodeImport]]:
        return imports_of(self.code, self._text, self.syntax.family)

    def locals(self, holder: _Holder) -> frozenset[str]:
        """The names that a declaration gives to its parameters and variables."""
        if holder.start not in self._locals:
            body = self.code[holder.start : holder.end] if holder.name else ""
            tuples = " ".join(_TUPLE.findall(body))
            found = {*_parameters(holder.signature), *_NAMES.findall(tuples), *_ASSIGNED.findall(body)}
            self._locals[holder.start] = frozenset(found - {holder.name})
        return self._locals[holder.start]

    def given(self, name: str, holder: _Holder) -> list[GivenType]:
        """What is told of the type of a name: in the declaration that calls, else outside of all."""
        return self._given.get((name, holder.start)) or self._given.get((name, -1), [])

    @cached_property
    def _given(self) -> Mapping[tuple[str, int], list[GivenType]]:
        """By name and the start of the declaration that tells it, -1 outside of all, and of fields."""
        known: dict[tuple[str, int], dict[tuple[str, str | None, bool], GivenType]] = {}
        for name, told in types_of_names(self.code, self.syntax).items():
            for one in told:
                around = self.holder(one.at)
                is_field = self.code[one.at - 1 : one.at] == "."  # `self.runner = Runner()`
                start = around.start if around is not None and around.name and not is_field else -1
                known.setdefault((name, start), {}).setdefault((one.name, one.of, one.is_made), one)
        return {key: list(told.values())[:_MOST_TYPES] for key, told in known.items()}


def _parameters(signature: str) -> Iterator[str]:
    """The names of the parameters of a declaration: before a colon, else the last word, and the first one in Go."""
    opened = signature.find("(", 6 if signature.startswith("func (") else 0)
    for part in signature[opened + 1 :].split(",") if opened >= 0 else ():
        words = _NAMES.findall(part.partition("=")[0].partition(":")[0].partition(")")[0])
        yield from words[:1] if signature.startswith("func") else words[-1:]


def calls_of(file: ParsedFile, known: CallableIndex) -> Iterator[GraphEdge]:
    """The edges of the calls of a file, and of functions that it gives away as values, each caller and callee once
    where it stands first."""
    told = set[tuple[str, str]]()
    for holder, call, meant, confidence in call_sites(file, known):
        for one in meant:
            if (holder, one.key) not in told:
                told.add((holder, one.key))
                relation = Relation.CONSTRUCTS if key_kind(one.key) is NodeType.TYPE else Relation.CALLS
                if call.is_value:
                    relation, confidence = Relation.REFERENCES, Confidence.PROBABLE
                line = file.lines.line_of(call.at)
                yield GraphEdge(holder, relation, one.key, confidence, file.path, line)


def call_sites(
    file: ParsedFile, known: CallableIndex
) -> Iterator[tuple[str, WrittenCall, Sequence[DeclaredCallable], Confidence]]:
    """Each call of a file, then each function that it gives away: the key of the declaration around it, what is
    written, what that means, and how sure it is."""
    syntax = syntax_of(file.language)
    if syntax is None:
        return
    within = _File(file, syntax)
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


def _given_away(value: WrittenCall, holder: _Holder, file: _File, known: CallableIndex) -> list[DeclaredCallable]:
    """The functions that a value means: none where a field is called so, nor those that a file exports of its own."""
    named = known.named(value.name, file.syntax.family)
    if not holder.name and file.path in named.by_file:
        return []
    fields = {one.owner for one in named.properties}
    meant, _ = _meant(value, holder, file, known)
    return [
        one
        for one in meant
        if one.owner not in fields and one.key != holder.key and key_kind(one.key) is NodeType.METHOD
    ]


def _holders(file: ParsedFile) -> list[_Holder]:
    found: list[_Holder] = []
    for segment in file.segments:
        own = declaration_key(file.language, segment.symbol, segment.kind, file.path)
        is_type = own != file_key(file.path)
        types = (simple_name(segment.symbol),) if is_type else ()
        bases = tuple(map(simple_name, segment.base_list))
        found.append(_Holder(segment.span.char_start, segment.span.char_end, own, segment.name, types, bases))
        of_types = {"": (types, bases)}
        for leaf in leaves_of(segment.members):
            member, span = leaf.member, leaf.member.span
            owner = f"{segment.symbol}.{leaf.owner}" if leaf.owner else segment.symbol
            keys = member_keys(file.language, owner, member)
            around, above = of_types.get(leaf.owner, (types, bases))
            outside, name = written_outside(member.name)
            if keys and key_kind(keys[0]) is NodeType.TYPE:
                around, above = (*around, member.name), tuple(map(simple_name, member.base_list))
                of_types[f"{leaf.owner}.{member.name}" if leaf.owner else member.name] = around, above
            elif outside:
                around = (outside,)
            receiver = _RECEIVER.match(member.signature)
            key = keys[0] if keys else next((one.key for one in reversed(found) if one.end >= span.char_end), own)
            name = name if keys and key_kind(keys[0]) is NodeType.METHOD else ""
            of = receiver[1] if receiver else ""
            found.append(_Holder(span.char_start, span.char_end, key, name, around, above, of, member.signature))
    return sorted(found, key=lambda one: (one.start, -one.end))


def _enclosing(holders: Sequence[_Holder]) -> list[int]:
    """Of each declaration the number of the one around it, -1 for none."""
    around: list[int] = []
    open_ones: list[int] = []
    for number, one in enumerate(holders):
        while open_ones and holders[open_ones[-1]].end <= one.start:
            open_ones.pop()
        around.append(open_ones[-1] if open_ones else -1)
        open_ones.append(number)
    return around


Meant = tuple[Sequence[DeclaredCallable], Confidence]
_NOTHING: Meant = ((), Confidence.PROBABLE)


def _meant(call: WrittenCall, holder: _Holder, file: _File, known: CallableIndex, *, deeper: bool = True) -> Meant:
    """What a call means, and how sure it is."""
    meant = _Meaning(call, holder, file, known, deeper)
    return meant.of_name() if call.of is None else meant.of_receiver()


@dataclass(frozen=True, slots=True)
class _Meaning:
    """The way to what a call means. `deeper`: it may ask what another call means."""

    call: WrittenCall
    holder: _Holder
    file: _File
    known: CallableIndex
    deeper: bool

    def named(self, name: str) -> Namesakes:
        return self.known.named(name, self.file.syntax.family)

    def callables(self, found: Iterable[DeclaredCallable]) -> list[DeclaredCallable]:
        """Functions and types; where something is made types alone, and without parentheses no types."""
        wanted = {True} if self.call.is_new else {False, self.call.has_list}
        return [one for one in found if not one.owner and one.is_called and one.key.endswith(_IS_TYPE) in wanted]

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
            given = self.named(one.name or name) if one.name != name and not one.is_default else named
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
        written, file, holder = self.call.of or "", self.file, self.holder
        of = written.lstrip("@$")
        result = of.removesuffix("()")
        named = self.named(self.call.name)
        if not (named.methods or named.functions):
            return _NOTHING
        if written in _SUPER:
            return self.nearest(self.of_named_types(holder.bases), Confidence.RESOLVED)
        if written in _SELF or (of and of == holder.receiver):
            types = holder.types[-1:] if file.syntax.imported and file.syntax.family != "jvm" else holder.types
            own = self.of_own(self.call.name, types) or self.of_named_types(holder.bases)
            return self.nearest(own, Confidence.RESOLVED) if own else self.telling(named)
        is_result, is_local = result != of, result in file.locals(holder)
        given = [] if is_result else file.given(of, holder)
        if result and not is_local and not (is_result and not result[0].isupper()):
            behind = self.of_what_is_named(result, named)
            if behind:
                return self.nearest(behind, Confidence.RESOLVED)
            imports = file.imports.get(result, ())
            family = file.syntax.family
            if imports and (family == "javascript" or (family != "python" and not given)):
                return _NOTHING  # of elsewhere; in Python it may be an object, in Go a field
        found, confidence = self.of_given(given, result if is_result else "")
        if found or given:
            return self.nearest(found, confidence)
        if not is_result and result and not is_local:
            fields = self.named(result).properties
            own = [one for one in fields if one.owner in holder.types] or fields
            behind_it = self.types_behind(own)
            is_own = bool(own) and own[0].owner in holder.types
            if behind_it:
                found = self.of_declared(behind_it)
                return self.nearest(found, Confidence.RESOLVED if is_own else Confidence.PROBABLE)
        words = identifier_words(result) if not is_result and not result[:1].isupper() else []
        alike = [owner for owner in named.methods if words and identifier_words(owner)[-len(words) :] == words]
        if len(alike) == 1:
            return self.nearest(named.methods[alike[0]], Confidence.PROBABLE)
        return self.telling(named)

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

    def of_given(self, given: Sequence[GivenType], result: str) -> tuple[list[DeclaredCallable], Confidence]:
        """What the types have that a name is told to have, or the `result` of a function."""
        types: dict[str, DeclaredCallable] = {}
        confidence = Confidence.RESOLVED
        for one in given:
            if not one.is_made:
                types |= {found.key: found for found in self.types_called(one.name, one.of)}
            elif self.deeper:
                made = WrittenCall(one.name, one.of, one.at, one.at)
                makers, sure = _meant(made, self.holder, self.file, self.known, deeper=False)
                found = self.types_behind(maker for maker in makers if not maker.key.endswith(_IS_TYPE))
                types |= {one.key: one for one in found}
                confidence = sure if found else confidence
        if result:
            found = self.types_behind(one for one in self.named(result) if one.is_called)
            types |= {one.key: one for one in found}
            confidence = Confidence.PROBABLE
        if len({one.name for one in types.values()}) > 1:
            confidence = Confidence.PROBABLE
        return self.of_declared(list(types.values())), confidence

    def types_called(self, name: str, of: str | None = None) -> list[DeclaredCallable]:
        """The types that a file means by a name, which may stand behind that of a module."""
        file, syntax = self.file, self.file.syntax
        imports = file.imports.get(of or name, ()) if syntax.imported or syntax.packaged or file.imports else ()
        if of and syntax.packaged and not imports:
            return []
        if imports:
            return [
                found
                for one in imports
                for found in self.named((one.name if not of and not one.is_default else "") or name).types
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

    def of_declared(self, types: Sequence[DeclaredCallable]) -> list[DeclaredCallable]:
        """What the first of some types has that is called so, else the types that they derive from."""
        methods, level = self.named(self.call.name).methods, list(types[:_MOST_TYPES])
        for _ in range(_MOST_BASES):
            for one in level:
                own = methods.get(one.name, ())
                if found := [method for method in own if _belongs(method, one)]:
                    return found
            names = dict.fromkeys((base, one.path) for one in level for base in one.types)
            level = [above for base, path in names for above in _nearest_types(self.named(base).types, path)]
            level = level[:_MOST_TYPES]
            if not level:
                break
        return []

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
            return len(one.path) > 2 and one.path[-1] == found.module
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


def _nearest_types(types: Sequence[DeclaredCallable], path: str) -> list[DeclaredCallable]:
    """Of several types of a name those of the nearest files."""
    if len(types) < 2 or len(types) > _MOST_COMPARED:
        return list(types[:1])
    near = [(_in_common(one.path, path), one) for one in types]
    best = max(distance for distance, _ in near)
    return [one for distance, one in near if distance == best]


def _nearest(
    found: Sequence[DeclaredCallable], call: WrittenCall, file: _File, confidence: Confidence
) -> tuple[Sequence[DeclaredCallable], Confidence]:
    """Of several declarations those that take so many arguments, then those of the nearest file; nothing where two are
    as near. Overloads are probable."""
    if len(found) > _MOST_COMPARED:
        return _NOTHING
    fitting = found
    if len(found) > 1 and any(one.parameters >= 0 for one in found):
        count = arguments_at(file.code, call.end)
        fitting = [one for one in found if count < 0 or one.parameters in (-1, count)] or found
    if len({_what(one) for one in fitting}) > 1:
        near = [(_in_common(one.path, file.path), one) for one in fitting]
        best = max(distance for distance, _ in near)
        fitting = [one for distance, one in near if distance == best]
        confidence = Confidence.PROBABLE
        if len({_what(one) for one in fitting}) > 1:
            return (), confidence
    is_one = len({one.key for one in fitting}) == 1 or not any(one.parameters >= 0 for one in fitting)
    return fitting[:_MOST_MEANT], confidence if is_one else Confidence.PROBABLE


def _what(one: DeclaredCallable) -> str:
    """Whatever its parameters are; of C++ a member is declared in one file, and often defined in another."""
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
