"""The groups of minimal APIs: what a receiver of `MapGet` adds to a route, through variables, chains and calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rag_assets.contracts.segment import Member, Segment
from rag_assets.languages.csharp.facts.type_index import TypeIndex
from rag_assets.languages.csharp.web.call_syntax import OUTERMOST, Call, CodeTree
from rag_assets.languages.csharp.web.endpoint_metadata import METADATA_CALLS, Metadata, with_call
from rag_assets.languages.csharp.web.file_context import FileContext
from rag_assets.languages.csharp.web.route_constants import string_of
from rag_assets.languages.csharp.web.route_templates import nested

if TYPE_CHECKING:
    from tree_sitter import Node

VERBS = {f"Map{verb.title()}": verb for verb in ("GET", "POST", "PUT", "DELETE", "PATCH")}
MAP_METHODS = "MapMethods"
MAP_ANY = "Map"
ROUTING_CALLS = frozenset({*VERBS, MAP_METHODS, MAP_ANY})
_MAP_GROUP = "MapGroup"
_GROUP_TYPE = "RouteGroupBuilder"
STRINGS = ("string_literal", "verbatim_string_literal", "raw_string_literal", "interpolated_string_expression")
WRAPPING = ("parenthesized_expression", "cast_expression", "await_expression", "postfix_unary_expression", "argument")
"""Expressions around the one that counts, which is their last part."""

MAX_DEPTH = 32
"""Longest chain of groups and variables that is followed: more is a cycle."""


@dataclass(frozen=True, slots=True)
class RouteGroup:
    """What a receiver adds to the endpoints mapped on it. `known`: nothing of its prefix comes from elsewhere."""

    prefix: str = ""
    known: bool = True
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


def group_of(mapper: Mapper, node: Node, scope: int, depth: int = 0) -> RouteGroup:
    """What the receiver `node` stands for: the application, a group, a variable of either."""
    tree = mapper.tree
    while node.type in WRAPPING and node.named_children:
        node = node.named_children[-1]
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
    if call.name != _MAP_GROUP:
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
        group = RouteGroup(known=_GROUP_TYPE not in mapper.tree.parameters[key])
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
