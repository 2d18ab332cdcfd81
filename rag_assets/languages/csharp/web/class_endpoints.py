"""All endpoints of one class, whatever framework it is written for: controllers, Razor pages, FastEndpoints.

A page has its route from its path; a FastEndpoints class is one endpoint with its route in `Configure()`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from rag_assets.contracts.graph import member_keys, method_suffix
from rag_assets.contracts.segment import Member, MemberKind, Segment
from rag_assets.languages.csharp.binder.type_syntax import attribute_name
from rag_assets.languages.csharp.facts.expressions import arguments_of, literal
from rag_assets.languages.csharp.facts.type_index import TypeIndex
from rag_assets.languages.csharp.facts.type_names import parse_type
from rag_assets.languages.csharp.syntax.lexer import scan
from rag_assets.languages.csharp.syntax.xmldoc import action_doc
from rag_assets.languages.csharp.web.call_syntax import Call, CodeTree, read_calls
from rag_assets.languages.csharp.web.controller_actions import BodyCode, action_endpoints
from rag_assets.languages.csharp.web.controllers import (
    Controller,
    authorization_of,
    base_chain,
    combined,
    controller_of,
    is_endpoint_base,
    is_page_model,
)
from rag_assets.languages.csharp.web.endpoint_model import (
    Authorization,
    ControllerFlavor,
    Endpoint,
    EndpointParameter,
    EndpointRoute,
    ParameterSource,
    RouteOrigin,
    with_unique_symbols,
)
from rag_assets.languages.csharp.web.file_context import FileContext
from rag_assets.languages.csharp.web.minimal_api import mapped_endpoints
from rag_assets.languages.csharp.web.parameter_binding import Binding, Framework, bound_parameters, route_parameters
from rag_assets.languages.csharp.web.responses import by_return_type, by_statements, merged
from rag_assets.languages.csharp.web.route_templates import Constants, absolute, constants_of, parameters_of, string_of

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


_BASES = frozenset({"Endpoint", "EndpointWithoutRequest", "EndpointWithMapper", "EndpointWithMapping"})
_WITHOUT_REQUEST = "EndpointWithoutRequest"
_CONFIGURE = "Configure"
_HANDLERS = ("HandleAsync", "ExecuteAsync")
_VERBS = {verb.title(): verb for verb in ("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD")}
_SUMMARY = re.compile(r"""\.Summary\s*=\s*("(?:[^"\\\r\n]++|\\.)*+")""")


def is_fast_endpoint(segment: Segment) -> bool:
    """Whether a base class and a `Configure` method say so."""
    has_base = any(parse_type(base).name in _BASES for base in segment.base_list)
    return has_base and any(member.name == _CONFIGURE for member in segment.members)


def fast_endpoint(
    segment: Segment, text: str, declared: TypeIndex, body_of: BodyCode, elsewhere: Callable[[], Mapping[str, str]]
) -> tuple[Endpoint, ...]:
    """The endpoint of such a class, () where its `Configure` names no route. Raises UnparseableError."""
    methods = {member.name: member for member in segment.members if member.kind is MemberKind.METHOD}
    tree = read_calls(text)
    configure = tree.functions.get(_CONFIGURE)
    if configure is None:
        return ()
    calls = [call for call in tree.calls if call.scope == configure.scope and call.receiver is None]
    routes = _routes(tree, calls, Constants(constants_of(segment.members), elsewhere))
    if not routes:
        return ()
    handler = next((methods[name] for name in _HANDLERS if name in methods), None)
    shown = handler or methods[_CONFIGURE]
    base = next(parse_type(b) for b in segment.base_list if parse_type(b).name in _BASES)
    arguments = base.arguments
    has_request = base.name != _WITHOUT_REQUEST and bool(arguments)
    response = str(arguments[1 if has_request else 0]) if len(arguments) > (1 if has_request else 0) else ""
    doc = action_doc(shown.doc)
    binding = Binding(
        Framework.API_CONTROLLER,
        tuple(dict.fromkeys(route.method for route in routes)),
        route_parameters(p for route in routes for p in parameters_of(route.template)),
        declared,
    )
    returned = by_return_type(response) or by_return_type(shown.type)
    return (
        Endpoint(
            action=segment.name,
            symbol_suffix=method_suffix(shown),
            routes=routes,
            span=shown.span,
            member_start=shown.span.char_start,
            handler=f"{segment.symbol}.{shown.name}",
            handler_key=member_keys("csharp", segment.symbol, shown)[0],
            signature=shown.signature,
            summary=doc.summary or _summary(tree, calls),
            doc=doc.text,
            parameters=_parameters(shown, handler is not None and has_request, binding, doc.parameters),
            responses=merged((returned, by_statements(body_of(shown))), doc.responses),
            authorization=combined([authorization_of(segment.attributes), _authorization(tree, calls)]),
            tags=tuple(tag for call in calls if call.name == "Tags" for tag in map(literal, _texts(tree, call)) if tag),
        ),
    )


def _routes(tree: CodeTree, calls: list[Call], constants: Mapping[str, str]) -> tuple[EndpointRoute, ...]:
    """`Get("/a", "/b")`, or `Verbs(…)` with `Routes(…)`. Below a group the prefix is set elsewhere."""
    grouped = any(call.name == "Group" for call in calls)
    verbs = [verb for call in calls if call.name == "Verbs" for text in _texts(tree, call)
             if (verb := text.rpartition(".")[2].strip('"').upper())]  # fmt: skip
    found: list[EndpointRoute] = []
    for call in calls:
        methods = [_VERBS[call.name]] if call.name in _VERBS else verbs if call.name == "Routes" else []
        for text in _texts(tree, call) if methods else ():
            if "=>" in text:
                continue
            template, known = string_of(text, constants)
            found += [
                EndpointRoute(method, absolute(template), RouteOrigin.MAPPED, known and not grouped)
                for method in methods
            ]
    return tuple(dict.fromkeys(found))


def _parameters(
    handler: Member, has_request: bool, binding: Binding, docs: dict[str, str]
) -> tuple[EndpointParameter, ...]:
    """The parameters in the route, and the request object: the body, or without one the query."""
    route = tuple(
        EndpointParameter(parameter.name, "", ParameterSource.ROUTE, not parameter.optional)
        for parameter in binding.route_parameters.values()
    )
    if not has_request or not handler.parameters:
        return route
    request = handler.parameters[0]
    if bound_parameters((request,), binding, {}) == ():
        return route
    source = ParameterSource.BODY if binding.takes_body else ParameterSource.QUERY
    return (*route, EndpointParameter(request.name, request.type, source, True, docs.get(request.name, ""), True))


def _summary(tree: CodeTree, calls: list[Call]) -> str:
    """Of `Summary(s => { s.Summary = "…"; })`."""
    texts = (text for call in calls if call.name == "Summary" for text in _texts(tree, call))
    found = (_SUMMARY.search(text) for text in texts)
    return next((" ".join((literal(match[1]) or "").split()) for match in found if match), "")


def _authorization(tree: CodeTree, calls: list[Call]) -> Authorization:
    """FastEndpoints are secure unless they say otherwise."""
    policies: list[str] = []
    roles: list[str] = []
    for call in calls:
        if call.name == "AllowAnonymous":
            return Authorization(anonymous=True)
        values = [literal(text) or text for text in _texts(tree, call)]
        if call.name == "Policies":
            policies += values
        elif call.name == "Roles":
            roles += values
    return Authorization(required=True, policies=tuple(policies), roles=tuple(roles))


def _texts(tree: CodeTree, call: Call) -> tuple[str, ...]:
    return tuple(tree.text(argument) for argument in call.arguments)


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
    segment: Segment,
    text: str,
    path: str,
    declared: TypeIndex,
    file_text: str = "",
    elsewhere: Callable[[], Mapping[str, str]] = dict,
) -> ClassEndpoints:
    """The endpoints of a C# type, in text order. Raises UnparseableError where a text with Map calls is refused.

    `file_text` is the whole file: constants and parameter objects of its other types count. `elsewhere` gives the
    constants of other files.
    """
    neighbours = FileContext(file_text, elsewhere)
    controller = controller_of(segment, declared, neighbours.constants)
    body_of = _bodies(segment, text)
    page = is_page_model(segment, declared)
    fast = is_fast_endpoint(segment)
    if page:
        actions = page_endpoints(segment, path, controller, declared, body_of)
    elif fast:
        actions = fast_endpoint(segment, text, declared, body_of, neighbours.constants)
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
