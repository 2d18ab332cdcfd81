"""C# files to nodes and edges of the graph, one file at a time.

Declarations with Contains and what implements or overrides what; registrations in a container (service type MapsTo
implementation type); packages and projects that project files refer to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from rag_assets.contracts.graph import (
    Confidence,
    GraphEdge,
    GraphNode,
    NodeType,
    Relation,
    file_key,
    node_and_edge,
    package_key,
)
from rag_assets.contracts.segment import SymbolText
from rag_assets.graph.lookup import split_parameters
from rag_assets.languages.csharp.binder.bcl_types import plain_name
from rag_assets.languages.csharp.binder.binder import Counts
from rag_assets.languages.csharp.binder.declarations import (
    LANGUAGE,
    DeclaredMember,
    PlacedType,
    placed_types,
    record_properties,
)
from rag_assets.languages.csharp.binder.file_binding import binding_of
from rag_assets.languages.csharp.binder.label_symbols import CSharpSymbols, Names
from rag_assets.languages.csharp.binder.symbols import MemberSymbol, TypeSymbol
from rag_assets.languages.csharp.binder.type_syntax import TypeRef, substituted
from rag_assets.languages.csharp.binder.type_table import without_arity
from rag_assets.languages.csharp.facts.composition_root import registrations_in
from rag_assets.languages.csharp.facts.masked_body import masked_body_of
from rag_assets.languages.csharp.project_files import is_project_file, project_items, project_path
from rag_assets.languages.label_declarations import LabelDeclarations
from rag_assets.languages.parsed_file import ParsedFile


def packages_of(file: ParsedFile) -> Iterator[GraphNode | GraphEdge]:
    """The project file, the packages that it uses, and the projects that it refers to."""
    path = file.path
    own = file_key(path)
    yield GraphNode(
        own, NodeType.FILE, path.rpartition("/")[2], path, 1, max(1, len(file.text.splitlines())), "msbuild"
    )
    for item in project_items(file.text):
        if item.element == "ProjectReference":
            target = file_key(project_path(path, item.name))
            yield GraphEdge(own, Relation.REFERENCES, target, path=path, line=item.line)
        elif item.element in ("PackageReference", "GlobalPackageReference") and "$(" not in item.name:
            key = package_key("nuget", item.name)
            yield GraphNode(key, NodeType.PACKAGE, item.name, signature=item.version)
            yield GraphEdge(own, Relation.REFERENCES, key, path=path, line=item.line)


_OTHER_PROJECTS = (".fsproj", ".vbproj")
_REGISTERS = re.compile(
    r"\.\s*(?:(?:Try)?Add(?:Keyed)?(?:Scoped|Singleton|Transient|HttpClient)|Register(?:Type)?)\s*[<(]"
)
_ANY_CALL = frozenset({"Register", "RegisterType"})
"""Names of calls that others than containers have as well: messengers, routers, metadata of user interfaces."""


def registrations_of(file: ParsedFile, names: Names) -> Iterator[GraphEdge]:
    """The registrations of a file whose service and implementation are both types of the label."""
    if not _REGISTERS.search(file.text):
        return
    for segment in file.segments:
        text = segment.span.slice(file.text)
        if not _REGISTERS.search(text):
            continue
        scope = segment.namespace if segment.kind == "program" else segment.symbol
        for found in registrations_in(masked_body_of(SymbolText(text, segment))).registrations:
            if not found.implementation:
                continue
            service, services = names.bind(found.service, scope, ())
            implementation, implementations = names.bind(found.implementation, scope, ())
            if not (service.declared and implementation.declared) or service.name == implementation.name:
                continue
            confidence = _confidence(names, service.name, implementation.name, found.lifetime)
            if confidence is not None:
                yield GraphEdge(services[0], Relation.MAPS_TO, implementations[0], confidence, file.path, found.line)


def _confidence(names: Names, service: str, implementation: str, lifetime: str) -> Confidence | None:
    """How sure it is that the one type is given for the other; None where it is no registration, or gives something
    that is made of the second type: a container takes only what is of the first. A base in code that is not indexed may
    be of it; where others than containers have such a call, that is too little. `new Service<T>()` in a factory is read
    as `Service`: that one is not meant."""
    if service in names.above(implementation):
        return Confidence.RESOLVED
    if lifetime in _ANY_CALL or without_arity(service) == without_arity(implementation):
        return None
    return Confidence.PROBABLE if names.symbols.has_foreign_base(implementation) else None


_PARAMETERS = re.compile(r"\brecord\b[^(;{/]*\(")
"""How the parameter list of a record begins."""


def nodes_of(file: ParsedFile, placed: Iterable[PlacedType]) -> Iterator[GraphNode | GraphEdge]:
    """The file, its types and their members, each contained in the one around it."""
    path = file.path
    own = file_key(path)
    yield GraphNode(own, NodeType.FILE, path.rpartition("/")[2], path, 1, _last_line(file), LANGUAGE)
    keys: dict[str, str] = {}
    for entry in placed:
        declared = entry.declared
        if declared.key:
            keys[declared.symbol] = declared.key
            outer = keys.get(declared.outer, own)
            yield from node_and_edge(declared.key, entry.source, path, LANGUAGE, holder=outer)
            yield from _positional(file, entry)
        holder = declared.key or own
        for member, read_from in zip(declared.members, entry.members, strict=True):
            if member.key:
                yield from node_and_edge(member.key, read_from, path, LANGUAGE, holder=holder)


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
    for interface in names.symbols.interfaces(symbol.id):
        arguments = names.arguments_of(interface)
        for name in names.symbols.member_names(interface.name):
            own: list[MemberSymbol] | None = None  # for all overloads of the interface
            of_bases = set[str]()  # that implement the interface themselves
            for wanted in names.symbols.members(interface.name, name):
                if not wanted.key or wanted.is_static or wanted.explicit_interface:
                    continue
                if own is None:
                    own = list(_implementing(names, symbol, name, interface.name))
                    of_bases = {found.owner for found in own if found.owner != symbol.id}
                    of_bases = {owner for owner in of_bases if interface.name in names.above(owner)}
                    if all(found.owner in of_bases for found in own):
                        break  # of hundreds of types derived from one that has all members of a large interface
                likeness = _Wanted(wanted, arguments).likeness
                found = _best(wanted, ((likeness(found), found) for found in own if found.kind is wanted.kind))
                if found is None or found.owner in of_bases:
                    continue
                at = lines.get((found.key, found.explicit_interface), line)
                yield GraphEdge(found.key, Relation.IMPLEMENTS, wanted.key, path=names.path, line=at)


def _implementing(names: Names, symbol: TypeSymbol, name: str, interface: str) -> Iterator[MemberSymbol]:
    """What may implement a member of this name: explicit implementations first, then what the type has or inherits."""
    for found in names.symbols.members(symbol.id, name):
        if found.explicit_interface and found.key and _names(found, interface):
            yield found
    if symbol.kind != "interface":
        yield from (found for found in names.find(symbol.id, name) if found.key and _names(found, interface))


def _names(found: MemberSymbol, interface: str) -> bool:
    """Whether an explicit implementation is one of this interface."""
    written = found.explicit_interface
    if not written:
        return True
    simple = written.partition("<")[0].rpartition(".")[2].strip()
    return interface.partition("@")[0].rpartition(".")[2].partition("`")[0] == simple


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
        above = _best(own, ((_Wanted(found, arguments).likeness(own), found) for found in candidates))
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


class _Wanted:
    """A member of an interface or a base class, as a type sees it through the type arguments that it gives."""

    def __init__(self, member: MemberSymbol, arguments: Mapping[str, TypeRef]) -> None:
        self._member, self._arguments = member, arguments
        self._seen: dict[tuple[str, ...], list[TypeRef]] = {}

    def likeness(self, own: MemberSymbol) -> int:
        """How the parameters of a member of the type compare with those of this one."""
        if len(own.parameters) != len(self._member.parameters):
            return _OTHER
        if len(own.type_parameters) != len(self._member.type_parameters):
            return _OTHER
        likeness = _SAME
        for entry, other in zip(own.parameters, self._parameters(own.type_parameters), strict=True):
            if entry.type != other:
                if not _may_be(entry.type, other):  # of many overloads nearly all differ in their first parameters
                    return _OTHER
                likeness = _ALIKE
        return likeness

    def _parameters(self, names: tuple[str, ...]) -> list[TypeRef]:
        """The types of its parameters, with other names for its own type parameters."""
        if names not in self._seen:
            renamed = (TypeRef(name, parameter=True) for name in names)
            known = {**self._arguments, **dict(zip(self._member.type_parameters, renamed, strict=True))}
            self._seen[names] = [substituted(entry.type, known) for entry in self._member.parameters]
        return self._seen[names]


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


def extract(file: ParsedFile, symbols: LabelDeclarations) -> Iterable[GraphNode | GraphEdge]:
    """The nodes and edges of a C# or project file; nothing of any other file. Never raises for any text."""
    return extract_csharp(file, symbols.csharp)


def extract_csharp(
    file: ParsedFile, symbols: CSharpSymbols, counts: Counts | None = None
) -> Iterator[GraphNode | GraphEdge]:
    """As `extract`; adds to `counts` what became of the call sites."""
    if file.language != LANGUAGE:
        if is_project_file(file.path) or file.path.endswith(_OTHER_PROJECTS):
            yield from packages_of(file)
        return
    placed = list(placed_types(file.path, file.segments))
    names = Names(symbols, file.path)
    yield from nodes_of(file, placed)
    yield from binding_of(file, symbols, counts).edges
    yield from dispatch_of(names, placed)
    yield from registrations_of(file, names)
