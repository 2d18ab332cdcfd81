"""Writing many rows at once: Postgres' binary COPY, elsewhere one INSERT for all.

Binary, because vectors are bytes: as text they would double, and escaping costs more than sending.
"""

from __future__ import annotations

import struct
import uuid
from collections.abc import Callable, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

from sqlalchemy import Integer, LargeBinary, Table, Text, Uuid

if TYPE_CHECKING:
    from sqlalchemy import Connection

_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)  # signature, flags, length of the extension
_TRAILER = struct.pack("!h", -1)
_NULL = struct.pack("!i", -1)
_length = struct.Struct("!i").pack
_integer = struct.Struct("!ii").pack

_Encoder = Callable[[Any], bytes]


def insert_rows(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    """Inserts rows, which all have the same columns."""
    if not rows:
        return
    if connection.dialect.name != "postgresql":
        connection.execute(table.insert(), list(rows))
        return
    names = list(rows[0])
    cursor = connection.connection.cursor()
    try:
        cursor.copy_expert(
            f"COPY {table.name} ({', '.join(names)}) FROM STDIN WITH (FORMAT binary)", _encoded(table, names, rows)
        )
    finally:
        cursor.close()


def _encoded(table: Table, names: Sequence[str], rows: Sequence[dict[str, Any]]) -> BytesIO:
    encoders = [(name, _encoder(table.c[name].type)) for name in names]
    begin = struct.pack("!h", len(names))
    parts = [_HEADER]
    for row in rows:
        parts.append(begin)
        for name, encode in encoders:
            value = row[name]
            parts.append(_NULL if value is None else encode(value))
    parts.append(_TRAILER)
    return BytesIO(b"".join(parts))


def _encoder(kind: object) -> _Encoder:
    """The value of a column as COPY takes it: its length, then its bytes."""
    if isinstance(kind, Integer):
        return lambda value: _integer(4, value)
    if isinstance(kind, Uuid):
        return lambda value: _length(16) + uuid.UUID(value).bytes
    if isinstance(kind, LargeBinary):
        return lambda value: _length(len(value)) + value
    assert isinstance(kind, Text), kind

    def text(value: str) -> bytes:
        data = value.encode()
        return _length(len(data)) + data

    return text
