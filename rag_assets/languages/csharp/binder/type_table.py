"""Which types a label declares, and which of them a name means in the scope of a place: namespaces, using directives,
the project and what it refers to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter, eq
from types import MethodType
from typing import Any, TypeVar, cast
from weakref import proxy

from rag_assets.languages.csharp.binder.declarations import CSharpDeclarations, LabelType
from rag_assets.languages.csharp.binder.symbols import TypeSymbol
from rag_assets.languages.csharp.binder.type_syntax import TypeSyntax, read_type_syntax
from rag_assets.languages.csharp.project_files import ProjectDeclaration, implicit_usings

F = TypeVar("F", bound=Callable[..., Any])

MOST = 1 << 12  # answers: more than the files of a bucket ask for, and a few megabytes


def remembered(method: F) -> F:
    """Lets each object remember the last answers of a method: files are read one after the other, and what one file
    asks is seldom asked by those that come long after it. So a worker takes no more memory for a large label."""
    return cast(F, _Remembered(method))


class _Remembered:
    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        """For the first time only: then the object has what remembers, which does not hold the object: what holds each
        other waits for the garbage collector, a label's tables for the next label's."""
        if instance is None:
            return self
        made = instance.__dict__[self._name] = lru_cache(MOST)(MethodType(self._method, proxy(instance)))
        return made


UNREACHABLE = 1_000_000
"""The distance of projects that do not refer to each other."""

_ARITY = re.compile(r"`\d+")


@dataclass(frozen=True, slots=True)
class Scope:
    """Using directives by what they import; names are dotted, without `global::`."""

    namespaces: tuple[str, ...] = ()
    statics: tuple[str, ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()

    def alias(self, name: str) -> str:
        """What an alias stands for, '' for none."""
        return next((target for alias, target in self.aliases if alias == name), "")


def read_scope(directives: Iterable[str]) -> Scope:
    """`System`, `static A.B`, `J = A.B<C>`, `global static A.B` → by what they import."""
    namespaces: dict[str, None] = {}
    statics: dict[str, None] = {}
    aliases: dict[str, str] = {}
    for directive in directives:
        text = directive.removeprefix("global ").strip()
        is_static = text.startswith("static ")
        text = text.removeprefix("static ").removeprefix("unsafe ")
        name, equals, target = text.partition("=")
        if equals:
            aliases.setdefault(name.strip(), target.strip().removeprefix("global::"))
        elif not text.startswith("extern alias"):
            (statics if is_static else namespaces)["".join(text.split()).removeprefix("global::")] = None
    return Scope(tuple(namespaces), tuple(statics), tuple(aliases.items()))


def outwards(scope: str) -> Iterator[str]:
    """`A.B` → `A.B`, `A`, ``."""
    while scope:
        yield scope
        scope = scope.rpartition(".")[0]
    yield ""


def without_arity(symbol: str) -> str:
    return _ARITY.sub("", symbol) if "`" in symbol else symbol


class Projects:
    """The projects of a label and the files that belong to them. Independent of the order of what it is given."""

    def __init__(self, projects: Iterable[ProjectDeclaration], usings: Iterable[tuple[str, tuple[str, ...]]]) -> None:
        found = sorted(projects)
        self._declared = {project.path: project for project in found if not project.shared}
        self._by_folder: dict[str, str] = {}
        for project in self._declared.values():
            self._by_folder.setdefault(project.folder, project.path)
        self._usings: dict[str, tuple[str, ...]] = dict(sorted(usings))
        self._global: dict[str, list[str]] = {}
        shared = [project for project in found if project.shared]
        for project in self._declared.values():
            above = [entry for entry in shared if _is_above(entry.folder, project.folder)]
            self._global[project.path] = _imported(project, above)
        for path, directives in self._usings.items():
            if any(directive.startswith("global ") for directive in directives):
                kept = [directive for directive in directives if directive.startswith("global ")]
                self._global.setdefault(self.home_of(path), []).extend(kept)

    def home_of(self, path: str) -> str:
        """The project that a file belongs to: the nearest `.csproj` above it, '' for none."""
        return self._home_below(path.rpartition("/")[0])

    @remembered
    def _home_below(self, folder: str) -> str:
        return next((made for above in _folders(folder) if (made := self._by_folder.get(above))), "")

    def project_of(self, path: str) -> ProjectDeclaration | None:
        return self._declared.get(self.home_of(path))

    def distance(self, home: str, project: str) -> int:
        """How many references lead from one project to another; `UNREACHABLE` where none do."""
        return 0 if home == project else self._distances(home).get(project, UNREACHABLE)

    def usings_of(self, path: str) -> Scope:
        """The directives of a file and the global ones of its project."""
        return read_scope((*self._usings.get(path, ()), *self._global.get(self.home_of(path), ())))

    @remembered
    def _distances(self, home: str) -> dict[str, int]:
        known = {home: 0}
        waiting = [home]
        for path in waiting:  # grows while it is read: breadth first
            project = self._declared.get(path)
            for target in project.projects if project else ():
                if target not in known:
                    known[target] = known[path] + 1
                    waiting.append(target)
        return known


def _imported(project: ProjectDeclaration, above: list[ProjectDeclaration]) -> list[str]:
    """The usings that project files give to every file of a project."""
    says = (entry.implicit_usings for entry in (project, *reversed(above)))
    is_implicit = next((value for value in says if value is not None), False)
    written = [using for entry in (*above, project) for using in entry.usings]
    return [*written, *(implicit_usings(project.sdk) if is_implicit else ())]


def _is_above(folder: str, inner: str) -> bool:
    return not folder or inner == folder or inner.startswith(f"{folder}/")


def _folders(folder: str) -> Iterator[str]:
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
    yield ""


MAX_BASES = 100
"""How many types above one are looked at; real hierarchies stay below 30, with all their interfaces."""

PREDEFINED = frozenset(
    {
        "bool", "byte", "sbyte", "char", "decimal", "double", "float", "int", "uint", "nint", "nuint", "long", "ulong",
        "short", "ushort", "object", "string", "void", "dynamic", "var",
    }
)  # fmt: skip


class TypeTable:
    """The types of a label by name. What it derives is remembered. `parts`: id → declarations of the type, in order."""

    def __init__(self, declarations: Iterable[CSharpDeclarations]) -> None:
        given = list(declarations)
        self.projects = Projects(
            (project for entry in given for project in entry.projects),
            (found for entry in given for found in entry.usings),
        )
        self.parts: dict[str, list[LabelType]] = {}
        self._ids: dict[str, list[str]] = {}  # symbol → ids
        self._homes: dict[str, str] = {}  # id → project
        self._by_name: dict[tuple[str, str], list[str]] = {}  # (container without arity, name) → symbols
        self._type_names: set[str] = set()  # a look-up ends early for the many names of libraries
        self._namespaces: set[str] = set()
        self._components: dict[str, list[tuple[str, str]]] = {}  # name of a component of Razor → (path, symbol)
        by_symbol: dict[str, list[LabelType]] = {}
        types = [found for entry in given for found in entry.types]
        if any(found.path.endswith(".razor") for found in types):
            from rag_assets.languages.csharp.binder.razor_components import named_components  # start-up budget

            types = named_components(types, self.projects.project_of)
        for found in sorted(types, key=_place):
            by_symbol.setdefault(found.symbol, []).append(found)
            if found.path.endswith(".razor"):
                self._components.setdefault(found.name, []).append((found.path, found.symbol))
        for symbol, parts in by_symbol.items():
            self._add(symbol, parts)

    def _add(self, symbol: str, parts: list[LabelType]) -> None:
        first = parts[0]
        container = without_arity(first.outer or first.namespace)
        self._by_name.setdefault((container, first.name), []).append(symbol)
        self._type_names.add(first.name)
        if first.namespace not in self._namespaces:
            self._namespaces.update(outwards(first.namespace))
        for type_id, home, own in self._identities(symbol, parts):
            self._ids.setdefault(symbol, []).append(type_id)
            self.parts[type_id] = own
            self._homes[type_id] = home

    def _identities(self, symbol: str, parts: list[LabelType]) -> Iterator[tuple[str, str, list[LabelType]]]:
        """(id, project, parts) of the types that carry one symbol: parts of a partial type belong together, also when
        projects link them from each other; whole declarations in several projects are types of their own."""
        homes: dict[str, list[LabelType]] = {}
        for part in parts:
            homes.setdefault(self.projects.home_of(part.path), []).append(part)
        if len(homes) == 1 or all("partial" in part.modifiers for part in parts):
            yield symbol, self.projects.home_of(parts[0].path), parts
            return
        for number, (home, members) in enumerate(sorted(homes.items())):
            yield f"{symbol}@{home}" if number else symbol, home, members

    @remembered
    def symbol(self, type_id: str) -> TypeSymbol | None:
        parts = self.parts.get(type_id)
        if parts is None:
            return None
        main = next((part for part in parts if part.base_list), parts[0])
        return TypeSymbol(
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

    def component(self, name: str, path: str) -> str:
        """The id of the component of Razor that a name means in a file: its own, else the nearest that its project
        sees; '' for none."""
        home, parts = self.projects.home_of(path), path.split("/")

        def distance(known: tuple[str, str]) -> tuple[int, int, str]:
            away = self.projects.distance(home, self.projects.home_of(known[0]))
            return away, -sum(map(eq, parts, known[0].split("/"))), known[0]

        nearest = min(self._components.get(name, ()), key=distance, default=None)
        found = self.home_id(nearest[1], path) if nearest is not None else ""
        return found if found and self.sees(path, found) else ""

    def home_id(self, symbol: str, path: str) -> str:
        """The id of a symbol as the project of `path` sees it; '' for an unknown symbol."""
        ids = self._ids.get(symbol, ())
        if len(ids) < 2:
            return ids[0] if ids else ""
        home = self.projects.home_of(path)
        return min(ids, key=lambda type_id: (self.projects.distance(home, self._homes[type_id]), ids.index(type_id)))

    @remembered
    def resolve(self, name: str, arity: int, path: str, scope: str) -> str:
        """The id of the type that a dotted name means at a place, '' for none."""
        if name in PREDEFINED:
            return ""
        head, _, rest = name.partition(".")
        if not rest:
            return self._simple(head, arity, path, scope)
        outer = self._simple(head, -1, path, scope)  # `Outer.Inner`, or an alias of a namespace
        if outer:
            found = self._inside(outer, rest, arity, path)
            if found:
                return found
        container, _, last = name.rpartition(".")
        namespace = self.namespace_of(scope)
        target = self.usings_of(path).alias(head)
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
        if name not in self._type_names and not self.usings_of(path).alias(name):
            return ""
        around = self.home_id(scope, path)
        while around:
            found = self._nested(around, name, arity, path)
            if found:
                return found
            part = self.parts[around][0]
            if part.name == name and arity in (-1, len(part.type_parameters)):
                return around
            around = self.home_id(part.outer, path)
        for space in outwards(self.namespace_of(scope)):
            found = self._qualified(space, name, arity, path)
            if found:
                return found
        usings = self.usings_of(path)
        target = usings.alias(name)
        if target:
            written = read_type_syntax(target)
            container, _, last = written.name.rpartition(".")
            return self._qualified(container, last, written.arity, path) or self.global_type(written, path, scope)
        spaces = self.spaces(path, self.namespace_of(scope))
        candidates = [symbol for space in spaces for symbol in self._by_name.get((space, name), ())]
        if candidates:
            return self._pick(candidates, arity, path)
        for written_type in usings.statics:
            owner = self.global_type(read_type_syntax(written_type), path, scope)
            found = self._nested(owner, name, arity, path) if owner else ""
            if found:
                return found
        return ""

    def global_type(self, written: TypeSyntax, path: str, scope: str) -> str:
        """The type that a using directive names; inside of a namespace the name may be relative to it."""
        container, _, last = written.name.rpartition(".")
        found = self._qualified(container, last, written.arity, path)
        spaces = iter(()) if found else outwards(self.namespace_of(scope))
        return found or next(
            (
                made
                for space in spaces
                if (made := self._qualified(f"{space}.{container}".strip("."), last, written.arity, path))
            ),
            "",
        )

    @remembered
    def spaces(self, path: str, namespace: str) -> tuple[str, ...]:
        """The namespaces that the using directives of a file import at a place: as written, and, where they stand
        inside of a namespace, relative to it. Only those of the label."""
        written = self.usings_of(path).namespaces
        around = [space for space in outwards(namespace) if space]
        found = [entry for name in written for entry in (name, *(f"{space}.{name}" for space in around))]
        return tuple(dict.fromkeys(name for name in found if name in self._namespaces))

    def _nested(self, outer: str, name: str, arity: int, path: str) -> str:
        """A type nested in a type or in one of the classes above it."""
        plain = without_arity(self.parts[outer][0].symbol)
        found = self._qualified(plain, name, arity, path)
        if found or (not self.parts[outer][0].base_list and len(self.parts[outer]) == 1):
            return found
        for base in self._nesting_bases(outer):
            found = self._qualified(without_arity(self.parts[base][0].symbol), name, arity, path)
            if found:
                return found
        return ""

    @remembered
    def _nesting_bases(self, type_id: str) -> tuple[str, ...]:
        """The classes above a type, found without looking into types, for that is what asks for them."""
        return tuple(self._classes_above(type_id))

    def _classes_above(self, type_id: str) -> Iterator[str]:
        seen = {type_id}
        current = type_id
        while len(seen) < MAX_BASES:
            above = ""
            for part in self.parts[current]:
                for written in part.base_list:
                    base = read_type_syntax(written)
                    head = part.outer or part.namespace
                    made = self._outside(base, part.path, head)
                    if made and self.parts[made][0].kind != "interface":
                        above = made
                        break
                if above:
                    break
            if not above or above in seen:
                return
            seen.add(above)
            yield above
            current = above

    def _outside(self, written: TypeSyntax, path: str, scope: str) -> str:
        """As `resolve`, but without what bases of the types around would add: a look-up that cannot run in circles."""
        name, arity = written.name, written.arity
        container, _, last = name.rpartition(".")
        if last not in self._type_names and not self.usings_of(path).alias(name):
            return ""
        for space in outwards(without_arity(scope)):
            joined = f"{space}.{container}".strip(".")
            found = self._qualified(joined, last, arity, path)
            if found:
                return found
        usings = self.usings_of(path)
        target = usings.alias(name)
        if target:
            return self.global_type(read_type_syntax(target), path, scope)
        for space in self.spaces(path, without_arity(scope)):
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

    def namespace_of(self, scope: str) -> str:
        ids = self._ids.get(scope)
        return self.parts[ids[0]][0].namespace if ids else scope

    @remembered
    def usings_of(self, path: str) -> Scope:
        return self.projects.usings_of(path)

    def around(self, symbol: str) -> LabelType | None:
        """The first declaration of a symbol."""
        ids = self._ids.get(symbol)
        return self.parts[ids[0]][0] if ids else None

    def distance(self, path: str, type_id: str) -> int:
        """How far the project of a type is from the one of a file."""
        return self.projects.distance(self.projects.home_of(path), self._homes[type_id])

    def sees(self, path: str, type_id: str) -> bool:
        """Whether the project of a file refers to the one of a type; of what is in no project that is not known."""
        home = self.projects.home_of(path)
        return not home or not self._homes.get(type_id) or self.distance(path, type_id) < UNREACHABLE


_place = attrgetter("path", "line_start", "line_end", "symbol")


def _arity_of(symbol: str) -> int:
    name = symbol.partition("@")[0].rpartition(".")[2]
    return int(name.partition("`")[2] or 0)
