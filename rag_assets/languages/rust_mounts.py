"""Where code of Rust serves what functions register: `nest` and `merge` of axum, `mount` of Rocket, scopes of actix.

A unit is a function (`src/users.rs#router`, `src/users.rs#Users::router` in an `impl`), which registers routes or is a
handler with an attribute, or a variable of it (`src/main.rs#main#api`). Pure; never raises for any text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rag_assets.languages.route_mounts import NO_MOUNTS, MountDeclarations, RouteMount, joined
from rag_assets.languages.routes import closed_brackets, code_pattern, in_code, prefix_at

_MAY_HAVE = re.compile(
    r"\bRouter\b|\broutes!|\bServiceConfig\b|\bweb::scope\b|#\[\s*(?:\w+::)*(?:get|post|put|delete|patch|head|options|route)\("
)
_OF_A_TEST = re.compile(r"(?:^|/)tests?/")
_TESTS = re.compile(r"^[ \t]*#\[cfg\(test\)\]\s*mod\b", re.MULTILINE)
_LONGEST = 200_000
"""In characters: longer files are made by a program."""
_PLACES = code_pattern(
    "rust",
    r"\bimpl\b[^;{}()\n]{0,200}?\b(?P<type>\w+)(?:<[^{}\n]{0,100}>)?\s*(?=\{)"
    r"|\bfn\s+(?P<function>\w+)"
    r"|\blet\s+(?:mut\s+)?(?P<variable>\w+)(?:\s*:[^=;{}\n]{1,100})?\s*=\s*(?P<made>(?:\w+::)*\w+)(?=\()",
)
_MOUNTS = code_pattern(
    "rust",
    r"(?:\.\s*(?P<call>nest|mount|merge|configure|service)|\bweb::(?P<scope>scope))\("
    r"\s*(?:\"(?P<under>[^\"\n]*)\"\s*,?)?\s*(?P<given>(?!(?:web|Router)::)(?:\w+::)*\w+(?=\s*[(),]))?"
    r"|\broutes!\s*\[(?P<listed>[^\]]{0,5000})\]",
)
_BODY = re.compile(r"[{;]")
_NEXT = re.compile(r"[(\[{;]")
_FARTHEST = 5_000
"""Where the body of a function or the end of a statement is looked for, in characters from one bracket to the next."""
_MOST_BRACKETS = 2_000
_CHAINED = re.compile(r"\s*\.\s*\w+\(")
_USE = re.compile(
    r"\buse\s+(?P<path>[\w:]*?)(?:::)?"
    r"(?:\{(?P<names>[^;]{0,5000})\}|(?<=::)(?P<name>\w+)(?:\s+as\s+(?P<alias>\w+))?)\s*;"
)
_USED = re.compile(r"([\w:]+)(?:\s+as\s+(\w+))?")
_ALL = "*"
_USES_ALL = re.compile(r"\buse\s+[^;]{0,500}\*")
_HERE = ("crate", "self", "super")


@dataclass(frozen=True, slots=True)
class RustUnit:
    """A function or a variable that routes are registered in, and the number of the one around it, -1 for none."""

    name: str
    start: int
    end: int
    around: int
    made: str = ""


def rust_units(path: str, text: str) -> list[RustUnit]:
    """The units of a file, in text order."""
    if len(text) > _LONGEST or not _MAY_HAVE.search(text):
        return []
    return list(_units(path, text, closed_brackets(text, "rust")))


def _units(path: str, text: str, closed: Mapping[int, int]) -> Iterator[RustUnit]:
    around: list[tuple[int, RustUnit]] = []
    type_end, type_name, number = 0, "", 0
    for place in in_code(text, _PLACES):
        start = place.start()
        while around and around[-1][1].end <= start:
            around.pop()
        if place["type"]:
            type_end, type_name = closed.get(text.find("{", place.end()), 0), f"{place['type']}::"
            continue
        if place["function"]:
            body = _BODY.search(text, place.end(), place.end() + _FARTHEST)
            if body is None or body[0] == ";":
                continue
            name = f"{path}#{type_name if start < type_end else ''}{place['function']}"
            end = closed.get(body.start(), len(text))
        elif place["variable"] and around:
            name, end = f"{around[-1][1].name}#{place['variable']}", _end_of_statement(text, place.end(), closed)
        else:
            continue
        unit = RustUnit(name, start, end, around[-1][0] if around else -1, place["made"] or "")
        yield unit
        around.append((number, unit))
        number += 1


def _end_of_statement(text: str, at: int, closed: Mapping[int, int]) -> int:
    for _ in range(_MOST_BRACKETS):
        found = _NEXT.search(text, at, at + _FARTHEST)
        if found is None or found[0] == ";":
            return found.start() if found else at
        at = closed.get(found.start(), found.end())
    return at


def unit_at(units: list[RustUnit], offset: int) -> int:
    """The number of the innermost unit around an offset, -1 for none."""
    number = bisect_right(units, offset, key=lambda unit: unit.start) - 1
    while number >= 0 and units[number].end <= offset:
        number = units[number].around
    return number


def rust_mounts(path: str, text: str) -> MountDeclarations:
    """The units of a file and what it mounts."""
    if len(text) > _LONGEST or _OF_A_TEST.search(path) or not _MAY_HAVE.search(text):
        return NO_MOUNTS
    tests = _TESTS.search(text)
    text = text[: tests.start()] if tests else text
    closed = closed_brackets(text, "rust")
    units = list(_units(path, text, closed))
    names = tuple(dict.fromkeys((path, *(unit.name for unit in units))))
    return MountDeclarations(names, tuple(dict.fromkeys(_mounts(path, text, closed, units))))


def _mounts(path: str, text: str, closed: Mapping[int, int], units: list[RustUnit]) -> Iterator[RouteMount]:
    uses, served = _uses(text), set[str]()
    blocks = [(len(text), "")]  # (end, prefix), the innermost last
    for call in in_code(text, _MOUNTS):
        if call["call"] == "service" and "web::" not in text:
            continue  # of tower, and no handler of actix
        start = call.start("found")
        number = unit_at(units, start)
        unit, prefix = units[number].name if number >= 0 else path, prefix_at(start, blocks)
        if call["under"] is not None and (call["call"] in ("nest", "mount") or call["scope"]):
            prefix = joined(prefix, call["under"])
            end = closed.get(text.find("(", start), len(text))
            while call["scope"] and (more := _CHAINED.match(text, end)) is not None:
                end = closed.get(more.end() - 1, len(text))
            blocks.append((end, prefix))
        for given in re.findall(r"[\w:]+", call["listed"]) if call["listed"] else filter(None, [call["given"]]):
            targets = _targets(given, path, unit, uses)
            served.update(targets)
            yield RouteMount((unit,), targets, prefix)
    for one in units:
        if one.around >= 0 and one.made:
            if one.name not in served:
                yield RouteMount((units[one.around].name,), (one.name,), "")
            if not one.made.startswith("Router::"):
                yield RouteMount((one.name,), _targets(one.made, path, one.name, uses), "")


def _targets(given: str, path: str, unit: str, uses: Mapping[str, list[str]]) -> tuple[str, ...]:
    """The units that a name may mean in a unit of a file."""
    parts = given.split("::")
    if parts[0] == "Self":
        parts[0] = unit.partition("#")[2].partition("::")[0]
    while len(parts) > 1 and parts[0] in _HERE:
        parts = parts[1:]
    *modules, name = [*uses.get(parts[0], parts[:1]), *parts[1:]]
    if not modules:
        function = "#".join(unit.split("#")[:2])
        return (f"{function}#{name}", f"{path}#{name}", *([f"#{name}"] if _ALL in uses else ()))
    whole, last, of_type = "/".join(modules), modules[-1], f"{modules[-1]}::{name}"
    files = [f"{module}{end}" for module in dict.fromkeys((whole, last)) for end in (".rs", "/mod.rs", "/src/lib.rs")]
    files.append(f"{modules[0].replace('_', '-')}/src/lib.rs")
    return (*(f"{file}#{name}" for file in files), f"{path}#{of_type}", f"#{of_type}", f"#{name}")


def _uses(text: str) -> dict[str, list[str]]:
    """Name → the path that `use` has for it, without `crate` and its like; `*` where all of a module is used."""
    found: dict[str, list[str]] = {_ALL: []} if _USES_ALL.search(text) else {}
    for use in _USE.finditer(text):
        names = _USED.findall(use["names"]) if use["names"] else [(use["name"], use["alias"])]
        for name, alias in names:
            parts = [part for part in f"{use['path']}::{name}".split("::") if part and part not in _HERE]
            if parts:
                found[alias or parts[-1]] = parts
    return found
