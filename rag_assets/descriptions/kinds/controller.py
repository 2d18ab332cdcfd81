"""HTTP endpoints of controllers, pages, programs and libraries: two sections per action (domain reference §3).

One says what the endpoint is and does, the other what goes in and out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rag_assets.contracts.graph import endpoint_key
from rag_assets.contracts.kinds import SubtypeKind
from rag_assets.contracts.payload import RagVectorPayload
from rag_assets.contracts.result import Message
from rag_assets.contracts.section import SummarySection
from rag_assets.contracts.segment import MemberRange, Segment, Span, leaves_of
from rag_assets.descriptions.kind_builder import Facts, Subject, TypeAwareBuilder, is_csharp
from rag_assets.descriptions.symbol_description import SymbolDescription, fenced_code, inline_code, outline_member
from rag_assets.identifiers import identifier_words
from rag_assets.languages.csharp.facts.primary_entity import primary_entity
from rag_assets.languages.csharp.facts.type_index import TypeIndex
from rag_assets.languages.csharp.web.class_endpoints import endpoints_of_class
from rag_assets.languages.csharp.web.controller_actions import EndpointSymbols
from rag_assets.languages.csharp.web.endpoint_model import (
    Authorization,
    ControllerFlavor,
    Endpoint,
    EndpointEvidence,
    EndpointParameter,
    EndpointResponse,
    EndpointRoute,
    ParameterSource,
    RouteOrigin,
)
from rag_assets.languages.csharp.web.file_context import FileContext
from rag_assets.languages.csharp.web.minimal_api import mapped_endpoints
from rag_assets.languages.csharp.web.route_templates import shape
from rag_assets.languages.treesitter.parsing import UnparseableError
from rag_assets.sections.snippet import (
    Block,
    SectionSubject,
    finder_header,
    path_words,
    section_of,
    shortened_sentences,
)
from rag_assets.sections.splitter import split

PREFIX = "endpoint"
OVERVIEW_KEY = f"{PREFIX}-overview"
REQUEST_RESPONSE_KEY = f"{PREFIX}-request-response"
SYMBOL_TYPE = "endpoint"

_ROLE = re.compile(r"(?:Controller|Endpoints?|Model)\Z")
"""What a class is; the snippet says so elsewhere."""

LINE_DOC_CHARS = 160
"""Documentation of one parameter or response in a snippet: a sentence or two."""


def endpoint_sections(owner: SymbolDescription, endpoint: Endpoint, span: Span) -> list[SummarySection]:
    """Overview, and request and response where anything is known of them. `span` is the slice of both."""
    subject = SectionSubject(
        f"{owner.symbol}.{endpoint.symbol_suffix}", SYMBOL_TYPE, owner.kind, owner.domain_key, owner.primary_entity
    )
    routes = () if endpoint.for_derived else endpoint.routes  # nothing answers there
    keys = tuple(dict.fromkeys(endpoint_key(route.method, shape(route.template)) for route in routes))
    node_keys = (*keys, endpoint.handler_key or owner.node_key())
    names = tuple(dict.fromkeys(name for name in (endpoint.action, endpoint.name) if name))
    overview = split(_overview_lines(owner, endpoint), (), owner.window)[0]
    action = outline_member(endpoint.action or endpoint.name, endpoint.signature, endpoint.span)
    block = Block("", span, names, node_keys, members=(action,))
    markdown = _markdown(owner, endpoint, span)
    sections = [section_of(subject, OVERVIEW_KEY, overview.text, overview.tokens, [block], markdown)]
    lines = _request_response_lines(endpoint)
    if not lines:
        return sections
    parts = split(_short_lines(owner, endpoint), lines, owner.window)
    for number, part in enumerate(parts, start=1):
        place = (number, len(parts))
        sections.append(
            section_of(
                subject, REQUEST_RESPONSE_KEY, part.text, part.tokens, [block], _contract(owner, endpoint), place
            )
        )
    return sections


def route_line(endpoint: Endpoint) -> str:
    """`GET, HEAD /api/orders/{id} → GetAsync`: one endpoint in a list."""
    return f"{', '.join(endpoint.methods)} {_routes(endpoint)} → {endpoint.action or 'lambda'}"


# snippets


def _overview_lines(owner: SymbolDescription, endpoint: Endpoint) -> list[str]:
    asked = [p.name for p in endpoint.parameters if p.source not in (ParameterSource.SERVICES, ParameterSource.BODY)]
    body = endpoint.body
    facts = [
        ("HttpMethod", ", ".join(endpoint.methods)),
        ("Route", _routes(endpoint)),
        ("EndpointName", endpoint.name),
        ("Tags", ", ".join(endpoint.tags)),
        ("Authorization", endpoint.authorization.text),
        ("Parameters", ", ".join(asked)),
        ("Body", body.type if body else ""),
        ("Returns", next((r.type for r in endpoint.responses if r.type and 200 <= r.status < 300), "")),
        ("Path", path_words(owner.path, owner.fqn)),
    ]
    purpose = endpoint.summary or _purpose(owner, endpoint)
    return owner.finder_lines(facts, purpose, artifact=f"{owner.fqn}.{endpoint.symbol_suffix}")


def _short_lines(owner: SymbolDescription, endpoint: Endpoint) -> list[str]:
    facts = [("HttpMethod", ", ".join(endpoint.methods)), ("Route", _routes(endpoint))]
    header = finder_header(
        domain=owner.domain_title,
        kind=owner.kind,
        artifact=f"{owner.fqn}.{endpoint.symbol_suffix}",
        facts=facts,
        purpose="",
    )
    return [*header, ""]


def _purpose(owner: SymbolDescription, endpoint: Endpoint) -> str:
    """Undocumented: what the names say, in words."""
    words = _words_of(endpoint.action or endpoint.name)
    place = _words_of(_ROLE.sub("", owner.name) or owner.name)
    return f"{words} endpoint of {place}" if words else f"endpoint of {place}"


def _routes(endpoint: Endpoint) -> str:
    text = ", ".join(endpoint.templates)
    conventional = any(route.origin is RouteOrigin.CONVENTION for route in endpoint.routes)
    partial = any(not route.is_complete for route in endpoint.routes)
    said = (
        ("by convention", conventional),
        ("for derived controllers", endpoint.for_derived),
        ("partly known", partial and not endpoint.for_derived),
    )
    notes = [note for note, holds in said if holds]
    return f"{text} ({', '.join(notes)})" if notes else text


def _request_response_lines(endpoint: Endpoint) -> list[str]:
    parameters = [
        _parameter_line(parameter)
        for parameter in endpoint.parameters
        if parameter.source is not ParameterSource.SERVICES
    ]
    services = [parameter.type for parameter in endpoint.parameters if parameter.source is ParameterSource.SERVICES]
    return [
        *parameters,
        *([f"Services: {', '.join(services)}"] if services else []),
        *([f"Consumes: {', '.join(endpoint.consumes)}"] if endpoint.consumes else []),
        *(_response_line(response) for response in endpoint.responses),
        *([f"Produces: {', '.join(endpoint.produces)}"] if endpoint.produces else []),
    ]


def _parameter_line(parameter: EndpointParameter) -> str:
    need = "required" if parameter.required else "optional"
    text = f"{parameter.source.value} {parameter.name}: {parameter.type}, {need}"
    return _documented(text, parameter.doc)


def _response_line(response: EndpointResponse) -> str:
    status = str(response.status) if response.status else "default"
    text = f"Response {status}: {response.type}" if response.type else f"Response {status}"
    return _documented(text, response.doc)


def _documented(text: str, doc: str) -> str:
    return f"{text} — {shortened_sentences(doc, LINE_DOC_CHARS)}" if doc else text


# artifacts


def _markdown(owner: SymbolDescription, endpoint: Endpoint, span: Span) -> str:
    return "\n".join(
        [*_heading(owner, endpoint), *_facts(owner, endpoint, span), *_request(endpoint), *_answers(endpoint)]
    )


def _contract(owner: SymbolDescription, endpoint: Endpoint) -> str:
    return "\n".join([*_heading(owner, endpoint), *_request(endpoint), *_answers(endpoint)])


def _heading(owner: SymbolDescription, endpoint: Endpoint) -> list[str]:
    title = f"{', '.join(endpoint.methods)} {', '.join(endpoint.templates)}"
    return [f"# {title}", "", endpoint.summary or _purpose(owner, endpoint), ""]


def _facts(owner: SymbolDescription, endpoint: Endpoint, span: Span) -> list[str]:
    place = f"{owner.path}:{span.line_start}-{span.line_end}"
    lines = [f"{inline_code(f'{owner.fqn}.{endpoint.symbol_suffix}')} · endpoint · {place}", ""]
    if endpoint.doc and endpoint.doc != endpoint.summary:
        lines += [endpoint.doc, ""]
    if endpoint.signature:
        lines += [fenced_code(endpoint.signature, owner.code_language), ""]
    lines += [f"- Route: {inline_code(f'{route.method} {route.template}')}{_origin(endpoint, route)}"
              for route in endpoint.routes]  # fmt: skip
    said = endpoint.authorization.text
    inherited = " (inherited)" if endpoint.authorization.inherited else ""
    lines += [f"- Handler: {inline_code(endpoint.handler)}"] if endpoint.handler else []
    lines += [f"- Authorization: {said}{inherited}"] if said else []
    lines += [f"- Name: {inline_code(endpoint.name)}"] if endpoint.name else []
    lines += [f"- Tags: {', '.join(endpoint.tags)}"] if endpoint.tags else []
    return [*lines, ""]


def _origin(endpoint: Endpoint, route: EndpointRoute) -> str:
    said = {RouteOrigin.CONVENTION: "by convention", RouteOrigin.INHERITED: "route of a base class"}
    partial = "for derived controllers" if endpoint.for_derived else "a part of it may be set elsewhere"
    notes = [note for note in (said.get(route.origin, ""), "" if route.is_complete else partial) if note]
    return f" ({'; '.join(notes)})" if notes else ""


def _request(endpoint: Endpoint) -> list[str]:
    if not (endpoint.parameters or endpoint.consumes):
        return []
    lines = ["## Request", ""]
    for parameter in endpoint.parameters:
        need = "required" if parameter.required else "optional"
        how = "; source inferred" if parameter.inferred else ""
        code = f" (`{parameter.variable}`)" if parameter.variable else ""
        text = (
            f"- {inline_code(parameter.name)}{code} {parameter.source.value} {inline_code(parameter.type)}, {need}{how}"
        )
        lines.append(f"{text} — {parameter.doc}" if parameter.doc else text)
    lines += [f"- Consumes: {', '.join(endpoint.consumes)}"] if endpoint.consumes else []
    return [*lines, ""]


def _answers(endpoint: Endpoint) -> list[str]:
    if not (endpoint.responses or endpoint.produces):
        return []
    lines = ["## Responses", ""]
    for response in endpoint.responses:
        status = str(response.status) if response.status else "default"
        body = f" {inline_code(response.type)}" if response.type else ""
        how = "" if response.evidence is EndpointEvidence.DECLARED else f" ({response.evidence.value})"
        text = f"- {status}{body}{how}"
        lines.append(f"{text} — {response.doc}" if response.doc else text)
    lines += [f"- Produces: {', '.join(endpoint.produces)}"] if endpoint.produces else []
    return [*lines, ""]


ENDPOINT_FLAVOR = "Endpoint"
"""The SubtypeFlavor of the points of single actions; their Subtype is Controller, wherever the action stands."""

_ACTIONS = "actions"
"""The group of members that have sections of their own."""

_TYPES = ("class", "record", "struct")


@dataclass(kw_only=True)
class EndpointsDescription(SymbolDescription):
    """Code that has endpoints. `endpoints` are in text order, their symbols unique."""

    endpoints: tuple[Endpoint, ...] = field(default=())

    def populate_additional_rag_properties(self, payload: RagVectorPayload) -> None:
        """An endpoint is found as one, in a controller or elsewhere (A35)."""
        if payload.section_key.startswith(f"{PREFIX}-"):
            payload.subtype = str(SubtypeKind.CONTROLLER)
            payload.subtype_flavor = ENDPOINT_FLAVOR

    def sections_of_endpoints(self) -> list[SummarySection]:
        """`endpoint-overview` and `endpoint-request-response` of every action, in text order."""
        tiles = self._tiles_by_start()
        return [
            section
            for endpoint in self.endpoints
            for section in endpoint_sections(self, endpoint, tiles.get(endpoint.member_start, endpoint.span))
        ]

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        return [*super().listed_facts(), ("Endpoints", tuple(route_line(endpoint) for endpoint in self.endpoints))]

    def _tiles_by_start(self) -> dict[int, Span]:
        leaves = leaves_of(self.members)
        return {leaf.member.span.char_start: tile for leaf, tile in zip(leaves, self.tiles, strict=True)}


@dataclass(kw_only=True)
class ControllerDescription(EndpointsDescription):
    """A class that handles requests: its overview and other members, and its endpoints.

    `base_routes` are the templates all its actions begin with, as written. `base_controllers` are its declared base
    classes: what actions they have is not known here.
    """

    flavor: ControllerFlavor = ControllerFlavor.MVC
    base_routes: tuple[str, ...] = ()
    area: str = ""
    authorization: Authorization = field(default_factory=Authorization)
    base_controllers: tuple[str, ...] = ()

    @property
    def subtype_flavor(self) -> str:
        return self.flavor.value

    def finder_facts(self) -> list[tuple[str, str]]:
        return [
            ("Inherits", ", ".join(self.base_types)),
            ("Implements", ", ".join(self.interfaces)),
            ("Route", ", ".join(self.base_routes)),
            ("Area", self.area),
            ("Authorization", self.authorization.text),
            ("DependsOn", ", ".join(self.dependencies)),
            ("Path", path_words(self.path, self.fqn)),
        ]

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        said = self.authorization.text
        return [
            ("Base routes", self.base_routes),
            ("Area", (self.area,) if self.area else ()),
            ("Authorization", (said,) if said else ()),
            *super().listed_facts(),
            ("Base classes, whose actions are not listed here", self.base_controllers),
        ]

    def group_of(self, leaf: MemberRange) -> str:
        starts = {endpoint.member_start for endpoint in self.endpoints}
        return _ACTIONS if leaf.member.span.char_start in starts and not leaf.owner else ""

    def build_summary_sections(self) -> list[SummarySection]:
        """The overview and the other members, then each action."""
        actions = f"{self.section_prefix}-{_ACTIONS}"
        own = [section for section in super().build_summary_sections() if section.section_key != actions]
        return [*own, *self.sections_of_endpoints()]


@dataclass(kw_only=True)
class MappedEndpointsDescription(EndpointsDescription):
    """The endpoints that a program or start-up code maps; the code itself is described by the builder of its kind."""

    @property
    def subtype(self) -> str:
        return str(SubtypeKind.CONTROLLER)

    @property
    def subtype_flavor(self) -> str:
        return ENDPOINT_FLAVOR

    def build_summary_sections(self) -> list[SummarySection]:
        """Only the endpoints: A18, the sections of two descriptions of one symbol differ."""
        return self.sections_of_endpoints()


class _RouteAwareBuilder(TypeAwareBuilder):
    """A builder that also knows the routes that constants of other files are."""

    def __init__(self, declared_types: TypeIndex, endpoints: EndpointSymbols) -> None:
        super().__init__(declared_types)
        self.endpoints = endpoints


class ControllerBuilder(_RouteAwareBuilder):
    """Describes a C# class that handles requests: its overview, and each endpoint for itself."""

    name = "controller"
    description = (
        "C# classes that handle HTTP requests: attribute-routed, conventional and WebApi 2 controllers, Razor page "
        "models, classes with Map calls, endpoint classes of libraries. One endpoint per action with its full "
        "route, parameters, responses and authorization. Not applicable to classes without any."
    )
    describes = ControllerDescription
    applies = staticmethod(is_csharp)

    def facts(self, subject: Subject) -> Facts | None:
        """What the parser refuses is a warning."""
        segment = subject.segment
        if not segment.kind.startswith(_TYPES):
            return None
        try:
            found = endpoints_of_class(
                segment,
                str(subject.text),
                subject.path,
                self.declared_types,
                subject.file.contents,
                self.endpoints.constants,
            )
        except UnparseableError as error:
            _warn_unparsed(subject, error)
            return None
        if not found.applies:
            return None
        return {
            "endpoints": found.endpoints,
            "flavor": found.flavor,
            "base_routes": found.base_routes,
            "area": found.area,
            "authorization": found.authorization,
            "base_controllers": found.base_controllers,
            "primary_entity": _entity(segment, self.declared_types),
        }


class MappedEndpointsBuilder(_RouteAwareBuilder):
    """Describes the endpoints that start-up code maps; the code itself is left to the builder of its kind."""

    name = "mapped-endpoints"
    description = (
        "Minimal APIs in programs, start-up classes and extension methods: the endpoints of MapGet, MapPost and "
        "their like with their groups. Not applicable to code without such a call."
    )
    describes = MappedEndpointsDescription
    applies = staticmethod(is_csharp)

    def facts(self, subject: Subject) -> Facts | None:
        """What the parser refuses is a warning."""
        try:
            endpoints = mapped_endpoints(
                subject.segment,
                str(subject.text),
                self.declared_types,
                FileContext(subject.file.contents, self.endpoints.constants),
            )
        except UnparseableError as error:
            _warn_unparsed(subject, error)
            return None
        return {"endpoints": endpoints} if endpoints else None


def _entity(segment: Segment, declared: TypeIndex) -> str:
    """The entity the class is about; a page or an endpoint class is not about itself."""
    found = primary_entity(segment, declared)
    return "" if found == segment.name else found


def _warn_unparsed(subject: Subject, error: UnparseableError) -> None:
    text = f"{subject.segment.symbol}: its endpoints are not described: {error}"
    subject.warn(Message("endpoints.unparsed", text))


def _words_of(name: str) -> str:
    """A name as words: `GetByNumberAsync` → `get by number`."""
    return " ".join(identifier_words(name.removesuffix("Async") or name)).lower()
