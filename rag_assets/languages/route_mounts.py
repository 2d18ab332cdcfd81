"""Where files mount the routes of other files: below which prefixes what a file or a function registers is served.

A *unit* has routes of its own: a file (`shop/urls.py`), a function of Go that is given a router (`users#Register#0`:
the folder, the function, which of its parameters), a method of C# (`src/Shows.cs#ShowsApi:MapShows`, which `#MapShows`
names too). A mount is written in one unit and names another one; a unit that nobody mounts stands at the root. Pure;
never raises for any text, and takes linear time.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from rag_assets.dependency_trace import tracked

ROUTED_LANGUAGES = {
    "go": "go",
    **dict.fromkeys(("java", "kotlin"), "java"),
    "php": "php",
    "proto": "proto",
    "python": "python",
    "ruby": "ruby",
    "rust": "rust",
    **dict.fromkeys(("javascript", "typescript", "tsx", "jsx"), "typescript"),
    "vb": "vb",
}
"""As what the routes of a language are read."""
_PARAMETER = re.compile(
    r"\(\?P<(\w+)>(?:[^()\\]|\\.|\([^()]*\))*\)|<(?:\w+:)?(\w+)(?:\.\.)?>|\{(\w+)\b[^{}/]*\}|(?<=/)[:*](\w+)[?*+]*"
)
_LONGEST_PATH = 500
_DEEPEST = 8
"""Mounts of mounts: more is a cycle."""
_MOST_PREFIXES = 10
_CONTROLLERS = "#controllers"
"""The unit of all controllers below a folder."""
API_ONLY = "#api_only"
"""What an application of Rails mounts that has no forms."""
_LONGEST = 200_000
"""In characters: longer files are data or made by a program."""


def joined(*parts: str) -> str:
    """The path of a route below its prefixes, with one leading `/`; parameters of all frameworks as `{name}`. The rest
    of a very long one is left out."""
    path = "/".join(part for part in (part.strip().strip("^$").removesuffix("/?").strip("/") for part in parts) if part)
    return _PARAMETER.sub(lambda found: f"{{{next(filter(None, found.groups()))}}}", f"/{path}")[:_LONGEST_PATH]


@dataclass(frozen=True, slots=True)
class RouteMount:
    """The first known one of `units` mounts the first known one of `targets` below `prefix`, or below the path that is
    `called` so."""

    units: tuple[str, ...]
    targets: tuple[str, ...]
    prefix: str
    called: str = ""


@dataclass(frozen=True, slots=True)
class ViewSet:
    """What a class of Django REST says of its routes: the parameter that one is looked up by, the only verbs, and
    actions: (method, `detail` or '', verb, path)."""

    key: str
    lookup: str = ""
    verbs: tuple[str, ...] = ()
    actions: tuple[tuple[str, str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class MountDeclarations:
    """What some files add to `MountSymbols`; `paths` are constants: (name, path)."""

    units: tuple[str, ...] = ()
    mounts: tuple[RouteMount, ...] = ()
    paths: tuple[tuple[str, str], ...] = ()
    viewsets: tuple[ViewSet, ...] = ()


NO_MOUNTS = MountDeclarations()


class MountSymbols:
    """Answers below which prefixes the routes of a unit are served. Equal declarations in any order give equal
    answers."""

    __slots__ = ("_mounts", "_viewsets")

    def __init__(self, declarations: Iterable[MountDeclarations] = ()) -> None:
        parts = list(declarations)
        self._viewsets = {one.key: one for part in parts for one in sorted(part.viewsets, key=repr)}
        units = {unit for part in parts for unit in part.units}
        by_end: dict[str, list[str]] = defaultdict(list)
        for unit in sorted(units):
            by_end[unit.rpartition("/")[2]].append(unit)
            if "#" in unit:
                function = unit.partition("#")[2]
                for name in {function, function.rpartition(":")[2]}:
                    by_end[f"#{name}"].append(unit)
        called: dict[str, set[str]] = defaultdict(set)
        for name, path in (known for part in parts for known in part.paths):
            called[name].add(path)
        self._mounts: dict[str, list[tuple[str, str]]] = {}  # unit → (the one that mounts it, below what)
        for mount in sorted({mount for part in parts for mount in part.mounts}, key=repr):
            by = _named(mount.units, mount.targets[0], units, by_end)
            target = _named(mount.targets, by, units, by_end) if by else ""
            if target and target != by:
                paths = called.get(mount.called, ())
                prefix = next(iter(paths)) if len(paths) == 1 else mount.prefix
                self._mounts.setdefault(target, []).append((by, prefix))
        for target, mounts in self._mounts.items():  # a prefix of its own is none where others give it one
            given = [one for one in mounts if one[0] != target.partition("#")[0]]
            self._mounts[target] = given or mounts

    @tracked("mounts.prefixes")
    def prefixes(self, unit: str) -> tuple[str, ...]:
        """The paths below which a unit is served, sorted; one empty path where nothing mounts it."""
        return tuple(sorted(self._above(unit, {})))[:_MOST_PREFIXES] or ("",)

    @tracked("mounts.global_prefix")
    def global_prefix(self, path: str) -> str:
        """The path below which the program of a file, the nearest around it, serves all its controllers."""
        folder = path
        while folder:
            folder = posixpath.dirname(folder)
            if mounts := self._mounts.get(f"{folder}{_CONTROLLERS}"):
                return mounts[0][1]
        return ""

    @tracked("mounts.is_api_only")
    def is_api_only(self, path: str) -> bool:
        """Whether the application of Rails that a file of routes is of has no forms."""
        return f"{path.partition('config/routes')[0]}{API_ONLY}" in self._mounts

    @tracked("mounts.viewset")
    def viewset(self, key: str) -> ViewSet | None:
        """What a class of Django REST says of its routes."""
        return self._viewsets.get(key)

    def _above(self, unit: str, known: dict[str, set[str]], depth: int = 0) -> set[str]:
        """The prefixes of a unit; of one that mounts itself, those that others give it."""
        if unit not in self._mounts:
            return {""}
        if unit not in known and depth < _DEEPEST:
            known[unit] = set()
            found = {
                joined(one, prefix) for by, prefix in self._mounts[unit] for one in self._above(by, known, depth + 1)
            }
            known[unit] = set(sorted(found)[:_MOST_PREFIXES])
        return known.get(unit, set())


UNMOUNTED = MountSymbols()


def _named(names: Sequence[str], near: str, units: set[str], by_end: Mapping[str, Sequence[str]]) -> str:
    """The unit that the first of some names means: of those that end like it, the one that shares most folders with
    what is near; of functions of any folder the only one."""
    for name in names:
        if name in units:
            return name
        ending = by_end.get(name.rpartition("/")[2], ())
        if name.startswith("#"):
            ending = ending if len(ending) == 1 else ()
        else:
            ending = [unit for unit in ending if unit.endswith(f"/{name}")]
        if ending:
            here = near.partition("#")[0]
            return max(ending, key=lambda unit: (len(posixpath.commonprefix((unit, here))), unit))
    return ""


def mounts_in(
    path: str, text: str, language: str, around: Callable[[str], Mapping[int, Sequence[str]]] = lambda _: {}
) -> MountDeclarations:
    """The units of a file and what it mounts; nothing for a file that has neither routes nor mounts. `around` tells
    where an `include` of Django begins → the paths around it in the file."""
    may_have = _MAY_HAVE.get(language)
    if may_have is None or len(text) > _LONGEST or OF_A_TEST.search(path):
        return MountDeclarations()
    paths = tuple(dict.fromkeys(_PY_PATH.findall(text))) if language == "python" else ()
    if not may_have.search(text):
        return MountDeclarations(paths=paths)
    if language == "go":
        functions = go_functions(text, posixpath.dirname(path))
        return MountDeclarations(tuple(sorted({u for f in functions for u in f.units})), tuple(_go(text, functions)))
    find = partial(_python, around=around) if language == "python" else _typescript
    units = dict.fromkeys((path, *(router_unit(path, name) for name in _PY_REGISTERED.findall(text))))
    if language == "python":
        units |= dict.fromkeys(router_unit(path, name) for name, prefix in router_prefixes(text).items() if prefix)
    if _TS_GLOBAL.search(text):
        units[f"{posixpath.dirname(path)}{_CONTROLLERS}"] = None
    return MountDeclarations(tuple(units), tuple(dict.fromkeys(find(path, text))), paths)


_MAY_HAVE = {
    "go": re.compile(r"\.(?:Group|PathPrefix|Mount)\(|Route|\bEcho\b|\bEngine\b|\bfiber\.|\bServeMux\b"),
    "python": re.compile(
        r"\b(?:urlpatterns|rest_framework|APIRouter|Blueprint|include_router|register_blueprint)\b|\bdjango\."
        r"|@\w+\.(?:get|post|put|delete|patch|route|api_route)\("
    ),
    "typescript": re.compile(r"\.(?:use|register|setGlobalPrefix|get|post|route)\(|\bRouter\b|@Controller\("),
}


OF_A_TEST = re.compile(r"(?:^|/)(?:tests?|__tests__)/|_test\.go$|\.(?:spec|test)\.\w+$|(?:^|/)test_\w+\.py$")
"""Tests mount what they test wherever they like."""


# Go

_GO_FUNCTION = re.compile(r"^func\s+(?:\([^()\n]*\)\s*)?(?P<name>\w+)\((?P<parameters>[^()\n]*)\)", re.MULTILINE)
_GO_END = re.compile(r"^\}", re.MULTILINE)
_GO_ROUTER = re.compile(r"\b(?:\w*Route\w*|Echo|Engine|Group|IRoutes|App|Mux|ServeMux)\b")
_GO_GROUP = r"(?P<on{0}>\w+)\.(?:Group|PathPrefix)\(\s*\"(?P<path{0}>[^\"\n]*)\"[^()\n]*\)(?:\.Subrouter\(\))?"
_GO_MADE = re.compile(rf"\b(?P<made>\w+)\s*:?=\s*(?:\w+\.){{0,3}}{_GO_GROUP.format('')}")
_GO_PASSED = re.compile(rf"(?<!func )\b(?:(?P<package>\w+)\.)?(?P<function>[A-Za-z]\w*)\(\s*{_GO_GROUP.format('_0')}")
_GO_ARGUMENT = re.compile(
    r"\"(?:[^\"\\\n]|\\.)*+\"?|`[^`]*`|'(?:[^'\\\n]|\\.)*+'?|//[^\n]*"
    r"|(?P<call>(?:\b(?P<package>\w+)\.)?\b(?P<function>[A-Za-z]\w*)\()|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<comma>,)"
    r"|(?<=[\s(,&])(?P<variable>[A-Za-z_]\w*)(?=\s*[,)])"
)
_GO_KEPT = r"\b(?P<field>\w+)\s*[:=]\s*(?P<router>{})\b(?!\s*[.(])"
"""A field that a function keeps a router in: `&Orders{router: router}`, `orders.router = router`."""
_GO_MOUNTED = re.compile(
    r"\b(?P<on>\w+)\.Mount\(\s*\"(?P<path>[^\"\n]*)\",\s*(?:(?P<package>\w+)\.)?(?P<function>\w+)\("
)
_RETURNED = -1


@dataclass(frozen=True, slots=True)
class GoFunction:
    """A function that may register routes: its lines as offsets, where its body begins, the names of the parameters
    that are routers, and the units of the fields of its file that others keep one in."""

    name: str
    folder: str
    start: int
    body: int
    end: int
    routers: tuple[tuple[str, int], ...]
    fields: tuple[tuple[str, str], ...] = ()

    @property
    def units(self) -> tuple[str, ...]:
        return (self.unit(_RETURNED), *(self.unit(at) for _, at in self.routers))

    def unit(self, parameter: int) -> str:
        return f"{self.folder}#{self.name}#{parameter}"

    def unit_of(self, variable: str) -> str:
        """What a route belongs to that is registered on a variable, or on a field."""
        of_fields = {} if variable in dict(self.routers) else dict(self.fields)
        return of_fields.get(variable) or self.unit(dict(self.routers).get(variable, _RETURNED))


def go_functions(text: str, folder: str) -> list[GoFunction]:
    """The functions of a file of Go, in text order."""
    ends = [found.start() for found in _GO_END.finditer(text)]
    functions = []
    for found in _GO_FUNCTION.finditer(text):
        after = bisect_right(ends, found.end())
        written = [part.split() for part in found["parameters"].split(",")]
        types = ["".join(words[1:]) for words in written]
        for at in range(len(types) - 2, -1, -1):  # `a, b *gin.RouterGroup`
            types[at] = types[at] or types[at + 1]
        routers = tuple(
            (words[0], at) for at, words in enumerate(written) if words and _GO_ROUTER.search(types[at])
        )  # fmt: skip
        end = ends[after] if after < len(ends) else len(text)
        functions.append(GoFunction(found["name"], folder, found.start(), found.end(), end, routers))
    fields = _kept_routers(text, functions)
    return [replace(function, fields=fields) for function in functions] if fields else functions


def _kept_routers(text: str, functions: Sequence[GoFunction]) -> tuple[tuple[str, str], ...]:
    """The fields that a file keeps routers in, each with the unit of the one parameter that it is given."""
    kept: dict[str, set[str]] = {}
    for function in functions:
        if function.routers:
            written = re.compile(_GO_KEPT.format("|".join(name for name, _ in function.routers if name) or "(?!)"))
            for found in written.finditer(text, function.body, function.end):
                kept.setdefault(found["field"], set()).add(function.unit_of(found["router"]))
    return tuple((field, next(iter(units))) for field, units in kept.items() if len(units) == 1)


def _go_arguments(text: str, start: int, end: int) -> Iterator[tuple[re.Match[str], int, str]]:
    """(call, which argument, the variable that it is) of the calls of named functions, however they are written."""
    opened: list[tuple[re.Match[str] | None, int]] = []  # (call, commas)
    for token in _GO_ARGUMENT.finditer(text, start, end):
        if token["call"] or token["open"]:
            opened.append((token if token["call"] and token["function"] != "func" else None, 0))
        elif not opened:
            continue
        elif token["close"]:
            opened.pop()
        elif token["comma"]:
            opened[-1] = (opened[-1][0], opened[-1][1] + 1)
        elif token["variable"] and (call := opened[-1][0]) is not None:
            yield call, opened[-1][1], token["variable"]


def _go(text: str, functions: Sequence[GoFunction]) -> Iterator[RouteMount]:
    for function in functions:
        groups: dict[str, tuple[str, str]] = {}  # variable → (the variable that it begins with, the path below it)

        def below(variable: str, path: str, known: Mapping[str, tuple[str, str]] = groups) -> tuple[str, str]:
            root, prefix = known.get(variable, (variable, ""))
            return root, joined(prefix, path) if path else prefix

        for made in _GO_MADE.finditer(text, function.start, function.end):
            groups[made["made"]] = below(made["on"], made["path"])
        known = groups.keys() | {name for name, _ in function.routers}
        for call, at, variable in _go_arguments(text, function.body, function.end) if known else ():
            if variable in known:
                root, prefix = below(variable, "")
                yield RouteMount((function.unit_of(root),), _go_targets(call, at, function.folder), prefix)
        for passed in _GO_PASSED.finditer(text, function.start, function.end):
            root, prefix = below(passed["on_0"], passed["path_0"])
            yield RouteMount((function.unit_of(root),), _go_targets(passed, 0, function.folder), prefix)
        for mounted in _GO_MOUNTED.finditer(text, function.start, function.end):
            root, prefix = below(mounted["on"], mounted["path"])
            yield RouteMount((function.unit_of(root),), _go_targets(mounted, _RETURNED, function.folder), prefix)


def _go_targets(call: re.Match[str], parameter: int, folder: str) -> tuple[str, ...]:
    unit = f"#{call['function']}#{parameter}"
    return (f"{call['package']}{unit}", f"{folder}{unit}", unit) if call["package"] else (f"{folder}{unit}",)


# Python

_PY_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<module>[\w.]+)[ \t]+import[ \t]+(?P<names>\([^()]{0,5000}\)|[^\n(]*)"
    r"|import[ \t]+(?P<whole>[^\n]*))",
    re.MULTILINE,
)
_PY_ALIAS = re.compile(r"([\w.]+)(?:[ \t]+as[ \t]+(\w+))?")
_PY_INCLUDE = re.compile(
    r"(?<![\w.])(?:re_path|path|url)\(\s*[rf]?[\"'](?P<path>[^\"'\n]*)[\"']\s*,\s*include\(\s*\(?\s*"
    r"(?:r?[\"'](?P<dotted>[\w.]+)[\"']|(?P<name>\w+(?:\.\w+)*))"
)
_PY_MOUNT = re.compile(
    r"(?P<on>\b\w+)?\.(?:include_router|(?P<blueprint>register_blueprint))\(\s*(?P<name>\w+(?:\.\w+)*)(?P<arguments>(?:[^()]|\([^()]{0,300}\)){0,500})\)"
)
_PY_ROUTER = re.compile(
    r"^(?P<name>\w+)\s*(?::[^=\n]*)?=\s*(?:\w+\.)*\w*(?:APIRouter|Blueprint)\((?P<arguments>(?:[^()]|\([^()]*\))*)\)",
    re.MULTILINE,
)
_PY_PREFIX_SAID = re.compile(r"\b(?:url_)?prefix\s*=\s*[\"']([^\"'\n]*)")
_PY_MOUNT_HERE = re.compile(
    r"\.(?:include_router|register_blueprint)\(\s*(\w+)\s*,[^()]*?\b(?:url_)?prefix\s*=\s*[\"']([^\"']*)"
)
_PY_DECORATOR = re.compile(r"^[ \t]*@(\w+)\.(?:get|post|put|delete|patch|route|api_route)\(", re.MULTILINE)
_PY_PREFIX = re.compile(r"\b(?:url_)?prefix\s*=\s*(?:[\"']([^\"'\n]*)|(?:\w+\.)*(\w+)\s*(?:,|$))")
_PY_PATH = re.compile(
    r"^[ \t]{0,40}+(\w{1,60}+)[ \t]{0,9}+(?::[ \t]*+[\w.]{1,60}+[ \t]*+)?=[ \t]*+[\"'](/[\w/.-]{0,200}+)[\"'][ \t]*+$",
    re.MULTILINE,
)
_COMMENT_LINE = re.compile(r"^[ \t]*(?:#|//).*", re.MULTILINE)


_PY_REGISTERED = re.compile(r"(?<![\w.])(\w+)\.register\(\s*(?:prefix\s*=\s*)?r?[\"']")
_PY_SERVED = re.compile(r"(?<![\w.])(\w+)\.urls\b")


def router_unit(path: str, router: str) -> str:
    """What the views belong to that a file registers with a router of Django REST, and the routes that others add to a
    router of a file with a prefix of its own."""
    return f"{path}#{router}"


def _python(path: str, text: str, around: Callable[[str], Mapping[int, Sequence[str]]]) -> Iterator[RouteMount]:
    text = _COMMENT_LINE.sub("", text)
    includes, mounts = list(_PY_INCLUDE.finditer(text)), list(_PY_MOUNT.finditer(text))
    imported = python_imports(text, posixpath.dirname(path)) if includes or mounts else {}
    routers, constants = (router_prefixes(text), dict(_PY_PATH.findall(text))) if mounts else ({}, {})
    places = around(text) if includes else {}
    for include in includes:
        dotted = include["dotted"]
        targets = _python_files((dotted.replace(".", "/"),)) if dotted else _python_named(include["name"], imported)
        for above in places.get(include.start(), [""]) if targets else ():
            yield RouteMount((path,), targets, joined(above, include["path"]) if above else include["path"])
    registered = set(_PY_REGISTERED.findall(text))
    for router in dict.fromkeys(one for one in _PY_SERVED.findall(text) if one in registered):
        yield RouteMount((path,), (router_unit(path, router),), "")  # below which path of the file, its routes say
    for mount in mounts:
        if targets := _python_named(mount["name"], imported):
            prefix, above = _PY_PREFIX.search(mount["arguments"]), routers.get(mount["on"], "")
            said = (prefix and (prefix[1] or constants.get(prefix[2], ""))) or ""
            called = (prefix and not said and prefix[2]) or ""
            if mount["blueprint"] and said:  # instead of its own prefix
                router = mount["name"].rpartition(".")[2]
                targets = (*(router_unit(file, router) for file in targets), *targets)
            yield RouteMount((path,), targets, joined(above, said) if above else said, called)
    for router, own in router_prefixes(text).items():
        if own:
            yield RouteMount((path,), (router_unit(path, router),), own)
    for router in dict.fromkeys(_PY_DECORATOR.findall(text)):  # a router of another file has its routes here
        imported = imported or python_imports(text, posixpath.dirname(path))
        if files := _python_files(imported.get(router, ())):
            yield RouteMount((*(router_unit(file, router) for file in files), *files), (path,), "")


def router_prefixes(text: str) -> dict[str, str]:
    """The prefixes of the routers that a file of Python makes or mounts, by name."""
    own = {}
    for found in _PY_ROUTER.finditer(text):
        prefix = _PY_PREFIX_SAID.search(found["arguments"])
        own[found["name"]] = joined(prefix[1]) if prefix else ""
    for mounted in _PY_MOUNT_HERE.finditer(text):
        own[mounted[1]] = joined(mounted[2], own.get(mounted[1], ""))
    return own


def _python_named(name: str, imported: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The files that may declare `users.router`, `shop.urls` or an imported router."""
    first, *rest = name.split(".")
    paths = ["/".join(rest[:size]) for size in range(len(rest), -1, -1)]
    files = _python_files([f"{module}/{path}".strip("/") for module in imported.get(first, ()) for path in paths])
    router = ([first, *rest][-2:-1] or [""])[0] if name.endswith(".urls") else ""
    return (*(router_unit(file, router) for file in files), *files) if router else files


def _python_files(modules: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{module}{end}" for module in modules for end in (".py", "/__init__.py"))


def python_imports(text: str, folder: str) -> dict[str, tuple[str, ...]]:
    """Name → the modules that it may be, as paths: a module of a package, or a name of the module."""
    found: dict[str, tuple[str, ...]] = {}
    for statement in _PY_IMPORT.finditer(text):
        if statement["whole"]:
            for dotted, alias in _PY_ALIAS.findall(statement["whole"]):
                found[alias or dotted.partition(".")[0]] = (
                    (dotted if alias else dotted.partition(".")[0]).replace(".", "/"),
                )
            continue
        written = statement["module"]
        name = written.lstrip(".").replace(".", "/")
        if dots := len(written) - len(written.lstrip(".")):
            above = folder.split("/") if folder else []
            name = "/".join(part for part in (*above[: len(above) - dots + 1], name) if part)
        for one, alias in _PY_ALIAS.findall(statement["names"]):
            found[alias or one] = (f"{name}/{one}" if name else one, name)
    return found


# TypeScript and JavaScript

_TS_IMPORT = re.compile(
    r"\bimport\s+(?:type\s+)?(?P<names>[\w$*{},\s]{1,1000}?)\s+from\s+[\"'](?P<from>(?:\.|[@~#]?/|src/)[^\"'\n]*)[\"']"
    r"|\b(?:const|let|var)\s+(?P<required>\w+|\{[^{}]{0,1000}\})\s*=\s*require\(\s*[\"'](?P<module>\.[^\"'\n]*)[\"']\s*\)"
)
_TS_MOUNT = re.compile(
    r"(?P<on>\b\w+)?\s*\.(?:use|register)\(\s*(?:[\"'`](?P<path>/[^\"'`\n]*)[\"'`]\s*,\s*)?(?P<given>[^;\n]{0,300}?\))(?=\s*(?:[;.]|\n|$))"
    r"|\bpath:\s*[\"'`](?P<listed>/[^\"'`\n]*)[\"'`]\s*,\s*route:\s*(?P<route>\w+)"
)
_TS_ASSIGNED = re.compile(r"\b(?:(?:const|let|var)\s+(\w+)\b[^=\n]{0,100}=|export\s+default\b)|;")
_LONGEST_CHAIN = 1_000
_TS_REQUIRED = re.compile(r"\brequire\(\s*[\"'](\.[^\"'\n]*)[\"']\s*\)")
_TS_LAST = re.compile(
    r"(?<![\w.])(\w+)(?:\.\w+)?(?:\([^()]{0,200}\))?\s*(?:,\s*\{\s*prefix:\s*[\"'`](?P<prefix>/[^\"'`\n]*)[\"'`]\s*\})?\s*\)\s*$"
)
_TS_MADE = re.compile(r"\b(?:const|let|var)\s+(\w+)\s*(?::[^=\n]{0,80})?=\s*(?:await\s+)?(?:new\s+)?(\w+)(?:\.\w+)?\(")
"""A router that a function or a class of another file makes: `const orders = createOrderRoutes(controller);`"""
_TS_ALIAS = re.compile(r"^(?:[@~#]?/|src/)")
"""What stands for the folder of the sources, of which a path tells the end."""
_TS_GLOBAL = re.compile(r"\.setGlobalPrefix\(\s*[\"'`]([^\"'`\n]+)[\"'`]")
_TS_ENDS = (".ts", ".js", "/index.ts", "/index.js", ".tsx", ".jsx", ".mjs", ".cjs", "")


def _typescript(path: str, text: str) -> Iterator[RouteMount]:
    folder, text = posixpath.dirname(path), _COMMENT_LINE.sub("", text)
    if found := _TS_GLOBAL.search(text):
        yield RouteMount((path,), (f"{folder}{_CONTROLLERS}",), joined(found[1]))
    imported: dict[str, str] = {}
    for statement in _TS_IMPORT.finditer(text):
        module = statement["from"] or statement["module"]
        for name in re.findall(r"(\w+)\s*(?=[,}]|$)", (statement["names"] or statement["required"]).strip()):
            imported[name] = module
    made = {found[1]: imported[found[2]] for found in _TS_MADE.finditer(text) if found[2] in imported}
    imported = made | imported
    local: dict[str, tuple[str, str]] = {}  # router of this file → the one that mounts it, below what
    mounted: list[tuple[str, str, str]] = []  # on which router, which module, below what
    for mount in _TS_MOUNT.finditer(text):
        given, prefix = mount["given"] or "", mount["path"] or mount["listed"] or ""
        last, required = _TS_LAST.search(given), _TS_REQUIRED.search(given)
        name, on = mount["route"] or (last[1] if last else ""), mount["on"] or _assigned(text, mount.start())
        prefix = (last and last["prefix"]) or prefix
        if module := required[1] if required else imported.get(name, ""):
            mounted.append((on, module, prefix))
        elif name:
            local.setdefault(name, (on, prefix))
    for on, module, prefix in mounted:
        for _ in range(_DEEPEST):
            on, above = local.get(on, ("", ""))
            prefix = joined(above, prefix) if above else prefix
        bare = _TS_ALIAS.sub("", module)
        written = posixpath.join(folder, module) if bare == module else bare
        whole = re.sub(r"\.[cm]?[jt]sx?$", "", posixpath.normpath(written))
        yield RouteMount((path,), tuple(f"{whole}{end}" for end in _TS_ENDS), prefix)


def _assigned(text: str, at: int) -> str:
    """The variable whose statement a call in a chain belongs to; `export default` has none."""
    found = list(_TS_ASSIGNED.finditer(text, max(at - _LONGEST_CHAIN, 0), at))
    return found[-1][1] or "" if found else ""
