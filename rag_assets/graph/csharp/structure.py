"""What the declarations of a file are and hold: nodes, Contains, and which members implement or override others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from rag_assets.contracts.graph import GraphEdge, GraphNode, NodeType, Relation, file_key, key_kind
from rag_assets.graph.csharp.declarations import LANGUAGE, PlacedType, record_properties
from rag_assets.graph.csharp.references import TypeRef, substituted

if TYPE_CHECKING:
    from rag_assets.graph.csharp.model import MemberSymbol, TypeSymbol
    from rag_assets.graph.csharp.names import Names
    from rag_assets.graph.extraction import GraphFile

_PARAMETERS = re.compile(r"\brecord\b[^(;{/]*\(")
"""How the parameter list of a record begins."""


def nodes_of(file: GraphFile, placed: Iterable[PlacedType]) -> Iterator[GraphNode | GraphEdge]:
    """The file, its types and their members, each contained in the one around it."""
    path = file.path
    own = file_key(path)
    yield GraphNode(own, NodeType.FILE, path.rpartition("/")[2], path, 1, _last_line(file), LANGUAGE)
    keys: dict[str, str] = {}
    for entry in placed:
        declared, source = entry.declared, entry.source
        if declared.key:
            keys[declared.symbol] = declared.key
            yield GraphNode(
                declared.key, NodeType.TYPE, declared.name, path, declared.line_start, declared.line_end, LANGUAGE,
                source.signature,
            )  # fmt: skip
            outer = keys.get(declared.outer, own)
            yield GraphEdge(outer, Relation.CONTAINS, declared.key, path=path, line=declared.line_start)
            yield from _positional(file, entry)
        holder = declared.key or own
        for member, read_from in zip(declared.members, entry.members, strict=True):
            if member.key:
                span = read_from.span
                yield GraphNode(
                    member.key, key_kind(member.key), member.name, path, span.line_start, span.line_end, LANGUAGE,
                    read_from.signature,
                )  # fmt: skip
                yield GraphEdge(holder, Relation.CONTAINS, member.key, path=path, line=span.line_start)


def _positional(file: GraphFile, entry: PlacedType) -> Iterator[GraphNode | GraphEdge]:
    """The properties that a record makes of its parameters, each at the line of its parameter."""
    properties = list(record_properties(entry.declared))
    if not properties:
        return
    span = entry.source.span
    text = span.slice(file.text)
    opening = _PARAMETERS.search(text)
    at = opening.end() if opening is not None else 0
    for property_ in properties:
        found = re.compile(rf"\b{re.escape(property_.name)}\b(?=\s*(?:[,=)]|//|/\*))").search(text, at)
        at = found.end() if found is not None else at
        line = span.line_start + text.count("\n", 0, at)
        yield GraphNode(
            property_.key, NodeType.PROPERTY, property_.name, file.path, line, line, LANGUAGE,
            f"{property_.type} {property_.name}",
        )  # fmt: skip
        yield GraphEdge(entry.declared.key, Relation.CONTAINS, property_.key, path=file.path, line=line)


def _last_line(file: GraphFile) -> int:
    return max((segment.span.line_end for segment in file.segments), default=1)


def dispatch_of(names: Names, placed: Iterable[PlacedType]) -> Iterator[GraphEdge]:
    """METHOD Implements METHOD of an interface, METHOD Overrides METHOD of a base; properties and events alike."""
    for entry in placed:
        declared = entry.declared
        symbol = names.symbols.declared_at(declared.symbol, names.path) if declared.key else None
        if symbol is None:
            continue
        if declared.base_list and declared.kind in ("class", "struct", "record"):
            yield from _implementations(names, symbol, declared.line_start)
        for member in declared.members:
            if "override" in member.modifiers and member.key:
                yield from _overridden(names, symbol, member.name, member.key, member.line)


def _implementations(names: Names, symbol: TypeSymbol, line: int) -> Iterator[GraphEdge]:
    """The edges of all members that a type has for its interfaces, inherited ones as well."""
    for interface in names.symbols.interfaces(symbol.id):
        arguments = names.arguments_of(interface)
        for name in names.symbols.member_names(interface.name):
            for wanted in names.symbols.members(interface.name, name):
                if not wanted.key or wanted.is_static:
                    continue
                explicit = [found for found in names.symbols.members(symbol.id, name) if found.explicit_interface]
                candidates = [
                    found
                    for found in (*explicit, *names.find(symbol.id, name))
                    if found.kind is wanted.kind and found.key and _names(found, interface.name)
                ]
                found = _same(candidates, wanted, arguments)
                if found is None or (found.owner != symbol.id and _declares(names, found.owner, interface.name)):
                    continue
                yield GraphEdge(found.key, Relation.IMPLEMENTS, wanted.key, path=names.path, line=line)


def _names(found: MemberSymbol, interface: str) -> bool:
    """Whether an explicit implementation is one of this interface."""
    written = found.explicit_interface
    if not written:
        return True
    simple = written.partition("<")[0].rpartition(".")[2].strip()
    return interface.partition("@")[0].rpartition(".")[2].partition("`")[0] == simple


def _declares(names: Names, owner: str, interface: str) -> bool:
    """Whether a base already implements the interface: then the edge is the base's."""
    return interface in names.above(owner)


def _same(
    candidates: list[MemberSymbol], wanted: MemberSymbol, arguments: Mapping[str, TypeRef]
) -> MemberSymbol | None:
    """The one of some members with the parameters of another, seen through type arguments."""
    types = tuple(substituted(parameter.type, arguments) for parameter in wanted.parameters)
    fitting = [found for found in candidates if len(found.parameters) == len(types)]
    exact = [found for found in fitting if _types(found) == types]
    if exact:
        return exact[0]
    return fitting[0] if len(fitting) == 1 else None


def _types(found: MemberSymbol) -> tuple[TypeRef, ...]:
    return tuple(parameter.type for parameter in found.parameters)


def _overridden(names: Names, symbol: TypeSymbol, name: str, key: str, line: int) -> Iterator[GraphEdge]:
    own = next((found for found in names.symbols.members(symbol.id, name) if found.key == key), None)
    if own is None:
        return
    for base in names.symbols.base_classes(symbol.id):
        candidates = [found for found in names.symbols.members(base.name, name) if found.kind is own.kind and found.key]
        above = next(
            (found for found in candidates if _same([own], found, names.arguments_of(base)) is not None),
            None,
        )
        if above is not None:
            yield GraphEdge(key, Relation.OVERRIDES, above.key, path=names.path, line=line)
            return
