"""Stored bytes as typed values: one decoder of each type for all threads.

msgspec 0.20 to 0.22 crashes the interpreter when two threads prepare one type at the same moment, as its own
`decode(…, type=…)` and `convert` do. Here types are prepared one at a time, and once: whatever is decoded to a type
goes through this module.
"""

from __future__ import annotations

import threading
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

_of_json: dict[Any, msgspec.json.Decoder[Any]] = {}
_of_msgpack: dict[Any, msgspec.msgpack.Decoder[Any]] = {}
_preparing = threading.Lock()  # one for all: two types may have a third in common


def json_decoder(kind: type[T]) -> msgspec.json.Decoder[T]:
    """The decoder of JSON to `kind`; what it is given and does not fit raises msgspec.DecodeError."""
    return _of_json.get(kind) or _prepared(kind, _of_json, msgspec.json.Decoder)


def msgpack_decoder(kind: type[T]) -> msgspec.msgpack.Decoder[T]:
    """The decoder of MessagePack to `kind`; what it is given and does not fit raises msgspec.DecodeError."""
    return _of_msgpack.get(kind) or _prepared(kind, _of_msgpack, msgspec.msgpack.Decoder)


def converted(value: object, kind: type[T]) -> T:
    """Plain lists, mappings and scalars as `kind`. Raises msgspec.ValidationError."""
    json_decoder(kind)  # whose preparation is that of `convert` too
    return msgspec.convert(value, type=kind)


def _prepared(kind: Any, known: dict[Any, Any], make: Any) -> Any:
    with _preparing:
        if kind not in known:
            known[kind] = make(kind)
        return known[kind]
