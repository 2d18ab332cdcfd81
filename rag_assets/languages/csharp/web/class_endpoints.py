"""All endpoints of one class, whatever framework it is written for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from rag_assets.contracts.segment import Member, Segment
from rag_assets.languages.csharp.facts.type_index import TypeIndex
from rag_assets.languages.csharp.syntax.lexer import scan
from rag_assets.languages.csharp.web.controller_actions import BodyCode, action_endpoints
from rag_assets.languages.csharp.web.controllers import (
    Controller,
    base_chain,
    controller_of,
    is_endpoint_base,
    is_page_model,
)
from rag_assets.languages.csharp.web.endpoint_docs import action_doc
from rag_assets.languages.csharp.web.endpoint_model import Authorization, ControllerFlavor, Endpoint
from rag_assets.languages.csharp.web.endpoint_symbols import with_unique_symbols
from rag_assets.languages.csharp.web.fast_endpoints import fast_endpoint, is_fast_endpoint
from rag_assets.languages.csharp.web.file_context import FileContext
from rag_assets.languages.csharp.web.minimal_api import mapped_endpoints
from rag_assets.languages.csharp.web.parameter_binding import Framework
from rag_assets.languages.csharp.web.razor_pages import page_endpoints

_FLAVORS = {
    Framework.API_CONTROLLER: ControllerFlavor.API,
    Framework.MVC: ControllerFlavor.MVC,
    Framework.WEB_API_2: ControllerFlavor.WEB_API_2,
}


@dataclass(frozen=True, slots=True)
class ClassEndpoints:
    """The endpoints of a class; `applies`: it is one that handles requests, even where none was found."""

    applies: bool
    flavor: ControllerFlavor = ControllerFlavor.MVC
    endpoints: tuple[Endpoint, ...] = ()
    base_routes: tuple[str, ...] = ()
    area: str = ""
    authorization: Authorization = field(default_factory=Authorization)
    base_controllers: tuple[str, ...] = ()


def endpoints_of_class(
    segment: Segment, text: str, path: str, declared: TypeIndex, file_text: str = ""
) -> ClassEndpoints:
    """The endpoints of a C# type, in text order. Raises UnparseableError where a text with Map calls is refused.

    `file_text` is the whole file: constants and parameter objects of its other types count.
    """
    neighbours = FileContext(file_text)
    controller = controller_of(segment, declared, neighbours.constants)
    body_of = _bodies(segment, text)
    page = is_page_model(segment, declared)
    fast = is_fast_endpoint(segment)
    if page:
        actions = page_endpoints(segment, path, controller, declared, body_of)
    elif fast:
        actions = fast_endpoint(segment, text, declared, body_of)
    else:
        actions = action_endpoints(segment, controller, declared, body_of)
    if controller.is_abstract:
        actions = tuple(map(_for_derived, actions))
    mapped = mapped_endpoints(segment, text, declared, neighbours)
    endpoints = tuple(sorted((*actions, *mapped), key=lambda endpoint: endpoint.span.char_start))
    if len(endpoints) == 1 and (mapped or fast or is_endpoint_base(segment)):
        endpoints = (_documented_by(segment, endpoints[0]),)
    by_actions = controller.is_controller and not (page or fast)
    return ClassEndpoints(
        applies=bool(endpoints) or controller.is_controller or page,
        flavor=_flavor(segment, controller, page=page, fast=fast, mapped_only=bool(mapped) and not actions),
        endpoints=with_unique_symbols(endpoints),
        base_routes=tuple(route.template for route in (*controller.routes, *controller.default_routes)),
        area=controller.area,
        authorization=controller.authorization,
        base_controllers=tuple(base.symbol for base in base_chain(segment, declared)) if by_actions else (),
    )


def _flavor(segment: Segment, controller: Controller, *, page: bool, fast: bool, mapped_only: bool) -> ControllerFlavor:
    if page:
        return ControllerFlavor.RAZOR_PAGE
    if fast or is_endpoint_base(segment):
        return ControllerFlavor.ENDPOINT_CLASS
    if mapped_only:
        return ControllerFlavor.MINIMAL_API
    return _FLAVORS[controller.framework]


def _for_derived(endpoint: Endpoint) -> Endpoint:
    routes = tuple(replace(route, is_complete=False) for route in endpoint.routes)
    return replace(endpoint, routes=routes, for_derived=True)


def _documented_by(segment: Segment, endpoint: Endpoint) -> Endpoint:
    """The only endpoint of a class: the documentation of the class is about it."""
    summary = endpoint.summary or action_doc(segment.doc).summary
    return replace(endpoint, summary=summary, action=endpoint.action or segment.name)


def _bodies(segment: Segment, text: str) -> BodyCode:
    """The code of members; the text is scanned once, when the first is asked for."""
    scanned: list[str] = []

    def body_of(member: Member) -> str:
        if not scanned:
            scanned.append(scan(text).code)
        start = member.span.char_start - segment.span.char_start
        return scanned[0][max(start, 0) : max(start, 0) + member.span.char_end - member.span.char_start]

    return body_of
