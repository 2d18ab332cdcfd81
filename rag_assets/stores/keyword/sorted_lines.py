"""Files of lines `key <tab> …`, sorted by the bytes of the key: read whole, searched by bisection."""

from __future__ import annotations


def find_line(lines: bytes, key: str) -> list[bytes] | None:
    """The fields after an exact key, in O(log n)."""
    wanted = key.encode(errors="replace")
    low, high = 0, len(lines)
    while low < high:
        start = lines.rfind(b"\n", low, (low + high) // 2) + 1 or low
        end = lines.index(b"\n", start)
        tab = lines.index(b"\t", start, end)
        found = lines[start:tab]
        if found == wanted:
            return lines[tab + 1 : end].split(b"\t")
        if found < wanted:
            low = end + 1
        else:
            high = start
    return None
