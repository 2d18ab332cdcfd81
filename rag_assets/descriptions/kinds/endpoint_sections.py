"""The two sections of an endpoint: what it is and does, and what goes in and out (domain reference §3)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag_assets.contracts.section import EmbeddingWindow, SummarySection
from rag_assets.contracts.segment import Span
from rag_assets.descriptions.markdown import fenced_code, inline_code
from rag_assets.languages.csharp.web.endpoint_docs import words_of
from rag_assets.languages.csharp.web.endpoint_model import (
    Endpoint,
    EndpointEvidence,
    EndpointParameter,
    EndpointResponse,
    EndpointRoute,
    ParameterSource,
    RouteOrigin,
)
from rag_assets.languages.csharp.web.route_templates import shape
from rag_assets.languages.node_keys import endpoint_key
from rag_assets.sections import Block, SectionSubject
from rag_assets.sections.blocks import section_of
from rag_assets.sections.snippet import finder_header, path_words, shortened_sentences
from rag_assets.sections.splitter import split

PREFIX = "endpoint"
OVERVIEW_KEY = f"{PREFIX}-overview"
REQUEST_RESPONSE_KEY = f"{PREFIX}-request-response"
SYMBOL_TYPE = "endpoint"

_ROLE = re.compile(r"(?:Controller|Endpoints?|Model)\Z")
"""What a class is; the snippet says so elsewhere."""

LINE_DOC_CHARS = 160
"""Documentation of one parameter or response in a snippet: a sentence or two."""


@dataclass(frozen=True, slots=True)
class Owner:
    """What the endpoints of one description share. `symbol` is the final, unique one (R1), `fqn` the plain one."""

    symbol: str
    fqn: str
    name: str
    kind: str
    domain_key: str
    domain_title: str
    domain_tagline: str
    primary_entity: str
    path: str
    own_key: str
    language: str


def endpoint_sections(owner: Owner, endpoint: Endpoint, span: Span, window: EmbeddingWindow) -> list[SummarySection]:
    """Overview, and request and response where anything is known of them. `span` is the slice of both."""
    subject = SectionSubject(
        f"{owner.symbol}.{endpoint.symbol_suffix}", SYMBOL_TYPE, owner.kind, owner.domain_key, owner.primary_entity
    )
    routes = () if endpoint.for_derived else endpoint.routes  # nothing answers there
    keys = tuple(dict.fromkeys(endpoint_key(route.method, shape(route.template)) for route in routes))
    node_keys = (*keys, endpoint.handler_key or owner.own_key)
    names = tuple(dict.fromkeys(name for name in (endpoint.action, endpoint.name) if name))
    overview = split(_overview_lines(owner, endpoint), (), window)[0]
    block = Block("", span, names, node_keys)
    markdown = _markdown(owner, endpoint, span)
    sections = [section_of(subject, OVERVIEW_KEY, overview.text, overview.tokens, [block], markdown)]
    lines = _request_response_lines(endpoint)
    if not lines:
        return sections
    parts = split(_short_lines(owner, endpoint), lines, window)
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


def _overview_lines(owner: Owner, endpoint: Endpoint) -> list[str]:
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
        ("Returns", _returned(endpoint)),
        ("Path", path_words(owner.path, owner.fqn)),
    ]
    return finder_header(
        domain=owner.domain_title,
        domain_summary=owner.domain_tagline,
        kind=owner.kind,
        artifact=f"{owner.fqn}.{endpoint.symbol_suffix}",
        primary_entity=owner.primary_entity,
        facts=facts,
        purpose=endpoint.summary or _purpose(owner, endpoint),
    )


def _short_lines(owner: Owner, endpoint: Endpoint) -> list[str]:
    facts = [("HttpMethod", ", ".join(endpoint.methods)), ("Route", _routes(endpoint))]
    header = finder_header(
        domain=owner.domain_title,
        kind=owner.kind,
        artifact=f"{owner.fqn}.{endpoint.symbol_suffix}",
        facts=facts,
        purpose="",
    )
    return [*header, ""]


def _purpose(owner: Owner, endpoint: Endpoint) -> str:
    """Undocumented: what the names say, in words."""
    words = words_of(endpoint.action or endpoint.name)
    place = words_of(_ROLE.sub("", owner.name) or owner.name)
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


def _returned(endpoint: Endpoint) -> str:
    return next((r.type for r in endpoint.responses if r.type and 200 <= r.status < 300), "")


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


def _markdown(owner: Owner, endpoint: Endpoint, span: Span) -> str:
    return "\n".join(
        [*_heading(owner, endpoint), *_facts(owner, endpoint, span), *_request(endpoint), *_answers(endpoint)]
    )


def _contract(owner: Owner, endpoint: Endpoint) -> str:
    return "\n".join([*_heading(owner, endpoint), *_request(endpoint), *_answers(endpoint)])


def _heading(owner: Owner, endpoint: Endpoint) -> list[str]:
    title = f"{', '.join(endpoint.methods)} {', '.join(endpoint.templates)}"
    return [f"# {title}", "", endpoint.summary or _purpose(owner, endpoint), ""]


def _facts(owner: Owner, endpoint: Endpoint, span: Span) -> list[str]:
    place = f"{owner.path}:{span.line_start}-{span.line_end}"
    lines = [f"{inline_code(f'{owner.fqn}.{endpoint.symbol_suffix}')} · endpoint · {place}", ""]
    if endpoint.doc and endpoint.doc != endpoint.summary:
        lines += [endpoint.doc, ""]
    if endpoint.signature:
        lines += [fenced_code(endpoint.signature, owner.language), ""]
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
