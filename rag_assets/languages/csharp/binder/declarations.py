"""What the files of one bucket declare in C#: types with their members, using directives, projects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import msgspec
from msgspec.structs import replace

from rag_assets.contracts.graph import NodeType, member_keys, symbol_key
from rag_assets.contracts.segment import Member, MemberKind, Parameter, Segment
from rag_assets.languages.csharp.project_files import ProjectDeclaration, is_project_file, read_project
from rag_assets.serialization import from_msgpack

if TYPE_CHECKING:
    from rag_assets.languages.parsed_file import ParsedFile

LANGUAGE = "csharp"

_TYPE_KINDS = ("class", "interface", "enum", "struct", "record", "delegate")
_CONSTRAINT = re.compile(r"\bwhere\s+(\w+)\s*:\s*((?:(?!\bwhere\b).)*)", re.DOTALL)
_NOT_A_TYPE = frozenset({"class", "class?", "struct", "notnull", "unmanaged", "default", "new()", "allows ref struct"})
_DIRECTIVE = re.compile(r"^[ \t\ufeff]*@(inherits|namespace|typeparam)[ \t]+([\w.]+(?:<.*>)?)", re.MULTILINE)
_DELEGATE_RETURN = re.compile(r"\bdelegate\s+(.*?)\s*\b\w+\s*(?:<[^()]*>)?\s*\(", re.DOTALL)


class _Stored(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A declaration as it is kept for the next build: in a third of the bytes, and read in a third of the time, of
    named fields. A label has tens of thousands, and each build reads them all."""


class DeclaredParameter(_Stored, frozen=True):
    """A parameter as written."""

    name: str
    type: str
    modifiers: tuple[str, ...] = ()
    optional: bool = False


class DeclaredMember(_Stored, frozen=True):
    """A member as written. `key` is its graph node, '' for enum values and statements, which have none."""

    name: str
    kind: MemberKind
    key: str
    line: int
    type: str = ""
    parameters: tuple[DeclaredParameter, ...] = ()
    type_parameters: tuple[str, ...] = ()
    constraints: tuple[tuple[str, str], ...] = ()  # (type parameter, type as written)
    modifiers: tuple[str, ...] = ()
    explicit_interface: str = ""


class TypeHead(_Stored, frozen=True):
    """One declaration of a type without its members: a partial type has several.

    `symbol` is fully qualified with arity, `outer` that of the type around it. `parameters` are those of a primary
    constructor or of a delegate, `returns` what a delegate returns.
    """

    symbol: str
    key: str
    name: str
    kind: str
    path: str
    line_start: int
    line_end: int
    namespace: str = ""
    outer: str = ""
    type_parameters: tuple[str, ...] = ()
    constraints: tuple[tuple[str, str], ...] = ()
    base_list: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    modifiers: tuple[str, ...] = ()
    parameters: tuple[DeclaredParameter, ...] = ()
    has_parameter_list: bool = False
    returns: str = ""


class TypeDeclaration(TypeHead, frozen=True):
    """One declaration of a type with its members, in the order written."""

    members: tuple[DeclaredMember, ...] = ()


class LabelType(TypeHead, frozen=True):
    """A declared type as a label keeps it. Names are asked for all the time, members of few types: they stay packed, in
    a quarter of the memory."""

    packed: bytes = b""

    @classmethod
    def of(cls, declared: TypeDeclaration) -> Self:
        head: dict[str, Any] = {name: getattr(declared, name) for name in TypeHead.__struct_fields__}
        return cls(**head, packed=msgspec.msgpack.encode(declared.members) if declared.members else b"")

    @property
    def members(self) -> tuple[DeclaredMember, ...]:
        """Unpacked each time."""
        return from_msgpack(self.packed, _Members) if self.packed else ()


_Members = tuple[DeclaredMember, ...]


@dataclass(frozen=True, slots=True)
class CSharpDeclarations:
    """What one bucket of files adds to the symbols of its label; msgspec-encodable. `usings`: path → directives."""

    types: tuple[LabelType, ...] = ()
    usings: tuple[tuple[str, tuple[str, ...]], ...] = ()
    projects: tuple[ProjectDeclaration, ...] = ()


def component_name(path: str) -> str:
    """What the component of Razor of a file is called; '' of other files."""
    name, ending, _ = path.rpartition("/")[2].partition(".razor")
    return name if path.endswith(ending or "\0") and name.isidentifier() and name != "_Imports" else ""


def declared_in(files: Iterable[ParsedFile]) -> CSharpDeclarations:
    """The declarations of some files. Reads segments, but of project files and components of Razor their text."""
    types: list[LabelType] = []
    usings: list[tuple[str, tuple[str, ...]]] = []
    projects: list[ProjectDeclaration] = []
    for file in files:
        if file.language == LANGUAGE:
            types.extend(map(LabelType.of, types_of(file.path, file.segments)))
            written = tuple(dict.fromkeys(using for segment in file.segments for using in segment.usings))
            if written:
                usings.append((file.path, written))
        elif component := component_name(file.path):
            types.append(_component(component, file.path, file.text))
        elif is_project_file(file.path):
            projects.append(read_project(file.path, file.text))
    return CSharpDeclarations(tuple(types), tuple(usings), tuple(projects))


def _component(name: str, path: str, text: str) -> LabelType:
    """The class that a component of Razor is, without the symbol, which its project says."""
    said: dict[str, tuple[str, ...]] = {}
    for word, value in _DIRECTIVE.findall(text):
        said[word] = (*said.get(word, ()), value)
    return LabelType(
        symbol="",
        key="",
        name=name,
        kind="class",
        path=path,
        line_start=1,
        line_end=text.count("\n") + 1,
        namespace=said.get("namespace", ("",))[0],
        type_parameters=said.get("typeparam", ()),
        base_list=said.get("inherits", ()),
        modifiers=("partial",),
    )


def types_of(path: str, segments: Iterable[Segment]) -> Iterator[TypeDeclaration]:
    """The types of one file, nested ones after the type around them; of a program its local functions as a type."""
    return (placed.declared for placed in placed_types(path, segments))


@dataclass(frozen=True, slots=True)
class PlacedType:
    """A declared type with the segment or member that it was read from, and so each of its `declared.members`."""

    declared: TypeDeclaration
    source: Segment | Member
    members: tuple[Member, ...]


def placed_types(path: str, segments: Iterable[Segment]) -> Iterator[PlacedType]:
    """As `types_of`, with the places of types and members in the text."""
    for segment in segments:
        if segment.kind == "program" or segment.kind.startswith(_TYPE_KINDS):
            yield from _segment_types(path, segment)


def record_properties(declared: TypeDeclaration | LabelType) -> Iterator[DeclaredMember]:
    """The properties that a record makes of its parameters, but for those that it writes itself."""
    if declared.kind == "record":
        written = {member.name for member in declared.members}
        own, _, _ = declared.key.rpartition("|")
        for parameter in declared.parameters:
            if parameter.name not in written:
                key = f"{own}.{parameter.name}|{NodeType.PROPERTY.value}"
                yield DeclaredMember(parameter.name, MemberKind.PROPERTY, key, declared.line_start, parameter.type)


def _segment_types(path: str, segment: Segment) -> Iterator[PlacedType]:
    key = symbol_key(LANGUAGE, segment.symbol, NodeType.TYPE) if segment.kind != "program" else ""
    made, nested = _placed(_Type(path, segment.namespace, segment.symbol, segment.symbol, key, segment.kind), segment)
    yield made
    waiting = [(inner, segment.symbol, segment.symbol) for inner in reversed(nested)]
    while waiting:
        member, outer, owner = waiting.pop()
        owner = f"{owner}.{member.name}"
        symbol = member.symbol or f"{outer}.{member.name}"
        key = symbol_key(LANGUAGE, owner, NodeType.TYPE)
        made, nested = _placed(_Type(path, segment.namespace, symbol, owner, key, member.type, outer), member)
        yield made
        waiting.extend((inner, symbol, owner) for inner in reversed(nested))


class _Type(NamedTuple):
    """What segments and nested types call differently. `owner` is the dotted path that keys of members begin with:
    names of nested types stand there without arity."""

    path: str
    namespace: str
    symbol: str
    owner: str
    key: str
    kind: str
    outer: str = ""


def _placed(known: _Type, source: Segment | Member) -> tuple[PlacedType, list[Member]]:
    """A type as declared by a segment or member, and the types nested in it."""
    members, sources, nested = _split(known.owner, source.members)
    declared = TypeDeclaration(
        symbol=known.symbol,
        key=known.key,
        name=source.name,
        kind=known.kind,
        path=known.path,
        line_start=source.span.line_start,
        line_end=source.span.line_end,
        namespace=known.namespace,
        outer=known.outer,
        type_parameters=source.type_parameters,
        constraints=_constraints(source.signature),
        base_list=source.base_list,
        attributes=source.attributes,
        modifiers=source.modifiers,
        parameters=_parameters(source.parameters),
        has_parameter_list=_has_parameter_list(source.signature, source.name, known.kind),
        returns=_returns(source.signature, known.kind),
        members=members,
    )
    return PlacedType(declared, source, sources), nested


def _split(
    owner: str, members: tuple[Member, ...]
) -> tuple[tuple[DeclaredMember, ...], tuple[Member, ...], list[Member]]:
    """The members of a type without its nested types, what each was read from, and the nested types. Members of
    extension blocks are members of the type, with the receiver as their first parameter."""
    own: list[DeclaredMember] = []
    sources: list[Member] = []
    nested: list[Member] = []
    for member in members:
        if member.kind is MemberKind.TYPE:
            nested.append(member)
        elif member.kind is MemberKind.EXTENSION:
            for inner in member.members:
                if inner.kind is not MemberKind.TYPE:
                    own.append(_extension(owner, member, inner))
                    sources.append(inner)
        elif member.kind is not MemberKind.STATEMENTS:
            own.append(_member(owner, member))
            sources.append(member)
    return tuple(own), tuple(sources), nested


def _extension(owner: str, block: Member, member: Member) -> DeclaredMember:
    """A member of a C# 14 extension block as the extension method that it is."""
    made = _member(f"{owner}.{block.name}", member)
    is_static = "static" in member.modifiers
    receiver = tuple(
        DeclaredParameter(parameter.name, parameter.type, ("this", *parameter.modifiers))
        for parameter in block.parameters
    )
    return replace(
        made,
        parameters=made.parameters if is_static else (*receiver, *made.parameters),
        type_parameters=(*block.type_parameters, *made.type_parameters),
        constraints=(*_constraints(block.signature), *made.constraints),
        modifiers=made.modifiers if is_static else ("static", *made.modifiers),
    )


def _member(owner: str, member: Member) -> DeclaredMember:
    return DeclaredMember(
        name=member.name,
        kind=member.kind,
        key=next(iter(member_keys(LANGUAGE, owner, member)), ""),
        line=member.span.line_start,
        type=member.type,
        parameters=_parameters(member.parameters) if member.parameters else (),
        type_parameters=member.type_parameters,
        constraints=_constraints(member.signature) if member.type_parameters else (),
        modifiers=member.modifiers,
        explicit_interface=member.explicit_interface,
    )


def _parameters(parameters: tuple[Parameter, ...]) -> tuple[DeclaredParameter, ...]:
    return tuple(
        DeclaredParameter(found.name, found.type, tuple(map(str.strip, found.modifiers)), bool(found.default))
        for found in parameters
    )


def _constraints(signature: str) -> tuple[tuple[str, str], ...]:
    """(type parameter, constraint) of `where T : IOrder, new()`; only constraints that are types."""
    if "where " not in signature:
        return ()
    return tuple(
        (name, part)
        for name, written in _CONSTRAINT.findall(signature)
        for part in _separated(written)
        if part not in _NOT_A_TYPE
    )


def _separated(text: str) -> Iterator[str]:
    """The parts between the outermost commas."""
    depth, start = 0, 0
    for at, character in enumerate(text):
        if character in "<([":
            depth += 1
        elif character in ">)]":
            depth -= 1
        elif character == "," and depth <= 0:
            yield text[start:at].strip()
            start = at + 1
    yield text[start:].strip()


def _has_parameter_list(signature: str, name: str, kind: str) -> bool:
    """Whether a class, struct or record has a primary constructor, also an empty one."""
    if "(" not in signature or kind in ("delegate", "program", "enum", "interface"):
        return False
    before = signature.partition("(")[0].rstrip()
    return re.sub(r"\s*<.*>$", "", before).endswith(name) and ":" not in before


def _returns(signature: str, kind: str) -> str:
    if kind != "delegate":
        return ""
    found = _DELEGATE_RETURN.search(signature)
    return found.group(1) if found else ""
