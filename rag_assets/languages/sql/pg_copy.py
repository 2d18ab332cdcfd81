"""The rows that a PostgreSQL dump writes between its statements: data in which a quote opens no string."""

from __future__ import annotations

import re

_COPY = re.compile(r"^[ \t]*COPY\b[^;]{1,4000}?\bFROM[ \t]+stdin\b[^;\r\n]*;[ \t]*\r?\n", re.IGNORECASE | re.MULTILINE)
"""`COPY t (a, b) FROM stdin;`; its list of columns may go over lines."""

_END = re.compile(r"^\\\.[ \t]*$", re.MULTILINE)
_VISIBLE = re.compile(r"[^\r\n]")


def without_copied_rows(text: str) -> str:
    """`text` with the rows after each `COPY … FROM stdin;` blanked up to the line `\\.`, as long as before. Linear."""
    if "stdin" not in text and "STDIN" not in text:
        return text
    pieces: list[str] = []
    done = 0
    while (copy := _COPY.search(text, done)) is not None:
        end = _END.search(text, copy.end())
        stop = end.end() if end is not None else len(text)
        pieces.append(text[done : copy.end()])
        pieces.append(_VISIBLE.sub(" ", text[copy.end() : stop]))
        done = stop
    pieces.append(text[done:])
    return "".join(pieces)
