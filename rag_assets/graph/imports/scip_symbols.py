"""The messages of a SCIP index (github.com/sourcegraph/scip, scip.proto), and its symbol strings in the form of our
keys.

    scip-dotnet nuget . . Orders/OrderService#Find(+1).
    scheme      manager name version  descriptors

A descriptor says what it is by its last character: namespace `/`, type `#`, term `.`, method `().`, meta `:`, macro
`!`, type parameter `[…]`, parameter `(…)`. Names with other characters stand in backticks.

The protobuf runtime comes with Dagster and parses in C. Generated code would have to match its version, so the few
fields that we read are described here, and all others are skipped. The index is a list of documents and is taken apart
by hand: one document at a time is in memory, and a damaged file gives the documents before the damage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory  # type: ignore[import-untyped]
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

from rag_assets.contracts.graph import NodeType, symbol_key

METADATA, DOCUMENT, EXTERNAL_SYMBOL = 1, 2, 3
"""Field numbers of `Index`."""

DEFINITION, IMPORT, FORWARD_DEFINITION = 0x1, 0x2, 0x40
"""Bits of `Occurrence.symbol_roles`."""

INTERFACE_KINDS = frozenset({21, 42, 53})
"""`SymbolInformation.Kind`: Interface, Protocol, Trait."""

_Field = descriptor_pb2.FieldDescriptorProto
_TYPES = {"string": _Field.TYPE_STRING, "int32": _Field.TYPE_INT32, "bool": _Field.TYPE_BOOL}
_FIELDS: dict[str, tuple[tuple[str, int, str], ...]] = {  # message → (name, number, type); `*` for repeated
    "ToolInfo": (("name", 1, "string"), ("version", 2, "string"), ("arguments", 3, "*string")),
    "Metadata": (("tool_info", 2, "ToolInfo"), ("project_root", 3, "string")),
    "Relationship": (
        ("symbol", 1, "string"),
        ("is_reference", 2, "bool"),
        ("is_implementation", 3, "bool"),
        ("is_type_definition", 4, "bool"),
        ("is_definition", 5, "bool"),
    ),
    # `kind` is an enum in the schema, an int32 on the wire
    "SymbolInformation": (
        ("symbol", 1, "string"),
        ("documentation", 3, "*string"),
        ("relationships", 4, "*Relationship"),
        ("kind", 5, "int32"),
        ("display_name", 6, "string"),
        ("signature_documentation", 7, "Document"),
    ),
    "Occurrence": (
        ("range", 1, "*int32"),
        ("symbol", 2, "string"),
        ("symbol_roles", 3, "int32"),
        ("enclosing_range", 7, "*int32"),
    ),
    "Document": (
        ("relative_path", 1, "string"),
        ("occurrences", 2, "*Occurrence"),
        ("symbols", 3, "*SymbolInformation"),
        ("language", 4, "string"),
        ("text", 5, "string"),
    ),
}
_PACKAGE = "scip"
_LONGEST_VARINT = 10  # bytes, of the wire format
_WIRE_VARINT, _WIRE_FIXED64, _WIRE_BYTES, _WIRE_FIXED32 = 0, 1, 2, 5


def _classes() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="scip.proto", package=_PACKAGE, syntax="proto3")
    for message, fields in _FIELDS.items():
        described = file.message_type.add(name=message)
        for name, number, written in fields:
            plain = written.removeprefix("*")
            field = described.field.add(name=name, number=number)
            field.label = _Field.LABEL_OPTIONAL if plain == written else _Field.LABEL_REPEATED
            if plain in _TYPES:
                field.type = _TYPES[plain]
            else:
                field.type, field.type_name = _Field.TYPE_MESSAGE, f".{_PACKAGE}.{plain}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")) for name in _FIELDS}


MESSAGES = _classes()
"""Classes by name: `MESSAGES["Document"]()`. They can write what they read, which tests use."""

_OF_INDEX = {METADATA: "Metadata", DOCUMENT: "Document", EXTERNAL_SYMBOL: "SymbolInformation"}


@dataclass(frozen=True, slots=True)
class Damage:
    """Bytes that are no message: the rest of the file (`is_end`), or one part of it."""

    offset: int
    reason: str
    is_end: bool


def index_parts(data: bytes) -> Iterator[tuple[int, Any] | Damage]:
    """(field number, message) of every part of an index, in order; damage where it is met."""
    view, at = memoryview(data), 0
    while at < len(data):
        start = at
        tag, at = _varint(data, at)
        wire = tag & 7
        length, at = _varint(data, at) if wire == _WIRE_BYTES else (_fixed_length(wire), at)
        if wire == _WIRE_VARINT:
            _, at = _varint(data, at)
            length = 0
        if at < 0 or length < 0 or tag >> 3 == 0:
            yield Damage(start, "no field of an index", is_end=True)
            return
        if at + length > len(data):
            yield Damage(start, f"ends {at + length - len(data):,} bytes too early", is_end=True)
            return
        name = _OF_INDEX.get(tag >> 3) if wire == _WIRE_BYTES else None
        if name is not None:
            message = MESSAGES[name]()
            try:
                message.ParseFromString(view[at : at + length].tobytes())
                yield tag >> 3, message
            except DecodeError as error:
                yield Damage(start, f"{name} cannot be read: {error}", is_end=False)
        at += length


def _fixed_length(wire: int) -> int:
    return {_WIRE_FIXED64: 8, _WIRE_FIXED32: 4, _WIRE_VARINT: 0}.get(wire, -1)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """(value, offset behind it); offset -1 where the bytes end or are no number."""
    value = 0
    if at < 0:
        return 0, -1
    for place in range(_LONGEST_VARINT):
        if at + place >= len(data):
            return 0, -1
        byte = data[at + place]
        value |= (byte & 0x7F) << (7 * place)
        if not byte & 0x80:
            return value, at + place + 1
    return 0, -1


LOCAL_PREFIX = "local "
_SIMPLE = re.compile(r"[\w$+-]+")
_ESCAPED = re.compile(r"`((?:[^`]|``)*)`")
_FIELDS_BEFORE_DESCRIPTORS = 4
_CONSTRUCTORS = frozenset({".ctor", ".cctor", "<constructor>", "<init>", "__init__"})
"""What scip-dotnet, scip-typescript, scip-java and scip-python call a constructor."""
_FINALIZER = "Finalize"
"""What a destructor `~Cart` of C# is called by the compiler."""
_NAMED_AS_TYPE = frozenset({"csharp", "java"})
"""Languages whose keys name a constructor as its type."""
_OVERLOADING = frozenset({"csharp", "java"})
"""Languages whose keys have a parameter list."""
_SCRIPTS = frozenset({"typescript", "tsx", "javascript", "jsx"})
_SOURCE_FILE = re.compile(r"\.(?:[cm]?[jt]sx?|vue)$")
_LONGEST_SYMBOL = 10_000  # characters; names are written by people


class Suffix(StrEnum):
    NAMESPACE = "/"
    TYPE = "#"
    TERM = "."
    METHOD = "()"
    META = ":"
    MACRO = "!"
    TYPE_PARAMETER = "[]"
    PARAMETER = "(x)"


@dataclass(frozen=True, slots=True)
class Descriptor:
    name: str
    suffix: Suffix
    disambiguator: str = ""


@dataclass(frozen=True, slots=True)
class ScipSymbol:
    scheme: str
    package: str
    descriptors: tuple[Descriptor, ...]

    @property
    def last(self) -> Descriptor:
        return self.descriptors[-1]

    @property
    def node_kind(self) -> NodeType | None:
        """None for namespaces, parameters and other things that are no nodes. scip-dotnet calls an event a type."""
        return _KINDS.get(self.last.suffix)

    @property
    def is_constructor(self) -> bool:
        return self.last.suffix is Suffix.METHOD and self.last.name in _CONSTRUCTORS

    @property
    def owner(self) -> ScipSymbol | None:
        """The type around, None outside of types."""
        if len(self.descriptors) < 2 or self.descriptors[-2].suffix is not Suffix.TYPE:
            return None
        return ScipSymbol(self.scheme, self.package, self.descriptors[:-1])

    def name(self, language: str) -> str:
        """The simple name as our keys have it: a constructor is called like its type in C# and Java, an explicit
        implementation `Ns.IShape.Draw` like the member."""
        owner = self.owner
        if self.is_constructor and language in _NAMED_AS_TYPE and owner is not None:
            return owner.last.name
        name = self.last.name
        if language == "csharp" and name == _FINALIZER and self.last.suffix is Suffix.METHOD and owner is not None:
            return f"~{owner.last.name}"
        if language == "csharp" and self.last.suffix in (Suffix.METHOD, Suffix.TERM) and not name.startswith("."):
            return name.rpartition(".")[2] or name
        return name

    def type_path(self) -> str:
        """Namespaces and types around, joined with dots: `Orders.OrderService`."""
        return ".".join(each.name for each in self.descriptors[:-1] if each.name and each.suffix is not Suffix.META)


_KINDS = {Suffix.TYPE: NodeType.TYPE, Suffix.METHOD: NodeType.METHOD, Suffix.TERM: NodeType.PROPERTY}


def parse_symbol(text: str) -> ScipSymbol | None:
    """None for local symbols and for what is no symbol."""
    if text.startswith(LOCAL_PREFIX) or len(text) > _LONGEST_SYMBOL:
        return None
    fields, at = [], 0
    for _ in range(_FIELDS_BEFORE_DESCRIPTORS):
        field, at = _field(text, at)
        if at < 0:
            return None
        fields.append(field)
    found = []
    while at < len(text):
        descriptor, at = _descriptor(text, at)
        if descriptor is None:
            return None
        found.append(descriptor)
    return ScipSymbol(fields[0], fields[2], tuple(found)) if found else None


def documented_key(symbol: ScipSymbol, language: str, parameters: tuple[str, ...] | None = None) -> str | None:
    """The key of a symbol that the label does not declare: `csharp:Ns.Type.Member(Types)|METHOD`.

    Where nothing tells the parameter types the list holds the disambiguator of SCIP (`(+1)`, empty for the first
    overload), which is as stable as the index. None for what is no node.
    """
    kind = symbol.node_kind
    if kind is None:
        return None
    around = [each for each in symbol.descriptors[:-1] if each.name and each.suffix is not Suffix.META]
    spaces = [each.name for each in around if each.suffix is Suffix.NAMESPACE]
    types = [each.name for each in around if each.suffix is not Suffix.NAMESPACE]
    # A module of these is its file, without extension.
    module = _SOURCE_FILE.sub("", "/".join(spaces)) if language in _SCRIPTS else ".".join(spaces)
    joined = ".".join(filter(None, (module, *types, symbol.name(language))))
    if kind is NodeType.METHOD and language in _OVERLOADING:
        inside = symbol.last.disambiguator if parameters is None else ",".join(parameters)
        joined = f"{joined}({inside})"
    return symbol_key(language, joined, kind)


def _field(text: str, at: int) -> tuple[str, int]:
    """A field up to a single blank; a double one stands for a blank in it. Offset -1 without an end."""
    pieces = []
    while True:
        end = text.find(" ", at)
        if end < 0:
            return "", -1
        pieces.append(text[at:end])
        if text[end + 1 : end + 2] != " ":
            return " ".join(pieces), end + 1
        at = end + 2


def _descriptor(text: str, at: int) -> tuple[Descriptor | None, int]:
    if text[at] in "[(":
        closing, suffix = ("]", Suffix.TYPE_PARAMETER) if text[at] == "[" else (")", Suffix.PARAMETER)
        name, at = _name(text, at + 1)
        is_whole = name is not None and text[at : at + 1] == closing
        return (Descriptor(name or "", suffix), at + 1) if is_whole else (None, at)
    name, at = _name(text, at)
    ending = text[at : at + 1]
    if name is None or not ending:
        return None, at
    if ending == "(":
        end = text.find(").", at)
        disambiguator = text[at + 1 : end]
        if end < 0 or (disambiguator and not _SIMPLE.fullmatch(disambiguator)):
            return None, at
        return Descriptor(name, Suffix.METHOD, disambiguator), end + 2
    if ending not in "/#.:!":
        return None, at
    return Descriptor(name, Suffix(ending)), at + 1


def _name(text: str, at: int) -> tuple[str | None, int]:
    found = _ESCAPED.match(text, at)
    if found:
        return found.group(1).replace("``", "`"), found.end()
    simple = _SIMPLE.match(text, at)
    return (simple.group(), simple.end()) if simple else (None, at)
