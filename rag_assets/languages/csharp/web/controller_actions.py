"""The actions of controllers as endpoints, inherited ones too: attribute routes by the rules of ASP.NET Core,
conventional ones marked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from rag_assets.contracts.graph import ANY_METHOD, member_keys, method_suffix
from rag_assets.contracts.segment import Member, MemberKind, Segment, Span
from rag_assets.dependency_trace import tracked
from rag_assets.languages.csharp.binder.type_syntax import attribute_name, simple_name
from rag_assets.languages.csharp.declaration_ranges import LANGUAGE, classes_of
from rag_assets.languages.csharp.facts.expressions import arguments_of, literal
from rag_assets.languages.csharp.facts.type_index import TypeIndex
from rag_assets.languages.csharp.syntax.xmldoc import action_doc
from rag_assets.languages.csharp.web.controllers import (
    ClassRoute,
    Controller,
    attribute_base,
    authorization_of,
    combined,
)
from rag_assets.languages.csharp.web.endpoint_model import (
    MAPS_ACTIONS,
    ActionRoute,
    Endpoint,
    EndpointRoute,
    RouteOrigin,
)
from rag_assets.languages.csharp.web.parameter_binding import Binding, Framework, bound_parameters, route_parameters
from rag_assets.languages.csharp.web.responses import (
    by_return_type,
    by_statements,
    content_types,
    declared_by_attributes,
    merged,
    success_status,
)
from rag_assets.languages.csharp.web.route_templates import (
    absolute,
    constants_of,
    joined,
    nested,
    parameters_of,
    string_of,
    with_tokens,
)
from rag_assets.languages.parsed_file import ParsedFile

BodyCode = Callable[[Member], str]
"""The code of a member without strings and comments."""

VERB_ATTRIBUTES = {
    f"Http{verb.title()}": verb for verb in ("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "QUERY")
}
_VERB_NAME = re.compile(r"\b(GET|POST|PUT|DELETE|PATCH|HEAD|OPTIONS)\b", re.IGNORECASE)
_NAME_VERB = re.compile(r"(Get|Post|Put|Delete|Patch|Head|Options)(?![a-z])")
_ASYNC = "Async"

_NO_ACTION_NAMES = (
    "ToString Equals GetHashCode Dispose DisposeAsync OnActionExecuting OnActionExecuted OnActionExecutionAsync "
    "Initialize GetType ExecuteAsync OnException OnAuthorization OnResultExecuting OnResultExecuted"
)
_NO_ACTIONS = frozenset(_NO_ACTION_NAMES.split())
"""Public methods of controllers and of every object that answer no request."""


@dataclass(frozen=True, slots=True)
class _Selector:
    """One attribute that selects an action: verbs and a template (None: only those of the class)."""

    methods: tuple[str, ...]
    template: str | None = None
    known: bool = True


def action_endpoints(
    segment: Segment, controller: Controller, declared: TypeIndex, body_of: BodyCode
) -> tuple[Endpoint, ...]:
    """The endpoints of a class, in text order. Without the evidence of a controller only methods with an HTTP
    attribute count."""
    members = _with_known_verbs(segment, declared) if controller.is_controller else segment.members
    methods = [member for member in members if _may_be_action(member)]
    attributed = any(selector.template is not None for member in methods for selector in _selectors(member, controller))
    found = []
    for member in methods:
        routes = _routes(member, controller, attributed=attributed)
        if routes:
            found.append(_endpoint(segment, member, controller, routes, declared, body_of))
    return tuple(_told_apart(found, controller) if controller.framework is Framework.WEB_API_2 else found)


def _with_known_verbs(segment: Segment, declared: TypeIndex) -> Iterator[Member]:
    """The members of a class with `[HttpPut("{id}")]` for `[RestPut("{id}")]`, which the label derives from that."""
    known: dict[str, str] = {}
    for member in segment.members:
        attributes = []
        for attribute in member.attributes if member.kind is MemberKind.METHOD else ():
            name = attribute_name(attribute)
            if name not in known:
                base = "" if name in _ROUTING else attribute_base(name, segment, declared, _VERB_BASES)
                known[name] = base.removesuffix("Attribute")
            arguments = "".join(attribute.partition("(")[1:])
            attributes.append(f"{known[name]}{arguments}" if known[name] else attribute)
        yield replace(member, attributes=tuple(attributes)) if attributes else member


def _told_apart(found: list[Endpoint], controller: Controller) -> Iterator[Endpoint]:
    """With their names in the routes of a convention that several share: `PUT /api/trash` cannot choose between `Purge`
    and `Restore`, which is what `api/{controller}/{action}` is mapped for. Of those that are called after the verb, as
    `GetByName`, parameters decide."""
    shared = Counter(route for one in found for route in one.routes if route.origin is RouteOrigin.CONVENTION)
    before = f"/{controller.short_name}"
    for one in found:
        is_verb = _NAME_VERB.match(one.action) is not None
        routes = tuple(
            replace(route, template=route.template.replace(before, f"{before}/{one.action}", 1))
            if shared[route] > 1 and not is_verb
            else route
            for route in one.routes
        )
        yield replace(one, routes=routes)


def _may_be_action(member: Member) -> bool:
    if member.kind is not MemberKind.METHOD or "public" not in member.modifiers or "static" in member.modifiers:
        return False
    if member.type_parameters or member.explicit_interface:
        return False
    names = {attribute_name(attribute) for attribute in member.attributes}
    if "NonAction" in names:
        return False
    return bool(names & _ROUTING) or member.name not in _NO_ACTIONS


_VERB_BASES = frozenset(f"{name}Attribute" for name in VERB_ATTRIBUTES)
_ROUTING = frozenset({*VERB_ATTRIBUTES, "Route", "AcceptVerbs"})


def _endpoint(
    segment: Segment,
    member: Member,
    controller: Controller,
    routes: tuple[EndpointRoute, ...],
    declared: TypeIndex,
    body_of: BodyCode,
) -> Endpoint:
    doc = action_doc(member.doc)
    binding = Binding(
        controller.framework,
        tuple(dict.fromkeys(route.method for route in routes)),
        route_parameters(p for route in routes for p in parameters_of(route.template)),
        declared,
    )
    attributes = (*member.attributes, *controller.attributes)
    declared_responses = declared_by_attributes(attributes)
    success = success_status(declared_responses)
    empty = 204 if controller.framework is Framework.WEB_API_2 else success
    return Endpoint(
        action=action_name(member, controller.framework),
        symbol_suffix=method_suffix(member),
        routes=routes,
        span=member.span,
        member_start=member.span.char_start,
        handler=f"{segment.symbol}.{member.name}",
        handler_key=member_keys("csharp", segment.symbol, member)[0],
        signature=member.signature,
        summary=doc.summary or summary_of(member.attributes),
        doc=doc.text,
        parameters=bound_parameters(member.parameters, binding, doc.parameters),
        responses=merged(
            (
                declared_responses,
                by_return_type(member.type, success, empty),
                by_statements(body_of(member)),
            ),
            doc.responses,
        ),
        authorization=combined((controller.authorization, authorization_of(member.attributes))),
        name=_route_name(member),
        tags=_tags(attributes),
        consumes=content_types(attributes, "Consumes"),
        produces=content_types(attributes, "Produces"),
    )


def action_name(member: Member, framework: Framework) -> str:
    """The name that `[action]` stands for: [ActionName], else the method's, which ASP.NET Core trims of `Async`."""
    for attribute in member.attributes:
        if attribute_name(attribute) == "ActionName":
            written = literal(next(iter(arguments_of(attribute).positional), ""))
            if written:
                return written
    if framework is Framework.WEB_API_2:
        return member.name
    return member.name.removesuffix(_ASYNC) or member.name


def summary_of(attributes: tuple[str, ...]) -> str:
    """The summary of `[SwaggerOperation]` or `[EndpointSummary]`, for actions without a documentation comment."""
    for attribute in attributes:
        if attribute_name(attribute) in ("SwaggerOperation", "EndpointSummary", "EndpointDescription"):
            arguments = arguments_of(attribute)
            written = arguments.named.get("Summary", next(iter(arguments.positional), ""))
            text = literal(written)
            if text:
                return " ".join(text.split())
    return ""


# routes


def _selectors(member: Member, controller: Controller) -> list[_Selector]:
    """The selectors of an action as ASP.NET Core makes them: an HTTP attribute with a template stands for itself,
    the verbs of those without one apply to the [Route]s of the action, or select it by the class's routes."""
    routed: list[_Selector] = []
    silent: list[str] = []
    templates: list[tuple[str, bool]] = []
    for attribute in member.attributes:
        name = attribute_name(attribute)
        if name not in _ROUTING:
            continue
        arguments = arguments_of(attribute)
        if name == "AcceptVerbs":
            verbs = tuple(verb.upper() for text in arguments.positional for verb in _VERB_NAME.findall(text))
            written = arguments.named.get("Route", "")
        else:
            verbs = (VERB_ATTRIBUTES[name],) if name != "Route" else ()
            written = next(iter(arguments.positional), arguments.named.get("template", ""))
        if not written:
            silent += verbs
            continue
        template, known = string_of(written, controller.constants)
        if verbs:
            routed.append(_Selector(verbs, template, known))
        else:
            templates.append((template, known))
    verbs = tuple(dict.fromkeys(silent))
    routed += [_Selector(verbs, template, known) for template, known in templates]
    if verbs and not templates:
        routed.append(_Selector(verbs))
    return routed


def _routes(member: Member, controller: Controller, *, attributed: bool) -> tuple[EndpointRoute, ...]:
    """All routes of an action, () where nothing routes to it."""
    selectors = _selectors(member, controller)
    if not selectors:
        if not controller.is_controller or controller.is_abstract:
            return ()
        if attributed and not controller.routes:  # the others have routes of their own: this one is a helper
            return ()
        selectors = [_Selector(())]
    found: list[EndpointRoute] = []
    for selector in selectors:
        for template, known, origin in _templates(selector, member, controller):
            methods, by_name = _methods(selector, member, controller)
            origin = RouteOrigin.CONVENTION if by_name else origin
            found += [EndpointRoute(method, template, origin, known) for method in methods]
    return tuple(dict.fromkeys(found))


def _methods(selector: _Selector, member: Member, controller: Controller) -> tuple[tuple[str, ...], bool]:
    """(HTTP methods, whether only the name of the action says so)."""
    if selector.methods:
        return selector.methods, False
    if controller.framework is Framework.WEB_API_2:
        verb = _NAME_VERB.match(member.name)
        return (verb[1].upper() if verb else "POST",), True
    return (ANY_METHOD,), False


def _templates(selector: _Selector, member: Member, controller: Controller) -> list[tuple[str, bool, RouteOrigin]]:
    """(full template, known, origin) of one selector."""
    prefixes = controller.routes
    own = selector.template
    if own is None and controller.default_routes:
        prefixes = tuple(
            ClassRoute(nested(prefix.template, route.template), prefix.known and route.known, route.inherited)
            for prefix in controller.routes or (ClassRoute(""),)
            for route in controller.default_routes
        )
    elif own is None and (not prefixes or controller.framework is Framework.WEB_API_2):
        return _conventional(member, controller)
    if own is not None and (own.startswith(("/", "~/")) or not prefixes):
        return [(_named(absolute(own), member, controller), selector.known, RouteOrigin.ATTRIBUTE)]
    return [
        (
            _named(joined(prefix.template, own or ""), member, controller),
            prefix.known and selector.known,
            RouteOrigin.INHERITED if prefix.inherited else RouteOrigin.ATTRIBUTE,
        )
        for prefix in prefixes
    ]


def _conventional(member: Member, controller: Controller) -> list[tuple[str, bool, RouteOrigin]]:
    """The usual default routes: `/{controller}/{action}` of MVC, `/api/{controller}` of WebApi 2."""
    if controller.framework is Framework.API_CONTROLLER or not controller.is_controller or controller.is_abstract:
        return []  # [ApiController] demands attribute routes; derived classes have the routes of abstract ones
    has_id = any(parameter.name.lower() == "id" for parameter in member.parameters)
    identifier = ("{id?}",) if has_id else ()
    if controller.framework is Framework.WEB_API_2:
        parts = ("api", controller.short_name, *identifier)
    else:
        area = (controller.area,) if controller.area else ()
        parts = (*area, controller.short_name, action_name(member, controller.framework), *identifier)
    return [(absolute("/".join(parts)), True, RouteOrigin.CONVENTION)]


def _named(template: str, member: Member, controller: Controller) -> str:
    """With its tokens replaced; those of an abstract class are the names of the classes derived from it."""
    values = {"action": action_name(member, controller.framework), "area": controller.area}
    if not controller.is_abstract:
        values["controller"] = controller.short_name
    return with_tokens(template, values)


def _route_name(member: Member) -> str:
    for attribute in member.attributes:
        if attribute_name(attribute) in _ROUTING:
            written = arguments_of(attribute).named.get("Name", "")
            if written:
                return literal(written) or written
    return ""


def _tags(attributes: tuple[str, ...]) -> tuple[str, ...]:
    found = (
        literal(text)
        for attribute in attributes
        if attribute_name(attribute) == "Tags"
        for text in arguments_of(attribute).positional
    )
    return tuple(dict.fromkeys(text for text in found if text))


NOWHERE = Span(0, 0, 0, 0)
"""Actions are answered without their places: that a base class moves in its file changes no route."""

CONTROLLER_ENDS = ("Controller", "ControllerBase", "PageModel")


@dataclass(frozen=True, slots=True)
class InheritableActions:
    """The public methods of one controller, as far as routes depend on them."""

    symbol: str
    actions: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class EndpointDeclarations:
    """What one bucket of files adds to `EndpointSymbols`."""

    controllers: tuple[InheritableActions, ...] = ()
    routes: tuple[ActionRoute, ...] = ()
    constants: tuple[tuple[str, str], ...] = ()


class EndpointSymbols:
    """Answers which actions a controller declares, which routes calls give to them, and which constants are routes.
    Equal declarations in any order give equal answers."""

    __slots__ = ("_actions", "_constants", "_routes")

    def __init__(self, declarations: Iterable[EndpointDeclarations] = ()) -> None:
        self._actions: dict[str, set[Member]] = {}
        self._routes: dict[str, set[ActionRoute]] = {}
        constants: dict[str, set[str]] = {}
        for declared in declarations:
            for name, value in declared.constants:
                constants.setdefault(name, set()).add(value)
            for route in declared.routes:
                self._routes.setdefault(route.controller.lower(), set()).add(route)
            for controller in declared.controllers:
                self._actions.setdefault(controller.symbol, set()).update(controller.actions)

        self._constants = {name: f'@"{min(values)}"' for name, values in constants.items() if len(values) == 1}

    @tracked("endpoints.constants")
    def constants(self) -> Mapping[str, str]:
        """`Names.Route` → `@"api/x"`, the constants of any file that may be routes, of names with one value."""
        return self._constants

    @tracked("endpoints.actions")
    def actions(self, symbol: str) -> tuple[Member, ...]:
        """The public methods of a controller that its derived classes have too, by name and signature."""
        return tuple(sorted(self._actions.get(symbol, ()), key=lambda member: (member.name, member.signature)))

    @tracked("endpoints.routes")
    def routes(self, controller: str) -> tuple[ActionRoute, ...]:
        """The routes that calls give to actions of a controller, by its name without the suffix."""
        return tuple(sorted(self._routes.get(controller.lower(), ())))


def declared_in(files: Iterable[ParsedFile]) -> EndpointDeclarations:
    """The controllers of some files; what is derived from one has a base whose name says that it is one."""
    files = [file for file in files if file.language == LANGUAGE]
    return EndpointDeclarations(
        tuple(found for file in files for found in _of(file)),
        tuple(found for file in files if MAPS_ACTIONS.search(file.text) for found in _mapped(file.text)),
        tuple(found for file in files if "const string" in file.text for found in route_constants(file.segments)),
    )


def _mapped(text: str) -> Iterator[ActionRoute]:
    from rag_assets.languages.csharp.web.mapped_actions import routes_of_actions  # start-up budget: of few files

    return routes_of_actions(text)


_MAY_BE_ROUTE = re.compile(r"(?=.*[/\[{])[~\w./:\[\]{}*?=()-]{1,200}")


def route_constants(segments: Iterable[Segment]) -> Iterator[tuple[str, str]]:
    """`Names.Route`, `api/x`: the constants that may be routes, of types by their last names."""
    types = list(classes_of(segments))
    own = {segment.symbol: constants_of(segment.members) for segment in types}
    for segment in types:
        outer = (symbol for symbol in own if f"{segment.symbol}.".startswith(f"{symbol}."))
        known = {name: written for symbol in sorted(outer, key=len) for name, written in own[symbol].items()}
        for name, written in own[segment.symbol].items():
            value, is_known = string_of(written, known)
            if is_known and _MAY_BE_ROUTE.fullmatch(value):
                yield f"{segment.name}.{name}", value


def _of(file: ParsedFile) -> Iterator[InheritableActions]:
    for segment in classes_of(file.segments):
        if is_controller_like(segment):
            actions = tuple(_plain(member) for member in segment.members if _is_inheritable(member))
            if actions:
                yield InheritableActions(segment.symbol, actions)


def is_controller_like(segment: Segment) -> bool:
    """Whether the name of a class, or of a base, says that it handles requests."""
    names = (segment.name, *map(simple_name, segment.base_list))
    return segment.kind != "interface" and any(name.endswith(CONTROLLER_ENDS) for name in names)


def _is_inheritable(member: Member) -> bool:
    return member.kind is MemberKind.METHOD and "public" in member.modifiers and "static" not in member.modifiers


def _plain(member: Member) -> Member:
    return replace(member, span=NOWHERE, doc="", value="", members=())
