"""Groups of minimal APIs that one file gives to the methods of others: `app.MapGroup("/orders").MapOrders()`,
`Orders.Map(app.MapGroup("/orders"))`."""

from __future__ import annotations

from collections.abc import Iterator

from rag_assets.languages.csharp.declaration_ranges import types_of
from rag_assets.languages.csharp.facts.type_index import TypeIndex
from rag_assets.languages.csharp.web.call_syntax import read_calls
from rag_assets.languages.csharp.web.file_context import FileContext
from rag_assets.languages.csharp.web.minimal_api import (
    MAP_CALL,
    MAP_GROUP,
    METADATA_CALLS,
    ROUTING_CALLS,
    Mapper,
    group_of,
    read_groups,
)
from rag_assets.languages.csharp.web.route_templates import Constants, constants_of
from rag_assets.languages.parsed_file import ParsedFile
from rag_assets.languages.route_mounts import NO_MOUNTS, OF_A_TEST, MountDeclarations, RouteMount
from rag_assets.languages.treesitter.parsing import UnparseableError

_OF_FRAMEWORK = ROUTING_CALLS | {MAP_GROUP}


def unit_of_method(path: str, owner: str, method: str) -> str:
    """The unit of the routes that a method maps on what it is given."""
    return f"{path}#{owner}:{method}"


def group_mounts(file: ParsedFile) -> MountDeclarations:
    """The methods of a file that map routes, and those that are given a group here, with its prefix. Never raises."""
    if OF_A_TEST.search(file.path):
        return NO_MOUNTS
    units, mounts = {file.path}, set[RouteMount]()
    for segment in types_of(file.segments):
        text = segment.span.slice(file.text)
        try:
            tree = read_calls(text)
        except UnparseableError:
            continue
        if MAP_CALL.search(text):
            units |= {unit_of_method(file.path, segment.name, name) for name in tree.functions}
        constants = Constants(constants_of(segment.members), FileContext(file.text).constants)
        mapper = Mapper(segment, tree, TypeIndex(), constants, {}, FileContext())
        read_groups(mapper)
        mounts |= set(_given(file.path, mapper))
    return MountDeclarations(tuple(sorted(units)), tuple(sorted(mounts, key=repr)))


def _given(path: str, mapper: Mapper) -> Iterator[RouteMount]:
    """The methods of other texts that are given a group."""
    tree = mapper.tree
    for call in tree.calls:
        if call.receiver is None or call.name in METADATA_CALLS or call.name in tree.functions:
            continue
        owner = tree.text(call.receiver) if call.receiver.type == "identifier" else ""
        is_static = owner[:1].isupper() and len(call.arguments) > 0
        if not is_static and call.name in _OF_FRAMEWORK:
            continue
        group = group_of(mapper, call.arguments[0] if is_static else call.receiver, call.scope)
        if group.prefix and "<" not in group.prefix:
            by = unit_of_method(path, mapper.segment.name, group.given_to) if group.given_to else path
            target = f"#{owner}:{call.name}" if is_static else f"#{call.name}"
            yield RouteMount((by, path), (target,), group.prefix)
