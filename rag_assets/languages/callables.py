"""The functions, methods and types of languages without a resolver, by the names that calls write."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, partial

from rag_assets.contracts.graph import (
    DeclaredCallable,
    NodeType,
    declaration_key,
    file_key,
    key_kind,
    member_keys,
    symbol_key,
)
from rag_assets.contracts.segment import Member, MemberKind, Segment, leaves_of
from rag_assets.dependency_trace import tracked
from rag_assets.languages.call_syntax import syntax_of
from rag_assets.languages.parsed_file import ParsedFile

_SEPARATORS = re.compile(r"::|[./#]")
_TYPE_NAME = re.compile(
    r"[(*&?\s]*(?:(?:Promise|Optional|Option|Result|Box|Rc|Arc|Awaitable|Future|CompletableFuture)\s*[<\[]\s*){0,3}"
    r"(?:\w+(?:\.|::)){0,6}([A-Z]\w*)(?=\W*$|[<\[,|])"
)
"""The name of a type, without what only holds it."""
_MADE_OF = re.compile(r"(?:new\s+|&)?(?:\w+\.)*([A-Z]\w*)(?:\.as_manager)?(?=[({])")  # of Django


def simple_name(symbol: str) -> str:
    """`pkg/mod.Type`, `Ns::Type` → `Type`; arguments of generic types are left out."""
    return _SEPARATORS.split(symbol.partition("<")[0].partition("`")[0].strip())[-1]


def key_symbol(key: str) -> str:
    """`java:a.B.run(int)|METHOD` → `a.B.run`."""
    return key.partition(":")[2].rpartition("|")[0].partition("(")[0]


def callables_in(file: ParsedFile) -> Iterator[DeclaredCallable]:
    """What a file declares that can be called."""
    syntax = syntax_of(file.language)
    if syntax is None:
        return
    for segment in file.segments:
        made = partial(_declared, syntax.family, file.path, segment.namespace or segment.symbol)
        is_of_type = declaration_key(file.language, segment.symbol, segment.kind, file.path) != file_key(file.path)
        if is_of_type:
            key = symbol_key(file.language, segment.symbol, NodeType.TYPE)
            makes = segment.kind.startswith(_MADE)
            bases = [*map(simple_name, segment.base_list), *_wanted(segment)]
            yield made(simple_name(segment.name), key, bases, is_callable=makes)
        for leaf in leaves_of(segment.members):
            member = leaf.member
            owner = leaf.owner_in(segment.symbol)
            holder = simple_name(owner) if is_of_type or leaf.owner else ""
            for key in member_keys(file.language, owner, member):
                kind = key_kind(key)
                if kind is NodeType.TYPE:
                    makes = member.type.startswith(_MADE)
                    yield made(simple_name(member.name), key, map(simple_name, member.base_list), is_callable=makes)
                elif kind is NodeType.METHOD:
                    around, name = written_outside(member.name)
                    counted = len(member.parameters) if file.language in _COUNTED else -1
                    yield made(
                        name, key, _types(member), around or holder, counted, takes=_taken(file.language, member)
                    )
                elif types := _types(member):
                    yield made(member.name, key, types, holder, is_callable=False)


_OF_PACKAGE = re.compile(r"\b\w+\.(?=\w)|\s+")


def _taken(language: str, member: Member) -> str:
    """What two methods of Go must have in common for one to be the other's of an interface: `(Pool,*Request)`, and a
    colon where it returns something."""
    if language != "go":
        return ""
    types = ",".join(_OF_PACKAGE.sub("", one.type).replace("interface{}", "any") for one in member.parameters)
    return f"({types}){':' * bool(member.type)}"


def _wanted(segment: Segment) -> Iterator[str]:
    """The methods of an interface of Go, which no type names that has them, behind a dot beside its bases."""
    if segment.language == "go" and segment.kind == "interface":
        yield from (f".{member.name}" for member in segment.members if member.kind is MemberKind.METHOD)


_MADE = ("actor", "case class", "class", "data", "enum", "exception", "object", "record", "struct", "type")
"""Kinds of types that calls make; interfaces, traits and names of other types are none."""


def _declared(
    family: str, path: str, module: str, name: str, key: str, types: Iterable[str], owner: str = "",
    parameters: int = -1, *, is_callable: bool = True, takes: str = "",
) -> DeclaredCallable:  # fmt: skip
    return DeclaredCallable(family, name, key, owner, module, path, parameters, tuple(types), is_callable, takes)


_COUNTED = frozenset({"java"})
"""Languages where methods of one name are told apart by their parameters."""


def written_outside(name: str) -> tuple[str, str]:
    """(type, method) of a method that is declared outside of its type: `Arena::Allocate`, `BaseApp.Start`,
    `Hooks.prototype.add`; ('', name) of others."""
    parts = _SEPARATORS.split(name.replace(".prototype.", ".")) if not name.startswith("operator") else [name]
    return (parts[-2] if len(parts) > 1 else ""), parts[-1]


def _types(member: Member) -> tuple[str, ...]:
    """The simple name of the type that a member has or returns, or that its initial value is made of."""
    found = _TYPE_NAME.match(member.type) or _MADE_OF.match(member.value)
    return (found[1],) if found is not None else ()


_TYPE, _METHOD = f"|{NodeType.TYPE}", f"|{NodeType.METHOD}"


def is_type(one: DeclaredCallable) -> bool:
    return one.key.endswith(_TYPE)


class Namesakes(tuple[DeclaredCallable, ...]):
    """What is called so in a family of languages, in the order of keys."""

    @cached_property
    def types(self) -> list[DeclaredCallable]:
        return [one for one in self if is_type(one)]

    @cached_property
    def functions(self) -> list[DeclaredCallable]:
        return [one for one in self if not one.owner and one.is_callable and one.key.endswith(_METHOD)]

    @cached_property
    def methods(self) -> Mapping[str, list[DeclaredCallable]]:
        """By the type that has them."""
        found: dict[str, list[DeclaredCallable]] = {}
        for one in self:
            if one.owner and one.is_callable:
                found.setdefault(one.owner, []).append(one)
        return found

    @cached_property
    def properties(self) -> list[DeclaredCallable]:
        return [one for one in self if not one.is_callable and not is_type(one)]

    @cached_property
    def by_file(self) -> Mapping[str, list[DeclaredCallable]]:
        """The functions and types that are made, by path."""
        found: dict[str, list[DeclaredCallable]] = {}
        for one in self:
            if not one.owner and one.is_callable:
                found.setdefault(one.path, []).append(one)
        return found


_NONE = Namesakes()


class CallableIndex:
    """The callables of a label by name. Unchanging; equal declarations in any order give equal answers. Picklable."""

    __slots__ = ("_by_name",)

    def __init__(self, declared: Iterable[DeclaredCallable] = ()) -> None:
        lists: dict[tuple[str, str], list[DeclaredCallable]] = {}
        for one in sorted(set(declared)):
            lists.setdefault((one.family, one.name), []).append(one)
        self._by_name = {key: Namesakes(found) for key, found in lists.items()}

    @tracked("calls.named")
    def named(self, name: str, family: str) -> Namesakes:
        return self._by_name.get((family, name), _NONE)
