"""Route templates as ASP.NET Core joins and reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

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
