"""ENDPOINT nodes and the methods that expose them: of C# by its facts, where what the lambda behind a route does is an
edge of its endpoint; of other languages by what their frameworks write."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec import structs

from rag_assets.contracts.graph import (
    Confidence,
    GraphEdge,
    GraphNode,
    NodeType,
    Relation,
    declaration_key,
    endpoint_key,
    file_key,
    member_keys,
    method_suffix,
)
from rag_assets.contracts.segment import MemberKind, Segment, Span, leaves_of
from rag_assets.languages.csharp.binder.label_symbols import NamePosition
from rag_assets.languages.csharp.binder.type_syntax import attribute_name
from rag_assets.languages.csharp.declaration_ranges import LANGUAGE, inside, own_symbol, types_of, whole
from rag_assets.languages.csharp.web.class_endpoints import endpoints_of_class, is_fast_endpoint
from rag_assets.languages.csharp.web.controller_actions import VERB_ATTRIBUTES, action_endpoints, is_controller_like
from rag_assets.languages.csharp.web.controllers import base_chain, controller_of, is_endpoint_base
from rag_assets.languages.csharp.web.endpoint_model import ActionRoute, Endpoint, EndpointRoute, RouteOrigin
from rag_assets.languages.csharp.web.file_context import FileContext
from rag_assets.languages.csharp.web.minimal_api import MAP_CALL, mapped_endpoints
from rag_assets.languages.csharp.web.route_groups import unit_of_method
from rag_assets.languages.csharp.web.route_templates import nested, shape
from rag_assets.languages.label_declarations import LabelDeclarations
from rag_assets.languages.parsed_file import ParsedFile
from rag_assets.languages.route_mounts import ROUTED_LANGUAGES, go_functions, joined, router_unit
from rag_assets.languages.treesitter.parsing import UnparseableError

if TYPE_CHECKING:
    from rag_assets.languages.routes import Route

_CLASSES = ("class", "record", "struct")
_PROGRAM = "program"
_ROUTING = frozenset({*VERB_ATTRIBUTES, "Route", "AcceptVerbs"})


def endpoints(file: ParsedFile, symbols: LabelDeclarations) -> Iterable[GraphNode | GraphEdge]:
    """One ENDPOINT per method and route, and `METHOD Exposes ENDPOINT`.

    Routes that only a convention or another file completes are probable. An abstract controller exposes nothing: the
    classes derived from it expose what they inherit.
    """
    if file.language != LANGUAGE:
        return
    seen: set[tuple[str, str]] = set()
    segments = list(types_of(file.segments))
    maps = _maps(segments, file)
    for segment in reversed(segments):  # nested types first: they know better than the type around who maps a route
        mapped = _mapped_routes(segment, symbols)
        for source, endpoint in _of_segment(file, segment, symbols, maps=maps):
            endpoint = _on_mapped_routes(endpoint, mapped) if mapped else endpoint
            for route in (placed for one in endpoint.routes for placed in _in_groups(one, file, segment, symbols)):
                key = endpoint_key(route.method, shape(route.template))
                place = (key, _place(endpoint))
                if place in seen:
                    continue
                seen.add(place)
                first, last = endpoint.span.line_start or segment.span.line_start, endpoint.span.line_end
                name = f"{route.method} {route.template}"
                yield GraphNode(
                    key, NodeType.ENDPOINT, name, file.path, first, last or first, LANGUAGE, endpoint.signature
                )
                proven = route.is_complete and route.origin is not RouteOrigin.CONVENTION
                confidence = Confidence.RESOLVED if proven else Confidence.PROBABLE
                yield GraphEdge(source, Relation.EXPOSES, key, confidence, file.path, first)


def _in_groups(
    route: EndpointRoute, file: ParsedFile, segment: Segment, symbols: LabelDeclarations
) -> Iterator[EndpointRoute]:
    """A route below the groups that other files give to the method that maps it; as it is where none does."""
    unit = unit_of_method(file.path, segment.name, route.given_to)
    for prefix in symbols.mounts.prefixes(unit) if route.given_to else ("",):
        yield replace(route, template=nested(prefix, route.template), is_complete=True) if prefix else route


def _mapped_routes(segment: Segment, symbols: LabelDeclarations) -> tuple[ActionRoute, ...]:
    """The routes that calls anywhere give to the actions of a controller by its name."""
    if segment.kind == _PROGRAM or not is_controller_like(segment):
        return ()
    found = symbols.endpoints.routes(segment.name.removesuffix("Controller"))
    if not found:
        return ()
    from rag_assets.languages.csharp.web.mapped_actions import area_of  # start-up budget: of few controllers

    area = area_of(segment.attributes)
    return tuple(route for route in found if route.area == area)


def _on_mapped_routes(endpoint: Endpoint, mapped: tuple[ActionRoute, ...]) -> Endpoint:
    from rag_assets.languages.csharp.web.mapped_actions import on_mapped_routes  # start-up budget: of few controllers

    return on_mapped_routes(endpoint, mapped)


def _place(endpoint: Endpoint) -> str:
    """What tells one endpoint of a route from another in a file: its offset, or the action where it is inherited."""
    start = endpoint.span.char_start if endpoint.span.line_start else endpoint.handler_key
    return str(start)


def _maps(segments: list[Segment], file: ParsedFile) -> bool:
    """Whether the text has calls that map routes; read only where the segments leave it open."""
    return bool(segments) and MAP_CALL.search(file.text) is not None


def _of_segment(
    file: ParsedFile, segment: Segment, symbols: LabelDeclarations, *, maps: bool
) -> Iterator[tuple[str, Endpoint]]:
    """(node that exposes it, endpoint) of one type or program."""
    own = declaration_key(LANGUAGE, own_symbol(segment), segment.kind, file.path)
    declared, elsewhere = symbols.declared_types, symbols.endpoints.constants
    try:
        if segment.kind == _PROGRAM:
            text = segment.span.slice(file.text)
            found = mapped_endpoints(segment, text, declared, FileContext(file.text, elsewhere)) if maps else ()
        elif segment.kind.startswith(_CLASSES) and (maps or _may_handle(segment)):
            complete = whole(segment, declared)
            text = segment.span.slice(file.text)
            found = endpoints_of_class(complete, text, file.path, declared, file.text, elsewhere).endpoints
        else:
            return
    except UnparseableError:
        return  # what the parser refuses has no routes that could be trusted
    for endpoint in found:
        if not endpoint.for_derived:
            yield _handler(endpoint, file, segment, symbols) or own, endpoint
    if segment.kind != _PROGRAM and is_controller_like(segment):
        yield from _inherited(whole(segment, declared), symbols)


def _may_handle(segment: Segment) -> bool:
    if is_controller_like(segment) or is_endpoint_base(segment) or is_fast_endpoint(segment):
        return True
    if any(attribute_name(attribute) in ("ApiController", "Controller") for attribute in segment.attributes):
        return True
    return any(attribute_name(text) in _ROUTING for member in segment.members for text in member.attributes)


def _handler(endpoint: Endpoint, file: ParsedFile, segment: Segment, symbols: LabelDeclarations) -> str:
    """The method that answers: known by the facts, or named there and declared in another type."""
    if endpoint.member_start >= 0 or "." not in endpoint.handler:
        return endpoint.handler_key
    owner, _, name = endpoint.handler.rpartition(".")
    found = symbols.csharp.resolve_type(owner, NamePosition(file.path, inside(segment)))
    members = symbols.csharp.find_members(found.id, name) if found is not None else ()
    return members[0].key if len(members) == 1 else endpoint.handler_key


def _inherited(segment: Segment, symbols: LabelDeclarations) -> Iterator[tuple[str, Endpoint]]:
    """The actions that a controller has from its bases, on its own routes (nearest declaration first)."""
    declared = symbols.declared_types
    controller = controller_of(segment, declared, symbols.endpoints.constants)
    if controller.is_abstract or not controller.is_controller:
        return
    known = {method_suffix(member) for member in segment.members}
    for base in base_chain(segment, declared):
        actions = [a for a in symbols.endpoints.actions(base.symbol) if method_suffix(a) not in known]
        known.update(map(method_suffix, actions))
        keys = {method_suffix(action): member_keys(LANGUAGE, base.symbol, action)[0] for action in actions}
        stand_in = replace(segment, members=tuple(actions))
        for endpoint in action_endpoints(stand_in, controller, declared, lambda member: ""):
            key = keys[endpoint.symbol_suffix]
            yield key, replace(endpoint, handler_key=key, member_start=0)


_EFFECTS = frozenset(
    {
        Relation.CALLS,
        Relation.CONSTRUCTS,
        Relation.READS_FROM,
        Relation.WRITES_TO,
        Relation.EXECUTES,
        Relation.REFERENCES,
    }
)
"""What running code does; the types it names are of no use to a chain."""


def effects_of_lambdas(file: ParsedFile, nodes: Sequence[GraphNode], edges: Sequence[GraphEdge]) -> Iterator[GraphEdge]:
    """The edges found in the statements that map lambdas, again as those of their endpoints.

    `nodes` and `edges` are all that was found in the file. An endpoint whose lines are those of a whole member is
    answered by that member, which has edges of its own.
    """
    mapped = [node for node in nodes if node.kind is NodeType.ENDPOINT and node.language == LANGUAGE]
    if not mapped:
        return
    members = [place for place in file.places if place.member is not None]
    spans = {(place.member.span.line_start, place.member.span.line_end) for place in members if place.member}
    code = [
        (place.key, place.member.span.line_start, place.member.span.line_end)
        for place in members
        if place.member is not None
        and place.member.kind in (MemberKind.METHOD, MemberKind.FUNCTION, MemberKind.STATEMENTS)
    ]
    by_source: dict[str, list[GraphEdge]] = {}
    for edge in edges:
        if edge.relation in _EFFECTS:
            by_source.setdefault(edge.source, []).append(edge)
    for node in mapped:
        if (node.line_start, node.line_end) in spans:
            continue
        around = {key for key, start, stop in code if start <= node.line_start and node.line_end <= stop}
        for source in sorted(around):
            for edge in by_source.get(source, ()):
                if node.line_start <= edge.line <= node.line_end:
                    yield structs.replace(edge, source=node.key)


# --- other languages --------------------------------------------------------------------------------------------------


def other_endpoints(file: ParsedFile, symbols: LabelDeclarations) -> Iterable[GraphNode | GraphEdge]:
    """One ENDPOINT per method and route of a file of Go, Java, Kotlin, PHP, Protobuf, Python, Ruby, Rust or TypeScript,
    and `METHOD Exposes ENDPOINT` of the member that declares or registers it, or of the action that it names: what is
    registered is probable, as names tell where it is mounted. The pages of a Blazor application are those that its
    components name."""
    if file.path.endswith(".razor"):
        yield from _blazor_pages(file)
    language = ROUTED_LANGUAGES.get(file.language)
    if language is None:
        return
    from rag_assets.languages.routes import MAY_DECLARE, registered_routes, routes_of_path  # start-up budget: not of C#

    may_declare = MAY_DECLARE.get(language)
    found = list(_of_members(file, language)) if may_declare and may_declare.search(file.text) else []
    if found and language == "typescript" and (prefix := symbols.mounts.global_prefix(file.path)):
        found = [(method, joined(prefix, path), first, last) for method, path, first, last in found]
    declared = len(found)
    unit_of = _units(file, language)
    handlers: dict[int, str] = {}
    if language == "ruby":
        from rag_assets.languages.ruby_routes import ruby_routes  # start-up budget: not of C#

        registered = ruby_routes(file.path, file.text, is_api_only=symbols.mounts.is_api_only(file.path))
    else:
        by_place = routes_of_path(file.path, file.text) if language == "typescript" else ()
        registered = iter((*by_place, *registered_routes(file.text, language)))
    for route in registered:
        line = file.lines.line_of(route.start)
        prefixes = symbols.mounts.prefixes(unit_of(route))
        for method, below, handler in _answers(route, file, symbols):
            handlers |= dict.fromkeys(range(len(found), len(found) + len(prefixes)), handler)
            found += [(method, joined(prefix, route.path, below), line, line) for prefix in prefixes]
    sources = members_with_nodes(file) if found else []
    own = file_key(file.path)
    for at, (method, path, first, last) in enumerate(found):
        members = [
            (span.line_end - span.line_start, source)
            for span, source in sources
            if span.line_start <= first <= span.line_end
        ]
        key = endpoint_key(method, path)
        yield GraphNode(key, NodeType.ENDPOINT, f"{method} {path}", file.path, first, last, file.language)
        source = handlers.get(at) or (min(members)[1] if members else own)
        confidence = Confidence.RESOLVED if at < declared else Confidence.PROBABLE
        yield GraphEdge(source, Relation.EXPOSES, key, confidence, file.path, first)


def _units(file: ParsedFile, language: str) -> Callable[[Route], str]:
    """What tells the unit of a route of a file: what other files mount."""
    if language == "go":
        functions = go_functions(file.text, posixpath.dirname(file.path))

        def of_go(route: Route) -> str:
            around = bisect_right(functions, route.start, key=lambda function: function.start) - 1
            return functions[around].unit_of(route.on) if around >= 0 else file.path

        return of_go
    if language == "rust":
        from rag_assets.languages.rust_mounts import rust_units, unit_at  # start-up budget: not of C#

        units = rust_units(file.path, file.text)
        return lambda route: units[at].name if (at := unit_at(units, route.start)) >= 0 else file.path
    if language == "python":
        return lambda route: router_unit(file.path, route.on) if route.on else file.path
    return lambda route: file.path


def _answers(route: Route, file: ParsedFile, symbols: LabelDeclarations) -> list[tuple[str, str, str]]:
    """(method, path below that of the route, the node that answers it, '' where that is unknown)."""
    if route.handler and file.language == "ruby":
        return [(route.method, "", _action(route.handler, file.path, symbols))]
    if route.handler:
        from rag_assets.graph.extract.viewsets import viewset_routes  # start-up budget: of few files

        if found := viewset_routes(route.handler, file, symbols):
            return found
    return [(route.method, "", "")]


def _action(handler: str, near: str, symbols: LabelDeclarations) -> str:
    """The method of a controller of Rails that `admin/users#show` names, else the controller; '' where it is unknown.
    Of several engines with such a file the nearest."""
    from rag_assets.languages.callables import CallableIndex  # start-up budget: not of C#

    controller, _, action = handler.partition("#")
    name = "".join(word.capitalize() for word in f"{controller.rpartition('/')[2]}_controller".split("_"))
    for one in (action, name):
        declared = (symbols.calls or CallableIndex()).named(one, "ruby")
        keys = {
            key.path: key.key for key in declared if f"/{key.path}".endswith(f"/controllers/{controller}_controller.rb")
        }
        if keys:
            return keys[max(keys, key=lambda path: (len(posixpath.commonprefix((path, near))), path))]
    return ""


_BLAZOR_PAGE = re.compile(r"^@page[ \t]+\"(?P<route>/[^\"\n]*)\"", re.MULTILINE)


def _blazor_pages(file: ParsedFile) -> Iterable[GraphNode | GraphEdge]:
    for page in _BLAZOR_PAGE.finditer(file.text):
        line = file.lines.line_of(page.start())
        key = endpoint_key("GET", page["route"])
        yield GraphNode(key, NodeType.ENDPOINT, f"GET {page['route']}", file.path, line, line, file.language)
        yield GraphEdge(file_key(file.path), Relation.EXPOSES, key, path=file.path, line=line)


def _of_members(file: ParsedFile, language: str) -> Iterator[tuple[str, str, int, int]]:
    """(method, path, the line of its name, the last one) of each member that an annotation makes a handler."""
    from rag_assets.languages.routes import routes_of_member

    for segment in file.segments:
        around = {"": segment.attributes}
        for leaf in leaves_of(segment.members):
            member, span = leaf.member, leaf.member.span
            if member.kind is MemberKind.TYPE:
                around[leaf.path] = member.attributes
            for method, path in routes_of_member(member.attributes, around.get(leaf.owner, ()), language):
                at = file.text.find(f"{member.name}(", span.char_start, span.char_end)
                yield method, path, file.lines.line_of(max(at, span.char_start)), span.line_end


def members_with_nodes(file: ParsedFile) -> list[tuple[Span, str]]:
    """The members of a file with a node of their own: where they stand, and the node."""
    return [
        (leaf.member.span, key)
        for segment in file.segments
        for leaf in leaves_of(segment.members)
        for key in member_keys(file.language, leaf.owner_in(segment.symbol), leaf.member)
    ]


def source_of(file: ParsedFile) -> Callable[[int], str]:
    """The innermost declaration with a node around an offset, else the file."""
    known = sorted((span.char_start, -span.char_end, key) for span, key in members_with_nodes(file))
    around: list[tuple[int, str]] = []
    """Where what began before the last offset ends, the innermost last."""
    following = iter([*known, (len(file.text) + 1, 0, "")])
    ahead = next(following)

    def source_at(offset: int) -> str:
        """Of offsets that grow."""
        nonlocal ahead
        while ahead[0] <= offset:
            around.append((-ahead[1], ahead[2]))
            ahead = next(following)
        while around and around[-1][0] <= offset:
            around.pop()
        return around[-1][1] if around else file_key(file.path)

    return source_at
