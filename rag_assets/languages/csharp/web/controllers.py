"""What a class says of itself as a controller: its framework, its routes, its authorization; own or inherited.

Inheritance is followed through the types that the label declares. As in ASP.NET Core the nearest class with a route
decides; demands of authorization add up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rag_assets.contracts.segment import Segment
from rag_assets.languages.csharp.facts.expressions import arguments_of
from rag_assets.languages.csharp.facts.type_index import IndexedType, TypeIndex
from rag_assets.languages.csharp.simple_names import attribute_name, is_interface_name, simple_name
from rag_assets.languages.csharp.web.authorization import authorization_of, combined
from rag_assets.languages.csharp.web.endpoint_model import Authorization
from rag_assets.languages.csharp.web.parameter_binding import Framework
from rag_assets.languages.csharp.web.route_constants import Constants, constants_of, string_of

MAX_BASES = 8
"""Longest chain of base classes that is followed; real ones have one to three."""

_CONTROLLER_ENDS = ("Controller", "ControllerBase")
_CONTROLLER_SUFFIX = "Controller"
_PAGE_MODEL = "PageModel"
_WEB_API_2_NAMESPACE = "System.Web.Http"
_ENDPOINT_BASES = ("EndpointBase", "EndpointBaseAsync", "EndpointBaseSync", "BaseAsyncEndpoint", "BaseEndpoint")
"""Controllers with one action each (Ardalis.ApiEndpoints); their library carries the [ApiController]."""


@dataclass(frozen=True, slots=True)
class ClassRoute:
    """A route template of a class; `inherited` from a base class, `known` unless an expression stands in for a part."""

    template: str
    known: bool = True
    inherited: bool = False


@dataclass(frozen=True, slots=True)
class Controller:
    """The class around the actions. `routes` are prefixes in WebApi 2 (`default_routes` hold its own [Route]).

    `is_abstract`: the framework makes no instance of it, as of an open generic class either.
    """

    name: str
    framework: Framework
    is_controller: bool
    is_abstract: bool
    routes: tuple[ClassRoute, ...]
    default_routes: tuple[ClassRoute, ...]
    area: str
    authorization: Authorization
    attributes: tuple[str, ...]
    constants: Mapping[str, str]

    @property
    def short_name(self) -> str:
        """What `[controller]` stands for."""
        return self.name.removesuffix(_CONTROLLER_SUFFIX) or self.name


def controller_of(
    segment: Segment, declared: TypeIndex, elsewhere: Callable[[], Mapping[str, str]] = dict
) -> Controller:
    """The facts of a C# class that may be a controller; `is_controller` tells.

    `elsewhere` gives the constants of other types, by their qualified names.
    """
    bases = base_chain(segment, declared)
    levels = [segment.attributes, *(_attributes(base, declared) for base in bases)]
    names = [simple_name(base) for base in segment.base_list]
    names += [simple_name(base) for found in bases for base in found.base_list]
    attributes = {attribute_name(attribute) for level in levels for attribute in level}
    framework = _framework(segment, names, attributes)
    constants = Constants(constants_of(segment.members), elsewhere)
    routes = _class_routes(levels, "Route", constants)
    prefixes = _class_routes(levels, "RoutePrefix", constants)
    is_web_api_2 = framework is Framework.WEB_API_2
    classes = [name for name in names if not is_interface_name(name)]
    has_base = any(name.endswith(_CONTROLLER_ENDS) for name in classes) or is_endpoint_base(segment)
    return Controller(
        name=segment.name,
        framework=framework,
        is_controller=has_base or bool(attributes & {"ApiController", "Controller"}),
        is_abstract="abstract" in segment.modifiers or bool(segment.type_parameters),
        routes=prefixes if is_web_api_2 else (routes or prefixes),
        default_routes=routes if is_web_api_2 else (),
        area=_area(levels, constants),
        authorization=combined(authorization_of(level, inherited=depth > 0) for depth, level in enumerate(levels)),
        attributes=tuple(attribute for level in levels for attribute in level),
        constants=constants,
    )


def base_chain(segment: Segment, declared: TypeIndex) -> list[IndexedType]:
    """The base classes that the label declares, nearest first."""
    chain: list[IndexedType] = []
    seen = {segment.symbol}
    names, namespace, usings = segment.base_list, segment.namespace, segment.usings
    while len(chain) < MAX_BASES:
        classes = (name for name in names if not is_interface_name(simple_name(name)))
        resolved = (declared.resolve(name, namespace, usings) for name in classes)
        found = next((entry for entry in resolved if entry is not None and entry.symbol not in seen), None)
        if found is None:
            break
        chain.append(found)
        seen.add(found.symbol)
        parts = declared.parts(found.symbol)
        names = tuple(base for part in parts for base in part.base_list)
        namespace, usings = found.namespace, ()
    return chain


def is_page_model(segment: Segment, declared: TypeIndex) -> bool:
    """Whether the class is the code of a Razor page."""
    names = [simple_name(base) for base in segment.base_list]
    return any(name.endswith(_PAGE_MODEL) for name in names) or any(
        simple_name(base) == _PAGE_MODEL for found in base_chain(segment, declared) for base in found.base_list
    )


def _framework(segment: Segment, base_names: list[str], attributes: set[str]) -> Framework:
    if "ApiController" in attributes or is_endpoint_base(segment):
        return Framework.API_CONTROLLER
    if "ApiController" in base_names or any(using.startswith(_WEB_API_2_NAMESPACE) for using in segment.usings):
        return Framework.WEB_API_2
    return Framework.MVC


def is_endpoint_base(segment: Segment) -> bool:
    """Whether the class is a controller of one action by a library."""
    return any(base.partition(".")[0].partition("<")[0].strip() in _ENDPOINT_BASES for base in segment.base_list)


def _attributes(base: IndexedType, declared: TypeIndex) -> tuple[str, ...]:
    """Those of all parts of a base class."""
    parts = declared.parts(base.symbol)
    return tuple(attribute for part in parts for attribute in part.attributes) or base.attributes


def _class_routes(levels: list[tuple[str, ...]], wanted: str, constants: Mapping[str, str]) -> tuple[ClassRoute, ...]:
    """The templates of the nearest class that has any."""
    for depth, level in enumerate(levels):
        found = []
        for attribute in level:
            if attribute_name(attribute) == wanted:
                arguments = arguments_of(attribute)
                written = next(iter(arguments.positional), arguments.named.get("template", '""'))
                template, known = string_of(written, constants)
                found.append(ClassRoute(template, known, inherited=depth > 0))
        if found:
            return tuple(found)
    return ()


def _area(levels: list[tuple[str, ...]], constants: Mapping[str, str]) -> str:
    for level in levels:
        for attribute in level:
            if attribute_name(attribute) in ("Area", "RouteArea"):
                written = next(iter(arguments_of(attribute).positional), '""')
                return string_of(written, constants)[0]
    return ""
