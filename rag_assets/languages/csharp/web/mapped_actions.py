"""Routes that calls give to actions of controllers by name: `MapControllerRoute`, `MapRoute`, `MapHttpRoute`.

A pattern with `{controller}` is the usual convention and names nobody; the others say of which action, or of which
controller, they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from rag_assets.contracts.graph import ANY_METHOD
from rag_assets.languages.csharp.binder.type_syntax import attribute_name
from rag_assets.languages.csharp.facts.expressions import arguments_of, initializer
from rag_assets.languages.csharp.syntax.lexer import scan
from rag_assets.languages.csharp.web.endpoint_model import (
    MAPS_ACTIONS,
    ActionRoute,
    Endpoint,
    EndpointRoute,
    RouteOrigin,
)
from rag_assets.languages.csharp.web.route_templates import absolute, string_of

_MOST_CHARS = 2_000  # of a call
_TEMPLATES = ("pattern", "template", "url", "routeTemplate")
_CONTROLLER = re.compile(r"\{controller\b", re.IGNORECASE)
_ACTION = re.compile(r"\{action\b[^{}]*\}", re.IGNORECASE)
_OF_METHODS = re.compile(r"HttpMethod(?:Route)?Constraint\s*\(([^()]*)\)")
_METHOD = re.compile(r"\b(GET|POST|PUT|DELETE|PATCH|HEAD|OPTIONS)\b", re.IGNORECASE)


def routes_of_actions(text: str) -> Iterator[ActionRoute]:
    """What the calls of a text of C# map by name, in their order. O(length); never raises."""
    for found in MAPS_ACTIONS.finditer(scan(text).code):  # not in comments and strings
        arguments = arguments_of(text[found.start("call") : found.start("call") + _MOST_CHARS])
        unnamed = list(arguments.positional[0 if "name" in arguments.named else 1 :])
        area = ""
        if "Area" in found["call"]:
            area = arguments.named.get("areaName") or (unnamed.pop(0) if unnamed else "")
        written = next((arguments.named[name] for name in _TEMPLATES if name in arguments.named), "")
        if not written:
            written, *unnamed = unnamed or [""]
        defaults = arguments.named.get("defaults") or next(iter(unnamed), "")
        constraints = arguments.named.get("constraints") or " ".join(unnamed[1:])
        template, is_known = string_of(written, {})
        given = initializer(defaults)
        values = {name.lower(): string_of(value, {}) for name, value in given.assigned.items()} if given else {}
        controller, names_it = values.get("controller", ("", False))
        action, names_action = values.get("action", ("", True))
        if not written or not names_it or not names_action or _CONTROLLER.search(template):
            continue
        methods = {method.upper() for one in _OF_METHODS.findall(constraints) for method in _METHOD.findall(one)}
        yield ActionRoute(
            controller.removesuffix("Controller"),
            "" if _ACTION.search(template) else action,
            absolute(template),
            tuple(sorted(methods)),
            is_known,
            (string_of(area, {}) if area else values.get("area", ("", True)))[0].lower(),
        )


def area_of(attributes: Iterable[str]) -> str:
    """The area of a controller by its attributes, as `ActionRoute.area` has it."""
    written = next((one for one in attributes if attribute_name(one) == "Area"), "")
    return string_of(next(iter(arguments_of(written).positional), ""), {})[0].lower() if written else ""


def on_mapped_routes(endpoint: Endpoint, mapped: tuple[ActionRoute, ...]) -> Endpoint:
    """The endpoint on the routes that calls give to its action, where it has only those of a convention."""
    if any(route.origin is not RouteOrigin.CONVENTION for route in endpoint.routes):
        return endpoint
    own = tuple(dict.fromkeys(route.method for route in endpoint.routes if route.method != ANY_METHOD))
    routes = [
        EndpointRoute(method, _ACTION.sub(endpoint.action, one.template), RouteOrigin.CONVENTION, one.is_complete)
        for one in mapped
        if one.action.lower() in ("", endpoint.action.lower())
        for method in own or one.methods or (ANY_METHOD,)
    ]
    return replace(endpoint, routes=tuple(dict.fromkeys(routes))) if routes else endpoint
