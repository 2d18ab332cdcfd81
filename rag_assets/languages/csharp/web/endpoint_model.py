"""Data classes of an HTTP endpoint: routes, parameters, responses, authorization.

What the source says and what only a convention of the framework implies are kept apart: `inferred`, `origin`,
`evidence`, `inherited` tell which is which. Summaries come from documentation comments, names are unique in a type.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from rag_assets.contracts.segment import Span

MAPS_ACTIONS = re.compile(r"\.\s*+(?P<call>Map(?:Area)?ControllerRoute|Map(?:Http|Area)?Route)\s*+(?=\()")
"""A call that gives a route to actions of controllers by name, or by a convention."""


class ParameterSource(StrEnum):
    """Where the framework takes the value of a parameter from."""

    ROUTE = "Route"
    QUERY = "Query"
    BODY = "Body"
    HEADER = "Header"
    FORM = "Form"
    SERVICES = "Services"
    AS_PARAMETERS = "AsParameters"  # an object whose members, declared elsewhere, have sources of their own


class RouteOrigin(StrEnum):
    """How an endpoint got its route."""

    ATTRIBUTE = "attribute"
    INHERITED = "inherited"  # an attribute of a base class has a part in it
    MAPPED = "mapped"  # a call: MapGet, Get("/…") of an endpoint class
    CONVENTION = "convention"  # by name or path: the usual default, which the application may change


class ControllerFlavor(StrEnum):
    """How a class handles requests (A10)."""

    API = "Api"  # [ApiController]
    MVC = "Mvc"
    WEB_API_2 = "WebApi2"
    RAZOR_PAGE = "RazorPage"
    MINIMAL_API = "MinimalApi"
    ENDPOINT_CLASS = "EndpointClass"  # one class per endpoint, by a library


class EndpointEvidence(StrEnum):
    """What a response is known by, the firmest first."""

    DECLARED = "declared"  # attribute, Produces(), result type
    RETURN_TYPE = "return type"
    STATEMENT = "statement"  # `return NotFound()`
    DOCUMENTED = "documented"


@dataclass(frozen=True, slots=True)
class EndpointRoute:
    """A method and a full template, such as GET `/api/orders/{id:int}`.

    `is_complete` is false where a part is not known from this text: a prefix that the caller passes, a constant of
    another file (its expression stands in `<>`). `given_to` is the method whose callers give the group that it is in.
    """

    method: str
    template: str
    origin: RouteOrigin = RouteOrigin.ATTRIBUTE
    is_complete: bool = True
    given_to: str = ""


@dataclass(frozen=True, slots=True, order=True)
class ActionRoute:
    """A route of one action, or of all of a controller (`action` is '' and stands in the template as `{action}`).
    `area`: that of the controller in small letters, '' outside of areas."""

    controller: str
    action: str
    template: str
    methods: tuple[str, ...] = ()
    is_complete: bool = True
    area: str = ""


@dataclass(frozen=True, slots=True)
class EndpointParameter:
    """`name` is that on the wire (`Idempotency-Key`), `variable` that in the code where it differs.

    `inferred`: no attribute names the source, the rules of the framework do. `required`: neither nullable nor optional.
    """

    name: str
    type: str
    source: ParameterSource
    required: bool
    doc: str = ""
    inferred: bool = False
    variable: str = ""


@dataclass(frozen=True, slots=True)
class EndpointResponse:
    """A status code (0: any other) with the type of its body, '' for none or unknown."""

    status: int
    type: str = ""
    doc: str = ""
    evidence: EndpointEvidence = EndpointEvidence.DECLARED


@dataclass(frozen=True, slots=True)
class Authorization:
    """Who may call. Nothing is set where the source does not say; a fallback policy may still apply.

    `filters` are attributes of a framework that restrict access by their name. `inherited`: a base class says so.
    """

    anonymous: bool = False
    required: bool = False
    policies: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    inherited: bool = False

    @property
    def text(self) -> str:
        """`anonymous`, `required`, `policy Staff; roles clerk, manager`; '' where nothing is said."""
        if self.anonymous:
            return "anonymous"
        named = (("policy", self.policies), ("roles", self.roles), ("filter", self.filters))
        said = [f"{label} {', '.join(names)}" for label, names in named if names]
        return "; ".join(said) or ("required" if self.required else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One action with all its routes.

    `symbol_suffix` tells it within its type: `GetAsync(string,CancellationToken)`, or `MapGet(/health)` for a lambda.
    `handler` is the name of the method that answers, '' for a lambda; `handler_key` its graph node. `span` is what to
    read: the method, or the statement that maps a lambda; `member_start` the offset of the member it covers, -1 for
    none. `for_derived`: of an abstract or open generic class, only the classes derived from it answer.
    """

    action: str
    symbol_suffix: str
    routes: tuple[EndpointRoute, ...]
    span: Span
    member_start: int = -1
    handler: str = ""
    handler_key: str = ""
    signature: str = ""
    summary: str = ""
    doc: str = ""
    parameters: tuple[EndpointParameter, ...] = ()
    responses: tuple[EndpointResponse, ...] = ()
    authorization: Authorization = Authorization()
    name: str = ""
    tags: tuple[str, ...] = ()
    consumes: tuple[str, ...] = ()
    produces: tuple[str, ...] = ()
    for_derived: bool = False

    @property
    def body(self) -> EndpointParameter | None:
        """What the request carries."""
        return next((parameter for parameter in self.parameters if parameter.source is ParameterSource.BODY), None)

    @property
    def methods(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(route.method for route in self.routes))

    @property
    def templates(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(route.template for route in self.routes))


def with_unique_symbols(endpoints: Iterable[Endpoint]) -> tuple[Endpoint, ...]:
    """No two with one symbol, whatever their case, because ids are lower-cased (A32); later ones are numbered."""
    seen: Counter[str] = Counter()
    found = []
    for endpoint in endpoints:
        key = endpoint.symbol_suffix.lower()
        seen[key] += 1
        number = seen[key]
        found.append(endpoint if number == 1 else replace(endpoint, symbol_suffix=f"{endpoint.symbol_suffix}~{number}"))
    return tuple(found)
