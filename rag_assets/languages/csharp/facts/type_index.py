"""The types that a label declares: what a builder may know of types outside its own file, without guessing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter

from rag_assets.contracts.segment import Member, MemberKind, Segment
from rag_assets.dependency_trace import tracked
from rag_assets.languages.csharp.binder.type_syntax import simple_name

_DECLARATIONS = ("class", "interface", "enum", "struct", "record", "delegate")
"""What begins the declaration of a type (`record struct` is one too); programs, modules and documents are none."""

_INTERFACE = "interface"
_ARITY = re.compile(r"`\d+")
_GLOBAL = "global::"
_CUT = re.compile(r"[<(\[\s]")
_MOST_NAMESAKES = 50
"""Types of one name that are compared for each file that names it."""


@dataclass(frozen=True, slots=True, order=True)
class IndexedType:
    """One declaration of a type: `symbol` is fully qualified with arity, `line` 1-based. A partial type has several."""

    symbol: str
    path: str
    line: int
    name: str
    declaration: str
    namespace: str = ""
    base_list: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    language: str = "csharp"


_IN_ORDER = attrgetter(*IndexedType.__dataclass_fields__)  # a third of the time that the fields take as `<` has them


class TypeIndex:
    """The types of a label by name. Unchanging; equal declarations in any order give equal answers.

    Every question is about one language, C# unless it says otherwise: a TypeScript `Order` is not a C# one.
    """

    __slots__ = ("_by_base", "_by_name", "_by_namespace", "_by_symbol", "_by_tail")

    def __init__(self, types: Iterable[IndexedType] = ()) -> None:
        self._by_name: dict[tuple[str, str], tuple[IndexedType, ...]] = {}
        self._by_symbol: dict[tuple[str, str], tuple[IndexedType, ...]] = {}
        self._by_base: dict[tuple[str, str], tuple[IndexedType, ...]] = {}
        self._by_tail: dict[tuple[str, str], tuple[IndexedType, ...]] = {}
        self._by_namespace: dict[tuple[str, str], dict[str, list[IndexedType]]] = {}
        names: dict[tuple[str, str], list[IndexedType]] = {}
        symbols: dict[tuple[str, str], list[IndexedType]] = {}
        bases: dict[tuple[str, str], list[IndexedType]] = {}
        for found in sorted(set(types), key=_IN_ORDER):
            names.setdefault((found.language, found.name), []).append(found)
            symbols.setdefault((found.language, _ARITY.sub("", found.symbol)), []).append(found)
            for base in dict.fromkeys(map(simple_name, found.base_list)):
                bases.setdefault((found.language, base), []).append(found)
        for frozen, lists in ((self._by_name, names), (self._by_symbol, symbols), (self._by_base, bases)):
            frozen.update((key, tuple(entries)) for key, entries in lists.items())

    def __iter__(self) -> Iterator[IndexedType]:
        """All declarations, by language and symbol."""
        for _, found in sorted(self._by_symbol.items()):
            yield from found

    def __len__(self) -> int:
        return sum(map(len, self._by_symbol.values()))

    @tracked("types.named")
    def named(self, name: str, language: str = "csharp") -> tuple[IndexedType, ...]:
        """The declarations of a simple name, whatever their namespace and arity; by symbol, then path."""
        return self._by_name.get((language, name), ())

    @tracked("types.near")
    def near(self, written: str, namespace: str, language: str) -> tuple[IndexedType, ...]:
        """The declarations that a name, as a base list has it, may mean in a namespace: those whose symbol ends with
        the whole of a dotted one. Of a name of many types only those of the namespace: there each file would compare
        them all."""
        name = _CUT.split(written.strip(), maxsplit=1)[0].replace("::", ".").strip(".")
        asked = (language, name)
        found = self._by_tail.get(asked)
        if found is None:
            known = self._by_name.get((language, name.rpartition(".")[2]), ())
            found = tuple(entry for entry in known if "." not in name or _is_tail(name, entry.symbol))
            self._by_tail[asked] = found
        if len(found) <= _MOST_NAMESAKES:
            return found
        spaces = self._by_namespace.get(asked)
        if spaces is None:
            spaces = self._by_namespace[asked] = {}
            for entry in found:
                spaces.setdefault(entry.namespace, []).append(entry)
        return tuple(spaces.get(namespace, ()))

    @tracked("types.parts")
    def parts(self, symbol: str, language: str = "csharp") -> tuple[IndexedType, ...]:
        """The declarations of exactly this symbol (with arity): the parts of a partial type, or copies."""
        found = self._by_symbol.get((language, _ARITY.sub("", symbol)), ())
        return tuple(entry for entry in found if entry.symbol == symbol)

    @tracked("types.implementers")
    def implementers(self, interface_name: str, language: str = "csharp") -> tuple[IndexedType, ...]:
        """The types, but no interfaces, with this simple name in their base list; by symbol, then path."""
        found = self._by_base.get((language, interface_name), ())
        return tuple(entry for entry in found if entry.declaration != _INTERFACE)

    @tracked("types.resolve")
    def resolve(
        self, type_name: str, namespace: str = "", usings: Iterable[str] = (), language: str = "csharp"
    ) -> IndexedType | None:
        """The declaration that a type expression means at a place, its first part where it is partial.

        As the compiler looks: the namespace (or type) of the place, outwards, then its usings and aliases. What this
        does not find may come by a global using of the project: a name that the label declares only once, under the
        same root namespace, is that one. None for a type of nobody here, and where several fit.
        """
        wanted, arity = _written(type_name)
        if not wanted:
            return None
        simple = wanted.rpartition(".")[2]
        spaces, aliases = _usings(tuple(usings))
        head, dot, rest = wanted.partition(".")
        if head in aliases:
            target, alias_arity = _written(aliases[head])
            wanted, arity = f"{target}{dot}{rest}", arity or alias_arity
            simple = wanted.rpartition(".")[2]
        known = self.named(simple, language)
        if not known:
            return None
        for scope in _outwards(namespace):
            found = self._exactly(f"{scope}.{wanted}" if scope else wanted, arity, language)
            if found:
                return _only(found)
        imported = [found for space in spaces for found in self._exactly(f"{space}.{wanted}", arity, language)]
        if imported:
            return _only(imported)
        root = namespace.partition(".")[0]
        near = [entry for entry in known if not root or entry.symbol.startswith(f"{root}.")]
        return _only([entry for entry in _fitting(near, arity) if _ends_with(entry.symbol, wanted)])

    def _exactly(self, symbol: str, arity: int, language: str) -> list[IndexedType]:
        return _fitting(self._by_symbol.get((language, symbol), ()), arity)


def declared_in(path: str, segments: Iterable[Segment]) -> Iterator[IndexedType]:
    """The types that a file declares, nested ones included, in text order."""
    for segment in segments:
        if not segment.kind.startswith(_DECLARATIONS):
            yield from _nested(path, segment, segment.members)
            continue
        yield _indexed(path, segment, segment, segment.kind)
        yield from _nested(path, segment, segment.members)


def _nested(path: str, segment: Segment, members: tuple[Member, ...]) -> Iterator[IndexedType]:
    waiting = list(reversed(members))
    while waiting:
        member = waiting.pop()
        if member.kind is not MemberKind.TYPE:
            continue
        if member.symbol:
            yield _indexed(path, segment, member, member.type)
        waiting.extend(reversed(member.members))


def _indexed(path: str, segment: Segment, declared: Segment | Member, declaration: str) -> IndexedType:
    return IndexedType(
        symbol=declared.symbol,
        path=path,
        line=declared.span.line_start,
        name=declared.name,
        declaration=declaration,
        namespace=segment.namespace,
        base_list=declared.base_list,
        attributes=declared.attributes,
        language=segment.language,
    )


def _written(type_name: str) -> tuple[str, int]:
    """(dotted name without arguments, number of type arguments) of `global::A.Repo<X, Y>?`."""
    text = "".join(type_name.split()).removeprefix(_GLOBAL).rstrip("?")
    head, bracket, rest = text.partition("<")
    return head.partition("[")[0].partition("(")[0].rstrip("?"), _commas(rest) + 1 if bracket else 0


def _commas(arguments: str) -> int:
    """The commas of `A, B<C, D>> …` that separate the outermost arguments."""
    depth = commas = 0
    for character in arguments:
        if character in "<([":
            depth += 1
        elif character in ">)]":
            if depth == 0:
                break
            depth -= 1
        elif character == "," and depth == 0:
            commas += 1
    return commas


@lru_cache(maxsize=1024)  # the files of a bucket ask again and again with their own
def _usings(usings: tuple[str, ...]) -> tuple[list[str], dict[str, str]]:
    """(imported namespaces, aliases) of the texts of using directives."""
    spaces: list[str] = []
    aliases: dict[str, str] = {}
    for using in usings:
        text = using.removeprefix("global ").removeprefix("static ").strip()
        name, equals, target = text.partition("=")
        if equals:
            aliases[name.strip()] = target.strip()
        else:
            spaces.append(text.removeprefix(_GLOBAL))
    return spaces, aliases


def _outwards(namespace: str) -> Iterator[str]:
    """`A.B` → `A.B`, `A`, ``."""
    scope = _ARITY.sub("", namespace)
    while scope:
        yield scope
        scope = scope.rpartition(".")[0]
    yield ""


def _fitting(found: Sequence[IndexedType], arity: int) -> list[IndexedType]:
    """Those that a name with so many type arguments means; one without may also be `nameof(Repo)` of a generic type."""
    exact = [entry for entry in found if int(entry.symbol.rpartition(".")[2].partition("`")[2] or 0) == arity]
    return exact or ([] if arity else list(found))


def _is_tail(name: str, symbol: str) -> bool:
    return symbol.endswith(name) and symbol[: -len(name)][-1:] in ("", ".", "/")


def _ends_with(symbol: str, wanted: str) -> bool:
    return f".{_ARITY.sub('', symbol)}".endswith(f".{wanted}")


def _only(found: list[IndexedType]) -> IndexedType | None:
    """The first part of the one symbol that `found` declares, or None."""
    return found[0] if len({entry.symbol for entry in found}) == 1 else None
