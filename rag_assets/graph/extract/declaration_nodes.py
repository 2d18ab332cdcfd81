"""What the declarations of a file are and hold: nodes, Contains, and which members implement or override others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from rag_assets.contracts.graph import GraphEdge, GraphNode, NodeType, Relation, file_key, key_kind
from rag_assets.graph.key_names import split_parameters
from rag_assets.languages.csharp.binder.bcl_types import plain_name
from rag_assets.languages.csharp.binder.bound_types import TypeRef, substituted
from rag_assets.languages.csharp.binder.declarations import LANGUAGE, DeclaredMember, PlacedType, record_properties

if TYPE_CHECKING:
    from rag_assets.languages.csharp.binder.name_lookup import Names
    from rag_assets.languages.csharp.binder.symbols import MemberSymbol, TypeSymbol
    from rag_assets.languages.parsed_file import ParsedFile

_PARAMETERS = re.compile(r"\brecord\b[^(;{/]*\(")
"""How the parameter list of a record begins."""


def nodes_of(file: ParsedFile, placed: Iterable[PlacedType]) -> Iterator[GraphNode | GraphEdge]:
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


def _positional(file: ParsedFile, entry: PlacedType) -> Iterator[GraphNode | GraphEdge]:
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


def _last_line(file: ParsedFile) -> int:
    return max((segment.span.line_end for segment in file.segments), default=1)


def dispatch_of(names: Names, placed: Iterable[PlacedType]) -> Iterator[GraphEdge]:
    """METHOD Implements METHOD of an interface, METHOD Overrides METHOD of a base; properties and events alike."""
    for entry in placed:
        declared = entry.declared
        symbol = names.symbols.declared_at(declared.symbol, names.path) if declared.key else None
        if symbol is None:
            continue
        if declared.base_list and declared.kind in ("class", "struct", "record", "interface"):
            lines = {(member.key, member.explicit_interface): member.line for member in declared.members}
            yield from _implementations(names, symbol, declared.line_start, lines)
        for member in declared.members:
            if "override" in member.modifiers and member.key:
                yield from _overridden(names, symbol, member)


def _implementations(
    names: Names, symbol: TypeSymbol, line: int, lines: Mapping[tuple[str, str], int]
) -> Iterator[GraphEdge]:
    """The edges of all members that a type has for its interfaces, inherited ones as well, at the `lines` of the
    members (by key and written interface), at `line` where they stand elsewhere. An interface has only what it
    implements explicitly: what it declares beside that is new."""
    is_interface = symbol.kind == "interface"
    for interface in names.symbols.interfaces(symbol.id):
        arguments = names.arguments_of(interface)
        for name in names.symbols.member_names(interface.name):
            for wanted in names.symbols.members(interface.name, name):
                if not wanted.key or wanted.is_static or wanted.explicit_interface:
                    continue
                explicit = [found for found in names.symbols.members(symbol.id, name) if found.explicit_interface]
                candidates = [
                    found
                    for found in (*explicit, *(() if is_interface else names.find(symbol.id, name)))
                    if found.kind is wanted.kind and found.key and _names(found, interface.name)
                ]
                found = _best(wanted, ((_likeness(found, wanted, arguments), found) for found in candidates))
                if found is None or (found.owner != symbol.id and _declares(names, found.owner, interface.name)):
                    continue
                at = lines.get((found.key, found.explicit_interface), line)
                yield GraphEdge(found.key, Relation.IMPLEMENTS, wanted.key, path=names.path, line=at)


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


def _overridden(names: Names, symbol: TypeSymbol, declared: DeclaredMember) -> Iterator[GraphEdge]:
    key = declared.key
    own = next(
        (
            found
            for found in names.symbols.members(symbol.id, declared.name)
            # Keys do not tell `F<T>()` from `F()`.
            if found.key == key and len(found.type_parameters) == len(declared.type_parameters)
        ),
        None,
    )
    if own is None:
        return
    for base in names.symbols.base_classes(symbol.id):
        arguments = names.arguments_of(base)
        candidates = (
            found for found in names.symbols.members(base.name, declared.name) if found.kind is own.kind and found.key
        )
        above = _best(own, ((_likeness(own, found, arguments), found) for found in candidates))
        if above is not None:
            yield GraphEdge(key, Relation.OVERRIDES, above.key, path=names.path, line=declared.line)
            return


_OTHER, _ALIKE, _SAME = range(3)
"""How two lists of parameters compare: not the same, the same as far as they are known, the same."""


def _best(other: MemberSymbol, found: Iterable[tuple[int, MemberSymbol]]) -> MemberSymbol | None:
    """The member with the same parameters as `other`, else the only one whose parameters may be."""
    members = [(likeness, member) for likeness, member in found if likeness]
    same = [member for likeness, member in members if likeness == _SAME]
    if same:  # the nearest; bound types do not tell `int?` from `int` beside it, keys do
        first = same[0]
        beside = [
            member
            for member in same
            if member.owner == first.owner and member.explicit_interface == first.explicit_interface
        ]
        written = _parameters_in(other.key) if len(beside) > 1 else None
        return next((member for member in beside if _parameters_in(member.key) == written), first)
    return members[0][1] if len(members) == 1 else None


def _parameters_in(key: str) -> str | None:
    return split_parameters(key.rpartition("|")[0])[1]


def _likeness(own: MemberSymbol, wanted: MemberSymbol, arguments: Mapping[str, TypeRef]) -> int:
    """How the parameters of a member compare with those of one above, seen through the type arguments of its type."""
    if len(own.parameters) != len(wanted.parameters) or len(own.type_parameters) != len(wanted.type_parameters):
        return _OTHER
    renamed = (TypeRef(name, parameter=True) for name in own.type_parameters)
    known = {**arguments, **dict(zip(wanted.type_parameters, renamed, strict=True))}
    pairs = [
        (entry.type, substituted(other.type, known))
        for entry, other in zip(own.parameters, wanted.parameters, strict=True)
    ]
    if all(found == other for found, other in pairs):
        return _SAME
    return _ALIKE if all(_may_be(found, other) for found, other in pairs) else _OTHER


def _may_be(one: TypeRef, other: TypeRef) -> bool:
    """Whether two written types may be the same, by their simple names: each file binds them with its own usings, which
    not always find the same declaration. Names of elements of tuples make no difference; what is given for the type
    parameters of a type around a nested one is not known."""
    if not one.name or not other.name or one.parameter or other.parameter:
        return True
    same = _simple(one) == _simple(other)
    return same and len(one.arguments) == len(other.arguments) and all(map(_may_be, one.arguments, other.arguments))


def _simple(found: TypeRef) -> str:
    if found.declared:
        return found.name.partition("@")[0].rpartition(".")[2].partition("`")[0]
    return "object" if found.name == "dynamic" else plain_name(found)
