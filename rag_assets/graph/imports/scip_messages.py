"""The messages of a SCIP index (github.com/sourcegraph/scip, scip.proto), read with the protobuf runtime.

The runtime comes with Dagster and parses in C, which a reader of our own would not. Instead of generated code, which
must match the runtime's version, the few fields that we read are described here; all others are skipped as unknown.
The index itself is taken apart by hand: it is a list of documents, so one at a time is in memory, and a file that is
cut or damaged gives the documents before the damage (the format is made to be concatenated and streamed).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory  # type: ignore[import-untyped]
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

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
