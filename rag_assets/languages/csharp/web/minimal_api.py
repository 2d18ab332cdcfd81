"""Minimal APIs: the endpoints that `MapGet`, `MapPost` … of a program or class map, below their groups.

Groups are followed through variables, chains and calls; chained calls add names, tags, responses, authorization.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tree_sitter import Node

from rag_assets.contracts.graph import ANY_METHOD, member_keys, method_suffix
from rag_assets.contracts.segment import Member, Parameter, Segment, Span, leaves_of, moved
from rag_assets.languages.csharp.facts.expressions import literal
from rag_assets.languages.csharp.facts.method_verbs import METHODS
from rag_assets.languages.csharp.facts.type_index import TypeIndex
from rag_assets.languages.csharp.syntax.declaration_heads import collapsed, read_attributes, read_parameters
from rag_assets.languages.csharp.syntax.lexer import scan
from rag_assets.languages.csharp.syntax.xmldoc import ActionDoc, action_doc
from rag_assets.languages.csharp.web.call_syntax import OUTERMOST, Call, CodeTree, read_calls
from rag_assets.languages.csharp.web.controllers import authorization_of, combined, required_by_call
from rag_assets.languages.csharp.web.endpoint_model import (
    Authorization,
    Endpoint,
    EndpointResponse,
    EndpointRoute,
    RouteOrigin,
    with_unique_symbols,
)
from rag_assets.languages.csharp.web.file_context import FileContext
from rag_assets.languages.csharp.web.parameter_binding import Binding, Framework, bound_parameters, route_parameters
from rag_assets.languages.csharp.web.responses import (
    by_return_type,
    by_statements,
    content_types,
    declared_by_attributes,
    merged,
    status_of,
    success_status,
)
from rag_assets.languages.csharp.web.route_templates import Constants, constants_of, nested, parameters_of, string_of

_METADATA_CALL_NAMES = (
    "WithName WithTags WithSummary WithDescription WithOpenApi WithMetadata WithDisplayName WithGroupName "
    "Produces ProducesProblem ProducesValidationProblem Accepts RequireAuthorization AllowAnonymous RequireCors "
    "RequireHost AddEndpointFilter AddEndpointFilterFactory RequireRateLimiting DisableAntiforgery CacheOutput "
    "HasApiVersion ExcludeFromDescription MapToApiVersion WithApiVersionSet"
)
METADATA_CALLS = frozenset(_METADATA_CALL_NAMES.split())
"""Calls that say something of endpoints and return what they are called on."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """What is known so far; a group hands it on to its endpoints."""

    name: str = ""
    summary: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    consumes: tuple[str, ...] = ()
    produces: tuple[str, ...] = ()
    responses: tuple[EndpointResponse, ...] = ()
    authorizations: tuple[Authorization, ...] = ()


def with_call(known: Metadata, tree: CodeTree, call: Call) -> Metadata:
    """`known` and what `call` adds to it; calls that say nothing leave it as it is."""
    if call.name not in METADATA_CALLS:
        return known
    texts = tuple(tree.text(argument) for argument in (*call.arguments, *call.named.values()))
    strings = tuple(value for text in texts if (value := literal(text)) is not None)
    first = strings[0] if strings else ""
    statuses = [status for text in texts if (status := status_of(text))]
    match call.name:
        case "WithName":
            return replace(known, name=first)
        case "WithSummary":
            return replace(known, summary=" ".join(first.split()))
        case "WithDescription":
            return replace(known, description=first)
        case "WithTags":
            return replace(known, tags=tuple(dict.fromkeys((*known.tags, *strings))))
        case "Accepts":
            return replace(known, consumes=(*known.consumes, *strings))
        case "Produces" | "ProducesProblem" | "ProducesValidationProblem":
            default = 400 if call.name == "ProducesValidationProblem" else 200
            type_name = call.type_argument or ("ProblemDetails" if call.name != "Produces" else "")
            response = EndpointResponse(statuses[0] if statuses else default, type_name)
            return replace(known, responses=(*known.responses, response), produces=(*known.produces, *strings))
        case "AllowAnonymous":
            return replace(known, authorizations=(*known.authorizations, authorization_of(["AllowAnonymous"])))
        case "RequireAuthorization":
            return replace(known, authorizations=(*known.authorizations, required_by_call(texts)))
        case _:
            return known


VERBS = {f"Map{verb.title()}": verb for verb in ("GET", "POST", "PUT", "DELETE", "PATCH")}
MAP_METHODS = "MapMethods"
MAP_ANY = "Map"
ROUTING_CALLS = frozenset({*VERBS, MAP_METHODS, MAP_ANY})
MAP_GROUP = "MapGroup"
_GROUP_TYPE = "RouteGroupBuilder"
STRINGS = ("string_literal", "verbatim_string_literal", "raw_string_literal", "interpolated_string_expression")
_WRAPPING = ("parenthesized_expression", "cast_expression", "await_expression", "postfix_unary_expression", "argument")
"""Expressions around the one that counts, which is their last part."""

MAX_DEPTH = 32
"""Longest chain of groups and variables that is followed: more is a cycle."""


@dataclass(frozen=True, slots=True)
class RouteGroup:
    """What a receiver adds to the endpoints mapped on it. `known`: nothing of its prefix comes from elsewhere;
    `given_to` is the method whose callers give it."""

    prefix: str = ""
    known: bool = True
    given_to: str = ""
    metadata: Metadata = field(default_factory=Metadata)


@dataclass(slots=True)
class Mapper:
    """The reading of one segment. `later` are metadata calls on a variable in statements of their own."""

    segment: Segment
    tree: CodeTree
    declared: TypeIndex
    constants: Mapping[str, str]
    methods: dict[str, Member]
    neighbours: FileContext
    later: dict[tuple[int, str], list[Call]] = field(default_factory=dict)
    passed: dict[tuple[int, str], Node] = field(default_factory=dict)
    passed_scope: dict[tuple[int, str], int] = field(default_factory=dict)


def read_groups(mapper: Mapper) -> None:
    """Metadata that variables get in later statements, and groups that are passed to functions of the same text."""
    tree = mapper.tree
    for call in tree.calls:
        function = tree.functions.get(call.name)
        if function is not None and function.parameters:
            argument = next(iter(call.arguments), call.receiver)
            is_extension = call.receiver is not None and len(call.arguments) < len(function.parameters)
            key = (function.scope, function.parameters[0][0])
            passed = call.receiver if is_extension else argument
            if passed is not None and key not in mapper.passed:
                mapper.passed[key] = passed
                mapper.passed_scope[key] = call.scope
        if call.name in METADATA_CALLS and call.receiver is not None:
            root = _root_of_metadata(tree, call.receiver)
            if root is not None and _is_statement(tree, call):
                name = tree.text(root)
                scope = tree.declaring_scope(call.scope, name)
                if scope is not None:
                    mapper.later.setdefault((scope, name), []).append(call)


def _root_of_metadata(tree: CodeTree, node: Node) -> Node | None:
    """`group` of `group.WithTags("x").RequireAuthorization()`: the variable below metadata calls only."""
    while node.type != "identifier":
        call = tree.call(node)
        if call is None or call.name not in METADATA_CALLS or call.receiver is None:
            return None
        node = call.receiver
    return node


def _is_statement(tree: CodeTree, call: Call) -> bool:
    last = call
    for last in tree.chained_onto(call):  # noqa: B007 - the outermost is wanted
        pass
    parent = last.node.parent
    return parent is not None and parent.type == "expression_statement"


def _unwrapped(node: Node) -> Node:
    while node.type in _WRAPPING and node.named_children:
        node = node.named_children[-1]
    return node


def group_of(mapper: Mapper, node: Node, scope: int, depth: int = 0) -> RouteGroup:
    """What the receiver `node` stands for: the application, a group, a variable of either."""
    tree = mapper.tree
    node = _unwrapped(node)
    if depth > MAX_DEPTH:
        return RouteGroup(known=False)
    if node.type == "identifier":
        return _group_named(mapper, tree.text(node), scope, depth)
    call = tree.call(node)
    if call is None or call.receiver is None:
        return RouteGroup()
    group = group_of(mapper, call.receiver, scope, depth + 1)
    if call.name in ROUTING_CALLS:  # a library whose Map calls return the group
        return group
    if call.name != MAP_GROUP:
        return replace(group, metadata=with_call(group.metadata, tree, call))
    if not call.arguments:
        return group
    prefix, known = string_in(mapper, call.arguments[0])
    return replace(group, prefix=nested(group.prefix, prefix), known=group.known and known)


def _group_named(mapper: Mapper, name: str, scope: int, depth: int) -> RouteGroup:
    declaring = mapper.tree.declaring_scope(scope, name)
    if declaring is None:
        return RouteGroup()
    key = (declaring, name)
    if key in mapper.tree.variables:
        group = group_of(mapper, mapper.tree.variables[key], declaring, depth + 1)
    elif key in mapper.passed:
        group = group_of(mapper, mapper.passed[key], mapper.passed_scope[key], depth + 1)
    else:
        given_to = next((name for name, one in mapper.tree.functions.items() if one.scope == declaring), "")
        group = RouteGroup(known=_GROUP_TYPE not in mapper.tree.parameters[key], given_to=given_to)
    metadata = group.metadata
    for call in mapper.later.get(key, ()):
        metadata = with_call(metadata, mapper.tree, call)
    return replace(group, metadata=metadata)


def string_in(mapper: Mapper, node: Node) -> tuple[str, bool]:
    """(text, known) of a string expression, local constants and those of the type resolved."""
    text = mapper.tree.text(node)
    if text == "this":
        return f"<{mapper.segment.name}>", False
    if node.type == "identifier":
        key = (OUTERMOST, text)
        value = mapper.tree.variables.get(key)
        if value is not None and value.type in STRINGS:
            text = mapper.tree.text(value)
    return string_of(text, mapper.constants)


MAP_CALL = re.compile(rf"\.\s*+(?:{'|'.join(sorted(ROUTING_CALLS))})\s*+(?:<[\w.,\s<>?]*+>\s*+)?\(")
"""A cheap test that rules most texts out before anything is parsed."""

_LAMBDAS = ("lambda_expression", "anonymous_method_expression")
_BRANCH_TYPE = "IApplicationBuilder"
_VERB_WORD = re.compile(r"\b(GET|POST|PUT|DELETE|PATCH|HEAD|OPTIONS|TRACE)\b", re.IGNORECASE)
_SUFFIX_UNSAFE = re.compile(r"\s+|(?<=:):+")


def mapped_endpoints(
    segment: Segment, text: str, declared: TypeIndex, neighbours: FileContext | None = None
) -> tuple[Endpoint, ...]:
    """The endpoints that `text` of `segment` maps, in text order; () where it maps none.

    Routes of one handler are one endpoint. `neighbours` are the types of the whole file.
    Raises UnparseableError for a text beyond the bounds of the parser.
    """
    if not MAP_CALL.search(text):
        return ()
    tree = read_calls(text)
    methods: dict[str, Member] = {}
    for leaf in leaves_of(segment.members):
        if leaf.member.kind in METHODS and not leaf.owner:
            methods.setdefault(leaf.member.name, leaf.member)
    around = neighbours or FileContext()
    constants = Constants(constants_of(segment.members), around.constants)
    mapper = Mapper(segment, tree, declared, constants, methods, around)
    read_groups(mapper)
    found: list[Endpoint] = []
    places: dict[int, int] = {}  # of the methods that answer
    for call in tree.calls:
        endpoint = _endpoint(mapper, call) if call.name in ROUTING_CALLS and call.receiver is not None else None
        if endpoint is None:
            continue
        place = places.setdefault(endpoint.member_start, len(found)) if endpoint.member_start >= 0 else len(found)
        if place == len(found):
            found.append(endpoint)
        else:
            routes = dict.fromkeys((*found[place].routes, *endpoint.routes))
            found[place] = replace(found[place], routes=tuple(routes))
    return with_unique_symbols(found)


@dataclass(frozen=True, slots=True)
class _Handler:
    """The code that answers: a method of the segment, a lambda, a local function, or a name from elsewhere."""

    parameters: tuple[Parameter, ...] = ()
    return_type: str = ""
    attributes: tuple[str, ...] = ()
    code: str = ""
    doc: ActionDoc = field(default_factory=ActionDoc)
    signature: str = ""
    member: Member | None = None
    elsewhere: str = ""
    local: str = ""


def _endpoint(mapper: Mapper, call: Call) -> Endpoint | None:
    tree = mapper.tree
    arguments = list(call.arguments)
    methods: tuple[str, ...] = (VERBS[call.name],) if call.name in VERBS else ()
    if call.name == MAP_METHODS:
        listed = call.named.get("httpMethods") or (arguments.pop(1) if len(arguments) > 1 else None)
        found = _VERB_WORD.findall(tree.text(listed)) if listed is not None else []
        methods = tuple(dict.fromkeys(verb.upper() for verb in found)) or (ANY_METHOD,)
    pattern, handler_node, certain = _pattern_and_handler(call, arguments)
    if handler_node is None:
        return None
    if call.name == MAP_ANY:
        if call.type_argument or pattern is None or not _answers(mapper, handler_node):
            return None
        methods = (ANY_METHOD,)
    group = group_of(mapper, call.receiver, call.scope) if call.receiver is not None else RouteGroup()
    template, known = string_in(mapper, pattern) if pattern is not None else ("", True)
    if not known and (call.name == MAP_ANY or _is_given(tree, handler_node, call.scope)):
        return None  # a mapper of another kind, or a method that maps what its callers give it
    full = nested(group.prefix, template)
    handler = _handler(mapper, handler_node)
    metadata = with_call(group.metadata, tree, call)
    last = call
    for chained in tree.chained_onto(call):
        if chained.name in ROUTING_CALLS:
            break
        last = chained
        metadata = with_call(metadata, tree, chained)
    routes = tuple(
        EndpointRoute(method, full, RouteOrigin.MAPPED, known and group.known and certain, group.given_to)
        for method in methods
    )
    in_route = route_parameters(parameters_of(full))
    binding = Binding(Framework.MINIMAL_API, methods, in_route, mapper.declared, mapper.neighbours)
    declared = (*metadata.responses, *declared_by_attributes(handler.attributes))
    member = handler.member
    enclosing = member or _enclosing(mapper, call)
    return Endpoint(
        action=(member.name if member else handler.local).removesuffix("Async") or metadata.name,
        symbol_suffix=_suffix(call, full, member),
        routes=routes,
        span=member.span if member else _span(mapper, call, last),
        member_start=member.span.char_start if member else -1,
        handler=f"{mapper.segment.symbol}.{member.name}" if member else handler.elsewhere,
        handler_key=next(iter(member_keys("csharp", mapper.segment.symbol, enclosing)), "") if enclosing else "",
        signature=handler.signature,
        summary=metadata.summary or handler.doc.summary,
        doc=handler.doc.text or metadata.description,
        parameters=bound_parameters(handler.parameters, binding, handler.doc.parameters),
        responses=merged(
            (declared, by_return_type(handler.return_type, success_status(declared)), by_statements(handler.code)),
            handler.doc.responses,
        ),
        authorization=combined((*metadata.authorizations, authorization_of(handler.attributes))),
        name=metadata.name,
        tags=metadata.tags,
        consumes=(*metadata.consumes, *content_types(handler.attributes, "Consumes")),
        produces=(*metadata.produces, *content_types(handler.attributes, "Produces")),
    )


def _pattern_and_handler(call: Call, arguments: list[Node]) -> tuple[Node | None, Node | None, bool]:
    """(pattern, handler, whether the call is the framework's own: libraries have overloads that begin with the
    handler)."""
    pattern = call.named.get("pattern")
    handler = call.named.get("handler") or call.named.get("requestDelegate")
    rest = list(arguments)
    if pattern is None and rest and not (rest[0].type in _LAMBDAS or (handler is None and len(rest) == 1)):
        pattern = rest.pop(0)
    certain = True
    if pattern is not None and rest and pattern.type == "identifier" and rest[0].type in STRINGS:
        pattern, rest[0] = rest[0], pattern  # MapPut(Update, "{id}")
        certain = False
    if handler is None and rest:
        handler = rest[0]
        certain = certain and pattern is not None
    if handler is not None and handler.type in STRINGS:
        return pattern, None, False
    return pattern, handler, certain


def _is_given(tree: CodeTree, node: Node, scope: int) -> bool:
    """Whether an expression is a parameter of the method around it."""
    declaring = tree.declaring_scope(scope, tree.text(node)) if node.type == "identifier" else None
    return declaring is not None and (declaring, tree.text(node)) in tree.parameters


def _answers(mapper: Mapper, node: Node) -> bool:
    """Whether the second argument of `Map("/x", …)` is a handler: not the builder of a branch of the pipeline, nor a
    value that any other `Map` takes."""
    tree = mapper.tree
    node = _unwrapped(node)
    if node.type in _LAMBDAS:
        parameters, body = node.child_by_field_name("parameters"), node.child_by_field_name("body")
        name = "" if parameters is None else tree.text(parameters).strip("() \t\r\n")
        if _BRANCH_TYPE in name:
            return False
        builds = rf"\b{re.escape(name)}\s*\.\s*(?:Use|Run|Map)\w*\s*[(<]"
        return not (name.isidentifier() and body is not None and re.search(builds, tree.text(body)))
    name = "".join(tree.text(node).split()).removeprefix("this.")
    member, local = mapper.methods.get(name), tree.functions.get(name)
    if member is not None:
        return not any(_BRANCH_TYPE in parameter.type for parameter in member.parameters)
    return local is not None and local.is_local and not any(_BRANCH_TYPE in written for _, written in local.parameters)


def _handler(mapper: Mapper, node: Node) -> _Handler:
    tree = mapper.tree
    node = _unwrapped(node)
    if node.type in _LAMBDAS:
        return _lambda(mapper, node)
    text = "".join(tree.text(node).split())
    owner, _, name = text.rpartition(".")
    member = mapper.methods.get(name) if owner in ("", "this", mapper.segment.name) else None
    if member is not None:
        return _of_member(mapper, member)
    local = mapper.tree.functions.get(name) if not owner else None
    if local is not None and local.is_local:
        return replace(_lambda(mapper, local.node), elsewhere=name, local=name)
    if not owner and not name.isidentifier():
        return _Handler()
    found = mapper.declared.resolve(owner, mapper.segment.namespace, mapper.segment.usings) if owner else None
    return _Handler(elsewhere=f"{found.symbol}.{name}" if found else text)


def _of_member(mapper: Mapper, member: Member) -> _Handler:
    return _Handler(
        parameters=member.parameters,
        return_type=member.type,
        attributes=member.attributes,
        code=_code_of(mapper, member),
        doc=action_doc(member.doc),
        signature=member.signature,
        member=member,
    )


def _lambda(mapper: Mapper, node: Node) -> _Handler:
    """A lambda; where it only hands on to one method of the segment, that one's documentation and results count."""
    tree = mapper.tree
    attributes = [text for child in node.children if child.type == "attribute_list"
                  for text in read_attributes(tree.reader, child)]  # fmt: skip
    parameters = node.child_by_field_name("parameters")
    typed = read_parameters(tree.reader, parameters) if parameters is not None and parameters.child_count > 2 else ()
    written = node.child_by_field_name("type") or node.child_by_field_name("returns")
    body = node.child_by_field_name("body")
    code = scan(tree.text(body)).code if body is not None else ""
    header_end = body.start_byte if body is not None else node.end_byte
    start = next((child.start_byte for child in node.children if child.type != "attribute_list"), node.start_byte)
    handler = _Handler(
        parameters=typed,
        return_type=tree.text(written) if written is not None else "",
        attributes=tuple(attributes),
        code=code,
        signature=collapsed(tree.reader.text[tree.reader.char(start) : tree.reader.char(header_end)]),
    )
    target = _handed_to(mapper, node)
    if target is None:
        return handler
    return replace(
        handler,
        doc=action_doc(target.doc),
        return_type=handler.return_type or target.type,
        code=code + "\n" + _code_of(mapper, target),
    )


def _handed_to(mapper: Mapper, node: Node) -> Member | None:
    start, end = node.start_byte, node.end_byte
    names = {
        call.name
        for call in mapper.tree.calls
        if start <= call.name_start < end
        and call.name in mapper.methods
        and (call.receiver is None or call.receiver.type in ("this_expression", "this"))
    }
    return mapper.methods[names.pop()] if len(names) == 1 else None


def _code_of(mapper: Mapper, member: Member) -> str:
    start = member.span.char_start - mapper.segment.span.char_start
    return scan(mapper.tree.reader.text[max(start, 0) : start + member.span.char_end - member.span.char_start]).code


def _enclosing(mapper: Mapper, call: Call) -> Member | None:
    """The method of the segment that maps the endpoint."""
    if call.scope == OUTERMOST:
        return None
    offset = mapper.tree.reader.char(call.name_start) + mapper.segment.span.char_start
    return next((m for m in mapper.methods.values() if m.span.char_start <= offset < m.span.char_end), None)


def _span(mapper: Mapper, call: Call, last: Call) -> Span:
    """The statement that maps one endpoint; of a chain of several the call itself."""
    statement = last.node.parent
    alone = call.receiver is None or not _maps(mapper.tree, call.receiver)
    if statement is not None and statement.type == "expression_statement" and alone:
        inner = mapper.tree.span(statement.start_byte, statement.end_byte)
    else:
        inner = mapper.tree.span(call.name_start, last.node.end_byte)
    return moved(inner, mapper.segment.span)


def _maps(tree: CodeTree, node: Node) -> bool:
    while (call := tree.call(node)) is not None and call.receiver is not None:
        if call.name in ROUTING_CALLS:
            return True
        node = call.receiver
    return False


def _suffix(call: Call, template: str, member: Member | None) -> str:
    if member is not None:
        return method_suffix(member)
    return f"{call.name}({_SUFFIX_UNSAFE.sub('', template)})"
