"""Files of lines `key <tab> …`, sorted by the bytes of the key: read whole, and searched without being taken apart."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

_BLOCK = 1 << 12
"""Bytes between two lines whose keys are kept: a millisecond to note them for 4 MB, one to find a line in between."""
_KEY = re.compile(rb"^[^\t]+", re.MULTILINE)
_AFTER_ANY_TEXT = b"\xff"  # no byte of UTF-8


class SortedLines:
    """The lines of one file."""

    __slots__ = ("_content", "_keys", "_starts")

    def __init__(self, content: bytes) -> None:
        """Every line ends with a line feed and has a tab."""
        self._content = content
        self._starts: list[int] = []  # of blocks, and where the last one ends
        self._keys: list[bytes] = []  # of their first lines
        at = 0
        while at < len(content):
            self._starts.append(at)
            self._keys.append(content[at : content.index(b"\t", at)])
            at = content.find(b"\n", at + _BLOCK) + 1 or len(content)
        self._starts.append(len(content))

    def find(self, key: str) -> list[bytes] | None:
        """The fields after an exact key."""
        wanted = key.encode(errors="replace")
        block = bisect_right(self._keys, wanted) - 1
        if block < 0:
            return None
        start = self._starts[block]
        if self._keys[block] != wanted:
            start = self._content.find(b"\n%b\t" % wanted, start, self._starts[block + 1]) + 1
            if not start:
                return None
        return self._content[start + len(wanted) + 1 : self._content.index(b"\n", start)].split(b"\t")

    def starting(self, beginning: str) -> list[str]:
        """The keys that begin with a text, in order."""
        wanted = beginning.encode(errors="replace")
        block = bisect_left(self._keys, wanted)
        start = self._content.find(b"\n" + wanted, self._starts[max(0, block - 1)], self._starts[block]) + 1
        if not start:  # the first of them is the first of a block, or there is none
            if block == len(self._keys) or not self._keys[block].startswith(wanted):
                return []
            start = self._starts[block]
        end = self._starts[bisect_left(self._keys, wanted + _AFTER_ANY_TEXT, block)]
        last = self._content.rfind(b"\n" + wanted, start, end - 1) + 1 or start
        found = _KEY.findall(self._content, start, self._content.index(b"\n", last))
        return b"\t".join(found).decode().split("\t")
