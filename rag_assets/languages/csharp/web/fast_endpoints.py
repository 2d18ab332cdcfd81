"""Endpoint classes of the FastEndpoints library: one class, one endpoint, its route in `Configure()`."""

from __future__ import annotations

import re

from rag_assets.contracts.segment import Member, MemberKind, Segment
from rag_assets.languages.csharp.facts.expressions import literal
from rag_assets.languages.csharp.facts.type_index import TypeIndex
from rag_assets.languages.csharp.facts.type_names import parse_type
from rag_assets.languages.csharp.web.authorization import authorization_of, combined
from rag_assets.languages.csharp.web.call_syntax import Call, CodeTree, read_calls
from rag_assets.languages.csharp.web.controller_actions import BodyCode
from rag_assets.languages.csharp.web.endpoint_docs import action_doc
from rag_assets.languages.csharp.web.endpoint_model import (
    Authorization,
    Endpoint,
    EndpointParameter,
    EndpointRoute,
    ParameterSource,
    RouteOrigin,
)
from rag_assets.languages.csharp.web.endpoint_symbols import method_suffix
from rag_assets.languages.csharp.web.parameter_binding import Binding, Framework, bound_parameters, route_parameters
from rag_assets.languages.csharp.web.responses import by_return_type, by_statements, merged
from rag_assets.languages.csharp.web.route_constants import constants_of, string_of
from rag_assets.languages.csharp.web.route_templates import absolute, parameters_of
from rag_assets.languages.node_keys import member_keys

_BASES = frozenset({"Endpoint", "EndpointWithoutRequest", "EndpointWithMapper", "EndpointWithMapping"})
_WITHOUT_REQUEST = "EndpointWithoutRequest"
_CONFIGURE = "Configure"
_HANDLERS = ("HandleAsync", "ExecuteAsync")
_VERBS = {verb.title(): verb for verb in ("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD")}
_SUMMARY = re.compile(r"""\.Summary\s*=\s*("(?:[^"\\\r\n]++|\\.)*+")""")
_BODY_METHODS = frozenset({"POST", "PUT", "PATCH"})


def is_fast_endpoint(segment: Segment) -> bool:
    """Whether a base class and a `Configure` method say so."""
    has_base = any(parse_type(base).name in _BASES for base in segment.base_list)
    return has_base and any(member.name == _CONFIGURE for member in segment.members)


def fast_endpoint(segment: Segment, text: str, declared: TypeIndex, body_of: BodyCode) -> tuple[Endpoint, ...]:
    """The endpoint of such a class, () where its `Configure` names no route. Raises UnparseableError."""
    methods = {member.name: member for member in segment.members if member.kind is MemberKind.METHOD}
    tree = read_calls(text)
    configure = tree.functions.get(_CONFIGURE)
    if configure is None:
        return ()
    calls = [call for call in tree.calls if call.scope == configure.scope and call.receiver is None]
    routes = _routes(tree, calls, segment)
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


def _routes(tree: CodeTree, calls: list[Call], segment: Segment) -> tuple[EndpointRoute, ...]:
    """`Get("/a", "/b")`, or `Verbs(…)` with `Routes(…)`. Below a group the prefix is set elsewhere."""
    constants = constants_of(segment.members)
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
    source = (
        ParameterSource.BODY if any(method in _BODY_METHODS for method in binding.methods) else ParameterSource.QUERY
    )
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
