"""Route templates as ASP.NET Core joins and reads them, and the string expressions that make them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from rag_assets.contracts.segment import Member, MemberKind
from rag_assets.languages.csharp.facts.expressions import dotted_name, last_name, literal, split_list

_TOKEN = re.compile(r"\[\[|\]\]|\[([A-Za-z_]\w*)\]")
_PARAMETER_NAME = re.compile(r"(\*{0,2})([^:=?{}]+)")


@dataclass(frozen=True, slots=True)
class RouteParameter:
    """`{id:int?}`: its name, whether it may be absent (`?` or a default), whether it takes the rest of the path."""

    name: str
    optional: bool = False
    catch_all: bool = False


def joined(prefix: str, template: str) -> str:
    """The full template of an action below its controller or group; one that begins with `/` or `~/` stands alone."""
    if template.startswith(("/", "~/")):
        return absolute(template)
    return nested(prefix, template)


def nested(prefix: str, template: str) -> str:
    """`template` below `prefix`, however it begins: how groups of minimal APIs join."""
    parts = [part for part in (prefix.removeprefix("~").strip("/"), template.removeprefix("~").strip("/")) if part]
    return absolute("/".join(parts))


def absolute(template: str) -> str:
    """With exactly one leading `/`, without a trailing one."""
    return "/" + template.removeprefix("~").strip("/")


def with_tokens(template: str, values: Mapping[str, str]) -> str:
    """`[controller]`, `[action]` and `[area]` replaced; unknown tokens stay, `[[` and `]]` are brackets."""

    def replacement(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0][0]
        return values.get(found[1].lower()) or found[0]

    return _TOKEN.sub(replacement, template)


def parameters_of(template: str) -> tuple[RouteParameter, ...]:
    """The parameters of a template in order, without their constraints. Never raises."""
    found = []
    for text in _holes(template):
        name = _PARAMETER_NAME.match(text)
        if name:
            optional = text.endswith("?") or "=" in text
            found.append(RouteParameter(name[2].strip(), optional, bool(name[1])))
    return tuple(found)


def shape(template: str) -> str:
    """The template with bare parameter names: what names the endpoint in the graph (`/api/orders/{id}`)."""
    pieces: list[str] = []
    done = 0
    for start, end in _ranges(template):
        name = _PARAMETER_NAME.match(template, start + 1, end - 1)
        pieces.append(template[done:start])
        pieces.append(f"{{{name[2].strip()}}}" if name else template[start:end])
        done = end
    return "".join([*pieces, template[done:]])


def _holes(template: str) -> Iterator[str]:
    return (template[start + 1 : end - 1] for start, end in _ranges(template))


def _ranges(template: str) -> Iterator[tuple[int, int]]:
    """The ranges of `{…}`; doubled braces belong to the expression of a constraint."""
    position = 0
    while (start := template.find("{", position)) >= 0:
        end = start + 1
        while end < len(template):
            if template[end] in "{}" and template[end : end + 2] in ("{{", "}}"):
                end += 2
            elif template[end] == "}":
                break
            else:
                end += 1
        if end >= len(template):
            return
        yield start, end + 1
        position = end + 1


_HOLE = re.compile(r"\{([^{}]*)\}")
_MAX_DEPTH = 8
"""Constants made of constants made of constants: more is a cycle."""


class Constants(Mapping[str, str]):
    """The string constants of a type, and behind them those of others, which are only read when a name asks for one:
    most attributes are written as literals."""

    def __init__(self, own: Mapping[str, str], others: Callable[[], Mapping[str, str]] = dict) -> None:
        self._own = own
        self._others = others

    def __getitem__(self, name: str) -> str:
        return self._own[name] if name in self._own else self._others()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._own, *self._others())))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def constants_of(members: tuple[Member, ...]) -> dict[str, str]:
    """The string constants of a type: name → expression as written."""
    return {
        member.name: member.value
        for member in members
        if member.kind is MemberKind.FIELD
        and member.value
        and ("const" in member.modifiers or {"static", "readonly"} <= set(member.modifiers))
    }


def string_of(expression: str, constants: Mapping[str, str], depth: int = 0) -> tuple[str, bool]:
    """(text, known): literals, concatenations, interpolations and constants of the same type, or of others by
    qualified name (`Names.Route`).

    What cannot be known keeps its expression in angle brackets: `"api/" + Routes.List` → `api/<Routes.List>`.
    """
    text = expression.strip()
    value = literal(text)
    if value is not None:
        return value, True
    if text.startswith(("$", "@$")) and '"' in text:
        return _interpolated(text, constants, depth)
    parts = split_list(text, "+") if "+" in text else [text]
    if len(parts) > 1 and depth < _MAX_DEPTH:
        found = [string_of(part, constants, depth + 1) for part in parts]
        return "".join(part for part, _ in found), all(known for _, known in found)
    if text.startswith("nameof"):
        return last_name(text), True
    name = dotted_name(text)
    qualified = ".".join(name[-2:]) if len(name) > 1 else ""
    if qualified and qualified in constants and depth < _MAX_DEPTH:
        return string_of(constants[qualified], constants, depth + 1)
    if name and name[-1] in constants and depth < _MAX_DEPTH and len(name) <= 2:
        return string_of(constants[name[-1]], constants, depth + 1)
    return f"<{' '.join(text.split())}>", False


def _interpolated(text: str, constants: Mapping[str, str], depth: int) -> tuple[str, bool]:
    body = text.lstrip("$@").strip('"')
    known = True

    def replacement(found: re.Match[str]) -> str:
        nonlocal known
        value, is_known = string_of(found[1], constants, depth + 1) if depth < _MAX_DEPTH else (f"<{found[1]}>", False)
        known = known and is_known
        return value

    # `{{id}}` is a literal `{id}`: kept apart from the holes while they are filled.
    opened, closed = "\0", "\1"
    filled = _HOLE.sub(replacement, body.replace("{{", opened).replace("}}", closed))
    return filled.replace(opened, "{").replace(closed, "}"), known
