"""The lines of a text with their offsets, for scanners that go line by line."""

from __future__ import annotations

import re

_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")


def numbered_lines(text: str) -> list[tuple[int, str]]:
    """(character offset, line without its end) for each line, which ends as LineIndex has it: LF, CRLF or lone CR."""
    if "\r" in text:
        return [(match.start(), match[1]) for match in _LINE.finditer(text)]
    found = []
    position = 0
    for line in text.split("\n"):
        found.append((position, line))
        position += len(line) + 1
    return found
