"""Bytes as typed values, for all threads, with one kind of error.

msgspec 0.20 to 0.22 crashes the interpreter when two threads prepare one type at the same moment, as its own
`decode(…, type=…)` and `convert` do. Here types are prepared one at a time, and once: whatever becomes a typed value
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


def from_json(data: bytes | str, kind: type[T]) -> T:
    """JSON as `kind`. Raises msgspec.DecodeError for everything that it is not: cut short, no text, nested too deep."""
    decoder: msgspec.json.Decoder[T] = _of_json.get(kind) or _prepared(kind, _of_json, msgspec.json.Decoder)
    return _decoded(decoder, data)


def from_msgpack(data: bytes, kind: type[T]) -> T:
    """MessagePack as `kind`. Raises msgspec.DecodeError as `from_json` does."""
    decoder: msgspec.msgpack.Decoder[T] = _of_msgpack.get(kind) or _prepared(kind, _of_msgpack, msgspec.msgpack.Decoder)
    return _decoded(decoder, data)


def from_plain(value: object, kind: type[T]) -> T:
    """Plain lists, mappings and scalars as `kind`. Raises msgspec.ValidationError, which is a DecodeError."""
    _of_json.get(kind) or _prepared(kind, _of_json, msgspec.json.Decoder)  # which prepares it for `convert` too
    return msgspec.convert(value, type=kind)


def _decoded(decoder: msgspec.json.Decoder[T] | msgspec.msgpack.Decoder[T], data: Any) -> T:
    try:
        return decoder.decode(data)
    except (UnicodeError, RecursionError) as error:  # the two that msgspec lets through as they are
        raise msgspec.DecodeError(f"Input cannot be decoded: {error}") from error


def _prepared(kind: Any, known: dict[Any, Any], make: Any) -> Any:
    with _preparing:
        if kind not in known:
            known[kind] = make(kind)
        return known[kind]
