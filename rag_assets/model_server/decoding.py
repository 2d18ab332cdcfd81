"""Decoders that several threads may ask for at once.

msgspec 0.20 to 0.22 crashes the interpreter when two threads prepare one Struct type at the same moment, so types are
prepared one at a time, and once.
"""

from __future__ import annotations

import threading
from typing import Any

import msgspec

_decoders: dict[type, msgspec.json.Decoder[Any]] = {}
_preparing = threading.Lock()


def decoder_of(kind: type) -> msgspec.json.Decoder[Any]:
    """The one decoder of JSON texts to `kind`."""
    with _preparing:
        found = _decoders.get(kind)
        if found is None:
            found = _decoders[kind] = msgspec.json.Decoder(kind)
        return found
