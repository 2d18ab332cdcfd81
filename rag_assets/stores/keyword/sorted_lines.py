"""Files of lines `key <tab> …`, sorted by the bytes of the key: read whole, searched by bisection."""

from __future__ import annotations

import re

_KEY = re.compile(rb"^[^\t]+", re.MULTILINE)
_AFTER_ANY_TEXT = b"\xff"  # no byte of UTF-8


def find_line(lines: bytes, key: str) -> list[bytes] | None:
    """The fields after an exact key, in O(log n)."""
    wanted = key.encode(errors="replace")
    start = _first_from(lines, wanted)
    if not lines.startswith(wanted + b"\t", start):
        return None
    return lines[start + len(wanted) + 1 : lines.index(b"\n", start)].split(b"\t")


def keys_starting(lines: bytes, beginning: str) -> list[str]:
    """The keys that begin with a text, in order; O(log n) and what they are themselves."""
    wanted = beginning.encode(errors="replace")
    found = _KEY.findall(lines, _first_from(lines, wanted), _first_from(lines, wanted + _AFTER_ANY_TEXT))
    return b"\t".join(found).decode().split("\t") if found else []


def _first_from(lines: bytes, wanted: bytes) -> int:
    """Where the first line begins whose key is not less than `wanted`; the end where there is none."""
    low, high = 0, len(lines)
    while low < high:
        start = lines.rfind(b"\n", low, (low + high) // 2) + 1 or low
        end = lines.index(b"\n", start)
        if lines[start : lines.index(b"\t", start, end)] < wanted:
            low = end + 1
        else:
            high = start
    return low
