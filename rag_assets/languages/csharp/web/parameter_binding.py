"""Where the parameters of an endpoint come from: by attribute, else by the rules of the framework it is written for.

The rules need to know which types are data and which are services, which a text does not always tell: an interface
that is no collection, and a name that ends like a service, count as services.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from rag_assets.contracts.segment import Parameter
from rag_assets.languages.csharp.binder.type_syntax import attribute_name, is_interface_name
from rag_assets.languages.csharp.facts.expressions import arguments_of, literal
from rag_assets.languages.csharp.facts.type_index import TypeIndex
from rag_assets.languages.csharp.facts.type_names import (
    TypeName,
    element_type,
    is_collection,
    is_scalar,
    parse_type,
    unwrapped,
)
from rag_assets.languages.csharp.web.endpoint_model import EndpointParameter, ParameterSource
from rag_assets.languages.csharp.web.file_context import FileContext
from rag_assets.languages.csharp.web.route_templates import RouteParameter


class Framework(StrEnum):
    """Whose rules infer the source of a parameter that no attribute names."""

    API_CONTROLLER = "api-controller"  # [ApiController]
    MVC = "mvc"
    WEB_API_2 = "web-api-2"
    MINIMAL_API = "minimal-api"
    RAZOR_PAGE = "razor-page"


_BY_ATTRIBUTE = {
    "FromRoute": ParameterSource.ROUTE,
    "FromQuery": ParameterSource.QUERY,
    "FromUri": ParameterSource.QUERY,
    "FromBody": ParameterSource.BODY,
    "FromHeader": ParameterSource.HEADER,
    "FromForm": ParameterSource.FORM,
    "FromServices": ParameterSource.SERVICES,
    "FromKeyedServices": ParameterSource.SERVICES,
}
_BODY_METHODS = frozenset({"POST", "PUT", "PATCH"})
_CONTEXT_NAMES = (
    "CancellationToken HttpContext HttpRequest HttpResponse ClaimsPrincipal IPrincipal HttpRequestMessage "
    "HttpResponseMessage"
)
_CONTEXT = frozenset(_CONTEXT_NAMES.split())
"""What the framework hands in of the request itself: no part of the contract."""

_FILES = frozenset({"IFormFile", "IFormFileCollection", "IFormCollection", "HttpPostedFileBase"})
_RAW_BODIES = frozenset({"Stream", "PipeReader", "JsonDocument", "JsonElement", "JObject", "JToken", "JsonNode"})
_SERVICE_END_NAMES = (
    "Service Services Repository Manager Context DbContext Client Factory Provider Handler Store Sender Mediator "
    "Publisher Dispatcher Validator Mapper Logger Cache Bus Settings Options Accessor Generator Helper Queries"
)
_SERVICE_ENDS = tuple(_SERVICE_END_NAMES.split())


@dataclass(frozen=True, slots=True)
class Binding:
    """All that decides the sources of the parameters of one endpoint, as far as it is the same for all of them."""

    framework: Framework
    methods: tuple[str, ...]
    route_parameters: Mapping[str, RouteParameter]
    declared: TypeIndex
    neighbours: FileContext | None = None

    @property
    def takes_body(self) -> bool:
        return any(method in _BODY_METHODS for method in self.methods)


def route_parameters(parameters: Iterable[RouteParameter]) -> dict[str, RouteParameter]:
    """By lower-cased name: routes do not care for case. Optional in one of several routes is optional."""
    found: dict[str, RouteParameter] = {}
    for parameter in parameters:
        known = found.get(parameter.name.lower())
        if known is None or parameter.optional:
            found[parameter.name.lower()] = parameter
    return found


def bound_parameters(
    parameters: Iterable[Parameter], binding: Binding, docs: Mapping[str, str]
) -> tuple[EndpointParameter, ...]:
    """The parameters that a caller or the container fills, in order; the request's own objects are left out."""
    found: list[EndpointParameter] = []
    for parameter in _expanded(parameters, binding):
        if parse_type(parameter.type).name in _CONTEXT or not parameter.name:
            continue
        source, wire_name, by_attribute = _declared_source(parameter)
        taken = any(known.source is ParameterSource.BODY for known in found)
        if source is None:
            source = _inferred_source(parameter, binding, body_is_taken=taken)
        route = binding.route_parameters.get((wire_name or parameter.name).lower())
        found.append(
            EndpointParameter(
                name=wire_name or parameter.name,
                type=parameter.type,
                source=source,
                required=_is_required(parameter, source, route),
                doc=docs.get(parameter.name, ""),
                inferred=not by_attribute,
                variable=parameter.name if wire_name and wire_name != parameter.name else "",
            )
        )
    return tuple(found)


def _expanded(parameters: Iterable[Parameter], binding: Binding) -> Iterator[Parameter]:
    """With the members of `[AsParameters]` objects, where the file declares them, in the place of the objects."""
    for parameter in parameters:
        is_object = any(attribute_name(attribute) == "AsParameters" for attribute in parameter.attributes)
        known = None
        if is_object and binding.neighbours is not None:
            known = binding.neighbours.parameters_of(unwrapped(parse_type(parameter.type)).name)
        yield from (parameter,) if known is None else known


def _declared_source(parameter: Parameter) -> tuple[ParameterSource | None, str, bool]:
    """(source, name on the wire, whether an attribute says so)."""
    wire_name = ""
    source: ParameterSource | None = None
    for attribute in parameter.attributes:
        name = attribute_name(attribute)
        if name in _BY_ATTRIBUTE:
            source = _BY_ATTRIBUTE[name]
        elif name == "AsParameters":  # its members are parameters or services, who knows which
            source = ParameterSource.AS_PARAMETERS
        if name in _BY_ATTRIBUTE or name in ("ModelBinder", "Bind"):
            wire_name = literal(arguments_of(attribute).named.get("Name", "")) or wire_name
    return source, wire_name, source is not None


def _inferred_source(parameter: Parameter, binding: Binding, *, body_is_taken: bool) -> ParameterSource:
    written = unwrapped(parse_type(parameter.type))
    if parameter.name.lower() in binding.route_parameters:
        return ParameterSource.ROUTE
    if element_type(written).name in _FILES:
        return ParameterSource.FORM
    framework = binding.framework
    if framework in (Framework.MVC, Framework.RAZOR_PAGE):  # form, route, query: whatever the request has
        return ParameterSource.FORM if binding.takes_body else ParameterSource.QUERY
    if written.name in _RAW_BODIES:
        return ParameterSource.BODY if binding.takes_body else ParameterSource.QUERY
    if _is_plain(written, binding.declared):
        return ParameterSource.QUERY
    if is_service(written):
        return ParameterSource.SERVICES
    if framework is Framework.MINIMAL_API:
        if is_collection(written) and _is_plain(element_type(written), binding.declared) and not binding.takes_body:
            return ParameterSource.QUERY
        return ParameterSource.BODY if binding.takes_body and not body_is_taken else ParameterSource.SERVICES
    return ParameterSource.BODY


def is_service(written: TypeName) -> bool:
    """Whether a type is named like something the container provides."""
    if is_collection(written):
        return False
    return is_interface_name(written.name) or written.name.endswith(_SERVICE_ENDS)


def _is_plain(written: TypeName, declared: TypeIndex) -> bool:
    """Whether one string of a URL can be such a value: scalars and enums."""
    if is_scalar(written):
        return True
    known = declared.named(written.name)
    return bool(known) and all(entry.declaration == "enum" for entry in known)


def _is_required(parameter: Parameter, source: ParameterSource, route: RouteParameter | None) -> bool:
    if source is ParameterSource.AS_PARAMETERS:
        return False
    if any(attribute_name(attribute) in ("Required", "BindRequired") for attribute in parameter.attributes):
        return True
    if source is ParameterSource.ROUTE and route is not None:
        return not route.optional
    written = parse_type(parameter.type)
    if source in (ParameterSource.QUERY, ParameterSource.FORM, ParameterSource.HEADER) and is_collection(written):
        return False  # no value is an empty collection
    return not parameter.default and not parameter.type.endswith("?") and not written.nullable
