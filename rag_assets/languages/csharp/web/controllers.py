"""What a class says of itself as a controller: its framework, its routes, who may call it; own or inherited.

Inheritance is followed through the types that the label declares. As in ASP.NET Core the nearest class with a route
decides; demands of authorization add up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass

from rag_assets.contracts.segment import Segment
from rag_assets.languages.csharp.binder.type_syntax import attribute_name, is_interface_name, simple_name
from rag_assets.languages.csharp.facts.expressions import arguments_of, last_name, literal
from rag_assets.languages.csharp.facts.type_index import IndexedType, TypeIndex
from rag_assets.languages.csharp.web.endpoint_model import Authorization
from rag_assets.languages.csharp.web.parameter_binding import Framework
from rag_assets.languages.csharp.web.route_templates import Constants, constants_of, string_of

_FILTERS = frozenset({"ConfirmedUser", "AppBuilder", "SystemAdmin", "OrgAdmin", "FinanceAdmin", "DeviceOwner"})
"""Attributes of the LagoVista framework that restrict access, and are not named like it."""

_ROLE_CALL = re.compile(r"\bRequireRole\s*\(([^()]*)\)")


def authorization_of(attributes: Iterable[str], *, inherited: bool = False) -> Authorization:
    """What a list of attributes says (`Authorize(Roles = "a,b")`, `AllowAnonymous`, custom `…Authorize`)."""
    policies: list[str] = []
    roles: list[str] = []
    filters: list[str] = []
    anonymous = required = False
    for attribute in attributes:
        name = attribute_name(attribute)
        if name == "AllowAnonymous":
            anonymous = True
        elif name in _FILTERS:
            required = True
            filters.append(name)
        elif name.endswith("Authorize"):
            required = True
            found = arguments_of(attribute)
            policies += [requirement] if (requirement := _type_argument(attribute)) else []
            policies += [_value(text) for text in (*found.positional[:1], found.named.get("Policy", "")) if text]
            for text in (found.named.get("Roles", ""), found.named.get("Role", "")):
                roles += [role for part in _value(text).split(",") if (role := part.strip())]
            if name != "Authorize":
                filters.append(name)
    if not (anonymous or required):
        return Authorization()
    return Authorization(anonymous, required, _once(policies), _once(roles), _once(filters), inherited)


def required_by_call(arguments: tuple[str, ...]) -> Authorization:
    """What `RequireAuthorization(…)` says: policy names, a policy builder, or nothing more than that it is needed."""
    policies = [_value(text) for text in arguments if "=>" not in text and not text.startswith("new")]
    roles = [
        _value(role)
        for text in arguments
        for call in _ROLE_CALL.findall(text)
        for role in call.split(",")
        if role.strip()
    ]
    return Authorization(required=True, policies=_once(policies), roles=_once(roles))


def combined(levels: Iterable[Authorization]) -> Authorization:
    """All of them together: anonymous access anywhere wins, otherwise every demand holds."""
    found = [level for level in levels if level != Authorization()]
    if not found:
        return Authorization()
    anonymous = any(level.anonymous for level in found)
    deciding = [level for level in found if level.anonymous == anonymous]
    return Authorization(
        anonymous=anonymous,
        required=not anonymous and any(level.required for level in found),
        policies=() if anonymous else _once(name for level in found for name in level.policies),
        roles=() if anonymous else _once(name for level in found for name in level.roles),
        filters=() if anonymous else _once(name for level in found for name in level.filters),
        inherited=all(level.inherited for level in deciding),
    )


def _type_argument(attribute: str) -> str:
    """`Authorize<ManageUsersRequirement>`: the requirement stands for a policy."""
    head = attribute.partition("(")[0]
    return head.partition("<")[2].rstrip().removesuffix(">").strip()


def _value(text: str) -> str:
    """The string of an expression, or the name of a constant that is declared elsewhere."""
    known = literal(text)
    return known if known is not None else last_name(text) or text.strip()


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name))


MAX_BASES = 8
"""Longest chain of base classes that is followed; real ones have one to three."""

_CONTROLLER_ENDS = ("Controller", "ControllerBase")
_CONTROLLER_SUFFIX = "Controller"
_PAGE_MODEL = "PageModel"
_ROUTE_BASES = frozenset({"RouteAttribute", "IRouteTemplateProvider"})
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
    routes = _class_routes(
        levels, "Route", constants, lambda name: bool(attribute_base(name, segment, declared, _ROUTE_BASES))
    )
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


def _class_routes(
    levels: list[tuple[str, ...]],
    wanted: str,
    constants: Mapping[str, str],
    is_route: Callable[[str], bool] = lambda _: False,
) -> tuple[ClassRoute, ...]:
    """The templates of the nearest class that has any; of an attribute that `is_route` its name stands for what its
    constructor says before the template that it is given."""
    for depth, level in enumerate(levels):
        found = []
        for attribute in level:
            name = attribute_name(attribute)
            if name != wanted and is_route(name):
                given = next(iter(arguments_of(attribute).positional), '""')
                template, is_text = string_of(given, constants)
                below = f"/{template.strip('/')}" if is_text and template else ""
                found.append(ClassRoute(f"<{name}>{below}", known=False, inherited=depth > 0))
            if name == wanted:
                arguments = arguments_of(attribute)
                written = next(iter(arguments.positional), arguments.named.get("template", '""'))
                template, known = string_of(written, constants)
                found.append(ClassRoute(template, known, inherited=depth > 0))
        if found:
            return tuple(found)
    return ()


def attribute_base(name: str, segment: Segment, declared: TypeIndex, wanted: Container[str]) -> str:
    """The one of some attributes that one which the label declares derives from: `RouteAttribute` of
    `class ApiV1Attribute : RouteAttribute`; '' for another one."""
    found = declared.resolve(f"{name}Attribute", segment.namespace, segment.usings)
    for _ in range(MAX_BASES):
        if found is None:
            return ""
        known = next((base for base in map(simple_name, found.base_list) if base in wanted), "")
        if known:
            return known
        namespace = found.namespace
        found = next((base for one in found.base_list if (base := declared.resolve(one, namespace, ()))), None)
    return ""


def _area(levels: list[tuple[str, ...]], constants: Mapping[str, str]) -> str:
    for level in levels:
        for attribute in level:
            if attribute_name(attribute) in ("Area", "RouteArea"):
                written = next(iter(arguments_of(attribute).positional), '""')
                return string_of(written, constants)[0]
    return ""
