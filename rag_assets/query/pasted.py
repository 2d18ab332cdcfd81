"""What people paste with a question and nobody asks about: colours of a terminal, and the marks of an answer. Pure.

An earlier answer, a log or a build's output is full of them. They are no words: a search would look for them, and the
check whether there is enough to answer from would miss them in the evidence.
"""

from __future__ import annotations

import re

from rag_assets.query.markers import without_markers

_ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours and moves of the cursor (ECMA-48 §5.4)
    r"|\x1b[\]PX^_][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)"  # titles, links and other strings
    r"|\x1b[ -/]*[0-~]?"
    r"|\^\[\[[0-9;]*[A-Za-z]"  # as terminals show what they do not obey
)
_COLOUR = re.compile(r"\[(?:[01234579]|[2349]\d|10\d|[34]8;[25];[\d;]+)(?:;\d{1,3})*m(?!\])")
"""A colour whose escape character was lost on the way."""

_UNSEEN = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
_MEANT = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|`[^`\n]*`")
"""What stands between quotes or backticks is asked for as it is."""


def without_paste(text: str) -> str:
    """The question without terminal escapes, and without citations and prefixes of the protocol outside of quotes; one
    that has nothing else keeps them. A text without any is returned as it is."""
    seen = _UNSEEN.sub("", _ESCAPE.sub("", text))
    made = []
    at = 0
    for meant in _MEANT.finditer(seen):
        made += [_bare(seen[at : meant.start()]), meant.group()]
        at = meant.end()
    made.append(_bare(seen[at:]))
    asked = "".join(made)
    if asked == text:
        return text
    return asked if any(char.isalnum() for char in asked) else seen


def _bare(text: str) -> str:
    return without_markers(_COLOUR.sub("", text))
