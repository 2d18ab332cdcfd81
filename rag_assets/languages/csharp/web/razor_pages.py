"""Razor pages: the handlers of a PageModel, with the route that the path of the page gives by convention."""

from __future__ import annotations

import re

from rag_assets.contracts.segment import Member, MemberKind, Segment
from rag_assets.languages.csharp.facts.expressions import arguments_of, literal
from rag_assets.languages.csharp.facts.type_index import TypeIndex
from rag_assets.languages.csharp.simple_names import attribute_name
from rag_assets.languages.csharp.web.authorization import authorization_of, combined
from rag_assets.languages.csharp.web.controller_actions import BodyCode
from rag_assets.languages.csharp.web.controllers import Controller
from rag_assets.languages.csharp.web.endpoint_docs import action_doc
from rag_assets.languages.csharp.web.endpoint_model import (
    Endpoint,
    EndpointParameter,
    EndpointRoute,
    ParameterSource,
    RouteOrigin,
)
from rag_assets.languages.csharp.web.endpoint_symbols import method_suffix
from rag_assets.languages.csharp.web.parameter_binding import Binding, Framework, bound_parameters
from rag_assets.languages.csharp.web.responses import by_return_type, by_statements, merged
from rag_assets.languages.csharp.web.route_templates import absolute
from rag_assets.languages.node_keys import member_keys

_HANDLER = re.compile(r"On(Get|Post|Put|Delete|Patch|Head|Options)(?![a-z])(\w*?)(?:Async)?\Z")
_PAGE_FILE = re.compile(r"\.(?:cshtml|razor)\.cs\Z", re.IGNORECASE)
_PAGES_FOLDER = "Pages"
_AREAS_FOLDER = "Areas"
_INDEX = "Index"
_MODEL_SUFFIX = "Model"


def page_endpoints(
    segment: Segment, path: str, controller: Controller, declared: TypeIndex, body_of: BodyCode
) -> tuple[Endpoint, ...]:
    """The `OnGet`, `OnPostSearchAsync` … of a PageModel. The markup is not read: its
    `@page` template may say another route, so that none is complete."""
    page, _ = page_route(path, segment.name)
    return tuple(
        _endpoint(segment, member, found, page, controller, declared, body_of)
        for member in segment.members
        if (found := _handler(member))
    )


def page_route(path: str, class_name: str) -> tuple[str, bool]:
    """(`/Catalog/Products` of `src/Web/Pages/Catalog/Products.cshtml.cs`, whether the path tells)."""
    folders = path.split("/")
    name = folders.pop()
    stem = _PAGE_FILE.sub("", name)
    if stem == name:
        stem = class_name.removesuffix(_MODEL_SUFFIX) or class_name
    if _PAGES_FOLDER not in folders:
        return absolute(stem), False
    at = len(folders) - 1 - folders[::-1].index(_PAGES_FOLDER)
    area = folders[at - 1 : at] if at >= 2 and folders[at - 2] == _AREAS_FOLDER else []
    last = [] if stem == _INDEX else [stem]
    return absolute("/".join([*area, *folders[at + 1 :], *last])), True


def _handler(member: Member) -> re.Match[str] | None:
    if member.kind is not MemberKind.METHOD or "public" not in member.modifiers or "static" in member.modifiers:
        return None
    if any(attribute_name(attribute) == "NonHandler" for attribute in member.attributes):
        return None
    return _HANDLER.match(member.name)


def _endpoint(
    segment: Segment,
    member: Member,
    found: re.Match[str],
    page: str,
    controller: Controller,
    declared: TypeIndex,
    body_of: BodyCode,
) -> Endpoint:
    verb, handler = found[1].upper(), found[2]
    doc = action_doc(member.doc)
    binding = Binding(Framework.RAZOR_PAGE, (verb,), {}, declared)
    template = f"{page}?handler={handler}" if handler else page
    return Endpoint(
        action=handler or found[1],
        symbol_suffix=method_suffix(member),
        routes=(EndpointRoute(verb, template, RouteOrigin.CONVENTION, is_complete=False),),
        span=member.span,
        member_start=member.span.char_start,
        handler=f"{segment.symbol}.{member.name}",
        handler_key=member_keys("csharp", segment.symbol, member)[0],
        signature=member.signature,
        summary=doc.summary,
        doc=doc.text,
        parameters=(
            *bound_parameters(member.parameters, binding, doc.parameters),
            *_bound_properties(segment, verb),
        ),
        responses=merged((by_return_type(member.type), by_statements(body_of(member))), doc.responses),
        authorization=combined((controller.authorization, authorization_of(member.attributes))),
    )


def _bound_properties(segment: Segment, verb: str) -> tuple[EndpointParameter, ...]:
    """The properties that the request fills: `[BindProperty]`, for GET only with SupportsGet."""
    all_bound = next((a for a in segment.attributes if attribute_name(a) == "BindProperties"), "")
    found = []
    for member in segment.members:
        if member.kind is not MemberKind.PROPERTY:
            continue
        own = next((a for a in member.attributes if attribute_name(a) == "BindProperty"), "")
        attribute = own or (all_bound if "set" in member.accessors and "public" in member.modifiers else "")
        if not attribute:
            continue
        named = arguments_of(attribute).named
        if verb == "GET" and named.get("SupportsGet") != "true":
            continue
        name = literal(named.get("Name", "")) or member.name
        required = "required" in member.modifiers or any(attribute_name(a) == "Required" for a in member.attributes)
        found.append(
            EndpointParameter(
                name=name,
                type=member.type,
                source=ParameterSource.QUERY if verb == "GET" else ParameterSource.FORM,
                required=required,
                doc=action_doc(member.doc).summary,
                inferred=True,
                variable=member.name if name != member.name else "",
            )
        )
    return tuple(found)
