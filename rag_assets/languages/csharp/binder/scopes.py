"""What is in scope at a place of a file: namespaces, using directives, the project and what it refers to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rag_assets.languages.csharp.project_files import ProjectDeclaration, implicit_usings

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

    __slots__ = ("_by_folder", "_declared", "_global", "_homes", "_reach", "_usings")

    def __init__(self, projects: Iterable[ProjectDeclaration], usings: Iterable[tuple[str, tuple[str, ...]]]) -> None:
        found = sorted(projects)
        self._declared = {project.path: project for project in found if not project.shared}
        self._by_folder: dict[str, str] = {}
        for project in self._declared.values():
            self._by_folder.setdefault(project.folder, project.path)
        self._homes: dict[str, str] = {}
        self._reach: dict[str, dict[str, int]] = {}
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
        folder = path.rpartition("/")[0]
        home = self._homes.get(folder)
        if home is None:
            home = next((made for above in _folders(folder) if (made := self._by_folder.get(above))), "")
            self._homes[folder] = home
        return home

    def distance(self, home: str, project: str) -> int:
        """How many references lead from one project to another; `UNREACHABLE` where none do."""
        return 0 if home == project else self._distances(home).get(project, UNREACHABLE)

    def usings_of(self, path: str) -> Scope:
        """The directives of a file and the global ones of its project."""
        return read_scope((*self._usings.get(path, ()), *self._global.get(self.home_of(path), ())))

    def project(self, path: str) -> ProjectDeclaration | None:
        return self._declared.get(path)

    def _distances(self, home: str) -> dict[str, int]:
        known = self._reach.get(home)
        if known is None:
            known = self._reach[home] = {home: 0}
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
